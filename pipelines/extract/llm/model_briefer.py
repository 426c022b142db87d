"""How language models write the state of pages and the episodes of days: what they are asked, and what may come back.

What comes back is unchecked but for its form: who asked compares each sentence with the items that it cites.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import load_prompt
from pipelines.extract.llm.model_extractor import BYTES_A_TOKEN, ModelExtractor, new_tally
from pipelines.extract.llm.reply_schema import (  # noqa: TC001  pydantic reads the annotations
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
    from pipelines.extract.llm.call import Prompt
    from pipelines.extract.llm.fallback import Chain
    from pipelines.provider_settings import Prices

    Row = Mapping[str, Any]
    Proposed = tuple[str, tuple[str, ...]]
    """A sentence, and the ids of the items that it is said to rest on."""


_AFTER_ALL: Final = "write"
"""Where its calls stand in the order of the night: behind the days, the review and the verification."""
_MOST_SENTENCES: Final = 12
_MOST_CITED: Final = 20


@dataclass(frozen=True, slots=True)
class Briefed:
    """What came back.

    Args:
        states: id of a page → the sentences proposed for it, in order.
        episodes: day → likewise.
        tally: what the calls came to, and the kept replies that it rests on.
        failure: why something was not written, or empty.
    """

    states: Mapping[str, Sequence[Proposed]] = field(default_factory=dict)
    episodes: Mapping[str, Sequence[Proposed]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


def briefer_of(extractor: Extractor) -> ModelBriefer | None:
    """Return who writes beside an extractor: the same models, or None where it is none of models."""
    return ModelBriefer(extractor.chain, prices=extractor.prices) if isinstance(extractor, ModelExtractor) else None


@dataclass(frozen=True, slots=True)
class ModelBriefer:
    """Language models as those who write.

    Args:
        chain: who is asked; its circuits, caps and kept replies are those of the reading.
        prompt: the prompt.
        prices: the user's own prices, before those of the table.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("brief"))
    prices: Prices = ()

    def write(self, pages: Sequence[Row], days: Sequence[Row]) -> Briefed:
        """Return what is proposed for pages and days, from one call where they fit in one; nothing is raised.

        A call that fails costs its own pages and days their sentences, and so do the calls behind it.
        """
        tally, states, episodes, failure = new_tally(self.prices), dict[str, Any](), dict[str, Any](), ""
        for number, part in enumerate(_parts(pages, days, self.chain.input_tokens)):
            lines = {name: [json.dumps(row, ensure_ascii=False) for row in rows] for name, rows in part.items()}
            # A hash of all that stands between the marker lines, so none can hold it.
            values = {**lines, "nonce": hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:20]}
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
    """Yield pages and days in parts that fit a call."""
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
    """Return what a reply's text proposes: `states` and `episodes`, by page and by day.

    What breaks the schema is passed over, sentence by sentence.

    Raises:
        BadReply: no object of the kind is in it.
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
