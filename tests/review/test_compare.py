"""Two sentences are the same, differ in one value, or stand side by side."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.review.match_forms import parts_at
from pipelines.store.wording import words_key

DISTINCT = [
    tuple(line.split(" | "))
    for line in (Path(__file__).parent / "distinct_pairs.txt").read_text().splitlines()
    if line.strip()
]
SENTENCES = sorted({sentence for pair in DISTINCT for sentence in pair})


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
    ("new", "held", "at"),
    [
        ("The API allows 1,000 requests per minute.", "The API allows 100 requests per minute", 3),
        ("Keep backups for 30 days", "Keep backups for 2 weeks", 3),
        ("Standup is at 9:30", "Standup is at 10:00", 3),
        ("Bookings are stored in PostgreSQL 16", "Bookings are stored in MySQL 8", 4),
        ("The lead of Kestrel is Anna", "The lead of Kestrel is Bruno", 5),
        ("Die Frist endet am 12. Mai", "Die Frist endet am 26. Mai", 4),
        ("Gantry 4 has 8 wheels", "Gantry 5 has 6 wheels", 1),
        ("The API allows batch calls", "The API does not allow batch calls", None),
        ("Deploy on Fridays", "Never deploy on Fridays", None),
        ("The door is open", "The door is red", None),
        ("The office is in Bern", "The API allows 100 requests per minute", None),
        ("The office is in Bern", "The office is in Bern", None),
    ],
)
def test_one_value_stands_in_place_of_another(new: str, held: str, at: int | None) -> None:
    assert parts_at(new, held) == parts_at(held, new) == at


@given(st.sampled_from(SENTENCES))
def test_a_sentence_is_the_same_as_itself_in_other_letters(sentence: str) -> None:
    other = sentence.upper().rstrip(".")
    assert same_statement(other, sentence)
    assert parts_at(sentence, sentence) is None


@given(st.sampled_from(SENTENCES), st.data())
def test_a_sentence_with_a_not_is_never_the_same(sentence: str, data: st.DataObject) -> None:
    words = sentence.split()
    at = data.draw(st.integers(1, len(words)))
    denied = " ".join([*words[:at], "not", *words[at:]])
    assert not same_statement(denied, sentence)
