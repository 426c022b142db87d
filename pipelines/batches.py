"""What a run is given about the batches of its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.models.batching.notes import Notes
from pipelines.models.batching.sitting import Batching
from pipelines.models.batching.terms import Terms
from pipelines.models.choose import choose_batchers
from pipelines.models.patience import Patience

if TYPE_CHECKING:
    from pipelines.models.budget import Budget
    from pipelines.models.replies import Replies
    from pipelines.planning import Night
    from pipelines.user_settings import UserSettings


def batching(night: Night, user: UserSettings, replies: Replies, budget: Budget | None, *, sends: bool) -> Batching:
    """Return what a run is given.

    Args:
        night: the run.
        user: the user's settings.
        replies: where replies are kept.
        budget: what is left of the night, or None for no end.
        sends: whether the run's own calls go into a batch.
    """
    patience = Patience(sleep=budget.pause) if budget else Patience()
    terms = Terms(night.now, night.today, user.batch_hours, user.prices, budget, patience)
    return Batching(Notes(night.root), choose_batchers(user), replies, terms, sends=sends)
