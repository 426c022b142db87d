"""Replacing files while others write: whatever moment they choose, their bytes stand and so do the run's."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import BadFile
from pipelines.store import journal as place
from pipelines.store.change_set import Change
from pipelines.store.files import write_synced
from pipelines.store.journal import put, settle

LOG = "Logs/2026-03-18.md"
PARTIAL = "Logs/partial/2026-03-18-phone.md"
DOCUMENT = "Areas/a.md"
BEFORE, AFTER = b"- 09:00 one\n", b"- 08:00 folded\n- 09:00 one\n"
OLD, NEW = b"# A\n\nmine\n", b"# A\n\nmine\n\n## Facts\n\n- Fact: it holds. <!-- k1111111111 since=2026-03-18 -->\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder like a memory's."""
    folder(tmp_path).mkdir(parents=True)
    (tmp_path / "Areas").mkdir()
    (tmp_path / "Logs" / "partial").mkdir(parents=True)
    (tmp_path / LOG).write_bytes(BEFORE)
    (tmp_path / PARTIAL).write_bytes(BEFORE)
    (tmp_path / DOCUMENT).write_bytes(OLD)
    return tmp_path


@pytest.fixture(params=["links", "none"])
def disk(root: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The same, once as on a disk without hard links."""
    if request.param == "none":
        monkeypatch.setattr(os, "link", no_link)
    return root


def no_link(*_: object, **__: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def folder(root: Path) -> Path:
    return root / ".curate" / "pending"


def in_the_moment_of(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    """Let somebody act once, right before a step of ours."""
    real: Callable[..., object] = getattr(place, name)
    once = iter([act])

    def step(*arguments: object) -> object:
        for other in once:
            other()
        return real(*arguments)

    monkeypatch.setattr(place, name, step)


@pytest.mark.parametrize("how", ["replace", "write"])
def test_saved_between_the_last_look_and_the_replacement(disk: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    def save() -> None:
        target = disk / DOCUMENT if how == "write" else disk / "Areas" / ".a.md.swp"
        target.write_bytes(OLD + b"saved just now\n")
        target.rename(disk / DOCUMENT)

    in_the_moment_of(monkeypatch, "write_synced", save)
    change = Change(DOCUMENT, OLD, NEW)
    put(disk, folder(disk), 0, change)
    settle(disk, folder(disk), [change])
    text = (disk / DOCUMENT).read_bytes()
    assert b"saved just now\n" in text
    assert b"it holds." in text


@pytest.mark.parametrize(("there", "then"), [(True, False), (False, True)])
def test_made_or_removed_in_that_moment(
    disk: Path, monkeypatch: pytest.MonkeyPatch, *, there: bool, then: bool
) -> None:
    target = disk / DOCUMENT
    if not there:
        target.unlink()
    in_the_moment_of(
        monkeypatch, "write_synced", lambda: target.write_bytes(b"# Theirs\n") if then else target.unlink()
    )
    put(disk, folder(disk), 0, Change(DOCUMENT, OLD if there else None, NEW))
    text = target.read_bytes()
    assert b"it holds." in text
    assert (b"# Theirs" in text) == then


def test_a_link_that_came_in_that_moment_stays(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = disk / DOCUMENT

    def link() -> None:
        target.unlink()
        target.symlink_to("elsewhere.md")

    in_the_moment_of(monkeypatch, "write_synced", link)
    with pytest.raises(BadFile, match=r"Areas/a\.md is a symbolic link"):
        put(disk, folder(disk), 0, Change(DOCUMENT, OLD, NEW))
    assert os.readlink(target) == "elsewhere.md"  # noqa: PTH115  the text of the link


def test_a_file_that_never_rests_is_given_up(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = write_synced

    def restless(*arguments: object) -> None:
        (disk / DOCUMENT).write_bytes((disk / DOCUMENT).read_bytes() + b"again\n")
        real(*arguments)  # type: ignore[arg-type]  # as they are given

    monkeypatch.setattr(place, "write_synced", restless)
    with pytest.raises(BadFile, match="changed at every attempt"):
        put(disk, folder(disk), 0, Change(DOCUMENT, OLD, NEW))
    assert b"again\n" * place.ATTEMPTS in (disk / DOCUMENT).read_bytes()


# ---------------------------------------- written to the old file afterwards
# By programs that have it open, where the disk has hard links.


@pytest.mark.parametrize("text", [b"- 10:00 two\n", b"- 07:00 zero\n"])
def test_what_a_program_writes_to_the_old_log_during_the_run_is_brought_back(root: Path, text: bytes) -> None:
    change = Change(LOG, BEFORE, AFTER)
    with (root / LOG).open("r+b") as held:
        put(root, folder(root), 0, change)
        held.write(BEFORE + text if text.startswith(b"- 10") else text + BEFORE)
    with (root / LOG).open("ab") as other:
        other.write(b"- 10:30 three\n")
    settle(root, folder(root), [change])
    late = b"- 10:30 three\n"
    assert (root / LOG).read_bytes() == (AFTER + late + text if text.startswith(b"- 10") else text + AFTER + late)
    settle(root, folder(root), [change])


@pytest.mark.parametrize("now", [b"", b"saved since\n"])
def test_what_a_program_writes_to_the_old_document_is_merged(root: Path, now: bytes) -> None:
    change = Change(DOCUMENT, OLD, NEW)
    with (root / DOCUMENT).open("r+b") as held:
        put(root, folder(root), 0, change)
        held.write(b"# A\n\nwritten late\nmine\n")
    with (root / DOCUMENT).open("ab") as other:
        other.write(now)
    settle(root, folder(root), [change])
    text = (root / DOCUMENT).read_bytes()
    assert [text.count(words) for words in (b"written late\n", b"mine\n", b"it holds.", now or b"# A")] == [1] * 4
    assert list(folder(root).iterdir()) == []


def test_a_run_killed_between_merging_late_lines_and_noting_it_merges_nothing_twice(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = Change(LOG, BEFORE, AFTER)
    with (root / LOG).open("ab") as held:
        put(root, folder(root), 0, change)
        held.write(b"- 10:00 two\n")

    real = Path.unlink

    def killed(path: Path, *, missing_ok: bool = False) -> None:
        if path.suffix == ".old" and not missing_ok:  # as the last step
            raise KeyboardInterrupt
        real(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            settle(root, folder(root), [change])
    settle(root, folder(root), [change])
    assert (root / LOG).read_bytes() == AFTER + b"- 10:00 two\n"


@pytest.mark.parametrize("step", ["link", "replace"])
def test_killed_while_somebody_saved_the_file(root: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    change = Change(DOCUMENT, OLD, NEW)

    def killed(*_: object) -> bytes:
        raise KeyboardInterrupt

    with (root / DOCUMENT).open("ab") as held, monkeypatch.context() as patch:
        told = iter([OLD])
        if step == "link":
            patch.setattr(place, "read_bytes", lambda *_: next(told, None) or killed())
        else:
            patch.setattr(place, "sync_folder", killed)
        with pytest.raises(KeyboardInterrupt):
            put(root, folder(root), 0, change)
        held.write(b"saved\n")
    settle(root, folder(root), [change])
    put(root, folder(root), 0, change)
    settle(root, folder(root), [change])
    text = (root / DOCUMENT).read_bytes()
    assert text.count(b"saved\n") == 1
    assert b"it holds." in text
    assert list(folder(root).iterdir()) == []
