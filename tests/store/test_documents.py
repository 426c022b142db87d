"""Documents: the pipeline changes the lines that it owns, and no other byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.document import (
    Block,
    Document,
    edited,
    with_front_matter,
)
from pipelines.store.item import Item, ItemType, Status
from pipelines.store.markdown import split_lines

ONE = Item(ItemType.DECISION, "use one", id="k1111111111")
TWO = Item(ItemType.RULE, "never two", id="k2222222222")

LINES = st.sampled_from(
    ["# Title", "## Decisions", "## Notes", "## Rules", "text", "- a list", "  note under it", "", "```", "<!--", "-->",
     "---", "- Decision: mine", "- Rule: by hand ^kabcdefabcd", "title: x", "~~~", "  "]
)  # fmt: skip


PAGES = {"lines": st.lists(LINES, max_size=14), "end": st.sampled_from(["\n", "\r\n"]), "ended": st.booleans()}


def only_owned_lines_differ(lines: list[str], end: str, *, ended: bool) -> None:
    text = end.join(lines) + (end if ended else "")
    after = edited(Document("Areas/a.md", text), add=[Block(ONE), Block(TWO)])
    before, now = split_lines(text), split_lines(after.text)
    if before and not before[-1].endswith("\n"):
        before[-1] += end if len(lines) > 1 else "\n"
    rest = iter(now)
    assert all(line in rest for line in before if line.strip()), (before, now)
    added = [line for line in now if line.strip() and line not in before]
    assert all(line.startswith(("- Decision: use one ^k1", "- Rule: never two ^k2", "## ")) for line in added)


@given(**PAGES)
def test_a_document_differs_only_in_lines_that_the_pipeline_owns(lines: list[str], end: str, ended: bool) -> None:  # noqa: FBT001
    only_owned_lines_differ(lines, end, ended=ended)


@given(st.lists(LINES, max_size=14))
def test_what_was_added_and_removed_leaves_the_items_as_before(lines: list[str]) -> None:
    document = Document("Areas/a.md", "\n".join(lines))
    after = edited(edited(document, add=[Block(ONE)]), remove=[ONE.id])
    assert [placed.item for placed in after.items] == [placed.item for placed in document.items]


@given(st.text())
def test_any_text_is_a_document(text: str) -> None:
    document = Document("Areas/a.md", text)
    assert "".join(document.lines) == text
    assert document.title
    assert edited(document).text == text


def test_sections_are_made_where_the_layout_has_them() -> None:
    document = Document("Projects/p.md", "# P\n\n## Decisions\n\n## Risks\n\n## My notes\n\nhere\n")
    todo = Item(ItemType.TODO, "do", id="k3333333333", status=Status.OPEN)
    after = edited(document, add=[Block(TWO), Block(todo), Block(ONE)])
    assert [heading.title for heading in after.headings] == [
        "P",
        "Decisions",
        "Rules",
        "Next steps",
        "Risks",
        "My notes",
    ]
    assert [placed.section for placed in after.items] == ["Decisions", "Rules", "Next steps"]


def test_lines_in_fences_and_comments_are_no_items() -> None:
    fences = "~~~~\n- Decision: d\n~~~\n- Decision: e\n~~~~\n"
    text = "```\n- Decision: a\n```\n<!--\n- Decision: b\n-->\n- Decision: c\n" + fences
    assert [placed.item.text for placed in Document("a.md", text).items] == ["c"]


@pytest.mark.parametrize("opened", ["```", "~~~~ python", "<!--", "<!-- a word"])
def test_a_mark_that_is_never_closed_makes_no_item_vanish(opened: str) -> None:
    text = f"{opened}\ntext\n\n## Rules\n\n- Rule: stays\n"
    document = edited(Document("a.md", text), add=[Block(ONE)])
    assert [placed.item.text for placed in document.items] == ["use one", "stays"]


def test_windows_line_ends_stay() -> None:
    after = edited(Document("a.md", "# A\r\n\r\ntext\r\n"), add=[Block(ONE)])
    assert after.text.count("\r\n") == after.text.count("\n")


def test_front_matter_keeps_what_it_does_not_set() -> None:
    text = "---\ntitle: 'Old: one'\n# a comment\nmine: [1, 2]\nupdated: 2026-01-01\n---\nbody\n"
    document = Document("Areas/a.md", text)
    after = with_front_matter(document, {"updated": "2026-02-02", "trust": "self"})
    assert document.title == "Old: one"
    assert after.text == text.replace("2026-01-01\n", "2026-02-02\ntrust: self\n")


def test_an_empty_section_is_filled_without_more_blank_lines() -> None:
    after = edited(Document("a.md", "# A\n\n## Facts\n\n\n## Risks\n"), add=[Block(Item(ItemType.FACT, "it runs"))])
    assert after.text == "# A\n\n## Facts\n\n- Fact: it runs\n\n## Risks\n"
