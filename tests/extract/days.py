"""What the model tests share: a day to read, right and wrong replies about it, an environment without keys."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from pipelines.extract.extraction import DocumentChoice, ExtractionRequest
from pipelines.store.log import Entry

if TYPE_CHECKING:
    import pytest

_MARKS = ("ANTHROPIC", "GEMINI", "GOOGLE", "VOYAGE", "PROXY", "CURATE", "XDG_CONFIG")


def forget_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every key, address and proxy of the machine out of the environment."""
    for name in list(os.environ):
        if any(mark in name.upper() for mark in _MARKS):
            monkeypatch.delenv(name)


ENTRIES = (
    Entry("Logs/2026-03-12.md", 3, 3, "- 09:14 We go with **Terraform**, not Pulumi.", ("Infra",), "Harbour"),
    Entry("Logs/2026-03-12.md", 4, 5, "- 09:40 Asked legal about\n  the contract.", ("Infra",), "Harbour"),
    Entry("Logs/2026-03-12.md", 9, 9, "- 10:02 ran ls", ("Noise",)),
)
DOCUMENTS = (
    DocumentChoice("Projects/harbour", "Harbour", "project"),
    DocumentChoice("Areas/general", "General", "area"),
)
DAY = ExtractionRequest("2026-03-12", ENTRIES, DOCUMENTS)


def reply_item(**changes: Any) -> dict[str, Any]:
    """Return one right item of a reply about `DAY`, with changes."""
    item = {
        "type": "Decision",
        "text": "Harbour is built with Terraform, not Pulumi.",
        "document": "Projects/harbour",
        "new_project": "",
        "quote": "We go with Terraform, not Pulumi.",
        "start_line": 3,
        "end_line": 3,
        "closed": False,
        "confidence": "high",
        "reason": "said in so many words",
        "links": [],
    }
    return {**item, **changes}


def reply_text(*items: object) -> str:
    """Return the text of a reply with these items."""
    return json.dumps({"items": list(items)})
