"""`curate forget`: gone from everything but git's history, for good, and nothing is read anew."""

import json
from pathlib import Path

from tests.agents.test_owner_acts import NOW, captured
from tests.asking import ALPHA, NEW, ask_contradict, first_night, items, night
from tests.conftest import Memory
from tests.store.test_acts import HUMAN, user

FACT, NEW_TEXT = "The port of the gateway is 8080", "The port of the gateway is 9090"
WORDS = "Anna told us that she is ill since May"
LOG = (
    "project: Alpha\n\n"
    "- 09:00 a walk\n"
    f"- 09:10 Fact: {WORDS}. <!-- Sessions/2026-03-10/s.jsonl#L2~0123abcd -->\n"
    "- 09:20 Decision: Use SQLite for the readings\n\n"
    "# Later\n\n"
    f"as said, {WORDS.lower()}, so the work goes to Bob\n"
)


def told(memory: Memory) -> str:
    """Let a memory learn something that it shall forget, and return its id."""
    memory.write("Logs/2026-03-10.md", LOG)
    memory.write("Sessions/2026-03-10/s.jsonl", json.dumps({"a": 1}) + "\n" + json.dumps({"text": WORDS}) + "\n")
    memory.night("2026-03-11T02:00")
    return next(str(item["id"]) for text, item in items(memory).items() if "Anna" in text)


def holding(memory: Memory, words: str) -> list[str]:
    """Return the files of a memory, git's aside, that hold some words."""
    files = [file for file in memory.root.rglob("*") if file.is_file() and ".git" not in file.parts]
    return sorted(str(f.relative_to(memory.root)) for f in files if words.encode().lower() in f.read_bytes().lower())


def test_it_goes_from_a_log_whose_lines_end_as_on_an_old_mac(memory: Memory) -> None:
    (memory.root / "Logs/2026-03-10.md").write_bytes(LOG.replace("\n", "\r").encode())
    memory.night("2026-03-11T02:00")
    ident = next(str(item["id"]) for text, item in items(memory).items() if "Anna" in text)
    said = memory.curate("forget", ident[:7], "--yes", "--now", "2026-03-12T09:00")
    assert f"Forgot {ident} of {ALPHA}: blanked 2 log lines" in said
    assert holding(memory, "Anna told") == []
    assert len(memory.read("Logs/2026-03-10.md").splitlines()) == len(LOG.splitlines())
    assert "Use SQLite for the readings\n" in memory.read("Logs/2026-03-10.md")
    assert "nothing is broken" in memory.curate("check")


def test_it_goes_from_everything_but_history_and_what_is_left_is_named(memory: Memory) -> None:
    ident = told(memory)
    memory.write(".curate/replies/a.json", json.dumps({"text": json.dumps({"items": [f"“{WORDS}”"]})}))
    said = memory.curate("forget", ident[:7], "--yes", "--now", "2026-03-12T09:00")
    assert f"Forgot {ident} of {ALPHA}: blanked 2 log lines." in said
    assert "Note: Sessions/2026-03-10/s.jsonl:2 still has its words" in said
    assert "`git filter-repo --replace-text` rewrites that" in said
    assert holding(memory, "Anna told") == ["Sessions/2026-03-10/s.jsonl"]
    assert memory.git("log", "-1", "--format=%s") == f"Forget {ident}\n"
    for run in memory.json("runs"):
        assert "Anna" not in memory.curate("runs", run["run"])
    assert "Anna" not in memory.git("log", "-1", "--format=%B")
    assert memory.git("status", "--porcelain") == ""
    assert "nothing is broken" in memory.curate("check")


def test_the_items_that_lose_a_line_and_the_records_behind_it_are_named(memory: Memory, tmp_path: Path) -> None:
    captured(memory, tmp_path, user("Never push to main. Always sign every commit.", **HUMAN))
    memory.curate("run", *NOW)
    page = memory.read("MEMORY.md").replace("Always sign every commit", "Each commit is signed")
    memory.write("MEMORY.md", page)  # reworded, so that the transcript has other words
    other = items(memory)["Never push to main."]["id"]
    note = f"Note: {other} rests on a line that goes, too: Rule: Never push to main."
    assert note in memory.curate("forget", "commit is signed", exits=2)
    said = memory.curate("forget", "commit is signed", "--yes", *NOW)
    assert note in said
    assert "Note: Sessions/2026-03-18/claude-code-s1.jsonl:1 still has its words" in said


