"""A remark as the embedder is shown it: without who, where and which, so that the kind of thing said remains."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

OWNER: Final = re.compile(r"\(@?([^\W\d_][\w.'-]*(?:,? (?:and |& )?[^\W\d_][\w.'-]*){0,6})\)\.?$")
"""Names in brackets at the end: whose task it is."""

_SHOWN: Final = (
    (re.compile(r"`[^`\n]{1,400}`"), "something"),
    (re.compile(r"\[([^\]\n]{1,400})\]\([^)\s]{1,500}\)"), r"\1"),
    (re.compile(r"https?://\S{1,500}"), "a page"),
    (re.compile(r"[\w./-]{0,60}#\d{1,9}"), "an issue"),
    (re.compile(r"@[\w.-]{1,60}"), "someone"),
)
_NAME = re.compile(r"[^\W\d_][\w'-]{0,60}")
_SEVERAL = re.compile(r"\bsomeone(?:[\s,&.]{1,3}(?:and )?someone){1,20}")
_LONGEST: Final = 300


def masked(text: str, speakers: Collection[str]) -> str:
    """Return the words of a remark with names, addresses, code and references told in general words.

    Args:
        text: the remark.
        speakers: words of the names of those who speak that day, case folded.
    """
    text = OWNER.sub("", text)
    for pattern, shown in _SHOWN:
        text = pattern.sub(shown, text)
    text = _NAME.sub(lambda found: "someone" if found[0].casefold() in speakers else found[0], text)
    return _SEVERAL.sub("someone", text).strip()[:_LONGEST]
