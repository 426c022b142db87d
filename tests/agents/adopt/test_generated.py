"""What of adopted notes is a log, and what becomes an item: a program's own reports are neither."""

from tests.agents.adopt.places import Place
from tests.agents.adopt.samples import basic_memory, lay, openclaw
from tests.agents.adopt.test_adopt_command import NIGHT, Adoption, adoption
from tests.conftest import Memory

__all__ = ["adoption"]

REPORT = "# Light Sleep\n\n- Candidate: User: Decision: The gate is red.\n- Decision: We dream of pines.\n"


def texts(memory: Memory) -> set[str]:
    """Return the sentences of all items."""
    return {item["text"] for item in memory.json("items")}


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
    assert (
        memory.read("Resources/dreaming/light/2026-02-01.md")
        .partition("---\n# ")[2]
        .startswith(REPORT.rstrip("\n")[2:])
    )
    assert not (memory.root / "Logs/2026-02-05.md").exists()
    (memory.root / "Resources/dreaming/light/2026-02-01.md").unlink()
    (memory.root / "Resources/dreaming/2026-02-05.md").unlink()
    memory.curate("run", *NIGHT)
    assert {"oil the shears", "sweep the shed", "call the sawmill"} <= texts(memory)
    assert not {one for one in texts(memory) if "pines" in one or "gate" in one}


def test_observations_become_items_whatever_their_category(adoption: Adoption) -> None:
    basic_memory(adoption.old)
    lines = (
        "- [question] Which wax?\n- [ ] mend the roof\n- [x] fetch wax\n- [Fact](https://example.org)\n- [fact]: no\n"
    )
    noted = f"- [idea] Bees like thyme\n{lines}- [todo] Paint it (in spring)\n"
    lay(adoption.old, {"bees/Plan.md": f"---\npermalink: bees/plan\n---\n\n{noted}"})
    lay(adoption.old, {"2026-02-05.md": "---\npermalink: day\n---\n\n- [rule] Never smoke the hive\n"})
    adoption.adopt("--yes")
    memory = adoption.memory
    memory.curate("run", *NIGHT)
    found = {"Oak, not pine #wood", "It floods in March", "Paint it (in spring)", "Never smoke the hive"}
    assert texts(memory) == {*found, "The queen of hive 3 is marked blue.", "idea: Bees like thyme"}
    page = memory.read("Resources/bees/Plan.md")
    assert lines in page
    assert "- Todo: Paint it (in spring) ^k" in page


def test_what_dreaming_promoted_is_an_item_once_it_was_recalled(adoption: Adoption) -> None:
    openclaw(adoption.old)
    score = "[score=0.812 recalls={} avg=0.620 source=memory/2026-02-01.md:6-9]"
    mark = "<!-- openclaw-memory-promotion:memory:memory/2026-02-01.md:6:9 -->\n"
    promoted = [
        f"- The pump is behind the oak. {score.format(3)}",
        f"- Odile asked about moss. {score.format(0)}",
        f"- Decision: No peat. {score.format(0)}",
        f"- **Files changed:** {score.format(4)}",
    ]
    text = "# Memory\n\n## Promoted From Short-Term Memory (2026-02-03)\n\n"
    lay(adoption.old, {"MEMORY.md": text + "".join(f"{mark}{one}\n" for one in promoted)})
    adoption.adopt("--yes")
    assert {"The pump is behind the oak.", "No peat."} == texts(adoption.memory) & {
        "The pump is behind the oak.", "No peat.", "Odile asked about moss.", "**Files changed:**", "Files changed:",
    }  # fmt: skip
    assert "score=" not in adoption.memory.read("MEMORY.md")
    assert "- Odile asked about moss.\n" in adoption.memory.read("MEMORY.md")


NOTES = {
    "memory/feedback_mocks.md": (
        "---\nname: No mocks\ntype: feedback\n---\n\n# Tests\n\nTests use a real\ndatabase.\n\n**Why:** x"
    ),
    "memory/user_odile.md": "---\nname: Odile\nmetadata:\n  type: user\n---\nOdile grows apples.\n- And pears.\n",
    "memory/project_frost.md": "---\nname: Frost watch\ntype: project\n---\nFrost comes on 2026-03-05.\n",
}


