"""Two sentences are the same, conflict in one value, or stand side by side."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.review.compare import adds_nothing, conflict, keywords, stem
from pipelines.store.wording import words_key

DISTINCT = [
    tuple(line.split(" | "))
    for line in (Path(__file__).parent / "distinct_pairs.txt").read_text().splitlines()
    if line.strip()
]
SENTENCES = sorted({sentence for pair in DISTINCT for sentence in pair})
MOST_ASKED = 0.05
"""The part of distinct pairs about which a person may be asked without need."""


def same_statement(one: str, other: str) -> bool:
    return words_key(one) == words_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use terraform", "Use Terraform."),
        ("**Use**  `Redis` for sessions", "Use Redis, for sessions!"),
        ("The settings are in `.env`", "The settings are in .env."),
    ],
)
def test_case_spacing_markdown_and_punctuation_are_no_difference(one: str, other: str) -> None:
    assert same_statement(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The office is in Bern", "The office is not in Bern"),
        ("The office is in Bern", "Is the office in Bern?"),
        ("The office is in Bern", "The office is in Bern?"),
        ("Use Redis for sessions", "Stop to use Redis for sessions"),
        ("Use Redis for sessions", "Use Redis for sessions and files on disk for pages"),
        ("Backups run at night", "Database backups run at night"),
        ("Logs are kept for a week", "Logs are kept for a week if there is room"),
        ("Logs are kept for a week", "Logs are kept for a week in Berlin"),
        ("Logs are kept for a week", "Logs are kept for a week since 2026-03-01"),
        ("Logs are kept", "Logs are kept 30 days"),
        ("Tests are green", "Anna says tests are green"),
        ("Tests are green", "Tests are almost green"),
        ("Use it", "Use it for the archive"),
        ("The limit is 100", "The limit is now 100"),
        ("Use Redis for sessions", "We decided to use Redis for sessions"),
        ("Backups are encrypted", "Backups are encrypted with age keys"),
        ("An otter is the mascot", "The otter is the mascot"),
        ("Wait .5 seconds", "Wait 5 seconds"),
        ("The settings are in .env", "The settings are in env"),
        ("It takes ~5 hours", "It takes 5 hours"),
        ("See [the manual](Areas/a.md)", "See [the manual](Areas/b.md)"),
    ],
)
def test_what_says_more_than_another_is_not_the_same(one: str, other: str) -> None:
    assert not same_statement(one, other)


@pytest.mark.parametrize(
    ("new", "held"),
    [
        ("The API allows 100 requests", "The API allows 100 requests, not 1,000"),
        ("Met Anders on 15 May", "Met Anders on 15 May 2026"),
        ("Deploys need approval", "Deploys need approval unless it is a hotfix"),
        ("Deployments need two approvals", "Deploys need two approvals of the platform team"),
        ("Send Ines the contract", "Ines gets the contract by 2026-04-10"),
    ],
)
def test_more_in_the_older_one_alone_is_no_hindrance(new: str, held: str) -> None:
    assert adds_nothing(new, held)


@pytest.mark.parametrize(
    ("new", "held"),
    [
        ("Met Anders on 15 May 2026", "Met Anders on 15 May"),
        ("The API allows 1,000 requests", "The API allows 100 requests"),
        ("The API allows 100 requests a minute for Acme", "The API allows 100 requests a minute"),
        ("Deploy on Fridays", "Do not deploy on Fridays"),
        ("Do not deploy on Fridays", "Deploy on Fridays"),
        ("Deploying is fine on Fridays", "Deploying is fine, but not on Fridays"),
        ("Deploys need approval unless it is a hotfix", "Deploys need approval"),
        ("Anna owns the pager", "Bruno owns the pager"),
        ("Keep logs for 30 days", "Keep logs for 30 hours"),
        ("The limit is > 5", "The limit is < 5"),
    ],
)
def test_what_the_newer_one_adds_is_found(new: str, held: str) -> None:
    assert not adds_nothing(new, held)


@pytest.mark.parametrize(
    ("new", "held", "values"),
    [
        ("The API allows 1,000 requests per minute.", "The API allows 100 requests per minute", ("1,000", "100")),
        ("Keep backups for 14 days", "Keep backups for 2 weeks and 30 days", ()),
        ("Keep backups for 30 days", "Keep backups for 2 weeks", ("30 days", "2 weeks")),
        ("The launch is on 12 May 2026", "The launch is on 19 May 2026", ("12 May 2026", "19 May 2026")),
        ("Standup is at 9:30", "Standup is at 10:00", ("9:30", "10:00")),
        ("Bookings are stored in PostgreSQL 16", "Bookings are stored in MySQL 8", ("PostgreSQL 16", "MySQL 8")),
        ("The lead of Kestrel is Anna", "The lead of Kestrel is Bruno", ("Anna", "Bruno")),
        ("Retry failed jobs 3 times", "Retry failed jobs 5 times", ("3", "5")),
        ("The fee is $100", "The fee is $120", ("$100", "$120")),
        ("The server listens on port 8080", "The server listens on port 9090", ("8080", "9090")),
    ],
)
def test_one_value_apart_is_a_conflict(new: str, held: str, values: tuple[str, ...]) -> None:
    assert conflict(new, held) == (f"one says {values[0]}, the other {values[1]}" if values else "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API allows batch calls", "The API does not allow batch calls"),
        ("Deploy on Fridays", "Never deploy on Fridays"),
        ("Anna can come", "Anna can't come"),
        ("There is a backup of the wiki", "There is no backup of the wiki"),
        ("The office is in Bern", "The office is no longer in Bern"),
    ],
)
def test_a_denial_is_a_conflict(one: str, other: str) -> None:
    assert conflict(one, other) == conflict(other, one) == "one denies what the other says"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PR 41 is merged", "PR 42 is merged"),
        ("We reviewed PR 41", "We reviewed PR 42"),
        ("Ticket #41 is open", "Ticket #42 is open"),
        ("KES-41 is open", "KES-42 is open"),
        ("Commit k3f2a1 is signed", "Commit k3f2a2 is signed"),
        ("Version 1.2.3 is in production", "Version 1.2.4 is in production"),
        ("Room 4 has a screen", "Room 5 has a screen"),
        ("Anna lives in Bern", "Bruno lives in Bern"),
        ("The dog of Anna is ill", "The dog of Bruno is ill"),
        ("We met Anna in Bern", "We met Bruno in Bern"),
        ("The restore was tested on 2026-03-02", "The restore was tested on 2026-04-02"),
        ("The review is on 15 May", "The review is on 15 May 2026"),
        ("The door is open", "The door is red"),
    ],
)
def test_of_what_there_may_be_many_nobody_is_asked(one: str, other: str) -> None:
    assert conflict(one, other) == conflict(other, one) == ""


def test_distinct_statements_stand_side_by_side() -> None:
    assert len(DISTINCT) >= 200
    both_ways = [(a, b) for one, other in DISTINCT for a, b in ((one, other), (other, one))]
    assert sum(bool(conflict(*pair)) for pair in both_ways) <= MOST_ASKED * len(both_ways)


def test_no_two_sentences_of_a_collection_are_taken_for_one() -> None:
    assert [pair for pair in permutations(SENTENCES, 2) if same_statement(*pair)] == []


@given(st.sampled_from(SENTENCES))
def test_a_sentence_is_the_same_as_itself_in_other_letters(sentence: str) -> None:
    other = sentence.upper().rstrip(".")
    assert same_statement(other, sentence)
    assert conflict(other, sentence) == ""
    assert adds_nothing(sentence, sentence)


@given(st.sampled_from(SENTENCES), st.data())
def test_a_sentence_with_a_not_is_never_the_same(sentence: str, data: st.DataObject) -> None:
    words = sentence.split()
    at = data.draw(st.integers(1, len(words)))
    denied = " ".join([*words[:at], "not", *words[at:]])
    assert not same_statement(denied, sentence)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    assert isinstance(same_statement(one, other), bool)
    assert isinstance(conflict(one, other), str)
    assert "" not in keywords(one)


def test_words_are_compared_without_their_endings() -> None:
    assert {stem(word) for word in "call calls called calling".split()} == {"call"}
    assert {stem(word) for word in "use uses used using".split()} == {"use"} or stem("used") == stem("using")
    assert keywords("Called Anders about the 3 invoices") == {"call", "ander", "3", "invoic"}
