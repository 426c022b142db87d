"""Capture: the logs in one piece, and clean, before anything else is done with them.

What is secret or private in a log that was not read yet goes from it; what was said outside the day's log is folded
into it, in time order, once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pipelines.store.layout import PARTIAL, log_day, log_path
from pipelines.store.secrets.redact import is_private, log_without_private
from pipelines.store.state import file_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.store.secrets import Found, Redactor
    from pipelines.store.state import LogProgress


_TIMED: Final = re.compile(r"[-*+][ \t]+(?:\*\*)?(\d{1,2}):(\d{2})\b")
_TITLE: Final = re.compile(r"#[ \t]")
_DAY_TITLE: Final = re.compile(r"#[ \t]+\d{4}-\d{2}-\d{2}[ \t]*\r?\n?")


@dataclass(frozen=True, slots=True)
class Captured:
    """The logs after capture.

    Args:
        logs: every log by path, in order of days.
        folded: the partial logs that went into them, and so go.
        odd: partial logs whose names tell no day; they stay where they are.
    """

    logs: Mapping[str, bytes]
    folded: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()


def capture(
    logs: Mapping[str, bytes], partials: Mapping[str, bytes], today: str, closed: frozenset[str] = frozenset()
) -> Captured:
    """Fold the partial logs of days up to `today` into the logs of their days.

    Partial logs are named `Logs/partial/DAY.md` or `DAY-NAME.md`. Where the day's log and its partial logs are flat
    lists of timed lines, the entries are merged by their time; a log with headings keeps its lines as they are, and
    each partial log is appended under a heading of its own. A day whose log is in `closed` (it is there and cannot be
    read) keeps its partial logs as they are.
    """
    by_day: dict[str, list[str]] = {}
    odd = []
    for path in sorted(partials):
        name = path.removeprefix(f"{PARTIAL}/")
        if day := log_day(f"{name[:10]}.md") if re.fullmatch(r".{10}(?:\.md|-.*\.md)", name) else "":
            by_day.setdefault(day, []).append(path)
        else:
            odd.append(path)
    out, folded = dict(logs), []
    for day, paths in sorted(by_day.items()):
        if day <= today and log_path(day) not in closed:
            current = out.get(log_path(day), f"# {day}\n\n".encode()).decode()
            out[log_path(day)] = _fold(current, [(path, partials[path].decode()) for path in paths]).encode()
            folded += paths
    return Captured(dict(sorted(out.items())), tuple(folded), tuple(odd))


def _fold(log: str, partials: Sequence[tuple[str, str]]) -> str:
    head, timed = _flat(log)
    parts = [_flat(text) for _, text in partials]
    if timed is None or any(entries is None or _says_something(lines) for lines, entries in parts):
        return _append(log, partials)
    merged = sorted([*timed, *(entry for _, entries in parts for entry in entries or ())], key=itemgetter(0))
    return "".join([*head, *(line for _, lines in merged for line in lines)])


def _says_something(head: Sequence[str]) -> bool:
    """Whether what stands above a partial log's first entry is more than blank lines and its day as a title."""
    return any(line.strip() and not _DAY_TITLE.fullmatch(line) for line in head)


def _flat(text: str) -> tuple[list[str], list[tuple[int, list[str]]] | None]:
    """Return a log's head lines, and the minute and lines of its timed entries; None where it is no flat list."""
    head: list[str] = []
    entries: list[tuple[int, list[str]]] = []
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        ended = line if line.endswith("\n") else f"{line}\n"
        if found := _TIMED.match(line):
            entries.append((int(found[1]) * 60 + int(found[2]), [ended]))
        elif not line.strip() or line[:1] in " \t":
            (entries[-1][1] if entries else head).append(ended)
        elif not entries and _TITLE.match(line):
            head.append(ended)
        else:
            return head, None
    return head, entries


def _append(log: str, partials: Sequence[tuple[str, str]]) -> str:
    out = log if not log or log.endswith("\n") else f"{log}\n"
    for path, text in partials:
        name = path.removeprefix(f"{PARTIAL}/").removesuffix(".md")
        out += f"\n## {name}\n\n{text if text.endswith(chr(10)) else text + chr(10)}"
    return out


def clean_logs(
    logs: Mapping[str, bytes],
    partials: Mapping[str, bytes],
    progress: Mapping[str, Sequence[LogProgress]],
    redactor: Redactor,
) -> tuple[dict[str, bytes], dict[str, bytes], dict[str, Sequence[Found]], list[str]]:
    """Return the logs without what is secret or private; lines keep their places.

    A log that was read to its end as it stands was cleaned then, and costs nothing more.

    Args:
        logs: path → bytes.
        partials: likewise.
        progress: what earlier runs have read.
        redactor: takes out secrets.

    Returns:
        The logs and the partial logs; path → secrets that were taken out; paths of logs that held something private.
    """
    cleaned: dict[str, bytes] = {}
    redacted: dict[str, Sequence[Found]] = {}
    hidden: list[str] = []
    before = redactor.learned
    for path, data in (*logs.items(), *partials.items()):
        records = progress.get(path)
        cleaned[path] = data
        if records and file_hash(data) in {record.file for record in records}:
            continue
        text = data.decode()
        shown = log_without_private(text) if is_private(text) else text
        if shown != text:
            hidden.append(path)
        cleaned[path], found = redactor.redact_bytes(shown.encode())
        if found:
            redacted[path] = found
    if redactor.learned > before:  # a value that one log tells may stand in those that were looked at before it
        return clean_logs(logs, partials, progress, redactor)
    return {path: cleaned[path] for path in logs}, {path: cleaned[path] for path in partials}, redacted, hidden
