"""The startup context, put together: each part has its share of the budget, and what one leaves goes to the others.

Its last line is the memory's health: a night that did not happen, or did not end well, is seen at the next start.
"""

from __future__ import annotations

import os
import time

from pipelines.queries.startup.cache import StartupSettings, settings_of
from pipelines.queries.startup.listed import (
    Said,
    items_of,
    open_entries,
    page_name,
    pair_entries,
    said_in,
    sentences_of_now,
    tells,
    told_above,
    work_entries,
)
from pipelines.queries.startup.own_log import own_log
from pipelines.queries.startup.read import (
    Snippet,
    day_number,
    day_text,
    document_entries,
    episode_in,
    fitting,
    ledger_at_start,
    log_entries,
    newest,
    read_part,
    read_raw,
    redacted,
    redacted_log,
    tokens,
    without_lines,
)
from pipelines.queries.startup.suspicion import suspicious

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Keep = Callable[[list[Snippet], int], tuple[list[Snippet], int]]

BUDGET = 4000
LEAST_BUDGET = 300
LOG_DAYS = 30
"""Days after which a log is history: no search finds a line of it for a session's start."""

# Shares of the budget in hundredths, in the order in which what is left over is handed out: raw log lines come last.
_SHARES = {
    "open": 20, "MEMORY.md": 25, "project": 12, "work": 16, "quiet": 5, "USER.md": 5, "SOUL.md": 3, "pairs": 4,
    "hits": 4, "today": 5, "yesterday": 1,
}  # fmt: skip
_ORDER = (
    "SOUL.md", "their USER.md", "USER.md", "their MEMORY.md", "MEMORY.md", "project", "open", "work", "quiet",
    "yesterday", "today", "hits", "pairs",
)  # fmt: skip
_NAMELESS = {
    "hits": "what was found", "open": "open todos, risks and questions", "work": "what is known of the work",
    "pairs": "what may conflict", "quiet": "what is open and quiet",
}  # fmt: skip
_ROWS = frozenset({"Decision", "Fact", "Rule"})
_NOW_SHARE = 5
"""The part of the budget up to which the briefing's first part is sure to be shown whole."""
_FIRST = ("goals", "open questions", "contacts", "rules", "how to")
"""Sections of the project's page that are shown before the newest of its decisions and facts."""
_THEIR = "their "
_LINES = 40  # tokens of a part's title and of the line that says what was cut, without its path
_A_FILE = 1 << 18
_A_LOG = 1 << 26
_MOST_READ = 1 << 22  # bytes of all documents in which open todos and risks are looked for
OVERDUE_HOURS = 36
"""After so many hours a night was missed: one a day, and half a day for a machine that was asleep."""
_AHEAD_SECONDS = 3600
_MOST_REPORTS = 20
"""So many reports, broken ones or of days ahead of the clock among them, are looked at."""


class ContextRequest:
    """What a session asks for.

    Args:
        root: the memory.
        today: the memory's day, counted from 1970-01-01.
        now: seconds since 1970.
        budget: the most tokens of the answer.
        project: a project's name; empty to go by `folder`.
        folder: the session's working directory.
        hits: returns what a search found, as (place, text) pairs; None where nothing is looked for.
        settings: where files stand; None for under their own names.
    """

    def __init__(  # noqa: PLR0913, PLR0917  what a session can say of itself
        self,
        root: str,
        today: int,
        now: float,
        budget: int = BUDGET,
        project: str = "",
        folder: str = "",
        hits: Callable[[], list[tuple[str, str]]] | None = None,
        settings: StartupSettings | None = None,
    ) -> None:
        self.root, self.today, self.now, self.budget = root, today, now, budget
        self.project, self.folder, self.hits = project, folder, hits
        self.settings = settings or StartupSettings()


