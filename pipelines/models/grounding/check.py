"""The check of one item's text against the lines it cites."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pipelines.memory.quotes import fold_markdown
from pipelines.models.grounding.dates import told_dates, unproven_dates, without_dates
from pipelines.models.grounding.figures import told_figures, unproven_figures
from pipelines.models.grounding.names import unproven_names
from pipelines.models.grounding.negations import disagrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.memory.entries import Entry


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
    above = " . ".join((*entry.headings, entry.project))
    evidence = fold_markdown(lines)
    log_day = date.fromisoformat(day)
    dates = told_dates(f"{above} . {evidence}", log_day)
    figures = told_figures(without_dates(f"{entry.project} . {evidence}"))
    around = f"{above} . {fold_markdown(entry.text.split(chr(10)))} . {' '.join(entry.tags)}"
    found = [Ungrounded("a date", words) for words in unproven_dates(text, dates, log_day)]
    found += [Ungrounded("a number", words) for words in unproven_figures(without_dates(text), figures, dates.years)]
    names = f"{around} . {without_dates(around)}"
    found += [Ungrounded("a name", words) for words in unproven_names(without_dates(text), names)]
    if side := disagrees(text, quote, evidence, above):
        found.append(Ungrounded("a negation", side))
    return found
