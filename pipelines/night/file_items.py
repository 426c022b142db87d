"""Promote: apply the review's rulings to documents, each new item in the one where it belongs.

An item that replaces another takes its place in the document; the old one moves to the History. Only tracked files and
log dates decide where an item goes, so that a replay files the same way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, DocumentChoice
from pipelines.extract.rules.labels import section_type
from pipelines.review.outcomes import history_of, with_link, with_successor
from pipelines.review.rulings import KnownItems, Ruling, carried_out
from pipelines.store.change_set import items_by_id, moved, with_item_changed
from pipelines.store.document import Block, Document, Documents, block_of, document_at, edited
from pipelines.store.evidence import voice_in
from pipelines.store.item import CLOSED, UNSURE, Confidence, HeldItem, Item, ItemType, Status, Trust
from pipelines.store.layout import (
    BRIEFING,
    GENERAL,
    REVIEW,
    USER,
    Kind,
    day_of_log,
    kind_of,
    log_path,
    slug,
)
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.template import aliases_of
from pipelines.store.wording import folded
from pipelines.templating import template
from pipelines.text import content_words, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.review.trust import TrustGate


def promote(
    rulings: Sequence[Ruling], documents: Documents, seen: Mapping[str, str] = MappingProxyType({})
) -> tuple[Documents, KnownItems]:
    """Apply the rulings to the documents, each once; a project that is named but missing is created.

    What a person must decide changes no document: it becomes a question or a claim.

    Args:
        rulings: in the order they were made.
        documents: every document by path.
        seen: id of an item → the last day that says it again, of which it notes the day and nothing else.

    Returns:
        The documents, and the items as they are now.
    """
    places = items_by_id(documents)
    known = KnownItems(places.values())
    carried_out(rulings, known)
    for ident, day in seen.items():
        one = known.ids.get(ident)
        if one and one.item.active and day > max(one.item.confirmed, one.learnt):
            one.item = replace(one.item, confirmed=day, perhaps="")
    for one in known.all:
        for kind, target in one.links:
            if named := known.ids.get(target):
                one.item = with_link(one.item, kind, named.item.id)
    changed = [one for one in known.all if one.was and one.item is not one.was]
    added = [(one.document, one.item) for one in known.added]
    after = with_items(documents, {one.item.id: one.item for one in changed}, added, known.titles)
    for one in changed:
        if one.document != places[one.item.id][0]:  # it was archived
            if one.document not in after:
                after[one.document] = new_document(one.document, known.titles.get(one.document, ""))
            after = moved(after, one.item.id, one.document)
    return after, known


def with_items(
    documents: Documents,
    items: Mapping[str, Item],
    new: Iterable[HeldItem] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Document]:
    """Return the documents with items as they are now; what is over goes to the History of its page.

    Args:
        documents: every document by path.
        items: the changed ones by id.
        new: the path and item of each new one.
        titles: those of pages that begin with it.
    """
    after, blocks = dict(documents), defaultdict[str, list[Block]](list)
    for path, document in sorted(documents.items()):
        if here := {ident: items[ident] for ident in document.held.keys() & items.keys()}:
            over = {ident: item for ident, item in here.items() if item.status in CLOSED}
            ended = [block_of(document, one) for one in document.items if one.item.id in over]
            blocks[history_of(path)] += [Block(over[one.item.id], one.notes) for one in ended]
            live = {ident: item for ident, item in here.items() if ident not in over}
            after[path] = edited(document, replace=live, remove=over)
    for path, item in new:
        blocks[history_of(path) if item.status in CLOSED else path].append(Block(item))
    for path, some in sorted(blocks.items()):
        if some:
            after[path] = edited(after.get(path) or new_document(path, titles.get(path, "")), add=some)
    return after


def new_document(path: str, title: str) -> Document:
    """Return a document from the template of its kind; what is about no one thing takes no project's title."""
    title = (document_title(title) if path != GENERAL else "") or path.rpartition("/")[2].removesuffix(".md").replace(
        "-", " "
    ).capitalize()
    return document_at(path, template("document.md").render(title=title, kind=kind_of(path)))


_MARKUP = re.compile(r"""[<>"`\\]|(?<!\w)#|(?<!\w)'|'(?!\w)""")
"""What could mean structure; `#` and `'` may be part of a word: `C#`, `Mara's`."""


def document_title(name: str) -> str:
    """Return a name as one line without characters that mean structure in front matter or a heading."""
    plain = _MARKUP.sub("", fold(name)).strip(" -:|[]{}&*!%@")
    return plain[:80].strip()


# ---------------------------------------- superseding
# One item takes another's place; the old one moves to its document's History.


SUPERSEDABLE = frozenset({Status.LIVE, Status.OPEN, Status.ARCHIVED})
"""Items that are still believed, in a document or an archive. A closed item keeps the end it has."""


