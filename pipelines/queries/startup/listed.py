"""The items that a session sees listed at its start: what is open, with ids, and what somebody at work needs."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import pairwise
from math import log
from operator import itemgetter
from typing import TYPE_CHECKING

from pipelines.queries.startup.own_project import page_name
from pipelines.queries.startup.read import Snippet, Snippets, is_open, is_shown, tokens
from pipelines.store.document import STATE_TITLE, Document
from pipelines.store.generated import sentences_under
from pipelines.store.item import MAY_CONFLICT, Item, ItemType, written_words
from pipelines.store.item_line import BY_WORD
from pipelines.store.priority import days_after, priority
from pipelines.text import clipped, stated_due

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping


_WORTH = {
    "State": (1.0, 60), "Rule": (1.0, 120), "goals": (1.0, 120), "Decision": (0.9, 60), "Fact": (0.75, 60),
    "contacts": (0.75, 120), "howto": (0.75, 120), "Risk": (0.6, 180), "Todo": (0.5, 90), "Question": (0.4, 90),
}  # fmt: skip
"""What each kind is worth, and in how many days it halves: a start wants what is current more than a full page does."""
_WORK = frozenset({ItemType.DECISION, ItemType.FACT, ItemType.RULE})
_SAID = 0.75
"""The share of a sentence's words, by their weight, that another has at which the other is said to tell it."""
_CITED = 0.6
"""The same of an item in the sentences that rest on it: what a model left out of these matters less."""
_EXACT = re.compile(r"`[^`]+`|(?<![\w+-])[\w+-]{1,64}(?:[@.:/][\w+-]{1,64}){1,16}")
"""What no other words tell: addresses, names of files, code."""
_LONGEST_WORD = 12
"""What is longer is taken as pairs of characters: scripts without blanks, and addresses."""
_NAMED = 48
"""Tokens of an open item that a sentence tells already, that was due long ago, or that comes late: they name it."""
IN_FULL_TOKENS = 900
"""Tokens of open items in full words; those that come later are named, and quiet ones in half as many tokens."""
_JUST_PASSED = 3
"""Days for which a todo of a day that has passed still stands beside what is overdue."""
_LONG_AGO = 21
"""Days after which what is overdue and was not mentioned since is only named."""
_OVER = frozenset("done closed archived finished inactive".split())
_EACH_MORE = 0.95
"""What the next item of a page, and of a kind, is worth by the one before. A session first asks what is decided, what
is so, who is who and how things are done: no page and no kind drives out all others."""
WORK_TOKENS = 2_200
"""Tokens of procedures, decisions and facts: on public journals these answered first questions, raw log lines none."""
_SOON = 14
_NEVER = 1_000_000
_MOST_PAIRS = 3
_MOST_SAID = 200  # characters of an item in a pair
LEAST_ID = 5
"""Characters of an id at least: `k` and four digits."""


Held = list[tuple["Document", Item]]
"""The items with an id that hold and are the owner's or the agent's word, each with its document."""
_Row = tuple[float, tuple[str, ...], str, str, str]
"""Of what is chosen by worth: the worth, negative; ids; page; kind; text."""


class Said:
    """The sentences that a session is shown, and whether they tell something already.

    A word counts the more, the fewer items have it: "The queue is in hall 7" does not tell where the archive is,
    though it has most of these words.

    Args:
        sentences: each with the ids of the items that it rests on.
        held: the items of the memory.
    """

    def __init__(self, sentences: Mapping[str, tuple[str, ...]], held: Held) -> None:
        """Store the sentences."""
        self._items, self._count = Counter(word for _, item in held for word in _words(words_of(item))), len(held)
        self._told = [(sentence.lower(), _words(sentence), ids) for sentence, ids in sentences.items()]

    def add(self, text: str, ids: tuple[str, ...] = ()) -> None:
        """Store one more."""
        self._told.append((text.lower(), _words(text), ids))

    def tells(self, text: str, ident: str = "") -> bool:
        """Whether a sentence says nearly all of an item, with its numbers, or those that rest on it most of it."""
        words, numbers = self._by_weight(text), {word for word in _words(text) if any(map(str.isdigit, word))}
        most = (1 - _SAID) * sum(words.values())
        return any(numbers <= told and self._misses_less(words, told, most) for _, told, _ in self._told) or self.cites(
            text, ident, exactly=True
        )

    def cites(self, text: str, ident: str, *, exactly: bool = False) -> bool:
        """Whether most of what an item says stands in the sentences that rest on it; if asked, each address in it."""
        words, grounds = self._by_weight(text), [one for one in self._told if ident in one[2]]
        cited = {word for _, told, _ in grounds for word in told}
        exact = set(_EXACT.findall(text.lower())) if exactly else ()
        return (
            bool(cited)
            and self._misses_less(words, cited, (1 - _CITED) * sum(words.values()))
            and all(any(one in sentence for sentence, *_ in grounds) for one in exact)
        )

    def _by_weight(self, text: str) -> dict[str, float]:
        """Return the words of a text with their weights, the heaviest first."""
        weights = {word: log(1 + (self._count + 1) / (self._items[word] or 1)) for word in _words(text)}
        return dict(sorted(weights.items(), key=itemgetter(1), reverse=True))

    @staticmethod
    def _misses_less(words: Mapping[str, float], told: Container[str], most: float) -> bool:
        """Whether the words that a sentence lacks weigh at most so much, and it has one at least."""
        missing = 0.0
        for word, weight in words.items():
            if word not in told and (missing := missing + weight) > most:
                return False
        return bool(words)


