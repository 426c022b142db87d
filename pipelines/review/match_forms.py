"""Match forms of words and values: where two sentences part, and which item a line or a documented form means."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.item import OUTCOMES, HeldItem, Item, ItemType, Status, last_successor, quote_digest
from pipelines.store.wording import folded
from pipelines.text import ARROW, content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pipelines.extract.rules.labels import ClosingForm


def words_in(text: str) -> frozenset[str]:
    """Return the words and values of a text, each by the letters that count."""
    return frozenset(one.key for one in read(text).tokens)


# ---------------------------------------- replacements
# A line on the matter of an item that names the item's value beside a new one. The words between the two do not count,
# so this holds in any language.


_SPACED = r"[^\W_\u3040-\u30ff\u3400-\u9fff々]"
_TOKEN = re.compile(
    r"(?P<code>`[^`\n]+`)|(?P<number>(?:R?[$€£¥] ?)?\d+(?:[.,:]\d+)*)"
    rf"|(?P<name>[\u30a0-\u30ff]+)|(?P<kanji>[\u3400-\u9fff々]+)|(?P<word>(?!\d){_SPACED}+(?:[./+-]{_SPACED}+)*)"
)
NUMBERS = ("time", "number")
_UNSEEN = re.compile(r"\[\[[^\[\]|\n]+\||(?<!\S)#[^\W\d][\w/-]*")
VALUES = ("code", *NUMBERS, "name", "kanji")
"""The kinds of values, surest first. A capital at the start of a sentence makes no name."""
_STOP = re.compile(r"[.!?:;。]\s")
_STEM, _LONG = 5, 4
"""The letters of a word that count (`install`, `installs`), and the fewest of one that says what a line is about."""
_BETWEEN = 5
"""How many words may stand between the two values."""
_FEWEST = 2
_SHORT = 4
"""How many words a line has that names only two values."""


class Token(NamedTuple):
    """A word or value: what counts of it, its kind as a value, whether it says what a line is about, where it is."""

    key: str
    kind: str
    says: bool
    start: int
    end: int


class _Read(NamedTuple):
    """A sentence: its tokens; each that has another right after it, of which one is a value; the keys of both kinds.

    `beside` has what stands before and after each token that says something: before the last one, two of them, since
    many sentences end with their value.
    """

    tokens: tuple[Token, ...]
    rows: dict[Token, Token]
    units: frozenset[tuple[str, ...]]
    beside: dict[str, tuple[str, ...]]


@lru_cache(maxsize=4096)
def read(text: str) -> _Read:
    """Return a sentence as its words and values."""
    found = [*_TOKEN.finditer(text)]
    gaps = [". ", *(text[one.end() : after.start()] for one, after in pairwise(found))]
    tokens = list[Token]()
    for one, gap in zip(found, gaps, strict=False):
        raw, kind, key, says = one[0], str(one.lastgroup), one[0].casefold(), True
        if kind == "word":
            is_name = raw[1:] != key[1:] or re.search(r"[\d./]", raw)
            named = "first" if _STOP.search(gap) else "name"
            kind = "name" if is_name else named if raw[0] != key[0] else ""
            says = kind == "name" or (len(raw) >= _LONG and bool(content_words(key)))
            key = key[:_STEM] if key.isalpha() else key
        elif kind == "number":
            kind, key = "time" if ":" in raw else kind, key.lstrip("r$€£¥ ")
        tokens.append(Token(key, kind, says, one.start(), one.end()))
    rows = {
        token: after
        for token, after in pairwise(tokens)
        if not text[token.end : after.start].strip() and {token.kind, after.kind}.intersection(VALUES)
    }
    units = {(token.key,) for token in tokens} | {(token.key, after.key) for token, after in rows.items()}
    keys = ["", "", *(token.key for token in tokens if token.says), ""]
    beside = {key: (*keys[at + bool(keys[at + 3]) : at + 2], keys[at + 3]) for at, key in enumerate(keys[2:-1])}
    return _Read(tuple(tokens), rows, frozenset(units), beside)


def replaced_in(line: str, items: Iterable[Item], *, is_whole: bool = False) -> str:
    """Return the id of the one item that a line gives a new value; empty if it gives none, or to several.

    The line names a value (a name, number, time or code) that is in no other of the items, and near it one of the same
    kind that the item does not have. It is about the item, with at least half of its words and not much else; or it is
    short, and names the two values only. A line that repeats the item word for word adds to it.

    Args:
        line: the sentence.
        items: the active items that it may speak of.
        is_whole: whether the line has to say all that the item says, and nothing but the new value besides.
    """
    held = list(items)
    having = Counter(unit for one in held for unit in read(one.text).units)
    found = [(item.id, whole) for item in held for text, whole in [replacement(line, item.text, having)] if text]
    return found[0][0] if len(found) == 1 and (found[0][1] or not is_whole) else ""


def replacement(line: str, text: str, having: Mapping[tuple[str, ...], int]) -> tuple[str, bool]:
    """Return an item's text with the new value that a line gives it, or the line if that says more; else empty.

    With it goes whether the line says all that the item says and nothing else. `having` counts the items that have a
    unit.
    """
    said, held = read(seen(line)), read(seen(text))
    words, both = said.tokens, said.units & held.units
    pairs = _pairs(said, held, {key for unit in both if having[unit] <= 1 for key in unit})
    _, repeated, rest = folded(line).partition(folded(text))
    if not pairs or (repeated and not rest[:1].isalnum()):
        return "", False
    surest, apart, at, to = min(pairs)
    old, new, own = words[at], words[to], {one.key for one in held.tokens}
    value = {key for unit in both if old.key in unit for key in unit}
    matter, more = {one.key for one in held.tokens if one.says}, {one for one in words if one.says} - {new}
    shared, more = matter & {one.key for one in words}, {one for one in more if one.key not in own}
    is_all = more <= {one for one in words[min(at, to) : max(at, to)] if one.kind not in VALUES}
    is_repeated = len(own) > _SHORT and own - value <= {one.key for one in words}
    is_about = (is_repeated or bool(shared - value)) and 2 * len(shared) >= len(matter) and len(more) <= 2 * len(shared)
    is_short = is_all and len(words) <= _SHORT and len(more) < _FEWEST
    if apart > _BETWEEN or not (is_about or is_short):
        return "", False
    is_clear = is_all and len({words[one[2]].key for one in pairs if one[0] == surest}) == 1
    changed = _with_value(text, line, old, new) if is_clear else ""
    return changed or f"{line[:1].upper()}{line[1:]}", is_all and shared == matter


def _pairs(said: _Read, held: _Read, alone: set[str]) -> list[tuple[int, int, int, int]]:
    """Return the values of `alone` with a new one of their kind: how sure the kind is, how far apart, and both places.

    No old value is the unit of a number that the line does not name, or what stands where it stood in the item, as the
    maker before a model that both name. No new one stands where the item has another name, as in `Anna lives in Bern`
    and `Bruno lives in Bern`.
    """
    told, own = {one.key for one in said.tokens}, {one.key for one in held.tokens}
    kinds = {one.key: one.kind for one in (*said.tokens, *held.tokens) if one.kind in VALUES}
    fixed = {key for key, beside in held.beside.items() if beside == said.beside.get(key)}
    fixed |= {after.key for one, after in held.rows.items() if one.kind == "number" and one.key not in told}
    makers = {one.key for one, after in held.rows.items() if after.kind in VALUES and after.key in told}
    other = {held.beside.get(one.key) for one in held.tokens if one.kind and one.key not in told}
    return [
        (VALUES.index(kind), abs(at - to), at, to)
        for at, old in enumerate(said.tokens)
        if old.key in alone - fixed and (kind := kinds.get(old.key))
        for to, new in enumerate(said.tokens)
        if new.key not in own and new.says and new.kind.replace("first", "name") == kind
        if said.beside[new.key] not in other and not (old.key in makers and said.rows.get(old) is new)
    ]


def _with_value(text: str, line: str, was: Token, now: Token) -> str:
    """Return an item's text with a line's new value, and its unit, in place of the old; empty if that may not fit."""
    said, held = read(line), read(text)
    [old, *more] = [one for one in held.tokens if one.key == was.key]
    start, end, until = old.start, old.end, now.end
    unit, before, after = said.rows.get(now), said.rows.get(was), held.rows.get(old)
    if now.kind == "number" and unit and (unit.key,) not in held.units:
        if not (before and after and before.key == after.key):
            return ""
        end, until = after.end, unit.end
    fits = not more and text[start].isdigit() == line[now.start].isdigit()
    return f"{text[:start]}{line[now.start : until]}{text[end:]}" if fits else ""


def seen(text: str) -> str:
    """Return a text with blanks for what is no word of its sentence: where a link with an alias leads, and tags."""
    return _UNSEEN.sub(lambda link: " " * len(link[0]), text)


def parts_at(one: str, other: str) -> int | None:
    """Return at which word two sentences part that are the same but for one run of words with a value on both sides.

    None if they differ otherwise, or not at all. At most two thirds of either are in the run.
    """
    start, end, runs, has_values = _parted(read(one).tokens, read(other).tokens)
    return start if has_values and 2 * (start + end) >= max(map(len, runs)) else None


def are_rivals(one: str, other: str, *, corrects: bool = False) -> bool:
    """Whether two sentences begin alike and differ in one place alone, at their end or in a value.

    They differ by a word or from a value on, unless one is said to correct something. A small word that only one of
    them has is no difference: `we use Jest`, `we now use Vitest`.
    """
    said, held = read(seen(one)).tokens, read(seen(other)).tokens
    both = {word.key for word in said} & {word.key for word in held}
    start, end, runs, has_values = _parted(*([w for w in some if w.says or w.key in both] for some in (said, held)))
    is_one = all(run and (corrects or len(run) == 1 or run[0].kind in VALUES) for run in runs)
    is_one = is_one and both.isdisjoint(word.key for run in runs for word in run)
    return is_one and start > 0 and start + end >= max(map(len, runs)) and (has_values or not end)


def _parted(here: Sequence[Token], there: Sequence[Token]) -> tuple[int, int, list[Sequence[Token]], bool]:
    """Return how many words two sentences share at start and end, their runs between, and if both have values."""
    least, start, end = min(len(here), len(there)), 0, 0
    while start < least and here[start].key == there[start].key:
        start += 1
    while end < least - start and here[-1 - end].key == there[-1 - end].key:
        end += 1
    runs = [some[start : len(some) - end] for some in (here, there)]
    return start, end, runs, all(any(word.kind in VALUES for word in run) for run in runs)


# ---------------------------------------- the item that a form closes, answers or corrects


_ID = re.compile(r"[\[(`#]{0,2}(k[0-9a-f]{4,64})\b")
_INSTEAD = re.compile(r", because of (k[0-9a-f]{4,64})$")
"""How `settle` ends its line: with the id of the item that holds instead."""
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_AFTER = re.compile(r"(?P<full>[?!;:：.])(?=\s)|\s(?:[-–—]{1,2}|→)(?=\s)|,(?=\s)")


def target_of(form: ClosingForm, items: Iterable[HeldItem], home: str) -> str | None:
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
        if one.active and one.learnt <= form.place.entry.day
        if form.how in OUTCOMES[one.type] or (form.how, one.type) == (Status.DROPPED, ItemType.RISK)
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


def corrected_by(form: ClosingForm, items: Iterable[HeldItem], home: str) -> str | None:
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
    is_apart = of_numbers == its_numbers and are_rivals(target, text, corrects=True)
    return has_all or is_apart or bool(replacement(target, text, Counter())[0])


def corrected_text(form: ClosingForm, text: str) -> str:
    """Return an item's text after a correction: with the new value, or the correction's words if they say more.

    Args:
        form: the form.
        text: the item's sentence.
    """
    return replacement(form.target, text, Counter())[0] or f"{form.target[:1].upper()}{form.target[1:]}"
