"""`curate edit`: a document in the person's own editor, checked before it is saved, and committed as theirs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Memory, Once

    Edit = Callable[[str], None]
    """Lets the editor run a script of Python's, with the text in `text`; it saves what `text` then is."""

KESTREL = "Projects/kestrel.md"


def a_night(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", "project: Kestrel\n\n- Decision: Use brass.\n- Todo: Oil the hinge.\n")
    memory.curate("run", "--now", "2026-03-18T02:00")


@pytest.fixture
def told(once: Once) -> Memory:
    return once(a_night)


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    def into(script: str) -> None:
        program = tmp_path / "editor.py"
        program.write_text(
            f"import pathlib, sys\nf = pathlib.Path(sys.argv[1])\ntext = f.read_text()\n{script}\nf.write_text(text)\n"
        )
        monkeypatch.setenv("VISUAL", f"python3 {program}")

    return into


def texts(memory: Memory) -> dict[str, dict[str, Any]]:
    return {one["text"]: one for one in json.loads(memory.curate("items", "--json"))}


def test_what_was_edited_is_saved_committed_and_understood(told: Memory, edit: Edit) -> None:
    edit("text = text.replace('Use brass', 'Use steel') + '- Fact: Built in 1987.\\n'")
    assert f"Saved {KESTREL} (commit " in told.curate("edit", "kestrel")
    held = texts(told)
    assert (held["Use steel."]["trust"], held["Built in 1987."]["trust"]) == ("owner", "owner")
    assert held["Built in 1987."]["id"]
    assert told.git("status", "--porcelain") == ""
    assert "Edits by hand" in told.git("log", "--format=%s")
    assert "Everything is accounted for" in told.curate("check")


def test_closing_the_editor_without_a_change_writes_nothing(told: Memory, edit: Edit) -> None:
    head = told.git("rev-parse", "HEAD")
    edit("")
    assert told.curate("edit", KESTREL) == f"Nothing was changed in {KESTREL}.\n"
    assert told.git("rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("text += '- Fact: Twice. ' + text[text.index('^k'):].partition('\\n')[0] + '\\n'", "is also in"),
        ("text = text.replace('- Decision', '> - Decision')", "where no item can be"),
        ("text += 'The key: AKIAIOSFODNN7EXAMPLF\\n'", "secret"),
    ],
)
def test_what_would_break_something_is_not_saved(told: Memory, edit: Edit, script: str, why: str) -> None:
    before, head = told.files(), told.git("rev-parse", "HEAD")
    edit(script)
    said = told.curate("edit", "Kestrel", exits=1 if why == "secret" else 2)
    assert any(part in said for part in why.split("|")), said
    assert (told.files(), told.git("rev-parse", "HEAD")) == (before, head)


def test_a_file_that_changed_meanwhile_is_joined_and_shown_again(told: Memory, edit: Edit) -> None:
    change = "import subprocess; p = pathlib.Path(%r); p.write_text(p.read_text() + 'Mara built it.\\n')"
    edit(f"{change % str(told.root / KESTREL)}\ntext += 'Built in 1987.\\n'")
    assert "changed meanwhile" in told.curate("edit", "kestrel", exits=2)
    assert "1987" not in told.read(KESTREL)


def test_a_document_of_another_line_end_keeps_it(told: Memory, edit: Edit) -> None:
    (told.root / KESTREL).write_bytes((told.root / KESTREL).read_bytes().replace(b"\n", b"\r\n"))
    edit("text += 'Built in 1987.\\n'")
    told.curate("edit", "kestrel")
    data = (told.root / KESTREL).read_bytes()
    assert b"Built in 1987.\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_what_is_no_document_is_said(told: Memory) -> None:
    assert "no document" in told.curate("edit", "nothing", exits=2).lower()


def found(memory: Memory, *words: str) -> list[str]:
    return [hit["text"] for hit in json.loads(memory.curate("search", *words, "--json"))["results"]]


def test_what_is_set_of_an_item_finds_it_is_shown_and_survives_nights_and_rewording(told: Memory) -> None:
    brass, oil = (texts(told)[text]["id"] for text in ("Use brass.", "Oil the hinge."))
    said = told.curate("edit", brass, "--set", "topic=Türen", "--set", "room.floor=2 <!-- -->")
    assert said == f"{brass} in {KESTREL} has room.floor=2 <!-- -->, topic=Türen set.\n"
    told.curate("edit", oil, "--set", "topic=hinges")
    assert f"Set topic of {oil}" in told.git("log", "-1", "--format=%s")
    told.write(
        "Logs/2026-03-18.md", "project: Kestrel\n\n- Decision: Use brass.\n- Fact: doors=3, topic=türen said Ann.\n"
    )
    told.curate("run", "--now", "2026-03-19T02:00")
    told.curate("correct", brass, "Use polished brass.")
    for words in (
        ["topic=TÜREN"],
        ["topic=türen", "brass"],
        ["brass", "--meta", "Topic = Türen"],
        ['room.floor="2 <!-- -->"'],
    ):
        assert found(told, *words) == ["Decision: Use polished brass."]
    assert found(told, "topic=hinges") == ["Todo: Oil the hinge."]
    assert (
        found(told, "doors=3")[0] == "Fact: doors=3, topic=türen said Ann."
    )  # no key of an item's or a page's, so they are words
    assert "topic=Türen" in told.curate("search", "topic=türen")
    assert json.loads(told.curate("search", "topic=hinges", "--json"))["results"][0]["meta"] == ["topic=hinges"]
    now = texts(told)["Use polished brass."]
    assert now["metadata"] == {"room.floor": "2 <!-- -->", "topic": "Türen"}
    told.curate("edit", now["id"], "--set", "topic=", "--set", "room.floor=3")
    assert texts(told)["Use polished brass."]["metadata"] == {"room.floor": "3"}
    assert "metadata changed" in told.curate("history", now["id"])
    assert found(told, "topic=türen", "brass") == []
    assert "Everything is accounted for" in told.curate("check")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("topic", "'topic' is not a key and a value."),
        ("=x", "'' cannot be a key."),
        ("to pic=x", "'to pic' cannot be a key."),
        ("a..b=x", "'a..b' cannot be a key."),
        ("1st=x", "'1st' cannot be a key."),
    ],
)
def test_a_key_that_cannot_be_one_is_named(told: Memory, given: str, said: str) -> None:
    head = told.git("rev-parse", "HEAD")
    assert said in told.curate("edit", "brass", "--set", given, exits=2)
    assert told.git("rev-parse", "HEAD") == head


def test_a_secret_is_not_set(told: Memory) -> None:
    told.curate("edit", "brass", "--set", "key=" + "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert "ghp_" not in (told.root / KESTREL).read_text(encoding="utf-8")
