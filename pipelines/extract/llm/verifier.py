"""How language models verify claims: the request, and the replies they may give.

It is a fresh call: it shows the claims and their quotes, and nothing of the first reader's thoughts.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.claims import OF_PAIRS, PAIR, Claim, Verdict, Verified
from pipelines.extract.extraction import shown_text
from pipelines.extract.llm.call import BadReply, json_lines, load_prompt
from pipelines.extract.llm.reply_json import Faulty, Reply, checked, last_object, schema_of
from pipelines.extract.nearby import BYTES_A_TOKEN
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pipelines.extract.llm.fallback import Chain

    Part = Sequence[dict[str, Any]]


MOST_CLAIMS = 60
"""The most claims in one call."""
_LENGTH = 5000
"""More than any text or quote: cutting one could remove what supports the claim."""
_CONTEXT_LENGTH = 500
_SHARED = ("quotes", "context")
_WORTH_SHARING = 24  # characters


class ModelVerifier(NamedTuple):
    """Language models as verifiers: whether quotes support claims, and how pairs of sentences stand to each other.

    Args:
        chain: the models; if they are those of the reading, caps and kept replies are shared.
    """

    chain: Chain

    def verify(self, claims: Sequence[Claim]) -> Verified:
        """Return one verdict per claim, in one call if they fit; none at all if a call fails. It never raises.

        A claim without a usable verdict in the reply is unsure; a pair without one is two beliefs.
        """
        tally, judged, prompt = Tally(), list[Verdict | None](), load_prompt("verify")
        for part in _parts(map(_shown, claims), self.chain.input_tokens):
            # Half of what the claims of a night rest on are the same lines: those are told once, and numbered.
            counted = Counter(words for claim in part for key in _SHARED for words in claim[key])
            often = [words for words, count in counted.items() if count > 1 and len(words) >= _WORTH_SHARING]
            numbers = {words: number for number, words in enumerate(often, 1)}
            shared = [{"shared": number, "text": words} for words, number in numbers.items()]
            told = [claim | {key: [numbers.get(one, one) for one in claim[key]] for key in _SHARED} for claim in part]
            values = {"shared": json_lines(shared), "claims": json_lines(told)}
            call = prompt.call(values, schema_of(VerificationReply), data={"claims": part})
            try:
                raw, _ = self.chain.ask(call, read_verdicts, tally)
            except ModelFailed as fault:
                return Verified((), tally, fault.sentence)
            judged += [_judged(raw, claim["claim"]) for claim in part]
        found = list[Verdict]()
        for claim, verdict in zip(claims, judged, strict=True):
            of_pair = claim.kind == PAIR
            undecided = Verdict.BOTH if of_pair else Verdict.UNSURE
            found.append(verdict if verdict and (verdict in OF_PAIRS) == of_pair else undecided)
        return Verified(tuple(found), tally)


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

    claim: Annotated[int, Field(ge=0, le=1_000_000)]
    reason: str = ""
    verdict: Literal["supported", "unsupported", "unsure", "same", "replaces", "both", "conflict"]


class VerificationReply(Reply):
    """The whole reply: one verdict for each claim."""

    verdicts: list[ReplyVerdict]


def read_verdicts(text: str) -> list[object]:
    """Return the unchecked verdicts of a reply; thinking, fences and prose around the JSON are ignored.

    An empty object has no verdicts: all claims are unsure.

    Raises:
        BadReply: the reply has no object with a list of verdicts.
    """
    verdicts = last_object(text, "verdicts").get("verdicts", [])
    if not isinstance(verdicts, list):
        raise BadReply("answered outside the schema (the answer must be an object with a list of verdicts)")
    return verdicts


def _judged(raw: Sequence[object], number: int) -> Verdict | None:
    """Return a reply's verdict on one claim; None if it is missing or invalid, or if several differ."""
    try:
        read = [checked(ReplyVerdict, one) for one in raw if isinstance(one, dict) and one.get("claim") == number]
    except Faulty:
        return None
    return Verdict(read[0].verdict) if len({one.verdict for one in read}) == 1 else None
