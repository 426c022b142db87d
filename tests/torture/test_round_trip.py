"""The round trip, at length: items read back as themselves, documents differ only in lines that the pipeline owns."""

import pytest
from hypothesis import HealthCheck, given, settings

from pipelines.store.item import Item, parse_item, render_item, row_of
from tests.store.test_documents import PAGES, only_owned_lines_differ
from tests.store.test_items import items

LONG = settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.torture
@LONG
@given(items())
def test_twenty_thousand_items(item: Item) -> None:
    assert parse_item(render_item(item), row_of(item)) == item


@pytest.mark.torture
@LONG
@given(**PAGES)
def test_twenty_thousand_documents(lines: list[str], end: str, ended: bool) -> None:  # noqa: FBT001
    only_owned_lines_differ(lines, end, ended=ended)
