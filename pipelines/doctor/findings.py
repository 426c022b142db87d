"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class State(StrEnum):
    """How it stands: well, worth a look, or so that nights fail or do not happen."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        check: what was looked at, in a word or two.
        state: how it stands.
        says: what was found, a sentence.
        to_do: what to do about it, a sentence; empty where nothing is to be done.
    """

    check: str
    state: State
    says: str
    to_do: str = ""


def ok(check: str, says: str) -> Finding:
    """Return that a check found nothing wrong."""
    return Finding(check, State.OK, says)


def look(check: str, says: str, to_do: str) -> Finding:
    """Return that a check found something worth a look."""
    return Finding(check, State.LOOK, says, to_do)


def wrong(check: str, says: str, to_do: str) -> Finding:
    """Return that a check found what keeps nights from going well."""
    return Finding(check, State.WRONG, says, to_do)


def next_thing(findings: Iterable[Finding]) -> Finding | None:
    """Return the one finding to act on first: the first that is wrong, else the first that is worth a look."""
    found = list(findings)
    for state in (State.WRONG, State.LOOK):
        if first := next((one for one in found if one.state is state and one.to_do), None):
            return first
    return None
