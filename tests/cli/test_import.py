"""`curate import`: what was exported comes back whole, or nothing does."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.cli import run_cli
from pipelines.store.jsonl import document_record, header_record, to_record
from pipelines.store.snapshot import read_documents
from tests.asking import ALPHA, ask_contradict, first_night, items, night

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

FACT = "The port of the gateway is 8080"


def exported(memory: Memory) -> list[dict[str, Any]]:
    """Return the records of a memory: documents in order of paths, their items in the order in which they stand."""
    found = [header_record()]
    for path, document in sorted(read_documents(memory.root).items()):
        found += [document_record(document)] if document.items else []
        for placed in document.items:
            notes = document.lines[placed.line + 1 : placed.end]
            found.append(to_record(path, placed.item, section=placed.section, notes=notes))
    return found


def written(memory: Memory, records: list[dict[str, Any]]) -> str:
    """Write records to a file beside a memory, and return its path."""
    file = memory.root.parent / "export.jsonl"
    file.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return str(file)


@pytest.fixture
def rich(memory: Memory) -> Memory:
    """Return a memory with items of all item_places, notes, links, odd sections and documents of a person's own."""
    ids = first_night(memory)
    ask_contradict(memory, str(ids[FACT]["id"]))
    text = memory.read(ALPHA).replace("## Facts", "## Facts of mine", 1)
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if FACT in line)
    memory.write(ALPHA, "".join([*lines[: at + 1], "  a note\n", "\tanother\n", *lines[at + 1 :]]))
    memory.write("Resources/books.md", "- Fact: before any heading\n\n# Books\n\n- Rule: under <!-- the --> title\n")
    memory.write(
        "Areas/odd.md",
        "---\ntitle: Odd\nstatus: resting\n---\n# Odd\n\n## Risks\n\n- Risk: one\n\n## Facts\n\n- Fact: two\n",
    )
    night(memory, 13)
    memory.curate("review", "kaaaaaaaaa1", "--accept", "--now", "2026-03-13T09:00")
    memory.curate("pin", "kaaaaaaaaa1", "--now", "2026-03-13T09:01")
    ask_contradict(memory, "kaaaaaaaaa1", "The port of the gateway is 7070")
    memory.write("Review.md", memory.read("Review.md").replace("kaaaaaaaaa1 ", "kaaaaaaaaa7 "))
    night(memory, 14)
    memory.write("Projects/new.md", "# New\n\n## Facts\n\n- Fact: not numbered yet\n")
    return memory


@pytest.fixture
def empty(memory: Memory, tmp_path: Path) -> Memory:
    """Return another memory, as `curate init` makes it."""
    assert run_cli(["init", str(tmp_path / "other"), "--now", "2026-03-01T12:00"]) == 0
    return memory.aside(tmp_path / "other")


def test_an_export_into_an_empty_memory_is_exported_alike(rich: Memory, empty: Memory) -> None:
    records = exported(rich)
    statuses = {record.get("status") for record in records}
    assert {"live", "open", "superseded", "waiting"} <= statuses
    told = empty.curate("import", written(rich, records))
    count = sum(record["record"] == "item" for record in records)
    assert told.startswith(f"{count} items imported")
    assert exported(empty) == records
    assert empty.git("log", "-1", "--format=%s") == f"Import {count} items\n"
    assert "nothing is broken" in empty.curate("check")
    empty.curate("undo", "--now", "2026-03-20T09:00")
    assert items(empty) == {}
    empty.curate("import", written(rich, records), "--now", "2026-03-20T09:01")
    assert exported(empty) == records
    assert "Nothing to import: " in empty.curate("import", written(rich, records), "--now", "2026-03-20T09:02")
    assert len(exported(empty)) == len(records)


def test_what_is_there_and_says_something_else_is_refused_unless_replaced(rich: Memory) -> None:
    night(rich, 15)
    records = exported(rich)
    one = next(record for record in records if record.get("text") == FACT)
    one["text"] = "The port of the gateway is 1"
    files = rich.files()
    told = rich.curate("import", written(rich, records), exits=2)
    assert f"line {records.index(one) + 1}: {one['id']}" in told
    assert rich.files() == files
    assert "1 replaced" in rich.curate("import", written(rich, records), "--replace")
    assert items(rich)["The port of the gateway is 1"]["id"] == one["id"]


def test_broken_lines_are_named_and_nothing_is_imported(rich: Memory, empty: Memory) -> None:
    records = exported(rich)
    at = next(n for n, record in enumerate(records) if record["record"] == "item")
    faults: list[tuple[dict[str, Any], str]] = [
        ({"trust": "nobody"}, "`trust`"),
        ({"document": "../x.md"}, "not a valid path for a document"),
        ({"document": "Projects/.git/x.md"}, "not a valid path for a document"),
        ({"document": "SOUL.md"}, "not a valid path for a document"),
        ({"notes": ["# a heading"]}, "indented"),
        ({"id": "not an id"}, "read back"),
        ({"text": None}, "`text`"),
    ]
    files = empty.files()
    for change, why in faults:
        broken = [*records[:at], records[at] | change, *records[at + 1 :]]
        told = empty.curate("import", written(rich, broken), exits=1)
        assert f"line {at + 1}: " in told
        assert why in told
    twice = [*records, records[at]]
    assert f"line {len(twice)}: {records[at]['id']} is in line {at + 1} already" in empty.curate(
        "import", written(rich, twice), exits=1
    )
    for text, why in (
        ("", "there is no header"),
        ("[]\n", "not a JSON object"),
        ("{\n", "not JSON"),
        ('{"record":"item"}\n', "is not a header"),
    ):
        (rich.root.parent / "export.jsonl").write_text(text)
        assert why in empty.curate("import", str(rich.root.parent / "export.jsonl"), exits=1)
    assert "cannot be read" in empty.curate("import", str(rich.root.parent / "nowhere.jsonl"), exits=1)
    assert empty.files() == files


def test_standard_input_and_links_that_lead_nowhere_are_taken(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"record": "item", "document": "Areas/x.md", "type": "Fact", "text": "alone", "id": "kabcdef0123"}
    record |= {"links": [{"kind": "because", "ids": ["kffffffffff"]}], "since": "2026-01-01"}  # type: ignore[dict-item]
    data = "".join(json.dumps(one) + "\n" for one in (header_record(), record)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert memory.curate("import", "-") == "1 item imported, 1 document made.\n"
    assert items(memory)["alone"]["links"] == {"because": ["kffffffffff"]}


def test_a_secret_in_an_export_is_refused(memory: Memory) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    record = {
        "record": "item",
        "document": "Areas/x.md",
        "type": "Fact",
        "text": f"the key is {key}",
        "id": "kabcdef0123",
    }
    files = memory.files()
    told = memory.curate("import", written(memory, [header_record(), record]), exits=1)
    assert "secret" in told
    assert key not in told
    assert memory.files() == files
