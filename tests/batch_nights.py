"""Nights that send and collect batches: a memory, a provider's server, and what both came to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipelines.batches import batching
from pipelines.clock import day_of
from pipelines.memory.layout import REPLIES
from pipelines.memory.snapshot import read_documents
from pipelines.models.budget import LEDGER, Budget, Ledger
from pipelines.models.choose import calls_at_once, choose_extractor
from pipelines.models.replies import Replies
from pipelines.models.settings import ProviderSettings
from pipelines.nightly import curate_night
from pipelines.planning import Night
from pipelines.report import read_reports
from pipelines.settings import load_settings
from pipelines.user_settings import UserSettings
from pipelines.watch import Watch
from tests.models.wire import KEY

if TYPE_CHECKING:
    from pipelines.report import RunReport
    from tests.conftest import Memory
    from tests.models.batch_wire import Provider

DAYS = ["2026-03-11", "2026-03-12", "2026-03-13"]
MODELS = {"anthropic": "claude-haiku-5-5", "gemini": "gemini-3.8-flash"}
USD = {"anthropic": 0.0000282 / 2, "gemini": 0.00004125 / 2}
"""What one good answer of the servers costs in a batch."""


def item(day: str, text: str = "", line: int = 3) -> dict[str, Any]:
    said = text or f"We go with plan B{day[-2:]}."
    return {
        "type": "Decision", "text": said, "document": "", "new_project": "", "quote": said, "start_line": line,
        "end_line": line, "closed": False, "confidence": "high", "reason": "said so",
    }  # fmt: skip


def answer(call: str) -> str:
    """Answer a call with every plan of its log, at its line."""
    day = re.search(r"Day of the log: (\d{4}-\d\d-\d\d)", call)
    lines = re.findall(r"(\d+)\| - \d\d:\d\d (We go with plan \w+\.)", call)
    return json.dumps({"items": [item(day[1] if day else "", text, int(line)) for line, text in lines]})


class Nights:
    """Runs of one memory, each with what a user would have set."""

    def __init__(self, memory: Memory, kind: str, server: Provider) -> None:
        self.memory, self.kind, self.server = memory, kind, server
        self.user = self.using(kind)

    def using(self, *kinds: str, **settings: Any) -> UserSettings:
        made = {
            kind: ProviderSettings(MODELS[kind], KEY, self.server.url, max_retries=0, timeout_seconds=20)
            for kind in kinds
            if kind in MODELS
        }
        return UserSettings(kinds, **made, **settings)  # type: ignore[arg-type]  # of each field's type

    def log(self, *days: str) -> None:
        for day in days or DAYS:
            self.memory.write(f"Logs/{day}.md", f"# {day}\n\n- 09:14 We go with plan B{day[-2:]}.\n")

    def night(self, moment: str, *, batch: bool = True, again: str = "") -> Night:
        when, settings = datetime.fromisoformat(f"{moment}+00:00"), load_settings(self.memory.root)
        replies = Replies(self.memory.root / REPLIES, when, anew=bool(again))
        user = self.user
        ledger = Ledger(self.memory.root / LEDGER, day_of(when, settings))
        budget = Budget(user.caps, ledger) if user.caps.any else None
        reader = choose_extractor(user, replies, None, budget)
        night = Night(self.memory.root, settings, reader, when, again, calls_at_once(user))
        return replace(night, batches=batching(night, user, replies, budget, sends=batch))

    def run(self, moment: str, *, batch: bool = True, again: str = "") -> RunReport:
        return curate_night(self.night(moment, batch=batch, again=again), Watch())

    def texts(self) -> list[str]:
        documents = read_documents(self.memory.root).values()
        return sorted(placed.item.text for document in documents for placed in document.items)

    @property
    def notes(self) -> list[str]:
        folder = self.memory.root / ".curate" / "batches"
        return sorted(file.name for file in folder.iterdir()) if folder.exists() else []

    @property
    def usd(self) -> float:
        """What all reports together say that was paid."""
        reports: list[Any] = list(read_reports(self.memory.root).values())
        return sum(report["model"]["usd"] or 0 for report in reports if "model" in report)


def plans(*days: str) -> list[str]:
    return [f"We go with plan B{day[-2:]}." for day in days]
