"""`curate run`: run one night now, here or of a memory on a remote, rehearse it, or estimate its cost."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import click

from pipelines.agents.agent_folders import AGENTS_SESSIONS, GROUP
from pipelines.cli.options import ANY_PATH, day_option, flag_option, json_option, memory_option, now_option, open_memory
from pipelines.cli.output import dollars, say, say_json, say_report, say_verbatim, warn, watch_for_people
from pipelines.errors import EXPECTED, BadSettings, UsageFault
from pipelines.night.manual import read_memory, understood
from pipelines.night.plan import plan_night
from pipelines.night.report import Watch, save_failure
from pipelines.night.run import Night, night_of
from pipelines.night.run_night import curate_night
from pipelines.store.files import list_files, log_notes
from pipelines.store.git import Git, run_id
from pipelines.store.layout import LOGS, day_of_log
from pipelines.text import count

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

    from pipelines.user_settings import UserSettings


MOST_DAYS = 30


@click.command()
@click.argument("remote", required=False)
@flag_option("--dry-run", "Only show what would change, as a diff.")
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
    type=click.IntRange(1),
    metavar="N",
    help="How many of the newest unread days a model reads; the rules read older ones. Past 30 days it asks.",
)
@flag_option("--estimate", "Only show what the model calls would cost.")
@click.option(
    "--max-usd",
    type=click.FloatRange(min=0),
    metavar="USD",
    help="The most that the run may cost, if that is less than your settings allow.",
)
@flag_option("--due", "Only print which of the remotes on standard input, one a line, have news.")
@click.option(
    "--workdir",
    type=ANY_PATH,
    metavar="DIR",
    help="Where clones of remotes are cached (default: memcurate/nights in your cache folder).",
)
@json_option("Print the run report as JSON; with --due, one array.")
@memory_option
@now_option
def curate_run(  # noqa: PLR0913  one option each
    *,
    remote: str | None,
    dry_run: bool,
    again: str | None,
    provider: str,
    days: int | None,
    estimate: bool,
    max_usd: float | None,
    due: bool,
    workdir: Path | None,
    as_json: bool,
    memory: Path | None,
    now: str | None,
) -> int:
    """Curate the memory: read what is new in the logs, keep what matters, reindex and commit.

    Running again with nothing new changes nothing.

    With REMOTE, an address or a path, it fetches that memory into a cached clone, runs and pushes; logs and edits that
    were pushed meanwhile are joined. It exits with 75 for what may pass by itself, such as a provider that is down.
    """
    if remote or due:
        if dry_run or again or provider or days is not None or estimate:
            raise UsageFault("A run of a remote takes no more than --max-usd, --workdir and --json.")
        from pipelines.cli.remote_run import run_elsewhere  # noqa: PLC0415  few runs are

        return run_elsewhere(remote, workdir, max_usd, now, due=due, as_json=as_json)
    root, settings, when = open_memory(memory, now)
    if again and again not in map(day_of_log, (*list_files(root, LOGS, ".md"), *log_notes(root))):
        raise UsageFault(f"There is no log for {again}.", f"Name a day that has a file in {LOGS}.")
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  only a run reads them

    try:
        user = load_user_settings(provider)
        night = night_of(root, settings, when, again or "", user, max_usd)
    except BadSettings as fault:
        if not (estimate or dry_run):
            save_failure(root, run_id(when, None), when, fault)
        raise
    if estimate:
        _tell_estimate(night, days, as_json=as_json)
        return 0
    if dry_run:
        return _rehearse(night, as_json=as_json)
    return _run_here(user, night, days, as_json=as_json)


def _run_here(user: UserSettings, night: Night, days: int | None, *, as_json: bool) -> int:
    if any(one.home().is_dir() for one in AGENTS_SESSIONS.values()) or entry_points(group=GROUP):
        from pipelines.cli.capture_command import sweep_sessions  # noqa: PLC0415  as above

        sweep_sessions(night.root, night.settings, night.now, quiet=as_json)
    if night.writer and not night.again:
        night = _with_backlog(night, days)
    with watch_for_people() as watch:
        report = curate_night(night, watch, user.file.ping.url)
    if as_json:
        say_json(report.to_json())
    else:
        say_report(report, user)
        say(*(note for note in (night.sharing.notes if night.sharing else ()) if note not in report.warnings))
    return max(report.exit_code, EXPECTED) if night.sharing and night.sharing.state == "diverged" else report.exit_code


def _rehearse(night: Night, *, as_json: bool) -> int:
    from pipelines.cli.manual_changes import diff_of  # noqa: PLC0415  few runs are rehearsed

    git = Git(night.root)
    git.check()
    held = read_memory(git, night.settings, night.now)
    plan = plan_night(night, understood(held), Watch(), held.documents)
    diff = diff_of(night.root, plan.changes)
    if as_json:
        say_json({**plan.report.to_json(), "diff": diff})
    else:
        say_verbatim(diff.rstrip("\n") or "No page would change.")
        say(f"\n{plan.report.summary()} (dry run: nothing was written)")
    return plan.report.exit_code


# ---------------------------------------- many days that no run has read yet, and what a model costs


def _unread(night: Night) -> Counter[str]:
    from pipelines.queries.health import unread_bytes  # noqa: PLC0415  only a model's nights ask
    from pipelines.store.snapshot import read_snapshot  # noqa: PLC0415  as above

    return unread_bytes(read_snapshot(night.root), night.today)


def _with_backlog(night: Night, wanted: int | None) -> Night:
    """Return the night with the first day that a model reads; the rules read the days before it, which costs nothing.

    Args:
        night: the night.
        wanted: how many of the newest unread days a model reads; None for thirty.
    """
    most, days = wanted or MOST_DAYS, [*_unread(night)]
    if len(days) <= most:
        return night
    if wanted is None:
        warn(
            f"{count(len(days), 'day')} are unread. The model reads the newest {most}, the rules the"
            f" {count(len(days) - most, 'older day')}. For a model to read all: `curate run --days {len(days)}`,"
            " and with --estimate it says what that costs."
        )
    return replace(night, rules_before=days[-most])


def _tell_estimate(night: Night, wanted: int | None, *, as_json: bool) -> None:
    """Print about what each model would cost that may read what is unread. Nothing is called or written."""
    from pipelines.extract.llm.model_extractor import ModelExtractor  # noqa: PLC0415  few runs are estimated
    from pipelines.queries.readers import cost_of  # noqa: PLC0415  as above

    days, models = list[int](), list[str]()
    if isinstance(night.extractor, ModelExtractor):
        days = [0] if night.again else [*_unread(night).values()][-(wanted or MOST_DAYS) :]
        models = [one.name for one in night.extractor.chain.models]
    costs = [(name, *cost_of(name, days)) for name in models]
    if as_json:
        keys = ("model", "input_tokens", "output_tokens", "usd")
        say_json({"days": len(days), "models": [dict(zip(keys, one, strict=True)) for one in costs]})
        return
    if not models:
        say("Rules read the logs, so no model is asked and nothing is paid.")
        return
    say(f"{count(len(days), 'day')} to read, at what a typical night takes. If one model answers all calls:")
    for name, sent, got, usd in costs:
        price = f"about {dollars(usd)}" if usd is not None else "price unknown"
        say(f"  {name}: about {sent:,} tokens sent, {got:,} received: {price}")
