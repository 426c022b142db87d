"""`curate context` and `curate log`, answered at once, without the libraries that read the command line.

A plain line is appended to today's log here. What holds a secret, or could hold something private, what goes wrong, and
what a person types at a terminal is left to the verb proper: nothing is written then. Which items a session was shown
is noted in `.curate/shown.jsonl`.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time

from pipelines.queries.startup.cache import load_cached, note_asked, settings_of
from pipelines.queries.startup.context import (
    BUDGET,
    LEAST_BUDGET,
    LOG_DAYS,
    ContextPart,
    ContextRequest,
    assemble,
)
from pipelines.queries.startup.read import day_text, open_folder
from pipelines.queries.startup.suspicion import suspicious
from pipelines.store.whole_lines import append_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HOOKS = ("claude-code", "cursor")
FORMATS = ("text", "json", *HOOKS)
_HOOK_BYTES = 1 << 20
# A hook's longer answer is put into a file by Claude Code, and the session sees its beginning alone.
HOOK_CHARACTERS = 10_000
_HOOK_BUDGET = 2800  # tokens that so many characters of prose are, about; what comes out longer is cut again
_PATIENCE = 0.5  # seconds that a hook's caller has to say something
_DIGITS = 9
_HOW = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
SHOWN, SHOWN_BEFORE = "shown.jsonl", "shown.1.jsonl"
_SHOWN_BYTES = 1 << 20
_NAME = 80  # characters of a session's id, of which nothing but letters, digits and dashes is kept
TITLES = {
    "SOUL.md": "Who you are",
    "their USER.md": "Who you work for, as they wrote it",
    "their MEMORY.md": "What you know, as it was written by hand",
    "USER.md": "Who you work for",
    "MEMORY.md": "What you know",
    "project": "The project",
    "open": "Open todos and risks, then questions (close one in the log: `Done: ID`, `Answered: ID`)",
    "quiet": "Open, but not mentioned of late",
    "work": "Procedures, decisions and facts of the pages, page by page",
    "yesterday": "Yesterday",
    "today": "Today so far",
    "hits": "Found for your question",
    "pairs": "May conflict: settle each with one command, in either order of ids, or leave it",
}
# What JSON wants escaped in a string, and nothing else; its library takes longer to import than all this takes to run.
_ESCAPES = {number: f"\\u{number:04x}" for number in range(32)} | {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n"}


def answer(options: dict[str, str]) -> int | None:
    """Print the startup context and return the exit code, or return None where the verb proper has to look.

    Args:
        options: what stands behind `curate context`, by name.
    """
    form, budget = options.get("format", "text"), options.get("budget", str(BUDGET))
    is_number = budget.isdecimal() and budget.isascii() and len(budget) <= _DIGITS
    if form not in FORMATS or not is_number or int(budget) < LEAST_BUDGET:
        return None
    root = find_root(options.get("memory", ""))
    if not root and form not in HOOKS:
        return None
    print_context(root, form, int(budget), options.get("project", ""), options.get("query", ""))
    return 0


def find_root(named: str) -> str:
    """Return the memory that is named, or CURATE_MEMORY, or the nearest folder upward; empty where there is none.

    One whose path is not UTF-8 is none: the verb proper says so.
    """
    named = named or os.environ.get("CURATE_MEMORY", "")
    folder = os.path.abspath(os.path.expanduser(named)) if named else _here()
    while folder and not os.path.isfile(f"{folder}/curate.toml"):
        if named or folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    return folder if folder.encode(errors="replace").decode() == folder else ""


def _here() -> str:
    """Return the working directory, or an empty string where it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def print_context(
    root: str, form: str, budget: int, project: str, query: str, day: tuple[int, float] | None = None
) -> None:
    """Print the context. Whatever goes wrong is a line of it, for no session is to fail by its memory.

    Args:
        root: the memory, or an empty string where none was found.
        form: one of `FORMATS`.
        budget: the most tokens.
        project: a project's name, or empty to go by the working directory.
        query: what to search for, or empty.
        day: the memory's day (counted from 1970-01-01) and the moment; None for the clock's.
    """
    session = ""
    try:
        event = hook_event() if form in HOOKS else {}
        folder, session = event.get("cwd", "") or _here(), event.get("session_id", "")
        if not root:
            text = "Memory health: no memory was found; name one with --memory or CURATE_MEMORY."
            parts = [ContextPart("health", text=text)]
        elif form in HOOKS:
            parts = _parts_for_hook(request_of(root, min(budget, _HOOK_BUDGET), project, query, folder, day))
        else:
            parts = assemble(request_of(root, budget, project, query, folder, day))
    except Exception as fault:  # noqa: BLE001  see above
        parts = [ContextPart("health", text=f"Memory health: the startup context could not be put together: {fault}")]
    text = _as_json(parts) if form == "json" else as_text(parts)
    if form == "text" and sys.stdout.isatty():
        from pipelines.text import escape_terminal  # a person looks at it; a session waits for no more than it needs

        text = escape_terminal(text)
    put_out(hook_answer("SessionStart", text, form) if form in HOOKS else text)
    if session and root:
        note_shown(root, session, "start", [ident for part in parts for entry in part.kept for ident in entry.ids])
        sweep_aside(root)


def sweep_aside(root: str) -> None:
    """Capture what other sessions left, in a process of its own: neither the session nor its hook waits for it."""
    actions = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    call = [sys.executable, "-P", "-m", "pipelines.cli", "capture", "--sweep", "--memory", root]
    try:  # noqa: SIM105  contextlib takes longer to import
        os.posix_spawn(sys.executable, call, os.environ, file_actions=actions, setsid=True)
    except (OSError, NotImplementedError):
        pass  # the next run sweeps


