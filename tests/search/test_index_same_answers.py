"""Whatever happened to the files and to the processes that index them, the index answers as one that was built anew."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from benchmarks.searching import search
from pipelines.search.build import freshen, rebuild_index, update_index
from pipelines.search.embed import embed_index
from pipelines.search.filters import Filters
from pipelines.search.hits import Hit
from pipelines.search.query import SearchRequest
from pipelines.store.generated import Sentence
from pipelines.store.item import Evidence, Item, ItemType, Status, quote_digest
from tests.making import plant, stated, told
from tests.search.bag import Bag
from tests.search.dying import POINTS, dying

DOCUMENTS = ("Projects/p.md", "Areas/a.md", "Archives/old.md")
EPISODES = "Episodes/2026-01.md"
NAMES = ("Logs/2026-01-01.md", "Logs/2026-01-02.md", EPISODES, *DOCUMENTS)
RED = "- Fact: apples are red"
TOLD = Sentence("Learnt: apples are red.", ("k3c02d9e443", "k4c02d9e444"), lines="5")
LINES = (
    *(
        "- apples on the boat",
        "- pears #fruit",
        "",
        "# Heading",
        RED,
        "we ate plums",
        "**Ann:** plums?",
    ),
    *("project: p", "- 東京でりんごを食べた", "- a cheerful physician"),
    *("## 2026-01-01", "## 2026-01-02", told(TOLD), told(TOLD).replace("red.", "ripe."), "Learnt: pears."),
)
ENDED: dict[str, Any] = {"status": Status.ENDED, "until": "2026-01-20"}
RESTS = tuple(Evidence(path, 5, 5, quote_digest(RED)) for path in NAMES[:2])
ITEMS = (
    "- Decision: Sail north. <!-- k7f3a9c2b10 since=2026-02-01 trust=self confidence=medium -->",
    "- ~~Decision: Sail south.~~ <!-- k1c02d9e441 since=2026-01-01 until=2026-02-01 superseded-by=k7f3a9c2b10 -->",
    "- [ ] Todo: Buy red apples for the vessel. <!-- k55b01aa07c since=2026-01-15 trust=owner confidence=high -->",
    "- ~~Fact: Pears are blue.~~ <!-- k2c02d9e442 since=2026-01-01 -->",
    *(
        stated(Item(ItemType.FACT, text, id=ident, since="2026-01-01", by="rules@1", evidence=RESTS, **more))
        for ident, text, more in (
            ("k3c02d9e443", "Apples are red.", {}),
            ("k4c02d9e444", "Ripe apples.", ENDED),
        )
    ),
)
QUERIES = (
    "apples",
    "pears plums",
    "type:fact red",
    "#fruit",
    "2 January 2026",
    "heading ann",
    "りんご",
    "k1c02d9e441 sail",
)
MEANT = ("ship", "glad doctor", "sail red apples")
FILTERS = (
    *(Filters(as_of=day) for day in ("2025-12-31", "2026-01-20", "2026-02-01")),
    *(
        Filters(project="p"),
        *(Filters(sources=(one,)) for one in ("document", "episode")),
        Filters(before="2026-01-15"),
    ),
)


def answers(root: Path, bag: Bag) -> list[list[Hit]]:
    """Return what is found, in which order and with which scores: by words, narrowed down, and by meaning."""
    pairs = [(query, SearchRequest()) for query in QUERIES]
    pairs += [("sail red apples", SearchRequest(filters=filters)) for filters in FILTERS]
    for query in MEANT:
        asked = SearchRequest(vector=bag.embed_query(query), embedder=bag.name)
        pairs += [(query, asked), (query, SearchRequest(filters=FILTERS[1], vector=asked.vector, embedder=bag.name))]
    return [search(root, query, 50, (), asked) for query, asked in pairs]


@pytest.mark.parametrize(
    ("module", "name", "work"), [(*one, (update_index, rebuild_index)[at % 2]) for at, one in enumerate(POINTS)]
)
def test_killed_at_each_point(tmp_path: Path, module: ModuleType, name: str, work: Callable[[Path], object]) -> None:
    root, fresh, bag = tmp_path / "memory", tmp_path / "fresh", Bag()
    for folder in ("Logs", "Projects"):
        (root / folder).mkdir(parents=True)
    for log, lines in ((NAMES[0], LINES), (NAMES[1], LINES[:3])):
        plant(root, log, "\n".join(lines))
    update_index(root)
    embed_index(root, bag)
    plant(root, NAMES[0], "\n".join(LINES[4:]))
    (root / NAMES[1]).unlink()
    plant(root, DOCUMENTS[0], "\n".join(ITEMS))
    with dying(root, module, name, 0) as fired:
        work(root)
        embed_index(root, bag)
    never = {(update_index, "remove_database"), (rebuild_index, "take_out")}
    assert fired or (work, name) in never
    shutil.copytree(root, fresh, ignore=shutil.ignore_patterns(".curate"))
    freshen(root)
    for one in (root, fresh):
        update_index(one)
        embed_index(one, bag)
    assert answers(root, bag) == answers(fresh, bag)


class Life(RuleBasedStateMachine):
    """Files come, change and go; updates and rebuilds run to their end, or are killed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root, self.fresh = self.folder / "memory", self.folder / "fresh"
        self.bag = Bag()
        for name in ("Logs", "Projects", "Areas", "Archives", "Episodes"):
            (self.root / name).mkdir(parents=True)

    @initialize(lines=st.lists(st.sampled_from(LINES), min_size=2, max_size=8))
    def begin(self, lines: list[str]) -> None:
        plant(self.root, NAMES[0], "\n".join(lines))
        plant(self.root, EPISODES, "\n".join(("# January 2026", "", *LINES[-5:])))
        plant(self.root, DOCUMENTS[0], "\n".join(("---", "title: Alpha", "---", *ITEMS)))
        self.index()

    @rule(name=st.sampled_from(NAMES), lines=st.lists(st.sampled_from(LINES + ITEMS), max_size=12))
    def write(self, name: str, lines: list[str]) -> None:
        plant(self.root, name, "\n".join(lines))

    @rule(name=st.sampled_from(NAMES), line=st.sampled_from(LINES))
    def append(self, name: str, line: str) -> None:
        with (self.root / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}")

    @rule(name=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            (self.root / name).rename(self.root / other)

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(item=st.sampled_from(ITEMS), other=st.sampled_from(DOCUMENTS))
    def move_item(self, item: str, other: str) -> None:
        for path in (self.root / name for name in DOCUMENTS):
            if path.exists() and item in (lines := path.read_text("utf-8").split("\n")):
                lines.remove(item)
                path.write_text("\n".join(lines), "utf-8")
                self.append(other, item)
                return

    @rule()
    def index(self) -> None:
        update_index(self.root)
        embed_index(self.root, self.bag)

    @rule()
    def rebuild(self) -> None:
        rebuild_index(self.root)

    @rule(point=st.sampled_from(POINTS), calls=st.integers(0, 3), full=st.booleans())
    def kill(self, point: tuple[ModuleType, str], calls: int, full: bool) -> None:  # noqa: FBT001  drawn
        with dying(self.root, *point, calls):
            (rebuild_index if full else update_index)(self.root)
            embed_index(self.root, self.bag)

    @invariant()
    def same_answers(self) -> None:
        shutil.rmtree(self.fresh, ignore_errors=True)
        shutil.copytree(self.root, self.fresh, ignore=shutil.ignore_patterns(".curate"))
        assert freshen(self.root).stale == set()
        embed_index(self.root, self.bag)
        rebuild_index(self.fresh)
        embed_index(self.fresh, self.bag)
        assert answers(self.root, self.bag) == answers(self.fresh, self.bag)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=settings().max_examples // 20, stateful_step_count=5)
