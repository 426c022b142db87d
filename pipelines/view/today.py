"""What changed, waits, and is read first: the start page, the inbox, a night as a diff, the context of a session."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

from pipelines.night.report import PastRun, RunEnd, find_run
from pipelines.queries.health import OK, examine
from pipelines.queries.startup.context import TITLES
from pipelines.queries.startup.kept import BUDGET
from pipelines.queries.startup.page import as_text
from pipelines.queries.startup.read import tokens
from pipelines.store.git import Git
from pipelines.store.item import QUIET, Item, ItemType, Status
from pipelines.store.layout import BRIEFING
from pipelines.store.priority import days_after
from pipelines.text import count
from pipelines.view.markup import (
    Card,
    Row,
    address_of,
    changed,
    html,
    html_of,
    joined,
    ranks,
    sentence,
    spoken,
)
from pipelines.view.pages import MemoryReader, ended

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markupsafe import Markup

    from pipelines.night.answers import ReviewQuestion
    from pipelines.queries.item_graph import Holding
    from pipelines.store.change_set import ItemChange
    from pipelines.view.pages import Values

_MOST = 8
"""Rows of a list beside the diff."""
_ROWS, _ALL = 12, 1000
"""Rows of a night on the start page, and on its own."""
_FIRST = 3
_ONE_NIGHT = timedelta(hours=18)
"""A night that reads several days makes a run of each."""
_SIGNS = {"added": "+", "changed": "~", "closed": "✓", "asked": "?", "removed": "−"}
"""What a night did to an item, in the order in which it is shown."""
_ID = re.compile(r"\bk[0-9a-f]{8,64}\b")
_WHY = {
    "SOUL.md": "Your words, always shown.",
    "USER.md": "Always shown.",
    "MEMORY.md": "Chosen each night; always shown.",
    "project": "The page of the session's project.",
    "open": "By due day, then by weight: type, age and whose word.",
    "quiet": "Open, but perhaps over or not mentioned of late; shown last.",
    "work": "By weight: type, age, how sure, and whose word.",
    "yesterday": "The last two days, as room allows.",
    "last day": "The last day of work here, as room allows.",
    "today": "The last two days, as room allows.",
    "pairs": "Three a day, for the agent to settle.",
}


def today(reading: MemoryReader, _: Mapping[str, str]) -> Values:
    """Show what the last night changed, what its owner did since, what waits, what is due, and what went quiet."""
    nights, standing, held = reading.nights, reading.standing, reading.held
    recent = [run for run in nights[:_MOST] if nights[0].moment - run.moment < _ONE_NIGHT]  # type: ignore[operator]  # each has one
    did_much = [run for run in nights if run.added or run.changed]
    told = [run for run in recent if run in did_much] or [*recent[:1], *did_much[:1]]
    diffs = [diff_of(reading, run, _ROWS) for run in told]  # a dead night does not hide what was learnt before
    dated = sorted(
        (one for one in standing if one.item.due), key=lambda one: abs(days_after(one.item.due, reading.today))
    )
    waiting = sorted(reading.waiting, key=lambda one: one.entry.kind == QUIET)
    page = reading.documents.get(BRIEFING)
    first = [html_of(page.lines[at].removeprefix("- "), BRIEFING) for at in [*page.generated][:_FIRST]] if page else ()

    def listed(title: str, to: str, found: Sequence[Holding]) -> Card:
        more = [Row(f"{len(found) - _MOST} more", to)] if found[_MOST:] else []
        return Card(title, [reading.row(one.item, path=one.path) for one in found[:_MOST]] + more, len(found), to)

    own = [
        Row(sentence(_ID.sub(lambda of: f"“{held[of[0]].item.text}”" if of[0] in held else of[0], run.commit.subject)),
            f"/night/{run.id}", reading.when(run.when),
            asked=["undo"] if run.ended is not RunEnd.UNDONE else (), id=run.id)
        for run in takewhile(lambda run: not run.is_night, reading.checkup.runs) if run.commit
    ]  # fmt: skip
    asked = [Row(asked_of(one, held)[0], f"/inbox?at={one.id}", spoken(one.entry.why[0])) for one in waiting[:_FIRST]]
    left = [
        *(card for card, _ in diffs), Card("Three steps to a memory", () if nights else first_steps(reading)),
        Card("You, since then", own[:_MOST]),
    ]  # fmt: skip
    right = [
        Card(
            count(len(waiting), "question waits for you", "questions wait for you"),
            asked,
            waiting[_FIRST:] and f"{len(waiting) - _FIRST} more",
            "/inbox",
        ),
        Card("What agents read first", first, to="/agents"),
        listed("Due", "/items", dated),
        listed("Risks", "/items?type=Risk", [one for one in standing if one.item.type is ItemType.RISK]),
        listed("Gone quiet", "/items?type=Todo", [one for one in standing if one.item.quiet]),
    ]
    did = sum((did for run, (_, did) in zip(told, diffs, strict=True) if run in recent), Counter[str]())
    return {"title": f"{date.fromisoformat(reading.today):%A, %-d %B %Y}", "lead": _summary(recent, did),
            "faults": reading.frame["faults"], "left": left, "right": right}  # fmt: skip


def _summary(runs: Sequence[PastRun], did: Counter[str]) -> str:
    """Return what agents wrote and what became of it, in words; empty if nothing was read."""
    read, left = (sum(run.number("entries", key) for run in runs) for key in ("read", "left"))
    became = {"kept": did["added"] + did["changed"], "closed": did["closed"], "asked": did["asked"]}
    told = ", ".join(f"{number} {what}" for what, number in became.items() if number) or "nothing to keep"
    lost = f", {left} of them not understood" if left else ""
    return f"The logs had {count(read, 'new line')}{lost}: {told}." if read else ""


def first_steps(reading: MemoryReader) -> Iterator[Row]:
    """Yield the steps to a memory: how each is, and the command that does it."""
    copied = '<p><code>{0}</code> <button data-copy="{0}">Copy</button></p>'
    connected, chosen = examine(reading.checkup, ("agents", "providers")).values()
    for step, is_done, says, command in (
        ("Connect an agent", connected.state is OK, connected.says, "curate install claude-code"),
        ("Choose who reads", chosen.state is OK, chosen.says, "curate models use claude-code"),
        ("Let the first night run", False, "It reads your agents' logs, now or every night.", "curate run"),
        ("Look at a memory first", False, "It has a week of logs; nothing of yours is touched.", "curate demo"),
    ):
        yield Row(step, told=says, mark="✓" if is_done else "○", below="" if is_done else html(copied, command))


# ---------------------------------------- the inbox


ANSWERS = {
    "keep new": "New is right", "keep old": "Old is right", "keep both": "Both, of different things",
    "neither": "Neither", "keep": "Keep it", "drop": "Drop it", "close": "It is over", "end": "It holds no more",
    "retract": "It was never true", "restore": "Put it back",
}  # fmt: skip
"""What the button of a choice says, where it is not the choice itself."""


def inbox(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show what waits for a person: all questions by their titles, and one with its answers.

    Args:
        reading: the memory.
        asked: `at`, the id of the question to show; without one, or with one that was answered, the first.
    """
    waiting = reading.waiting
    if not waiting:
        return {"lead": "Nothing waits for you."}
    at = next((number for number, one in enumerate(waiting) if one.id == asked.get("at")), 0)
    one = waiting[at]
    asks, found, is_pair = asked_of(one, reading.held)
    about = [] if is_pair else [Row(spoken(line)) for line in one.entry.why if not line.startswith("- k")]
    for number, of in enumerate(found):
        about.append(reading.row(of, (), mark=is_pair and ("New", "Old")[number], below=reading.said(of)))
    rows = [Row(sentence(of.title), f"/inbox?at={of.id}", of.entry.kind, id=of.id) for of in waiting]
    kind = (one.entry.kind, one.choices)
    return {
        "lead": joined(f"{at + 1} of {len(waiting)}", html("asked {}", reading.when(one.entry.day))),
        "left": [Card("Questions", rows)], "one": one, "at": one.id, "asks": asks,
        "about": Card("", about), "was": one.items[0].text if one.items else one.title,
        "alike": [of.id for of in waiting if (of.entry.kind, of.choices) == kind and of is not one],
        "next": waiting[(at + 1) % len(waiting)].id,
    }  # fmt: skip


