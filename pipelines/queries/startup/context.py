"""The startup context, put together: each part has its share of the budget, and what one leaves goes to the others.

Its last line is the memory's health: a night that did not happen, or did not end well, is seen at the next start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import CurateError, UsageFault
from pipelines.night.report import reported_nights
from pipelines.night.sentences import episodes_in, rests_on
from pipelines.queries.startup.kept import BUDGET
from pipelines.queries.startup.listed import (
    Said,
    date_of,
    items_of,
    open_entries,
    pair_entries,
    ranks_of,
    short_ids,
    work_entries,
)
from pipelines.queries.startup.own_project import page_name, project_of_folder
from pipelines.queries.startup.read import (
    Kept,
    Snippet,
    Snippets,
    document_entries,
    fitting,
    is_open,
    redacted,
    said_first,
    tokens,
)
from pipelines.store.days import day_before, read_days
from pipelines.store.document import NOW_TITLE, Document, Documents, document_at
from pipelines.store.files import list_files, log_notes, open_regular, read_bytes
from pipelines.store.generated import sentences_in, sentences_under
from pipelines.store.item import ItemType
from pipelines.store.layout import (
    BRIEFING,
    LOGS,
    NOTES,
    PARTIAL,
    REVIEW,
    SOUL,
    USER,
    Kind,
    day_of_log,
    episode_path,
    log_path,
    slug,
)
from pipelines.store.review_queue import read_queue
from pipelines.store.snapshot import FileWarning, read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import layout_of
from pipelines.store.work_trees import project_of_repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    Keep = Callable[[Snippets, int], Kept]

# Shares of the budget in hundredths, in the order in which what is left over is handed out: raw log lines come last.
_SHARES = {
    "open": 16, "MEMORY.md": 20, "USER.md": 15, "project": 11, "work": 11, "quiet": 3, "SOUL.md": 9, "pairs": 3,
    "today": 3, "yesterday": 9, "last day": 9,
}  # fmt: skip
TITLES = {
    "SOUL.md": "Who you are",
    "their USER.md": "Who you work for, as they wrote it",
    "USER.md": "Who you work for",
    "their MEMORY.md": "What you know, as it was written by hand",
    "MEMORY.md": "What you know",
    "project": "The project",
    "open": "Open todos and risks, then questions (close one in the log: `Done: ID`, `Answered: ID`)",
    "work": "Procedures, decisions and facts of the pages, page by page",
    "quiet": "Open, but perhaps over or not mentioned of late",
    "yesterday": "Yesterday",
    "last day": "Last day of work",
    "today": "Today so far",
    "pairs": "May conflict: settle each with one command, in either order of ids, or leave it",
}
"""The parts with their titles, in the order in which they are shown."""
_NAMELESS = {
    "open": "open todos, risks and questions", "work": "what is known of the work",
    "pairs": "what may conflict", "quiet": "what is open and quiet",
}  # fmt: skip
_ROWS = frozenset("Decision Fact Rule".split())
_LATE_DAYS = 2
"""What a sentence rests on is of today or so; of an older one the day is told."""
_NOW_SHARE = 5
"""The part of the budget up to which the briefing's first part is sure to be shown whole."""
_THEIR = "their "
_LINES = 40  # tokens of a part's title and of the line that says what was cut, without its path
_A_LOG = 1 << 18
"""Characters of a long log that are read, from its end; more where the budget is large."""
OVERDUE_HOURS = 36
"""After so many hours a night was missed: one a day, and half a day for a machine that was asleep."""
_LOG_SHARE = 4
"""The part of the budget that the lines of one day's log take at most."""
LOOKS_BACK = 14
"""Days among which the last day of work is looked for."""
_PROJECTS = re.compile(r"\bproject:[*_ \t]{0,4}([^\]\n]{1,88})", re.IGNORECASE)
AHEAD = timedelta(hours=1)
"""No wrong clock is farther ahead: what is said to be later than that has not happened."""
_MOST_REPORTS = 20
"""So many reports, broken ones or of days ahead of the clock among them, are looked at."""


