"""Checks of the set-up, which change nothing, and the next thing to do."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.agents.agent_folders import AGENTS_SESSIONS
from pipelines.agents.install_plan import InstallRequest, this_program
from pipelines.agents.session_places import swept_agents
from pipelines.agents.targets import gives_sessions, installed_agents
from pipelines.agents.timers import ANSWERS, call
from pipelines.clock import day_of
from pipelines.errors import CurateError, NotYours
from pipelines.extract.choose_models import probe
from pipelines.extract.llm.logged_in import found_program
from pipelines.provider_settings import LOGINS
from pipelines.queries.health import (
    LOOK,
    OK,
    WRONG,
    Finding,
    health_of,
    installed_nights,
    minutes,
    next_run,
    waiting_days,
)
from pipelines.settings import load_settings
from pipelines.store.files import writing
from pipelines.store.git import Git
from pipelines.store.layout import BRIEFING
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import not_reached, push_state
from pipelines.user_settings import KEY_VARIABLES, load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pipelines.agents.timers import InstalledNight


def examine(root: Path, now: datetime, *, probing: bool) -> dict[str, Finding]:
    """Return what each check found, by its name, in the order in which to fix things. Nothing is changed.

    Args:
        root: the memory.
        now: the moment; in any zone if the settings are broken.
        probing: whether to ask the models' providers as well.
    """
    checks: dict[str, Callable[[], Finding]] = {
        "repository": lambda: repository(root),
        "settings": lambda: settings(root),
        "providers": providers,
        "nights": lambda: last_nights(root, now),
        "schedule": lambda: schedule(installed := installed_nights(root), next_run(root, installed, now)),
        "agents": lambda: agents(root),
        "sessions": lambda: sessions(root),
        "push": lambda: push(root),
    }
    if probing:
        checks["models"] = models
    findings = dict[str, Finding]()
    for name, check in checks.items():
        try:
            findings[name] = check()
        except CurateError as fault:
            findings[name] = Finding(WRONG, fault.sentence, fault.advice.strip() or "Fix that first.")
        except PermissionError as fault:
            mine = NotYours(fault.filename or root)
            findings[name] = Finding(WRONG, mine.sentence, mine.advice.strip())
        except Exception as fault:  # noqa: BLE001  one broken thing must not hide what the other checks find
            findings[name] = Finding(WRONG, f"This check failed: {type(fault).__name__}.", "Please report this.")
    return findings


def next_thing(findings: Mapping[str, Finding]) -> tuple[str, Finding] | None:
    """Return the finding to act on first, with its name: the first that is wrong, else that is worth a look."""
    urgent = (row for state in (WRONG, LOOK) for row in findings.items() if row[1].state is state and row[1].to_do)
    return next(urgent, None)


def settings(root: Path) -> Finding:
    """Check curate.toml and its time zone.

    Raises:
        BadSettings: the file has faults.
    """
    found = load_settings(root)
    if ignored := found.ignored_note:
        return Finding(
            LOOK,
            ignored[0],
            "Take it out, or put it into your own settings; docs/models.md shows where.",
        )
    return Finding(OK, f"curate.toml is valid; days end at {found.day_end}, {found.timezone}.")


def repository(root: Path) -> Finding:
    """Check that a commit can be made, and stored.

    Raises:
        GitFault: git cannot commit.
        NotWritable: the folder of its objects is not writable.
    """
    git = Git(root)
    git.check()
    packs = git.repository.common_dir / "objects" / "pack"
    with writing(packs), tempfile.TemporaryFile(dir=packs):
        pass
    if git.identity() is None:
        return Finding(
            LOOK,
            "git can commit, but does not know your name.",
            "Run `git config --global user.name NAME`.",
        )
    return Finding(OK, "git can commit.")


def providers() -> Finding:
    """Check the user's settings and whether keys are set; keys are never shown."""
    user = load_user_settings(os.environ)
    keys = [name for names in KEY_VARIABLES.values() for name in names if os.environ.get(name, "").strip()]
    keyed = f" Keys are in {', '.join(keys)}." if keys else ""
    named = ", then ".join("exec:…" if name.startswith("exec:") else name for name in user.providers)
    for name in (*user.providers, *user.verify):
        if name in LOGINS and not found_program(name, user.models[name].program):
            says = f"{name} should read the logs, but `{LOGINS[name].program}` is not installed."
            return Finding(WRONG, says, f"Install it, or set `program` in the table {name} of your settings.")
    if user.providers == ("rules",) and not user.chosen:
        return Finding(
            LOOK,
            "No model reads the logs; rules find only what is labelled.",
            "`curate models` shows what can.",
        )
    return Finding(OK, f"{named} {'reads' if len(user.providers) == 1 else 'read'} the logs.{keyed}")


