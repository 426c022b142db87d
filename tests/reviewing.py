"""A night with a model that reads, writes and verifies: what it says is written down by the test."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_briefer import ModelBriefer
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.report import RunReport, Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.item import Item
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind
from tests.conftest import Memory
from tests.extract.fakes import USAGE, Still

DAY = "2026-03-12"
NOW = "2026-03-20T02:00+00:00"
ALPHA = "Projects/alpha.md"

LABELS = {"Decision", "Fact", "Rule", "Todo", "Risk"}


def verdict_of(claim: dict[str, Any]) -> str:
    """Return what a reader says who agrees with everything: two sentences that are near are two beliefs."""
    return "both" if claim["kind"] == "pair" else "supported"


@dataclass
class Reader:
    """A model that finds every labelled line of a day, and agrees with all that it is asked to verify.

    Args:
        reads: what it says of a day, given the call's input, in place of the labelled lines; a kind is a failure.
        verifies: its verdict on a claim; what is no function is its whole answer, and a kind is a failure.
        writes: what it says when it is to write the brief, given the call's input; None where it never is.
        confidence: that of all it finds.
        shown: the input of each call of the reading.
        claims: the claims of each call of the verification.
        pages: the input of each call of the writing.
        words: what each of these calls says.
    """

    reads: Callable[[dict[str, Any]], Any] | None = None
    verifies: Callable[[dict[str, Any]], str] | FailureKind | str | dict[str, Any] = verdict_of
    writes: Callable[[dict[str, Any]], Any] | None = None
    confidence: str = "high"
    shown: list[dict[str, Any]] = field(default_factory=list)
    claims: list[list[dict[str, Any]]] = field(default_factory=list)
    pages: list[dict[str, Any]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    name: str = "a:1"
    input_tokens: int = 24_000
    output_tokens: int = 1000
    source: str = ""
    retries: int = 0

    def ask(self, call: Call) -> ModelAnswer:
        if call.task == "extract":
            said = self._read(dict(call.input))
        elif call.task == "verify":
            said = self._verified(list(call.input["claims"]))
        else:
            assert (call.task, bool(self.writes)) == ("brief", True)
            self.pages.append(dict(call.input))
            self.words.append(call.user)
            said = self.writes(self.pages[-1]) if self.writes else {}
        if isinstance(said, FailureKind):
            raise ModelFailed("a", f"was {said}", said, usage=USAGE)
        return ModelAnswer(said if isinstance(said, str) else json.dumps(said), USAGE)

    def _read(self, day: dict[str, Any]) -> Any:
        self.shown.append(day)
        return self.reads(day) if self.reads else reply(*labelled(day, confidence=self.confidence))

    def _verified(self, claims: list[dict[str, Any]]) -> Any:
        self.claims.append(claims)
        if isinstance(self.verifies, str | dict):
            return self.verifies
        return {"verdicts": [{"claim": one["claim"], "reason": "", "verdict": self.verifies(one)} for one in claims]}


def item(label: str, text: str, entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return an item of a day's reply, which rests on the lines of an entry."""
    return {"type": label, "text": text, "lines": lines(entry), **more}


def lines(entry: dict[str, Any]) -> list[list[int]]:
    """Return the lines of an entry as a reply cites them."""
    return [[entry["line"], entry["end_line"]]]


def labelled(day: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """Return an item for each labelled line of a day, in the line's own words."""
    said = ((entry, *entry["text"].removeprefix("- ").partition(": ")[::2]) for entry in day["entries"])
    return [item(label, text, entry, **more) for entry, label, text in said if label in LABELS]


def operation(entry: dict[str, Any], kind: str, *ids: str, **changes: Any) -> dict[str, Any]:
    """Return an operation of a day's reply on the items of some ids, which rests on the lines of an entry."""
    return {"operation": kind, "ids": list(ids), "lines": lines(entry), **changes}


def reply(*found: dict[str, Any], **lists: Any) -> dict[str, Any]:
    """Return the reply about a day with these items, and with other lists."""
    return {"items": list(found), **lists}


def says(kind: str, *ids: str, **changes: Any) -> Reader:
    """Return a model that finds no item in a day, and says the same of some held ones by each of its entries."""
    return Reader(lambda day: reply(operations=[operation(one, kind, *ids, **changes) for one in day["entries"]]))


def replaces(*ids: str, **more: Any) -> Reader:
    """Return a model that finds every labelled line of a day, each in the place of some held items."""
    return Reader(lambda day: reply(*labelled(day, replaces=list(ids), **more)))


def a_night(memory: Memory, model: Reader, now: str = NOW) -> Night:
    when = datetime.fromisoformat(now)
    chain = Chain([model], memory.root, Still().retry)
    reader = ModelExtractor(chain)
    settings, verifier = load_settings(memory.root), ModelVerifier(chain)
    night = Night(memory.root, settings, reader, when, verifier=verifier)
    return replace(night, writer=ModelBriefer(chain)) if model.writes else night


def curate(memory: Memory, model: Reader, now: str = NOW) -> RunReport:
    return curate_night(a_night(memory, model, now), Watch())


def log(memory: Memory, *lines: str, day: str = DAY) -> None:
    memory.write(f"Logs/{day}.md", f"# {day}\n\nproject: Alpha\n\n" + "".join(f"- {line}\n" for line in lines))


def by_id(memory: Memory, ident: str) -> Item:
    """Return the item of an id."""
    return next(one for one in items(memory).values() if one.id == ident)


def hold(memory: Memory, *items: str) -> None:
    """Let a project hold items, each `Label: text <!-- comment -->`."""
    memory.write(ALPHA, "# Alpha\n\n## Facts\n" + "".join(f"- {item}\n" for item in items))


def items(memory: Memory) -> dict[str, Item]:
    """Return text → item, of all that stands anywhere."""
    return {placed.item.text: placed.item for one in read_documents(memory.root).values() for placed in one.items}
