"""The index is derived: brought up to date or built anew, it gives the same answers, and a broken one is replaced."""

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.searching import search
from pipelines.errors import IndexUnusable
from pipelines.queries.search_settings import searched
from pipelines.search.build import IndexReport, rebuild_index, update_index
from pipelines.search.query import SearchRequest
from pipelines.search.schema import INDEX, VERSION, reading
from tests.making import plant


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.files, report.added, report.changed, report.removed


def found(root: Path, query: str) -> list[str]:
    return [f"{hit.path}:{hit.start_line}" for hit in search(root, query, 20)]


def test_a_change_that_keeps_size_and_time_is_seen(root: Path) -> None:
    plant(root, "Areas/a.md", "plums\n")
    os.utime(root / "Areas/a.md", ns=(1, 1))
    update_index(root)
    plant(root, "Areas/a.md", "pears\n")
    os.utime(root / "Areas/a.md", ns=(1, 1))
    assert update_index(root).changed == 1


def test_the_file_is_private_and_in_wal_mode(root: Path) -> None:
    plant(root, "Areas/a.md", "plums\n")
    for work in (update_index, rebuild_index):
        work(root)
        assert stat.S_IMODE((root / INDEX).stat().st_mode) == 0o600
        with reading(root) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert [path.name for path in (root / ".curate").iterdir() if ".new" in path.name] == []


@pytest.mark.parametrize("damage", ["garbage", "empty", "truncated", "newer", "no tables", "torn full-text"])
def test_a_broken_index_is_noticed_and_built_anew(root: Path, damage: str) -> None:
    plant(root, "Logs/2026-01-01.md", "".join(f"- apples {number}\n" for number in range(200)))
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
    plant(root, "Logs/2026-01-01.md", "- apples and pears\n")
    update_index(root)
    assert found(root, "pears") == ["Logs/2026-01-01.md:1"]


@pytest.mark.parametrize("change", ["UPDATE files SET mtime_ns = 'once'", "DELETE FROM files", "DROP TABLE claims"])
def test_rows_that_no_version_writes_are_built_anew(root: Path, change: str) -> None:
    plant(root, "Logs/2026-01-01.md", "- apples\n- pears\n")
    update_index(root)
    with closing(sqlite3.connect(root / INDEX)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute(change)
        db.commit()
    hits, *_ = searched(root, "pears", 5, SearchRequest())
    assert (hits[0].text, hits[0].start_line) == ("- pears", 2)


def test_searches_during_updates_and_rebuilds_answer_right(root: Path) -> None:
    plant(root, "Areas/a.md", "plums\n")
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
        plant(root, "Areas/a.md", f"plums {number}\n")
        (rebuild_index if number % 2 else update_index)(root)
    done.set()
    for asker in askers:
        asker.join()
    assert wrong == []


def test_a_write_ahead_log_that_a_killed_process_left_does_not_meet_the_new_file(root: Path) -> None:
    plant(root, "Areas/a.md", "plums\n" * 500)
    update_index(root)
    log = root / f"{INDEX}-wal"
    with closing(sqlite3.connect(root / INDEX, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("DELETE FROM units")
        left = log.read_bytes()
    log.write_bytes(left)
    plant(root, "Areas/a.md", "pears\n")
    rebuild_index(root)
    assert found(root, "pears") == ["Areas/a.md:1"]
    assert counts(update_index(root)) == (1, 0, 0, 0)
