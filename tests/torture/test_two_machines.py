"""Two machines share a memory for sixty nights, one of them a week without a network, and come to the same bytes."""

import pytest

from tests.conftest import Memory
from tests.night.sync.machines import check_same, live, shared


@pytest.mark.torture
def test_sixty_nights(memory: Memory) -> None:
    one, other, remote = shared(memory)
    live((one, other), remote, 60, range(20, 27))
    check_same((one, other), remote)
