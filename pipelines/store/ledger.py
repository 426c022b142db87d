"""The ledger: what the machine knows of each item, one row a line, in `State/items/YYYY-MM.jsonl` by month of birth.

Beside it, `State/generated/` has a row for each line that a run wrote: `YYYY-MM.jsonl` for episodes, `pages.jsonl` for
the rest. A row's key is its heading and its words, folded; a line without a row is a person's.

Two machines' files are merged by union. Of two rows of one item the one with the higher revision counts, of two with
the same revision the greater text, on either machine.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.store.files import list_files, read_bytes
from pipelines.store.item_line import is_item_id, rows_in, values_in, weight_of
from pipelines.store.layout import GENERATED, ITEMS, LEDGER
from pipelines.store.left_out import left_out

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from pathlib import Path

    from pipelines.store.document import Document

    Ledger = Mapping[str, str]


_MONTH = re.compile(r"\d{4}-\d\d")
_REVISION = ', "rev": "'


def folded_rows(files: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the rows of several files as one ledger, as `row_of` writes them."""
    return {ident: _without_revision(row) for ident, row in _folded(files).items()}


def _folded(files: Iterable[Mapping[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for rows in files:
        twice = found.keys() & rows.keys()
        found = {**found, **rows, **{ident: max(found[ident], rows[ident], key=weight_of) for ident in twice}}
    return found


def ledger_in(tree: Mapping[str, bytes]) -> Ledger:
    """Return the ledger among a tree's files."""
    return _read(tuple(tree[path] for path in sorted(tree) if path.startswith(LEDGER)))


@lru_cache(maxsize=2)
def _read(files: tuple[bytes, ...]) -> Ledger:
    return folded_rows(rows_in(data.decode(errors="replace")) for data in files)


def ledger_on_disk(root: Path) -> Ledger:
    """Return the ledger of a memory as it is now."""
    paths = [path for folder in LEDGER for path in list_files(root, folder.rstrip("/"), ".jsonl")]
    tree = {path: read_bytes(root, path) or b"" for path in paths}
    return ledger_in(left_out(root) | tree)


def _without_revision(row: str) -> str:
    bare, found, _ = row.rpartition(_REVISION)
    return f"{bare}}}" if found else row


def ledger_after(
    state: Mapping[str, bytes], documents: Iterable[Document], gone: Container[str] = ()
) -> dict[str, bytes]:
    """Return the files of the ledger with the rows of the documents' items, as far as their bytes change.

    Args:
        state: path → bytes of the files under State.
        documents: the documents; rows of other items and lines stay.
        gone: the ids and keys whose rows go.
    """
    files = {
        path: rows_in(data.decode(errors="replace")) for path, data in sorted(state.items()) if path.startswith(LEDGER)
    }
    homes = {ident: path for path, rows in files.items() for ident in rows}
    old = _folded(files.values())
    wanted = {ident: row for ident, row in old.items() if ident not in gone}
    for document in documents:
        for ident in (document.held.keys() & document.rows.keys()) | document.told:
            row = document.rows[ident]
            if ident not in old:
                wanted[ident] = row
            elif row != _without_revision(old[ident]):
                wanted[ident] = f'{row[:-1]}{_REVISION}{weight_of(old[ident])[0] + 1}"}}'
    after: dict[str, dict[str, str]] = {path: {} for path in files}
    for ident, row in sorted(wanted.items()):
        after.setdefault(homes.get(ident) or _home(ident, row), {})[ident] = row
    written = {path: "".join(f"{row}\n" for row in rows.values()).encode() for path, rows in after.items()}
    return {path: data for path, data in written.items() if data != state.get(path)}


def _home(key: str, row: str) -> str:
    """Return the file of a new row: that of the month in which an item was born, or which a line tells of."""
    is_item = is_item_id(key)
    day = (values_in(row).get("since") or row.partition('"from": ["Logs/')[2]) if is_item else key
    folder, otherwise = (ITEMS, "undated") if is_item else (GENERATED, "pages")
    month = _MONTH.match(day)
    return f"{folder}{month[0] if month else otherwise}.jsonl"
