"""`curate context` and `curate log`, answered at once, without the libraries that read the command line.

A plain line is appended to today's log here. What holds a secret, or could hold something private, what goes wrong, and
what a person types at a terminal is left to the verb proper: nothing is written then.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time

from pipelines.queries.startup.kept import (
    BUDGET,
    FORMATS,
    HOOK_CHARACTERS,
    HOOKS,
    LEAST_BUDGET,
    day_and_time,
    kept_page,
    units,
)
from pipelines.queries.startup.own_project import project_of_line, working_directory
from pipelines.queries.startup.suspicion import suspicious
from pipelines.store.whole_lines import append_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

_HOOK_BYTES = 1 << 20
_PATIENCE = 0.5  # seconds that a hook's caller has to say something
_DIGITS = 9
# What JSON wants escaped in a string, and nothing else; its library takes longer to import than all this takes to run.
_ESCAPES = {number: f"\\u{number:04x}" for number in range(32)} | {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n"}
_HOW = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK


def answer(options: dict[str, str]) -> int | None:
    """Print the startup context and return the exit code, or return None where the verb proper has to look.

    Args:
        options: what stands behind `curate context`, by name.
    """
    form, asked = options.get("format", "text"), options.get("budget", "")
    budget = int(asked) if asked.isdecimal() and len(asked) <= _DIGITS else 0 if asked else BUDGET
    if form not in FORMATS or budget < LEAST_BUDGET:
        return None
    root = find_root(options.get("memory", ""))
    if not root and form not in HOOKS:
        return None
    print_context(root, form, budget, options.get("project", ""))
    return 0


def find_root(named: str) -> str:
    """Return the memory that is named, or CURATE_MEMORY, or the nearest folder upward; empty where there is none.

    One whose path is not UTF-8 is none: the verb proper says so.
    """
    named = named or os.environ.get("CURATE_MEMORY", "")
    folder = os.path.abspath(os.path.expanduser(named)) if named else working_directory()
    while folder and not os.path.isfile(f"{folder}/curate.toml"):
        if os.path.isfile(f"{folder}/curate-notes.toml"):
            from pathlib import Path

            from pipelines.store.user_layout import memory_at

            folder = str(memory_at(Path(folder)) or "")
            break
        if named or folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    return folder if folder.encode(errors="replace").decode() == folder else ""


def print_context(root: str, form: str, budget: int, project: str, when: datetime | None = None) -> None:
    """Print the context. Whatever goes wrong is a line of it, for no session is to fail by its memory.

    Args:
        root: the memory, or an empty string where none was found.
        form: one of `FORMATS`.
        budget: the most tokens.
        project: a project's name, or empty to go by the working directory.
        when: the moment; None for the clock's.
    """
    session, text = "", "Memory health: no memory was found; name one with --memory or CURATE_MEMORY."
    try:
        event = hook_event() if form in HOOKS else {}
        folder, session = event.get("cwd", "") or working_directory(), event.get("session_id", "")
        if root:
            asked = {"budget": budget, "project": project, "folder": folder}
            text = session_start(root, form, asked, when)
    except Exception as fault:  # noqa: BLE001  see above
        text = f"Memory health: the startup context could not be put together: {fault}"
    if form == "text" and sys.stdout.isatty():
        from pipelines.text import escape_terminal  # a person looks at it; a session waits for no more than it needs

        text = escape_terminal(text)
    shown = hook_answer(text, form) if form in HOOKS else text
    sys.stdout.buffer.write(shown.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()
    if session and root:
        start_aside(root, "capture", "--sweep")  # what other sessions left


def session_start(root: str, form: str, asked: dict[str, Any], when: datetime | None = None) -> str:
    """Return what a session starts with.

    The page that answered the same question before is taken if it still holds.

    Args:
        root: the memory.
        form: one of `FORMATS`.
        asked: budget, project and folder, as in a `ContextRequest`.
        when: the moment; None for the clock's.
    """
    key = f"{form} {asked}"
    if when is None and (kept := kept_page(root, key, time.time())):
        return kept
    from pathlib import Path

    from pipelines.queries.startup.context import ContextRequest
    from pipelines.queries.startup.page import made_page

    request = ContextRequest.at(Path(root), when, **asked)
    return made_page(request, form, key, keeps=when is None)


def start_aside(root: str, *words: str) -> None:
    """Start a verb in a process of its own, for which neither a session nor its hook waits; the next run makes up."""
    actions = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    call = [sys.executable, "-P", "-m", "pipelines.cli", *words, "--memory", root]
    try:  # noqa: SIM105  contextlib takes longer to import
        os.posix_spawn(sys.executable, call, os.environ, file_actions=actions, setsid=True)
    except (OSError, NotImplementedError):
        pass


def hook_event() -> dict[str, str]:
    """Return the strings at the top level of the JSON that a hook has on standard input; nothing if it has none.

    Cursor names the folders of its workspace; the first of them becomes `cwd`.
    """
    import select

    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return {}
    data = b""
    while len(data) < _HOOK_BYTES and select.select([0], [], [], _PATIENCE)[0] and (more := os.read(0, _HOOK_BYTES)):
        data += more
    if b"{" not in data:
        return {}
    import json

    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    found = event if isinstance(event, dict) else {}
    roots = found.get("workspace_roots")
    if not found.get("cwd") and isinstance(roots, list) and roots:
        found["cwd"] = roots[0]
    return {key: value for key, value in found.items() if isinstance(value, str) and "\0" not in value}


def hook_answer(text: str, form: str) -> str:
    """Return what a hook prints to add a text to the session, cut to the length that the program accepts.

    Blanks count for no token, and can fill any budget.
    """
    over = units(text) - len(text)
    if len(text) + over > HOOK_CHARACTERS:
        text = f"{text[: max(0, HOOK_CHARACTERS - 1 - over)]}…"
    text = text.encode("utf-8", "replace").decode().translate(_ESCAPES)
    if form == "cursor":
        return f'{{"additional_context": "{text}"}}'
    return f'{{"hookSpecificOutput": {{"hookEventName": "SessionStart", "additionalContext": "{text}"}}}}'


def log_quickly(text: str, project: str, memory: str) -> int | None:
    """Append a line to today's log and return the exit code, or return None where the verb proper has to look.

    Args:
        text: what happened.
        project: the project that it belongs to, or empty to go by the working directory.
        memory: the memory that was named, or empty.
    """
    if not text.strip() or text.lstrip()[0] in "*+•" or os.isatty(1):
        return None
    root = find_root(memory)
    if not root:
        return None
    try:
        project = project_of_line(root, text, project)
        said = f"{text}\n{project}"
        # Printable, and no blank beside another: what `fold` would leave as it is, but for the ends. No bullet.
        if not (text.isprintable() and project.isprintable()) or any(sign in said for sign in ("  ", "<", "[", "]")):
            return None
        day, clock = day_and_time(root, time.time())
        marker = f"[project: {project.strip()}] " if project.strip() else ""
        line = f"- {clock} {marker}{text.strip()}\n"
        is_secret = _may_be_known(root, line)
        if suspicious(line):
            from pipelines.store.secrets.find import find_secrets  # it takes longer to import than all the rest

            is_secret = is_secret or bool(find_secrets(line.encode()))
        if is_secret:
            return None
        _append(root, day, line)
    except Exception:  # noqa: BLE001  the verb proper tries again, and says what is wrong
        return None
    try:  # noqa: SIM105  contextlib takes longer to import than all this takes to run
        os.write(1, f"Logs/{day}.md: {line}".encode())
    except OSError:
        pass  # the line is in the log even if it cannot be printed
    return 0


def _append(root: str, day: str, line: str) -> None:
    """Append a line to the log of a day under the log's lock.

    Raises:
        OSError: something is otherwise than it is nearly always, or the lock is held; nothing was written.
    """
    logs = f"{root}/Logs"
    if os.path.islink(logs) or os.path.islink(f"{root}/.curate"):
        raise PermissionError
    held = [os.open(f"{root}/.curate/log.lock", _HOW, 0o600)]
    try:
        fcntl.flock(held[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(log := os.open(f"{logs}/{day}.md", _HOW | os.O_APPEND, 0o644))
        found = os.fstat(log)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError
        if not found.st_size:
            line = f"# {day}\n\n{line}"
            held.append(os.open(logs, os.O_RDONLY))
            os.fsync(held[-1])  # the name first: once the line is there, nothing may fail any more
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
