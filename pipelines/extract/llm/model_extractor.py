"""How language models read a day, whoever they are: the pieces, the question, the checked answer, and what it costs."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import Extraction
from pipelines.extract.llm.call import load_prompt
from pipelines.extract.llm.concurrency import ordered_map
from pipelines.provider_settings import price_of
from pipelines.store.item import fold, folded
from pipelines.usage import FailureKind, Tally, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.extract.extraction import Candidate, DocumentChoice, ExtractionRequest, Extractor
    from pipelines.extract.llm.call import Call, Model, Prompt
    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.replies import Replies
    from pipelines.extract.llm.reply_schema import Faulty
    from pipelines.provider_settings import Prices
    from pipelines.store.item import Item
    from pipelines.store.log import Entry

    Outcome = tuple[Sequence[Candidate], Sequence[Faulty], Tally, ModelFailed | None]


BYTES_A_TOKEN: Final = 4
HEADING_LENGTH: Final = 200
MOST_FAULTY: Final = 20
USUAL_OUTPUT: Final = 700
"""The tokens of a usual reply: two to five items of some 150 tokens each. What a model thinks comes on top."""
_FAULTY_LENGTH: Final = 1500
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


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
        pieces = cut(request.entries, self.chain.input_tokens)
        work = [partial(self._read, request, number, piece) for number, piece in enumerate(pieces)]
        outcomes = list(ordered_map(work, self.at_once, lambda outcome: outcome[-1] is not None))
        tally = Tally()
        for _, _, spent, _ in outcomes:
            tally.add(spent)
        fault = next((one for *_, one in outcomes if one), None)
        if fault is None:
            candidates = [one for found, *_ in outcomes for one in found]
            dropped = [one for _, lost, *_ in outcomes for one in lost]
            read = Extraction(
                tuple(sorted(candidates, key=lambda one: (one.entry.path, one.start_line, one.end_line))),
                dropped=sum(one.ungrounded for one in dropped),
                notes=_notes(pieces, dropped, sum(one.unlinked for one in candidates)),
            )
        elif self.last is None or fault.kind is FailureKind.OVER_BUDGET:
            fault.tally = tally
            raise fault
        else:
            read = self.last.extract(request)
            read = replace(read, fallback=True, notes=(*read.notes, f"read by the rules alone, for {fault.sentence}"))
        return replace(read, tally=tally)

    def calls(self, request: ExtractionRequest) -> tuple[Call, ...]:
        """Return the calls that reading a day begins with, one a piece; an item without ground may add one to each."""
        pieces = enumerate(cut(request.entries, self.chain.input_tokens))
        return tuple(self._call(request, number, piece, _nearest(request, piece), ()) for number, piece in pieces)

    def _read(self, request: ExtractionRequest, number: int, piece: Piece) -> Outcome:
        """Return a piece's candidates, the items that stay without ground, what was spent, and why it failed, if so.

        What cannot be used is asked for once more.
        """
        from pipelines.extract.llm.reply_schema import candidates_of, read_items  # noqa: PLC0415  brings in pydantic

        tally, shown = new_tally(self.prices), _nearest(request, piece)
        held, ids = replace(request, entries=piece.entries), frozenset(one.id for one in shown)

        def ask(faulty: Sequence[Faulty]) -> tuple[tuple[Candidate, ...], tuple[Faulty, ...]]:
            items, model = self.chain.ask(self._call(request, number, piece, shown, faulty), read_items, tally)
            return candidates_of(items, held, f"{model}@{self.prompt.tag}", ids)

        try:
            found, faulty = ask(())
        except ModelFailed as fault:
            return (), (), tally, fault
        if not faulty:
            return found, (), tally, None
        try:
            mended, still = ask(faulty)
        except ModelFailed:
            return found, faulty, tally, None  # what is right stays right
        said = {(one.type, folded(one.text)) for one in found}
        mended = tuple(one for one in mended if (one.type, folded(one.text)) not in said)
        lost = max(0, len(faulty) - len(mended))
        return found + mended, (still + faulty)[:lost], tally, None

    def _call(
        self, request: ExtractionRequest, number: int, piece: Piece, shown: Sequence[Item], faulty: Sequence[Faulty]
    ) -> Call:
        """Return the question about a piece, or about what was faulty in the answer to it."""
        from pipelines.extract.llm.reply_schema import reply_schema  # noqa: PLC0415  as above

        items = [json.dumps([one.id, one.type, one.text], ensure_ascii=False) for one in shown]
        values = {
            "day": request.day,
            "documents": shown_documents(request.documents),
            "log": piece.text,
            "items": items,
            "nonce": nonce("\n".join([*items, piece.text]), request.day, request.documents),
            "faulty": [_faulty_line(one) for one in faulty[:MOST_FAULTY]],
        }
        return self.prompt.call(values, reply_schema(), place=(request.day, number))


def new_tally(prices: Prices) -> Tally:
    """Return a tally that counts what calls cost; the user's own prices come before those of the table."""

    def cost(model: str, usage: Usage) -> float | None:
        price = price_of(model, prices)
        return price.cost(usage) if price else None

    return Tally(cost=cost)


