"""A document's own text as two machines left it: lines joined, items put back where they stood."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.store.document import Document, edited
from pipelines.store.item import render_item
from pipelines.store.markdown import line_end, split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.document import Block

_FOUND: Final = re.compile(r"\x00(k[0-9a-f]+)\n")


def join_document(
    path: str, sides: tuple[Document | None, Document | None, Document | None], blocks: Mapping[str, Block]
) -> Document:
    """Return a document whose lines are those of both sides, and whose items are `blocks`.

    Args:
        path: where it stands.
        sides: as it was, as it is here, and as it is there; None where it is not.
        blocks: id → the items that shall stand in it.
    """
    before, ours, theirs = sides
    front = _front(before, ours, theirs)
    bodies = [_skeleton(side) if side else "" for side in (before, ours, theirs)]
    body = _three_way(bodies[0], bodies[1], bodies[2]) if ours and theirs else bodies[1] if ours else bodies[2]
    end = line_end(split_lines(front + body))
    left, rows = dict(blocks), []
    for line in split_lines(body):
        token = _FOUND.fullmatch(line)
        if token is None:
            rows.append(line)
        elif block := left.pop(token[1], None):
            rows += [render_item(block.item) + end, *block.notes]
    document = Document(path, front + "".join(rows))
    return edited(document, add=[left[ident] for ident in sorted(left, key=lambda one: (left[one].item.since, one))])


def _front(before: Document | None, ours: Document | None, theirs: Document | None) -> str:
    """Return the front matter that one side alone changed, else the later one; whole, so that its keys fit together."""
    was, here, there = ("".join(one.lines[: one.front.lines]) if one else None for one in (before, ours, theirs))
    if here is None or there is None or here == there:
        return here or there or ""
    if was in (here, there):
        return there if here == was else here
    return max((one.front.get("updated"), text) for one, text in ((ours, here), (theirs, there)) if one)[1]


def _skeleton(document: Document) -> str:
    """Return the text below the front matter, with a token in place of each item and its notes."""
    lines = list(document.lines)
    for placed in reversed(document.items):
        if placed.item.id:
            lines[placed.line : placed.end] = [f"\x00{placed.item.id}\n"]
    return "".join(lines[document.front.lines :])


def _three_way(before: str, ours: str, theirs: str) -> str:
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    one, other = sorted((ours, theirs))
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("one", "before", "other")]
        for file, text in zip(files, (one, before, other), strict=True):
            # git takes a file with a zero byte for no text; U+0001 marks the tokens meanwhile.
            file.write_bytes(text.replace("\x00", "\x01token ").encode())
        done = subprocess.run(
            ["git", "merge-file", "--union", "-p", *map(str, files)],  # noqa: S607  the person's own git
            capture_output=True,
            check=True,
            env={"PATH": _path(), "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "HOME": folder},
            cwd=folder,
        )
    return done.stdout.decode().replace("\x01token ", "\x00")


def _path() -> str:
    import os  # noqa: PLC0415

    return os.environ.get("PATH", "/usr/bin:/bin")
