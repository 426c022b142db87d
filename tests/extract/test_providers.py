"""Claude, Gemini and the OpenAI wire: the real clients against local servers; every failure is told apart."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.anthropic import AnthropicModel
from pipelines.extract.llm.call import Call, Model
from pipelines.extract.llm.gemini import GeminiModel
from pipelines.extract.llm.openai import OpenAIModel
from pipelines.extract.llm.reply_json import schema_of
from pipelines.extract.llm.reply_schema import ExtractionReply
from pipelines.provider_settings import ProviderSettings
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Usage
from tests.extract.wire import (
    KEY,
    Prepared,
    Wire,
    anthropic_error,
    anthropic_wire,
    completion,
    gemini_error,
    gemini_wire,
    generated,
    message,
    openai_error,
    openai_wire,
)

CALL = Call("extract", "extract", 2, "the system part", "the user part", schema_of(ExtractionReply))
WIRES: dict[str, tuple[Any, Any, Any]] = {
    "anthropic": (anthropic_wire, AnthropicModel, message),
    "gemini": (gemini_wire, GeminiModel, generated),
    "openai": (openai_wire, OpenAIModel, completion),
}


def model(provider: str, wire: Wire, **changes: Any) -> Model:
    settings = replace(ProviderSettings("m-1", KEY, wire.url, timeout_seconds=20, max_tokens=777), **changes)
    made: Model = WIRES[provider][1](settings)
    return made


def failure(provider: str, answer: Prepared, **changes: Any) -> ModelFailed:
    """Return how a provider's first call fails where the server answers so."""
    with WIRES[provider][0]() as wire:
        wire.answers = [answer]
        with pytest.raises(ModelFailed) as caught:
            model(provider, wire, **changes).ask(CALL)
        assert len(wire.requests) == 1, "no client repeats a call by itself"
    assert caught.value.provider == provider
    return caught.value


# ---------------------------------------------------------------- what works


def test_claude_is_asked_for_json_of_the_schema(claude: Wire) -> None:
    claude.answers = [message('{"items": ', "[]}")]
    asked = model("anthropic", claude)
    answer = asked.ask(CALL)
    assert (answer.text, asked.name) == ('{"items": []}', "anthropic:m-1")
    assert answer.usage == Usage(1112, 9, cached_tokens=1000, written_tokens=100)
    [body] = claude.requests
    system = {"type": "text", "text": "the system part", "cache_control": {"type": "ephemeral"}}
    assert body["system"] == [system]
    assert body["messages"] == [{"role": "user", "content": "the user part"}]
    assert (body["model"], body["max_tokens"]) == ("m-1", 777)
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert claude.refused == []


def test_gemini_is_asked_for_json_of_the_schema(gemini: Wire) -> None:
    gemini.answers = [generated('{"items": []}')]
    asked = model("gemini", gemini)
    answer = asked.ask(CALL)
    assert (answer.text, asked.name) == ('{"items": []}', "gemini:m-1")
    assert answer.usage == Usage(5, 10)
    [body] = gemini.requests
    assert body["contents"][0]["parts"][0]["text"] == "the user part"
    assert body["systemInstruction"]["parts"][0]["text"] == "the system part"
    assert body["generationConfig"]["maxOutputTokens"] == 777
    assert body["generationConfig"]["responseJsonSchema"]["properties"]["items"]["type"] == "array"
    assert gemini.refused == []


def test_an_openai_wire_is_asked_for_json_of_the_schema(openai: Wire) -> None:
    openai.answers = [completion('{"items": []}')]
    asked = model("openai", openai)
    answer = asked.ask(CALL)
    assert (answer.text, asked.name) == ('{"items": []}', "openai:m-1")
    assert answer.usage == Usage(20, 4, cached_tokens=16)
    [body] = openai.requests
    assert [one["content"] for one in body["messages"]] == ["the system part", "the user part"]
    assert (body["model"], body["max_tokens"]) == ("m-1", 777)
    assert body["response_format"]["json_schema"]["strict"] is True
    assert "title" not in body["response_format"]["json_schema"]["schema"]
    assert openai.refused == []


@pytest.mark.parametrize("formats", [("json_object",), ()])
def test_a_server_that_knows_no_schema_is_given_it_in_words(formats: tuple[str, ...]) -> None:
    with openai_wire(formats=formats) as wire:
        asked = model("openai", wire)
        assert asked.ask(CALL).text == '{"items": []}'
        assert asked.ask(CALL).text == '{"items": []}'
        ways = [body.get("response_format", {}).get("type", "") for body in wire.requests]
        assert ways == ["json_schema", *(["json_object"] * 2 if formats else ["json_object", "", ""])]
        assert '"additionalProperties": false' in wire.requests[-1]["messages"][0]["content"]


# ---------------------------------------------------------------- what fails, each told apart

