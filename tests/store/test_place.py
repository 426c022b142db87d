"""Replacing files while others write: whatever moment they choose, their bytes stand and so do the run's."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import BadFile
from pipelines.store import atomic_replace as place
from pipelines.store import rename_exchange as swap
from pipelines.store.atomic_replace import put, settle
from pipelines.store.change_set import Change
from pipelines.store.folders import holding
from pipelines.store.rename_exchange import swap_in, swaps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pipelines.store.folders import Folder

LOG = "Logs/2026-03-18.md"
PARTIAL = "Logs/partial/2026-03-18-phone.md"
DOCUMENT = "Areas/a.md"
BEFORE, AFTER = b"- 09:00 one\n", b"- 08:00 folded\n- 09:00 one\n"
OLD, NEW = b"# A\n\nmine\n", b"# A\n\nmine\n\n## Facts\n\n- Fact: it holds. <!-- k1111111111 since=2026-03-18 -->\n"


@pytest.fixture(params=["exchange", "links"])
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder like a memory's; once with the kernel's exchange, once as where there is none."""
    if request.param == "links":
        monkeypatch.setattr(swap, "_renamed", lambda *_: False)
    folder(tmp_path).mkdir(parents=True)
    (tmp_path / "Areas").mkdir()
    (tmp_path / "Logs" / "partial").mkdir(parents=True)
    (tmp_path / LOG).write_bytes(BEFORE)
    (tmp_path / PARTIAL).write_bytes(BEFORE)
    (tmp_path / DOCUMENT).write_bytes(OLD)
    return tmp_path


def folder(root: Path) -> Path:
    return root / ".curate" / "pending"


def hold(root: Path) -> Folder:
    """Hold the folder of the journal for as long as the test lasts."""
    return _OPEN.enter_context(holding(root, ".curate/pending"))


_OPEN = contextlib.ExitStack()


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    with _OPEN:
        yield


def in_the_moment_of(
    monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object], module: object = place
) -> None:
    """Let somebody act once, right before a step of ours."""
    real: Callable[..., object] = getattr(module, name)
    once: Iterator[Callable[[], object]] = iter([act])

    def step(*arguments: object) -> object:
        for other in once:
            other()
        return real(*arguments)

    monkeypatch.setattr(module, name, step)


def test_a_file_is_replaced_made_and_removed(root: Path) -> None:
    changes = [Change(DOCUMENT, OLD, NEW), Change("Areas/new/b.md", None, NEW), Change(PARTIAL, BEFORE, None)]
    (root / DOCUMENT).chmod(0o640)
    assert [put(root, hold(root), number, change) for number, change in enumerate(changes)] == [False] * 3
    assert settle(root, hold(root), changes) == []
    assert (root / DOCUMENT).read_bytes() == (root / "Areas/new/b.md").read_bytes() == NEW
    assert (root / DOCUMENT).stat().st_mode & 0o777 == 0o640
    assert not (root / PARTIAL).exists()
    assert list(folder(root).iterdir()) == []


