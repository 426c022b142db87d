"""The owner's acts in a session, as items: a question answered, a plan approved, a tool refused, a rule typed.

Capture labels the act and seals the entry. The label is structure; the words are read only if they explicitly lay down
a rule.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, Place
from pipelines.extract.rules.labels import LAID_DOWN, NAME, read_form, read_label
from pipelines.store.evidence import Act, act_in
from pipelines.store.item import Confidence, ItemType, Trust
from pipelines.store.layout import USER
from pipelines.store.provenance import source_in
from pipelines.store.spoken_lines import Line, Spoken, clean, is_within_quotes, sentences, without_filler
from pipelines.text import ARROW, clipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pipelines.store.log import Entry
    from pipelines.store.session_state import Seals


_MOST = 300
_FEWEST = 3
# An answer about how the session goes on decides nothing permanent.
_AGREES = re.compile(
    r"(?:yes|ok(?:ay)?|yep|yeah|sure)\b(?=\s*(?:$|[,.;:!(—–-]))|(?:no|nope|none|neither|both|all|later)\b\W*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:not now|go on|go ahead|keep going|try again|continue|proceed|resume|stop|skip|retry|cancel|abort|wait|"
    r"pause|move on|do it|start|begin|leave it|let me|let's|ask me|show me|i['’]ll|i will|i don['’]t|not sure|"
    r"approve|reject|accept|decline|commit|push|merge|fix|commit and|run)\b",
    re.IGNORECASE,
)
_ASKS_HOW_TO_GO_ON = re.compile(r"\b(?:proceed|continue|go on)\W*$", re.IGNORECASE)
_PLAN = re.compile(r"^(?:implementation\s+)?plan\b(?:\s+(?:for|to)\b)?[\s:—–-]*", re.IGNORECASE)
_LASTS = re.compile(
    r"\b(?:always|never|from now on)\b|\b(?:don['’]?t|do not)\b.{0,80}\b(?:ever|again)\b", re.IGNORECASE
)
_ANY = re.compile("")
_REMEMBERS = re.compile(
    r"(?:please\s+)?(?:remember\b(?!\s+(?:to|when|how|the time|me|if)\b)|from now on\b)[,:]?\s", re.IGNORECASE
)
# What the owner says of themselves goes to their page. It begins its sentence, but for one word and a name.
_OF_ME = re.compile(
    r"(?:[^\s,]{1,12}(?: (?-i:[A-Z])\w{0,20})?, |please )?(?:"
    r"i (?:(?:now|\w{4,10}ly) )?prefer (?!(?:it|this|that|these|those|them)\b|.*\bone\W*$|"
    r"(?:the )?(?:first|second|third|last|former|latter|other|option)\b)|"
    r"my name(?:['’]s| is) (?!not\b)|(?:from now on,? )?call me (?-i:[A-Z])|i(?:['’]m| am) allergic\b|"
    r"(?:please )?remember(?: that|:) (?:i|my)\b|(?:i|my)\b.*,(?: and)?(?: please)? remember (?:that|this)\W*$)",
    re.IGNORECASE,
)
_REMINDS = re.compile(
    r"(?:please )?remind me (?:(?:on )?(?:(?:next )?\w+day|tomorrow|\d\S*(?: [a-z]{3,9})?|[a-z]{3,9} \d\S*) )?to\b",
    re.IGNORECASE,
)
_REMEMBER_THIS = re.compile(r",(?: and)?(?: please)? remember (?:that|this)\W*$", re.IGNORECASE)
_FORBIDS = re.compile(r"(?:please\s+)?(?:don['’]?t|do not)\b.{1,80}\b(?:ever|again|from now on)\b", re.IGNORECASE)
_NO_WORDS = ("|", "~~", "`", "http", '"', "“", "'", "#", "//", "/*", "$ ", "{", "<", "@")

_HEADER = re.compile(r"[^\W\d_][\w-]{1,20}: \S")
_ADDRESS = re.compile(r"\S@[^\s@]+\.\w")
_HEADERS = 4
"""Lines with a name and a colon in a row that begin a mail although none of the first has an address."""


def without_pasted(lines: Sequence[Line]) -> list[Line]:
    """Return a turn's lines; copied ones are blank: quotations, and what is below a lead-in or a mail's first lines.

    Of what is below a lead-in only the quotation is copied, if there is one.
    """
    own, led = list[Line](), False
    for at, line in enumerate(lines):
        spoken, above = line.spoken, lines[at - 1].spoken if at else None
        if above is None or above.quoted:  # code and quotations are what was led in
            led = False
        elif not led:
            led = above.said.rstrip(" *_").endswith(":") and source_in(above.marked) != ""
            # A mail begins with two lines that have a name and a colon, one of them with an address, or with four.
            heads = [*takewhile(_is_header, (one.spoken for one in lines[at - 1 : at + 3]))]
            has_address = any(one and _ADDRESS.search(one.line) for one in heads[:2])
            led = led or len(heads) == _HEADERS or (len(heads) > 1 and has_address)
        own.append(replace(line, spoken=None) if spoken and (led or spoken.quoted) else line)
    return own


def _is_header(line: Spoken | None) -> bool:
    is_labelled = line and (read_form(line) or read_label(replace(line, turn=False)))
    return line is not None and not is_labelled and bool(_HEADER.match(line.line.strip()))


def read_acts(
    entry: Entry, lines: Sequence[Line], seals: Seals, lays_down: Callable[[str], ItemType | None]
) -> Iterator[Candidate]:
    """Yield the candidates of an entry that capture sealed as the owner's act; none for other entries.

    Args:
        entry: the entry.
        lines: its lines.
        seals: prove that the entry is the owner's.
        lays_down: returns the type that a sentence explicitly lays down, or None.
    """
    found = act_in(entry.text)
    if found is None or seals.trust_of(entry.path, entry.text.split("\n")) is not Trust.OWNER:
        return
    act, tool, words = found
    if act in {Act.ANSWERED, Act.REPLIED}:
        question, _, answer = words.partition(ARROW)
        note = clean(" ".join(line.raw for line in lines[1:]))
        typed = act is Act.REPLIED  # it may decide, ask back, or leave the question open
        goes_on = _GOES_ON.match(answer) or (typed and (_AGREES.match(answer) or answer.endswith("?")))
        if not (goes_on or _ASKS_HOW_TO_GO_ON.search(question)):
            said = f"{answer.replace(' (Recommended)', '')}{f' ({note})' if note else ''}"
            text = f"{clipped(question, _MOST)}{ARROW}{clipped(said, _MOST)}"
            one = _item(ItemType.DECISION, text, entry, words, "answered", entry.start_line, lines[-1].number)
            yield replace(one, confidence=Confidence.LOW) if typed else one
    if act in {Act.ANSWERED, Act.REPLIED, Act.LEFT_OPEN}:
        for line in lines[1:]:
            yield from _typed(entry, line, lays_down)
    elif act is Act.PLANNED:
        title = _PLAN.sub("", clean(words), count=1).removesuffix(":")
        if len(title.split()) >= _FEWEST and len(title) <= _MOST:
            text = title[0].upper() + title[1:]
            yield _item(ItemType.DECISION, text, entry, title, "plan approved", entry.start_line)
    else:
        lasts = _ANY if act is Act.REMEMBERED else _LASTS if tool or act is Act.REFUSED else None
        for line in lines:
            yield from _typed(entry, line, lays_down, lasts)


def _typed(
    entry: Entry, line: Line, lays_down: Callable[[str], ItemType | None], lasts: re.Pattern[str] | None = None
) -> Iterator[Candidate]:
    """Yield the rules in a line that the owner typed, ignoring code and quotes.

    Args:
        entry: the entry.
        line: the line.
        lays_down: returns the type that a sentence explicitly lays down, or None.
        lasts: makes a rule of any sentence that it finds, because of the act that the words belong to.
    """
    spoken = line.spoken
    if spoken is None or spoken.quoted or spoken.said.startswith(_NO_WORDS):
        return
    for start, end in sentences(spoken.said):
        quote = spoken.said[start:end]
        text = without_filler(clean(quote))
        if not len(text.split()) >= _FEWEST or len(text) > _MOST or text.endswith(("?", ":", "…", "...")):
            continue
        if is_within_quotes(spoken.said, start) or any(mark in text for mark in "{}<>"):
            continue
        rules = (
            _REMEMBERS.match(text),
            _REMEMBER_THIS.search(text),
            _FORBIDS.match(text),
            lasts and lasts.search(text),
        )
        other = ItemType.FACT if _OF_ME.match(text) else ItemType.RULE if any(rules) else None
        kind = lays_down(text) or (ItemType.TODO if _REMINDS.match(text) else other)
        if kind:
            one = _item(kind, _REMEMBER_THIS.sub("", text), entry, quote, LAID_DOWN, line.number)
            yield replace(one, document=USER.removesuffix(".md")) if _OF_ME.match(text) else one


def _item(  # noqa: PLR0913, PLR0917  the parts of an item
    kind: ItemType, text: str, entry: Entry, quote: str, reason: str, line: int, end: int = 0
) -> Candidate:
    place = Place(entry, line, end or line, quote.strip())
    return Candidate(kind, text, (place,), Confidence.HIGH, reason, NAME)
