"""How any language model reads a day: the pieces, the request, the checked reply, and the cost."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import (
    Candidate,
    DocumentChoice,
    Extraction,
    ExtractionRequest,
    Extractor,
    Operation,
    shown_text,
    with_weekday,
)
from pipelines.extract.llm.call import Call, Model, Prompt, json_lines, load_prompt
from pipelines.extract.llm.concurrency import ordered_map
from pipelines.provider_settings import added_tokens, price_of
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.item import Item, Trust, folded
from pipelines.store.secrets import holds_secret
from pipelines.store.spoken_lines import parse_spoken
from pipelines.text import fold
from pipelines.usage import FailureKind, Tally, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.replies import Replies
    from pipelines.extract.llm.reply_schema import Faulty
    from pipelines.provider_settings import Prices
    from pipelines.store.log import Entry

    Outcome = tuple[Extraction, Sequence[Faulty], Tally, ModelFailed | None]


BYTES_A_TOKEN: Final = 4
HEADING_LENGTH: Final = 200
MOST_FAULTY: Final = 20
USUAL_OUTPUT: Final = 700
"""The tokens of a usual reply: two to five items of about 150 tokens each, without thinking."""
_FAULTY_LENGTH: Final = 1500
_MOST_LINES: Final = 8
"""The most lines that a note names."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Language models as an extractor, with the rules as the last resort if the user named them.

    Args:
        chain: the models.
        last: reads a day that no model could read; None to leave it pending.
        prompt: the extraction prompt.
        at_once: how many pieces of a day to read in parallel.
    """

    chain: Chain
    last: Extractor | None = None
    prompt: Prompt = field(default_factory=lambda: load_prompt("extract"))
    at_once: int = 1

    @property
    def name(self) -> str:
        """The models, in order, with the prompt's version."""
        return ", ".join(f"{model.name}@{self.prompt.tag}" for model in self.chain.models)

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the extraction of a day, from as many calls as its length needs; an empty day needs none.

        Raises:
            ModelFailed: no model could read the day, and there is no last resort, or only the user's caps were in the
                way. The whole day stays pending. The failure's `tally` counts what was spent.
        """
        pieces = cut(request.entries, self.chain.input_tokens)
        work = [partial(self._read, request, number, piece) for number, piece in enumerate(pieces)]
        outcomes = list(ordered_map(work, self.at_once, lambda outcome: outcome[-1] is not None))
        tally = Tally()
        for *_, spent, _ in outcomes:
            tally.add(spent)
        fault = next((one for *_, one in outcomes if one), None)
        if fault is None:
            read = _joined_outcomes(request, pieces, outcomes)
        elif self.last is None or fault.kind is FailureKind.OVER_BUDGET:
            fault.tally = tally
            raise fault
        else:
            read = self.last.extract(request)
            read = replace(read, fallback=True, notes=(*read.notes, f"read by the rules alone: {fault.sentence}"))
        return replace(read, tally=tally)

    def calls(self, request: ExtractionRequest) -> tuple[Call, ...]:
        """Return a day's first calls, one per piece; ungrounded items may add a second one to each."""
        pieces = enumerate(cut(request.entries, self.chain.input_tokens))
        return tuple(self._call(request, number, piece, _Shown.beside(request, piece), ()) for number, piece in pieces)

    def _read(self, request: ExtractionRequest, number: int, piece: LogPiece) -> Outcome:
        """Return a piece's extraction, the faulty parts that remain, the tally, and the failure, if any.

        Faulty parts are asked for once more, showing only their own lines.
        """
        from pipelines.extract.llm.reply_schema import (  # noqa: PLC0415  imports pydantic
            candidates_of,
            operations_of,
            read_reply,
        )

        tally, shown = self.chain.new_tally(), _Shown.beside(request, piece)
        held = replace(request, entries=piece.entries)

        def ask(asked: LogPiece, faulty: Sequence[Faulty]) -> tuple[Extraction, tuple[Faulty, ...]]:
            call = self._call(request, number, asked, shown, faulty)
            reply, model = self.chain.ask(call, read_reply, tally)
            if reply is None and faulty:
                return Extraction(()), ()  # no correction; the faulty parts stay out
            if reply is None:
                from pipelines.extract.rules.rules_extractor import RulesExtractor  # noqa: PLC0415  rarely needed

                return RulesExtractor().extract(held), ()
            by = f"{model}@{self.prompt.tag}"
            candidates, lost = candidates_of(reply["items"], held, by, shown.items)
            operations, unusable = operations_of(reply["operations"], held, by, shown.items)
            return Extraction(candidates, operations), lost + unusable

        try:
            found, faulty = ask(piece, ())
        except ModelFailed as fault:
            return Extraction(()), (), tally, fault
        if not faulty:
            return found, (), tally, None
        try:
            mended, still = ask(_lines_of(faulty, piece, self.chain.input_tokens), faulty)
        except ModelFailed:
            return found, faulty, tally, None  # keep what was correct
        known = {(one.type, folded(one.text)) for one in found.candidates}
        new = tuple(one for one in mended.candidates if (one.type, folded(one.text)) not in known)
        more = tuple(one for one in mended.operations if one not in found.operations)
        lost = max(0, len(faulty) - len(new) - len(more))
        both = Extraction(found.candidates + new, found.operations + more)
        return both, (still + faulty)[:lost], tally, None

    def _call(
        self, request: ExtractionRequest, number: int, piece: LogPiece, shown: _Shown, faulty: Sequence[Faulty]
    ) -> Call:
        """Return the call for a piece, or for the faulty parts of its reply."""
        from pipelines.extract.llm.reply_schema import reply_schema  # noqa: PLC0415  as above

        listed = shown_documents(request.documents)
        wrong = [_faulty_row(one) for one in faulty[:MOST_FAULTY]]
        values = {
            "day": with_weekday(request.day),
            "documents": listed,
            "log": piece.text,
            "items": json_lines((*shown.open, *shown.near)),
            "faulty": json_lines(wrong),
        }
        data = {
            "day": request.day,
            "entries": [_entry_row(one) for one in piece.entries],
            "documents": listed,
            "open": shown.open,
            "near": shown.near,
        }
        if wrong:
            data["faulty"] = wrong
        return self.prompt.call(values, reply_schema(), data=data, place=(request.day, number))


