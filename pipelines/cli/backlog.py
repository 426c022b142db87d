"""A backlog: many days that no run has read yet. A person says how many of them a model reads, and sees the cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipelines.cli.output import count, dollars, say, say_json, warn
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.queries.health import unread_bytes
from pipelines.queries.readers import cost_of
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.night.run import Night


MOST_DAYS = 30


def with_backlog(night: Night, wanted: int | None, *, may_ask: bool) -> Night:
    """Return the night with the first day that a model reads; the rules read the days before it, which costs nothing.

    Args:
        night: the night.
        wanted: how many of the newest unread days a model reads; None to ask, or to take the newest thirty where nobody
            can be asked.
        may_ask: whether a person is there to answer.
    """
    most = MOST_DAYS if wanted is None else wanted
    if not isinstance(night.extractor, ModelExtractor) or night.again:
        return night
    sizes = unread_bytes(read_snapshot(night.root), night.today)
    days = [*sizes]
    if len(days) <= most:
        return night
    if wanted is None and may_ask:
        most = _asked(night.extractor, sizes)
    elif wanted is None:
        warn(
            f"{count(len(days), 'day')} are unread. The model reads the newest {most}, the rules the"
            f" {count(len(days) - most, 'older day')}. For a model to read all: `curate run --days {len(days)}`,"
            " and with --estimate it says what that costs."
        )
    return replace(night, rules_before=days[-most] if most else f"{days[-1]}~") if most < len(days) else night


def _asked(reader: ModelExtractor, sizes: Mapping[str, int]) -> int:
    """Return how many days a person wants a model to read."""
    days = [*sizes]
    warn(f"{count(len(days), 'day')} of logs are unread, from {days[0]} to {days[-1]}. All can be searched at once.")
    for most in (MOST_DAYS, len(days)):
        *_, usd = cost_of(reader.chain.models[0].name, reader.chain.prices, [*sizes.values()][-most:])
        costs = "at an unknown price" if usd is None else f"about {dollars(usd)}"
        which = "all of them" if most == len(days) else f"the newest {most}"
        warn(f"  To read {which} with a model: {costs}.")
    text = "How many of the newest days should the model read? The rules read the others"
    return min(len(days), click.prompt(text, type=click.IntRange(0), default=MOST_DAYS, err=True))


def tell_estimate(night: Night, *, as_json: bool) -> None:
    """Print about what each model would cost that may read what is unread. Nothing is called or written."""
    if not isinstance(night.extractor, ModelExtractor):
        no_model = {"days": 0, "models": []}
        say_json(no_model) if as_json else say("Rules read the logs, so no model is asked and nothing is paid.")
        return
    sizes = unread_bytes(read_snapshot(night.root), night.today)
    days, chain = [0] if night.again else [*sizes.values()], night.extractor.chain
    costs = [(one.name, *cost_of(one.name, chain.prices, days)) for one in chain.models]
    if as_json:
        keys = ("model", "input_tokens", "output_tokens", "usd")
        say_json({"days": len(days), "models": [dict(zip(keys, one, strict=True)) for one in costs]})
        return
    say(f"{count(len(days), 'day')} to read, at what a typical night takes. If one model answers all calls:")
    for name, sent, got, usd in costs:
        price = f"about {dollars(usd)}" if usd is not None else f'price unknown (set it in [prices."{name}"])'
        say(f"  {name}: about {sent:,} tokens sent, {got:,} received: {price}")
