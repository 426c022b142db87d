"""Incremental equals full, at length: the life of `tests/index/test_index_same_answers.py`, many times over."""

import pytest
from hypothesis import settings

from tests.search.test_index_same_answers import Life

pytestmark = pytest.mark.torture


class LongLife(Life):
    """The same life, which takes its time."""


TestLongLife = LongLife.TestCase
TestLongLife.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
