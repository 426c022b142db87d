"""A memory for programs that embed it: `from pipelines import Memory`.

Each method does what the verb of the same name does, and raises what `pipelines.errors` holds. A `Memory` keeps nothing
open and nothing in mind, so it may be shared between threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.clock import day_of, moment, span_of
from pipelines.errors import UsageFault
from pipelines.store.passage import Passage, read_passage
from pipelines.store.user_layout import find_memory

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from pipelines.queries.item_graph import Holding
    from pipelines.queries.recap import Episode
    from pipelines.queries.why import Why
    from pipelines.search.hits import Found, Hit

__all__ = ["Answer", "Memory", "Passage", "Written"]

MOST_HITS = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found, best first; it can be looped over.

    Args:
        hits: what was found.
        notes: sentences on what limits the answer, as that a file was left out because it is being rewritten.
        found: "yes", "little" where no hit is close to the question, or "nothing" where there is no hit.
    """

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    found: Found = "yes"

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Written:
    """A line that was appended to a log, or several with a label each.

    Args:
        path: the log, relative to the memory.
        line: its first line, counted from 1.
        text: what stands there.
        day: the memory's day, `YYYY-MM-DD`.
        redacted: what secrets were redacted before it was written, as `1 secret (password)`; empty where none were.
        hint: a sentence if no page has the given project's name, with the one that has nearly it; else empty.
    """

    path: str
    line: int
    text: str
    day: str
    redacted: str
    hint: str


