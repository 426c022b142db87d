"""How language models write the night's brief: the request, and the reply they may give.

A reply is checked only for its form; the caller compares each sentence with what it cites.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Field

from pipelines.extract.llm.call import load_prompt
from pipelines.extract.llm.reply_json import (
    Faulty,
    Id,
    Reply,
    Sentence,
    Text,
    checked,
    last_object,
    schema_of,
    single_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.extract.llm.fallback import Chain
    from pipelines.usage import Tally


Row = dict[str, Any]
_MOST_SENTENCES = 30
_MOST_CITED = 20


class ModelBriefer(NamedTuple):
    """Language models that write the first part of MEMORY.md and the State of pages.

    Args:
        chain: the models; their caps and kept replies are shared with the reading.
    """

    chain: Chain

    def write(self, data: Row, stated: Sequence[str], tally: Tally) -> Briefed:
        """Return the model's proposals.

        Args:
            data: what it is shown.
            stated: the ids of the pages that should have a State; the others speak for themselves.
            tally: counts what the call costs.

        Raises:
            ModelFailed: no model gave any.
        """
        call = load_prompt("brief").call({**data, "stated": stated}, schema_of(BriefReply), data=data)
        return self.chain.ask(call, _read, tally)[0]


# ---------------------------------------- what a model may answer


class ReplySentence(Reply):
    """One sentence of a State, with what it rests on before it."""

    ids: Annotated[list[Id], Field(default_factory=list, max_length=_MOST_CITED)]
    text: Sentence


class ReplyNow(ReplySentence):
    """One sentence of MEMORY.md's first part, which may rest on episodes, too."""

    days: Annotated[list[Annotated[str, Field(max_length=10)]], Field(default_factory=list, max_length=_MOST_CITED)]


class ReplyState(Reply):
    """Where a page stands, and what it is for."""

    id: Annotated[str, Field(max_length=300)]
    purpose: Text = ""
    sentences: list[ReplySentence]


class BriefReply(Reply):
    """The whole reply."""

    now: list[ReplyNow]
    states: list[ReplyState]


class Briefed(NamedTuple):
    """The model's proposals.

    Args:
        now: the sentences proposed for the first part of MEMORY.md, in order.
        states: id of a page → the sentences proposed for it, in order.
        purposes: id of a page → what it is for.
    """

    now: Sequence[ReplyNow]
    states: Mapping[str, Sequence[ReplyNow]]
    purposes: Mapping[str, str]


def _read(text: str) -> Briefed:
    """Return the proposals in a reply. Sentences that break the schema are skipped.

    Raises:
        BadReply: the reply has no such object.
    """
    reply = last_object(text, "now", "states")
    states, purposes = dict[str, "Sequence[ReplyNow]"](), dict[str, str]()
    rows = reply.get("states")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(ident := row.get("id"), str):
            states[ident] = list(_sentences(row.get("sentences")))
            if isinstance(purpose := row.get("purpose"), str) and (line := single_line(purpose)):
                purposes[ident] = line
    return Briefed(list(_sentences(reply.get("now"))), states, purposes)


def _sentences(raw: object) -> Iterator[ReplyNow]:
    for row in raw[:_MOST_SENTENCES] if isinstance(raw, list) else ():
        with suppress(Faulty):
            yield checked(ReplyNow, row)
