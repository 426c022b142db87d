"""How a language model reviews candidates, whoever it is: the calls, the prompt, and what is asked once more."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import failures_of, shown_text
from pipelines.extract.llm.call import Call
from pipelines.extract.llm.concurrency import abreast
from pipelines.extract.llm.model_extractor import BYTES_A_TOKEN, ModelExtractor
from pipelines.extract.llm.operations import Operation, Reviewed
from pipelines.extract.llm.prompts import load_prompt
from pipelines.provider_settings import price_of
from pipelines.store.item import fold
from pipelines.usage import FailureKind, Tally, total

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.extract.extraction import Extractor
    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.operations import Posed, ReviewRequest
    from pipelines.extract.llm.prompts import Prompt
    from pipelines.provider_settings import Prices
    from pipelines.usage import Usage


TASK: Final = "review"
MOST_POSED: Final = 20
"""So many candidates are asked about in one call."""
_QUOTE: Final = 200
_AFTER_ALL_DAYS: Final = "review"
"""Where its calls stand in the order of the night: behind every day."""


@dataclass(frozen=True, slots=True)
class ModelReviewer:
    """Language models as those who review.

    Args:
        chain: who is asked; its circuits, caps and kept replies are those of the reading.
        prompt: the review prompt.
        prices: the user's own prices, before those of the table.
        at_once: how many parts of the candidates are asked about at the same time.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("review"))
    prices: Prices = ()
    at_once: int = 1

    def review(self, request: ReviewRequest) -> Reviewed:
        """Return one operation for each candidate, as far as usable ones came.

        What breaks a rule is asked for once more, with the rule. A call that fails costs its own candidates their
        operations, and where others would fail alike, theirs, too; nothing is raised.
        """
        parts = _parts([(one, _told(one)) for one in request.posed], self.chain.input_tokens)
        sittings = [_Sitting(self, request, Tally(cost=self._cost), at, part) for at, part in enumerate(parts)]
        tally = Tally(cost=self._cost)
        operations: dict[int, Operation] = {}
        broken, failures = 0, list[str]()
        for sitting in abreast([one.sit for one in sittings], self.at_once, _is_last):
            tally.add(sitting.tally)
            operations |= sitting.found
            broken += 0 if sitting.fault else len(sitting.part) - len(sitting.found)
            failures += [sitting.fault.sentence] if sitting.fault else []
        told = " ".join(dict.fromkeys(failures))
        return Reviewed(
            operations, broken, total(tuple(tally.spent)), failures_of(tally), tuple(tally.replies), failure=told
        )

    def _cost(self, model: str, usage: Usage) -> float | None:
        price = price_of(model, self.prices)
        return price.cost(usage) if price else None


def reviewer_of(extractor: Extractor) -> ModelReviewer | None:
    """Return who reviews what an extractor finds: the same models, or None where it is none of models."""
    if not isinstance(extractor, ModelExtractor):
        return None
    return ModelReviewer(extractor.chain, prices=extractor.prices, at_once=extractor.at_once)


_Told = tuple["Posed", str]
"""A candidate, and the line by which it is shown."""


def _parts(told: Sequence[_Told], tokens: int) -> Iterator[list[_Told]]:
    """Yield the candidates in parts that fit a call."""
    part: list[_Told] = []
    size = 0
    for one in told:
        length = len(one[1].encode()) + 1
        if part and (len(part) == MOST_POSED or size + length > tokens * BYTES_A_TOKEN):
            yield part
            part, size = [], 0
        part.append(one)
        size += length
    if part:
        yield part


@dataclass(slots=True)
class _Sitting:
    """One part of the candidates, how it is asked about, and what came of it."""

    reviewer: ModelReviewer
    request: ReviewRequest
    tally: Tally
    number: int
    part: Sequence[_Told]
    found: dict[int, Operation] = field(default_factory=dict)
    fault: ModelFailed | None = None

    def sit(self) -> _Sitting:
        """Ask about the part, and remember what failed rather than raise it."""
        try:
            self.found = self.ask(self.part)
        except ModelFailed as fault:
            self.fault = fault
        return self

    def ask(self, part: Sequence[_Told]) -> dict[int, Operation]:
        """Return the operations that keep every rule, some of them given only when asked once more.

        Raises:
            ModelFailed: no model gave a usable answer to the first question.
        """
        found, wrong = self._answered(part, {})
        if not wrong:
            return found
        again = [one for one in part if one[0].number in wrong]
        try:
            mended, _ = self._answered(again, wrong)
        except ModelFailed:
            return found  # what is right stays right
        return found | mended

    def _answered(self, part: Sequence[_Told], wrong: Mapping[int, str]) -> tuple[dict[int, Operation], dict[int, str]]:
        from pipelines.extract.llm.operations import operations_on, read_operations  # noqa: PLC0415  brings in pydantic

        raw, _ = self.reviewer.chain.ask(self._call(part, wrong), read_operations, self.tally)
        found, faults = dict[int, Operation](), dict[int, str]()
        for posed, _line in part:
            given = operations_on(posed, raw)
            one = given[0] if len(given) == 1 else f"There must be exactly one operation, and there are {len(given)}."
            fault = one if isinstance(one, str) else self.request.check(posed, one)
            if isinstance(one, Operation) and not fault:
                found[posed.number] = one
            else:
                faults[posed.number] = fault
        return found, faults

    def _call(self, part: Sequence[_Told], wrong: Mapping[int, str]) -> Call:
        from pipelines.extract.llm.operations import review_schema  # noqa: PLC0415  brings in pydantic

        prompt = self.reviewer.prompt
        documents = [{"id": one.id, "kind": one.kind, "title": fold(one.title)} for one in self.request.documents]
        lines = [line for _, line in part]
        values = {
            "documents": documents,
            "candidates": lines,
            "nonce": _nonce(documents, lines),
            "wrong": [f"candidate {number}: {why}" for number, why in wrong.items()],
        }
        rendered = prompt.render(values)
        place = (_AFTER_ALL_DAYS, self.number)
        return Call(TASK, prompt.id, prompt.version, rendered.system, rendered.user, review_schema(), place=place)


def _is_last(sitting: _Sitting) -> bool:
    """Whether the rest would fail alike."""
    fault = sitting.fault
    return fault is not None and (fault.kind.concerns_provider or fault.kind is FailureKind.OVER_BUDGET)


def _told(posed: Posed) -> str:
    """Return a candidate with its neighbours as JSON on one line: no text can become structure."""
    one = posed.candidate
    told: dict[str, Any] = {
        "candidate": posed.number,
        "type": one.type,
        "text": shown_text(one.text, 500),
        "day": one.entry.day,
        "confidence": one.confidence,
        "document": posed.document,
        "quote": shown_text(one.quote, _QUOTE),
        "neighbours": [
            {"id": n.id, "type": n.type, "status": n.status, "since": n.since, "document": n.document, "text": n.text}
            for n in posed.neighbours
        ],
    }
    return json.dumps(told, ensure_ascii=False)


def _nonce(documents: Sequence[Mapping[str, str]], lines: Sequence[str]) -> str:
    """Return the code of the marker lines: a hash of all that stands between and before them, so none can hold it."""
    asked = json.dumps([documents, lines]).encode()
    return hashlib.sha256(asked).hexdigest()[:20]
