"""Files that are not on the disk and are not deleted: what git was told to leave out, and what goes with many items."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Memory, Once
from tests.making import git
from tests.night.sync.machines import append_log, share

Pair = tuple[Memory, Memory]
KESTREL, FALCON = "Projects/kestrel.md", "Projects/falcon.md"
LOG = "2025-01-02"


def exclude_falcon(root: Path) -> None:
    git(root, "update-index", "--refresh")
    git(root, "sparse-checkout", "set", "--no-cone", "/*", f"!/{FALCON}")


def assume_unchanged(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", FALCON, "USER.md")
    (root / FALCON).unlink()
    (root / "USER.md").unlink()


def never_checked_out(root: Path) -> None:
    for path in (FALCON, KESTREL, "USER.md"):
        (root / path).unlink()
    (root / ".git/index").unlink()


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


@pytest.mark.parametrize("leave_out", [exclude_falcon, assume_unchanged, never_checked_out])
def test_what_git_leaves_out_is_no_deletion(pair: Pair, leave_out: Callable[[Path], None]) -> None:
    one, other = pair
    before, known = one.files(), texts(other)
    leave_out(other.root)
    assert not (other.root / FALCON).exists()
    other.curate("sync", "--now", "2025-01-03T12:00")
    other.night("2025-01-03T23:00")
    other.curate("add", "fact", "The quay is long", "--now", "2025-01-03T23:10")
    assert texts(other) == known | {"The quay is long"}
    assert "Falcon is for sale" in other.curate("search", "Falcon sale")
    if leave_out is not never_checked_out:  # `check` names the index
        assert "nothing is broken" in other.curate("check")
    other.curate("sync", "--now", "2025-01-04T12:00")
    one.night("2025-01-04T23:00")
    kept = ("Projects/", "USER.md", "SOUL.md", "Logs/")
    after = one.files()
    assert {path: data for path, data in before.items() if path.startswith(kept)} == {
        path: data for path, data in after.items() if path.startswith(kept)
    }
    assert "tombstones" not in "".join(after)


def test_a_page_and_a_log_that_are_left_out_take_what_is_new(pair: Pair) -> None:
    one, other = pair
    exclude_falcon(other.root)
    other.curate("sync", "--now", "2025-01-03T12:00")
    said = other.curate("status", "--now", "2025-01-03T12:00")
    assert "git was told to leave 1 file off the disk: the last commit is read instead." in said
    other.curate("log", "Fact: Falcon has two masts", "--project", "Falcon", "--now", f"{LOG}T23:30")
    other.night("2025-01-03T23:00")
    one.curate("sync", "--now", "2025-01-04T12:00")
    assert {"Falcon is for sale", "Falcon has two masts"} <= texts(one) & texts(other)
    log = one.read(f"Logs/{LOG}.md")
    assert log.startswith("project: Kestrel")
    assert log.count("shelf 3 holds bolts") == log.count("Falcon has two masts") == 1


def test_a_page_that_is_left_out_here_and_changed_there_is_no_deletion(pair: Pair) -> None:
    one, other = pair
    exclude_falcon(other.root)
    other.curate("sync", "--now", "2025-01-03T11:00")
    one.curate("sync", "--now", "2025-01-03T11:30")
    one.curate("add", "fact", "Falcon has a bell", "--document", "falcon", "--now", "2025-01-03T12:00")
    one.curate("sync", "--now", "2025-01-03T12:10")
    other.curate("sync", "--now", "2025-01-03T13:00")
    other.night("2025-01-03T23:00")
    assert not (other.root / FALCON).exists()
    assert "Falcon has a bell" in texts(other)
    assert "tombstones" not in "".join(other.files())


def test_nothing_of_a_deletion_that_is_asked_about_is_committed_before_the_answer(pair: Pair) -> None:
    one, other = pair
    (other.root / KESTREL).unlink()
    assert f"{KESTREL} is gone with many items" in other.curate("sync", "--now", "2025-01-03T12:00", exits=1)
    assert f"{KESTREL} is gone, and counts until you decide" in other.curate("status", "--now", "2025-01-03T12:00")
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
