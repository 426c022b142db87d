"""Merging by item: what somebody wrote meanwhile stands, and the run's items come in beside it."""

from pipelines.store.change_set import Change
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType
from pipelines.store.journal import merge_changes

PATH = "Areas/a.md"
OLD = Item(ItemType.FACT, "old", id="k1111111111")
KEPT = Item(ItemType.FACT, "kept", id="k2222222222")
NEW = Item(ItemType.RULE, "new", id="k3333333333")
BEFORE = edited(Document(PATH, "# A\n"), add=[Block(OLD), Block(KEPT)])
AFTER = edited(
    BEFORE, remove=[OLD.id], replace={KEPT.id: Item(ItemType.FACT, "kept again", id=KEPT.id)}, add=[Block(NEW)]
)


def merge(path: str, before: bytes | None, after: bytes | None, current: bytes | None) -> bytes | None:
    return merge_changes([Change(path, before, after)], [current])[0].after


def merged(current: str) -> list[tuple[str, str]]:
    out = merge(PATH, BEFORE.text.encode(), AFTER.text.encode(), current.encode())
    assert out is not None
    return [(p.item.id, p.item.text) for p in Document(PATH, out.decode()).items]


def test_without_an_edit_the_new_bytes_stand() -> None:
    assert merge(PATH, BEFORE.text.encode(), AFTER.text.encode(), BEFORE.text.encode()) == AFTER.text.encode()


def test_an_added_line_stays_beside_the_runs_changes() -> None:
    assert merged(BEFORE.text + "\nmy note\n") == [(KEPT.id, "kept again"), (NEW.id, "new")]


def test_an_edited_item_is_neither_replaced_nor_removed() -> None:
    assert merged(BEFORE.text.replace("old", "older").replace("kept", "mine")) == [
        (OLD.id, "older"), (KEPT.id, "mine"), (NEW.id, "new"),
    ]  # fmt: skip


def test_a_deleted_item_stays_deleted() -> None:
    current = edited(BEFORE, remove=[KEPT.id]).text
    assert merged(current) == [(NEW.id, "new")]


def test_merging_twice_is_merging_once() -> None:
    once = merge(PATH, BEFORE.text.encode(), AFTER.text.encode(), (BEFORE.text + "note\n").encode())
    assert merge(PATH, BEFORE.text.encode(), AFTER.text.encode(), once) == once


def test_lines_appended_to_a_log_are_carried_over() -> None:
    assert merge("Logs/2026-01-01.md", b"a\n", b"a\nb\n", b"a\nc\n") == b"a\nb\nc\n"


def test_a_log_is_given_what_was_folded_into_it_whatever_became_of_it_and_only_once() -> None:
    path, before, after = "Logs/2026-01-01.md", b"a\n", b"a\nfolded\n"
    for now in (b"a\nc\n", b"rewritten\n", b"c\na\n"):
        once = merge(path, before, after, now)
        assert once is not None
        assert sorted(once.splitlines()) == sorted({*now.splitlines(), *after.splitlines()} - ({b"a"} - {*now.split()}))
        assert merge(path, before, after, once) == once
    assert merge(path, None, b"folded\n", b"made meanwhile\n") == b"folded\nmade meanwhile\n"


def test_state_is_joined() -> None:
    assert merge("State/progress.jsonl", b"1\n", b"1\n2\n", b"1\n3\n") == b"1\n2\n3\n"


def test_a_file_that_would_go_stays_when_somebody_changed_it() -> None:
    assert merge("Areas/x.md", b"a\n", None, b"a\nb\n") == b"a\nb\n"
    assert merge("Logs/partial/x.md", b"a\n", None, b"rewritten\n") == b"rewritten\n"


def test_of_a_folded_partial_log_only_what_came_since_stays() -> None:
    assert merge("Logs/partial/x.md", b"a\n", None, b"a\nb\n") == b"b\n"
    assert merge("Logs/partial/x.md", b"a\n", None, b"a\n") is None
    assert merge("Logs/partial/x.md", b"a\n", None, None) is None


def test_bytes_that_are_no_text_stand() -> None:
    assert merge(PATH, BEFORE.text.encode(), AFTER.text.encode(), b"\xff\xfe") == b"\xff\xfe"
