"""A line that names an item's value beside a new one offers the pair, in any language, and strikes nothing true.

Part `unseen` of the data was written before the code, and not looked at until the code was done.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.store.item import Item, ItemType, Trust
from tests.cli.test_review import typed
from tests.making import candidate
from tests.review.ruling import GENERAL, context, rulings, told
from tests.store.test_acts import HUMAN, user
from tests.view.browsing import Browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Memory, Once

DATA = Path(__file__).parents[1]
ROWS = [
    line.split(" | ")
    for line in (DATA / "data/replacements.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
DISTINCT = [line.split(" | ") for line in (DATA / "review/distinct_pairs.txt").read_text().splitlines() if line]
DISTINCT += [[old, new] for part, _, _, old, new in ROWS if part == "distinct"]
FIRST, SECOND, THIRD = (("run", "--now", f"2026-03-{day}T02:00") for day in (12, 13, 14))


def said(memory: Memory, *arguments: str) -> Any:
    return json.loads(memory.curate(*arguments, "--json"))


def log(memory: Memory, day: int, *lines: str) -> None:
    memory.write(f"Logs/2026-03-{day}.md", "project: Tidewater\n\n" + "".join(f"- {line}\n" for line in lines))


def offered(memory: Memory) -> list[tuple[str, str]]:
    """Return what each question of the kind offers to replace, and by what."""
    texts = {one["id"]: one["text"] for one in said(memory, "items")}
    asked = [one for one in said(memory, "review") if one["kind"] == "replaced"]
    named = [re.findall(r"k[0-9a-f]{8,}", one["title"] + one["choices"][0]["means"]) for one in asked]
    return [(texts[old], texts[new]) for old, new in named]


def status(memory: Memory) -> dict[str, str]:
    return {one["text"]: one["status"] for one in said(memory, "items")}


# ---------------------------------------------------------------- how many of them, and how many wrong ones


@pytest.mark.parametrize(("part", "least"), [("seen", 38), ("unseen", 31)])
def test_most_explicit_replacements_are_offered_in_every_language(memory: Memory, part: str, least: int) -> None:
    pages = defaultdict[str, list[list[str]]](list)
    for of, language, *row in ROWS:
        if of == part:
            pages[language].append(row)
    for number, column in enumerate((1, 2)):
        lines = [f"- [project: {page}] {row[0]}: {row[column]}\n" for page, rows in pages.items() for row in rows]
        memory.write(f"Logs/2026-03-{11 + number}.md", "".join(lines))
        memory.curate(*(FIRST, SECOND)[number])
    pairs = {(old, new) for rows in pages.values() for _, old, new in rows}
    found = offered(memory)
    assert len(pages) >= 3
    assert len(pairs) == 40
    assert len(found) == len(set(found) & pairs) >= least
    assert set(status(memory).values()) <= {"live", "open"}, "without the owner's word nothing ends"


@pytest.mark.parametrize("word", [Trust.SELF, Trust.OWNER])
def test_what_is_true_beside_another_is_never_struck_or_merged(word: Trust) -> None:
    ruled, offers = [], 0
    for pair in DISTINCT:
        for old, new in (pair, reversed(pair)):
            held = Item(ItemType.DECISION, old, "k1111111111", since="2026-03-01", trust=Trust.SELF)
            [ruling] = rulings([replace(candidate(new), trust=word)], context([(GENERAL, held)], word=word))
            ruled += told([ruling])
            offers += ruling.offers != ""
    assert len(DISTINCT) >= 250
    assert {kind for kind, _ in ruled} == {"add"}
    assert 0 < offers <= 0.03 * len(ruled)


@pytest.mark.parametrize(
    ("held", "line"),
    [
        (
            ["Decision: Unit tests run with Jest.", "Decision: Snapshots of the old shop were made with Jest."],
            "Decision: Unit tests run with Vitest instead of Jest.",
        ),
        (["Fact: Unit tests run with Jest."], "Decision: Vitest instead of Jest."),
        (["Decision: Unit tests run with Jest."], "Decision: Unit tests run with Jest. Lint runs with Biome."),
        (["Fact: Anna lives in Bern."], "Fact: Bruno lives in Bern."),
        (["Fact: A day costs 95 EUR."], "Fact: A day costs 105 EUR from January."),
        (["Fact: The van is parked at Dock 4."], "Fact: Dock 4 is next to Dock 6."),
    ],
)
def test_nothing_is_offered(memory: Memory, held: list[str], line: str) -> None:
    log(memory, 11, *held)
    memory.curate(*FIRST)
    log(memory, 12, line)
    memory.curate(*SECOND)
    assert [one for one in said(memory, "review") if one["kind"] != "pair"] == []
    assert set(status(memory).values()) == {"live"}


@pytest.mark.parametrize("page", ["[project: Tidewater] ", ""])
def test_a_page_offers_nothing_of_another(memory: Memory, page: str) -> None:
    memory.write("Logs/2026-03-11.md", f"- {page}Decision: Unit tests run with Jest.\n")
    memory.curate(*FIRST)
    memory.write("Logs/2026-03-12.md", "project: Kestrel\n\n- Decision: Vitest instead of Jest.\n")
    memory.curate(*SECOND)
    assert said(memory, "review") == []


# ---------------------------------------------------------------- the question and its answers

OLD, NEW = "Unit tests run with Jest.", "Vitest instead of Jest."


def two_nights(memory: Memory) -> None:
    log(memory, 11, f"Decision: {OLD}")
    memory.curate(*FIRST)
    log(memory, 12, f"Decision: {NEW}")
    memory.curate(*SECOND)
    assert offered(memory) == [(OLD, NEW)]


@pytest.fixture
def asked(once: Once) -> Memory:
    return once(two_nights)


def by_command(memory: Memory) -> None:
    memory.curate("review", said(memory, "review")[0]["id"], "--accept", "--now", "2026-03-13T09:00")


def by_tick(memory: Memory) -> None:
    memory.write("Review.md", memory.read("Review.md").replace("- [ ] replace", "- [x] replace"))
    memory.curate(*THIRD)


def on_the_page(memory: Memory) -> None:
    Browser(memory).enter().post("/do", verb="review", id=said(memory, "review")[0]["id"], choice="replace")


def by_key(memory: Memory) -> None:
    assert "[1] replace" in typed(memory, "1")


@pytest.mark.parametrize("answer", [by_command, by_tick, on_the_page, by_key])
def test_a_yes_gives_the_old_one_a_successor(asked: Memory, answer: Callable[[Memory], None]) -> None:
    assert status(asked) == {OLD: "live", NEW: "live"}, "a guess hides nothing"
    answer(asked)
    assert status(asked) == {OLD: "superseded", NEW: "live"}
    [old, new] = sorted(said(asked, "items"), key=lambda one: one["text"])
    assert old["superseded_by"] == new["id"]
    assert said(asked, "review") == []
    assert "nothing is broken" in asked.curate("check")


def test_a_no_keeps_both_and_nobody_is_asked_again(asked: Memory) -> None:
    asked.curate("review", said(asked, "review")[0]["id"], "--reject", "--now", "2026-03-13T09:00")
    log(asked, 13, f"Decision: {NEW}")
    asked.curate(*THIRD)
    assert status(asked) == {OLD: "live", NEW: "live"}
    assert said(asked, "review") == []


@pytest.mark.parametrize("line", [f"No longer: {OLD}", f"No longer: {NEW}", f"Decision: {OLD}"])
def test_a_later_line_takes_the_question_back(asked: Memory, line: str) -> None:
    log(asked, 13, line)
    asked.curate(*THIRD)
    assert said(asked, "review") == []


@pytest.mark.parametrize("over", [OLD, NEW])
def test_what_a_later_day_of_the_run_answers_is_not_asked(memory: Memory, over: str) -> None:
    for day, line in enumerate((f"Decision: {OLD}", f"Decision: {NEW}", f"No longer: {over}"), 11):
        log(memory, day, line)
    memory.curate(*THIRD)
    assert sorted(status(memory).values()) == ["ended", "live"]
    assert said(memory, "review") == []


def test_the_new_one_said_again_answers_nothing(asked: Memory) -> None:
    log(asked, 13, f"Decision: {NEW}")
    asked.curate(*THIRD)
    assert offered(asked) == [(OLD, NEW)]


@pytest.mark.parametrize("text", [OLD, NEW])
@pytest.mark.parametrize("verb", ["end", "forget"])
def test_a_verb_on_either_takes_it_back(asked: Memory, text: str, verb: str) -> None:
    ident = next(one["id"] for one in said(asked, "items") if one["text"] == text)
    asked.curate(verb, ident, *["--yes"] * (verb == "forget"), "--now", "2026-03-13T09:00")
    assert said(asked, "review") == []


def test_an_item_that_ended_meanwhile_is_not_struck(asked: Memory) -> None:
    page, line = asked.read("Projects/tidewater.md"), f"- Decision: {NEW}"
    asked.write("Projects/tidewater.md", page.replace(line, f"- ~~Decision: {NEW}~~"))
    said_so = asked.curate("review", said(asked, "review")[0]["id"], "--accept", "--now", "2026-03-13T09:00")
    assert "no longer as it was when it was asked; nothing was changed" in said_so
    assert status(asked)[OLD] == "live"


# ---------------------------------------------------------------- the owner's word, and corrections


@pytest.mark.parametrize(
    ("held", "line", "becomes"),
    [
        ("The site is built with Jekyll.", "The site is built with Hugo, no longer Jekyll.", "superseded"),
        ("Die Frist endet am 12. Mai.", "Die Frist endet am 26. Mai, nicht am 12. Mai.", "superseded"),
        (OLD, NEW, "live"),  # it does not say all that the old one says
        ("Send Odile the price list.", "Send Odile and Bernard the invoice.", "live"),
    ],
)
def test_the_owner_s_word_replaces_what_it_repeats_but_for_the_value(
    memory: Memory, tmp_path: Path, held: str, line: str, becomes: str
) -> None:
    memory.write("Logs/2026-03-11.md", f"- Decision: {held}\n")
    memory.curate(*FIRST)
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps(user(f"Decision: {line}", timestamp="2026-03-12T09:00:00Z", **HUMAN)) + "\n")
    memory.curate("capture", str(source), "--now", "2026-03-12T10:00")
    memory.curate(*SECOND)
    assert status(memory) == {held: becomes, line: "live"}


@pytest.mark.parametrize(
    ("held", "line", "text"),
    [
        ("Unit tests run with Jest.", "Vitest statt Jest", "Unit tests run with Vitest."),
        ("Use `npm` for installs.", "Install with `pnpm`, never with `npm`", "Use `pnpm` for installs."),
        ("Die Frist endet am 12. Mai.", "Die Frist endet am 26. Mai, nicht am 12. Mai", "Die Frist endet am 26. Mai."),
        ("会議は10:00から始まる。", "会議は10:00ではなく13:30から始まる", "会議は13:30から始まる。"),
        (
            "O site usa WordPress.",
            "o site vai usar Astro em vez de WordPress",
            "O site vai usar Astro em vez de WordPress",
        ),
        ("A farinha vem do Moinho Globo.", "farinha: Anaconda no lugar do Moinho Globo", ""),
    ],
)
def test_a_correction_gives_the_value_in_any_language(memory: Memory, held: str, line: str, text: str) -> None:
    log(memory, 11, f"Fact: {held}", "Fact: The kettle leaks.")
    memory.curate(*FIRST)
    log(memory, 12, f"Correction: {line}")
    memory.curate(*SECOND)
    new = text or f"{line[:1].upper()}{line[1:]}"
    assert status(memory) == {held: "superseded", new: "live", "The kettle leaks.": "live"}
