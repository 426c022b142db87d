"""The run report: what a night read, decided, wrote and spent, for people, scripts and the status command."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.errors import EXPECTED, FINE
from pipelines.memory.files import write_synced, writing
from pipelines.memory.lock import private_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class RunReport:
    """One run. Counts are of this run alone; `seconds` is wall time by stage.

    Args:
        run: the run's id.
        now: the moment at which it acted, ISO 8601.
        day: the memory's day at that moment.
        extractor: who read the logs.
        logs_read: logs with something new in them.
        entries_read: entries that no run had read before.
        entries_pending: entries that stay for the next run because a model failed.
        candidates: items proposed, each with a quote that stands.
        ungrounded: items dropped because their quote did not stand.
        verdicts: verdict → count.
        types: item type → items added.
        documents: document path → items added.
        confirmed: items that gained evidence.
        made: documents that were made.
        edited: items that people reworded since the last run.
        numbered: hand-written or copied lines that got an id.
        retracted: items that people deleted; they never come back.
        restored: items that were put back as Review.md was told.
        asked: items about which Review.md asks.
        briefing_bytes: size of MEMORY.md after the run.
        briefing_cap: its cap.
        evicted: id, from and to of each item that a cap moved.
        folded: partial logs that were folded into their day.
        calls: model requests.
        input_tokens: tokens sent.
        output_tokens: tokens received.
        failure: what the model's failure was, or empty.
        warnings: what was odd, a sentence each.
        pending: whether something stays unread that should not.
        index: what reindexing did.
        seconds: stage → wall seconds.
        edits_commit: the commit of people's edits before the run, or empty.
        recovered: whether an earlier, interrupted run was finished first.
        merged: files in which somebody's edit during the run was merged.
        commit: the run's commit, or empty where nothing changed.
    """

    run: str
    now: str
    day: str
    extractor: str
    logs_read: int = 0
    entries_read: int = 0
    entries_pending: int = 0
    candidates: int = 0
    ungrounded: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, int] = field(default_factory=dict)
    documents: Mapping[str, int] = field(default_factory=dict)
    confirmed: int = 0
    made: Sequence[str] = ()
    edited: int = 0
    numbered: int = 0
    retracted: int = 0
    restored: int = 0
    asked: int = 0
    briefing_bytes: int = 0
    briefing_cap: int = 0
    evicted: Sequence[Mapping[str, str]] = ()
    folded: Sequence[str] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failure: str = ""
    warnings: Sequence[str] = ()
    pending: bool = False
    index: Mapping[str, object] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    edits_commit: str = ""
    recovered: bool = False
    merged: Sequence[str] = ()
    commit: str = ""

    @property
    def added(self) -> int:
        """How many items are new."""
        return sum(self.types.values())

    @property
    def changed(self) -> int:
        """How many items that stood already are different now, or elsewhere, or gone."""
        return self.confirmed + len(self.evicted) + self.edited + self.numbered + self.retracted + self.restored

    @property
    def exit_code(self) -> int:
        """0 when everything that could be read was read, 1 when a failure left something pending."""
        return EXPECTED if self.failure or self.pending else FINE

    def to_json(self) -> dict[str, object]:
        """Return the report as `--json` prints it."""
        return {
            "run": self.run,
            "now": self.now,
            "day": self.day,
            "logs": {"read": self.logs_read, "folded": list(self.folded)},
            "entries": {"read": self.entries_read, "pending": self.entries_pending},
            "candidates": self.candidates,
            "ungrounded": self.ungrounded,
            "verdicts": dict(self.verdicts),
            "items": {
                "added": self.added,
                "confirmed": self.confirmed,
                "by_type": dict(self.types),
                "by_document": dict(self.documents),
            },
            "documents_made": list(self.made),
            "people": {
                "edited": self.edited,
                "numbered": self.numbered,
                "retracted": self.retracted,
                "restored": self.restored,
                "asked": self.asked,
            },
            "briefing": {"bytes": self.briefing_bytes, "cap": self.briefing_cap},
            "evicted": [dict(row) for row in self.evicted],
            "model": {
                "extractor": self.extractor,
                "calls": self.calls,
                "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens,
                "failure": self.failure or None,
            },
            "index": dict(self.index),
            "seconds": {stage: round(spent, 3) for stage, spent in self.seconds.items()},
            "warnings": list(self.warnings),
            "recovered": self.recovered,
            "merged": list(self.merged),
            "edits_commit": self.edits_commit or None,
            "commit": self.commit or None,
            "exit_code": self.exit_code,
        }

    def summary(self) -> str:
        """Return the run in one line: what cron mails, and the first line of the commit."""
        if not (self.added or self.confirmed or self.commit or self.entries_read):
            return f"Nothing new as of {self.day}"
        parts = [f"{self.added} {'item' if self.added == 1 else 'items'} added"]
        parts += [f"{self.confirmed} confirmed"] if self.confirmed else []
        parts += [f"{len(self.evicted)} moved out"] if self.evicted else []
        parts += [f"{self.edited + self.numbered} by hand"] if self.edited + self.numbered else []
        parts += [f"{self.retracted} retracted"] if self.retracted else []
        parts += [f"{self.restored} restored"] if self.restored else []
        return f"Curated up to {self.day}: {', '.join(parts)}"


def save_report(root: Path, report: RunReport) -> None:
    """Keep the report under `.curate/runs/`, for `curate status`."""
    folder = private_folder(root) / "runs"
    with writing(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        write_synced(folder / f"{report.run}.json", json.dumps(report.to_json(), indent=1).encode(), 0o600)


def last_report(root: Path) -> dict[str, object] | None:
    """Return the newest report that can be read, or None before the first run."""
    folder = root / ".curate" / "runs"
    if not folder.is_dir():
        return None
    for file in sorted(folder.glob("*.json"), reverse=True):
        try:
            found = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            return found
    return None
