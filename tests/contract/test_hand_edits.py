"""The table of what a person may do to a page in an editor: what the next night says of it, and what it keeps."""

import re
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import Memory
from tests.contract.story import (
    ALPHA,
    CACHE,
    DISK,
    FRIDAY,
    LINES,
    MARA,
    NEXT,
    PORT,
    THIRD,
    asked,
    held,
    ident,
    items,
    night,
    waiting,
)  # fmt: skip

ALL = (CACHE, PORT, FRIDAY, MARA, DISK)
DUE = "Todo: Send Odile the price (due 2026-03-20)"
ODILE = "Send Odile the price"
GOAL, ASKED, BEA = "Sell half of the tickets in the app.", "Who pays for the gateway?", "Bea Lind, bea@sundlink.example"
OWNED = (f"Goal: {GOAL}", f"Question: {ASKED}", f"Contact: {BEA}", DUE)


class Act(NamedTuple):
    """What a person does, and what follows.

    Args:
        do: turns the page's text into what the person makes of it.
        held: sentences that hold afterwards; each with the one whose id it has, or `new`.
        gone: sentences that hold no more.
        told: words of the run's report.
        asks: how many questions wait.
        due: the day on which the todo for Odile is due.
    """

    do: Callable[[str], str]
    held: Mapping[str, str] = {}
    gone: tuple[str, ...] = ()
    told: str = ""
    asks: int = 0
    due: str = "2026-03-20"


def line(words: str, change: Callable[[str], str]) -> Callable[[str], str]:
    """Return how to change the line with these words."""
    return lambda page: re.sub(rf"^.*{re.escape(words)}.*\n", lambda found: change(found[0]), page, flags=re.MULTILINE)


def put(old: str, new: str) -> Callable[[str], str]:
    return lambda page: page.replace(old, new)


def once(strike: Callable[[str], str]) -> Callable[[str], str]:
    """Return how to strike a row that is not struck yet: two strikes open a code block."""
    return lambda row: row if "~~" in row else strike(row)


def under(title: str, words: str) -> Callable[[str], str]:
    """Return how to write a line below a heading, which may be new."""
    return lambda page: (
        page.replace(f"\n## {title}\n\n", f"\n## {title}\n\n{words}\n", 1)
        if f"\n## {title}\n" in page
        else f"{page}\n## {title}\n\n{words}\n"
    )


def moved(words: str, title: str) -> Callable[[str], str]:
    """Return how to move a line below another heading."""

    def do(page: str) -> str:
        row = next((one for one in page.splitlines() if words in one), "")
        return under(title, row)(page.replace(f"{row}\n", "")) if row else page

    return do


def without_mark(row: str) -> str:
    return re.sub(r" \^k\w+", "", row)


def wrapped(page: str, width: int = 40) -> str:
    """Return a page as `prettier --prose-wrap always` leaves it."""
    return "".join(
        textwrap.fill(row, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False) + "\n"
        if row.startswith("- ")
        else f"{row}\n"
        for row in page.splitlines()
    )


def spaced(page: str) -> str:
    """Return a page as prettier, mdformat and Obsidian's linter leave it: with blank lines around headings."""
    page = re.sub(r"^---\n(# .*)", r"---\n\n\1", page, flags=re.MULTILINE)
    return re.sub(r"\n*\n(#+ .*)\n+", r"\n\n\1\n\n", page).rstrip() + "\n"


