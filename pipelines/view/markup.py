"""The memory's words as HTML: they are shown, and nothing that they say is obeyed."""

from __future__ import annotations

import posixpath
import re
from datetime import date
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from pipelines.clock import day_words
from pipelines.store.evidence import without_pointer
from pipelines.store.layout import document_id, kind_of
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it import MarkdownIt

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:[\d:.+-]+)?")
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
