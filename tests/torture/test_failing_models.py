"""Every failure of a wire at every call of a three-day night."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.night.test_wire_failures import CASES, fail_at

if TYPE_CHECKING:
    from tests.conftest import Memory


@pytest.mark.torture
@pytest.mark.parametrize(("provider", "name"), CASES)
def test_a_failure_at_every_call(memory: Memory, provider: str, name: str) -> None:
    fail_at(memory, provider, name, [0, 1, 2])
