"""Records of items: what is written reads back as itself, and what cannot be read is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from pipelines.store.item import Item, ItemType
from pipelines.store.jsonl import check_header, from_record, header_record, placement_of, to_record
from tests.store.test_items import PATHS, items


@settings(max_examples=200)
@given(PATHS, items())
def test_a_record_reads_back_as_the_item_and_its_document(path: str, item: Item) -> None:
    record = to_record(path, item, section="Facts", notes=["  why\n"])
    assert from_record(json.loads(json.dumps(record))) == (path, item)
    assert placement_of(record) == ("Facts", ("  why",))


def test_a_record_needs_no_more_than_its_document_its_type_and_its_text() -> None:
    record = {"document": "Areas/a.md", "type": "Fact", "text": "It is so."}
    assert from_record(record) == ("Areas/a.md", Item(ItemType.FACT, "It is so."))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("type", "Opinion"), ("text", None), ("document", 3), ("status", "asleep"), ("seen", -1), ("seen", True),
        ("pinned", "yes"), ("since", 20260301), ("evidence", "a"), ("evidence", [{"path": "a"}]), ("links", [["next"]]),
        ("evidence", [{"path": "a", "start_line": 1, "end_line": 1, "digest": "no hash"}]), ("extra", [["a"]]),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(key: str, value: Any) -> None:
    record = to_record("Areas/a.md", Item(ItemType.FACT, "It is so.")) | {key: value}
    with pytest.raises(ValueError, match=f"`({key}|path|start_line|digest)` must be"):
        from_record(record)


def test_the_header_tells_the_form_and_its_version() -> None:
    check_header(header_record())
    with pytest.raises(ValueError, match="not a header"):
        check_header({"record": "item"})
    for version in (2, 0, "1", None, True):
        with pytest.raises(ValueError, match="has version"):
            check_header(header_record() | {"version": version})
