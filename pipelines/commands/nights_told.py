"""What `curate status` says of the nights: whether they happen, what is to come, what they cost, who was reached."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from pipelines.clock import moment
from pipelines.commands.output import dollars, warn
from pipelines.night.unattended import sentence, tell
from pipelines.queries.health import health, installed_nights, next_run, signs_of
from pipelines.settings import load_settings
from pipelines.store.layout import REVIEW
from pipelines.store.state import NIGHTS, not_reached, push_state, spent
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.agents.timers import Found
    from pipelines.extract.choose_models import Probe
    from pipelines.queries.health import Health


@dataclass(frozen=True, slots=True)
class NightFacts:
    """How the nights of a memory stand.

    Args:
        health: whether they happen and end well.
        upcoming: when the next run begins and by what, or None.
        schedule: what is installed for it.
        review: how many entries wait in Review.md, and where that stands.
        spent: what the last 30 days cost.
        push: how the last push went, or None where nothing is pushed.
        probes: how the models' providers answered, or None where they were not asked.
    """

    health: Health
    upcoming: tuple[datetime, str] | None
    schedule: Sequence[Found]
    review: tuple[int, str]
    spent: Mapping[str, object]
    push: Mapping[str, object] | None
    probes: Sequence[Probe] | None

    def to_json(self) -> dict[str, object]:
        """Return what `--json` prints."""
        return {
            "overdue": self.health.overdue or None,
            "failed": self.health.failed or None,
            "last_well": self.health.last_well.isoformat() if self.health.last_well else None,
            "elsewhere": self.health.elsewhere.isoformat() if self.health.elsewhere else None,
            "next_run": {"at": self.upcoming[0].isoformat(), "by": self.upcoming[1]} if self.upcoming else None,
            "schedule": [asdict(one) for one in self.schedule],
            "review": self.review[0],
            "cost_30_days": dict(self.spent),
            "push": dict(self.push) if self.push else None,
            "models": None if self.probes is None else [asdict(one) for one in self.probes],
        }


def night_facts(root: Path, now: str | None, waiting: object, *, probe: bool) -> NightFacts:
    """Return how the nights stand; providers are asked only with `probe`."""
    settings = load_settings(root)
    when = moment(now, settings)
    signs = signs_of(root, cast("list[str]", waiting))
    nights = installed_nights(root)
    return NightFacts(
        health(signs, when, settings),
        next_run(root, nights, when),
        nights,
        _review(root),
        spent(signs.reports, when),
        push_state(root),
        _probes() if probe else None,
    )


def night_lines(facts: NightFacts) -> list[str]:
    """Return them as a person reads them."""
    advice = "" if facts.health.happens else " Run `curate run`."
    lines = [f"Overdue   {facts.health.overdue}{advice}"] if facts.health.overdue else []
    lines += [f"Failed    {facts.health.failed}"] if facts.health.failed else []
    lines += [f"Note      {facts.health.ahead}"] if facts.health.ahead else []
    if facts.health.elsewhere:
        when = facts.health.elsewhere.isoformat(" ", timespec="minutes")
        lines.append(f"Elsewhere {when}, the last night of another machine that is here")
    lines.append(f"Next run  {_next(facts)}")
    count, queue = facts.review
    lines.append(f"Review    {f'{count} {_waits(count)} in {queue}; `curate review`' if count else 'nothing waits'}")
    lines += [
        f"Cost      {_cost(facts.spent)}",
        f"Push      {_push(facts.push) if facts.push else 'nothing is pushed'}",
    ]
    return [*lines, *_reached(facts.probes)]


def _reached(probes: Sequence[Probe] | None) -> list[str]:
    if probes is None:
        return []
    told = [f"{one.provider} {f'answers, in {one.seconds:.1f} s' if one.reached else one.why}" for one in probes]
    return [f"Model     {line}." for line in told] or ["Model     none is asked: the rules read, here."]


def tell_person(root: Path, facts: NightFacts) -> None:
    """Tell a person that a night did not end well, and say on standard error how they were told."""
    how = tell(sentence(root, overdue=bool(facts.health.overdue)))
    told = f"You were told by {how}." if how else "There is neither a desktop nor a mail program to tell you by."
    warn(told)


def _next(facts: NightFacts) -> str:
    if facts.upcoming:
        when, by = facts.upcoming
        return f"{when.isoformat(' ', timespec='minutes')}, by {by}"
    if facts.schedule:
        return "not in force; `curate install --list` says what is installed"
    return "not scheduled; `curate install systemd`, `cron` or `launchd` does it"


def _review(root: Path) -> tuple[int, str]:
    queue = real_path(root, REVIEW)
    try:
        return (root / queue).read_text(encoding="utf-8").count("<!-- review "), queue
    except (OSError, ValueError):
        return 0, queue


def _waits(count: int) -> str:
    return "entry waits" if count == 1 else "entries wait"


def _cost(told: Mapping[str, object]) -> str:
    if not told["tokens"]:
        return f"nothing in the last {NIGHTS} days"
    usd, runs = told["usd"], told["runs"]
    paid = dollars(usd) if isinstance(usd, float) else "an unknown sum"
    return f"{paid} in the last {NIGHTS} days: {runs} {'run' if runs == 1 else 'runs'}, {told['tokens']:,} tokens"


def _push(told: Mapping[str, object]) -> str:
    reason = f": {told['reason']}" if told.get("reason") else ""
    return f"{told['state']} ({told['remote']}, {told['at']}){reason}{not_reached(told)}"


def _probes() -> list[Probe]:
    from pipelines.extract.choose_models import probe  # noqa: PLC0415  only where it is asked for
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    return probe(load_user_settings(os.environ))