class ContextRequest(NamedTuple):
    """What a session asks for.

    Args:
        root: the memory.
        today: the memory's day, `YYYY-MM-DD`.
        now: the moment.
        budget: the most tokens of the answer.
        project: a project's name; empty to go by `folder`.
        folder: the session's working directory.
    """

    root: Path
    today: str
    now: datetime
    budget: int = BUDGET
    project: str = ""
    folder: str = ""

    @classmethod
    def at(cls, root: Path, when: datetime | None, **asked: Any) -> ContextRequest:  # noqa: ANN401  its fields
        """Return a request at a moment, by default that of the clock; if curate.toml has faults, days are UTC's."""
        now = when or datetime.now(UTC)
        return cls(root, read_days(root).of(now), now, **asked)


@dataclass
class ContextPart:
    """One part of the context.

    Args:
        name: what it is.
        path: where it stands, or empty.
        entries: what it could show.
        keep: chooses those of them that fit into some room, and counts the others.
        text: what is shown; of entries, what was kept.
        fault: what failed, a sentence, or empty.
        cut: how many entries are not shown.
        kept: the entries that it shows.
    """

    name: str
    path: str = ""
    entries: Snippets = field(default_factory=list)
    keep: Keep = fitting
    text: str = ""
    fault: str = ""
    cut: int = 0
    kept: Snippets = field(default_factory=list)

    @property
    def frame(self) -> int:
        """The tokens of its title, and of the line that says what was cut."""
        return _LINES + tokens(self.path) + tokens(self.fault)

    @property
    def need(self) -> int:
        """The tokens of all that it could show."""
        return sum(entry.size for entry in self.entries) + self.frame if self.entries else 0


def assemble(request: ContextRequest, documents: Documents | None = None) -> list[ContextPart]:
    """Return the parts of the context, under the budget all together. What fails costs its part alone.

    Args:
        request: what a session asks for.
        documents: every document by path, if they have been read already.
    """
    warnings = list[FileWarning]()
    if documents is None:
        documents = read_documents(request.root, warnings)
    health = _health(request, documents)
    found = {part.name: part for part in _parts(request, documents, {one.path: str(one) for one in warnings})}
    asked = set[str]()
    if queue := read_queue(documents.get(REVIEW)):
        from pipelines.review.outcomes import ids_asked, item_asked_about

        asked.update(ident for one in queue for ident in (*ids_asked(one), item_asked_about(one)))
    for part in found.values():
        for at, one in enumerate(part.entries if part.name != "quiet" else ()):  # one question is about all these
            if len(one.ids) == 1 and one.ids[0] in asked:
                head, line, notes = one.text.partition("\n")
                part.entries[at] = replace(one, text=f"{head} (asked about in {REVIEW}){line}{notes}")
    left = request.budget - tokens(health.text) - _LINES
    left -= sum(_LINES + tokens(part.fault) for part in found.values() if part.fault)
    left -= sum(tokens(part.path) + 1 for part in found.values())  # all may have to be named as left out
    rooms = _rooms({name: part.need for name, part in found.items()}, max(0, left))
    parts = [found[name] for name in TITLES if name in found]
    for part in parts:
        kept, part.cut = part.keep(part.entries, max(0, rooms.get(part.name, 0) - part.frame))
        whole = "\n".join([entry.text for entry in kept])  # no secret is shown, and one look is quick
        part.kept = kept if redacted(whole) == whole else [replace(one, text=redacted(one.text)) for one in kept]
        lines = [f"\n{entry.text}" if entry.heading else entry.text for entry in part.kept]
        part.text = redacted("\n".join(lines).lstrip("\n"))
    if out := [part.path or _NAMELESS.get(part.name, part.name) for part in parts if part.cut and not part.text]:
        health.text += f" Left out to fit the budget: {', '.join(out)}."
    return [*(part for part in parts if part.text or part.fault), health]


def unsettled_pairs(root: Path) -> str:
    """Return the pairs that may conflict, as the context shows them; empty if none waits."""
    documents = _of_sessions(read_documents(root))
    return redacted("\n".join([entry.text for entry in pair_entries(items_of(documents), short_ids(documents))]))


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