def test_an_open_day_stays_read_too(memory: Memory) -> None:
    memory.write("Logs/2026-03-11.md", LOG)
    memory.night("2026-03-11T20:00")
    ident = next(str(item["id"]) for text, item in items(memory).items() if "Anna" in text)
    memory.curate("forget", ident, "--yes", "--now", "2026-03-11T21:00")
    memory.write("Logs/2026-03-11.md", memory.read("Logs/2026-03-11.md") + "\n- Fact: The pump hums at 50 Hz\n")
    report = memory.json("run", "--now", "2026-03-11T22:00")
    assert report["entries"]["read"] == 1


def test_what_else_an_unread_entry_says_is_read(memory: Memory) -> None:
    ident = told(memory)
    memory.write("Logs/2026-03-11.md", f"# d\n\n- Decision: Use brass.\n  - Fact: {WORDS}\n  - Todo: Oil the hinge\n")
    memory.curate("forget", ident, "--yes", "--now", "2026-03-11T09:00")
    memory.night("2026-03-12T02:00")
    assert {"Use brass.", "Oil the hinge"} <= items(memory).keys()
    assert not [text for text in items(memory) if "Anna" in text]


def test_links_to_it_and_questions_about_it_go(memory: Memory) -> None:
    old = str(first_night(memory)[FACT]["id"])
    ask_contradict(memory, old)
    memory.write("Review.md", memory.read("Review.md").replace("Why it is asked.", f"Against {old}: {FACT}."))
    night(memory, 13)
    memory.curate("review", NEW, "--accept", "--now", "2026-03-13T10:00")
    assert f"removed links from {NEW}" in memory.curate("forget", old, "--yes")
    assert items(memory)[NEW_TEXT]["links"] == {}
    assert "nothing is broken" in memory.curate("check")
    memory.curate("forget", NEW, "--yes")
    assert NEW_TEXT not in items(memory)
    assert holding(memory, "port of the gateway") == []


def test_a_question_against_what_is_forgotten_stays_without_its_words(memory: Memory) -> None:
    old = str(first_night(memory)[FACT]["id"])
    ask_contradict(memory, old)
    memory.write("Review.md", memory.read("Review.md").replace("Why it is asked.", f"Against {old}: {FACT}."))
    night(memory, 13)
    memory.curate("forget", old, "--yes")
    assert holding(memory, FACT) == []
    assert "[forgotten]" in memory.read("Review.md")
    memory.curate("review", NEW, "--accept")
    assert items(memory)[NEW_TEXT]["status"] == "live"


def test_what_a_person_wrote_themselves_is_named_and_left(memory: Memory) -> None:
    ident = told(memory)
    memory.write("Areas/people.md", f"# People\n\n{WORDS}, so call her.\n")
    memory.write("Journal/may.txt", f"{WORDS}\n")
    said = memory.curate("forget", ident, "--yes")
    assert "Note: Journal/may.txt:1 still has its words" in said
    assert "Note: Areas/people.md:3 still has its words" in said
    assert WORDS in memory.read("Areas/people.md")


def test_a_note_with_backslashes_is_named_too(memory: Memory) -> None:
    words = r"The backup of the harbor lies in C:\temp\new on vm2"
    memory.day("2026-03-10", f"- Fact: {words}\n")
    memory.write("Journal/may.txt", f"{words}\n")
    said = memory.curate("forget", str(items(memory)[words]["id"]), "--yes")
    assert "Note: Journal/may.txt:1 still has its words" in said


def test_it_asks_first_and_an_unknown_id_is_said(memory: Memory) -> None:
    ident = told(memory)
    files = memory.files()
    assert "Give --yes" in memory.curate("forget", ident, exits=2)
    assert "No item has the id" in memory.curate("forget", "kffff", "--yes", exits=1)
    assert memory.files() == files
