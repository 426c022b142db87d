"""What tests of models share: no key of the machine's, and servers that speak the providers' wires."""

from collections.abc import Iterator

import pytest

from tests.extract.days import forget_the_machine
from tests.extract.wire import Wire, anthropic_wire, gemini_wire, openai_wire


@pytest.fixture(autouse=True)
def _no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_machine(monkeypatch)


@pytest.fixture
def claude() -> Iterator[Wire]:
    with anthropic_wire() as wire:
        yield wire


@pytest.fixture
def gemini() -> Iterator[Wire]:
    with gemini_wire() as wire:
        yield wire


@pytest.fixture
def openai() -> Iterator[Wire]:
    with openai_wire() as wire:
        yield wire