def _of_sessions(documents: Documents) -> list[Document]:
    """Return the documents whose items a session is shown."""
    kinds = {Kind.BRIEFING, Kind.USER, Kind.PROJECT, Kind.AREA, Kind.RESOURCE}
    return [one for path, one in sorted(documents.items()) if one.kind in kinds]


def _parts(request: ContextRequest, documents: Documents, faults: Mapping[str, str]) -> list[ContextPart]:
    root, today = request.root, request.today
    pages = _of_sessions(documents)
    held, short = items_of(pages), short_ids(pages)
    now = {
        one.text: one.ids
        for name in (BRIEFING, USER)
        if name in documents
        for some in sentences_in(documents[name]).values()
        for _, one in some
        if one.ids or one.lines or one.days  # rows rest on nothing
    }
    said = Said(now, held)
    late = day_before(today, _LATE_DAYS)
    since = {item.id: date_of(item) for _, item in held if item.type is not ItemType.RULE}  # a rule stands
    days = {text: max([since.get(one, "") for one in ids], default="") for text, ids in now.items()}
    aged = {text: day for text, day in days.items() if "" < day < late and day not in text}
    above = dict[str, str]()  # the open items that sentences which rest on them tell
    if tokens("\n".join(now)) <= request.budget // _NOW_SHARE:
        above = {item.id: short[item.id] for _, item in held if is_open(item) and said.cites(item.text, item.id)}

    def document(name: str, path: str, page: Document) -> ContextPart:
        ranks = ranks_of([one for one in held if one[0] is page], today) if name == "project" else {}
        entries = document_entries(page, with_open=name == SOUL, ranks=ranks)  # of others, a part of its own
        entries = entries[1:] if entries and entries[0].heading == 1 else entries  # the part has a title
        if name == BRIEFING:
            entries = _said_once(_now_first(entries, now, homes, here), now, said, above, aged)
        elif name == "project":
            entries = [one for one in entries if not (one.ids and said.tells(_row(one)[1]))]
        return ContextPart(name, path, entries)

    homes = {item.id: page for page, item in held}
    here, fault = _project_path(request, documents)
    found = [
        ContextPart(name, path, fault=fault) if page is None else document(name, path, page)
        for name, path, page, fault in _always_shown(root, documents, faults)
    ]
    if here:
        found.append(document("project", here, documents[here]))
    elif fault:
        found.append(ContextPart("project", fault=fault))
    for part, is_quiet in ("open", False), ("quiet", True):
        entries = open_entries(held, today, said, short, here, above=above, is_quiet=is_quiet)
        found.append(ContextPart(part, "", entries))
    name = page_name(here) if here else project_of_repository(request.folder, str(root))[1]
    last, own = last_day(root, today, slug(name) if name else "")
    own = slug(page_name(here)) if here else own
    for name, day in ("yesterday" if last == day_before(today) else "last day", last), ("today", today):
        found.append(_log_part(request, name, day, said, documents, own))
    found.append(ContextPart("work", "", work_entries(pages, held, today, said, here)))
    found.append(ContextPart("pairs", "", pair_entries(held, short)))
    return found


def _always_shown(
    root: Path, documents: Documents, faults: Mapping[str, str]
) -> Iterator[tuple[str, str, Document | None, str]]:
    """Yield SOUL.md, USER.md and MEMORY.md: name, path, document, and what is wrong with it."""
    for name in (SOUL, USER, BRIEFING):
        theirs = _read(root, f"{NOTES}/{name}") if layout_of(root).home else (None, "")
        if any(theirs):
            yield (name if name == SOUL else _THEIR + name, f"{NOTES}/{name}", *theirs)
        elif name == SOUL:
            yield (name, name, *_read(root, name))
        if name in documents or name in faults:
            yield name, name, documents.get(name), faults.get(name, "")


def _read(root: Path, path: str) -> tuple[Document | None, str]:
    """Return a file that is no document of the memory as one, or what is wrong with it."""
    try:
        file = open_regular(root, path)
    except CurateError as error:
        return None, error.sentence
    if file is None:
        return None, ""
    with file:
        return document_at(path, file.read().decode(errors="replace")), ""


