"""A sentence as it is compared: its words, its values, what it denies, and what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from pipelines.review.judging.marks import read_marks
from pipelines.review.judging.stems import is_content, stem
from pipelines.review.judging.values import find_values
from pipelines.review.judging.verbs import BE, DIRECT, HAVE, HELPERS, NOUNS_TOO, PREPOSITIONS, PRONOUNS, VERBS
from pipelines.store.evidence import fold_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.review.judging.marks import Marked
    from pipelines.review.judging.values import Value


_WORD: Final = re.compile(r"[^\W_](?:[\w'’+#]|[.@](?=\w))*")
_CONTRACTED: Final = (
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"\bcan(?:['’]t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"\b(do|does|did|is|are|was|has|have|ca|wo|should|must)nt\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"['’](?:re|ll|ve|d|m)\b", re.IGNORECASE), ""),
    (re.compile(r"\bset(?:ting)? up (?=an? |the )", re.IGNORECASE), "schedule "),
)
_NEGATIONS: Final = frozenset("not never no none neither nor without nobody nothing".split())
LIMITS: Final = frozenset("if unless except only until before after when while during without".split())
"""A sentence with one of these says less than the same without it."""
_REASON: Final = re.compile(
    r"(?:,\s*)?\b(?:because|so that|in order to|given that)\b|,\s*(?:since|as|so|which|and that)\s+(?=[a-z])"
    r"|\bsince\s+(?=(?:it|they|we|he|she|the|that|there)\b)",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(r"[\w.-]+:\s+(?=(?:i|we|to|let|yes|no|please)\b)|[\w.-]+ (?=to [a-z])", re.IGNORECASE)
_ACTIVE: Final = re.compile(r"(?:has |have )?[a-z]+ed (?P<what>(?:the|our|my|his|her|their) .+?) (?:from|to|into|by)\b")
_SWITCH: Final = re.compile(r"\b(?:on|off|up|down)\b(?=\s*(?:$|[.,;!]))", re.IGNORECASE)
_COLON: Final = re.compile(r"^(?:[^\s:]+ ){0,5}[^\s:]+(?P<at>:|\s[-–—])\s")
_ENDS: Final = frozenset(".!?:;")


@dataclass(frozen=True, slots=True)
class Word:
    """One word or value.

    Args:
        key: the form in which it is compared.
        raw: as written, in small letters.
        start: where it begins in the text.
        content: whether it tells what the sentence is about.
        named: whether it is written as a name, in a place where only names have a capital.
        value: what it means, of a value.
    """

    key: str
    raw: str
    start: int
    content: bool
    named: bool
    value: Value | None = None


@dataclass(frozen=True)
class Sentence:
    """One item's text, read once.

    Args:
        text: without Markdown and contractions.
        marked: what it says of change.
        words: its words and values in order, without those of change.
    """

    text: str
    marked: Marked
    words: tuple[Word, ...]

    @cached_property
    def end(self) -> int:
        """Where a reason that is given for it begins, or its end."""
        found = _REASON.search(self.marked.text, 1)
        return found.start() if found else len(self.text)

    @cached_property
    def core(self) -> tuple[Word, ...]:
        """The words of content, without the reason and without what names how it was before."""
        return tuple(w for w in self.words if w.content and w.start < self.end and not self.marked.names(w.start))

    @cached_property
    def keys(self) -> frozenset[str]:
        """What it is made of, values left out."""
        return frozenset(w.key for w in self.core if not w.value)

    @cached_property
    def was(self) -> tuple[Word, ...]:
        """The words that name what was before."""
        return tuple(w for w in self.words if w.content and self.marked.names(w.start))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Its values, those of the reason included, those of before not."""
        return tuple(w.value for w in self.words if w.value and not self.marked.names(w.start))

    @cached_property
    def denials(self) -> int:
        """How often it denies; a `not` that only names what was before is none, nor is one in a reason."""
        return len(self._denying) - self.reason_denials + self.marked.denies

    @cached_property
    def reason_denials(self) -> int:
        """How often the reason that it gives denies; `which` and `and that` say more than a reason."""
        says_more = self.text[self.end :].lstrip(" ,").lower().startswith(("which", "and that"))
        return 0 if says_more else sum(w.start >= self.end for w in self._denying)

    @cached_property
    def _denying(self) -> tuple[Word, ...]:
        befores = {first for first, _ in self.marked.was}
        return tuple(w for w in self.words if w.raw in _NEGATIONS and not self._leads(w, befores))

    def _leads(self, word: Word, befores: set[int]) -> bool:
        behind = word.start + len(word.raw) + 1
        return word.raw == "not" and bool(befores & {behind, behind + 1})

    @cached_property
    def limits(self) -> frozenset[str]:
        """The words by which it is limited."""
        return frozenset(w.raw for w in self.words if w.raw in LIMITS and w.start < self.end)

    @cached_property
    def verb(self) -> int:
        """The place of its main verb among its words, or -1."""
        colon = _COLON.match(self.marked.text)
        found = _main_verb(self.words)
        if self.speaker and found >= 0:
            return found
        before_colon = [at for at, w in enumerate(self.words) if colon and w.start < colon.start("at")]
        if before_colon and (found < 0 or found > before_colon[-1] or not self.words[found].raw.endswith("s")):
            return before_colon[-1] + 1 if before_colon[-1] + 1 < len(self.words) else -1
        return found

    @cached_property
    def speaker(self) -> int:
        """Where the words begin of a line that names who speaks, or who is to act: `anna: I will update it`."""
        found = _SPEAKER.match(self.text)
        return found.end() if found else 0

    @cached_property
    def verb_key(self) -> str:
        """The main verb as it is compared: `be` where there is none but that."""
        if self.verb < 0:
            return ""
        raw = self.words[self.verb].raw
        if raw in HAVE:
            return "have"
        return "be" if raw in BE or self.words[self.verb].value or stem(raw) not in VERBS else stem(raw)

    @cached_property
    def subject(self) -> frozenset[str]:
        """The words that say what it is about, values left out."""
        return frozenset(w.key for w in self.subject_words if not w.value)

    @cached_property
    def subject_words(self) -> tuple[Word, ...]:
        """What stands before the verb; of an order its object, or what `for` and the like add to a chosen value."""
        cut = self._cut()
        begin = self.speaker
        before = [w for w in self.words if w.content and begin <= w.start < cut and not self.marked.names(w.start)]
        if any(not w.value for w in before):
            return tuple(before)
        after = [w for w in self.words if w.start >= cut and w.start < self.end and not self.marked.names(w.start)]
        return tuple(_object_of(after, self.verb_key))

    def _cut(self) -> int:
        """Return where the verb stands: the main one, or the one by which something changed."""
        verb = self.words[self.verb].start if self.verb >= 0 else len(self.text)
        turn = self.marked.turn if self.marked.turn >= 0 else verb
        return min(verb, turn)

    @cached_property
    def turned(self) -> frozenset[str]:
        """What somebody changed: the words between a changing verb in the active voice and where that led."""
        turn = self.marked.turn
        found = _ACTIVE.match(self.text, turn) if turn >= 0 else None
        if found is None:
            return frozenset()
        return frozenset(w.key for w in self.core if found.start("what") <= w.start < found.end("what") and not w.value)

    @cached_property
    def is_order(self) -> bool:
        """Whether it begins with its verb, as an imperative or a note of something done does."""
        return self.verb >= 0 and not any(w.content for w in self.words[: self.verb])


