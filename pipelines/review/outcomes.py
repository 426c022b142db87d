"""Outcomes and questions: how items end, are confirmed, linked, superseded and reopened, and what a person is asked.

A todo is done or dropped, a risk resolved or occurred, a question answered; a decision, fact or rule ends without a
successor; and an item that was a mistake never held. A superseded item names its successor; links of others keep what
was true when they were made. What a run cannot decide goes to Review.md, where a person ticks a box to answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.extract.extraction import is_pending
from pipelines.review.trust import made_inert
from pipelines.store.change_set import items_by_id, placed_item
from pipelines.store.document import HISTORY, Document, Documents, block_of, document_at, edited
from pipelines.store.evidence import without_pointer
from pipelines.store.item import (
    ACTIVE,
    MAY_CONFLICT,
    STRUCK,
    Evidence,
    HeldItem,
    Item,
    ItemType,
    Status,
    last_successor,
    with_extra,
)
from pipelines.store.item_line import ID_PATTERN
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, kind_of
from pipelines.store.merge_pages import CLOSINGS, CORRECTED, Disputed
from pipelines.store.review_queue import QueueEntry, read_queue, with_entry, without_answered
from pipelines.store.secrets.redact import is_private, without_secrets
from pipelines.text import clipped, fold, stated_due, without_unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Quoting = Callable[[Evidence], str]
    """Returns the log text of some evidence, or an empty string if it is gone."""


REOPENABLE = STRUCK | {Status.DONE}
"""Statuses of closed items that can be reopened."""


def linkable(items: Iterable[HeldItem]) -> list[HeldItem]:
    """Return the active items of curated documents, without those marked as private."""
    return [
        (path, item)
        for path, item in items
        if item.id
        and item.active
        and path != REVIEW
        and kind_of(path) is not Kind.ARCHIVE
        and not is_private(item.text)
    ]


def with_successor(old: Item, new: Item, day: str) -> Item:
    """Return an item superseded by another one on a day, but not before its own start.

    A Todo whose place nothing takes that is open, but a decision, a fact or a rule, is done.
    """
    is_settled = old.type is ItemType.TODO and new.type is not ItemType.TODO and not is_pending(new)
    status = Status.DONE if is_settled else Status.SUPERSEDED
    return replace(old, status=status, until=max(day, old.since), superseded_by=new.id)


def with_confirmation(item: Item, place: Evidence, day: str) -> Item:
    """Return an item confirmed by new evidence: it keeps the first and the last place, and a count.

    Args:
        item: the item.
        place: the new evidence.
        day: the day of the new evidence.
    """
    first = item.evidence[:-1] if item.confirmed and len(item.evidence) > 1 else item.evidence
    return replace(
        item,
        confirmed=max(item.confirmed, day),
        doubted=item.doubted if item.doubted > day else "",
        evidence=(*first, place),
        seen=max(item.seen, len(item.evidence)) + 1,
    )


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with a link added, unless it has the link or would link to itself."""
    links = dict(item.links)
    if ident == item.id or ident in links.get(kind, ()):
        return item
    links[kind] = (*links.get(kind, ()), ident)
    return replace(item, links=tuple(links.items()))


def without_conflict(item: Item) -> Item:
    """Return an item without its link to what it may conflict with."""
    return replace(item, links=tuple(pair for pair in item.links if pair[0] != MAY_CONFLICT))


def history_of(path: str) -> str:
    """Return the document that keeps closed items: their own, unless every session loads it."""
    return GENERAL if path in {BRIEFING, USER} else path


def with_end(item: Item, how: Status, day: str, place: Evidence | None) -> Item:
    """Return an item after it has ended.

    Args:
        item: the item.
        how: its outcome.
        day: the day of the line that says so.
        place: that line, which becomes evidence; None if a person says so.
    """
    new = (place,) if place and place not in item.evidence else ()
    seen = max(item.seen, len(item.evidence)) + 1 if new else item.seen
    until = max(day, item.since) if day else day
    return replace(item, status=how, until=until, evidence=(*item.evidence, *new), seen=seen, doubted="", perhaps="")


