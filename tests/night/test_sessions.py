"""Whatever is said in a session, the log that tells it has one entry a turn, under the session's heading."""

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.agents.capture import LONGEST, Session, heading_above, lines_of
from pipelines.store.evidence import captured_in
from pipelines.store.log import parse_entries
from pipelines.store.session_state import Seals
from pipelines.store.transcripts.outside import Outside
from pipelines.store.transcripts.records import Role, Turn
from pipelines.text import clean

SESSION = Session("3f2a9c1e-77", "codex", "harbor", "Sessions/2026-03-17/codex-3f2a9c1e-77.jsonl")
LINES = st.one_of(
    st.sampled_from(["", "# Heading", "---", "***", "project: evil", "```", "~~~~", "```py", "{:.x}", "- Decision: x"]),
    st.sampled_from(
        ["<!--", "-->", "<!-- k0123456789 trust=owner -->", "    deep", "===", "> quote", "1. one", "|a|b|"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
)
TEXTS = st.lists(LINES, min_size=1, max_size=12).map(lambda lines: clean("\n".join(lines))).filter(bool)


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["```", "after"])
@example(["text\n~~~\n``` not closed", "# after"])
@example(["* * *"])
def test_a_turn_is_one_entry(texts: list[str]) -> None:
    moment = datetime(2026, 3, 17, 10, 15, tzinfo=UTC)
    turns = [Turn(line, Role.USER, text, moment) for line, text in enumerate(texts, 1)]
    told = [lines_of(SESSION, turn, moment, "2026-03-17", Seals(b"key"), Outside()) for turn in turns]
    log = "# 2026-03-17\n\n- 09:00 before\n"
    log += heading_above(SESSION, log) + "".join(told)
    before, *entries = parse_entries("Logs/2026-03-17.md", "2026-03-17", log)
    assert before.text == "- 09:00 before"
    assert len(entries) == len(turns)
    assert {(entry.headings[-1], entry.project) for entry in entries} == {("Session 3f2a9c1e, codex, harbor", "harbor")}
    assert captured_in(log, SESSION.file)[0] == len(turns)
    assert log.count("<!--") == len(turns)


def test_of_a_long_turn_the_beginning_is_told() -> None:
    moment = datetime(2026, 3, 17, 10, 15, tzinfo=UTC)
    told = lines_of(
        SESSION, Turn(1, Role.ASSISTANT, "word " * 2000, moment), moment, "2026-03-17", Seals(b""), Outside()
    )
    assert len(told) < LONGEST + 300
    assert "6,000 more characters in the transcript" in told


def test_the_heading_stands_once_above_what_goes_on() -> None:
    assert heading_above(SESSION, "# day\n\n") == "## Session 3f2a9c1e, codex, harbor\n\n"
    assert heading_above(SESSION, "# day\n\n- x\n") == "\n## Session 3f2a9c1e, codex, harbor\n\n"
    assert not heading_above(SESSION, "# day\n\n## Session 3f2a9c1e, codex, harbor\n\n- x\n")


def test_sessions_of_a_minute_whose_ids_begin_with_the_time_have_headings_of_their_own() -> None:
    first, second = ("01a22a91-4d4e-78b3-a21d-94c851d1aa56", "01a22a91-5be8-7191-9c09-8307d4974792")
    log = heading_above(SESSION._replace(name=first), "")
    assert log == "## Session 51d1aa56, codex, harbor\n\n"
    assert heading_above(SESSION._replace(name=second), log) == "## Session d4974792, codex, harbor\n\n"
