"""Two machines converge: the same bytes on both, each item once, whoever was away."""

import json
from pathlib import Path

from tests.conftest import Memory
from tests.making import git
from tests.night.sync.machines import append_log, check_same, shared, state


def test_states_and_episodes_of_both_are_written_anew(memory: Memory) -> None:
    one, other, remote = shared(memory)
    entry = "project: Kestrel\n\n- Decision: use {}\n- Risk: the {} may fail\n"
    facts = "".join(f"- Fact: shelf {number} is full\n" for number in range(11))
    append_log(one, "2025-01-02", entry.format("brass", "brass") + facts)
    append_log(other, "2025-01-02", entry.format("steel", "steel"))
    for machine, hour in ((one, 21), (other, 22), (one, 23)):
        machine.night(f"2025-01-02T{hour}:00")
    check_same((one, other), remote)
    episode = [json.loads(row) for row in one.read("State/generated/2025-01.jsonl").splitlines()]
    assert 0 < len(episode) <= 4
    assert len({ident for row in episode for ident in row.get("items", "").split()}) == 15
    state = one.read("Projects/kestrel.md").partition("## State")[2].partition("\n## ")[0]
    assert state.count("Last decision") == 1
    assert "the steel may fail; the brass may fail" in state or "the brass may fail; the steel may fail" in state


def test_what_was_edited_and_pushed_by_hand_is_the_owners(memory: Memory, tmp_path: Path) -> None:
    one, other, remote = shared(memory)
    facts = ("the cache keeps 40 entries", "the queue has 3 readers", "the office moves to Bern")
    append_log(one, "2025-01-02", "project: Kestrel\n\n" + "".join(f"- Fact: {fact}\n" for fact in facts))
    one.night("2025-01-02T23:00")
    git(other.root, "pull", "--quiet")
    lines = other.read("Projects/kestrel.md").replace("40 entries", "50 entries").splitlines(keepends=True)
    lines = [line for line in lines if "Bern" not in line]
    other.write("Projects/kestrel.md", "".join(lines) + "- Rule: never push on Friday\n")
    git(other.root, "commit", "--quiet", "-am", "Mine")
    git(other.root, "push", "--quiet")
    remote.rename(tmp_path / "away.git")
    append_log(one, "2025-01-03", "- Fact: Backups are kept for ninety days\n")
    one.night("2025-01-03T23:00")
    (tmp_path / "away.git").rename(remote)
    one.night("2025-01-04T23:00")
    assert git(one.root, "log", "--format=%s", "--grep=^Joins: ").splitlines() == ["Join what another machine did"]
    items = {item["text"]: item for item in one.json("items")}
    assert {items[text]["trust"] for text in ("the cache keeps 50 entries", "never push on Friday")} == {"owner"}
    assert items["the queue has 3 readers"]["trust"] == "self"
    line = next(line for line in one.read("Projects/kestrel.md").splitlines() if "50 entries" in line)
    assert " by=" not in line, "no cap moves it"
    assert facts[2] not in items
    stones = map(json.loads, (one.root / "State/tombstones.jsonl").read_text().splitlines())
    assert sorted(stone["reason"] for stone in stones) == ["corrected", "deleted"]
    other.night("2025-01-04T23:30")
    check_same((one, other), remote)


