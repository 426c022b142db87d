"""Judging two sentences: on labelled pairs, and what may never be merged whatever the words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.queries.pairs import read_pairs, score_pairs
from pipelines.review.judging import Relation, judge
from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from pipelines.queries.pairs import Pair

DATA = Path(__file__).parent.parent / "data"
PAIRS = DATA / "beliefs.jsonl"
FRESH = DATA / "beliefs_fresh.jsonl"
EVERY = [*read_pairs(PAIRS), *read_pairs(FRESH)]


def test_the_labelled_pairs() -> None:
    pairs = read_pairs(PAIRS)
    held = score_pairs(pair for pair in pairs if pair.held_back)
    everything = score_pairs(pairs)
    assert everything.pairs >= 240
    assert held.pairs * 4 >= everything.pairs
    assert held.macro_f1 >= 0.80
    assert (everything.merged, everything.merged_guarded) == (0, 0)


def test_the_pairs_that_were_written_without_a_look_at_the_rules() -> None:
    score = score_pairs(read_pairs(FRESH))
    assert score.macro_f1 >= 0.80
    assert (score.pairs, score.merged) == (60, 0)


@pytest.mark.parametrize("pair", [pair for pair in EVERY if pair.label is not Relation.DUPLICATE])
def test_what_differs_is_never_merged_in_either_order(pair: Pair) -> None:
    assert judge(pair.old, pair.new, pair.type).relation is not Relation.DUPLICATE
    assert judge(pair.new, pair.old, pair.type).relation is not Relation.DUPLICATE


@given(st.sampled_from(EVERY), st.integers(1, 998))
def test_another_number_is_never_a_repeat(pair: Pair, more: int) -> None:
    numbers = list(re.finditer(r"(?<![\w.,:/-])\d+(?![\w.,:/-]|\.\d)", pair.old))
    for found in numbers:
        other = f"{pair.old[: found.start()]}{int(found[0]) + more}{pair.old[found.end() :]}"
        assert judge(pair.old, other, pair.type).relation is not Relation.DUPLICATE


@given(st.sampled_from(EVERY))
def test_a_sentence_repeats_itself(pair: Pair) -> None:
    assert judge(pair.new, pair.new, pair.type).relation is Relation.DUPLICATE
    assert judge(pair.new, pair.new.upper().rstrip("."), pair.type).relation is Relation.DUPLICATE


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_judged(one: str, other: str) -> None:
    assert judge(one, other).relation in frozenset(Relation)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Replace Redis with Valkey.", "Replace Valkey with Redis."),
        ("Dates are shown as day, month, year.", "Dates are shown as year, month, day."),
        ("Deploy on Fridays if Anna is present.", "Deploy on Fridays."),
        ("The lab is in Bern, which Anna chose.", "The lab is in Bern, which Otto chose."),
        ("I'll keep the report posted.", "You'll keep the report posted."),
        ("Use tabs in Makefiles.", "Use tabs."),
        ("Sample 12 is clean.", "Sample 13 is clean."),
        ("Deploy on Fridays.", "Deploy on Fridays, which is not allowed."),
        ("Ship it as one file, because it is safe.", "Ship it as one file, because it is not safe."),
        ("Ship it as one file.", "Ship it as one file, because nobody has Python."),
        ("I keep the report posted.", "You keep the report posted."),
        ("Close https://example.org/issues/13", "Close https://example.org/issues/14"),
    ],
)
def test_texts_that_share_their_words_and_say_another_thing(old: str, new: str) -> None:
    assert judge(old, new).relation is not Relation.DUPLICATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Accept erratum 6 and the change required by it.", "Accept erratum 2 and the change required by it."),
        ("Anna will update the issue with the minutes.", "Anna will update the calendar for the agenda."),
        ("Met Lena on 3 March.", "Met Lena on 10 March."),
        ("The office is in Bern.", "The office is now open on Mondays."),
        ("The server has 16 GB memory.", "The server now has 500 GB disk."),
        ("The budget was discussed on 3 March.", "The budget was discussed on 10 March."),
        ("A photo of a sunset is in the hall.", "A photo of a sunset is in the attic."),
        ("Close issue #13.", "Close issue #14."),
        ("The mobile app supports offline mode.", "The mobile app now supports push messages."),
        ("I like tea.", "I like coffee."),
        ("The site was down on 3 June.", "The site was down on 19 June."),
        ("Ship it as one file.", "Ship it as one file, because nobody has Python."),
        ("The lease ends on 31 August.", "The landlord extended the warranty to 30 November."),
        ("Harbour uses Terraform for stage 1, not Pulumi.", "Harbour uses Terraform for stage 2, not Pulumi."),
        ("Harbour uses Terraform for stage 1, not Pulumi.", "Harbour now uses Terraform for stage 2, not Pulumi."),
        ("The office is in Bern.", "I left the office at 5."),
    ],
)
def test_what_can_hold_together_is_distinct(old: str, new: str) -> None:
    assert judge(old, new).relation is Relation.DISTINCT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I have two dogs.", "I have three dogs now."),
        ("I live in Boston.", "I recently moved to Denver."),
        ("Tom works at Google.", "Tom left Google and joined Microsoft."),
        ("The meeting is at noon.", "The meeting got moved to 3 pm."),
        ("The lease on the hall ends on 31 August.", "The city has extended the lease on the hall to 30 November."),
        ("The invoices are owned by Wen.", "Ownership of the invoices passed from Wen to Aurelio."),
        ("The client targets Java 17.", "Since the spring release the client targets Java 21."),
        ("Lunch is at noon.", "From next week on lunch is at 1 pm."),
        ("We use Slack for alerts.", "Alerts go to Matrix now, we dropped Slack."),
    ],
)
def test_what_people_say_of_a_change(old: str, new: str) -> None:
    assert judge(old, new).relation is Relation.SUPERSEDE
    assert judge(new, old).relation is not Relation.DUPLICATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ask before deleting a branch.", "Please ask before you delete a branch."),
        ("Write a plan for the restore.", "Todo: we still need to write a plan for the restore."),
    ],
)
def test_what_people_say_again(old: str, new: str) -> None:
    assert judge(old, new).relation is Relation.DUPLICATE


def test_two_tasks_clash_only_in_the_day_by_which_they_are_due() -> None:
    assert judge("Pay rent by 1 May.", "Pay rent by 3 May.", ItemType.TODO).relation is Relation.CONTRADICT
    assert judge("Use Redis for jobs.", "Use Kafka for jobs.", ItemType.TODO).relation is Relation.DISTINCT
    assert judge("Use Redis for jobs.", "Use Kafka for jobs.", ItemType.DECISION).relation is Relation.CONTRADICT
