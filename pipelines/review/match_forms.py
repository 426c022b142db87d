"""Find the item that a closing form means: the only one that matches its words or id, or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.extract.grounded_values import without_dates
from pipelines.review.compare import UNIT, adds_nothing, conflict, guard_words, keywords
from pipelines.store.item import Item, ItemType, folded
from pipelines.text import ARROW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipelines.extract.rules.labels import ClosingForm

    Held = tuple[str, Item]


_MEANT: Final = {
    "done": {ItemType.TODO},
    "dropped": {ItemType.TODO, ItemType.RISK},
    "resolved": {ItemType.RISK},
    "occurred": {ItemType.RISK},
    "answered": {ItemType.FACT},
    "ended": {ItemType.DECISION, ItemType.FACT, ItemType.RULE},
}
_ID: Final = re.compile(r"[\[(`#]{0,2}(k[0-9a-f]{4,64})\b")
_FEWEST: Final = 2


_AFTER: Final = re.compile(r"(?P<full>[?!;:：.])(?=\s)|\s(?:[-–—]{1,2}|→)(?=\s)|,(?=\s)")


def target_of(form: ClosingForm, items: Iterable[Held], home: str) -> str | None:
    """Return the id of the one item that a form closes or ends; None if none or several match.

    An item matches by the start of its id, or by its words: the distinctive words of form and item are the same, or one
    contains the other's, and the form adds no number, name, negation or condition. The same words come before contained
    ones, and of these the document that the line is about before others. If all of the form's words match none, those
    before a stop count (`Resolved: double bookings; the constraint refuses them`), and the longest that match: before a
    comma only as the item's own words.

    Args:
        form: one that closes or ends.
        items: document path and item. Only active items of a type that can close so, not younger than the form's day,
            count. An item that already has the form's line as evidence was reopened since, and does not.
        home: the document that the form's line would be filed in.
    """
    fitting = [(place, one) for place, one in items if one.active and one.learnt <= form.place.entry.day]
    fitting = [(place, one) for place, one in fitting if one.type in _MEANT[form.how] and not _was_heeded(form, one)]
    fitting = [(place, one) for place, one in fitting if form.how != "answered" or one.page_section == "questions"]
    if (named := _ID.match(form.target)) and (found := [one.id for _, one in fitting if one.id.startswith(named[1])]):
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
        heads = _heads(form.target)
        answer = next((rest for head, rest, least in heads if likeness(head, document, item) >= least), "")
    return f"{item.text}{ARROW}{answer}" if answer else ""


def _heads(words: str) -> Iterator[tuple[str, str, int]]:
    """Yield words as a whole and before each stop, longest first, with what follows and how alike an item must be."""
    yield words, "", 1
    for stop in reversed(list(_AFTER.finditer(words))):
        head = words[: stop.end() if stop["full"] == "?" else stop.start()]
        yield head, words[stop.end() :].strip(), 2 if stop[0] == "," else 1


def _was_heeded(form: ClosingForm, item: Item) -> bool:
    entry, line = form.place.entry, form.place.start_line
    return any((one.path, one.start_line) == (entry.path, line) for one in item.evidence)


def likeness(target: str, document: str, item: Item) -> int:
    """Return how well words match an item: 3 the same words, 2 the same except dates, 1 contained, 0 not.

    Args:
        target: the words.
        document: the path of the item's document, its name may be among the words.
        item: the item.
    """
    if keywords(target) == keywords(item.text) and guard_words(target) == guard_words(item.text):
        return 3 if keywords(target) else 0
    words, own = keywords(without_dates(target)), keywords(without_dates(item.text))
    place = document.removesuffix(".md").rpartition("/")[2].replace("-", " ")
    words -= keywords(place) - own
    if not (words and own) or not adds_nothing(without_dates(target), f"{item.text} ({place})"):
        return 0
    if words == own:
        return 2
    if words < own:
        return int(len(words) >= _FEWEST or _FEWEST * len(words) >= len(own))
    return int(own < words and len(own) >= _FEWEST)


# ---------------------------------------- corrections


_INSTEAD: Final = re.compile(
    r"(?:(?:[,;]\s*|\s\(|\s[-–—]\s|\s(?=and |but ))(?:and |but )?not|[,;]?\s\(?(?:instead of|rather than))"
    r"\s+(?P<was>[^,;()]{1,120}?)\)?[.!]?$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"[\"“`]([^\"“”`]{3,200})[\"”`]")


def corrected_by(form: ClosingForm, items: Iterable[Held]) -> str | None:
    """Return the id of the one item that a correction replaces; None if a person must decide.

    It is the only item that differs from the correction in one value or a `not`, or of which the correction quotes a
    part: after `not` or `instead of` at the end, or in quotation marks. Failing that, it is the only item that differs
    in one word.

    Args:
        form: a correction.
        items: document path and item, of the document that the form's entry would be filed in.
    """
    fitting = [one for _, one in items if one.active and one.learnt <= form.place.entry.day]
    ranked = [(rank, one.id) for one in fitting if (rank := _corrects(form.target, one.text))]
    best = [ident for rank, ident in ranked if rank == max(ranked)[0]]
    return best[0] if len(best) == 1 else None


def _corrects(target: str, text: str) -> int:
    """Return how well a correction matches an item: 2 by a value or a quoted part, 1 by one word, 0 not."""
    quoted = [folded(part) for part in _QUOTED.findall(target)]
    if any(len(part.split()) >= _FEWEST and f" {part} " in f" {folded(text)} " for part in quoted):
        return 2
    was = _INSTEAD.search(target)
    now = target[: was.start()] if was else target
    new, old = keywords(now), keywords(text)
    gone, shared = old - new, old & new
    if was and (before := keywords(_with_unit(was["was"], now, text))) and before <= old and shared - before:
        return 2 * (gone <= before or len(new - old) <= 1)
    one_apart = len(new - old) == len(gone) == 1 and bool(shared) and guard_words(now) == guard_words(text)
    by_value = one_apart and all(any(map(str.isdigit, word)) for word in new ^ old)
    return 2 if by_value or conflict(now, text) else int(one_apart)


def _with_unit(value: str, now: str, text: str) -> str:
    """Return what a correction calls wrong with the unit that follows it in the item, if the new value has it, too."""
    found = re.search(rf"(?<![\w.,]){re.escape(value)}(?P<unit>[ -]?(?:{UNIT}))", text)
    return found[0] if found and found["unit"] in now else value


def corrected_text(form: ClosingForm, text: str) -> str:
    """Return an item's text after a correction.

    It is the correction without what it calls wrong. If the correction covers only a part of the item, it is the item's
    text with the new value in place of the old.


    Args:
        form: a correction.
        text: the item's sentence.
    """
    was = _INSTEAD.search(form.target)
    now = form.target[: was.start()] if was else form.target
    before = _with_unit(was["was"], now, text) if was else ""
    if before and keywords(text) - keywords(now) - keywords(before):
        new = " ".join(word for word in now.split() if keywords(word) - keywords(text))
        old = " ".join(word for word in before.split() if keywords(word) - keywords(now))
        found = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE)) if old and new else []
        if len(found) == 1:
            return f"{text[: found[0].start()]}{new}{text[found[0].end() :]}"
        return form.target
    return f"{now[:1].upper()}{now[1:]}"
