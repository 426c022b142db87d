"""The filters of a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import UsageFault, did_you_mean
from pipelines.search.chunk_context import LABELLED, content_terms, normalised
from pipelines.search.schema import NEVER, SEPARATOR, Strings
from pipelines.store.layout import EPISODES, LOGS, NOTES, SESSIONS, slug

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection


NOT_NEVER = f"units.hidden < {NEVER}"
"""The SQL condition for units that hold, or once held."""
BY_FOLDER = {LOGS: "log", SESSIONS: "session", EPISODES: "episode"}
SOURCES = (*BY_FOLDER.values(), "document")


class Filters(NamedTuple):
    """Finds only units that match all given filters; a unit without a date matches no date filter.

    Args:
        types: item types, such as `Decision`.
        project: a project's title or the name of its file, in any case.
        since: the first day, `YYYY-MM-DD`.
        before: the first day that is too late.
        trusts: owner, self, external, untrusted.
        sources: log, session, episode, document.
        as_of: a day: only what held on it. An item holds from its `since` until the day before its `until`; anything
            else must be of that day or earlier.
        meta: what the item or its document's front matter says, as `topic=kafka`; all must match.
        spellings: all names of the project; filled in by `resolved`.
    """

    types: Strings = ()
    project: str = ""
    since: str = ""
    before: str = ""
    trusts: Strings = ()
    sources: Strings = ()
    as_of: str = ""
    meta: Strings = ()
    spellings: Strings = ()

    def condition(self, *, past: bool = False) -> tuple[str, Strings]:
        """Return the WHERE condition over `units` and `files`, and its values.

        Args:
            past: whether what no longer holds matches, too; for `as_of`, what once held always does.
        """
        clauses, values = [NOT_NEVER if past or self.as_of else "NOT units.hidden"], list[str]()
        for wanted, column in ((self.trusts, "units.trust = ?"), (self.sources, _SOURCE), (self.types, _TYPE)):
            if wanted:
                clauses.append(f"({' OR '.join([column] * len(wanted))})")
                values += wanted
        if self.project:
            clauses.append(f"units.project IN ({', '.join('?' * len(self.spellings))})")
            values += self.spellings
        for value, clause in (
            (self.since, "units.date >= ?"),
            (self.before, "units.date != '' AND units.date < ?"),
            (self.as_of, "units.date != '' AND units.date <= ?"),
            (self.as_of, "(units.until = '' OR units.until > ?)"),
        ):
            if value:
                clauses.append(clause)
                values.append(value)
        for one in self.meta:
            clauses.append("(instr(files.meta, ?) OR instr(units.meta, ?))")
            values += [f"{SEPARATOR}{normalised(one)}{SEPARATOR}"] * 2
        return " AND ".join(clauses), tuple(values)

    @property
    def any(self) -> bool:
        """Whether there is any filter."""
        return self != Filters()


def key_value(given: str) -> tuple[str, str]:
    """Return key and value of `KEY=VALUE`.

    Raises:
        UsageFault: there is no `=`, or the key is not valid.
    """
    key, equals, value = (part.strip() for part in given.partition("="))
    if not equals:
        raise UsageFault(f"{given!r} is not a key and a value.", _LIKE)
    if not _KEY.fullmatch(key):
        raise UsageFault(f"{key!r} cannot be a key.", f"A key has letters, digits, - and _, or dots between. {_LIKE}")
    return key, value


def resolved(filters: Filters, connection: Connection, query: str) -> tuple[Filters, str]:
    """Return filters with those in a question and all spellings of the project, and the question without them.

    `type:TODO` and `project:NAME` filter, unless there is no such type, or one was given beside the question: then they
    stay words, as does the NAME of no project. What is left is empty if it has no content word. `KEY=VALUE` stays in
    the question.
    """
    given, rest = filters, query
    pairs = {normalised(key): f"{key}={plain or quoted}" for key, quoted, plain in _PAIR.findall(query)}
    # Only if such a key is that of an item or of a document.
    known = [key for key in pairs if connection.execute(_KNOWN, (f"{SEPARATOR}{key}=",) * 2).fetchone()]
    filters = filters._replace(meta=(*filters.meta, *(pairs[key] for key in known)))
    if filters.project:
        filters = filters._replace(spellings=_spellings(filters.project, connection))
    for found in LABELLED.finditer(query):
        from pipelines.store.item import ItemType  # noqa: PLC0415  few questions have labels

        label, value = (found[1] or "").lower(), (found[2] or "").rstrip(",.;:!?").strip('"')
        if label == "type" and value.capitalize() in frozenset(ItemType) and not given.types:
            filters = filters._replace(types=(*filters.types, value))
        elif label == "project" and not filters.project:
            names = _spellings(value, connection)
            filters = filters._replace(project=value, spellings=names) if names else filters
            rest = rest.replace(found[0], " " if names else value, 1)
            continue
        else:
            continue
        rest = rest.replace(found[0], " ", 1)
    return filters, rest if rest == query or content_terms(rest) else ""


def _spellings(project: str, connection: Connection) -> Strings:
    """Return the names of a project as the index has them: a log names it by its title, its file's or a former name."""
    names = {slug(project)}.union(*(names for names in _pages(connection) if slug(project) in names))
    return tuple(name for (name,) in connection.execute(_NAMED) if slug(name) in names)


