"""A lying model gets nothing into a memory past an honest verifier, and a true one loses nothing."""

import pytest

from benchmarks.liars import measure
from benchmarks.lies import CLASSES, lies, read_scenes

SOME = ("number", "roles", "meaning", "markup", "replaces")


@pytest.mark.parametrize(("kinds", "most"), [(SOME, 5), pytest.param(CLASSES, 10, marks=pytest.mark.torture)])
def test_no_lie_is_believed_and_no_truth_is_lost(kinds: tuple[str, ...], most: int) -> None:
    told = measure(kinds, most=most)
    assert {kind: row["lies"] for kind, row in told["classes"].items()} == {kind: [] for kind in kinds}
    assert told["honest"]["lost"] == []
    assert all(
        row["live"] + row["waits"] + row["verified"] + row["by code"] == most for row in told["classes"].values()
    )
    assert told["classes"]["roles"]["yes-man"] > 0, "the lies reach the memory where nobody stops them"
    assert told["classes"]["markup"]["yes-man"] == told["classes"]["markup"]["live"] == 0, "markup needs no reader"


def test_each_class_has_fifty_tries_about_as_many_lines() -> None:
    scenes = read_scenes()
    for kind in CLASSES:
        tries = lies(scenes, kind)
        assert len(tries) == len({one.said for one in tries}) == 50
