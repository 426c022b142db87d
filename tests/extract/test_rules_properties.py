"""What holds for any text: nothing is raised, every quote stands in its lines, and the time follows the length."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.text import fold
from tests.extract.reading import extract

LABELS = (
    "Decision:",
    "**Todo**:",
    "RESOLVED:",
    "ACTION",
    "PROPOSAL: ",
    "Decisions:\n",
    "Goal: ",
    "**Question:** ",
    "Contact: ",
    "How to ",
    "Answer: ",
    "## Open questions\n",
    "minutes approved",
    "(bob)",
    "+1",
)
CUES = (
    "we decided to ",
    "must never ",
    "I'll send ",
    "need to ",
    "might break ",
    "from now on ",
    "use Postgres",
    " 42 ",
)
SPEAKERS = ("Anna: ", "<bob> ", "[10:15] ", "14:05 ", "… ", "- ", "- [ ] ", "> ", "### ", "|")
MARKS = ("**", "*", "_", "~~", "`", "```\n", "<!-- ", " -->", "[x](#y)", "https://x.y/z", "#tag", "\\", ". ", "? ", ";")
SPACES = ("\n", "\n\n", "  ", "\t", "\r\n", "\u2028", "\x00", "\ufeff", "é")
PIECES = st.sampled_from((*LABELS, *CUES, *SPEAKERS, *MARKS, *SPACES, "\n", "\n"))


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40).map("".join))
@example("Decision:\rACTION")
def test_any_text(text: str) -> None:
    alone = len(re.findall(r"\r(?!\n)", text))  # a log of an old Mac ends its lines with this
    lines = re.split(r"\r\n|\r|\n" if alone > text.count("\n") else r"\n", text)
    seen: set[tuple[str, str, str]] = set()
    for one in extract(text):
        assert one.text
        assert one.text == fold(one.text)
        [place] = one.places
        assert one.entry.start_line <= place.start_line <= place.end_line <= one.entry.end_line
        own = "\n".join(line.removesuffix("\r") for line in lines[place.start_line - 1 : place.end_line])
        assert place.quote
        assert place.quote in own
        said = (one.type, one.page_section, one.text)
        assert said not in seen
        assert not one.page_section or one.type == "Fact"
        assert one.text.startswith(one.name)
        assert bool(one.name) <= (one.page_section == "contacts")
        seen.add(said)


LONG = 20_000
UNITS = (
    *(
        "a",
        " ",
        "*",
        "_",
        "#",
        "[",
        "(",
        "- ",
        "> ",
        "**a** ",
        "a: ",
        "<a> ",
        "10:15 ",
        "`a",
        "~~",
        "1.",
        "1:1",
        ". ",
        "… ",
    ),
    *(
        "Decision ",
        "Decision: ",
        "ACTION-1 ",
        "PROPOSED ",
        "+1 ",
        "we decided ",
        "we decided to use ",
        "must ",
        "risk ",
        "How to a",
        "Question: ",
    ),
    *("approve minutes ", "https://a ", "https://", "my my ", "the a b c d is ", "[a](#b) ", "<!-- ", "--> ", "e.g. "),
    *("a" * 29 + " ", "A" * 20 + " "),
)


LEADS = ("", "Decision: ", "Contact: ", "How to ", "- we decided to use ", "[10:15] <a> ", "RESOLVED: approve minutes ")


@pytest.mark.torture
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("unit", UNITS)
def test_the_time_follows_the_length(lead: str, unit: str) -> None:
    text = lead + unit * (LONG // len(unit))
    started = time.process_time()
    extract(text)
    extract(text.replace(" ", "\n"))
    assert time.process_time() - started < 1.25  # as much as 5 seconds for twice the length
