"""Checks of the set-up, which change nothing, and the next thing to do."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.agents.install_plan import InstallRequest, this_program
from pipelines.agents.session_places import swept_agents
from pipelines.agents.targets import installed_agents
from pipelines.agents.timers import ANSWERS, call
from pipelines.clock import day_of
from pipelines.errors import CurateError, NotYours
from pipelines.extract.choose_models import probe
from pipelines.extract.llm.logged_in import found_program
from pipelines.provider_settings import LOGINS
from pipelines.queries.health import health_of, installed_nights, minutes, next_run, waiting_days
from pipelines.settings import load_settings
from pipelines.store.files import writing
from pipelines.store.git import Git
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import not_reached, push_state
from pipelines.user_settings import KEY_VARIABLES, load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    Answer = tuple["State", str, str]


_MEND = "Fix that, then run `curate run`; `curate runs` shows the details."


class State(StrEnum):
    """The result of a check: fine, worth a look, or so wrong that runs fail or do not happen."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        check: what was checked, in a word or two.
        state: the result.
        says: what was found, in a sentence.
        to_do: what to do about it, in a sentence; empty if there is nothing to do.
    """

    check: str
    state: State
    says: str
    to_do: str


def examine(root: Path, now: datetime, *, probing: bool) -> list[Finding]:
    """Return what each check found, in the order in which to fix things. Nothing is changed.

    Args:
        root: the memory.
        now: the moment; in any zone if the settings are broken.
        probing: whether to ask the models' providers as well.
    """
    checks: dict[str, Callable[[], Answer]] = {
        "repository": lambda: repository(root),
        "settings": lambda: settings(root),
        "providers": providers,
        "nights": lambda: last_nights(root, now),
        "schedule": lambda: schedule(root, now),
        "agents": lambda: agents(root),
        "sessions": lambda: sessions(root),
        "push": lambda: push(root),
    }
    if probing:
        checks["models"] = models
    findings = []
    for name, check in checks.items():
        try:
            answer = check()
        except CurateError as fault:
            answer = _wrong(fault.sentence, fault.advice.strip() or "Fix that first.")
        except PermissionError as fault:
            mine = NotYours(fault.filename or root)
            answer = _wrong(mine.sentence, mine.advice.strip())
        except Exception as fault:  # noqa: BLE001  one broken thing must not hide what the other checks find
            answer = _wrong(f"This check failed: {type(fault).__name__}.", "Please report this.")
        findings.append(Finding(name, *answer))
    return findings


def next_thing(findings: list[Finding]) -> Finding | None:
    """Return the finding to act on first: the first that is wrong, else the first that is worth a look."""
    urgent = (one for state in (State.WRONG, State.LOOK) for one in findings if one.state is state and one.to_do)
    return next(urgent, None)


def _ok(says: str) -> Answer:
    return State.OK, says, ""


def _look(says: str, to_do: str) -> Answer:
    return State.LOOK, says, to_do


def _wrong(says: str, to_do: str) -> Answer:
    return State.WRONG, says, to_do


def settings(root: Path) -> Answer:
    """Check curate.toml and its time zone.

    Raises:
        BadSettings: the file has faults.
    """
    found = load_settings(root)
    if ignored := found.ignored_note:
        return _look(ignored[0], "Take it out, or put it into your own settings; docs/models.md shows where.")
    return _ok(f"curate.toml is valid; days end at {found.day_end}, {found.timezone}.")


def repository(root: Path) -> Answer:
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
        return _look("git can commit, but does not know your name.", "Run `git config --global user.name NAME`.")
    return _ok("git can commit.")


def providers() -> Answer:
    """Check the user's settings and whether keys are set; keys are never shown."""
    user = load_user_settings(os.environ)
    keys = [name for names in KEY_VARIABLES.values() for name in names if os.environ.get(name, "").strip()]
    keyed = f" Keys are in {', '.join(keys)}." if keys else ""
    named = ", then ".join("exec:…" if name.startswith("exec:") else name for name in user.providers)
    for name in (*user.providers, *user.verify):
        if name in LOGINS and not found_program(name, user.models[name].program):
            says = f"{name} should read the logs, but `{LOGINS[name].program}` is not installed."
            return _wrong(says, f"Install it, or set `program` in the table {name} of your settings.")
    if user.providers == ("rules",) and not user.chosen:
        return _look("No model reads the logs; rules find only what is labelled.", "`curate models` shows what can.")
    return _ok(f"{named} {'reads' if len(user.providers) == 1 else 'read'} the logs.{keyed}")


