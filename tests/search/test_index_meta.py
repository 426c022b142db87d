"""What a document's front matter says finds it and narrows a search down; what has no day takes its document's."""

from pathlib import Path

import pytest

from benchmarks.searching import search
from pipelines.search.build import update_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest
from tests.making import plant

STREAMS = """---
title: Streams
updated: 2026-03-01
topic: Kafka
owner: "Ann Lee"
url: https://example.org/a=b
links: [zebra, quagga]
author:
  name: Bö Ek
  home:
    city: Bern
  team: Blue
summary: |
  first: not a key
confidence_reason: walrus
---
Retention is a week.

- Fact: The cluster has three brokers. <!-- k7f3a9c2b10 since=2026-02-11 -->
  NOTE
- ~~Fact: It had two.~~ <!-- k55b01aa07c since=2026-01-02 until=2026-02-11 -->
  NOTE
""".replace("NOTE", f"{'The brokers stand in the cellar. ' * 14}\n  - a nested remark\n  - another remark")


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    plant(root, "Areas/streams.md", STREAMS)
    plant(root, "Areas/queues.md", "---\ntopic: rabbit\nowner: Ann Lee\n---\nQueues last.\n")
    plant(root, "Areas/plain.md", "retention of paper\n")
    update_index(root)
    return root


def found(root: Path, query: str, **narrowed: object) -> set[str]:
    return {hit.path for hit in search(root, query, 20, (), SearchRequest(filters=Filters(**narrowed)))}  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["kafka", "topic:kafka", "topic: Kafka", "example.org"])
def test_a_value_of_the_front_matter_finds_its_document(root: Path, query: str) -> None:
    assert "Areas/streams.md" in found(root, query)
    assert found(root, "topic:kafka ann lee") == {"Areas/streams.md", "Areas/queues.md"}


@pytest.mark.parametrize(("status", "shown"), [("Cancelled", ("status=cancelled",)), ("active", ())])
def test_a_hit_shows_the_status_of_its_note(root: Path, status: str, shown: tuple[str, ...]) -> None:
    plant(root, "Resources/task.md", f"---\nstatus: {status}\n---\nMend the balustrade.\n")
    update_index(root)
    assert search(root, "balustrade", 1, (), SearchRequest())[0].meta == shown


def test_meta_narrows_down(root: Path) -> None:
    def with_meta(*meta: str) -> set[str]:
        return found(root, "retention brokers queues", meta=meta)

    assert with_meta("topic=kafka") == with_meta("Topic=KAFKA") == {"Areas/streams.md"}
    assert with_meta("owner=Ann Lee") == {"Areas/streams.md", "Areas/queues.md"}
    assert with_meta("owner=ann lee", "topic=rabbit") == {"Areas/queues.md"}
    assert with_meta("url=https://example.org/a=b", "confidence_reason=walrus") == {"Areas/streams.md"}
    assert (
        with_meta("author.name=BÖ EK") == with_meta("author.home.city=bern", "author.team=blue") == {"Areas/streams.md"}
    )
    assert with_meta("first=not a key") == with_meta("summary.first=not a key") == with_meta("name=Bö Ek") == set()
    assert with_meta("topic=kaf") == with_meta("topic=kafka", "topic=rabbit") == set()
