"""Why an item is believed: its quotes, its origin, what it rests on, and what depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, ItemGone
from pipelines.queries.history import History, history_of
from pipelines.queries.item_graph import (
    DEPENDENTS,
    GROUNDS,
    PREDECESSORS,
    SUCCESSORS,
    Beliefs,
    Holding,
    Step,
    outdated_grounds,
    reached,
)
from pipelines.store.days import read_days
from pipelines.store.evidence import FoundQuote, Quotes
from pipelines.store.files import open_regular
from pipelines.store.generated import sentences_in
from pipelines.store.item import Item, Trust
from pipelines.store.layout import Kind, episode_path
from pipelines.store.snapshot import read_documents
from pipelines.store.transcripts.reader import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.git import Git


SHOWN: Final = 600
"""How many characters of a transcript's record are shown."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A place that an item rests on, with the transcript's record behind it, if there is one.

    Args:
        found: the words found there, and the place of the record.
        role: who spoke, user or assistant; empty if the record cannot be read.
        text: what was said, shortened.
        time: when, ISO 8601, or empty.
        why_not: why it cannot be shown, as the end of a sentence that begins with the place; else empty.
    """

    found: FoundQuote
    role: str = ""
    text: str = ""
    time: str = ""
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        record: dict[str, Any] | None = None
        if self.found.record:
            path, line = self.found.record
            fields = ("role", "text", "time", "why_not")
            record = {"path": path, "line": line} | {name: getattr(self, name) or None for name in fields}
        return self.found.to_json() | {"record": record}


@dataclass(frozen=True, slots=True)
class Why:
    """Why an item is believed.

    Args:
        holding: the item and its place.
        witnesses: the first and the last place that it rests on.
        model: the model that extracted it; empty if a person wrote it.
        prompt: the version of the model's prompt, or of the rules; or empty.
        history: its history.
        grounds: what it rests on, directly or through other items.
        superseded: what it replaced, newest first.
        successors: what replaced it.
        dependents: what would be in doubt without it: what rests on it, directly or through other items, and what it
            replaced.
        outdated: what it rests on that no longer holds, if it is itself believed.
        part_of: the episodes that mention it, as `Episodes/2026-04.md#2026-04-09`.
    """

    holding: Holding
    witnesses: list[Witness]
    model: str
    prompt: str
    history: History
    grounds: list[Step]
    superseded: list[Step]
    successors: list[Step]
    dependents: list[Step]
    outdated: tuple[str, ...] = ()
    part_of: tuple[str, ...] = ()

    @property
    def item(self) -> Item:
        """The item."""
        return self.holding.item

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return self.holding.to_json() | {
            "seen": max(self.item.seen, len(self.item.evidence)),
            "evidence": [one.to_json() for one in self.witnesses],
            "model": self.model or None,
            "prompt": self.prompt or None,
            "grounds": [step.to_json() for step in self.grounds],
            "outdated_grounds": self.outdated,
            "superseded": [step.to_json() for step in self.superseded],
            "successors": [step.to_json() for step in self.successors],
            "impact": [step.to_json() for step in self.dependents],
            "part_of": [*self.part_of],
            "versions": self.history.to_json()["versions"],
        }


def why(root: Path, git: Git, prefix: str, beliefs: Beliefs | None = None) -> Why:
    """Return why the item whose id begins with `prefix` is believed.

    Args:
        root: the memory.
        git: its repository.
        prefix: the start of the item's id.
        beliefs: the items of the memory, if they have been read already.

    Raises:
        UnknownItem: no item or several match, or it was deleted; the sentence says which.
    """
    beliefs, quotes = beliefs or Beliefs.of(read_documents(root)), Quotes(root)
    history = history_of(root, git, prefix, beliefs)
    ident, holding = history.id, history.holding
    if holding is None:
        raise ItemGone(ident, *history.end)
    pages = (one for one in beliefs.documents.values() if one.kind is Kind.EPISODE)
    days = (pair for page in pages for pair in sentences_in(page).items())
    told = sorted(day for day, some in days if any(ident in one.ids for _, one in some))
    model, _, prompt = holding.item.by.rpartition("@")
    return Why(
        holding=holding,
        witnesses=[_witness(root, quotes.found(place)) for place in holding.item.evidence],
        model=model or prompt,
        prompt=prompt if model else "",
        history=history,
        grounds=reached(ident, beliefs, GROUNDS),
        superseded=reached(ident, beliefs, PREDECESSORS),
        successors=reached(ident, beliefs, SUCCESSORS),
        dependents=reached(ident, beliefs, DEPENDENTS),
        outdated=outdated_grounds(ident, beliefs),
        part_of=tuple(f"{episode_path(day)}#{day}" for day in told),
    )


def _witness(root: Path, found: FoundQuote) -> Witness:
    """Return a place with the record behind it. The transcript is read only up to that record."""
    if found.record is None:
        return Witness(found)
    path, line = found.record
    try:
        file = open_regular(root, path)
    except BadFile as fault:
        return Witness(found, why_not=fault.why)
    if file is None:
        return Witness(found, why_not="is not on this machine")
    with file:
        turn = next((one for one in Transcript(file, read_days(root).zone) if one.line >= line), None)
    if turn is None or turn.line != line:
        return Witness(found, why_not="has no message there")
    from pipelines.store.secrets.redact import without_secrets  # noqa: PLC0415  only where there are transcripts

    text = turn.text if len(turn.text) <= SHOWN else f"{turn.text[:SHOWN].rstrip()} …"
    time = turn.time.isoformat(timespec="seconds") if turn.time else ""
    return Witness(found, turn.role.value, without_secrets(text), time)


def trust_label(item: Item) -> str:
    """Return whose word an item is, in a few words."""
    return {
        Trust.OWNER: "the owner's word",
        Trust.SELF: "a line of the journal, or the agent's word",
        Trust.EXTERNAL: "from a source that the agent read",
        Trust.UNTRUSTED: "from an untrusted source",
    }[item.trust]
