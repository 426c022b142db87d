"""What a session reads of a file: no comments, nothing that holds no longer, code as it stands."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pipelines.queries.startup.read import document_entries, log_entries, read_part
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust, render_item, row_of
from tests.making import plant

if TYPE_CHECKING:
    from pathlib import Path


def shown(text: str, **rows: str) -> str:
    return "\n".join(entry.text for entry in document_entries(text, rows))


@pytest.mark.parametrize("status", list(Status))
def test_only_items_that_hold_are_shown(status: Status) -> None:
    kind = ItemType.TODO if status in {Status.OPEN, Status.DONE} else ItemType.FACT
    successor = "k0123456780" if status is Status.SUPERSEDED else ""
    merged = "k0123456781" if status is Status.MERGED else ""
    item = Item(kind, "The office is in Bern.", "k0123456789", status, "2026-01-02", trust=Trust.SELF)
    item = replace(item, confidence=Confidence.LOW, superseded_by=successor, merged_into=merged)
    text = f"# A\n\n{render_item(item)}\n"
    assert ("Bern" in shown(text, k0123456789=row_of(item))) is (status in {Status.LIVE, Status.OPEN})


def test_comments_go_and_an_open_one_hides_nothing() -> None:
    text = "---\ntitle: A\n---\n# A <!-- x -->\n\n<!--\nhidden\n-->\n"
    text += "- one ^k0123456789\n<!--\n- two"
    assert shown(text) == "# A\n- one\n<!--\n- two"


def test_history_and_headings_over_nothing_go() -> None:
    text = (
        "# A\n\n## Facts\n\n- Fact: x\n\n## Empty\n\n## History\n\n- Fact: old\n- ~~Fact: older~~\n\n## Risks\n\n- r\n"
    )
    assert shown(text) == "# A\n## Facts\n- Fact: x\n## Risks\n- r"


def test_code_in_a_log_is_no_structure() -> None:
    log = "- 08:00 ran\n```\n# not a heading\n- not an entry\n```\n- 09:00 next\n"
    texts = [entry.text for entry in log_entries(log)]
    assert texts == ["- 08:00 ran\n```\n# not a heading\n- not an entry\n```", "- 09:00 next"]


def test_the_beginning_or_the_end_of_a_long_file_is_read(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "".join(f"line {number}\n" for number in range(100)))
    assert read_part(str(tmp_path), "a.md", 13) == "line 0\nline 1"
    assert read_part(str(tmp_path), "a.md", 20, tail=True) == "line 98\nline 99\n"
    assert read_part(str(tmp_path), "a.md", 10_000, tail=True).startswith("line 0\n")
    assert not read_part(str(tmp_path), "none.md", 10)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, "secret", "secret")
    (tmp_path / "a.md").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match=os.strerror(40)):
        read_part(str(tmp_path), "a.md", 10)


def test_a_line_of_a_form_that_nobody_filled_in_says_nothing() -> None:
    text = "- Name:\n- Role: cook\n- Editors:\n  - vim\n- Working language:\n"
    assert shown(text) == "- Role: cook\n- Editors:\n  - vim"
