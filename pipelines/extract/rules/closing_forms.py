"""The forms by which a log says that something is over or was wrong, as AGENTS.md teaches them.

`Done: call Anders`, `Todo done: k3f2a1`, `Call Anders - DONE`, `- [x] Call Anders`, `Resolved: …`, `Occurred: …`,
`Dropped: …`, `Answered: …`, `No longer: …`, `Correction: …`. The text of a form never becomes an item.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pipelines.extract.extraction import Place
    from pipelines.store.spoken_lines import Spoken


@dataclass(frozen=True, slots=True)
class ClosingForm:
    """One form.

    Args:
        kind: close, end or correct.
        how: done, dropped, resolved, occurred or answered; ended; empty for a correction.
        target: the words after it, or an item's id or the start of one.
        place: its place in the log.
    """

    kind: str
    how: str
    target: str
    place: Place


_FORM: Final = re.compile(
    r"(?P<open>[*_]{0,3})(?:(?:to-?do|risk|question|decision|fact|rule)[ ])?"
    r"(?P<word>done|dropped|resolved|occurred|answered|no[ ]longer|correction)"
    r"(?P<close>[*_]{0,3})[:：](?P<late>[*_]{0,3})[ \t]{0,12}(?=\S)",
    re.IGNORECASE,
)
_DONE: Final = re.compile(r"(?:\s[-–—]{1,2}\s*[*_]{0,3}done[*_]{0,3}|\s\(done\))[.!]?$", re.IGNORECASE)
_KINDS: Final = {"no longer": ("end", "ended"), "correction": ("correct", "")}


def read_form(spoken: Spoken) -> tuple[str, str, int, str] | None:
    """Return the form at the start of a line, or None.

    Chat lines are never forms. RESOLVED in capitals is the label of a resolution.

    Returns:
        Its kind, its outcome, the position of its text, and the emphasis still open there.
    """
    found = _FORM.match(spoken.said)
    if found is None or is_chat(spoken) or (found["word"].lower() == "resolved" and found["word"].isupper()):
        return None
    word = found["word"].lower()
    kind, how = _KINDS.get(word, ("close", word))
    return kind, how, found.end(), "" if found["close"] or found["late"] else found["open"]


def is_chat(spoken: Spoken) -> bool:
    """Return whether a line is a chat message, or continues one."""
    return spoken.dots or (spoken.chat and bool(spoken.speaker))


def without_done(text: str) -> str:
    """Return a text without the `- DONE` at its end; empty if it has none, or nothing before it."""
    found = _DONE.search(text)
    return text[: found.start()].rstrip() if found else ""
