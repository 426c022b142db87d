"""What goes to an extractor and what comes back: the one interface that every provider fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pipelines.memory.entries import Entry
    from pipelines.memory.items import Confidence, ItemType


@dataclass(frozen=True, slots=True)
class DocumentChoice:
    """One document of the closed list that a candidate may name.

    Args:
        id: the document's id, its path without `.md` (`Projects/alpha`, `Areas/general`, `USER`, `MEMORY`).
        title: its title, for a model to understand it by.
        kind: project, area, resource, user or briefing.
    """

    id: str
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """One day's uncurated entries, in order, and the documents that a candidate may name."""

    day: str
    entries: tuple[Entry, ...]
    documents: tuple[DocumentChoice, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that an extractor proposes.

    Args:
        type: one of the five.
        text: the sentence to keep.
        entry: where it was found.
        start_line: first line of the evidence, within the entry.
        end_line: last line of the evidence, inclusive.
        quote: verbatim words of those lines; code checks that they stand there.
        confidence: what a label says is high; what a cue suggests is medium or low.
        reason: why, in a few words.
        by: who extracted it, and by which version (`rules@1`, `anthropic:claude-haiku-5-5@extract/1`).
        document: the id of a `DocumentChoice`, or empty where the extractor does not say.
        new_project: the title of a project document to be made, or empty.
        closed: for a Todo, whether the log says that it is already done (a ticked box).
    """

    type: ItemType
    text: str
    entry: Entry
    start_line: int
    end_line: int
    quote: str
    confidence: Confidence
    reason: str
    by: str
    document: str = ""
    new_project: str = ""
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """What came back for one request: the candidates in log order, and what it cost."""

    candidates: tuple[Candidate, ...]
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    notes: tuple[str, ...] = field(default=())


class Extractor(Protocol):
    """Who reads a day and proposes candidates."""

    @property
    def name(self) -> str:
        """Who it is, with its version, as an item's `by` records it."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the candidates of one day.

        Raises:
            ModelFailed: no usable answer came; the day's entries stay pending.
        """
