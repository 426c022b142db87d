"""`curate context`, answered at once, without the libraries that read the command line."""

from __future__ import annotations

import os
import sys
import time

from pipelines.queries.startup.cache import StartupSettings, load_cached
from pipelines.queries.startup.context import BUDGET, LEAST_BUDGET, LOG_DAYS, Part, Request, assemble, day_text

HOOKS = ("claude-code", "cursor")
FORMATS = ("text", "json", *HOOKS)
_HOOK_BYTES = 1 << 20
# A hook's longer answer is put into a file by Claude Code, and the session sees its beginning alone.
HOOK_CHARACTERS = 10_000
_HOOK_BUDGET = 3300  # tokens that so many characters of prose are, about; what comes out longer is cut again
_PATIENCE = 0.5  # seconds that a hook's caller has to say something
_DIGITS = 9
_TITLES = {
    "SOUL.md": "Who you are",
    "their USER.md": "Who you work for, as they wrote it",
    "their MEMORY.md": "What you know, as it was written by hand",
    "USER.md": "Who you work for",
    "MEMORY.md": "What you know",
    "project": "The project",
    "open": "Open todos and risks (close one in the log: `Done: ID`)",
    "yesterday": "Yesterday",
    "today": "Today so far",
    "hits": "Found for your question",
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
    """Return the memory that is named, or CURATE_MEMORY, or the nearest folder upward; empty where there is none."""
    named = named or os.environ.get("CURATE_MEMORY", "")
    folder = os.path.abspath(os.path.expanduser(named)) if named else _here()
    while folder and not os.path.isfile(f"{folder}/curate.toml"):
        if named or folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    return folder


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
    try:
        folder = (_hook_folder() if form in HOOKS else "") or _here()
        if not root:
            text = "Memory health: no memory was found; name one with --memory or CURATE_MEMORY."
            parts = [Part("health", text=text)]
        elif form in HOOKS:
            parts = _parts_for_hook(request_of(root, min(budget, _HOOK_BUDGET), project, query, folder, day))
        else:
            parts = assemble(request_of(root, budget, project, query, folder, day))
    except Exception as fault:  # noqa: BLE001  see above
        parts = [Part("health", text=f"Memory health: the startup context could not be put together: {fault}")]
    text = _as_json(parts) if form == "json" else as_text(parts)
    if form == "text" and sys.stdout.isatty():
        from pipelines.text import escape_terminal  # a person looks at it; a session waits for no more than it needs

        text = escape_terminal(text)
    if form in HOOKS:
        text = _as_hook(text, form)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def request_of(
    root: str, budget: int, project: str, query: str, folder: str, day: tuple[int, float] | None = None
) -> Request:
    """Return what a session asks for; the arguments are those of `print_context`, and the working directory.

    Where curate.toml has faults, it is the day of Greenwich and the usual places, for a session goes on.
    """
    now = time.time()
    try:
        settings = load_cached(root, now)
    except Exception:  # noqa: BLE001  `curate status` names the faults
        settings = StartupSettings()
    today, now = day or (settings.day_number(now), now)

    def hits() -> list[tuple[str, str]]:
        from pathlib import Path

        from pipelines.queries.search_settings import startup_hits

        return startup_hits(Path(root), query, day_text(today - LOG_DAYS))

    return Request(root, today, now, budget, project, folder, hits if query else None, settings)


def _parts_for_hook(request: Request) -> list[Part]:
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


def _hook_folder() -> str:
    """Return the working directory that a hook's JSON on standard input names, or an empty string.

    Cursor names the folders of its workspace instead.
    """
    import select

    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    data = b""
    while len(data) < _HOOK_BYTES and select.select([0], [], [], _PATIENCE)[0] and (more := os.read(0, _HOOK_BYTES)):
        data += more
    if b'"cwd"' not in data and b'"workspace_roots"' not in data:
        return ""
    import json

    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    event = event if isinstance(event, dict) else {}
    roots = event.get("workspace_roots")
    folder = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    return folder if isinstance(folder, str) and "\0" not in folder else ""


def as_text(parts: list[Part]) -> str:
    """Return the context as text: each part under a line that names its file, and what was cut at its end."""
    return "\n\n".join(_shown(part) for part in parts)


def _shown(part: Part) -> str:
    if part.name == "health":
        return part.text
    cut = ""
    if part.cut:
        entries = "1 entry was" if part.cut == 1 else f"{part.cut} entries were"
        where = f"read {part.path} in the memory, or " if part.path else ""
        how = "`curate items` lists all" if part.name == "open" else f"{where}use `curate search`"
        cut = f"({entries} cut to fit; {how}.)"
    title = f"=== {_TITLES[part.name]}{f' ({part.path})' if part.path else ''} ==="
    return "\n".join(filter(None, (title, part.text, part.fault, cut)))


def _as_json(parts: list[Part]) -> str:
    """Return the parts as one JSON array."""
    import json  # text needs none

    return json.dumps([part.to_json() for part in parts], ensure_ascii=False, indent=1)


def _as_hook(text: str, form: str) -> str:
    """Return what a hook prints to put a text into the session that starts, cut to the length that it may have.

    Blanks count for no token, and can fill any budget.
    """
    over = _units(text) - len(text)
    if len(text) + over > HOOK_CHARACTERS:
        text = f"{text[: max(0, HOOK_CHARACTERS - 1 - over)]}…"
    text = text.encode("utf-8", "replace").decode().translate(_ESCAPES)
    if form == "cursor":
        return f'{{"additional_context": "{text}"}}'
    return f'{{"hookSpecificOutput": {{"hookEventName": "SessionStart", "additionalContext": "{text}"}}}}'
