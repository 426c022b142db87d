"""`curate night`: one night of a memory on a remote, for any scheduler on any machine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, now_option
from pipelines.cli.output import say, say_json
from pipelines.cli.progress_line import watch_for_people
from pipelines.cli.run_command import night_of, print_report
from pipelines.errors import CurateError
from pipelines.night.remote_night import Clone, Publishing, fetched_clone, shown_address
from pipelines.night.unattended import curate_unattended, in_journal
from pipelines.store.secrets import without_secrets

if TYPE_CHECKING:
    from pipelines.night.report import RunReport
    from pipelines.user_settings import UserSettings


@click.command()
@click.argument("remote")
@click.option(
    "--workdir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where clones are cached (default: the folder memcurate/nights in your cache folder).",
)
@now_option
@json_option("Print the run report, and what was pushed, as one JSON object.")
def curate_night(*, remote: str, workdir: Path | None, now: str | None, as_json: bool) -> int:
    """Curate the memory at REMOTE (an address or a path): fetch it into a cached clone, run, push.

    If another run of it ended first, this one pushes nothing and exits with 75. Logs and edits that were pushed
    meanwhile are joined. Running again with nothing new pushes nothing.
    """
    try:
        return _curate(remote, workdir, now, as_json=as_json)
    except CurateError as fault:
        if not as_json:
            raise
        error = {"kind": type(fault).__name__, "sentence": without_secrets(str(fault))}
        say_json({"remote": without_secrets(shown_address(remote)), "error": error, "exit_code": fault.exit_code})
        return fault.exit_code


def _curate(remote: str, workdir: Path | None, now: str | None, *, as_json: bool) -> int:
    from pipelines.clock import moment  # noqa: PLC0415  help needs no settings
    from pipelines.extract.llm.guard import open_guard  # noqa: PLC0415  as above
    from pipelines.queries.search_settings import spare_threads  # noqa: PLC0415  as above
    from pipelines.search.embedders.pinned_model import models_folder  # noqa: PLC0415  as above
    from pipelines.settings import load_settings  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    spare_threads()  # many nights share the processors
    user = load_user_settings(os.environ)
    guard = open_guard(user)
    folder = workdir or models_folder(os.environ).with_name("nights")
    with fetched_clone(remote, folder, user.push) as clone:
        settings = load_settings(clone.root)
        when = moment(now, settings)
        publishing = Publishing(settings, user.push, clone.address, when, clone=clone)
        night, _ = night_of(clone.root, settings, when, "", user, guard)
        with watch_for_people() as watch:
            report = curate_unattended(replace(night, sharing=publishing), watch, user.ping)
        if as_json:
            say_json(_as_json(report, clone, publishing))
        elif not in_journal(os.environ):
            _print(report, clone, publishing, user)
    return report.exit_code


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
    print_report(report, clone.root, user)
    say(*publishing.notes)
    pushed, address = publishing.published, shown_address(clone.address)
    if pushed and pushed.head != clone.was.head:
        say(f"Pushed {pushed.head[:10]} to {pushed.branch} of {address}.")
    elif pushed:
        say(f"Marked {address} as curated.")
