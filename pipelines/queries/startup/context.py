"""The startup context, put together: each part has its share of the budget, and what one leaves goes to the others."""

from __future__ import annotations

import os

from pipelines.queries.startup.overdue import day_text, health_line
from pipelines.queries.startup.read import (
    Places,
    document_entries,
    fitting,
    log_entries,
    newest,
    read_head,
    read_tail,
    tokens,
    veiled,
    veiled_log,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.queries.startup.read import Entry

BUDGET = 4000
LEAST_BUDGET = 300
LOG_DAYS = 30
"""Days after which a log is history: no line of it is shown."""

# Shares of the budget in hundredths, in the order in which what is left over is handed out.
_SHARES = {"MEMORY.md": 30, "project": 15, "today": 16, "USER.md": 14, "SOUL.md": 10, "hits": 10, "yesterday": 5}
_ORDER = (
    "SOUL.md", "their USER.md", "USER.md", "their MEMORY.md", "MEMORY.md", "project", "yesterday", "today", "hits",
)  # fmt: skip
_THEIR = "their "
_THEIRS = (f"{_THEIR}USER.md", f"{_THEIR}MEMORY.md")
_LINES = 50  # tokens of a part's title and of the line that says what was cut, without the path that both name
_A_FILE = 1 << 18


class Request:
    """What a session asks for.

    Args:
        root: the memory.
        today: the memory's day, counted from 1970-01-01.
        now: seconds since 1970.
        budget: the most tokens of the answer.
        project: a project's name; empty to go by `folder`.
        folder: the session's working directory.
        hits: returns what a search found, as (place, text) pairs; None where nothing is looked for.
        places: where files stand; None for under their own names.
    """

    __slots__ = ("budget", "folder", "hits", "now", "places", "project", "root", "today")

    def __init__(  # noqa: PLR0913, PLR0917  what a session can say of itself
        self,
        root: str,
        today: int,
        now: float,
        budget: int = BUDGET,
        project: str = "",
        folder: str = "",
        hits: Callable[[], list[tuple[str, str]]] | None = None,
        places: Places | None = None,
    ) -> None:
        self.root, self.today, self.now, self.budget = root, today, now, budget
        self.project, self.folder, self.hits, self.places = project, folder, hits, places or Places()


class Part:
    """One part of the context: what it is, where it stands, its text, how many entries were cut, what failed."""

    __slots__ = ("cut", "fault", "name", "path", "text")

    def __init__(self, name: str, path: str, text: str = "", cut: int = 0, fault: str = "") -> None:
        self.name, self.path, self.text, self.cut, self.fault = name, path, text, cut, fault

    def to_json(self) -> dict[str, object]:
        """Return it as what `json` can write."""
        return {"part": self.name, "path": self.path, "text": self.text, "cut": self.cut, "fault": self.fault}


class _Found:
    """A part before it is cut: its entries, and the way to cut them."""

    __slots__ = ("cut", "entries", "lines", "need", "part")

    def __init__(
        self, part: Part, entries: list[Entry], cut: Callable[[list[Entry], int], tuple[list[Entry], int]]
    ) -> None:
        self.part, self.entries, self.cut = part, entries, cut
        self.lines = _LINES + 2 * tokens(part.path) + tokens(part.fault)
        self.need = sum(entry.size for entry in entries) + self.lines if entries else 0


def assemble(request: Request) -> list[Part]:
    """Return the parts of the context, under the budget all together. What fails costs its part alone."""
    health = _health(request)
    found = {part.part.name: part for part in _parts(request)}
    told = [part.part for part in found.values() if part.part.fault]
    left = request.budget - tokens(health.text) - _LINES - sum(_LINES + tokens(part.fault) for part in told)
    left -= sum(tokens(part.part.path) + 1 for part in found.values())  # all may have to be named as left out
    rooms = _rooms({name: part.need for name, part in found.items()}, max(0, left))
    parts = [_filled(found[name], rooms.get(name, 0)) for name in _ORDER if name in found]
    if out := [part.path or "what was found" for part in parts if part.cut and not part.text]:
        health.text += f" Left out to fit the budget: {', '.join(out)}."
    return [*(part for part in parts if part.text or part.fault), health]


def _rooms(needs: dict[str, int], left: int) -> dict[str, int]:
    """Return the tokens that each part gets: its share at most, then what the others left, in order."""
    shares = _shared(needs)
    given = {name: min(needs.get(name, 0), share * left // 100) for name, share in shares.items()}
    spare = left - sum(given.values())
    for name in shares:
        more = min(needs.get(name, 0) - given[name], spare)
        given[name] += more
        spare -= more
    return given


def _shared(needs: dict[str, int]) -> dict[str, int]:
    """Return the shares; of a document that two files make up, half its share is each one's."""
    if not any(name in needs for name in _THEIRS):
        return _SHARES
    halves = {name: share // 2 if _THEIR + name in needs else share for name, share in _SHARES.items()}
    return halves | {name: _SHARES[name.removeprefix(_THEIR)] // 2 for name in _THEIRS if name in needs}


def _filled(found: _Found, room: int) -> Part:
    part = found.part
    kept, part.cut = found.cut(found.entries, max(0, room - found.lines))
    part.text = "\n".join(_spaced(kept))
    return part


def _spaced(entries: list[Entry]) -> list[str]:
    out: list[str] = []
    for number, entry in enumerate(entries):
        if number and (entry.heading or entries[number - 1].heading):
            out.append("")
        out.append(entry.text)
    return out


def _parts(request: Request) -> list[_Found]:
    yesterday, today = day_text(request.today - 1), day_text(request.today)
    most = max(_A_FILE, 16 * request.budget)
    found = [part for name in ("SOUL.md", "USER.md", "MEMORY.md") for part in _named(request, name, most)]
    folders = request.places.projects
    path, fault = _guarded(lambda: project_path(request.root, request.project, request.folder, folders), ("", ""))
    if path:
        found.append(_document(request, "project", path, most))
    elif fault:
        found.append(_Found(Part("project", "", fault=fault), [], fitting))
    found += [_log(request, "yesterday", yesterday, most), _log(request, "today", today, most)]
    if request.hits:
        found.append(_hits(request))
    return found


def _named(request: Request, name: str, most: int) -> list[_Found]:
    """Return the parts that play SOUL.md, USER.md or MEMORY.md: the runs' file, and the person's own beside it."""
    paths = request.places.documents(name)
    names = [_THEIR + name, name] if len(paths) > 1 else [name]
    return [_document(request, one, path, most) for one, path in zip(names, paths, strict=False)]


def _guarded(ask: Callable[[], tuple[str, str]], otherwise: tuple[str, str]) -> tuple[str, str]:
    try:
        return ask()
    except Exception as fault:  # noqa: BLE001  a session starts whatever is wrong with a file
        return otherwise[0], f"The project could not be looked up: {_why(fault)}."


def _document(request: Request, name: str, path: str, most: int) -> _Found:
    try:
        return _Found(Part(name, path), document_entries(veiled(read_head(request.root, path, most))), fitting)
    except Exception as fault:  # noqa: BLE001  as above
        return _Found(Part(name, path, fault=f"{path} could not be read: {_why(fault)}."), [], fitting)


def _log(request: Request, name: str, day: str, most: int) -> _Found:
    path = request.places.log(day)
    try:
        entries = log_entries(veiled_log(read_tail(request.root, path, most)))
        for partial in request.places.others(request.root, day):
            entries += log_entries(veiled_log(read_tail(request.root, partial, most)))
    except Exception as fault:  # noqa: BLE001  as above
        return _Found(Part(name, path, fault=f"{path} could not be read: {_why(fault)}."), [], newest)
    return _Found(Part(name, path), entries, newest)


def _hits(request: Request) -> _Found:
    from pipelines.queries.startup.read import Entry

    oldest = day_text(request.today - LOG_DAYS)
    try:
        told = request.hits() if request.hits else []
        fresh = [(place, text) for place, text in told if not (place.startswith("Logs/") and place[5:15] < oldest)]
        entries = [Entry(f"- {place}: {' '.join(text.split())}") for place, text in fresh]
    except Exception as fault:  # noqa: BLE001  as above
        return _Found(Part("hits", "", fault=f"The search failed: {_why(fault)}."), [], fitting)
    return _Found(Part("hits", ""), entries, fitting)


def _health(request: Request) -> Part:
    try:
        queue = f"{request.places.home}Review.md"
        line = health_line(request.root, read_head(request.root, queue, 1 << 22), request.now, queue)
    except Exception as fault:  # noqa: BLE001  as above
        line = f"Memory health: it could not be told: {_why(fault)}."
    return Part("health", "", line)


def _why(fault: Exception) -> str:
    return (str(getattr(fault, "strerror", None) or "") or str(fault) or type(fault).__name__).rstrip(".").lower()


# ---------------------------------------- the startup context as a session gets it
# as text, as JSON, or as a Claude Code hook answers.


_TITLES = {
    "SOUL.md": "Who you are",
    "their USER.md": "Who you work for, as they wrote it",
    "their MEMORY.md": "What you know, as it was written by hand",
    "USER.md": "Who you work for",
    "MEMORY.md": "What you know",
    "project": "The project",
    "yesterday": "Yesterday",
    "today": "Today so far",
    "hits": "Found for your question",
}


def as_text(parts: list[Part]) -> str:
    """Return the context as text: each part under a line that names its file, and what was cut at its end."""
    return "\n\n".join(_told(part) for part in parts)


def _told(part: Part) -> str:
    if part.name == "health":
        return part.text
    lines = [f"=== {_TITLES[part.name]}{f' ({part.path})' if part.path else ''} ==="]
    lines += [part.text] if part.text else []
    lines += [part.fault] if part.fault else []
    lines += [_cut(part)] if part.cut else []
    return "\n".join(lines)


def _cut(part: Part) -> str:
    entries = "1 entry was" if part.cut == 1 else f"{part.cut} entries were"
    where = f"read {part.path} in the memory, or " if part.path else ""
    return f"({entries} cut to fit; {where}use `curate search`.)"


def as_json(parts: list[Part]) -> str:
    """Return the parts as one JSON array."""
    import json  # text needs none

    return json.dumps([part.to_json() for part in parts], ensure_ascii=False, indent=1)


# What JSON wants escaped in a string, and nothing else; its library takes longer to import than all this takes to run.
_ESCAPES = {number: f"\\u{number:04x}" for number in range(32)} | {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n"}


def as_hook(text: str) -> str:
    """Return what a SessionStart hook of Claude Code prints to put a text into the session."""
    told = text.encode("utf-8", "replace").decode().translate(_ESCAPES)
    return f'{{"hookSpecificOutput": {{"hookEventName": "SessionStart", "additionalContext": "{told}"}}}}'


# ---------------------------------------- which project a session is about
# the one it names, or the one whose name its working directory has.


def project_path(root: str, named: str, folder: str, folders: tuple[str, ...] = ("Projects/",)) -> tuple[str, str]:
    """Return the path of a project's document, or an empty string, and a sentence where the one named is not there.

    Args:
        root: the memory.
        named: what the session asks for: a title or a file's name, in any case; empty for none.
        folder: the session's working directory: its own name is looked for, then that of each folder above it.
        folders: where the documents of projects stand, each with `/` at its end; of two alike the first one's counts.
    """
    paths = [f"{one}{name}" for one in reversed(folders) for name in _documents(f"{root}/{one}")]
    there = {_plain(_name(path)): path for path in paths}
    if named:
        bare = next((named.removeprefix(one) for one in (*folders, "Projects/") if named.startswith(one)), named)
        found = there.get(_plain(bare.removesuffix(".md"))) or _by_title(root, there, named)
        known = ", ".join(sorted(map(_name, there.values()))[:20]) or "none yet"
        return found, "" if found else f"There is no project {named}; there are: {known}."
    if not folder:
        return "", ""
    inside = f"{os.path.realpath(folder)}/".startswith(f"{os.path.realpath(root)}/")
    while folder and not inside and folder != os.path.dirname(folder):
        if path := there.get(_plain(os.path.basename(folder))):
            return path, ""
        folder = os.path.dirname(folder)
    return "", ""


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _documents(folder: str) -> list[str]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith(".")]
    except OSError:
        return []
    return [name for name in names if _can_be_told(name)]


def _can_be_told(name: str) -> bool:
    """Return whether a name can stand in a line; a document of another one is left alone by runs, too."""
    if name.isascii() and name.isprintable():
        return True
    from pipelines.text import is_safe_line

    return is_safe_line(name)


def _by_title(root: str, there: dict[str, str], named: str) -> str:
    """Return the path of the project with that title; files are read only where no file has the name."""
    from pipelines.queries.startup.read import read_head

    wanted = _plain(named)
    for path in there.values():
        try:
            head = read_head(root, path, 2048)
        except OSError:
            continue
        lines = head.split("\n")
        titles = [line.partition(" ")[2] for line in lines if line.startswith(("title: ", "# "))]
        if any(_plain(title) == wanted for title in titles):
            return path
    return ""


def _plain(name: str) -> str:
    """Return a name as files are named: lower case, a dash for every run of other characters."""
    low = name.strip().casefold()
    return "-".join("".join([one if one.isalnum() else " " for one in low]).split()) or low
