"""A text is cut into small blocks; nothing of it is lost, and every block knows its lines."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.search.chunks import PIECE_BYTES, TextBlock, split_blocks
from pipelines.store.markdown import split_lines


def blocks(text: str) -> list[TextBlock]:
    return list(split_blocks(split_lines(text)))


def places(text: str) -> list[tuple[int, int]]:
    return [(block.start_line, block.end_line) for block in blocks(text)]


def test_turns_of_a_chat_are_blocks_of_their_own() -> None:
    chat = "[10:40]\t<ann>\thello\n[10:41]\t<bob>\thow are you\n[10:41]\t-->|\tcarl has joined\n"
    assert places(chat) == [(1, 1), (2, 2), (3, 3)]
    minutes = "**Rob Sanderson:** one\n… two\n> *Ann:* three\nBob Low: four\n"
    assert places(minutes) == [(1, 2), (3, 3), (4, 4)]
    assert places("10:15 had tea\n10:20 wrote the plan\n") == [(1, 1), (2, 2)]


def test_tables_and_code_fences_are_whole() -> None:
    text = "before\n| a | b |\n|---|---|\n| 1 | 2 |\nafter\n\n```sh\n# no heading\n\n- no item\n```\nend\n"
    assert places(text) == [(1, 1), (2, 4), (5, 5), (7, 11), (12, 12)]
    assert [block.verbatim for block in blocks(text)] == [False, False, False, True, False]
    assert all(block.headings == () for block in blocks(text))


def test_a_query_is_no_text_and_a_list_of_links_is_one_block() -> None:
    assert places("before\n\n```dataview\nTABLE file\n```\nafter\n") == [(1, 1), (6, 6)]
    assert places("- [[Method]]\n- [One](a.md)\n- ![[b.png]]\n- [[Kiln]] burns gas\n- [[Eve]]\n") == [
        (1, 3), (4, 4), (5, 5),
    ]  # fmt: skip


def test_long_prose_is_cut_at_sentences_near_the_limit() -> None:
    sentence = "The quick brown fox jumps over the lazy dog again. "
    text = f"intro\n\n{sentence * 200}\n"
    long = [block for block in blocks(text) if block.start_line == 3]
    assert len(long) > 5
    assert all(PIECE_BYTES // 2 < len(block.text.encode()) <= PIECE_BYTES for block in long[:-1])
    assert all(block.text.endswith(".") for block in long)
    assert " ".join(block.text for block in long) == (sentence * 200).strip()


def test_an_item_is_never_cut_from_its_mark() -> None:
    line = f"- ~~Fact: {'word ' * 600}~~ ^k1c02d9e441"
    (block,) = blocks(line)
    assert block.text == line


@given(st.lists(st.text(alphabet="ab- #>|`*1.:\t", max_size=12)))
def test_every_line_is_in_one_block_or_is_structure(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = blocks(text)
    assert [(b.start_line, b.end_line) for b in found] == sorted((b.start_line, b.end_line) for b in found)
    covered = [line for block in found for line in range(block.start_line, block.end_line + 1)]
    assert len(covered) == len(set(covered))
    for number, line in enumerate(text.split("\n"), 1):
        if any(c in "ab1" for c in line) and "#" not in line:
            assert number in covered


@given(st.text(alphabet="ab. é漢", max_size=80), st.integers(1, 200))
def test_no_character_of_a_long_line_is_lost(words: str, times: int) -> None:
    line = words * times
    found = blocks(line)
    assert "".join("".join(block.text for block in found).split()) == "".join(line.split())
    assert all(len(block.text.encode()) <= PIECE_BYTES for block in found)
