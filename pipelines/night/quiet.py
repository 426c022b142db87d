"""Quiet: open items that nobody has mentioned for a while, or whose day is long over.

A Todo or question is quiet if it once stood on a list of what is open as a whole and stands no more on a later one, or
if it is on none and was not mentioned on seven days of work. An item whose own day (`on`) is over is told for a week as
of unknown outcome, and then is quiet. Only days with logs count: a holiday is no silence. Never quiet is what has a
deadline, what is pinned, what the owner said or wrote, and a risk. A Todo that waits on another is mentioned with it.
What is quiet comes last and is found as ever; once a week a person is asked about all of it together.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.extract.extraction import OpenList, Place, is_pending
from pipelines.night.file_items import PAGES
from pipelines.review.outcomes import as_queue_text, ids_asked
from pipelines.review.rulings import shared
from pipelines.store.change_set import items_by_id
from pipelines.store.days import day_before
from pipelines.store.document import Documents, edited
from pipelines.store.item import QUIET, HeldItem, Item, ItemType, Trust, with_extra
from pipelines.store.layout import REVIEW, Kind, slug
from pipelines.store.review_queue import read_queue, with_entry, without_answered
from pipelines.store.wording import folded, lead_of, task_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SILENT_DAYS = 7
"""The days of work without a mention after which an open item is quiet."""
UNKNOWN_DAYS = 7
"""For how many days an appointment that is over is told as of unknown outcome."""
ASK_DAYS = 7
LISTED = "listed"
"""The key of an item that stood on a list of what is open as a whole, with the list's heading.

