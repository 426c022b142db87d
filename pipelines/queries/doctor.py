"""Whether a set-up can work: checks that change nothing, and the one next thing to do."""

from __future__ import annotations

import os
import re
import shutil
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.agents.install_plan import Asked, this_program
from pipelines.agents.targets import installed_agents
from pipelines.agents.timers import call
from pipelines.clock import day_of, system_zone
from pipelines.errors import CurateError, NotYours
from pipelines.extract.choose_models import probe
from pipelines.extract.llm.logged_in import found_program
from pipelines.night.report import read_reports
from pipelines.provider_settings import LOGINS
from pipelines.queries.health import health_of, installed_nights, minutes, next_run, waiting_days
from pipelines.search.damage import index_facts
from pipelines.search.embed import chosen_embedder
from pipelines.settings import load_settings
from pipelines.store.conservation import check_memory
from pipelines.store.git import Git
from pipelines.store.git_damage import repository_faults
from pipelines.store.layout import PRIVATE, SESSIONS
from pipelines.store.lock import scheduler_runs
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import not_reached, push_state
from pipelines.user_settings import KEY_VARIABLES, load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    Answer = tuple["State", str, str]


_OLDEST_GIT: Final = (2, 30)
_MEGABYTE: Final = 1 << 20
_LITTLE, _SCARCE = 500 * _MEGABYTE, 50 * _MEGABYTE
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MEND: Final = "Mend that, then `curate run`; `curate runs` shows all of it."


class State(StrEnum):
    """How it stands: well, worth a look, or so that nights fail or do not happen."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        check: what was looked at, in a word or two.
        state: how it stands.
        says: what was found, a sentence.
        to_do: what to do about it, a sentence; empty where nothing is to be done.
    """

    check: str
    state: State
    says: str
    to_do: str


def examine(root: Path, now: datetime, *, probing: bool) -> list[Finding]:
    """Return what each check found; nothing is changed. What comes first has to be mended first.

    Args:
        root: the memory.
        now: the moment; where its settings are broken, in any zone.
        probing: whether git's remotes and the models' providers are asked, too.
    """
    checks: dict[str, Callable[[], Answer]] = {
        "git": git_program,
        "disk": lambda: disk(root),
        "settings": lambda: settings(root),
        "repository": lambda: repository(root),
        "providers": providers,
        "nights": lambda: last_nights(root, now),
        "schedule": lambda: schedule(root, now),
        "items": lambda: items(root),
        "index": lambda: index(root),
        "privacy": lambda: privacy(root),
        "embedder": embedder,
        "agents": lambda: agents(root),
        "push": lambda: push(root),
    }
    if probing:
        checks |= {"remote": lambda: remotes(root), "models": models}
    findings = []
    for name, check in checks.items():
        try:
            answer = check()
        except CurateError as fault:
            answer = _wrong(fault.sentence, fault.advice.strip() or "Mend that first.")
        except PermissionError as fault:
            mine = NotYours(fault.filename or root)
            answer = _wrong(mine.sentence, mine.advice.strip())
        except Exception as fault:  # noqa: BLE001  one broken thing must not hide what the other checks find
            answer = _wrong(f"This could not be looked at: {type(fault).__name__}.", "Please report this.")
        findings.append(Finding(name, *answer))
    return findings


def next_thing(findings: list[Finding]) -> Finding | None:
    """Return the one finding to act on first: the first that is wrong, else the first that is worth a look."""
    urgent = (one for state in (State.WRONG, State.LOOK) for one in findings if one.state is state and one.to_do)
    return next(urgent, None)


def _ok(says: str) -> Answer:
    return State.OK, says, ""


def _look(says: str, to_do: str) -> Answer:
    return State.LOOK, says, to_do


def _wrong(says: str, to_do: str) -> Answer:
    return State.WRONG, says, to_do


