"""A backlog: many days that no run has read yet. A person says how many of them a model reads, and sees the cost."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from pipelines.cli.output import count, dollars, say, say_json, warn
from pipelines.extract.llm.model_extractor import ITEMS_A_DAY, Counting, ModelExtractor, estimate, unanswered
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


MOST_DAYS = 30


def with_backlog(night: Night, replies: Replies, wanted: int | None, *, may_ask: bool) -> Night:
    """Return the night with the first day that a model reads; the rules read the days before it, which costs nothing.

    Args:
        night: the night.
        replies: the kept replies, which are free.
        wanted: how many of the newest unread days a model reads; None to ask, or to take the newest thirty where nobody
            can be asked.
        may_ask: whether a person is there to answer.
    """
    most = MOST_DAYS if wanted is None else wanted
    if not isinstance(night.extractor, ModelExtractor) or night.again:
        return night
    days = waiting_days(read_snapshot(night.root), night.today)
    if len(days) <= most:
        return night
    if wanted is None and may_ask:
        most = _asked(night, night.extractor, replies, days)
    elif wanted is None:
        warn(
            f"{count(len(days), 'day')} are unread. The model reads the newest {most}, the rules the"
            f" {count(len(days) - most, 'older day')}. For a model to read all: `curate run --days {len(days)}`,"
            " and with --estimate it says what that costs."
        )
    return replace(night, rules_before=days[-most] if most else f"{days[-1]}~") if most < len(days) else night


def _asked(night: Night, reader: ModelExtractor, replies: Replies, days: Sequence[str]) -> int:
    """Return how many days a person wants a model to read."""
    warn(f"{count(len(days), 'day')} of logs are unread, from {days[0]} to {days[-1]}. All can be searched at once.")
    _, calls = unread_calls(night, reader, replies)
    for most in (MOST_DAYS, len(days)):
        found = estimate(
            [one for one in calls if one.input["day"] >= days[-most]], reader.chain.models[0], reader.chain.prices
        )
        usd = "at an unknown price" if found.usd is None else f"about {dollars(found.usd)}"
        which = "all of them" if most == len(days) else f"the newest {most}"
        warn(f"  To read {which} with a model: {count(sum(found.calls.values()), 'call')}, {usd}.")
    text = "How many of the newest days should the model read? The rules read the others"
    return min(len(days), click.prompt(text, type=click.IntRange(0), default=MOST_DAYS, err=True))


def unread_calls(night: Night, reader: ModelExtractor, replies: Replies) -> tuple[Counting, list[Call]]:
    """Return the calls with which a model would read what is unread, and those of them that no kept reply answers."""
    counting, git = Counting(reader), Git(night.root)
    git.check()
    plan_night(replace(night, extractor=counting, verifier=None, writer=None), git, Watch())  # of all days at once
    return counting, unanswered(counting.calls, reader.chain.models, replies)


_TASKS = {"verify": "verify", "brief": "write the brief"}


def tell_estimate(night: Night, replies: Replies, *, as_json: bool) -> None:
    """Print what a night would cost: reading its logs, the second reader, and the brief.

    Nothing is called or written. What a saved reply answers is free.
    """
    reader = night.extractor
    if not isinstance(reader, ModelExtractor):
        if as_json:
            say_json({"days": 0, "calls": 0, "kept": 0, "models": []})
        else:
            say("Rules read the logs, so no model is asked and nothing is paid.")
        return
    counting, calls = unread_calls(night, reader, replies)
    estimates = [estimate(calls, model, reader.chain.prices) for model in reader.chain.models]
    kept = len(counting.calls) - len(calls)
    if as_json:
        models = [asdict(one) for one in estimates]
        say_json({"days": counting.days, "calls": len(calls), "kept": kept, "models": models})
        return
    free = f"; {count(kept, 'saved reply is', 'saved replies are')} free" if kept else ""
    days = count(counting.days, "day")
    say(f"{days} to read with {count(len(calls), 'call')}{free}. If one model answers all of them:")
    for one in estimates:
        price = f'; unknown price (set it in [prices."{one.model}"] in your settings)'
        if one.usd is not None and one.most_usd is not None:
            price = f": about {dollars(one.usd)}, at most {dollars(one.most_usd)}"
        say(f"  {one.model}: about {one.input_tokens:,} tokens sent, {one.output_tokens:,} received{price}")
    if calls:
        rest = ", ".join(f"{number} to {_TASKS[task]}" for task, number in estimates[0].calls.items() if task in _TASKS)
        say(f"This assumes {rest}, at {ITEMS_A_DAY} items a day.")
