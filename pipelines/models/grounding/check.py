"""The check of one item's text against the lines it cites."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.models.grounding.dates import told_dates, unproven_dates, without_dates
from pipelines.models.grounding.figures import told_figures, unproven_figures
from pipelines.models.grounding.names import unproven_names
from pipelines.models.grounding.negations import disagrees
from pipelines.store.evidence import fold_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.models.grounding.dates import ToldDates
    from pipelines.models.grounding.figures import ToldFigures
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """Something that an item's text says and its evidence does not.

    Args:
        what: its kind, with an article: `a number`, `a date`, `a name`, `a negation`.
        words: the words of the item, for the model that is asked again; in no report.
    """

    what: str
    words: str


def ungrounded(text: str, quote: str, lines: Sequence[str], entry: Entry, day: str) -> list[Ungrounded]:
    """Return what of `text` is not in its evidence; nothing for an item that is grounded.

    Numbers are compared by value (`three` is `3`), times of day by the minute, dates as days (`tomorrow` and `Friday`
    are resolved against the log's day), versions and names letter by letter but for case, possessives and accents.
    Names may also stand elsewhere in the entry, in a heading above it or in its project.

    Args:
        text: the item's sentence.
        quote: the words that it rests on.
        lines: the cited lines, verbatim.
        entry: the entry that they stand in.
        day: the day of the log, `YYYY-MM-DD`.
    """
    told = _told(tuple(lines), entry, day)
    plain, log_day = without_dates(text), date.fromisoformat(day)
    found = [Ungrounded("a date", words) for words in unproven_dates(text, told.dates, log_day)]
    found += [Ungrounded("a number", words) for words in unproven_figures(plain, told.figures, told.dates.years)]
    found += [Ungrounded("a name", words) for words in unproven_names(plain, told.around)]
    if side := disagrees(text, quote, told.evidence, told.above):
        found.append(Ungrounded("a negation", side))
    return found


@dataclass(frozen=True, slots=True)
class _Told:
    """What some lines tell, read once for all the items that cite them."""

    above: str
    evidence: str
    around: str
    dates: ToldDates
    figures: ToldFigures


@lru_cache(maxsize=16)
def _told(lines: tuple[str, ...], entry: Entry, day: str) -> _Told:
    above = " . ".join((*entry.headings, entry.project))
    evidence = fold_markdown(lines)
    around = f"{above} . {fold_markdown(entry.text.split(chr(10)))} . {' '.join(entry.tags)}"
    return _Told(
        above,
        evidence,
        f"{around} . {without_dates(around)}",
        told_dates(f"{above} . {evidence}", date.fromisoformat(day)),
        told_figures(without_dates(f"{entry.project} . {evidence}")),
    )
