"""A night's input, and one run of it: what it found, what its stages have decided so far, and its report."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.extract.extract_days import DayToRead, Extracted
from pipelines.store.layout import PRIVATE
from pipelines.store.session_state import CAPTURED
from pipelines.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pipelines.extract.extraction import Extractor, Told
    from pipelines.extract.llm.budget import Guard
    from pipelines.extract.llm.model_briefer import ModelBriefer
    from pipelines.extract.llm.verifier import ModelVerifier
    from pipelines.night.brief import Brief
    from pipelines.night.file_items import Catalog
    from pipelines.night.report import RunReport, Watch
    from pipelines.night.sync import Sharing
    from pipelines.review.review import ReviewContext
    from pipelines.review.rulings import Ruling
    from pipelines.settings import Settings
    from pipelines.store.change_set import Change
    from pipelines.store.document import Documents
    from pipelines.store.git import Git
    from pipelines.store.snapshot import Snapshot
    from pipelines.store.state import LogProgress, Tombstone
    from pipelines.user_settings import UserSettings


@dataclass(frozen=True)
class Night:
    """The input of a night.

    Args:
        root: the memory.
        settings: its settings.
        extractor: who reads the logs.
        now: the time the run acts at.
        again: a day to read again, with its tombstones set aside; empty for none.
        rules_before: the first day that a model reads; the rules read earlier ones, all in one run. Empty for no limit.
        verifier: the second reader, or None if no model reads.
        writer: the models that write the night's brief, or None if code writes alone.
        rules_from: whose rules are filed without asking: `self` (the agent's and the owner's) or `owner`.
        agents: whether sessions ask for their start, so that their agents see which pairs may conflict.
        sharing: the remote that shares the memory, or None.
        notes: sentences on the settings, for the report.
    """

    root: Path
    settings: Settings
    extractor: Extractor
    now: datetime
    again: str = ""
    rules_before: str = ""
    verifier: ModelVerifier | None = None
    writer: ModelBriefer | None = None
    rules_from: str = "self"
    agents: bool = False
    sharing: Sharing | None = None
    notes: Sequence[str] = ()

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)


START_PAGES = f"{PRIVATE}/start"
"""The last pages with which sessions started (`pipelines.queries.startup.kept`)."""
_ASKED = timedelta(days=7)
"""For how long agents are taken to ask for their start as they did."""


def night_of(  # noqa: PLR0913, PLR0917  what a command says, beside what the settings say
    root: Path,
    settings: Settings,
    when: datetime,
    again: str,
    user: UserSettings,
    max_usd: float | None = None,
    guard: Guard | None = None,
) -> Night:
    """Return the night at a moment, with the models that the user's settings name.

    Args:
        root: the memory.
        settings: its settings.
        when: the time the run acts at.
        again: a day to read again, or empty.
        user: the user's settings.
        max_usd: the most that the night may cost, if that is less than they allow.
        guard: who else decides on the night's costs, or None.
    """
    from pipelines.extract.rules.rules_extractor import RulesExtractor  # noqa: PLC0415  help reads no logs

    agents = (root / CAPTURED).is_file()
    with contextlib.suppress(OSError):
        agents |= (root / START_PAGES).stat().st_mtime > (when - _ASKED).timestamp()
    notes = (*settings.ignored_note, *user.ignored)
    rules = RulesExtractor()
    night = Night(root, settings, rules, when, again, rules_from=user.file.rules_from, agents=agents, notes=notes)
    if user.providers[0] != "rules":
        from pipelines.extract.choose_models import chain_of  # noqa: PLC0415  the rules need no models
        from pipelines.extract.llm.model_briefer import ModelBriefer  # noqa: PLC0415  as above
        from pipelines.extract.llm.model_extractor import ModelExtractor  # noqa: PLC0415  as above
        from pipelines.extract.llm.verifier import ModelVerifier  # noqa: PLC0415  as above

        budget, caps = None, user.file.limits
        if max_usd is not None and (caps.max_usd is None or max_usd < caps.max_usd):
            caps = caps.model_copy(update={"max_usd": max_usd})
        if guard or caps.model_fields_set:
            from pipelines.extract.llm.budget import Budget  # noqa: PLC0415  most have none
            from pipelines.night.report import reported_nights  # noqa: PLC0415  as above

            spent = Usage()
            for one in reported_nights(root):
                if one.reported("day") == night.today:
                    sent, got = (one.number("model", f"{way}_tokens") for way in ("input", "output"))
                    usd = one.reported("model", "usd")
                    spent += Usage(sent, got, usd=usd if isinstance(usd, float) else 0.0)
            budget = Budget(caps, spent, guard=guard)
        if chain := chain_of(user, user.providers, root, budget):
            second = ModelVerifier(chain_of(user, user.verify, root, budget) or chain)
            night = replace(night, extractor=ModelExtractor(chain), verifier=second, writer=ModelBriefer(chain))
    if remote := user.file.push.remote_of(root):
        from pipelines.night.sync import Sharing  # noqa: PLC0415  few memories have one

        night = replace(night, sharing=Sharing(settings, remote, when))
    return night


@dataclass
class Run:
    """One run of a night: what it found, what its stages have decided so far, and its report.

    If a model reads several days in one night, each day is a run of its own.

    Args:
        night: the input.
        git: the memory's git.
        watch: told of each stage.
        snapshot: the memory as it was read.
        found: the documents by path, as people left them or as the template adds them.
        before: the documents before the first day of the night.
        failed: days that runs before it in the same night could not read.
        report: the report.
        documents: every document by path, as it will be so far.
        files: path → bytes of each other file to write; None to delete it.
        stones: the hashes of what people removed.
        vetoed: what people deleted from the generated sentences.
        catalog: the documents with people's edits and answers, which new items are filed in.
        progress: log → what earlier runs read of it.
        logs: the logs by path, cleaned, with the partial ones folded in.
        log_days: the days with logs, in order.
        days: the logs with something to read in this run.
        later: those left for the runs that follow.
        extracted: what was read.
        context: what the review knows of the memory's items.
        rulings: what is to be done, in order.
        told: day → what happened on it, in the words of the owner and the agent.
        briefed: what a model wrote of the memory, if any; after `verify`, what the second reader supports.
        added: ids of new items.
        changes: the change set.
    """

    night: Night
    git: Git
    watch: Watch
    snapshot: Snapshot
    found: Documents
    before: Documents
    failed: frozenset[str]
    report: RunReport
    documents: Documents
    files: dict[str, bytes | None]
    stones: frozenset[Tombstone]
    vetoed: frozenset[str]
    catalog: Catalog
    progress: Mapping[str, tuple[LogProgress, ...]]
    logs: Mapping[str, bytes] = field(default_factory=dict)
    log_days: list[str] = field(default_factory=list)
    days: list[DayToRead] = field(default_factory=list)
    later: list[DayToRead] = field(default_factory=list)
    extracted: Extracted = field(default_factory=Extracted)
    context: ReviewContext = field(init=False)
    rulings: list[Ruling] = field(default_factory=list)
    told: dict[str, list[Told]] = field(default_factory=dict)
    briefed: Brief | None = None
    added: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def leave(self, days: Sequence[DayToRead]) -> None:
        """Leave days pending, and with them those that would have followed."""
        self.extracted = replace(self.extracted, pending=(*self.extracted.pending, *days, *self.later))
        self.later = []
