"""Items as records that other programs read: the lines of `curate export --jsonl`, which `curate import` reads back.

The first line is the header. A document's record comes before those of its items, and items come in the order in which
they stand, so that reading them one after the other gives the same documents again:

    {"record": "header", "format": "memcurate-items", "version": 1}
    {"record": "document", "path": "Projects/alpha.md", "title": "Alpha", "kind": "project", "status": "active"}
    {"record": "item", "document": "Projects/alpha.md", "id": "k7f3a9c2b10", "type": "Decision", "text": …,
     "section": "Decisions", "notes": []}

Every field of an item is there, also an empty one; days and ids that are not told are null. `notes` are the lines that
a person wrote under the item, without their ends. Keys that a reader does not know are passed over; what they mean must
not change within a version. Agents read the files themselves, line by line, with `read_passage`.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar

from pipelines.errors import BadFile, UsageFault
from pipelines.store.files import list_files, open_real
from pipelines.store.item import Confidence, Evidence, Item, ItemType, Status, Trust
from pipelines.store.layout import NOTES, log_day, log_path
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_documents
from pipelines.store.user_layout import names_of, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pipelines.store.document import Document


FORMAT: Final = "memcurate-items"
VERSION: Final = 1

Record = dict[str, Any]
_T = TypeVar("_T")
_COUNT: Final = "a whole number, 0 or more"
_Choice = TypeVar("_Choice", bound=StrEnum)


def header_record() -> Record:
    """Return the first line of an export."""
    return {"record": "header", "format": FORMAT, "version": VERSION}


def check_header(record: Mapping[str, Any]) -> None:
    """Make sure that a record is the header of a form that this version reads.

    Raises:
        ValueError: it is not; the sentence says what it is.
    """
    if record.get("record") != "header" or record.get("format") != FORMAT:
        raise ValueError(f'the first line is no header; it should hold "format": "{FORMAT}"')
    version = record.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        raise ValueError(f"it is of version {version!r}, and this program reads versions 1 to {VERSION}")


def document_record(document: Document) -> Record:
    """Return what a reader needs to make a document that it does not have."""
    return {
        "record": "document",
        "path": document.path,
        "title": document.title,
        "kind": document.kind.value,
        "status": document.front.get("status"),
    }


def to_record(path: str, item: Item, *, section: str = "", notes: Sequence[str] = ()) -> Record:
    """Return an item as a record.

    Args:
        path: its home document, relative to the memory, with `/`.
        item: the item.
        section: the title of the section that it stands in.
        notes: the lines that a person wrote under it, with or without their ends.
    """
    return {
        "record": "item",
        "document": path,
        "id": item.id,
        "type": item.type.value,
        "text": item.text,
        "status": item.status.value,
        "since": item.since or None,
        "until": item.until or None,
        "confirmed": item.confirmed or None,
        "trust": item.trust.value,
        "confidence": item.confidence.value,
        "evidence": [asdict(one) for one in item.evidence],
        "seen": item.seen,
        "by": item.by or None,
        "superseded_by": item.superseded_by or None,
        "merged_into": item.merged_into or None,
        "links": [{"kind": kind, "ids": list(ids)} for kind, ids in item.links],
        "pinned": item.pinned,
        "extra": [list(pair) for pair in item.extra],
        "section": section or None,
        "notes": [note.rstrip("\r\n") for note in notes],
    }


def from_record(record: Mapping[str, Any]) -> tuple[str, Item]:
    """Return the home document and the item of a record; the inverse of `to_record`.

    Keys that are missing, apart from `document`, `type` and `text`, mean what they mean on an item's line without them.

    Raises:
        ValueError: something in it cannot be read; the sentence names the key.
    """
    item = Item(
        type=_choice(record, "type", ItemType),
        text=_text(record, "text", needed=True),
        id=_text(record, "id"),
        status=_choice(record, "status", Status, Status.LIVE),
        since=_text(record, "since"),
        until=_text(record, "until"),
        confirmed=_text(record, "confirmed"),
        trust=_choice(record, "trust", Trust, Trust.OWNER),
        confidence=_choice(record, "confidence", Confidence, Confidence.HIGH),
        evidence=tuple(_evidence(one) for one in _list(record, "evidence")),
        seen=_number(record, "seen"),
        by=_text(record, "by"),
        superseded_by=_text(record, "superseded_by"),
        merged_into=_text(record, "merged_into"),
        links=tuple(_link(one) for one in _list(record, "links")),
        pinned=_typed(record, "pinned", bool, "true or false", usual=False),
        extra=tuple(_pair(one) for one in _list(record, "extra")),
    )
    return _text(record, "document", needed=True), item


def placement_of(record: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the section that a record's item stood in, and the notes under it, without line ends.

    Raises:
        ValueError: one of them cannot be read.
    """
    notes = _list(record, "notes")
    if not all(isinstance(note, str) and "\n" not in note for note in notes):
        raise ValueError("`notes` must be a list of single lines")
    return _text(record, "section"), tuple(notes)


