"""The gate: it decides each candidate's trust by its source, and whether a person must approve it.

Neither a prompt nor a model is a security boundary: code decides here, whoever proposed a candidate, and by no phrase.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, Place, matter_words
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.item import ItemType, Trust, ids_in
from pipelines.store.provenance import ORDERS, QUOTED, Provenance, without_teller
from pipelines.text import without_unseen

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from pipelines.extract.extract_days import DayToRead
    from pipelines.store.log import Entry
    from pipelines.store.session_state import Seals


# ---------------------------------------- the pipeline's own output
# In a log or a transcript it is no evidence; otherwise a memory would prove itself.


# The forms of hits of `curate search`, of citations by its tools, and of evidence in comments and `curate why`.
_DOCUMENT = (
    r"(?:Logs|Projects|Areas|Resources|Archives|Sessions|State)/[^\s:#]{1,200}\.(?:md|jsonl)|"
    r"(?:MEMORY|USER|SOUL|Review)\.md"
)
_HIT = re.compile(
    rf"(?:{_DOCUMENT}):\d{{1,7}}(?:-\d{{1,7}})?(?:  \d{{4}}-\d\d-\d\d|  .{{0,60}}\btrust (?:owner|self|external)|"
    rf"[:)\]] |: )|"
    rf"(?:{_DOCUMENT})#L\d{{1,7}}(?:-L\d{{1,7}})?~[0-9a-f]{{4}}"
)
_ECHOES_LIST = re.compile(
    rf"^\s*(?:[-*+]\s)?(?:\d{{1,2}}:\d{{2}}\s)?(?:\*\*\w+:\*\*\s)?(?:k[0-9a-f]{{8,64}}\b|"
    rf"k[0-9a-f]{{4,64}} (?:Todo|Risk|Question): |(?:{_DOCUMENT}):\d)"
)
_CONTEXT = re.compile(
    r"=== (?:Who you are|Who you work for|What you know|The project|Open todos and risks|"
    r"Open, but not|Procedures, decisions and facts|Yesterday|Last day of work|Today so far|Found for your question)\b|"
    r"\bMemory health: "
)
_JSON = re.compile(r'"(?:start_line|chunk_id|end_line)":\s?\d')


def is_echo(lines: Iterable[str], ids: Container[str]) -> bool:
    """Return whether log lines are this program's own output: rendered items, search hits, the startup context.

    Args:
        lines: the lines that a candidate rests on.
        ids: the ids of all items. A mark with an unknown id was not written by a run, and does not count.
    """
    return any(
        any(ident in ids for ident in ids_in(line))
        or any(pattern.search(line) for pattern in (_HIT, _ECHOES_LIST, _CONTEXT, _JSON))
        for line in map(without_pointer, lines)
    )


class TrustGate:
    """Assigns trust to the candidates of one night.

    Args:
        days: the days read, with all entries of each log.
        seals: prove whose words a captured line holds.
        rules_from: `self` to file the agent's own rules, `owner` to hold them, too.
        ids: the ids of all items.
        owner: the owner's name, folded, or empty.
    """

    def __init__(
        self, days: Iterable[DayToRead], seals: Seals, rules_from: str, ids: frozenset[str], owner: str = ""
    ) -> None:
        names = {owner, owner.partition(" ")[0]} - {""}
        self._provenance = Provenance({day.path: day.entries for day in days}, seals, ids, names)
        self._rules_from, self._ids = rules_from, ids

    def look(self, candidate: Candidate) -> Candidate:
        """Return a candidate with its trust and source, without invisible characters, and inert if not the owner's.

        Its trust is the lowest of what it needs: of the owner's lines, if the others tell no word of it that these do
        not; else of those not quoted, likewise; else of all. What another said names its source; a rule of theirs needs
        a person.
        """
        rows = [(one.entry, at) for one in candidate.places for at in range(one.start_line, one.end_line + 1)]
        lines, needed = [Place.whole(entry, at, at) for entry, at in rows], [*candidate.places]
        matter, said = matter_words(candidate.text), matter_words("\n".join([one.quote for one in lines]))
        theirs = [one for one in lines if self._word(candidate, one)[0] is Trust.OWNER]
        for own in (theirs, [one for one in lines if not QUOTED.match(one.lines[0])]):
            if own and own != lines and not matter & (said - matter_words("\n".join([one.quote for one in own]))):
                needed = own
                break
        looked = [(*self._word(candidate, place), place) for place in needed]
        trust, source, place = max(looked, key=lambda one: (list(Trust).index(one[0]), bool(one[1])))
        told = source and trust is Trust.SELF
        text, doubt = without_unseen(without_teller(candidate.text) if told else candidate.text), ""
        is_rule = candidate.type is ItemType.RULE
        if is_rule and source:
            doubt = f"it is a rule that you did not give; its source is {source}"
        elif is_rule and trust is Trust.SELF and self._rules_from == "owner":
            doubt = "it is the agent's own rule, and your settings accept rules only from you"
        return replace(
            candidate,
            text=text if trust is Trust.OWNER else made_inert(text),
            trust=trust,
            source=source,
            doubt=doubt,
            decider=place if doubt else None,
            echo=is_echo((line for place in candidate.places for line in place.lines), self._ids),
            recited=trust is not Trust.OWNER and voice_in(candidate.entry.head) is not None,
        )

    def word_of(self, entry: Entry, line: str) -> Trust:
        """Return whose word a log line is when it speaks of existing items, for example to close todos.

        Args:
            entry: the entry.
            line: its line. The memory's own words are nobody's word.
        """
        if is_echo([line], self._ids):
            return Trust.UNTRUSTED
        if self._provenance.trust_of(entry) is Trust.OWNER:
            return Trust.OWNER
        at = next((n for n, one in enumerate(entry.text.split("\n")) if line in one), 0)
        if self._provenance.source(entry, at, line) or self._provenance.echoes(entry, line):
            return Trust.EXTERNAL
        return Trust.SELF

    def _word(self, candidate: Candidate, place: Place) -> tuple[Trust, str]:
        """Return a candidate's trust by one of its places, and the source if it is external."""
        entry = place.entry
        return self._provenance.word(
            entry,
            place.start_line - entry.start_line,
            "\n".join(place.lines),
            place.quote,
            decides=candidate.type is ItemType.DECISION,
            rule=candidate.type is ItemType.RULE or ORDERS.search(candidate.text) is not None,
        )


