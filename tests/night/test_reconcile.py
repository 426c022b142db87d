"""People's edits between runs: they stand, they are understood, and what was deleted never comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Memory

NIGHTS = [f"2026-03-{day:02}T02:00" for day in range(11, 31)]


class Story:
    """A memory with six decisions in a project, and its nights one after another."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._nights = iter(NIGHTS)
        lines = "".join(f"- Decision: choice number {n}\n" for n in range(1, 7))
        memory.write("Logs/2026-03-10.md", f"project: Alpha\n\n{lines}\n## Other\n\n- Rule: never push on Fridays\n")
        self.night()

    def night(self, *more: str, exits: int = 0) -> dict[str, object]:
        told: dict[str, object] = json.loads(
            self.memory.curate("run", "--json", "--now", next(self._nights), *more, exits=exits)
        )
        return told

    def items(self) -> dict[str, dict[str, str]]:
        return {item["text"]: item for item in json.loads(self.memory.curate("items", "--json"))}

    def swap(self, path: str, old: str, new: str) -> None:
        text = self.memory.read(path)
        assert old in text
        self.memory.write(path, text.replace(old, new))

    def line(self, path: str, part: str) -> str:
        return next(line + "\n" for line in self.memory.read(path).splitlines() if part in line)


@pytest.fixture
def story(memory: Memory) -> Story:
    return Story(memory)


ALPHA = "Projects/alpha.md"


def test_an_edited_item_keeps_its_id_and_becomes_the_owners(story: Story) -> None:
    before = story.items()["choice number 3"]
    story.swap(ALPHA, "choice number 3", "choice number three, after all")
    report = story.night()
    after = story.items()["choice number three, after all"]
    assert (after["id"], after["trust"], after["since"]) == (before["id"], "owner", before["since"])
    assert after["evidence"] == before["evidence"]
    assert report["people"] == {"edited": 1, "numbered": 0, "retracted": 0, "restored": 0, "asked": 0}
    assert story.night()["commit"] is None


def test_an_edited_item_is_not_proposed_anew_in_its_old_wording(story: Story) -> None:
    story.swap(ALPHA, "choice number 3", "choice number three, after all")
    story.night()
    story.memory.write("Logs/2026-03-12.md", "- Decision: something else\n")
    story.night()
    assert "choice number 3" not in story.items()


@pytest.mark.parametrize("label", ["DECISION", "Fact", "Todo"])
def test_a_deleted_line_is_never_proposed_again(story: Story, label: str) -> None:
    story.memory.write(ALPHA, story.memory.read(ALPHA).replace(story.line(ALPHA, "number 2"), ""))
    report = story.night()
    assert report["people"]["retracted"] == 1  # type: ignore[index]  # JSON
    story.memory.write("Logs/2026-03-12.md", f"project: Alpha\n\n- {label}: Choice number 2!\n- Decision: another\n")
    report = story.night()
    assert report["verdicts"] == {"ignore": 1, "add": 1}
    assert "choice number 2" not in {text.lower() for text in story.items()}
    assert "number 2" not in story.memory.read("State/tombstones.jsonl")


def test_a_day_read_anew_sets_its_tombstones_aside(story: Story) -> None:
    before = story.items()
    story.memory.write(ALPHA, story.memory.read(ALPHA).replace(story.line(ALPHA, "number 2"), ""))
    story.night()
    report = story.night("--again", "2026-03-10")
    assert report["entries"] == {"read": 7, "pending": 0, "left": 0}
    after = story.items()
    assert set(after) == set(before)
    assert {text: after[text]["id"] for text in after if text != "choice number 2"} == {
        text: before[text]["id"] for text in before if text != "choice number 2"
    }
    assert "no log for" in story.memory.curate("run", "--again", "2026-03-09", exits=2)
    assert "is not a day" in story.memory.curate("run", "--again", "../x", exits=2)


def test_a_line_added_by_hand_is_the_owners(story: Story) -> None:
    story.swap(ALPHA, "## Decisions\n", "## Facts\n\n- Fact: the office is in Bern\n\n## Decisions\n")
    assert story.night()["people"]["numbered"] == 1  # type: ignore[index]  # JSON
    item = story.items()["the office is in Bern"]
    assert item["trust"] == "owner"
    assert item["id"].startswith("k")


def test_a_section_moved_to_another_file_moves_its_items(story: Story) -> None:
    lines = [story.line(ALPHA, f"number {n}") for n in (1, 2)]
    text = story.memory.read(ALPHA)
    for line in lines:
        text = text.replace(line, "")
    story.memory.write(ALPHA, text)
    story.memory.write("Areas/choices.md", "# Choices\n\n" + "".join(lines))
    before = {text: item["id"] for text, item in story.items().items()}
    report = story.night()
    assert report["people"]["retracted"] == 0  # type: ignore[index]  # JSON
    after = story.items()
    assert {text: item["id"] for text, item in after.items()} == before
    assert after["choice number 1"]["document"] == "Areas/choices.md"


def test_a_renamed_document_keeps_its_items(story: Story) -> None:
    (story.memory.root / ALPHA).rename(story.memory.root / "Projects/omega.md")
    before = {text: item["id"] for text, item in story.items().items()}
    report = story.night()
    assert report["people"] == {"edited": 0, "numbered": 0, "retracted": 0, "restored": 0, "asked": 0}
    assert {text: item["id"] for text, item in story.items().items()} == before
    assert "Projects/omega.md" in story.memory.read("MEMORY.md")
    assert ALPHA not in story.memory.read("MEMORY.md")


