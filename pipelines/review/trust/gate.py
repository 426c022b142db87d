"""The gate: what each candidate rests on, and whether a person is asked before it is believed.

A prompt is no boundary, and neither is a model: whoever proposed a candidate, code decides here by where its words come
from and by what they ask for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.rules.lines import peel
from pipelines.review.review import Filed
from pipelines.review.trust.attacks import attack_in, made_inert
from pipelines.review.trust.instructions import heads_others_words, instructs, passes_on
from pipelines.store.evidence import act_in, voice_in, without_pointer
from pipelines.store.item import ItemType, Trust
from pipelines.store.transcripts.acts import Act
from pipelines.text import without_unseen

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from pipelines.extract.extract_days import DayToRead
    from pipelines.extract.extraction import Candidate
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


_LEADS: Final = re.compile(r"[:：]\s*+(?:<!--[^<>]{0,300}-->\s*+)?\Z")
_TIMED: Final = re.compile(
    r"\s*+(?:[-*+>]?\s*+(?:\*\*)?\[?(?:\w{3} )?\d{1,2}:\d{2}|(?:[-*+]\s)?>?\s*+\*{1,3}[^*\n]{1,40}:\*{1,3}\s"
    r"|<[\w|-]{1,30}>\s)"
)
"""What begins with a time or a speaker is a statement of its own."""
_LIST: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
_BEFORE: Final = 12
"""So many entries above one are looked at: a text that was pasted with blank lines in it is several entries."""


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
        self._attacks: dict[Entry, str] = {}

    def look(self, candidate: Candidate) -> Filed:
        """Return a candidate as it may be kept: without unseen characters, inert where it is not the owner's.

        One that rests on several places is trusted as little as the least of them.
        """
        places = candidate.places
        looked = [self._look(replace(candidate, places=(place,))) for place in places]
        least = max(looked, key=lambda one: list(Trust).index(one.candidate.trust))
        return replace(
            least,
            candidate=replace(least.candidate, places=places),
            doubt=next((one.doubt for one in looked if one.doubt), ""),
            echo=any(one.echo for one in looked),
            recited=any(one.recited for one in looked),
        )

    def _look(self, candidate: Candidate) -> Filed:
        entry = candidate.entry
        decided = candidate.type is ItemType.DECISION and candidate.start_line == entry.start_line
        trust = self._trust_of(entry, decided=decided)
        if is_echo(candidate.lines, self._ids):
            return Filed(replace(candidate, trust=Trust.EXTERNAL), echo=True)
        text = without_unseen(candidate.text)
        doubt, trust = self._doubt(candidate, text, trust)
        text = text if trust is Trust.OWNER else made_inert(text)
        recited = trust is not Trust.OWNER and voice_in(entry.text.partition("\n")[0]) is not None
        return Filed(replace(candidate, text=text, trust=trust), doubt=doubt, recited=recited)

    def word_of(self, entry: Entry, line: str) -> Trust:
        """Return whose word a line of a log is, for what it does to items that stand: by it Todos are done.

        Args:
            entry: the entry.
            line: the line of it. The memory's own words, and what reads like an attack, are nobody's word; what a
                lead-in ascribes to somebody else is theirs.
        """
        if is_echo([line], self._ids) or self._attack(entry) or self._above(entry):
            return Trust.UNTRUSTED
        if self._trust_of(entry) is Trust.OWNER:
            return Trust.OWNER
        lead, colon, _ = peel(without_pointer(line)).said.partition(":")
        return Trust.EXTERNAL if self._passes_on(entry, lead + colon) else Trust.SELF

    def _trust_of(self, entry: Entry, *, decided: bool = False) -> Trust:
        """Return whose word an entry is; of a question and of a plan the words are the agent's, the decision is not."""
        trust, act = self._seals.trust_of(entry.path, entry.text.split("\n")), act_in(entry.text)
        agents = trust is Trust.OWNER and act and act[0] in {Act.ANSWERED, Act.PLANNED} and not decided
        return Trust.SELF if agents else trust

    def _doubt(self, candidate: Candidate, text: str, trust: Trust) -> tuple[str, Trust]:
        """Return why a person is to be asked, if they are, and the trust that is left."""
        entry = candidate.entry
        if why := attack_in(candidate.text) or self._attack(entry) or self._above(entry):
            return why, trust if Trust.SELF.reaches(trust) else Trust.SELF
        lines = " ".join([text, *candidate.lines])
        orders = instructs(candidate.type, lines if trust is not Trust.EXTERNAL else text)
        if trust is Trust.EXTERNAL:
            if orders:
                return "says how to behave, after words from outside had come into the session", trust
            return "", Trust.SELF  # the agent's own account of what it read is its journal
        if trust is Trust.SELF and orders and self._passes_on(entry, entry.text):
            return "says how to behave, and passes on words from outside", Trust.EXTERNAL
        if trust is Trust.SELF and candidate.type is ItemType.RULE and self._rules_from == "owner":
            return "is a rule of the agent's own, and your settings take rules from you alone", trust
        return "", trust

    def _attack(self, entry: Entry) -> str:
        if entry not in self._attacks:
            self._attacks[entry] = attack_in("\n".join([*entry.headings, entry.text]))
        return self._attacks[entry]

    def _above(self, entry: Entry) -> str:
        """Return why the text that an entry goes on with reads like an attack: paragraphs that were pasted together."""
        why = next((found for one in self._run(entry) if (found := self._attack(one))), "")
        return f"goes on with a text that {why}" if why else ""

    def _passes_on(self, entry: Entry, said: str) -> bool:
        if passes_on(said) or any(map(heads_others_words, entry.headings)):
            return True
        return any(_LEADS.search(one.text) and passes_on(one.text) for one in self._run(entry, lists=True))

    def _run(self, entry: Entry, *, lists: bool = False) -> Iterable[Entry]:
        """Yield the entries above one that it goes on with, the nearest first.

        Args:
            entry: the entry. One with a time begins something of its own.
            lists: whether a list goes on with what leads it in; its items are each other's equals, and otherwise alone.
        """
        entries = self._entries.get(entry.path, ())
        at = bisect_left(entries, entry.start_line, key=lambda one: one.start_line)
        for one in reversed(entries[max(0, at - _BEFORE) : at]):
            if _TIMED.match(entry.text) or one.headings != entry.headings or (_LIST.match(entry.text) and not lists):
                return
            if lists or not _LIST.match(one.text):
                yield one
            if _TIMED.match(one.text):
                return
