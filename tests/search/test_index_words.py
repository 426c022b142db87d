"""Any text is a fair question: it becomes terms that FTS5 takes, and the terms find what a person means."""

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.searching import search
from pipelines.cli import run_cli
from pipelines.search.build import update_index
from pipelines.search.chunk_context import day_words, grams, identifiers, match_expression
from pipelines.search.hits import OPEN, snippets


@given(st.text(max_size=300) | st.text(alphabet='"*()^:+-{}NEARORAND ab漢🎉', max_size=80))
def test_no_text_is_a_syntax_error(query: str) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')")
        if expression := match_expression(query):
            db.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("When did Caroline go to the support group?", '"caroline" OR "go" OR "support" OR "group"'),
        ("Caroline's dog didn't bark", '"caroline" OR "dog" OR "bark"'),
        ("who are you", '"who" OR "are" OR "you"'),
        ("v1.2.3", '"v1.2.3" OR "v1"'),
        ("json-ld", '"json-ld" OR "json" OR "ld"'),
        ("同意", '"同意"'),
        ("我们同意", '"我们" OR "们同" OR "同意"'),
        ("猫", '"猫" *'),
        ("", ""),
        ('"" * () 🎉', ""),
        ("Große Straße im CAFÉ", '"grosse" OR "strasse" OR "im" OR "cafe"'),
    ],
)
def test_a_question_becomes_an_or_over_its_content_words(query: str, expression: str) -> None:
    assert match_expression(query) == expression


def test_ids_days_and_pairs() -> None:
    assert identifiers("see k7f3a9c2b10 and k7f3a9, not kebab or K7F3A9") == ["k7f3a9c2b10", "k7f3a9"]
    assert day_words("2023-05-08") == "8 May 2023"
    assert [day_words(odd) for odd in ("", "today", "2023-13-01", "2023-05")] == ["", "", "", ""]
    assert grams("tea 東京都 ok") == "東京 京都 都"
    assert grams("plain") == ""
    assert grams("AWSのLambdaを使うpy3.11 版 v2") == "の を使 使う う 版 aws lambda py3"


SPELLINGS = {
    "한": unicodedata.normalize("NFD", "- 연구실 서버는 대전에 있습니다."),
    "street": "- Die Straße ist gesperrt.",
    "plain": "- Die Strasse nach Bern ist offen.",
    "cafe": "- Wir treffen uns im Café.",
    "apart": unicodedata.normalize("NFD", "- Der Schlüssel liegt im Büro."),
    "fir": "- Ёлка стоит в углу.",
    "rooms": "- Die Wohnung hat 80 m² und kostet ½ mehr.",
    "wide": "- ＱＲ 決済は終了",
    "narrow": "- ﾃｽﾄ環境",
    "name": "- parseUserName fails on HTTPServer.",
    "island": "- Øystein bor på Ærø.",
    "lodz": "- Wyjazd do Łodzi w maju.",
    "unseen": "- The soft\u00adhyphen and the zero\u200bwidth.",
}


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("연구실", {"한"}),
        (unicodedata.normalize("NFD", "대전"), {"한"}),
        ("STRASSE", {"street", "plain"}),
        ("straße", {"street", "plain"}),
        ("cafe", {"cafe"}),
        (unicodedata.normalize("NFD", "café"), {"cafe"}),
        ("schlussel büro", {"apart"}),
        ("елка", {"fir"}),
        ("m²", {"rooms"}),
        ("m2", {"rooms"}),
        ("qr", {"wide"}),
        ("テスト", {"narrow"}),
        ("user name", {"name"}),
        ("parseusername", {"name"}),
        ("server", {"name"}),
        ("oystein", {"island"}),
        ("ÆRØ", {"island"}),
        ("lodzi", {"lodz"}),
        ("Łodzi", {"lodz"}),
        ("softhyphen", {"unseen"}),
        ("zerowidth", {"unseen"}),
        ("🇩🇰", set()),
    ],
)
def test_a_word_is_found_and_marked_however_it_is_spelled(
    query: str, pages: set[str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in https://github.com/tadashi-aikawa/obsidian-another-quick-switcher/issues/23 and amcat/amcat#35."""
    (root / "Areas").mkdir()
    for name, text in SPELLINGS.items():
        (root / f"Areas/page-{name}.md").write_text(f"# x\n\n{text}\n", encoding="utf-8")
    update_index(root)
    hits = search(root, query, 20)
    assert {hit.path.removeprefix("Areas/page-").removesuffix(".md") for hit in hits} == pages
    if not pages <= {"narrow", "unseen"}:  # these are found, but not marked
        assert all(OPEN in snippet for snippet in snippets(query, [hit.text for hit in hits]))
    run_cli(["search", query, "--memory", str(root)])
    assert ("Nothing was found" in capsys.readouterr().out) == (not pages)


def test_a_long_text_is_shown_where_most_words_of_the_question_stand() -> None:
    text = f"A method is a method. {'Nothing is said here. ' * 30}He settled on the method of Ada for the review."
    (shown,) = snippets("which method did he settle on for the review", [text])
    assert "Ada" in shown
