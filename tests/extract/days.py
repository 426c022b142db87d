"""What the model tests share: a day to read, right and wrong replies about it, an environment without keys."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from pipelines.extract.extraction import DocumentChoice, ExtractionRequest
from pipelines.store.log import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

_MARKS = ("ANTHROPIC", "GEMINI", "GOOGLE", "VOYAGE", "PROXY", "CURATE", "XDG_CONFIG")


def forget_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every key, address and proxy of the machine out of the environment."""
    for name in list(os.environ):
        if any(mark in name.upper() for mark in _MARKS):
            monkeypatch.delenv(name)


ENTRIES = (
    Entry(
        "Logs/2026-03-12.md",
        3,
        3,
        "- 09:14 We go with **Terraform**, not Pulumi.",
        ("Infra",),
        "Harbour",
        day="2026-03-12",
    ),
    Entry(
        "Logs/2026-03-12.md",
        4,
        5,
        "- 09:40 Asked legal about\n  the contract.",
        ("Infra",),
        "Harbour",
        day="2026-03-12",
    ),
    Entry("Logs/2026-03-12.md", 9, 9, "- 10:02 ran ls", ("Noise",), day="2026-03-12"),
)
DOCUMENTS = (
    DocumentChoice("harbour", "Harbour", "project", "Projects/harbour"),
    DocumentChoice("general", "General", "area", "Areas/general"),
)
DAY = ExtractionRequest("2026-03-12", ENTRIES, DOCUMENTS)


def reply_place(
    quote: object = "We go with Terraform, not Pulumi.", start: object = 3, end: object = 3
) -> dict[str, Any]:
    """Return one place of `DAY`, as a reply cites it."""
    return {"quote": quote, "start_line": start, "end_line": end}


def reply_item(*places: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return one right item of a reply about `DAY`, which rests on these places, with changes."""
    item = {
        "evidence": list(places) or [reply_place()],
        "type": "Decision",
        "text": "Harbour is built with Terraform, not Pulumi.",
        "document": "harbour",
        "new_project": "",
        "section": "",
        "name": "",
        "from": "",
        "due": "",
        "closed": "",
        "confidence": "high",
        "reason": "said in so many words",
        "links": [],
    }
    return {**item, **changes}


def reply_operation(kind: str, *ids: str, **changes: Any) -> dict[str, Any]:
    """Return one right operation of a reply about `DAY`, with changes."""
    operation = {"operation": kind, "ids": list(ids), "how": "", "text": "", "reason": "the log says so"}
    return {"evidence": [reply_place("Asked legal about the contract.", 4, 5)], **operation, **changes}


def reply_text(*items: object, operations: Sequence[object] = ()) -> str:
    """Return the text of a reply with these items and operations."""
    return json.dumps({"items": list(items), "operations": list(operations)})
