"""Checks of the set-up and of the nights, which change nothing: each yields what was found, and what to do about it.

`curate status` shows those that matter to nights and ends with exit code 1 if runs fail or do not happen; `curate
doctor` shows all.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from pipelines.agents.agent_folders import AGENTS_SESSIONS
from pipelines.agents.install_plan import InstallRequest, this_program
from pipelines.agents.session_places import swept_agents
from pipelines.agents.targets import gives_sessions, installed_agents
from pipelines.agents.timers import ANSWERS, NO_SCHEDULER, InstalledNight, call, found_nights, scheduler_here
from pipelines.clock import day_of
from pipelines.errors import CurateError, NotYours
from pipelines.extract.choose_models import probe
from pipelines.extract.extract_days import days_to_read
from pipelines.extract.llm.logged_in import check_programs
from pipelines.night.fold_logs import clean_logs, with_partial_logs
from pipelines.night.report import PastRun, RunEnd, known_runs
from pipelines.queries.startup.context import AHEAD, OVERDUE_HOURS, ago
from pipelines.settings import Settings, load_settings
from pipelines.store.files import writing
from pipelines.store.git import Git
from pipelines.store.journal import is_unfinished
from pipelines.store.layout import BRIEFING
from pipelines.store.lock import SCHEDULE, is_held
from pipelines.store.secrets.redact import load_redactor
from pipelines.store.snapshot import CONFLICT, Snapshot, read_snapshot
from pipelines.store.state import read_record
from pipelines.user_settings import KEY_VARIABLES, load_user_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_MEND = "Fix that, then run `curate run`; `curate runs` shows the details."
_START = "Run `curate run`; `curate doctor` shows why none ran by itself."


OK, LOOK, WRONG = "ok", "look", "wrong"
"""The results of a check: fine, worth a look, or so wrong that runs fail or do not happen."""


class Finding(NamedTuple):
    """What one check found.

    Args:
        state: the result.
        says: what was found, in a sentence.
        to_do: what to do about it, in a sentence; empty if there is nothing to do.
    """

    state: str
    says: str
    to_do: str = ""

    def __str__(self) -> str:
        """Return both sentences."""
        return f"{self.says} {self.to_do}".rstrip()


@dataclass(frozen=True)
class Checkup:
    """What the checks look at; each thing is read once.

    Args:
        root: the memory.
        now: the moment, in the memory's zone; in any zone if the settings are broken.
    """

    root: Path
    now: datetime

    @cached_property
    def settings(self) -> Settings:
        """The memory's settings."""
        return load_settings(self.root)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The memory."""
        return read_snapshot(self.root)

    @cached_property
    def waiting(self) -> list[str]:
        """The days with something unread, oldest first."""
        return [*unread_bytes(self.snapshot, day_of(self.now, self.settings))]

    @cached_property
    def runs(self) -> list[PastRun]:
        """The runs, newest first."""
        return known_runs(self.root)

    @cached_property
    def nights(self) -> list[PastRun]:
        """The nights, here or on other machines, newest first; none that a wrong clock put into the future."""
        return [run for run in self.runs if run.is_night and run.moment and run.moment <= self.now + AHEAD]

    @property
    def asked(self) -> InstallRequest | None:
        """What to look for of what is installed; None if HOME is not set."""
        return InstallRequest(this_program(self.root), Path.home()) if os.environ.get("HOME") else None

    @cached_property
    def schedules(self) -> list[InstalledNight]:
        """The nightly schedules installed for this memory; none if HOME is not set."""
        return [one for one in found_nights(self.asked) if one.ours] if self.asked else []

    @cached_property
    def upcoming(self) -> tuple[datetime, str] | None:
        """When the next run begins, in the memory's zone, and what starts it; None if none is scheduled."""
        to_come = [
            (_next(one, self.now), one.target) for one in self.schedules if one.time and one.enabled is not False
        ]
        if is_held(self.root, SCHEDULE):  # `curate schedule` is running
            with contextlib.suppress(ValueError):
                when = datetime.fromisoformat(str(read_record(self.root, "schedule.json").get("next")))
                to_come += [(when.astimezone(self.now.tzinfo), "curate schedule")] if when > self.now else []
        return min(to_come, default=None)

    @property
    def first_end(self) -> datetime | None:
        """When the first unread day ended; None if nothing waits."""
        if not self.waiting:
            return None
        next_day = datetime.fromisoformat(self.waiting[0]) + timedelta(days=1)
        return datetime.combine(next_day, time.fromisoformat(self.settings.day_end), self.now.tzinfo)


