"""The units of what is no document of lines: the turns of a transcript, the pages of a PDF, what describes an image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.index.blocks import prose_pieces, turn_pieces, without_spoken_comments
from pipelines.index.units import Unit
from pipelines.store.item import Trust
from pipelines.store.log import tags_of
from pipelines.store.transcripts import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipelines.index.pdf import Pdf
    from pipelines.store.days import Days
    from pipelines.store.sidecars import Described
    from pipelines.store.transcripts import Turn

_DAY: Final = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_MODEL: Final = re.compile(r"[\w.-]+:\S+@describe/\d+")
_PROJECT: Final = 80


def turn_units(path: str, turns: Iterable[Turn], days: Days) -> Iterator[Unit]:
    """Yield the units of a transcript, one a turn unless it is long, with who spoke and when at the beginning.

    Args:
        path: the transcript; a day in it is that of turns before which no moment was told.
        turns: its turns, in order.
        days: how the memory cuts its days.
    """
    zone = days.zone
    day = found[-1] if (found := _DAY.findall(path)) else ""
    for turn in turns:
        clock = ""
        if turn.time is not None:
            day, clock = days.of(turn.time), f" {turn.time.astimezone(zone):%H:%M}"
        trust = Trust.OWNER if turn.role is Role.USER and not turn.subagent else Trust.SELF
        for piece in turn_pieces(turn.text):
            if text := without_spoken_comments(piece):
                yield Unit(
                    turn.line, turn.line, f"{_speaker(turn)}{clock}: {text}", date=day, trust=trust,
                    project=turn.project[:_PROJECT], tags=tags_of(text),
                )  # fmt: skip


def _speaker(turn: Turn) -> str:
    """Return who spoke; to a subagent, the agent speaks and no user."""
    if not turn.subagent:
        return turn.role.value
    return "task" if turn.role is Role.USER else "subagent"


def pdf_units(pdf: Pdf) -> Iterator[Unit]:
    """Yield the units of a PDF, each under its page; the page stands for the line. Its words are somebody else's."""
    for number, text in pdf.pages:
        for piece in prose_pieces(text):
            yield Unit(
                number, number, piece, (f"page {number}",), title=pdf.title, date=pdf.date, trust=Trust.EXTERNAL
            )  # fmt: skip


def image_units(told: Described) -> Iterator[Unit]:
    """Yield the units of an image's description; what a model saw in a picture is no word of the owner's."""
    trust = Trust.EXTERNAL if _MODEL.fullmatch(told.by) else Trust.OWNER
    for piece in prose_pieces(told.description):
        yield Unit(1, 1, piece, title=told.title, date=told.date, trust=trust, tags=tags_of(piece))
