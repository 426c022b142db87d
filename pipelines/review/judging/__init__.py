"""How two sentences of one type stand to each other: a repeat, a correction, a contradiction, or two different things.

Pure functions over words: nothing here reads a file, asks a model or knows a document. They are careful on purpose:
what is not clearly about the same subject is distinct, and what differs in a number, a date, a name or a negation is
never a repeat. A wrong verdict costs a belief, a missed one a line too many.
"""

from __future__ import annotations

from pipelines.review.judging.judge import Judgement, Relation, judge

__all__ = ["Judgement", "Relation", "judge"]