def asked_of(one: ReviewQuestion, held: Mapping[str, Holding]) -> tuple[Markup, list[Item], bool]:
    """Return what a question asks, the items that it is about, and whether they are a new belief and the old one."""
    ids = dict.fromkeys(_ID.findall("\n".join([one.entry.title, *one.entry.why, *map(" ".join, one.entry.choices)])))
    named = [held[ident].item for ident in ids if ident in held and held[ident].item not in one.items]
    found = [*one.items, *([one.against] if one.against else named)]
    is_pair = "keep new" in one.choices and len(found) == 2  # noqa: PLR2004  as said
    return changed(found[1].text, found[0].text, is_asked=True) if is_pair else sentence(one.title), found, is_pair


# ---------------------------------------- a night as a diff


def night(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show what one run, or one change by hand, did to items.

    Raises:
        UnknownItem: none, or more than one, has an id or commit that begins so.
    """
    run = find_run(reading.root, Git(reading.root), asked["ident"])
    return {"title": run.commit.subject if run.commit else run.id, "left": [diff_of(reading, run)[0]],
            "faults": run.warnings}  # fmt: skip


def nights(reading: MemoryReader, _: Mapping[str, str]) -> Values:
    """Show all nights: who read, what came of it, what it cost."""
    rows = []
    for run in reading.nights:
        usd, took = run.reported("model", "usd"), run.reported("seconds")
        did = {"added": run.added, "closed": run.number("items", "closed"), "asked": run.number("people", "asked")}
        rows.append(Row(reading.when(run.when), f"/night/{run.id}", joined(
            run.ended is not RunEnd.WELL and run.outcome,
            str(run.reported("model", "extractor") or "rules").partition("@")[0],
            count(run.number("entries", "read"), "line"),
            *(f"{number} {what}" for what, number in did.items() if number),
            usd and f"{usd:.2f} USD", isinstance(took, dict) and f"{sum(took.values()):.1f} s",
        )))  # fmt: skip
    return {"left": [Card("", rows)], "faults": reading.frame["faults"]}


def diff_of(reading: MemoryReader, run: PastRun, most: int = _ALL) -> tuple[Card, Counter[str]]:
    """Return what a run did: so many rows of items that it added, changed, closed or asked of; and how many each."""
    changes = {one.id: one for one in reading.changed(run)}
    olds = {one.after.item.superseded_by: one.before.item for one in changes.values() if one.before and one.after}
    told = [one for one in changes.values() if one.place.item.superseded_by not in changes]
    deeds = [(did, one) for did in _SIGNS for one in told if _deed(one, olds.get(one.id)) == did]
    rows = [_changed(reading, *one, olds.get(one[1].id)) for one in deeds[:most]]
    total = len(deeds)
    undoes = Row(f"Take back all {total}…", f"/night/{run.id}", deeds[most:] and f"{total - most} more")
    if run.ended is RunEnd.UNDONE:
        undoes = Row("It was undone. Undo brings it back.", asked=["undo"], id=run.why)
    elif most == _ALL:
        undoes = Row(
            f"{count(total, 'change')} will be undone in one commit, which can be undone.", asked=["undo"], id=run.id
        )
    when = joined(reading.when(run.when), run.ended is not RunEnd.WELL and ended(run))
    rows += [undoes] if run.commit and rows else []
    return Card(count(total, "change"), rows, when), Counter(did for did, _ in deeds)


def _changed(reading: MemoryReader, did: str, one: ItemChange, old: Item | None) -> Row:
    """Return the row of a change: the item's sentence, old → new, where it was said, and what may be done about it."""
    item, now = one.place.item, reading.held.get(one.id)
    is_same = item.status is not Status.WAITING and now and now.item == item
    was = (old or (one.before or one.place).item).text
    return reading.row(
        item, [*(["edit", "retract"] if item.active else []), "undo --item"] if is_same else (),
        one.place.path, text=was != item.text and changed(was, item.text),
        below=reading.said(item),
        mark=html('<b class="{0}" title="{0}">{1}</b>', did, _SIGNS[did]),
    )  # fmt: skip


def _deed(change: ItemChange, old: Item | None) -> str:
    """Return which of `_SIGNS` a change is; empty if it changed no belief."""
    if change.after is None:
        return "removed"
    was, now = change.before and change.before.item, change.after.item
    if was and not old and (was.status, was.text, was.due) == (now.status, now.text, now.due):
        return ""
    if not now.active:
        return "asked" if now.status is Status.WAITING else "closed"
    return "changed" if was or old else "added"


# ---------------------------------------- what agents read first


def agents(reading: MemoryReader, _: Mapping[str, str]) -> Values:
    """Show the context of a session as an agent gets it: each row, why it is there, and its size against the cap."""
    parts, cards = reading.context(), []
    for part in parts:
        rows: list[Row | Markup] = [] if part.kept else [Row(part.text or part.fault)]
        for entry in part.kept:
            for text in filter(str.strip, entry.text.split("\n")):
                words, one = text.lstrip("-# "), reading.held.get("".join(entry.ids[:1]))
                if entry.heading:
                    rows.append(html("<small>{}</small>", sentence(words)))
                elif one is None:
                    rows.append(html_of(words, part.path))
                else:
                    asked = ["edit", *ranks(one.item)] if one.item.active else ()
                    rows.append(reading.row(one.item, asked, text=sentence(words)))
        told = joined(_WHY.get(part.name), part.cut and f"{part.cut} left out", f"{tokens(part.text)} tokens")
        cards.append(
            Card(TITLES.get(part.name, "Health").partition(" (")[0], rows, told, part.path and address_of(part.path))
        )
    lead = sentence(
        f"Each session begins with this, {tokens(as_text(parts)):,} of {BUDGET:,} tokens. `curate context` prints it."
    )
    return {"title": "What agents read first", "lead": lead, "left": cards}
