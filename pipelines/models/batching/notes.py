"""The notes of the batches: what was asked for, of whom, for which entries of which day; a file a batch.

A note is on the disk before its batch is sent and until its days are read, so that whatever dies in between, no call is
paid twice: an open note keeps its calls from being made. It holds hashes and line numbers, and no word of a log.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, CurateError
from pipelines.memory.files import making, read_bytes, write_synced, writing
from pipelines.memory.folders import holding
from pipelines.memory.layout import BATCHES
from pipelines.models.settings import without_userinfo
from pipelines.spending import Usage

if TYPE_CHECKING:
    from pathlib import Path

_FORM: Final = 1
_NAME: Final = re.compile(r"[0-9a-f]{32}\.json")


class State(StrEnum):
    """How far a batch is, as this machine knows.

    `SENDING`: nobody saw whether the provider took it. `SENT`: it did. `LATE`: its time was over before its results
    came, and its days are read without it. `ENDED`: what came of it is kept.
    """

    SENDING = "sending"
    SENT = "sent"
    LATE = "late"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a batch.

    Args:
        id: its id in the batch.
        day: the day that it is about.
        digest: what was asked (`Call.digest`).
        task: what for.
        prompt_id: the prompt.
        prompt_version: its version.
        entries: key, first and last line of each entry that it shows.
        held: the name under which the caps set its cost aside, or empty.
        tokens: the tokens set aside.
        usd: the money set aside.
        reply: the name of the kept reply, once there is one.
        fault: how it failed (a `FailureKind`), if it did.
    """

    id: str
    day: str
    digest: str
    task: str
    prompt_id: str
    prompt_version: int
    entries: tuple[tuple[str, int, int], ...]
    held: str = ""
    tokens: int = 0
    usd: float = 0.0
    reply: str = ""
    fault: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """The hashes of its entries."""
        return frozenset(key for key, _, _ in self.entries)


@dataclass(frozen=True, slots=True)
class Note:
    """One batch.

    Args:
        id: its mark, and its file's name without the end.
        state: how far it is.
        name: provider and model that were asked.
        source: the same with the address, as kept replies know it.
        base_url: the address, without a user's name and password, or empty.
        at: the moment of the run that sent it, ISO 8601.
        day: the memory's day then, whose caps it counts under.
        asks: its calls.
        ident: the provider's name for it, once that is known.
        calls: how many calls were answered, and paid.
        usage: their tokens.
        price: what they cost in USD, or None where the price is not known.
        failures: kind of failure → how often.
    """

    id: str
    state: State
    name: str
    source: str
    base_url: str
    at: str
    day: str
    asks: tuple[Ask, ...]
    ident: str = ""
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    price: float | None = None
    failures: tuple[tuple[str, int], ...] = ()

    @property
    def provider(self) -> str:
        """Who was asked."""
        return self.name.partition(":")[0]

    @property
    def is_open(self) -> bool:
        """Whether its days wait for it."""
        return self.state in {State.SENDING, State.SENT}

    @property
    def days(self) -> tuple[str, ...]:
        """The days that it is about."""
        return tuple(sorted({ask.day for ask in self.asks}))


class Notes:
    """The notes of one memory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def all(self) -> list[Note]:
        """Return the notes, the oldest first. One that cannot be understood is passed over; `odd` names it."""
        found = [note for name in self._names() if (note := self._read(name))]
        return sorted(found, key=lambda note: (note.at, note.id))

    def odd(self) -> list[str]:
        """Return the paths of the files that are no notes."""
        return [f"{BATCHES}/{name}" for name in self._names() if not self._read(name)]

    def save(self, note: Note) -> None:
        """Write a note, whole, and flush it and its folder.

        Raises:
            BadFile: the folder is a link.
            NotWritable: the disk refused; the note is as it was.
        """
        name, staged = f"{note.id}.json", f".{note.id}.{os.getpid()}"
        with writing(f"{BATCHES}/{name}"), making(self._root, BATCHES) as folder:
            try:
                write_synced(folder, staged, json.dumps({"form": _FORM, **asdict(note)}, indent=1).encode(), 0o600)
                folder.rename(staged, folder, name)
            finally:
                folder.unlink(staged)
            folder.sync()

    def drop(self, note: Note) -> None:
        """Remove a note.

        Raises:
            NotWritable: the disk refused.
        """
        with writing(f"{BATCHES}/{note.id}.json"), making(self._root, BATCHES) as folder:
            folder.unlink(f"{note.id}.json")

    def _names(self) -> list[str]:
        try:
            with holding(self._root, BATCHES) as folder:
                return [name for name in folder.names() if name.endswith(".json")]
        except (BadFile, FileNotFoundError, NotADirectoryError):
            return []  # what lies behind a link is not this memory's

    def _read(self, name: str) -> Note | None:
        if not _NAME.fullmatch(name):
            return None
        try:
            found = json.loads(read_bytes(self._root, f"{BATCHES}/{name}") or b"")
            note = _note(found)
        except (CurateError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return note if f"{note.id}.json" == name and found.get("form") == _FORM else None


def _note(found: dict[str, Any]) -> Note:
    row = {key: value for key, value in found.items() if key != "form"}
    row["asks"] = tuple(_ask(one) for one in row["asks"])
    row["usage"] = Usage(**{key: int(value) for key, value in row["usage"].items()})
    row["state"] = State(row["state"])
    row["failures"] = tuple((str(kind), int(count)) for kind, count in row["failures"])
    row |= {key: str(row[key]) for key in ("id", "name", "at", "day", "ident")}
    row |= {key: without_userinfo(str(row[key])) for key in ("source", "base_url")}
    if datetime.fromisoformat(row["at"]).tzinfo is None:
        raise ValueError(row["at"])
    return Note(**row)


def _ask(found: dict[str, Any]) -> Ask:
    entries = tuple((str(key), int(first), int(last)) for key, first, last in found["entries"])
    words = {key: str(value) for key, value in found.items()}
    numbers = {key: int(found[key]) for key in ("prompt_version", "tokens")}
    return Ask(**{**words, **numbers, "usd": float(found["usd"]), "entries": entries})  # type: ignore[arg-type]  # each of its field's type
