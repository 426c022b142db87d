"""Notes that people already have become a memory, and stay as they were."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory
from tests.contract.story import found, held, items, log, start

NOW = ("--now", "2026-03-12T12:00")


def lay(folder: Path, notes: dict[str, str]) -> Path:
    """Write notes as their owner has them."""
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.fixture
def copied(memory: Memory, tmp_path: Path) -> Callable[..., Memory]:
    """Return what copies notes into a new memory and curates them."""

    def adopt(notes: dict[str, str], *more: str) -> Memory:
        old, new = lay(tmp_path / "old", notes), memory.aside(tmp_path / "new")
        assert run_cli(["init", str(new.root), "--adopt", str(old), "--yes", *more, *NOW]) == 0
        assert {path: (old / path).read_text() for path in notes} == notes
        new.night("2026-03-13T02:00")
        return new

    return adopt


@pytest.fixture
def in_place(memory: Memory, tmp_path: Path) -> Callable[..., Memory]:
    """Return what makes notes a memory where they are, and curates them."""

    def adopt(notes: dict[str, str], *more: str) -> Memory:
        vault = memory.aside(lay(tmp_path / "vault", notes))
        words = ["init", "--adopt", str(vault.root), "--in-place", "--yes", *more, *NOW]
        assert run_cli(words) == 0
        kept = memory.aside(vault.root / "Curated")
        kept.night("2026-03-13T02:00")
        return kept

    return adopt


VAULT = {
    ".obsidian/app.json": "{}",
    "Daily/2026-03-10.md": "# Tuesday\n\n- Decision: Use brass for the hinge.\n- walked the dog\n",
    "Daily/2026-03-11.md": "- [ ] Call Odile\n- Fact: The gate weighs 40 kg.\n",
    "People/Odile.md": "# Odile\n\nShe prefers calls before noon. #people\n",
    "Ideas.md": "A lighthouse that tweets. See [[People/Odile]].\r\n",
    ".obsidian/daily-notes.json": '{"folder": "Daily", "format": "YYYY-MM-DD"}',
}


def test_a_vault_is_a_memory_where_it_is_and_no_note_changes(in_place: Callable[..., Memory]) -> None:
    vault = in_place(VAULT)
    assert {"Use brass for the hinge.", "The gate weighs 40 kg."} <= held(vault)
    assert {path: vault.read(f"../{path}") for path in VAULT} == VAULT


def test_all_notes_of_a_vault_are_found(in_place: Callable[..., Memory]) -> None:
    vault = in_place(VAULT)
    assert found(vault, "lighthouse tweets")[0]["path"] == "../Ideas.md"
    assert found(vault, "calls before noon")[0]["path"] == "../People/Odile.md"


def test_a_vault_goes_on_as_a_memory(in_place: Callable[..., Memory]) -> None:
    vault = in_place(VAULT)
    vault.curate("log", "Fact: The kettle is new.", "--now", "2026-03-13T10:00")
    vault.night("2026-03-14T02:00")
    assert "The kettle is new." in held(vault)
    assert "The kettle is new." in start(vault, "2026-03-14T08:00") + str(found(vault, "kettle"))


def test_a_vault_in_git_keeps_its_history_and_what_it_ignores(memory: Memory, tmp_path: Path) -> None:
    vault = memory.aside(
        lay(tmp_path / "vault", {**VAULT, ".gitignore": "private/\n", "private/x.md": "- Fact: Mine.\n"})
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "First"]):
        vault.git(*words)
    assert run_cli(["init", "--adopt", str(vault.root), "--in-place", "--yes", *NOW]) == 0
    vault.night("2026-03-13T02:00")
    assert vault.git("log", "--format=%s") == "First\n"
    assert vault.git("status", "--short") == "?? curate-notes.toml\n"


def test_an_openclaw_workspace_is_taken_in(copied: Callable[..., Memory]) -> None:
    notes = {
        "AGENTS.md": "# Agents\n\nBe kind.\n", "SOUL.md": "# Soul\n\nSalty.\n", "USER.md": "# User\n\nAda.\n",
        "MEMORY.md": "# Memory\n\n- Fact: The boat is called Pelican.\n",
        "memory/2026-03-10.md": "# 2026-03-10\n\n- Decision: Paint the hull red.\n",
    }  # fmt: skip
    new = copied(notes)
    assert "Paint the hull red." in held(new)
    assert "Pelican" in start(new, "2026-03-13T08:00") + str(found(new, "boat called"))
    assert "Salty." in start(new, "2026-03-13T08:00")


def test_a_claude_code_memory_is_taken_in(copied: Callable[..., Memory]) -> None:
    notes = {
        "MEMORY.md": "# Index\n\n- [Testing](testing.md)\n",
        "testing.md": "---\nname: Testing\ndescription: how to test\ntype: project\n---\n\nRun `make test`.\n",
    }
    new = copied(notes, "--as", "claude-code")
    assert any("make test" in hit["text"] for hit in found(new, "how to run the tests"))


def test_basic_memory_notes_are_taken_in(copied: Callable[..., Memory]) -> None:
    note = "---\ntitle: Coffee\npermalink: coffee\n---\n# Coffee\n\n## Observations\n- [method] Pour over #brewing\n"
    new = copied({"Coffee.md": note}, "--as", "obsidian")
    assert any("Pour over" in hit["text"] for hit in found(new, "pour over brewing"))


@pytest.mark.parametrize(
    ("path", "day"),
    [("2026/03/2026-03-10.md", "2026-03-10"), ("Journal/Days/2026-03-10.md", "2026-03-10")],
)
def test_daily_notes_are_days_wherever_they_are(in_place: Callable[..., Memory], path: str, day: str) -> None:
    vault = in_place({".obsidian/app.json": "{}", path: "- Decision: Use brass.\n"})
    assert items(vault)["Use brass."]["since"] == day


def test_what_a_query_was_answered_is_nobodys_word(in_place: Callable[..., Memory]) -> None:
    """As Dataview Publisher writes the answers below its queries."""
    query, end = "%% DATAVIEW_PUBLISHER: start\n```dataview\nTABLE\n```\n%%", "%% DATAVIEW_PUBLISHER: end %%"
    region = f"{query}\n| [[Kiln]] | March |\n{end}\n"
    vault = in_place(
        {".obsidian/app.json": "{}", "2026-03-10.md": f"{region}\n- Decision: Use brass.\n- The sun shone.\n"}
    )
    told = start(vault, "2026-03-11T08:00")
    assert "The sun shone." in told
    assert "Kiln" not in told
    assert [one["text"] for one in items(vault).values()] == ["Use brass."]


GRAPH = {
    "logseq/config.edn": '{:meta/version 1\n ;; :journal/file-name-format "dd"\n}',
    "logseq/bak/journals/2026_03_09/a.md": "- TODO be an old copy\n",
    "journals/2026_03_10.md": "- TODO call Eve\n  id:: 65f0\n- LATER order bricks\n- LATER [#A] read 10 pages\n"
    "  DEADLINE: <2026-03-28 Sat>\n- NOW write to the council\n- TODO sweep\n",
    "journals/2026_03_11.md": "- DONE call Eve\n- CANCELED write to the council\n- DONE read 10 pages\n"
    "- {{query (todo LATER)}}\n- query-table:: false\n  #+BEGIN_QUERY\n  {:query (task NOW)}\n\n  #+END_QUERY\n"
    "- DONE sweep\n- NOW sweep\n",
    "journals/2026_03_12.md": "# Guild\n\t- TODO  [#B] book the hall\n\t  ---\n\t- spoke with Ann\n\t\t- TODO ask Jim\n"
    "- ### TODO [#A] **Tim** prepare the fair\n  DEADLINE: <2026-03-20 Fri>\n\t- Decision:\n\t\t- Tents are rented.\n"
    "\t\t\t- from Bode\n\t- the weather was fine\n",
    "pages/Kiln.md": "- It burns gas.\n",
}


@pytest.mark.parametrize("way", ["copied", "in_place"])
def test_a_graph_of_logseq_is_taken_in(way: str, request: pytest.FixtureRequest) -> None:
    """As Logseq documents it: days in journals, keywords for tasks, properties below a block, backups aside."""
    graph = request.getfixturevalue(way)(GRAPH)
    states = {text: (one["type"], one["status"]) for text, one in items(graph).items()}
    assert states == {
        "call Eve": ("Todo", "done"), "order bricks": ("Todo", "open"), "write to the council": ("Todo", "dropped"),
        "read 10 pages": ("Todo", "done"), "sweep": ("Todo", "open"), "book the hall": ("Todo", "open"),
        "ask Jim": ("Todo", "open"), "Tim prepare the fair": ("Todo", "open"),
        "Tents are rented.": ("Decision", "live"),
    }  # fmt: skip
    assert items(graph)["read 10 pages"]["due"] == "2026-03-28"
    assert items(graph)["Tim prepare the fair"]["due"] == "2026-03-20"
    assert found(graph, "burns gas")
    assert "quer" not in start(graph, "2026-03-12T08:00")
    assert not any("quer" in one["text"].casefold() for one in found(graph, "query of a task"))


def test_a_secret_of_a_note_is_named_and_its_day_is_read(in_place: Callable[..., Memory]) -> None:
    vault = in_place({".obsidian/app.json": "{}", "2026-03-10.md": "- Use brass.\n- password: hunter2Xy9!kk\n"})
    assert vault.json("status", "--now", "2026-03-13T08:00")["days_waiting"] == []
    assert "../2026-03-10.md:2: password" in vault.curate("secrets", exits=1)


def test_a_second_adoption_and_a_second_init_change_nothing(in_place: Callable[..., Memory]) -> None:
    vault = in_place(VAULT)
    before = vault.files()
    assert run_cli(["init", str(vault.root.parent), *NOW]) == 0
    vault.night("2026-03-13T03:00")
    assert vault.files() == before


def test_odd_bytes_of_a_log_are_read_or_named(memory: Memory) -> None:
    (memory.root / "Logs").mkdir(exist_ok=True)
    (memory.root / "Logs/2026-03-10.md").write_bytes("- Fact: The café opens at 9.\r\n".encode("utf-16"))
    (memory.root / "Logs/2026-03-11.md").write_bytes(b"- Fact: The kettle is new.\r- Fact: It rains.\r")
    said = memory.night("2026-03-12T02:00", exits=1)
    assert held(memory) == {"The kettle is new.", "It rains."}
    assert "Logs/2026-03-10.md" in said


def test_a_night_reads_logs_that_other_programs_write_beside(memory: Memory) -> None:
    log(memory, "2026-03-10", "Fact: The kettle is new.")
    memory.write("Logs/partial/2026-03-10-phone.md", "- Todo: Call Ben\n")
    memory.night("2026-03-11T02:00")
    assert held(memory) == {"The kettle is new.", "Call Ben"}
