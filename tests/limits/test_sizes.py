"""Bounds of size: what is too large is named, with its size and the bound, and nothing of it is held."""

import io
import sys
from pathlib import Path
from typing import Final

import pytest

from pipelines.cli import run_cli
from pipelines.cli.log_commands import MAX_BYTES as MOST_LOGGED
from pipelines.errors import MAX_BYTES as MOST_SETTINGS
from pipelines.errors import BadFile, BadSettings, read_toml
from pipelines.store import snapshot
from pipelines.store.files import read_bytes
from tests.conftest import Memory

NIGHT: Final = ("run", "--now", "2026-03-19T02:00")
BOUND: Final = 100_000
"""A smaller bound than the real ones: bytes are read for secrets before they are measured, which takes its time."""


def grow(file: Path, size: int) -> None:
    """Give a file a size without its bytes: where they are not there, they are zeros."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as out:
        out.truncate(size)


@pytest.mark.parametrize("path", ["MEMORY.md", "Projects/alpha.md", "Review.md"])
def test_a_document_over_the_bound_is_named_and_left_alone(
    memory: Memory, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MAX_DOCUMENT_BYTES", BOUND)
    grow(memory.root / path, BOUND + 1)
    said = memory.curate(*NIGHT, exits=1)
    assert f"{path} has 100,001 bytes, and the limit is 100,000; it was left alone." in said
    assert (memory.root / path).stat().st_size == BOUND + 1
    assert "100,001 bytes" in memory.curate("status", exits=1)


@pytest.mark.parametrize("path", ["Logs/2026-03-18.md", "Logs/partial/2026-03-18-phone.md"])
def test_a_log_over_the_bound_waits(memory: Memory, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MAX_BYTES", BOUND)
    grow(memory.root / path, BOUND + 1)
    said = memory.curate(*NIGHT, exits=1)
    assert f"{path} has 100,001 bytes, and the limit is 100,000" in said


@pytest.mark.parametrize("path", ["State/progress.jsonl", "State/tombstones.jsonl"])
def test_state_over_the_bound_stops_the_night_with_a_plain_sentence(
    memory: Memory, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_bytes, "__defaults__", (BOUND,))
    memory.write("Logs/2026-03-18.md", "- Fact: The printer stands in hall 4\n")
    grow(memory.root / path, BOUND + 1)
    said = memory.curate(*NIGHT, exits=1)
    assert f"{path} has 100,001 bytes, and the limit is 100,000. Split it or move it" in said
    assert (memory.root / path).stat().st_size == BOUND + 1


def test_the_bounds_are_those_that_the_documents_promise() -> None:
    assert snapshot.MAX_DOCUMENT_BYTES == 8 << 20
    assert read_bytes.__defaults__ == (64 << 20,)


def test_a_file_of_exactly_the_bound_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    grow(tmp_path / "a", 1000)
    assert read_bytes(tmp_path, "a", 1000) == bytes(1000)
    with pytest.raises(BadFile, match="has 1,000 bytes, and the limit is 999"):
        read_bytes(tmp_path, "a", 999)


def test_settings_over_the_bound_or_nested_without_end(memory: Memory) -> None:
    settings = memory.root / "curate.toml"
    whole = settings.read_text()
    settings.write_text(f"{whole}\nlayout = {'[' * 100_000}\n")
    assert "it is not TOML" in memory.curate(*NIGHT, exits=1)
    grow(settings, MOST_SETTINGS + 1)
    assert "larger than 1,048,576 bytes" in memory.curate(*NIGHT, exits=1)
    with pytest.raises(BadSettings, match="1,048,576"):
        read_toml(settings)


def test_standard_input_of_a_log_line_is_bounded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = memory.files()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a" * (MOST_LOGGED + 1))))
    assert run_cli(["log", "-", "--memory", str(memory.root)]) == 2
    assert "longer than 1,048,576 bytes" in capsys.readouterr().err
    assert memory.files() == before