def agents(root: Path) -> Answer:
    """Check which agents use a memory."""
    if not os.environ.get("HOME"):
        return _look("HOME is not set, so your agents cannot be found.", "Set it to your home directory.")
    found = installed_agents(InstallRequest(this_program(root), Path.home()))
    if found:
        return _ok(f"Connected: {', '.join(found)}.")
    return _look("No agent is connected.", "Run `curate install claude-code`, or see `curate install --help`.")


def sessions(root: Path) -> Answer:
    """Check that the sessions of the agents that use the memory were captured."""
    found = swept_agents(root)
    says = " ".join(f"{name}: {sentence}." for name, (_, sentence) in found.items())
    if any(swept.passed for swept, _ in found.values()):
        return _look(says, "`curate status --json` lists what was not captured, and why.")
    return _ok(says or "No agent gives its sessions.")


def schedule(root: Path, now: datetime) -> Answer:
    """Check that runs are scheduled."""
    nights = installed_nights(root)
    upcoming = next_run(root, nights, now)
    if upcoming:
        when, by = upcoming
        if by == "systemd" and call(ANSWERS).returncode:
            says = "memcurate.timer is installed, but no systemd of yours answers here."
            return _look(says, "Log in as yourself, not by su or sudo, or use `curate install cron`.")
        return _ok(f"The next run is {minutes(when)}, by {by}.")
    if nights:
        says = "memcurate.timer is installed but not active."
        return _wrong(says, "Run `systemctl --user enable --now memcurate.timer`.")
    return _look("No run is scheduled.", "Run `curate install systemd`, `cron` or `launchd`.")


def last_nights(root: Path, now: datetime) -> Answer:
    """Check whether a run is overdue or the last one failed."""
    settings = load_settings(root)
    found = health_of(root, waiting_days(read_snapshot(root), day_of(now, settings)), now, settings)
    if found.failed:
        return _wrong(found.failed, _MEND)
    if found.overdue:
        late = "Run `curate run`; `schedule` shows why none ran by itself."
        return _wrong(found.overdue, _MEND if found.happens else late)
    if found.unread:
        return _look(found.unread, "Raise that limit in your settings; the next run reads the oldest day first.")
    return _ok(f"The last one ended well at {minutes(found.last_well)}." if found.last_well else "There was none yet.")


def push(root: Path) -> Answer:
    """Check the last push."""
    found = push_state(root)
    if found is None:
        return _ok("Nothing is pushed anywhere.")
    reason = f": {str(found['reason']).rstrip('.')}" if found["reason"] else ""
    says = f"{found['remote']}: {found['state']}{reason}.{not_reached(found)}"
    if found["state"] == "diverged" or (found["state"] == "pushed" and reason):
        return _wrong(says, "`curate sync` prints the commands that settle it.")
    return _ok(says) if found["state"] == "pushed" else _look(says, "`curate run` tries again.")


def models() -> Answer:
    """Ask the user's providers whether they answer."""
    probes = probe(load_user_settings(os.environ))
    if bad := next((f"{name} {why}." for name, why in probes if why), ""):
        return _wrong(bad, "docs/models.md shows how to set it up.")
    named = ", ".join(name for name, _ in probes)
    return _ok(f"{named} answers." if probes else "None is needed: rules read the logs.")
