"""Review without a model: near-exact repeats are never added twice, and what differs is never merged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pipelines.review.review import Filed
from pipelines.store.item import STRUCK, Item, ItemType, Status, Trust, folded
from pipelines.text import content_words
from tests.making import candidate
from tests.review.ruling import GENERAL, context, rulings, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.review.ruling import Held

USE = "k1111111111"


def held(
    place: str, kind: ItemType = ItemType.DECISION, text: str = "use uv", status: Status = Status.LIVE, since: str = ""
) -> Held:
    return place, Item(kind, text, USE, status, since, trust=Trust.SELF)


def ruled(text: str, by: Sequence[Held], document: str = "", home: str = GENERAL) -> tuple[str, tuple[str, ...]]:
    [one] = told(rulings([Filed(candidate(text), document, home)], context(by)))
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


def test_repeats_within_a_night_and_of_the_memory() -> None:
    known = [held(GENERAL, text="Use Postgres")]
    found = rulings([candidate(text) for text in ("use postgres!", "Use SQLite", "use sqlite.")], context(known))
    assert told(found) == [("confirm", (USE,)), ("add", ()), ("confirm", ("n2",))]


def test_another_type_is_another_item() -> None:
    known = [held(GENERAL, ItemType.TODO, "publish it", Status.OPEN)]
    assert ruled("publish it", known) == ("add", ())


def test_two_projects_may_say_the_same() -> None:
    known = [held("Projects/a.md")]
    assert ruled("use uv", known, "Projects/b.md", "Projects/b.md") == ("add", ())
    assert ruled("use uv", known, "Projects/a.md", "Projects/a.md") == ("confirm", (USE,))
    assert ruled("use uv", known) == ("confirm", (USE,))


@pytest.mark.parametrize("place", ["MEMORY.md", "USER.md", GENERAL])
def test_what_holds_for_all_is_not_said_again_in_a_project(place: str) -> None:
    assert ruled("use uv", [held(place)], "Projects/b.md", "Projects/b.md") == ("confirm", (USE,))


def test_what_made_room_is_confirmed_where_it_was_and_new_elsewhere() -> None:
    known = [held("Archives/a-2025.md", status=Status.ARCHIVED)]
    assert ruled("use uv", known, "Projects/a.md", "Projects/a.md") == ("confirm", (USE,))
    assert ruled("use uv", known) == ("confirm", (USE,))
    assert ruled("use uv", known, "Projects/b.md", "Projects/b.md") == ("add", ())
    known = [held("Archives/general-2025-3.md", status=Status.ARCHIVED)]
    assert ruled("use uv", known, "Projects/b.md", "Projects/b.md") == ("confirm", (USE,))


@pytest.mark.parametrize(
    ("page", "archive"),
    [
        ("a", "a"),
        ("a", "a-2"),
        ("a", "a-2025"),
        ("a", "a-undated-2"),
        ("a-2025", "a-2025"),
        ("a-2025", "a-2025-2026-2"),
    ],
)
def test_a_page_knows_its_own_archives_by_name(page: str, archive: str) -> None:
    known = [held(f"Archives/{archive}.md", status=Status.ARCHIVED)]
    assert ruled("use uv", known, f"Projects/{page}.md", f"Projects/{page}.md")[0] == "confirm"


@pytest.mark.parametrize(("page", "archive"), [("a", "ab"), ("a", "a-b"), ("a", "a-2025-2026"), ("a-2025", "a-2026")])
def test_a_page_with_another_name_has_other_archives(page: str, archive: str) -> None:
    known = [held(f"Archives/{archive}.md", status=Status.ARCHIVED)]
    assert ruled("use uv", known, f"Projects/{page}.md", f"Projects/{page}.md")[0] == "add"


def test_a_late_or_closing_line_brings_nothing_back() -> None:
    known = [held("Archives/a-2025.md", status=Status.ARCHIVED, since="2026-12-31")]
    assert ruled("use uv", known, "Projects/a.md", "Projects/a.md") == ("ignore", ())
    known = [held("Archives/a-2025.md", status=Status.ARCHIVED)]
    [ruling] = rulings([replace(candidate("use uv"), closed=Status.ENDED)], context(known))
    assert ruling.kind == "ignore"


@pytest.mark.parametrize("status", sorted({Status.DONE} | STRUCK))
def test_what_was_closed_is_not_learnt_anew(status: Status) -> None:
    assert ruled("use uv", [held(GENERAL, status=status)]) == ("ignore", ())


def test_a_candidate_without_words_is_ignored() -> None:
    assert ruled("—!", []) == ("ignore", ())


def test_content_words() -> None:
    assert content_words("We should use the Widget-Factory, v2 of it") == {"widget-factory"}


def test_what_a_person_took_out_is_not_proposed_again() -> None:
    [ruling] = rulings([candidate("use uv")], context(buried=frozenset({"use uv"})))
    assert (ruling.kind, ruling.operation.reason) == ("ignore", "a person removed it")


# ---------------------------------------------------------------- what differs


@pytest.mark.parametrize("trust", list(Trust)[:3])
def test_another_value_waits_for_nobody_and_what_stands_stays(trust: Trust) -> None:
    by = context([held(GENERAL, text="Standup is at 9:30")])
    found = [replace(candidate(f"{word} is at 10:00"), trust=trust) for word in ("Standup", "standup")]
    assert told(rulings(found, by)) == [("add", ()), ("confirm", ("n1",))]
    assert [item.text for _, item in by.known.held()] == ["Standup is at 9:30", "Standup is at 10:00"]


# ---------------------------------------------------------------- what nobody vouches for


@pytest.mark.parametrize("kind", list(ItemType))
def test_what_is_doubted_waits_and_is_not_asked_about_twice(kind: ItemType) -> None:
    doubted = [Filed(candidate(f"use uv{mark}", kind), home=GENERAL, doubt="comes from outside") for mark in ("", "!")]
    assert told(rulings(doubted, context())) == [("ask", ()), ("ignore", ())]
    assert told(rulings(doubted[:1], context([held(GENERAL)]))) == [("ignore", ())]


def test_what_was_replaced_on_the_same_day_is_not_confirmed() -> None:
    new, old = replace(candidate("Deploy with Nomad"), replaces=(USE,)), candidate("Deploy with Kubernetes")
    by = context([held(GENERAL, text=old.text)])
    assert told(rulings([new, old], by)) == [("supersede", (USE,)), ("ignore", ())]


def test_what_an_agent_repeats_of_the_memory_confirms_nothing() -> None:
    known = context([held(GENERAL)])
    assert told(rulings([Filed(candidate("use uv"), home=GENERAL, recited=True)], known)) == [("ignore", ())]
    assert told(rulings([Filed(candidate("use pip"), home=GENERAL, echo=True)], known)) == [("ignore", ())]


# ---------------------------------------------------------------- how much may end


def shelves(kind: ItemType) -> list[Held]:
    texts = [f"shelf {at} may fall" for at in range(8)]
    return [(GENERAL, Item(kind, one, f"k00000000{at}", trust=Trust.SELF)) for at, one in enumerate(texts)]


@pytest.mark.parametrize("since", ["", "2026-05-01"])
def test_a_day_ends_no_more_for_naming_another_day(since: str) -> None:
    new = [replace(candidate(f"shelf {at} was mended"), since=since, replaces=(f"k00000000{at}",)) for at in range(8)]
    found = told(rulings(new, context(shelves(ItemType.DECISION))))
    assert [kind for kind, _ in found] == ["supersede"] * 3 + ["ask"] * 5


def test_what_is_said_again_as_over_counts_too() -> None:
    texts = [item.text for _, item in shelves(ItemType.RISK)]
    over = [replace(candidate(text, ItemType.RISK), closed=Status.RESOLVED) for text in texts]
    found = told(rulings(over, context(shelves(ItemType.RISK))))
    assert [kind for kind, _ in found] == ["close"] * 3 + ["ask"] * 5
