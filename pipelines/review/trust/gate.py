"""The gate: where each candidate's words come from, and whether a person is asked before it is believed.

A prompt is no boundary, and neither is a model: whoever proposed a candidate, code decides here, and by no phrase.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.rules.lines import peel, said_in_turn, sentences
from pipelines.review.review import Filed
from pipelines.review.trust.attacks import made_inert
from pipelines.review.trust.sources import source_in
from pipelines.store.evidence import act_in, voice_in, without_pointer
from pipelines.store.item import ItemType, Trust
from pipelines.store.transcripts.acts import ARROW, Act
from pipelines.text import without_unseen

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from pipelines.extract.extract_days import DayToRead
    from pipelines.extract.extraction import Candidate, Place
    from pipelines.store.log import Entry
    from pipelines.store.session_state import Seals


# ---------------------------------------- the pipeline's own output
# come back in a log or a transcript: it is no evidence, or a memory would prove itself.


_COMMENT: Final = re.compile(r"(?:<|&lt;)!-- (k[0-9a-f]{6,64})(?= )")
# A hit of `curate search`, a citation of its tools, evidence as comments and `curate why` have it.
_DOCUMENT: Final = (
    r"(?:Logs|Projects|Areas|Resources|Archives|Sessions|State)/[^\s:#]{1,200}\.(?:md|jsonl)|"
    r"(?:MEMORY|USER|SOUL|Review)\.md"
)
_HIT: Final = re.compile(
    rf"(?:{_DOCUMENT}):\d{{1,7}}(?:-\d{{1,7}})?(?:  \d{{4}}-\d\d-\d\d|  .{{0,60}}\btrust (?:owner|self|external)|"
    rf"[:)\]] |: )|"
    rf"(?:{_DOCUMENT})#L\d{{1,7}}(?:-L\d{{1,7}})?~[0-9a-f]{{4}}"
)
_ECHOES_LIST: Final = re.compile(
    rf"^\s*(?:[-*+]\s)?(?:\d{{1,2}}:\d{{2}}\s)?(?:\*\*\w+:\*\*\s)?(?:k[0-9a-f]{{10}}\b|"
    rf"k[0-9a-f]{{4,64}} (?:Todo|Risk): |(?:{_DOCUMENT}):\d)"
)
_CONTEXT: Final = re.compile(
    r"=== (?:Who you are|Who you work for|What you know|The project|Open todos and risks|"
    r"Yesterday|Today so far|Found for your question)\b|"
    r"\bMemory health: "
)
_JSON: Final = re.compile(r'"(?:start_line|chunk_id|end_line)":\s?\d')


def is_echo(lines: Iterable[str], ids: Container[str]) -> bool:
    """Return whether lines of a log are what this program printed: items as rendered, hits, the startup context.

    Args:
        lines: the lines that a candidate rests on.
        ids: the ids of all items. A comment with another id was not written by a run, and is for the attack reader.
    """
    return any(
        any(found[1] in ids for found in _COMMENT.finditer(line))
        or any(pattern.search(line) for pattern in (_HIT, _ECHOES_LIST, _CONTEXT, _JSON))
        for line in map(without_pointer, lines)
    )


_TIMED: Final = re.compile(
    r"\s*+(?:[-*+>]?\s*+(?:\*\*)?\[?(?:\w{3} )?\d{1,2}:\d{2}|(?:[-*+]\s)?>?\s*+\*{1,3}[^*\n]{1,40}:\*{1,3}\s"
    r"|<[\w|-]{1,30}>\s)"
)
"""What begins with a time or a speaker is a statement of its own."""
_LEADS: Final = re.compile(r"[:：]\s*+(?:<!--[^<>]{0,300}-->\s*+)?\Z")
_QUOTED: Final = re.compile(r"\s{0,12}(?:[-*+]\s)?>")
_BEFORE: Final = 12
"""So many entries above one are looked at: a text that was pasted with blank lines in it is several entries."""
_ORDERS: Final = re.compile(r"\b(?:always|never|must|do not|don['’]t|rule:)(?!\w)", re.IGNORECASE)
_TOOL: Final = "a tool of its session"


class Gate:
    """Looks at the candidates of one night.

    Args:
        days: what was read, with all entries of each log.
        seals: how to know whose words a captured line holds.
        rules_from: `self` where rules of the agent's own journal are filed, `owner` where they wait, too.
        ids: the ids of all items.
    """

    def __init__(self, days: Iterable[DayToRead], seals: Seals, rules_from: str, ids: frozenset[str]) -> None:
        self._entries: Mapping[str, Sequence[Entry]] = {day.path: day.entries for day in days}
        self._seals, self._rules_from, self._ids = seals, rules_from, ids

    def look(self, candidate: Candidate) -> Filed:
        """Return a candidate as it may be kept: without unseen characters, inert where it is not the owner's.

        One that rests on several places is trusted as little as the least of them. What is external names its source,
        and makes no project; where it is a rule, a person is asked.
        """
        looked = [self._word(candidate, place) for place in candidate.places]
        trust, source = max(looked, key=lambda one: list(Trust).index(one[0]))
        text, doubt = without_unseen(candidate.text), ""
        is_rule = candidate.type is ItemType.RULE
        if is_rule and trust is Trust.EXTERNAL:
            doubt = f"is a rule that you did not lay down; its source is {source}"
        elif is_rule and trust is Trust.SELF and self._rules_from == "owner":
            doubt = "is a rule of the agent's own, and your settings take rules from you alone"
        first = candidate.entry.text.partition("\n")[0]
        return Filed(
            replace(
                candidate,
                text=text if trust is Trust.OWNER else made_inert(text),
                trust=trust,
                source=source,
                new_project="" if source else candidate.new_project,
            ),
            doubt=doubt,
            echo=is_echo(candidate.lines, self._ids),
            recited=trust is not Trust.OWNER and voice_in(first) is not None,
        )

    def word_of(self, entry: Entry, line: str) -> Trust:
        """Return whose word a line of a log is, for what it does to items that stand: by it Todos are done.

        Args:
            entry: the entry.
            line: the line of it. The memory's own words are nobody's word.
        """
        if is_echo([line], self._ids):
            return Trust.UNTRUSTED
        trust = self._trust_of(entry)
        at = next((n for n, one in enumerate(entry.text.split("\n")) if line in one), 0)
        if trust is not Trust.OWNER and (self._source(entry, at, line) or self._echoes(entry, line)):
            return Trust.EXTERNAL
        return Trust.OWNER if trust is Trust.OWNER else Trust.SELF

    def _trust_of(self, entry: Entry, *, decided: bool = False) -> Trust:
        """Return whose word an entry is; of a question and of a plan the words are the agent's, the decision is not."""
        trust, act = self._seals.trust_of(entry.path, entry.text.split("\n")), act_in(entry.text)
        agents = trust is Trust.OWNER and act and act[0] in {Act.ANSWERED, Act.PLANNED} and not decided
        return Trust.SELF if agents else trust

    def _word(self, candidate: Candidate, place: Place) -> tuple[Trust, str]:
        """Return whose word a candidate is as far as it rests on one place, and the source of what is external."""
        entry = place.entry
        decided, act = candidate.type is ItemType.DECISION, act_in(entry.text)
        if place.start_line > entry.start_line:  # below a question stands what the owner typed beside the answer
            decided = act is not None and act[0] is Act.ANSWERED and ARROW in act[2]
        trust = self._trust_of(entry, decided=decided)
        if trust is Trust.OWNER:
            return trust, ""
        if source := self._source(entry, place.start_line - entry.start_line, "\n".join(place.lines)):
            return Trust.EXTERNAL, source
        orders = candidate.type is ItemType.RULE or _ORDERS.search(f"{candidate.text} {place.quote}")
        if trust is Trust.EXTERNAL and (orders or self._echoes(entry, place.quote)):
            return trust, _TOOL
        return Trust.SELF, ""

    def _echoes(self, entry: Entry, quote: str) -> bool:
        """Whether a quote holds a part of a sentence that repeats outside text, as capture found it."""
        lines = entry.text.split("\n")
        voice = voice_in(lines[0])
        if voice is None or voice[2] is not Trust.EXTERNAL or not voice[3]:
            return False
        (said, spans), needle = said_in_turn(lines), said_in_turn(quote.split("\n"))[0]
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

    def _source(self, entry: Entry, at: int, words: str) -> str:
        """Return the source that is named before a line of an entry, in it or above it; or an empty string.

        Args:
            entry: the entry.
            at: the line, from 0.
            words: the line, with those that follow of the same statement.
        """
        if any(found[1] not in self._ids for found in _COMMENT.finditer(words)):
            return "another memory"
        lines = [without_pointer(line) for line in entry.text.split("\n")]
        for line in words.split("\n"):
            marked = peel(without_pointer(line)).marked
            for start, end in sentences(marked):
                if source := source_in(marked[start:end]):
                    return source
        journal = voice_in(entry.text.partition("\n")[0]) is None
        for above in range(min(at, len(lines)) - 1, -1, -1):  # a turn is long: there a lead-in leads what it quotes
            source = source_in(peel(lines[above]).marked)
            if source and (journal or _LEADS.search(lines[above])):
                return source
            if not journal and not _QUOTED.match(lines[above]):
                break
        if not journal:
            return ""
        above_all = (source_in(f"{heading.rstrip(':')}:") for heading in entry.headings)
        led = (source_in(peel(one.text.split("\n")[-1]).marked) for one in self._run(entry) if _LEADS.search(one.text))
        return next(filter(None, (*above_all, *led)), "")

    def _run(self, entry: Entry) -> Iterable[Entry]:
        """Yield the entries above one that it goes on with, the nearest first; one with a time begins its own."""
        entries = self._entries.get(entry.path, ())
        at = bisect_left(entries, entry.start_line, key=lambda one: one.start_line)
        for one in reversed(entries[max(0, at - _BEFORE) : at]):
            if _TIMED.match(entry.text) or one.headings != entry.headings:
                return
            yield one
            if _TIMED.match(one.text):
                return
