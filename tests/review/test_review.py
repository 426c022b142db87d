"""Review without a model: near-exact repeats are never added twice, and what differs is never merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.review import review as stage
from pipelines.review.review import Filed, VerdictKind
from pipelines.store.item import Item, ItemType, Status, content_words, folded
from tests.making import candidate

if TYPE_CHECKING:
    from pipelines.review.review import Verdict


def review(
    filed: list[Filed], items: list[tuple[str, Item]], buried: frozenset[str] = frozenset()
) -> tuple[Verdict, ...]:
    return stage.review(filed, items, lambda one: one.text in buried)


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
    known = [("Areas/general.md", Item(ItemType.DECISION, "Use Postgres", id="k1111111111"))]
    verdicts = review([Filed(candidate(text), "") for text in ("use postgres!", "Use SQLite", "use sqlite.")], known)
    assert [(v.kind, v.known) for v in verdicts] == [
        (VerdictKind.DUPLICATE, "k1111111111"),
        (VerdictKind.ADD, ""),
        (VerdictKind.DUPLICATE, ""),
    ]


def test_another_type_is_another_item() -> None:
    known = [("Areas/general.md", Item(ItemType.TODO, "publish it", id="k1111111111", status=Status.OPEN))]
    assert review([Filed(candidate("publish it"), "")], known)[0].kind is VerdictKind.ADD


def test_two_projects_may_say_the_same() -> None:
    known = [("Projects/a.md", Item(ItemType.DECISION, "use uv", id="k1111111111"))]
    assert review([Filed(candidate("use uv"), "Projects/b.md")], known)[0].kind is VerdictKind.ADD
    assert review([Filed(candidate("use uv"), "Projects/a.md")], known)[0].kind is VerdictKind.DUPLICATE
    assert review([Filed(candidate("use uv"), "")], known)[0].kind is VerdictKind.DUPLICATE


@pytest.mark.parametrize("place", ["MEMORY.md", "USER.md", "Areas/general.md", "Archives/a-2025.md"])
def test_what_holds_for_all_is_not_said_again_in_a_project(place: str) -> None:
    known = [(place, Item(ItemType.DECISION, "use uv", id="k1111111111"))]
    assert review([Filed(candidate("use uv"), "Projects/b.md")], known)[0].known == "k1111111111"


@pytest.mark.parametrize("status", [Status.DONE, Status.SUPERSEDED, Status.ARCHIVED, Status.RETRACTED])
def test_what_was_closed_is_not_learnt_anew(status: Status) -> None:
    known = [("Areas/general.md", Item(ItemType.DECISION, "use uv", id="k1111111111", status=status))]
    assert review([Filed(candidate("use uv"), "")], known)[0].kind is VerdictKind.DUPLICATE


def test_a_candidate_without_words_is_noise() -> None:
    assert review([Filed(candidate("—!"), "")], [])[0].kind is VerdictKind.NOISE


def test_content_words() -> None:
    assert content_words("We should use the Widget-Factory, v2 of it") == {"widget-factory"}


def test_what_a_person_took_out_is_not_proposed_again() -> None:
    [verdict] = review([Filed(candidate("use uv"), "")], [], frozenset({"use uv"}))
    assert (verdict.kind, verdict.reason) == (VerdictKind.NOISE, "a person took it out")
