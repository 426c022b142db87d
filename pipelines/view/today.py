"""What changed, waits, and is read first: the start page, the inbox, a night as a diff, the context of a session."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.night.answers import questions
from pipelines.night.run_history import PastRun, RunEnd, find_run
from pipelines.queries.doctor import agents as agents_of
from pipelines.queries.doctor import providers
from pipelines.queries.health import OK
from pipelines.queries.startup.context import ContextPart, ContextRequest, assemble
from pipelines.queries.startup.kept import BUDGET
from pipelines.queries.startup.page import TITLES, as_text
from pipelines.queries.startup.read import tokens
from pipelines.review.trust import made_inert
from pipelines.store.evidence import Quotes
from pipelines.store.git import Git
from pipelines.store.item import QUIET, Item, ItemType, Status
from pipelines.store.layout import BRIEFING, REVIEW, day_of_log
from pipelines.store.priority import days_apart
from pipelines.store.secrets.redact import without_secrets
from pipelines.text import fold
from pipelines.view.markup import html_of, joined, said_days, when
from pipelines.view.pages import ended, generated_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.night.answers import ReviewQuestion
    from pipelines.queries.item_graph import Holding
    from pipelines.store.change_set import ItemChange
    from pipelines.view.pages import MemoryReader, Values

_MOST = 8
"""Rows of a list beside the diff."""
_ROWS, _ALL = 12, 1000
"""Rows of a night on the start page, and on its own."""
_FIRST = 3
_ONE_NIGHT: Final = timedelta(hours=18)
"""A night that reads several days makes a run of each."""
_SIGNS: Final = {"added": "+", "changed": "~", "closed": "✓", "asked": "?", "removed": "−"}
"""What a night did to an item, in the order in which it is shown."""
_LOG_MARK = re.compile(r"^[-*>] (?:\d\d:\d\d )?(?:\[project: [^\]]*\] )?")
_ID = re.compile(r"\bk[0-9a-f]{8,64}\b")
_WHY = {
    "SOUL.md": "Your words, always shown.",
    "USER.md": "Always shown.",
    "MEMORY.md": "Chosen each night; always shown.",
    "project": "The page of the session's project.",
    "open": "By due day, then by weight: type, age and whose word.",
    "quiet": "Open, but perhaps over or not mentioned of late; shown last.",
    "work": "By weight: type, age, how sure, and whose word.",
    "yesterday": "The last two days, with what room is left.",
    "today": "The last two days, with what room is left.",
    "pairs": "Three a day, for the agent to settle.",
}


def today(reading: MemoryReader, _: Mapping[str, str]) -> Values:
    """Show what the last night changed, what its owner did since, what waits, what is due, and what went quiet."""
    beliefs, held, day = reading.beliefs, reading.beliefs.by_id, reading.today
    runs, nights = reading.frame()["runs"], reading.frame()["nights"]
    recent = [diff_of(reading, run, _ROWS) for run in nights[:_MOST] if nights[0].moment - run.moment < _ONE_NIGHT]
    before = [run for run in nights[len(recent) :] if run.added or run.changed]
    standing = [one for one in beliefs.holdings if one.item.active and one.path != REVIEW]
    due = sorted((one for one in standing if one.item.due), key=lambda one: days_apart(one.item.due, day))
    waiting = sorted(questions(beliefs.documents), key=lambda one: one.entry.kind == QUIET)
    briefing = reading.documents.get(BRIEFING)
    own = [run for run in runs[: runs.index(nights[0]) if nights else None] if not run.is_night]

    def named(words: str) -> str:
        return _ID.sub(lambda one: f"“{held[one[0]].item.text}”" if one[0] in held else one[0], words)

    return {
        "title": long_day(day), "summary": _summary(recent),
        "nights": [one for one in recent if one["rows"]]
        or recent[:1] + [diff_of(reading, run, _ROWS) for run in before[:1]],
        "own": [(run, named(run.commit.subject)) for run in own[:_MOST] if run.commit],
        "waiting": counted(len(waiting), "question waits", "questions wait"),
        "questions": [(one, *_old_and_new(one, held)[:2]) for one in waiting[:_FIRST]],
        "steps": () if nights else first_steps(reading),
        "lists": {
            ("Due", "due=any"): sorted(due[:_MOST], key=lambda one: one.item.due) + due[_MOST:],
            ("Risks", "type=Risk"): [one for one in standing if one.item.type is ItemType.RISK],
            ("Gone quiet", "type=Todo"): [one for one in standing if one.item.quiet],
        },
        "most": _MOST, "size": briefing.size if briefing else 0, "cap": reading.settings.caps.briefing,
        "first": [html_of(one.removeprefix("- "), BRIEFING) for one in [*generated_rows(briefing)][:_FIRST]],
    }  # fmt: skip


def _summary(nights: list[Values]) -> str:
    """Return what agents wrote and what became of it, in words; empty if nothing was read."""
    read, left = (sum(one["run"].number("entries", key) for one in nights) for key in ("read", "left"))
    counts = sum((one["counts"] for one in nights), Counter[str]())
    parts = [
        counted(counts["added"] + counts["changed"], "became an item", "became items"),
        f"{counted(counts['closed'], 'was', 'were')} closed",
        f"{counted(left, 'was', 'were')} not understood" if left else "",
        f"{counted(counts['asked'], 'waits', 'wait')} for you" if counts["asked"] else "",
    ]
    return f"The logs brought {counted(read, 'new line')}. {', '.join(filter(None, parts))}." if read else ""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun or verb, `many` where it is not one."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def long_day(day: str) -> str:
    """Return a day as in “Thursday, 30 April 2026”."""
    one = date.fromisoformat(day)
    return f"{one:%A}, {one.day} {one:%B %Y}"


def first_steps(reading: MemoryReader) -> list[tuple[bool, str, str, str]]:
    """Return the steps to a memory: of each, whether it is done, its name, how it is, and the command."""
    connected, chosen = agents_of(reading.root), providers()
    lines = "Your agents' logs are read at night. This reads them now."
    return [
        (connected.state is OK, "Connect an agent", connected.says, "curate install claude-code"),
        (chosen.state is OK, "Choose who reads", chosen.says, "curate models use claude-code"),
        (False, "Let the first night run", lines, "curate run"),
    ]


# ---------------------------------------- the inbox


_ANSWERS: Final = {
    "keep new": "New is right", "keep old": "Old is right", "keep both": "Both, of different things",
    "neither": "Neither", "keep": "Keep it", "drop": "Drop it", "close": "It is over", "end": "It holds no more",
    "retract": "It was never true", "restore": "Put it back",
}  # fmt: skip


def answer_label(choice: str) -> str:
    """Return what a button that makes a choice says."""
    return _ANSWERS.get(choice, choice.capitalize())


def inbox(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show what waits for a person: all questions by their titles, and one with its answers.

    Args:
        reading: the memory.
        asked: `at`, the id of the question to show; without one, or with one that was answered, the first.
    """
    waiting = questions(reading.documents)
    at = next((number for number, one in enumerate(waiting) if one.id == asked.get("at")), 0)
    if not waiting:
        return {"questions": ()}
    one = waiting[at]
    old, new, named = _old_and_new(one, reading.beliefs.by_id)
    others = [("", item) for item in (*one.items, *(held.item for held in named))]
    alike = [other.id for other in waiting if other.entry.kind == one.entry.kind and other.choices == one.choices]
    is_let_in = new in one.items and any(choice in one.letting_in for choice in one.choices)
    return {
        "questions": waiting, "quotes": Quotes(reading.root), "one": one, "at": at, "old": old, "new": new,
        "shown": [("New", new), ("Old", old)] if old and new else others,
        "why": () if old and new else [line for line in one.entry.why if line and not line.startswith("- k")],
        "alike": [ident for ident in alike if ident != one.id],
        "next": waiting[(at + 1) % len(waiting)].id, "reword": new if is_let_in else None,
    }  # fmt: skip


