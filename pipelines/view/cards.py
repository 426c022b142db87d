"""What every page is made of: cards of rows, and the row that shows an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipelines.queries.startup.read import kind_of_item
from pipelines.queries.why import trust_label
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust
from pipelines.store.secrets.redact import without_secrets
from pipelines.view.markup import html, joined, link, place, sentence, spoken, when

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markupsafe import Markup

    from pipelines.queries.item_graph import Step
    from pipelines.store.document import Document
    from pipelines.store.evidence import FoundQuote


class Row(NamedTuple):
    """One line of a list.

    Args:
        text: what it says.
        to: where that leads.
        told: the small print below.
        mark: what stands before it.
        asked: the verbs of its buttons; `edit` is the link to an item's form.
        id: what they act on.
        was: the sentence that they are meant for.
        below: more HTML.
        anchor: the end of its address.
    """

    text: object
    to: str = ""
    told: object = ""
    mark: object = ""
    asked: Sequence[str] = ()
    id: str = ""
    was: str = ""
    below: object = ""
    anchor: str = ""


class Card(NamedTuple):
    """Rows, or HTML between them, below a title, which may lead somewhere; what is `told` of them stands beside it."""

    title: str
    rows: Iterable[Row | Markup]
    told: object = ""
    to: str = ""


def item_row(  # noqa: PLR0913  each is a part of the row
    item: Item, today: str, asked: Sequence[str] | None = None, page: Document | None = None,
    *, text: object = "", what: str = "", said: object = "", **more: object,
) -> Row:  # fmt: skip
    """Return the row of an item.

    Args:
        item: the item.
        today: the memory's day.
        asked: its verbs; by default those of a list of what holds.
        page: where it stands, if that is to be told.
        text: its sentence, as HTML.
        what: what happened to it.
        said: where it was said, instead of since when it holds.
        more: what else the row has.
    """
    waits = item.status is Status.WAITING
    is_over = not item.active and not waits
    shown = text or sentence(item.text)
    told = joined((
        html('<b class="{0}">{0}</b>', kind_of_item(item)),
        what or (is_over and html("{} {}", item.status, when(item.until, today))),
        page and link(page.title, f"/document/{page.id}"),
        due(item, today) or said or since(item, today),
        *notes(item),
    ))  # fmt: skip
    usual = ["edit", "done" if item.type is ItemType.TODO else "retract"] if item.active and item.id else ()
    return Row(
        html("<s>{}</s>", shown) if is_over else shown,
        f"/inbox?at={item.id}" if waits else f"/item/{item.id}",
        told, asked=usual if asked is None else asked, id=item.id, was=item.text, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def since(item: Item, today: str) -> object:
    """Return the day since which an item holds."""
    return when(item.since, today) if item.since else "no day"


def due(item: Item, today: str) -> object:
    """Return when an item is due, marked from that day on; nothing if it has no day."""
    late = item.active and item.due <= today and html("<mark>{}</mark>", "due" if item.due == today else "overdue")
    return item.due and html("{} {}", late or "due", when(item.due, today))


def notes(item: Item) -> list[object]:
    """Return what is unusual about an item: whose word it is, how sure, how it stands among others."""
    return [
        "your word"
        if item.trust is Trust.OWNER
        else item.trust is not Trust.SELF and html("<mark>{}</mark>", trust_label(item)),
        item.confidence is not Confidence.HIGH
        and ": ".join(filter(None, (f"{item.confidence} confidence", item.reason))),
        item.doubted and html("<mark>{}</mark>", "in doubt"),
        "pinned" if item.pinned else item.last and "comes last",
    ]


def ranks(item: Item) -> list[str]:
    """Return the verbs that change where an item stands among others."""
    return ["unpin"] if item.pinned else ["set usual"] if item.last else ["pin", "set last"]


def quoted(found: FoundQuote) -> Markup:
    """Return the words that an item rests on, and where they stand."""
    words = without_secrets(found.quote or "The words are no longer there.")
    places = (place(found.path, found.start_line, found.end_line), found.record and place(*found.record))
    return html("<blockquote>{} <small>{}</small></blockquote>", spoken(words), joined(places))


def related(steps: Iterable[Step], today: str) -> list[Row]:
    """Return the rows of the items that links lead to, with how they stand to the one before."""
    return [item_row(one.holding.item, today, (), what=one.relation) for one in steps if one.holding]


def item_link(item: Item, words: str) -> Markup:
    """Return a link to an item that says some of its words."""
    shown = sentence(words)
    return link(shown if item.active else html("<s>{}</s>", shown), f"/item/{item.id}", item.text)
