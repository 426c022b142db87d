"""Why a thing is believed: the item, the words that it rests on, who brought it, and what lies under it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, ItemGone
from pipelines.queries.history import history_in
from pipelines.queries.item_graph import beliefs_of, dependents, grounds, predecessors, successors, walk
from pipelines.store.days import read_days
from pipelines.store.evidence import Quotes
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.item import Trust
from pipelines.store.layout import TOMBSTONES
from pipelines.store.state import read_tombstones
from pipelines.store.transcripts import Transcript

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.queries.history import Version
    from pipelines.queries.item_graph import Beliefs, Holding, Step
    from pipelines.store.evidence import Found
    from pipelines.store.git import Git
    from pipelines.store.item import Item
    from pipelines.store.transcripts import Turn


# ---------------------------------------- the transcript behind a line of a log
# what was said there, by whom and when, as the session's record has it.


SHOWN: Final = 600
"""Characters of a record that are shown; the place says where the rest is."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A record of a transcript.

    Args:
        path: the transcript, relative to the memory.
        line: the record's line, counted from 1.
        role: user or assistant; empty where the record cannot be read.
        text: what was said, cut where it is long.
        time: when, ISO 8601, or empty.
        session: the session's id, or empty.
        tool: which program wrote it, or empty.
        why_not: why it cannot be shown, the end of a sentence that begins with the place; else empty.
    """

    path: str
    line: int
    role: str = ""
    text: str = ""
    time: str = ""
    session: str = ""
    tool: str = ""
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = (("role", self.role), ("text", self.text), ("time", self.time), ("session", self.session))
        rest = (("tool", self.tool), ("why_not", self.why_not))
        return {"path": self.path, "line": self.line, **{key: value or None for key, value in (*told, *rest)}}


def spoken_at(root: Path, path: str, line: int) -> Spoken:
    """Return the record at a line of a transcript. The transcript is read up to it, and no further."""
    try:
        file = open_regular(root, path)
    except BadFile as fault:
        return Spoken(path, line, why_not=fault.why)
    if file is None:
        return Spoken(path, line, why_not="is not on this machine")
    with file:
        turn = next((one for one in Transcript(file, read_days(root).zone) if one.line >= line), None)
    if turn is None or turn.line != line:
        return Spoken(path, line, why_not="holds nothing that was said")
    return _spoken(path, turn)


def _spoken(path: str, turn: Turn) -> Spoken:
    from pipelines.store.secrets import veil  # noqa: PLC0415  only where there are transcripts

    text = turn.text if len(turn.text) <= SHOWN else f"{turn.text[:SHOWN].rstrip()} …"
    time = turn.time.isoformat(timespec="seconds") if isinstance(turn.time, datetime) else ""
    return Spoken(path, turn.line, turn.role.value, veil(text), time, turn.session, turn.tool)


@dataclass(frozen=True, slots=True)
class Witness:
    """A place that an item rests on: the words found there, and the transcript's record behind them, or None."""

    found: Found
    spoken: Spoken | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self.found.to_json() | {"record": self.spoken.to_json() if self.spoken else None}


@dataclass(frozen=True, slots=True)
class Why:
    """Why an item is believed.

    Args:
        holding: the item where it stands.
        witnesses: the first and the last place that it rests on.
        model: who extracted it, or empty for what a person wrote.
        prompt: the version of the prompt or of the rules by which it did, or empty.
        brought: the commit that brought it, or None where it is not committed yet.
        grounds: what it rests on, by its links and those of others, and what that rests on.
        superseded: what it took the place of, newest first.
        successors: what took its place.
        known: the items that those name, by id.
    """

    holding: Holding
    witnesses: tuple[Witness, ...]
    model: str
    prompt: str
    brought: Version | None
    grounds: tuple[Step, ...]
    superseded: tuple[Step, ...]
    successors: tuple[Step, ...]
    known: Mapping[str, Holding]

    @property
    def item(self) -> Item:
        """The item."""
        return self.holding.item

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self.holding.to_json() | {
            "seen": max(self.item.seen, len(self.item.evidence)),
            "evidence": [one.to_json() for one in self.witnesses],
            "model": self.model or None,
            "prompt": self.prompt or None,
            "brought": self.brought.to_json() if self.brought else None,
            "grounds": [step.to_json(self.known) for step in self.grounds],
            "superseded": [step.to_json(self.known) for step in self.superseded],
            "successors": [step.to_json(self.known) for step in self.successors],
        }


def why(root: Path, git: Git, prefix: str) -> Why:
    """Return why the item whose id begins so is believed.

    Raises:
        UnknownItem: none, or more than one, has an id that begins so, or it was deleted; the sentence says which.
    """
    beliefs = beliefs_of(root)
    ident = named_standing(root, beliefs, prefix)
    holding, quotes = beliefs.by_id[ident], Quotes(root)
    witnesses = [_witness(root, quotes.found(place)) for place in holding.item.evidence]
    model, _, prompt = holding.item.by.rpartition("@")
    told = history_in(git, read_days(root), ident, holding).versions
    return Why(
        holding=holding,
        witnesses=tuple(witnesses),
        model=model or prompt,
        prompt=prompt if model else "",
        brought=next((version for version in told if version.commit), None),
        grounds=tuple(walk(ident, grounds(beliefs), beliefs.by_id)),
        superseded=tuple(walk(ident, predecessors(beliefs), beliefs.by_id)),
        successors=tuple(walk(ident, successors(beliefs), beliefs.by_id)),
        known=beliefs.by_id,
    )


def named_standing(root: Path, beliefs: Beliefs, prefix: str) -> str:
    """Return the id that begins so of an item that stands somewhere.

    Raises:
        UnknownItem: none, or more than one, has an id that begins so, or it was deleted; the sentence says which.
    """
    stones = {stone.id: stone for stone in read_tombstones(read_bytes(root, TOMBSTONES))}
    ident = beliefs.named(prefix, stones)
    if ident not in beliefs.by_id:
        raise ItemGone(ident, stones[ident].reason, stones[ident].day)
    return ident


def whose(item: Item) -> str:
    """Return whose word an item is, in a few words."""
    return {
        Trust.OWNER: "the owner's word",
        Trust.SELF: "the agent's own word",
        Trust.EXTERNAL: "the word of something that the agent read",
        Trust.UNTRUSTED: "the word of nobody who is trusted",
    }[item.trust]


def _witness(root: Path, found: Found) -> Witness:
    return Witness(found, spoken_at(root, *found.record) if found.record else None)


# ---------------------------------------- what rests on an item
# all that would come into question with it.


@dataclass(frozen=True, slots=True)
class Impact:
    """What rests on an item.

    Args:
        holding: the item.
        steps: what rests on it, what rests on that, and what it took the place of; each is gone through once.
        known: the items that those name, by id.
    """

    holding: Holding
    steps: tuple[Step, ...]
    known: Mapping[str, Holding]

    @property
    def count(self) -> int:
        """How many items those are."""
        return len({step.id for step in self.steps} - {self.holding.item.id})

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self.holding.to_json() | {
            "count": self.count,
            "impact": [step.to_json(self.known) for step in self.steps],
        }


def impact(root: Path, prefix: str) -> Impact:
    """Return what rests on the item whose id begins so.

    Raises:
        UnknownItem: none, or more than one, has an id that begins so, or it was deleted; the sentence says which.
    """
    beliefs = beliefs_of(root)
    ident = named_standing(root, beliefs, prefix)
    return Impact(beliefs.by_id[ident], tuple(walk(ident, dependents(beliefs), beliefs.by_id)), beliefs.by_id)
