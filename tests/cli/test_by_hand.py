"""The verbs by hand: pin, move and projects: one commit each, people's edits first, taken back by undo."""

from pathlib import Path

import pytest

from tests.asking import ALPHA, ask_contradict, first_night, items, night
from tests.conftest import Memory

FACT, TODO = "The port of the gateway is 8080", "Tell Mara about the gateway"


def ledger_of(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of the ledger, whose rows count their revisions."""
    return {path: data for path, data in files.items() if path.startswith("State/items/")}


def test_what_is_closed_or_waits_cannot_be_pinned(memory: Memory) -> None:
    ask_contradict(memory, str(first_night(memory)[FACT]["id"]))
    night(memory, 13)
    assert "is waiting" in memory.curate("pin", "kaaaaaaaaa1", exits=2)
    assert "waits in Review.md" in memory.curate("move", "kaaaaaaaaa1", "MEMORY", exits=2)
    assert "No item matches “kfff”" in memory.curate("pin", "kfff", exits=2)


def test_move_takes_the_notes_along_and_keeps_the_id(memory: Memory) -> None:
    ident = str(first_night(memory)[FACT]["id"])
    text = memory.read(ALPHA).splitlines(keepends=True)
    at = next(number for number, line in enumerate(text) if FACT in line)
    memory.write(ALPHA, "".join([*text[: at + 1], "  a note of mine\n", *text[at + 1 :]]))
    memory.write("Areas/net.md", "---\ntitle: Net\n---\n# Net\n")
    assert memory.curate("move", ident, "net") == f"{ident} is in Areas/net.md.\n"
    assert f"- Fact: {FACT} ^{ident}" in memory.read("Areas/net.md")
    assert "  a note of mine\n" in memory.read("Areas/net.md")
    assert "a note of mine" not in memory.read(ALPHA)
    assert memory.git("log", "-2", "--format=%s").splitlines() == [
        f"Move {ident} to Areas/net.md",
        "Edits by hand",
    ]
    assert memory.read("Areas/net.md").startswith("---\ntitle: Net\n---\n"), "a run computes nothing into it"
    assert "is in Areas/net.md" in memory.curate("move", ident, "Areas/net.md")
    assert "There is no document nowhere" in memory.curate("move", ident, "nowhere", exits=2)
    memory.curate("undo")
    assert "a note of mine" in memory.read(ALPHA)


def test_a_verb_that_cannot_be_put_back_whole_is_turned_back_item_by_item(memory: Memory) -> None:
    ident = str(first_night(memory)[FACT]["id"])
    memory.curate("pin", ident)
    pin = memory.curate("runs", "--limit", "1").split()[0]
    memory.write("Logs/2026-03-12.md", "project: Alpha\n\n- Fact: The host of the gateway is db1\n")
    night(memory, 13)
    memory.curate("undo", pin)
    assert "pinned" not in memory.row(FACT)
    assert "The host of the gateway is db1" in items(memory)


def test_a_renamed_project_keeps_its_items_and_answers_to_its_old_name(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {text: item["id"] for text, item in first_night(memory).items()}
    links = "[alpha](../Projects/alpha.md#facts) [[alpha]] [[Projects/alpha|it]] [[Alphabet]] `[[alpha]]`\n"
    memory.write("Areas/net.md", f"# Net\n\n{links}")
    ask_contradict(memory, str(before[FACT]))
    night(memory, 13)
    told = memory.curate("project", "rename", "alpha", "Omega One")
    assert told == f"Renamed {ALPHA} to Projects/omega-one.md, titled Omega One.\n"
    assert not (memory.root / ALPHA).exists()
    new = memory.read("Projects/omega-one.md")
    assert "title: Omega One\n" in new
    assert "aliases: [Alpha]\n" in new
    assert "\n# Omega One\n" in new
    net = memory.read("Areas/net.md")
    assert "[alpha](../Projects/omega-one.md#facts) [[omega-one]] [[Projects/omega-one|it]] [[Alphabet]]" in net
    assert "Projects/omega-one.md" in memory.read("MEMORY.md")
    assert "alpha" not in memory.read("MEMORY.md").lower()
    assert memory.row("is 9090")["home"] == "Projects/omega-one.md"
    assert {t: i["id"] for t, i in items(memory).items() if t in before} == before
    memory.write("Logs/2026-03-14.md", "project: Alpha\n\n- Fact: The host of the gateway is db1\n")
    night(memory, 15)
    assert items(memory)["The host of the gateway is db1"]["document"] == "Projects/omega-one.md"
    assert "nothing is broken" in memory.curate("check")
    assert "in Projects/omega-one.md" in memory.curate("add", "Fact", "It hums", "--document", "Alpha")
    (tmp_path / "src/alpha/lib").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "src/alpha/lib")
    assert "in Projects/omega-one.md" in memory.curate("add", "Fact", "It whirs")
    memory.curate("add", "Fact", "My name is Ines Okafor")
    for kind, text, path in (
        ("Fact", "Ines works from Lisbon", "USER.md"), ("Fact", "I work until noon", "USER.md"),
        ("Fact", "We use Postgres", "Projects/omega-one.md"), ("Rule", "Prefer pipes", "Projects/omega-one.md"),
        ("Fact", "The user table is wide", "Projects/omega-one.md"),
    ):  # fmt: skip
        assert f"in {path}" in memory.curate("add", kind, text)
    assert "in Projects/omega-one.md" in memory.curate("add", "Fact", "I live here", "--project", "omega-one")
    memory.curate("log", "It buzzes.", "--now", "2026-03-14T09:00")
    assert "[project: omega-one] It buzzes." in memory.read("Logs/2026-03-14.md")
    assert "=== The project (Projects/omega-one.md) ===" in memory.curate("context")
    assert "Logs/2026-03-14.md" in memory.curate("search", "gateway db1", "--project", "omega one")


def test_a_merged_project_gives_the_other_its_items_names_and_links(memory: Memory) -> None:
    before = {text: item["id"] for text, item in first_night(memory).items()}
    memory.curate("correct", str(before[FACT]), "The port of the gateway is 8081")
    memory.write("Projects/gateway.md", "# Gateway\n")
    memory.write("Areas/net.md", "# Net\n\n[alpha](../Projects/alpha.md) [[alpha]]\n")
    memory.write(ALPHA, memory.read(ALPHA) + "\n## Notes\n\nMara painted the gate.\n")
    told = memory.curate("project", "merge", "Alpha", "Gateway")
    assert "Merged Projects/alpha.md into Projects/gateway.md, with 3 items." in told
    assert "Your other notes on it are in Archives/alpha-notes.md." in told
    assert {one["document"] for one in items(memory).values()} == {"Projects/gateway.md"}
    assert {text: items(memory)[text]["id"] for text in before} == before
    assert items(memory)[FACT]["status"] == "superseded"
    assert not (memory.root / ALPHA).exists()
    assert "Mara painted the gate." in memory.read("Archives/alpha-notes.md")
    assert memory.read("Areas/net.md").endswith("[alpha](../Projects/gateway.md) [[gateway]]\n")
    assert "in Projects/gateway.md" in memory.curate("add", "Fact", "It hums", "--document", "Alpha")
    assert "nothing is broken" in memory.curate("check")
    assert "are the same project" in memory.curate("project", "merge", "Alpha", "Gateway", exits=2)


@pytest.mark.parametrize("words", ["```\nssh gateway\n```", "<!-- ask Mara -->", "## Ideas of Mara"])
def test_whatever_a_person_wrote_on_a_merged_page_stays(memory: Memory, words: str) -> None:
    first_night(memory)
    memory.write("Projects/gateway.md", "# Gateway\n")
    memory.write(ALPHA, memory.read(ALPHA) + f"\n{words}\n")
    memory.curate("project", "merge", "Alpha", "Gateway")
    assert words in memory.read("Archives/alpha-notes.md")


def test_a_name_that_is_taken_or_the_same_renames_nothing(memory: Memory) -> None:
    first_night(memory)
    memory.write("Projects/beta.md", "# Beta\n")
    assert "already has the name" in memory.curate("project", "rename", "Beta", "ALPHA", exits=2)
    assert "is already called Beta" in memory.curate("project", "rename", "Beta", "Beta")
    assert "There is no document Gamma" in memory.curate("project", "rename", "Gamma", "x", exits=2)


def test_closing_asks_about_open_todos_and_undo_opens_again(memory: Memory) -> None:
    first_night(memory)
    before = memory.files()
    told = memory.curate("project", "close", "Alpha", exits=2)
    assert TODO in told
    assert "Give --yes" in told
    assert memory.files() == before
    assert "it is now Archives/alpha.md" in memory.curate("project", "close", "Alpha", "--yes")
    assert {item["status"] for item in items(memory).values()} == {"archived"}
    assert "alpha" not in memory.read("MEMORY.md").lower()
    assert FACT in memory.curate("search", "port of the gateway")
    assert night(memory, 11)["commit"] is None
    memory.curate("undo")
    assert {**memory.files(), **ledger_of(before)} == before


def test_a_private_part_of_an_own_sentence_is_left_out(memory: Memory) -> None:
    memory.curate("add", "Fact", "The door has the code <private>4711</private>, says Ana.")
    item = next(iter(items(memory).values()))
    memory.curate("correct", str(item["id"]), "The door has the code <private>0815</private>, says Ben.")
    whole = "".join(memory.git("log", "-p"))
    assert "has the code [private], says Ben." in whole
    assert "4711" not in whole
    assert "0815" not in whole
