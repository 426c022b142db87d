"""How language models verify claims: the request, and the replies they may give.

It is a fresh call: it shows the claims and their quotes, and nothing of the first reader's thoughts.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.claims import Claim, Verdict, Verified
from pipelines.extract.extraction import shown_text
from pipelines.extract.llm.call import BadReply, Prompt, json_lines, load_prompt
from pipelines.extract.llm.concurrency import ordered_map
from pipelines.extract.llm.model_extractor import BYTES_A_TOKEN
from pipelines.extract.llm.reply_schema import (
    REASON_LENGTH,
    Faulty,
    Reply,
    checked,
    last_object,
    reply_schema,
    single_line,
)
from pipelines.usage import FailureKind, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pipelines.extract.llm.fallback import Chain

    Part = Sequence[dict[str, Any]]
    Judged = tuple[Verdict | None, str]
    Outcome = tuple[Sequence[Judged], Tally, ModelFailed | None]


MOST_CLAIMS: Final = 60
"""The most claims in one call."""
_LENGTH: Final = 5000
"""More than any text or quote: cutting one could remove what supports the claim."""
_CONTEXT_LENGTH: Final = 500
_FIRST: Final = "verify"
_AGAIN: Final = "verify again"
"""The position of its calls in the night: after the days and the review."""


@dataclass(frozen=True, slots=True)
class ModelVerifier:
    """Language models as verifiers.

    Args:
        chain: the models; if they are those of the reading, circuits, caps and kept replies are shared.
        prompt: the verification prompt.
        at_once: how many parts of the claims to verify in parallel.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("verify"))
    at_once: int = 1

    def verify(self, claims: Sequence[Claim], *, again: bool = False) -> Verified:
        """Return one verdict per claim, in one call if they fit.

        A claim without a usable verdict in the reply is unsure. If a call fails, its claims have no verdict, nor have
        those of later calls that would fail alike; it never raises.

        Args:
            claims: the claims.
            again: whether this is the second time. The request is then worded differently, so that no kept reply
                answers it, and the claims are in reverse order, so that their positions do not matter.
        """
        shown = [_shown(claim) for claim in (reversed(claims) if again else claims)]
        parts = enumerate(_parts(shown, self.chain.input_tokens))
        work = [partial(self._judge, part, number, again=again) for number, part in parts]
        tally = self.chain.new_tally()
        judged: list[Judged] = []
        failures: list[str] = []
        for found, spent, fault in ordered_map(work, self.at_once, _is_last):
            tally.add(spent)
            judged += found
            failures += [fault.sentence] if fault else []
        judged += [(None, "")] * (len(claims) - len(judged))
        if again:
            judged.reverse()
        verdicts, reasons = (verdict for verdict, _ in judged), (reason for _, reason in judged)
        return Verified(tuple(verdicts), tuple(reasons), tally, " ".join(dict.fromkeys(failures)))

    def _judge(self, part: Part, number: int, *, again: bool) -> Outcome:
        """Return the verdicts on a part with their reasons, their cost, and the failure, if any."""
        tally, values = self.chain.new_tally(), {"claims": json_lines(part), "again": again}
        schema, place = reply_schema(VerificationReply), (_AGAIN if again else _FIRST, number)
        call = self.prompt.call(values, schema, data={"claims": part}, place=place)
        try:
            raw, _ = self.chain.ask(call, read_verdicts, tally)
        except ModelFailed as fault:
            return [(None, "")] * len(part), tally, fault
        return [_judged(raw, claim["claim"]) for claim in part], tally, None


def _is_last(outcome: Outcome) -> bool:
    """Whether later calls would fail, too."""
    fault = outcome[-1]
    return fault is not None and (fault.kind.concerns_provider or fault.kind is FailureKind.OVER_BUDGET)


def _shown(claim: Claim) -> dict[str, Any]:
    """Return a claim as data, without secrets and invisible characters."""
    return {
        "kind": claim.kind,
        "text": shown_text(claim.text, _LENGTH),
        "quotes": [shown_text(quote, _LENGTH) for quote in claim.quotes],
        "context": [shown_text(words, _CONTEXT_LENGTH) for words in claim.context],
    }


def _parts(shown: Iterable[dict[str, Any]], tokens: int) -> Iterator[Part]:
    """Yield the claims in parts, one per call, each with its number in its part."""
    part: list[dict[str, Any]] = []
    size = 0
    for one in shown:
        numbered = {"claim": len(part), **one}
        length = len(json.dumps(numbered, ensure_ascii=False).encode()) + 1
        if part and (len(part) == MOST_CLAIMS or size + length > tokens * BYTES_A_TOKEN):
            yield part
            part, size, numbered["claim"] = [], 0, 0
        part.append(numbered)
        size += length
    if part:
        yield part


# ---------------------------------------- what a model may answer


class ReplyVerdict(Reply):
    """Whether one claim is supported; the reason comes first, so that a model thinks before it judges."""

    claim: Annotated[int, Field(ge=0, le=1_000_000, description="The claim's number.")]
    reason: Annotated[str, Field(description="At most twelve words.")] = ""
    verdict: Literal["supported", "unsupported", "unsure"]


class VerificationReply(Reply):
    """The whole reply: one verdict for each claim."""

    verdicts: list[ReplyVerdict]


def read_verdicts(text: str) -> list[object]:
    """Return the unchecked verdicts of a reply; thinking, fences and prose around the JSON are ignored.

    An empty object has no verdicts: all claims are unsure.

    Raises:
        BadReply: the reply has no object with a list of verdicts.
    """
    with contextlib.suppress(ValueError, RecursionError):
        if json.loads(text) == {}:
            return []
    verdicts = last_object(text, "verdicts")["verdicts"]
    if not isinstance(verdicts, list):
        raise BadReply("answered outside the schema (the answer must be an object with a list of verdicts)")
    return verdicts


def _judged(raw: Sequence[object], number: int) -> Judged:
    """Return a reply's verdict on one claim; unsure if it is missing or invalid, or if several differ."""
    try:
        read = [checked(ReplyVerdict, one) for one in raw if isinstance(one, dict) and one.get("claim") == number]
    except Faulty:
        return Verdict.UNSURE, ""
    if len({one.verdict for one in read}) != 1:
        return Verdict.UNSURE, ""
    return Verdict(read[0].verdict), single_line(read[0].reason)[:REASON_LENGTH]