def _now_first(entries: Snippets, now: Mapping[str, tuple[str, ...]], homes: Documents, own: str) -> Snippets:
    """Return the briefing, what a run told of now before the sections that people wrote, and each sentence apart.

    Where not all fits, later entries are cut, and no entry in part. Sentences that rest on other projects alone than
    the session's come last of these.
    """

    def is_others(line: Snippet) -> bool:
        found = [homes[one] for one in line.ids if one in homes]
        return bool(own and found) and all(one.kind is Kind.PROJECT and one.path != own for one in found)

    heads = [number for number, one in enumerate(entries) if one.heading]
    at = next((number for number in heads if entries[number].text.lstrip("# ") == NOW_TITLE), None)
    if at is None:
        return entries
    end = next((n for n in heads if n > at and entries[n].heading <= entries[at].heading), len(entries))
    told = Snippets()
    for one in entries[at + 1 : end]:
        lines = one.text.split("\n")
        told += [Snippet(line, ids=now[line]) for line in lines] if now.keys() >= {*lines} else [one]
    plain = next((n for n, one in enumerate(told) if one.heading), len(told))
    told[:plain] = sorted(told[:plain], key=is_others)
    return [*entries[: heads[0]], entries[at], *told, *entries[heads[0] : at], *entries[end:]]


def _row(entry: Snippet) -> tuple[str, str]:
    """Return the label and the words of a row of items."""
    kind, _, words = entry.text.removeprefix("- ").partition(": ")
    return (kind, words) if kind in _ROWS else ("", "")


def _said_once(
    entries: Snippets, now: dict[str, tuple[str, ...]], said: Said, above: dict[str, str], aged: dict[str, str]
) -> Snippets:
    """Return the briefing without rows that its sentences tell.

    Behind a sentence stand the ids of the open items that it tells, and the day it is of, if that is not a late one.
    """
    found, left = [], dict(above)
    for entry in entries:
        kind, words = _row(entry)
        if entry.ids and kind and said.tells(words, entry.ids[0]):
            continue
        lines = []
        for line in entry.text.split("\n"):
            named = [left.pop(one) for one in now.get(line, ()) if one in left]
            named += [f"as of {aged[line]}"] if line in aged else []
            lines.append(f"{line} ({', '.join(named)})" if named else line)
        found.append(Snippet("\n".join(lines), entry.date, entry.heading, entry.ids))
    return found