def _wrong(key: str, wanted: str) -> ValueError:
    return ValueError(f"`{key}` must be {wanted}")


def _typed(record: Mapping[str, Any], key: str, kind: type[_T], wanted: str, usual: _T | None = None) -> _T:
    """Return a record's value of that very type (true is no number), or the usual one where it has none."""
    value = record.get(key, usual)
    if type(value) is not kind:
        raise _wrong(key, wanted)
    return value


def _text(record: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
    return "" if record.get(key) is None and not needed else _typed(record, key, str, "a text")


def _choice(record: Mapping[str, Any], key: str, kind: type[_Choice], usual: _Choice | None = None) -> _Choice:
    value = record.get(key)
    if value is None and usual is not None:
        return usual
    if not isinstance(value, str) or value not in frozenset(kind):
        raise _wrong(key, f"one of {', '.join(kind)}")
    return kind(value)


def _number(record: Mapping[str, Any], key: str) -> int:
    value = _typed(record, key, int, _COUNT, 0)
    if value < 0:
        raise _wrong(key, _COUNT)
    return value


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    return _typed(record, key, list, "a list", [])


def _evidence(value: Any) -> Evidence:  # noqa: ANN401  whatever JSON can hold
    if not isinstance(value, dict):
        raise _wrong("evidence", "a list of places")
    place = Evidence(
        _text(value, "path", needed=True),
        _number(value, "start_line"),
        _number(value, "end_line"),
        _text(value, "digest", needed=True),
    )
    if Evidence.parse(place.render()) != place:
        raise _wrong("evidence", "a list of places, each with path, start_line, end_line and digest")
    return place


def _link(value: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401  as above
    ids = value.get("ids") if isinstance(value, dict) else None
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise _wrong("links", "a list of links, each with its kind and its ids")
    return _text(value, "kind", needed=True), tuple(ids)


def _pair(value: Any) -> tuple[str, str]:  # noqa: ANN401  as above
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(one, str) for one in value):  # noqa: PLR2004
        raise _wrong("extra", "a list of pairs of key and value")
    return value[0], value[1]


MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 20_000
LONGEST_LINE: Final = 2_000

_LONGEST_NAME: Final = 500
_SUFFIXES: Final = (".md", ".txt", ".jsonl")
_CITED = re.compile(
    r"(?P<path>.+?)(?::(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?|#L(?P<from>\d{1,9})(?:-L(?P<to>\d{1,9}))?(?:~\w+)?)"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file as they stand.

    Args:
        path: the file, relative to the memory.
        start_line: the first line, counted from 1.
        end_line: the last line, inclusive; before `start_line` where the file has no such line.
        total_lines: how many lines the file has.
        lines: their text, without line ends; a line longer than `LONGEST_LINE` ends with `…`.
    """

    path: str
    start_line: int
    end_line: int
    total_lines: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def read_passage(
    root: Path, name: str, today: Callable[[], str], start: int | None = None, end: int | None = None
) -> Passage:
    """Return lines of a document, log or transcript, at most `MOST_LINES` and `MOST_CHARACTERS` of them.

    Args:
        root: the memory.
        name: a path in the memory, a citation (`Logs/2026-03-18.md:12-14`, or as evidence has it, `PATH#L12~HASH`), a
            document's id, title or file name, or a log's day (`2026-03-18`). In a memory that was adopted in place a
            path may be the file's own, or what the program calls it.
        today: tells the memory's day, where the name is `today`.
        start: the first line, counted from 1; the citation's, or the first, where it is not given.
        end: the last line, inclusive; as many as there is room for, where it is not given.

    Raises:
        UsageFault: the name means nothing, or leads out of the memory, or into what no agent is to read.
        BadFile: the file cannot be read, or a part of its path is a symbolic link.
    """
    if len(name) > _LONGEST_NAME:
        raise UsageFault(f"The name has {len(name):,} characters.", f"Give one of {_LONGEST_NAME} at most.")
    cited = _CITED.fullmatch(name.strip())
    wanted = cited["path"] if cited else name.strip()
    if cited and start is None:
        start = int(cited["start"] or cited["from"])
        last = cited["end"] or cited["to"]
        end = end if end is not None else int(last) if last else start
    path, file = _open(root, wanted, today)
    with file:
        return _lines(path, file, max(start or 1, 1), end)


def _open(root: Path, name: str, today: Callable[[], str]) -> tuple[str, BinaryIO]:
    """Open the file that a name means, and return its path on the disk as well."""
    names = names_of(root)
    day = today() if name.casefold() == "today" else name
    log = log_path(day) if log_day(f"{day}.md") else ""
    for given in (name, log) if names and log else (log or name,):
        path = given if given.endswith(_SUFFIXES) else f"{given}.md"
        _check(path)
        for real in (path, real_path(root, path)) if names else (path,):
            own = names.canonical(real) if names else path
            hidden = names and (not own or own.startswith("."))
            if not hidden and (file := open_real(root, real)) is not None:
                return real, file
    if log:
        raise UsageFault(f"There is no log of {day}.", "A search finds the days that speak of something.")
    paths = _notes_called(root, name) if names else []
    paths = paths or named_documents(read_documents(root), name, partial(real_path, root))
    if len(paths) > 1:
        shown = ", ".join(sorted(real_path(root, path) for path in paths)[:5])
        raise UsageFault(f"More than one document is called {name}: {shown}.", "Give its path.")
    real = real_path(root, paths[0])
    file = open_real(root, real)
    if file is None:
        raise BadFile(real, "was moved away while it was read", "Ask again.")
    return real, file


def _notes_called(root: Path, name: str) -> list[str]:
    """Return the person's documents whose file has that name, whatever its case."""
    wanted = name.casefold().removesuffix(".md").rpartition("/")[2]
    paths = list_files(root, NOTES, ".md")
    return [path for path in paths if path.rpartition("/")[2].removesuffix(".md").casefold() == wanted]


def _check(path: str) -> None:
    """Refuse what is no plain path in the memory: what climbs out of it, is absolute, hidden, or no text."""
    parts = path.split("/")
    if not path.isprintable() or any(not part or part.startswith((".", "~")) for part in parts):
        shown = "".join(c if c.isprintable() else "?" for c in path)
        raise UsageFault(
            f"{shown} is no document or log of the memory.",
            "Give a path in the memory such as Projects/NAME.md, a document's name, or a log's day such as 2026-03-18.",
        )


def _lines(path: str, file: BinaryIO, start: int, end: int | None) -> Passage:
    kept: list[str] = []
    room, total = MOST_CHARACTERS, 0
    last = min(start + MOST_LINES - 1, end if end is not None else start + MOST_LINES)
    for total, raw in enumerate(file, 1):
        if room > 0 and start <= total <= last:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
            kept.append(line)
            room -= len(line) + 1
    return Passage(path, start, start + len(kept) - 1, total, tuple(kept))
