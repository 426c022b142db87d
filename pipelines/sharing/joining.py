"""Two trees with one beginning are joined: documents item by item, logs by entry, state by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.sharing.items import joined, standing, without_twins
from pipelines.sharing.logs import join_logs, join_rows
from pipelines.sharing.prose import join_document
from pipelines.stages.pointers import without_pointers
from pipelines.store.document import Document, block_of
from pipelines.store.layout import BRIEFING, LOGS, STATE, kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.sharing.items import Stood
    from pipelines.store.document import Block

    Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Joined:
    """What two trees come to: every file that differs from ours (None where it goes), and files that clashed."""

    files: Mapping[str, bytes | None]
    documents: Mapping[str, Document]
    clashed: tuple[str, ...]


def join(before: Files, ours: Files, theirs: Files) -> Joined:
    """Join two trees. Which of the two is ours makes no difference but to files that nobody can join line by line."""
    files: dict[str, bytes | None] = {}
    clashed = []
    documents = _join_documents(_documents(before), _documents(ours), _documents(theirs))
    for path in sorted({*ours, *theirs}):
        if path in documents or _document(path, ours.get(path) or theirs.get(path) or b""):
            continue
        was, here, there = (side.get(path) for side in (before, ours, theirs))
        if there in (here, was):
            continue
        if path.startswith(f"{LOGS}/"):
            files[path] = join_logs(was or b"", here or b"", there) if there is not None else here
        elif path.startswith(f"{STATE}/"):
            files[path] = join_rows(was or b"", here or b"", there or b"")
        elif here == was:
            files[path] = there
        else:
            files[path] = max(filter(None, (here, there)), default=None)
            clashed.append(path)
    return Joined(files, documents, tuple(clashed))


def _join_documents(
    before: Mapping[str, Document], ours: Mapping[str, Document], theirs: Mapping[str, Document]
) -> dict[str, Document]:
    was, here, there = standing(before), standing(ours), standing(theirs)
    stood: dict[str, Stood] = {}
    for ident in sorted({*here, *there}):
        if one := joined(was.get(ident), here.get(ident), there.get(ident)):
            stood[ident] = one
    stood = without_twins(stood, here, there)
    homes: dict[str, dict[str, Stood]] = {}
    for ident, one in stood.items():
        homes.setdefault(one.path, {})[ident] = one
    out = {}
    for path in sorted({*ours, *theirs, *homes}):
        sides = (before.get(path), ours.get(path), theirs.get(path))
        if path in homes or not _is_gone(*sides):
            blocks = {ident: one.block for ident, one in homes.get(path, {}).items()}
            out[path] = _as_it_is(sides, blocks) or join_document(path, sides, blocks)
    return out


def _as_it_is(
    sides: tuple[Document | None, Document | None, Document | None], blocks: Mapping[str, Block]
) -> Document | None:
    """Return the side that alone changed a document, where it holds what shall stand: its lines keep their bytes."""
    was, here, there = (side.text if side else None for side in sides)
    one = sides[1] if there in {was, here} else sides[2] if here == was else None
    stands = {p.item.id: block_of(one, p) for p in one.items if p.item.id} if one else {}
    return one if one and stands == blocks else None


def _is_gone(before: Document | None, ours: Document | None, theirs: Document | None) -> bool:
    """Whether one side took a document away that the other left as it was."""
    if before is None or (ours and theirs):
        return False
    left = ours or theirs
    return left is None or left.text == before.text


def _documents(files: Files) -> dict[str, Document]:
    found = {path: _document(path, data) for path, data in files.items()}
    return {path: one for path, one in found.items() if one}


def _document(path: str, data: bytes) -> Document | None:
    """Return a file as a document; MEMORY.md without its pointers, which are written anew."""
    if not kind_of(path):
        return None
    try:
        document = Document(path, data.decode())
    except UnicodeDecodeError:
        return None
    return without_pointers(document) if path == BRIEFING else document
