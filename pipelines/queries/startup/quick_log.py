"""`curate log`, answered at once: what needs no more than a line at the end of a log that can be written.

What holds a secret, or could hold something private, and what goes wrong is left to the verb proper: nothing is written
then.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from pipelines.queries.startup.cache import load_cached
from pipelines.queries.startup.context import day_text
from pipelines.queries.startup.fast import find_root
from pipelines.queries.startup.read import open_folder, suspicious
from pipelines.store.whole_lines import append_whole

_NARROW = 80
_HOW = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK


def log_quickly(text: str, project: str, memory: str) -> int | None:
    """Append a line to today's log and return the exit code, or return None where the verb proper has to look.

    Args:
        text: what happened.
        project: the project that it belongs to, or empty.
        memory: the memory that was named, or empty.
    """
    said = f"{text}\n{project}"
    # Printable, and no blank beside another: what `fold` would leave as it is, but for the ends.
    is_plain = text.isprintable() and project.isprintable() and not any(sign in said for sign in ("  ", "<", "[", "]"))
    if not is_plain or not text.strip():
        return None
    root, now = find_root(memory), time.time()
    if not root:
        return None
    try:
        settings = load_cached(root, now)
        if settings.home:
            return None
        hour, minute = divmod(int(settings.local(now)) % 86400 // 60, 60)
        marker = f"[project: {project.strip()}] " if project.strip() else ""
        line = f"- {hour:02}:{minute:02} {marker}{text.strip()}\n"
        if _may_be_known(root, line) or (suspicious(line) and _holds_secret(line)):
            return None
        day = day_text(settings.day_number(now))
        _append(root, day, line)
    except Exception:  # noqa: BLE001  the verb proper tries again, and says what is wrong
        return None
    _tell(f"Logs/{day}.md: {line}")
    return 0


def _tell(written: str) -> None:
    """Print what was written and where; the line is in the log even if nobody can be told."""
    if len(written) > _NARROW and os.isatty(1):
        import textwrap

        width = os.get_terminal_size(1).columns or _NARROW
        written = textwrap.fill(written, width, break_long_words=False, break_on_hyphens=False) + "\n"
    try:
        os.write(1, written.encode())
    except OSError:
        return


def _append(root: str, day: str, line: str) -> None:
    """Append a line to the log of a day under the log's lock.

    Raises:
        OSError: something is otherwise than it is nearly always, or the lock is held; nothing was written.
    """
    held = [open_folder(root, [".curate"])]
    try:
        if os.fstat(held[0]).st_mode & 0o077:
            raise PermissionError
        held.append(os.open("log.lock", _HOW, 0o600, dir_fd=held[0]))
        fcntl.flock(held[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(open_folder(root, ["Logs"]))
        held.append(log := os.open(f"{day}.md", _HOW | os.O_APPEND, 0o644, dir_fd=held[2]))
        found = os.fstat(log)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError
        if not found.st_size:
            line = f"# {day}\n\n{line}"
            os.fsync(held[2])  # the name first: once the line is there, nothing may fail any more
        append_whole(log, line.encode())
    finally:
        for one in held:
            os.close(one)


def _may_be_known(root: str, line: str) -> bool:
    """Return whether a line has a run as long as a value that was found to be secret before."""
    longest = max(map(len, line.encode().split()))
    try:
        with open(f"{root}/.curate/secrets.jsonl") as file:
            told = file.read().split('"length": ')[1:]
    except FileNotFoundError:
        return False
    return any(int(row[: row.index(",")]) <= longest for row in told)


def _holds_secret(line: str) -> bool:
    from pipelines.store.secrets.find import find_secrets  # it takes longer to import than all the rest

    return bool(find_secrets(line.encode()))