def items_of(documents: Iterable[Document]) -> Held:
    """Return the items that a session may be shown."""
    return [(one, p.item) for one in documents for p in one.items if p.item.id and is_shown(one, p.item)]


def _words(text: str) -> frozenset[str]:
    found = list[str]()
    for part in text.lower().split():
        word = part.strip(".,;:!?()\"'`*…")
        found += [word[at : at + 2] for at in range(len(word))] if len(word) > _LONGEST_WORD else [word]
    return frozenset(found)


def open_entries(  # noqa: PLR0913  what is shown already, and what is asked
    held: Held, today: str, said: Said, short: Mapping[str, str], project: str, *, above: Container[str], is_quiet: bool
) -> Snippets:
    """Return an entry for each open todo, risk and question, in the order in which they matter.

    What is overdue comes first, but for what was due weeks ago and not mentioned since; then what is due soon, each
    nearest to today, and what was to be done on one of the last days. Then comes what belongs to the session's
    project; of all else the weightiest. Appointments that are long over come last. What a sentence tells already, what
    was due weeks ago and not mentioned since, and what comes when the room is full, is only named.

    Args:
        held: the items of the memory's documents.
        today: the memory's day, `YYYY-MM-DD`.
        said: what the session is shown before.
        short: id → shortened id.
        project: the path of the session's project, or empty.
        above: ids of those that a sentence above tells, with the id behind it: they are left out.
        is_quiet: whether to return those that are quiet or perhaps over, and no others.
    """
    found = []
    for document, item in held:
        due, on = item.due, item.on
        is_doubtful = bool(item.quiet) or (bool(item.perhaps) and max(due, on) < today)
        if is_doubtful is not is_quiet or not is_open(item) or item.id in above:
            continue
        is_overdue, has_passed, ahead = "" < due < today, "" < on < today, days_after(today, due or on)
        is_over = has_passed and ahead < -_JUST_PASSED
        gap = abs(ahead) if ahead <= _SOON else _NEVER
        kind = item.called
        is_old = is_overdue and days_after(max(date_of(item), due), today) > _LONG_AGO
        rank = (
            is_over or bool(item.perhaps),
            not is_overdue or is_old,
            gap,
            document.path != project,
            -priority(item, today, _WORTH[kind]),
        )
        notes = [f"due {due}{', overdue' if is_overdue else ''}"] if due else []
        notes += [f"was on {on}, outcome unknown" if has_passed else f"on {on}"] if on else []
        notes += [_perhaps(item)] if item.perhaps else []
        words = words_of(item)
        is_told = is_old or said.tells(words, item.id)
        found.append(
            (rank, item.id, f"{kind}: {words}", f" ({', '.join([*notes, page_name(document.path)])})", is_told)
        )
    entries, room = Snippets(), IN_FULL_TOKENS
    most = _NAMED // 2 if is_quiet else _NAMED
    for _, ident, words, where, is_told in sorted(found):
        if (is_told or is_quiet or room < 0) and (size := tokens(words)) > most:
            words = f"{words[: len(words) * most // size].rstrip()}…"  # noqa: PLW2901  what is shown of it
        entries.append(Snippet(f"- {short[ident]} {words}{where}", ids=(ident,)))
        room -= entries[-1].size
    return entries


def work_entries(pages: Iterable[Document], held: Held, today: str, said: Said, project: str) -> Snippets:
    """Return what somebody at work needs of the pages, page by page: where each stands, then its rules and beliefs.

    They are chosen by worth, which fades. What a sentence tells already, and
    what stands on the page of the session's project, is left out: the session sees it there.

    Args:
        pages: the documents.
        held: their items.
        today: the memory's day, `YYYY-MM-DD`.
        said: what the session is shown before; what is chosen is added.
        project: the path of the session's project, or empty.
    """
    active = (one for one in pages if one.front.get("status").casefold() not in _OVER)
    shown = {one.path: one for one in active if one.path != project and "/" in one.path}
    rows = _rows([one for one in held if one[0].path in shown], today)
    since = {item.id: date_of(item) for _, item in held}
    for path, page in shown.items():
        for _, one in sentences_under(page, STATE_TITLE):
            if one.of and not one.by_code:  # what code writes there only repeats items
                state = Item(ItemType.FACT, one.text, since=max([since.get(i, "") for i in one.ids], default=""))
                rows.append((-priority(state, today, _WORTH["State"]), one.ids, path, "State", one.text))
    chosen, room = dict[str, Snippets](), WORK_TOKENS
    for worth, ids, path, kind, text in _spread(_spread(rows, 3), 2):
        entry = Snippet(text, f"{-worth:.6f}", ids=ids)
        words = text if kind == "State" else text.partition(": ")[2]
        if entry.size <= room and not said.tells(words, "" if words is text else ids[0]):
            room -= entry.size
            said.add(words, ids if words is text else ())
            chosen.setdefault(path, []).append(entry)
    latest = sorted(chosen, key=lambda path: shown[path].newest, reverse=True)
    found = Snippets()
    for path in latest:
        front = shown[path].front
        purpose = front.get("purpose")
        head = f"## {front.get('title') or page_name(path)} ({path}){': ' if purpose else ''}{purpose}"
        found += [Snippet(head, heading=2), *chosen[path]]
    return found


