"""Labels are read by code, whoever else reads: a labelled line that a model's reply leaves out is kept all the same."""

from pathlib import Path
from typing import Any

import pytest

from tests.asking import items
from tests.conftest import Memory
from tests.extract.programs import exec_reader, said
from tests.night.test_quarantine import ATTACK, session

NOTHING: dict[str, Any] = {"items": [], "operations": []}
NIGHT = "2026-03-18T02:00"


def night(memory: Memory, tmp_path: Path, log: str, reply: dict[str, Any]) -> dict[str, dict[str, Any]]:
    memory.write("Logs/2026-03-17.md", log)
    memory.curate("run", "--provider", exec_reader(tmp_path, reply), "--now", NIGHT)
    return items(memory)


@pytest.mark.parametrize(
    "line",
    [
        "- 09:00 Decision: The fence is green.",
        "- **Decision:** The fence is green.",
        "> Decision: The fence is green.",
        "Decisions:\n\n- The fence is green.",
        "- We met. Decision: The fence is green.",
    ],
)
def test_what_a_reply_leaves_out_is_filed_as_without_a_model(memory: Memory, tmp_path: Path, line: str) -> None:
    alone = memory.aside(tmp_path / "alone")
    memory.git("clone", "-q", ".", str(alone.root))
    log = f"project: Kestrel\n\n{line}\n"
    alone.write("Logs/2026-03-17.md", log)
    alone.curate("run", "--provider", "rules", "--now", NIGHT)
    found = night(memory, tmp_path, log, NOTHING)
    assert found == items(alone)
    if line[0] != ">":
        assert found["The fence is green."]["trust"] == "self"


def test_of_several_labels_on_a_line_those_are_added_that_the_reply_does_not_say(
    memory: Memory, tmp_path: Path
) -> None:
    line = "Decision: The fence is green. Fact: The gate weighs 40 kg. Rule: Oil the hinge in May."
    one = said(3, "Decision", "Kestrel paints its fence green.")
    log = f"project: Kestrel\n\n{line}\n"
    found = night(memory, tmp_path, log, {"items": [one], "operations": []})
    assert sorted(found) == ["Kestrel paints its fence green.", "Oil the hinge in May.", "The gate weighs 40 kg."]


def test_closing_forms_count_though_the_reply_tells_of_another_line_of_the_entry(
    memory: Memory, tmp_path: Path
) -> None:
    memory.write("Logs/2026-03-16.md", "project: Kestrel\n\n- Todo: Oil the hinge.\n- Risk: The latch may jam.\n")
    memory.curate("run", "--provider", "rules", "--now", "2026-03-17T02:00")
    log = "project: Kestrel\n\n- The fence is green.\n  Done: Oil the hinge.\n  Resolved: The latch may jam.\n"
    found = night(memory, tmp_path, log, {"items": [said(3, "Fact", "The fence is green.")]})
    assert found["Oil the hinge."]["status"] == "done"
    assert found["The latch may jam."]["status"] == "resolved"
    assert "The fence is green." in found


def test_a_label_of_an_outsider_gives_no_live_rule(memory: Memory, tmp_path: Path) -> None:
    found = night(memory, tmp_path, ATTACK, NOTHING)
    assert not any(one["status"] == "live" for one in found.values())
    assert "its source is The vendor's page." in memory.read("Review.md")


def test_a_label_in_a_session_counts_as_without_a_model(memory: Memory, tmp_path: Path) -> None:
    turns = ("user", "Please look."), ("assistant", "Decision: The fence is green.")
    session(memory, tmp_path, *turns)
    memory.curate("run", "--provider", exec_reader(tmp_path, NOTHING), "--now", "2026-03-19T02:00")
    assert list(items(memory)) == ["The fence is green."]


