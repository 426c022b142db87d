"""`curate run REMOTE`: one night of a memory on a remote, for any scheduler on any machine.

Its exit code tells what passes by itself (75: run it again later) from what needs a person (1).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.cli.output import say, say_json, say_report, say_verbatim, warn, watch_for_people
from pipelines.errors import FINE, FULL_DISK, TRY_LATER, CurateError, UsageFault
from pipelines.night.run import night_of
from pipelines.night.run_night import curate_night
from pipelines.night.sync import Publishing, fetched_clone, heads_of, shown_address
from pipelines.provider_settings import models_folder
from pipelines.store.git_remote import NotPushed, Unreachable
from pipelines.store.secrets.redact import without_secrets

if TYPE_CHECKING:
    from pathlib import Path


_PASSING = (Unreachable, NotPushed)


def run_elsewhere(
    remote: str | None, workdir: Path | None, max_usd: float | None, now: str | None, *, due: bool, as_json: bool
) -> int:
    """Curate the memory at a remote, or tell which remotes on standard input have news; return the exit code.

    Args:
        remote: its address or path; None with `due`.
        workdir: the folder of the cached clones; None for the folder `nights` in the user's cache.
        max_usd: the most that the night may cost; None for what the user's settings allow.
        now: another moment, in ISO form.
        due: whether to tell which have news.
        as_json: whether to print JSON.
    """
    if due == (remote is not None):
        raise UsageFault("Name one remote, or give a list to --due.", "Such as: `curate run --due < remotes.txt`.")
    try:
        return _curate(remote, workdir, max_usd, now, as_json=as_json) if remote else _tell_due(as_json=as_json)
    except CurateError as fault:
        fault.exit_code = TRY_LATER if isinstance(fault, _PASSING) or FULL_DISK in fault.advice else fault.exit_code
        if not as_json:
            raise
        say_json({**_error(remote or "", fault, str(fault)), "exit_code": fault.exit_code})
        return fault.exit_code


def _error(remote: str, fault: CurateError, says: str) -> dict[str, object]:
    error = {"kind": type(fault).__name__, "sentence": without_secrets(says)}
    return {"remote": without_secrets(shown_address(remote)), "error": error}


def _tell_due(*, as_json: bool) -> int:
    """Print which remotes on standard input have something that no night has read."""
    lines = map(str.strip, sys.stdin)
    remotes = [line for line in lines if line and not line.startswith("#")]
    rows = list[dict[str, object]]()
    for remote, found in heads_of(remotes):
        shown = without_secrets(shown_address(remote))
        if isinstance(found, CurateError):
            rows.append(_error(remote, found, found.sentence))
            warn(*[] if as_json else [f"{shown}: {without_secrets(found.sentence)}"])
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
    from pipelines.extract.llm.budget import open_guard  # noqa: PLC0415  as above
    from pipelines.settings import load_settings  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    user = load_user_settings()
    guard = open_guard(user)
    folder = workdir or models_folder().with_name("nights")
    with fetched_clone(remote, folder) as clone:
        settings = load_settings(clone.root)
        when = moment(now, settings)
        publishing = Publishing(settings, clone.address, when, clone=clone)
        night = night_of(clone.root, settings, when, "", user, max_usd, guard)
        with watch_for_people() as watch:
            night = replace(night, sharing=publishing)
            report = curate_night(night, watch, user.file.ping.url)
        pushed, address = publishing.published, shown_address(clone.address)
        after = pushed or clone.was
        code = report.exit_code
        if code and any(kind.may_pass for _, kind in report.tally.failures):
            code = TRY_LATER
        if as_json:
            say_json({
                **report.to_json(), "remote": without_secrets(address), "branch": clone.was.branch,
                "before": clone.was.head, "after": after.head, "night": after.night or None,
                "pushed": pushed is not None, "notes": publishing.notes, "exit_code": code,
            })  # fmt: skip
        else:
            say_report(report, user)
            say(*publishing.notes)
            if pushed and pushed.head != clone.was.head:
                say(f"Pushed {pushed.head[:10]} to {pushed.branch} of {address}.")
            elif pushed:
                say(f"Marked {address} as curated.")
    return code
