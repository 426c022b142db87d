"""Prune: documents are held under their caps, what leaves can be found, and what people wrote stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.night.briefing import pointer_rows, prune, with_pointers, without_pointers
from pipelines.settings import Caps, Settings
from pipelines.store.document import Block, Document, edited, marked_row
from pipelines.store.item import Confidence, Evidence, Item, ItemType, Status, Trust

CAPS = Caps(briefing=1024, user=1024, document=4096)
SETTINGS = Settings(caps=CAPS)


def item(number: int, kind: ItemType = ItemType.RULE, words: int = 12, **more: object) -> Item:
    told = {"since": f"2026-01-{1 + number % 28:02}", "by": "rules@1", "trust": Trust.SELF, **more}
    return Item(kind, f"item {number} " + "word " * words, id=f"k{number:010x}", **told)  # type: ignore[arg-type]  # mixed values


def documents(*items: Item, path: str = "MEMORY.md", text: str = "# Memory\n\nMine.\n") -> dict[str, Document]:
    return {path: edited(Document(path, text), add=[Block(one) for one in items])}


def all_ids(of: dict[str, Document] | object) -> list[str]:
    assert isinstance(of, dict)
    return sorted(placed.item.id for document in of.values() for placed in document.items)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(ItemType), st.integers(1, 40), st.sampled_from(Confidence)), max_size=40))
def test_the_briefing_is_under_its_cap_and_nothing_is_lost(rows: list[tuple[ItemType, int, Confidence]]) -> None:
    before = documents(*(item(n, kind, words, confidence=c) for n, (kind, words, c) in enumerate(rows)))
    pruned = prune(before, SETTINGS, frozenset())
    assert pruned.documents["MEMORY.md"].size <= CAPS.briefing
    assert all_ids(dict(pruned.documents)) == all_ids(before)
    assert "Mine." in pruned.documents["MEMORY.md"].text
    assert all(document.size <= CAPS.document for document in pruned.documents.values())


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(ItemType), st.integers(1, 40)), max_size=60))
def test_pruning_twice_is_pruning_once(rows: list[tuple[ItemType, int]]) -> None:
    once = prune(documents(*(item(n, kind, words) for n, (kind, words) in enumerate(rows))), SETTINGS, frozenset())
    twice = prune(once.documents, SETTINGS, frozenset())
    assert twice.moved == ()
    assert {p: d.text for p, d in twice.documents.items()} == {p: d.text for p, d in once.documents.items()}


def test_the_lowest_priority_leaves_first() -> None:
    weak = item(1, ItemType.RISK, confidence=Confidence.LOW)
    strong = [item(n, since="2026-03-01") for n in range(2, 8)]
    pruned = prune(documents(weak, *strong), SETTINGS, frozenset())
    assert pruned.moved[0].id == weak.id
    assert pruned.moved[0].target == "Areas/general.md"


def test_what_people_wrote_stays_even_over_the_cap() -> None:
    hand = Item(ItemType.RULE, "mine " * 30, id="kaaaaaaaaaa", trust=Trust.OWNER)
    prose = "# Memory\n\n" + "My own words stay here. " * 60 + "\n"
    pruned = prune(documents(hand, item(1), text=prose), SETTINGS, frozenset())
    briefing = pruned.documents["MEMORY.md"]
    assert [placed.item.id for placed in briefing.items] == [hand.id]
    assert prose in briefing.text
    assert not pointer_rows_in(briefing)


def pointer_rows_in(document: Document) -> list[str]:
    return [line for line in document.lines if "<!-- p:" in line]


def test_a_pinned_item_stays() -> None:
    pinned = item(1, ItemType.RISK, confidence=Confidence.LOW, pinned=True)
    pruned = prune(documents(pinned, *(item(n) for n in range(2, 12))), SETTINGS, frozenset())
    assert pinned.id in {placed.item.id for placed in pruned.documents["MEMORY.md"].items}


def test_a_document_overflows_to_the_archive_of_the_items_year_closed_ones_first() -> None:
    done = item(1, ItemType.TODO, 30, status=Status.DONE, since="2025-06-01")
    rest = [item(n, ItemType.TODO, 30, status=Status.OPEN) for n in range(2, 22)]
    pruned = prune(documents(*rest, done, path="Projects/p.md", text="# P\n"), SETTINGS, frozenset())
    assert pruned.moved[0].target == "Archives/p-2025.md" or done.id in {m.id for m in pruned.moved}
    archived = {p.item.id: p.item for d in pruned.documents.values() if d.path.startswith("Archives/") for p in d.items}
    assert archived[done.id].status is Status.DONE
    assert {i.status for ident, i in archived.items() if ident != done.id} <= {Status.ARCHIVED}
    assert all(document.size <= CAPS.document for document in pruned.documents.values())


def test_archives_are_bounded_too() -> None:
    pruned = prune(
        documents(*(item(n, ItemType.FACT, 30) for n in range(80)), path="Areas/a.md", text="# A\n"),
        SETTINGS,
        frozenset(),
    )
    parts = sorted(path for path in pruned.documents if path.startswith("Archives/"))
    assert parts[:2] == ["Archives/a-2026-2.md", "Archives/a-2026-3.md"]
    assert all(document.size <= CAPS.document for document in pruned.documents.values())


def test_nothing_is_moved_into_a_file_that_cannot_be_read() -> None:
    pruned = prune(documents(*(item(n) for n in range(12))), SETTINGS, frozenset({"Areas/general.md"}))
    assert {moved.target for moved in pruned.moved} == {"Areas/general-2.md"}


def test_pointers_name_projects_days_and_people() -> None:
    project = Document(
        "Projects/p.md",
        "---\ntitle: Pea\nstatus: active\n---\n# Pea\n\n## Contacts\n\n- Ada Byron, maths: ada@example.org\n",
    )
    done = Document("Projects/q.md", "---\ntitle: Queue\nstatus: done\n---\n# Queue\n")
    todo = Item(ItemType.TODO, "Bob to call", id="k1111111111", status=Status.OPEN, since="2026-03-10", by="rules@1")
    rows = pointer_rows({"Projects/p.md": edited(project, add=[Block(todo)]), "Projects/q.md": done})
    assert rows == [
        ("Projects", "- [Pea](Projects/p.md): 1 open, last news 2026-03-10"),
        ("People", "- Ada Byron: Projects/p.md"),
        ("People", "- Bob: Projects/p.md"),
    ]


@pytest.mark.parametrize(
    ("status", "counted"),
    [
        (Status.LIVE, True), (Status.OPEN, True), (Status.DONE, True), (Status.ARCHIVED, True),
        (Status.WAITING, False), (Status.SUPERSEDED, False), (Status.RETRACTED, False), (Status.MERGED, False),
        (Status.FORGOTTEN, False),
    ],
)  # fmt: skip
def test_a_day_counts_what_is_believed(status: Status, *, counted: bool) -> None:
    kind = ItemType.TODO if status in {Status.OPEN, Status.DONE} else ItemType.FACT
    said = item(1, kind, status=status, since="2026-03-10", evidence=(Evidence("Logs/2026-03-10.md", 3, 3, "0" * 8),))
    found = documents(said, path="Areas/a.md")
    assert [placed.item.status for placed in found["Areas/a.md"].items] == [status]
    told = [row for title, row in pointer_rows(found) if title == "Recent days"]
    assert told == ([f"- [2026-03-10](Logs/2026-03-10.md): 1 {kind.lower()}"] if counted else [])


def test_a_pointer_that_a_person_changed_is_theirs() -> None:
    document = with_pointers(
        Document("MEMORY.md", "# Memory\n"),
        [("Projects", "- [A](Projects/a.md)"), ("Projects", "- [B](Projects/b.md)")],
    )
    mine = Document("MEMORY.md", document.text.replace("[A](Projects/a.md)", "[A](Projects/a.md), my favourite"))
    left = without_pointers(mine)
    assert "my favourite" in left.text
    assert "Projects/b.md" not in left.text


def test_empty_pointer_sections_go_and_own_lines_in_them_stay() -> None:
    row = ("Projects", "- [A](Projects/a.md)")
    document = with_pointers(Document("MEMORY.md", "# Memory\n"), [row])
    assert with_pointers(without_pointers(document), []).text.strip() == "# Memory"
    mine = Document("MEMORY.md", document.text + "- my own line\n")
    assert with_pointers(without_pointers(mine), []).text == "# Memory\n\n## Projects\n\n- my own line\n"
    assert marked_row(row[1]) in with_pointers(without_pointers(mine), [row]).text
