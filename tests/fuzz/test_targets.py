"""A short cut of `make fuzz`: every reader on some random inputs, the same ones each time."""

from pathlib import Path
from random import Random

import pytest

from tests.fuzz.mutating import mutated
from tests.fuzz.running import run
from tests.fuzz.targets import TARGETS, Target

_INPUTS = 20


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_reader_bears_whatever_it_is_given(target: Target, tmp_path: Path) -> None:
    outcome = run(target, "short", max(8, _INPUTS * target.share // 100), tmp_path)
    assert not outcome.findings, [(found.error, found.data[:300]) for found in outcome.findings]


def test_the_same_seed_gives_the_same_inputs() -> None:
    once, again = ([mutated(random, TARGETS[0].seeds) for _ in range(50)] for random in (Random("a"), Random("a")))
    assert once == again
    assert len(set(once)) > 40


def test_what_fails_is_found_made_smaller_and_kept(tmp_path: Path) -> None:
    def feed(data: bytes, _folder: Path) -> None:
        assert b"~~" not in data

    found = run(Target("broken", TARGETS[0].seeds, feed, 1), "any", 200, tmp_path).findings
    assert [one.data for one in found] == [b"~~"]
    assert found[0].keep(tmp_path).read_bytes() == b"~~"


def test_what_takes_more_than_a_second_is_found(tmp_path: Path) -> None:
    def feed(data: bytes, _folder: Path) -> None:
        while data:
            pass

    outcome = run(Target("endless", (b"x",), feed, 1), "any", 1, tmp_path)
    assert [one.error for one in outcome.findings] == ["TooSlow: more than a second"]
