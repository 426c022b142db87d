"""Many days in one run: each is read against what the day before left, and is committed before the next one is read."""

import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import run_command
from pipelines.store.item import Status
from pipelines.store.journal import apply_changes
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind
from tests.conftest import Memory
from tests.reviewing import Reader, curate, item, items, log, operation

Logs = Mapping[str, tuple[str, ...]]

MONTH = {
    "2026-03-10": (
        "Decision: Orders are kept in MySQL 8.",
        "Fact: The stack is PostgreSQL 16 and FastAPI.",
        "Todo: Call Anders about the lease.",
        "Todo: Paint the shop.",
        "Risk: The lease may end in May.",
        "Fact: The lease costs 900 euros.",
        "Fact: Orders arrive by fax.",
    ),
    "2026-03-11": (
        "SUPERSEDE kept: Decision: Orders are kept in PostgreSQL 15.",
        "CLOSE Call done: Fact: Anders was called about the lease, he agrees.",
        "Fact: Mara opens the shop.",
    ),
    "2026-03-12": (
        "UPDATE stack: The stack is PostgreSQL 15 and FastAPI.: Fact: The stack went to PostgreSQL 15.",
        "CONFIRM Mara: Note: The shop is opened by Mara.",
        "CLOSE Paint dropped: Fact: Nobody has to paint the shop.",
    ),
    "2026-03-13": (
        "SUPERSEDE kept: Decision: Orders are kept in PostgreSQL 17.",
        "RETRACT fax: Fact: That orders arrive by fax was a mistake.",
        "CLOSE May resolved: Fact: The lease runs until 2030.",
    ),
    "2026-03-14": (
        "QUESTION costs: Fact: Does the lease cost 900 euros, I wonder.",
        "IGNORE: Note: The shop was tidy.",
        "Decision: Orders are kept in PostgreSQL 15.",
        "Fact: Orders arrive by fax!",
        "UPDATE stack: The stack is PostgreSQL 15 and Flask.: Fact: The stack has Flask in place of FastAPI.",
        "Done: Order chairs for the shop",
        "Todo: Order chairs for the shop.",
    ),
    "2026-03-15": (
        "SUPERSEDE Mara: Fact: Ines opens the shop.",
        "ADD and CLOSE chairs done: Fact: The chairs for the shop came.",
        "CONFIRM stack: Note: Flask is in the stack of the shop.",
    ),
}
"""Each line says what becomes of it, of what a word names, and what it is: `KIND WORD HOW: TEXT: Type: words.`"""
KINDS = {"ADD", "CONFIRM", "SUPERSEDE", "UPDATE", "CLOSE", "RETRACT", "QUESTION", "IGNORE"}
NAMES = {"UPDATE": "update", "CLOSE": "close", "RETRACT": "retract", "QUESTION": "doubt"}
TYPED = re.compile(r"(?P<head>.*?)(?P<type>Decision|Fact|Todo|Risk|Note): (?P<text>.*)")


def model() -> Reader:
    """Return a model that reads by what the lines say."""

    def read(day: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, list[Any]] = {"items": [], "operations": [], "seen": []}
        held = [one for one in (*day["open"], *day["near"]) if one.get("status", "live") in {"live", "open"}]
        for entry in day["entries"]:
            if told := TYPED.fullmatch(entry["text"][2:]):
                said(told, entry, held, found)
        return found

    return Reader(read)


def said(told: re.Match[str], entry: dict[str, Any], held: list[dict[str, Any]], found: dict[str, list[Any]]) -> None:
    """Add what a line says to a reply."""
    what, _, text = told["head"].rstrip(": ").partition(": ")
    kinds = [word for word in what.split() if word in KINDS]
    word, how = [*(word for word in what.split() if word not in {*KINDS, "and"}), "", ""][:2]
    near = [one["id"] for one in held if word and word in one["text"]][:1]
    if not kinds or {"ADD", "SUPERSEDE"} & set(kinds):
        found["items"].append(item(told["type"], told["text"], entry, replaces=near if "SUPERSEDE" in kinds else []))
    if near and (kind := NAMES.get(kinds[-1])):
        found["operations"].append(operation(entry, kind, *near, text=text, how=how))
    found["seen"] += near if "CONFIRM" in kinds else []


