"""What runs here and elsewhere share: the night that the settings describe, and what a person reads of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.cli.output import count, dollars, on_terminal, say, warn
from pipelines.night.run import Night
from pipelines.queries.startup.kept import was_asked
from pipelines.store.layout import BRIEFING
from pipelines.store.session_state import CAPTURED

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pipelines.extract.llm.budget import Guard
    from pipelines.night.report import RunReport
    from pipelines.night.run_history import PastRun
    from pipelines.settings import Settings
    from pipelines.user_settings import UserSettings


def at_most(user: UserSettings, max_usd: float | None) -> UserSettings:
    """Return the settings with the cost of a run capped at `max_usd`, unless they cap it lower."""
    if max_usd is None or (user.caps.max_usd is not None and user.caps.max_usd <= max_usd):
        return user
    return replace(user, caps=user.caps.model_copy(update={"max_usd": max_usd}))


def night_of(
    root: Path, settings: Settings, when: datetime, again: str, user: UserSettings, guard: Guard | None = None
) -> Night:
    """Return the night at a moment, with the models that the user's settings name."""
    from pipelines.extract.rules import RulesExtractor  # noqa: PLC0415  help reads no logs

    agents = (root / CAPTURED).is_file() or was_asked(root, when.timestamp())
    night = Night(root, settings, RulesExtractor(), when, again, rules_from=user.rules_from, agents=agents)
    if user.providers[0] != "rules":
        night = _with_models(night, user, guard)
    if remote := user.push.remote_of(root):
        from pipelines.night.sync import Sharing  # noqa: PLC0415  few memories have one

        night = replace(night, sharing=Sharing(settings, user.push, remote, when))
    return night


def _with_models(night: Night, user: UserSettings, guard: Guard | None) -> Night:
    from pipelines.extract.choose_models import chain_of  # noqa: PLC0415  the rules need no models
    from pipelines.extract.llm.fallback import Replies  # noqa: PLC0415  as above
    from pipelines.extract.llm.model_briefer import ModelBriefer  # noqa: PLC0415  as above
    from pipelines.extract.llm.model_extractor import ModelExtractor  # noqa: PLC0415  as above
    from pipelines.extract.llm.verifier import ModelVerifier  # noqa: PLC0415  as above

    replies, budget = Replies(night.root), None
    if guard or user.caps.model_fields_set:
        from pipelines.extract.llm.budget import Budget, Cost  # noqa: PLC0415  most have none
        from pipelines.night.run_history import reported_nights  # noqa: PLC0415  as above

        spent = (_cost_of(one) for one in reported_nights(night.root) if one.reported("day") == night.today)
        budget = Budget(user.caps, sum((Cost(*one) for one in spent), Cost()), guard=guard)
    chain = chain_of(user, user.providers, replies, budget=budget)
    if chain is None:
        return night
    second = chain_of(user, user.verify, replies, budget=budget) or chain
    return replace(night, extractor=ModelExtractor(chain), verifier=ModelVerifier(second), writer=ModelBriefer(chain))


def _cost_of(run: PastRun) -> tuple[int, float]:
    """Return the tokens and dollars that a run spent, as its report here says."""
    usd = run.reported("model", "usd")
    tokens = run.number("model", "input_tokens") + run.number("model", "output_tokens")
    return tokens, usd if isinstance(usd, float) else 0.0


def print_report(report: RunReport, user: UserSettings) -> None:
    """Print the run: one line, what needs a person, and details on a terminal."""
    commit = f" (commit {report.commit[:10]})" if report.commit else ""
    say(f"{report.summary()}{commit}.")
    say(*(f"Note: {warning}" for warning in report.warnings))
    stays = count(report.entries["pending"], "entry stays", "entries stay")
    if report.failure:  # on standard error, which cron mails
        warn(f"{report.failure} {stays} pending for the next run.")
    if report.over_budget:
        say(f"{report.over_budget} {stays} pending; the next run reads the oldest first.")
    if usd := report.tally.usd:
        say(f"The model calls cost {dollars(usd)}.")
    if report.vectors_left:
        texts = count(report.vectors_left, "text is", "texts are")
        say(f"{texts} found by words alone so far. The next runs go on; `curate index` does it now.")
    if on_terminal() and report.added:
        say(*(f"  {path}: {count} added" for path, count in sorted(report.items["by_document"].items())))
        say(f"  {BRIEFING} has {report.briefing['bytes']:,} of {report.briefing['cap']:,} bytes.")
    left = report.entries["left"]
    if left and report.extractor.startswith("rules"):  # a model leaves out on purpose
        lines = count(left, "line was", "lines were")
        say(f"{lines} not understood; `curate runs {report.run} --skipped` lists {'it' if left == 1 else 'them'}.")
    if left and not user.chosen and not user.keys:  # nobody chose to have no model
        say("No model reads the logs. `curate models` shows who can.")