def _pages(connection: Connection) -> Iterator[set[str]]:
    """Yield all names of each project that has a page."""
    for path, title, meta in connection.execute(_PROJECTS):
        former = (one.removeprefix(_FORMER) for one in meta.split(SEPARATOR) if one.startswith(_FORMER))
        yield {slug(one) for one in (title, path.rpartition("/")[2].removesuffix(".md"), *former)}


def no_project(query: str, filters: Filters, connection: Connection) -> Strings:
    """Return a sentence if a question, or the filter beside it, names a project that is not there."""
    labelled = (found[2] for found in LABELLED.finditer(query) if (found[1] or "").lower() == "project")
    if named := filters.project or next(labelled, "").rstrip(",.;:!?").strip('"'):
        known = {slug(name) for (name,) in connection.execute(_NAMED)}.union(*_pages(connection))
        if slug(named) not in known:
            return (f"There is no project {named}. {did_you_mean(slug(named), known)}".strip(),)
    return ()


_LIKE = "Write it like topic=kafka."
_KEY = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*")
_PAIR = re.compile(r"(?<!\S)([^\W\d][\w.-]*)=(?:\"([^\"]+)\"|(\S+))")
_KNOWN = """
    SELECT 1 FROM files WHERE instr(meta, ?) UNION ALL
    SELECT 1 FROM units INDEXED BY idx_units_meta WHERE meta != '' AND instr(meta, ?) LIMIT 1
"""
_NAMED = "SELECT DISTINCT project FROM units INDEXED BY idx_units_placed WHERE project != ''"
_FORMER = "aliases="
_PROJECTS = """
    SELECT path, coalesce((SELECT project FROM units WHERE file = files.id LIMIT 1), ''), meta FROM files
    WHERE path GLOB 'Projects/*'
"""
# A field may contain several types, so match one between separators.
_TYPE = f"instr('{SEPARATOR}' || lower(units.types) || '{SEPARATOR}', '{SEPARATOR}' || lower(?) || '{SEPARATOR}')"
_CASES = " ".join(f"WHEN files.path LIKE '{top}/%' THEN '{name}'" for top, name in BY_FOLDER.items())
_CASES += f" WHEN files.path GLOB '{NOTES}/*[0-9][0-9]*[0-9][0-9]*[0-9][0-9]*.md' THEN 'log'"
_SOURCE = f"(CASE {_CASES} ELSE 'document' END) = ?"