ROOMS = ("Aare", "Inn", "Reuss", "Rhone", "Saane", "Thur", "Ticino", "Toess")
MUCH = {
    "2026-03-10": tuple(f"Fact: Room {name} has a beamer." for name in ROOMS),
    "2026-03-11": ("Todo: Call Otto.", "Todo: Call Mia.", "Todo: Call Jan.", "Todo: Call Eva."),
    "2026-03-12": tuple(f"CLOSE {name} done: Fact: {name} was called." for name in ("Otto", "Mia", "Jan", "Eva")),
    "2026-03-13": tuple(f"CLOSE {name} ended: Fact: No beamer in {name} any more." for name in ROOMS),
}
"""What ends too much of a document in one day, and what does not."""


def night(day: str) -> str:
    return f"{day[:-2]}{int(day[-2:]) + 1:02}T02:00+00:00"


def write(memory: Memory, days: Sequence[str], logs: Logs) -> None:
    for day in days:
        log(memory, *logs[day], day=day)


def curated(memory: Memory, sizes: Sequence[int], logs: Logs = MONTH) -> Memory:
    """Curate the month in runs of so many days each."""
    days = list(logs)
    for size in sizes:
        run, days = days[:size], days[size:]
        write(memory, run, logs)
        curate(memory, model(), night(run[-1]))
    assert not days
    return memory


def documents(memory: Memory) -> dict[str, str]:
    """Return the documents as they stand; when Review.md asked is the run's own day."""
    found = {path: one.text for path, one in read_documents(memory.root).items()}
    found["Review.md"] = re.sub(r"2026-03-\d\d -->", "DAY -->", found["Review.md"])
    return found


def test_however_the_days_are_cut_into_runs(memory: Memory, tmp_path: Path) -> None:
    shutil.copytree(memory.root, tmp_path / "nightly", symlinks=True)
    nightly = curated(memory.aside(tmp_path / "nightly"), (1,) * 6)
    at_once = curated(memory, (1, 4, 1))
    assert items(at_once) == items(nightly)
    assert documents(at_once) == documents(nightly)


def test_too_much_of_a_document_in_a_day_is_asked_about_in_a_long_run_too(memory: Memory, tmp_path: Path) -> None:
    shutil.copytree(memory.root, tmp_path / "nightly", symlinks=True)
    nightly = curated(memory.aside(tmp_path / "nightly"), (1,) * 4, MUCH)
    assert items(curated(memory, (4,), MUCH)) == items(nightly)
    assert documents(memory) == documents(nightly)
    counts = Counter(one.status for one in items(memory).values())
    assert counts == {Status.ENDED: 3, Status.LIVE: 5, Status.DONE: 4}, "done Todos count for nothing"
    assert memory.read("Review.md").count("## ended:") == 5


def test_a_day_is_shown_what_the_day_before_left_and_is_committed_before_the_next(memory: Memory) -> None:
    write(memory, list(MONTH), MONTH)
    reader = model()
    report = curate(memory, reader, night("2026-03-15"))
    assert [day["day"] for day in reader.shown] == list(MONTH)
    second = {row["text"]: row["id"] for row in reader.shown[1]["near"]}
    assert re.fullmatch(r"k[0-9a-f]{8,}", second["Orders are kept in MySQL 8."])
    subjects = memory.git("log", "--reverse", "--format=%s").splitlines()
    assert [one.split(":")[0] for one in subjects if one.startswith("Curated")] == [f"Curated {day}" for day in MONTH]
    assert (report.read_days, report.entries["read"]) == (tuple(MONTH), sum(map(len, MONTH.values())))
    runs = [one["run"] for one in memory.json("runs") if one["ended"] == "well"]
    assert len(set(runs)) == len(MONTH)