def with_reopened(documents: Documents, ident: str) -> dict[str, Document]:
    """Return the documents with a closed item as it was before: live, or an open todo.

    An item in the History or in an archive returns to its document, or to Areas/general. Its successor stays as it is,
    and keeps its `supersedes` link.

    Args:
        documents: every document by path.
        ident: its id.

    Raises:
        KeyError: it does not exist, or is not closed.
    """
    path, placed = placed_item(documents, ident)
    if placed.item.status not in REOPENABLE:
        raise KeyError(ident)
    status = Status.OPEN if placed.item.type is ItemType.TODO else Status.LIVE
    item = replace(placed.item, status=status, until="", superseded_by="", merged_into="", doubted="", closed_by="")
    after = dict(documents)
    if placed.section != HISTORY and kind_of(path) is not Kind.ARCHIVE:
        after[path] = edited(after[path], replace={ident: item})
        return after
    block, home = replace(block_of(after[path], placed), item=item), path
    after[path] = edited(after[path], remove=[ident])
    if kind_of(path) is Kind.ARCHIVE:
        name = re.sub(r"-\d{4}$", "", path.rpartition("/")[2].removesuffix(".md"))
        there = (one for one in after if one.endswith(f"/{name}.md") and kind_of(one) in {Kind.PROJECT, Kind.AREA})
        home = next(there, GENERAL)
    after[home] = edited(after.get(home) or document_at(home, "# General\n"), add=[block])
    return after


# ---------------------------------------- questions in Review.md


TOO_MANY = "one day's log may end a quarter of a page's items, or three, and this would be one more"
"""Why a person decides that one more item ends. An update ends nothing."""
CONTRADICT = "contradict"
CHOICES: tuple[str, ...] = (
    "keep new: it is true from its day on, and the old one becomes history",
    "keep both: both are true, of different things",
    "neither: both are false, and neither is proposed again",
    "keep old: it stays true, and the new one is never proposed again",
)
_REPLACING = tuple(choice for choice in CHOICES if not choice.startswith("neither"))
QUARANTINE = "quarantine"
KEEP_OR_DROP: tuple[str, ...] = (
    "keep: you vouch for it, and it is filed",
    "drop: it is dropped, and never proposed again",
)
_TITLE, _QUOTE = 60, 300
_LISTED = re.compile(rf"^- ({ID_PATTERN}) ", re.MULTILINE)
DONE = "done: it is as it should be; edit it before, if it is not"
_MOST_QUOTED = 20
"""Longer versions of what is disputed are in git."""
AGAINST = "against"
"""The key in a waiting item that names the item it contradicts."""
DOUBT = "doubt"
ENDINGS = {
    Status.DONE: "it is done",
    Status.DROPPED: "it is dropped",
    Status.RESOLVED: "it is resolved",
    Status.OCCURRED: "it has occurred",
    Status.ANSWERED: "it is answered",
    Status.ENDED: "it is no longer true",
}
"""What a log line claims of an item; also the kinds of entries of Review.md that ask about it."""
_DOUBTS = (
    "keep: it is true",
    "end: it was true, and no longer is",
    "retract: it was a mistake and was never true",
)
_NAMED = re.compile(rf"\(({ID_PATTERN})\)$")
PAIR = "pair"
"""The kind of entry in Review.md that asks about two items that may conflict."""
_PAIR_CHOICES = (
    "keep new: it is true from its day on, and the old one becomes history",
    "keep old: it stays true, and the new one never was",
    "neither: both were false",
    "keep both: both are true",
)
VERSION = "version"
"""The kind of entry in Review.md that asks which version of an item holds; its heading names the item."""
ORDINALS = ("first", "second", "third")
GONE = "it is deleted"
_VERSION = re.compile(rf"(?P<line>\w+: .+) \((?P<status>{'|'.join(sorted(ACTIVE | CLOSINGS))})\)")


class Question(NamedTuple):
    """A new item that waits for a person.

    It contradicts an existing item, may correct one, or its source is not trusted.

    Args:
        item: the new item, as it waits.
        why: why both cannot be true, as a clause; or why the item waits.
        rival: the existing item that it contradicts, or None.
    """

    item: Item
    why: str
    rival: Item | None


class DoubtfulClaim(NamedTuple):
    """A log line's claim about an item, which a person decides on.

    Args:
        item: as it would be, with the line as its last evidence.
        kind: how it would end, or `doubt`.
        why: why a person decides, as a clause.
    """

    item: Item
    kind: str
    why: str