def _joined_outcomes(request: ExtractionRequest, pieces: Sequence[LogPiece], outcomes: Sequence[Outcome]) -> Extraction:
    """Return what the replies to all pieces say, and what labels say that the replies leave out."""
    from pipelines.extract.rules.passed_over import passed_over  # noqa: PLC0415  compiles the rules' patterns

    said: list[Candidate | Operation] = []
    for read, *_ in outcomes:
        said += [*read.candidates, *read.operations]
    kept = [one for one in said if not _would_hold_secret(one)]
    dropped = [one for _, lost, *_ in outcomes for one in lost]
    candidates = [one for one in kept if isinstance(one, Candidate)]
    reply = Extraction(tuple(candidates), tuple(one for one in kept if isinstance(one, Operation)))
    secret = _counted(len(said) - len(kept), "it would hold a secret")
    return replace(
        reply,
        candidates=tuple(sorted([*candidates, *passed_over(request, reply)], key=_position)),
        dropped=sum(one.ungrounded for one in dropped),
        notes=(*_notes(pieces, dropped, sum(one.unlinked for one in candidates)), *secret),
    )


def _would_hold_secret(one: Candidate | Operation) -> bool:
    """Whether a line of a page would hold a secret with what a model wrote."""
    title = (one.name, one.new_project) if isinstance(one, Candidate) else ()
    return any(map(holds_secret, filter(None, (one.text, one.reason, *title))))


@dataclass(frozen=True, slots=True)
class _Shown:
    """The existing items shown to a model with a piece: as rows, open ones apart, and by id."""

    open: list[dict[str, str]]
    near: list[dict[str, str]]
    items: dict[str, Item]

    @classmethod
    def beside(cls, request: ExtractionRequest, piece: LogPiece) -> _Shown:
        """Return the items to show with a piece: all open ones, and those near to the piece."""
        if request.nearby is None:
            return cls([], [], {})
        names = {one.document: one.id for one in request.documents}
        pending, near = request.nearby.open, request.nearby.nearest(piece.text)
        rows = [{**item_row(item, names.get(home, home)), "due": item.due} for home, item in pending]
        others = [{**item_row(item, names.get(home, home)), "status": item.status.value} for home, item in near]
        return cls(rows, others, {item.id: item for _, item in (*pending, *near)})


