"""How any language model reads a day: the pieces, the request, the checked reply, and the cost."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import (
    Candidate,
    DocumentChoice,
    Extraction,
    ExtractionRequest,
    Operation,
    OperationKind,
    shown_text,
    shown_with_doubt,
)
from pipelines.extract.llm.call import Prompt, load_prompt
from pipelines.extract.nearby import BYTES_A_TOKEN, calendar, days_before, fitting, weekday
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.item import Item, ItemType, Trust
from pipelines.store.log import Entry, drawn
from pipelines.store.secrets.redact import holds_secret
from pipelines.store.spoken_lines import parse_spoken
from pipelines.text import content_words, fold
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.extract.llm.fallback import Chain
    from pipelines.extract.llm.reply_json import Faulty

    Outcome = tuple[Extraction, Sequence[Faulty]]


Row = dict[str, str]
DOCUMENT_TOKENS = 500
OPEN_TOKENS = 1_100
NEAR_TOKENS = 500
"""The most tokens of a request that tell of pages, of what is open, and of what is near, which gets as many again
where little is open: on two journals four of eight stale items had not been shown on the day that overruled them."""
HEADING_LENGTH = 200
_OVER = frozenset({OperationKind.CLOSE, OperationKind.RETRACT})
_CHANGES = _OVER | {OperationKind.UPDATE}
_WORD = re.compile(r"\w")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class ModelExtractor:
    """Language models as an extractor.

    Args:
        chain: the models.
        prompt: the extraction prompt.
    """

    chain: Chain
    prompt: Prompt = field(default_factory=lambda: load_prompt("extract"))

    @property
    def name(self) -> str:
        """The models, in order, with the prompt's version."""
        return ", ".join(f"{model.name}@{self.prompt.tag}" for model in self.chain.models)

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the extraction of a day, from as many calls as its length needs; an empty day needs none.

        Raises:
            ModelFailed: no model could read the day. The whole day stays pending. The failure's `tally` counts what was
                spent.
        """
        pieces = cut(request.entries, self.chain.input_tokens)
        tally = Tally()
        try:
            outcomes: list[Outcome] = []
            for piece in pieces:
                outcomes.append(self._read(request, piece, tally, [read for read, _ in outcomes]))
        except ModelFailed as fault:
            fault.tally = tally
            raise
        return replace(_joined_outcomes(request, pieces, outcomes), tally=tally)

    def _read(self, request: ExtractionRequest, piece: LogPiece, tally: Tally, before: Sequence[Extraction]) -> Outcome:
        """Return a piece's extraction, and what of the reply is faulty; `before` is what earlier pieces said."""
        from pipelines.extract.grounding import Shown, words_in  # noqa: PLC0415  only a model's reply is checked
        from pipelines.extract.llm.reply_json import schema_of  # noqa: PLC0415  imports pydantic
        from pipelines.extract.llm.reply_schema import Asked, ExtractionReply, extraction_of, read_reply  # noqa: PLC0415

        shown, held = _Shown.beside(request, piece, before), request._replace(entries=piece.entries)
        data = {
            "day": request.day,
            "weekday": weekday(request.day),
            "calendar": calendar(request.day),
            "entries": [_entry_row(one) for one in piece.entries],
            "documents": shown.documents,
            "open": shown.open,
            "near": shown.near,
        }
        call = self.prompt.call({**data, "log": piece.text}, schema_of(ExtractionReply), data=data)
        reply, model = self.chain.ask(call, read_reply, tally)
        if reply is None:
            from pipelines.extract.rules.rules_extractor import RulesExtractor  # noqa: PLC0415  rarely needed

            return RulesExtractor().extract(held), ()
        place = f"{piece.entries[0].path}.{len(before)}"  # a day may have several logs
        own = shown.proposed | {f"n{at}": f"{place}.n{at}" for at in range(len(reply["items"]))}
        asked = Asked(
            held,
            f"{model}@{self.prompt.tag}",
            shown.items,
            Shown.of([*words_in(call.input), *days_before(request.day)]),
            own,
        )
        return extraction_of(reply, asked)


