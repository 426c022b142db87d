"""`curate night`: one night of a memory on a remote, for any scheduler on any machine.

Its exit code tells what passes by itself (75: run it again later) from what needs a person (1).
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, now_option
from pipelines.cli.output import say, say_json, say_verbatim, warn
from pipelines.cli.progress_line import watch_for_people
from pipelines.cli.run_command import night_of, print_report
from pipelines.errors import FINE, TRY_LATER, CurateError, UsageFault
from pipelines.night.remote_night import Clone, Publishing, fetched_clone, heads_of, shown_address
from pipelines.night.unattended import curate_unattended
from pipelines.store.git_remote import NotPushed, Unreachable
from pipelines.store.secrets.redact import without_secrets

if TYPE_CHECKING:
    from pipelines.night.report import RunReport
    from pipelines.user_settings import UserSettings


_PASSING = (Unreachable, NotPushed)


@click.command()
@click.argument("remote", required=False)
@click.option("--due", is_flag=True, help="Only print which of the remotes on standard input, one a line, have news.")
@click.option(
    "--workdir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where clones are cached (default: the folder memcurate/nights in your cache folder).",
)
@click.option(
    "--max-usd",
    type=click.FloatRange(min=0),
    metavar="USD",
    help="The most that the night may cost, if that is less than your settings allow.",
)
@now_option
@json_option("Print the run report, and what was pushed, as one JSON object; with --due, one array.")
def curate_night(
    *, remote: str | None, due: bool, workdir: Path | None, max_usd: float | None, now: str | None, as_json: bool
) -> int:
    """Curate the memory at REMOTE (an address or a path): fetch it into a cached clone, run, push.

    Logs and edits that were pushed meanwhile are joined. Running again with nothing new pushes nothing. Exits with 75
    for what may pass by itself, such as another run that ended first or a provider that is down; with 1 for what needs
    you.
    """
    if due == (remote is not None):
        raise UsageFault("Name one remote, or give a list to --due.", "Such as: `curate night --due < remotes.txt`.")
    try:
        return _curate(remote, workdir, max_usd, now, as_json=as_json) if remote else _tell_due(as_json=as_json)
    except CurateError as fault:
        fault.exit_code = TRY_LATER if _may_pass(fault) else fault.exit_code
        if not as_json:
            raise
        error = {"kind": type(fault).__name__, "sentence": without_secrets(str(fault))}
        say_json({"remote": without_secrets(shown_address(remote or "")), "error": error, "exit_code": fault.exit_code})
        return fault.exit_code


def _may_pass(fault: CurateError) -> bool:
    return isinstance(fault, _PASSING) or fault.is_full_disk


def _tell_due(*, as_json: bool) -> int:
    """Print which remotes on standard input have something that no night has read."""
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  help needs no settings

    lines = map(str.strip, sys.stdin)
    remotes = [line for line in lines if line and not line.startswith("#")]
    rows: list[dict[str, object]] = []
    for remote, found in heads_of(remotes, load_user_settings(os.environ).push.timeout_seconds):
        shown = without_secrets(shown_address(remote))
        if isinstance(found, CurateError):
            error = {"kind": type(found).__name__, "sentence": without_secrets(found.sentence)}
            rows.append({"remote": shown, "error": error})
            warn(*[] if as_json else [f"{shown}: {error['sentence']}"])
            continue
        is_due = found.head != found.night
        rows.append({"remote": shown, "due": is_due, "head": found.head, "night": found.night or None})
        if is_due and not as_json:
            say_verbatim(remote)
    if as_json:
        say_json(rows)
    return TRY_LATER if any("error" in row for row in rows) else FINE


def _curate(remote: str, workdir: Path | None, max_usd: float | None, now: str | None, *, as_json: bool) -> int:
    from pipelines.clock import moment  # noqa: PLC0415  help needs no settings
    from pipelines.extract.llm.guard import open_guard  # noqa: PLC0415  as above
    from pipelines.queries.search_settings import spare_threads  # noqa: PLC0415  as above
    from pipelines.search.embedders.pinned_model import models_folder  # noqa: PLC0415  as above
    from pipelines.settings import load_settings  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    spare_threads()  # many nights share the processors
    user = load_user_settings(os.environ)
    if max_usd is not None:
        least = min(max_usd, user.caps.max_usd if user.caps.max_usd is not None else max_usd)
        user = replace(user, caps=user.caps.model_copy(update={"max_usd": least}))
    guard = open_guard(user)
    folder = workdir or models_folder(os.environ).with_name("nights")
    with fetched_clone(remote, folder, user.push) as clone:
        settings = load_settings(clone.root)
        when = moment(now, settings)
        publishing = Publishing(settings, user.push, clone.address, when, clone=clone)
        night, _ = night_of(clone.root, settings, when, "", user, guard)
        with watch_for_people() as watch:
            report = curate_unattended(replace(night, sharing=publishing), watch, user.ping)
        code = report.exit_code
        if code and any(kind.may_pass for _, kind in report.tally.failures):
            code = TRY_LATER
        if as_json:
            say_json({**_as_json(report, clone, publishing), "exit_code": code})
        else:
            _print(report, clone, publishing, user)
    return code


def _as_json(report: RunReport, clone: Clone, publishing: Publishing) -> dict[str, object]:
    """Return the run report, and the branch and `refs/curate/night` of the remote before and after."""
    pushed, tally = publishing.published, report.tally
    after = pushed or clone.was
    return {
        **report.to_json(),
        "remote": without_secrets(shown_address(clone.address)),
        "branch": clone.was.branch,
        "before": clone.was.head,
        "after": after.head,
        "night": after.night or None,
        "pushed": pushed is not None,
        "notes": publishing.notes,
        "cost": {
            "usd": tally.usd,
            "calls": tally.calls,
            "input_tokens": tally.usage.input_tokens,
            "output_tokens": tally.usage.output_tokens,
        },
    }


def _print(report: RunReport, clone: Clone, publishing: Publishing, user: UserSettings) -> None:
    print_report(report, user)
    say(*publishing.notes)
    pushed, address = publishing.published, shown_address(clone.address)
    if pushed and pushed.head != clone.was.head:
        say(f"Pushed {pushed.head[:10]} to {pushed.branch} of {address}.")
    elif pushed:
        say(f"Marked {address} as curated.")
