"""A line that names an item's value beside a new one offers the pair, in any language; a correction replaces it.

Part `unseen` of the data was written before the code, and not looked at until the code was done.
"""

import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.review.match_forms import replaced_in
from pipelines.store.item import Item, ItemType, Trust
from tests.conftest import Memory
from tests.making import candidate
from tests.review.ruling import GENERAL, context, rulings, told
from tests.store.test_acts import HUMAN, user

DATA = Path(__file__).parents[1]
ROWS = [
    line.split(" | ")
    for line in (DATA / "data/replacements.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
DISTINCT = [line.split(" | ") for line in (DATA / "review/distinct_pairs.txt").read_text().splitlines() if line]
DISTINCT += [[old, new] for part, _, _, old, new in ROWS if part == "distinct"]
FIRST, SECOND = (("run", "--now", f"2026-03-{day}T02:00") for day in (12, 13))


def said(memory: Memory, *arguments: str) -> Any:
    return memory.json(*arguments)


def log(memory: Memory, day: int, *lines: str) -> None:
    memory.write(f"Logs/2026-03-{day}.md", "project: Tidewater\n\n" + "".join(f"- {line}\n" for line in lines))


def status(memory: Memory) -> dict[str, str]:
    return {one["text"]: one["status"] for one in said(memory, "items")}


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
    texts = {one["id"]: one["text"] for one in said(memory, "items")}
    asked = [
        re.findall(r"k[0-9a-f]{8,}(?= since)", one["why"]) for one in said(memory, "review") if one["kind"] == "pair"
    ]
    found = {(texts[old], texts[new]) for new, old in asked}
    pairs = {(old, new) for rows in pages.values() for _, old, new in rows}
    assert len(pages) >= 3
    assert len(pairs) == 40
    assert len(found & pairs) >= least
    assert set(status(memory).values()) <= {"live", "open"}, "without the owner's word nothing ends"


@pytest.mark.parametrize("word", [Trust.SELF, Trust.OWNER])
def test_what_is_true_beside_another_is_never_struck_or_merged(word: Trust) -> None:
    ruled = []
    for old, new in (pair for one in DISTINCT for pair in (one, one[::-1])):
        held = Item(ItemType.DECISION, old, "k1111111111", since="2026-03-01", trust=Trust.SELF)
        ruled += told(rulings([replace(candidate(new), trust=word)], context([(GENERAL, held)], word=word)))
    assert {kind for kind, _ in ruled} == {"add"}


def test_what_is_true_beside_another_is_seldom_offered() -> None:
    pairs = [pair for one in DISTINCT for pair in (one, one[::-1])]
    offers = sum(bool(replaced_in(new, [Item(ItemType.DECISION, old, "k1")])) for old, new in pairs)
    assert len(DISTINCT) >= 250
    assert 0 < offers <= 0.03 * len(pairs)


def test_the_pair_is_offered_and_nothing_ends(memory: Memory) -> None:
    old, new = "Unit tests run with Jest.", "Vitest instead of Jest."
    log(memory, 11, f"Decision: {old}", "Decision: Lint runs with Biome.")
    memory.curate(*FIRST)
    log(memory, 12, f"Decision: {new}")
    memory.curate(*SECOND)
    [asked] = said(memory, "review")
    assert asked["kind"] == "pair"
    assert old in asked["why"]
    assert status(memory)[old] == "live"


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


@pytest.mark.parametrize(
    ("held", "line", "becomes"),
    [
        ("The site is built with Jekyll.", "The site is built with Hugo, no longer Jekyll.", "superseded"),
        ("Die Frist endet am 12. Mai.", "Die Frist endet am 26. Mai, nicht am 12. Mai.", "superseded"),
        ("Unit tests run with Jest.", "Vitest instead of Jest.", "live"),  # it does not say all that the old one says
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
