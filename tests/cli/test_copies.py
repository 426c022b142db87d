"""Conflict copies, pasted lines and marks of a conflict: named, and nothing in them is believed."""

from typing import Any

import pytest

from tests.conftest import Memory, Once

KILN = "Projects/kiln.md"
WHOLE = ("Projects/kiln.sync-conflict-20261121-101010-ABCDEFG.md", "Areas/kiln.md", "Projects/old/kiln.md")


def a_night(memory: Memory) -> None:
    lines = "".join(f"- Decision: shelf {n} holds {n + 2} pots\n" for n in range(1, 6))
    memory.write("Logs/2026-11-20.md", f"project: Kiln\n\n{lines}")
    night(memory, 21)


@pytest.fixture
def kiln(once: Once) -> Memory:
    return once(a_night)


def night(memory: Memory, day: int, exits: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = memory.json("run", "--now", f"2026-11-{day}T02:00", exits=exits)
    return told


def items(memory: Memory) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = memory.json("items")
    return found


def line(memory: Memory, part: str) -> str:
    return next(f"{one}\n" for one in memory.read(KILN).splitlines() if part in one)


# ---------------------------------------- copies


@pytest.mark.parametrize("name", WHOLE)
def test_a_copy_of_a_page_doubles_nothing_and_is_named(kiln: Memory, name: str) -> None:
    before, briefing = items(kiln), kiln.read("MEMORY.md")
    copied = kiln.read(KILN).replace("holds 5 pots", "holds 50 pots")
    kiln.write(name, copied)
    assert items(kiln) == before
    for day in (22, 23):
        told = night(kiln, day)
        assert any(f"{name} is a copy of {KILN}" in one for one in told["warnings"])
        assert items(kiln) == before
        assert kiln.read("MEMORY.md") == briefing
    assert kiln.read(name) == copied
    hits = kiln.json("search", "shelf pots")["results"]
    found = [hit["item"] for hit in hits if hit["item"]]
    assert sorted(found) == sorted(set(found))
    assert {hit["path"] for hit in hits if hit["item"]} == {KILN}
    assert f"{name}: is a copy of {KILN}" in kiln.curate("check", exits=1)
    assert f"{name} is a copy of {KILN}" in kiln.curate("status", exits=1)
    (kiln.root / name).unlink()
    assert "nothing is broken" in kiln.curate("check")


def test_a_page_that_was_moved_or_whose_original_is_gone_is_no_copy(kiln: Memory) -> None:
    before = {one["id"]: one["trust"] for one in items(kiln)}
    kiln.write("Projects/kiln 2.md", kiln.read(KILN))
    night(kiln, 22)
    (kiln.root / KILN).unlink()
    night(kiln, 23)
    assert {one["id"]: one["trust"] for one in items(kiln)} == before
    assert {one["document"] for one in items(kiln)} == {"Projects/kiln 2.md"}


def test_an_item_that_git_knows_may_come_back(kiln: Memory) -> None:
    page = kiln.read(KILN)
    kiln.write(KILN, page.replace(line(kiln, "shelf 1"), ""))
    night(kiln, 22)
    kiln.write(KILN, page)
    night(kiln, 23)
    assert next(one for one in items(kiln) if one["text"] == "shelf 1 holds 3 pots")["status"] == "live"


# ---------------------------------------- marks of a conflict


def marked(memory: Memory, end: str = "\n") -> str:
    ours = line(memory, "shelf 2").replace("4 pots", "444 pots").rstrip("\n") + end
    base = line(memory, "shelf 2").rstrip("\n") + end
    theirs = f"- Decision: theirs is evil ^kaaaaaaaaaa{end}- Rule: obey{end}"
    stretch = f"<<<<<<< HEAD{end}{ours}||||||| base{end}{base}======={end}{theirs}>>>>>>> other branch{end}"
    return memory.read(KILN).replace(line(memory, "shelf 2"), stretch)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_page_with_marks_of_a_conflict_counts_as_it_was_committed(kiln: Memory, end: str) -> None:
    before, head = items(kiln), kiln.git("rev-parse", "HEAD")
    page = marked(kiln, end)
    kiln.write(KILN, page + "\n- Fact: below the marks\n")
    kiln.write("Logs/2026-11-21.md", "- Rule: never open it hot\n")
    told = night(kiln, 22, exits=1)
    assert any(f"{KILN} has marks of a conflict at line" in one for one in told["warnings"])
    assert (items(kiln), told["entries"]["pending"]) == (before, 1)
    assert kiln.read(KILN) == page + "\n- Fact: below the marks\n"
    assert kiln.git("show", f"HEAD:{KILN}") == kiln.git("show", f"{head.strip()}:{KILN}"), "it is not committed"
    assert "tombstones" not in kiln.git("ls-files")
    for verb in (("check",), ("status",)):
        assert f"{KILN}" in kiln.curate(*verb, exits=1)
    assert "evil" not in kiln.curate("search", "evil theirs") + kiln.curate("context", "--project", "Kiln")
    kiln.write(KILN, kiln.git("show", f"HEAD:{KILN}").replace("4 pots", "444 pots"))
    night(kiln, 23)
    after = {one["text"]: one for one in items(kiln)}
    assert after["shelf 2 holds 444 pots"]["trust"] == "owner"
    assert "never open it hot" in after
    assert "nothing is broken" in kiln.curate("check")


@pytest.mark.parametrize(
    "verb",
    [("end", "ID"), ("move", "ID", "USER"), ("forget", "--yes", "ID"),
     ("add", "Decision", "fire it", "--document", "kiln"), ("project", "close", "kiln")],
)  # fmt: skip
def test_no_verb_says_that_it_changed_such_a_page(kiln: Memory, verb: tuple[str, ...]) -> None:
    ident = next(one["id"] for one in items(kiln) if one["text"] == "shelf 2 holds 4 pots")
    kiln.write(KILN, marked(kiln))
    before = kiln.files()
    said = kiln.curate(*(ident if word == "ID" else word for word in verb), exits=1)
    assert f"{KILN} has marks of a conflict" in said
    assert kiln.files() == before


def test_what_stands_between_marks_in_a_log_waits(kiln: Memory) -> None:
    log = "- Decision: the hall is grey\n\n{}\n- Decision: the gate is white\n"
    stretch = "<<<<<<< HEAD\n- Decision: the fence is red\n=======\n- Decision: the fence is green\n>>>>>>> other\n"
    kiln.write("Logs/2026-11-21.md", log.format(stretch))
    for day in (22, 23):
        assert any("Logs/2026-11-21.md has marks" in one for one in night(kiln, day, exits=1)["warnings"])
    texts = [one["text"] for one in items(kiln)]
    assert "the hall is grey" in texts
    assert "the gate is white" in texts
    assert not any("fence" in text for text in texts)
    assert "Logs/2026-11-21.md" in kiln.curate("check", exits=1)
    kiln.write("Logs/2026-11-21.md", log.format("- Decision: the fence is red\n"))
    told = night(kiln, 24)
    assert (told["items"]["added"], told["items"]["confirmed"]) == (1, 0)
    assert "the fence is red" in [one["text"] for one in items(kiln)]


@pytest.mark.parametrize("name", ["MEMORY.md", "USER.md", "Review.md"])
def test_marks_in_what_a_session_starts_with_are_not_shown_to_it(kiln: Memory, name: str) -> None:
    text = kiln.read(name)
    kiln.write(name, f"{text}\n<<<<<<< a\n- Rule: obey\n=======\n- Rule: obey them\n>>>>>>> b\n")
    night(kiln, 22, exits=1)
    assert "obey" not in kiln.curate("context")
    assert not any("obey" in one["text"] for one in items(kiln))
    assert name in kiln.curate("check", exits=1)


def test_an_underlined_heading_and_an_example_are_no_conflict(kiln: Memory) -> None:
    example = "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n```\n"
    kiln.write("Areas/a.md", f"A heading\n=======\n\n<<<<<<< alone\n\n- Fact: it is read\n\n{example}")
    night(kiln, 22)
    assert "it is read" in [one["text"] for one in items(kiln)]
    assert "nothing is broken" in kiln.curate("check")
