"""`curate runs`: git is the truth, reports are detail; runs without a commit and failures are seen, too."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import BUG, INTERRUPTED, BadFile, CurateError
from pipelines.night.report import KEPT, read_reports, save_failure
from tests.conftest import Memory

NOW = datetime(2026, 3, 20, 2, tzinfo=UTC)


def runs(memory: Memory, *more: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = memory.json("runs", *more)
    return told


def night(memory: Memory, day: int, log: str = "") -> str:
    if log:
        memory.write(f"Logs/2026-03-{day - 1}.md", log)
    told: str = memory.json("run", "--now", f"2026-03-{day}T02:00")["run"]
    return told


def three_nights(memory: Memory) -> list[str]:
    first = night(memory, 11, "- Decision: Use SQLite\n- Rule: never push on Fridays\n")
    second = night(memory, 12, "- decision: use sqlite\n- Fact: the port is 8080\n")
    return [first, second, night(memory, 13)]


def test_the_report_of_a_run_travels_with_its_commit(memory: Memory, tmp_path: Path) -> None:
    first, second, _ = three_nights(memory)
    clone = tmp_path / "clone"
    memory.git("clone", "-q", ".", str(clone))
    there = memory.aside(clone)
    assert [one["run"] for one in runs(there)] == [second, first], "a night that changed nothing stays where it was"
    kept = {name: runs(memory)[1][name] for name in ("added", "changed", "confirmed", "moved", "ended", "why")}
    assert {name: runs(there)[0][name] for name in kept} == kept
    assert runs(there)[0]["model"] == {
        "extractor": "rules@1", "calls": None, "input_tokens": None, "output_tokens": None, "usd": None,
    }, "what it cost is told where it was paid"  # fmt: skip
    assert "  1 added, 1 confirmed; well" in there.curate("runs")
    said = json.loads((clone / f"State/runs/{second}.json").read_text())
    whole = json.loads((memory.root / f".curate/runs/{second}.json").read_text())
    assert said == {key: whole[key] for key in said} | {"model": {key: whole["model"][key] for key in said["model"]}}
    assert not {"seconds", "index", "commit"} & said.keys()
    assert "last run 2026-03-12 02:00 on another machine, ended well" in there.curate(
        "context", "--now", "2026-03-12T03:00"
    )


def test_git_is_the_truth_where_no_report_is_left(memory: Memory) -> None:
    first, second, _ = three_nights(memory)
    for folder in (".curate/runs", "State/runs"):
        for report in (memory.root / folder).iterdir():
            report.unlink()
    assert [one["run"] for one in runs(memory)] == [second, first]
    [newest, _] = runs(memory)
    assert (newest["added"], newest["changed"], newest["confirmed"], newest["model"]) == (1, 1, None, None)
    assert "  1 added, 1 changed; committed" in memory.curate("runs")
    assert "committed; no report of it is kept here" in memory.curate("runs")
    assert "the port is 8080" in memory.curate("runs", second)


def test_one_run_is_shown_whole(memory: Memory) -> None:
    _, second, _ = three_nights(memory)
    (memory.root / "Logs" / "odd.md").write_text("x")
    odd = night(memory, 14)
    shown = memory.json("runs", second)
    assert [one["text"] for one in shown["items"]["added"]] == ["the port is 8080"]
    [confirmed] = shown["items"]["changed"]
    assert confirmed["after"]["text"] == "Use SQLite"
    assert shown["items"]["removed"] == []
    assert shown["report"]["entries"]["read"] == 2
    told = memory.curate("runs", second)
    assert "Ended     well" in told
    assert f"  + {shown['items']['added'][0]['id']} Areas/general.md: Fact: the port is 8080\n" in told
    assert "Decision: Use SQLite (confirmed)" in told
    assert "Note      Logs/odd.md is not named after a day" in memory.curate("runs", odd)


def test_a_run_is_found_by_the_start_of_its_id_or_commit(memory: Memory) -> None:
    first, second, _ = three_nights(memory)
    head = memory.git("rev-parse", "HEAD").strip()
    assert memory.json("runs", first[:8])["run"] == first
    assert memory.json("runs", head[:6])["run"] == second
    assert "No run has the id 2027. `curate runs` lists them." in memory.curate("runs", "2027", exits=1)
    assert "is not unique: " in memory.curate("runs", "202603", exits=1)


def test_an_undone_run_says_by_which(memory: Memory) -> None:
    _, second, _ = three_nights(memory)
    memory.curate("undo", "--now", "2026-03-13T09:00")
    undo, _, undone, _ = runs(memory)
    assert (undo["undoes"], undo["ended"], undone["run"]) == (second, "well", second)
    assert (undone["ended"], undone["why"]) == ("undone", undo["run"])
    told = memory.curate("runs")
    assert f"undoes {second}: 1 item removed, 1 item as before; well" in told
    assert f"undone by {undo['run']}" in told
    shown = memory.curate("runs", undo["run"])
    assert "Fact: the port is 8080" in shown
    memory.curate("undo", undo["run"], "--now", "2026-03-13T09:01")
    assert {one["run"]: one["ended"] for one in runs(memory)}[second] == "well"


def test_a_failure_leaves_a_record_without_the_memorys_text(memory: Memory) -> None:
    save_failure(memory.root, "20260320T020000-abc123", NOW, BadFile("Logs/2026-03-18.md", "cannot be read"))
    save_failure(memory.root, "20260321T020000-abc124", NOW + timedelta(days=1), ValueError("a secret sentence"))
    save_failure(memory.root, "20260322T020000-abc125", NOW + timedelta(days=2), KeyboardInterrupt())
    assert [(one["ended"], one["why"]) for one in runs(memory)] == [
        ("failed", "It was interrupted."),
        ("failed", "It hit a bug."),
        ("failed", "Logs/2026-03-18.md cannot be read. Fix or move the file, then run again."),
    ]
    kept = read_reports(memory.root)
    assert [report["exit_code"] for report in kept.values()] == [1, BUG, INTERRUPTED]
    assert "secret" not in json.dumps(kept)
    assert "failed: Logs/2026-03-18.md cannot be read. Fix or move the file, then run again\n" in memory.curate("runs")
    assert "Ended     failed: It hit a bug\n" in memory.curate("runs", "20260321")
    assert "Last run  2026-03-22 02:00" in memory.curate("status", "--now", "2026-03-22T03:00", exits=1)


def test_old_reports_age_out_and_the_newest_stay(tmp_path: Path) -> None:
    (tmp_path / ".curate" / "runs").mkdir(parents=True)
    for number in range(KEPT + 5):
        (tmp_path / ".curate" / "runs" / f"2025{number:04}T000000-aaaaaa.json").write_text('{"run": "x"}')
    save_failure(tmp_path, "20260101T000000-aaaaaa", NOW, CurateError("x"))
    left = sorted(file.stem for file in (tmp_path / ".curate" / "runs").iterdir())
    assert len(left) == KEPT
    assert left[0] == "20250006T000000-aaaaaa"
    assert left[-1] == "20260101T000000-aaaaaa"
    save_failure(tmp_path, "20200101T000000-aaaaaa", NOW, CurateError("as of long ago"))
    assert (tmp_path / ".curate" / "runs" / "20200101T000000-aaaaaa.json").exists()


def test_the_oldest_reports_leave_the_tree_and_stay_in_their_commits(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.night.report.SHARED", 2)
    made = [night(memory, day, f"- Decision: Plan {day} holds\n") for day in (11, 12, 13, 14)]
    assert sorted(file.stem for file in (memory.root / "State" / "runs").iterdir()) == made[2:]
    assert [one["run"] for one in runs(memory)] == made[::-1]
    assert memory.json("runs", made[0])["confirmed"] == 0
    memory.git("diff", "--exit-code", "HEAD")
    (memory.root / "State" / "runs" / "0-mine.json").mkdir()
    night(memory, 15, "- Decision: Plan 15 holds\n")


def test_a_broken_report_is_passed_over(memory: Memory) -> None:
    first = night(memory, 11, "- Decision: Use SQLite\n")
    folder = memory.root / ".curate" / "runs"
    for name, data in (("a", b"{"), ("b", b"[1]"), ("c", b"\xff"), ("d", b"{}"), ("e", b'{"now": 7, "model": 3}')):
        (folder / f"9999-{name}.json").write_bytes(data)
    assert [one["run"] for one in runs(memory)] == [first, "9999-e"], "an empty one tells nothing"
    memory.curate("runs")
    assert "Last run  2026-03-11 02:00" in memory.curate("status", "--now", "2026-03-11T03:00")


def test_a_run_names_each_item_that_was_edited_by_hand_before_it(memory: Memory) -> None:
    facts = "".join(f"- Fact: Shelf {at} is full.\n" for at in range(5))
    night(memory, 11, f"project: Alpha\n\n{facts}- Todo: Sweep the hall.\n")
    memory.write("Projects/beta.md", "# Beta\n\n- Fact: The oar is long.\n")
    night(memory, 12)
    page = "".join(line for line in memory.read("Projects/alpha.md").splitlines(keepends=True) if "Shelf 4" not in line)
    memory.write(
        "Projects/alpha.md", page.replace("[ ] Todo", "[x] Todo").replace("Shelf 1 is full", "Shelf 1 is bare")
    )
    (memory.root / "Projects/beta.md").unlink()
    night(memory, 13)
    by_night, by_people, *_ = runs(memory)
    for run in (by_night, by_people):
        told = memory.curate("runs", run["run"])
        for words in ("Shelf 4 is full. (removed)", "The oar is long. (removed)", "Sweep the hall. (open to done)"):
            assert words in told
        assert "Shelf 1 is bare. (trust self to owner, reworded" in told
        detail = memory.json("runs", run["run"])["by_hand"]
        assert {one["text"] for one in detail["removed"]} == {"Shelf 4 is full.", "The oar is long."}
    assert "By hand" not in memory.curate("runs", runs(memory)[-1]["run"])


def test_a_run_whose_commit_was_taken_off_the_branch_says_so(memory: Memory) -> None:
    three_nights(memory)
    memory.git("reset", "--quiet", "--hard", "HEAD~1")
    assert "is not in the history of this branch" in memory.curate("runs")
