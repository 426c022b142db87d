"""`curate run --estimate`: what the night would cost, told for each model; no call is made and nothing is written."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from pipelines.commands.output import dollars, say, say_json
from pipelines.extract.llm.model_extractor import Counting, ModelExtractor, estimate, unanswered
from pipelines.extract.llm.model_reviewer import MOST_POSED
from pipelines.night.plan import plan_night
from pipelines.night.progress import Watch
from pipelines.store.git import Git

if TYPE_CHECKING:
    from pipelines.extract.llm.model_extractor import Estimate
    from pipelines.extract.llm.replies import Replies
    from pipelines.night.plan import Night


def tell_estimate(night: Night, replies: Replies, *, as_json: bool) -> int:
    """Print what reading a night's logs would cost; what the review adds hangs on what is found, and is only named.

    Args:
        night: the night.
        replies: the kept replies; what they answer is free.
        as_json: whether to print JSON.
    """
    Git(night.root).check()
    reader = night.extractor
    if not isinstance(reader, ModelExtractor):
        told: dict[str, object] = {"days": 0, "calls": 0, "kept": 0, "models": []}
        say_json(told) if as_json else say("The rules read the logs: no model is asked, and nothing is paid.")
        return 0
    counting = Counting(reader)
    plan_night(replace(night, extractor=counting), Git(night.root), Watch())
    calls = unanswered(counting.calls, reader.chain.models, replies)
    found = [estimate(calls, model, reader.prices) for model in reader.chain.models]
    kept = len(counting.calls) - len(calls)
    if as_json:
        say_json({"days": counting.days, "calls": len(calls), "kept": kept, "models": [asdict(one) for one in found]})
        return 0
    free = f"; {kept} more were answered before and are free" if kept else ""
    say(f"{counting.days} days, {len(calls)} calls{free}. If one model answered all of them:")
    for one in found:
        say(f"  {_line(one)}")
    if calls:
        say(f"The review of what they find comes on top: a call for each {MOST_POSED} items that are new.")
    return 0


def _line(one: Estimate) -> str:
    tokens = f"{one.model}: some {one.input_tokens:,} tokens to send, {one.output_tokens:,} to receive"
    if one.usd is None or one.most_usd is None:
        return f'{tokens}; its price is not known (name it in a table [prices."{one.model}"] of your settings)'
    return f"{tokens}: about {dollars(one.usd)}, at most {dollars(one.most_usd)}"