Lists under that heading say when it is quiet: "Open questions" says nothing of what stood under "Open".
"""
ASKED = "quiet-asked"
"""The key for the day on which a person was asked about an item that is quiet."""
CHOICES = (
    "keep: they are still open, and stay quiet until somebody mentions them",
    "drop: all of them are dropped",
)
_REPEATED, _SHARE = 3, 4
"""A list goes on with another if it repeats three of its boxes, and as many as a quarter of its own."""
_HOMES = {*PAGES, Kind.USER, Kind.BRIEFING}
_MOST_ASKED = 30
_NUMBERS = re.compile(r"\d+")
_SAME = 0.75
"""The share of all their words that a todo and a box have in common, if they are taken for one."""


def with_quiet(
    documents: Documents,
    lists: Sequence[tuple[str, OpenList]],
    seen: Mapping[str, str],
    days: Sequence[str],
    today: str,
) -> Documents:
    """Return the documents, each item marked that is quiet, and no other.

    Args:
        documents: every document by path.
        lists: day and list, of the lists read now that say what is open.
        seen: id of an item → the last day that says it again. Every entry of a list is seen, new or changed that day.
        days: the days with logs, in order.
        today: the memory's day.
    """
    after, read = dict(documents), _with_headings(documents, lists) if lists else []
    held = {ident: item for ident, (_, item) in items_by_id(documents).items()}
    told: dict[str, str] = {}  # the last day on which an item that it is linked with was mentioned, or closed
    linked = [
        (item, held[ident])
        for item in held.values()
        for kind, idents in item.links
        if kind != "contradicts"
        for ident in idents
        if ident in held
    ]
    for item, other in (*linked, *((other, item) for item, other in linked)):
        if is_pending(other) or other.type is ItemType.TODO:
            told[item.id] = max(told.get(item.id, ""), other.until or max(other.learnt, other.confirmed))
    for path, document in documents.items():
        new: dict[str, Item] = {}
        active = (item for _, item in document.held.values() if item.active and document.kind in _HOMES)
        for item in active:
            now = item
            for day, listed, headings in read:
                if listed.document in {"", document.id}:
                    now = _after_list(now, day, listed, headings, seen)
            since = _quiet_since(now, days, today, told.get(item.id, ""))
            now = now if bool(since) == bool(now.quiet) else replace(now, quiet=since)
            if now != item:
                new[item.id] = now
        if new:
            after[path] = edited(document, replace=new)
    return after


def _with_headings(
    documents: Documents, lists: Sequence[tuple[str, OpenList]]
) -> list[tuple[str, OpenList, frozenset[str]]]:
    """Return day and list, each with the headings of the lists that it goes on with.

    What stood under one of these, and is left out, is quiet. A list that its reader calls whole goes on with those of
    its own heading. Any other does so with those that it repeats: who copies the open boxes of a day to the next says
    something by what is left out, who writes new ones each day does not. Of who copies some, those count as repeated
    that begin alike, ticked or worded anew: their lead names their matter, unless several of a list have it. Under
    another heading, as many must be repeated as are left out: who takes three tasks of a backlog for today has not
    given up the others. The parts below a list's own headings go on together, but only those of which it repeats some:
    they may be of different projects.
    """
    there = (placed.item for one in documents.values() if one.kind in _HOMES for placed in one.items)
    items = [item for item in there if item.type is ItemType.TODO or item.page_section == "questions"]
    leads = {item.id: lead_of(item.text) for item in items}
    words = {item.id: folded(item.text) for item in items}
    stood: dict[str, set[str]] = defaultdict(set)
    quiet = {item.id for item in items if item.quiet}
    for item in items:
        if heading := dict(item.extra).get(LISTED):
            stood[heading].add(item.id)
    found = []
    for day, one in lists:
        here = {item.id: heading for item in items if (heading := _heading_on(item, one))}
        told, counts = set(map(folded, one.boxes)), Counter(map(lead_of, one.boxes))
        over = {item.id for item in items if item.until and item.until < day}
        copied = here.keys() | {ident for ident, text in words.items() if text in told}
        alike = copied | {ident for ident, lead in leads.items() if counts[lead] == 1}
        same = {heading: {leads[ident] for ident in (ids & alike) - over} for heading, ids in stood.items()}
        copies = any((ids & copied) - over for ids in stood.values())
        own = {_heading(one, place) for place in one.places}
        least = max(_REPEATED, len(one.boxes) / _SHARE)
        left = {heading: {leads[ident] for ident in ids - alike - over - quiet} for heading, ids in stood.items()}
        again = set[str]()
        for heading in stood if copies else ():
            parts = [other for other in stood if _top(other) == _top(heading)]
            repeated = len(set().union(*(same[part] for part in parts)))
            goes_on = _top(heading) in map(_top, own) or repeated >= len(set().union(*(left[part] for part in parts)))
            enough = min(_REPEATED, len(left[heading])) if "/" in heading and heading in own else 0
            if goes_on and repeated >= least and len(same[heading]) >= max(enough, 1):
                again.add(heading)
        headings = frozenset(own if one.whole else again)
        found.append((day, one, headings))
        quiet = (quiet | {ident for heading in headings for ident in stood[heading]}) - alike
        for ids in stood.values():
            ids.difference_update(here)
        for ident, heading in here.items():
            stood[heading].add(ident)
    return found


def _heading_on(item: Item, listed: OpenList) -> str:
    """Return under which headings of a list an item stands, or an empty string if it is not on it."""
    places = (one for one in listed.places if any(one.meets(found) for found in item.evidence))
    return next((_heading(listed, one) for one in places), "")


def _heading(listed: OpenList, place: Place) -> str:
    headings = listed.places[0].entry.headings[-1:] if listed.whole else place.entry.headings
    names = [slug(_NUMBERS.sub("", one)) for one in headings]
    return "/".join([":".join(names[: listed.depth or 1]), *names[listed.depth or 1 :]]) or "yes"


def _top(heading: str) -> str:
    return heading.partition("/")[0]


def _after_list(item: Item, day: str, listed: OpenList, headings: frozenset[str], seen: Mapping[str, str]) -> Item:
    """Return an item after a list of a day: noted as listed, or quiet if it was listed before and is not any more."""
    if not is_pending(item) or item.type is ItemType.RISK:
        return item
    if heading := _heading_on(item, listed):
        return with_extra(item, LISTED, heading)
    # It is told anew by a box that ends with a link to the same note, in nearly the same words but for remarks.
    said, note = task_note(item.text)
    boxes = map(task_note, listed.boxes if note else ())
    is_anew = any(note == other and shared(said, words) >= _SAME for words, other in boxes)
    is_over = is_anew or dict(item.extra).get(LISTED, "") in headings
    is_told = seen.get(item.id) == day or max(item.learnt, item.confirmed) >= day
    return replace(item, quiet=day) if is_over and not is_told else item


def _quiet_since(item: Item, days: Sequence[str], today: str, linked: str) -> str:
    """Return the day since which an item is quiet, or an empty string.

    Args:
        item: the item; if a list left it out, it is marked with the list's day.
        days: the days with logs, in order.
        today: the memory's day.
        linked: the last day on which an item that it is linked with was mentioned, or empty.
    """
    if not item.active or item.pinned or item.due or item.trust is Trust.OWNER or item.type is ItemType.RISK:
        return ""
    if item.on:
        return item.quiet or today if item.on < day_before(today, UNKNOWN_DAYS) else ""
    mentioned = max(item.learnt, item.confirmed)
    if not is_pending(item) or (item.quiet and mentioned >= item.quiet):
        return ""
    if dict(item.extra).get(LISTED):
        return item.quiet
    silent = bisect_right(days, today) - bisect_right(days, max(mentioned, linked))
    return item.quiet or today if silent >= SILENT_DAYS else ""


# ---------------------------------------- the weekly question


def asked_about_quiet(documents: Documents, today: str) -> Documents:
    """Return the documents with one question about all that became quiet since the last one, at most once a week.

    While a question is unanswered, no other is asked: what becomes quiet meanwhile is in the next one. Once some of its
    items are over, or were mentioned again, it is asked anew about the others.
    """
    after, asked = dict(documents), dict[str, str]()
    quiet: dict[str, HeldItem] = {}
    for path, document in documents.items():
        for ident, (_, item) in document.held.items() if document.kind in _HOMES else ():
            asked[ident] = dict(item.extra).get(ASKED, "")
            quiet |= {ident: (path, item)} if item.active and item.quiet else {}
    entries = [entry for entry in read_queue(after.get(REVIEW)) if entry.kind == QUIET]
    old = [entry for entry in entries if not quiet.keys() >= set(ids_asked(entry))]
    again = {ident for entry in old for ident in ids_asked(entry)} & quiet.keys()
    if old:
        after[REVIEW] = without_answered(after[REVIEW], [(entry, ()) for entry in old])
    is_early = not again and any(day > day_before(today, ASK_DAYS) for day in asked.values())
    new = [(path, item) for path, item in quiet.values() if item.id in again or asked[item.id] < item.quiet]
    new = sorted(new, key=lambda pair: (pair[0], pair[1].id))[:_MOST_ASKED]
    if len(old) < len(entries) or is_early or not new:
        return after
    for path in {path for path, _ in new}:
        marked = {item.id: with_extra(item, ASKED, today) for home, item in new if home == path}
        after[path] = edited(after[path], replace=marked)
    asks = as_queue_text(new[0][1].text)
    if new[1:]:
        asks = f"{asks.rstrip('.')}, and {len(new) - 1} more"
    rows = [f"- {item.id} {as_queue_text(item.text)} ({documents[path].title})" for path, item in new]
    told = "Nobody has mentioned this of late. Keep it, or drop it? What is kept comes last, and search finds it."
    why = "\n".join([told, "", *rows])
    return with_entry(after, QUIET, today, f"{QUIET}: {asks}", why, CHOICES)
