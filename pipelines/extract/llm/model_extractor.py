"""How a language model reads a day, whoever it is: the pieces, the prompt, the question, the checked answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import Extraction, failures_of
from pipelines.extract.llm.call import Call
from pipelines.extract.llm.concurrency import abreast
from pipelines.extract.llm.prompts import load_prompt
from pipelines.provider_settings import price_of
from pipelines.store.item import fold, folded
from pipelines.usage import FailureKind, Tally, Usage, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice, ExtractionRequest, Extractor, ShownItem
    from pipelines.extract.llm.call import Model, Place
    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.prompts import Prompt
    from pipelines.extract.llm.replies import Replies
    from pipelines.extract.llm.reply_schema import Asked, Faulty
    from pipelines.provider_settings import Prices
    from pipelines.store.log import Entry


# ---------------------------------------- A day's entries as a model reads them
# numbered lines under their headings, cut into pieces that fit a call.


BYTES_A_TOKEN: Final = 4
HEADING_LENGTH: Final = 200
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some entries of a day, in order, and the text that shows them; `shortened` counts entries shown only in part."""

    entries: tuple[Entry, ...]
    text: str
    shortened: int = 0


@dataclass(frozen=True, slots=True)
class _Shown:
    entry: Entry
    context: str
    text: str
    shortened: bool


def cut(entries: Sequence[Entry], tokens: int) -> tuple[Piece, ...]:
    """Return the entries in pieces of at most `tokens`, cut between entries, each with the headings it stands under.

    Args:
        entries: one day's, in order.
        tokens: the most that a piece may hold, counted as four bytes a token.

    Returns:
        Every entry in exactly one piece. One that is too long for a piece is shown by its first lines.
    """
    room = tokens * BYTES_A_TOKEN
    pieces: list[list[_Shown]] = []
    size = 0
    for entry in entries:
        shown = _show(entry, room)
        if not pieces or size + _size(shown) > room:
            pieces.append([])
            size = 0
        pieces[-1].append(shown)
        size += _size(shown)
    return tuple(_piece(shown) for shown in pieces)


def _show(entry: Entry, room: int) -> _Shown:
    context = _context(entry)
    lines = (f"{number}| {_plain(line)}" for number, line in enumerate(entry.text.split("\n"), entry.start_line))
    kept, whole = _within(lines, room - _bytes(context) - 1)
    return _Shown(entry, context, "\n".join(kept), not whole)


def _context(entry: Entry) -> str:
    parts = [fold(" > ".join(entry.headings))[:HEADING_LENGTH]] if entry.headings else []
    parts += [f"project: {fold(entry.project)[:HEADING_LENGTH]}"] if entry.project else []
    return f"## {' / '.join(parts)}" if parts else "##"


def _plain(line: str) -> str:
    return _CONTROLS.sub(" ", line)


def _within(lines: Iterable[str], room: int) -> tuple[list[str], bool]:
    """Return the first lines that fit, the last of them cut short where not even one does, and whether all did."""
    kept: list[str] = []
    for line in lines:
        room -= _bytes(line) + 1
        if room < 0:
            return kept or [line.encode()[: room + _bytes(line) + 1].decode(errors="ignore")], False
        kept.append(line)
    return kept, True


def _size(shown: _Shown) -> int:
    return _bytes(shown.context) + 1 + _bytes(shown.text) + 1


def _bytes(text: str) -> int:
    return len(text.encode())


def _piece(shown: Sequence[_Shown]) -> Piece:
    lines: list[str] = []
    context = "##"
    for one in shown:
        if one.context != context:
            context = one.context
            lines.append(context)
        lines.append(one.text)
    return Piece(tuple(one.entry for one in shown), "\n".join(lines), sum(one.shortened for one in shown))