def put_out(text: str) -> None:
    """Write a text and a line end to standard output; what is not UTF-8 is replaced."""
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def request_of(
    root: str, budget: int, project: str, query: str, folder: str, day: tuple[int, float] | None = None
) -> ContextRequest:
    """Note that a session asks, and return what; the arguments are those of `print_context`, and its folder."""
    note_asked(root)
    now = time.time()
    settings = settings_of(root, now)
    today, now = day or (settings.day_number(now), now)

    def hits() -> list[tuple[str, str]]:
        from pathlib import Path

        from pipelines.queries.search_settings import startup_hits

        return startup_hits(Path(root), query, day_text(today - LOG_DAYS))

    return ContextRequest(root, today, now, budget, project, folder, hits if query else None, settings)


def _parts_for_hook(request: ContextRequest) -> list[ContextPart]:
    """Return the parts of the context under a budget, lowered until they are no longer than a hook's answer may be."""
    while True:
        parts = assemble(request)
        size = _units(as_text(parts))
        if size <= HOOK_CHARACTERS or request.budget == LEAST_BUDGET:
            return parts
        request.budget = max(LEAST_BUDGET, request.budget * HOOK_CHARACTERS // size - 10)


def _units(text: str) -> int:
    """Return a text's length as JavaScript counts it."""
    return len(text) if text.isascii() else len(text) + sum(map("\uffff".__lt__, text))


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
    return {
        key: value for key, value in found.items() if isinstance(value, str) and (key == "prompt" or "\0" not in value)
    }


def as_text(parts: list[ContextPart]) -> str:
    """Return the context as text: each part under a line that names its file, and what was cut at its end."""
    return "\n\n".join(_shown(part) for part in parts)


def _shown(part: ContextPart) -> str:
    if part.name == "health":
        return part.text
    cut = ""
    if part.cut:
        entries = "1 entry was" if part.cut == 1 else f"{part.cut} entries were"
        where = "read the file, or " if part.path else ""
        how = "`curate items` lists all" if part.name == "open" else f"{where}use `curate search`"
        cut = f"({entries} cut to fit; {how}.)"
    title = f"=== {TITLES[part.name]}{f' ({part.path})' if part.path else ''} ==="
    return "\n".join(filter(None, (title, part.text, part.fault, cut)))


def _as_json(parts: list[ContextPart]) -> str:
    """Return the parts as one JSON array."""
    import json  # text needs none

    return json.dumps([part.to_json() for part in parts], ensure_ascii=False, indent=1)


def hook_answer(event: str, text: str, form: str = "claude-code") -> str:
    """Return what a hook prints to add a text to the session, cut to the length that the program accepts.

    Blanks count for no token, and can fill any budget.
    """
    over = _units(text) - len(text)
    if len(text) + over > HOOK_CHARACTERS:
        text = f"{text[: max(0, HOOK_CHARACTERS - 1 - over)]}…"
    text = text.encode("utf-8", "replace").decode().translate(_ESCAPES)
    if form == "cursor":
        return f'{{"additional_context": "{text}"}}'
    return f'{{"hookSpecificOutput": {{"hookEventName": "{event}", "additionalContext": "{text}"}}}}'


def note_shown(root: str, session: str, how: str, ids: Iterable[str]) -> None:
    """Note which items a session was shown, and never what it was asked. A disk that refuses costs the note alone.

    Args:
        root: the memory.
        session: the session's id, as its program names it.
        how: `start` for the startup context, `recall` for a prompt.
        ids: the items; none of them need no note.
    """
    name = "".join([one for one in session[:_NAME] if one.isalnum() or one in "-_"])
    told = ", ".join([f'"{ident}"' for ident in dict.fromkeys(ids)])
    if not name or not told:
        return
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    row = f'{{"at": "{at}", "session": "{name}", "how": "{how}", "ids": [{told}]}}\n'
    try:
        folder = open_folder(root, [".curate"])
        try:
            file = os.open(SHOWN, _HOW | os.O_APPEND, 0o600, dir_fd=folder)
            try:
                if stat.S_ISREG(os.fstat(file).st_mode):
                    os.write(file, row.encode())  # one write, so that two sessions' rows never mix
                    _rotate(file, folder)
            finally:
                os.close(file)
        finally:
            os.close(folder)
    except OSError:
        return


def _rotate(file: int, folder: int) -> None:
    """Put a full file in the place of the one before it, unless another session does."""
    found = os.fstat(file)
    if found.st_size > _SHOWN_BYTES:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(SHOWN, dir_fd=folder, follow_symlinks=False).st_ino == found.st_ino:
            os.rename(SHOWN, SHOWN_BEFORE, src_dir_fd=folder, dst_dir_fd=folder)


def log_quickly(text: str, project: str, memory: str) -> int | None:
    """Append a line to today's log and return the exit code, or return None where the verb proper has to look.

    Args:
        text: what happened.
        project: the project that it belongs to, or empty.
        memory: the memory that was named, or empty.
    """
    said = f"{text}\n{project}"
    # Printable, and no blank beside another: what `fold` would leave as it is, but for the ends. No bullet.
    is_plain = text.isprintable() and project.isprintable() and not any(sign in said for sign in ("  ", "<", "[", "]"))
    if not is_plain or not text.strip() or text.lstrip()[0] in "*+•" or os.isatty(1):
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
