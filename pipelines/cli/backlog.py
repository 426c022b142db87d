"""A backlog: many days that no run has read yet. A model reads the newest, or as many as a person says."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from pipelines.cli.output import count, dollars, say, say_json, warn
from pipelines.extract.llm.model_extractor import ITEMS_A_DAY, Counting, ModelExtractor, estimate, unanswered
from pipelines.night.plan import plan_night
from pipelines.night.report import Watch
from pipelines.queries.health import waiting_days
from pipelines.store.git import Git
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from pipelines.extract.llm.call import Call
    from pipelines.extract.llm.replies import Replies
    from pipelines.night.run import Night


def with_backlog(night: Night, most: int) -> Night:
    """Return the night with the first day that a model reads; the rules read the days before it, which costs nothing.

    Args:
        night: the night.
        most: how many of the newest unread days a model reads.
    """
    if not isinstance(night.extractor, ModelExtractor) or night.again:
        return night
    days = waiting_days(read_snapshot(night.root), night.today)
    if len(days) <= most:
        return night
    warn(
        f"{count(len(days), 'day')} are unread. The model reads the newest {most}, the rules the"
        f" {count(len(days) - most, 'older day')}. For a model to read all: `curate run --days {len(days)}`, and with"
        " --estimate it says what that costs."
    )
    return replace(night, rules_before=days[-most] if most else f"{days[-1]}~")


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
