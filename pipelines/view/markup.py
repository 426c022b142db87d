"""The memory's words as HTML, which are shown and never obeyed, and what every page is made of: cards of rows."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from pipelines.queries.why import WHOSE
from pipelines.store.evidence import FoundQuote, without_pointer
from pipelines.store.item import Confidence, Item, Trust
from pipelines.store.layout import kind_of
from pipelines.store.secrets.redact import without_secrets
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it import MarkdownIt


_COMMENT = re.compile(r" <!-- review [a-z-]+ \d{4}-\d\d-\d\d -->$|^<!--|-->$", re.MULTILINE)
_RELATIVE = re.compile(r'href="(?![/#]|[\w.+-]+:)([^"#]+)')
_HEADING = re.compile(r"(<h\d)>([\w -]+)<")


def html_of(text: str, path: str = "") -> Markup:
    """Return Markdown as HTML, without raw HTML and images, with comments as text and control characters written out.

    Args:
        text: the Markdown.
        path: the document that holds it, from which its links lead.
    """

    def led(found: re.Match[str]) -> str:
        there = posixpath.join(posixpath.dirname(path), unquote(found[1]))
        return f'href="{address_of(posixpath.normpath(there))}'

    drawn = _renderer("commonmark", "table").disable("image").render(_COMMENT.sub("", escape_terminal(text))).strip()
    drawn = drawn.replace(">[ ] ", ">☐ ")
    return Markup(_HEADING.sub(r'\1 id="\2">\2<', _RELATIVE.sub(led, drawn)))  # noqa: S704  escaped by the renderer


def sentence(text: str, *rules: str) -> Markup:
    """Return a sentence with its `code` as code, and what else the rules say; every other sign stays as it is."""
    return Markup(_renderer("zero", "backticks", *rules).renderInline(escape_terminal(text)))  # noqa: S704  as above


def spoken(text: str) -> Markup:
    """Return words of a log with their `code` and *emphasis*, without the pointers that capture wrote."""
    return sentence(without_pointer(text), "emphasis")


def plain(text: object) -> object:
    """Return what a template shows: nothing of False and None; of text, control characters written out."""
    return escape_terminal(text) if isinstance(text, str) and not hasattr(text, "__html__") else text or ""


def html(shape: str, *parts: object) -> Markup:
    """Return HTML with some parts, of which text is escaped."""
    return Markup(shape).format(*map(plain, parts))  # noqa: S704  the program's own


@cache
def _renderer(preset: str, *rules: str) -> MarkdownIt:
    """Return what renders Markdown, without raw HTML, by some rules more than a preset has."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where a page is drawn

    return MarkdownIt(preset, {"html": False}).enable([*rules])


def changed(old: str, new: str, *, is_asked: bool = False) -> Markup:
    """Return what makes one sentence of another: what stays, what goes (`del`) and what comes (`ins`), in order.

    Where it is asked which of them holds, both are marked alike.
    """
    one, other = old.split(), new.split()
    same = len(posixpath.commonprefix([one, other]))
    rest = len(posixpath.commonprefix([one[same:][::-1], other[same:][::-1]]))
    if same + rest < len(one) / 2:  # too little in common
        same = rest = 0
    ends, comes = len(one) - rest, len(other) - rest
    goes, comes_in = ("mark", "mark") if is_asked else ("del", "ins")
    or_ = ["or"] if is_asked and one[same:ends] and other[same:comes] else []
    differ = (goes, one[same:ends]), ("span", or_), (comes_in, other[same:comes])
    parts = ("span", one[:same]), *differ, ("span", one[ends:])
    return Markup(" ").join(html(f"<{tag}>{{}}</{tag}>", sentence(" ".join(some))) for tag, some in parts if some)


def marked(shown: str, query: str) -> Markup:
    """Return HTML, or a text, with the words of a query marked."""
    words, shown = "|".join(re.findall(r"\w+", query)), escape(shown)
    passed = rf"<[^<>]*>|&#?\w+;|\b({words})\b" if words else "^$()"
    found = re.sub(passed, lambda one: f"<mark>{one[0]}</mark>" if one[1] else one[0], shown, flags=re.IGNORECASE)
    return Markup(found)  # noqa: S704  the same signs


def joined(*parts: object) -> Markup:
    """Return what is there of some parts, with points between."""
    return Markup(" · ").join(plain(part) for part in parts if part)  # type: ignore[misc]


def link(text: object, to: str) -> Markup:
    """Return a link."""
    return html('<a href="{}">{}</a>', to, text)


def place(path: str, first: int, last: int = 0, query: str = "") -> Markup:
    """Return a link to lines of a file, with the words of a query marked there."""
    to = f"{file_address(path)}?at={first}-{last or first}{query and f'&q={quote(query)}'}#L{first}"
    return link(f"{path}:{first}", to)


def address_of(path: str) -> str:
    """Return where the page shows a file of the memory: a document as people read it, else line by line."""
    bare, mark, anchor = path.partition("#")
    return f"/document/{quote(bare.removesuffix('.md'))}{mark}{anchor}" if kind_of(bare) else file_address(path)


def file_address(path: str) -> str:
    """Return where a file is shown line by line; a browser would resolve the `../` that a note's begins with."""
    return f"/file/{quote(path).replace('../', '..%2F', 1)}"


def quoted(found: FoundQuote) -> Markup:
    """Return the words that an item rests on, and where they stand."""
    words = without_secrets(found.quote or "The words are no longer there.")
    where = joined(place(found.path, found.start_line, found.end_line), found.record and place(*found.record))
    return html("<blockquote>{} <small>{}</small></blockquote>", spoken(words), where)


# ---------------------------------------- cards of rows


class Row(NamedTuple):
    """One line of a list.

    Args:
        text: what it says.
        to: where that leads.
        told: the small print beside it.
        mark: what stands before it.
        asked: the verbs of its buttons; `edit` is the link to an item's form.
        id: what they act on.
        was: the sentence that they are meant for.
        below: more HTML.
    """

    text: object
    to: str = ""
    told: object = ""
    mark: object = ""
    asked: Sequence[str] = ()
    id: str = ""
    was: str = ""
    below: object = ""


class Card(NamedTuple):
    """Rows, or HTML between them, below a title, which may lead somewhere; what is `told` of them stands beside it."""

    title: str
    rows: Iterable[Row | Markup]
    told: object = ""
    to: str = ""


def notes(item: Item) -> list[object]:
    """Return what is unusual about an item: whose word it is, how sure, how it stands among others."""
    whose = "your word" if item.trust is Trust.OWNER else html("<mark>{}</mark>", WHOSE[item.trust])
    return [
        item.trust is not Trust.SELF and whose,
        item.confidence is not Confidence.HIGH and f"{item.confidence} confidence",
        item.reason,
        item.doubted and html("<mark>in doubt</mark>"),
        "pinned" if item.pinned else item.last and "comes last",
    ]


def ranks(item: Item) -> list[str]:
    """Return the verbs that change where an item stands among others."""
    return ["unpin"] if item.pinned else ["set usual"] if item.last else ["pin", "set last"]
