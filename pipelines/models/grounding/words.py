"""Numbers in words."""

from __future__ import annotations

from typing import Final

_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS: Final = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_GERMAN: Final = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}

WORDS: Final[dict[str, int]] = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 20 + 10 * at for at, word in enumerate(_TENS)},
    **{
        f"{tens}{joint}{word}": 20 + 10 * at + value
        for at, tens in enumerate(_TENS)
        for value, word in enumerate(_SMALL[1:10], 1)
        for joint in "- "
    },
    **{word: value for value, word in enumerate(_ORDINALS, 3)},
    **{word: value for value, word in enumerate(_GERMAN, 2)},
    "a dozen": 12,
    "dozen": 12,
}
# The longest first: "twenty-one" is not "twenty".
NUMBER: Final = r"(?:\d{1,6}(?:\.\d{1,3})?|" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")"


def value_of(word: str) -> float:
    """Return the value of what `NUMBER` matched; of `a` and `an`, one."""
    folded = word.casefold()
    if folded in {"a", "an"}:
        return 1
    return WORDS[folded] if folded in WORDS else float(folded)