def git_program() -> Answer:
    """Look for git, and at its version."""
    answer = call(("git", "--version"))
    found = re.search(r"(\d{1,9})\.(\d{1,9})\S*", answer.out)
    if answer.code or not found:
        return _wrong(f"It cannot be run: {answer.why}.", "Install git 2.30 or newer.")
    if (int(found[1]), int(found[2])) < _OLDEST_GIT:
        return _wrong(f"Version {found[0]} is too old.", "Install git 2.30 or newer.")
    return _ok(f"Version {found[0]}.")


def disk(root: Path) -> Answer:
    """Look at the room that is left where the memory is."""
    free = shutil.disk_usage(root).free
    says = f"{free // _MEGABYTE:,} MB are free."
    if free < _SCARCE:
        return _wrong(says, "Free some room: a night that finds none changes nothing and fails.")
    return _look(says, "Free some room before nights need it.") if free < _LITTLE else _ok(says)


def privacy(root: Path) -> Answer:
    """Look whether others can read what is private."""
    for name in (PRIVATE, SESSIONS):
        folder = root / name
        if not folder.exists():
            continue
        known = folder.stat()
        if known.st_uid != os.getuid():
            return _wrong(f"{name} belongs to another user.", f"Give it back: `chown -R $USER '{folder}'`.")
        if known.st_mode & _OTHERS:
            return _look(f"Others can look into {name}.", f"Close it: `chmod -R go= '{folder}'`.")
    return _ok(f"{PRIVATE} and {SESSIONS} are yours alone.")


def settings(root: Path) -> Answer:
    """Read curate.toml, its time zone included; faults come as the error that names them all."""
    found = load_settings(root)
    if ignored := found.ignored_note:
        return _look(ignored[0], "Put it into your own settings, if you want it; docs/models.md says where.")
    says = f"curate.toml is sound; days are cut in {found.timezone} at {found.day_end}."
    if found.timezone != (here := system_zone()):
        return _look(f"{says} This machine is in {here}.", "See that `timezone` is the one you live in.")
    return _ok(says)


def repository(root: Path) -> Answer:
    """Try a commit on a scratch reference; where none can be made, the error says why."""
    git = Git(root)
    git.check()
    git.try_commit()
    if git.identity() is None:
        return _look("A commit can be made; git does not know your name.", "`git config user.name NAME`.")
    return _ok("A commit can be made.")


def items(root: Path) -> Answer:
    """See that every item is accounted for, and that nothing is broken in the files or in git."""
    snapshot = read_snapshot(root)
    faults = repository_faults(root) or check_memory(snapshot, Git(root), load_settings(root).caps.briefing)
    if faults:
        count = "One fault" if len(faults) == 1 else f"{len(faults)} faults"
        return _wrong(f"{count} in what the memory holds.", "`curate check` names each; `--fix` mends some.")
    if snapshot.warnings:
        return _look(f"{snapshot.warnings[0]}", "Mend that file, or move it.")
    return _ok("Everything is accounted for.")


def index(root: Path) -> Answer:
    """See whether search answers, and follows the files."""
    facts = index_facts(root)
    if facts.state == "current":
        return _ok(f"{facts.units:,} units; it follows the files.")
    if facts.state in {"behind", "missing"}:
        return _ok(facts.sentence)
    return _look(facts.sentence, "`curate index` mends it.")


def providers() -> Answer:
    """Read the user's settings; a key is told to be there or not, and never shown."""
    user = load_user_settings(os.environ)
    keys = [name for names in KEY_VARIABLES.values() for name in names if os.environ.get(name, "").strip()]
    keyed = f" Keys are in {', '.join(keys)}." if keys else ""
    named = ", then ".join("exec:…" if name.startswith("exec:") else name for name in user.providers)
    for name in (*user.providers, *user.verify):
        if name in LOGINS and not found_program(name, user.logins[name].program):
            says = f"{name} is to read the logs, and there is no program `{LOGINS[name].program}` here."
            return _wrong(says, f"Install it, or name it as program in the table {name} of your settings.")
    if user.providers == ("rules",) and not user.chosen:
        return _look("No model reads the logs: the rules find what is labelled.", "`curate models` says what can.")
    return _ok(f"Logs are read by {named}.{keyed}")


