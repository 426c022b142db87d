"""Priority: what it is made of can be said in curate.toml; what is left out keeps its weight."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.settings import Settings, load_settings
from pipelines.store.item import Confidence, Item, ItemType, Trust
from pipelines.store.priority import Weights, priority

if TYPE_CHECKING:
    from tests.conftest import Memory

DAY, LATER = "2026-01-01", "2026-03-02"
DOCS = Path(__file__).parents[2] / "docs" / "memory.md"


def item(kind: ItemType = ItemType.FACT, trust: Trust = Trust.SELF, since: str = DAY) -> Item:
    return Item(kind, "Otto tends the garden", "k1111111111", since=since, trust=trust, confidence=Confidence.HIGH)


def test_the_defaults_of_the_settings_are_those_of_the_priority() -> None:
    assert Settings().priority == Weights()


def test_what_is_said_counts_and_what_is_left_out_stays(memory: Memory) -> None:
    parts = ("[weights]\nfloor = 0.5", "[weights.type]\nfact = 0.1", "[weights.trust]\nself = 1.0")
    memory.write("curate.toml", "\n".join((*parts, "[weights.half_life]\nfact = 60\n")))
    told = load_settings(memory.root).priority
    assert priority(item(), DAY, told) == pytest.approx(0.1)
    assert priority(item(), LATER, told) == pytest.approx(0.05)
    assert priority(item(), "2036-01-01", told) == pytest.approx(0.05)
    assert priority(item(trust=Trust.OWNER), DAY, told) == pytest.approx(0.1)
    assert priority(item(ItemType.RULE), DAY, told) == pytest.approx(1.0)


def test_the_briefing_keeps_what_the_settings_weigh_more(memory: Memory) -> None:
    memory.write("curate.toml", "[caps]\nbriefing = 1024\n[weights.type]\nrule = 0.1\n")
    said = [
        f"- {kind}: We keep the {kind.lower()} {n} of {n * n} crates" for kind in ("Rule", "Fact") for n in range(9)
    ]
    memory.write("Logs/2026-03-11.md", "\n".join(said) + "\n")
    memory.curate("run", "--now", "2026-03-12T02:00")
    kept = memory.read("MEMORY.md")
    assert "- Fact:" in kept
    assert "- Rule:" not in kept


def test_all_faults_are_named_at_once(memory: Memory) -> None:
    parts = ("[weights]\nfloor = 2", "[weights.type]\nrumour = 1.0", "[weights.trust]\nself = -1.0")
    memory.write("curate.toml", "\n".join((*parts, "[weights.half_life]\ntodo = 0\n")))
    told = memory.curate("run", exits=1)
    for key in ("weights.floor", "weights.type.rumour", "weights.trust.self", "weights.half_life.todo"):
        assert key in told


def test_the_page_shows_the_defaults(memory: Memory) -> None:
    shown = re.search(r"```toml\n(\[weights\].*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert shown
    memory.write("curate.toml", shown[1])
    assert load_settings(memory.root).weights.model_dump() == Settings().weights.model_dump()
    assert set(load_settings(memory.root).weights.model_fields_set) == set(type(Settings().weights).model_fields)


def test_a_search_ranks_by_it_where_it_is_asked_to_and_says_so(memory: Memory) -> None:
    for name, text, day in (("1", "two tons", "2020-01-01"), ("2", "six tons", "2026-03-01")):
        comment = f"<!-- k{name}111111111 since={day} trust=self confidence=high by=rules@1 -->"
        memory.write(f"Areas/{name}.md", f"# Area\n\n- Fact: The red crane lifts {text}. {comment}\n")
    assert "priority" not in memory.curate("search", "crane lifts", "--explain")
    memory.write("curate.toml", "[search]\npriority = 0.5\n")
    told = memory.curate("search", "crane lifts", "--explain")
    assert told.index("six tons") < told.index("two tons")
    assert "priority 1.32" in told
