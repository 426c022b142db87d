"""The pages of a memory at a month's end compared with the gold: State, contacts and episodes. And the score's rows.

State must name the last decision, the next step and an open risk of each page that has one, and rest on nothing that
no longer holds; each contact must be under Contacts and in the briefing; each day's episode must cite what the day
brought.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.month_gold import same_key
from pipelines.night.sentences import has_state
from pipelines.store.document import STATE_TITLE, Document
from pipelines.store.generated import is_citable, sentences_in, sentences_under
from pipelines.store.item import Item, ItemType, without_mark
from pipelines.store.item_line import BY_WORD
from pipelines.store.layout import BRIEFING, FOLDERS, REVIEW, USER, Kind
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.month_gold import GoldBelief, Month
    from pipelines.store.git import Git


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the scoreboard.

    Args:
        key: its name for scripts.
        title: its name for people.
        count: the count.
        of: the total, or None if there is none.
        wrong: a sentence for each thing that went wrong.
        is_fault: whether the count should be zero.
    """

    key: str
    title: str
    count: int
    of: int | None
    wrong: tuple[str, ...] = ()
    is_fault: bool = False

    @property
    def told(self) -> str:
        """The figure for a person."""
        return f"{self.count:,}" if self.of is None else f"{self.count:,} of {self.of:,}"


@dataclass(frozen=True, slots=True)
class Stands:
    """An item of the memory, with its document and the lines that it rests on, folded, by day."""

    item: Item
    document: Document
    lines: tuple[tuple[str, str], ...]

    def rests_on(self, belief: GoldBelief) -> bool:
        """Whether one of its lines contains a quote of the belief, or the reverse."""
        return any(
            day == said.day and (fold(said.quote) in line or line in fold(said.quote))
            for day, line in self.lines
            for said in belief.quotes
        )

    def is_in(self, title: str) -> bool:
        """Whether it is in the document with that title."""
        return same_key(title) in {same_key(self.document.title), same_key(self.document.id.rpartition("/")[2])}


def row_of(key: str, title: str, wrong: Mapping[str, str]) -> Row:
    """Return a row from what is wrong with each belief, empty if it is right."""
    told = tuple(filter(None, wrong.values()))
    return Row(key, title, len(wrong) - len(told), len(wrong), told)


_NEEDED = {ItemType.DECISION: "the last decision", ItemType.TODO: "the next step", ItemType.RISK: "an open risk"}


def page_rows(month: Month, documents: Mapping[str, Document], found: Mapping[str, Stands]) -> Iterator[Row]:
    """Yield the scoreboard's rows on pages.

    Args:
        month: the logs and their known outcomes.
        documents: every document by path.
        found: key of a belief → the matching item.
    """
    needed, stale = dict[str, str](), list[str]()
    believed = {one.item.id: month.beliefs[key].active for key, one in found.items()}
    for page in filter(has_state, documents.values()):
        cited = {ident for _, one in sentences_under(page, STATE_TITLE) for ident in one.ids}
        mine = [
            one for key, one in month.beliefs.items() if one.active and key in found and found[key].document == page
        ]
        for kind, title in _NEEDED.items():
            wanted = {found[one.key].item.id for one in _foremost(kind, mine)}
            if wanted:
                needed[f"{page.title} {kind}"] = "" if wanted & cited else f"{page.title} ({title} is not in its State)"
        stale += [f"{page.title} (its State rests on {ident})" for ident in cited if not believed.get(ident, True)]
    yield row_of("states", "last decision, next step, risk in State", needed)
    people = {key: one for key, one in month.beliefs.items() if one.section == "contacts" and one.active}
    yield row_of("contacts", "contacts on page and in the briefing", {
        key: _unlisted(one, documents, found.get(key)) for key, one in people.items()
    })  # fmt: skip
    pages = (one for one in documents.values() if one.kind is Kind.EPISODE)
    told = {day: {i for _, one in some for i in one.ids} for page in pages for day, some in sentences_in(page).items()}
    brought: dict[str, set[str]] = {day: set() for day in month.arrivals()}
    for one in found.values():
        if one.item.evidence and is_citable(one.item):
            brought.setdefault(one.item.learnt, set()).add(one.item.id)
    untold = {day: len(ids - told.get(day, set())) for day, ids in brought.items()}
    yield row_of(
        "episodes",
        "days whose episode cites what they brought",
        {day: f"{day} ({count} items are not in its episode)" if count else "" for day, count in untold.items()},
    )
    yield Row("stale_states", "State resting on what is over", len(stale), None, tuple(stale), is_fault=True)


_MARKUP = re.compile(r"^#+ |^- (?:\[[ x]\] )?|~~|\*\*|\]\([^)]*\)|<!--.*?-->|\n", re.MULTILINE)


def written_rows(git: Git, documents: Mapping[str, Document]) -> Iterator[Row]:
    """Yield how much of what runs write is for people.

    Args:
        git: the memory's git.
        documents: every document by path.
    """
    touched, unseen = 0, list[str]()
    patches = git.run(
        "log", "--patch", "--unified=0", "--no-color", "--format=", "--", BRIEFING, USER, REVIEW, *FOLDERS
    ).decode()
    for patch in re.split(r"^diff --git .*$", patches, flags=re.MULTILINE):
        lines = [line for line in patch.partition("\n@@")[2].split("\n") if line[:1] in {"+", "-"} and line[1:].strip()]
        gone = Counter(line[1:] for line in lines if line[0] == "-")
        bare = {without_mark(line) for line in gone}
        touched += len(lines)
        unseen += [one[1:] for one in lines if one[0] == "+" and one[1:] not in gone and without_mark(one[1:]) in bare]
    yield Row(
        "visible", "lines that nights touched and a reader sees differ", touched - len(unseen), touched, (*unseen,)
    )
    bodies = ["".join(one.lines[one.front.lines :]) for one in documents.values()]
    texts = ["\n".join(map(without_mark, body.split("\n"))) for body in bodies]
    words, bytes_ = (
        sum(len(text.encode()) for text in some) for some in ([_MARKUP.sub("", one) for one in texts], texts)
    )
    yield Row("words", "bytes of pages without ids and front matter that are words", words, bytes_)


def _foremost(kind: ItemType, beliefs: list[GoldBelief]) -> list[GoldBelief]:
    """Return the beliefs of a type of which a State must name one: the last decisions, the todos due first."""
    mine = [one for one in beliefs if one.type is kind and not one.section]
    if kind is ItemType.RISK or not mine:
        return mine
    if kind is ItemType.TODO:
        first = min(one.due or "9" for one in mine)
        return [one for one in mine if (one.due or "9") == first]
    last = max(one.quotes[0].day for one in mine)
    return [one for one in mine if one.quotes[0].day == last]


def _unlisted(belief: GoldBelief, documents: Mapping[str, Document], stands: Stands | None) -> str:
    """Return why a contact is not where people expect it, or nothing."""
    if stands is None:
        return f"{belief.text} (is missing)"
    section = next(one.section for one in stands.document.items if one.item.id == stands.item.id)
    if section != BY_WORD["contacts"]:
        return f"{belief.text} (is under {section})"
    briefing = documents[BRIEFING].text if BRIEFING in documents else ""
    return "" if belief.name in briefing.partition("## People")[2] else f"{belief.text} (is not in the briefing)"
