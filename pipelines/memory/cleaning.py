"""Text from outside, without what cannot be stored or shown."""

from __future__ import annotations

import re
from typing import Final

# Lone surrogates cannot be stored, and control characters would write to the terminal of whoever reads the text.
_UNSAID: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Return a text without control characters and halves of characters; every line end becomes a newline."""
    return _UNSAID.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
