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