@lru_cache(maxsize=4096)
def read_sentence(text: str) -> Sentence:
    """Return an item's text as it is compared."""
    text = fold_markdown([text])
    for form, plain in _CONTRACTED:
        text = form.sub(plain, text)
    marked = read_marks(text)
    return Sentence(marked.whole, marked, tuple(_words(marked)))


def _words(marked: Marked) -> Iterator[Word]:
    text, at = marked.text, 0
    last: Word | None = None
    befores = find_values(marked.whole) if marked.was else ()
    values = [*find_values(text), *(v for v in befores if marked.names(v.start))]
    taken = sorted({v.start: v for v in values}.values(), key=lambda v: v.start)
    switches = {found.start() for found in _SWITCH.finditer(text)}
    for value in (*taken, None):
        for found in _WORD.finditer(text, at, value.start if value else len(text)):
            raw = found[0].lower()
            named = _is_named(found[0], text, found.start())
            content = named or is_content(raw) or found.start() in switches
            last = Word(stem(raw), raw, found.start(), content, named)
            yield last
        if value:
            told = _as_mark(value, last, text)
            key = f"{told.base}:{told.key}"
            yield Word(key, text[value.start : value.end].lower(), value.start, content=True, named=False, value=told)
            at = max(at, value.end)


def _as_mark(value: Value, last: Word | None, text: str) -> Value:
    """Return a number behind a noun as the mark that it is: `erratum 6` is another one than `erratum 2`."""
    if value.kind != "number" or last is None or not last.raw.isalpha() or not last.content or last.named:
        return value
    behind = value.start - last.start - len(last.raw) == 1
    if (counted := _COUNTED.match(text, value.end)) and is_content(counted[1]):
        return value
    measured = last.key in VERBS or last.key in _MEASURES or "." in value.key
    return value if measured or not behind else replace(value, kind="mark")