HTML_SAID_TO_BE_JSON = Prepared(body="<html>Bad gateway</html>")
REDIRECT = Prepared(307, headers={"location": "http://127.0.0.1:9/elsewhere"})
LONG = "prompt is too long: 210000 tokens > 200000 maximum"
GEMINI_LONG = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
OPENAI_LONG = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."
POOR = "Your credit balance is too low to access the Anthropic API."
PER_DAY = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay-Free"}]}]
RETRY = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
QUOTA = "You exceeded your current quota, please check your plan and billing details."

FAILS = {
    "anthropic": [
        (anthropic_error(400, "invalid_request_error"), Kind.BAD_REQUEST, "rejected the request as invalid"),
        (anthropic_error(400, "invalid_request_error", LONG), Kind.UNUSABLE, "too long for its context"),
        (anthropic_error(400, "invalid_request_error", POOR), Kind.UNAUTHORISED, "its credit is used up"),
        (anthropic_error(401, "authentication_error"), Kind.UNAUTHORISED, "refused the key"),
        (anthropic_error(402, "billing_error"), Kind.UNAUTHORISED, "its credit is used up"),
        (anthropic_error(403, "permission_error"), Kind.UNAUTHORISED, "does not allow this key"),
        (anthropic_error(404, "not_found_error"), Kind.UNAUTHORISED, "does not know the model"),
        (anthropic_error(408, "timeout_error"), Kind.TIMED_OUT, "no answer in time"),
        (anthropic_error(413, "request_too_large"), Kind.UNUSABLE, "too long"),
        (anthropic_error(429, "rate_limit_error"), Kind.RATE_LIMITED, "over its rate limit"),
        (anthropic_error(500, "api_error"), Kind.DOWN, "had an internal error"),
        (anthropic_error(503, "api_error"), Kind.DOWN, "internal error"),
        (anthropic_error(504, "timeout_error"), Kind.TIMED_OUT, "no answer in time"),
        (anthropic_error(529, "overloaded_error"), Kind.DOWN, "internal error"),
        (message('{"items": [', stop="max_tokens"), Kind.UNUSABLE, "raise anthropic.max_tokens"),
        (message(stop="refusal", content=[]), Kind.UNUSABLE, "(refusal)"),
        (message(stop="model_context_window_exceeded"), Kind.UNUSABLE, "(model_context_window_exceeded)"),
        (Prepared(body={"foo": 1}), Kind.UNUSABLE, "not its wire format"),
    ],
    "gemini": [
        (gemini_error(400, "INVALID_ARGUMENT"), Kind.BAD_REQUEST, "rejected the request as invalid"),
        (gemini_error(400, "INVALID_ARGUMENT", GEMINI_LONG), Kind.UNUSABLE, "too long for its context"),
        (gemini_error(403, "PERMISSION_DENIED"), Kind.UNAUTHORISED, "does not allow this key"),
        (gemini_error(404, "NOT_FOUND"), Kind.UNAUTHORISED, "does not know the model"),
        (gemini_error(429, "RESOURCE_EXHAUSTED", QUOTA), Kind.RATE_LIMITED, "over its rate limit"),
        (gemini_error(429, "RESOURCE_EXHAUSTED", QUOTA, PER_DAY), Kind.UNAUTHORISED, "over its quota"),
        (gemini_error(500, "INTERNAL"), Kind.DOWN, "had an internal error"),
        (gemini_error(503, "UNAVAILABLE"), Kind.DOWN, "internal error"),
        (generated('{"items": [', finish="MAX_TOKENS"), Kind.UNUSABLE, "raise gemini.max_tokens"),
        (generated("", finish="SAFETY"), Kind.UNUSABLE, "stopped without an answer (safety)"),
        (generated("", finish="RECITATION"), Kind.UNUSABLE, "(recitation)"),
        (generated("", finish="MALFORMED_RESPONSE"), Kind.UNUSABLE, "(malformed_response)"),
        (
            Prepared(body={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
            Kind.UNUSABLE,
            "(prohibited_content)",
        ),
        (Prepared(body={"usageMetadata": {}}), Kind.UNUSABLE, "gave an empty answer"),
        (Prepared(body={"foo": 1}), Kind.UNUSABLE, "gave an empty answer"),
    ],
    "openai": [
        (openai_error(400, "context_length_exceeded"), Kind.UNUSABLE, "too long for its context"),
        (openai_error(400, None, OPENAI_LONG), Kind.UNUSABLE, "too long for its context"),
        (openai_error(401, "invalid_api_key"), Kind.UNAUTHORISED, "refused the key"),
        (openai_error(404, "model_not_found"), Kind.UNAUTHORISED, "does not know the model"),
        (openai_error(429, "rate_limit_exceeded"), Kind.RATE_LIMITED, "over its rate limit"),
        (openai_error(429, "insufficient_quota", QUOTA), Kind.UNAUTHORISED, "over its quota"),
        (openai_error(500), Kind.DOWN, "had an internal error"),
        (openai_error(503), Kind.DOWN, "internal error"),
        (completion('{"items": [', "length"), Kind.UNUSABLE, "raise openai.max_tokens"),
        (completion("", "content_filter"), Kind.UNUSABLE, "(content_filter)"),
        (completion(None, message={"refusal": "I cannot."}), Kind.UNUSABLE, "(refusal)"),
        (Prepared(body={"foo": 1}), Kind.UNUSABLE, "not its wire format"),
        (Prepared(body={"choices": []}), Kind.UNUSABLE, "not its wire format"),
        (Prepared(body="[1]"), Kind.UNUSABLE, "not its wire format"),
    ],
}
EVERYWHERE = [
    (HTML_SAID_TO_BE_JSON, Kind.UNUSABLE, "not its wire format"),
    (Prepared(502, "<html>", content_type="text/html"), Kind.DOWN, "had an internal error"),
    (REDIRECT, Kind.BAD_REQUEST, "sent a redirect, which is not followed"),
    (replace(REDIRECT, status=302), Kind.BAD_REQUEST, "sent a redirect, which is not followed"),
    (Prepared(reset=True), Kind.TIMED_OUT, "could not be reached, or the connection broke"),
]


@pytest.mark.parametrize(
    ("provider", "answer", "kind", "why"),
    [(provider, *case) for provider, cases in FAILS.items() for case in [*cases, *EVERYWHERE]],
)
def test_every_failure_has_its_kind_and_its_reason(provider: str, answer: Prepared, kind: Kind, why: str) -> None:
    fault = failure(provider, answer)
    assert (fault.kind, why in fault.why) == (kind, True), fault.why


@pytest.mark.parametrize("provider", WIRES)
def test_a_connection_that_is_cut_amid_the_body(provider: str) -> None:
    good: Prepared = WIRES[provider][2]('{"items": []}')
    assert failure(provider, replace(good, cut=True)).kind is Kind.TIMED_OUT


@pytest.mark.parametrize("provider", WIRES)
def test_a_server_that_is_not_there(provider: str) -> None:
    with WIRES[provider][0]() as wire:
        pass  # its port is free again when the block is left
    with pytest.raises(ModelFailed, match="could not be reached") as caught:
        model(provider, wire).ask(CALL)
    assert caught.value.kind is Kind.DOWN


@pytest.mark.parametrize("provider", WIRES)
def test_a_wrong_key_is_told_apart_and_not_shown(provider: str) -> None:
    wrong = "wrong-" + KEY
    with WIRES[provider][0]() as wire:
        asked = model(provider, wire, api_key=wrong)
        with pytest.raises(ModelFailed, match="refused the key") as caught:
            asked.ask(CALL)
    assert caught.value.kind is Kind.UNAUTHORISED
    assert wrong not in str(caught.value) + repr(asked) + repr(caught.value)


@pytest.mark.parametrize("provider", WIRES)
def test_no_word_of_log_key_or_reply_is_in_a_failure(provider: str) -> None:
    echo = f"{KEY} We go with Terraform"
    errors = {
        "anthropic": anthropic_error(500, echo, echo),
        "gemini": gemini_error(500, echo, echo),
        "openai": openai_error(500, echo, echo),
    }
    fault = failure(provider, errors[provider])
    assert fault.__cause__ is None
    assert fault.__suppress_context__
    assert "Terraform" not in str(fault)
    assert KEY not in str(fault)


@pytest.mark.parametrize(
    ("provider", "answer", "seconds"),
    [
        ("anthropic", anthropic_error(429, "rate_limit_error", retry_after="7"), 7),
        ("anthropic", anthropic_error(429, "rate_limit_error", retry_after="86400"), 86400),
        ("anthropic", anthropic_error(429, "rate_limit_error", retry_after="soon"), None),
        ("gemini", gemini_error(429, "RESOURCE_EXHAUSTED", details=RETRY), 34.5),
        ("gemini", replace(gemini_error(503, "UNAVAILABLE"), headers={"retry-after": "3"}), 3),
        ("openai", openai_error(429, retry_after="2.5"), 2.5),
        ("openai", openai_error(429), None),
    ],
)
def test_how_long_to_wait_is_told(provider: str, answer: Prepared, seconds: float | None) -> None:
    assert failure(provider, answer).retry_after == seconds


# ---------------------------------------------------------------- what it costs to have them


def test_no_sdk_is_imported_before_a_call() -> None:
    program = """
import sys
from pipelines.extract.choose_models import chain_of
from pipelines.provider_settings import ProviderSettings
from pipelines.user_settings import UserSettings
three = ("anthropic", "gemini", "openai")
named = UserSettings((*three, "exec:true"), dict.fromkeys(three, ProviderSettings("m", "k")))
names = [model.name for model in chain_of(named, named.providers, None, None).models]
heavy = {"anthropic", "google.genai", "jinja2"} & set(sys.modules)
import json; print(json.dumps([names, sorted(heavy)]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["anthropic:m", "gemini:m", "openai:m", "exec:true"], []]
