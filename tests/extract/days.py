"""What the model tests share: a day to read, right and wrong replies about it, an environment without keys."""

import json
import os
from typing import Any

import pytest

from pipelines.extract.extraction import DocumentChoice, ExtractionRequest
from pipelines.store.log import Entry

_MARKS = ("ANTHROPIC", "GEMINI", "GOOGLE", "VOYAGE", "PROXY", "CURATE", "XDG_CONFIG")


def forget_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every key, address and proxy of the machine out of the environment."""
    for name in list(os.environ):
        if any(mark in name.upper() for mark in _MARKS):
            monkeypatch.delenv(name)


def line_of(number: int, text: str, *headings: str, project: str = "", day: str = "2026-03-12") -> Entry:
    """Return an entry of a log; it has as many lines as its text."""
    return Entry(f"Logs/{day}.md", number, number + text.count("\n"), text, headings, project, day=day)


ENTRIES = (
    line_of(3, "- 09:14 We go with **Terraform**, not Pulumi.", "Infra", project="Harbour"),
    line_of(4, "- 09:40 Asked legal about\n  the contract.", "Infra", project="Harbour"),
    line_of(9, "- 10:02 ran ls", "Noise"),
)
DOCUMENTS = (
    DocumentChoice("harbour", "Harbour", "project", "Projects/harbour"),
    DocumentChoice("general", "General", "area", "Areas/general"),
)
DAY = ExtractionRequest("2026-03-12", ENTRIES, DOCUMENTS)


def reply_item(*lines: list[int], **changes: Any) -> dict[str, Any]:
    """Return one right item of a reply about `DAY`, which rests on these lines, with changes."""
    item = {
        "lines": list(lines) or [[3, 3]],
        "type": "Decision",
        "text": "Harbour is built with Terraform, not Pulumi.",
        "replaces": [],
        "document": "harbour",
        "new_page": "",
        "section": "",
        "name": "",
        "from": "",
        "due": "",
        "on": "",
        "closed": "",
        "confidence": "high",
        "links": [],
    }
    return {**item, **changes}


def reply_operation(kind: str, *ids: str, **changes: Any) -> dict[str, Any]:
    """Return one right operation of a reply about `DAY`, with changes."""
    return {"lines": [[4, 5]], "operation": kind, "ids": list(ids), "how": "", "text": "", "reason": "said", **changes}


def reply_text(*items: object, **lists: object) -> str:
    """Return the text of a reply with these items, and with other lists."""
    return json.dumps({"items": list(items), "operations": [], "seen": [], "open_lists": [], "episode": [], **lists})
