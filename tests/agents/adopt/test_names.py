"""Names of adopted files: kept where they can stand, and no two the same on any disk."""

from __future__ import annotations

from pipelines.agents.adopt_source import distinct_paths


def test_many_of_one_name_take_no_time() -> None:
    assert len(set(distinct_paths(["same.md"] * 20_000))) == 20_000
