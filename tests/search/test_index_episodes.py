"""Episodes are found, a day at a time, with the lines they rest on; other generated sentences are nobody's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pipelines.api import Memory
from pipelines.search.build import freshen
from pipelines.search.filters import SOURCES, Filters
from pipelines.search.query import SearchRequest, search
from pipelines.store.generated import Sentence
from pipelines.store.item import Evidence, Item, ItemType, Status, Trust, quote_digest, render_item
from pipelines.store.state import Reason, render_tombstones, tombstone

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.hits import Hit

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
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def quay(root: Path) -> Path:
    write(root, FIRST, "# 2026-03-01", "", OPENS, PAINTED, "- 12:00 herring for lunch")
    write(root, LATER, "# 2026-03-05", "", LATE, DONE)
    write(root, "Areas/quay.md", "# Quay", "", *map(render_item, (NEW, CRANE, OLD)))
    days = ("## 2026-03-01", "", *(one.render() for one in TOLD), "", "## 2026-03-05", "")
    write(root, PAGE, "# March 2026", "", *days, *(one.render() for one in TOLD_LATER))
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


def test_a_sentence_that_a_person_changed_and_what_they_added_are_a_part_of_the_day(quay: Path) -> None:
    text = (quay / PAGE).read_text("utf-8").replace("To do: paint", "To do: varnish")
    (quay / PAGE).write_text(text.replace("\n\n## 2026-03-05", "\n\n- It rained.\n\n## 2026-03-05"), "utf-8")
    (found,) = episodes(quay, "varnish")
    assert found.text == "Learnt: The quay opens at 08:00.\nTo do: varnish the crane.\n\n- It rained."
    assert (found.cites, found.trust) == ((OLD.id, CRANE.id), "self")
    write(quay, PAGE, "# March 2026", "", "I copy this by hand.", "", "## 2026-03-01", "", "- Fact: It rained.")
    assert [(one.text, one.date, one.trust, one.item, one.source) for one in episodes(quay, "copy hand rained")] == [
        ("I copy this by hand.", "", "owner", "", ""),
        ("- Fact: It rained.", "2026-03-01", "owner", "", ""),
    ]


def test_below_an_episode_are_the_lines_of_its_day_whatever_became_of_them(quay: Path) -> None:
    first, second = sorted(episodes(quay, "paint the crane"), key=lambda hit: hit.date)
    assert places(first.evidence) == [f"{FIRST}:3", f"{FIRST}:4"]
    assert places(second.evidence) == [f"{LATER}:3", f"{LATER}:4"]
    write(quay, "Areas/quay.md", "# Quay", "", render_item(CRANE))
    gone = render_tombstones([tombstone(OLD, "2026-03-07", Reason.DELETED)])
    (quay / "State").mkdir()
    (quay / "State/tombstones.jsonl").write_bytes(gone)
    (first,) = episodes(quay, "08:00")
    assert places(first.evidence) == [f"{FIRST}:4"]  # what a person rejected is not shown


def test_an_episode_stands_for_no_line_and_overrules_none(quay: Path) -> None:
    def others() -> list[tuple[str, bool, list[str]]]:
        found = hits(quay, "when does the quay open", filters=Filters(sources=("log", "document")))
        found += [hit for hit in hits(quay, "herring paint crane 08:00") if hit.kind != "episode"]
        return sorted((f"{hit.path}:{hit.lines}", bool(hit.overruled), places(hit.evidence)) for hit in found)

    beside = others()
    assert any(overruled for _, overruled, _ in beside)
    (quay / PAGE).unlink()
    assert others() == beside


def test_what_is_believed_comes_before_the_episode_that_retells_it(quay: Path) -> None:
    write(quay, PAGE, "# March 2026", "", "## 2026-03-05", "", *(one.render() for one in TOLD_LATER))
    assert [hit.kind for hit in hits(quay, "crane quay opens paint")][:2] == ["document", "document"]


def test_an_episode_found_by_what_is_overruled_comes_behind_what_holds(quay: Path) -> None:
    order = [(hit.kind, hit.date) for hit in hits(quay, "Learnt: the quay opens at 08:00")]
    assert order.index(("document", "2026-03-05")) < order.index(("episode", "2026-03-01"))
    flat = [(hit.kind, hit.date) for hit in hits(quay, "Learnt: the quay opens at 09:30")]
    assert flat[0] == ("episode", "2026-03-05")  # what holds is ranked as any unit
    before = [(hit.kind, hit.date) for hit in hits(quay, "the quay opens", filters=Filters(as_of="2026-03-04"))]
    assert ("episode", "2026-03-01") in before
    assert ("episode", "2026-03-05") not in before


def test_a_generated_sentence_elsewhere_is_no_hit_and_a_changed_one_is(root: Path) -> None:
    own, changed, fenced = (Sentence(f"Next: {what} the boat.", ("k00000000a1",)) for what in ("tar", "row", "moor"))
    lines = (own.render(), changed.render().replace("row", "sail"), own.render(), "", "```", fenced.render(), "```")
    for path in ("Projects/p.md", "Areas/a.md"):
        write(root, path, "# Boat", "", "## State", "", *lines, "", "## Facts", "", "- The boat leaks.")
    found = hits(root, "boat tar row sail moor leaks")
    assert sorted({hit.text for hit in found}) == [
        "- The boat leaks.", "Next: sail the boat.", f"```\n{fenced.render()}\n```",
    ]  # fmt: skip
    assert {hit.start_line for hit in found if "sail" in hit.text} == {6}


def test_an_episode_says_what_no_longer_holds_of_what_it_tells(quay: Path) -> None:
    freshen(quay)
    found = {hit.date: hit for hit in hits(quay, "quay opens") if hit.path == PAGE}
    (over,) = found["2026-03-01"].over_since
    assert str(over) == "superseded on 2026-03-05 by k00000000b2: Fact: The quay opens at 09:30."
    assert found["2026-03-01"].to_json()["over_since"] == [
        {"by": "k00000000b2", "why": "superseded", "since": "2026-03-05"}
    ]
    assert found["2026-03-05"].over_since == ()
    then = [hit for hit in hits(quay, "quay opens", filters=Filters(as_of="2026-03-04")) if hit.path == PAGE]
    assert [hit.over_since for hit in then] == [()]
