"""A backlog: many days that no run has read yet. A person says how many of them a model reads, and sees the cost."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from pipelines.cli.output import count, dollars, warn
from pipelines.errors import UsageFault
from pipelines.extract.llm.model_extractor import Counting, ModelExtractor, estimate, unanswered
from pipelines.night.plan import plan_night
from pipelines.night.report import Watch
from pipelines.queries.health import waiting_days
from pipelines.store.git import Git
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.llm.call import Call
    from pipelines.extract.llm.replies import Replies
    from pipelines.night.run import Night


MOST_DAYS: Final = 30
"""With more unread days than this, a person is asked how many of them a model should read."""
ALL: Final = "all"


def with_backlog(night: Night, replies: Replies, wanted: str | None, *, may_ask: bool) -> Night:
    """Return the night with the first day that a model reads; the rules read the days before it, which costs nothing.

    Args:
        night: the night.
        replies: the kept replies, which are free.
        wanted: how many of the newest unread days a model reads, or `all`; None to ask, or to take the newest thirty
            where nobody can be asked.
        may_ask: whether a person is there to answer.

    Raises:
        UsageFault: `wanted` is neither a number nor `all`.
    """
    most = days_wanted(wanted)
    if not isinstance(night.extractor, ModelExtractor) or night.again or wanted == ALL:
        return night
    days = waiting_days(read_snapshot(night.root), night.today)
    if len(days) <= most:
        return night
    if wanted is None and may_ask:
        most = _asked(night, night.extractor, replies, days)
    elif wanted is None:
        older = count(len(days) - most, "older day")
        warn(
            f"{count(len(days), 'day')} are unread. The model reads the newest {most}, the rules the {older}; all"
            " can be searched at once. `curate run --days all` lets the model read all."
        )
    return replace(night, rules_before=days[-most] if most else f"{days[-1]}~") if most < len(days) else night


def days_wanted(wanted: str | None) -> int:
    """Return how many days `--days` names; the usual number for `all` or none.

    Raises:
        UsageFault: it is neither a number nor `all`.
    """
    if wanted is None or wanted == ALL:
        return MOST_DAYS
    if not wanted.isascii() or not wanted.isdecimal() or len(wanted) > 6:  # noqa: PLR2004  more days than a life has
        raise UsageFault(f"“{wanted}” is no number of days.", "Give a number, such as 30, or all.")
    return int(wanted)


def _asked(night: Night, reader: ModelExtractor, replies: Replies, days: Sequence[str]) -> int:
    """Return how many days a person wants a model to read."""
    warn(f"{count(len(days), 'day')} of logs are unread, from {days[0]} to {days[-1]}. All can be searched at once.")
    _, calls = unread_calls(night, reader, replies)
    for most in (MOST_DAYS, len(days)):
        some = [one for one in calls if one.input["day"] >= days[-most]]
        found = estimate(some, reader.chain.models[0], reader.chain.prices)
        usd = "at an unknown price" if found.usd is None else f"about {dollars(found.usd)}"
        which = "all of them" if most == len(days) else f"the newest {most}"
        warn(f"  To read {which} with a model: {count(sum(found.calls.values()), 'call')}, {usd}.")
    answer = click.prompt(
        "How many of the newest days should the model read? The rules read the others", default=str(MOST_DAYS), err=True
    )
    return len(days) if answer.strip() == ALL else min(len(days), days_wanted(answer.strip()))


def unread_calls(night: Night, reader: ModelExtractor, replies: Replies) -> tuple[Counting, list[Call]]:
    """Return the calls with which a model would read what is unread, and those of them that no kept reply answers."""
    counting, git = Counting(reader), Git(night.root)
    git.check()
    plan_night(replace(night, extractor=counting, verifier=None, writer=None), git, Watch())  # of all days at once
    return counting, unanswered(counting.calls, reader.chain.models, replies)


def is_person_there() -> bool:
    """Whether a person is at the terminal to answer a question."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
