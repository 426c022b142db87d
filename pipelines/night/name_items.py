"""Naming items: by the start of an id, or by a few words that match exactly one item."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from pipelines.errors import UsageFault
from pipelines.review.form_targets import likeness
from pipelines.review.match_forms import words_in
from pipelines.store.document import Document, numbered
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.template import named_item
from pipelines.store.wording import folded
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.store.item import Item

    Held = tuple[str, Item]
    Sought = tuple[Callable[[Item], bool], str]


_OFFERED = 5
_LONGEST = 100
_ID = re.compile(r"\s*k(?:[0-9a-f]{0,64}|(?=[a-z]*\d)[0-9a-z]{6,64})\s*", re.IGNORECASE)


def named_items(documents: Mapping[str, Document], arguments: Sequence[str], sought: Sought) -> list[str]:
    """Return the ids of the items that a person or an agent named, each once.

    An argument is the start of an id, or a few quoted words; unquoted words together are one name.

    Args:
        documents: every document by path.
        arguments: what was typed.
        sought: which items words can match, and what to call them, such as `open todo`; an id can match any item, so
            that the caller can say why it will not do.

    Raises:
        UnknownItem: no item's id starts so, or more than one does.
        UsageFault: words match no item, or more than one; the message offers the nearest.
    """
    fits, what = sought
    held = [(document.path, placed.item) for document, placed in numbered(documents.values())]
    fitting = [pair for pair in held if fits(pair[1])]
    groups = [item.id for _, item in fitting], [item.id for _, item in held]

    def is_id(text: str) -> bool:
        low = text.strip().casefold()
        return looks_like_id(low, 4) or (looks_like_id(low, 1) and any(ident.startswith(low) for ident in groups[1]))

    each = all(is_id(one) or " " in one.strip() for one in arguments)
    names = arguments if each else [" ".join(arguments)]
    found = [named_item(one, *groups) if is_id(one) else _meant(one, fitting, what) for one in names]
    return list(dict.fromkeys(found))


def looks_like_id(text: str, digits: int = 0) -> bool:
    """Whether a text could be an id or the start of one, with at least so many digits, or a mistyped one."""
    return bool(_ID.fullmatch(text)) and len(text.strip()) > digits


def _meant(words: str, fitting: Sequence[Held], what: str) -> str:
    """Return the id of the one item that words match: the same words first, then all but days, then a subset.

    An item that is over is meant only where none that is live or open matches as well.

    Raises:
        UsageFault: none or more than one matches.
    """
    wanted = words_in(words)
    ranked = [
        (likeness(words, path, item) or int(bool(wanted) and wanted <= words_in(item.text)), path, item)
        for path, item in fitting
    ]
    most = max((rank for rank, *_ in ranked), default=0)
    meant = [(path, item) for rank, path, item in ranked if rank == most and most]
    meant = [pair for pair in meant if pair[1].active] or meant
    if len(meant) == 1:
        return meant[0][1].id
    many = len(meant) > 1
    sentence = f"“{words}” matches {len(meant)} {what}s" if many else f"No {what} matches “{words}”"
    offered = _nearest(words, meant if many else fitting)
    if not offered:
        raise UsageFault(f"{sentence}.", f"There is no {what}.")
    rows = "".join(f"\n  {_row(item)} ({path})" for path, item in offered)
    hint = "Name one by its id:" if many else "Name one by its id, such as:"
    raise UsageFault(f"{sentence}.", f"{hint}{rows}")


def _row(item: Item) -> str:
    text = item.text if len(item.text) <= _LONGEST else f"{item.text[: _LONGEST - 1].rstrip()}…"
    return f"{item.id} {item.type}: {escape_terminal_line(without_secrets(text))}"


def _nearest(words: str, items: Sequence[Held]) -> list[Held]:
    """Return the items that share the most words with a text, then those spelled most alike."""
    wanted, spelled = words_in(words), folded(words)

    def nearness(pair: Held) -> tuple[int, float]:
        shared = len(wanted & words_in(pair[1].text))
        return shared, SequenceMatcher(None, spelled, folded(pair[1].text), autojunk=False).quick_ratio()

    return sorted(items, key=nearness, reverse=True)[:_OFFERED]
