"""A night with a model that reads, reviews and verifies: what it says is written down by the test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import ModelAnswer
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_briefer import briefer_of
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.model_reviewer import reviewer_of
from pipelines.extract.llm.replies import Replies
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.plan import Night
from pipelines.night.report import Watch
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.layout import REPLIES
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind
from tests.extract.fakes import USAGE, Still

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.extract.llm.call import Call
    from pipelines.night.report import RunReport
    from pipelines.store.item import Item, Status
    from tests.conftest import Memory

DAY = "2026-03-12"
NOW = "2026-03-20T02:00+00:00"
ALPHA = "Projects/alpha.md"


@dataclass
class Reader:
    """A model that finds every labelled line of a day, reviews as the test says, and verifies as it says.

    Args:
        review: what it says to the review's calls, given the candidates that they show; a kind is a failure.
        confidence: that of all it finds.
        reads: what it says to a day, given the call's input, in place of the labelled lines.
        verifies: its verdict on a claim; a kind is a failure.
        asked: the calls of the review.
        claims: the claims of each call of the verification.
        shown: the input of each call of the reading.
        writes: what it says when it is to write states and episodes, given the call's input; None where it never is.
        pages: the input of each call of the writing.
    """

    review: Callable[[list[dict[str, Any]]], Any]
    confidence: str = "high"
    reads: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    verifies: Callable[[dict[str, Any]], str] | FailureKind = lambda _: "supported"
    asked: list[Call] = field(default_factory=list)
    claims: list[list[dict[str, Any]]] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)
    writes: Callable[[dict[str, Any]], Any] | None = None
    pages: list[dict[str, Any]] = field(default_factory=list)
    name: str = "a:1"
    source: str = "a:1 here"
    input_tokens: int = 24_000
    output_tokens: int = 1000
    retries: int = 0

    def ask(self, call: Call) -> ModelAnswer:
        if call.task == "extract":
            said = self._read(dict(call.input))
        elif call.task == "verify":
            said = self._verified(list(call.input["claims"]))
        elif call.task == "brief" and self.writes:
            self.pages.append(dict(call.input))
            said = self.writes(self.pages[-1])
        else:
            self.asked.append(call)
            said = self.review(shown(call))
        if isinstance(said, FailureKind):
            raise ModelFailed("a", f"was {said}", said, usage=USAGE)
        return ModelAnswer(said if isinstance(said, str) else json.dumps(said), self.name, USAGE)

    def _read(self, day: dict[str, Any]) -> Any:
        self.shown.append(day)
        if self.reads:
            return self.reads(day)
        found = []
        for entry in day["entries"]:
            label, _, said = entry["text"].removeprefix("- ").partition(": ")
            if label in {"Decision", "Fact", "Rule", "Todo", "Risk"}:
                found.append(item(label, said, entry, confidence=self.confidence))
        return {"items": found, "operations": []}

    def _verified(self, claims: list[dict[str, Any]]) -> Any:
        self.claims.append(claims)
        if isinstance(self.verifies, FailureKind):
            return self.verifies
        told = [{"claim": one["claim"], "reason": "", "verdict": self.verifies(one)} for one in claims]
        return {"verdicts": told}


def item(label: str, text: str, entry: dict[str, Any], quote: str = "", **more: Any) -> dict[str, Any]:
    """Return an item of a day's reply, which rests on words of an entry; on those of its text where none are given."""
    line = entry["line"]
    place = {"quote": quote or text, "start_line": line, "end_line": entry["end_line"]}
    return {"type": label, "text": text, "evidence": [place], **more}


def shown(call: Call) -> list[dict[str, Any]]:
    """Return the candidates that a call of the review shows, each with its neighbours as they are shown."""
    rows = {row["id"]: row for row in call.input["items"]}
    return [{**one, "neighbours": [rows[ident] for ident in one["neighbours"]]} for one in call.input["candidates"]]


def operation(candidate: dict[str, Any], kind: str = "add", *ids: str, **changes: Any) -> dict[str, Any]:
    """Return an operation on a candidate, and on the items of some ids."""
    return {"candidate": candidate["candidate"], "operation": kind, "ids": list(ids), **changes}


def operations(*found: Any) -> dict[str, Any]:
    return {"operations": list(found)}


def says(kind: str, *ids: str, **changes: Any) -> Reader:
    """Return a model that says the same of every candidate."""
    return Reader(lambda found: operations(*(operation(one, kind, *ids, **changes) for one in found)))


def a_night(memory: Memory, model: Reader, now: str = NOW) -> Night:
    when = datetime.fromisoformat(now)
    chain = Chain([model], Replies(memory.root / REPLIES, when), Still().retry)
    reader = ModelExtractor(chain)
    settings, verifier = load_settings(memory.root), ModelVerifier(chain)
    night = Night(memory.root, settings, reader, when, reviewer=reviewer_of(reader), verifier=verifier)
    return replace(night, writer=briefer_of(reader)) if model.writes else night


def curate(memory: Memory, model: Reader, now: str = NOW) -> RunReport:
    return curate_night(a_night(memory, model, now), Watch())


def log(memory: Memory, *lines: str, day: str = DAY) -> None:
    memory.write(f"Logs/{day}.md", f"# {day}\n\nproject: Alpha\n\n" + "".join(f"- {line}\n" for line in lines))


def only(memory: Memory, status: Status) -> Item:
    """Return the one item of a status."""
    [found] = [one for one in items(memory).values() if one.status is status]
    return found


def hold(memory: Memory, *items: str) -> None:
    """Let a project hold items, each `Label: text <!-- comment -->`."""
    memory.write(ALPHA, "# Alpha\n\n## Facts\n" + "".join(f"- {item}\n" for item in items))


def items(memory: Memory) -> dict[str, Item]:
    """Return text → item, of all that stands anywhere."""
    return {placed.item.text: placed.item for one in read_documents(memory.root).values() for placed in one.items}
