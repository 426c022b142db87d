"""Prune: documents are held under their caps, what leaves can be found, and what people wrote stays."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.night.caps import briefing_sections, prune, with_briefing
from pipelines.night.file_items import new_document
from pipelines.settings import Settings, SizeCaps
from pipelines.store.document import Block, Document, edited
from pipelines.store.generated import sentences_in, without_rows
from pipelines.store.item import Confidence, Item, ItemType, Status, Trust
from pipelines.store.layout import Kind

CAPS = SizeCaps(briefing=1024, user=1024, document=4096)
SETTINGS = Settings(caps=CAPS)


def item(number: int, kind: ItemType = ItemType.RULE, words: int = 12, **more: object) -> Item:
    told = {"since": f"2026-01-{1 + number % 28:02}", "by": "rules@1", "trust": Trust.SELF, **more}
    return Item(kind, f"item {number} " + "word " * words, id=f"k{number:010x}", **told)  # type: ignore[arg-type]  # mixed values


def documents(*items: Item, path: str = "MEMORY.md", text: str = "# Memory\n\nMine.\n") -> dict[str, Document]:
    return {path: edited(Document(path, text), add=[Block(one) for one in items])}


def all_ids(of: dict[str, Document] | object) -> list[str]:
    assert isinstance(of, dict)
    return sorted(placed.item.id for document in of.values() for placed in document.items)


@given(st.lists(st.tuples(st.sampled_from(ItemType), st.integers(1, 40), st.sampled_from(Confidence)), max_size=40))
def test_the_briefing_is_under_its_cap_and_nothing_is_lost(rows: list[tuple[ItemType, int, Confidence]]) -> None:
    before = documents(*(item(n, kind, words, confidence=c) for n, (kind, words, c) in enumerate(rows)))
    pruned = prune(before, SETTINGS, frozenset())
    assert pruned.documents["MEMORY.md"].size <= CAPS.briefing
    assert all_ids(dict(pruned.documents)) == all_ids(before)
    assert "Mine." in pruned.documents["MEMORY.md"].text
    assert all(one.size <= CAPS.document for one in pruned.documents.values() if one.kind is not Kind.ARCHIVE)


@given(
    st.lists(st.tuples(st.sampled_from(ItemType), st.integers(1, 40), st.booleans()), min_size=9, max_size=60),
    st.integers(1024, 1300),
    st.integers(4096, 4300),
)
def test_a_second_night_finds_nothing_to_move(
    rows: list[tuple[ItemType, int, bool]], briefing: int, document: int
) -> None:
    """The fields on top of each page take room, too, and change with what moves."""
    caps = Settings(caps=SizeCaps(briefing=briefing, user=1024, document=document))
    paths = ("MEMORY.md", "Projects/p.md")
    pages = {path: new_document(path, "") for path in paths}
    for n, (kind, words, on_top) in enumerate(rows):
        path = paths[not on_top]
        pages[path] = edited(pages[path], add=[Block(item(n, kind, words))])
    once = prune(pages, caps, frozenset()).documents
    twice = prune(once, caps, frozenset())
    assert twice.moved == []
    assert {p: d.text for p, d in twice.documents.items()} == {p: d.text for p, d in once.items()}


def test_what_people_wrote_stays_even_over_the_cap() -> None:
    hand = Item(ItemType.RULE, "mine " * 30, id="kaaaaaaaaaa", trust=Trust.OWNER)
    prose = "# Memory\n\n" + "My own words stay here. " * 60 + "\n"
    pruned = prune(documents(hand, item(1), text=prose), SETTINGS, frozenset())
    briefing = pruned.documents["MEMORY.md"]
    assert [placed.item.id for placed in briefing.items] == [hand.id]
    assert prose in briefing.text
    assert not pointer_rows_in(briefing)


def pointer_rows_in(document: Document) -> list[str]:
    return [one.text for some in sentences_in(document).values() for _, one in some]


def test_a_document_overflows_to_the_archive_of_the_items_year_closed_ones_first() -> None:
    done = item(1, ItemType.TODO, 30, status=Status.DONE, since="2025-06-01")
    rest = [item(n, ItemType.TODO, 30, status=Status.OPEN) for n in range(2, 22)]
    pruned = prune(documents(*rest, done, path="Projects/p.md", text="# P\n"), SETTINGS, frozenset())
    assert pruned.moved[0]["to"] == "Archives/p-2025.md" or done.id in {m["id"] for m in pruned.moved}
    archived = {p.item.id: p.item for d in pruned.documents.values() if d.path.startswith("Archives/") for p in d.items}
    assert archived[done.id].status is Status.DONE
    assert {i.status for ident, i in archived.items() if ident != done.id} <= {Status.ARCHIVED}
    assert all(one.size <= CAPS.document for one in pruned.documents.values() if one.kind is not Kind.ARCHIVE)


def test_items_leave_only_as_far_as_the_cap_requires() -> None:
    todos = [item(n, ItemType.TODO, 20, status=Status.OPEN, since="2026-01-01") for n in range(1, 30)]
    newest = item(30, ItemType.TODO, 20, status=Status.OPEN, since="2026-03-01")

    def left(*items: Item) -> int:
        return (
            prune(documents(*items, path="Areas/a.md", text="# A\n"), SETTINGS, frozenset())
            .documents["Areas/a.md"]
            .size
        )

    line = documents(newest, path="Areas/a.md", text="# A\n")["Areas/a.md"].size
    assert CAPS.document - line < left(*todos, newest) <= CAPS.document


def test_nothing_is_moved_into_a_file_that_cannot_be_read() -> None:
    pruned = prune(documents(*(item(n) for n in range(12))), SETTINGS, frozenset({"Areas/general.md"}))
    assert {moved["to"] for moved in pruned.moved} == {"Areas/general-2.md"}


def told(found: dict[str, Document], cap: int = 8192) -> Document:
    return with_briefing(Document("MEMORY.md", "# Memory\n"), briefing_sections(found), cap)


PAGE = "---\ntitle: Pea\nstatus: active\n---\n# Pea\n\n## Contacts\n\n- Ada Byron, maths: ada@example.org ^kada0123ab\n"


def test_the_briefing_tells_of_projects_dues_risks_and_people() -> None:
    def one(number: int, kind: ItemType, text: str, **more: object) -> Item:
        given = {"trust": Trust.SELF, "by": "rules@1", "since": "2026-03-10", **more}
        return Item(kind, text, id=f"k{number:010x}", **given)  # type: ignore[arg-type]  # mixed values

    items = [
        one(1, ItemType.DECISION, "Use peas."),
        one(2, ItemType.TODO, "Call Bob", status=Status.OPEN, due="2026-04-01"),
        one(3, ItemType.RISK, "Peas may rot."),
        one(4, ItemType.FACT, "Cleo grows the peas.", page_section="contacts", person="Cleo"),
        one(5, ItemType.FACT, "The shed burnt down.", trust=Trust.EXTERNAL),
        one(6, ItemType.FACT, "The boat is hired from Dora Lie.", page_section="contacts"),
    ]
    done = Document("Projects/q.md", "---\ntitle: Queue\nstatus: done\n---\n# Queue\n")
    page = edited(Document("Projects/p.md", PAGE), add=map(Block, items))
    area = documents(item(1), item(2, ItemType.FACT), path="Areas/a.md", text="# Kitchen\n")
    rows = [line.partition(" <!--")[0] for line in told({"Projects/p.md": page, "Projects/q.md": done, **area}).lines]
    assert [row for row in map(str.strip, rows) if row] == [
        "# Memory",
        "## Projects",
        "- [Pea](Projects/p.md): Use peas. Next: Call Bob (due 2026-04-01)",
        "## Due",
        "- 2026-04-01: Call Bob ([Pea](Projects/p.md))",
        "## Open risks",
        "- Peas may rot. ([Pea](Projects/p.md))",
        "## People",
        "- Ada Byron, maths: ada@example.org ([Pea](Projects/p.md))",
        "- Cleo grows the peas. ([Pea](Projects/p.md))",
        "- The boat is hired from Dora Lie. ([Pea](Projects/p.md))",
        "## Where the rest is",
        "- [Kitchen](Areas/a.md): 1 fact, 1 rule",
    ]


def test_a_pointer_that_a_person_changed_is_theirs() -> None:
    pages = {f"Projects/{name}.md": Document(f"Projects/{name}.md", f"# {name}\n") for name in "ab"}
    written = told(pages)
    mine = written.text.replace("[a](Projects/a.md)", "[a](Projects/a.md), my favourite")
    left = without_rows(written.with_text(mine))
    assert "my favourite" in left.text
    assert "Projects/b.md" not in left.text


def test_a_row_that_a_person_wrote_of_a_page_takes_the_place_of_the_runs() -> None:
    pages = {f"Projects/{name}.md": Document(f"Projects/{name}.md", f"# {name}\n") for name in ("a (b)", "c")}
    mine = "# Memory\n\n## Projects\n\n- [Mine](<Projects/a (b).md>)\n- [Nothing](<>) later\n"
    rows = with_briefing(Document("MEMORY.md", mine), briefing_sections(pages), 8192).text
    assert "[c](Projects/c.md)" in rows
    assert rows.count("a%20(b)") + rows.count("a (b)") + rows.count("a%20%28b%29") == 1