def embedder() -> Answer:
    """See whether search goes by meaning."""
    found, why = chosen_embedder()
    return _ok(why) if found else _look(why, "`curate models fetch` fetches the local one.")


def agents(root: Path) -> Answer:
    """See which agents are told of a memory."""
    if not os.environ.get("HOME"):
        return _look("HOME is not set, so nobody knows whose agents these are.", "Set it to your home.")
    found = installed_agents(Asked(this_program(root), Path.home()))
    if found:
        return _ok(f"Told of a memory: {', '.join(found)}.")
    return _look("No agent is told of a memory.", "`curate install claude-code`, or another: `--help`.")


def schedule(root: Path, now: datetime) -> Answer:
    """See whether nights come by themselves."""
    nights = installed_nights(root)
    upcoming = next_run(root, nights, now)
    if upcoming:
        when, by = upcoming
        several = [one.target for one in nights] + (["curate schedule"] if scheduler_runs(root) else [])
        if len(several) > 1:
            says = f"More than one starts nights: {', '.join(several)}."
            return _look(says, f"Keep one: `curate uninstall {several[0]}`.")
        return _ok(f"The next run is {minutes(when)}, by {by}.")
    if nights:
        says = "memcurate.timer is installed and not in force."
        return _wrong(says, "`systemctl --user enable --now memcurate.timer`.")
    return _look("Nothing starts a night by itself.", "`curate install systemd`, `cron` or `launchd`.")


def last_nights(root: Path, now: datetime) -> Answer:
    """See whether a night is overdue, or the last one failed."""
    settings = load_settings(root)
    found = health_of(root, read_reports(root), waiting_days(read_snapshot(root), day_of(now, settings)), now, settings)
    if found.failed:
        return _wrong(found.failed, _MEND)
    if found.overdue:
        late = "`curate run`, and see below why none ran by itself."
        return _wrong(found.overdue, _MEND if found.happens else late)
    if found.ahead:
        return _look(found.ahead, "Set the clock, and remove that report from .curate/runs.")
    when = f" at {minutes(found.last_well)}" if found.last_well else " once there is one"
    return _ok(f"The last one ended well{when}." if found.last_well else "There was none yet.")


def push(root: Path) -> Answer:
    """See how the last push went."""
    found = push_state(root)
    if found is None:
        return _ok("Nothing is pushed anywhere.")
    reason = f": {str(found['reason']).rstrip('.')}" if found["reason"] else ""
    says = f"{found['remote']}: {found['state']}{reason}.{not_reached(found)}"
    return _ok(says) if found["state"] == "pushed" else _look(says, "`curate run` tries it again.")


def remotes(root: Path) -> Answer:
    """Ask git's remotes whether they answer."""
    named = call(("git", "-C", str(root), "remote")).out.split()
    for name in named:
        answer = call(("git", "-C", str(root), "-c", "core.askPass=true", "ls-remote", "--exit-code", name, "HEAD"))
        if answer.code not in {0, 2}:  # 2: it answers, and is empty
            return _wrong(f"{name} does not answer.", f"`git -C '{root}' fetch {name}` says why.")
    return _ok(f"{', '.join(named)} answers." if named else "There is none.")


def models() -> Answer:
    """Ask the user's providers whether they answer."""
    probes = probe(load_user_settings(os.environ))
    if bad := next((one for one in probes if not one.reached), None):
        return _wrong(f"{bad.provider} {bad.why}.", "docs/models.md shows how each is set up.")
    named = ", ".join(one.provider for one in probes)
    return _ok(f"{named} answers." if probes else "None is asked: the rules read, here.")
