"""The journal: a change set is applied whole, finished by the next start, or never begun."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.store import journal
from pipelines.store.change_set import Change
from pipelines.store.document import Block, Document, edited
from pipelines.store.edits import commit_edits
from pipelines.store.git import Author, Git
from pipelines.store.item import Item, ItemType
from pipelines.store.journal import apply_changes, recover

WHEN = datetime(2026, 3, 18, 2, tzinfo=UTC)
SIGNED = ("night\n\nRun-Id: 1\n", Author("Night", "night@example.org", WHEN))
ITEM = Item(ItemType.DECISION, "use one", id="k1111111111")
BASE = Document("Areas/a.md", "# A\n\nmine\n")
AFTER = edited(BASE, add=[Block(ITEM)])


@pytest.fixture
def git(bare_memory: Path) -> Git:
    (bare_memory / BASE.path).write_text(BASE.text)
    made = Git(bare_memory)
    made.init()
    commit_edits(made, "first\n", Author("A", "a@example.org", WHEN))
    return made


def changes() -> list[Change]:
    return [
        Change(BASE.path, BASE.text.encode(), AFTER.text.encode()),
        Change("Areas/new.md", None, b"# New\n"),
        Change("SOUL.md", b"", None),
    ]


def real_changes(git: Git) -> list[Change]:
    soul = (git.root / "SOUL.md").read_bytes()
    return [*changes()[:2], Change("SOUL.md", soul, None)]


class Killed(BaseException):
    """Stands for the end of the process."""


def kill_at(monkeypatch: pytest.MonkeyPatch, name: str, count: int) -> None:
    """Let the `count`-th call of a step of the journal end the process."""
    real = getattr(journal, name)
    calls = iter(range(1, 10**6))

    def step(*arguments: object, **more: object) -> object:
        if next(calls) == count:
            raise Killed
        return real(*arguments, **more)

    monkeypatch.setattr(journal, name, step)


@pytest.mark.parametrize("replaced", [0, 1])
def test_an_item_that_a_person_changed_before_it_moved_stands_in_one_place(
    git: Git, monkeypatch: pytest.MonkeyPatch, replaced: int
) -> None:
    briefing = edited(Document("MEMORY.md", (git.root / "MEMORY.md").read_text()), add=[Block(ITEM)])
    (git.root / "MEMORY.md").write_text(briefing.text)
    commit_edits(git, "an item\n", Author("A", "a@example.org", WHEN))
    leaves = edited(briefing, remove=[str(ITEM.id)])
    moved = [Change(BASE.path, BASE.text.encode(), AFTER.text.encode())]
    moved += [Change("MEMORY.md", briefing.text.encode(), leaves.text.encode())]
    with monkeypatch.context() as patch:
        kill_at(patch, "put", replaced + 1)
        with pytest.raises(Killed):
            apply_changes(git, moved, *SIGNED)
    (git.root / "MEMORY.md").write_text(briefing.text.replace("use one", "use one, or two"))
    recover(git)
    texts = [(git.root / path).read_text() for path in (BASE.path, "MEMORY.md")]
    assert ["use one, or two" in text for text in texts] == [True, False]
    committed = [git.show("HEAD", path) or b"" for path in (BASE.path, "MEMORY.md")]
    assert [b"use one" in data for data in committed] == [True, False]


def test_a_commit_that_a_person_made_since_is_not_taken_back(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = real_changes(git)
    with monkeypatch.context() as patch:
        kill_at(patch, "_drop", 1)
        with pytest.raises(Killed):
            apply_changes(git, planned, *SIGNED)
    (git.root / BASE.path).write_text("# A\n\nrewritten\n")
    commit_edits(git, "by hand\n", Author("A", "a@example.org", WHEN))
    recover(git)
    assert git.show("HEAD", BASE.path) == b"# A\n\nrewritten\n"


@pytest.mark.parametrize("torn", ["manifest.json", "0.after", "1.after"])
def test_a_torn_journal_is_dropped(git: Git, monkeypatch: pytest.MonkeyPatch, torn: str) -> None:
    planned = real_changes(git)
    with monkeypatch.context() as patch:
        kill_at(patch, "_complete", 1)
        with pytest.raises(Killed):
            apply_changes(git, planned, *SIGNED)
    file = git.root / ".curate" / "pending" / torn
    file.write_bytes(file.read_bytes()[:-3])
    recover(git)
    assert (git.root / BASE.path).read_text() == BASE.text
    assert not (git.root / ".curate" / "pending").exists()
