"""The one way from a tree to its items: its files are read as documents, which parse their own lines, and the ledger.

A tree is the disk, a commit, or a side of a merge. Nothing else parses an item's line, or asks git for one.

The ledger is what the machine knows of each item, one row a line, in `State/items/YYYY-MM.jsonl` by month of birth.
Beside it, `State/generated/` has a row for each line that a run wrote: `YYYY-MM.jsonl` for episodes, `pages.jsonl` for
the rest. A row's key is its heading and its words, folded; a line without a row is a person's. Two machines' files are
merged by union. Of two rows of one item the greater text counts, on either machine.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.store.document import Document, Placed, document_at
from pipelines.store.files import list_files, read_bytes
from pipelines.store.item import ids_in, without_mark
from pipelines.store.item_line import ITEM_ID, line_key, own_block_id, rows_in, values_in
from pipelines.store.layout import BRIEFING, FOLDERS, GENERATED, ITEMS, LEDGER, REVIEW, USER, kind_of
from pipelines.store.state import read_record
from pipelines.text import stated_due

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.git import Git, Tree

    Ledger = Mapping[str, str]
    Files = Mapping[str, bytes]


# ---------------------------------------- what stands in for the disk
# Files of the last commit that are not on the disk, and are not deleted all the same: the commit's version counts. Git
# was told to leave them out (a sparse checkout, `git update-index --skip-worktree` or `--assume-unchanged`, or never
# checked them out), or so many items would go with them that Review.md asks first. They are not committed as deleted,
# they are read from git, and they come back to the disk when something is written to them.


LEFT_OUT: Final = "left-out.json"
MISSING: Final = "missing"
"""The reason of pages that are gone with many items, and the kind of the question in Review.md about them."""
TOLD: Final = "told"
"""The reason of files that git was told to leave out, or to take for unchanged."""


def left_out(root: Path, reason: str = "") -> dict[str, bytes]:
    """Return path → bytes of the last commit's files that were left out when somebody last looked, and still are.

    Args:
        root: the memory.
        reason: only files left out for this one; empty for all.
    """
    rows = [path for path, why in read_record(root, LEFT_OUT).items() if reason in {"", why}]
    if not (absent := [path for path in rows if not os.path.lexists(root / path)]):
        return {}
    from pipelines.store.git import Git  # noqa: PLC0415  hardly any memory needs it

    with suppress(CurateError):
        git = Git(root)
        tree = git.tree(git.head())
        return {path: data for path in absent if path in tree and (data := git.blob(tree[path][1])) is not None}
    return {}


# ---------------------------------------- the ledger


_MONTH = re.compile(r"\d{4}-\d\d")


def ledger_in(tree: Files) -> Ledger:
    """Return the ledger among a tree's files."""
    files = (_rows(tree[path]) for path in sorted(tree) if path.startswith(LEDGER))
    return {ident: row for rows in files for ident, row in rows.items()}


_rows = lru_cache(maxsize=64)(rows_in)
"""Most files of the ledger are the same in two commits."""


def ledger_on_disk(root: Path) -> Ledger:
    """Return the ledger of a memory as it is now."""
    paths = [path for folder in LEDGER for path in list_files(root, folder.rstrip("/"), ".jsonl")]
    tree = {path: read_bytes(root, path) or b"" for path in paths}
    return ledger_in(left_out(root) | tree)


def ledger_at(git: Git, commit: str | None) -> Ledger:
    """Return the ledger of a commit."""
    tree = git.tree(commit).items()
    return ledger_in({path: git.blob(blob) or b"" for path, (_, blob) in tree if path.startswith(LEDGER)})


def ledger_after(state: Files, documents: Iterable[Document], gone: Container[str] = ()) -> dict[str, bytes]:
    """Return the files of the ledger with the rows of the documents' items, as far as their bytes change.

    Args:
        state: path → bytes of the files under State.
        documents: the documents; rows of other items and lines stay.
        gone: the ids and keys whose rows go.
    """
    files = {path: rows_in(data) for path, data in sorted(state.items()) if path.startswith(LEDGER)}
    homes = {ident: path for path, rows in files.items() for ident in rows}
    wanted = {ident: files[path][ident] for ident, path in homes.items() if ident not in gone}
    for one in documents:
        wanted |= {ident: one.rows[ident] for ident in (one.held.keys() & one.rows.keys()) | one.told}
    after: dict[str, dict[str, str]] = {path: {} for path in files}
    for key, row in sorted(wanted.items()):
        if (home := homes.get(key)) is None:  # the month in which an item was born, or which a line tells of
            is_item = ITEM_ID.fullmatch(key)
            day = (values_in(row).get("since") or row.partition('"from": ["Logs/')[2]) if is_item else key
            folder, otherwise = (ITEMS, "undated") if is_item else (GENERATED, "pages")
            month = _MONTH.match(day)
            home = f"{folder}{month[0] if month else otherwise}.jsonl"
        after.setdefault(home, {})[key] = row
    written = {path: "".join(f"{row}\n" for row in rows.values()).encode() for path, rows in after.items()}
    return {path: data for path, data in written.items() if data != state.get(path)}