TASK: Final = "extract"
MOST_FAULTY: Final = 20
_FAULTY_LENGTH: Final = 1500


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Language models as an extractor, and the rules behind them where the user named them last.

    Args:
        chain: who is asked.
        last: who reads a day that no model could read, or None to leave it pending.
        prompt: the extraction prompt.
        at_once: how many pieces of a day are asked about at the same time.
        prices: the user's own prices, before those of the table.
    """

    chain: Chain
    last: Extractor | None = None
    prompt: Prompt = field(default_factory=lambda: load_prompt("extract"))
    at_once: int = 1
    prices: Prices = ()

    @property
    def name(self) -> str:
        """The models and the prompt's version, in the order in which they are asked."""
        return ", ".join(f"{model.name}@{self.prompt.tag}" for model in self.chain.models)

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the candidates of a day, from as many calls as its length needs; a day without entries needs none.

        Raises:
            ModelFailed: no model could read the day, and there is nobody behind them, or nothing but the user's caps
                was in the way. Nothing of the day is returned then: it stays pending as a whole. The failure's `tally`
                says what was spent.
        """
        tally = Tally()
        try:
            read = self._read(request, tally)
        except ModelFailed as fault:
            if self.last is None or fault.kind is FailureKind.OVER_BUDGET:
                fault.tally = tally
                raise
            read = _fallen_back(self.last.extract(request), fault)
        return replace(read, spent=total(tuple(tally.spent)), failures=failures_of(tally), replies=tuple(tally.replies))

    def calls(self, request: ExtractionRequest) -> tuple[Call, ...]:
        """Return the calls that reading a day begins with, one a piece; an item without ground may add one to each."""
        return tuple(one.call(()) for one in self._pieces(request))

    def _pieces(self, request: ExtractionRequest) -> list[_Piece]:
        pieces = enumerate(cut(request.entries, self.chain.input_tokens))
        return [_Piece(self, request, piece, Tally(cost=self._cost), (request.day, number)) for number, piece in pieces]

    def _cost(self, model: str, usage: Usage) -> float | None:
        price = price_of(model, self.prices)
        return price.cost(usage) if price else None

    def _read(self, request: ExtractionRequest, tally: Tally) -> Extraction:
        pieces = self._pieces(request)
        read = list(abreast([one.read for one in pieces], self.at_once, lambda one: one.fault is not None))
        for piece in pieces:
            tally.add(piece.tally)
        if fault := next((one.fault for one in read if one.fault), None):
            raise fault
        candidates = [one for answer in read for one in answer.found]
        dropped = [one for answer in read for one in answer.lost]
        return Extraction(
            tuple(sorted(candidates, key=lambda one: (one.entry.path, one.start_line, one.end_line))),
            dropped=sum(one.ungrounded for one in dropped),
            notes=_notes([one.piece for one in pieces], dropped, sum(one.unlinked for one in candidates)),
        )


@dataclass(frozen=True, slots=True)
class _Read:
    """What came of a piece: its candidates and the items that stay without ground, or why it could not be read."""

    found: Sequence[Candidate] = ()
    lost: Sequence[Faulty] = ()
    fault: ModelFailed | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """One piece of a day, and how it is asked about."""

    extractor: ModelExtractor
    request: ExtractionRequest
    piece: Piece
    tally: Tally
    place: Place

    def read(self) -> _Read:
        """Return the piece's candidates, and the items that stay without ground after they were asked for once more."""
        try:
            found, faulty = self._ask(())
        except ModelFailed as fault:
            return _Read(fault=fault)
        if not faulty:
            return _Read(found)
        try:
            mended, still = self._ask(faulty)
        except ModelFailed:
            return _Read(found, faulty)  # what is right stays right
        said = {(one.type, folded(one.text)) for one in found}
        mended = [one for one in mended if (one.type, folded(one.text)) not in said]
        lost = max(0, len(faulty) - len(mended))
        return _Read(found + mended, (still + faulty)[:lost])

    def _ask(self, faulty: Sequence[Faulty]) -> tuple[list[Candidate], list[Faulty]]:
        from pipelines.extract.llm.reply_schema import candidates_of, read_items  # noqa: PLC0415  brings in pydantic

        items, model = self.extractor.chain.ask(self.call(faulty), read_items, self.tally)
        found, wrong = candidates_of(items, self._asked(), f"{model}@{self.extractor.prompt.tag}")
        return list(found), list(wrong)

    def _asked(self) -> Asked:
        from pipelines.extract.llm.reply_schema import Asked  # noqa: PLC0415  as above

        documents = tuple(choice.id for choice in self.request.documents)
        return Asked(self.piece.entries, documents, self.request.day, tuple(one.id for one in self._shown()))

    def _shown(self) -> tuple[ShownItem, ...]:
        """Return the items of the memory nearest to this piece."""
        return self.request.nearby.nearest(self.piece.text) if self.request.nearby else ()

    def call(self, faulty: Sequence[Faulty]) -> Call:
        """Return the question about this piece, or about what was faulty in the answer to it."""
        prompt, request = self.extractor.prompt, self.request
        items = [json.dumps([one.id, one.type, one.text], ensure_ascii=False) for one in self._shown()]
        values = {
            "day": request.day,
            "documents": [{"id": one.id, "kind": one.kind, "title": fold(one.title)} for one in request.documents],
            "log": self.piece.text,
            "items": items,
            "nonce": nonce("\n".join([*items, self.piece.text]), request.day, request.documents),
            "faulty": [_told(one) for one in faulty[:MOST_FAULTY]],
        }
        rendered = prompt.render(values)
        return Call(TASK, prompt.id, prompt.version, rendered.system, rendered.user, _schema(), place=self.place)


