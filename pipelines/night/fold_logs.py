"""Capture: join and clean the logs before anything else reads them.

Secrets and private text are removed from new log lines; partial logs are folded into their day's log, once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipelines.store.layout import PARTIAL, day_of_log, is_note, log_path
from pipelines.store.secrets.known import rules_changed
from pipelines.store.secrets.redact import FoundSecret, Redactor, format_found, load_redactor, log_without_private
from pipelines.store.state import LogProgress, file_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.night.run import Run


_DAY_TITLE = re.compile(r"\A\s*#[ \t]+\d{4}-\d{2}-\d{2}[ \t]*\r?\n?")


def take_logs(run: Run) -> None:
    """Take the logs without secrets and private text, the partial ones folded into their days."""
    snapshot, report, redactor = run.snapshot, run.report, load_redactor(run.night.root)
    cleaned = {} if rules_changed(run.night.root) else snapshot.progress
    logs, partials, redacted = clean_logs(snapshot.logs, snapshot.partials, cleaned, redactor)
    run.logs, folded, odd = with_partial_logs(logs, partials, run.night.today, snapshot.unreadable())
    run.log_days = sorted({day for path in run.logs if (day := day_of_log(path)) <= run.night.today})
    notes = {path for path in run.logs if is_note(path)}  # they keep what they hold
    run.files |= {path: data for path, data in run.logs.items() if path not in notes}
    run.files |= {**partials, **dict.fromkeys(folded)}
    purge = ". Git history still has a copy: `curate secrets --history` shows how to purge it"
    redacted = {path: found for path, found in redacted.items() if path not in notes}
    head = run.git.head() if redacted else None
    held = {path for path in redacted if head and redactor.find(run.git.show(head, path) or b"")}
    report.warnings += [
        f"{path}: {format_found(found)} redacted{purge if path in held else ''}."
        for path, found in sorted(redacted.items())
    ]
    why = "was not folded, because its name has no date. Rename it to DAY-NAME.md"
    report.warnings += [f"{path} {why}." for path in odd]
    report.logs["folded"] = folded
    report.logs["redacted"] = {path: len(found) for path, found in redacted.items()}


def with_partial_logs(
    logs: Mapping[str, bytes], partials: Mapping[str, bytes], today: str, closed: frozenset[str] = frozenset()
) -> tuple[dict[str, bytes], tuple[str, ...], tuple[str, ...]]:
    """Return the logs, in order of days, with the partial ones of days up to `today` folded into theirs.

    Partial logs are named `Logs/partial/DAY.md` or `DAY-NAME.md`; each is appended under its own heading. If its day's
    log is in `closed` (it exists but cannot be read), it stays.

    Returns:
        The logs; the partial logs that are in them now, and go; those whose names hold no day, which stay.
    """
    out, folded, odd = dict(logs), [], []
    for path in sorted(partials):
        name = path.removeprefix(f"{PARTIAL}/")
        day = day_of_log(log_path(name[:10])) if re.fullmatch(r".{10}(?:\.md|-.*\.md)", name) else ""
        if not day:
            odd.append(path)
        elif day <= today and log_path(day) not in closed:
            text = out.get(log_path(day), f"# {day}\n\n".encode()).decode()
            said = _DAY_TITLE.sub("", partials[path].decode())
            text += "" if text.endswith("\n") else "\n"
            out[log_path(day)] = f"{text}\n## {name.removesuffix('.md')}\n\n{said.strip(chr(10))}\n".encode()
            folded.append(path)
    by_day = sorted(out.items(), key=lambda one: (day_of_log(one[0]), one[0]))
    return dict(by_day), tuple(folded), tuple(odd)


_UTF16 = re.compile(rb"(?:\xff\xfe)?(?:[\t\n\r\x20-\x7e]\0){4,}")
"""What Windows PowerShell 5 appends to a file of UTF-8 with `>>`."""


def clean_logs(
    logs: Mapping[str, bytes],
    partials: Mapping[str, bytes],
    progress: Mapping[str, Sequence[LogProgress]],
    redactor: Redactor,
) -> tuple[dict[str, bytes], dict[str, bytes], dict[str, Sequence[FoundSecret]]]:
    """Return the logs without secrets and private text, all of it UTF-8; lines keep their places.

    A log that was read to its end and has not changed was cleaned then, and costs nothing.

    Args:
        logs: path → bytes.
        partials: likewise.
        progress: what earlier runs read.
        redactor: removes secrets.

    Returns:
        The logs and the partial logs; path → secrets removed.
    """
    cleaned: dict[str, bytes] = {}
    redacted: dict[str, Sequence[FoundSecret]] = {}
    before = redactor.learned
    for path, data in (*logs.items(), *partials.items()):
        records = progress.get(path)
        cleaned[path] = data
        if records and file_hash(data) in {record.file for record in records}:
            continue
        text = _UTF16.sub(lambda found: found[0].removeprefix(b"\xff\xfe").decode("utf-16-le").encode(), data).decode()
        cleaned[path], found = redactor.redact_bytes(log_without_private(text).encode())
        if found:
            redacted[path] = found
    if redactor.learned > before:  # a value found in one log may occur in logs cleaned before it
        return clean_logs(logs, partials, progress, redactor)
    return {path: cleaned[path] for path in logs}, {path: cleaned[path] for path in partials}, redacted