def examine(checkup: Checkup, names: Iterable[str]) -> dict[str, Finding]:
    """Return what some of the `CHECKS` found, in the order in which to fix things. Nothing is changed."""
    findings = dict[str, Finding]()
    for name in names:
        try:
            findings[name] = CHECKS[name](checkup)
        except CurateError as fault:
            same = Finding(WRONG, fault.sentence, fault.advice.strip() or "Fix that first.")
            findings[name] = Finding(LOOK, "Not checked, as said above.") if same in findings.values() else same
        except PermissionError as fault:
            mine = NotYours(fault.filename or checkup.root)
            findings[name] = Finding(WRONG, mine.sentence, mine.advice)
        except Exception as fault:  # noqa: BLE001  one broken thing must not hide what the other checks find
            findings[name] = Finding(WRONG, f"This check failed: {type(fault).__name__}.", "Please report this.")
    return findings


def next_thing(findings: Mapping[str, Finding]) -> tuple[str, Finding] | None:
    """Return the finding to act on first, with its name: the first that is wrong, else that is worth a look."""
    urgent = (row for state in (WRONG, LOOK) for row in findings.items() if row[1].state == state and row[1].to_do)
    return next(urgent, None)


def _repository(checkup: Checkup) -> Finding:
    git = Git(checkup.root)
    git.check()
    packs = git.repository.common_dir / "objects" / "pack"
    with writing(packs), tempfile.TemporaryFile(dir=packs):
        pass
    if git.identity() is None:
        return Finding(
            LOOK, "git can commit, but does not know your name.", "Run `git config --global user.name NAME`."
        )
    return Finding(OK, "git can commit.")


def _settings(checkup: Checkup) -> Finding:
    found = checkup.settings
    if ignored := found.ignored_note:
        return Finding(LOOK, ignored[0], "Take it out, or put it into your own settings; docs/models.md shows where.")
    return Finding(OK, f"curate.toml is valid; days end at {found.day_end}, {found.timezone}.")


def _providers(_: Checkup) -> Finding:
    """Check the user's settings and whether keys are set; keys are never shown."""
    user = load_user_settings()
    check_programs((*user.providers, *user.verify), user.models)
    if user.ignored:
        return Finding(LOOK, user.ignored[0], "Take it out.")
    if user.providers == ("rules",) and not user.chosen:
        return Finding(
            LOOK, "No model reads the logs; rules find only what is labelled.", "`curate models` shows what can."
        )
    keys = [name for names in KEY_VARIABLES.values() for name in names if os.environ.get(name, "").strip()]
    keyed = f" Keys are in {', '.join(keys)}." if keys else ""
    named = ", then ".join("exec:…" if name.startswith("exec:") else name for name in user.providers)
    return Finding(OK, f"{named} {'reads' if len(user.providers) == 1 else 'read'} the logs.{keyed}")


def _nights(checkup: Checkup) -> Finding:
    """Check whether nights happen and end well.

    A night on another machine counts, and ended well unless its report says otherwise. If none ever ran here, nothing
    is overdue until a day waits: a run that finds nothing new on another machine leaves no trace here.
    """
    if marked := next((one for one in checkup.snapshot.warnings if one.kind == CONFLICT), None):
        return Finding(WRONG, str(marked), "Keep what is right, delete the marks, then run `curate run`.")
    runs, now, since = checkup.nights, checkup.now, checkup.first_end
    newest, well = next(iter(runs), None), next((run for run in runs if run.did_its_work), None)
    if last := well or next((run for run in reversed(runs) if run.here), None):
        since = last.moment if last.here else max(last.moment or now, since or now)
    overdue = failed = ""
    if since and now - since > timedelta(hours=OVERDUE_HOURS):
        overdue = f"No run has ended well yet; the first one was due {ago(since, now)}."
        if well and well.moment:
            overdue = f"No run has ended well since {_minutes(well.moment)}, {ago(well.moment, now)}."
    if newest and not newest.did_its_work and (newest.ended is RunEnd.FAILED or checkup.waiting or overdue):
        failed = f"The last run {newest.outcome.rstrip('.')}."
    elif is_unfinished(checkup.root) and not is_held(checkup.root):
        failed = "A run or a command was cut short while it wrote; the next run finishes it."
    if failed or overdue:
        return Finding(WRONG, f"{overdue} {failed}".strip(), _MEND if failed else _START)
    if well is newest and newest and checkup.waiting and (budget := newest.reported("model", "over_budget")):
        return Finding(LOOK, str(budget), "Raise that limit in your settings; the next run reads the oldest day first.")
    if well and well.moment:
        return Finding(OK, f"The last one ended well at {_minutes(well.moment)}.")
    told = "Nothing has been curated yet.", "Run `curate run`."
    return Finding(
        LOOK, *((f"The last run {newest.outcome.rstrip('.')}.", "`curate runs` shows the details.") if newest else told)
    )