# ---------------------------------------- text made inert
# A document loads nothing, runs nothing and links nowhere outside until a person wants it to.


_LINK = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,500})\]"
    r"\([ \t]{0,3}(?P<target><[^<>\n]{0,2000}>|(?:[^\s()<>]|\([^\s()<>]{0,200}\)){0,2000})(?P<title>[^()\n]{0,300})\)"
)
_LOCAL = re.compile(r"(?!//)[\w./#%-]+")
_OPEN = re.compile(r"\](?=\((?!(?!//)[\w./#%-]{1,2000}\)))")
_AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,2000})>", re.IGNORECASE)
_RUNS = re.compile(
    r"(?<![\w-])(?:java|vb)script\s{0,3}:\s{0,3}\S{1,2000}|"
    r"(?<![\w-])data:[a-z]{1,20}/[a-z0-9.+-]{1,40}[;,]\S{0,4000}",
    re.IGNORECASE,
)
_LOADS = (
    r"/?(?:img|a|script|iframe|object|embed|link|meta|svg|math|form|input|button|base|style|video|audio|source|track|"
    r"picture|frame|frameset|applet|body|html|head|template|portal)\b"
)
# In a code span a tag is shown literally.
_TAG = re.compile(rf"(?<!`)<(?={_LOADS})|<(?={_LOADS}(?![^<>`\n]{{0,200}}>`))", re.IGNORECASE)
_ROUNDS = 4


def made_inert(text: str) -> str:
    """Return a text with its outside links and images disabled; labels stay, and addresses become code.

    Links within the memory stay. What would run (`javascript:`, `data:`) is removed; HTML that loads something is
    escaped.
    """
    if not any(mark in text for mark in ("](", "<", ":")):
        return text
    for _ in range(_ROUNDS):  # an image within a link is the link's label
        before, text = text, _LINK.sub(_plain, text)
        if text == before:
            break
    text = _OPEN.sub("] ", _RUNS.sub("", text)) if "](" in text else _RUNS.sub("", text)
    return _TAG.sub("&lt;", _AUTOLINK.sub(_address, text)).strip()


def _plain(found: re.Match[str]) -> str:
    label, target = found["label"].strip(), found["target"].strip("<>").strip()
    if _LOCAL.fullmatch(target) and not found["title"].strip():
        return found[0]
    if not target or _RUNS.match(target) or _LOCAL.fullmatch(target):
        return label
    return " ".join(filter(None, [label, f"(`{target.replace('`', '')}`)"]))


def _address(found: re.Match[str]) -> str:
    return "" if _RUNS.match(found[1]) else f"`{found[1].replace('`', '')}`"
