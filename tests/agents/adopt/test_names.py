"""Names of adopted files: kept where they can stand, and no two the same on any disk."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.agents.adopt_copy import joined
from pipelines.agents.adopt_source import distinct_paths, portable_path
from pipelines.store.log import parse_entries

_PATHS = st.lists(
    st.lists(st.sampled_from(["a", "A", "a-2", "a.md", "b"]), min_size=1, max_size=3).map(
        lambda p: "/".join(p) + ".md"
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    "name", ["Old chapel.md", "Ünïcode – 日本.md", "a/b c/d.png", "no-ending", "x.y.md", "#1 (a) [b].md"]
)
def test_a_name_that_can_stand_is_kept(name: str) -> None:
    assert portable_path(name) == name


@pytest.mark.parametrize(
    ("name", "stands"),
    [
        ("What? Why: a talk.md", "what-why-a-talk.md"),
        ("line\nend.md", "line-end.md"),
        (" led.md", "led.md"),
        ("CON.md", "con-.md"),
        ("???.PNG", "untitled.png"),
        ("a\udcffb.md", "a-b.md"),
        ("dots./note.md", "dots/note.md"),
        ("trailing .md", "trailing.md"),
        ("x" * 240 + ".md", "x" * 60 + ".md"),
    ],
)
def test_a_name_that_cannot_stand_becomes_its_slug(name: str, stands: str) -> None:
    assert portable_path(name) == stands


@given(st.text(min_size=1).filter(lambda name: name.strip("/")))
def test_what_comes_out_stands(name: str) -> None:
    path = portable_path(f"{name}.md")
    assert path.encode().isascii() or path.encode()
    assert portable_path(path) == path
    assert not {"", ".", ".."} & set(path.split("/"))


@given(_PATHS)
def test_no_two_stand_in_one_place(wishes: list[str]) -> None:
    paths = distinct_paths(wishes)
    keys = [unicodedata.normalize("NFC", path).casefold() for path in paths]
    assert len(set(keys)) == len(keys)
    folders = {key.rsplit("/", n)[0] for key in keys for n in range(1, key.count("/") + 1)}
    assert not folders & set(keys)


def test_the_first_keeps_its_name_and_later_ones_are_numbered() -> None:
    assert distinct_paths(["a.md", "A.md", "a-2.md", "a.MD"]) == ["a.md", "A-3.md", "a-2.md", "a-4.MD"]


def test_many_of_one_name_take_no_time() -> None:
    assert len(set(distinct_paths(["same.md"] * 20_000))) == 20_000


def test_one_note_of_a_day_keeps_its_bytes() -> None:
    assert (
        joined("2026-02-03", [("x.md", b"\xef\xbb\xbf---\r\na: b\r\n---\r\nhi")])
        == b"\xef\xbb\xbf---\r\na: b\r\n---\r\nhi"
    )


def test_several_notes_of_a_day_stand_under_headings_and_front_matter_says_nothing() -> None:
    own, other = b"---\na: b\n---\n- one", b"---\nmood: --> odd\n---\n- two"
    text = joined("2026-02-03", [("d/2026-02-03.md", own), ("d/2026-02-03-x.md", other)]).decode()
    assert text.startswith("---\na: b\n---\n- one\n\n## d/2026-02-03-x\n\n")
    entries = parse_entries("Logs/2026-02-03.md", "2026-02-03", text)
    assert [entry.text for entry in entries] == ["- one", "- two"]
    assert joined("2026-02-03", [("a/3 Feb.md", own), ("b/3 Feb.md", other)]).startswith(
        b"# 2026-02-03\n\n## a/3 Feb\n"
    )