def with_superseded(documents: Documents, old_id: str, new_item: Item, day: str) -> dict[str, Document]:
    """Return the documents after one item has taken another's place.

    The old item is struck out, gets `until` and `superseded-by`, and moves with its notes to `## History` of its
    document, or of Areas/general if every session loads its document. The new item is linked `supersedes`. Links of
    other items keep what was true when they were made. Nothing changes if either item is missing, both are the same, or
    the old one is closed: an item is superseded once.

    Args:
        documents: every document by path; one of them holds the new item.
        old_id: the item that no longer holds.
        new_item: the item that replaces it.
        day: the day of the change, `YYYY-MM-DD`.
    """
    places = items_by_id(documents)
    path, old = places.get(old_id, (REVIEW, new_item))
    if path == REVIEW or old_id == new_item.id or new_item.id not in places or old.status not in SUPERSEDABLE:
        return dict(documents)
    after = with_items(documents, {old_id: with_successor(old, new_item, day)})
    return with_item_changed(after, new_item.id, lambda item: with_link(item, "supersedes", old_id))


# ---------------------------------------- where an item goes


PAGES = (Kind.PROJECT, Kind.AREA, Kind.RESOURCE)

_OF_THE_PERSON = re.compile(
    r"^(?:the )?(?:user|owner|my human)\b|^(?:i|we)(?: (?:strongly|really))? (?:prefer|like|use|work|live|speak|am)\b|"
    r"^(?:she|he|they) (?:prefers?|works? (?:from|until|only)|likes?)\b|"
    r"^my (?:name|role|job|time ?zone|schedule|preference|preferred|working hours|editor|shell|terminal|birthday|"
    r"language|email|phone|address|team|manager|tools?)\b|"
    r"\b(?:prefers?|dislikes?|hates?|would rather|time ?zone|working hours|favou?rite)\b",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"(?!(?:The|My|User|Owner|I|We|She|He|They)\b)[^\W\d_a-z][\w-]+ (?:[a-z]+ )?(?:prefers|dislikes|hates|would)\b"
)
"""A name before what somebody likes: another's, where the owner's is known."""


@dataclass(frozen=True)
class Catalog:
    """The documents that an item can be filed in, with their names.

    Args:
        documents: every document by path.
        closed: files that exist but cannot be used.
    """

    documents: Documents
    closed: frozenset[str] = frozenset()

    @cached_property
    def items(self) -> list[HeldItem]:
        """Document path and item, of every item in the memory, whatever its status."""
        return [(path, placed.item) for path, one in sorted(self.documents.items()) for placed in one.items]

    @cached_property
    def names(self) -> dict[str, str]:
        """Folded title or file name → path, projects before areas before resources; former names after all of them.

        A page that is named after a day has no name: each log has its own day as its title. Nor has a note under
        Resources without items: runs do not file in it, since it is its writer's.
        """
        found: dict[str, str] = {}
        former: dict[str, str] = {}
        for kind in PAGES:
            for path, document in sorted(self.documents.items()):
                if document.kind is kind and (kind is not Kind.RESOURCE or document.items):
                    for name in (document.title, document.id.rpartition("/")[2]):
                        found.setdefault(slug(name), path)
                    for name in aliases_of(document):
                        former.setdefault(slug(name), path)
        return {name: path for name, path in {**former, **found}.items() if not day_of_log(log_path(name))}

    @cached_property
    def title_words(self) -> dict[str, frozenset[str]]:
        """Path → the content words of a project's title."""
        projects = {p: d for p, d in self.documents.items() if d.kind is Kind.PROJECT}
        return {path: words for path, doc in sorted(projects.items()) if (words := content_words(doc.title))}

    def same_words(self, name: str) -> str:
        """Return the path of the one project whose title has the same words and numbers as a name, in any order."""
        found = [
            p for p, one in self.documents.items() if one.kind is Kind.PROJECT and _words(one.title) == _words(name)
        ]
        return found[0] if len(found) == 1 else ""

    @cached_property
    def person(self) -> str:
        """The folded name of the memory's owner, from USER.md, or empty."""
        user = self.documents.get(USER)
        named = r"^[-*+ \t]*+(?:fact: )?(?:name\**:\**|(?:my|the (?:user|owner)['’]s) name is)[ \t]*+([^\s<][^<\n]*)"
        found = re.search(named, user.text if user else "", re.IGNORECASE | re.MULTILINE)
        return folded(found[1]) if found else ""


def document_choices(catalog: Catalog) -> tuple[DocumentChoice, ...]:
    """Return the closed list of documents that a model may name: each by its file's name where only it has that.

    Notes under Resources are left out, unless something was filed in them: they are their writers'.
    """
    left = {Kind.ARCHIVE, Kind.REVIEW, Kind.EPISODE}
    pages = [one for _, one in sorted(catalog.documents.items()) if one.kind not in left]
    filed = {one.path for one in pages if any(placed.item.evidence for placed in one.items)}
    found = [one for one in pages if one.kind is not Kind.RESOURCE or one.path in filed]
    names = Counter(one.id.rpartition("/")[2] for one in found)
    return tuple(
        DocumentChoice(
            name if names[name := one.id.rpartition("/")[2]] == 1 else one.id,
            *(one.title, one.kind, one.id, one.front.get("purpose")),
        )
        for one in found
    )