class ContextPart:
    """One part of the context.

    Args:
        name: what it is.
        path: where it stands, or empty.
        entries: what it could show.
        keep: chooses those of them that fit into some room, and counts the others.
        text: what is shown; of entries, what was kept.
        fault: what failed, a sentence, or empty.
        kept: the entries that it shows.
    """

    def __init__(
        self,
        name: str,
        path: str = "",
        entries: list[Snippet] | None = None,
        keep: Keep = fitting,
        *,
        text: str = "",
        fault: str = "",
    ) -> None:
        self.name, self.path, self.entries, self.keep = name, path, entries or [], keep
        self.text, self.fault, self.cut = text, fault, 0
        self.kept: list[Snippet] = []
        self.frame = _LINES + tokens(path) + tokens(fault)
        self.need = sum(entry.size for entry in self.entries) + self.frame if entries else 0

    def to_json(self) -> dict[str, object]:
        """Return it as what `json` can write."""
        return {"part": self.name, "path": self.path, "text": self.text, "cut": self.cut, "fault": self.fault}


def assemble(request: ContextRequest) -> list[ContextPart]:
    """Return the parts of the context, under the budget all together. What fails costs its part alone."""
    health = _health(request)
    found = {part.name: part for part in _parts(request)}
    left = request.budget - tokens(health.text) - _LINES
    left -= sum(_LINES + tokens(part.fault) for part in found.values() if part.fault)
    left -= sum(tokens(part.path) + 1 for part in found.values())  # all may have to be named as left out
    rooms = _rooms({name: part.need for name, part in found.items()}, max(0, left))
    parts = [found[name] for name in _ORDER if name in found]
    for part in parts:
        part.kept, part.cut = part.keep(part.entries, max(0, rooms.get(part.name, 0) - part.frame))
        lines = [f"\n{entry.text}" if entry.heading else entry.text for entry in part.kept]
        part.text = "\n".join(lines).lstrip("\n")
    if out := [part.path or _NAMELESS.get(part.name, part.name) for part in parts if part.cut and not part.text]:
        health.text += f" Left out to fit the budget: {', '.join(out)}."
    return [*(part for part in parts if part.text or part.fault), health]


def unsettled_pairs(root: str) -> str:
    """Return the pairs that may conflict, as the context shows them; empty if none waits."""
    request = ContextRequest(root, 0, 0.0, settings=settings_of(root, time.time()))
    held = items_of(_document_texts(request), ledger_at_start(root, request.settings.home))
    return "\n".join([entry.text for entry in _veiled(pair_entries(held))])