def agents(root: Path) -> Finding:
    """Check which agents use a memory."""
    if not os.environ.get("HOME"):
        return Finding(LOOK, "HOME is not set, so your agents cannot be found.", "Set it to your home directory.")
    asked = InstallRequest(this_program(root), Path.home())
    found = installed_agents(asked)
    others = [one for one in found if one in AGENTS_SESSIONS and not gives_sessions(one, asked)]
    if found:
        here = [one for one in found if one not in others]
        says = f"Connected: {', '.join(here)}." if here else "No agent feeds this memory."
        if not others:
            return Finding(OK, says)
        says += f" No sessions come from {' and '.join(others)}; another memory may have them."
        return Finding(OK if here else LOOK, says, f"`curate install {others[0]}` connects it here.")
    return Finding(
        LOOK,
        "No agent is connected.",
        "Run `curate install claude-code`, or see `curate install --help`.",
    )


def sessions(root: Path) -> Finding:
    """Check that the sessions of the agents that use the memory were captured."""
    found = swept_agents(root)
    says = " ".join(f"{name}: {sentence}." for name, (_, sentence) in found.items())
    if any(swept.passed for swept, _ in found.values()):
        return Finding(LOOK, says, "`curate status --json` lists what was not captured, and why.")
    return Finding(OK, says or "No agent gives its sessions.")


def schedule(installed: Sequence[InstalledNight], upcoming: tuple[datetime, str] | None) -> Finding:
    """Check that runs are scheduled."""
    if upcoming:
        when, by = upcoming
        if by == "systemd" and call(ANSWERS).returncode:
            says = "memcurate.timer is installed, but no systemd of yours answers here."
            return Finding(LOOK, says, "Log in as yourself, not by su or sudo, or use `curate install cron`.")
        return Finding(OK, f"The next run is {minutes(when)}, by {by}.")
    if installed:
        says = "memcurate.timer is installed but not active."
        return Finding(WRONG, says, "Run `systemctl --user enable --now memcurate.timer`.")
    return Finding(LOOK, "No run is scheduled.", "Run `curate install systemd`, `cron` or `launchd`.")


def last_nights(root: Path, now: datetime) -> Finding:
    """Check whether a run is overdue or the last one failed."""
    settings = load_settings(root)
    return health_of(root, waiting_days(read_snapshot(root), day_of(now, settings)), now, settings).finding


def briefing(size: int, cap: int) -> Finding:
    """Check whether MEMORY.md is longer than a session may be shown."""
    says = f"{BRIEFING} has {size:,} of {cap:,} bytes."
    return Finding(LOOK, says, "Shorten what you wrote in it.") if size > cap else Finding(OK, says)


def push(root: Path) -> Finding:
    """Check the last push."""
    found = push_state(root)
    if found is None:
        return Finding(OK, "Nothing is pushed anywhere.")
    reason = f": {str(found['reason']).rstrip('.')}" if found["reason"] else ""
    says = f"{found['remote']}: {found['state']}{reason}.{not_reached(found)}"
    if found["state"] == "diverged" or (found["state"] == "pushed" and reason):
        return Finding(WRONG, says, "`curate sync` prints the commands that settle it.")
    return Finding(OK, says) if found["state"] == "pushed" else Finding(LOOK, says, "`curate run` tries again.")


def models() -> Finding:
    """Ask the user's providers whether they answer."""
    probes = probe(load_user_settings(os.environ))
    if bad := next((f"{name} {why}." for name, why in probes if why), ""):
        return Finding(WRONG, bad, "docs/models.md shows how to set it up.")
    named = ", ".join(name for name, _ in probes)
    return Finding(OK, f"{named} answers." if probes else "None is needed: rules read the logs.")
