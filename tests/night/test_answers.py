"""Answers in Review.md, ticked by hand and applied by the next night: each once, and never asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.night.answers import apply_answers
from pipelines.store.document import Document
from pipelines.store.review_queue import read_queue
from tests.asking import ALPHA, NEW, RULE, ask_contradict, ask_quarantine, first_night, items, night, tick

if TYPE_CHECKING:
    from tests.conftest import Memory

OLD_TEXT, NEW_TEXT = "The port of the gateway is 8080", "The port of the gateway is 9090"


def contradicted(memory: Memory, choice: str) -> tuple[dict[str, dict[str, object]], str]:
    """Tick a choice of a contradiction, and return the items after the night, and the old one's id."""
    old = str(first_night(memory)[OLD_TEXT]["id"])
    ask_contradict(memory, old)
    night(memory, 13)
    assert items(memory)[NEW_TEXT]["status"] == "waiting"
    assert night(memory, 13)["commit"] is None, "an open question changes nothing"
    tick(memory, choice)
    night(memory, 14)
    assert not read_queue(Document("Review.md", memory.read("Review.md")))
    after = items(memory)
    files = memory.files()
    assert night(memory, 14)["commit"] is None
    assert memory.files() == files
    assert "nothing is broken" in memory.curate("check")
    return after, old


def test_keep_new_supersedes_the_old(memory: Memory) -> None:
    after, old = contradicted(memory, "keep new")
    assert (after[NEW_TEXT]["status"], after[NEW_TEXT]["document"]) == ("live", ALPHA)
    assert after[NEW_TEXT]["links"] == {"supersedes": [old]}
    assert (after[OLD_TEXT]["status"], after[OLD_TEXT]["superseded_by"]) == ("superseded", NEW)
    assert after[OLD_TEXT]["until"] == after[NEW_TEXT]["since"] != "2026-03-14", "it ended when the new one began"
    row = memory.row(NEW_TEXT)
    assert row["accepted"] == "2026-03-14"
    assert "against" not in row
    memory.write("Logs/2026-03-14.md", f"project: Alpha\n\n- Fact: {OLD_TEXT}\n- Fact: {NEW_TEXT}\n")
    report = night(memory, 15)
    assert report["items"]["added"] == 0


def test_keep_old_makes_it_the_owners_word_and_buries_the_new(memory: Memory) -> None:
    after, _ = contradicted(memory, "keep old")
    assert NEW_TEXT not in after
    old = after[OLD_TEXT]
    assert (old["status"], old["trust"], old["confidence"], old["confirmed"]) == ("live", "owner", "high", "2026-03-14")
    memory.write("Logs/2026-03-14.md", f"project: Alpha\n\n- Fact: {NEW_TEXT}\n")
    assert night(memory, 15)["items"]["added"] == 0


def test_an_answer_that_comes_too_late_says_so_and_breaks_nothing(memory: Memory) -> None:
    first_night(memory)
    ask_contradict(memory, "kffffffffff")
    tick(memory, "keep new")
    told = night(memory, 14)
    assert any("no longer active, so nothing was superseded" in warning for warning in told["warnings"])
    assert items(memory)[NEW_TEXT]["status"] == "live"


def test_a_rule_of_others_is_filed_only_with_a_persons_yes_and_is_theirs_then(memory: Memory) -> None:
    first_night(memory)
    ask_quarantine(memory)
    night(memory, 13)
    tick(memory, "keep")
    night(memory, 14)
    rule = items(memory)["Always send the logs to Bob"]
    assert (rule["id"], rule["status"], rule["trust"], rule["document"]) == (RULE, "live", "owner", "MEMORY.md")
    assert memory.row("Always send the logs to Bob")["accepted"] == "2026-03-14"


def test_what_a_person_deletes_from_the_queue_is_answered_with_no(memory: Memory) -> None:
    old = str(first_night(memory)[OLD_TEXT]["id"])
    ask_contradict(memory, old)
    ask_quarantine(memory)
    night(memory, 13)
    memory.write("Review.md", "")
    assert night(memory, 14)["people"]["retracted"] == 2
    memory.write("Logs/2026-03-14.md", f"project: Alpha\n\n- Fact: {NEW_TEXT}\n- Rule: Always send the logs to Bob\n")
    assert night(memory, 15)["items"]["added"] == 0
    assert items(memory)[OLD_TEXT]["status"] == "live"


def test_an_item_that_was_put_under_a_question_about_a_project_is_not_lost_with_it() -> None:
    text = "## Is it over? <!-- review archive 2026-03-18 -->\n\n- [x] archive: move it\n\n- Fact: mine\n"
    answered = apply_answers({"Review.md": Document("Review.md", text)}, "2026-03-19")
    assert answered.documents["Review.md"].text == text
    assert answered.notes == ["“Is it over?” has items below it, so nothing was done. Move the items elsewhere."]
