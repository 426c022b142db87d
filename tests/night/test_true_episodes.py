"""Episodes stay true: a look at what changed since the last run finds what a look at everything finds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipelines.night.episodes import ClosedDay, with_episodes, with_true_episodes
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Evidence, Item, ItemType, Status, Trust

PAGES = ("Projects/alpha.md", "Areas/beta.md")
DAYS = tuple(f"2026-0{month}-{day:02}" for month in (1, 2, 3) for day in (4, 5))
NOTHING = frozenset[str]()


def item(number: int, day: str) -> Item:
    place = Evidence(f"Logs/{day}.md", number + 1, number + 1, "0a1b2c3d")
    kind = list(ItemType)[number % len(ItemType)]
    status = Status.OPEN if kind is ItemType.TODO else Status.LIVE
    told = f"Crate {number} is full."
    return Item(kind, told, f"k{number:010x}", status, since=day, trust=Trust.SELF, evidence=(place,), by="rules@1")


@st.composite
def changes(draw: st.DrawFn) -> tuple[dict[str, Document], dict[str, Document]]:
    """Return the documents as a run left them, and after changes of items and of generated sentences."""
    items = [item(n, draw(st.sampled_from(DAYS))) for n in range(draw(st.integers(1, 12)))]
    homes = {one.id: draw(st.sampled_from(PAGES)) for one in items}
    pages = {path: Document(path, f"# {path}\n") for path in PAGES}
    before = {
        path: edited(page, add=[Block(one) for one in items if homes[one.id] == path]) for path, page in pages.items()
    }
    before = with_episodes(before, [ClosedDay(day, (), (), 3) for day in DAYS], {})
    now = dict(before)
    for one in draw(st.lists(st.sampled_from(items), max_size=4, unique=True)):
        path = homes[one.id]
        what = draw(st.sampled_from(("reword", "close", "end", "never", "remove", "move")))
        other = PAGES[path == PAGES[0]]
        new = {
            "reword": replace(one, text=f"{one.text} Or nearly."),
            "close": replace(one, status=Status.SUPERSEDED, until=DAYS[-1]),
            "end": replace(one, status=Status.RESOLVED, until=draw(st.sampled_from(DAYS))),
            "never": replace(one, status=Status.NEVER_HELD),
        }.get(what)
        if new:
            now[path] = edited(now[path], replace={one.id: new})
        else:
            now[path] = edited(now[path], remove=[one.id])
            now[other] = edited(now[other], add=[Block(one)] if what == "move" else [])
    late = [item(20 + n, draw(st.sampled_from(DAYS))) for n in range(draw(st.integers(0, 2)))]
    now[PAGES[0]] = edited(now[PAGES[0]], add=[Block(one) for one in late])
    for path in [path for path in now if path.startswith("Episodes/")]:
        lines, told = now[path].lines, sorted(now[path].generated)
        for at in draw(st.lists(st.sampled_from(told), max_size=2, unique=True)):
            lines = [*lines[:at], draw(st.sampled_from((f"As I said, {lines[at]}", "\n"))), *lines[at + 1 :]]
        now[path] = now[path].with_text("".join(lines))
    return before, now


@given(changes())
def test_what_changed_is_all_that_must_be_read(change: tuple[dict[str, Document], dict[str, Document]]) -> None:
    before, now = change
    assert with_true_episodes(before, NOTHING) == before
    assert with_true_episodes(now, NOTHING, before) == with_true_episodes(now, NOTHING)
