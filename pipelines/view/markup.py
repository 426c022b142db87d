"""The memory's words as HTML: they are shown, and nothing that they say is obeyed."""

from __future__ import annotations

import posixpath
import re
from datetime import date
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from pipelines.clock import day_words
from pipelines.queries.why import trust_label
from pipelines.store.item import Confidence, ItemType, Trust
from pipelines.store.layout import document_id, kind_of
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from markdown_it import MarkdownIt

    from pipelines.store.document import Document
    from pipelines.store.item import Item

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:[\d:.+-]+)?")
_COMMENT = re.compile(r"^<!--|-->$", re.MULTILINE)
_ALIKE, _PLACES = 0.5, 2
"""How alike two sentences are, and in how few places they differ, whose words are shown as one."""
UNCHANGED: Final = dict.fromkeys(("did", "sign", "what", "was", "day", "quote", "found"), "")
"""What a night did to an item that it left alone."""


def html_of(text: str, path: str = "") -> Markup:
    """Return Markdown as HTML, without raw HTML and images, with comments as text and control characters written out.

    Args:
        text: the Markdown.
        path: the document that holds it, from which its links lead.
    """
    told = _COMMENT.sub("", escape_terminal(text))
    return Markup(_renderers()[0].render(told, {"path": path}).strip() if text.strip() else "")  # noqa: S704  escaped by the renderer


def sentence(text: str) -> Markup:
    """Return a sentence with its `code` as code; every other sign stays as it is."""
    shown = escape_terminal(text)
    return Markup(_renderers()[1].renderInline(shown)) if "`" in shown else escape(shown)  # noqa: S704  as above


def plain(text: object) -> object:
    """Return what a template shows: of text, control characters written out."""
    return escape_terminal(text) if isinstance(text, str) and not hasattr(text, "__html__") else text


@cache
def _renderers() -> tuple[MarkdownIt, MarkdownIt]:
    """Return what renders a page, and what renders a sentence."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where a page is drawn
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415  as above

    def link(_: object, tokens: Any, at: int, options: Any, env: Any) -> str:  # noqa: ANN401  markdown-it's own types
        target, mark, place = str(tokens[at].attrs["href"]).partition("#")
        if target and ":" not in target and not target.startswith("/"):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(env["path"]), unquote(target)))
            tokens[at].attrs["href"] = f"{address_of(path)}{mark}{place}"
        return RendererHTML().renderToken(tokens, at, options, env)

    def heading(_: object, tokens: Any, at: int, options: Any, __: object) -> str:  # noqa: ANN401  as above
        tokens[at].attrs["id"] = tokens[at + 1].content
        return RendererHTML().renderToken(tokens, at, options, {})

    page = MarkdownIt("commonmark", {"html": False}).disable("image").enable("table")
    page.add_render_rule("link_open", link)
    page.add_render_rule("heading_open", heading)
    return page, MarkdownIt("zero").enable("backticks")


def changed(old: str, new: str) -> Markup:
    """Return what makes one sentence of another: what stays, what goes (`del`) and what comes (`ins`), in order."""
    one, other = old.split(), new.split()
    found = SequenceMatcher(None, one, other, autojunk=False)
    codes = found.get_opcodes()
    is_alike = found.ratio() > _ALIKE and sum(kind != "equal" for kind, *_ in codes) <= _PLACES
    shown = []
    for kind, a, b, c, d in codes if is_alike else (("", 0, len(one), 0, len(other)),):
        sides = {"span": one[a:b]} if kind == "equal" else {"del": one[a:b], "ins": other[c:d]}
        shown += [f"<{tag}>{sentence(' '.join(words))}</{tag}>" for tag, words in sides.items() if words]
    return Markup(" ".join(shown))  # noqa: S704  of sentences


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


def told(text: str, today: str) -> Markup:
    """Return a sentence of the program with its days as people say them."""
    return sentence(said_days(text, today))


@lru_cache
def when(day: str, today: str) -> Markup:
    """Return a day or a moment as people say it, with the exact one on hover."""
    exact, said = map(escape_terminal, (day, said_days(day, today)))
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact[:16].replace("T", " "), said)


def about(item: Item, page: Document | None = None, change: Mapping[str, Any] = UNCHANGED, *, today: str) -> Markup:
    """Return what is told of an item below its sentence.

    Args:
        item: the item.
        page: where it stands, if that is to be told.
        change: what a night did to it, and where it was said.
        today: the memory's day.
    """
    found = change["found"]
    said = found and place(found.path, found.start_line, found.end_line, day=said_days(change["day"], today))
    since = when(item.since, today) if item.since else "no day"
    parts = (
        Markup('<b class="{}">{}</b>').format(item.type.lower(), item.type),
        change["what"] or ("" if item.active else Markup("{} {}").format(item.status, when(item.until, today))),
        Markup('<a href="/document/{}">{}</a>').format(page.id, escape_terminal(page.title)) if page else "",
        due(item, today) if item.due else said or since,
        *notes(item),
    )
    return joined(parts)


def due(item: Item, today: str) -> Markup:
    """Return when something is due, marked from that day on."""
    if not item.active or item.due > today:
        return Markup("due {}").format(when(item.due, today))
    return Markup("<mark>{}</mark> {}").format("due" if item.due == today else "overdue", when(item.due, today))


def notes(item: Item) -> list[str]:
    """Return what is unusual about an item: whose word it is, how sure, how it stands among others."""
    mark = Markup("<mark>{}</mark>").format
    sure = f"{item.confidence} confidence{item.reason and f': {item.reason}'}"
    return [
        "your word" if item.trust is Trust.OWNER else mark(trust_label(item)) if item.trust is not Trust.SELF else "",
        "" if item.confidence is Confidence.HIGH else escape_terminal(sure),
        mark("in doubt") if item.doubted else "",
        "pinned" if item.pinned else "comes last" if item.last else "",
    ]


def deeds(item: Item) -> list[str]:
    """Return the verbs that a row of any list offers."""
    return ["done"] if item.active and item.type is ItemType.TODO else []


def ranks(item: Item) -> list[str]:
    """Return the verbs that change where an item stands among others."""
    return ["unpin"] if item.pinned else ["set usual"] if item.last else ["pin", "set last"]


def joined(parts: Iterable[object]) -> Markup:
    """Return what is there of some parts, with points between."""
    return Markup(" · ").join(part for part in parts if part)  # type: ignore[misc]


def place(path: str, first: int, last: int = 0, *, query: str = "", day: str = "") -> Markup:
    """Return a link to lines of a file, with the words of a query marked there; `day` stands for its path."""
    shown = escape_terminal(path)
    to = f"/file/{file_address(path)}?at={first}-{last or first}{query and f'&q={quote(query)}'}#L{first}"
    return Markup('<a title="{}:{}" href="{}">{}{}</a>').format(
        shown, first, to, f"{day}, line " if day else f"{shown}:", first
    )


def address_of(path: str) -> str:
    """Return where the page shows a file of the memory: a document as people read it, else line by line."""
    return f"/document/{quote(document_id(path))}" if kind_of(path) else f"/file/{file_address(path)}"


def file_address(path: str) -> str:
    """Return a path for an address; a browser would resolve the `../` that a note's begins with."""
    return quote(path).replace("../", "..%2F", 1)
