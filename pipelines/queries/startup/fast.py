"""`curate context`, answered at once: the plain cases of the command line, without the libraries that read it.

What is unusual (help, a mistake, `--now`) is left to the verb proper, which says the same things at more leisure.
"""

from __future__ import annotations

import os
import sys
import time

from pipelines.queries.startup.cache import load_cached
from pipelines.queries.startup.context import (
    BUDGET,
    LEAST_BUDGET,
    LOG_DAYS,
    Part,
    Request,
    as_hook,
    as_json,
    as_text,
    assemble,
)
from pipelines.queries.startup.overdue import day_text
from pipelines.queries.startup.read import Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS = ("memory", "budget", "format", "project", "query")
FORMATS = ("text", "json", "claude-code")
_HOOK_BYTES = 1 << 20
# A hook's longer answer is put into a file by Claude Code, and the session sees its beginning alone.
HOOK_CHARACTERS = 10_000
_HOOK_BUDGET = 3300  # tokens that so many characters of prose are, about; what comes out longer is cut again
_PATIENCE = 0.5  # seconds that a hook's caller has to say something
_DIGITS = 9


def answer(arguments: list[str]) -> int | None:
    """Print the startup context and return the exit code, or return None where the verb proper has to look.

    Args:
        arguments: what stands behind `curate context`.
    """
    told = _options(arguments)
    if told is None:
        return None
    form = told.get("format", "text")
    budget = told.get("budget", str(BUDGET))
    root = find_root(told.get("memory", ""))
    if form not in FORMATS or not (
        budget.isdecimal() and budget.isascii() and len(budget) <= _DIGITS and int(budget) >= LEAST_BUDGET
    ):
        return None
    if not root and form != "claude-code":
        return None
    print_context(root, form, int(budget), told.get("project", ""), told.get("query", ""))
    return 0


def _options(arguments: list[str]) -> dict[str, str] | None:
    told: dict[str, str] = {}
    left = list(arguments)
    while left:
        name, equals, value = left.pop(0).partition("=")
        if not name.startswith("--") or name[2:] not in _OPTIONS or not (equals or left):
            return None
        told[name[2:]] = value if equals else left.pop(0)
    return told


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
        folder = (_hook_folder() if form == "claude-code" else "") or _here()
        if root:
            find = _for_hook if form == "claude-code" else parts_of
            parts = find(root, budget, project, query, folder, day)
        else:
            parts = [Part("health", "", "Memory health: no memory was found; name one with --memory or CURATE_MEMORY.")]
    except Exception as fault:  # noqa: BLE001  see above
        parts = [Part("health", "", f"Memory health: the startup context could not be put together: {fault}")]
    text = as_json(parts) if form == "json" else as_text(parts)
    if form == "text" and sys.stdout.isatty():
        from pipelines.text import escape_terminal  # a person looks at it; a session waits for no more than it needs

        text = escape_terminal(text)
    sys.stdout.buffer.write((as_hook(_cut(text)) if form == "claude-code" else text).encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def parts_of(
    root: str, budget: int, project: str, query: str, folder: str, day: tuple[int, float] | None = None
) -> list[Part]:
    """Return the parts of the context; the arguments are those of `print_context`, and the working directory."""
    today, now, places = _today(root)
    today, now = day or (today, now)
    hits = _search(root, query, day_text(today - LOG_DAYS)) if query else None
    return assemble(Request(root, today, now, budget, project, folder, hits, places))


def _for_hook(
    root: str, budget: int, project: str, query: str, folder: str, day: tuple[int, float] | None = None
) -> list[Part]:
    """Return the parts of the context under a budget, lowered until they are no longer than a hook's answer may be."""
    budget = min(budget, _HOOK_BUDGET)
    while True:
        parts = parts_of(root, budget, project, query, folder, day)
        size = _units(as_text(parts))
        if size <= HOOK_CHARACTERS or budget == LEAST_BUDGET:
            return parts
        budget = max(LEAST_BUDGET, budget * HOOK_CHARACTERS // size - 10)


def _units(text: str) -> int:
    """Return a text's length as JavaScript counts it."""
    return len(text) if text.isascii() else len(text) + sum(map("\uffff".__lt__, text))


def _cut(text: str) -> str:
    """Return a text as long as a hook's answer may be: blanks count for no token, and can fill any budget."""
    over = _units(text) - len(text)
    return text if len(text) + over <= HOOK_CHARACTERS else f"{text[: max(0, HOOK_CHARACTERS - 1 - over)]}…"


def _today(root: str) -> tuple[int, float, Places]:
    """Return the memory's day, the moment, and where files stand.

    Where curate.toml has faults, it is the day of Greenwich and the usual places, for a session goes on.
    """
    now = time.time()
    try:
        cached = load_cached(root, now)
        return cached.day_number(now), now, cached.places
    except Exception:  # noqa: BLE001  `curate status` names the faults
        return int(now // 86400), now, Places()


def _hook_folder() -> str:
    """Return the working directory that a hook's JSON on standard input names, or an empty string."""
    import select

    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    data = b""
    while len(data) < _HOOK_BYTES and select.select([0], [], [], _PATIENCE)[0] and (more := os.read(0, _HOOK_BYTES)):
        data += more
    return folder_in(data)


def folder_in(data: bytes) -> str:
    """Return the `cwd` of a hook's JSON, or an empty string where it holds none."""
    if b'"cwd"' not in data:
        return ""
    import json

    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    folder = told.get("cwd") if isinstance(told, dict) else None
    return folder if isinstance(folder, str) and "\0" not in folder else ""


def _search(root: str, query: str, oldest: str) -> Callable[[], list[tuple[str, str]]]:
    def hits() -> list[tuple[str, str]]:
        from pipelines.queries.startup.startup_search import found

        return found(root, query, oldest)

    return hits
