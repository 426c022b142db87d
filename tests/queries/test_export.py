"""`curate export`: every item with all of its fields, in a form that other programs read, in little room."""

from __future__ import annotations

import json
import stat
import tracemalloc
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from pipelines.queries.item_graph import Beliefs, json_lines
from pipelines.store.snapshot import read_documents
from tests.queries.making import LINKED, WAITING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory


def test_what_is_exported_holds_every_item_where_it_stands(memory: Memory) -> None:
    memory.write("Projects/alpha.md", LINKED.replace("\n- Decision: One", "\n  a note of mine\n- Decision: One"))
    memory.write("Review.md", WAITING)
    memory.write("Areas/a.md", "# A\n\n- Fact: by hand, “quoted” & <b>bold</b>\n")
    header, *rest = [json.loads(line) for line in memory.curate("export", "--jsonl", "-").splitlines()]
    assert header == {"record": "header", "format": "memcurate-items", "version": 1}
    held = Beliefs.of(read_documents(memory.root)).holdings
    records = [record for record in rest if record["record"] == "item"]
    told = [(record["document"], record["id"], record["text"], record["section"]) for record in records]
    assert told == [(one.path, one.item.id, one.item.text, one.section) for one in held]
    for record, one in zip(records, held, strict=True):
        assert record.keys() >= {field.name for field in fields(one.item)}
        assert record["links"] == [{"kind": kind, "ids": list(ids)} for kind, ids in one.item.links]
    assert ["  a note of mine"] in [record["notes"] for record in records]
    documents = {record["path"]: record["title"] for record in rest if record["record"] == "document"}
    assert documents == {"Projects/alpha.md": "Alpha", "Review.md": "Review", "Areas/a.md": "A"}


def test_a_file_is_there_whole_and_for_its_owner_alone_or_not_at_all(memory: Memory, tmp_path: Path) -> None:
    target = tmp_path / "items.jsonl"
    memory.write("Projects/alpha.md", LINKED)
    memory.curate("export", "--jsonl", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    before = target.read_bytes()
    (memory.root / "Areas").mkdir(exist_ok=True)
    (memory.root / "Areas/bad.md").write_bytes(b"- Fact: \xff\n")
    (memory.root / "Projects/zz.md").write_bytes(b"- Fact: \xff\n")
    assert "Areas/bad.md is not UTF-8 at byte 8." in memory.curate("export", "--jsonl", str(target), exits=1)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".items")] == []
    assert "cannot be written" in memory.curate("export", "--jsonl", str(tmp_path / "no/where"), exits=1)
    for wrong in ([], ["--jsonl", "-", "--bundle", "-"]):
        assert "Name one of" in memory.curate("export", *wrong, exits=2)


@pytest.mark.torture
def test_a_large_memory_takes_no_more_room_than_its_ledger_and_largest_document(memory: Memory) -> None:
    row = "- Fact: Number {0}. <!-- k{0:010x} since=2026-03-01 trust=self confidence=high by=rules@1 -->\n"
    for part in range(40):
        memory.write(f"Resources/part-{part:02}.md", "".join(row.format(part * 250 + n) for n in range(250)))
    whole = sum(len(line) for line in json_lines(memory.root))
    tracemalloc.start()
    try:
        count = sum(1 for _ in json_lines(memory.root))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 1 + 40 + 10_000
    assert peak < whole / 3
