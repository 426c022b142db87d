"""Small makers for the stages' tests."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from pipelines.extract.extraction import Candidate, Place
from pipelines.store.document import Document
from pipelines.store.generated import Sentence
from pipelines.store.item import Confidence, Item, ItemType, Status, render_item, row_of
from pipelines.store.item_line import line_key
from pipelines.store.log import Entry


def entry(
    text: str,
    *,
    day: str = "2026-03-10",
    line: int = 3,
    headings: Sequence[str] = (),
    project: str = "",
    tags: Sequence[str] = (),
) -> Entry:
    last = line + text.count("\n")
    return Entry(f"Logs/{day}.md", line, last, text, tuple(headings), project, tuple(tags), day)


def place(of: Entry, quote: str = "", lines: tuple[int, int] | None = None) -> Place:
    """Return a place of an entry: all of its lines where none are named, and all their words where no quote is."""
    first, last = lines or (of.start_line, of.end_line)
    whole = Place(of, first, last, quote)
    return whole if quote else Place(of, first, last, "\n".join(whole.lines))


def candidate(
    text: str,
    kind: ItemType = ItemType.DECISION,
    *,
    confidence: Confidence = Confidence.HIGH,
    closed: Status | None = None,
    of: Entry | None = None,
    at: Place | None = None,
) -> Candidate:
    """Return a candidate that rests on one place: `at`, or else all lines of an entry, with its text as their quote."""
    home = of or entry(f"- {kind}: {text}")
    return Candidate(kind, text, (at or place(home, text),), confidence, "test", "rules@1", closed=closed)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, as its owner would, and return what it printed."""
    owner = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(["git", *owner, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


_TOLD = re.compile(r"^(?P<words>.*?) <!-- told (?P<row>\{.*\}) -->$")


def told(sentence: Sentence) -> str:
    """Return a generated sentence with what its row says behind it, for `plant`."""
    return f"{sentence.text} <!-- told {sentence.row('')[1]} -->"


def told_apart(text: str) -> tuple[str, dict[str, str]]:
    """Return a page, and by key the rows of the sentences that a test states behind their lines."""
    rows, lines, title = dict[str, str](), list[str](), ""
    for line in text.split("\n"):
        title = line[3:].strip() if line.startswith("## ") else title
        if found := _TOLD.match(line):
            key = line_key(title, found["words"])
            rows[key] = json.dumps({**json.loads(found["row"]), "id": key}, ensure_ascii=False)
        lines.append(found["words"] if found else line)
    return "\n".join(lines), rows


_SHORT = re.compile(r"[ \t]*<!-- (?:(k[0-9a-f]+)((?: [^\s<>]+)*)|(\{[^\n]*\})) -->")
_LISTED = {"because", "supports", "contradicts", "supersedes", "related", "part-of", "next", "may-conflict"}


def split_rows(text: str) -> tuple[str, dict[str, str]]:
    """Return a page, and by id the rows of its items, which a test states behind their lines: `<!-- k… since=… -->`."""
    rows = dict[str, str]()

    def mark(found: re.Match[str]) -> str:
        pairs = [pair.partition("=")[::2] for pair in (found[2] or "").split()]
        said = {key: unquote(value).replace(",", " ") if key in _LISTED else unquote(value) for key, value in pairs}
        row = {"id": found[1], **said}
        row |= {"from": [unquote(one) for one in dict(pairs)["from"].split(",")]} if "from" in said else {}
        row = json.loads(found[3]) if found[3] else row
        due = f" (due {row['due']})" if "due" in row else ""
        rows[row["id"]] = json.dumps(row, ensure_ascii=False)
        return f"{due} ^{row['id']}"

    return _SHORT.sub(mark, text), rows


def plant(root: Path, path: str, text: str) -> Path:
    """Write a file, of a page with the rows of its items, as `split_rows` reads them."""
    words, told_rows = (text, {}) if "Logs/" in path else told_apart(text)
    words, rows = (text, {}) if "Logs/" in path else split_rows(words)
    rows, page = rows | told_rows, root / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(words.encode())
    plant_rows(root, rows)
    return page


def plant_rows(root: Path, rows: Mapping[str, str]) -> None:
    """Write rows of the ledger, by id, besides those that are there."""
    ledger = root / "State/items/planted.jsonl"
    if rows:
        ledger.parent.mkdir(parents=True, exist_ok=True)
        old = ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []
        kept = {json.loads(row)["id"]: row for row in old} | dict(rows)
        ledger.write_text("".join(f"{kept[ident]}\n" for ident in sorted(kept)), encoding="utf-8")


def plant_document(root: Path, document: Document) -> None:
    """Write a document and its rows."""
    plant(root, document.path, document.text)
    plant_rows(root, document.rows)


def stated(item: Item) -> str:
    """Return an item's line with its row behind it, for `plant`."""
    line = render_item(item).removesuffix(f" ^{item.id}")
    return f"{line} <!-- {row_of(item)} -->" if item.id else line
