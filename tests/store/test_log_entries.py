"""Reading a log's text into entries: what belongs together, what is structure, and that nothing is lost."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.store.log import Entry, parse_entries


def read(text: str) -> tuple[Entry, ...]:
    return parse_entries("Logs/2026-03-18.md", "2026-03-18", text)


def spans(text: str) -> list[tuple[int, int]]:
    return [(entry.start_line, entry.end_line) for entry in read(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),  # empty
        ("\n\n \n", []),  # blank
        ("- a\n- b\n", [(1, 1), (2, 2)]),  # items
        ("- a\n  more\n\n  after a blank\n- b\n", [(1, 4), (5, 5)]),  # indented continuation
        ("- a\nlazy\n\nnot lazy\n", [(1, 2), (4, 4)]),  # lazy continuation
        ("- a\n  - nested\n    - deeper\n* b\n", [(1, 3), (4, 4)]),  # nested items
        ("1. a\n2. b\n10) c\n", [(1, 1), (2, 2), (3, 3)]),  # numbered items
        ("one\ntwo\n\nthree\n", [(1, 2), (4, 4)]),  # paragraphs
        ("in the year\n2019. It rained\n", [(1, 2)]),  # a number that only wraps is no item
        ("text\n- item\n", [(1, 1), (2, 2)]),  # an item ends a paragraph
        ("# h\ntext\n## h2\n", [(2, 2)]),  # headings are none
        # headings of some words are, with nothing below
        (
            "# h\n## Moved to Bern\n\n## Now by boat\n### By ferry only\ntext\n## Back to rail\n",
            [(2, 2), (6, 6), (7, 7)],
        ),
        ("# The first day\n## Notes\n## Open tasks\n", []),  # a template's headings are none
        ("#tag is no heading\n", [(1, 1)]),  # a tag is no heading
        ("a\n\n---\n\n* * *\nb\n", [(1, 1), (6, 6)]),  # thematic breaks are none
        ("a\n{:.note}\nb\n", [(1, 1), (3, 3)]),  # attribute lines are none
        ("---\ntitle: x\ntags:\n  - y\n---\na\n", [(6, 6)]),  # front matter is none
        ("---\nOnly a rule above.\n\n---\n", [(2, 2)]),  # a rule at the top is no front matter
        ("<!-- a\nb\n\n-->\nc\n", [(5, 5)]),  # comments are none
        ("<!-- never closed\nc\n", [(2, 2)]),  # an unclosed comment is one line
        ("<!-- a --> said\n", [(1, 1)]),  # words behind a comment
        ("> quoted\n> on\n\n> other\n", [(1, 2), (4, 4)]),  # quotes
        ("14:05 one\n14:06 two\n  more\n", [(1, 1), (2, 3)]),  # a journal without list marks
    ],
)
def test_what_is_an_entry(text: str, expected: list[tuple[int, int]]) -> None:
    assert spans(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        "[Tue 10:06]\t<manu>\thello there",
        "[10:16]\t<manu>\thello",
        "[10:16am] manu: hello",
        "16:45:11 <manu> hello",
        "[2017-11-08 13:14:17] <manu> hello",
        "[2018-02-07T20:18:07.539Z]\t<manu>\thello",
        "[] <manu> hello",
        "<manu> hello",
        "[2024-05-01, 10:15] Anna Berg: hello",
        "10:15 Anna: hello",
        "5/1/24, 10:15 PM - Anna: hello",
        "[10:01]\t-->|\tballen has joined #x",
        "[10:22] q+ to ask",
    ],
)
def test_each_chat_line_is_an_entry(line: str) -> None:
    text = f"{line}\n{line} again\n→ x joined\n=-= y is now z\n"
    assert spans(text) == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_what_is_pasted_into_a_message_stays_with_it() -> None:
    assert spans("[10:16] <a> see\nthe rest\n  of it\n\n[10:17] <b> ok\n") == [(1, 3), (5, 5)]


@pytest.mark.parametrize("fence", ["```", "~~~", "```sh", "- ```sh"])
def test_an_unclosed_fence_swallows_no_more_than_its_paragraph(fence: str) -> None:
    assert spans(f"{fence}\ncode\n\n- item\n\n# h\n- last\n") == [(1, 2), (4, 4), (7, 7)]
    assert spans(f"{fence}\ncode\n# h\n- last\n") == [(1, 2), (4, 4)]


def test_headings_are_the_path_to_the_entry() -> None:
    entries = read("a\n# One #\nb\n### Three\nc\n## Two\nd\n# Uno\ne\n")
    assert [entry.headings for entry in entries] == [(), ("One",), ("One", "Three"), ("One", "Two"), ("Uno",)]


@pytest.mark.parametrize(
    "line",
    [
        "project: Alpha",
        "Project: Alpha",
        "- project: Alpha",
        "**Project:** Alpha",
        "**project**: Alpha",
        "- **Project:** `~/work/Alpha/`",
    ],
)
def test_a_project_line_governs_until_the_next_heading(line: str) -> None:
    entries = read(f"- before\n{line}\n- a\n\nb\n# h\n- c\n")
    assert [(entry.text, entry.project) for entry in entries] == [
        ("- before", ""),
        ("- a", "Alpha"),
        ("b", "Alpha"),
        ("- c", ""),
    ]


def test_a_project_line_governs_the_subsections_of_its_heading() -> None:
    text = "# day\n## one\nproject: Alpha\n- a\n### sub\n- b\n### own\nproject: Beta\n- c\n### sub2\n- d\n## two\n- e\n"
    assert [entry.project for entry in read(text)] == ["Alpha", "Alpha", "Beta", "Alpha", ""]
    assert [entry.project for entry in read("# day\nproject: Alpha\n## one\n- a\n### two\n- b\n")] == ["Alpha"] * 2


def test_a_project_heading_governs_its_section_with_all_below() -> None:
    entries = read("## project: Alpha\n- a\n### sub\n- b\nproject: Beta\n- c\n### sub2\n- d\n## other\n- e\n")
    assert [entry.project for entry in entries] == ["Alpha", "Alpha", "Beta", "Alpha", ""]


def test_a_carriage_return_is_dropped_and_a_byte_order_mark_hides_nothing() -> None:
    assert [entry.text for entry in read("\ufeff# h\r\n- a\r\n  b\r\n")] == ["- a\n  b"]


TEXTS = (
    "- a",
    "  b",
    "c",
    "> q",
    "\t- t",
    "1. x",
    "    code",
    "[10:16] <n> m",
    "10:15 x",
    "→ j",
    "## Decision: d",
    "",
    " ",
)
MARKS = (
    "# h",
    "```",
    "~~~",
    "```py",
    "- ```",
    "<!-- x",
    "-->",
    "<!-- y -->",
    "---",
    "* * *",
    "{:.x}",
    "project: P",
    "\r",
)
PIECES = st.sampled_from((*TEXTS, *MARKS))


@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=40).map("\n".join))
@example("\r0")
@example("- a\r- b\n")
@example("10 %\r20 %\r- done\n")
def test_entries_are_lines_of_the_log_in_order(text: str) -> None:
    alone = len(re.findall(r"\r(?!\n)", text))  # a log of an old Mac ends its lines with this
    ends, last = (r"\r\n|\r|\n" if alone > text.count("\n") else r"\n|\r(?!\n)(?=[-*+] |#{1,6} )"), 0
    lines = re.split(ends, text)
    for entry in read(text):
        assert last < entry.start_line <= entry.end_line <= len(lines)
        last = entry.end_line
        assert entry.text.split("\n") == [line.removesuffix("\r") for line in lines[entry.start_line - 1 : last]]
        assert entry.text.split("\n")[0].strip()
        assert entry.text.split("\n")[-1].strip()


STRUCTURE = ("#", "project: P", "---", "* * *", "{:.x}", "<!-- y -->")


@given(st.lists(PIECES.filter(lambda piece: piece not in {"<!-- x", "-->"}), max_size=40).map("\n".join))
def test_no_line_is_lost(text: str) -> None:
    covered = {number for entry in read("lead\n" + text) for number in range(entry.start_line, entry.end_line + 1)}
    for number, line in enumerate(("lead\n" + text).split("\n"), start=1):
        assert number in covered or not line.strip() or line.startswith(STRUCTURE)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 5_000_000, id="one long line"),
        pytest.param("[" * 1_000_000, id="brackets"),
        pytest.param("- " * 500_000, id="marks"),
        pytest.param("`a# " * 200_000, id="code marks"),
        pytest.param("```\n\n````\n" * 30_000, id="fences"),
        pytest.param("```x\n" * 100_000, id="openings"),
        pytest.param("<!--\n" * 100_000 + "--> x", id="comments"),
        pytest.param("- a b c\n" * 100_000, id="items"),
    ],
)
def test_the_time_follows_the_length(text: str) -> None:
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 5


def test_a_log_whose_lines_end_with_a_carriage_return_alone_is_read() -> None:
    old = "project: Alpha\r\r- Fact: one\r- Fact: two\r"
    told = [(entry.start_line, entry.text, entry.project) for entry in read(old)]
    assert told == [(3, "- Fact: one", "Alpha"), (4, "- Fact: two", "Alpha")]
    assert read(old + "- Fact: three\n")[:2] == read(old), "a line that is appended changes none"
    assert [entry.text for entry in read("- a\rb\n- c\n")] == ["- a\rb", "- c"], "elsewhere it is a character"
