"""What the words of a log only suggest: confidence below high, few, and right most of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.memory.logs import parse_entries
from pipelines.models.extraction import ExtractionRequest
from pipelines.models.rules import RulesExtractor

if TYPE_CHECKING:
    from pipelines.models.extraction import Candidate


def extract(text: str) -> tuple[Candidate, ...]:
    day = "2026-03-18"
    return RulesExtractor().extract(ExtractionRequest(day, parse_entries(f"Logs/{day}.md", day, text))).candidates


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (
            "- 14:05 we decided to use Postgres because of joins",
            "Decision",
            "we decided to use Postgres because of joins",
        ),
        ("- decided against Kafka for now", "Decision", "decided against Kafka for now"),
        ("- So, going with Terraform, not Pulumi.", "Decision", "going with Terraform, not Pulumi."),
        ("- switched from pip-tools to uv", "Decision", "switched from pip-tools to uv"),
        ("- we chose SQLite over DuckDB", "Decision", "we chose SQLite over DuckDB"),
        ("- The team has agreed on four weeks. Lunch was late.", "Decision", "The team has agreed on four weeks."),
        ("- Anna prefers mornings", "Fact", "Anna prefers mornings"),
        ("- 09:00 [project: Alpha] Bob prefers evenings", "Fact", "Bob prefers evenings"),
        ("- my timezone is Europe/Zurich", "Fact", "my timezone is Europe/Zurich"),
        ("- Bob's birthday is June 4", "Fact", "Bob's birthday is June 4"),
        ("- the staging database listens on port 5433", "Fact", "the staging database listens on port 5433"),
        (
            "- Rain again. It turned out that the cache ignores the locale.",
            "Fact",
            "It turned out that the cache ignores the locale.",
        ),
        ("- from now on run the linter first", "Rule", "from now on run the linter first"),
        ("- Never push to main without a review.", "Rule", "Never push to main without a review."),
        ("- Tests must pass before a merge.", "Rule", "Tests must pass before a merge."),
        ("- need to renew the TLS cert by May 3", "Todo", "need to renew the TLS cert by May 3"),
        ("- Remind me to call the dentist", "Todo", "Remind me to call the dentist"),
        ("- follow up with legal about the DPA", "Todo", "follow up with legal about the DPA"),
        ("- The migration might break the nightly export.", "Risk", "The migration might break the nightly export."),
        ("- There is a risk that the vendor drops the API", "Risk", "There is a risk that the vendor drops the API"),
    ],
)
def test_a_journal_gives_its_items(line: str, kind: str, text: str) -> None:
    (one,) = extract(line + "\n")
    assert (one.type.value, one.text, one.start_line) == (kind, text, 1)
    assert one.confidence in {"medium", "low"}
    assert one.quote in line


@pytest.mark.parametrize(
    "line",
    [
        "- should we use Redis?",
        "- if we decided to use Kafka, Zookeeper came with it",
        "- maybe we decided to use Kafka too early",
        "- we have not decided to drop Python 3.10",
        "- we haven't agreed on a name",
        "- I guess everything must go",
        "- an article says you must never use tabs",
        "- we don't need to renew the cert",
        "- we decided that",
        "- +1, we decided to close the gate",
        "- talked to Bob about the weather",
        "- STRAWPOLL: we decided to close the gate",
        "- ~~we decided to close the gate~~",
        "- `we decided to close the gate`",
    ],
)
def test_what_is_not_meant_is_left(line: str) -> None:
    assert extract(line + "\n") == ()


def test_the_sentence_goes_on_over_wrapped_lines_and_no_further() -> None:
    (one,) = extract("- Slow day. We decided to move the\n  office to Bern in May. Then lunch.\n")
    assert one.text == "We decided to move the office to Bern in May."
    assert (one.start_line, one.end_line) == (1, 2)
    assert one.quote == "We decided to move the\n  office to Bern in May."


def test_a_quote_stands_in_its_lines_even_around_a_comment() -> None:
    line = "- we decided to use <!-- not MySQL --> Postgres for the joins"
    (one,) = extract(line + "\n")
    assert one.text == "we decided to use Postgres for the joins"
    assert one.quote in line


TALK = [
    "[10:{:02}] <anna> I'll send the list of open points to the group",
    "[10:{:02}] <bob> we decided to use the old gate number {} for visitors",
    "[10:{:02}] <anna> we must think about the gate, and I prefer blue",
    "[10:{:02}] <bob> the risk is that visitors {} miss the new gate",
]


def test_a_meeting_gives_no_more_than_three() -> None:
    talk = "\n".join(TALK[minute % 4].format(minute, minute) for minute in range(60))
    found = extract(
        talk + "\n[11:00] <anna> RESOLVED: paint it blue\n[11:01] <bob> resolved: nobody paints on Sunday\n"
    )
    below = [one for one in found if one.confidence != "high"]
    assert len(below) == 3
    assert "nobody paints on Sunday" in [one.text for one in below]
    assert [one.text for one in found if one.confidence == "high"] == ["paint it blue"]


def test_whoever_speaks_of_themselves_is_named() -> None:
    talk = "\n".join(f"**Bob:** gate {minute}\n" for minute in range(6))
    (one,) = extract(talk + "\n**Anna Berg:** I will send the list of open points to the group.\n")
    assert one.text == "Anna Berg: I will send the list of open points to the group."
    assert one.quote == "Anna Berg:** I will send the list of open points to the group."


def test_a_cue_that_a_label_already_says_is_left() -> None:
    text = (
        "- Decision: we decided to use Postgres for the billing service\n- so we decided to use Postgres for billing\n"
    )
    assert len(extract(text)) == 1


def test_a_proposal_repeated_after_the_votes_was_adopted() -> None:
    votes = "**Anna:** +1\n\n**Bob:** +1\n\n"
    text = "**Bob:** hello\n\n> **Proposed resolution: paint the gate blue** *(Anna)*\n\n" + votes
    (one,) = extract(text + "**Anna:** paint the gate blue\n")
    assert (one.type, one.text, one.confidence) == ("Decision", "paint the gate blue", "medium")
    assert extract("> **Proposed resolution: paint the gate blue** *(Anna)*\n\n**Anna:** paint the gate blue\n") == ()