def _joined_outcomes(request: ExtractionRequest, pieces: Sequence[LogPiece], outcomes: Sequence[Outcome]) -> Extraction:
    """Return what the replies to all pieces say, and what labels say that the replies leave out."""
    from pipelines.extract.rules.label_reader import read_labels  # noqa: PLC0415  compiles the rules' patterns
    from pipelines.extract.rules.passed_over import passed_over  # noqa: PLC0415  as above

    labels, replies = read_labels(request.entries), [read for read, _ in outcomes]
    dropped = Counter(str(one) for _, lost in outcomes for one in lost)
    said: list[Candidate | Operation] = [one for read in replies for one in read.candidates]
    for at, read in enumerate(replies):  # without updates of what a later piece ends, or updates as it was by then
        changed = (one for other in replies[at + 1 :] for one in other.operations if one.kind in _CHANGES)
        later = {ident for one in changed for ident in one.ids}
        said += [one for one in read.operations if one.kind is not OperationKind.UPDATE or one.ids[0] not in later]
    kept = [one for one in said if not _would_hold_secret(one)]
    dropped["it would hold a secret"] = len(said) - len(kept)
    notes = [
        f"{count} proposed {'item was' if count == 1 else 'items were'} dropped: {why}"
        for why, count in sorted(dropped.items())
        if count
    ]
    if shortened := sum(piece.shortened for piece in pieces):
        notes.append(f"{shortened} overlong {'entry was' if shortened == 1 else 'entries were'} read only in part")
    reply = Extraction(
        tuple(one for one in kept if isinstance(one, Candidate)),
        tuple(one for one in kept if isinstance(one, Operation)),
        tuple(labels.forms),
        tuple(dict.fromkeys(one for read in replies for one in read.seen)),
        tuple(one for read in replies for one in read.open_lists),
        tuple(one for read in replies for one in read.episode if not holds_secret(one.text)),
        notes=tuple(notes),
    )
    found = [*reply.candidates, *passed_over(labels, request, reply)]
    found.sort(key=lambda one: (one.places[0].path, one.places[0].start_line, one.places[0].end_line))
    return replace(reply, candidates=tuple(found))


def _would_hold_secret(one: Candidate | Operation) -> bool:
    """Whether a line of a page would hold a secret with what a model wrote."""
    title = (one.name, one.new_project, one.new_area) if isinstance(one, Candidate) else ()
    return any(map(holds_secret, filter(None, (one.text, one.reason, *title))))


class _Shown(NamedTuple):
    """The pages and items shown to a model with a piece: as rows, and the items of the memory by id.

    What earlier pieces of the day proposed is shown as well, with ids that stand for those it has in the run: a long
    day ends in the evening what it began in the morning.
    """

    documents: list[Row]
    open: list[Row]
    near: list[Row]
    items: dict[str, Item]
    proposed: dict[str, str]

    @classmethod
    def beside(cls, request: ExtractionRequest, piece: LogPiece, before: Sequence[Extraction]) -> _Shown:
        """Return what to show with a piece, as much as fits: what is open, what is near, and where things can go."""
        said = [one for read in before for one in read.candidates if one.id]  # rules, which read for a model, give none
        proposed = {f"p{at}": one.id for at, one in enumerate(said)}
        names = {one.document: one.id for one in request.documents}
        rows = [_candidate_row(*one, names) for one in zip(proposed, said, strict=True)]
        new = fitting(rows, OPEN_TOKENS, _item_bytes)
        proposed = {row["id"]: proposed[row["id"]] for row in new}
        fresh = [row for row in new if row["status"] == "open"], [row for row in new if row["status"] != "open"]
        if request.nearby is None:
            return cls(_places(request, piece.text, {}), *fresh, {}, proposed)
        done = [one for read in before for one in read.operations]
        over = {ident for one in done if one.kind in _OVER for ident in one.ids}  # ended or replaced since
        over |= {ident for read in before for one in read.candidates for ident in one.replaces}
        told = {one.ids[0]: one.text for one in done if one.kind is OperationKind.UPDATE}
        pending = [
            (home, replace(item, text=told.get(item.id, item.text)))
            for home, item in request.nearby.open(piece.text)
            if item.id not in over
        ]
        rows = [item_row(one, document=names.get(home, home), due=one.due, on=one.on) for home, one in pending]
        rows = fitting(rows, OPEN_TOKENS, _item_bytes)
        near = request.nearby.nearest(piece.text, {row["id"] for row in rows} | over)
        left = OPEN_TOKENS - sum(map(_item_bytes, rows)) // BYTES_A_TOKEN
        room = NEAR_TOKENS + min(left, NEAR_TOKENS)
        near = [(home, replace(item, text=told.get(item.id, item.text))) for home, item in near]
        others = fitting([item_row(item, document=names.get(home, home)) for home, item in near], room, _item_bytes)
        held = {item.id: item for _, item in (*pending, *near)}
        documents = _places(request, piece.text, Counter(home for home, _ in (*pending, *near)))
        items = {row["id"]: held[row["id"]] for row in (*rows, *others)}
        return cls(documents, [*fresh[0], *rows], [*fresh[1], *others], items, proposed)


