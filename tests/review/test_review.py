"""Review without a model: near-exact repeats are never added twice, and what differs is never merged."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipelines.store.item import STRUCK, Item, ItemType, Status, Trust
from pipelines.store.wording import folded
from tests.making import candidate
from tests.review.ruling import GENERAL, Held, context, rulings, told

USE = "k1111111111"


def held(
    place: str, kind: ItemType = ItemType.DECISION, text: str = "use uv", status: Status = Status.LIVE, since: str = ""
) -> Held:
    return place, Item(kind, text, USE, status, since, trust=Trust.SELF)


def ruled(text: str, by: Sequence[Held], document: str = "", home: str = GENERAL) -> tuple[str, tuple[str, ...]]:
    [one] = told(rulings([replace(candidate(text), page=document, home=document or home)], context(by)))
    return one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use Postgres.", "use postgres"),
        ("Use **Postgres**", "use `Postgres`!"),
        ("See [the docs](https://example.org/x).", "see the docs"),
        ("“Smart” quotes", '"smart" quotes'),
        ("Ship it,  then rest", "ship it then rest"),
    ],
)
def test_texts_that_say_the_same_words(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use port 5432", "Use port 5433"),
        ("Use version 1.2", "Use version 1.2.1"),
        ("Deploy on Friday", "Deploy on Monday"),
        ("Do deploy on Friday", "Do not deploy on Friday"),
        ("Anna reviews", "Anne reviews"),
        ("Write it in C", "Write it in C++"),
        ("Write it in C", "Write it in C#"),
        ("Keep x < 5", "Keep x > 5"),
        ("Offset is 1", "Offset is -1"),
        ("Use @id", "Use id"),
        ("Budget 50%", "Budget 50$"),
    ],
)
def test_texts_that_differ_in_one_thing(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_a_late_or_closing_line_brings_nothing_back() -> None:
    known = [held("Archives/a-2025.md", status=Status.ARCHIVED, since="2026-12-31")]
    assert ruled("use uv", known, "Projects/a.md", "Projects/a.md") == ("ignore", ())
    known = [held("Archives/a-2025.md", status=Status.ARCHIVED)]
    [ruling] = rulings([replace(candidate("use uv"), closed=Status.ENDED)], context(known))
    assert ruling.kind == "ignore"


@pytest.mark.parametrize("status", sorted({Status.DONE} | STRUCK))
def test_what_was_closed_is_not_learnt_anew(status: Status) -> None:
    assert ruled("use uv", [held(GENERAL, status=status)]) == ("ignore", ())


def test_what_a_person_took_out_is_not_proposed_again() -> None:
    [ruling] = rulings([candidate("use uv")], context(buried=frozenset({"use uv"})))
    assert ruling.kind == "ignore"


# ---------------------------------------------------------------- what differs


# ---------------------------------------------------------------- what nobody vouches for


def test_what_an_agent_repeats_of_the_memory_confirms_nothing() -> None:
    known = context([held(GENERAL)])
    assert told(rulings([replace(candidate("use uv"), home=GENERAL, recited=True)], known)) == [("ignore", ())]
    assert told(rulings([replace(candidate("use pip"), home=GENERAL, echo=True)], known)) == [("ignore", ())]


# ---------------------------------------------------------------- how much may end


def shelves(kind: ItemType) -> list[Held]:
    texts = [f"shelf {at} may fall" for at in range(8)]
    return [(GENERAL, Item(kind, one, f"k00000000{at}", trust=Trust.SELF)) for at, one in enumerate(texts)]


def test_what_is_said_again_as_over_counts_too() -> None:
    texts = [item.text for _, item in shelves(ItemType.RISK)]
    over = [replace(candidate(text, ItemType.RISK), closed=Status.RESOLVED) for text in texts]
    found = told(rulings(over, context(shelves(ItemType.RISK))))
    assert [kind for kind, _ in found] == ["close"] * 3 + ["ask"] * 5
