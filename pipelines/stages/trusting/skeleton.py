"""A text as the attack reader sees it: disguises undone, so that one pattern meets all spellings of a word."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from typing import Final

from pipelines.store.item import fold
from pipelines.text import spelled_in_tags, without_unseen

MOST: Final = 20_000
"""Characters of one entry that are read. A longer one is no entry of a journal."""
# Letters of other alphabets that look like ours; what NFKC does not fold.
_LIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝьвкмнтгпαορνικτυχεγɡıℓ‘’‚‛“”„–—−․",
    "aeopcyxijshdqwbbkmhtrnaopvikTuxeygil''''\"\"\"---.".lower(),
)
_MARKUP: Final = re.compile(r"[*_~`]{1,3}")
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[ .\-]){5,200}\w(?!\w)")
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}(?![A-Za-z0-9+/=])")
_WORDY: Final = 0.12


def skeleton(text: str) -> str:
    """Return a text in lower case on one line, without marks of emphasis, unseen characters and lookalike letters.

    What tag characters spell, and what base64 holds where that is a sentence, is put behind it.
    """
    text = text[:MOST]
    hidden = [spelled_in_tags(text), *(_decoded(found[0]) for found in _ENCODED.finditer(text))]
    plain = plain_letters(without_unseen(" ".join([text, *filter(None, hidden)])).casefold())
    plain = fold(_MARKUP.sub("", plain))
    spelled = [re.sub(r"[ .\-]", "", found[0]) for found in _SPACED.finditer(plain)]
    return " ".join([plain, *spelled])


def plain_letters(text: str) -> str:
    """Return a text without accents and other marks above letters, and with lookalike letters as ours.

    Patterns are written with it, too, so that they may spell a word as its language does.
    """
    if text.isascii():
        return text
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return unicodedata.normalize("NFKC", bare).casefold().translate(_LIKE)


def _decoded(text: str) -> str:
    """Return the sentence that base64 holds, or an empty string: most runs of letters are names, hashes and keys."""
    try:
        told = base64.b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
    except (ValueError, binascii.Error):
        return ""
    return told if told.isprintable() and told.count(" ") >= _WORDY * len(told) - 1 and " " in told else ""
