"""Capture: partial logs are folded into their day's log, once, and nothing else is touched."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.night.fold_logs import with_partial_logs

LOG = "Logs/2026-03-12.md"


def folded(log: str | None, **partials: str) -> str:
    named = {f"Logs/partial/2026-03-12-{name}.md": text.encode() for name, text in partials.items()}
    logs = {} if log is None else {LOG: log.encode()}
    after, gone, _ = with_partial_logs(logs, named, "2026-03-12")
    assert gone == tuple(sorted(named))
    return after[LOG].decode()


def test_partial_logs_are_appended_under_their_names() -> None:
    text = folded("# 2026-03-12\n\n- 11:00 c", one="- 10:00 b\n", two="# 2026-03-12\n\nz\n")
    assert text == "# 2026-03-12\n\n- 11:00 c\n\n## 2026-03-12-one\n\n- 10:00 b\n\n## 2026-03-12-two\n\nz\n"


def test_a_partial_log_of_a_day_to_come_waits() -> None:
    assert with_partial_logs({}, {"Logs/partial/2026-03-13-x.md": b"- 09:00 a\n"}, "2026-03-12") == ({}, (), ())


def test_a_partial_log_without_a_day_stays_and_is_named() -> None:
    partials = {"Logs/partial/notes.md": b"x", "Logs/partial/2026-02-30.md": b"y"}
    *_, odd = with_partial_logs({}, partials, "2026-03-12")
    assert odd == ("Logs/partial/2026-02-30.md", "Logs/partial/notes.md")


def test_notes_and_logs_are_in_the_order_of_their_days() -> None:
    logs = dict.fromkeys(("../b/2026-03-11.md", LOG, "../a/2026-03-13.md", "Logs/2026-03-10.md"), b"")
    assert [path[-5:-3] for path in with_partial_logs(logs, {}, "2026-03-13")[0]] == ["10", "11", "12", "13"]


LINES = st.lists(
    st.sampled_from(["- 09:00 a", "- 08:30 b", "* 10:00 c", "  more", "# t", "## h", "text", "", "- no time"]),
    max_size=8,
)


@given(LINES, LINES)
def test_no_line_is_lost(log: list[str], partial: list[str]) -> None:
    text = folded("\n".join(log) + "\n", one="\n".join(partial) + "\n")
    for line in (*log, *partial):
        if line.strip():
            assert text.split("\n").count(line) >= [*log, *partial].count(line)
