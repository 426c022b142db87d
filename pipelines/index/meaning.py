"""What of a unit is turned into a vector, and the key by which that vector is known."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from pipelines.index.words import day_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.index.units import Unit

# The marks of a list item and of bold text say nothing, and a model would take them for something.
_BULLET: Final = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*|__")


def key_of(unit: Unit) -> bytes:
    """Return the 16 bytes by which the vector of a unit is known, wherever the unit stands."""
    return key(embedded_text(unit.text, unit.title, unit.headings, unit.date, unit.status))


def key(text: str) -> bytes:
    """Return the 16 bytes by which the vector of an embedded text is known."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()


def embedded_text(text: str, title: str, headings: Sequence[str], date: str, status: str = "") -> str:
    """Return what is embedded: the words first, for they matter most, then where and of when they are.

    The path is not in it, so that a renamed file keeps its vectors. An item (what has a status) is a sentence that
    stands for itself, under a label that says what its heading would; so it keeps its vector wherever it moves.
    """
    plain = _BOLD.sub("", _BULLET.sub("", text)).strip()
    where = "" if status else " > ".join(dict.fromkeys(part for part in (title, *headings) if part))
    about = ", ".join(part for part in (where, day_words(date)) if part)
    return f"{plain} ({about})" if about else plain
