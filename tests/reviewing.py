"""A night with a model that reads and reviews: what it says of the candidates is written down by the test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Answer
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.model_reviewer import reviewer_of
from pipelines.extract.llm.replies import Replies
from pipelines.night.plan import Night
from pipelines.night.progress import Watch
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
    from pipelines.store.item import Item
    from tests.conftest import Memory

Says = dict[str, Any] | FailureKind
DAY = "2026-03-12"
NOW = "2026-03-20T02:00+00:00"
ALPHA = "Projects/alpha.md"


@dataclass
class Reader:
    """A model that finds every labelled line of a day, and reviews as the test says.

    Args:
        review: what it says to the review's calls, given the candidates that they show; a kind is a failure.
        confidence: that of all it finds.
    """

    review: Callable[[list[dict[str, Any]]], Any]
    confidence: str = "high"
    asked: list[Call] = field(default_factory=list)
    name: str = "a:1"
    source: str = "a:1 here"
    input_tokens: int = 24_000
    output_tokens: int = 1000
    retries: int = 0

    def ask(self, call: Call) -> Answer:
        if call.task == "extract":
            return Answer(json.dumps({"items": self._found(call.user)}), self.name, USAGE)
        self.asked.append(call)
        said = self.review(shown(call))
        if isinstance(said, FailureKind):
            raise ModelFailed("a", f"was {said}", said, usage=USAGE)
        return Answer(said if isinstance(said, str) else json.dumps(said), self.name, USAGE)

    def _found(self, asked: str) -> list[dict[str, Any]]:
        found = []
        for line in asked.partition("BEGIN LOG")[2].split("\n"):
            number, _, text = line.partition("| - ")
            label, _, said = text.partition(": ")
            if label in {"Decision", "Fact", "Rule", "Todo", "Risk"}:
                found.append({
                    "type": label, "text": said, "document": "", "new_project": "", "quote": said,
                    "start_line": int(number), "end_line": int(number), "closed": False,
                    "confidence": self.confidence, "reason": "", "links": [],
                })  # fmt: skip
        return found


def shown(call: Call) -> list[dict[str, Any]]:
    """Return the candidates that a call of the review shows."""
    _, _, rest = call.user.partition("BEGIN CANDIDATES ")
    block = rest.partition("\n")[2].partition("\nEND CANDIDATES ")[0]
    return [json.loads(line) for line in block.split("\n")]


def operation(candidate: dict[str, Any], kind: str = "add", **changes: Any) -> dict[str, Any]:
    """Return a right operation on a candidate, with changes."""
    told = {"candidate": candidate["candidate"], "operation": kind, "id": "", "document": "", "links": [], "reason": ""}
    return {**told, **changes}


def operations(*found: Any) -> dict[str, Any]:
    return {"operations": list(found)}


def a_night(memory: Memory, model: Reader, now: str = NOW) -> Night:
    when = datetime.fromisoformat(now)
    chain = Chain([model], Replies(memory.root / REPLIES, when), Still().retry)
    reader = ModelExtractor(chain)
    return Night(memory.root, load_settings(memory.root), reader, when, reviewer=reviewer_of(reader))


def curate(memory: Memory, model: Reader, now: str = NOW) -> RunReport:
    return curate_night(a_night(memory, model, now), Watch())


def log(memory: Memory, *lines: str, day: str = DAY) -> None:
    memory.write(f"Logs/{day}.md", f"# {day}\n\nproject: Alpha\n\n" + "".join(f"- {line}\n" for line in lines))


def hold(memory: Memory, *items: str) -> None:
    """Let a project hold items, each `Label: text <!-- comment -->`."""
    memory.write(ALPHA, "# Alpha\n\n## Facts\n" + "".join(f"- {item}\n" for item in items))


def items(memory: Memory) -> dict[str, Item]:
    """Return text → item, of all that stands anywhere."""
    return {placed.item.text: placed.item for one in read_documents(memory.root).values() for placed in one.items}
