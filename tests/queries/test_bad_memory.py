"""What no memory should hold, asked by every verb: each answers plainly, none raises, and no file changes by asking."""

import pytest

from tests.conftest import Memory

ONE, TWO, THREE, OLD = (f"k{digit * 10}" for digit in "1234")
PLACE = "Areas/bad.md"
CIRCLE = f"""# Bad

## Decisions

- Decision: Orders go by ship. <!-- {ONE} since=2026-02-01 trust=self confidence=high by=rules@1 because={TWO} next={ONE} -->
- Decision: Ships are cheap. <!-- {TWO} since=2026-02-02 trust=self confidence=high by=rules@1 because={THREE} -->
- Decision: Cheap is good. <!-- {THREE} since=2026-02-03 trust=self confidence=high by=rules@1 because={ONE} supersedes={OLD} -->

## History

- ~~Decision: Orders go by rail.~~ <!-- {OLD} since=2026-01-01 until=2026-02-01 trust=self confidence=high by=rules@1 superseded-by={ONE} -->
"""  # noqa: E501  an item is one line
ASKING = (
    ("why", ONE), ("history", ONE), ("impact", ONE),
    ("items",), ("review",), ("search", "orders"),
)  # fmt: skip
BY_ID = (
    ("why",), ("history",), ("impact",), ("pin",), ("unpin",), ("forget", "--yes"),
    ("review", "--accept"), ("review", "--reject"), ("undo", "--item"),
)  # fmt: skip


@pytest.fixture(name="bad")
def with_circle(memory: Memory) -> Memory:
    """Return a memory with a circle of links, an item that names itself, and one that two items superseded."""
    memory.write(PLACE, CIRCLE)
    memory.night("2026-03-12T02:00")
    return memory


def test_a_circle_and_an_item_superseded_twice_are_answered_and_stay_as_they_are(bad: Memory) -> None:
    before = bad.files()
    assert all(bad.curate(*asked) for asked in ASKING)
    assert bad.files() == before


def test_an_id_that_does_not_exist_is_said_by_every_verb_that_takes_one(bad: Memory) -> None:
    before = bad.files()
    for verb, rest in (*((verb, ()) for verb in BY_ID), (("move",), ("MEMORY",))):
        assert "No item has the id kffffffffff" in bad.curate(*verb, "kffffffffff", *rest, exits=1), verb
    assert bad.files() == before
