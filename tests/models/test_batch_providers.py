"""The batches of both providers with the real SDKs: every state of a batch, and whatever an answer may lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pipelines.errors import ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.wire import Stage
from pipelines.models.calling import Call
from pipelines.models.providers.anthropic import AnthropicModel
from pipelines.models.providers.anthropic_batches import AnthropicBatches
from pipelines.models.providers.gemini import GeminiModel
from pipelines.models.providers.gemini_batches import GeminiBatches
from pipelines.models.settings import ProviderSettings
from tests.models.batch_wire import anthropic_batches, gemini_batches, lost
from tests.models.wire import KEY, Prepared, anthropic_error, gemini_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.models.batching.wire import Batcher, Looked
    from tests.models.batch_wire import Provider

SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
CALLS = [(f"mark-{at}", Call("extract", "extract", 1, "You read.", f"day {at}", SCHEMA)) for at in range(3)]


def claude(server: Provider, key: str = KEY) -> AnthropicBatches:
    return AnthropicBatches(AnthropicModel(ProviderSettings("claude-haiku-5-5", key, server.url, timeout_seconds=60)))


def gemini(server: Provider, key: str = KEY) -> GeminiBatches:
    return GeminiBatches(GeminiModel(ProviderSettings("gemini-3.8-flash", key, server.url, timeout_seconds=60)))


@pytest.fixture(params=["anthropic", "gemini", "gemini, as a file"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Batcher, Provider]]:
    if request.param == "anthropic":
        with anthropic_batches(lambda _: "said") as server:
            yield claude(server), server
        return
    with gemini_batches(lambda _: "said", as_file="file" in request.param) as server:
        yield gemini(server), server


def kinds(looked: Looked) -> dict[str, str]:
    return {one.id: str(one.fault.kind) if one.fault else "answered" for one in looked.results}


def test_a_batch_from_its_sending_to_its_end(both: tuple[Batcher, Provider]) -> None:
    batcher, server = both
    ident = batcher.submit("mark", CALLS).ident
    assert list(server.batches) == [ident]
    assert batcher.look(ident).stage is Stage.OPEN
    server.finish(but={1: "errored"})
    looked = batcher.look(ident)
    assert (looked.stage, looked.rest, server.refused) == (Stage.ENDED, None, [])
    assert kinds(looked) == {"mark-0": "answered", "mark-1": "bad-request", "mark-2": "answered"}
    answer = looked.results[0].answer
    assert answer
    assert (answer.text, answer.model, answer.usage.output_tokens > 0) == ("said", batcher.name, True)


def test_what_is_sent_is_what_one_call_sends() -> None:
    with anthropic_batches(lambda _: "said") as server:
        claude(server).submit("mark", CALLS)
        AnthropicModel(ProviderSettings("claude-haiku-5-5", KEY, server.url)).ask(CALLS[0][1])
        assert server.bodies[0]["requests"][0] == {"custom_id": "mark-0", "params": server.bodies[1]}
    with gemini_batches(lambda _: "said") as server:
        gemini(server).submit("mark", CALLS)
        GeminiModel(ProviderSettings("gemini-3.8-flash", KEY, server.url)).ask(CALLS[0][1])
        row = server.bodies[0]["batch"]["inputConfig"]["requests"]["requests"][0]
        assert row == {"request": server.bodies[1], "metadata": {"key": "mark-0"}}


@pytest.mark.parametrize("state", ["open", "canceling"])
def test_states_of_claude_in_which_nothing_has_come(state: str) -> None:
    with anthropic_batches(lambda _: "said") as server:
        ident = claude(server).submit("mark", CALLS).ident
        server.batches[ident].state = state
        assert claude(server).look(ident).stage is Stage.OPEN


@pytest.mark.parametrize(
    ("state", "stage", "rest"),
    [
        ("PENDING", Stage.OPEN, None),
        ("RUNNING", Stage.OPEN, None),
        ("CANCELLING", Stage.OPEN, None),
        ("UNSPECIFIED", Stage.OPEN, None),
        ("PARTIALLY_SUCCEEDED", Stage.ENDED, FailureKind.FAILED),
        ("FAILED", Stage.ENDED, FailureKind.FAILED),
        ("CANCELLED", Stage.ENDED, FailureKind.CANCELED),
        ("EXPIRED", Stage.ENDED, FailureKind.EXPIRED),
    ],
)
def test_states_of_gemini(state: str, stage: Stage, rest: FailureKind | None) -> None:
    with gemini_batches(lambda _: "said") as server:
        ident = gemini(server).submit("mark", CALLS).ident
        server.finish(but={1: "expired"})
        server.batches[ident].state = state
        looked = gemini(server).look(ident)
        assert (looked.stage, looked.rest.kind if looked.rest else None) == (stage, rest)
        assert len(looked.results) == (2 if state == "PARTIALLY_SUCCEEDED" else 0)


def test_a_batch_that_is_not_there(both: tuple[Batcher, Provider]) -> None:
    batcher, server = both
    ident = batcher.submit("mark", CALLS).ident
    server.batches.clear()
    assert batcher.look(ident).stage is Stage.GONE
    with pytest.raises(ModelFailed):
        batcher.cancel(ident)


def test_a_batch_of_claude_whose_results_are_gone() -> None:
    with anthropic_batches(lambda _: "said") as server:
        ident = claude(server).submit("mark", CALLS).ident
        server.finish()
        body: Any = {"id": ident, "type": "message_batch", "processing_status": "ended", "archived_at": "2026-04-20"}
        server.trouble["get"] = [Prepared(body=body)]
        assert claude(server).look(ident).stage is Stage.GONE


# ---------------------------------------------------------------- sending


REFUSALS = [
    anthropic_error(400, "invalid_request_error"),
    anthropic_error(401, "authentication_error"),
    anthropic_error(413, "request_too_large"),
    anthropic_error(429, "rate_limit_error"),
    anthropic_error(529, "overloaded_error"),
    gemini_error(503, "UNAVAILABLE"),
    Prepared(302, {}, {"location": "http://127.0.0.1:9/"}),
]
DOUBTS = [
    anthropic_error(408, "timeout_error"),
    anthropic_error(500, "api_error"),
    gemini_error(504, "DEADLINE_EXCEEDED"),
    Prepared(reset=True),
    Prepared(body={"id": "msgbatch_1", "name": "batches/1"}, cut=True),
    Prepared(body="<html>hello</html>", content_type="text/html"),
    Prepared(body={"id": "../../x", "name": "batches/../../x"}),
    Prepared(body={}),
]


@pytest.mark.parametrize("wrong", REFUSALS)
def test_a_refusal_is_told_from_a_doubt(both: tuple[Batcher, Provider], wrong: Prepared) -> None:
    batcher, server = both
    server.trouble["create"] = [wrong]
    sent = batcher.submit("mark", CALLS)
    assert (sent.ident, bool(sent.refused), bool(sent.unsure)) == ("", True, False)


@pytest.mark.parametrize("wrong", DOUBTS)
def test_a_doubt_is_told_from_a_refusal(both: tuple[Batcher, Provider], wrong: Prepared) -> None:
    batcher, server = both
    server.trouble["create"] = [wrong]
    sent = batcher.submit("mark", CALLS)
    assert (sent.ident, bool(sent.refused), bool(sent.unsure)) == ("", False, True)


def test_nobody_there_is_a_refusal(both: tuple[Batcher, Provider]) -> None:
    batcher, server = both
    server.url = "http://127.0.0.1:9"
    away = claude(server) if batcher.provider == "anthropic" else gemini(server)
    sent = away.submit("mark", CALLS)
    assert sent.refused
    assert sent.refused.kind is FailureKind.DOWN


# ---------------------------------------------------------------- looking and finding


@pytest.mark.parametrize(
    "wrong",
    [
        Prepared(reset=True),
        Prepared(body={"foo": 1}),
        Prepared(body="<html>hello</html>", content_type="text/html"),
        anthropic_error(500, "api_error"),
        anthropic_error(401, "authentication_error"),
    ],
)
def test_what_cannot_be_understood_is_a_failure_and_no_end(both: tuple[Batcher, Provider], wrong: Prepared) -> None:
    batcher, server = both
    ident = batcher.submit("mark", CALLS).ident
    server.finish()
    server.trouble["get"] = [wrong]
    with pytest.raises(ModelFailed):
        batcher.look(ident)
    assert batcher.look(ident).stage is Stage.ENDED


def test_a_lost_batch_is_found_among_others(both: tuple[Batcher, Provider]) -> None:
    batcher, server = both
    others = [batcher.submit(f"other{at}", [(f"other{at}-{number}", call) for number, (_, call) in enumerate(CALLS)])
              for at in range(2)]  # fmt: skip
    server.trouble["create"] = [lost]
    batcher.submit("mark", CALLS)
    lost_one = list(server.batches)[-1]
    found = batcher.find("mark", 3, {others[0].ident})
    is_claude = batcher.provider == "anthropic"
    assert (found.ident, found.unsure) == (("", True) if is_claude else (lost_one, False))
    server.finish()
    assert batcher.find("mark", 3, ()).ident == lost_one
    assert batcher.find("mar", 3, ()).ident == ""
    assert batcher.find("another", 3, ()).unsure is False


def test_the_key_does_not_follow_the_address_that_a_batch_tells() -> None:
    with anthropic_batches(lambda _: "said") as server:
        ident = claude(server).submit("mark", CALLS).ident
        server.finish()
        assert len(claude(server).look(ident).results) == 3  # its results_url leads to where nobody answers
        assert server.operations[-2:] == ["get", "results"]


def test_what_notes_and_kept_replies_hold_of_an_address_has_no_password(both: tuple[Batcher, Provider]) -> None:
    batcher, server = both
    plain = server.url
    server.url = plain.replace("://", "://me:hunter2@")
    away = claude(server) if batcher.provider == "anthropic" else gemini(server)
    assert away.base_url == batcher.base_url == plain
    assert away.source == batcher.source
