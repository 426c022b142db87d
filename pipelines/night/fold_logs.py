"""Capture: join and clean the logs before anything else reads them.

Secrets and private text are removed from new log lines; partial logs are folded into their day's log, in order of time,
once.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from pipelines.errors import TooMuchFromGit
from pipelines.store.layout import PARTIAL, log_day, log_path
from pipelines.store.secrets.known import rules_changed
from pipelines.store.secrets.redact import format_found, is_private, load_redactor, log_without_private
from pipelines.store.state import LogProgress, file_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.night.run import Run
    from pipelines.store.secrets.redact import FoundSecret, Redactor


_TIMED = re.compile(r"[-*+][ \t]+(?:\*\*)?(\d{1,2}):(\d{2})\b")
_TITLE = re.compile(r"#[ \t]")
_DAY_TITLE = re.compile(r"#[ \t]+\d{4}-\d{2}-\d{2}[ \t]*\r?\n?")


@dataclass(frozen=True, slots=True)
class FoldedLogs:
    """The logs after capture.

    Args:
        logs: every log by path, in order of days.
        folded: the partial logs that were folded in, and are deleted.
        odd: partial logs whose names hold no day; they stay where they are.
    """

    logs: Mapping[str, bytes]
    folded: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()


def take_logs(run: Run) -> None:
    """Take the logs without secrets and private text, the partial ones folded into their days."""
    snapshot, report, redactor = run.snapshot, run.report, load_redactor(run.night.root)
    cleaned = {} if rules_changed(run.night.root) else snapshot.progress
    logs, partials, redacted, private = clean_logs(snapshot.logs, snapshot.partials, cleaned, redactor)
    folded = capture(logs, partials, run.today, snapshot.unreadable())
    run.logs = folded.logs
    if snapshot.layout.in_place:  # the logs are a person's own files, and keep what they hold
        why = "holds text marked as private. The file was neither changed nor committed, and that text was not read"
        report.warnings += [f"{snapshot.shown(path)} {why}." for path in private]
        redacted = {}
    else:
        run.files |= {**folded.logs, **partials, **dict.fromkeys(folded.folded)}
        purge = ". Git history still has a copy: `curate check --secrets --history` shows how to purge it"
        held = _with_secret_in_git(run, redacted)
        report.warnings += [
            f"{path}: {format_found(found)} redacted{purge if path in held else ''}."
            for path, found in sorted(redacted.items())
        ]
        report.warnings += [f"{path}: the text marked as private was removed." for path in private]
    why = "was not folded, because its name has no date. Rename it to DAY-NAME.md"
    report.warnings += [f"{path} {why}." for path in folded.odd]
    report.logs["folded"] = folded.folded
    report.logs["redacted"] = {path: len(found) for path, found in redacted.items()}


def _with_secret_in_git(run: Run, redacted: Mapping[str, Sequence[FoundSecret]]) -> set[str]:
    """Return the logs whose version in the last commit holds a secret."""
    head, redactor, found = run.git.head(), load_redactor(run.night.root), set[str]()
    for path in redacted if head else ():
        with contextlib.suppress(TooMuchFromGit):  # `curate check --secrets --history` has no size limit
            if path in run.git.tree(head) and redactor.find(run.git.show(head or "", path) or b""):
                found.add(path)
    return found


def capture(
    logs: Mapping[str, bytes], partials: Mapping[str, bytes], today: str, closed: frozenset[str] = frozenset()
) -> FoldedLogs:
    """Fold the partial logs of days up to `today` into the logs of their days.

    Partial logs are named `Logs/partial/DAY.md` or `DAY-NAME.md`. If the day's log and its partial logs are flat lists
    of timed lines, the entries are merged by time; a log with headings keeps its lines, and each partial log is
    appended under its own heading. If the day's log is in `closed` (it exists but cannot be read), its partial logs
    stay.
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
    return FoldedLogs(dict(sorted(out.items())), tuple(folded), tuple(odd))


def _fold(log: str, partials: Sequence[tuple[str, str]]) -> str:
    head, timed = _flat(log)
    parts = [_flat(text) for _, text in partials]
    if timed is None or any(entries is None or _has_more_than_title(lines) for lines, entries in parts):
        return _append(log, partials)
    merged = sorted([*timed, *(entry for _, entries in parts for entry in entries or ())], key=itemgetter(0))
    return "".join([*head, *(line for _, lines in merged for line in lines)])


def _has_more_than_title(head: Sequence[str]) -> bool:
    """Whether the lines above a partial log's first entry are more than blank lines and its day as a title."""
    return any(line.strip() and not _DAY_TITLE.fullmatch(line) for line in head)


def _flat(text: str) -> tuple[list[str], list[tuple[int, list[str]]] | None]:
    """Return a log's head lines, and the minute and lines of its timed entries; None if it is not a flat list."""
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


_MARK = b"\xff\xfe"
_UTF16 = re.compile(rb"(?:\xff\xfe)?(?:[\t\n\r\x20-\x7e]\0){4,}")
"""What Windows PowerShell 5 appends to a file of UTF-8 with `>>`."""


def clean_logs(
    logs: Mapping[str, bytes],
    partials: Mapping[str, bytes],
    progress: Mapping[str, Sequence[LogProgress]],
    redactor: Redactor,
) -> tuple[dict[str, bytes], dict[str, bytes], dict[str, Sequence[FoundSecret]], list[str]]:
    """Return the logs without secrets and private text, all of it UTF-8; lines keep their places.

    A log that was read to its end and has not changed was cleaned then, and costs nothing.

    Args:
        logs: path → bytes.
        partials: likewise.
        progress: what earlier runs read.
        redactor: removes secrets.

    Returns:
        The logs and the partial logs; path → secrets removed; paths of logs that held private text.
    """
    cleaned: dict[str, bytes] = {}
    redacted: dict[str, Sequence[FoundSecret]] = {}
    hidden: list[str] = []
    before = redactor.learned
    for path, data in (*logs.items(), *partials.items()):
        records = progress.get(path)
        cleaned[path] = data
        if records and file_hash(data) in {record.file for record in records}:
            continue
        text = _UTF16.sub(lambda found: found[0].removeprefix(_MARK).decode("utf-16-le").encode(), data).decode()
        shown = log_without_private(text) if is_private(text) else text
        if shown != text:
            hidden.append(path)
        cleaned[path], found = redactor.redact_bytes(shown.encode())
        if found:
            redacted[path] = found
    if redactor.learned > before:  # a value found in one log may occur in logs cleaned before it
        return clean_logs(logs, partials, progress, redactor)
    return {path: cleaned[path] for path in logs}, {path: cleaned[path] for path in partials}, redacted, hidden