def test_a_second_reader_who_fails_for_a_night_loses_no_closing(memory: Memory) -> None:
    log(memory, "Todo: Call Anders about the lease.", day="2026-03-10")
    curate(memory, model(), night("2026-03-10"))
    log(memory, "CLOSE Call done: Fact: Anders was called.", day="2026-03-11")
    log(memory, "Fact: The shop is open.", day="2026-03-12")
    failing = model()
    failing.verifies = FailureKind.DOWN
    report = curate(memory, failing, night("2026-03-12"))
    assert (report.pending_days, report.exit_code) == (("2026-03-11", "2026-03-12"), 1)
    assert [day["day"] for day in failing.shown] == ["2026-03-11"], "the next day would be read against a wrong memory"
    assert {text: one.status for text, one in items(memory).items()} == {"Call Anders about the lease.": Status.OPEN}
    curate(memory, model(), night("2026-03-13"))
    assert {text: one.status for text, one in items(memory).items()} == {
        "Call Anders about the lease.": Status.DONE,
        "The shop is open.": Status.LIVE,
    }


def test_a_run_that_is_killed_between_two_days_goes_on_with_the_second(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(memory, list(MONTH), MONTH)
    whole = apply_changes
    written: list[int] = []

    def killed(*arguments: Any) -> Any:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(1)
        return whole(*arguments)

    reader = model()
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.night.run_night.apply_changes", killed)
        with pytest.raises(KeyboardInterrupt):
            curate(memory, reader, night("2026-03-15"))
    assert len([one for one in memory.git("log", "--format=%s").splitlines() if one.startswith("Curated")]) == 2
    assert items(memory)["Mara opens the shop."].status is Status.LIVE
    curate(memory, reader, night("2026-03-15"))
    assert [day["day"] for day in reader.shown] == list(MONTH), "the third day's reply was kept"
    assert items(memory)["Ines opens the shop."].status is Status.LIVE


# ---------------------------------------------------------------- a backlog

ASKED = """import json, sys
asked = json.load(sys.stdin)
if asked["task"] == "extract":
    print(asked["input"]["day"], file=open({note!r}, "a"))
print(json.dumps({{"items": []}} if asked["task"] == "extract" else {{}}))
"""


class Backlog:
    """A memory with a decision on each of so many days, and a program that notes which it was asked to read."""

    def __init__(self, memory: Memory, folder: Path, count: int) -> None:
        self.memory, self.note = memory, folder / "asked"
        self.days = [f"2026-{3 + at // 28:02}-{1 + at % 28:02}" for at in range(count)]
        for day in self.days:
            log(memory, f"Decision: The plan of {day} holds.", "we talked", day=day)
        program = folder / "reader.py"
        program.write_text(ASKED.format(note=str(self.note)))
        self.provider = f"exec:{sys.executable} {program}"

    def run(self, *more: str, exits: int = 0) -> str:
        return self.memory.curate("run", "--provider", self.provider, "--now", "2026-05-01T02:00", *more, exits=exits)

    @property
    def asked(self) -> list[str]:
        return self.note.read_text().split() if self.note.exists() else []

    @property
    def filed(self) -> list[str]:
        return sorted(text.split()[3] for text in items(self.memory))


def test_of_many_days_a_model_reads_the_newest_and_the_rules_the_others(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command.MOST_DAYS == 30
    monkeypatch.setattr(run_command, "MOST_DAYS", 2)
    found = Backlog(memory, tmp_path, 4)
    said = found.run()
    assert (
        "4 days are unread. The model reads the newest 2, the rules the 2 older days. For a model to read all:"
        " `curate run --days 4`" in said
    )
    assert found.asked == found.days[2:]
    assert found.filed == found.days
    subjects = [one for one in memory.git("log", "--format=%s").splitlines() if one.startswith("Curated")]
    assert len(subjects) == 3, "the old days are one run"
    found.run()
    assert found.asked == found.days[2:], "nothing is left, and nothing is read again"


def test_a_person_may_say_how_many_days_a_model_reads(memory: Memory, tmp_path: Path) -> None:
    found = Backlog(memory, tmp_path, 5)
    found.run("--days", "2")
    assert found.asked == found.days[3:]
    assert found.filed == found.days
