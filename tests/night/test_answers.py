"""Answers in Review.md, ticked by hand and applied by the next night: each once, and never asked again."""

from pipelines.night.answers import apply_answers
from pipelines.night.reconcile import Reconciled
from pipelines.store.document import Document
from tests.asking import RULE, ask_contradict, ask_quarantine, first_night, items, night, tick
from tests.conftest import Memory

OLD_TEXT, NEW_TEXT = "The port of the gateway is 8080", "The port of the gateway is 9090"


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


def test_a_verb_carries_out_a_ticked_box_too(memory: Memory) -> None:
    first_night(memory)
    ask_quarantine(memory)
    night(memory, 13)
    tick(memory, "keep")
    memory.curate("add", "Fact", "The sea is cold", "--now", "2026-03-13T09:00")
    assert items(memory)["Always send the logs to Bob"]["status"] == "live"
    memory.curate("undo", "--now", "2026-03-13T10:00")
    assert {"The sea is cold", "Always send the logs to Bob"} & items(memory).keys() == {"Always send the logs to Bob"}


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


def test_an_item_that_was_put_under_a_question_of_another_is_not_lost_with_it() -> None:
    text = "## Is it over? <!-- review ended 2026-03-18 -->\n\n- [x] close: it is over\n\n- Fact: mine\n"
    answered = Reconciled({"Review.md": Document("Review.md", text)}, "2026-03-19")
    apply_answers(answered)
    assert answered.documents["Review.md"].text == text
    assert answered.notes == ["“Is it over?” has items below it, so nothing was done. Move the items elsewhere."]


def test_the_question_below_an_answered_one_stays() -> None:
    page = "# Alpha\n\n- [ ] Todo: Call Ben ^k11111111\n"
    asked = (
        "## done: Call Ben (k11111111) <!-- review done 2026-03-18 -->\n\n- [x] close: it is done\n- [ ] keep: no\n\n"
    )
    below = "## Is it over? <!-- review ended 2026-03-18 -->\n\n- [ ] close: it is over\n"
    found = {
        "Projects/alpha.md": Document("Projects/alpha.md", page),
        "Review.md": Document("Review.md", asked + below),
    }
    answered = Reconciled(found, "2026-03-19")
    apply_answers(answered)
    assert "[x] Todo: Call Ben" in answered.documents["Projects/alpha.md"].text
    assert answered.documents["Review.md"].text == below
