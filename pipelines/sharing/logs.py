"""A log, and what the state remembers, as two machines left them: everything that either has, once."""

from __future__ import annotations

import re
from typing import Final

from pipelines.store.markdown import read_headings, split_lines

_PROJECT: Final = re.compile(r"project:[ \t]*\S", re.IGNORECASE)


def join_logs(before: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return a log with what both machines appended, each entry under the headings and in the project it had.

    Both ends follow the part that they have in common; the lesser one by its bytes comes first, on whichever machine.
    """
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    one, other = sorted((_text(ours), _text(theirs)))
    lines, more = split_lines(one), split_lines(other)
    shared = _shared(lines, more)
    known = {*split_lines(_text(before)), *lines} if shared < len(split_lines(_text(before))) else set()
    tail = [line for line in more[shared:] if line not in known or not line.strip()]
    if not "".join(tail).strip():
        return "".join(lines).encode(errors="surrogateescape")
    head = lines
    if lines and not lines[-1].endswith("\n"):
        head = [*lines[:-1], lines[-1] + "\n"]
    return "".join([*head, *_again(lines[:shared], lines[shared:], tail), *tail]).encode(errors="surrogateescape")


def _again(shared: list[str], between: list[str], tail: list[str]) -> list[str]:
    """Return the lines that bring back what governed at the end of the shared part, where `between` changed it."""
    changes = any(_PROJECT.match(line) or line.startswith("#") for line in between)
    if not changes or next((line for line in tail if line.strip()), "").startswith("# "):
        return []
    stack: list[tuple[int, int]] = []
    for heading in read_headings(shared, 0):
        stack = [one for one in stack if one[0] < heading.level] + [(heading.level, heading.line)]
    last = stack[-1][1] if stack else -1
    project = [line for line in shared[last + 1 :] if _PROJECT.match(line)][-1:]
    return [
        "\n",
        *(line for _, at in stack for line in (shared[at], "\n")),
        *(line for one in project for line in (one, "\n")),
    ]


def join_rows(before: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the rows that either machine added, without those that either took out, sorted."""
    old, one, other = (set(data.splitlines()) for data in (before, ours, theirs))
    return b"".join(row + b"\n" for row in sorted((one & other) | (one - old) | (other - old)))


def _shared(lines: list[str], more: list[str]) -> int:
    """Return how many lines at their beginning two logs have in common."""
    pairs = enumerate(zip(lines, more, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(lines), len(more)))


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
