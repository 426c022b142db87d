"""Every failure of a wire at every call of a three-day night."""

import pytest

from tests.conftest import Memory
from tests.night.test_wire_failures import CASES, fail_at


@pytest.mark.torture
@pytest.mark.parametrize(("provider", "name"), CASES)
def test_a_failure_at_every_call(memory: Memory, provider: str, name: str) -> None:
    fail_at(memory, provider, name, [0, 1, 2])
