"""Claude and Gemini as extractors: the real SDKs against local servers that speak their wires."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.errors import ModelFailed
from pipelines.memory.items import Confidence, ItemType
from pipelines.models.providers.anthropic import AnthropicExtractor
from pipelines.models.extraction import ExtractionRequest
from pipelines.models.gemini import GeminiExtractor
from pipelines.models.settings import ProviderSettings
from tests.models.days import DAY, DOCUMENTS, ENTRIES, forget_the_machine, reply_item, reply_text
from tests.models.wire import (
    KEY,
    Prepared,
    anthropic_error,
    anthropic_wire,
    gemini_error,
    gemini_wire,
    generated,
    message,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.models.extraction import Extractor
    from tests.models.wire import Wire


@pytest.fixture(autouse=True)
def _no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_machine(monkeypatch)


@pytest.fixture
def claude() -> Iterator[Wire]:
    with anthropic_wire() as wire:
        yield wire


@pytest.fixture
def gemini() -> Iterator[Wire]:
    with gemini_wire() as wire:
        yield wire


def settings(wire: Wire, **changes: Any) -> ProviderSettings:
    usual = ProviderSettings("claude-haiku-5-5", KEY, wire.url, timeout_seconds=20, max_retries=0, retry_seconds=0)
    return replace(usual, **changes)


def ask_claude(wire: Wire, **changes: Any) -> Extractor:
    return AnthropicExtractor(settings(wire, **changes))


def ask_gemini(wire: Wire, **changes: Any) -> Extractor:
    return GeminiExtractor(settings(wire, model="gemini-3.8-flash", **changes))


# ---------------------------------------------------------------- what works


def test_claude_reads_a_day(claude: Wire) -> None:
    claude.answers = [message(reply_text(reply_item()))]
    extraction = ask_claude(claude).extract(DAY)
    (candidate,) = extraction.candidates
    assert (candidate.type, candidate.confidence) == (ItemType.DECISION, Confidence.HIGH)
    assert candidate.entry is ENTRIES[0]
    assert candidate.document == "Projects/harbour"
    assert candidate.by == "anthropic:claude-haiku-5-5@extract/1"
    assert (extraction.calls, extraction.input_tokens, extraction.output_tokens) == (1, 1112, 9)
    assert extraction.notes == ()
    assert claude.refused == []


def test_claude_is_sent_the_day_the_closed_list_and_the_schema(claude: Wire) -> None:
    ask_claude(claude, max_tokens=777).extract(DAY)
    (body,) = claude.requests
    user, system = body["messages"][0]["content"], body["system"][0]
    assert "3| - 09:14 We go with **Terraform**, not Pulumi." in user
    assert "- Projects/harbour (project): Harbour" in user
    assert system["cache_control"] == {"type": "ephemeral"}
    assert "2 to 5 items" in system["text"]
    assert (body["model"], body["max_tokens"]) == ("claude-haiku-5-5", 777)
    assert body["output_config"]["format"]["type"] == "json_schema"


def test_gemini_reads_a_day(gemini: Wire) -> None:
    gemini.answers = [generated(reply_text(reply_item()))]
    extraction = ask_gemini(gemini, max_tokens=777).extract(DAY)
    (candidate,) = extraction.candidates
    assert candidate.by == "gemini:gemini-3.8-flash@extract/1"
    assert candidate.entry is ENTRIES[0]
    assert (extraction.calls, extraction.input_tokens, extraction.output_tokens) == (1, 5, 10)
    (body,) = gemini.requests
    assert "3| - 09:14 We go with" in body["contents"][0]["parts"][0]["text"]
    assert "2 to 5 items" in body["systemInstruction"]["parts"][0]["text"]
    assert body["generationConfig"]["maxOutputTokens"] == 777
    assert body["generationConfig"]["responseJsonSchema"]["properties"]["items"]["type"] == "array"
    assert gemini.refused == []


@pytest.mark.parametrize("kind", ["claude", "gemini"])
def test_a_day_without_items_and_one_without_entries(kind: str, request: pytest.FixtureRequest) -> None:
    wire: Wire = request.getfixturevalue(kind)
    extractor = (ask_claude if kind == "claude" else ask_gemini)(wire)
    assert extractor.extract(DAY).candidates == ()
    assert len(wire.requests) == 1
    assert extractor.extract(ExtractionRequest("2026-03-13", (), DOCUMENTS)).calls == 0
    assert len(wire.requests) == 1


def test_a_long_day_is_read_in_pieces_and_the_answers_are_joined(claude: Wire) -> None:
    claude.answers = [message(reply_text(reply_item())), message(reply_text()), message(reply_text())]
    extraction = ask_claude(claude, input_tokens=20).extract(DAY)
    assert extraction.calls == 3
    assert extraction.input_tokens == 3 * 1112
    assert len(extraction.candidates) == 1
    sent = [body["messages"][0]["content"] for body in claude.requests]
    assert ["We go with" in text for text in sent] == [True, False, False]
    assert "## Infra / project: Harbour" in sent[1]


def test_wrong_items_are_dropped_and_counted(claude: Wire) -> None:
    wrong = [reply_item(start_line=7, end_line=7), reply_item(type="Idea"), "not an item"]
    claude.answers = [message(reply_text(*wrong, reply_item()))]
    extraction = ask_claude(claude).extract(DAY)
    assert len(extraction.candidates) == 1
    assert extraction.notes == (
        "2026-03-12: 1 proposed item was dropped: its lines are within no entry",
        "2026-03-12: 1 proposed item was dropped: its shape breaks the schema",
        "2026-03-12: 1 proposed item was dropped: type breaks the schema",
    )


def test_a_failure_that_passes_is_tried_again(claude: Wire, gemini: Wire) -> None:
    claude.answers = [anthropic_error(429, "rate_limit_error", retry_after_ms="1"), message(reply_text(reply_item()))]
    assert len(ask_claude(claude, max_retries=1).extract(DAY).candidates) == 1
    gemini.answers = [gemini_error(503, "UNAVAILABLE"), generated(reply_text(reply_item()))]
    assert len(ask_gemini(gemini, max_retries=1).extract(DAY).candidates) == 1
    assert (len(claude.requests), len(gemini.requests)) == (2, 2)


# ---------------------------------------------------------------- what fails, each told apart

HTML = Prepared(body="<html>Bad gateway</html>", content_type="text/html")
HTML_SAID_TO_BE_JSON = Prepared(body="<html>Bad gateway</html>")

CLAUDE_FAILS = [
    (anthropic_error(400, "invalid_request_error"), "refused the request as wrong"),
    (anthropic_error(401, "authentication_error"), "refused the key"),
    (anthropic_error(402, "billing_error"), "wants payment"),
    (anthropic_error(403, "permission_error"), "does not let this key"),
    (anthropic_error(404, "not_found_error"), "does not know the model"),
    (anthropic_error(413, "request_too_large"), "too long"),
    (anthropic_error(429, "rate_limit_error"), "over its rate limit"),
    (anthropic_error(500, "api_error"), "has a fault of its own"),
    (anthropic_error(503, "api_error"), "not available at the moment"),
    (anthropic_error(529, "overloaded_error"), "is overloaded"),
    (message('{"items": [', stop="max_tokens"), "cut off at its longest answer"),
    (message(stop="refusal", content=[]), "refused to read this day"),
    (message(stop="model_context_window_exceeded"), "too long for its context"),
    (message(), "gave an empty answer"),
    (message(" \n"), "gave an empty answer"),
    (message("I found nothing of note."), "not the JSON it was asked for"),
    (message('{"items": [{"type": '), "not the JSON it was asked for"),
    (message('{"items": [], "also": 1}'), "outside the schema"),
    (message('{"items": {}}'), "outside the schema"),
    (message(reply_text(*[reply_item()] * 201)), "201 items"),
    (Prepared(body={"foo": 1}), "not its wire format"),
    (HTML, "not its wire format"),
    (HTML_SAID_TO_BE_JSON, "not its wire format"),
    (Prepared(body=message(reply_text()).body, cut=True), "connection broke"),
]


@pytest.mark.parametrize(("answer", "why"), CLAUDE_FAILS)
def test_every_failure_of_claude_has_its_reason(claude: Wire, answer: Prepared, why: str) -> None:
    claude.answers = [answer]
    with pytest.raises(ModelFailed) as caught:
        ask_claude(claude).extract(DAY)
    assert caught.value.provider == "anthropic"
    assert why in caught.value.why


GEMINI_FAILS = [
    (gemini_error(400, "INVALID_ARGUMENT"), "refused the request as wrong"),
    (gemini_error(403, "PERMISSION_DENIED"), "does not let this key"),
    (gemini_error(404, "NOT_FOUND"), "does not know the model"),
    (gemini_error(429, "RESOURCE_EXHAUSTED"), "over its rate limit"),
    (gemini_error(500, "INTERNAL"), "has a fault of its own"),
    (gemini_error(503, "UNAVAILABLE"), "not available at the moment"),
    (generated('{"items": [', finish="MAX_TOKENS"), "cut off at its longest answer"),
    (generated("", finish="SAFETY"), "stopped without an answer (SAFETY)"),
    (generated("", finish="RECITATION"), "stopped without an answer (RECITATION)"),
    (Prepared(body={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}), "(PROHIBITED_CONTENT)"),
    (Prepared(body={"usageMetadata": {}}), "gave an empty answer"),
    (Prepared(body={"foo": 1}), "gave an empty answer"),
    (generated(), "gave an empty answer"),
    (generated("nothing today"), "not the JSON it was asked for"),
    (generated("[]"), "not the JSON it was asked for"),
    (HTML, "not its wire format"),
    (HTML_SAID_TO_BE_JSON, "not its wire format"),
    (Prepared(body=generated(reply_text()).body, cut=True), "connection broke"),
]


@pytest.mark.parametrize(("answer", "why"), GEMINI_FAILS)
def test_every_failure_of_gemini_has_its_reason(gemini: Wire, answer: Prepared, why: str) -> None:
    gemini.answers = [answer]
    with pytest.raises(ModelFailed) as caught:
        ask_gemini(gemini).extract(DAY)
    assert caught.value.provider == "gemini"
    assert why in caught.value.why


@pytest.mark.parametrize("kind", ["claude", "gemini"])
def test_a_wrong_key_is_told_apart_and_not_shown(kind: str, request: pytest.FixtureRequest) -> None:
    wire: Wire = request.getfixturevalue(kind)
    wrong = "wrong-" + KEY
    extractor = (ask_claude if kind == "claude" else ask_gemini)(wire, api_key=wrong)
    with pytest.raises(ModelFailed, match="refused the key") as caught:
        extractor.extract(DAY)
    assert wrong not in str(caught.value) + repr(extractor) + repr(caught.value)


@pytest.mark.parametrize("kind", ["claude", "gemini"])
def test_no_word_of_log_key_or_reply_is_in_a_failure(kind: str, request: pytest.FixtureRequest) -> None:
    wire: Wire = request.getfixturevalue(kind)
    echo = f"{KEY} We go with Terraform"
    wire.answers = [anthropic_error(400, echo, echo) if kind == "claude" else gemini_error(400, echo, echo)]
    with pytest.raises(ModelFailed) as caught:
        (ask_claude if kind == "claude" else ask_gemini)(wire).extract(DAY)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "Terraform" not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("kind", ["claude", "gemini"])
def test_a_slow_server_is_not_waited_for(kind: str, request: pytest.FixtureRequest) -> None:
    wire: Wire = request.getfixturevalue(kind)
    wire.answers = [Prepared(hold=True)]
    with pytest.raises(ModelFailed, match="no answer in time"):
        (ask_claude if kind == "claude" else ask_gemini)(wire, timeout_seconds=0.1).extract(DAY)


@pytest.mark.parametrize("ask", [ask_claude, ask_gemini])
def test_a_server_that_is_not_there(ask: Any) -> None:
    with anthropic_wire() as wire:
        pass  # its port is free again when the block is left
    with pytest.raises(ModelFailed, match="could not be reached"):
        ask(wire).extract(DAY)


def test_one_bad_piece_keeps_the_whole_day_pending(claude: Wire) -> None:
    claude.answers = [message(reply_text(reply_item())), anthropic_error(500, "api_error")]
    with pytest.raises(ModelFailed):
        ask_claude(claude, input_tokens=20).extract(DAY)


# ---------------------------------------------------------------- what it costs to have them


def test_no_sdk_is_imported_before_a_call() -> None:
    program = """
import sys
from pipelines.models.providers.anthropic import AnthropicExtractor
from pipelines.models.gemini import GeminiExtractor
from pipelines.models.settings import ProviderSettings
names = [kind(ProviderSettings("m", "k")).name for kind in (AnthropicExtractor, GeminiExtractor)]
heavy = {"anthropic", "google.genai", "pydantic", "jinja2"} & set(sys.modules)
import json; print(json.dumps([names, sorted(heavy)]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["anthropic:m@extract/1", "gemini:m@extract/1"], []]