def asked(documents: Documents, questions: Iterable[Question], quote: Quoting, today: str) -> dict[str, Document]:
    """Return the documents with an entry in Review.md for each question.

    Args:
        documents: every document by path.
        questions: the questions.
        quote: returns the log text of some evidence, or an empty string if it is gone.
        today: the memory's day.
    """
    after = dict(documents)
    for one in questions:
        rival, ground = one.rival, grounds(one.item, quote)
        why = f"{one.why[:1].upper()}{one.why[1:]}."
        choices: tuple[str, ...]
        if rival is None:
            kind, choices = QUARANTINE, KEEP_OR_DROP
            why += f" It was found in the log{ground}. It is not used until you tick a box."
        else:
            kind, choices = CONTRADICT, _REPLACING if one.why == TOO_MANY else CHOICES
            held = f"“{as_queue_text(rival.text)}”{grounds(rival, quote)}"
            old = f"The existing item is {rival.id} of {rival.since or 'no day'}: {held}."
            new = f"The log says on {one.item.since}: “{as_queue_text(one.item.text)}”{ground}."
            why += f"\n\n{old} {new} Until you tick a box, the existing item stays."
        asks = "replace" if choices == _REPLACING else kind
        title = f"{asks}: {as_queue_text(one.item.text, _TITLE)}"
        against = with_extra(one.item, AGAINST, rival.id if rival else "")
        after = with_entry(after, kind, today, title, why, choices, [against])
    return after


def claimed(
    documents: Documents, claims: Iterable[DoubtfulClaim], quote: Quoting, today: str, said: str = ""
) -> dict[str, Document]:
    """Return the documents with an entry in Review.md for each claim about an item that holds.

    A question that is already there is not repeated.

    Args:
        documents: every document by path.
        claims: the claims.
        quote: returns the log text of some evidence, or an empty string if it is gone.
        today: the memory's day.
        said: who says so, as a clause, where no log line does; else empty.
    """
    after = dict(documents)
    for claim in claims:
        item, held = claim.item, items_by_id(after)
        asked = {(entry.kind, named_in_title(entry.title)) for entry in read_queue(after.get(REVIEW))}
        if item.id in held and held[item.id][1].active and (claim.kind, item.id) not in asked:
            title = f"{claim.kind}: {as_queue_text(item.text, _TITLE)} ({item.id})"
            ground, keep = said or f"A log line says so{grounds(item, quote)}", "keep: it stays as it is"
            why = f"{ground}, and {claim.why}."
            choices = _DOUBTS if claim.kind == DOUBT else (f"close: {ENDINGS[Status(claim.kind)]}", keep)
            after = with_entry(after, claim.kind, today, title, why, choices)
    return after


def named_in_title(title: str) -> str:
    """Return the item id at the end of a heading of Review.md, or an empty string."""
    found = _NAMED.search(title)
    return found[1] if found else ""


def item_asked_about(entry: QueueEntry) -> str:
    """Return the id of the filed item that a question is about, or an empty string."""
    against = (dict(one.extra).get(AGAINST, "") for one in entry.items)
    return next(filter(None, (named_in_title(entry.title), *against, *ids_asked(entry))), "")


def with_questions(
    documents: Documents, disputed: Sequence[Disputed], why: str, when: Callable[[Disputed, int], str], today: str
) -> dict[str, Document]:
    """Return the documents with a question about each item, and each file, that a merge could not decide.

    It shows both versions; of an item, each is a choice.

    Args:
        documents: every document by path.
        disputed: what is disputed.
        why: how it came to that, as the predicate of a sentence about the item or file.
        when: returns when the version with this number was so, as part of a sentence.
        today: the memory's day.
    """
    after, rest, held = dict(documents), defaultdict[str, list[str]](list), items_by_id(documents)
    for one in disputed:
        if len(one.versions) == 1:  # both read alike
            continue
        told = [version[0] if version else GONE for version in one.versions]
        times = [when(one, number) for number in range(len(one.sides))]
        named = [held[ident][1] for ident in one.item.split() if ident in held]
        if one.what == CORRECTED:
            for item in named:  # each took the other's place: both hold until somebody says which
                after = after if item.active else with_reopened(after, item.id)
            after = with_pair(after, named, one.what, today)
        elif named and all(version == GONE or version_of(version, named[0]) for version in told):
            queue = [entry for entry in read_queue(after.get(REVIEW)) if entry.kind == VERSION]
            stale = [(entry, ()) for entry in queue if named_in_title(entry.title) == one.item]
            after = {**after, REVIEW: without_answered(after[REVIEW], stale)} if stale else after
            title = f"“{as_queue_text(named[0].text, _TITLE)}” {why} ({one.item})"
            of = " and ".join(f"the {word} is {time}" for word, time in zip(ORDINALS, times, strict=False))
            body = f"{one.what} Of the versions below, {of}."
            choices = [f"{word}: {version}" for word, version in zip(ORDINALS, told, strict=False)]
            after = with_entry(after, VERSION, today, title, body, choices)
        else:
            rows = rest[one.path]
            rows += [one.what, ""]
            for version, time in zip(one.versions, times, strict=True):
                quoted = [f"> {line.replace('<!--', '&lt;!--')}" for line in version[:_MOST_QUOTED]]
                rows += [f"This is {time}:", "", *quoted, *["> …"] * (len(version) > _MOST_QUOTED)]
                rows += [*["> (deleted)"] * (not version), ""]
    for path, rows in sorted(rest.items()):
        after = with_entry(after, "merge", today, f"{path} {why}", "\n".join(rows).rstrip(), [DONE])
    return after