def _told(faulty: Faulty) -> str:
    """Return a faulty item and what is wrong with it as JSON on one line: it can hold no line of its own."""
    item = json.dumps(faulty.item)
    return json.dumps({"item": faulty.item if len(item) <= _FAULTY_LENGTH else item[:500], "wrong": faulty.detail})


def _fallen_back(read: Extraction, fault: ModelFailed) -> Extraction:
    return replace(read, fallback=True, notes=(*read.notes, f"read by the rules alone, for {fault.sentence}"))


def nonce(log: str, day: str, documents: Sequence[DocumentChoice]) -> str:
    """Return the code of the marker lines around the log.

    It is a hash of everything between and before them, so a log cannot hold its own code, and the same day gives the
    same prompt on every machine.
    """
    titles = "\x1f".join(f"{choice.id}\x1e{choice.title}" for choice in documents)
    return hashlib.sha256(f"{day}\x1d{titles}\x1d{log}".encode(errors="surrogatepass")).hexdigest()[:20]


def _schema() -> dict[str, Any]:
    from pipelines.extract.llm.reply_schema import reply_schema  # noqa: PLC0415  brings in pydantic

    return reply_schema()


def _notes(pieces: Sequence[Piece], dropped: Sequence[Faulty], unlinked: int) -> tuple[str, ...]:
    counted = Counter(one.why for one in dropped)
    notes = [f"{count} proposed {_items(count)} dropped: {why}" for why, count in sorted(counted.items())]
    if unlinked:
        notes.append(
            f"{unlinked} proposed {'link was' if unlinked == 1 else 'links were'} left out: not among those shown"
        )
    if shortened := sum(piece.shortened for piece in pieces):
        notes.append(f"{shortened} overlong {'entry was' if shortened == 1 else 'entries were'} read in part")
    return tuple(notes)


def _items(count: int) -> str:
    return "item was" if count == 1 else "items were"


# ---------------------------------------- what a night would cost
# its calls are made up as the night would make them, counted, and not made.


USUAL_OUTPUT: Final = 700
"""The tokens of a usual reply: two to five items of some 150 tokens each. What a model thinks comes on top."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the calls of a night would come to with one model, if it answered all of them.

    Args:
        model: who.
        calls: how many calls are to be paid; one that was answered before is free.
        input_tokens: what they send, at four bytes a token.
        output_tokens: what usual replies hold.
        usd: what that costs, or None where the price is not known.
        most_usd: what it would cost if every reply were as long as is allowed.
    """

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    most_usd: float | None


class Counting:
    """An extractor that makes up the calls of each day, and makes none of them."""

    def __init__(self, reader: ModelExtractor) -> None:
        self.name, self._reader = reader.name, reader
        self.calls: list[Call] = []
        self.days = 0

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Note the calls of a day, and find nothing in it."""
        self.days += 1
        self.calls += self._reader.calls(request)
        return Extraction(())


def unanswered(calls: Sequence[Call], models: Sequence[Model], replies: Replies) -> list[Call]:
    """Return the calls to which no model's reply is kept."""
    return [call for call in calls if not any(replies.find(model, call) for model in models)]


def estimate(calls: Sequence[Call], model: Model, own: Prices) -> Estimate:
    """Return what these calls would come to with one model.

    Args:
        calls: the calls that are to be paid.
        model: who would answer them.
        own: the user's own prices.
    """
    price = price_of(model.name, own)
    sent = [-(-call.bytes // BYTES_A_TOKEN) for call in calls]
    usual = min(USUAL_OUTPUT, model.output_tokens)
    return Estimate(
        model.name,
        len(calls),
        sum(sent),
        usual * len(calls),
        sum(price.cost(Usage(tokens, usual)) for tokens in sent) if price else None,
        sum(price.worst(tokens, model.output_tokens) for tokens in sent) if price else None,
    )
