"""A quote stands only where its words stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.evidence import has_quote

LINES = ["- 09:14 **Decision:** we go with _Terraform_, not `Pulumi`;", "  > its state handling is 2*3 times better"]


@pytest.mark.parametrize(
    "quote",
    [
        "we go with Terraform",
        "we go with _Terraform_, not Pulumi",
        "- 09:14 **Decision:** we go with",
        "Decision: we go\n with   Terraform",
        "not Pulumi; its state handling",
        "not `Pulumi`;\n  > its state handling",
        "2*3 times",
    ],
)
def test_white_space_and_marks_are_folded(quote: str) -> None:
    assert has_quote(quote, LINES)


@pytest.mark.parametrize(
    "quote",
    ["", " \n", "**", "> -", ";", "we go with terraform", "23 times", "we go with Pulumi", "erraform", "Terra", "09:1"],
)
def test_what_is_not_there_does_not_stand(quote: str) -> None:
    assert not has_quote(quote, LINES)


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("safe", "this is unsafe"),
        ("15 users", "2015 users"),
        ("maxtokens", "set max_tokens"),
        ("set max tokens", "set max_tokens"),
        ("keep it", "keep ~~it~~"),
        ("never", "Never"),
    ],
)
def test_what_would_change_the_meaning_is_not_folded(quote: str, line: str) -> None:
    assert not has_quote(quote, [line])


def test_no_lines_hold_no_quote() -> None:
    assert not has_quote("a", [])


def test_a_later_whole_word_counts_although_an_earlier_one_is_cut() -> None:
    assert has_quote("end", ["the backend and the end of it"])


def test_scripts_without_blanks_between_words_can_be_quoted() -> None:
    assert has_quote("使用", ["我们决定使用它"])


WORDS = st.lists(st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), min_size=1, max_size=8)


@given(WORDS, WORDS, WORDS)
def test_any_run_of_whole_words_stands(before: list[str], quoted: list[str], after: list[str]) -> None:
    assert has_quote(" ".join(quoted), ["- " + " ".join([*before, *quoted, *after])])


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_gets_an_answer(quote: str, lines: list[str]) -> None:
    assert has_quote(quote, lines) in {True, False}
    assert not has_quote("", lines)
