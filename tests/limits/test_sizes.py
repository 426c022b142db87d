"""Bounds of size: what is too large is named, with its size and the bound, and nothing of it is held."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Final

import pytest

from pipelines.cli import run_cli
from pipelines.cli.log_commands import MAX_BYTES as MOST_LOGGED
from pipelines.errors import MAX_BYTES as MOST_SETTINGS
from pipelines.errors import BadFile, BadSettings, read_toml
from pipelines.store.files import MAX_BYTES, read_bytes
from pipelines.store.snapshot import MAX_DOCUMENT_BYTES, MAX_LOG_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

    from tests.conftest import Memory

NIGHT: Final = ("run", "--now", "2026-03-19T02:00")


def grow(file: Path, size: int) -> None:
    """Give a file a size without its bytes: where they are not there, they are zeros."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as out:
        out.truncate(size)


def first(*paths: str) -> list[ParameterSet]:
    """Return the first path for `make test`, and the others for `make torture`."""
    return [pytest.param(path, marks=[pytest.mark.torture] * (path != paths[0])) for path in paths]


@pytest.mark.parametrize("path", first("MEMORY.md", "Projects/alpha.md", "USER.md", "Review.md", "Archives/old.md"))
def test_a_document_over_the_bound_is_named_and_left_alone(memory: Memory, path: str) -> None:
    grow(memory.root / path, MAX_DOCUMENT_BYTES + 1)
    said = memory.curate(*NIGHT, exits=1)
    assert f"{path} has 8,388,609 bytes, and the limit is 8,388,608; it was left alone." in said
    assert (memory.root / path).stat().st_size == MAX_DOCUMENT_BYTES + 1
    assert "8,388,609 bytes" in memory.curate("status", exits=1)


@pytest.mark.parametrize("path", first("Logs/2026-03-18.md", "Logs/partial/2026-03-18-phone.md"))
def test_a_log_over_the_bound_waits(memory: Memory, path: str) -> None:
    grow(memory.root / path, MAX_LOG_BYTES + 1)
    said = memory.curate(*NIGHT, exits=1)
    assert f"{path} has 67,108,865 bytes, and the limit is 67,108,864" in said


@pytest.mark.parametrize("path", first("State/progress.jsonl", "State/tombstones.jsonl"))
def test_state_over_the_bound_stops_the_night_with_a_plain_sentence(memory: Memory, path: str) -> None:
    memory.write("Logs/2026-03-18.md", "- Fact: The printer stands in hall 4\n")
    grow(memory.root / path, MAX_BYTES + 1)
    said = memory.curate(*NIGHT, exits=1)
    assert f"{path} has 67,108,865 bytes, and the limit is 67,108,864. Split it or move it" in said
    assert (memory.root / path).stat().st_size == MAX_BYTES + 1


def test_a_file_of_exactly_the_bound_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    grow(tmp_path / "a", 1000)
    assert read_bytes(tmp_path, "a", 1000) == bytes(1000)
    with pytest.raises(BadFile, match="has 1,000 bytes, and the limit is 999"):
        read_bytes(tmp_path, "a", 999)


def test_settings_over_the_bound_or_nested_without_end(memory: Memory) -> None:
    settings = memory.root / "curate.toml"
    whole = settings.read_text()
    settings.write_text(f"{whole}\nlayout = {'[' * 100_000}\n")
    assert "nested too deep" in memory.curate(*NIGHT, exits=1)
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
