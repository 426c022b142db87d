"""Forms in which people and their tools write notes: spaces, line ends, due days, states of tasks."""

from typing import Any

import pytest

from tests.conftest import Memory

NIGHT = ("--now", "2026-03-18T02:00")


def items(memory: Memory) -> dict[str, dict[str, Any]]:
    memory.curate("run", *NIGHT)
    return {one["text"]: one for one in memory.json("items")}


def shown_due(memory: Memory, text: str) -> str:
    """Return what the context says on the day of an open item."""
    context = memory.curate("context", "--now", "2026-03-18T09:00")
    [line] = [line for line in context.split("\n") if text in line and " k" in line[:4]]
    return line.rpartition("(")[2].partition(",")[0].rstrip(")")


@pytest.mark.parametrize(
    "line",
    [
        "-\u00a0Decision: {}",
        "*\u00a0**Decision:**\u00a0{}",
        "\ufeff- Decision: {}",
        "\0\0- Decision: {}",
        "x\r- Decision: {}",
    ],
)
def test_a_line_is_its_own_after_any_space_and_any_line_end(memory: Memory, line: str) -> None:
    memory.write("Logs/2026-03-17.md", f"- Something else\n- And more\n{line.format('Oak, not pine.')}\n- last\n")
    assert "Oak, not pine." in items(memory)


@pytest.mark.parametrize(
    "field",
    [
        "📅 2026-03-20", "📅2026-03-20 ⏫", "[due:: 2026-03-20]", "(due:: 2026-03-20)", "➕ 2026-03-01 📅 2026-03-20",
        "@{2026-03-20}", "@due(2026-03-20)", "(@2026-03-20)", "(@2026-03-20 09:00)", "DEADLINE: <2026-03-20 Fri>",
    ],
)  # fmt: skip
def test_a_field_says_when_a_task_of_a_log_is_due_and_leaves_its_words(memory: Memory, field: str) -> None:
    """Fields of Tasks, Dataview, Kanban, TaskPaper, Reminder (HeroBlackInk/ultimate-todoist-sync-for-obsidian#85) and
    Logseq (https://github.com/logseq/logseq/issues/6896)."""
    memory.write("Logs/2026-03-16.md", f"- [ ] Send Odile the price {field} ^a1b2\n")
    assert {*items(memory)} == {"Send Odile the price"}
    assert shown_due(memory, "Odile") == "due 2026-03-20"
    memory.write("Logs/2026-03-17.md", f"- [x] Send Odile the price {field} ✅ 2026-03-17\n")
    assert items(memory)["Send Odile the price"]["status"] == "done"


@pytest.mark.parametrize("field", ["📅 2026-03-20", "[due:: 2026-03-20]", "(due 2026-03-20)"])
def test_a_field_on_a_page_says_when_it_is_due_and_stays(memory: Memory, field: str) -> None:
    page = memory.write("Areas/shop.md", f"# Shop\n\n- [ ] Todo: Send Odile the price {field}\n")
    items(memory)
    assert f"the price {field} ^k" in page.read_text()
    assert "due 2026-03-20" in memory.curate("context", "--now", "2026-03-18T09:00")
    page.write_text(page.read_text().replace(field, field.replace("-20", "-24")))
    items(memory)
    assert "due 2026-03-24" in memory.curate("context", "--now", "2026-03-18T09:00")


def test_states_of_tasks(memory: Memory) -> None:
    rows = "".join(f"- [{box}] Todo: {name}\n" for box, name in zip(" /->!x", "abcdef", strict=True))
    page = memory.write("Areas/shop.md", f"# Shop\n\n{rows}")
    memory.write("Logs/2026-03-17.md", "- [/] g\n- [!] h\n- [>] i\n")
    found = items(memory)
    assert {name: one["status"] for name, one in found.items()} == {
        **dict.fromkeys("abdeghi", "open"), "c": "dropped", "f": "done",
    }  # fmt: skip
    memory.curate("pin", found["b"]["id"])
    assert "- [/] Todo: b ^k" in page.read_text()
    memory.curate("done", found["b"]["id"])
    assert "- [x] Todo: b ^k" in page.read_text()


def test_a_heading_that_only_says_todo_is_no_page_of_that_title(memory: Memory) -> None:
    """As in https://github.com/hugwi/obsidian-vault, where 532 tasks went to the slides that begin with `# TODO`."""
    memory.write("Resources/Slides.md", "# TODO\n\nMove slide 11.\n")
    memory.write("Projects/Choir.md", "# Choir\n")
    memory.write("Logs/2026-03-17.md", "# 🔥 Todo\n\n- [ ] Book the mill\n\n# Choir\n\n- [ ] Print the scores\n")
    found = items(memory)
    assert found["Book the mill"]["document"] == "Areas/general.md"
    assert found["Print the scores"]["document"] == "Projects/Choir.md"


def test_a_word_above_tasks_is_their_heading_and_no_task(memory: Memory) -> None:
    rows = (
        "- [ ] Netlight\n\t- [ ] Write to Vera\n- [ ] Help Leon\n\t- [ ] Send a draft\n- [ ] Groceries\n- [ ] Taxes\n"
    )
    memory.write("Logs/2026-03-17.md", rows)
    assert set(items(memory)) == {"Write to Vera", "Help Leon", "Send a draft", "Groceries", "Taxes"}