def _schedule(checkup: Checkup) -> Finding:
    if checkup.upcoming:
        when, by = checkup.upcoming
        if by == "systemd" and call(ANSWERS).returncode:
            return Finding(
                LOOK,
                "memcurate.timer is installed, but your systemd does not answer here.",
                "Log in as yourself, not by su or sudo, or use `curate install cron`.",
            )
        return Finding(OK, f"The next run is {_minutes(when)}, by {by}.")
    if checkup.schedules:
        return Finding(
            WRONG,
            "memcurate.timer is installed but not active.",
            "Run `systemctl --user enable --now memcurate.timer`.",
        )
    name = scheduler_here()
    return Finding(LOOK, "No run is scheduled.", f"Run `curate install {name}`." if name else NO_SCHEDULER)


def _agents(checkup: Checkup) -> Finding:
    if not (asked := checkup.asked):
        return Finding(LOOK, "HOME is not set, so your agents cannot be found.", "Set it to your home directory.")
    found = installed_agents(asked)
    others = [one for one in found if one in AGENTS_SESSIONS and not gives_sessions(one, asked)]
    here = [one for one in found if one not in others]
    if not found:
        return Finding(LOOK, "No agent is connected.", "Run `curate install claude-code`, or see `curate install`.")
    says = f"Connected: {', '.join(here)}." if here else "No agent feeds this memory."
    if not others:
        return Finding(OK, says)
    says += f" No sessions come from {' and '.join(others)}; another memory may have them."
    return Finding(OK if here else LOOK, says, f"`curate install {others[0]}` connects it here.")


def _sessions(checkup: Checkup) -> Finding:
    found = swept_agents(checkup.root)
    says = " ".join(f"{name}: {sentence}." for name, (_, sentence) in found.items())
    if any(swept.passed for swept, _ in found.values()):
        return Finding(LOOK, says, "`curate status --json` lists what was not captured, and why.")
    return Finding(OK, says or "No agent gives its sessions.")


def _briefing(checkup: Checkup) -> Finding:
    page, cap = checkup.snapshot.documents.get(BRIEFING), checkup.settings.caps.briefing
    says = f"{BRIEFING} has {page.size if page else 0:,} of {cap:,} bytes."
    return Finding(LOOK, says, "Shorten what you wrote in it.") if page and page.size > cap else Finding(OK, says)


def _push(checkup: Checkup) -> Finding:
    found = read_record(checkup.root, "push.json")
    remote, state, why, pushed = map(found.get, ("remote", "state", "reason", "pushed"))
    if not isinstance(state, str):
        return Finding(OK, "Nothing is pushed anywhere.")
    reason = f": {str(why).rstrip('.')}" if why else ""
    says, is_pushed = f"{remote}: {state}{reason}.", state == "pushed"
    if not is_pushed:
        says += f" The last push was {pushed}." if pushed else " Nothing has been pushed yet."
    if state == "diverged" or (is_pushed and reason):
        return Finding(WRONG, says, "`curate sync` prints the commands that settle it.")
    return Finding(OK, says) if is_pushed else Finding(LOOK, says, "`curate run` tries again.")


def _models(_: Checkup) -> Finding:
    probes = probe(load_user_settings())
    if bad := next((f"{name} {why}." for name, why in probes if why), ""):
        return Finding(WRONG, bad, "docs/models.md shows how to set it up.")
    named = ", ".join(name for name, _ in probes)
    return Finding(OK, f"{named} answers." if probes else "None is needed: rules read the logs.")


CHECKS = {
    "repository": _repository,
    "settings": _settings,
    "providers": _providers,
    "nights": _nights,
    "schedule": _schedule,
    "agents": _agents,
    "sessions": _sessions,
    "briefing": _briefing,
    "push": _push,
    "models": _models,
}
"""All checks, in the order in which to fix things. The last asks the models' providers, which takes a while."""
OF_NIGHTS = "nights briefing push schedule sessions".split()
"""Those that matter to nights."""


def _minutes(when: datetime) -> str:
    return when.isoformat(" ", timespec="minutes")


def unread_bytes(snapshot: Snapshot, today: str) -> Counter[str]:
    """Return day → bytes of its entries that no run has read, oldest first; days without any are left out."""
    redactor = load_redactor(snapshot.root)  # a run compares the lines without their secrets
    cleaned, partials, *_ = clean_logs(snapshot.logs, snapshot.partials, snapshot.progress, redactor)
    logs, *_ = with_partial_logs(cleaned, partials, today)
    sizes = Counter[str]()
    for log in days_to_read(logs, snapshot.progress, today, lambda *_: frozenset()):
        for entry in log.fresh:
            sizes[log.day] += len(entry.text.encode())
    return sizes


def _next(found: InstalledNight, now: datetime) -> datetime:
    try:
        zone = ZoneInfo(found.zone) if found.zone else None
    except (LookupError, ValueError, OSError):
        zone = None  # the machine's own
    today, at = now.astimezone(zone).date(), time.fromisoformat(found.time)
    days = (datetime.combine(today + timedelta(days=ahead), at, zone).astimezone(now.tzinfo) for ahead in range(2))
    return next(when for when in days if when > now)
