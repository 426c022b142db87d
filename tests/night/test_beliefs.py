"""Nights in which beliefs change: what is corrected is history, what is unclear is asked, what is done is closed."""

from typing import Any

import pytest

from pipelines.store.item import Item, Status
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory


def night(memory: Memory, day: str, *lines: str, project: str = "Kestrel") -> dict[str, Any]:
    head = f"project: {project}\n\n" if project else ""
    memory.write(f"Logs/{day}.md", f"# {day}\n\n{head}" + "".join(f"- {line}\n" for line in lines))
    told: dict[str, Any] = memory.json("run", "--now", f"{day}T23:30")
    return told


def items(memory: Memory) -> dict[str, tuple[str, Item]]:
    found = read_documents(memory.root)
    return {p.item.text: (path, p.item) for path, document in found.items() for p in document.items}


PORT, CORRECTED = "The gateway listens on port 8080.", "The gateway listens on port 9090."
CORRECTION = f"{CORRECTED}, not 8080."


def replaced(memory: Memory, project: str = "Kestrel") -> tuple[Item, Item]:
    """Let a correction replace a fact, and return both."""
    night(memory, "2026-03-02", f"Fact: {PORT}", "Decision: Test every deploy by hand.", project=project)
    night(memory, "2026-03-05", f"Correction: {CORRECTION}", project=project)
    return items(memory)[PORT][1], items(memory)[CORRECTED][1]


def test_search_and_the_briefing_tell_only_what_holds(memory: Memory) -> None:
    replaced(memory, project="")
    found = items(memory)
    assert found[PORT][0] == "Areas/general.md"  # what every session loads keeps no history
    assert found[CORRECTED][0] == "Areas/general.md"
    assert f"Fact: {PORT}" not in memory.read("MEMORY.md")
    hits = memory.json("search", "which port does the gateway listen on")
    told = [hit["text"] for hit in hits["results"] if not hit["path"].startswith(("Logs/", "Episodes/"))]
    assert any("9090" in text for text in told)
    assert not any(PORT in text for text in told)
    assert PORT not in memory.curate("context", "--now", "2026-03-09T08:00").partition("Logs")[0]
    old = memory.json("items", "--status", "superseded")
    assert [one["text"] for one in old] == [PORT]


def test_links_of_others_keep_what_was_true(memory: Memory) -> None:
    night(memory, "2026-03-02", f"Fact: {PORT}", "Todo: Write the runbook of the gateway.")
    _, old = items(memory)[PORT]
    todo = items(memory)["Write the runbook of the gateway."][1]
    memory.amend(todo.text, because=old.id)
    night(memory, "2026-03-05", f"Correction: {CORRECTION}")
    found = items(memory)
    assert dict(found[todo.text][1].links)["because"] == (old.id,)
    assert dict(found[CORRECTED][1].links)["supersedes"] == (old.id,)
    assert "superseded" in memory.curate("why", todo.id)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"Fact: {PORT}", f"Fact: {CORRECTED}"),
        ("Fact: Der Laden ist sonntags offen.", "Fact: Der Laden ist sonntags nicht offen."),
    ],
)
def test_nothing_that_the_log_says_waits_because_of_its_words(memory: Memory, old: str, new: str) -> None:
    night(memory, "2026-03-02", old)
    told = night(memory, "2026-03-03", new)
    assert (told["verdicts"], told["people"]["asked"]) == ({"add": 1}, 1)
    assert [items(memory)[line.partition(": ")[2]][1].status for line in (old, new)] == [Status.LIVE, Status.LIVE]
    assert new.partition(": ")[2] in memory.curate("context")
    [asked] = memory.json("review")
    assert (asked["kind"], asked["items"]) == ("pair", [])
    assert all(line.partition(": ")[2] in asked["why"] for line in (old, new))


def test_a_todo_that_is_set_and_done_on_one_day_stays_done(memory: Memory) -> None:
    task = "Send Ada the invoice 41 for Turin."
    night(memory, "2026-03-02", f"Todo: {task}")
    for day in ("2026-03-03", "2026-03-05"):
        memory.write(f"Logs/{day}.md", f"# {day}\n\nproject: Kestrel\n\n- Todo: {task}\n- Done: {task}\n")
        memory.night(f"{day}T23:30")
        late = f"# {day}\n\nproject: Kestrel\n\n- Todo: {task}\n- Done: {task}\n- 22:00 Todo: {task}\n"
        memory.write(f"Logs/{day}.md", late)
        memory.night(f"{day}T23:50")
        assert memory.json("items", "--status", "open") == []


def test_what_is_done_in_a_project_is_its_own_todo(memory: Memory) -> None:
    task = "Renew the certificate before it ends."
    for day, project in ((2, "Kestrel"), (3, "Orchard")):
        night(memory, f"2026-03-0{day}", f"Todo: {task}", project=project)
    night(memory, "2026-03-04", f"Done: {task}", project="Orchard")
    found = {path: placed.item.status for path, one in read_documents(memory.root).items() for placed in one.items}
    assert (found["Projects/kestrel.md"], found["Projects/orchard.md"]) == (Status.OPEN, Status.DONE)


