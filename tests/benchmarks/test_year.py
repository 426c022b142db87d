"""The context and search answer what is asked on the mornings of a few made-up weeks, whose truth is known."""

from pathlib import Path

from benchmarks.year import live


def test_mornings_find_what_holds(tmp_path: Path) -> None:
    lived = live(tmp_path / "memory", 14, 5)
    assert [one for one in lived.failed if one[0] in {"context", "search"}] == []
    assert (lived.harm["of them lost"], lived.harm["false ones believed"], lived.harm["said twice"]) == (0, 0, 0)
    assert lived.most < 4000
