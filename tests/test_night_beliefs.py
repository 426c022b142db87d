"""Nights in which beliefs change: what is corrected is history, what is unclear is asked, what is done is closed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.store.item import Status
from pipelines.store.review_queue import read_queue
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from pipelines.store.item import Item
    from tests.conftest import Memory


def night(memory: Memory, day: str, *lines: str, project: str = "Kestrel") -> dict[str, Any]:
    head = f"project: {project}\n\n" if project else ""
    memory.write(f"Logs/{day}.md", f"# {day}\n\n{head}" + "".join(f"- {line}\n" for line in lines))
    told: dict[str, Any] = json.loads(memory.curate("run", "--json", "--now", f"{day}T23:30"))
    return told


def items(memory: Memory) -> dict[str, tuple[str, Item]]:
    found = read_documents(memory.root)
    return {p.item.text: (path, p.item) for path, document in found.items() for p in document.items}


def test_a_correction_takes_the_place_of_what_it_corrects(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: Production runs on Python 3.11.", "Decision: Test every deploy by hand.")
    told = night(memory, "2026-03-05", "Fact: Production now runs on Python 3.13.")
    assert told["verdicts"] == {"supersede": 1}
    assert told["items"]["superseded"] == 1
    found = items(memory)
    home, old = found["Production runs on Python 3.11."]
    path, new = found["Production now runs on Python 3.13."]
    assert (old.status, old.until, old.superseded_by) == (Status.SUPERSEDED, "2026-03-05", new.id)
    assert (new.since, new.links, path) == ("2026-03-05", (("supersedes", (old.id,)),), home)
    sections = {p.item.id: p.section for p in read_documents(memory.root)[home].items}
    assert (sections[old.id], sections[new.id]) == ("History", "Facts")
    assert json.loads(memory.curate("check", "--json")) == []
    assert "Nothing new" in memory.curate("run", "--now", "2026-03-05T23:50")


def test_search_and_the_briefing_tell_only_what_holds(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: The office is in Bern.", project="")
    night(memory, "2026-03-05", "Fact: The office has moved to Zurich.", project="")
    found = items(memory)
    assert found["The office is in Bern."][0] == "Areas/general.md"  # what every session loads keeps no history
    assert found["The office has moved to Zurich."][0] == "MEMORY.md"
    assert "Bern" not in memory.read("MEMORY.md")
    hits = json.loads(memory.curate("search", "where is the office", "--json"))
    told = [hit["text"] for hit in hits["results"] if not hit["path"].startswith("Logs/")]
    assert any("Zurich" in text for text in told)
    assert not any("Bern" in text for text in told)
    assert "Bern" not in memory.curate("context", "--now", "2026-03-09T08:00").partition("Logs")[0]
    old = json.loads(memory.curate("items", "--json", "--status", "superseded"))
    assert [one["text"] for one in old] == ["The office is in Bern."]


def test_links_of_others_follow(memory: Memory) -> None:
    night(memory, "2026-03-02", "Decision: Use Redis for the session store.", "Todo: Write the runbook of the store.")
    path, old = items(memory)["Use Redis for the session store."]
    todo = items(memory)["Write the runbook of the store."][1]
    text = memory.read(path)
    memory.write(path, text.replace(f"<!-- {todo.id} ", f"<!-- {todo.id} because={old.id} "))
    night(memory, "2026-03-05", "Decision: Use Valkey instead of Redis for the session store.")
    found = items(memory)
    new = found["Use Valkey instead of Redis for the session store."][1]
    assert dict(found[todo.text][1].links)["because"] == (new.id,)
    assert dict(new.links)["supersedes"] == (old.id,)


def test_a_contradiction_waits_and_the_older_one_stands(memory: Memory) -> None:
    night(memory, "2026-03-02", "Decision: Retry failed jobs 3 times.")
    told = night(memory, "2026-03-04", "Decision: Retry failed jobs 5 times.")
    assert told["verdicts"] == {"contradict": 1}
    assert told["people"]["asked"] == 1
    queue = read_documents(memory.root)["Review.md"]
    [entry] = read_queue(queue)
    [item] = entry.items
    old = items(memory)["Retry failed jobs 3 times."][1]
    assert (entry.kind, entry.ticked, old.status) == ("contradict", (), Status.LIVE)
    assert dict(item.extra) == {"home": "Projects/kestrel.md", "was": "live", "against": old.id}
    text = queue.text
    assert f"What stands is {old.id}" in text
    assert "Logs/2026-03-02.md line 5: “- Decision: Retry failed jobs 3 times.”" in text
    assert [f"- [ ] {choice}:" in text for choice in ("keep new", "keep old", "keep both", "drop")] == [True] * 4
    assert json.loads(memory.curate("check", "--json")) == []


def test_the_same_question_is_asked_once(memory: Memory) -> None:
    night(memory, "2026-03-02", "Decision: Retry failed jobs 3 times.")
    night(memory, "2026-03-04", "Decision: Retry failed jobs 5 times.")
    told = night(memory, "2026-03-06", "Decision: Retry the failed jobs five times!")
    assert told["verdicts"] == {"duplicate": 1}
    assert len(read_queue(read_documents(memory.root)["Review.md"])) == 1


def test_a_persons_word_is_not_superseded_by_a_log(memory: Memory) -> None:
    memory.curate("add", "fact", "The office is in Bern.", "--now", "2026-03-02T12:00")
    home, own = items(memory)["The office is in Bern."]
    told = night(memory, "2026-03-05", "Fact: The office has moved to Zurich.", project="")
    after = items(memory)["The office is in Bern."]
    assert (told["verdicts"], after) == ({"contradict": 1}, (home, own))


def test_what_was_corrected_does_not_come_back(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: The office is in Bern.")
    night(memory, "2026-03-05", "Fact: The office has moved to Zurich.")
    told = night(memory, "2026-03-08", "Fact: the office is in Bern")
    assert told["verdicts"] == {"duplicate": 1}
    assert items(memory)["The office is in Bern."][1].status is Status.SUPERSEDED


def test_a_reversal_is_a_correction_of_the_correction(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: The office is in Bern.")
    night(memory, "2026-03-05", "Fact: The office has moved to Zurich.")
    night(memory, "2026-03-08", "Fact: The office has moved back to Bern.")
    live = [item.text for _, item in items(memory).values() if item.active]
    assert live == ["The office has moved back to Bern."]


def test_one_night_reads_days_in_their_order(memory: Memory) -> None:
    memory.write("Logs/2026-03-02.md", "project: Kestrel\n\n- Decision: Standup is at 9:30.\n")
    memory.write("Logs/2026-03-03.md", "project: Kestrel\n\n- Decision: Standup is now at 10:00.\n")
    told = night(memory, "2026-03-04", "Decision: Standup moved to 11:15.")
    assert told["verdicts"] == {"add": 1, "supersede": 2}
    found = [item for _, item in items(memory).values()]
    assert [item.text for item in found if item.active] == ["Standup moved to 11:15."]
    chain = {item.id: item.superseded_by for item in found}
    assert len({*chain.values()} - {""}) == 2


def test_a_late_log_does_not_undo_what_came_after(memory: Memory) -> None:
    night(memory, "2026-03-05", "Decision: Standup is now at 10:00.")
    memory.write("Logs/2026-03-02.md", "project: Kestrel\n\n- Decision: Standup is at 9:30.\n")
    told = json.loads(memory.curate("run", "--json", "--now", "2026-03-06T23:30"))
    assert told["verdicts"] == {"noise": 1}


def test_no_more_than_a_quarter_goes_in_one_night(memory: Memory) -> None:
    rooms = "Aare Reuss Rhone Inn Ticino".split()
    night(memory, "2026-03-02", *(f"Fact: The {room} sync is at 9:30." for room in rooms))
    told = night(memory, "2026-03-03", *(f"Fact: The {room} sync is now at 10:00." for room in rooms))
    assert told["verdicts"] == {"supersede": 3, "contradict": 2}


def test_two_projects_have_beliefs_of_their_own(memory: Memory) -> None:
    night(memory, "2026-03-02", "Decision: Standup is at 9:30.", project="Kestrel")
    told = night(memory, "2026-03-03", "Decision: Standup is now at 10:00.", project="Orchard")
    assert told["verdicts"] == {"add": 1}


def test_a_todo_is_closed_by_what_the_log_says(memory: Memory) -> None:
    night(memory, "2026-03-02", "Todo: Write the migration guide for 2.0.", "Todo: Ask Lena about the invoice.")
    told = night(
        memory, "2026-03-05", "the migration guide for 2.0 is done", "still have to ask Lena about the invoice"
    )
    assert told["items"]["closed"] == 1
    found = items(memory)
    done, still = found["Write the migration guide for 2.0."][1], found["Ask Lena about the invoice."][1]
    assert (done.status, done.until, still.status) == (Status.DONE, "2026-03-05", Status.OPEN)
    assert done.evidence[-1].path == "Logs/2026-03-05.md"
    assert "- [x] Todo: Write the migration guide" in memory.read("Projects/kestrel.md")
    assert json.loads(memory.curate("check", "--json")) == []


def test_a_persons_tick_closes_a_todo(memory: Memory) -> None:
    night(memory, "2026-03-02", "Todo: Ask Lena about the invoice.")
    memory.write("Projects/kestrel.md", memory.read("Projects/kestrel.md").replace("- [ ] Todo", "- [x] Todo"))
    night(memory, "2026-03-05", "ran the tests")
    assert items(memory)["Ask Lena about the invoice."][1].status is Status.DONE


def finished_project(memory: Memory) -> None:
    night(memory, "2026-01-02", "Todo: Write the migration guide for 2.0.")
    night(memory, "2026-01-05", "Migration guide for 2.0 is written and done.")


def test_a_project_that_is_over_is_proposed_for_archives_once(memory: Memory) -> None:
    finished_project(memory)
    assert "archive" not in memory.read("Review.md")
    told = night(memory, "2026-03-20", "ran the tests", project="")
    assert told["people"]["asked"] == 1
    assert "## archive: Projects/kestrel.md <!-- review archive 2026-03-20 -->" in memory.read("Review.md")
    assert "- [ ] archive:" in memory.read("Review.md")
    assert night(memory, "2026-03-21", "ran the tests", project="")["people"]["asked"] == 0


@pytest.mark.parametrize("line", ["talked about Kestrel with the board", "Todo: oil the Kestrel door"])
def test_a_project_that_is_spoken_of_is_not_over(memory: Memory, line: str) -> None:
    finished_project(memory)
    night(memory, "2026-03-01", line, project="")
    assert night(memory, "2026-03-20", "ran the tests", project="")["people"]["asked"] == 0


def test_a_project_that_a_person_keeps_is_not_proposed_again(memory: Memory) -> None:
    finished_project(memory)
    text = memory.read("Projects/kestrel.md")
    memory.write("Projects/kestrel.md", text.replace("kind: project\n", "kind: project\nkept: 2026-03-01\n"))
    assert night(memory, "2026-03-20", "ran the tests", project="")["people"]["asked"] == 0
    night(memory, "2026-03-21", "Todo: Oil the hinge.", "Decision: Stay with brass.")
    night(memory, "2026-03-22", "Oil the hinge: done.")
    assert night(memory, "2026-07-20", "ran the tests", project="")["people"]["asked"] == 1


def test_a_run_that_corrected_something_can_be_undone(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: The office is in Bern.")
    before = memory.read("Projects/kestrel.md")
    night(memory, "2026-03-05", "Fact: The office has moved to Zurich.", "Decision: Retry failed jobs 3 times.")
    memory.curate("undo", "--now", "2026-03-06T12:00")
    assert memory.read("Projects/kestrel.md") == before


def test_a_cycle_of_links_corrupts_nothing(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: The office is in Bern.", "Fact: The lab is in Basel.")
    found = items(memory)
    office, lab = found["The office is in Bern."][1], found["The lab is in Basel."][1]
    text = memory.read("Projects/kestrel.md")
    text = text.replace(f"<!-- {office.id} ", f"<!-- {office.id} because={lab.id} ")
    memory.write("Projects/kestrel.md", text.replace(f"<!-- {lab.id} ", f"<!-- {lab.id} because={office.id},{lab.id} "))
    night(memory, "2026-03-05", "Fact: The office has moved to Zurich.", "Fact: The lab has moved to Geneva.")
    live = [item.text for _, item in items(memory).values() if item.active]
    assert sorted(live) == ["The lab has moved to Geneva.", "The office has moved to Zurich."]
    assert json.loads(memory.curate("check", "--json")) == []


def test_a_circle_of_successors_is_named_and_harms_nothing(memory: Memory) -> None:
    night(memory, "2026-03-02", "Fact: The office is in Bern.")
    night(memory, "2026-03-05", "Fact: The office has moved to Zurich.")
    old, new = (items(memory)[text][1] for text in ("The office is in Bern.", "The office has moved to Zurich."))
    text = memory.read("Projects/kestrel.md").replace(
        "- Fact: The office has moved to Zurich.", "- ~~Fact: The office has moved to Zurich.~~"
    )
    memory.write("Projects/kestrel.md", text.replace(f"<!-- {new.id} ", f"<!-- {new.id} superseded-by={old.id} "))
    night(memory, "2026-03-08", "Fact: The office has moved to Geneva.")
    faults = json.loads(memory.curate("check", "--json", exits=1))
    assert {fault["kind"] for fault in faults} == {"circle"}
    assert [item.text for _, item in items(memory).values() if item.active] == ["The office has moved to Geneva."]