def _candidate_row(ident: str, one: Candidate, names: Mapping[str, str]) -> Row:
    is_open = not one.closed and (one.type in {ItemType.TODO, ItemType.RISK} or one.page_section == "questions")
    return {
        "id": ident, "type": one.type.value, "text": shown_text(one.text), "status": "open" if is_open else "live",
        "document": names.get(one.document, one.document) or fold(one.new_project or one.new_area),
        "since": one.entry.day,
        "due": one.due, "on": one.on,
    }  # fmt: skip


def _document_bytes(row: Row) -> int:
    about = row["purpose"] or row["title"]
    return _bytes(f"{row['id']} ({row['kind']})" + (f": {about}" if about != row["id"] else "")) + 1


def _item_bytes(row: Row) -> int:
    told = [f" ({key} {row[key]})" for key in ("due", "on") if row.get(key)]
    told += [f" ({row['status']})"] if row["status"] not in {"live", "open"} else []
    shown = f"{row['id']} {row['type']} {row['document']} since {row['since']}: {row['text']}{''.join(told)}"
    return _bytes(shown) + 1


def _places(request: ExtractionRequest, text: str, held: Mapping[str, int]) -> list[Row]:
    """Return where items can go, as much as fits: what every memory has, then what a text or shown items speak of.

    Args:
        request: what is read.
        text: the piece of the log.
        held: document → how many of the items that are shown it has.
    """
    words = content_words(text)

    def rank(one: DocumentChoice) -> tuple[bool, float, bool]:
        is_fixed = one.kind in {"user", "briefing"} or one.document == "Areas/general"
        named = content_words(f"{one.title} {one.purpose}")
        share = len(words & named) / len(named) if named else 0.0
        return not is_fixed, -share - (held.get(one.document, 0) > 0), one.kind == "resource"

    rows: list[Row] = [
        {"id": one.id, "title": fold(one.title), "kind": one.kind, "purpose": shown_text(one.purpose)}
        for one in sorted(request.documents, key=rank)
    ]
    return fitting(rows, DOCUMENT_TOKENS, _document_bytes)


def item_row(item: Item, **more: str) -> Row:
    """Return an item as a row for a model, with more of it, or with another status."""
    return {
        "id": item.id,
        "type": item.type.value,
        "text": shown_with_doubt(item) + item.unsure,
        "status": item.status.value,
        "since": item.since,
        **more,
    }


def _entry_row(entry: Entry) -> dict[str, object]:
    """Return an entry as data."""
    first = entry.head
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


# ---------------------------------------- a day's entries as shown to a model: numbered lines under their headings


class LogPiece(NamedTuple):
    """Some entries of a day, in order, and their text; `shortened` counts entries shown only in part."""

    entries: tuple[Entry, ...]
    text: str
    shortened: int


def cut(entries: Iterable[Entry], tokens: int) -> tuple[LogPiece, ...]:
    """Return the entries in pieces of at most `tokens`, cut between entries, each entry with its headings.

    Args:
        entries: one day's, in order.
        tokens: the limit of a piece, counted as four bytes a token.

    Returns:
        Every entry that has a word in exactly one piece. One too long for a piece is shown by its first lines.
    """
    room = tokens * BYTES_A_TOKEN
    pieces: list[list[tuple[Entry, str, str, bool]]] = []
    size = 0
    for entry in entries:
        if not _WORD.search(entry.text):
            continue  # an empty bullet, as a template leaves it
        parts = [fold(" > ".join(entry.headings))[:HEADING_LENGTH]] if entry.headings else []
        parts += [f"project: {fold(entry.project)[:HEADING_LENGTH]}"] if entry.project else []
        context = f"## {' / '.join(parts)}".rstrip()
        text, is_whole = _shown(entry, room - _bytes(context) - 1)
        needed = _bytes(context) + 1 + _bytes(text) + 1
        if not pieces or size + needed > room:
            pieces.append([])
            size = 0
        pieces[-1].append((entry, context, text, is_whole))
        size += needed
    return tuple(map(_joined, pieces))


def _shown(entry: Entry, room: int) -> tuple[str, bool]:
    """Return the first lines that fit (the first one cut if it does not), and whether all did."""
    kept, lines = list[str](), entry.text.split("\n")
    hidden = set(drawn(lines))
    for number, words in enumerate(lines, entry.start_line):
        if number - entry.start_line in hidden:
            continue
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