def _old_and_new(one: ReviewQuestion, held: Mapping[str, Holding]) -> tuple[Item | None, Item | None, list[Holding]]:
    """Return which belief a question may end, the new one, and what else it names."""
    waits = one.items[0] if len(one.items) == 1 else None
    ids = dict.fromkeys(_ID.findall("\n".join([one.entry.title, *one.entry.why, *map(" ".join, one.entry.choices)])))
    named = [held[ident] for ident in ids if ident in held and ident not in {item.id for item in one.items}]
    is_pair = len(named) == 2 and "keep new" in one.choices and not waits  # noqa: PLR2004  the new one and the old one
    return (named[1].item, named[0].item, named) if is_pair else (one.against, waits, named)


# ---------------------------------------- a night as a diff


def night(reading: MemoryReader, asked: Mapping[str, str]) -> Values:
    """Show what one run, or one change by hand, did to items.

    Raises:
        UnknownItem: none, or more than one, has an id or commit that begins so.
    """
    run = find_run(reading.root, Git(reading.root), asked["ident"])
    return {"title": run.commit.subject if run.commit else run.id, "night": diff_of(reading, run)}


def nights(reading: MemoryReader, _: Mapping[str, str]) -> Values:
    """Show all nights as a table: who read, what came of it, what it cost."""
    rows = []
    for run in reading.frame()["nights"]:
        usd, took = run.reported("model", "usd"), run.reported("seconds")
        rows.append((run, {
            "Read by": str(run.reported("model", "extractor") or "rules").partition("@")[0],
            "Lines": run.number("entries", "read"), "Added": run.added, "Closed": run.number("items", "closed"),
            "Asked": run.number("people", "asked"), "Cost": f"{usd:.2f} USD" if usd else "",
            "Time": f"{sum(took.values()):.1f} s" if isinstance(took, dict) and took else "",
            "How it ended": run.outcome or run.ended,
        }))  # fmt: skip
    return {"rows": rows}


