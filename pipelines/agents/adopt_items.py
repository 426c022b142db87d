"""What other programs' notes say, as items: observations, what dreaming promoted, and notes on the user and on work.

basic-memory writes `- [category] text #tag (context)`. OpenClaw adds to MEMORY.md what its dreaming scored, with how
often it was recalled: what never was repeats a day's note. Its notes of sessions hold what its gateway wrote into a
person's turns, which goes. Claude Code says of each note in its front matter what it is
about.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from pipelines.agents.adopt_source import NotesKind
from pipelines.extract.rules.labels import read_label
from pipelines.store.change_set import document_changes
from pipelines.store.document import Block, Document, Documents, document_at, edited
from pipelines.store.files import writing
from pipelines.store.item import Evidence, Item, ItemType, Trust, new_id, quote_digest
from pipelines.store.layout import BRIEFING, GENERAL, USER
from pipelines.store.markdown import body_lines, read_front_matter, split_lines
from pipelines.store.spoken_lines import clean, parse_spoken, sentences
from pipelines.store.transcripts.acts import Envelopes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_OBSERVATION = re.compile(r"[-*] \[([^\W\d_][\w -]{1,40})\][ \t]+(\S.*)")
_PROMOTED = re.compile(r"- (.*\S)[ \t]+\[score=[\d.]++ recalls=(\d++)[^\[\]]*+\]\s*")
_TURN = re.compile(r"^(?=(?:user|assistant): )", re.MULTILINE)
_SAYS = {"feedback": ItemType.RULE, "user": ItemType.FACT}
_LONGEST = 300
"""Characters after which what a note says ends with its sentence."""


def with_items(kind: NotesKind, text: str) -> str:
    """Return a note of another program with labels before what that program marks as worth keeping.

    Args:
        kind: the program.
        text: the note.
    """
    lines = split_lines(text)
    front = read_front_matter(lines)
    if kind is NotesKind.OPENCLAW and "[score=" in text:
        return "".join(map(_promoted, lines))
    if front.get("permalink"):
        for number, line in body_lines(lines, front.lines):
            lines[number] = _observed(line)
    return "".join(lines)


def without_envelopes(text: bytes) -> bytes:
    """Return a note, one of an OpenClaw session without what the gateway wrote into a person's turns."""
    if b"\n- **Session Key**: " not in text:
        return text
    head, *turns = _TURN.split(text.decode())
    said, reader = [turn.partition(": ") for turn in turns], Envelopes()
    told = [reader.opened(words, {}) if who == "user" else [(who, words)] for who, _, words in said]
    rows = [f"{who or 'user'}: {words.rstrip()}\n" for messages in told for who, words in messages]
    return "".join([head, *rows]).encode()


def _promoted(line: str) -> str:
    found = _PROMOTED.fullmatch(line)
    if not found:
        return line
    text = found[1]
    is_text = not (text.startswith(("#", "|", "- ")) or text.endswith((":", ":**")))
    label = "Fact: " if is_text and int(found[2]) and not read_label(parse_spoken(f"- {text}")) else ""
    return f"- {label}{text}\n"


def _observed(line: str) -> str:
    """Return an observation as a labelled line; a category that is no label stays before its words."""
    found = _OBSERVATION.fullmatch(line.rstrip())
    if not found:
        return line
    category, text = found[1], found[2]
    label = read_label(parse_spoken(f"- {category}: {text}"))
    if label and label.page_section not in {"", "contacts"}:  # on a page, a section's heading says this
        return line
    return f"- {label.type}: {text}\n" if label else f"- Fact: {category}: {text}\n"


def with_statements(notes: Iterable[Document], pages: Documents, today: str, cap: int) -> dict[str, Document]:
    """Return the pages that change if notes of Claude Code say what is a rule, or true of the user.

    Args:
        notes: the notes.
        pages: every page by path.
        today: the memory's day.
        cap: the size limit of MEMORY.md in bytes; rules that do not fit stand on the general page.
    """
    after, taken = dict[str, Document](), {ident for one in pages.values() for ident in one.held}
    for note in notes:
        for kind, text, evidence in _statements(note):
            item = Item(kind, text, since=today, trust=Trust.SELF, evidence=(evidence,), seen=1)
            for path in (USER,) if kind is ItemType.FACT else (BRIEFING, GENERAL):
                page = after.get(path) or pages.get(path) or document_at(path, "# General\n")
                item = replace(item, id=new_id(item, path, taken))
                page = edited(page, add=[Block(item)])
                if path != BRIEFING or page.size <= cap:
                    break
            taken.add(item.id)
            after[path] = page
    return after


def write_pages(root: Path, before: Documents, after: Documents) -> None:
    """Write the pages that changed.

    Raises:
        NotWritable: the disk refused.
    """
    for change in document_changes(before, after, {}):
        with writing(change.path):
            place = root / change.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(change.after or b"")


def _statements(note: Document) -> Iterator[tuple[ItemType, str, Evidence]]:
    """Yield what a note says first: the type, the sentences, and where they stand."""
    kind, heads = _SAYS.get(note.front.get("type") or note.front.get("metadata.type")), {h.line for h in note.headings}
    parts = groupby(note.body, key=lambda row: row[0] not in heads and bool(row[1].strip()))
    first, *rows = next((list(rows) for is_text, rows in parts if is_text), [(0, "")])
    if kind is None or not first[1]:
        return
    rows = [first, *takewhile(lambda row: row[1][:1] not in "-*", rows)]
    quote = "".join(line for _, line in rows)
    text = clean(quote.removeprefix("- "))
    if text.endswith(":"):  # what it says is the list below; its description says that in a sentence
        rows = [row for row in enumerate(note.lines[: note.body[0][0]]) if row[1].startswith("description:")]
        text, quote = note.front.get("description"), "".join(line for _, line in rows)
    if not text or not rows:
        return
    end = next((stop for _, stop in sentences(text) if stop >= _LONGEST), len(text))
    yield kind, text[:end], Evidence(note.path, rows[0][0] + 1, rows[-1][0] + 1, quote_digest(quote))
