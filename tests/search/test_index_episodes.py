"""Episodes are found, a day at a time, with the lines they rest on; other generated sentences are nobody's words."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.searching import search
from pipelines.api import Memory
from pipelines.search.build import freshen
from pipelines.search.filters import SOURCES, Filters
from pipelines.search.hits import Hit
from pipelines.search.query import SearchRequest
from pipelines.store.generated import Sentence
from pipelines.store.item import Evidence, Item, ItemType, Status, Trust, quote_digest
from tests.making import plant, stated, told

FIRST, LATER = "Logs/2026-03-01.md", "Logs/2026-03-05.md"
OPENS = "- 09:00 Fact: the quay opens at 08:00"
PAINTED = "- 09:30 Todo: paint the crane"
LATE = "- 10:00 Fact: the quay opens at 09:30"
DONE = "- 11:00 Done: paint the crane"
PAGE = "Episodes/2026-03.md"


def item(ident: str, kind: ItemType, text: str, *evidence: tuple[str, int, str], **more: Any) -> Item:
    places = tuple(Evidence(path, line, line, quote_digest(words)) for path, line, words in evidence)
    known: dict[str, Any] = {"since": "2026-03-01", "trust": Trust.SELF, "by": "rules@1"} | more
    return Item(kind, text, id=ident, evidence=places, **known)


OLD = item(
    "k00000000a1", ItemType.FACT, "The quay opens at 08:00.", (FIRST, 3, OPENS),
    status=Status.SUPERSEDED, until="2026-03-05", superseded_by="k00000000b2",
)  # fmt: skip
NEW = item("k00000000b2", ItemType.FACT, "The quay opens at 09:30.", (LATER, 3, LATE), since="2026-03-05")
CRANE = item(
    "k00000000c3", ItemType.TODO, "Paint the crane.", (FIRST, 4, PAINTED), (LATER, 4, DONE),
    status=Status.DONE, until="2026-03-05",
)  # fmt: skip
TOLD = (
    Sentence("Learnt: The quay opens at 08:00.", (OLD.id,), lines="3,4"),
    Sentence("To do: paint the crane.", (CRANE.id,)),
)
TOLD_LATER = (
    Sentence("Learnt: The quay opens at 09:30.", (NEW.id,), lines="3-4"),
    Sentence("Done: paint the crane.", (CRANE.id,)),
)


def write(root: Path, path: str, *lines: str) -> None:
    plant(root, path, "\n".join(lines) + "\n")


@pytest.fixture
def quay(root: Path) -> Path:
    write(root, FIRST, "# 2026-03-01", "", OPENS, PAINTED, "- 12:00 herring for lunch")
    write(root, LATER, "# 2026-03-05", "", LATE, DONE)
    write(root, "Areas/quay.md", "# Quay", "", *map(stated, (NEW, CRANE, OLD)))
    days = ("## 2026-03-01", "", *(told(one) for one in TOLD), "", "## 2026-03-05", "")
    write(root, PAGE, "# March 2026", "", *days, *(told(one) for one in TOLD_LATER))
    return root


def hits(root: Path, query: str, **how: Any) -> list[Hit]:
    assert freshen(root).stale == frozenset()
    return search(root, query, 20, (), SearchRequest(**how))


def episodes(root: Path, query: str, **narrowed: Any) -> list[Hit]:
    return hits(root, query, filters=Filters(sources=("episode",), **narrowed))


def places(found: list[Hit] | tuple[Hit, ...]) -> list[str]:
    return [f"{hit.path}:{hit.lines}" for hit in found]


def test_a_day_is_one_hit_with_the_items_it_cites_and_without_marks(quay: Path) -> None:
    assert "episode" in {hit.kind for hit in hits(quay, "paint the crane")}
    (first,) = episodes(quay, "08:00")
    assert (first.path, first.lines, first.text) == (PAGE, "5-6", "\n".join(one.text for one in TOLD))
    assert (first.date, first.trust, first.headings) == ("2026-03-01", "self", ("March 2026", "2026-03-01"))
    assert (first.kind, first.source, first.cites) == ("episode", f"{FIRST}:3", (OLD.id, CRANE.id))
    assert first.item == ""
    assert first.to_json()["cites"] == (OLD.id, CRANE.id)
    told = {source: Memory(quay).search("crane", sources=(source,)).hits for source in SOURCES}
    assert {source: {hit.kind for hit in found} for source, found in told.items()} == {
        "log": {"log"}, "session": set(), "episode": {"episode"}, "document": {"document"},
    }  # fmt: skip


def test_an_episode_stands_for_no_line_and_overrules_none(quay: Path) -> None:
    def others() -> list[tuple[str, bool, list[str]]]:
        found = hits(quay, "when does the quay open", filters=Filters(sources=("log", "document")))
        found += [hit for hit in hits(quay, "herring paint crane 08:00") if hit.kind != "episode"]
        return sorted((f"{hit.path}:{hit.lines}", bool(hit.overruled), places(hit.evidence)) for hit in found)

    beside = others()
    assert any(overruled for _, overruled, _ in beside)
    (quay / PAGE).unlink()
    assert others() == beside


@pytest.mark.parametrize("query", ["what did we do on 1 March", "2026-03-01", "and on Mar 1, 2026?"])
def test_who_asks_of_a_day_alone_is_told_its_episode(quay: Path, query: str) -> None:
    assert hits(quay, query)[0].lines == "5-6"
    assert [hit.kind for hit in hits(quay, "and in March 2026?")][:3] == ["episode", "episode", "document"]
    assert hits(quay, f"herring {query}")[0].kind == "log"
    assert "episode" not in {hit.kind for hit in hits(quay, query, filters=Filters(sources=("log",)))}
