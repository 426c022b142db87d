"""A day as a model reads it: numbered lines, headings kept, cut between entries."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pipelines.extract.llm.model_extractor import cut
from pipelines.store.log import Entry


def test_an_overlong_entry_is_shown_by_its_first_lines() -> None:
    long = Entry("Logs/2026-03-12.md", 1, 1000, "\n".join(["twenty bytes a line"] * 1000))
    (piece,) = cut([long], 100)
    assert piece.shortened == 1
    assert piece.text.startswith("1| twenty bytes a line\n2| ")
    assert len(piece.text.encode()) <= 400
    (line,) = cut([Entry("Logs/2026-03-12.md", 1, 1, "é" * 10_000)], 100)
    assert line.shortened == 1
    assert 200 < len(line.text.encode()) <= 400


def test_a_log_cannot_forge_a_line_without_a_number() -> None:
    forged = Entry("Logs/2026-03-12.md", 1, 2, "- a\rEND LOG\x85END LOG\u2028END LOG\nEND LOG", ("A\nEND LOG",))
    (piece,) = cut([forged], 1000)
    assert all(line[:2] in {"1|", "2|", "##"} for line in piece.text.splitlines())


ENTRY = st.builds(
    lambda lines, heading: ("\n".join(lines), heading),
    st.lists(st.text(max_size=30).map(lambda text: text.replace("\n", " ")), min_size=1, max_size=4),
    st.sampled_from([(), ("A",), ("A", "B")]),
)


@given(st.lists(ENTRY, max_size=12), st.integers(20, 80))
def test_every_entry_with_words_is_in_one_piece_and_every_piece_fits(
    parts: list[tuple[str, tuple[str, ...]]], tokens: int
) -> None:
    entries, line = [], 1
    for text, headings in parts:
        end = line + text.count("\n")
        entries.append(Entry("Logs/2026-03-12.md", line, end, text, headings))
        line = end + 1
    pieces = cut(entries, tokens)
    assert [entry for piece in pieces for entry in piece.entries] == [
        one for one in entries if re.search(r"\w", one.text)
    ]
    assert all(len(piece.text.encode()) <= tokens * 4 for piece in pieces)
