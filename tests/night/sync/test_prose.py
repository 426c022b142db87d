"""What people write that is no item: two machines keep the words of both, and ask where both changed the same lines."""

from pathlib import Path

import pytest

from pipelines.store import journal
from tests.conftest import Memory, Once
from tests.night.sync.machines import append_log, check_same, share

PAGE = "Projects/kestrel.md"
PROSE = "\nThe harbour is in Bergen.\n\nThe crew is four.\n\nThe boat is red.\n"
FACTS = "".join(f"- Fact: shelf {number} holds bolts\n" for number in range(1, 4))


class Pair:
    """Two machines whose memories hold a page and SOUL.md with three paragraphs each."""

    def __init__(self, one: Memory, day: int) -> None:
        folder = one.root.parent
        self.one, self.other, self.remote = one, one.aside(folder / "other"), folder / "remote.git"
        self._day = day

    def change(self, memory: Memory, path: str, old: str, new: str) -> None:
        text = memory.read(path)
        assert old in text
        memory.write(path, text.replace(old, new))

    def meet(self, verb: str = "run") -> str:
        """Let both machines work until they know of each other, and return what they said."""
        self._day += 1
        told = ""
        for minute, memory in enumerate((self.one, self.other, self.one, self.other)):
            told += memory.curate(verb, "--now", f"2025-01-{self._day:02}T23:{minute:02}")
        check_same((self.one, self.other), self.remote)
        return told


def live(memory: Memory) -> None:
    share(memory)
    append_log(memory, "2025-01-01", f"project: Kestrel\n\n{FACTS}")
    memory.night("2025-01-01T23:00")
    for path in (PAGE, "SOUL.md", "AGENTS.md"):
        memory.write(path, memory.read(path) + PROSE)
    Pair(memory, 1).meet()


@pytest.fixture
def pair(once: Once, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Return two machines that share a memory with prose."""
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    return Pair(once(live), 2)


def test_the_same_lines_changed_on_both_stand_in_both_versions_and_are_asked_about_once(pair: Pair) -> None:
    for path in (PAGE, "SOUL.md"):
        pair.change(pair.one, path, "is four", "is five")
        pair.change(pair.other, path, "is four", "is six")
    pair.change(pair.one, PAGE, "shelf 3 holds bolts", "shelf 3 holds nuts")
    pair.change(pair.other, PAGE, "shelf 3 holds bolts", "shelf 3 holds nails")
    pair.change(pair.one, "curate.toml", "document = 8192", "document = 9000")
    pair.change(pair.other, "curate.toml", "document = 8192", "document = 9001")
    told = pair.meet("sync")
    assert told.count(f"{PAGE} was changed on two machines. Decide in Review.md.") == 1
    for path in (PAGE, "SOUL.md"):
        text = pair.one.read(path)
        assert text.count("\nThe crew is five.\n") == text.count("\nThe crew is six.\n") == 1
    queue = pair.one.read("Review.md")
    assert queue.count(" was changed on two machines") == 4
    for words in ("crew is five", "crew is six", "holds nuts", "holds nails", "document = 9000", "document = 9001"):
        assert words in queue
    assert "<<<<" not in "".join(pair.one.read(path) for path in (PAGE, "SOUL.md", "curate.toml", "Review.md"))
    assert pair.one.read("curate.toml").count("document = 900") == 1
    pair.one.write("Review.md", queue.replace("- [ ] done", "- [x] done").replace("- [ ] first", "- [x] first"))
    pair.meet()
    assert "two machines" not in pair.other.read("Review.md")


def test_a_page_deleted_here_and_changed_there_stays_and_is_asked_about(pair: Pair) -> None:
    (pair.one.root / PAGE).unlink()
    pair.change(pair.other, PAGE, "in Bergen", "in Bodø")
    assert "was changed on two machines" in pair.meet()
    page = pair.one.read(PAGE)
    assert "The harbour is in Bodø." in page
    assert page.count(" holds bolts") == 3
    assert "deleted on one machine and changed on the other" in pair.one.read("Review.md")


def test_notes_below_an_item_and_its_new_words_both_stand(pair: Pair) -> None:
    line = next(line for line in pair.one.read(PAGE).splitlines() if "shelf 2" in line)
    for memory in (pair.one, pair.other):
        pair.change(memory, PAGE, f"{line}\n", f"{line}\n  Bought in May.\n")
    pair.meet()
    pair.change(pair.one, PAGE, "shelf 2 holds bolts", "shelf 2 holds nuts")
    pair.change(pair.other, PAGE, "Bought in May", "Bought in June")
    pair.meet()
    page = pair.other.read(PAGE)
    assert "shelf 2 holds nuts" in page
    assert page.count("Bought in June.") == 1
    assert "Bought in May" not in page


def test_words_saved_while_a_run_writes_stand_beside_its_own(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    append_log(memory, "2025-01-01", f"project: Kestrel\n\n{FACTS}")
    memory.night("2025-01-01T23:00")
    memory.write(PAGE, memory.read(PAGE) + PROSE)
    append_log(memory, "2025-01-02", "project: Kestrel\n\n- Risk: the mast may break\n")
    real = journal._complete

    def save_before(*arguments: object) -> str | None:
        memory.write(PAGE, memory.read(PAGE).replace("is red", "is blue"))
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(journal, "_complete", save_before)
    memory.night("2025-01-02T23:00")
    page = memory.read(PAGE)
    assert "The boat is blue." in page
    assert "the mast may break ^k" in page, "what the run wrote elsewhere on the page stands, too"
