"""What was used is remembered, where the setting asks for it ranks higher, and never stands in a search's way."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pipelines.search import rank as usage
from pipelines.search.build import update_index
from pipelines.search.query import Asked, search
from pipelines.search.rank import USAGE, Ranking, record_uses, uses_of
from pipelines.search.schema import writer_lock

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    (root / "Areas").mkdir()
    (root / "Areas/a.md").write_text("- Fact: boats float <!-- k7f3a9c2b10 since=2026-01-01 -->\n", encoding="utf-8")
    (root / "Areas/b.md").write_text("boats float and sink\n", encoding="utf-8")
    update_index(root)
    return root


def test_uses_are_counted_with_the_last_day(root: Path) -> None:
    assert uses_of(root, {"a"}) == {}
    assert record_uses(root, ["a", "b", "a"], 10 * DAY)
    assert record_uses(root, ["a"], 12 * DAY)
    assert record_uses(root, ["b"], 9 * DAY)
    assert uses_of(root, {"a", "b", "c"}, 13 * DAY) == {"a": (2, 1.0), "b": (2, 3.0)}
    assert (root / USAGE).stat().st_mode & 0o77 == 0


def test_a_rename_keeps_what_was_used_and_a_change_of_words_does_not(root: Path) -> None:
    before = {hit.known_as for hit in search(root, "boats", 5)}
    assert "k7f3a9c2b10" in before
    (root / "Areas/a.md").rename(root / "Areas/c.md")
    (root / "Areas/b.md").rename(root / "Areas/d.md")
    update_index(root)
    assert {hit.known_as for hit in search(root, "boats", 5)} == before
    (root / "Areas/d.md").write_text("boats float or sink\n", encoding="utf-8")
    update_index(root)
    assert {hit.known_as for hit in search(root, "boats", 5)} & before == {"k7f3a9c2b10"}


def test_what_was_used_ranks_higher_only_where_that_is_asked_for(root: Path) -> None:
    def order(access: float) -> list[tuple[str, float | None]]:
        asked = Asked(Ranking(access=access), uses=lambda names: uses_of(root, names), explain=True)
        return [(hit.path, hit.factors.get("use")) for hit in search(root, "boats float", 5, (), asked)]

    first, second = [path for path, _ in order(0.5)]
    assert order(0.5) == [(first, None), (second, None)]
    (last,) = [hit.known_as for hit in search(root, "boats float", 5) if hit.path == second]
    for _ in range(7):
        assert record_uses(root, [last])
    (path, factor), rest = order(0.5)
    assert (path, rest) == (second, (first, None))
    assert factor == pytest.approx(2.5, abs=0.01)
    assert order(0.0) == [(first, None), (second, None)]


def test_only_so_many_are_remembered_and_the_longest_unused_go(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST", 3)
    for number in range(6):
        record_uses(root, [f"n{number}"], number * DAY)
    record_uses(root, ["n3"], 9 * DAY)
    record_uses(root, ["new"], 10 * DAY)
    assert set(uses_of(root, {"new", *(f"n{number}" for number in range(6))})) == {"n3", "n5", "new"}


def test_nobody_is_waited_for(root: Path) -> None:
    assert record_uses(root, ["a"])
    with writer_lock(root, 0.0):
        assert record_uses(root, ["a"])
    with closing(sqlite3.connect(root / USAGE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert not record_uses(root, ["a"])
        assert uses_of(root, {"a"})["a"][0] == 2
        assert time.monotonic() - began < 1


@pytest.mark.parametrize("spoilt", ["garbage", "other tables", "a folder", "a link", "header"])
def test_whatever_is_wrong_with_it_a_search_goes_on(root: Path, tmp_path: Path, spoilt: str) -> None:
    path, outside = root / USAGE, tmp_path / "outside"
    record_uses(root, ["a"])
    if spoilt == "garbage":
        path.write_bytes(b"x" * 9000)
    elif spoilt == "header":
        path.write_bytes(path.read_bytes()[:18] + b"\xff\xff" + path.read_bytes()[20:])
    elif spoilt == "other tables":
        path.unlink()
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE uses(x)")
    else:
        path.unlink()
        path.mkdir() if spoilt == "a folder" else path.symlink_to(outside)
    assert uses_of(root, {"a"}) == {}
    assert not record_uses(root, ["a"])
    assert record_uses(root, ["a"]) == (spoilt not in {"a folder", "a link"})
    assert not outside.exists()
