"""Whether an item says only what its evidence says: its numbers, dates, names, versions and negations stand there.

The quote proves that something was said; this proves that the item's own sentence, which a model worded, says no other
thing. It is strict on purpose: what is in doubt is asked for once more, and what is lost stands in the log still.
"""

from pipelines.models.grounding.check import Ungrounded, ungrounded

__all__ = ["Ungrounded", "ungrounded"]
