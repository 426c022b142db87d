"""How language models write states and episodes: the request, and the replies they may give.

Replies are checked only for their form; the caller compares each sentence with the items it cites.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Prompt, json_lines, load_prompt
from pipelines.extract.llm.model_extractor import BYTES_A_TOKEN, ModelExtractor
from pipelines.extract.llm.reply_schema import (
    TEXT_LENGTH,
    Faulty,
    Id,
    Reply,
    checked,
    last_object,
    reply_schema,
    single_line,
)
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.extract.extraction import Extractor
    from pipelines.extract.llm.fallback import Chain

    Row = Mapping[str, Any]
    Proposed = tuple[str, tuple[str, ...]]
    """A sentence, and the ids that it cites."""


_AFTER_ALL: Final = "write"
"""The position of its calls in the night: after the days, the review and the verification."""
_MOST_SENTENCES: Final = 12
_MOST_CITED: Final = 20


@dataclass(frozen=True, slots=True)
class Briefed:
    """The model's proposals.

    Args:
        states: id of a page → the sentences proposed for it, in order.
        episodes: day → the sentences proposed for it, in order.
        tally: the cost of the calls, and the kept replies used.
        failure: why something was not written, or empty.
    """

    states: Mapping[str, Sequence[Proposed]] = field(default_factory=dict)
    episodes: Mapping[str, Sequence[Proposed]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


def briefer_of(extractor: Extractor) -> ModelBriefer | None:
    """Return a briefer with an extractor's models, or None if the extractor has none."""
    return ModelBriefer(extractor.chain) if isinstance(extractor, ModelExtractor) else None


@dataclass(frozen=True, slots=True)
class ModelBriefer:
    """Language models that write states and episodes.

    Args:
        chain: the models; their circuits, caps and kept replies are shared with the reading.
        prompt: the prompt.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("brief"))

    def write(self, pages: Sequence[Row], days: Sequence[Row]) -> Briefed:
        """Return proposals for pages and days, in one call if they fit; it never raises.

        If a call fails, its pages and days, and those of later calls, get no sentences.
        """
        tally, states, episodes, failure = self.chain.new_tally(), dict[str, Any](), dict[str, Any](), ""
        for number, part in enumerate(_parts(pages, days, self.chain.input_tokens)):
            values = {name: json_lines(rows) for name, rows in part.items()}
            call = self.prompt.call(values, reply_schema(BriefReply), data=part, place=(_AFTER_ALL, number))
            try:
                reply, _ = self.chain.ask(call, _read, tally)
            except ModelFailed as fault:
                failure = fault.sentence
                break
            states |= reply["states"]
            episodes |= reply["episodes"]
        return Briefed(states, episodes, tally, failure)


def _parts(pages: Sequence[Row], days: Sequence[Row], tokens: int) -> Iterator[dict[str, list[Row]]]:
    """Yield the pages and days in parts, one per call."""
    part: dict[str, list[Row]] = {"pages": [], "days": []}
    size = 0
    for name, row in [*(("pages", one) for one in pages), *(("days", one) for one in days)]:
        length = len(json.dumps(row, ensure_ascii=False).encode())
        if size and size + length > tokens * BYTES_A_TOKEN:
            yield part
            part, size = {"pages": [], "days": []}, 0
        part[name].append(row)
        size += length
    if size:
        yield part


# ---------------------------------------- what a model may answer


class ReplySentence(Reply):
    """One sentence, with what it rests on before it."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=_MOST_CITED)]
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH, description="One plain sentence.")]


Sentences = Annotated[list[ReplySentence], Field(max_length=_MOST_SENTENCES)]


class ReplyState(Reply):
    """Where a page stands."""

    id: Annotated[str, Field(max_length=300, description="The page's id.")]
    sentences: Sentences


class ReplyEpisode(Reply):
    """What happened on a day."""

    day: Annotated[str, Field(max_length=10, description="YYYY-MM-DD")]
    sentences: Sentences


class BriefReply(Reply):
    """The whole reply."""

    states: list[ReplyState]
    episodes: list[ReplyEpisode]


def _read(text: str) -> dict[str, dict[str, list[Proposed]]]:
    """Return the proposals in a reply: `states` and `episodes`, by page and by day.

    Sentences that break the schema are skipped.

    Raises:
        BadReply: the reply has no such object.
    """
    reply = last_object(text, "states", "episodes")
    return {name: dict(_rows(reply.get(name), key)) for name, key in (("states", "id"), ("episodes", "day"))}


def _rows(raw: object, key: str) -> Iterator[tuple[str, list[Proposed]]]:
    for row in raw if isinstance(raw, list) else ():
        name, given = (row.get(key), row.get("sentences")) if isinstance(row, dict) else ("", None)
        if isinstance(name, str) and isinstance(given, list):
            yield name, list(_sentences(given[:_MOST_SENTENCES]))


def _sentences(raw: Sequence[object]) -> Iterator[Proposed]:
    for row in raw:
        try:
            one = checked(ReplySentence, row)
        except Faulty:
            continue
        if text := single_line(one.text):
            yield text, tuple(dict.fromkeys(one.ids))
