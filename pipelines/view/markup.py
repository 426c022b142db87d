"""The memory's words as HTML, which are shown and never obeyed, and what every page is made of: cards of rows."""

from __future__ import annotations

import posixpath
import re
from datetime import date
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from pipelines.clock import day_words
from pipelines.queries.startup.read import kind_of_item
from pipelines.queries.why import trust_label
from pipelines.store.evidence import without_pointer
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust
from pipelines.store.layout import document_id, kind_of
from pipelines.store.secrets.redact import without_secrets
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it import MarkdownIt

    from pipelines.queries.item_graph import Holding
    from pipelines.store.document import Document
    from pipelines.store.evidence import FoundQuote

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:[\d:.+-]+)?")
_APART = re.compile(r"\((?:due )?\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\)")
_COMMENT = re.compile(r"^<!--|-->$", re.MULTILINE)
_RELATIVE = re.compile(r'href="(?![/#]|[\w.+-]+:)([^"#]+)')
_HEADING = re.compile(r"(<h\d)>([\w -]+)<")
_ALIKE, _PLACES = 0.5, 2
"""How alike two sentences are, and in how few places they differ, whose words are shown as one."""


def html_of(text: str, path: str = "") -> Markup:
    """Return Markdown as HTML, without raw HTML and images, with comments as text and control characters written out.

    Args:
        text: the Markdown.
        path: the document that holds it, from which its links lead.
    """

    def led(found: re.Match[str]) -> str:
        there = posixpath.join(posixpath.dirname(path), unquote(found[1]))
        return f'href="{address_of(posixpath.normpath(there))}'

    drawn = _renderers()[0].render(_COMMENT.sub("", escape_terminal(text))).strip()
    return Markup(_HEADING.sub(r'\1 id="\2">\2<', _RELATIVE.sub(led, drawn)))  # noqa: S704  escaped by the renderer


def sentence(text: str) -> Markup:
    """Return a sentence with its `code` as code; every other sign stays as it is."""
    shown = escape_terminal(text)
    return Markup(_renderers()[1].renderInline(shown)) if "`" in shown else escape(shown)  # noqa: S704  as above


def spoken(text: str) -> Markup:
    """Return words of a log with their `code` and *emphasis*, without the pointers that capture wrote."""
    return Markup(_renderers()[2].renderInline(escape_terminal(without_pointer(text))))  # noqa: S704  as above


def plain(text: object) -> object:
    """Return what a template shows: nothing of False and None; of text, control characters written out."""
    return escape_terminal(text) if isinstance(text, str) and not hasattr(text, "__html__") else text or ""


def html(shape: str, *parts: object) -> Markup:
    """Return HTML with some parts, of which text is escaped."""
    return Markup(shape).format(*map(plain, parts))  # noqa: S704  the program's own


@cache
def _renderers() -> tuple[MarkdownIt, MarkdownIt, MarkdownIt]:
    """Return what renders a page, what renders a sentence, and what renders words of a log."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where a page is drawn

    page = MarkdownIt("commonmark", {"html": False}).disable("image").enable("table")
    return page, MarkdownIt("zero").enable("backticks"), MarkdownIt("zero").enable(["backticks", "emphasis"])


def changed(old: str, new: str) -> Markup:
    """Return what makes one sentence of another: what stays, what goes (`del`) and what comes (`ins`), in order."""
    stop = "." if old.endswith(".") and new.endswith(".") else ""
    one, other = old.removesuffix(stop).split(), new.removesuffix(stop).split()
    found = SequenceMatcher(None, one, other, autojunk=False)
    codes = found.get_opcodes()
    is_alike = found.ratio() > _ALIKE and sum(kind != "equal" for kind, *_ in codes) <= _PLACES
    shown = []
    for kind, a, b, c, d in codes if is_alike else (("", 0, len(one), 0, len(other)),):
        sides = {"span": one[a:b]} if kind == "equal" else {"del": one[a:b], "ins": other[c:d]}
        shown += [f"<{tag}>{sentence(' '.join(words))}</{tag}>" for tag, words in sides.items() if words]
    return Markup(" ".join(shown) + stop)  # noqa: S704  of sentences


def marked(shown: str, query: str) -> Markup:
    """Return HTML, or a text, with the words of a query marked."""
    words, shown = "|".join(re.findall(r"\w+", query)), escape(shown)
    passed = rf"<[^<>]*>|&#?\w+;|\b({words})\b" if words else "^$()"
    found = re.sub(passed, lambda one: f"<mark>{one[0]}</mark>" if one[1] else one[0], shown, flags=re.IGNORECASE)
    return Markup(found)  # noqa: S704  the same signs


# ---------------------------------------- small print


def said_days(text: str, today: str) -> str:
    """Return a text with its days as people say them: “yesterday”, “in 11 days”, “12 May”."""
    return _MOMENT.sub(lambda found: day_words(found[1], date.fromisoformat(today)), text)


def said_apart(text: str, today: str) -> str:
    """Return a generated sentence with those of its days as people say them that code wrote in brackets."""
    return _APART.sub(lambda found: said_days(found[0], today), text)


def told(text: str, today: str) -> Markup:
    """Return a sentence of the program with its days as people say them."""
    return sentence(said_days(text, today))


@lru_cache
def when(day: str, today: str) -> Markup:
    """Return a day or a moment as people say it, with the exact one on hover."""
    return html('<time title="{}">{}</time>', day[:16].replace("T", " "), said_days(day, today))


def joined(parts: Iterable[object]) -> Markup:
    """Return what is there of some parts, with points between."""
    return Markup(" · ").join(plain(part) for part in parts if part)  # type: ignore[misc]


def link(text: object, to: str, title: str = "") -> Markup:
    """Return a link."""
    return html('<a href="{}" title="{}">{}</a>', to, title, text)


def place(path: str, first: int, last: int = 0, *, query: str = "", day: str = "") -> Markup:
    """Return a link to lines of a file, with the words of a query marked there; `day` stands for its path."""
    to = f"{file_address(path)}?at={first}-{last or first}{query and f'&q={quote(query)}'}#L{first}"
    return link(f"{day}, line {first}" if day else f"{path}:{first}", to, f"{path}:{first}")


def address_of(path: str) -> str:
    """Return where the page shows a file of the memory: a document as people read it, else line by line."""
    bare, mark, place = path.partition("#")
    return f"/document/{quote(document_id(bare))}{mark}{place}" if kind_of(bare) else file_address(path)


def file_address(path: str) -> str:
    """Return where a file is shown line by line; a browser would resolve the `../` that a note's begins with."""
    return f"/file/{quote(path).replace('../', '..%2F', 1)}"


# ---------------------------------------- cards of rows, and the row that shows an item


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


def related(items: Iterable[Holding], today: str) -> list[Row]:
    """Return the rows of the items that links lead to."""
    return [item_row(one.item, today, ()) for one in items]


def item_link(item: Item, words: str) -> Markup:
    """Return a link to an item that says some of its words."""
    shown = sentence(words)
    return link(shown if item.active else html("<s>{}</s>", shown), f"/item/{item.id}", item.text)
