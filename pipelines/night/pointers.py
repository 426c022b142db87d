"""Pointers: the lines of MEMORY.md that say where more is to be found, one line each.

A pointer ends with a mark that holds a hash of its line. A line that a person changed no longer matches its mark, so it
is theirs and stays.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.store.document import HISTORY, SECTIONS, insert_rows
from pipelines.store.item import ACTIVE, ItemType, Status, fold
from pipelines.store.layout import Kind, log_path
from pipelines.store.markdown import line_end, read_headings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.store.document import Document


PROJECTS, DAYS, PEOPLE = "Projects", "Recent days", "People"
_ORDER: Final = (*SECTIONS.values(), HISTORY, PROJECTS, DAYS, PEOPLE)
_MOST: Final = {PROJECTS: 12, DAYS: 7, PEOPLE: 10}
_MARKED: Final = re.compile(r"(?P<row>- .*) <!-- p:(?P<mark>[0-9a-f]{4}) -->\r?\n?")
_NEWS: Final = ACTIVE | {Status.DONE, Status.ARCHIVED}
"""What a day is told to have brought: what waits was never believed, and what was taken back is no more."""
_CLOSED_STATUS: Final = frozenset({"done", "closed", "archived", "finished", "inactive"})
_PERSON: Final = re.compile(
    r"(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?) (?:to|will|prefers?|likes|works|owns|leads|is (?:the|our|on|in)|wants|"
    r"joined|manages|reviews|handles)\b"
)
_NOT_PEOPLE: Final = frozenset(
    """The This That It We They He She You There All Any Both Each Every No None One Some Use Everything Everyone
    Everybody Anyone Somebody Someone Nobody Nothing What Who Chair Group Team Editors Staff Users People If
    When Where How Why And But Or So Then Now Also Always Never""".split()
)


def pointer_rows(documents: Mapping[str, Document], link: Callable[[str], str] = str) -> list[tuple[str, str]]:
    """Return (section, row) of each pointer: active projects, the days with news of the last week, people.

    A day's news are the items that it brought and that are believed, be they done or archived since.
    The last week is counted from the newest day that any item speaks of, not from the clock.

    Args:
        documents: every document by path.
        link: a path as a link in MEMORY.md leads to it.
    """
    newest = newest_day(documents.values())
    rows = [(PROJECTS, row) for row in _projects(documents, link)[: _MOST[PROJECTS]]]
    rows += [(DAYS, row) for row in _days(documents, newest, link)[: _MOST[DAYS]]]
    return rows + [(PEOPLE, row) for row in _people(documents, link)[: _MOST[PEOPLE]]]


def newest_day(documents: Iterable[Document]) -> str:
    """Return the latest day that any item speaks of, or an empty string."""
    return max((document.newest for document in documents), default="")


def _projects(documents: Mapping[str, Document], link: Callable[[str], str]) -> list[str]:
    rows = []
    for path, document in documents.items():
        if document.kind is Kind.PROJECT and document.front.get("status").casefold() not in _CLOSED_STATUS:
            waiting = sum(placed.item.status is Status.OPEN for placed in document.items)
            news = document.newest
            told = [f"{waiting} open"] if waiting else []
            told += [f"last news {news}"] if news else []
            told_of = f": {', '.join(told)}" if told else ""
            rows.append((news, path, f"- [{document.title}]({link(path)}){told_of}"))
    rows.sort(key=lambda row: row[1])
    return [row for _, _, row in sorted(rows, key=lambda row: row[0], reverse=True)]


def _days(documents: Mapping[str, Document], newest: str, link: Callable[[str], str]) -> list[str]:
    if not newest:
        return []
    first = (date.fromisoformat(newest) - timedelta(days=6)).isoformat()
    news: dict[str, Counter[ItemType]] = {}
    for document in documents.values():
        if document.newest < first:
            continue
        for placed in document.items:
            item = placed.item
            if item.since >= first and item.evidence and item.status in _NEWS:
                news.setdefault(item.since, Counter())[item.type] += 1
    rows = []
    for day in sorted(news, reverse=True):
        told = [f"{news[day][kind]} {_plural(kind, news[day][kind])}" for kind in ItemType if news[day][kind]]
        rows.append(f"- [{day}]({link(log_path(day))}): {', '.join(told)}")
    return rows


def _plural(kind: ItemType, count: int) -> str:
    return kind.lower() if count == 1 else f"{kind.lower()}s"


def _people(documents: Mapping[str, Document], link: Callable[[str], str]) -> list[str]:
    """Return the people whom contact lists and items name, the most named first, each with where to read of them."""
    named: Counter[str] = Counter()
    places: dict[str, str] = {}
    for path, document in sorted(documents.items()):
        if document.kind is Kind.ARCHIVE:
            continue
        found = [*_contacts(document), *_subjects(document)]
        named.update(found)
        for name in found:
            places.setdefault(name, path)
    whole = [name for name in named if " " in name]
    for name in [name for name in named if " " not in name]:
        same = [full for full in whole if full.split(" ")[0] == name]
        if len(same) == 1:
            named[same[0]] += named.pop(name)
    ranked = sorted(named.items(), key=lambda row: (-row[1], row[0]))
    return [f"- {name}: {link(places[name])}" for name, _ in ranked]


def _contacts(document: Document) -> list[str]:
    titles = document.headings
    found = []
    for number, heading in enumerate(titles):
        if heading.title.casefold() == "contacts":
            stop = titles[number + 1].line if number + 1 < len(titles) else len(document.lines)
            rows = [line[2:] for line in document.lines[heading.line + 1 : stop] if line[:2] in {"- ", "* "}]
            names = (re.split(r"[,:(<–—]", row)[0].strip(" *_\r\n") for row in rows)
            found += [name for name in names if name]
    return found


def _subjects(document: Document) -> list[str]:
    found = []
    for placed in document.items:
        if placed.item.active and placed.item.type in {ItemType.FACT, ItemType.TODO}:
            match = _PERSON.match(placed.item.text)
            if match and match["name"].split(" ")[0] not in _NOT_PEOPLE and not match["name"].isupper():
                found.append(match["name"])
    return found


def without_pointers(document: Document) -> Document:
    """Return the document without the pointers that runs wrote; what a person changed stays."""
    lines = [line for line in document.lines if not _is_ours(line)]
    return document if len(lines) == len(document.lines) else document.with_text("".join(lines))


def with_pointers(document: Document, rows: Iterable[tuple[str, str]]) -> Document:
    """Return the document with these pointers in their sections, and without sections that they left empty."""
    lines, end = list(document.lines), line_end(document.lines)
    sections: dict[str, list[str]] = {}
    for title, row in rows:
        sections.setdefault(title, []).append(marked(row) + end)
    for title in (PROJECTS, DAYS, PEOPLE):
        lines = insert_rows(lines, title, sections[title], _ORDER) if title in sections else _drop_empty(lines, title)
    return document.with_text("".join(lines))


def marked(row: str) -> str:
    """Return a pointer's line, with the mark that tells it from a person's."""
    row = fold(row.replace("<!--", "").replace("-->", ""))
    return f"{row} <!-- p:{hashlib.sha256(row.encode()).hexdigest()[:4]} -->"


def _is_ours(line: str) -> bool:
    found = _MARKED.fullmatch(line)
    return bool(found) and marked(found["row"]) == line.rstrip("\r\n") if found else False


def _drop_empty(lines: list[str], title: str) -> list[str]:
    headings = read_headings(lines, 0)
    for number, heading in enumerate(headings):
        if heading.level == 2 and heading.title == title:  # noqa: PLR2004  pointer sections are made at level two
            stop = headings[number + 1].line if number + 1 < len(headings) else len(lines)
            if not "".join(lines[heading.line + 1 : stop]).strip():
                return [*lines[: heading.line], *lines[stop:]]
    return lines
