"""An audit as one page of HTML: no script, nothing loaded, and nothing in it that a memory could forge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.beliefs.drawing import LABELS, WIDTH, drawing, timeline
from pipelines.templating import render_page

if TYPE_CHECKING:
    from pipelines.beliefs.audit import Audit

_GROUPS: Final = (
    ("unsure", "Low confidence"),
    ("unproven", "Without evidence"),
    ("faded", "Not confirmed for long"),
)


def page_of(audit: Audit) -> str:
    """Return the page of an audit, whole.

    A policy in it forbids a browser to load or run anything, also where an escape were missing; texts are cut in the
    drawings alone.
    """
    groups = [(title, getattr(audit, name)) for name, title in _GROUPS]
    weak = {one.holding.place for _, found in groups for one in found}
    weak |= {side.place for pair in audit.disputes for side in (pair.one, pair.other)}
    return render_page(
        "audit.html",
        audit=audit,
        question=audit.question,
        gone={one.place for one in audit.past},
        groups=groups,
        weak=len(weak | {one.place for one in audit.waiting}),
        timeline=timeline((*audit.current, *audit.past, *audit.archived), audit.newest, weak),
        links=drawing(audit.holdings, audit.edges),
        kinds=sorted({edge.kind for edge in audit.edges}),
        width=WIDTH,
        labels=LABELS,
    )
