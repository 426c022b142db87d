"""Pages that are gone with many items are not deleted before a person says so."""

from pathlib import Path

import pytest

from tests.conftest import Memory, Once
from tests.making import git
from tests.night.sync.machines import append_log, share

Pair = tuple[Memory, Memory]
KESTREL = "Projects/kestrel.md"
LOG = "2025-01-02"


def live(one: Memory) -> None:
    share(one)
    many = "".join(f"- Fact: shelf {number} holds bolts\n" for number in range(7))
    append_log(one, LOG, f"project: Kestrel\n\n{many}\n## Other\n\nproject: Falcon\n\n- Fact: Falcon is for sale\n")
    one.write("USER.md", one.read("USER.md") + "\nIda sails.\n")
    one.night(f"{LOG}T23:00")
    one.aside(one.root.with_name("other")).curate("sync", "--now", f"{LOG}T23:10")


@pytest.fixture
def pair(once: Once, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Return two machines with a page of one item, a page of seven, and words in USER.md."""
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    one = once(live)
    return one, one.aside(tmp_path / "other")


def texts(memory: Memory) -> set[str]:
    return {item["text"] for item in memory.json("items")}


def test_nothing_of_a_deletion_that_is_asked_about_is_committed_before_the_answer(pair: Pair) -> None:
    one, other = pair
    (other.root / KESTREL).unlink()
    assert f"{KESTREL} is gone with many items" in other.curate("sync", "--now", "2025-01-03T12:00", exits=1)
    other.night("2025-01-03T23:00")
    other.curate("add", "fact", "The quay is long", "--now", "2025-01-03T23:10")
    one.night("2025-01-04T23:00")
    assert one.read(KESTREL).count("holds bolts") == 7
    assert "shelf 3 holds bolts" in texts(other)
    assert "shelf 3 holds bolts" in other.curate("search", "shelf 3 bolts")
    assert "7 items are gone from Projects/kestrel.md" in one.read("Review.md")
    assert not (other.root / KESTREL).exists()


@pytest.mark.parametrize(("choice", "by"), [("retract", "box"), ("restore", "verb")])
def test_the_answer_deletes_the_page_or_brings_it_back(pair: Pair, choice: str, by: str) -> None:
    one, other = pair
    page = other.read(KESTREL)
    (other.root / KESTREL).unlink()
    other.night("2025-01-03T23:00")
    if by == "box":
        other.write("Review.md", other.read("Review.md").replace(f"- [ ] {choice}", f"- [x] {choice}"))
        other.night("2025-01-04T23:00")
    else:
        [waits] = other.json("review")
        other.curate("review", waits["id"], "--choose", choice, "--now", "2025-01-04T23:00")
        other.curate("sync", "--now", "2025-01-04T23:10")
    assert "gone from" not in other.read("Review.md")
    one.curate("sync", "--now", "2025-01-05T12:00")
    for memory in (one, other):
        assert (memory.root / KESTREL).exists() is (choice == "restore")
        assert ("shelf 3 holds bolts" in texts(memory)) is (choice == "restore")
        assert "nothing is broken" in memory.curate("check")
        assert git(memory.root, "status", "--porcelain") == ""
    assert choice == "retract" or other.read(KESTREL) == page