def version_of(version: str, item: Item) -> Item | None:
    """Return an item as a version of it in a question says, or None if that cannot be read."""
    found = _VERSION.fullmatch(version)
    read = document_at("", f"- {found['line']}\n").items if found else ()
    if not (found and read):
        return None
    text, due = stated_due(read[0].item.text)
    return replace(item, text=text, due=due, status=Status(found["status"]))


def with_pair(documents: Documents, pair: Sequence[Item], why: str, today: str) -> dict[str, Document]:
    """Return the documents with a question which of two items holds, the newer one first."""
    rows = [f"- {one.id} since {one.since or '?'}: {as_queue_text(one.text)}" for one in pair]
    title, text = f"{PAIR}: {as_queue_text(pair[0].text, _TITLE)}", "\n".join([why, "", *rows])
    return with_entry(documents, PAIR, today, title, text, _PAIR_CHOICES)


def with_present_pairs(documents: Documents) -> dict[str, Document]:
    """Return the documents with each question about a pair asked of what took the place of its items, if all hold."""
    after, known = dict(documents), {ident: item for ident, (_, item) in items_by_id(documents).items()}
    for entry in reversed(read_queue(after.get(REVIEW))):
        asks = ids_asked(entry)
        now = dict.fromkeys(last_successor(ident, known) for ident in asks if ident in known)
        pair = [known[ident] for ident in now if known[ident].active]
        if entry.kind == PAIR and [one.id for one in pair] != asks:
            after[REVIEW] = without_answered(after[REVIEW], [(entry, ())])
            pair.sort(key=lambda one: one.learnt, reverse=True)  # the newest first, as "keep new" means
            after = with_pair(after, pair, entry.why[0], entry.day) if len(pair) == len(asks) else after
    return after


def without_questions(documents: Documents, idents: Iterable[str]) -> dict[str, Document]:
    """Return the documents without the questions of Review.md whether these items are over."""
    named, queue = set(idents), read_queue(documents.get(REVIEW))
    asks = (one for one in queue if one.kind in {*ENDINGS, DOUBT} and not one.items)
    moot = [(one, ()) for one in asks if named_in_title(one.title) in named]
    return {**documents, REVIEW: without_answered(documents[REVIEW], moot)} if moot else dict(documents)


def grounds(item: Item, quote: Quoting) -> str:
    """Return the place and words of an item's last evidence, as part of a sentence."""
    if not item.evidence:
        return ", written by hand"
    last = item.evidence[-1]
    words = as_queue_text(without_secrets(without_pointer(quote(last))))
    return f" ({last.path} line {last.start_line}{f': “{words}”' if words else ''})"


def as_queue_text(text: str, most: int = _QUOTE) -> str:
    """Return log text made safe for a line of Review.md: one line, no comment, cut after a word if it is too long."""
    text = made_inert(without_unseen(fold(text))).replace("<!--", "<! --").replace("-->", "-- >")
    return text if len(text) <= most + most // 10 else clipped(text, most)


def ids_asked(entry: QueueEntry) -> list[str]:
    """Return the ids of the items that a question lists."""
    return _LISTED.findall("\n".join(entry.why))