def item_row(item: Item, document: str) -> dict[str, str]:
    """Return an item as a row for a model."""
    text = shown_text(item.text)
    return {"id": item.id, "type": item.type.value, "text": text, "document": document, "since": item.since}


def _entry_row(entry: Entry) -> dict[str, object]:
    """Return an entry as data."""
    first = entry.text.partition("\n")[0]
    voice = voice_in(first)
    return {
        "line": entry.start_line,
        "end_line": entry.end_line,
        "text": "\n".join(map(without_pointer, entry.text.split("\n"))),
        "headings": list(entry.headings),
        "project": entry.project,
        "speaker": parse_spoken(first).speaker,
        "trust": str(voice[2] if voice else Trust.SELF),
    }


def _position(one: Candidate) -> tuple[str, int, int]:
    place = one.places[0]
    return place.entry.path, place.start_line, place.end_line


def _lines_of(faulty: Sequence[Faulty], piece: LogPiece, tokens: int) -> LogPiece:
    """Return the entries of a piece that faulty parts cite; the whole piece if a part cites nothing in it."""
    kept: set[int] = set()
    for one in faulty:
        cited = _cited(one)
        found = {
            at
            for at, entry in enumerate(piece.entries)
            if any(entry.start_line <= line <= entry.end_line for line in cited)
        }
        if not found:
            return piece
        kept |= found
    return cut([piece.entries[at] for at in sorted(kept)], tokens)[0]


