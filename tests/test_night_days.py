"""One run over many days comes to what one night a day comes to: the same items, and the same documents."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.night.replay import replay
from pipelines.night.run_history import all_runs
from pipelines.store.git import Git
from pipelines.store.item import Status
from pipelines.store.snapshot import read_documents
from tests.reviewing import Reader, curate, item, items, log, operation, operations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.conftest import Memory

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
        "CONFIRM Mara: Fact: The shop is opened by Mara.",
        "CLOSE Paint dropped: Fact: Nobody has to paint the shop.",
    ),
    "2026-03-13": (
        "SUPERSEDE kept: Decision: Orders are kept in PostgreSQL 17.",
        "RETRACT fax: Fact: That orders arrive by fax was a mistake.",
        "CLOSE May resolved: Fact: The lease runs until 2030.",
    ),
    "2026-03-14": (
        "QUESTION costs: Fact: Does the lease cost 900 euros, I wonder.",
        "IGNORE: Fact: The shop was tidy.",
        "Decision: Orders are kept in PostgreSQL 15.",
        "Fact: Orders arrive by fax!",
        "UPDATE stack: The stack is PostgreSQL 15 and Flask.: Fact: The stack has Flask in place of FastAPI.",
        "Done: Order chairs for the shop",
        "Todo: Order chairs for the shop.",
    ),
    "2026-03-15": (
        "SUPERSEDE Mara: Fact: Ines opens the shop.",
        "ADD and CLOSE chairs done: Fact: The chairs for the shop came.",
        "CONFIRM stack: Fact: Flask is in the stack of the shop.",
    ),
}
"""Each line says what becomes of it, of what a word names, and what it is: `KIND WORD HOW: TEXT: Type: words.`"""
KINDS = {"ADD", "CONFIRM", "SUPERSEDE", "UPDATE", "CLOSE", "RETRACT", "QUESTION", "IGNORE"}
TYPED = re.compile(r"(?P<head>.*?)(?P<type>Decision|Fact|Todo|Risk): (?P<text>.*)")


def model() -> Reader:
    """Return a model that reads and reviews by what the lines say."""

    def read(day: dict[str, Any]) -> dict[str, Any]:
        lines = [(entry, entry["text"][2:]) for entry in day["entries"]]
        read = [(entry, line, told) for entry, line in lines if (told := TYPED.fullmatch(line))]
        found = [item(told["type"], told["text"], entry, line, confidence="high") for entry, line, told in read]
        return {"items": found, "operations": []}

    return Reader(lambda asked: operations(*(one for candidate in asked for one in judged(candidate))), reads=read)


def judged(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the quote of a candidate says of it, and of its neighbours."""
    head = candidate["quotes"][0].partition(f"{candidate['type']}: {candidate['text']}")[0]
    if not head:
        return [operation(candidate)]
    what, _, text = head.rstrip(": ").partition(": ")
    kinds = [word for word in what.split() if word in KINDS]
    word, how = [*(word for word in what.split() if word not in {*KINDS, "and"}), "", ""][:2]
    near = [one["id"] for one in candidate["neighbours"] if word in one["text"] and one["status"] in {"live", "open"}]
    if word and not near:
        return []
    adds = [operation(candidate)] if "ADD" in kinds else []
    kind = kinds[-1].lower()
    more = {"text": text} if text else {"how": how} if how else {}
    return [*adds, operation(candidate, kind, *(near[:1] if kind != "ignore" else []), **more)]


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


@pytest.mark.parametrize("sizes", [(6,), (3, 3), (1, 4, 1), (2, 2, 2)])
def test_however_the_days_are_cut_into_runs(memory: Memory, tmp_path: Path, sizes: tuple[int, ...]) -> None:
    shutil.copytree(memory.root, tmp_path / "nightly", symlinks=True)
    nightly = curated(memory.aside(tmp_path / "nightly"), (1,) * 6)
    at_once = curated(memory, sizes)
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


def test_the_month_means_what_its_lines_say(memory: Memory) -> None:
    found = items(curated(memory, (6,)))
    held = {
        "Orders are kept in MySQL 8.": Status.SUPERSEDED,
        "Orders are kept in PostgreSQL 15.": Status.SUPERSEDED,
        "Orders are kept in PostgreSQL 17.": Status.LIVE,
        "The stack is PostgreSQL 16 and FastAPI.": Status.SUPERSEDED,
        "The stack is PostgreSQL 15 and FastAPI.": Status.SUPERSEDED,
        "The stack is PostgreSQL 15 and Flask.": Status.LIVE,
        "Call Anders about the lease.": Status.DONE,
        "Paint the shop.": Status.DROPPED,
        "The lease may end in May.": Status.RESOLVED,
        "The lease costs 900 euros.": Status.LIVE,
        "Orders arrive by fax.": Status.NEVER_HELD,
        "Mara opens the shop.": Status.SUPERSEDED,
        "Ines opens the shop.": Status.LIVE,
        "Order chairs for the shop.": Status.DONE,
        "The chairs for the shop came.": Status.LIVE,
    }
    assert {text: one.status for text, one in found.items()} == held
    assert found["The lease costs 900 euros."].doubted == "2026-03-14"
    assert found["Mara opens the shop."].confirmed == "2026-03-12"


def test_what_an_earlier_day_proposed_is_named_by_a_temporary_id(memory: Memory) -> None:
    write(memory, list(MONTH), MONTH)
    reader = model()
    report = curate(memory, reader, night("2026-03-15"))
    named = {ident for call in reader.asked for one in call.input["candidates"] for ident in one["neighbours"]}
    assert named
    assert all(re.fullmatch(r"n\d+u?", ident) for ident in named), "the memory held nothing"
    assert not any(re.search(r"\bn\d+\b", text) for text in documents(memory).values()), "none is left in a document"
    git = Git(memory.root)
    assert replay(memory.root, git, next(run for run in all_runs(memory.root, git) if run.id == report.run)).same


def test_a_project_that_an_earlier_day_of_the_run_made_counts_as_one_that_is_there(memory: Memory) -> None:
    memory.write("Logs/2026-03-10.md", "# 2026-03-10\n\n- Paysync is a new service.\n")
    log(memory, "Paysync ships on Thursdays.", "The service is written in Go.", day="2026-03-11")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        rows = [(entry, entry["text"][2:]) for entry in day["entries"]]
        return {
            "items": [item("Fact", said, entry, said, new_project="Paysync", confidence="high") for entry, said in rows]
        }

    curate(memory, Reader(lambda _: operations(), reads=read))
    documents = read_documents(memory.root)
    assert [one.item.text for one in documents["Projects/paysync.md"].items] == [
        "Paysync is a new service.",
        "Paysync ships on Thursdays.",
    ]
    assert [one.item.text for one in documents["Projects/alpha.md"].items] == ["The service is written in Go."]
