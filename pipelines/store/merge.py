"""Merge three versions of a memory's files: the one that two sides began with, and what each side made of it.

One merge serves two machines that meet, files that changed while a run wrote them, the editor of the page, and an undo.
Pages are merged item by item (`pipelines.store.merge_pages`), logs by appended text, state row by row, and all other
files line by line.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.layout import LOGS, SETTINGS, STATE, kind_of
from pipelines.store.markdown import body_lines, headings_among, split_lines
from pipelines.store.merge_pages import BOTH, ONE, STAYS, Disputed, merge_pages
from pipelines.store.three_way import both, common, holds, merge_texts
from pipelines.store.trees import read_documents_in

if TYPE_CHECKING:
    from pipelines.store.document import Document
    from pipelines.store.trees import Files, Ledger


_WHOLE = "It cannot be merged line by line. One version stands there whole."


class Merged(NamedTuple):
    """The files of a merge that are no pages, its pages, and what a person must decide."""

    files: dict[str, bytes]
    pages: dict[str, Document]
    disputed: tuple[Disputed, ...]


def merge_trees(
    base: Files, ours: Files, theirs: Files, *, ours_first: bool = False, ledger: Ledger | None = None
) -> Merged:
    """Merge two trees of files. What only one side changed wins.

    Args:
        base: the files that both sides began with.
        ours: the files on our side.
        theirs: the files on the other side.
        ours_first: whether our side stands where both changed an item; otherwise the result is the same from either.
        ledger: the rows of the items; without, they are among the files.
    """
    sides = base, ours, theirs
    read = [read_documents_in(side, ledger) for side in sides]
    # A page that is not UTF-8 on one side is no page on any.
    odd = {
        path for side, pages in zip(sides, read, strict=True) for path in side if kind_of(path) and path not in pages
    }
    was, here, there = ({path: one for path, one in pages.items() if path not in odd} for pages in read)
    merged, disputed = merge_pages(was, here, there, ours_first=ours_first)
    files = dict[str, bytes]()
    for path in sorted({path for side in sides for path in side if path in odd or not kind_of(path)}):
        data, more = _merged_file(path, base.get(path), ours.get(path), theirs.get(path), ours_first=ours_first)
        files |= {} if data is None else {path: data}
        disputed += more
    return Merged(files, merged, tuple(disputed))


def _merged_file(
    path: str, was: bytes | None, here: bytes | None, there: bytes | None, *, ours_first: bool
) -> tuple[bytes | None, list[Disputed]]:
    """Return a file that is no page, merged, and what is disputed; None if it goes.

    Of a log that one side deleted, only what was appended since stays. State has the rows of both sides, without those
    that either removed, sorted.
    """
    if there in (here, was) or here == was:
        return there if here == was else here, []
    if path.startswith(f"{LOGS}/"):
        texts = ((data or b"").decode(errors="surrogateescape") for data in (was, here, there))
        return _merged_logs(*texts).encode(errors="surrogateescape") or None, []
    if path.startswith(f"{STATE}/") and path.endswith(".jsonl"):
        old, one, other = (set((data or b"").splitlines()) for data in (was, here, there))
        return b"".join(row + b"\n" for row in sorted((one & other) | (one - old) | (other - old))), []
    if here is None or there is None:
        return here or there, [Disputed(path, STAYS)]
    is_ours = ours_first or here >= there
    first, second = (here, there) if is_ours else (there, here)
    is_settings = path == SETTINGS
    try:
        sides = [data.decode() for data in (was or b"", first, second)]
        # Settings with both versions of a line are invalid.
        merged, clashes = merge_texts(*sides, resolve=(lambda clash: list(clash.one)) if is_settings else both)
        if is_settings:
            tomllib.loads(merged)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return first, [Disputed(path, _WHOLE)]
    what = ONE if is_settings else BOTH
    of = (0, 1) if is_ours else (1, 0)
    return merged.encode(), [Disputed(path, what, (clash.one, clash.other), sides=of) for clash in clashes]


_PROJECT = re.compile(r"project:[ \t]*\S", re.IGNORECASE)


def _merged_logs(before: str, *sides: str) -> str:
    """Return a log with what both sides appended, each entry under its headings and in its project.

    Both ends follow the common part; the lesser one comes first, on either side.
    """
    one, other = sorted(sides)
    was, lines, more = map(split_lines, (before, one, other))
    if not (one.startswith(before) and other.startswith(before)) or holds(lines, was, more) or holds(more, was, lines):
        return merge_texts(before, one, other)[0]
    shared = common(lines, more)
    tail = more[shared:]
    head = [*lines[:-1], f"{lines[-1].removesuffix(chr(10))}\n"] if lines else []
    return "".join([*head, *_again(lines[:shared], lines[shared:], tail), *tail])


def _again(shared: list[str], between: list[str], tail: list[str]) -> list[str]:
    """Return the headings and project in force at the end of the shared part, if `between` changed them."""
    changes = any(_PROJECT.match(line) or line.startswith("#") for line in between)
    if not changes or next((line for line in tail if line.strip()), "").startswith("# "):
        return []
    stack = list[tuple[int, int]]()
    for heading in headings_among(body_lines(shared, 0)):
        stack = [one for one in stack if one[0] < heading.level] + [(heading.level, heading.line)]
    last = stack[-1][1] if stack else -1
    project = [line for line in shared[last + 1 :] if _PROJECT.match(line)][-1:]
    return ["\n", *(row for line in (*(shared[at] for _, at in stack), *project) for row in (line, "\n"))]
