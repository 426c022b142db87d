"""What a search is narrowed down to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipelines.index.schema import SEPARATOR
from pipelines.memory.layout import LOGS, SESSIONS


@dataclass(frozen=True, slots=True)
class Filters:
    """Only what fits all that is given is found; what has no date fits no bound of dates.

    Args:
        types: item types, as `Decision`.
        project: a project's title, whatever its case.
        since: the first day, `YYYY-MM-DD`.
        before: the first day that is too late.
        trusts: owner, self, external, untrusted.
        sources: log, session, document.
    """

    types: tuple[str, ...] = ()
    project: str = ""
    since: str = ""
    before: str = ""
    trusts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def condition(self) -> tuple[str, tuple[str, ...]]:
        """Return what stands after WHERE over `units` and `files`, beginning with the hidden, and its values."""
        clauses, values = ["NOT units.hidden"], list[str]()
        for told, column in ((self.trusts, "units.trust = ?"), (self.sources, _SOURCE)):
            if told:
                clauses.append(f"({' OR '.join([column] * len(told))})")
                values += told
        if self.types:
            # Several types stand in one field, so each is looked for between separators.
            clauses.append(f"({' OR '.join([_TYPE] * len(self.types))})")
            values += self.types
        for value, clause in (
            (self.project, "units.project = ? COLLATE NOCASE"),
            (self.since, "units.date >= ?"),
            (self.before, "units.date != '' AND units.date < ?"),
        ):
            if value:
                clauses.append(clause)
                values.append(value)
        return " AND ".join(clauses), tuple(values)

    @property
    def any(self) -> bool:
        """Whether anything is asked for at all."""
        return self != Filters()


_TYPE: Final = (
    f"instr('{SEPARATOR}' || lower(units.types) || '{SEPARATOR}', '{SEPARATOR}' || lower(?) || '{SEPARATOR}')"
)
_SOURCE: Final = (
    f"(CASE WHEN files.path LIKE '{LOGS}/%' THEN 'log' WHEN files.path LIKE '{SESSIONS}/%' THEN 'session'"
    " ELSE 'document' END) = ?"
)
