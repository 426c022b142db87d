"""A memory that has one night behind it."""

import pytest

from tests.conftest import Memory, Once
from tests.contract.story import DAY, LINES, night


def first_night(memory: Memory) -> None:
    night(memory, DAY, *LINES)


@pytest.fixture
def told(once: Once) -> Memory:
    """Return a memory that has one night behind it."""
    return once(first_night)