def diff_of(reading: MemoryReader, run: PastRun, most: int = _ALL) -> Values:
    """Return what a run did: so many rows for items that it added, changed, closed or asked about; the rest counted.

    A row has the `item`, its `page`, what may be `asked` for (None if it is no longer as the run left it), and of the
    change its `sign` and what that says (`did`), `what` happened in words, what it said before (`was`), and where it
    was said: `found`, its `day`, and the `quote` if that is in other words.
    """
    changes = {one.id: one for one in reading.changed(run)}
    quotes, now, rest = Quotes(reading.root), reading.beliefs.by_id, Counter[str]()
    replaced = {
        one.after.item.superseded_by: one.before.item
        for one in changes.values()
        if one.before and one.after and one.after.item.superseded_by in changes
    }
    signed, rows = [], []
    for ident, one in changes.items():
        place = one.after or one.before
        if place and not (one.after and one.after.item.superseded_by in changes):
            did, what = _deed(one, replaced.get(ident))
            if did:
                signed.append(([*_SIGNS].index(did), place.path, ident, did, what, place.item))
            elif what:
                rest[what] += 1
    for _, path, ident, did, what, item in sorted(signed)[:most]:
        one, page = changes[ident], reading.documents.get(path) if did != "asked" else None
        is_same = ident in now and one.after and now[ident].item == one.after.item
        asked = [*(["retract"] if item.active else []), "undo --item"] if is_same else None
        rows.append({"did": did, "sign": _SIGNS[did], "what": what, "was": _old(one, replaced.get(ident)), "item": item,
                     "page": page, "asked": asked, **_said(quotes, item)})  # fmt: skip
    also = ", ".join(f"{number} {what}" for what, number in rest.items())
    return {"run": run, "rows": rows, "more": len(signed[most:]), "total": len(signed),
            "rest": f"Also: {also}." if also else "", "counts": Counter(did for *_, did, _, _ in signed),
            **_headline(reading, run, len(signed))}  # fmt: skip