class Memory:
    """A memory on disk.

    Args:
        root: its folder; without it, CURATE_MEMORY, else the nearest folder upward with curate.toml.

    Raises:
        NoMemory: there is none.
    """

    __slots__ = ("root",)

    def __init__(self, root: str | os.PathLike[str] | None = None) -> None:
        self.root: Final = find_memory(root)

    def __repr__(self) -> str:
        return f"Memory({str(self.root)!r})"

    def search(  # noqa: PLR0913  what a search can be narrowed down by, all of it by name
        self,
        query: str,
        *,
        limit: int = 10,
        types: Sequence[str] = (),
        project: str = "",
        since: str = "",
        before: str = "",
        trusts: Sequence[str] = (),
        sources: Sequence[str] = (),
        overruled: bool = False,
    ) -> Answer:
        """Return what best answers a question; the index is brought up to date first.

        Args:
            query: plain words, a name, an id or `KEY=VALUE`.
            limit: how many hits at most, up to 1000.
            types: only items of these types, as `Decision`.
            project: only what belongs to the project of this title.
            since: only what is of this day or later: `YYYY-MM-DD`, or in words, as `yesterday` or `last week`.
            before: only what is of an earlier day.
            trusts: only whose word it is: owner, self, external, untrusted.
            sources: only where it stands: log, session, episode, document.
            overruled: whether lines that were rejected or held back are found, too.

        Raises:
            UsageFault: a day cannot be read, or the limit is out of range.
            BadSettings: curate.toml has faults.
            IndexUnusable, LockHeld, NotWritable: there is no index and none can be built.
        """
        from pipelines.queries.search_settings import searched  # noqa: PLC0415  an agent that only logs needs no index
        from pipelines.search.filters import Filters  # noqa: PLC0415  as above
        from pipelines.search.query import SearchRequest  # noqa: PLC0415  as above

        if not 1 <= limit <= MOST_HITS:
            raise UsageFault(f"The limit is {limit}.", f"Ask for 1 to {MOST_HITS} hits.")
        filters = Filters(
            tuple(types), project.strip(), self._day(since), self._day(before), tuple(trusts), tuple(sources)
        )
        asked = query.encode(errors="replace").decode()
        return Answer(*searched(self.root, asked, limit, SearchRequest(filters=filters, overruled=overruled)))

    def context(self, *, budget: int = 4000, project: str = "", folder: str = "") -> str:
        """Return what a new session should start with, as text; what is wrong with a file is a line of it.

        Args:
            budget: the most tokens, at least 300.
            project: whose state to show; without it, the one that `folder` belongs to.
            folder: the session's working directory; without it, the process's.

        Raises:
            UsageFault: the budget is too small to say anything.
        """
        from pipelines.queries.startup.fast import session_start  # noqa: PLC0415  as above
        from pipelines.queries.startup.kept import LEAST_BUDGET  # noqa: PLC0415  as above

        if budget < LEAST_BUDGET:
            raise UsageFault(f"The budget is {budget} tokens.", f"Give at least {LEAST_BUDGET}.")
        asked = {"budget": budget, "project": project, "folder": folder or str(Path.cwd())}
        return session_start(str(self.root), "text", asked)

    def log(self, text: str, *, project: str = "", now: datetime | None = None) -> Written:
        """Append one line to today's log; it is whole and on the disk on return, whoever else writes.

        The line is the word of whoever runs the program, as every line of a log is; a comment mark in it is broken, so
        that it cannot pass for what another wrote, or let a secret pass. Secrets in it are redacted, and what stands
        between <private> and </private> is left out.

        Args:
            text: what happened; folded to one line.
            project: the project that it belongs to; without it, the one that the process's folder belongs to.
            now: the moment, with a zone; without it, the clock's.

        Raises:
            UsageFault: there is no text.
            BadSettings: curate.toml has faults.
            NotWritable, BadFile: the log cannot be written, and is as it was.
        """
        from pipelines.queries.startup.own_project import project_of_line  # noqa: PLC0415  as above
        from pipelines.store.append_log import append_line, log_line  # noqa: PLC0415  as above
        from pipelines.store.log import last_place  # noqa: PLC0415  as above
        from pipelines.store.secrets.redact import format_found, load_redactor, without_private  # noqa: PLC0415  as above
        from pipelines.store.template import new_project  # noqa: PLC0415  as above

        if not text.strip():
            raise UsageFault("There is nothing to log.", "Give a text.")
        when, day = self._clock(now)
        project = _one_line(project_of_line(str(self.root), text, project))
        said = log_line(f"{when:%H:%M}", _one_line(without_private(text)), project)
        line = load_redactor(self.root).redact(said)
        path = append_line(self.root, day, line.text)
        redacted = format_found(line.found) if line.found else ""
        number = last_place((self.root / path).read_bytes().decode(errors="replace"), line.text.split("\n")[0])
        hint = new_project(self.root, project)
        return Written(path, number, line.text, day, redacted, hint)

    def recap(self, when: str = "", *, project: str = "") -> list[Episode]:
        """Return the episodes of some days, in order, as `curate recap` tells them.

        Args:
            when: a day, a month, `yesterday`, `last week` and the like; the last seven days by default.
            project: a project's title or file name; all by default.

        Raises:
            UsageFault: the words mean no days, or there is no such project.
        """
        from pipelines.queries.recap import recap  # noqa: PLC0415  as above
        from pipelines.store.snapshot import read_documents  # noqa: PLC0415  as above

        return recap(read_documents(self.root), *span_of(when, self.today()), project)

    def items(self, *, type: str = "", status: str = "", document: str = "") -> list[Holding]:  # noqa: A002  the item's word
        """Return the items of the memory, in order of documents and lines, whatever their status.

        Args:
            type: only Decision, Fact, Rule, Todo or Risk, whatever its case.
            status: only of this status, as `live` or `open`, whatever its case.
            document: only those of one document: its path, id, title or file name.

        Raises:
            UsageFault: there is no such document.
        """
        from pipelines.queries.item_graph import Beliefs  # noqa: PLC0415  as above
        from pipelines.store.snapshot import read_documents  # noqa: PLC0415  as above
        from pipelines.store.template import named_documents  # noqa: PLC0415  as above

        documents = read_documents(self.root)
        if document:
            documents = {path: documents[path] for path in named_documents(documents, document)}
        return [
            one
            for one in Beliefs.of(documents).holdings
            if type.casefold() in {"", one.item.type.casefold()}
            and status.casefold() in {"", one.item.status.casefold()}
        ]

    def why(self, item: str) -> Why:
        """Return why an item is believed: its evidence with its words, who brought it, and what it rests on.

        Of one that was deleted, `holding` is None.

        Args:
            item: its id, or the beginning of it.

        Raises:
            UnknownItem: none, or more than one, has an id that begins so.
            GitFault: git cannot be asked for its history.
        """
        from pipelines.queries.item_graph import Beliefs  # noqa: PLC0415  as above
        from pipelines.queries.why import why  # noqa: PLC0415  as above
        from pipelines.store.git import Git  # noqa: PLC0415  as above
        from pipelines.store.snapshot import read_documents  # noqa: PLC0415  as above

        return why(self.root, Git(self.root), item, Beliefs.of(read_documents(self.root)))

    def read(self, name: str, start: int | None = None, end: int | None = None) -> Passage:
        """Return lines of a document or log, at most 400 lines or 20,000 characters at a time.

        Args:
            name: a path in the memory, a citation such as `Logs/2026-03-18.md:12`, a document's id, title or file name,
                a log's day, or `today`.
            start: the first line, counted from 1.
            end: the last line, inclusive.

        Raises:
            UsageFault: the name means nothing, or leads out of the memory, or into what no program is to read.
            BadFile: the file cannot be read, or a part of its path is a symbolic link.
        """
        return read_passage(self.root, name, self.today, start, end)

    def today(self) -> str:
        """Return the memory's day, `YYYY-MM-DD`, by its own zone and end of the day.

        Raises:
            BadSettings: curate.toml has faults.
        """
        return self._clock(None)[1]

    def _clock(self, now: datetime | None) -> tuple[datetime, str]:
        """Return the moment, in the memory's zone, and its day."""
        from pipelines.settings import load_settings  # noqa: PLC0415  as above

        settings = load_settings(self.root)
        when = moment(now.isoformat() if now else None, settings)
        return when, day_of(when, settings)

    def _day(self, words: str) -> str:

        return span_of(words, self.today())[0] if words else ""


def _one_line(text: str) -> str:
    """Return a text as one line can hold it: valid Unicode, and no mark that begins a comment."""
    return text.encode(errors="replace").decode().replace("<!--", "<! --")
