"""`curate set`: what is said of an item finds it, is shown, and survives nights and rewording."""

import pytest

from tests.asking import items
from tests.conftest import Memory, Once

KESTREL = "Projects/kestrel.md"


def a_night(memory: Memory) -> None:
    memory.day("2026-03-17", "project: Kestrel\n\n- Decision: Use brass.\n- Todo: Oil the hinge.\n")


@pytest.fixture
def told(once: Once) -> Memory:
    return once(a_night)


def found(memory: Memory, *words: str) -> list[str]:
    return [hit["text"] for hit in memory.json("search", *words)["results"]]


def test_what_is_set_of_an_item_finds_it_is_shown_and_survives_nights_and_rewording(told: Memory) -> None:
    brass, oil = (items(told)[text]["id"] for text in ("Use brass.", "Oil the hinge."))
    said = told.curate("set", brass, "topic=Türen", "room.floor=2 <!-- -->")
    assert said == f"{brass} in {KESTREL} has room.floor=2 <!-- -->, topic=Türen set.\n"
    told.curate("set", oil, "topic=hinges")
    assert f"Set topic of {oil}" in told.git("log", "-1", "--format=%s")
    told.day("2026-03-18", "project: Kestrel\n\n- Decision: Use brass.\n- Fact: doors=3, topic=türen said Ann.\n")
    told.curate("correct", brass, "Use polished brass.")
    for words in (
        ["topic=TÜREN"],
        ["topic=türen", "brass"],
        ['room.floor="2 <!-- -->"'],
    ):
        assert found(told, *words) == ["Decision: Use polished brass."]
    assert found(told, "topic=hinges") == ["Todo: Oil the hinge."]
    assert (
        found(told, "doors=3")[0] == "Fact: doors=3, topic=türen said Ann."
    )  # no key of an item's or a page's, so they are words
    assert "topic=Türen" in told.curate("search", "topic=türen")
    assert told.json("search", "topic=hinges")["results"][0]["meta"] == ["topic=hinges"]
    now = items(told)["Use polished brass."]
    assert now["metadata"] == {"room.floor": "2 <!-- -->", "topic": "Türen"}
    told.curate("set", now["id"], "topic=", "room.floor=3")
    assert items(told)["Use polished brass."]["metadata"] == {"room.floor": "3"}
    assert "metadata changed" in told.curate("history", now["id"])
    assert found(told, "topic=türen", "brass") == []
    assert "Everything is accounted for" in told.curate("check")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("topic", "'topic' is not a key and a value."),
        ("=x", "'' cannot be a key."),
        ("to pic=x", "'to pic' cannot be a key."),
        ("a..b=x", "'a..b' cannot be a key."),
        ("1st=x", "'1st' cannot be a key."),
    ],
)
def test_a_key_that_cannot_be_one_is_named(told: Memory, given: str, said: str) -> None:
    head = told.git("rev-parse", "HEAD")
    assert said in told.curate("set", "brass", given, exits=2)
    assert told.git("rev-parse", "HEAD") == head


def test_a_secret_is_not_set(told: Memory) -> None:
    told.curate("set", "brass", "key=" + "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert "ghp_" not in (told.root / KESTREL).read_text(encoding="utf-8")
