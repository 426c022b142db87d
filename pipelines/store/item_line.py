"""An item's line, taken apart: its box, its label, its words, and what the machine wrote behind them.

Every reader of items begins here, the start of a session too, which waits for no import: this module has none.
"""

from __future__ import annotations

_BLANKS = " \t\xa0"
_BOXES = " xX/>!-"
_LABELS = ("decision", "fact", "rule", "todo", "risk")
_DRESSES = ("", "*", "_", "**", "__", "[")
_HEX = frozenset("0123456789abcdef")
_AWAY = frozenset({"forgotten", "archived", "waiting"})
_SHORTEST, _LONGEST = 7, 65  # characters of an id


class ItemLine:
    """One item's line.

    Args:
        label: the type, in lower case.
        words: what follows the label, as it was written, without the marks of a strike-through.
        box: what is in the box before the label; a blank without one.
        is_struck: whether it is struck through.
        id: the item's id; empty for a line that no run has numbered yet.
        fields: what the comment says, by key, as it was written.
    """

    def __init__(self, label: str, words: str, box: str, mark: tuple[str, dict[str, str]], *, is_struck: bool) -> None:
        self.label, self.words, self.box, self.is_struck = label, words, box, is_struck
        self.id, self.fields = mark

    @property
    def is_over(self) -> bool:
        """Whether it is struck through, done, dropped or put away, or waits for a person."""
        is_ticked = self.label == "todo" and self.box in "xX-"
        return self.is_struck or is_ticked or self.fields.get("status") in _AWAY


def split_mark(line: str) -> tuple[str, str, dict[str, str]]:
    """Return a line without the comment of an item at its end, the id in it, and its other values by key."""
    at = line.rfind("<!-- k")  # comments do not nest
    end = line.rstrip(" \t") if at >= 0 else ""
    if end.endswith("-->"):
        inner = end[at + 5 : -3].removesuffix(" ")
        ident, *pairs = parts = inner.split(" ")
        is_odd = "<" in inner or ">" in inner or " =" in inner
        values = [pair.partition("=")[::2] for pair in pairs]
        if is_item_id(ident) and not is_odd and parts == inner.split() and "" not in [value for _, value in values]:
            return line[:at].rstrip(" \t"), ident, dict(values)
    return line.rstrip(" \t"), "", {}


def is_item_id(text: str) -> bool:
    """Whether a text is an item's id."""
    return text[:1] == "k" and _SHORTEST <= len(text) <= _LONGEST and _HEX.issuperset(text[1:])


def read_item_line(line: str) -> ItemLine | None:
    """Return the item in a line without its end, or None for any other line.

    An item is a top-level list item with one of the five labels, in any case, possibly bold. A row that a run wrote is
    none.
    """
    if line[:1] not in {"-", "*", "+"} or line[1:2] not in _BLANKS:
        return None
    bare, ident, fields = split_mark(line)
    rest, box = bare[1:].lstrip(_BLANKS), " "
    if rest[:1] == "[" and rest[2:3] == "]" and rest[1] in _BOXES and rest[3:4] in _BLANKS:
        rest, box = rest[3:].lstrip(_BLANKS), rest[1]
    is_open, rest = rest[:2] == "~~", rest.removeprefix("~~")
    dress = rest[: len(rest) - len(rest.lstrip("*_["))]  # `**Fact**: x`, `**Fact:** x` or `[Fact] x`
    label, ends, words = rest.removeprefix(dress).partition("]" if dress == "[" else ":")
    if dress == "[":
        ends = words[:1] if words[:1] in {" ", "\t"} else ""
    elif label.endswith(dress):
        label = label.removesuffix(dress)
    else:
        words = words.removeprefix(dress)
    is_none = not ends or dress not in _DRESSES or label.lower() not in _LABELS
    if is_none or (not ident and bare[-15:].startswith("<!-- p:")):
        return None
    words = words.lstrip(" \t")
    is_struck = is_open and words.endswith("~~")
    words = words[:-2] if is_struck else f"~~{words}" if is_open else words
    return ItemLine(label.lower(), words, box, (ident, fields), is_struck=is_struck)