FORMS = [
    ("Todo: Ask Lena about the invoice.", "Dropped: ask Lena about the invoice", Status.DROPPED),
    ("Risk: The disk of the server fills up.", "Resolved: the disk of the server fills up", Status.RESOLVED),
    ("Risk: The disk of the server fills up.", "Occurred: the disk of the server fills up", Status.OCCURRED),
    ("Decision: Use nginx as the proxy.", "No longer: nginx as the proxy", Status.ENDED),
    ("Fact: The office is in Bern.", "No longer: the office is in Bern", Status.ENDED),
    ("Rule: Never push on Fridays.", "No longer: never push on Fridays", Status.ENDED),
]


@pytest.mark.parametrize(("said", "form", "status"), FORMS)
def test_a_taught_form_closes_its_one_item_and_is_none(memory: Memory, said: str, form: str, status: Status) -> None:
    night(memory, "2026-03-02", said, "Fact: The lab is in Basel.")
    told = night(memory, "2026-03-05", form, "No longer: the moon is made of cheese", "Done: walk the dog")
    found = items(memory)
    one = found[said.partition(": ")[2]][1]
    assert (one.status, one.until, told["items"]["closed"], told["items"]["added"]) == (status, "2026-03-05", 1, 0)
    assert found["The lab is in Basel."][1].status is Status.LIVE
    assert len(found) == 2
    assert memory.row(one.text)["status"] == status
    assert memory.json("check") == []
    assert "Nothing new" in memory.night("2026-03-05T23:50")


def held_on(memory: Memory, day: str) -> set[str]:
    return {one["text"] for one in memory.json("items", "--as-of", day)}


@pytest.mark.parametrize("again", ["superseded", "ended"])
def test_what_a_person_no_longer_strikes_is_live_in_every_view(memory: Memory, again: str) -> None:
    if again == "superseded":
        old, _ = replaced(memory)
    else:
        night(memory, "2026-03-02", f"Fact: {PORT}")
        night(memory, "2026-03-05", f"No longer: {PORT}")
        old = items(memory)[PORT][1]
    assert PORT not in held_on(memory, "2026-03-08")
    path = "Projects/kestrel.md"
    memory.write(path, memory.read(path).replace(f"~~Fact: {PORT}~~", f"Fact: {PORT}"))
    for moment in ("before the next night", "after it"):
        one = items(memory)[PORT][1]
        assert (one.status, one.until, one.superseded_by) == (Status.LIVE, "", ""), moment
        assert PORT in held_on(memory, "2026-03-08"), moment
        hits = memory.json("search", "port of the gateway", "--as-of", "2026-03-08")
        assert any(hit["text"].endswith(PORT) for hit in hits["results"]), moment
        context = memory.curate("context", "--now", "2026-03-09T08:00", "--project", "Kestrel")
        assert PORT in context, moment
        if moment == "before the next night":
            night(memory, "2026-03-09", "ran the tests")
    told = memory.json("history", old.id)["versions"]
    assert [one["status"] for one in told][:3] == ["live", again, "live"]
    assert {p.item.id: p.section for p in read_documents(memory.root)[path].items}[old.id] == "Facts"
    assert "superseded-by" not in memory.read(path)
    assert memory.json("check") == []
    memory.write(path, memory.read(path).replace(f"- Fact: {PORT}", f"- ~~Fact: {PORT}~~"))
    night(memory, "2026-03-10", "ran the tests again")
    assert items(memory)[PORT][1].status is Status.RETRACTED


def test_a_cycle_of_links_corrupts_nothing(memory: Memory) -> None:
    night(memory, "2026-03-02", f"Fact: {PORT}", "Fact: The lab is in Basel.")
    found = items(memory)
    port, lab = found[PORT][1], found["The lab is in Basel."][1]
    memory.amend(port.id, because=lab.id)
    memory.amend(lab.id, because=f"{port.id} {lab.id}")
    night(memory, "2026-03-05", f"Correction: {CORRECTION}", "Correction: The lab is in Geneva, not in Basel.")
    live = [item.text for _, item in items(memory).values() if item.active]
    assert sorted(live) == [CORRECTED, "The lab is in Geneva."]
    assert memory.json("check") == []


def test_a_circle_of_successors_harms_nothing(memory: Memory) -> None:
    old, new = replaced(memory)
    text = memory.read("Projects/kestrel.md").replace(f"- Fact: {CORRECTED}", f"- ~~Fact: {CORRECTED}~~")
    memory.write("Projects/kestrel.md", text)
    memory.amend(new.id, **{"superseded-by": old.id})
    night(memory, "2026-03-08", "Fact: The gateway has a new fan.")
    live = [item.text for _, item in items(memory).values() if item.active]
    assert live == ["Test every deploy by hand.", "The gateway has a new fan."]
