"""Filing: choose an item's document. Only tracked files and log dates decide, so that a replay files the same way."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, DocumentChoice
from pipelines.extract.rules.labels import section_type
from pipelines.store.evidence import voice_in
from pipelines.store.item import Confidence, Item, ItemType, Trust
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind, document_path, log_day, slug
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.template import aliases_of
from pipelines.store.wording import folded
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.review.trust import TrustGate
    from pipelines.store.document import Document


_NAMED_KINDS = (Kind.PROJECT, Kind.AREA, Kind.RESOURCE)

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

    documents: Mapping[str, Document]
    closed: frozenset[str] = frozenset()

    @cached_property
    def items(self) -> list[tuple[str, Item]]:
        """Document path and item, of every item in the memory, whatever its status."""
        return [(path, placed.item) for path, one in sorted(self.documents.items()) for placed in one.items]

    @cached_property
    def names(self) -> dict[str, str]:
        """Folded title or file name → path, projects before areas before resources; former names after all of them.

        A page that is named after a day has no name: each log has its own day as its title.
        """
        found: dict[str, str] = {}
        former: dict[str, str] = {}
        for kind in _NAMED_KINDS:
            for path, document in sorted(self.documents.items()):
                if document.kind is kind and _takes_items(document):
                    for name in (document.title, document.id.rpartition("/")[2]):
                        found.setdefault(slug(name), path)
                    for name in aliases_of(document):
                        former.setdefault(slug(name), path)
        return {name: path for name, path in {**former, **found}.items() if not log_day(f"{name}.md")}

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
    """Return the closed list of documents that a model may name: each by its file's name where only it has that."""
    left = {Kind.ARCHIVE, Kind.REVIEW, Kind.EPISODE}
    found = [one for _, one in sorted(catalog.documents.items()) if one.kind not in left and _takes_items(one)]
    names = Counter(one.id.rpartition("/")[2] for one in found)
    return tuple(
        DocumentChoice(name if names[name := one.id.rpartition("/")[2]] == 1 else one.id, one.title, one.kind, one.id)
        for one in found
    )


def _takes_items(document: Document) -> bool:
    """Whether runs may file in a document: a note under Resources is its writer's, unless it holds items."""
    return document.kind is not Kind.RESOURCE or bool(document.items)


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
        is_ours = _is_captured(told) or told.trust is not Trust.EXTERNAL
        if is_ours and (told.entry.project or not told.source):
            made.add(told.place)
        elif told.place not in catalog.documents and told.place not in made:
            told = replace(told, new_project="", new_area="", page="", home=_home_outside(told, catalog))
        filed.append(told)
    return filed, unplaced


def _is_captured(one: Candidate) -> bool:
    """Whether it is of a session: the project of its line is the folder in which that ran."""
    return voice_in(one.entry.head) is not None


def file_candidate(candidate: Candidate, catalog: Catalog) -> Candidate:
    """Return a candidate with the document that it names, and the one it would be filed in.

    An external candidate is never filed in MEMORY.md or USER.md, whoever names them. What a model, which has seen the
    pages, finds no home for goes to MEMORY.md if it is a rule, else to Areas/general.
    """
    named = named_document(candidate, catalog)
    kind = ItemType.TODO if candidate.page_section else candidate.type  # no session loads its section by default
    if candidate.trust is Trust.EXTERNAL and named in {"", BRIEFING, USER}:  # every session loads these
        home = _home_outside(candidate, catalog)
        named = named and home
    elif not (named or candidate.by_rules):
        home = BRIEFING if kind is ItemType.RULE and BRIEFING not in catalog.closed else GENERAL
    else:
        home = named or home_of(kind, candidate.text, candidate.confidence, catalog)
    return replace(candidate, page=named, home=home)


def _home_outside(one: Candidate, catalog: Catalog) -> str:
    """Return the document by its words of what another said; it is none that every session loads."""
    return home_of(ItemType.TODO, one.text, one.confidence, catalog)


def named_document(candidate: Candidate, catalog: Catalog) -> str:
    """Return the path of the document that the candidate or its entry names, existing or not, or an empty string.

    In order: the document that the extractor chose, but no other than the project that a line names by `project:`,
    unless that is the folder of a session, or the entry has its title; the project that `project:`, or the extractor,
    names, which may be new; a heading or `#tag` that is a document's name, innermost first, unless it only says a type,
    as "Todo" does. A heading or tag never creates a document. If a new project's file cannot be used, or it is called
    General, it is Areas/general. A title that an extractor proposes names the project that has the same words in
    another order.
    """
    chosen = document_path(candidate.document) if candidate.document else ""
    titled = content_words(candidate.entry.text) >= catalog.title_words.get(chosen, frozenset())
    if chosen in catalog.documents and (titled or not candidate.entry.project or _is_captured(candidate)):
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
    is_sure = confidence in {Confidence.HIGH, Confidence.MEDIUM}
    is_known = (kind is ItemType.RULE and is_sure) or GENERAL in catalog.closed
    return BRIEFING if is_known and BRIEFING not in catalog.closed else GENERAL
