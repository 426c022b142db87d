"""Whose words a log contains: decided by capture's seals, and in a journal by a closed set of lead-ins.

Words without a lead-in are the agent's own. So is its word for what a person told it ("Joana says: the date holds"): it
is testimony, with that person's name on it. What was copied in is external: letters, pages, tool output, quotations.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.store.evidence import Act, act_in, fold_markdown, voice_in, without_pointer
from pipelines.store.item import Trust, ids_in
from pipelines.store.spoken_lines import parse_spoken, said_in_turn, sentences
from pipelines.text import ARROW

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from pipelines.store.log import Entry
    from pipelines.store.session_state import Seals


_TO_QUESTION = {Act.ANSWERED, Act.REPLIED, Act.LEFT_OPEN}
_LABEL = re.compile(
    r"(?:decision|decided|fact|rule|to-?do|risk|done|correction|action|resolution|resolved)s?\b[ ]?(?:\#\d{1,4}[ ]?)?"
    r"(?:\((?:from|per|via|source:?|said by)[ ](?P<within>[^()]{2,80})\)[ ]?)?:[ ]{0,2}",
    re.IGNORECASE,
)
_ADDRESS = r"<?(?:https?://[^\s<>]{1,200}?|www\.[^\s<>]{1,200}?|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{1,60}?)>?"
_OWN = (
    r"(?:i|we|me|you|he|she|it|they|one|who|what|this|that|which|there|and|but|as|if|when|"
    r"(?:the[ ]|my[ ]|our[ ])?(?:user|owner|human|agent|assistant|team|group|chair))\b"
)
# The text before a colon names a source if it has one of these shapes. A topic ("Root cause:") has none of them.
_LEAD = re.compile(
    rf"""
    (?P<told>(?!{_OWN})[^:;!?\n]{{1,80}}?)(?<![ ]he)(?<![ ]she)(?<![ ]we)(?<![ ]I)[ ](?:
        says|said|replies|replied|answers|answered|claims|claimed|told|(?:reported|stated)(?=[ ]that\b))(?:[ ]us)?,?
        (?::(?!\S|[ ]["“>])|[ ]that\b)
  | (?P<quoted>(?!{_OWN})[^\s:;!?]{{1,40}}(?:[ ][^\s:;!?]{{1,40}}){{0,2}})(?<![ ]he)(?<![ ]she)(?<![ ]we)(?<![ ]I)[ ](?:
        says|said|replies|replied|answers|answered|claims|claimed|told)(?:[ ]us)?,?:?[ ]?["“>]
  | (?P<written>(?!{_OWN})[^:;!?\n]{{1,80}}?)(?<![ ]he)(?<![ ]she)(?<![ ]we)(?<![ ]I)[ ](?:writes|wrote),?
        (?::(?!\S)|[ ]that\b|:?[ ]?["“>])
  | (?P<printed>{_ADDRESS}|[\w.~-]*/\S{{1,80}}|[\w-]{{1,40}}\.\w{{1,5}})[ ](?:
        returns|returned|prints|printed|reported|stated),?(?::(?!\S)|[ ]that\b|:?[ ]?["“>])
  | (?:(?P<letter>(?:an?[ ]|the[ ])?(?:e-?mail|mail|message|letter|newsletter|comment|review|ticket|post|dm)[ ]
        (?:from|by)[ ][^:\n]{{1,80}}?)
      | (?P<issue>(?:github[ ]|gitlab[ ]|jira[ ])?issue[ ]?\#\d{{1,7}})(?=[ ]?:)
      | (?:fetched|quot(?:ed?|ing)|pasted|copied|forwarded|downloaded|translated|excerpt)[ ](?:from|of|by)[ ]
        (?P<copied>{_ADDRESS}|[^:\n]{{1,80}}?)
      | according[ ]to[ ](?P<by>[^,:\n]{{1,80}}?)(?=[,:])
      | (?P<output>(?:the[ ])?(?:output|result|response|reply|stdout|stderr)[ ](?:of|from)[ ][^:\n]{{1,80}}?)
      | (?P<tool>web[_ ]?(?:fetch|search)|(?:curl|wget)(?:[ ]\S{{1,200}}){{0,9}}?|
          (?:tool|mcp|search|subagent)[ ](?:output|results?|reply)|mcp__\w{{1,80}})
      | (?:from|via|source:?)[ ](?P<address>{_ADDRESS})(?:[ ][(][^()]{{1,60}}[)])?)[ ]?(?::(?!\S)|,[ ])
  | (?P<bare>{_ADDRESS})(?:[ ][(][^()]{{1,60}}[)])?[ ]?:(?!\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A cheap filter: every one of these shapes contains a match, and most lines have none.
_MAY_LEAD = re.compile(
    r":(?![\w/])|,(?!\w)|\b(?:says|said|writes|wrote|return|print|reported|stated|repli|answer|claim|told)",
    re.IGNORECASE,
)
_MACHINE = re.compile(rf"[@/<>`_\\]|\.\w|['’]s |{_ADDRESS}", re.IGNORECASE)
"""What names a page, a file, a program or an address, and no person."""
_GOES_ON = re.compile(r"(?<=[\"“])[^\"”]*[\"”]\W*\w")
_NOT_A_NAME = re.compile(r"[^\w .,@/#:'-]|\s+|https?://|--+")


def is_told(said: str, *also: str) -> bool:
    """Whether a sentence tells in the agent's own words what a person said, and copies nothing.

    Args:
        said: the sentence.
        also: other lead-ins that may name a person: `letter`, `by`.
    """
    found = _lead_in(said)
    kind = found and found.lastgroup
    return bool(found and kind in {"told", "quoted", *also} and not _MACHINE.search(found[kind or 0]))


def _lead_in(said: str) -> re.Match[str] | None:
    """Return what names the source of a sentence: its label, or a lead-in before its words."""
    plain = fold_markdown([said])
    label = _LABEL.match(plain)
    return label if label and label["within"] else _LEAD.match(plain, label.end() if label else 0)


@lru_cache(256)  # neighbouring lines share their headings
def source_in(said: str) -> str:
    """Return the source that a sentence names before its words, or an empty string if they are the agent's own.

    Its name is for use in a line: without marks, and shortened.

    Args:
        said: the sentence, or a heading followed by a colon; a label may precede it.
    """
    if (found := _lead_in(said)) is None:
        return ""
    plain = " ".join(_NOT_A_NAME.sub(" ", found[found.lastgroup or 0]).split()).strip(" .,:'-/")
    return plain[:60].rstrip() or "somebody else"


def without_teller(text: str) -> str:
    """Return a text without the lead-in that says which person told it; whole if words follow what is quoted."""
    found = _LEAD.match(text) if is_told(text) else None
    return text[found.end() :].lstrip() if found and not _GOES_ON.match(text, found.end()) else text


_TIMED = re.compile(
    r"\s*+(?:[-*+]?\s*+(?:\*\*)?\[?(?:\w{3} )?\d{1,2}:\d{2}|(?:[-*+]\s)?\s*+\*{1,3}[^*\n]{1,40}:\*{1,3}\s"
    r"|<[\w|-]{1,30}>\s)"
)
"""A line with a time or a speaker begins a new statement, unless it is quoted."""
_LEADS = re.compile(r"[:：]\s*+(?:<!--[^<>]{0,300}-->\s*+)?\Z")
QUOTED = re.compile(r"\s{0,12}(?:[-*+]\s)?>")
_CALLOUT = re.compile(r"[\s>]{0,24}\[!(?!quote\b|cite\b)\w", re.IGNORECASE)
"""A box that a note's writer set, `> [!note] …`: no quotation, unless it is called one."""
_HEAD = r"[*_]{0,2}[^\W\d_][\w-]{1,20}:[*_]{0,2} "
_SENDER = rf"{_HEAD}[^\n<]{{0,99}}<[^\s<>@]{{1,99}}@[^\s<>]{{1,99}}>[ \t]{{0,9}}\n[ \t]{{0,12}}{_HEAD}"
_MAIL = re.compile(rf"^[ \t]{{0,12}}{_SENDER}", re.MULTILINE)
"""The head of a pasted mail: two lines with a name and a colon, the first of which ends with who sent it."""
_MAIL_ABOVE = re.compile(f"^{_SENDER}", re.MULTILINE)
"""The same outside a list item, with which it would end."""
_BEFORE = 12
"""The number of preceding entries to check: pasted text with blank lines makes several entries."""
ORDERS = re.compile(r"\b(?:always|never|must|do not|don['’]t|rule:)(?!\w)", re.IGNORECASE)
"""What says that something must be done, always or never."""


def _is_quoted(entry: Entry, at: int, words: str) -> bool:
    """Whether one of some lines is quoted, and in no box that a note's writer set."""
    lines = words.split("\n")
    return any(map(QUOTED.match, lines)) and not _boxed(entry.text).issuperset(
        number for number, line in enumerate(lines, at) if QUOTED.match(line)
    )


@lru_cache(4)
def _boxed(text: str) -> frozenset[int]:
    """Return which lines of an entry are in a box that begins its block of quoted lines."""
    found, quoted, boxed = set[int](), False, False
    for number, line in enumerate(text.split("\n")):
        boxed = boxed if quoted else _CALLOUT.match(line) is not None
        quoted = QUOTED.match(line) is not None
        if quoted and boxed:
            found.add(number)
    return frozenset(found)


@lru_cache(4)
def _led(text: str) -> tuple[str, ...]:
    """Return the source above each line of an entry, and above what follows the entry.

    In a captured turn, which is long, a lead-in covers only the quotation after it.
    """
    journal, led, mail = _voice(text) is None, [""], _MAIL.search(text)
    head = mail and mail[0].partition("\n")[0]
    for line in map(without_pointer, text.split("\n")):
        source = "a mail" if line == head else source_in(parse_spoken(line).marked) if _MAY_LEAD.search(line) else ""
        if source and (journal or _LEADS.search(line)):
            led.append(source)
        else:
            led.append(led[-1] if journal or QUOTED.match(line) else "")
    return tuple(led)


# An entry can have a hundred lines, or many megabytes in one line that is queried piece by piece: parse it once.
_voice = lru_cache(4)(lambda text: voice_in(text.partition("\n")[0]))
_act = lru_cache(4)(act_in)
_said = lru_cache(4)(lambda text: said_in_turn(text.split("\n")))
_sealed = lru_cache(4)(lambda seals, path, text: seals.trust_of(path, text.split("\n")))


@dataclass(slots=True)
class Provenance:
    """Decides whose words logs contain, by seals and lead-ins alone.

    Args:
        entries: all entries of each log, in order.
        seals: verify whose words a captured line contains.
        ids: the ids of all items; a mark with another id was copied from elsewhere.
        owner: the owner's names, folded; what the agent tells as the owner's words has no source, as with `the user`.
    """

    entries: Mapping[str, Sequence[Entry]]
    seals: Seals
    ids: Container[str] = ()
    owner: Container[str] = ()
    _above: tuple[Entry | None, str] = field(default=(None, ""), init=False)

    def trust_of(self, entry: Entry, *, decided: bool = False) -> Trust:
        """Return whose word an entry is. In a question or plan, the words are the agent's, but not the decision."""
        trust, act = _sealed(self.seals, entry.path, entry.text), _act(entry.text)
        agents = trust is Trust.OWNER and act and act[0] in {*_TO_QUESTION, Act.PLANNED} and not decided
        return Trust.SELF if agents else trust

    def word(
        self, entry: Entry, at: int, words: str, quote: str = "", *, decides: bool = False, rule: bool = False
    ) -> tuple[Trust, str]:
        """Return whose word some lines of an entry are, and the source if it is external.

        Args:
            entry: the entry.
            at: the first of the lines, from 0.
            words: their text.
            quote: the part that counts; by default all of it.
            decides: whether the decision in the entry's first line counts.
            rule: whether it is a rule, and so external wherever outside text came before.
        """
        if at:  # below a question is what the owner typed in addition to the answer
            act = _act(entry.text)
            decides = bool(act and act[0] in _TO_QUESTION and ARROW in act[2])
        trust = self.trust_of(entry, decided=decides)
        if trust is Trust.OWNER:
            return trust, ""
        if source := self.source(entry, at, words):
            return (Trust.SELF if self._is_testimony(entry, at, words) else Trust.EXTERNAL), source
        told = quote or words
        if self.echoes(entry, told) or (trust is Trust.EXTERNAL and (rule or ORDERS.search(told))):
            return Trust.EXTERNAL, "a tool of its session"
        return Trust.SELF, ""

    def _is_testimony(self, entry: Entry, at: int, words: str) -> bool:
        """Whether lines of a journal tell, sentence by sentence, what a person said, and nothing that was copied in."""
        if _voice(entry.text) is not None or ids_in(words) or self._led_in(entry, at):
            return False
        if _is_quoted(entry, at, words):
            # One quoted line with a label: so minutes set a resolution apart from the talk around it.
            is_label = "\n" not in entry.text and QUOTED.match(entry.text) and _LABEL.match(fold_markdown([entry.text]))
            return bool(is_label) and not ORDERS.search(words) and not source_in(words)
        marked = [parse_spoken(line).marked for line in words.split("\n")]
        found = [line[start:end] for line in marked for start, end in sentences(line)]
        return all(is_told(one) for one in found if source_in(one)) and any(map(source_in, found))

    def echoes(self, entry: Entry, quote: str) -> bool:
        """Whether a quote overlaps a sentence that repeats outside text, as capture recorded it."""
        voice = _voice(entry.text)
        if voice is None or voice[2] is Trust.OWNER or not voice[3]:
            return False
        (said, spans), needle = _said(entry.text), said_in_turn(quote.split("\n"))[0]
        named = voice[3].split(".")
        echoing = [span for number, span in enumerate(spans) if str(number) in named]
        at = said.find(needle) if needle else -1
        if voice[3] == "all" or at < 0:
            return True
        while at >= 0:
            if any(start < at + len(needle) and at < end for start, end in echoing):
                return True
            at = said.find(needle, at + 1)
        return False

    def source(self, entry: Entry, at: int, words: str) -> str:
        """Return the source named in or above a line of an entry, or an empty string.

        Args:
            entry: the entry.
            at: the line, from 0.
            words: the line, with the following ones of the same statement.
        """
        if any(ident not in self.ids for ident in ids_in(words)):
            return "another memory"
        for line in words.split("\n"):
            marked = parse_spoken(without_pointer(line)).marked if _MAY_LEAD.search(line) else ""
            for start, end in sentences(marked):
                if (source := source_in(marked[start:end])) and source.casefold() not in self.owner:
                    return source
        if led := self._led_in(entry, at):
            return "" if led.casefold() in self.owner else led
        return "a quotation" if _is_quoted(entry, at, words) and not self._quotes_owner(entry, at) else ""

    def _quotes_owner(self, entry: Entry, at: int) -> bool:
        """Whether the line above quoted lines says `NAME:`, with the owner's name and nothing else."""
        lines = entry.text.split("\n")
        first = next((n for n in range(at, len(lines)) if QUOTED.match(lines[n])), at)
        while first and QUOTED.match(lines[first - 1]):
            first -= 1
        before = (one.text.split("\n")[-1] for one in self._run(entry))
        above = parse_spoken(without_pointer(lines[first - 1] if first else next(before, ""))).marked
        name = fold_markdown([above]).strip()
        return name.endswith((":", "：")) and name.rstrip(" :：").casefold() in self.owner

    def _led_in(self, entry: Entry, at: int) -> str:
        """Return the source that leads in a line of an entry from above it, or an empty string."""
        if at and (source := _led(entry.text)[at]):
            return source
        if _voice(entry.text) is not None and _TIMED.match(entry.text):  # a quotation may claim a record
            return ""
        if self._above[0] is not entry:  # its headings may name one, or the entries that it continues
            named = [source_in(f"{heading.rstrip(':')}:") for heading in entry.headings]
            leading = (one.text for one in self._run(entry) if _LEADS.search(one.text) or _MAIL_ABOVE.search(one.text))
            self._above = entry, next(filter(None, (*named, *(_led(text)[-1] for text in leading))), "")
        return self._above[1]

    def _run(self, entry: Entry) -> Iterable[Entry]:
        """Yield the preceding entries that an entry continues, nearest first; an entry with a time continues none."""
        entries = self.entries.get(entry.path, ())
        if _TIMED.match(entry.text):
            return
        at = bisect_left(entries, entry.start_line, key=lambda one: one.start_line)
        for one in reversed(entries[max(0, at - _BEFORE) : at]):
            if one.headings != entry.headings:
                return
            yield one
            if _TIMED.match(one.text):
                return