def test_a_copied_line_is_the_same_item_and_in_other_words_one_of_its_own(story: Story) -> None:
    before, line = story.items(), story.line(ALPHA, "number 4")
    story.memory.write("Areas/a.md", "# A\n\n" + line)
    story.night()
    assert story.items() == before
    story.memory.write("Areas/a.md", "# A\n\n" + line.replace("number 4", "number 44"))
    story.night()
    after = story.items()
    assert {text: one for text, one in after.items() if text in before} == before
    assert after["choice number 44"]["trust"] == before["choice number 4"]["trust"] == "self"


def test_a_briefing_rewritten_by_hand_stands(story: Story) -> None:
    story.memory.write("MEMORY.md", "# My memory\n\nAll mine now.\n")
    story.night()
    text = story.memory.read("MEMORY.md")
    assert text.startswith("# My memory\n\nAll mine now.\n")
    assert "never push on Fridays" not in text
    story.memory.write("Logs/2026-03-12.md", "- Rule: Never push on Fridays.\n")
    story.night()
    assert "never push on fridays" not in {text.lower().rstrip(".") for text in story.items()}


def test_so_many_gone_that_it_looks_like_a_bad_checkout_are_asked_about(story: Story) -> None:
    before = story.items()
    (story.memory.root / ALPHA).unlink()
    report = story.night()
    assert report["people"]["asked"] == 6  # type: ignore[index]  # JSON
    assert report["people"]["retracted"] == 0  # type: ignore[index]  # JSON
    queue = story.memory.read("Review.md")
    assert "6 items are gone from Projects/alpha.md" in queue
    assert story.items() == before, "the page counts until somebody answers"
    assert story.memory.git("show", f"HEAD:{ALPHA}")
    assert story.night()["commit"] is None
    story.swap("Review.md", "- [ ] restore", "- [x] restore")
    report = story.night()
    assert report["people"]["restored"] == 6  # type: ignore[index]  # JSON
    after = story.items()
    assert after == before
    assert (story.memory.root / ALPHA).exists()
    assert "gone from" not in story.memory.read("Review.md")


def test_retracting_what_was_asked_about_is_for_good(story: Story) -> None:
    text = story.memory.read(ALPHA)
    for number in range(1, 4):
        text = text.replace(story.line(ALPHA, f"number {number}"), "")
    story.memory.write(ALPHA, text)
    assert story.night()["people"]["asked"] == 3  # type: ignore[index]  # JSON
    story.memory.write("Logs/2026-03-12.md", "project: Alpha\n\n- Decision: choice number 1\n")
    assert story.night()["items"]["added"] == 0  # type: ignore[index]  # JSON
    story.swap("Review.md", "- [ ] retract", "- [X] retract")
    assert story.night()["people"]["retracted"] == 3  # type: ignore[index]  # JSON
    story.memory.write("Logs/2026-03-13.md", "project: Alpha\n\n- Decision: choice number 1\n")
    report = story.night()
    assert report["verdicts"] == {"ignore": 1}
    assert "choice number 1" not in story.items()


def test_two_ticked_boxes_are_named_and_change_nothing(story: Story) -> None:
    (story.memory.root / ALPHA).unlink()
    story.night()
    story.swap("Review.md", "- [ ] restore", "- [x] restore")
    story.swap("Review.md", "- [ ] retract", "- [x] retract")
    told = story.night()
    assert any("two ticked boxes" in warning for warning in told["warnings"])  # type: ignore[attr-defined]  # JSON
    assert "6 items are gone" in story.memory.read("Review.md")


def test_a_queue_emptied_by_hand_asks_no_more(story: Story) -> None:
    (story.memory.root / ALPHA).unlink()
    story.night()
    story.memory.write("Review.md", "")
    report = story.night()
    assert report["people"]["retracted"] == 6  # type: ignore[index]  # JSON
    assert story.night()["commit"] is None


def test_a_ticked_and_a_struck_line_are_read_as_they_stand(story: Story) -> None:
    story.memory.write("Logs/2026-03-11.md", "project: Alpha\n\n- [ ] call the port office\n")
    story.night()
    story.swap(ALPHA, "- [ ] Todo: call", "- [x] Todo: call")
    story.swap(ALPHA, "- Decision: choice number 5", "- ~~Decision: choice number 5~~")
    story.night()
    items = story.items()
    assert items["call the port office"]["status"] == "done"
    assert items["choice number 5"]["status"] == "retracted"
    story.memory.write("Logs/2026-03-12.md", "project: Alpha\n\n- Decision: choice number 5\n")
    assert story.night()["items"]["added"] == 0  # type: ignore[index]  # JSON


@pytest.mark.parametrize("verb", [(), ("add", "fact", "The sky is blue")])
def test_a_corrected_sentence_does_not_come_back_in_its_old_wording(story: Story, verb: tuple[str, ...]) -> None:
    story.swap(ALPHA, "choice number 3", "choice number three, after all")
    if verb:  # what a verb understands counts as well
        story.memory.curate(*verb, "--now", "2026-03-11T12:00")
    story.night()
    story.memory.write("Logs/2026-03-12.md", "project: Alpha\n\n- Decision: Choice number 3.\n")
    report = story.night()
    assert report["items"] == {**report["items"], "added": 0, "confirmed": 0}  # type: ignore[dict-item]  # a table
    story.memory.curate("run", "--again", "2026-03-10", "--now", "2026-03-20T02:00")
    items = story.items()
    assert "choice number 3" not in items
    assert "Choice number 3." not in items
    assert items["choice number three, after all"]["trust"] == "owner"
    assert "nothing is broken" in story.memory.curate("check")
    story.swap(ALPHA, "choice number three, after all", "choice number 3")
    story.memory.curate("run", "--now", "2026-03-21T02:00")
    assert story.items()["choice number 3"]["status"] == "live", "a person may say it again"