@pytest.mark.parametrize("how", ["replace", "write"])
def test_saved_between_the_last_look_and_the_exchange(root: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    def save() -> None:
        target = root / DOCUMENT if how == "write" else root / "Areas" / ".a.md.swp"
        target.write_bytes(OLD + b"saved just now\n")
        target.rename(root / DOCUMENT)

    in_the_moment_of(monkeypatch, "swap_in", save)
    change = Change(DOCUMENT, OLD, NEW)
    assert put(root, hold(root), 0, change)
    assert settle(root, hold(root), [change]) == []
    text = (root / DOCUMENT).read_bytes()
    assert b"saved just now\n" in text
    assert b"it holds." in text


@pytest.mark.parametrize(("there", "then"), [(True, False), (False, True)])
def test_made_or_removed_in_that_moment(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, there: bool, then: bool
) -> None:
    target = root / DOCUMENT
    if not there:
        target.unlink()
    in_the_moment_of(monkeypatch, "swap_in", lambda: target.write_bytes(b"# Theirs\n") if then else target.unlink())
    put(root, hold(root), 0, Change(DOCUMENT, OLD if there else None, NEW))
    text = target.read_bytes()
    assert b"it holds." in text
    assert (b"# Theirs" in text) == then


def test_a_partial_log_that_grew_while_it_was_folded_keeps_only_what_is_new(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_moment_of(monkeypatch, "swap_in", lambda: (root / PARTIAL).write_bytes(BEFORE + b"- 10:00 two\n"))
    put(root, hold(root), 0, Change(PARTIAL, BEFORE, None))
    assert (root / PARTIAL).read_bytes() == b"- 10:00 two\n"


def test_what_a_program_appends_to_the_old_file_during_the_run_is_brought_back(root: Path) -> None:
    change = Change(LOG, BEFORE, AFTER)
    with (root / LOG).open("ab") as held:
        put(root, hold(root), 0, change)
        held.write(b"- 10:00 two\n")
    with (root / LOG).open("ab") as other:
        other.write(b"- 10:30 three\n")
    assert settle(root, hold(root), [change]) == [LOG]
    assert (root / LOG).read_bytes() == AFTER + b"- 10:30 three\n- 10:00 two\n"
    assert settle(root, hold(root), [change]) == []


def test_what_a_program_rewrites_in_the_old_file_during_the_run_is_brought_back(root: Path) -> None:
    change = Change(LOG, BEFORE, AFTER)
    with (root / LOG).open("r+b") as held:
        put(root, hold(root), 0, change)
        held.write(b"- 07:00 zero\n" + BEFORE)
    with (root / LOG).open("ab") as other:
        other.write(b"- 10:30 three\n")
    assert settle(root, hold(root), [change]) == [LOG]
    assert (root / LOG).read_bytes() == AFTER + b"- 10:30 three\n- 07:00 zero\n"


def test_of_a_log_that_was_replaced_nothing_is_kept(root: Path) -> None:
    changes = [Change(LOG, BEFORE, AFTER), Change(PARTIAL, BEFORE, None)]
    with (root / LOG).open("ab") as held, (root / PARTIAL).open("ab") as folded:
        for number, change in enumerate(changes):
            put(root, hold(root), number, change)
        held.write(b"- 10:00 two\n")
        held.flush()
        folded.write(b"- 11:00 from the phone\n")
        folded.flush()
        assert sorted(settle(root, hold(root), changes)) == [LOG, PARTIAL]
    assert (root / LOG).read_bytes() == AFTER + b"- 10:00 two\n"
    assert (root / PARTIAL).read_bytes() == b"- 11:00 from the phone\n"
    assert [path for path in (root / ".curate").rglob("*") if path.is_file()] == []


def test_a_run_killed_between_appending_late_lines_and_noting_it_appends_nothing_twice(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = Change(LOG, BEFORE, AFTER)
    with (root / LOG).open("ab") as held:
        put(root, hold(root), 0, change)
        held.write(b"- 10:00 two\n")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pipelines.store.folders.Folder.unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            settle(root, hold(root), [change])
    settle(root, hold(root), [change])
    assert (root / LOG).read_bytes() == AFTER + b"- 10:00 two\n"


def test_a_log_saved_twice_in_one_moment_keeps_both(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(LOG, BEFORE, AFTER)
    in_the_moment_of(monkeypatch, "exchange", lambda: (root / LOG).write_bytes(BEFORE + b"- 10:00 first\n"), swap)
    in_the_moment_of(monkeypatch, "swap_back", lambda: (root / LOG).write_bytes(AFTER + b"- 10:00 second\n"))
    put(root, hold(root), 0, change)
    settle(root, hold(root), [change])
    assert (root / LOG).read_bytes() == AFTER + b"- 10:00 first\n- 10:00 second\n"
    assert not (root / ".curate" / "displaced").exists()


@pytest.mark.parametrize("step", ["swap_in", "swap_back"])
def test_killed_while_somebody_saved_the_file(root: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    change = Change(DOCUMENT, OLD, NEW)
    real = getattr(place, step)

    def killed(*arguments: object) -> None:
        real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, step, killed)
        in_the_moment_of(patch, "exchange", lambda: (root / DOCUMENT).write_bytes(OLD + b"saved\n"), swap)
        with pytest.raises(KeyboardInterrupt):
            put(root, hold(root), 0, change)
    settle(root, hold(root), [change])
    put(root, hold(root), 0, change)
    settle(root, hold(root), [change])
    text = (root / DOCUMENT).read_bytes()
    assert b"saved\n" in text
    assert b"it holds." in text
    assert swaps(hold(root)) == []


def test_a_second_stranger_in_the_same_moment_is_kept_aside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(DOCUMENT, OLD, NEW)
    in_the_moment_of(monkeypatch, "exchange", lambda: (root / DOCUMENT).write_bytes(OLD + b"first\n"), swap)
    in_the_moment_of(monkeypatch, "swap_back", lambda: (root / DOCUMENT).write_bytes(NEW + b"second\n"))
    put(root, hold(root), 0, change)
    settle(root, hold(root), [change])
    assert b"first\n" in (root / DOCUMENT).read_bytes()
    assert [file.read_bytes() for file in (root / ".curate" / "displaced").iterdir()] == [NEW + b"second\n"]


def test_so_it_is_where_the_name_is_as_long_as_a_disk_takes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"Areas/{'é' * 126}.md"
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_bytes(OLD)
    in_the_moment_of(monkeypatch, "exchange", lambda: (root / path).write_bytes(OLD + b"first\n"), swap)
    in_the_moment_of(monkeypatch, "swap_back", lambda: (root / path).write_bytes(NEW + b"second\n"))
    change = Change(path, OLD, NEW)
    put(root, hold(root), 0, change)
    settle(root, hold(root), [change])
    assert [file.read_bytes() for file in (root / ".curate" / "displaced").iterdir()] == [NEW + b"second\n"]


def test_a_link_that_came_in_that_moment_is_put_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = root / DOCUMENT

    def link() -> None:
        target.unlink()
        target.symlink_to("elsewhere.md")

    in_the_moment_of(monkeypatch, "exchange", link, swap)
    with pytest.raises(BadFile, match=r"Areas/a\.md is a symbolic link"):
        put(root, hold(root), 0, Change(DOCUMENT, OLD, NEW))
    assert os.readlink(target) == "elsewhere.md"  # noqa: PTH115  the text of the link


def test_a_file_that_never_rests_is_given_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = swap.exchange

    def restless(one: tuple[Folder, str], other: tuple[Folder, str]) -> None:
        (root / DOCUMENT).write_bytes((root / DOCUMENT).read_bytes() + b"again\n")
        real(one, other)

    monkeypatch.setattr(swap, "exchange", restless)
    with pytest.raises(BadFile, match="changed at every attempt"):
        put(root, hold(root), 0, Change(DOCUMENT, OLD, NEW))
    assert b"again\n" * place.ATTEMPTS in (root / DOCUMENT).read_bytes()


def test_the_kernels_exchange_is_used_where_there_is_one(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    try:
        with holding(tmp_path, "") as here:
            done = swap._renamed((here, "one"), (here, "other"), swap._RENAME_EXCHANGE)
    except OSError as fault:
        assert fault.errno == errno.EPERM  # noqa: PT017  a sandbox that forbids the call
        done = False
    if not done:
        pytest.skip("no renameat2 here")
    assert (one.read_text(), other.read_text()) == ("2", "1")


def test_nothing_is_made_over_a_file_of_somebodys(root: Path) -> None:
    assert swap_in(root, hold(root), 0, DOCUMENT, (None, NEW)) is None
    assert (root / DOCUMENT).read_bytes() == OLD
    assert list(folder(root).iterdir()) == []
