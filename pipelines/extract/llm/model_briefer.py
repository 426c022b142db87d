"""How language models write the night's brief: the request, and the reply they may give.

A reply is checked only for its form; the caller compares each sentence with what it cites.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Prompt, load_prompt
from pipelines.extract.llm.reply_json import (
    TEXT_LENGTH,
    Faulty,
    Id,
    Reply,
    checked,
    last_object,
    schema_of,
    single_line,
)
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.extract.llm.fallback import Chain


Row = dict[str, Any]
_MOST_SENTENCES = 30
_MOST_CITED = 20


@dataclass(frozen=True, slots=True)
class BriefSentence:
    """A sentence, and the items and days that it cites."""

    text: str
    ids: tuple[str, ...]
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Briefed:
    """The model's proposals.

    Args:
        now: the sentences proposed for the first part of MEMORY.md, in order.
        states: id of a page → the sentences proposed for it, in order.
        purposes: id of a page → what it is for.
        tally: the cost of the call, and the kept replies used.
        failure: why nothing was written, or empty.
    """

    now: Sequence[BriefSentence] = ()
    states: Mapping[str, Sequence[BriefSentence]] = field(default_factory=dict)
    purposes: Mapping[str, str] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ModelBriefer:
    """Language models that write the first part of MEMORY.md and the State of pages.

    Args:
        chain: the models; their caps and kept replies are shared with the reading.
        prompt: the prompt.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("brief"))

    def write(self, data: Row) -> Briefed:
        """Return the model's proposals; it never raises."""
        tally = self.chain.new_tally()
        call = self.prompt.call(data, schema_of(BriefReply), data=data)
        try:
            reply, _ = self.chain.ask(call, _read, tally)
        except ModelFailed as fault:
            return Briefed(tally=tally, failure=fault.sentence)
        return replace(reply, tally=tally)


# ---------------------------------------- what a model may answer


class ReplySentence(Reply):
    """One sentence of a State, with what it rests on before it."""

    ids: Annotated[list[Id], Field(default_factory=list, max_length=_MOST_CITED)]
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH)]


class ReplyNow(ReplySentence):
    """One sentence of MEMORY.md's first part, which may rest on episodes, too."""

    days: Annotated[list[Annotated[str, Field(max_length=10)]], Field(default_factory=list, max_length=_MOST_CITED)]


class ReplyState(Reply):
    """Where a page stands, and what it is for."""

    id: Annotated[str, Field(max_length=300)]
    purpose: Annotated[str, Field(max_length=TEXT_LENGTH)] = ""
    sentences: list[ReplySentence]


class BriefReply(Reply):
    """The whole reply."""

    now: list[ReplyNow]
    states: list[ReplyState]


def _read(text: str) -> Briefed:
    """Return the proposals in a reply. Sentences that break the schema are skipped.

    Raises:
        BadReply: the reply has no such object.
    """
    reply = last_object(text, "now", "states")
    states, purposes = dict[str, "Sequence[BriefSentence]"](), dict[str, str]()
    rows = reply.get("states")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(ident := row.get("id"), str):
            states[ident] = list(_sentences(row.get("sentences"), ReplySentence))
            if isinstance(purpose := row.get("purpose"), str) and (line := single_line(purpose)):
                purposes[ident] = line
    return Briefed(list(_sentences(reply.get("now"), ReplyNow)), states, purposes)


def _sentences(raw: object, kind: type[ReplySentence]) -> Iterator[BriefSentence]:
    for row in raw[:_MOST_SENTENCES] if isinstance(raw, list) else ():
        try:
            one = checked(kind, row)
        except Faulty:
            continue
        if text := single_line(one.text):
            days = one.days if isinstance(one, ReplyNow) else ()
            yield BriefSentence(text, tuple(dict.fromkeys(one.ids)), tuple(dict.fromkeys(days)))
