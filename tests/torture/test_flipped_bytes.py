"""Bytes flipped anywhere in what search keeps: every answer is the same afterwards, and nothing ends in a traceback."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pipelines.search.schema import INDEX
from tests.search.flips import answers, answers_as_searched, bring, files, fill, flip
from tests.torture.figures import Series

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.hits import Hit

SEEDS = 100


@pytest.mark.torture
@pytest.mark.parametrize("count", [1, 10, 100])
@pytest.mark.parametrize("which", ["index", "rows", "keys", "bits", "places"])
def test_flipped_bytes(tmp_path: Path, which: str, count: int) -> None:
    source, root = tmp_path / "source", tmp_path / "memory"
    source.mkdir()
    fill(source)
    right, series = answers(source), Series(f"{count} bytes flipped ({which})")
    for seed in range(SEEDS):
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(source, root)
        flip(files(root)[which], seed, count)
        series.tried += 1
        bring(root)
        series.point(f"seed {seed}", [] if answers(root) == right else ["it answers otherwise"])
    series.close()


def answers_after_an_update(root: Path) -> list[list[Hit]]:
    bring(root)
    return answers(root)


@pytest.mark.torture
@pytest.mark.parametrize("at", range(4))
def test_flipped_headers_of_the_index(tmp_path: Path, at: int) -> None:
    source, root = tmp_path / "source", tmp_path / "memory"
    source.mkdir()
    fill(source)
    right, series = answers(source), Series("a byte of the header flipped (index)")
    for place in range(at, 112, 4):
        for value in (0x01, 0x80, 0xFF):
            for work in (answers_after_an_update, answers_as_searched):
                shutil.rmtree(root, ignore_errors=True)
                shutil.copytree(source, root)
                data = bytearray((root / INDEX).read_bytes())
                data[place] ^= value
                (root / INDEX).write_bytes(data)
                series.tried += 1
                series.point(f"byte {place} ^ {value}", [] if work(root) == right else ["it answers otherwise"])
    series.close()