def test_what_a_reply_judged_under_a_labelled_heading_is_its_to_judge(memory: Memory, tmp_path: Path) -> None:
    """It took the line that is worth an item; cheers beside it, and the heading above it, are none."""
    log = (
        "## Decision: the fence\n\n- We paint it green.\n- Green it is!\n\n"
        "## Decisions\n\n- The gate stays.\n- More gates tomorrow!\n"
    )
    told = (said(3, "Decision", "The fence is painted green."), said(8, "Decision", "The gate stays where it is."))
    found = night(memory, tmp_path, log, {"items": [*told], "operations": []})
    assert sorted(found) == ["The fence is painted green.", "The gate stays where it is."]


@pytest.mark.parametrize("title", ["# Monday", ""])
def test_a_loose_label_is_the_readers_to_judge_only_under_a_heading_of_which_it_took_other_lines(
    memory: Memory, tmp_path: Path, title: str
) -> None:
    """`Blocker:` alone may be half a thought; in a section that a reply did not touch nobody has judged it."""
    first = "- The gate weighs 40 kg.\n- Blocker: The crane is rented until May.\n\n## Yard\n\n"
    log = f"{title}\n\n## Gate\n\n{first}- Policy: Only two people lift a beam.\n"
    found = night(memory, tmp_path, log, {"items": [said(5, "Fact", "The gate weighs 40 kg.")]})
    assert sorted(found) == ["Only two people lift a beam.", "The gate weighs 40 kg."]
    top = night(memory, tmp_path, f"{title}\n\n{first}", {"items": [said(3, "Fact", "The gate weighs 40 kg.")]})
    assert "The crane is rented until May." in top


def test_what_a_reply_has_seen_is_not_filed_again_by_its_label(memory: Memory, tmp_path: Path) -> None:
    memory.curate("add", "decision", "The fence of the yard is painted green", "--now", "2026-03-16T08:00")
    [known] = items(memory).values()
    log = "- Decision: The fence of the yard: green.\n- Decision: The gate weighs 40 kg.\n"
    found = night(memory, tmp_path, log, {"items": [], "operations": [], "seen": [known["id"]]})
    assert len(found) == 2


def test_none_is_no_decision_and_none_of_them_may_be_one(memory: Memory) -> None:
    lines = ("None", "None new — a quiet day", "None during this session", "None of the vendors gets a key.")
    memory.write("Logs/2026-03-17.md", "## Decisions\n\n" + "".join(f"- {line}\n" for line in lines))
    memory.curate("run", "--provider", "rules", "--now", NIGHT)
    assert list(items(memory)) == ["None of the vendors gets a key."]


@pytest.mark.parametrize("line", ["fence paint", "fence paint (3 days overdue) [[paint-fence]]"])
def test_a_line_of_a_list_of_what_is_open_that_a_reply_has_seen_is_not_filed_again(
    memory: Memory, tmp_path: Path, line: str
) -> None:
    memory.write("Logs/2026-03-16.md", "project: Kestrel\n\n- Todo: Paint the tall fence of the yard in dark green.\n")
    memory.curate("run", "--provider", "rules", "--now", "2026-03-17T02:00")
    [known] = items(memory).values()
    log = f"project: Kestrel\n\n## Open\n\n- [ ] {line}\n- [ ] oil the gate\n"
    seen = {**NOTHING, "seen": [known["id"]]}
    found = night(memory, tmp_path, log, {**seen, "open_lists": [{"lines": [[5, 6]], "document": ""}]})
    assert sorted(found) == sorted([known["text"], "oil the gate"])


def test_a_plain_tick_box_is_the_readers_to_judge_unless_it_says_nothing_of_the_day(
    memory: Memory, tmp_path: Path
) -> None:
    log = "project: Kestrel\n\n- [ ] Oil the hinge\n- [ ] Send the bill (due 2026-03-20)\n- The gate weighs 40 kg.\n"
    found = night(memory, tmp_path, log, {"items": [said(5, "Fact", "The gate weighs 40 kg.")]})
    assert sorted(found) == ["Send the bill", "The gate weighs 40 kg."]
