"""The chain: who is asked when, how patiently, and who is left alone."""

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import BadReply, Call
from pipelines.extract.llm.fallback import Chain
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Tally
from tests.extract.fakes import Scripted, Still

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


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_and_then_the_next_is() -> None:
    first, tally = Scripted("a:1", ["bad", "yes"]), Tally()
    assert ask(Chain([first, Scripted("b:2", ["no"])]), tally) == ("yes", "a:1")
    assert first.calls == [CALL, CALL]
    assert ask(Chain([Scripted("a:1", ["bad"]), Scripted("b:2", ["yes"])]), tally) == ("yes", "b:2")
    assert tally.failures == {("a", Kind.UNUSABLE): 3}
    assert len(tally.spent) == 5
    failed = Scripted("a:1", ["bad", Kind.DOWN, "yes"])
    assert fails(Chain([failed])).kind is Kind.DOWN
    assert len(failed.calls) == 2


def test_when_all_fail_each_is_named() -> None:
    fault = fails(Chain([Scripted("a:1", [Kind.UNAUTHORISED]), Scripted("b:2", [Kind.UNUSABLE])]))
    assert fault.sentence == "a was unauthorised; b was unusable."
    assert fault.kind is Kind.UNUSABLE, "for one of them it may be the day"
    fault = fails(Chain([Scripted("a:1", [Kind.UNAUTHORISED]), Scripted("b:2", [Kind.UNAUTHORISED])]))
    assert fault.kind.concerns_provider


# ---------------------------------------------------------------- retries


@pytest.mark.parametrize("kind", [Kind.UNUSABLE, Kind.BAD_REQUEST, Kind.UNAUTHORISED])
def test_what_does_not_pass_is_not_tried_again(kind: Kind) -> None:
    still, model = Still(), Scripted("a:1", [kind], retries=2)
    fails(Chain([model], pause=still.retry))
    assert (len(model.calls), still.pauses) == (1, [])


def test_retry_after_is_honoured_up_to_a_bound() -> None:
    still = Still()
    soon = ModelFailed("a", "was busy", Kind.RATE_LIMITED, retry_after=42)
    assert ask(Chain([Scripted("a:1", [soon, "yes"], retries=2)], pause=still.retry))[0] == "yes"
    assert still.pauses == [42]
    late = ModelFailed("a", "was busy", Kind.RATE_LIMITED, retry_after=86_400)
    first, second = Scripted("a:1", [late], retries=2), Scripted("b:2", ["yes"])
    chain = Chain([first, second], pause=still.retry)
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
    slow = Chain([Scripted("a:1", [Kind.TIMED_OUT])])
    assert [fails(slow).kind for _ in range(4)] == [*[Kind.TIMED_OUT] * 3, Kind.NOT_ASKED]
    assert Kind.NOT_ASKED.concerns_provider, "no other day is tried"
