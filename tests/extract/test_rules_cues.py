"""What the words of a log only suggest: confidence below high, few, and right most of the time."""

import pytest

from tests.extract.reading import extract


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (
            "- 14:05 we decided to use Postgres because of joins",
            "Decision",
            "we decided to use Postgres because of joins",
        ),
        ("- Slow day. I've finally chose to keep uv. Then tea.", "Decision", "I've finally chose to keep uv."),
        ("- So, going with Terraform, not Pulumi.", "Decision", "going with Terraform, not Pulumi."),
        ("- We are going with the blue tiles", "Decision", "We are going with the blue tiles"),
        ("- Anna prefers mornings", "Fact", "Anna prefers mornings"),
        ("- Anna Berg prefers the minutes by noon", "Fact", "Anna Berg prefers the minutes by noon"),
        ("- The user prefers fixes to hacks", "Fact", "The user prefers fixes to hacks"),
        ("- Ben works from 9:30 to 18:00 on weekdays", "Fact", "Ben works from 9:30 to 18:00 on weekdays"),
        ("- Ben works Mon-Wed", "Fact", "Ben works Mon-Wed"),
        ("- 09:00 [project: Alpha] Bob prefers evenings", "Fact", "Bob prefers evenings"),
        ("- from now on run the linter first", "Rule", "from now on run the linter first"),
        ("- Never push to main without a review.", "Rule", "Never push to main without a review."),
        ("- Remember to renew the TLS cert by May 3", "Todo", "Remember to renew the TLS cert by May 3"),
        ("- Don't forget to call the dentist", "Todo", "Don't forget to call the dentist"),
    ],
)
def test_a_journal_gives_its_items(line: str, kind: str, text: str) -> None:
    (one,) = extract(line + "\n")
    assert (one.type.value, one.text, one.places[0].start_line) == (kind, text, 1)
    assert one.confidence == "medium"
    assert one.places[0].quote in line


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
        "- Never converged to a stable policy",
        "- Always visible in the view menu",
        "- When Ross wants to test it (this week or later)",
        "- He wants a partner, not an assistant",
        "- (we decided to close the gate",
        "- We chose not to because the cache is full",
        "- Kim works on two projects",
        "- nobody remembered to close the gate",
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


def test_in_talk_no_phrase_decides_anything() -> None:
    assert extract("**Bob:** we decided to use the old gate for visitors\n") == ()
    talk = "".join(f"[10:{minute:02}] <bob> so\n" for minute in range(9))
    assert extract(talk + "- we decided to use the old gate for visitors\n") == ()


def test_a_day_gives_at_most_five_of_them() -> None:
    wishes = (
        "Anna tea at noon;Ben silence on calls;Cora red ink;Dan long walks;Eva short mails;Finn snow;Gus rain".split(
            ";"
        )
    )
    found = extract("".join(f"- {wish.replace(' ', ' prefers ', 1)}\n" for wish in wishes))
    assert [one.text.split()[0] for one in found] == [wish.split()[0] for wish in wishes[:5]]


def test_next_steps_are_believed_less_and_left_where_they_hedge() -> None:
    text = "## Next steps\n\n- Mend the gate\n- Maybe paint it\n- Some day: a new lock\n"
    text += "\n## Action items\n\n- Maybe call Ben\n"
    assert [(one.text, one.confidence) for one in extract(text)] == [
        ("Mend the gate", "medium"),
        ("Maybe call Ben", "high"),
    ]
    assert [one.confidence for one in extract("Next step: mend the gate\n")] == ["medium"]


def test_a_cue_that_a_label_already_says_is_left() -> None:
    text = "- Decision: we decided to use Postgres for billing\n- so we decided to use Postgres for billing.\n"
    assert len(extract(text)) == 1
    assert len(extract(f"{text}- so we decided to use Postgres for the staging of billing\n")) == 2, (
        "near is not the same"
    )
