"""What of adopted notes is a log, and what becomes an item: a program's own reports are neither."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.agents.adopt.samples import basic_memory, lay, openclaw
from tests.agents.adopt.test_adopt_command import NIGHT, adoption

if TYPE_CHECKING:
    from tests.agents.adopt.places import Place
    from tests.agents.adopt.test_adopt_command import Adoption
    from tests.conftest import Memory

__all__ = ["adoption"]

REPORT = "# Light Sleep\n\n- Candidate: User: Decision: The gate is red.\n- Decision: We dream of pines.\n"


def texts(memory: Memory) -> set[str]:
    """Return the sentences of all items."""
    return {item["text"] for item in json.loads(memory.curate("items", "--json"))}


def test_reports_of_what_an_agent_dreamt_are_documents_and_no_logs(adoption: Adoption) -> None:
    openclaw(adoption.old)
    block = "<!-- openclaw:dreaming:light:{0} -->"
    day = f"- Todo: oil the shears\n\n## Light Sleep\n{block}\n{REPORT}{block}\n\n- Todo: sweep the shed\n"
    lay(
        adoption.old,
        {
            "memory/dreaming/light/2026-02-01.md": REPORT,
            "memory/dreaming/2026-02-05.md": REPORT,
            "memory/2026-02-03.md": day.replace("{0}", "start", 1).replace("{0}", "end", 1),
            "memory/2026-02-04.md": f"{block.format('start')}\n- Todo: call the sawmill\n",
        },
    )
    adoption.adopt("--yes")
    memory = adoption.memory
    assert memory.read("Resources/dreaming/light/2026-02-01.md").startswith(REPORT.rstrip("\n"))
    assert not (memory.root / "Logs/2026-02-05.md").exists()
    (memory.root / "Resources/dreaming/light/2026-02-01.md").unlink()
    (memory.root / "Resources/dreaming/2026-02-05.md").unlink()
    memory.curate("run", *NIGHT)
    assert {"oil the shears", "sweep the shed", "call the sawmill"} <= texts(memory)
    assert not {one for one in texts(memory) if "pines" in one or "gate" in one}


def test_observations_become_items_and_keep_their_lines(adoption: Adoption) -> None:
    basic_memory(adoption.old)
    lines = (
        "- [idea] Bees like thyme\n- [ ] mend the roof\n- [x] fetch wax\n- [Fact](https://example.org)\n- [fact]: no\n"
    )
    lay(adoption.old, {"bees/Plan.md": f"---\npermalink: bees/plan\n---\n\n{lines}- [todo] Paint it (in spring)\n"})
    lay(adoption.old, {"2026-02-05.md": "---\npermalink: day\n---\n\n- [rule] Never smoke the hive\n"})
    adoption.adopt("--yes")
    memory = adoption.memory
    memory.curate("run", *NIGHT)
    found = {"Oak, not pine #wood", "It floods in March", "Paint it (in spring)", "Never smoke the hive"}
    assert texts(memory) == {*found, "The queen of hive 3 is marked blue."}
    page = memory.read("Resources/bees/Plan.md")
    assert lines in page
    assert "- [todo] Paint it (in spring) <!-- k" in page


def test_nul_costs_neither_a_day_nor_what_is_found(adoption: Adoption) -> None:
    openclaw(adoption.old)
    day = "- Todo: file invoice N8 \0 of Lokeren\n- Decision: The gate is red.\n"
    lay(adoption.old, {"memory/2026-02-03.md": day})
    adoption.adopt("--yes")
    memory = adoption.memory
    assert memory.read("Logs/2026-02-03.md") == day
    memory.curate("run", *NIGHT)
    assert {"file invoice N8 of Lokeren", "The gate is red."} <= texts(memory)
    hits = json.loads(memory.curate("search", "lokeren", "--source", "log", "--json"))["results"]
    assert "of Lokeren" in hits[0]["text"]
    assert "\0" not in hits[0]["text"]
    assert memory.read("Logs/2026-02-03.md") == day


def test_in_place_says_what_is_not_searched_and_how_observations_become_items(place: Place) -> None:
    basic_memory(place.root)
    lay(place.root, {"AGENTS.md": "# Rules\n", "bees/plan.canvas": "{}"})
    told = json.loads(place.adopt("--print", "--json"))
    why = {one["path"]: one["why"] for one in told["left_out"]}
    assert why["AGENTS.md"] == "is not part of the memory, so search does not cover it"
    assert why["bees/plan.canvas"] == "is not a note, a PDF file or an image"
    assert any("--opt-in" in sentence for sentence in told["told"])
    place.adopt("--opt-in", "bees/*.md", "--yes")
    place.mine.curate("run", *NIGHT)
    assert {"Oak, not pine #wood", "It floods in March"} <= texts(place.mine)
    assert "bees/plan.canvas is neither text" in place.mine.curate("index")
