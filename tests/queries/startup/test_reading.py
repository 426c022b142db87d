"""What a session reads of a file: no comments, nothing that holds no longer, code as it stands."""

from dataclasses import replace

import pytest

from pipelines.queries.startup.own_log import own_entries
from pipelines.queries.startup.read import document_entries
from pipelines.store.document import Document, document_at
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust, render_item, row_of


def shown(text: str, **rows: str) -> str:
    return "\n".join(
        entry.text for entry in document_entries(document_at("Areas/a.md", text, rows), with_open=True, ranks={})
    )


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


def test_code_is_no_structure() -> None:
    text = "- ran\n```\n# not a heading\n- not an entry\n```\n- next\n"
    entries = document_entries(Document("Areas/a.md", text), with_open=True, ranks={})
    assert [one.text for one in entries] == ["- ran\n```\n# not a heading\n- not an entry\n```", "- next"]


def test_notes_go_with_an_item_that_is_over() -> None:
    assert shown("- ~~Fact: old~~\n  a note of it\n- Fact: new\n  its note\n") == "- Fact: new\n  its note"


def test_a_line_of_a_form_that_nobody_filled_in_says_nothing() -> None:
    text = "- Name:\n- Role: cook\n- Editors:\n  - vim\n- Working language:\n"
    assert shown(text) == "- Role: cook\n- Editors:\n  - vim"


def test_an_empty_bullet_of_a_log_says_nothing() -> None:
    text = "# 2026-03-11\n\n## Reflections\n\n-\n\n## Done\n\n- Tarred.\n"
    entries = own_entries("Logs/2026-03-11.md", "2026-03-11", text, ())
    assert [one.text for one in entries] == ["## Done", "- Tarred."]
