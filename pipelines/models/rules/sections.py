"""Headings that say what every list item under them is: `### Decisions`, `## Action items`, `## Next steps`."""

from __future__ import annotations

import re
from typing import Final

from pipelines.store.item import ItemType

_SURE, _LOOSE = True, False
_SECTIONS: Final = (
    (ItemType.DECISION, _SURE, r"(?:decisions?|resolutions?|agreements?)(?: (?:made|taken|reached))?"),
    (ItemType.DECISION, _SURE, r"what (?:we|was) decided"),
    (ItemType.FACT, _SURE, r"facts?"),
    (ItemType.FACT, _LOOSE, r"(?:lessons?|learnings?)(?: learn(?:ed|t|ings?))?|preferences"),
    (ItemType.RULE, _SURE, r"rules?|conventions|guidelines|policies"),
    (ItemType.TODO, _SURE, r"action (?:items?|points?)|actions|to-?dos?|to do(?: list)?"),
    (ItemType.TODO, _LOOSE, r"next (?:steps?|actions?)|follow[- ]?ups?"),
    (ItemType.RISK, _SURE, r"risks?(?: and (?:blockers?|issues|mitigations?))?"),
    (ItemType.RISK, _LOOSE, r"warnings|blockers"),
)
_WHOSE = r"(?:(?:key|main|new|our|my|your|final|standing|remaining|today['’]?s|[\w-]{1,30}['’]s) ){0,2}"
_WHEN = r"(?: (?:today|tomorrow|from today|for (?:today|tomorrow|next week|next session)))?"
_TITLES: Final = tuple((kind, sure, re.compile(_WHOSE + rf"(?:{words})" + _WHEN)) for kind, sure, words in _SECTIONS)
_SUMMARY = re.compile(r"summary of (?:the )?(?:new )?(action items|actions|resolutions|decisions)")
_DECORATION = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3}){0,4}\.?\s)?[^\w]*|\s*[(\[][^()\[\]]{0,60}[)\]]\s*$|\W+$")
_LONGEST: Final = 80
_EXAMPLES = re.compile(
    r"(?:an? |some )?(?:examples?|samples?|templates?|format|syntax|usage)(?: (?:log|entry|entries|lines?)|(?: of|"
    r" for) .{1,40})?|how to (?:write|mark|log|record|use) .{1,60}"
)


def section_type(title: str) -> tuple[ItemType, bool] | None:
    """Return what the list items under a heading are, or None where it does not say so.

    Returns:
        The type, and whether the heading names it outright, as `Decisions` does and `Next steps` does not.
    """
    if len(title) > _LONGEST:
        return None
    name = _plain(title)
    if summary := _SUMMARY.fullmatch(name):
        return (ItemType.TODO if summary[1].startswith("action") else ItemType.DECISION), _SURE
    return next(((kind, sure) for kind, sure, pattern in _TITLES if pattern.fullmatch(name)), None)


def _plain(title: str) -> str:
    name = title.casefold().replace("*", "").replace("_", " ")
    for _ in range(2):
        name = _DECORATION.sub("", name)
    return name


def shows_examples(headings: tuple[str, ...]) -> bool:
    """Return whether a heading says that what stands under it only shows how to write something."""
    return any(len(title) <= _LONGEST and _EXAMPLES.fullmatch(_plain(title)) for title in headings)