def _log_part(
    request: ContextRequest, name: str, day: str, said: Said, documents: Documents, project: str
) -> ContextPart:
    """Return what is known of a day: its episode, and the log's own lines that neither it nor an item covers.

    Of a log, a quarter of the budget is shown at most: raw lines answer little, and an agent reads them all.
    """
    root, paths, page = request.root, [log_path(day)], documents.get(episode_path(day))
    most, told, covered = max(_A_LOG, 16 * request.budget), Snippets(), list[tuple[int, int]]()
    if page is not None:
        written = [one for _, one in sentences_under(page, day)]
        covered = [place for one in written for place in rests_on(one)]
        waits = {one.item.id for page in documents.values() for one in page.items if is_open(one.item)}
        listed = {one.text for one in written if one.by_code and waits.issuperset(one.ids)}
        lines = [line for found, some in episodes_in({page.path: page}) if found == day for line in some]
        told = [Snippet(line) for line in lines if line not in listed and not said.tells(line)]
    cited = [at for one in documents.values() for placed in one.items for at in placed.item.evidence]
    entries, fault = Snippets(), ""
    try:
        from pipelines.queries.startup.own_log import own_entries

        paths = logs_by_day(root).get(day, paths)
        for one in paths:  # the episode does not say of which of several logs its lines are
            known = [
                *(covered if len(paths) == 1 else ()),
                *((at.start_line, at.end_line) for at in cited if at.path == one),
            ]
            text = (read_bytes(root, one) or b"").decode(errors="replace")
            if "private>" in text.lower():
                from pipelines.store.secrets.redact import log_without_private

                text = log_without_private(text)
            entries += own_entries(one, day, _end_of(text, most), known)
    except CurateError as error:
        fault = error.sentence

    def episode_first(found: Snippets, room: int) -> Kept:
        room = min(room, request.budget // _LOG_SHARE) - sum(entry.size for entry in told)
        rest, cut = said_first(found[len(told) :], room, project, whole=bool(told))
        return [*told, *rest], cut

    return ContextPart(name, paths[0], [*told, *entries], episode_first, fault=fault)


def logs_by_day(root: Path) -> dict[str, list[str]]:
    """Return the logs of each day, the partial ones among them."""
    found = dict[str, list[str]]()
    for path in (*list_files(root, LOGS, ".md"), *log_notes(root)):
        day = path.removeprefix(f"{PARTIAL}/")[:10] if path.startswith(f"{PARTIAL}/") else day_of_log(path)
        found.setdefault(day or "", []).append(path)
    return found


def last_day(root: Path, today: str, project: str) -> tuple[str, str]:
    """Return the last day before today on which somebody logged what belongs to a project, and its slug.

    Where no log of late names it, that is the last day with a log, and an empty string.

    Args:
        root: the memory.
        today: the memory's day.
        project: the slug of the session's project, or empty for any.
    """
    logs = logs_by_day(root)
    days = [day for day in (day_before(today, back) for back in range(LOOKS_BACK + 1)) if day in logs]
    named = (day for day in days if project and project in _projects_of(root, logs[day]))
    first = next(named, "")
    last = next(named, "") if first == today else first
    last = last or next((day for day in days if day != today), day_before(today))
    return last, project if first else ""


def _projects_of(root: Path, paths: Iterable[str]) -> set[str]:
    text = "\n".join([(read_bytes(root, one) or b"").decode(errors="replace") for one in paths])
    return {slug(name) for name in set(_PROJECTS.findall(text))}


def _end_of(log: str, most: int) -> str:
    """Return a log, or its last entries under the heading that they stand under; lines keep their numbers."""
    cut = log.rfind("\n", 0, max(0, len(log) - most))
    while cut > 0 and log[cut + 1].isspace():  # a turn begins with its speaker
        cut = log.rfind("\n", 0, cut)
    if cut < 0:
        return log
    heading = log.rfind("\n#", 0, cut) + 1
    return "\n" * log.count("\n", 0, cut) + log[heading : log.find("\n", heading)] + log[cut:]


def _health(request: ContextRequest, documents: Documents) -> ContextPart:
    """Return a sentence or two: the last run and how it ended, what waits for review, whether a night is overdue."""
    runs = reported_nights(request.root, _MOST_REPORTS)
    run = next((one for one in runs if one.moment and one.moment <= request.now + AHEAD), None)
    line = "Memory health: no run yet; `curate run` makes the first."
    if run and run.moment:
        where = "" if run.here else " on another machine"
        outcome = run.outcome.removeprefix("was ").rstrip(".")
        line = f"Memory health: last run {run.when[:16].replace('T', ' ')}{where}, {outcome}."
        if request.now - run.moment > timedelta(hours=OVERDUE_HOURS):
            late = ago(run.moment, request.now)
            line += f" Curation is overdue: that was {late}; run `curate run`, then see `curate status`."
    if waiting := len(read_queue(documents.get(REVIEW))):
        waits = "entry waits" if waiting == 1 else "entries wait"
        line += f" {waiting} {waits} for a person in {REVIEW}; `curate review` shows what."
    return ContextPart("health", text=line)


def _project_path(request: ContextRequest, documents: Documents) -> tuple[str, str]:
    """Return the path of a project's document, or an empty string, and a sentence where the one named is not there.

    Among several pages that are named so, projects come first.
    """
    if not request.project:
        return project_of_folder(str(request.root), documents, request.folder), ""
    try:
        found = named_documents({one.path: one for one in _of_sessions(documents) if "/" in one.path}, request.project)
    except UsageFault as fault:
        return "", str(fault)
    return min(found, key=lambda path: documents[path].kind is not Kind.PROJECT), ""


def ago(then: datetime, now: datetime) -> str:
    """Return how long ago a moment was, for people."""
    hours = int((now - then).total_seconds() // 3600)
    days = (now.date() - then.astimezone(now.tzinfo).date()).days
    return f"{days} days ago" if hours >= 2 * 24 else f"{hours} hours ago"
