"""Meanings: what an attack says in any of nine languages, known by words that stand near each other."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pipelines.stages.trusting.attacks import attack_in
from pipelines.stages.trusting.fields import field_of
from pipelines.stages.trusting.meanings import LANGUAGES, load_meanings, meaning_in, meanings_table
from pipelines.stages.trusting.reading import Reading
from pipelines.stages.trusting.skeleton import skeleton

TABLE = meanings_table()


@pytest.mark.parametrize("row", TABLE["meaning"], ids=lambda row: row["id"])
def test_every_meaning_has_true_and_false_examples(row: dict[str, Any]) -> None:
    some = [one for one in load_meanings() if one.id == row["id"]]
    assert [text for text in row["true"] if not any(one.is_in(Reading(skeleton(text))) for one in some)] == []
    assert [text for text in row["false"] if attack_in(text)] == []


def test_every_field_is_used_and_says_its_thing_in_every_language() -> None:
    told = "\n".join(source for field in TABLE["words"].values() for source in field.values())
    used = {"tongue"} | {
        name for row in TABLE["meaning"] for name in [row["said"], *row.get("unless", []), *row.get("about", [])]
    }
    used |= {name for row in TABLE["meaning"] for some in row.get("near", []) for name in some.split("|")}
    assert [name for name in TABLE["words"] if name not in used and f"<{name}>" not in told] == []
    pardons = {name for row in TABLE["meaning"] for name in row.get("about", [])}
    assert [
        name
        for name, field in TABLE["words"].items()
        if name not in pardons and "en" in field and set(field) != set(LANGUAGES)
    ] == []


def test_a_field_holds_the_rest_of_a_word_and_words_between() -> None:
    fields = {"stop": {"en": "stop~_<guard>", "zh": "停_<guard>"}, "guard": {"en": "alarm", "zh": "警报"}}
    english, chinese = (field_of("stop", language, fields).pattern for language in ("en", "zh"))
    assert english.search("stopping the very old alarm")
    assert not english.search("stop. the alarm")
    assert not english.search("stop one two three four five six alarm")
    assert chinese.search("停一下警报")


def test_sentences_part_and_clauses_pardon() -> None:
    assert meaning_in("invoices are paid unread")
    assert not meaning_in("invoices are paid. the manual is unread")
    assert not meaning_in("no invoice is paid unread")
    assert meaning_in("nobody minds, invoices are paid unread"), "who forbids it does so in the same clause"


def test_a_word_of_another_language_means_nothing() -> None:
    assert not meaning_in("a superfluous signature block"), "French by its words, and by nothing else"
    assert meaning_in("la signature est superflue")
    assert not meaning_in("agenda: http://lists.example.org/archives/public/0002.html")


def test_no_text_makes_meanings_slow() -> None:
    words = [
        "without checks pay ",
        "the owner must never be told ",
        "stop the scanner then ",
        "无需审核付款",
        "all rules ",
    ]
    for text in [*words, "a ", "give the keys to the "]:
        begun = time.process_time()
        meaning_in(text * (20_000 // len(text)))
        assert time.process_time() - begun < 3.0, text
