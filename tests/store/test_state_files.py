"""State/*.jsonl: a line that cannot be read costs itself alone, and what was read can be written again."""

from __future__ import annotations

import json

import pytest

from pipelines.store.state import LogProgress, read_progress, read_tombstones, render_progress, render_tombstones

READ = b'{"log": "Logs/2026-03-18.md", "file": "ab12", "entries": ["a1"]}\n'
STONE = b'{"hash": "9f86d081", "id": "k7f3a9c2b10", "day": "2026-03-18", "reason": "retracted"}\n'
BAD = [
    b"[" * 100_000,
    b'{"log": "x", "file": "", "digest": "\\ud800"}',
    b'{"log": "x", "file": "\\uDFFF"}',
    b"1" * 5000,
    b"\xff",
]


@pytest.mark.parametrize("bad", BAD)
def test_a_line_that_cannot_be_read_is_passed_over(bad: bytes) -> None:
    assert render_progress(read_progress(bad + b"\n" + READ)) == READ
    assert render_tombstones(read_tombstones(bad + b"\n" + STONE)) == render_tombstones(read_tombstones(STONE))


def test_blanks_around_a_row_are_none_of_it() -> None:
    assert render_progress(read_progress(b"  " + READ.rstrip() + b"\t\r\n")) == READ


@pytest.mark.parametrize(
    "record",
    [
        LogProgress("ab12", "ef"),
        LogProgress("ab12", entries=frozenset({"b2", "a1"})),
        LogProgress("ab12", "ef", by_rules=frozenset({"c3"}), night="2026-03-19"),
        LogProgress("ab12", entries=frozenset({"a1"}), by_rules=frozenset({"a1"}), night="2026-03-19"),
    ],
)
def test_every_kind_of_record_is_json_and_is_read_as_it_was_written(record: LogProgress) -> None:
    path = 'Logs/a "b" \\ Tür.md'
    written = render_progress({path: (record,)})
    assert json.loads(written)["log"] == path
    assert read_progress(written) == {path: (record,)}


def test_a_name_with_a_separator_of_lines_is_one_line() -> None:
    progress = read_progress('{"log": "Logs/a\u2028b.md", "file": "ab12", "digest": "ef"}\n'.encode())
    assert list(progress) == ["Logs/a\u2028b.md"]
    assert read_progress(render_progress(progress)) == progress
