"""Files of every kind through the whole index: what is read, what is passed over and why, and what is tried again."""

import json
from pathlib import Path
from typing import Any

from benchmarks.searching import search
from pipelines.search.build import IndexReport, rebuild_index, update_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest
from pipelines.search.read_files import read_file

SESSION = "Sessions/2026-03-18/s.jsonl"


def put(root: Path, path: str, data: bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)


def said(*texts: str, time: str = "2026-03-18T23:30:00Z") -> bytes:
    records: list[dict[str, Any]] = [{"role": "user", "content": text, "timestamp": time} for text in texts]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def reasons(report: IndexReport) -> dict[str, str]:
    return {one.path: one.reason for one in report.skipped}


def found(root: Path, query: str, *sources: str) -> list[str]:
    hits = search(root, query, 20, (), SearchRequest(filters=Filters(sources=sources)))
    return [f"{hit.path}:{hit.start_line}" for hit in hits]


def test_what_was_passed_over_is_told_as_it_is_now(root: Path, tmp_path: Path) -> None:
    put(root, "Resources/c.md/inner.txt", b"a folder may be called so")
    put(root, SESSION, said("hello") + b"{\n")
    put(root, "Sessions/bad.jsonl", "hello\n".encode("utf-16"))
    put(root, "Sessions/empty.jsonl", b"")
    put(root, "Sessions/none.jsonl", b'{"type": "system"}\n')
    put(tmp_path, "outside.jsonl", said("secret"))
    (root / "Sessions/link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    report = update_index(root)
    assert reasons(report) == {
        "Sessions/bad.jsonl": "has no readable turn: line 1 is not JSON",
        "Sessions/link.jsonl": "is a symbolic link, which is never followed",
        SESSION: "is indexed in part: line 2 is not JSON",
    }
    assert report.files == 4
    assert rebuild_index(root).skipped == report.skipped
    (root / "Sessions/link.jsonl").unlink()
    assert len(update_index(root).skipped) == 2


def test_what_vanishes_while_it_is_read_is_not_there(root: Path) -> None:
    for path in (SESSION, "Resources/a.md"):
        assert read_file(root, path, "UTC 00:00") is None


def test_a_bomb_of_brackets_and_a_huge_number_cost_no_other_turn(root: Path) -> None:
    bomb = b'{"role": "user", "content": ' + b"[" * 10**6 + b"\n"
    put(root, SESSION, bomb + b'{"role": "user", "content": "quay", "n": ' + b"9" * 10**5 + b"}\n")
    assert [one.reason for one in update_index(root).skipped] == ["is indexed in part: line 1 is not JSON"]
    assert found(root, "quay") == [f"{SESSION}:2"]


def test_a_session_that_grows_is_read_as_far_as_it_is(root: Path) -> None:
    whole = said("one", "two")
    put(root, SESSION, whole[:-9])
    assert [one.reason for one in update_index(root).skipped] == ["is indexed in part: line 2 is not JSON"]
    put(root, SESSION, whole)
    report = update_index(root)
    assert (report.changed, report.skipped) == (1, ())
    assert found(root, "two", "session") == [f"{SESSION}:2", f"{SESSION}:1"]