def said(memory: Memory) -> dict[str, tuple[str, str]]:
    """Return type and trust of each item by its text."""
    return {one["text"]: (one["type"], one["trust"]) for one in memory.json("items")}


def test_a_note_of_feedback_is_a_rule_and_one_of_the_user_a_fact_of_the_user(adoption: Adoption) -> None:
    lay(adoption.old, {"0.jsonl": '{"type":"user"}\n', "memory/MEMORY.md": "- [x](feedback_mocks.md)\n", **NOTES})
    adoption.adopt("--yes")
    memory = adoption.memory
    told = {"Tests use a real database.": ("Rule", "self"), "Odile grows apples.": ("Fact", "self")}
    assert said(memory) == told
    assert "- Fact: Odile grows apples. ^k" in memory.read("USER.md")
    assert "- Rule: Tests use a real database. ^k" in memory.read("MEMORY.md")
    assert "Tests use a real" in memory.curate("why", "Tests use a real database.")
    memory.curate("run", *NIGHT)
    assert said(memory) == told
    assert "[Frost watch](Resources/project_frost.md)" in memory.read("MEMORY.md")
    assert "Tests use a real database." in memory.curate("context")


def test_rules_that_the_briefing_has_no_room_for_are_items_elsewhere(adoption: Adoption) -> None:
    rules = {f"memory/feedback_{n}.md": f"---\ntype: feedback\n---\n{n} {'oak ' * 50}\n" for n in range(60)}
    lay(adoption.old, {"0.jsonl": "{}\n", "memory/MEMORY.md": "- index\n", **rules})
    adoption.adopt("--yes")
    assert len(adoption.memory.read("MEMORY.md").encode()) <= 8192
    homes = [item["document"] for item in adoption.memory.json("items")]
    assert sorted({*homes}) == ["Areas/general.md", "MEMORY.md"]
    assert len(homes) == 60


def test_in_place_a_note_of_feedback_stays_as_it_is_and_gives_a_rule(place: Place) -> None:
    lay(place.root, {path.removeprefix("memory/"): text for path, text in NOTES.items()} | {"MEMORY.md": "# M\n"})
    place.adopt("--as", "claude-code", "--yes")
    assert said(place.mine)["Tests use a real database."] == ("Rule", "self")
    assert "Odile grows apples." in place.mine.read("Curated/USER.md")
    assert place.mine.read("feedback_mocks.md") == NOTES["memory/feedback_mocks.md"]


def test_nul_costs_neither_a_day_nor_what_is_found(adoption: Adoption) -> None:
    openclaw(adoption.old)
    day = "- Todo: file invoice N8 \0 of Lokeren\n- Decision: The gate is red.\n"
    lay(adoption.old, {"memory/2026-02-03.md": day})
    adoption.adopt("--yes")
    memory = adoption.memory
    assert memory.read("Logs/2026-02-03.md") == day
    memory.curate("run", *NIGHT)
    assert {"file invoice N8 of Lokeren", "The gate is red."} <= texts(memory)
    hits = memory.json("search", "lokeren", "--source", "log")["results"]
    assert "of Lokeren" in hits[0]["text"]
    assert "\0" not in hits[0]["text"]
    assert memory.read("Logs/2026-02-03.md") == day


def test_in_place_every_note_of_a_workspace_is_searched(place: Place) -> None:
    openclaw(place.root)
    lay(place.root, {"state/now.md": "The ladder is blue.\n", "app/package.json": "{}", "app/a.md": "A ladder.\n"})
    place.adopt("--yes")
    assert [one["path"] for one in place.memory.json("search", "ladder")["results"]] == ["../state/now.md"]


def test_in_place_says_what_is_not_searched(place: Place) -> None:
    basic_memory(place.root)
    lay(place.root, {"AGENTS.md": "# Rules\n", "bees/plan.canvas": "{}"})
    told = " ".join(place.adopt("--print").split())
    assert "AGENTS.md: it is not part of the memory" in told
    assert "bees/plan.canvas: it is no Markdown, text, PDF or image file" in told
