"""What held on a day, by since and until."""

from tests.conftest import Memory


def test_what_is_no_day_is_said(memory: Memory) -> None:
    for verb in (["items"], ["search", "port"]):
        assert "“soon” is not a day. Write 2026-04-09" in memory.curate(*verb, "--as-of", "soon", exits=2)