def _cited(faulty: Faulty) -> list[int]:
    """Return the first line of each place that a faulty part cites."""
    rows = faulty.item.get("evidence") if isinstance(faulty.item, dict) else None
    lines = [row.get("start_line") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [line for line in lines if isinstance(line, int)]


def shown_documents(documents: Iterable[DocumentChoice]) -> list[dict[str, str]]:
    """Return the closed list of documents for a prompt."""
    return [{"id": one.id, "kind": one.kind, "title": fold(one.title)} for one in documents]


def _faulty_row(faulty: Faulty) -> dict[str, object]:
    """Return a faulty part of a reply and its fault, for one line of JSON."""
    item = json.dumps(faulty.item)
    return {"item": faulty.item if len(item) <= _FAULTY_LENGTH else item[:500], "wrong": faulty.detail}


def _counted(count: int, why: str) -> list[str]:
    return [f"{count} proposed {'item was' if count == 1 else 'items were'} dropped: {why}"] if count else []


def _notes(pieces: Sequence[LogPiece], dropped: Sequence[Faulty], unlinked: int) -> tuple[str, ...]:
    counted = Counter(one.why for one in dropped)
    notes = []
    for why, count in sorted(counted.items()):
        lines = sorted({line for one in dropped if one.why == why for line in _cited(one)})
        at = f" ({'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines[:_MOST_LINES]))})" if lines else ""
        notes += [f"{note}{at}" for note in _counted(count, why)]
    if unlinked:
        links = "link was" if unlinked == 1 else "links were"
        notes.append(f"{unlinked} proposed {links} dropped: not among the items shown")
    if shortened := sum(piece.shortened for piece in pieces):
        notes.append(f"{shortened} overlong {'entry was' if shortened == 1 else 'entries were'} read only in part")
    return tuple(notes)


# ---------------------------------------- a day's entries as shown to a model: numbered lines under their headings


@dataclass(frozen=True, slots=True)
class LogPiece:
    """Some entries of a day, in order, and their text; `shortened` counts entries shown only in part."""

    entries: tuple[Entry, ...]
    text: str
    shortened: int = 0


def cut(entries: Iterable[Entry], tokens: int) -> tuple[LogPiece, ...]:
    """Return the entries in pieces of at most `tokens`, cut between entries, each entry with its headings.

    Args:
        entries: one day's, in order.
        tokens: the limit of a piece, counted as four bytes a token.

    Returns:
        Every entry in exactly one piece. An entry too long for a piece is shown by its first lines.
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
    """Return the first lines that fit (the first one cut if it does not), and whether all did."""
    kept: list[str] = []
    for number, words in enumerate(entry.text.split("\n"), entry.start_line):
        line = f"{number}| {_CONTROLS.sub(' ', without_pointer(words))}"
        if _bytes(line) + 1 > room:
            return "\n".join(kept or [line.encode()[:room].decode(errors="ignore")]), False
        room -= _bytes(line) + 1
        kept.append(line)
    return "\n".join(kept), True


def _joined(shown: Sequence[tuple[Entry, str, str, bool]]) -> LogPiece:
    lines: list[str] = []
    above = "##"
    for _, context, text, _ in shown:
        lines += [text] if context == above else [context, text]
        above = context
    return LogPiece(tuple(entry for entry, *_ in shown), "\n".join(lines), sum(not whole for *_, whole in shown))


def _bytes(text: str) -> int:
    return len(text.encode())


# ---------------------------------------- what a night would cost: its calls are counted, not made


ITEMS_A_DAY: Final = 4
"""The items of an ordinary day: the prompt speaks of two to five."""
_SECOND_ASKS: Final = 3
"""One in so many replies has faulty parts that are asked for again."""
_MOST_IN_A_CALL: Final = {"review": 20, "verify": 60, "brief": 200}
_BYTES_EACH: Final = {"review": 2400, "verify": 500, "brief": 300}
"""The bytes sent per item: the review shows its neighbours, the verification its quotes, the brief its text."""
_RECEIVED_EACH: Final = {"review": 60, "verify": 40, "brief": 80}


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a night with one model, if it answers all calls.

    Args:
        model: the model.
        calls: how many calls must be paid, by task; calls with a kept reply are free.
        input_tokens: the tokens sent, at four bytes a token.
        output_tokens: the tokens of usual replies.
        usd: the cost, or None if the price is unknown.
        most_usd: the cost if every call were made twice, with the longest reply.
    """

    model: str
    calls: dict[str, int]
    input_tokens: int
    output_tokens: int
    usd: float | None
    most_usd: float | None


class Counting:
    """An extractor that prepares the calls of each day but makes none."""

    def __init__(self, reader: ModelExtractor) -> None:
        self.name, self._reader = reader.name, reader
        self.calls: list[Call] = []
        self.days = 0

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Record the calls of a day, and return nothing."""
        self.days += 1
        self.calls += self._reader.calls(request)
        return Extraction(())


def unanswered(calls: Sequence[Call], models: Sequence[Model], replies: Replies) -> list[Call]:
    """Return the calls without a kept reply of any model."""
    return [call for call in calls if not any(replies.find(model, call) for model in models)]


def estimate(calls: Sequence[Call], model: Model, own: Prices) -> Estimate:
    """Return the cost of a night with one model: reading, second tries, review, verification and brief.

    The reading is known; the rest depends on what is found, and assumes ordinary days.

    Args:
        calls: the reading's calls that must be paid.
        model: the model that would answer them.
        own: the user's own prices.
    """
    price, days = price_of(model.name, own), len({call.place[0] for call in calls})
    usual = min(USUAL_OUTPUT, model.output_tokens) if model.output_tokens else USUAL_OUTPUT
    sent = {"extract": [_tokens(call.bytes) for call in calls]}
    system = _tokens(len(calls[0].system.encode())) if calls else 0
    asked_again = -(-len(calls) // _SECOND_ASKS)
    sent["extract again"] = [system + usual] * asked_again
    received = {"extract": usual * len(calls), "extract again": usual // 2 * asked_again}
    for task, nights in (("review", days), ("verify", min(1, days)), ("brief", min(1, days))):
        each = -(-ITEMS_A_DAY * days // nights) if nights else 0
        parts = -(-each // _MOST_IN_A_CALL[task])
        tokens = _tokens(len(load_prompt(task).body.encode())) + _tokens(
            _BYTES_EACH[task] * min(each, _MOST_IN_A_CALL[task])
        )
        sent[task] = [tokens] * (parts * nights)
        received[task] = _RECEIVED_EACH[task] * ITEMS_A_DAY * days
    tokens_sent = [tokens + added_tokens(model.name) for some in sent.values() for tokens in some]
    return Estimate(
        model.name,
        {task: len(some) for task, some in sent.items() if some},
        sum(tokens_sent),
        sum(received.values()),
        price.cost(Usage(sum(tokens_sent), sum(received.values()))) if price else None,
        2 * sum(price.worst(tokens, model.output_tokens) for tokens in tokens_sent) if price else None,
    )


def _tokens(size: int) -> int:
    return -(-size // BYTES_A_TOKEN)
