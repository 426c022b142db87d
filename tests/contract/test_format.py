"""The example of docs/format.md is read as it says, and a run leaves what it understood alone."""

import json
import shutil
from pathlib import Path

from tests.conftest import Memory

EXAMPLE = Path(__file__).parents[2] / "examples" / "format"
KEYS = ("id", "type", "text", "status", "trust", "since", "until", "due", "superseded_by", "document")


def read(memory: Memory) -> list[dict[str, object]]:
    found = memory.json("items")
    places = [[f"{one['path']}:{one['start_line']}" for one in item["evidence"]] for item in found]
    return [
        {key: item.get(key) for key in KEYS} | {"links": item["links"], "evidence": at}
        for item, at in zip(found, places, strict=True)
    ]


def test_the_example_holds_what_it_says(memory: Memory) -> None:
    shutil.copytree(EXAMPLE, memory.root, dirs_exist_ok=True)
    expected = json.loads((EXAMPLE / "items.json").read_text(encoding="utf-8"))
    assert read(memory) == expected
    memory.night("2026-03-20T02:00")
    again = {one["id"]: one for one in read(memory)}
    assert {one["id"] for one in expected if one["id"]} <= again.keys()
    for one in expected:
        if one["id"]:
            assert {key: again[one["id"]][key] for key in KEYS} == {key: one[key] for key in KEYS}
    assert [one["text"] for one in again.values() if one["text"] == "A person wrote this line, and no run has read it."]
    assert "accounted for" in memory.curate("check")