def test_a_remote_with_another_beginning_is_left_alone(memory: Memory) -> None:
    one, other, remote = shared(memory)
    git(other.root, "checkout", "--quiet", "--orphan", "else")
    git(other.root, "commit", "--quiet", "-m", "Else")
    git(other.root, "push", "--quiet", "--force", "origin", "else:main")
    append_log(one, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    there = git(remote, "rev-parse", "main")
    told = " ".join(one.night("2025-01-02T23:00", exits=1).split())
    assert "shares no history with this one. To use that one, clone it into another folder." in told
    assert state(one)["state"] == "diverged"
    assert git(remote, "rev-parse", "main") == there


def test_a_sentence_that_one_person_deleted_stays_away_on_both_machines(memory: Memory) -> None:
    memory.write(
        "Logs/2024-12-30.md",
        "project: Kestrel\n\n- Decision: Use one disk.\n- Risk: The disk may fail\n- Todo: Buy nails\n",
    )
    one, other, remote = shared(memory)
    one.curate("done", "nails", "--now", "2025-01-01T08:00")
    one.night("2025-01-01T09:00")
    other.night("2025-01-01T09:10")
    page = "Projects/kestrel.md"
    lines = one.read(page).splitlines(keepends=True)
    [risk] = [line for line in lines if line.startswith("At risk (2024-12-30): The disk")]
    assert risk in other.read(page)
    one.write(page, "".join(line for line in lines if line != risk))
    append_log(one, "2025-01-01", "project: Kestrel\n\n- Fact: Anna has the key.\n")
    append_log(other, "2025-01-01", "project: Kestrel\n\n- Fact: Bela has the car.\n")
    remote.rename(away := remote.with_name("away.git"))
    other.night("2025-01-02T01:00")
    away.rename(remote)
    for minute, machine in enumerate((one, other, one, other)):
        machine.night(f"2025-01-02T02:{minute:02}")
    for machine in (one, other):
        assert "Anna has" in machine.read(page)
        assert "Bela has" in machine.read(page)
        assert "At risk" not in machine.read(page)
    check_same((one, other), remote)


def test_of_what_was_closed_or_reworded_on_either_machine_a_person_picks_a_version(memory: Memory) -> None:
    one, other, remote = shared(memory)
    lines = (
        "Todo: file the VAT return",
        "Todo: prepare the demo",
        "Fact: they pay within 14 days",
        "Fact: a desk in Bern",
    )
    append_log(one, "2025-01-02", "project: Kestrel\n\n" + "".join(f"- {line}\n" for line in lines))
    one.night("2025-01-02T23:00")
    other.curate("sync", "--now", "2025-01-02T23:10")
    ids = {item["text"]: item["id"] for item in one.json("items")}
    vat, demo, desk = ids["file the VAT return"], ids["prepare the demo"], ids["a desk in Bern"]
    one.curate("correct", vat, "file the VAT return in March", "--now", "2025-01-03T09:00")
    other.curate("close", vat, "--as", "done", "--now", "2025-01-03T09:10")
    one.curate("close", demo, "--as", "dropped", "--now", "2025-01-03T09:20")
    for machine, demo_words, days, town in ((one, "the demo", 30, "Biel"), (other, "the demo for Tom", 21, "Basel")):
        words = machine.read("Projects/kestrel.md").replace("the demo", demo_words).replace("14 days", f"{days} days")
        machine.write("Projects/kestrel.md", words)
        machine.curate("correct", desk, f"a desk in {town}", "--now", "2025-01-03T10:00")
    for machine in (one, other, one):
        machine.curate("sync", "--now", "2025-01-03T11:00")
    check_same((one, other), remote)
    waiting = {item["title"]: item for item in one.json("review")}
    asked = {
        next(name for name in ("VAT", "demo", "pay", "desk") if name in title): it for title, it in waiting.items()
    }
    page = one.read("Projects/kestrel.md")
    assert "- [ ] Todo: file the VAT return in March" in page
    assert "- [-] Todo: prepare the demo ^" in page, "closed beats open"
    means = [[choice["means"] for choice in asked[name]["choices"]] for name in ("VAT", "demo")]
    assert means == [
        [f"Todo: file the VAT return in March ({how})" for how in ("open", "done")],
        ["Todo: prepare the demo (dropped)", "Todo: prepare the demo for Tom (open)"],
    ]
    assert "the second is of 2025-01-03 10:00" in asked["demo"]["why"]
    for machine in (one, other):
        why = machine.curate("why", vat)
        assert "not committed" not in why
        assert "a sync, commit" in why
    assert "was superseded by it" not in one.curate("why", "VAT return in March"), "it is told under Replaced"
    old = next(days for days in ("30 days", "21 days") if days in page)
    for name, choice in (("VAT", "first"), ("demo", "second"), ("pay", "second"), ("desk", "keep new")):
        one.curate("review", asked[name]["id"], "--choose", choice, "--now", "2025-01-03T12:00")
    page = one.read("Projects/kestrel.md").partition("## History")[0]
    assert "- [ ] Todo: file the VAT return in March" in page
    assert "- [ ] Todo: prepare the demo for Tom" in page
    assert old not in page
    assert page.count("a desk in") == 1
    assert one.curate("review") == "Nothing waits for you.\n"


def test_two_items_that_replaced_each_other_both_hold_until_a_person_says_which(memory: Memory) -> None:
    one, other, remote = shared(memory)
    append_log(one, "2025-01-02", "- Decision: The bridge is blue\n- Decision: The hall has a new roof\n")
    one.curate("run", "--now", "2025-01-02T23:00")
    other.curate("sync", "--now", "2025-01-02T23:10")
    first, second = (str(item["id"]) for item in one.json("items"))
    one.curate("settle", first, "replaces", second, "--now", "2025-01-03T09:00")
    other.curate("settle", second, "replaces", first, "--now", "2025-01-03T09:05")
    for machine in (one, other, one):
        machine.curate("sync", "--now", "2025-01-03T11:00")
    assert {item["status"] for item in one.json("items")} == {"live"}
    assert [item["kind"] for item in one.json("review")] == ["pair"]
    one.curate("run", "--now", "2025-01-04T02:00")
    for machine in (one, other):
        machine.curate("sync", "--now", "2025-01-04T03:00")
    check_same((one, other), remote)
    assert sorted(item["status"] for item in one.json("items")) == ["ended", "live"], "the later line says nothing"
