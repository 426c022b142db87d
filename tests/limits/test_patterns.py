"""Every regular expression of the package is found, and none takes a time out of proportion on its worst input."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.limits import patterns
from tests.limits.patterns import Found, slowness
from tests.processor_time import watched

_MINUTES = 10


def _report(*arguments: str) -> dict[str, Any]:
    """Return what the gathering process tells; one that hangs is ended and fails the test."""
    command = [sys.executable, "-W", "error", "-m", "tests.limits.patterns", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 * _MINUTES)
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _is_sound(report: dict[str, Any]) -> None:
    assert report["missed"] == []
    assert report["patterns"] > 500
    assert report["slow"] == {}


def test_every_pattern_is_seen_and_bears_some_of_its_worst_inputs() -> None:
    _is_sound(_report("300", "2"))


@pytest.mark.torture
def test_every_pattern_bears_its_worst_inputs() -> None:
    _is_sound(_report("1000"))


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(a+)+b", "match"),
        (r"\s*\s*\Z", "search"),
        (r"<!--.*?-->", "search"),
        (r"x\s+[^,]+?\s+y", "search"),
        (r"(?:\W+[\w-]+){0,7}?\W+to\b", "match"),
        (r"(?:a|aa)+$", "fullmatch"),
        (r"[a-z-]*(?:secret)[a-z-]*", "fullmatch"),
    ],
)
def test_a_pattern_that_is_slow_is_found(pattern: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "HANG", 0.2)
    with watched():
        assert slowness(Found("here", re.compile(pattern), frozenset({method})))


@pytest.mark.parametrize("pattern", [r"\d{4}-\d\d-\d\d", r"<!--.{0,300}?-->", r"(?<!\w)\w++\s*+:", r"[^\n]*\n|[^\n]+"])
def test_a_pattern_that_is_not_slow_passes(pattern: str) -> None:
    with watched():
        assert not slowness(Found("here", re.compile(pattern), frozenset({"search"})))
