"""`curate run`: run one night now, rehearse it, or estimate its cost."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipelines.agents.agent_folders import may_have_sessions
from pipelines.cli.manual_changes import diff_of
from pipelines.cli.options import day_option, json_option, with_memory
from pipelines.cli.output import count, dollars, on_terminal, say, say_json, say_verbatim, warn
from pipelines.cli.progress_line import watch_for_people
from pipelines.clock import day_of
from pipelines.errors import EXPECTED, BadSettings, UsageFault
from pipelines.night.plan import plan_night
from pipelines.night.report import RunReport, Watch, save_failure
from pipelines.night.run import Night
from pipelines.night.unattended import curate_unattended
from pipelines.queries.startup.kept import keep_clock, was_asked
from pipelines.store.files import list_files, log_notes
from pipelines.store.git import Git
from pipelines.store.git_history import run_id
from pipelines.store.layout import BRIEFING, LOGS, day_of_log
from pipelines.store.session_state import CAPTURED

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.extract.llm.guard import Guard
    from pipelines.extract.llm.replies import Replies
    from pipelines.settings import Settings
    from pipelines.user_settings import UserSettings


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would change, as a diff.")
@day_option("--again", "Read that day's log again, even what was deleted since.")
@click.option(
    "--provider",
    metavar="NAME",
    default="",
    help="Who reads the logs, instead of the providers in your settings: anthropic, gemini, openai, claude-code, codex,"
    " rules, or exec:COMMAND.",
)
@click.option(
    "--days",
    type=click.IntRange(0),
    metavar="N",
    help="How many of the newest unread days a model reads; the rules read older ones. Past 30 days it asks.",
)
@click.option("--estimate", is_flag=True, help="Only show what the model calls would cost.")
@json_option("Print the run report as JSON.")
@with_memory
def curate_run(  # noqa: PLR0913  one option each
    *,
    dry_run: bool,
    again: str | None,
    provider: str,
    days: int | None,
    estimate: bool,
    as_json: bool,
    opened: OpenMemory,
) -> int:
    """Curate the memory: read what is new in the logs, keep what matters, reindex and commit.

    Running again with nothing new changes nothing.
    """
    root, settings, when = opened
    if again and again not in map(day_of_log, (*list_files(root, LOGS, ".md"), *log_notes(root))):
        raise UsageFault(f"There is no log for {again}.", f"Name a day that has a file in {LOGS}.")
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  only a run reads them

    try:
        user = load_user_settings(os.environ, provider)
        night, replies = night_of(root, settings, when, again or "", user)
    except BadSettings as fault:
        if not (estimate or dry_run):
            save_failure(root, run_id(when, None), when, fault)
        raise
    if estimate:
        _tell_estimate(night, replies, as_json=as_json)
        return 0
    if dry_run:
        return _rehearse(night, as_json=as_json)
    if may_have_sessions(os.environ):
        from pipelines.cli.capture_command import sweep_sessions  # noqa: PLC0415  as above

        sweep_sessions(root, settings, when, quiet=as_json)
    if night.writer:
        from pipelines.cli.backlog import with_backlog  # noqa: PLC0415  only a model is asked to read a backlog

        night = with_backlog(night, replies, days, may_ask=is_person_there() and not as_json)
    with watch_for_people() as watch:
        report = curate_unattended(night, watch, user.ping)
    keep_clock(root, settings, when)
    if as_json:
        say_json(report.to_json())
    else:
        print_report(report, user)
        say(*(note for note in (night.sharing.notes if night.sharing else ()) if note not in report.warnings))
    return max(report.exit_code, EXPECTED) if night.sharing and night.sharing.needs_person else report.exit_code


def night_of(
    root: Path, settings: Settings, when: datetime, again: str, user: UserSettings, guard: Guard | None = None
) -> tuple[Night, Replies]:
    """Return the night at a moment, with the models that the user's settings name, and the saved replies."""
    from pipelines.extract.choose_models import choose_extractor  # noqa: PLC0415  as above
    from pipelines.extract.llm.replies import Replies  # noqa: PLC0415  as above
    from pipelines.extract.rules import RulesExtractor  # noqa: PLC0415  as above
    from pipelines.user_settings import CostCaps  # noqa: PLC0415  as above

    replies, budget = Replies(root), None
    if guard or user.caps != CostCaps():
        from pipelines.extract.llm.budget import LEDGER, Budget, Ledger  # noqa: PLC0415  as above

        budget = Budget(user.caps, Ledger(root / LEDGER, day_of(when, settings)), guard=guard)
    extractor = choose_extractor(user, replies, budget=budget)
    night = Night(
        root,
        settings,
        extractor,
        when,
        again,
        rules_from=user.rules_from,
        agents=(root / CAPTURED).is_file() or was_asked(root, when.timestamp()),
    )
    if not isinstance(extractor, RulesExtractor):
        from pipelines.extract.choose_models import verifier_of  # noqa: PLC0415  the rules need none
        from pipelines.extract.llm.model_briefer import briefer_of  # noqa: PLC0415  as above

        verifier = verifier_of(extractor, user, replies, budget=budget)
        night = replace(night, verifier=verifier, writer=briefer_of(extractor))
    if remote := user.push.remote_of(root):
        from pipelines.night.sync import Sharing  # noqa: PLC0415  as above

        night = replace(night, sharing=Sharing(settings, user.push, remote, when))
    return night, replies


def _tell_estimate(night: Night, replies: Replies, *, as_json: bool) -> None:
    if night.writer:
        from pipelines.cli.backlog import tell_estimate  # noqa: PLC0415  only models cost

        tell_estimate(night, replies, as_json=as_json)
    elif as_json:
        say_json({"days": 0, "calls": 0, "kept": 0, "models": []})
    else:
        say("Rules read the logs, so no model is asked and nothing is paid.")


def _rehearse(night: Night, *, as_json: bool) -> int:
    git = Git(night.root)
    git.check()
    plan = plan_night(night, git, Watch())
    diff = diff_of(night.root, plan.changes)
    if as_json:
        say_json({**plan.report.to_json(), "diff": diff})
    else:
        say_verbatim(diff.rstrip("\n") or "Nothing would change.")
        say(f"\n{plan.report.summary()} (dry run: nothing was written)")
    return plan.report.exit_code


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


def is_person_there() -> bool:
    """Whether a person is at the terminal to answer a question."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