# ---------------------------------------- documents


def read_documents_in(tree: Files, ledger: Ledger | None = None) -> dict[str, Document]:
    """Return the documents among a tree's files, by path; one that is not UTF-8 is left out.

    Args:
        tree: path → bytes.
        ledger: the rows of its items; without, they are among the tree's files.
    """
    found = dict[str, Document]()
    rows = ledger_in(tree) if ledger is None else ledger
    for path in filter(kind_of, tree):
        with suppress(UnicodeDecodeError):
            found[path] = document_at(path, tree[path].decode(), rows)
    return found


def documents_at(git: Git, commit: str | None) -> dict[str, Document]:
    """Return the documents of a commit by path; links are none."""
    pages = {path: blob for path, (mode, blob) in git.tree(commit).items() if kind_of(path) and mode != "120000"}
    return read_documents_in({path: git.blob(blob) or b"" for path, blob in pages.items()}, ledger_at(git, commit))


def read_version(path: str, data: bytes | None, ledger: Ledger | None = None) -> Document:
    """Return one version of a document; what is not UTF-8 in it is replaced, and without any bytes it is empty.

    Without its ledger, its items are what the lines say.
    """
    return document_at(path, (data or b"").decode(errors="replace"), ledger)


def committed(git: Git, commit: str | None, path: str) -> Document:
    """Return a document as a commit has it; empty if it has none."""
    return read_version(path, git.show(commit, path), ledger_at(git, commit))


def words_on_page(document: Document, placed: Placed) -> str:
    """Return an item's line as people read it, without what only the machine needs."""
    return without_mark(document.lines[placed.line].rstrip())


def bare_words(line: str) -> str:
    """Return the words of a list item, folded: without depth, mark, due day, and block id of a person."""
    words = without_mark(line.strip(" \t>\r\n"))
    return line_key("", stated_due(words.removesuffix(own_block_id(words)))[0]) if words[:1] in {"-", "*", "+"} else ""


def document_versions(git: Git, form: str, *narrowed: str) -> Iterator[tuple[str, Document, Document]]:
    """Yield each document that a commit changed, or an item's row of it, newest commit first.

    Args:
        git: the memory's git.
        form: the `git log --format` for each commit.
        narrowed: further arguments of `git log`.

    Yields:
        The formatted commit, and the document before and after it; of a join, before it on either side.
    """
    listed = git.run(*_log(f"%H %P%x1e{form}", "--no-patch", *narrowed)).decode(errors="replace")
    for record in dict.fromkeys(listed.split("\0")[1:]):  # a join is listed for each parent
        head, _, told = record.strip("\n").partition("\x1e")
        after, *parents = head.split()
        now, now_rows = _side(git, after)
        for parent in parents or [""]:
            was, was_rows = _side(git, parent or None)
            changed = {ident for ident in was_rows.keys() & now_rows.keys() if was_rows[ident] != now_rows[ident]}
            for path in sorted(path for path in {*was, *now} if changed or was.get(path) != now.get(path)):
                if kind_of(path) is None:
                    continue
                data = [git.blob(side[path][1]) if path in side else None for side in (was, now)]
                if was.get(path) != now.get(path) or not changed.isdisjoint(ids_in((data[1] or b"").decode("latin-1"))):
                    yield told, read_version(path, data[0], was_rows), read_version(path, data[1], now_rows)


def _side(git: Git, commit: str | None) -> tuple[Tree, Ledger]:
    """Return the files and the ledger of a commit; nothing beyond the end of a shallow clone."""
    with suppress(CurateError):
        return git.tree(commit), ledger_at(git, commit)
    return {}, {}


def changed_ids(git: Git, *narrowed: str) -> Iterator[list[str]]:
    """Yield the ids of each line that a commit removed or added, newest commit first; of a join, on either side."""
    for raw in git.run(*_log("", "--patch", "--unified=0", "--no-color", "-m", *narrowed)).split(b"\n"):
        line = raw.decode(errors="replace")
        if line[:1] in {"-", "+"} and (ids := [*rows_in(raw[1:])] or ids_in(line)):
            yield ids


def _log(form: str, *how: str) -> tuple[str, ...]:
    return (
        "log",
        f"--format=%x00{form}",
        "--no-renames",
        "--relative",
        *how,
        "--",
        BRIEFING,
        USER,
        REVIEW,
        *FOLDERS,
        ITEMS,
    )
