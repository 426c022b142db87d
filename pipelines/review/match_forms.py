"""Which item a closing form means: the only one that its words, or an id, can mean, or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.extract.grounded_values import without_dates
from pipelines.review.compare import adds_nothing, conflict, guard_words, keywords
from pipelines.store.item import ItemType, folded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.extract.rules.closing_forms import Form
    from pipelines.store.item import Item

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


def target_of(form: Form, items: Iterable[Held]) -> str | None:
    """Return the id of the one item that a form closes or ends; None where none, or more than one, can be meant.

    An item is meant by the beginning of its id, or by its words: the telling words of the form and of the item are the
    same, or those of one are contained in those of the other, and the form adds no number, name, negation or condition.
    The same words come before contained ones.

    Args:
        form: one that closes or ends.
        items: document path and item; only what is live or open, of a type that can close so, and not younger than the
            form's day is looked at. What rests on the form's line already was reopened since.
    """
    fitting = [(place, one) for place, one in items if one.active and one.learnt <= form.place.entry.day]
    fitting = [(place, one) for place, one in fitting if one.type in _MEANT[form.how] and not _was_heeded(form, one)]
    fitting = [(place, one) for place, one in fitting if form.how != "answered" or one.page_section == "questions"]
    if (named := _ID.match(form.target)) and (found := [one.id for _, one in fitting if one.id.startswith(named[1])]):
        return found[0] if len(found) == 1 else None
    ranked = [(rank, one.id) for place, one in fitting if (rank := likeness(form.target, place, one))]
    best = [ident for rank, ident in ranked if rank == max(ranked)[0]]
    return best[0] if len(best) == 1 else None


def _was_heeded(form: Form, item: Item) -> bool:
    entry, line = form.place.entry, form.place.start_line
    return any((one.path, one.start_line) == (entry.path, line) for one in item.evidence)


def likeness(target: str, document: str, item: Item) -> int:
    """Return how surely words mean an item: 3 the same words, 2 the same but for days, 1 one in the other, 0 not.

    Args:
        target: the words.
        document: the path of the item's document, whose name may stand among them.
        item: the item.
    """
    if keywords(target) == keywords(item.text) and guard_words(target) == guard_words(item.text):
        return 3 if keywords(target) else 0
    said, meant = keywords(without_dates(target)), keywords(without_dates(item.text))
    place = document.removesuffix(".md").rpartition("/")[2].replace("-", " ")
    said -= keywords(place) - meant
    if not (said and meant) or not adds_nothing(without_dates(target), f"{item.text} ({place})"):
        return 0
    if said == meant:
        return 2
    if said < meant:
        return int(len(said) >= _FEWEST or _FEWEST * len(said) >= len(meant))
    return int(meant < said and len(meant) >= _FEWEST)


# ---------------------------------------- corrections


_INSTEAD: Final = re.compile(
    r"(?:(?:[,;]\s*|\s\(|\s[-–—]\s|\s(?=and |but ))(?:and |but )?not|[,;]?\s\(?(?:instead of|rather than))"
    r"\s+(?P<was>[^,;()]{1,120}?)\)?[.!]?$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"[\"“`]([^\"“”`]{3,200})[\"”`]")


def corrected_by(form: Form, items: Iterable[Held]) -> str | None:
    """Return the id of the one item that a correction replaces; None where a person has to be asked.

    It is the only item that differs from the correction in one value or a `not`, or a part of which is quoted: by what
    follows `not` or `instead of` at the end, or in quotation marks. Where there is none, it is the only one that
    differs in one word.

    Args:
        form: a correction.
        items: document path and item, those of the document where the form's entry would be filed.
    """
    fitting = [one for _, one in items if one.active and one.learnt <= form.place.entry.day]
    ranked = [(rank, one.id) for one in fitting if (rank := _corrects(form.target, one.text))]
    best = [ident for rank, ident in ranked if rank == max(ranked)[0]]
    return best[0] if len(best) == 1 else None


def _corrects(said: str, text: str) -> int:
    """Return how surely a correction means an item: 2 by a value or a quoted part, 1 by one word, 0 not."""
    quoted = [folded(part) for part in _QUOTED.findall(said)]
    if any(len(part.split()) >= _FEWEST and f" {part} " in f" {folded(text)} " for part in quoted):
        return 2
    was = _INSTEAD.search(said)
    now = said[: was.start()] if was else said
    new, old = keywords(now), keywords(text)
    gone, shared = old - new, old & new
    if was and (before := keywords(was["was"])) and before <= old and shared - before:
        return 2 * (gone <= before or len(new - old) <= 1)
    one_apart = len(new - old) == len(gone) == 1 and bool(shared) and guard_words(now) == guard_words(text)
    by_value = one_apart and all(any(map(str.isdigit, word)) for word in new ^ old)
    return 2 if by_value or conflict(now, text) else int(one_apart)


def corrected_text(form: Form, text: str) -> str:
    """Return what an item says once a correction that means it is heeded.

    It is the correction's sentence without what it says was wrong; where that is only a part of the item's, the item's
    with the new value in place of the old.

    Args:
        form: a correction.
        text: the item's sentence.
    """
    was = _INSTEAD.search(form.target)
    now = form.target[: was.start()] if was else form.target
    if was and keywords(text) - keywords(now) - keywords(was["was"]):
        new = " ".join(word for word in now.split() if keywords(word) - keywords(text))
        old = " ".join(word for word in was["was"].split() if keywords(word) - keywords(now))
        found = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE)) if old and new else []
        if len(found) == 1:
            return f"{text[: found[0].start()]}{new}{text[found[0].end() :]}"
        return form.target
    return f"{now[:1].upper()}{now[1:]}"
