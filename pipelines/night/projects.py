"""Rename, merge and archive projects: the document moves, its items keep their ids."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from urllib.parse import quote, unquote

from pipelines.night.caps import archived, free_path
from pipelines.store.change_set import moved
from pipelines.store.document import ORDER, Document, Documents, document_at, with_front_matter, with_marks
from pipelines.store.generated import without_rows, without_sentences
from pipelines.store.layout import BRIEFING, slug
from pipelines.store.template import aliases_of, with_alias


def archived_project(documents: Documents, path: str) -> Documents:
    """Return the documents with a project moved to Archives/, its items archived, and links updated.

    People's text in it stays; item lines keep their words, and only their rows change.

    Args:
        documents: every document by path.
        path: the project's.
    """
    document = documents[path]
    target = free_path(f"Archives/{document.id.rpartition('/')[2]}.md", documents)
    title = document.title
    still = with_marks(document, {p.line: archived(p.item) for p in document.items if p.item.id and p.item.active})
    still = with_front_matter(still, {"status": "archived"})
    return _with_links(documents, still, (path, title), (target, title))


def renamed_project(documents: Documents, path: str, title: str) -> Documents:
    """Return the documents with a project's file, title and links renamed; its old name becomes an alias.

    Args:
        documents: every document by path.
        path: the project's.
        title: its new title, from `document_title`.
    """
    document = documents[path]
    was, stem = document.title, document.id.rpartition("/")[2]
    target = free_path(f"Projects/{slug(title)}.md", documents.keys() - {path})
    new = with_alias(_retitled(document, title), was)
    if slug(was) != slug(stem) and target != path:
        new = with_alias(new, stem)
    return _with_links(documents, new, (path, was), (target, title))


def merged_projects(documents: Documents, path: str, into: str) -> Documents:
    """Return the documents with a project's items in another one, which also takes over its names and the links to it.

    What else a person wrote on its page goes to Archives; a page with nothing else is gone.

    Args:
        documents: every document by path.
        path: the project's.
        into: the other one's.
    """
    document, after = documents[path], dict(documents)
    for placed in document.items:
        if placed.item.id:
            after = moved(after, placed.item.id, into)
    left = without_sentences(after.pop(path))
    names = (document.title, document.id.rpartition("/")[2], *aliases_of(document))
    for name in names:
        if slug(name) != slug(after[into].title):
            after[into] = with_alias(after[into], name)
    after = _with_links(after, after[into], (path, document.title), (into, after[into].title))
    ours = {f"# {document.title}", *(f"## {title}" for title in ORDER), ""}
    if any(line.strip() not in ours for line in left.lines[left.front.lines :]):
        target = free_path(f"Archives/{names[1]}-notes.md", documents)
        notes = _retitled(document_at(target, left.text, left.rows), f"{document.title}: notes")
        after[target] = with_front_matter(notes, {"status": "archived"})
    return after


def _with_links(
    documents: Documents, document: Document, old: tuple[str, str], new: tuple[str, str]
) -> dict[str, Document]:
    """Return the documents after one was renamed or moved, with every link to it updated.

    The briefing's generated rows are rewritten later anyway.

    Args:
        documents: every document by path.
        document: the renamed one as it is now, still at its old path.
        old: its old path and title.
        new: its new path and title.
    """
    bare, after = {BRIEFING: without_rows(documents[BRIEFING])} if BRIEFING in documents else {}, {}
    for path, one in {**documents, **bare, document.path: document}.items():
        place = new[0] if path == old[0] else path
        linked = replace(one, path=place, text=_relinked(one, place, old, new))
        homes = {}  # waiting items store the path of their future document
        for placed in linked.items:
            extra = tuple((k, new[0] if (k, v) == ("home", old[0]) else v) for k, v in placed.item.extra)
            if placed.item.id and extra != placed.item.extra:
                homes[placed.line] = replace(placed.item, extra=extra)
        after[place] = with_marks(linked, homes) if homes else linked
    return after


def _retitled(document: Document, title: str) -> Document:
    """Return a document with its title changed, in the front matter and the first heading."""
    was, lines = document.title, list(document.lines)
    first = next((h for h in document.headings if h.level == 1 and h.title), None)
    if first and first.title == was:
        line = lines[first.line]
        lines[first.line] = line.replace(was, title, 1)
    retitled = document.with_text("".join(lines))
    is_told = document.front.get("title") or not first
    return with_front_matter(retitled, {"title": title}) if is_told else retitled


_MARKDOWN = re.compile(r"(?<=\]\()(?P<open><?)(?P<target>[^()<>\s#?][^()<>#?\n]*?)(?P<tail>[#?][^()<>\n]*)?(?=>?\))")
_WIKI = re.compile(r"(?<=\[\[)(?P<name>[^\[\]|#\n]+)(?=[\]|#])")
_SAFE = "/.-_~!$&'*+,;=:@"


def _relinked(document: Document, place: str, old: tuple[str, str], new: tuple[str, str]) -> str:
    before = posixpath.dirname(document.path)
    stems = [path.removesuffix(".md") for path, _ in (old, new)]
    # A wiki-link names a document in one of three forms, and keeps its form.
    forms = (stems, [stem.rpartition("/")[2] for stem in stems], [title for _, title in (old, new)])

    def markdown(found: re.Match[str]) -> str:
        target, tail = unquote(found["target"]), found["tail"] or ""
        if old[0] not in {target, posixpath.normpath(posixpath.join(before, target))}:
            return found[0]
        # A path from the memory's root stays one.
        link = new[0] if target == old[0] else posixpath.relpath(new[0], posixpath.dirname(place) or ".")
        return f"{found['open']}{link if found['open'] else quote(link, safe=_SAFE)}{tail}"

    def wiki(found: re.Match[str]) -> str:
        name = found["name"]
        wanted = name.strip().removesuffix(".md").casefold()
        return next((new_form for old_form, new_form in forms if wanted == old_form.casefold()), name)

    lines = list(document.lines)
    for number, line in document.body:
        if "](" in line:
            line = _MARKDOWN.sub(markdown, line)  # noqa: PLW2901  one line, in two steps
        lines[number] = _WIKI.sub(wiki, line) if "[[" in line else line
    return "".join(lines)
