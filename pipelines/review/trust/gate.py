"""The gate: it decides each candidate's trust by its source, and whether a person must approve it.

Neither a prompt nor a model is a security boundary: code decides here, whoever proposed a candidate, and by no phrase.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.review.review import Filed
from pipelines.review.trust.attacks import made_inert
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.item import ItemType, Trust
from pipelines.store.provenance import Provenance, gives_orders
from pipelines.text import without_unseen

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from pipelines.extract.extract_days import DayToRead
    from pipelines.extract.extraction import Candidate, Place
    from pipelines.store.log import Entry
    from pipelines.store.session_state import Seals


# ---------------------------------------- the pipeline's own output
# In a log or a transcript it is no evidence; otherwise a memory would prove itself.


_COMMENT: Final = re.compile(r"(?:<|&lt;)!-- (k[0-9a-f]{6,64})(?= )")
# The forms of hits of `curate search`, of citations by its tools, and of evidence in comments and `curate why`.
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
    """Return whether log lines are this program's own output: rendered items, search hits, the startup context.

    Args:
        lines: the lines that a candidate rests on.
        ids: the ids of all items. A comment with an unknown id was not written by a run, and does not count.
    """
    return any(
        any(found[1] in ids for found in _COMMENT.finditer(line))
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
        self._provenance = Provenance({day.path: day.entries for day in days}, seals, ids, owner)
        self._rules_from, self._ids = rules_from, ids

    def look(self, candidate: Candidate) -> Filed:
        """Return a candidate with its trust and source, without invisible characters, and inert if not the owner's.

        Its trust is the lowest of its places. An external candidate names its source and makes no project; if it is a
        rule, a person must approve it.
        """
        looked = [self._word(candidate, place) for place in candidate.places]
        trust, source = max(looked, key=lambda one: list(Trust).index(one[0]))
        text, doubt = without_unseen(candidate.text), ""
        is_rule = candidate.type is ItemType.RULE
        if is_rule and trust is Trust.EXTERNAL:
            doubt = f"it is a rule that you did not give; its source is {source}"
        elif is_rule and trust is Trust.SELF and self._rules_from == "owner":
            doubt = "it is the agent's own rule, and your settings accept rules only from you"
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
        """Return whose word a log line is when it speaks of existing items, for example to close todos.

        Args:
            entry: the entry.
            line: its line. The memory's own words are nobody's word.
        """
        if is_echo([line], self._ids):
            return Trust.UNTRUSTED
        trust = self._provenance.trust_of(entry)
        at = next((n for n, one in enumerate(entry.text.split("\n")) if line in one), 0)
        if trust is not Trust.OWNER and (
            self._provenance.source(entry, at, line) or self._provenance.echoes(entry, line)
        ):
            return Trust.EXTERNAL
        return Trust.OWNER if trust is Trust.OWNER else Trust.SELF

    def _word(self, candidate: Candidate, place: Place) -> tuple[Trust, str]:
        """Return a candidate's trust by one of its places, and the source if it is external."""
        entry = place.entry
        return self._provenance.word(
            entry,
            place.start_line - entry.start_line,
            "\n".join(place.lines),
            place.quote,
            decides=candidate.type is ItemType.DECISION,
            rule=candidate.type is ItemType.RULE or gives_orders(candidate.text),
        )
