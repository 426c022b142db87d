"""The index is derived: brought up to date or built anew, it gives the same answers, and a broken one is replaced."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.errors import IndexUnusable, LockHeld, NotWritable
from pipelines.queries.search_settings import searched
from pipelines.search.build import rebuild_index, update_index
from pipelines.search.indexed_files import SETTLED_NS, FileStamp, Skipped, compare
from pipelines.search.query import SearchRequest, search
from pipelines.search.schema import INDEX, VERSION, reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.search.build import IndexReport


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def counts(report: IndexReport) -> tuple[int, int, int, int, int]:
    return report.files, report.added, report.changed, report.removed, report.unchanged


def found(root: Path, query: str) -> list[str]:
    return [f"{hit.path}:{hit.start_line}" for hit in search(root, query, 20)]


def test_only_what_changed_is_read_again(root: Path) -> None:
    write(root, "Logs/2026-01-01.md", "- apples\n- pears\n")
    write(root, "Areas/a.md", "plums\n")
    write(root, "Areas/b.md", "cherries\n")
    first = update_index(root)
    assert (counts(first), first.units) == ((3, 3, 0, 0, 0), 4)
    assert counts(update_index(root)) == (3, 0, 0, 0, 3)
    write(root, "Logs/2026-01-01.md", "- apples\n- quinces\n")
    (root / "Areas/a.md").unlink()
    (root / "Areas/b.md").rename(root / "Areas/c.md")
    assert counts(update_index(root)) == (2, 1, 1, 2, 0)
    assert found(root, "apples") == ["Logs/2026-01-01.md:1", "Logs/2026-01-01.md:2"]
    assert found(root, "quince")
    assert found(root, "pears plums") == []
    assert found(root, "cherry") == ["Areas/c.md:1"]
    assert rebuild_index(root).unchanged == 2


def rows(root: Path) -> dict[str, int]:
    with reading(root) as connection:
        return dict(connection.execute("SELECT text, id FROM units").fetchall())


def test_a_page_that_gains_an_item_in_each_section_is_as_if_built_anew(root: Path) -> None:
    def page(updated: str, *more: str) -> str:
        head = f"---\ntitle: Fruit\nupdated: {updated}\n---\n"
        items = {kind: "".join(f"- {kind}: {one} {_COMMENT}\n" for one in ("figs", *more)) for kind in _KINDS}
        return head + "".join(f"\n## {kind}s\n\n{some}" for kind, some in items.items())

    write(root, "Areas/fruit.md", page("2026-01-01"))
    update_index(root)
    write(root, "Areas/fruit.md", page("2026-01-02", "plums"))
    update_index(root)
    assert len(rows(root)) == 2 * len(_KINDS)
    with reading(root) as connection:
        told = connection.execute(_TOLD).fetchall()
        assert (
            "updated=2026-01-02"
            in connection.execute("SELECT meta FROM files WHERE path LIKE '%fruit.md'").fetchone()[0]
        )
    rebuild_index(root)
    with reading(root) as connection:
        assert told == connection.execute(_TOLD).fetchall()


_KINDS = ("Decision", "Fact", "Rule")
_COMMENT = "<!-- k7f3a9c2b10 since=2026-01-01 -->"
_TOLD = "SELECT start_line, end_line, text, date FROM units ORDER BY start_line, id"


def places(root: Path) -> dict[str, tuple[int, ...]]:
    """Return number and place of each unit; its passages by where they stand in the file."""
    with reading(root) as connection:
        order = [number for (number,) in connection.execute("SELECT id FROM passages ORDER BY id")]
        found = connection.execute("SELECT text, id, start_line, end_line, first_passage, last_passage FROM units")
        return {text: (*rest, order.index(first), order.index(last)) for text, *rest, first, last in found}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 3), st.lists(st.sampled_from(["pear", "plum", "", "# Later"]))),
        max_size=4,
    )
)
def test_what_was_put_in_bit_by_bit_stands_in_the_order_of_the_file(
    root: Path, edits: list[tuple[int, int, list[str]]]
) -> None:
    long = "A sentence about apples goes on for long. " * 60  # cut into pieces that all stand in its one line
    lines = ["# Day", "", "- pear", "- plum", long, "", "- fig"]
    for at, gone, new in [(0, 0, []), *edits]:
        lines[at : at + gone] = new
        write(root, "Logs/2026-01-01.md", "\n".join(lines))
        update_index(root)
    with reading(root) as connection:
        kept = connection.execute(_IN_ORDER).fetchall()
    rebuild_index(root)
    with reading(root) as connection:
        assert kept == connection.execute(_IN_ORDER).fetchall()


_IN_ORDER = "SELECT start_line, end_line, text, about, around FROM units ORDER BY start_line, id"


def test_a_skipped_file_is_named_each_time_and_tried_again_when_it_changes(root: Path) -> None:
    write(root, "Logs/2026-01-01.md", "")
    (root / "Logs/2026-01-01.md").write_bytes(b"caf\xe9 noir")
    skipped = (Skipped("Logs/2026-01-01.md", "is not UTF-8 (byte 3)"),)
    assert update_index(root).skipped == skipped
    again = update_index(root)
    assert (again.skipped, counts(again)) == (skipped, (0, 0, 0, 0, 1))
    write(root, "Logs/2026-01-01.md", "café noir")
    mended = update_index(root)
    assert (mended.skipped, counts(mended)) == ((), (1, 0, 1, 0, 0))
    assert found(root, "cafe") == ["Logs/2026-01-01.md:1"]


def test_a_change_that_keeps_size_and_time_is_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "Areas/a.md", "plums\n")
    os.utime(root / "Areas/a.md", ns=(1, 1))
    monkeypatch.setattr(time, "time_ns", lambda: (root / "Areas/a.md").stat().st_ctime_ns + 2 * SETTLED_NS)
    update_index(root)
    write(root, "Areas/a.md", "pears\n")
    os.utime(root / "Areas/a.md", ns=(1, 1))
    assert update_index(root).changed == 1


def test_a_stamp_is_believed_only_when_it_is_old_enough(root: Path) -> None:
    stamp = FileStamp(5, 1_000, 2_000)

    def unchanged(now: FileStamp, checked_ns: int) -> list[str]:
        return compare(root, {"Areas/a.md": now}, {"Areas/a.md": (stamp, checked_ns, "", "")}).unchanged

    assert unchanged(stamp, 2_001 + SETTLED_NS)
    assert not unchanged(stamp, 2_000 + SETTLED_NS)
    assert not unchanged(FileStamp(5, 1_001, 2_000), 2_001 + SETTLED_NS)


def test_the_file_is_private_and_in_wal_mode(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n")
    for work in (update_index, rebuild_index):
        work(root)
        assert stat.S_IMODE((root / INDEX).stat().st_mode) == 0o600
        with reading(root) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert [path.name for path in (root / ".curate").iterdir() if ".new" in path.name] == []


@pytest.mark.parametrize("damage", ["garbage", "empty", "truncated", "newer", "no tables", "torn full-text"])
def test_a_broken_index_is_noticed_and_built_anew(root: Path, damage: str) -> None:
    write(root, "Logs/2026-01-01.md", "".join(f"- apples {number}\n" for number in range(200)))
    update_index(root)
    with closing(sqlite3.connect(root / INDEX)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        if damage == "newer":
            db.execute(f"PRAGMA user_version = {VERSION + 1}")
        elif damage == "no tables":
            db.execute("DROP TABLE units")
        elif damage == "torn full-text":
            db.execute("DELETE FROM units_fts_data WHERE id > 10")
        db.commit()
    whole = (root / INDEX).read_bytes()
    if damage in {"garbage", "empty", "truncated"}:
        (root / INDEX).write_bytes({"garbage": b"x" * 9000, "empty": b"", "truncated": whole[:5000]}[damage])
    with pytest.raises(IndexUnusable):
        search(root, "apples", 5)
    hits, *_ = searched(root, "apples 77", 5, SearchRequest())
    assert hits[0].text == "- apples 77"
    write(root, "Logs/2026-01-01.md", "- apples and pears\n")
    update_index(root)
    assert found(root, "pears") == ["Logs/2026-01-01.md:1"]


@pytest.mark.parametrize("change", ["UPDATE files SET checked_ns = 'once'", "DELETE FROM files", "DROP TABLE claims"])
def test_rows_that_no_version_writes_are_built_anew(root: Path, change: str) -> None:
    write(root, "Logs/2026-01-01.md", "- apples\n- pears\n")
    update_index(root)
    with closing(sqlite3.connect(root / INDEX)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute(change)
        db.commit()
    hits, *_ = searched(root, "pears", 5, SearchRequest())
    assert (hits[0].text, hits[0].start_line) == ("- pears", 2)


def test_a_second_writer_waits_and_then_says_so(root: Path) -> None:
    update_index(root)
    with (root / ".curate/index.lock").open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(LockHeld):
            update_index(root, patience=0.0)
    update_index(root, patience=0.0)


def test_a_disk_that_refuses_is_named(root: Path) -> None:
    (root / ".curate").write_text("in the way", encoding="utf-8")
    with pytest.raises(NotWritable, match=r"\.curate cannot be written"):
        update_index(root)


def test_a_reader_sees_one_state_and_waits_for_no_writer(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n")
    update_index(root)
    with closing(sqlite3.connect(root / INDEX, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM units")
        assert found(root, "plums") == ["Areas/a.md:1"]
        writer.execute("ROLLBACK")


def test_every_statement_of_a_reader_sees_the_same_state(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n")
    update_index(root)
    with reading(root) as reader:
        assert reader.execute("SELECT count(*) FROM units").fetchone() == (1,)
        write(root, "Areas/b.md", "pears\n")
        update_index(root)
        assert reader.execute("SELECT count(*) FROM units").fetchone() == (1,)


def test_a_reader_of_the_old_file_reads_on_while_a_new_one_is_put_in_its_place(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n")
    update_index(root)
    before = (root / INDEX).stat().st_ino
    with reading(root) as reader:
        write(root, "Areas/a.md", "pears\n")
        rebuild_index(root)
        assert (root / INDEX).stat().st_ino != before
        assert reader.execute("SELECT text FROM units").fetchall() == [("plums",)]
    assert found(root, "pears") == ["Areas/a.md:1"]


def test_searches_during_updates_and_rebuilds_answer_right(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n")
    update_index(root)
    done, wrong = threading.Event(), []

    def ask() -> None:
        while not done.is_set():
            if (answer := found(root, "plums")) != ["Areas/a.md:1"]:
                wrong.append(answer)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for number in range(24):
        write(root, "Areas/a.md", f"plums {number}\n")
        (rebuild_index if number % 2 else update_index)(root)
    done.set()
    for asker in askers:
        asker.join()
    assert wrong == []


def test_a_write_ahead_log_that_a_killed_process_left_does_not_meet_the_new_file(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n" * 500)
    update_index(root)
    log = root / f"{INDEX}-wal"
    with closing(sqlite3.connect(root / INDEX, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("DELETE FROM units")
        left = log.read_bytes()
    log.write_bytes(left)
    write(root, "Areas/a.md", "pears\n")
    rebuild_index(root)
    assert found(root, "pears") == ["Areas/a.md:1"]
    assert counts(update_index(root)) == (1, 0, 0, 0, 1)


def test_an_update_and_a_search_do_without_heavy_imports(root: Path) -> None:
    write(root, "Areas/a.md", "plums\n")
    update_index(root)
    write(root, "Areas/a.md", "pears\n")
    code = (
        "import sys; from pathlib import Path; from pipelines.search.build import freshen;"
        " from pipelines.search.query import search;"
        " root = Path(sys.argv[1]); freshen(root); assert search(root, 'pears', 1);"
        " assert not {'rich', 'pydantic', 'numpy', 'git'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, root], check=True)


@pytest.mark.parametrize("work", [update_index, rebuild_index])
def test_what_a_killed_rebuild_left_is_cleared_away(root: Path, work: Callable[[Path], IndexReport]) -> None:
    write(root, "Logs/2026-01-01.md", "- the boat\n")
    update_index(root)
    left = [root / f"{INDEX}.new{suffix}" for suffix in ("", "-journal")]
    for path in left:
        path.write_bytes(b"half an index")
    work(root)
    assert not any(path.exists() for path in left)
    assert search(root, "boat", 1)