ACTS = {
    "reword": Act(put("8080", "9090"), {"The gateway listens on port 9090.": PORT}, (PORT,)),
    "reword in another case": Act(put("SQLite", "SQLITE"), {"Use SQLITE for the cache.": CACHE}),
    "delete": Act(line(PORT, lambda _: ""), gone=(PORT,)),
    "move under another heading": Act(moved(PORT, "Decisions"), {PORT: PORT}),
    "move under a heading of their own": Act(moved(PORT, "Doors"), {PORT: PORT}),
    "nest": Act(line(PORT, lambda row: f"- Of the gateway:\n  {row}"), {PORT: PORT}),
    "quote": Act(line(PORT, lambda row: f"> {row}"), {PORT: PORT}),
    "tick": Act(line(MARA, put("[ ]", "[x]")), gone=(MARA,)),
    "cancel": Act(line(MARA, put("[ ]", "[-]")), gone=(MARA,)),
    "strike": Act(line(CACHE, once(put(f"Decision: {CACHE}", f"~~Decision: {CACHE}~~"))), gone=(CACHE,)),
    "strike the words alone": Act(line(CACHE, once(put(CACHE, f"~~{CACHE}~~"))), gone=(CACHE,)),
    "a labelled line": Act(under("Facts", "* **fact**: The gateway is grey."), {"The gateway is grey.": "new"}),
    "a labelled line, wrapped": Act(
        under("Facts", "- Fact: The gateway\n  is grey."), {"The gateway is grey.": "new"}
    ),
    "a task without a label": Act(under("Next steps", "- [ ] Paint the gateway"), gone=("Paint the gateway",)),
    "prose": Act(put("# Alpha\n", "# Alpha\n\nFact: no item.\n\n1. Fact: nor this.\n"), gone=("no item.", "nor this.")),
    "a goal": Act(under("Goals", "- Be in Bergen by May."), {"Be in Bergen by May.": "new", GOAL: GOAL}),
    "a question": Act(under("Open questions", "* Who paints it?"), {"Who paints it?": "new"}),
    "a procedure": Act(under("How to", "- Paint twice, then wait."), {"Paint twice, then wait.": "new"}),
    "a bullet elsewhere": Act(under("Doors", "- The gateway is grey."), gone=("The gateway is grey.",)),
    "a question moves to the facts": Act(moved(ASKED, "Facts"), {ASKED: ASKED}),
    "a due day": Act(put("2026-03-20", "2026-04-01"), due="2026-04-01"),
    "a due day of the Tasks plugin": Act(put("(due 2026-03-20)", "📅 2026-04-01"), due="2026-04-01"),
    "a due day of Dataview": Act(put("(due 2026-03-20)", "[due:: 2026-04-01]"), due="2026-04-01"),
    "copy a line": Act(line(PORT, lambda row: row + row), {PORT: PORT}, told="repeats"),
    "duplicate, then edit the second": Act(
        line(PORT, lambda row: row + row.replace("8080", "9090")),
        {PORT: PORT, "The gateway listens on port 9090.": "new"},
    ),
    "duplicate, then edit the first": Act(
        line(PORT, lambda row: row.replace("8080", "9090") + row),
        {PORT: PORT, "The gateway listens on port 9090.": "new"},
    ),
    "drop the id": Act(line(PORT, without_mark), {PORT: PORT}),
    "drop all ids": Act(without_mark, {one: one for one in (*ALL, GOAL, ASKED, BEA)}),
    "type behind the id": Act(line(PORT, put("\n", " It is old.\n")), {f"{PORT} It is old.": PORT}, (PORT,)),
    "a block id of their own": Act(line(PORT, put("\n", " ^port\n")), {PORT: PORT}),
    "take the label away": Act(put("Fact: ", ""), {PORT: PORT}),
    "format": Act(put("SQLite", "**SQLite**"), {"Use **SQLite** for the cache.": CACHE}),
    "prettier, mdformat, Obsidian's linter": Act(spaced, {one: one for one in (*ALL, GOAL, ASKED, BEA)}),
    "wrap": Act(wrapped, {one: one for one in (*ALL, GOAL, ASKED, BEA)}),
    "stars for bullets": Act(partial(re.sub, "^- ", "* ", flags=re.MULTILINE), {one: one for one in ALL}),
    "Windows line ends": Act(put("\n", "\r\n"), {one: one for one in ALL}),
    "trailing blanks": Act(put("\n", "  \n"), {one: one for one in ALL}),
    "a line from another memory": Act(
        under("Facts", "- Fact: The safe opens with 1234. ^kdeadbeef"), gone=("The safe opens with 1234.",), asks=1
    ),
}  # fmt: skip


def first(memory: Memory) -> None:
    night(memory, "2026-03-10", *LINES, *OWNED)


@pytest.fixture
def begun(once: Callable[[Callable[[Memory], object]], Memory]) -> Memory:
    """Return a memory with an item of every kind."""
    return once(first)