def _rooms(needs: dict[str, int], left: int) -> dict[str, int]:
    """Return the tokens that each part gets: its share at most, then what the others left, in order.

    Of a document that two files make up, half its share is each one's.
    """
    shares = {name: share // 2 if _THEIR + name in needs else share for name, share in _SHARES.items()}
    shares |= {name: _SHARES[name.removeprefix(_THEIR)] // 2 for name in needs if name.startswith(_THEIR)}
    given = {name: min(needs.get(name, 0), share * left // 100) for name, share in shares.items()}
    spare = left - sum(given.values())
    for name in shares:
        more = min(needs.get(name, 0) - given[name], spare)
        given[name] += more
        spare -= more
    return given


def _parts(request: ContextRequest) -> list[ContextPart]:
    root, settings = request.root, request.settings
    most, rows = max(_A_FILE, 16 * request.budget), ledger_at_start(root, settings.home)

    def document(name: str, path: str) -> ContextPart:
        with_open, first = name == "SOUL.md", _FIRST if name == "project" else ()  # of others, a part of its own

        def entries() -> list[Snippet]:
            text = redacted(read_part(root, path, most))
            found = document_entries(text, rows, with_open=with_open, first=first)
            found = found[1:] if found and found[0].heading == 1 else found  # the part has a title
            return _said_once(found, now, said, above) if name == "MEMORY.md" else found

        return _part(name, path, entries)

    texts, today = _document_texts(request), day_text(request.today)
    now, held = sentences_of_now(texts, rows), items_of(texts, rows)
    said = said_in(now)
    above = told_above(held, said) if tokens("\n".join(now)) <= request.budget // _NOW_SHARE else {}
    found = []
    for name in ("SOUL.md", "USER.md", "MEMORY.md"):
        paths = settings.documents(name)
        names = [_THEIR + name, name] if len(paths) > 1 else [name]
        found += [document(one, path) for one, path in zip(names, paths, strict=False)]
    try:
        path, fault = project_path(root, request.project, request.folder, settings.projects)
    except Exception as error:  # noqa: BLE001  a session starts whatever is wrong with a file
        path, fault = "", f"The project could not be looked up: {_why(error)}."
    if path:
        found.append(document("project", path))
    elif fault:
        found.append(ContextPart("project", fault=fault))
    found.append(_part("open", "", lambda: _veiled(open_entries(held, today, said, path, above=above))))
    found.append(_part("quiet", "", lambda: _veiled(open_entries(held, today, said, path, is_quiet=True))))
    for name, day in ("yesterday", request.today - 1), ("today", request.today):
        found.append(_log_part(request, name, day, said, rows))
    found.append(_part("work", "", lambda: _veiled(work_entries(texts, held, rows, today, said, path))))
    found.append(_part("pairs", "", lambda: _veiled(pair_entries(held))))
    if hits := request.hits:
        found.append(
            _part("hits", "", lambda: [Snippet(f"- {place}: {' '.join(text.split())}") for place, text in hits()])
        )
    return found


def _said_once(
    entries: list[Snippet], now: dict[str, tuple[str, ...]], said: Said, above: dict[str, str]
) -> list[Snippet]:
    """Return the briefing with the ids of the open items that its sentences tell, and without rows that these tell."""
    found, left = [], dict(above)
    for entry in entries:
        kind, _, words = entry.text.removeprefix("- ").partition(": ")
        if entry.ids and kind in _ROWS and tells(said, words, entry.ids[0]):
            continue
        lines = []
        for line in entry.text.split("\n"):
            named = [left.pop(one) for one in now.get(line, ()) if one in left]
            lines.append(f"{line} ({', '.join(named)})" if named else line)
        found.append(Snippet("\n".join(lines), entry.date, entry.heading, entry.ids))
    return found


def _log_part(request: ContextRequest, name: str, number: int, said: Said, rows: dict[str, str]) -> ContextPart:
    """Return what is known of a day: its episode, and the log's own lines that the episode does not cover."""
    root, settings, day = request.root, request.settings, day_text(number)
    most, path = max(_A_FILE, 16 * request.budget), settings.log(day)
    told: list[Snippet] = []

    def entries() -> list[Snippet]:
        page = redacted(read_part(root, f"{settings.home}Episodes/{day[:7]}.md", most))
        episode, covered = episode_in(page, day, rows)
        told.extend(one for one in episode if not tells(said, one.text))
        texts = []
        for one in (path, *settings.others(root, day)):
            text = redacted_log(_end_of(read_part(root, one, _A_LOG, tail=True), most))
            own = own_log(f"Logs/{day}.md" if settings.home else one, day, text)
            texts.append(without_lines(own, covered if one == path else ""))
        return [*told, *(entry for text in texts for entry in log_entries(text))]

    def episode_first(found: list[Snippet], room: int) -> tuple[list[Snippet], int]:
        rest, cut = newest(found[len(told) :], room - sum(entry.size for entry in told), whole=bool(told))
        return [*told, *rest], cut

    return _part(name, path, entries, episode_first)


def _end_of(log: str, most: int) -> str:
    """Return a log, or its end under the heading that it stands under; lines keep their numbers."""
    if len(log) <= most:
        return log
    cut = log.find("\n", len(log) - most)
    heading = log.rfind("\n#", 0, cut) + 1
    return "\n" * log.count("\n", 0, cut) + log[heading : log.find("\n", heading)] + log[cut:]


def _part(name: str, path: str, entries: Callable[[], list[Snippet]], keep: Keep = fitting) -> ContextPart:
    try:
        return ContextPart(name, path, entries(), keep)
    except Exception as error:  # noqa: BLE001  as above
        what = f"{path} could not be read" if path else "The search failed"
        return ContextPart(name, path, keep=keep, fault=f"{what}: {_why(error)}.")


def _document_texts(request: ContextRequest) -> list[tuple[str, str]]:
    """Return path and text of the memory's documents; one that cannot be read is passed over."""
    root, settings = request.root, request.settings
    folders = (*settings.projects, f"{settings.home}Areas/")
    paths = [one for name in ("MEMORY.md", "USER.md") for one in settings.documents(name)]
    paths += [f"{folder}{name}" for folder in folders for name in sorted(_documents(f"{root}/{folder}"))]
    texts, left = [], _MOST_READ
    for path in dict.fromkeys(paths):
        try:
            text = read_part(root, path, min(_A_FILE, left))
        except OSError:
            continue
        left = max(0, left - len(text))
        texts.append((path, text))
    return texts


def _veiled(entries: list[Snippet]) -> list[Snippet]:
    """Return entries without secrets."""
    if suspicious("\n".join([entry.text for entry in entries])):
        return [Snippet(redacted(entry.text), entry.date, entry.heading, entry.ids) for entry in entries]
    return entries


def _health(request: ContextRequest) -> ContextPart:
    """Return a sentence or two: the last run and how it ended, what waits for review, whether a night is overdue."""
    queue = f"{request.settings.home}Review.md"
    try:
        marks = read_raw(request.root, queue, 1 << 22)
        waiting = marks.count(b"<!-- review ") - marks.count(b"<!-- review folded ")
        line = f"Memory health: {_last_run(request.root, request.now)}"
        if waiting:
            waits = "entry waits" if waiting == 1 else "entries wait"
            line += f" {waiting} {waits} for a person in {queue}; `curate review` shows what."
    except Exception as fault:  # noqa: BLE001  as above
        line = f"Memory health: it could not be told: {_why(fault)}."
    return ContextPart("health", text=line)


def _why(fault: Exception) -> str:
    return (str(getattr(fault, "strerror", None) or "") or str(fault) or type(fault).__name__).rstrip(".").lower()


def project_path(root: str, named: str, folder: str, folders: tuple[str, ...] = ("Projects/",)) -> tuple[str, str]:
    """Return the path of a project's document, or an empty string, and a sentence where the one named is not there.

    Args:
        root: the memory.
        named: what the session asks for: a title or a file's name, in any case; empty for none.
        folder: the session's working directory: its own name is looked for, then that of each folder above it, then
            those of its repository, which may be a work tree or a clone of another name.
        folders: where the documents of projects stand, each with `/` at its end; of two alike the first one's counts.
    """
    paths = [f"{one}{name}" for one in reversed(folders) for name in _documents(f"{root}/{one}")]
    there = {_slug(page_name(path)): path for path in paths}
    if named:
        bare = next((named.removeprefix(one) for one in (*folders, "Projects/") if named.startswith(one)), named)
        found = there.get(_slug(bare.removesuffix(".md"))) or _by_title(root, there, named)
        known = ", ".join(sorted(map(page_name, there.values()))[:20]) or "none yet"
        return found, "" if found else f"There is no project {named}; there are: {known}."
    if not folder:
        return "", ""
    inside = f"{os.path.realpath(folder)}/".startswith(f"{os.path.realpath(root)}/")
    top = ""
    while folder and not inside and folder != os.path.dirname(folder):
        if path := there.get(_slug(os.path.basename(folder))):
            return path, ""
        top = top or folder * os.path.lexists(f"{folder}/.git")
        folder = os.path.dirname(folder)
    if top and there:
        from pipelines.store.work_trees import repository_of

        main, remote = repository_of(top) or ("", "")
        return there.get(_slug(os.path.basename(main))) or there.get(_slug(os.path.basename(remote)), ""), ""
    return "", ""


def _documents(folder: str) -> list[str]:
    """Return the names of the documents in a folder; one whose name forges lines is left alone by runs, too."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith(".")]
    except OSError:
        return []
    if all(name.isascii() and name.isprintable() for name in names):
        return names
    from pipelines.text import is_safe_line

    return [name for name in names if is_safe_line(name)]


def _by_title(root: str, there: dict[str, str], named: str) -> str:
    """Return the path of the project with that title; files are read only where no file has the name."""
    wanted = _slug(named)
    for path in there.values():
        try:
            head = read_part(root, path, 2048)
        except OSError:
            continue
        lines = head.split("\n")
        titles = [line.partition(" ")[2] for line in lines if line.startswith(("title: ", "# "))]
        if any(_slug(title) == wanted for title in titles):
            return path
    return ""


def _slug(name: str) -> str:
    """Return a name as files are named: lower case, a dash for every run of other characters."""
    low = name.strip().casefold()
    return "-".join("".join([one if one.isalnum() else " " for one in low]).split()) or low


def _last_run(root: str, now: float) -> str:
    report, ahead = _newest_report(root, now)
    when = _value(report, "now")
    ended = moment_of(when)
    said = f"last run {_shown(when)}, {_ending(report)}." if report else ""
    if ended is None or (now - ended) / 3600 > OVERDUE_HOURS:
        there, told = _newest_elsewhere(root, now)
        if there is not None and (ended is None or there > ended):
            said = f"{said} {told}".lstrip()
            ended = there
        if report and ended is not None and (hours := (now - ended) / 3600) > OVERDUE_HOURS:
            ago = f"{int(hours // 24)} days" if hours >= 2 * 24 else f"{int(hours)} hours"
            said += f" Curation is overdue: that was {ago} ago; run `curate run`, then see `curate status`."
    if ahead:
        said += f" A run is dated {_shown(ahead)}, which is in the future: was the clock set back?"
    return said.lstrip() or "no run yet; `curate run` makes the first."


def _shown(when: str) -> str:
    return when[:16].replace("T", " ")


def _newest_elsewhere(root: str, now: float) -> tuple[float | None, str]:
    """Return when another machine ran a night, up to now, and a sentence on it; None where none did.

    It takes time, and so is asked only where this machine's own nights are late and the memory is shared.
    """
    if not any(os.path.isdir(f"{root}/{folder}") for folder in (".git/refs/remotes", ".curate/remote.git")):
        return None, ""
    from pathlib import Path

    from pipelines.night.run_history import nights

    runs = [run for run in nights(Path(root)) if not run.here]
    dated = [(run.moment.timestamp(), run) for run in runs if run.moment]
    when, run = next(((when, run) for when, run in dated if when <= now + _AHEAD_SECONDS), (None, None))
    if when is None or run is None:
        return None, ""
    shown = time.strftime("%Y-%m-%d %H:%M", time.gmtime(when))
    outcome = f"; it {run.outcome.rstrip('.')}" if run.outcome and run.ended != "well" else ""
    return when, f"Another machine's night: {shown} UTC{outcome}."


def _ending(report: str) -> str:
    if '\n "error":' in report:
        import json  # a failure may take its time

        error = json.loads(report)["error"] or {}
        return f"failed: {str(error.get('sentence') or 'see `curate runs`').strip().rstrip('.')}"
    if undone := _value(report, "undone_by").removeprefix("null"):
        return f"undone by {undone}"
    if _value(report, "exit_code") not in {"", "0"}:
        return "left something pending; `curate runs` says what"
    if '\n  "over_budget": "' in report:
        return "stopped at your budget; `curate status` says what waits"
    return "ended well"


def _value(report: str, key: str) -> str:
    """Return a value at the top of a report, which a run writes with one key a line, indented by one blank."""
    return report.partition(f'\n "{key}": ')[2].partition("\n")[0].rstrip(",").strip('"')


def _newest_report(root: str, now: float) -> tuple[str, str]:
    """Return the newest whole report up to now, or an empty string, and the day of one that is ahead of the clock."""
    ahead = ""
    for name in sorted(_names(root), reverse=True)[:_MOST_REPORTS]:
        try:
            found = read_part(root, f".curate/runs/{name}", 1 << 20)
        except OSError:
            continue
        moment = moment_of(_value(found, "now"))
        if moment is not None and found.startswith("{\n") and found.rstrip().endswith("}"):
            if moment <= now + _AHEAD_SECONDS:
                return found, ahead
            ahead = ahead or _value(found, "now")
    return "", ahead


def _names(root: str) -> list[str]:
    try:
        return [name for name in os.listdir(f"{root}/.curate/runs") if name.endswith(".json")]
    except OSError:
        return []


def moment_of(text: str) -> float | None:
    """Return an ISO moment (`2026-03-18T02:00:00+01:00`) as seconds since 1970, or None; no offset means Greenwich."""
    try:
        days = day_number(text)
        hour, minute, second = int(text[11:13]), int(text[14:16]), int(text[17:19])
        zone = text[19:].removesuffix("Z")
        east = (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60) * (-1 if zone[0] == "-" else 1) if zone else 0
    except (ValueError, IndexError):
        return None
    return float(days * 86400 + hour * 3600 + minute * 60 + second - east)
