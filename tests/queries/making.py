"""Memories that the tests of beliefs ask: a made-up document with links, and a story of three nights."""

import json
from pathlib import Path
from typing import Any

from pipelines.queries.item_graph import Beliefs
from pipelines.store.document import Document
from tests.conftest import Memory
from tests.making import split_rows

LINKED = """---
title: Alpha
kind: project
status: active
updated: 2026-03-05
---
# Alpha

## Decisions

- Decision: Orders are kept in SQLite. <!-- k1111111111 since=2026-02-20 trust=self confidence=high from=Logs/2026-02-20.md#L3~00000000 by=rules@1 because=k2222222222 part-of=k3333333333 supersedes=k9999999999 -->
- Decision: One machine is enough. <!-- k3333333333 since=2026-02-01 trust=self confidence=low by=rules@1 next=k1111111111 -->

## Facts

- Fact: There are 40 orders a day. <!-- k2222222222 since=2024-01-05 trust=self confidence=high by=rules@1 because=k4444444444 -->
- Fact: The shop counts orders by hand. <!-- k4444444444 since=2026-01-02 trust=owner confidence=high because=k2222222222 -->
- Fact: Last March had 50 orders a day. <!-- k5555555555 since=2026-01-03 trust=self confidence=high by=rules@1 supports=k2222222222 contradicts=k4444444444 -->

## History

- ~~Decision: Orders are kept in Postgres.~~ <!-- k9999999999 since=2026-01-10 until=2026-02-20 trust=self confidence=high by=rules@1 superseded-by=k1111111111 -->
"""  # noqa: E501  an item is one line

WAITING = """# Review

## Which holds? <!-- review contradict 2026-03-06 -->

- [ ] keep new: …

- Fact: There are 90 orders a day. <!-- k7777777777 since=2026-03-04 trust=self confidence=medium by=rules@1 status=waiting home=Projects/alpha.md was=live against=k2222222222 -->
"""  # noqa: E501  as above


SAID = (("assistant", "Where shall orders go?"), ("user", "Decision: Orders go to Postgres 16."))


def beliefs(text: str = LINKED, path: str = "Projects/alpha.md") -> Beliefs:
    """Return what one document holds."""
    return Beliefs.of({path: Document(path, *split_rows(text))})


def asked(memory: Memory, *arguments: str) -> Any:
    """Return what a verb prints as JSON."""
    return memory.json(*arguments)


def ids(memory: Memory) -> dict[str, str]:
    """Return text → id of every item."""
    return {item["text"]: item["id"] for item in asked(memory, "items")}


def session(place: Path) -> Path:
    """Write a transcript in which a user decides something."""
    records = [
        {
            "type": role, "sessionId": "3f2a9c1e-77", "timestamp": f"2026-03-10T09:0{minute}:00Z",
            "cwd": "/home/ada/src/harbor",
            "message": {"role": role, "content": text},
        }
        for minute, (role, text) in enumerate(SAID)
    ]  # fmt: skip
    place.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return place


def story(memory: Memory, tmp_path: Path) -> str:
    """Live through three nights, in which a decision is captured, moved, reworded by hand; return its id."""
    memory.curate("capture", str(session(tmp_path / "s.jsonl")), "--now", "2026-03-10T20:00")
    memory.night("2026-03-11T02:00")
    ident = ids(memory)["Orders go to Postgres 16."]
    text = memory.read("Projects/harbor.md")
    memory.write("Projects/harbor.md", text.replace("Orders go to Postgres 16.", "Orders go to Postgres 17."))
    memory.day("2026-03-11", "- Fact: The harbour has 12 cranes.\n")
    line = next(row for row in memory.read("Projects/harbor.md").splitlines() if ident in row)
    memory.write("Projects/harbor.md", memory.read("Projects/harbor.md").replace(f"{line}\n", ""))
    memory.write("Areas/databases.md", f"# Databases\n\n## Decisions\n\n{line}\n")
    memory.day("2026-03-12", "- Fact: The harbour has 13 ships.\n")
    return ident
