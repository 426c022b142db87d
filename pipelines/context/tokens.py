"""How many tokens a text is, without a tokenizer: never far below what the usual ones count."""

from __future__ import annotations

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_WITHOUT_LETTERS = str.maketrans("", "", _LETTERS)
_WITHOUT_DIGITS = str.maketrans("", "", _DIGITS)
_WITHOUT_BLANKS = str.maketrans("", "", " \t\r")


def tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many than too few.

    Byte-pair vocabularies of 100,000 entries and more seldom cut finer than six letters or three digits, with a rest a
    word; any other mark, a line's end and a character of another script count as one each. That is a fifth too many
    on English prose, and a budget that is kept is worth more than a full one.
    """
    blanks = text.translate(_WITHOUT_BLANKS)
    marks = blanks.translate(_WITHOUT_LETTERS)
    others = marks.translate(_WITHOUT_DIGITS)
    letters, digits = len(blanks) - len(marks), len(marks) - len(others)
    # Rounded up, so that a text is never more than its parts together.
    return (letters + 5) // 6 + (digits + 2) // 3 + len(others) + (3 * len(text.split()) + 4) // 5
