"""A memory that has one night behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.story import DAY, LINES, night

if TYPE_CHECKING:
    from tests.conftest import Memory, Once


def first_night(memory: Memory) -> None:
    night(memory, DAY, *LINES)


@pytest.fixture
def told(once: Once) -> Memory:
    """Return a memory that has one night behind it."""
    return once(first_night)