@pytest.mark.parametrize("name", ACTS)
def test_a_page_may_be_edited(begun: Memory, name: str) -> None:
    act, before = ACTS[name], items(begun)
    (begun.root / ALPHA).write_bytes(act.do(begun.read(ALPHA)).encode())
    said = night(begun, NEXT)
    after, ids = items(begun, "live", "open"), {one["id"] for one in before.values()}
    assert {text: after[text]["id"] for text, of in act.held.items() if of != "new"} == {
        text: before[of]["id"] for text, of in act.held.items() if of != "new"
    }
    assert all(after[text]["id"] not in ids for text, of in act.held.items() if of == "new")
    assert not set(act.gone) & after.keys()
    same = before.keys() - act.gone - {of for text, of in act.held.items() if text != of}
    assert {text: after[text] | {"due": None} for text in same} == {text: before[text] | {"due": None} for text in same}
    assert after[ODILE]["due"] == act.due
    assert (act.told in said, len(waiting(begun))) == (True, act.asks)
    files = begun.files()
    night(begun, NEXT)
    assert begun.files() == files


def test_an_item_that_stood_in_code_is_there_again_with_all_that_was_known_of_it(begun: Memory) -> None:
    before, page = items(begun), begun.read(ALPHA)
    begun.write(ALPHA, line(PORT, lambda row: f"```\n{row}```\n")(page))
    night(begun, NEXT)
    assert "where no item can be" in begun.curate("check", exits=1)
    begun.write(ALPHA, page)
    night(begun, THIRD)
    assert items(begun) == before


def test_a_page_of_another_memory_is_one_question(begun: Memory) -> None:
    rows = "- Fact: The safe opens with 1234. ^kdeadbeef\n- Fact: The key is under the mat. ^kdeadbee0\n"
    begun.write("Projects/beta.md", f"# Beta\n\n## Facts\n\n{rows}")
    night(begun, NEXT)
    assert "The safe opens with 1234." not in held(begun)
    assert len(waiting(begun)) == 1


@pytest.mark.parametrize("lost", ["row", "file", "State/items", "State"])
def test_a_ledger_that_is_lost_comes_from_git(begun: Memory, lost: str) -> None:
    before = items(begun)
    (ledger,) = begun.root.glob("State/items/*.jsonl")
    if lost == "row":
        ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[1:]))
    elif lost == "file":
        ledger.unlink()
    else:
        shutil.rmtree(begun.root / lost)
    assert items(begun) == before
    night(begun, NEXT, "Fact: The sea is cold.")
    after = items(begun)
    assert after.pop("The sea is cold.")
    assert after == before
    assert waiting(begun) == []


def test_a_run_that_git_reverts_is_taken_back_for_good(begun: Memory) -> None:
    before = items(begun)
    night(begun, NEXT, "Fact: The sea is cold.", f"Done: {MARA}")
    begun.git("revert", "--no-edit", "HEAD")
    begun.curate("pin", ident(begun, PORT), "--now", f"{THIRD}T01:00")
    begun.curate("undo", "--now", f"{THIRD}T01:30")
    for day in (THIRD, "2026-03-13"):
        night(begun, day, "Fact: The sea is cold.")
        assert items(begun) == before


_LOSING = {"drop the id", "drop all ids"}
_STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(ACTS.keys() - {"delete", "Windows line ends"})), st.booleans()),
    min_size=2,
    max_size=5,
)


def edited(begun: Memory, steps: list[tuple[str, bool]]) -> None:
    """Do some acts in a copy of a memory, with runs between them, and check that each item is there once.

    A run stands between an edit and the loss of a mark: who changes the words and the mark together has deleted.
    """
    with tempfile.TemporaryDirectory() as folder:
        memory = begun.aside(Path(folder) / "memory")
        shutil.copytree(begun.root, memory.root, symlinks=True)
        ids, last = {one["id"] for one in items(memory).values()}, ""
        for name, runs in steps:
            if last and not {name, last}.isdisjoint(_LOSING):
                night(memory, NEXT)
            (memory.root / ALPHA).write_bytes(ACTS[name].do(memory.read(ALPHA)).encode())
            last = name
            if runs:
                night(memory, NEXT)
                last = ""
        night(memory, NEXT)
        there = [one["id"] for one in asked(memory, "items")]
        assert sorted(one for one in there if one in ids) == sorted(ids)
        assert len(there) == len(set(there))


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(_STEPS)
def test_no_edits_lose_an_item_or_double_it(begun: Memory, steps: list[tuple[str, bool]]) -> None:
    edited(begun, steps)


@pytest.mark.torture
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(_STEPS)
def test_no_edits_lose_an_item_or_double_it_at_length(begun: Memory, steps: list[tuple[str, bool]]) -> None:
    edited(begun, steps)
