"""Merge two versions of a text line by line, against the one that both began with.

Lines that only one side changed are taken, and so is what either side added. Only lines that both sides changed, each
in its own way, clash; whoever asks for the merge decides what stands then.
"""

from __future__ import annotations

from collections import Counter, deque
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.markdown import line_end, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Lines = Sequence[str]


class Clash(NamedTuple):
    """Lines that both sides changed differently, without line ends: as they were, and on either side."""

    before: tuple[str, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]


_Edit = tuple[int, int, int, tuple[str, ...]]
"""The first line, the line after the last one, the side (0 or 1), and the lines that stand there now."""


def both(clash: Clash) -> list[str]:
    """Return the lines of both sides, one after the other; what they begin with in common stands once."""
    one, other = clash.one, clash.other
    same = common(one, other)
    return [*one, *other[same if any(line.strip() for line in one[:same]) else 0 :]]


def merge_texts(
    before: str, one: str, other: str, *, resolve: Callable[[Clash], list[str]] = both
) -> tuple[str, list[Clash]]:
    """Return the merged text, and what clashed. Line ends alone are no change, and the side that changed them wins.

    Args:
        before: the text that both sides began with.
        one: the text of one side.
        other: the text of the other side.
        resolve: what stands where both sides changed the same lines.
    """
    if other in (one, before):
        return one, []
    if one == before:
        return other, []
    ended = [split_lines(text) for text in (before, one, other)]
    was, mine, theirs = ([line.rstrip("\r\n") for line in side] for side in ended)
    merged, clashes = merge_lines(was, mine, theirs, resolve)
    end = ending(*ended)
    return "".join(line + end for line in merged), clashes


def ending(before: Lines, one: Lines, other: Lines) -> str:
    """Return how lines end after a merge: as on the side that changed it."""
    return line_end(other if line_end(one) == line_end(before) else one)


def merge_lines(
    was: Lines, mine: Lines, theirs: Lines, resolve: Callable[[Clash], list[str]]
) -> tuple[list[str], list[Clash]]:
    """Do what `merge_texts` does to lines without line ends."""
    if holds(mine, was, theirs):
        return [*mine], []
    if holds(theirs, was, mine):
        return [*theirs], []
    out, clashes, at = list[str](), list[Clash](), 0
    edits = deque(sorted([*_edits(was, mine, 0), *_edits(was, theirs, 1)]))
    while edits:
        group = [edits.popleft()]  # edits that touch the same lines, or add at the same place
        start, stop, *_ = group[0]
        while edits and (edits[0][0] < stop or edits[0][:2] == group[0][:2]):
            group.append(edits.popleft())
            stop = max(stop, group[-1][1])
        old = tuple(was[start:stop])
        new, newer = (_applied(old, start, [edit for edit in group if edit[2] == side]) for side in (0, 1))
        out += was[at:start]
        at = stop
        if old in (new, newer) or new == newer:
            out += newer if old == new else new
        elif start == stop:  # both added something at the same place
            out += both(Clash(old, new, newer))
        else:
            clashes.append(Clash(old, new, newer))
            out += resolve(clashes[-1])
    return [*out, *was[at:]], clashes


def holds(side: Lines, before: Lines, other: Lines) -> bool:
    """Whether a side has what the other one added, and nothing that it removed: merging twice changes nothing."""
    was, here, there = (Counter(line for line in lines if line.strip()) for lines in (before, side, other))
    added, removed = there - was, was - there
    return bool(added) and added <= here - was and removed <= was - here


def _edits(before: Lines, after: Lines, side: int) -> Iterator[_Edit]:
    """Yield what changed. Lines replaced by as many count one by one, so that neighbours do not clash."""
    for what, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if what == "replace" and j - i == m - k:
            for n in range(j - i):
                yield i + n, i + n + 1, side, (after[k + n],)
        elif what != "equal":
            yield i, j, side, tuple(after[k:m])


def common(one: Lines, other: Lines) -> int:
    """Return how many lines two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def _applied(lines: tuple[str, ...], start: int, edits: list[_Edit]) -> tuple[str, ...]:
    """Return the lines from `start` on with one side's edits."""
    out, at = list[str](), 0
    for first, end, _, new in edits:
        out += [*lines[at : first - start], *new]
        at = end - start
    return (*out, *lines[at:])
