"""The nights: whether they happen and end well, whether they are pushed, and who answers when asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from pipelines.agents.timers import call
from pipelines.clock import day_of
from pipelines.doctor.findings import look, ok, wrong
from pipelines.extract.choose_models import probe
from pipelines.extract.extract_days import days_to_read
from pipelines.night.fold_logs import capture
from pipelines.nights.health import health
from pipelines.nights.signs import signs_of
from pipelines.settings import load_settings
from pipelines.store.layout import PROGRESS
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import not_reached, push_state, read_progress
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pipelines.doctor.findings import Finding


_MEND: Final = "Mend that, then `curate run`; `curate runs` shows all of it."


def last_nights(root: Path, now: datetime) -> Finding:
    """See whether a night is overdue, or the last one failed."""
    settings = load_settings(root)
    told = health(signs_of(root, _waiting(root, day_of(now, settings))), now, settings)
    if told.failed:
        return wrong("nights", told.failed, _MEND)
    if told.overdue:
        late = "`curate run`, and see below why none ran by itself."
        return wrong("nights", told.overdue, _MEND if told.happens else late)
    if told.ahead:
        return look("nights", told.ahead, "Set the clock, and remove that report from .curate/runs.")
    when = f" at {told.last_well.isoformat(' ', timespec='minutes')}" if told.last_well else " once there is one"
    return ok("nights", f"The last one ended well{when}." if told.last_well else "There was none yet.")


def push(root: Path) -> Finding:
    """See how the last push went."""
    told = push_state(root)
    if told is None:
        return ok("push", "Nothing is pushed anywhere.")
    reason = f": {str(told['reason']).rstrip('.')}" if told["reason"] else ""
    says = f"{told['remote']}: {told['state']}{reason}.{not_reached(told)}"
    return ok("push", says) if told["state"] == "pushed" else look("push", says, "`curate run` tries it again.")


def remotes(root: Path) -> Finding:
    """Ask git's remotes whether they answer."""
    named = call(("git", "-C", str(root), "remote")).out.split()
    for name in named:
        answer = call(("git", "-C", str(root), "-c", "core.askPass=true", "ls-remote", "--exit-code", name, "HEAD"))
        if answer.code not in {0, 2}:  # 2: it answers, and is empty
            return wrong("remote", f"{name} does not answer.", f"`git -C '{root}' fetch {name}` says why.")
    return ok("remote", f"{', '.join(named)} answers." if named else "There is none.")


def models(_: Path) -> Finding:
    """Ask the user's providers whether they answer."""
    probes = probe(load_user_settings(os.environ))
    if bad := next((one for one in probes if not one.reached), None):
        return wrong("models", f"{bad.provider} {bad.why}.", "docs/models.md shows how each is set up.")
    named = ", ".join(one.provider for one in probes)
    return ok("models", f"{named} answers." if probes else "None is asked: the rules read, here.")


def _waiting(root: Path, today: str) -> list[str]:
    """Return the days with something that no run has read."""
    snapshot = read_snapshot(root)
    logs = capture(snapshot.logs, snapshot.partials, today).logs
    days = days_to_read(logs, read_progress(snapshot.state.get(PROGRESS)), today, lambda *_: None)
    return list(dict.fromkeys(day.day for day in days if day.fresh))