_COUNTED: Final = re.compile(r" ([a-z]+)")
_MEASURES: Final = frozenset(
    map(stem, "port version level limit size age score maximum minimum least most total count up down".split())
)


def _is_named(word: str, text: str, start: int) -> bool:
    if not any(c.isupper() for c in word):
        return False
    before = text[:start].rstrip(" \"'(“‘")
    return any(c.isupper() for c in word[1:]) or bool(before and before[-1] not in _ENDS)


def _main_verb(words: Sequence[Word]) -> int:
    for at, word in enumerate(words):
        if word.value:
            continue
        if word.raw in BE | HAVE:
            after = _next_content(words, at)
            if after >= 0 and _is_participle(words[after].raw) and (word.raw in BE or words[after].raw.endswith("ed")):
                return after
            return at
        if word.raw in HELPERS and at and any(w.content for w in words[:at]):
            after = _next_content(words, at)
            return after if after >= 0 and stem(words[after].raw) in VERBS else at
        if _is_verb(words, at):
            return at
    return -1


def _next_content(words: Sequence[Word], at: int) -> int:
    return next((n for n in range(at + 1, min(at + 4, len(words))) if words[n].content), -1)


def _is_participle(raw: str) -> bool:
    return stem(raw) in VERBS and (raw.endswith(("ed", "en", "ing")) or stem(raw) != raw.rstrip("e"))


def _is_verb(words: Sequence[Word], at: int) -> bool:
    word = words[at]
    if word.key not in VERBS:
        return False
    before = [w for w in words[:at] if w.content]
    if not before:  # an imperative, or what we do
        free = at == 0 or words[at - 1].raw not in _DETERMINERS
        return free and not (word.key in NOUNS_TOO and _has_verb(words[at + 1 : at + 6]))
    if word.key not in NOUNS_TOO:
        return True
    last = words[at - 1]
    return word.raw.endswith(("s", "ed")) or last.raw in PRONOUNS or (last.content and last.raw.endswith("s"))


_DETERMINERS: Final = frozenset("the a an our my this that your his her their its of".split())


def _has_verb(words: Sequence[Word]) -> bool:
    """Whether a verb with an ending stands before any preposition: then the word before it is a noun."""
    for word in words:
        if word.raw in PREPOSITIONS:
            return False
        if word.raw in BE | HAVE | HELPERS or (word.key in VERBS and word.raw.endswith("s") and not word.named):
            return True
    return False


def _object_of(words: Sequence[Word], verb: str) -> list[Word]:
    """Return the object of an imperative; where the object is the value, what stands behind the first preposition."""
    rest = list(words)
    if rest and rest[0].key == verb:
        rest = rest[1:]
    edge = next((n for n, w in enumerate(rest) if w.raw in PREPOSITIONS), len(rest))
    near = [w for w in rest[:edge] if w.content]
    far = [w for w in rest[edge:] if w.content]
    picked = far if verb in DIRECT else near
    if any(not w.value for w in picked):
        return picked
    return [w for w in words if w.content]