def shown_documents(documents: Iterable[DocumentChoice]) -> list[dict[str, str]]:
    """Return the closed list of documents as a prompt shows it."""
    return [{"id": one.id, "kind": one.kind, "title": fold(one.title)} for one in documents]


def nonce(log: str, day: str, documents: Sequence[DocumentChoice]) -> str:
    """Return the code of the marker lines around the log.

    It is a hash of everything between and before them, so a log cannot hold its own code, and the same day gives the
    same prompt on every machine.
    """
    titles = "\x1f".join(f"{choice.id}\x1e{choice.title}" for choice in documents)
    return hashlib.sha256(f"{day}\x1d{titles}\x1d{log}".encode(errors="surrogatepass")).hexdigest()[:20]


def _nearest(request: ExtractionRequest, piece: Piece) -> Sequence[Item]:
    """Return the items of the memory nearest to a piece."""
    return request.nearby.nearest(piece.text) if request.nearby else ()


def _faulty_line(faulty: Faulty) -> str:
    """Return a faulty item and what is wrong with it as JSON on one line: it can hold no line of its own."""
    item = json.dumps(faulty.item)
    return json.dumps({"item": faulty.item if len(item) <= _FAULTY_LENGTH else item[:500], "wrong": faulty.detail})


def _notes(pieces: Sequence[Piece], dropped: Sequence[Faulty], unlinked: int) -> tuple[str, ...]:
    counted = Counter(one.why for one in dropped)
    notes = [
        f"{count} proposed {'item was' if count == 1 else 'items were'} dropped: {why}"
        for why, count in sorted(counted.items())
    ]
    if unlinked:
        links = "link was" if unlinked == 1 else "links were"
        notes.append(f"{unlinked} proposed {links} left out: not among those shown")
    if shortened := sum(piece.shortened for piece in pieces):
        notes.append(f"{shortened} overlong {'entry was' if shortened == 1 else 'entries were'} read in part")
    return tuple(notes)


# ---------------------------------------- a day's entries as a model reads them: numbered lines under their headings


@dataclass(frozen=True, slots=True)
class Piece:
    """Some entries of a day, in order, and the text that shows them; `shortened` counts entries shown only in part."""

    entries: tuple[Entry, ...]
    text: str
    shortened: int = 0


def cut(entries: Iterable[Entry], tokens: int) -> tuple[Piece, ...]:
    """Return the entries in pieces of at most `tokens`, cut between entries, each with the headings it stands under.

    Args:
        entries: one day's, in order.
        tokens: the most that a piece may hold, counted as four bytes a token.

    Returns:
        Every entry in exactly one piece. One that is too long for a piece is shown by its first lines.
    """
    room = tokens * BYTES_A_TOKEN
    pieces: list[list[tuple[Entry, str, str, bool]]] = []
    size = 0
    for entry in entries:
        context = _context(entry)
        text, is_whole = _shown(entry, room - _bytes(context) - 1)
        needed = _bytes(context) + 1 + _bytes(text) + 1
        if not pieces or size + needed > room:
            pieces.append([])
            size = 0
        pieces[-1].append((entry, context, text, is_whole))
        size += needed
    return tuple(map(_joined, pieces))


def _context(entry: Entry) -> str:
    parts = [fold(" > ".join(entry.headings))[:HEADING_LENGTH]] if entry.headings else []
    parts += [f"project: {fold(entry.project)[:HEADING_LENGTH]}"] if entry.project else []
    return f"## {' / '.join(parts)}" if parts else "##"


def _shown(entry: Entry, room: int) -> tuple[str, bool]:
    """Return the first lines that fit, the last of them cut short where not even one does, and whether all did."""
    kept: list[str] = []
    for number, words in enumerate(entry.text.split("\n"), entry.start_line):
        line = f"{number}| {_CONTROLS.sub(' ', words)}"
        if _bytes(line) + 1 > room:
            return "\n".join(kept or [line.encode()[:room].decode(errors="ignore")]), False
        room -= _bytes(line) + 1
        kept.append(line)
    return "\n".join(kept), True


def _joined(shown: Sequence[tuple[Entry, str, str, bool]]) -> Piece:
    lines: list[str] = []
    above = "##"
    for _, context, text, _ in shown:
        lines += [text] if context == above else [context, text]
        above = context
    return Piece(tuple(entry for entry, *_ in shown), "\n".join(lines), sum(not whole for *_, whole in shown))


def _bytes(text: str) -> int:
    return len(text.encode())


# ---------------------------------------- what a night would cost: its calls are made up, counted, and not made


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
