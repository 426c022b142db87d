"""Find the item that a documented form means: the one that it closes, answers or corrects."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pipelines.review.match_forms import NUMBERS, VALUES, are_rivals, read, replacement, words_in
from pipelines.store.item import Item, ItemType, last_successor, quote_digest
from pipelines.text import ARROW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipelines.extract.rules.labels import ClosingForm

    Held = tuple[str, Item]


_MEANT = {
    "done": {ItemType.TODO},
    "dropped": {ItemType.TODO, ItemType.RISK},
    "resolved": {ItemType.RISK},
    "occurred": {ItemType.RISK},
    "answered": {ItemType.FACT},
    "ended": {ItemType.DECISION, ItemType.FACT, ItemType.RULE},
}
_ID = re.compile(r"[\[(`#]{0,2}(k[0-9a-f]{4,64})\b")
_INSTEAD = re.compile(r", because of (k[0-9a-f]{4,64})$")
"""How `settle` ends its line: with the id of the item that holds instead."""
_FEWEST = 2
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_AFTER = re.compile(r"(?P<full>[?!;:：.])(?=\s)|\s(?:[-–—]{1,2}|→)(?=\s)|,(?=\s)")


def target_of(form: ClosingForm, items: Iterable[Held], home: str) -> str | None:
    """Return the id of the one item that a form closes or ends; None if none or several match.

    An item matches by the start of its id, or by its words: those of form and item are the same, or one's contain the
    other's, and the form names no other name and number. The same words come before contained ones, and of these the
    document that the line is about before others. If all of the form's words match none, those before a stop count
    (`Resolved: double bookings; the constraint refuses them`), and the longest that match: before a comma only as the
    item's own words.

    Args:
        form: one that closes or ends.
        items: document path and item. Only active items of a type that can close so, not younger than the form's day,
            count; a replaced one by its id, for what took its place, unless it is said to end. An item that already has
            the form's line as evidence was reopened since, and does not.
        home: the document that the form's line would be filed in.
    """
    items, line = list(items), (form.place.path, quote_digest("\n".join(form.place.lines)))
    fitting = [
        (place, one)
        for place, one in items
        if one.active and one.learnt <= form.place.entry.day and one.type in _MEANT[form.how]
        if form.how != "answered" or one.page_section == "questions"
        # It was heeded before: a box may be ticked where the todo stood.
        if all((at.path, at.digest) != line for at in one.evidence)
    ]
    instead = _INSTEAD.search(form.target)
    if instead and not any(one.active and one.id.startswith(instead[1]) for _, one in items):
        return None  # what took its place holds no more
    if named := _ID.match(form.target):
        begun = {one.id for _, one in items if one.id.startswith(named[1])}
        if form.how != "ended":  # what took the place of the named one is meant
            held = {one.id: one for _, one in items}
            begun = {last_successor(ident, held) for ident in begun}
        if found := [one.id for _, one in fitting if one.id in begun]:
            return found[0] if len(found) == 1 else None
    for head, _, least in _heads(form.target):
        ranked = [((rank, place == home), one.id) for place, one in fitting if (rank := likeness(head, place, one))]
        best = [ident for rank, ident in ranked if rank == max(ranked)[0] and rank[0] >= least]
        if best:
            return best[0] if len(best) == 1 else None
    return None


def answer_in(form: ClosingForm, document: str, item: Item) -> str:
    """Return a question with the answer that a form gives after its words, or an empty string.

    Args:
        form: the form.
        document: the path of the question's document.
        item: the question.
    """
    if form.how != "answered":
        return ""
    if (named := _ID.match(form.target)) and item.id.startswith(named[1]):
        answer = form.target[named.end() :].lstrip(" ])`:：;,.–—→-")
    else:
        # What is most like the question, if it can up to a question mark; of these the shortest, so that no answer
        # whose words say little is lost in it.
        alike = {one: rank for one in _heads(form.target) if (rank := likeness(one[0], document, item)) >= one[2]}
        answer = max(reversed(alike), key=lambda one: (one[1] > "" and one[0].endswith("?"), alike[one]))[1]
    return f"{item.text}{ARROW}{answer}" if answer else ""


def _heads(words: str) -> Iterator[tuple[str, str, int]]:
    """Yield words as a whole and before each stop, longest first, with what follows and how alike an item must be."""
    yield words, "", 1
    for stop in reversed(list(_AFTER.finditer(words))):
        head = words[: stop.end() if stop["full"] == "?" else stop.start()]
        yield head, words[stop.end() :].strip(), 2 if stop[0] == "," else 1


def likeness(target: str, document: str, item: Item) -> int:
    """Return how well words match an item: 3 the same words, 2 the same except days, 1 contained, 0 not.

    Args:
        target: the words.
        document: the path of the item's document; its name may be among the words.
        item: the item.
    """
    said, held = read(target).tokens, read(item.text).tokens
    here, there = words_in(document.removesuffix(".md").rpartition("/")[2].replace("-", " ")), words_in(item.text)
    if words_in(target) == there:
        return 3 if there else 0
    # A word beside a number is none of its own, as that of a month.
    by_number = {at + step for at, one in enumerate(said) if one.kind == "number" for step in (-1, 0, 1)}
    more = {one for at, one in enumerate(said) if one.key not in here | there and at not in by_number}
    numbers, others = ({one.key for one in some if one.kind in NUMBERS} for some in (said, held))
    if any(one.kind in {"code", "name", "kanji"} for one in more) or not (numbers <= others or others <= numbers):
        return 0
    own = {one.key for one in held if one.says and one.kind not in NUMBERS}
    words = {one.key for one in said if one.says and one.kind not in NUMBERS and (one in more or one.key in own)}
    if not words:  # short ones alone, which match an item that is as short
        words, own = ({one.key for one in some if one.kind not in NUMBERS} for some in (said, held))
    if not (words and own):
        return 0
    missing = [one for one in words if not any(_ends_alike(one, other) for other in own)]
    left = [other for other in own if not any(_ends_alike(one, other) for one in words)]
    if not missing and not left:
        return 2
    if not missing:  # a link names the matter, not what of it was done
        linked = words_in(" ".join(_LINK.findall(target)))
        told, rest = words - linked, own - linked
        return int(len(told) >= _FEWEST or _FEWEST * len(told) >= len(rest))
    return int(not left and len(own) >= _FEWEST)


def _ends_alike(one: str, other: str) -> bool:
    """Whether the counted letters of two words differ in the last one at most: `call` and `called`."""
    short, long = sorted((one, other), key=len)
    return one == other or long[:-1] in {short, short[:-1]}


def corrected_by(form: ClosingForm, items: Iterable[Held], home: str) -> str | None:
    """Return the id of the one item that a correction replaces; None if a person must decide.

    It is the only item to which the correction gives a new value, from which it differs in one, or of which it has all
    words and a value besides. Items of the document that the line is about come before others.

    Args:
        form: a correction.
        items: document path and item.
        home: the document that the form's line would be filed in.
    """
    found = [
        (place != home, one.id)
        for place, one in items
        if one.active and one.learnt <= form.place.entry.day and _corrects(form.target, one.text)
    ]
    best = [ident for far, ident in found if far == min(found)[0]]
    return best[0] if len(best) == 1 else None


def _corrects(target: str, text: str) -> bool:
    said, held = read(target), read(text)
    names_new = any(one.kind in VALUES and (one.key,) not in held.units for one in said.tokens)
    own = {one.key for one in held.tokens if one.says}
    has_all = names_new and bool(own) and own <= {one.key for one in said.tokens}
    of_numbers, its_numbers = ([one.kind in NUMBERS for one in some.tokens] for some in (said, held))
    is_apart = of_numbers == its_numbers and are_rivals(target, text)
    return has_all or is_apart or bool(replacement(target, text, Counter())[0])


def corrected_text(form: ClosingForm, text: str) -> str:
    """Return an item's text after a correction: with the new value, or the correction's words if they say more.

    Args:
        form: the form.
        text: the item's sentence.
    """
    return replacement(form.target, text, Counter())[0] or f"{form.target[:1].upper()}{form.target[1:]}"
