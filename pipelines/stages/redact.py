"""Redact: what is secret or private in a log that was not read yet goes from it before anything else is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.store.secrets import told
from pipelines.store.secrets.redact import log_without_private
from pipelines.store.state import file_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.store.secrets import Found, Redactor
    from pipelines.store.state import LogProgress


@dataclass(frozen=True, slots=True)
class Clean:
    """The logs as they may be read.

    Args:
        logs: every log by path.
        partials: every partial log by path.
        redacted: path → the secrets that were taken out.
        hidden: paths of logs that held something private.
        told: sentences on what was left in place.
    """

    logs: Mapping[str, bytes]
    partials: Mapping[str, bytes]
    redacted: Mapping[str, Sequence[Found]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    def notes(self, committed: frozenset[str]) -> list[str]:
        """Return what was done, a sentence a log.

        Args:
            committed: paths of logs whose secrets a commit holds already.
        """
        purge = "; git holds it still, and `curate check --secrets --history` says how to purge that"
        notes = [
            f"{path}: {told(found)} redacted{purge if path in committed else ''}."
            for path, found in sorted(self.redacted.items())
        ]
        notes += [f"{path}: what was marked as private is gone from it." for path in self.hidden]
        return [*notes, *self.told]


def clean_logs(
    logs: Mapping[str, bytes],
    partials: Mapping[str, bytes],
    progress: Mapping[str, Sequence[LogProgress]],
    redactor: Redactor,
) -> Clean:
    """Return the logs without what is secret or private; lines keep their places.

    A log that was read to its end as it stands was cleaned then, and costs nothing more.

    Args:
        logs: path → bytes.
        partials: likewise.
        progress: what earlier runs have read.
        redactor: takes out secrets.
    """
    redacted: dict[str, Sequence[Found]] = {}
    hidden = []

    def cleaned(path: str, data: bytes) -> bytes:
        text = data.decode()
        shown = log_without_private(text)
        if shown != text:
            hidden.append(path)
            data = shown.encode()
        clean, found = redactor.redact_bytes(data)
        if found:
            redacted[path] = found
        return clean

    return Clean(
        {path: data if _was_read(progress.get(path, ()), data) else cleaned(path, data) for path, data in logs.items()},
        {path: cleaned(path, data) for path, data in partials.items()},
        redacted,
        tuple(hidden),
    )


def left_in_place(clean: Clean, shown: Callable[[str], str]) -> Clean:
    """Return the logs as they may be read where they are a person's own files, which keep what they hold.

    A file with a secret is held uncommitted, and named when the run is over; one with something private is named here.
    """
    why = "has something marked as private in it; it is left as it is and not committed, and that is not read"
    return Clean(clean.logs, clean.partials, told=tuple(f"{shown(path)} {why}." for path in clean.hidden))


def _was_read(records: Sequence[LogProgress], data: bytes) -> bool:
    return bool(records) and file_hash(data) in {record.file for record in records}
