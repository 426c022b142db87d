"""A backlog: many days that no run has read yet, and what it costs to let a model read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.cli.output import count, dollars, say, say_json, warn
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.queries.health import unread_bytes
from pipelines.queries.readers import cost_of
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from pipelines.night.run import Night


MOST_DAYS = 30


def with_backlog(night: Night, wanted: int | None) -> Night:
    """Return the night with the first day that a model reads; the rules read the days before it, which costs nothing.

    Args:
        night: the night.
        wanted: how many of the newest unread days a model reads; None for thirty.
    """
    most = MOST_DAYS if wanted is None else wanted
    if not isinstance(night.extractor, ModelExtractor) or night.again:
        return night
    sizes = unread_bytes(read_snapshot(night.root), night.today)
    days = [*sizes]
    if len(days) <= most:
        return night
    if wanted is None:
        warn(
            f"{count(len(days), 'day')} are unread. The model reads the newest {most}, the rules the"
            f" {count(len(days) - most, 'older day')}. For a model to read all: `curate run --days {len(days)}`,"
            " and with --estimate it says what that costs."
        )
    return replace(night, rules_before=days[-most] if most else f"{days[-1]}~") if most < len(days) else night


def tell_estimate(night: Night, wanted: int | None, *, as_json: bool) -> None:
    """Print about what each model would cost that may read what is unread. Nothing is called or written.

    Args:
        night: the night.
        wanted: as `with_backlog` takes it.
        as_json: whether a program reads it.
    """
    if not isinstance(night.extractor, ModelExtractor):
        no_model = {"days": 0, "models": []}
        say_json(no_model) if as_json else say("Rules read the logs, so no model is asked and nothing is paid.")
        return
    sizes = [*unread_bytes(read_snapshot(night.root), night.today).values()]
    most = min(len(sizes), MOST_DAYS if wanted is None else wanted)
    days, chain = [0] if night.again else sizes[len(sizes) - most :], night.extractor.chain
    costs = [(one.name, *cost_of(one.name, days)) for one in chain.models]
    if as_json:
        keys = ("model", "input_tokens", "output_tokens", "usd")
        say_json({"days": len(days), "models": [dict(zip(keys, one, strict=True)) for one in costs]})
        return
    say(f"{count(len(days), 'day')} to read, at what a typical night takes. If one model answers all calls:")
    for name, sent, got, usd in costs:
        price = f"about {dollars(usd)}" if usd is not None else "price unknown"
        say(f"  {name}: about {sent:,} tokens sent, {got:,} received: {price}")
