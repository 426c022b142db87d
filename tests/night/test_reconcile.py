"""People's edits between runs: they stand, they are understood, and what was deleted never comes back."""

import pytest

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
        told: dict[str, object] = self.memory.json("run", "--now", next(self._nights), *more, exits=exits)
        return told

    def items(self) -> dict[str, dict[str, str]]:
        return {item["text"]: item for item in self.memory.json("items")}

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


def test_what_a_person_did_has_a_commit_before_the_nights_which_no_undo_takes_back(story: Story) -> None:
    story.swap(ALPHA, "choice number 1", "choice number one")
    story.memory.write("Logs/2026-03-11.md", "project: Alpha\n\n- Decision: choice number 7\n")
    story.night()
    subjects = story.memory.git("log", "-3", "--format=%s").splitlines()
    assert subjects[1:] == ["Edits by hand, understood", "Edits since the last run"]
    assert "number one" not in story.memory.git("show", "--format=", "-U0", "--", ALPHA)
    story.memory.curate("undo", "--now", NIGHTS[5])
    assert story.items()["choice number one"]["trust"] == "owner"
    assert "choice number 7" not in story.items()
    people = story.memory.git("log", "-1", "--skip=2", "--format=%h").strip()
    assert "nothing could be undone" in story.memory.curate("undo", people, "--now", NIGHTS[6])


def test_retracting_what_was_asked_about_is_for_good(story: Story) -> None:
    text = story.memory.read(ALPHA)
    for number in range(1, 4):
        text = text.replace(story.line(ALPHA, f"number {number}"), "")
    story.memory.write(ALPHA, text)
    assert story.night()["people"]["asked"] == 1, "a page is one question"  # type: ignore[index]  # JSON
    assert "or asked about it" in story.memory.curate("undo", "--now", NIGHTS[4], exits=1)
    story.memory.write("Logs/2026-03-12.md", "project: Alpha\n\n- Decision: choice number 1\n")
    assert story.night()["items"]["added"] == 0  # type: ignore[index]  # JSON
    story.swap("Review.md", "- [ ] retract", "- [X] retract")
    assert story.night()["people"]["retracted"] == 3  # type: ignore[index]  # JSON
    story.memory.write("Logs/2026-03-13.md", "project: Alpha\n\n- Decision: choice number 1\n")
    report = story.night()
    assert report["verdicts"] == {"ignore": 1}
    assert "choice number 1" not in story.items()