def ranks_of(held: Held, today: str) -> dict[str, str]:
    """Return what the rules and beliefs of a page are kept by: age counts among those of a kind alone."""
    rows = [(min(row[0], -_WORTH[row[3]][0]), *row[1:]) for row in sorted(_rows(held, today), key=itemgetter(0))]
    return {ids[0]: f"{-worth:.6f}" for worth, ids, *_ in _spread(rows, 3)}


def _rows(held: Held, today: str) -> list[_Row]:
    found = list[_Row]()
    for page, item in sorted(
        held, key=lambda one: date_of(one[1]), reverse=True
    ):  # of equals, the newer tells the older
        kind = item.page_section if item.page_section in _WORTH else item.called
        if item.type in _WORK and kind != "Question":
            over = f" ({_perhaps(item)})" if item.perhaps else ""
            text = f"- {BY_WORD.get(item.page_section, str(item.type)).removesuffix('s')}: {words_of(item)}{over}"
            found.append((-priority(item, today, _WORTH[kind]), (item.id,), page.path, kind, text))
    return found


def _perhaps(item: Item) -> str:
    """Return how and since when an item is perhaps over, of `done 2026-03-04: …`."""
    return f"perhaps {item.perhaps.partition(':')[0].replace(' ', ' since ')}"


def _spread(rows: list[_Row], at: int) -> list[_Row]:
    """Return rows by worth, each less for every one before it that has the same page (2) or kind (3); equals stay."""
    found, seen = list[_Row](), Counter[object]()
    for row in sorted(rows, key=itemgetter(0)):
        found.append((row[0] * _EACH_MORE ** seen[row[at]], *row[1:]))
        seen[row[at]] += 1
    return sorted(found, key=itemgetter(0))


def pair_entries(held: Held, short: Mapping[str, str]) -> Snippets:
    """Return an entry for each pair that may conflict, newest first, with the commands by which an agent settles it."""
    there = {item.id: (page_name(page.path), item) for page, item in held}
    named = ((*one, ident) for one in there.values() for ident in dict(one[1].links).get(MAY_CONFLICT, ()))
    pairs = [(page, new, *there[ident]) for page, new, ident in named if ident in there]
    found = []
    for page, new, its_page, old in sorted(pairs, key=lambda pair: pair[1].since, reverse=True):
        one, other = short[new.id], short[old.id]
        can = [
            f"`curate settle {short[by.id]} replaces {short[its.id]}`, or "
            for by, its in ((new, old), (old, new))
            if its.yields_to(by)
        ]
        if not can:
            continue
        asks = "" if old.yields_to(new) else f"; ask the user whether {one} takes the place of {other}"
        ways = f"{can[0]}`curate settle {one} both {other}`{asks}"
        was = _said(old, its_page if its_page != page else "")
        found.append(Snippet(f"- {one} {_said(new, page)}\n  {other} {was}\n  {ways}", ids=(new.id, old.id)))
    return found[:_MOST_PAIRS]


def _said(item: Item, page: str = "") -> str:
    words = clipped(words_of(item), _MOST_SAID)
    return f"{item.called}: {words} ({page}{', ' if page else ''}since {item.since or '?'})"


def words_of(item: Item) -> str:
    """Return an item's words as its page has them, with whose word it is, and without the day on which it is due."""
    return stated_due(written_words(item))[0].rstrip()


def date_of(item: Item) -> str:
    """Return the day since which an item holds, or on which it was last said."""
    return max(item.since, item.confirmed)


def short_ids(documents: Iterable[Document]) -> dict[str, str]:
    """Return each id's shortest beginning that no other id has, of `LEAST_ID` characters at least."""
    ordered = sorted({one.item.id for document in documents for one in document.items} - {""})
    shared = [0, *[len(os.path.commonprefix(pair)) for pair in pairwise(ordered)], 0]  # noqa: RUF071  no paths
    return {one: one[: max(LEAST_ID, shared[at] + 1, shared[at + 1] + 1)] for at, one in enumerate(ordered)}
