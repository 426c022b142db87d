"""What the person set up: providers and their keys, the embedder, the agents, the nights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.agents.install_plan import Asked, this_program
from pipelines.agents.targets import installed_agents
from pipelines.doctor.findings import look, ok, wrong
from pipelines.nights.upcoming import installed_nights, next_run
from pipelines.search.embed import chosen_embedder
from pipelines.store.lock import scheduler_runs
from pipelines.user_settings import KEY_VARIABLES, load_user_settings

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.doctor.findings import Finding


def providers(_: Path) -> Finding:
    """Read the user's settings; a key is told to be there or not, and never shown."""
    user = load_user_settings(os.environ)
    keys = [name for names in KEY_VARIABLES.values() for name in names if os.environ.get(name, "").strip()]
    keyed = f" Keys are in {', '.join(keys)}." if keys else ""
    named = ", then ".join("exec:…" if name.startswith("exec:") else name for name in user.providers)
    return ok("providers", f"Logs are read by {named}.{keyed}")


def embedder(_: Path) -> Finding:
    """See whether search goes by meaning."""
    found, why = chosen_embedder()
    return ok("embedder", why) if found else look("embedder", why, "`curate models fetch` fetches the local one.")


def agents(root: Path) -> Finding:
    """See which agents are told of a memory."""
    if not os.environ.get("HOME"):
        return look("agents", "HOME is not set, so nobody knows whose agents these are.", "Set it to your home.")
    found = installed_agents(Asked(this_program(root), Path.home()))
    if found:
        return ok("agents", f"Told of a memory: {', '.join(found)}.")
    return look("agents", "No agent is told of a memory.", "`curate install claude-code`, or another: `--help`.")


def schedule(root: Path, now: datetime) -> Finding:
    """See whether nights come by themselves."""
    nights = installed_nights(root)
    upcoming = next_run(root, nights, now)
    if upcoming:
        when, by = upcoming
        several = [one.target for one in nights] + (["curate schedule"] if scheduler_runs(root) else [])
        if len(several) > 1:
            says = f"More than one starts nights: {', '.join(several)}."
            return look("schedule", says, f"Keep one: `curate uninstall {several[0]}`.")
        return ok("schedule", f"The next run is {when.isoformat(' ', timespec='minutes')}, by {by}.")
    if nights:
        says = "memcurate.timer is installed and not in force."
        return wrong("schedule", says, "`systemctl --user enable --now memcurate.timer`.")
    return look("schedule", "Nothing starts a night by itself.", "`curate install systemd`, `cron` or `launchd`.")