def _headline(reading: MemoryReader, run: PastRun, total: int) -> Values:
    """Return what is said above a diff: which night it was and what it did, as `title`, and when, as `told`."""
    is_last, usd = run.moment and reading.now - run.moment < timedelta(days=1), run.reported("model", "usd")
    which = "Last night" if is_last else f"The night of {said_days(run.when, reading.today)}"
    ended_well = run.ended in {RunEnd.WELL, RunEnd.UNDONE}
    did = "changed nothing" if ended_well else "did not finish, and changed nothing"
    did = f"changed {counted(total, 'thing')}" if total else did
    told = when(run.when, reading.today) + f", {run.when[11:16]}", ended(run) if run.ended is not RunEnd.WELL else ""
    return {"title": f"{which if run.is_night else 'This change'} {did}",
            "told": joined((*told, f"{usd:.2f} USD" if usd else ""))}  # fmt: skip


def _said(quotes: Quotes, item: Item) -> Values:
    """Return where an item was last said, on which day, and in which words, if in others than its own."""
    if not item.evidence:
        return {"found": None, "day": "", "quote": ""}
    found = quotes.found(item.evidence[-1])
    quote = made_inert(_LOG_MARK.sub("", without_secrets(fold(found.quote or ""))))
    bare, *own = [words.casefold().rstrip(".") for words in (quote, item.text, f"{item.type}: {item.text}")]
    return {"found": found, "day": day_of_log(found.path), "quote": "" if bare in own else quote}


def _deed(change: ItemChange, old: Item | None) -> tuple[str, str]:
    """Return which of `_SIGNS` a change is, and what happened, in words; no sign for what changed no belief."""
    before, after = change.before, change.after
    if after is None:
        return "removed", "removed"
    now = after.item
    if before is None:
        return _new(now, old)
    was = before.item
    if was.status is not now.status:
        return ("changed", "open again") if now.active else ("closed", now.status)
    if (was.text, was.due) != (now.text, now.due):
        return "changed", "changed"
    if was.evidence != now.evidence:
        return "", "said again"
    return "", "moved" if before.path != after.path else "went quiet" if now.quiet and not was.quiet else ""


def _new(item: Item, old: Item | None) -> tuple[str, str]:
    if item.status is Status.WAITING:
        return "asked", "waits"
    if old:
        return "changed", "replaced"
    return ("added", "") if item.active else ("closed", item.status)


def _old(change: ItemChange, replaced: Item | None) -> str:
    """Return the words that a change's own words took the place of, or an empty string."""
    was = replaced or (change.before.item if change.before else None)
    return was.text if was and change.after and was.text != change.after.item.text else ""


# ---------------------------------------- what agents read first


def agents(reading: MemoryReader, _: Mapping[str, str]) -> Values:
    """Show the context of a session as an agent gets it: each row, why it is there, and its size against the cap."""
    parts, held = _context(reading), reading.beliefs.by_id
    written = generated_rows(reading.documents.get(BRIEFING))
    shown = []
    for part in parts:
        rows = []
        for entry in part.kept:
            for text in entry.text.split("\n") if part.name == BRIEFING else [entry.text]:
                own = (ids for row, ids in written.items() if part.name == BRIEFING and text.startswith(row))
                ids = next(own, entry.ids)
                rows.append((text, entry.heading, held[ids[0]].item if ids and ids[0] in held else None))
        shown.append({"part": part, "title": TITLES.get(part.name, "Health").partition(" (")[0], "rows": rows,
                      "why": _WHY.get(part.name, ""), "size": tokens(part.text)})  # fmt: skip
    return {"title": "What agents read first", "parts": shown, "size": tokens(as_text(parts)), "cap": BUDGET}


def _context(reading: MemoryReader) -> list[ContextPart]:
    """Return the context, which is kept as long as the frame."""
    frame = reading.frame()
    if "context" not in frame:
        frame["context"] = assemble(ContextRequest(reading.root, reading.today, reading.now), reading.documents)
    return list(frame["context"])
