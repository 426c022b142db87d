"""What of the memory a model is shown: the items nearest to what it reads, so that it can name them by their ids.

Which ones is a matter of words alone: tracked files and the log decide, so that a replay shows the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pipelines.store.item import LINK_KINDS, content_words, fold
from pipelines.store.secrets import veil

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.store.item import ItemType

MOST_SHOWN: Final = 20
MOST_LINKS: Final = 3
"""So many links of an item are kept; one that names more says little with each."""
PROPOSED_KINDS: Final = tuple(kind for kind in LINK_KINDS if kind not in {"supersedes", "contradicts"})
"""The kinds of links that a model may propose; what supersedes or contradicts is the review's verdict."""
Links = tuple[tuple[str, str], ...]
"""Kind and id of each link."""
_LENGTH: Final = 300
_COMMON: Final = 200
"""A word of more items than this tells nothing of any of them."""
# Marks that no reader sees but a model obeys: tags, directions, zero-width ones except the two that scripts need.
HIDDEN: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item as a model sees it."""

    id: str
    type: ItemType
    text: str


class Nearby:
    """Items of the memory, to be found by the words that a text shares with them; threads may share it.

    Args:
        items: those that may be shown, in an order that hangs on tracked files alone.
    """

    def __init__(self, items: Iterable[ShownItem]) -> None:
        self._items = tuple(items)

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """Word → the places of the items that hold it; made when a model first asks, for the rules need none."""
        found: dict[str, list[int]] = {}
        for at, one in enumerate(self._items):
            for word in content_words(one.text):
                found.setdefault(word, []).append(at)
        return found

    def nearest(self, text: str, most: int = MOST_SHOWN) -> tuple[ShownItem, ...]:
        """Return at most so many items that share telling words with a text, the nearest first, as they are shown."""
        scores: dict[int, float] = {}
        for word in sorted(content_words(text)):
            places = self._places.get(word, ())
            if len(places) <= _COMMON:
                for at in places:
                    scores[at] = scores.get(at, 0.0) + 1 / (1 + len(places))
        ranked = sorted(scores, key=lambda at: (-round(scores[at], 9), at))[:most]
        return tuple(ShownItem(one.id, one.type, shown_text(one.text)) for one in map(self._items.__getitem__, ranked))


def shown_text(text: str, most: int = _LENGTH) -> str:
    """Return words of the memory on one line, without secrets and marks that no reader sees, and not too long."""
    plain = fold(HIDDEN.sub("", veil(text)))
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"


def proposed_links(raw: object, shown: Iterable[str]) -> tuple[Links, int]:
    """Return the links of a reply that can be kept, and how many were left out.

    Args:
        raw: what a reply has for them, unchecked: a list of `{"kind": …, "id": …}`.
        shown: the ids that the model was shown.
    """
    if not isinstance(raw, list):
        return (), int(raw is not None)
    known, found = frozenset(shown), {}
    for one in raw:
        kind, ident = (one.get("kind"), one.get("id")) if isinstance(one, dict) else (None, None)
        if kind in PROPOSED_KINDS and isinstance(ident, str) and ident in known and ident not in found:
            found[ident] = str(kind)
    links = tuple((kind, ident) for ident, kind in found.items())[:MOST_LINKS]
    return links, len(raw) - len(links)
