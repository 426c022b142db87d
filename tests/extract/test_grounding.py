"""Numbers that were shown nowhere, in any script; and names and small numbers, which are only noted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.extract.grounding import Shown, words_in


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("R$3 no pão", "O pão custa R$3."),  # "no" is no negation
        ("Não compramos no mercado; 40 no máximo.", "No máximo 40."),
        ("standup 09:30", "Standup is at 9:30."),
        ("the cap is 10,000 rows", "The cap is 10000 rows."),
        ("cap: 10.000 linhas", "O limite é 10 000 linhas."),
        ("потрачено 12 500 ₽", "Потрачено 12500 ₽."),
        ("السعر ١٬٢٠٠ و٤٥", "The price is 1,200, or 45."),
        ("price 1200", "السعر ١٬٢٠٠"),
        ("budget १५००", "Budget 1,500"),
        ("v1.2.30 of 2026-03-12", "Version 1.2.30, 12/03/2026"),
        ("at 10 300 people came", "300 people came at 10."),
    ],
)
def test_a_number_that_was_shown_stands_however_it_is_written(shown: str, text: str) -> None:
    assert Shown.of([shown]).numbers_missing(text) == ([], [])


@pytest.mark.parametrize(
    ("shown", "text", "large", "small"),
    [
        ("pay 30 euros", "Pay 13 euros.", ["13"], []),
        ("pay 1,200 or 2,300 on day 1", "Pay 1,300.", ["1,300"], []),
        ("заплатить 300", "Заплатить 400.", ["400"], []),
        ("ادفع ٣٠٠", "ادفع ٤٠٠", ["٤٠٠"], []),
        ("three teams and a dozen", "3 teams, 12 people, 13 rooms.", ["13"], ["3", "12"]),
        ("nothing", "9" * 60, ["9" * 60], []),
    ],
)
def test_a_number_that_was_not_shown_is_missed_and_a_small_one_only_noted(
    shown: str, text: str, large: list[str], small: list[str]
) -> None:
    assert Shown.of([shown]).numbers_missing(text) == (large, small)


@pytest.mark.parametrize(
    ("shown", "text", "new"),
    [
        ("ask zürich’s office", "Ask the Zurich's Office.", []),
        ("we deploy", "Mara deploys. Ansible runs.", []),
        ("we deploy", "We deploy with Ansible, says Mara.", ["Ansible", "Mara"]),
        ("отчёт для Анны", "Отчёт для Ольги.", ["Ольги"]),
    ],
)
def test_a_name_that_was_not_shown_is_noted(shown: str, text: str, new: list[str]) -> None:
    assert Shown.of([shown]).names_missing(text) == new


def test_the_digits_of_an_id_and_of_a_line_number_show_nothing() -> None:
    row = {"id": "k5500000077", "text": "Ask", "line": 44, "ids": ["k66"], "items": [{"since": "2026-03-12"}]}
    assert Shown.of(words_in(row)).numbers_missing("55 77 44 66 2026") == (["55", "77", "44", "66"], [])


DIGITS = st.sampled_from(["0123456789", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９"])


@given(st.integers(13, 10**9), st.integers(13, 10**9), DIGITS, DIGITS, st.sampled_from(["", ",", ".", " ", "'"]))
def test_one_number_stands_for_itself_in_every_script_and_grouping(
    number: int, other: int, first: str, second: str, mark: str
) -> None:
    def written(value: int, digits: str, mark: str) -> str:
        grouped = f"{value:,}".replace(",", mark)
        return "".join(digits[int(char)] if char.isdigit() else char for char in grouped)

    shown = Shown.of([f"it is {written(number, first, '')}!"])
    assert shown.numbers_missing(f"It is {written(number, second, mark)}.") == ([], [])
    if other != number:
        assert shown.numbers_missing(f"It is {written(other, second, '')}.")[0]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_compared_and_shows_itself(shown: str, text: str) -> None:
    assert Shown.of([text]).numbers_missing(text) == ([], [])
    Shown.of([shown]).numbers_missing(text)
    Shown.of([shown]).names_missing(text)
