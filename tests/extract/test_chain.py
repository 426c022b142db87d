"""The chain: who is asked when, how patiently, and who is left alone."""

from __future__ import annotations

import threading

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import BadReply, Call
from pipelines.extract.llm.fallback import Chain
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Spent, Tally, Usage
from tests.extract.fakes import USAGE, Scripted, Still

CALL = Call("extract", "extract", 2, "s", "u", {})


def whole(text: str) -> str:
    if text == "bad":
        raise BadReply("answered nonsense")
    return text


def ask(chain: Chain, tally: Tally | None = None) -> tuple[str, str]:
    return chain.ask(CALL, whole, tally or Tally())


def fails(chain: Chain) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        ask(chain)
    return caught.value


# ---------------------------------------------------------------- the next one


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.NOT_ASKED])
def test_the_next_is_asked_when_one_fails_in_any_way(kind: Kind) -> None:
    first, second = Scripted("a:1", [kind]), Scripted("b:2", ["yes"])
    tally = Tally()
    assert ask(Chain([first, second], retry=Still().retry), tally) == ("yes", "b:2")
    assert tally.failures == {("a", kind): 1}
    assert tally.by_model == (Spent("a:1", 1, USAGE), Spent("b:2", 1, USAGE))


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_and_then_the_next_is() -> None:
    first, tally = Scripted("a:1", ["bad", "yes"]), Tally()
    assert ask(Chain([first, Scripted("b:2", ["no"])]), tally) == ("yes", "a:1")
    assert first.calls == [CALL, CALL]
    assert ask(Chain([Scripted("a:1", ["bad"]), Scripted("b:2", ["yes"])]), tally) == ("yes", "b:2")
    assert tally.failures == {("a", Kind.OUTSIDE_SCHEMA): 3}
    assert sum(one.calls for one in tally.spent) == 5
    failed = Scripted("a:1", ["bad", Kind.DOWN, "yes"])
    assert fails(Chain([failed])).kind is Kind.DOWN
    assert len(failed.calls) == 2


def test_when_all_fail_each_is_named() -> None:
    fault = fails(Chain([Scripted("a:1", [Kind.UNAUTHORISED]), Scripted("b:2", [Kind.REFUSED])]))
    assert fault.sentence == "a was unauthorised; b was refused."
    assert fault.kind is Kind.REFUSED, "for one of them it may be the day"
    fault = fails(Chain([Scripted("a:1", [Kind.OVER_QUOTA]), Scripted("b:2", [Kind.UNAUTHORISED])]))
    assert fault.kind.concerns_provider


def test_a_piece_fits_every_model_of_the_chain() -> None:
    assert Chain([Scripted("a:1", input_tokens=9000), Scripted("b:2", input_tokens=500)]).input_tokens == 500


# ---------------------------------------------------------------- retries


@pytest.mark.parametrize("kind", [Kind.DOWN, Kind.TIMED_OUT, Kind.CUT_OFF, Kind.RATE_LIMITED])
def test_what_may_pass_is_tried_again_with_growing_pauses(kind: Kind) -> None:
    still, model = Still(), Scripted("a:1", [kind, kind, "yes"], retries=2)
    tally = Tally()
    assert ask(Chain([model], retry=still.retry), tally)[0] == "yes"
    assert still.pauses == [1.0, 2.0]
    assert tally.failures == {("a", kind): 2}
    assert tally.by_model == (Spent("a:1", 3, Usage(300, 30)),)


@pytest.mark.parametrize("kind", [Kind.REFUSED, Kind.BAD_REQUEST, Kind.UNAUTHORISED, Kind.OVER_QUOTA, Kind.TRUNCATED])
def test_what_does_not_pass_is_not_tried_again(kind: Kind) -> None:
    still, model = Still(), Scripted("a:1", [kind], retries=2)
    fails(Chain([model], retry=still.retry))
    assert (len(model.calls), still.pauses) == (1, [])


def test_retry_after_is_honoured_up_to_a_bound() -> None:
    still = Still()
    soon = ModelFailed("a", "was busy", Kind.RATE_LIMITED, retry_after=42)
    assert ask(Chain([Scripted("a:1", [soon, "yes"], retries=2)], retry=still.retry))[0] == "yes"
    assert still.pauses == [42]
    late = ModelFailed("a", "was busy", Kind.RATE_LIMITED, retry_after=86_400)
    first, second = Scripted("a:1", [late], retries=2), Scripted("b:2", ["yes"])
    chain = Chain([first, second], retry=still.retry)
    assert [ask(chain)[1], ask(chain)[1]] == ["b:2", "b:2"]
    assert (len(first.calls), still.pauses) == (1, [42]), "nobody waits for a day, and it is not asked again"


# ---------------------------------------------------------------- circuits


def test_a_circuit_opens_after_three_failures_in_a_row_and_stays_open() -> None:
    first, second = Scripted("a:1", [Kind.DOWN]), Scripted("b:2", ["yes"])
    chain = Chain([first, second])
    tally = Tally()
    assert [ask(chain, tally)[1] for _ in range(6)] == ["b:2"] * 6
    assert len(first.calls) == 3
    assert tally.failures == {("a", Kind.DOWN): 3, ("a", Kind.NOT_ASKED): 3}


def test_a_success_between_keeps_it_closed() -> None:
    model = Scripted("a:1", [Kind.DOWN, Kind.DOWN, "yes", Kind.DOWN, Kind.DOWN, "yes", "yes"])
    chain = Chain([model])
    for _ in range(2):
        fails(chain)
        fails(chain)
        ask(chain)
    assert ask(chain)[0] == "yes"


@pytest.mark.parametrize("kind", [Kind.UNAUTHORISED, Kind.OVER_QUOTA, Kind.UNKNOWN_MODEL])
def test_it_opens_at_once_where_no_call_can_succeed(kind: Kind) -> None:
    model = Scripted("a:1", [kind])
    chain = Chain([model])
    fails(chain)
    fault = fails(chain)
    assert (fault.kind, len(model.calls)) == (Kind.NOT_ASKED, 1)
    assert fault.sentence == f"a was {kind}, so it is skipped for the rest of this run."


@pytest.mark.parametrize("kind", [Kind.REFUSED, Kind.BLOCKED, Kind.TOO_LONG])
def test_what_was_wrong_with_a_day_says_nothing_of_the_provider(kind: Kind) -> None:
    model = Scripted("a:1", [kind])
    chain = Chain([model])
    for _ in range(5):
        fails(chain)
    assert len(model.calls) == 5


def test_threads_may_share_a_chain() -> None:
    model = Scripted("a:1", [Kind.DOWN])
    chain = Chain([model, Scripted("b:2", ["yes"])])
    told: list[str] = []
    threads = [threading.Thread(target=lambda: told.append(ask(chain)[1])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == ["b:2"] * 20
    assert ask(chain)[1] == "b:2"
    assert len(model.calls) <= 20