def _words(title: str) -> frozenset[str]:
    return frozenset(slug(title).split("-"))


def filed_candidates(
    candidates: Iterable[Candidate], catalog: Catalog, gate: TrustGate
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the candidates with their trust and documents, in order, and those left out since they name no subject.

    What another said makes no page: it goes where the memory, or an earlier candidate, has a page. A project that
    capture names is the session's own.

    Args:
        candidates: what was proposed.
        catalog: the documents.
        gate: decides whose words they are.
    """
    filed, unplaced, made = list[Candidate](), list[Candidate](), set[str]()
    for one in candidates:
        # On a page that is about no one thing, a goal without its project says nothing, nor does an address without a
        # name.
        needs_page = one.page_section == "goals" or (one.page_section == "contacts" and not one.name)
        if needs_page and named_document(one, catalog) in {"", GENERAL}:
            unplaced.append(one)
            continue
        given = replace(one, id=one.id or f"n{len(filed) + 1}", text=without_secrets(one.text))
        told = file_candidate(gate.look(given), catalog)
        is_ours = bool(voice_in(told.entry.head)) or told.trust is not Trust.EXTERNAL
        if is_ours and (told.entry.project or not told.source):
            made.add(told.home)
        elif told.home not in catalog.documents and told.home not in made:
            home = home_of(ItemType.TODO, told.text, told.confidence, catalog)  # as below
            told = replace(told, new_project="", new_area="", page="", home=home)
        filed.append(told)
    return filed, unplaced


def file_candidate(candidate: Candidate, catalog: Catalog) -> Candidate:
    """Return a candidate with the document that it names, and the one it would be filed in.

    An external candidate is never filed in MEMORY.md or USER.md, whoever names them. What a model, which has seen the
    pages, finds no home for goes to MEMORY.md if it is a rule, else to Areas/general.
    """
    named = named_document(candidate, catalog)
    kind = ItemType.TODO if candidate.page_section else candidate.type  # no session loads its section by default
    if candidate.trust is Trust.EXTERNAL and named in {"", BRIEFING, USER}:  # every session loads these
        home = home_of(ItemType.TODO, candidate.text, candidate.confidence, catalog)  # and no home of a todo
        named = named and home
    elif not (named or candidate.by_rules):
        home = BRIEFING if kind is ItemType.RULE and BRIEFING not in catalog.closed else GENERAL
    else:
        home = named or home_of(kind, candidate.text, candidate.confidence, catalog)
    return replace(candidate, page=named, home=home)


def named_document(candidate: Candidate, catalog: Catalog) -> str:
    """Return the path of the document that the candidate or its entry names, existing or not, or an empty string.

    In order: the document that the extractor chose, but no other than the project that a line names by `project:`,
    unless that is the folder of a session, or the entry has its title; the project that `project:`, or the extractor,
    names, which may be new; a heading or `#tag` that is a document's name, innermost first, unless it only says a type,
    as "Todo" does. A heading or tag never creates a document. If a new project's file cannot be used, or it is called
    General, it is Areas/general. A title that an extractor proposes names the project that has the same words in
    another order.
    """
    chosen = f"{candidate.document}.md" if candidate.document else ""
    titled = content_words(candidate.entry.text) >= catalog.title_words.get(chosen, frozenset())
    if chosen in catalog.documents and (titled or not candidate.entry.project or voice_in(candidate.entry.head)):
        return chosen
    if name := candidate.entry.project or candidate.new_project:
        path = f"Projects/{slug(name)}.md"
        is_general = path in catalog.closed or f"Areas/{slug(name)}.md" == GENERAL
        known = catalog.names.get(slug(name)) or ("" if candidate.entry.project else catalog.same_words(name))
        return known or (GENERAL if is_general else path)
    if candidate.new_area:
        path = f"Areas/{slug(candidate.new_area)}.md"
        return catalog.names.get(slug(candidate.new_area)) or (GENERAL if path in catalog.closed else path)
    for name in (*reversed(candidate.entry.headings), *candidate.entry.tags):
        path = "" if section_type(name) else catalog.names.get(slug(name.strip().rstrip(":")), "")
        if path:
            return path
    return ""


def home_of(kind: ItemType, text: str, confidence: Confidence, catalog: Catalog) -> str:
    """Return the path of the document for an item that names none: the project whose title it has, else by its kind."""
    words = content_words(text)
    if titled := [path for path, title in catalog.title_words.items() if title <= words]:
        return max(titled, key=lambda path: (len(catalog.title_words[path]), path))
    if kind in {ItemType.FACT, ItemType.RULE} and USER not in catalog.closed:
        name = catalog.person.partition(" ")[0]
        if name and re.match(rf"{re.escape(name)}\b", folded(text)):
            return USER
        if _OF_THE_PERSON.search(text) and not (name and _OF_ANOTHER.match(text)):
            return USER
    is_known = (kind is ItemType.RULE and confidence not in UNSURE) or GENERAL in catalog.closed
    return BRIEFING if is_known and BRIEFING not in catalog.closed else GENERAL
