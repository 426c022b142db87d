"""Characters that no reader sees and a model obeys: taken out of what is kept, read where attacks are looked for."""

from __future__ import annotations

import re
from typing import Final

# Zero-width marks, directions, fillers, tags and selectors. The two joiners are seen to apart: scripts need them.
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_MARKS: Final = re.compile(f"[{_UNSEEN}]")
# A joiner means something between letters of scripts that join: from Hebrew's block to those of India and beyond.
_JOINER: Final = re.compile(
    "(?<![\u0590-\u109f\u1780-\u18af])[\u200c\u200d]|[\u200c\u200d](?![\u0590-\u109f\u1780-\u18af])"
)
# The flags of England, Scotland and Wales are spelled in tags behind a black flag, and hide nothing.
_FLAG: Final = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_OVERRIDES: Final = re.compile("[\u202d\u202e]")
_TAG_BASE: Final = 0xE0000


def without_unseen(text: str) -> str:
    """Return a text without characters that no reader sees; what a script needs between its letters stays."""
    if text.isascii():
        return text
    return _JOINER.sub("", _MARKS.sub("", text))


def spelled_in_tags(text: str) -> str:
    """Return what tag characters spell, which a model reads as letters; empty where there are none."""
    if text.isascii():
        return ""
    spelled = _TAGS.findall(_FLAG.sub("", text))
    return " ".join("".join(chr(ord(char) - _TAG_BASE) for char in run) for run in spelled)


def turns_direction(text: str) -> bool:
    """Return whether a text holds marks by which it is shown in another order than it is read."""
    return not text.isascii() and bool(_OVERRIDES.search(text))
