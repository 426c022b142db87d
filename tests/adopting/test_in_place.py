"""`curate init --adopt --in-place`: notes are a memory where they lie, and not one byte of a person's is rewritten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from pipelines import Memory as Embedded
from pipelines.commands import adopting_in_place, run_command
from pipelines.errors import UsageFault
from tests.adopting.dying import STEPS
from tests.adopting.samples import basic_memory, claude_code, fingerprint, lay, obsidian, openclaw
from tests.conftest import Memory
from tests.planting import Planter

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = f"ghp_{Planter(7).of('abcdefghij', 36)}"
STATUS = ["status", "--now", "2026-03-02T03:00"]
TURNS = (
    '{"role": "user", "content": "Decision: The gate is painted white.", "timestamp": "2026-03-04T09:00:00+00:00"}\n'
    '{"role": "assistant", "content": "Noted.", "timestamp": "2026-03-04T09:01:00+00:00"}\n'
)


def vault(root: Path) -> Path:
    """Return a vault with a person's own PARA folders, and all that a memory has under other names."""
    return lay(
        root,
        {
            ".obsidian/daily-notes.json": json.dumps({"folder": "Daily"}),
            ".obsidian/templates.json": json.dumps({"folder": "Templates"}),
            "Templates/Day.md": "- Todo: {{title}}\n",
            "Daily/2026-02-03.md": "# Tuesday\r\n\r\n- Decision: The choir sings Tallis in May.\r\n",
            "Daily/2026-02-04.md": "- Todo: [project: Spring concert] book the mill for the rehearsal",
            "Projects/Spring concert.md": (
                "---\ntitle: Spring concert\nmood: bright\n---\n# Spring concert\n\n- Fact: The mill seats 80 people.\n"
                "- a plain line\n"
            ),
            "Ideas/Map.md": "# Map\n\n- Fact: A purple lighthouse stands there.\n",
            "MEMORY.md": "# Memory\n\n- Fact: The choir has 40 voices.\n",
            "Logs/2026-02-05.md": "a log of something else\n",
        },
    )


class Place:
    """A folder that is adopted where it lies."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys

    def adopt(self, *arguments: str, exits: int = 0) -> str:
        self._capsys.readouterr()
        told = ["init", "--adopt", str(self.root), "--in-place", "--now", "2026-02-28T12:00", *arguments]
        code = run_command(told)
        said = self._capsys.readouterr()
        assert code == exits, said.out + said.err
        return said.out + said.err

    @property
    def mine(self) -> Memory:
        return Memory(self.root, self._capsys)

    def below(self, folder: str) -> Place:
        return Place(self.root / folder, self._capsys)

    def init(self) -> str:
        self._capsys.readouterr()
        assert run_command(["init", str(self.root)]) == 0
        return self._capsys.readouterr().out

    @property
    def memory(self) -> Memory:
        inner = self.root / "memory"
        return Memory(inner if (inner / "curate.toml").exists() else self.root, self._capsys)


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path / "notes", capsys)


def theirs(root: Path) -> dict[str, tuple[str, int, int]]:
    """Return the fingerprints of a person's files: folders change when something new comes into them."""
    return {path: told for path, told in fingerprint(root).items() if not (root / path).is_dir()}


def changed(root: Path, before: dict[str, tuple[str, int, int]]) -> list[str]:
    """Return which of a person's files are not as they were, in any byte or time."""
    now = theirs(root)
    return [path for path, told in before.items() if now.get(path) != told]


_KINDS = [
    pytest.param(openclaw, "stakes", "memory/2026-02-02.md", id="openclaw"),
    pytest.param(claude_code, "quayside", "feedback_tests.md", id="claude-code", marks=pytest.mark.torture),
    pytest.param(vault, "lighthouse", "Ideas/Map.md", id="obsidian"),
    pytest.param(basic_memory, "meadow", "bees/South meadow.md", id="basic-memory", marks=pytest.mark.torture),
]


@pytest.mark.parametrize(("make", "word", "found_in"), _KINDS)
def test_a_persons_files_are_byte_for_byte_the_same_whatever_is_done(
    place: Place, tmp_path: Path, make: Callable[[Path], Path], word: str, found_in: str
) -> None:
    before = theirs(make(place.root))
    assert "is a memory now" in place.adopt("--yes")
    memory = place.memory
    for night in (1, 2, 3):
        memory.curate("log", f"Decision: Gate {night} is painted green.", "--now", f"2026-03-0{night}T10:00")
        memory.curate("run", "--now", f"2026-03-0{night + 1}T02:00")
    assert "Nothing new" in memory.curate("run", "--now", "2026-03-04T03:00")
    memory.curate("add", "fact", "The", "gate", "is", "of", "oak.", "--now", "2026-03-04T08:00")
    (tmp_path / "session.jsonl").write_text(TURNS)
    memory.curate("capture", str(tmp_path / "session.jsonl"), "--now", "2026-03-04T10:00")
    memory.curate("run", "--now", "2026-03-05T02:00")
    assert "taken back" in memory.curate("undo", "--now", "2026-03-05T03:00")
    assert found_in in memory.curate("search", word)
    assert "Everything is accounted for" in memory.curate("check")
    assert "Gate 3" in memory.curate("context", "--now", "2026-03-03T12:00")
    assert changed(place.root, before) == []
    assert memory.git("diff", "--stat", "--", ":!Curated") == ""


@pytest.mark.parametrize(("make", "word", "found_in"), _KINDS)
def test_people_are_shown_the_names_on_the_disk(
    place: Place, make: Callable[[Path], Path], word: str, found_in: str
) -> None:
    del word, found_in
    make(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("log", "Decision: The gate is painted green.", "--now", "2026-03-01T10:00")
    said = memory.curate("run", "--now", "2026-03-02T02:00", "--dry-run") + memory.curate(
        "run", "--now", "2026-03-02T02:00", "--json"
    )
    said += "".join(memory.curate(*words) for words in (["items"], ["runs"], ["search", "gate"], STATUS))
    items = json.loads(memory.curate("items", "--json"))
    paths = {one["path"] for item in items for one in item["evidence"]} | {item["document"] for item in items}
    assert all((memory.root / path).is_file() for path in paths)
    assert all(evidence["quote"] for item in items for evidence in item["evidence"])
    assert '"Areas/general.md"' not in said
    assert "\tAreas/" not in said
    assert "Notes/" not in said
    for link in _links(memory.read("Curated/MEMORY.md")):
        assert (memory.root / "Curated" / unquote(link)).is_file()


def _links(text: str) -> list[str]:
    return [part.partition(")")[0] for part in text.split("](")[1:]]


# ---------------------------------------------------------------- what is opted in


def test_only_the_lines_that_are_meant_get_comments(place: Place) -> None:
    before = theirs(vault(place.root))
    page, briefing = "Projects/Spring concert.md", "MEMORY.md"
    was = {path: (place.root / path).read_bytes() for path in (page, briefing)}
    place.adopt("--yes", "--opt-in", "Projects/*.md", "--opt-in", "MEMORY.md")
    memory = place.memory
    memory.write("Daily/2026-02-04.md", "- Fact: a heading\n")
    memory.curate("run", "--now", "2026-03-01T02:00")
    assert changed(place.root, before) == ["Daily/2026-02-04.md", "MEMORY.md", "Projects/Spring concert.md"]
    now = memory.read(page)
    lines = was[page].decode().splitlines()
    assert [line.partition(" <!-- k")[0] for line in now.splitlines()] == lines
    assert [line for line in now.splitlines() if "<!--" in line] == [now.splitlines()[6]]
    assert memory.read(briefing).startswith("# Memory\n\n- Fact: The choir has 40 voices. <!-- k")
    assert not (place.root / "Curated" / "MEMORY.md").exists()


def test_an_item_is_filed_into_an_opted_in_page_and_a_session_of_that_project_reads_it(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    page = memory.read("Projects/Spring concert.md")
    assert page.startswith("---\ntitle: Spring concert\nmood: bright\n---\n# Spring concert\n")
    assert "Todo: book the mill for the rehearsal <!-- k" in page
    assert "=== The project (Projects/Spring concert.md) ===" in memory.curate("context", "--project", "spring concert")
    memory.curate("undo", "--now", "2026-03-01T03:00")
    assert "book the mill" not in memory.read("Projects/Spring concert.md")
    assert "Everything is accounted for" in memory.curate("check")


def test_without_it_the_page_of_that_name_is_the_runs_own(place: Place) -> None:
    before = theirs(vault(place.root))
    place.adopt("--yes")
    place.memory.curate("run", "--now", "2026-03-01T02:00")
    assert "book the mill" in place.memory.read("Curated/Projects/spring-concert.md")
    assert changed(place.root, before) == []


# ---------------------------------------------------------------- killed


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, marks=[pytest.mark.torture] * (step not in {1, STEPS // 2, STEPS}))
        for step in range(1, STEPS + 1)
    ],
)
def test_killed_while_it_writes_the_next_night_comes_to_the_same(place: Place, tmp_path: Path, step: int) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    before = theirs(place.root)
    other = tmp_path / "undisturbed"
    shutil.copytree(place.root, other)
    undisturbed = place.memory.aside(other)
    undisturbed.curate("run", "--now", "2026-03-01T02:00")
    command = [sys.executable, "-m", "tests.adopting.dying", str(place.root), "2026-03-01T02:00", str(step)]
    ended = subprocess.run(command, check=False, capture_output=True, cwd=Path(__file__).parents[2])
    assert ended.returncode < 0, ended.stdout + ended.stderr
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    mine = {path: data for path, data in memory.files().items() if not path.startswith(".obsidian")}
    assert mine == {path: data for path, data in undisturbed.files().items() if not path.startswith(".obsidian")}
    opened = {"Projects/Spring concert.md"}
    assert [path for path in changed(place.root, before) if not path.startswith((".git", ".curate", "Curated"))] == [
        *opened
    ]
    assert "Everything is accounted for" in memory.curate("check")
    assert memory.git("fsck", "--strict") == ""


def test_those_were_all_its_steps(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    command = [sys.executable, "-m", "tests.adopting.dying", str(place.root), "2026-03-01T02:00", str(STEPS + 1)]
    subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[2])


def test_another_layout_after_a_kill_sends_nothing_into_other_files(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    command = [sys.executable, "-m", "tests.adopting.dying", str(place.root), "2026-03-01T02:00", "2"]
    subprocess.run(command, check=False, capture_output=True, cwd=Path(__file__).parents[2])
    settings = place.memory.read("curate.toml")
    (place.root / "curate.toml").write_text(settings.replace('home = "Curated"', 'home = "Elsewhere"'))
    assert "another [layout]" in place.memory.curate("run", "--now", "2026-03-02T02:00", exits=1)
    assert not (place.root / "Elsewhere" / "State" / "progress.jsonl").exists()
    (place.root / "curate.toml").write_text(settings)
    place.memory.curate("run", "--now", "2026-03-02T02:00")
    assert "Everything is accounted for" in place.memory.curate("check")


# ---------------------------------------------------------------- a repository that is there


def test_a_repository_that_is_there_keeps_its_history_its_staged_changes_and_its_hooks(place: Place) -> None:
    vault(place.root)
    mine = place.mine
    for words in (
        ("init", "-q", "-b", "trunk"),
        ("config", "user.name", "Mara"),
        ("config", "user.email", "mara@example.org"),
        ("add", "Ideas/Map.md"),
        ("commit", "-qm", "The map"),
    ):
        mine.git(*words)
    head = mine.git("rev-parse", "HEAD")
    mine.write("Ideas/Map.md", "# Map\n\nstaged\n")
    mine.git("add", "Ideas/Map.md")
    staged = mine.git("diff", "--cached")
    hook = place.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    assert "there" in place.adopt("--yes")
    place.memory.curate("run", "--now", "2026-03-01T02:00")
    assert mine.git("rev-list", "--max-parents=0", "HEAD") == head
    assert mine.git("symbolic-ref", "HEAD").strip() == "refs/heads/trunk"
    assert mine.git("diff", "--cached") == staged
    assert hook.read_text().startswith("#!/bin/sh\ntouch ran")
    assert not (place.root / "ran").exists()
    assert not (place.root / ".gitignore").exists()
    held = set(mine.git("ls-tree", "-r", "--name-only", "HEAD").split("\n"))
    assert held >= {"Daily/2026-02-03.md", "curate.toml", "Curated/State/progress.jsonl"}
    assert "MEMORY.md" not in held
    assert not any(path.startswith((".curate", "Templates", "Curated/Sessions")) for path in held)
    assert ".curate" not in mine.git("status", "--short")


def test_a_folder_inside_a_repository_is_adopted_with_its_place_in_it(place: Place) -> None:
    vault(place.root / "notes")
    (place.root / "other.md").write_text("- Fact: not of this memory\n")
    outer = place.mine
    outer.git("init", "-q")
    inner = place.below("notes")
    inner.adopt("--yes", "--opt-in", "Projects/*.md")
    inner.memory.curate("run", "--now", "2026-03-01T02:00")
    assert "Everything is accounted for" in inner.memory.curate("check")
    held = outer.git("ls-tree", "-r", "--name-only", "HEAD")
    assert "notes/Curated/State/progress.jsonl" in held
    assert "other.md" not in held
    assert not (inner.root / ".git").exists()
    assert "Nothing is missing" in inner.init()
    assert not (inner.root / ".git").exists()


def test_a_repository_that_ignores_the_settings_is_refused_before_anything_is_written(place: Place) -> None:
    vault(place.root)
    place.mine.git("init", "-q")
    (place.root / ".gitignore").write_text("*\n")
    before = fingerprint(place.root)
    assert "ignores" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


# ---------------------------------------------------------------- asked first


def test_a_repository_that_filters_notes_is_refused_before_anything_is_written(place: Place) -> None:
    vault(place.root)
    place.mine.git("init", "-q")
    (place.root / ".gitattributes").write_text("Daily/** filter=git-crypt\n")
    before = fingerprint(place.root)
    assert "Daily/2026-02-03.md go through the filter git-crypt" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


def test_what_is_private_stays_out_of_a_clone_that_commits_everything(place: Place, tmp_path: Path) -> None:
    vault(place.root)
    place.adopt("--yes")
    (tmp_path / "session.jsonl").write_text(TURNS)
    place.mine.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = place.mine.aside(tmp_path / "clone")
    clone.curate("capture", str(tmp_path / "session.jsonl"), "--now", "2026-03-04T10:00")
    clone.curate("run", "--now", "2026-03-05T02:00")
    clone.git("add", "-A")
    told = clone.git("ls-files")
    assert ".curate" not in told
    assert "Sessions/" not in told
    assert "Daily/2026-03-04.md" in told
    assert (clone.root / "Curated/Sessions/2026-03-04").is_dir()


def test_it_is_shown_first_and_nothing_is_written_without_consent(place: Place) -> None:
    before = fingerprint(vault(place.root))
    told = place.adopt()
    assert "Nothing was written" in told
    assert "Daily/{YYYY}-{MM}-{DD}.md\t2\t" in told
    assert "MEMORY.md is never written: what runs learn goes to Curated/MEMORY.md" in told
    assert "Nothing was written" in place.adopt("--print")
    told_json: dict[str, Any] = json.loads(place.adopt("--json", "--opt-in", "Projects/*.md"))
    assert told_json["written"] is None
    assert told_json["logs"] == ["Daily/2026-02-03.md", "Daily/2026-02-04.md"]
    assert told_json["opted_in"] == ["Projects/Spring concert.md"]
    assert told_json["notes"] == ["Ideas/Map.md", "Logs/2026-02-05.md", "MEMORY.md"]
    assert fingerprint(place.root) == before


def test_somebody_on_a_terminal_is_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    vault(place.root)
    monkeypatch.setattr(adopting_in_place, "_agreed", lambda *_: True)
    assert "is a memory now" in place.adopt()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--home", "Ideas"), "is there already"),
        (("--home", "../out"), "leads out of the memory"),
        (("--opt-in", "/etc/*"), "leads out of the memory"),
        (("--opt-in", ".obsidian/**"), "hidden"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(place: Place, arguments: tuple[str, ...], said: str) -> None:
    before = fingerprint(vault(place.root))
    assert said in place.adopt("--yes", *arguments, exits=2)
    assert fingerprint(place.root) == before


def test_daily_notes_in_words_of_a_language_are_refused_in_place(place: Place) -> None:
    before = fingerprint(obsidian(place.root))
    assert "Copy it instead" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", "--in-place"),
        ("init", "new", "--adopt", "old", "--in-place"),
        ("init", "--adopt", "old", "--opt-in", "*"),
        ("init", "--adopt", "old", "--in-place", "--yes", "--print"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(list(arguments)) == 2
    assert list(tmp_path.iterdir()) == []


def test_twice_is_refused(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    assert "is a memory already" in place.adopt("--yes", exits=2)


# ---------------------------------------------------------------- logs


def test_a_log_line_is_appended_to_the_days_own_note(place: Place) -> None:
    vault(place.root)
    was = (place.root / "Daily/2026-02-04.md").read_bytes()
    place.adopt("--yes")
    place.memory.curate("log", "Ben called", "--now", "2026-02-04T10:00")
    assert (place.root / "Daily/2026-02-04.md").read_bytes() == was + b"\n- 10:00 Ben called\n"
    assert not (place.root / "Logs/2026-02-04.md").exists()


def test_several_notes_of_a_day_are_all_read_and_shown(place: Place) -> None:
    openclaw(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    found = {one["text"]: one["evidence"][0]["path"] for one in json.loads(memory.curate("items", "--json"))}
    assert found["frost on the 9th may kill the buds"] == "memory/2026-02-02-frost.md"
    context = memory.curate("context", "--now", "2026-02-03T12:00")
    assert "order 60 stakes" in context
    assert "frost on the 9th" in context
    memory.write("memory/2026-02-02-frost.md", "- Risk: frost on the 9th may kill the buds\n- Fact: It was mild.\n")
    memory.curate("run", "--now", "2026-03-02T02:00")
    assert "It was mild." in memory.curate("items")
    memory.curate("run", "--again", "2026-02-02", "--now", "2026-03-03T02:00")
    assert memory.curate("items").count("It was mild.") == 1
    assert "no log of 2026-02-20" in memory.curate("run", "--again", "2026-02-20", exits=2)


def test_a_secret_in_a_persons_note_stays_there_and_goes_nowhere_else(place: Place) -> None:
    vault(place.root)
    note = lay(
        place.root, {"Daily/2026-02-06.md": f"- Decision: Deploy with {SECRET}.\n- Fact: <private>x</private>\n"}
    )
    before = theirs(note)
    assert "Daily/2026-02-06.md holds a secret" in place.adopt("--yes")
    memory = place.memory
    for night in ("2026-03-01T02:00", "2026-03-02T02:00"):
        told = memory.curate("run", "--now", night, exits=1)
        assert "Daily/2026-02-06.md holds 1 secret" in told
        assert "Daily/2026-02-06.md has something marked as private" in told
    assert changed(place.root, before) == []
    assert SECRET not in memory.git("log", "--all", "-p")
    assert SECRET not in memory.curate("items") + memory.curate("search", "Deploy") + memory.curate("search", SECRET)
    assert SECRET not in memory.curate("context", "--now", "2026-02-06T12:00")
    assert memory.curate("items").count("Deploy with") == 1
    assert "Daily/2026-02-06.md:1" in memory.curate("check", "--secrets", exits=1)


# ---------------------------------------------------------------- read again


def test_programs_and_agents_read_and_write_by_the_names_on_the_disk(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    embedded = Embedded(place.root)
    assert embedded.read("Daily/2026-02-03.md:3").text == "- Decision: The choir sings Tallis in May."
    assert embedded.read("Logs/2026-02-03.md#L3~2be4638d").path == "Daily/2026-02-03.md"
    assert embedded.read("2026-02-03").path == "Daily/2026-02-03.md"
    assert embedded.read("map").path == "Ideas/Map.md"
    assert embedded.read("general").path == "Curated/Areas/general.md"
    assert embedded.search("lighthouse").hits[0].path == "Ideas/Map.md"
    assert embedded.search("Tallis", sources=["log"]).hits[0].kind == "log"
    assert {held.path for held in embedded.items()} == {
        "Curated/Areas/general.md",
        "Curated/Projects/spring-concert.md",
    }
    written = embedded.log("Ben called")
    assert written.path.startswith("Daily/")
    assert (place.root / written.path).read_text().split("\n")[written.line - 1] == written.text
    for name in ("Templates/Day.md", ".obsidian/daily-notes.json", "../x.md", "curate.toml", ".git/config"):
        with pytest.raises(UsageFault):
            embedded.read(name)


def test_a_night_is_repeated_to_the_same_commit(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    run = json.loads(place.memory.curate("run", "--now", "2026-03-01T02:00", "--json"))["run"]
    assert json.loads(place.memory.curate("replay", run, "--json"))["same"]


def test_the_context_is_answered_from_the_cache_and_says_what_the_settings_say(place: Place) -> None:
    lay(place.root, {"SOUL.md": "# Soul\n\nPim.\n", "USER.md": "# User\n\nOdile.\n"})
    vault(place.root)
    place.adopt("--yes", "--as", "obsidian")
    memory = place.memory
    first = memory.curate("context", "--now", "2026-02-04T12:00")
    os.utime(place.root / "curate.toml", (1_700_000_000, 1_700_000_000))
    memory.curate("run", "--now", "2026-03-01T02:00")
    assert first.index("SOUL.md") < first.index("(USER.md)") < first.index("(Curated/USER.md)")
    assert first.index("(MEMORY.md)") < first.index("(Curated/MEMORY.md)")
    assert "book the mill" in first
    assert "(Daily/2026-02-03.md)" in first


def test_a_hand_written_item_that_goes_from_an_opted_in_page_is_retracted(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    page = memory.read("Projects/Spring concert.md")
    kept = [line for line in page.splitlines(keepends=True) if "seats 80" not in line]
    memory.write("Projects/Spring concert.md", "".join(kept))
    memory.curate("run", "--now", "2026-03-02T02:00")
    assert "seats 80" not in memory.curate("items")
    assert memory.read("Projects/Spring concert.md") == "".join(kept)
    assert "Everything is accounted for" in memory.curate("check")


def test_a_file_that_is_opted_in_later_leaves_no_item_behind_unsaid(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("add", "fact", "The", "gate", "is", "of", "oak.", "--now", "2026-03-01T08:00")
    settings = memory.read("curate.toml")
    (place.root / "curate.toml").write_text(settings.replace("opted_in = []", 'opted_in = ["MEMORY.md"]'))
    told = memory.curate("run", "--now", "2026-03-02T02:00", exits=1)
    assert "Curated/MEMORY.md is not read since MEMORY.md is opted in" in told
    item = next(line for line in memory.read("Curated/MEMORY.md").splitlines(keepends=True) if "of oak" in line)
    memory.write("MEMORY.md", memory.read("MEMORY.md") + item)
    (place.root / "Curated/MEMORY.md").unlink()
    memory.curate("run", "--now", "2026-03-03T02:00")
    assert "The gate is of oak." in memory.curate("items")
    assert "Everything is accounted for" in memory.curate("check")


def test_a_document_is_meant_by_its_name_on_the_disk(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    memory = place.memory
    page = "Projects/Spring concert.md"
    told = memory.curate("add", "fact", "The", "gate", "is", "of", "oak.", "--document", page)
    assert told.endswith(f" in {page}.\n")
    assert "of oak" in memory.curate("items", "--document", page)
    assert "There are: Curated/MEMORY, " in memory.curate("items", "--document", "nothing", exits=2)
    assert "Mended: 1 ids given." in memory.curate("check", "--fix")
    assert "There was nothing to mend" in memory.curate("check", "--fix")


def test_days_in_a_folder_with_a_blank_are_linked_so_that_the_link_leads_there(place: Place) -> None:
    lay(place.root, {".obsidian/app.json": "{}", "Daily notes/2026-02-03.md": "- Decision: Sing Tallis in May.\n"})
    place.adopt("--yes")
    place.memory.curate("run", "--now", "2026-03-01T02:00")
    links = _links(place.memory.read("Curated/MEMORY.md"))
    assert links == ["../Daily%20notes/2026-02-03.md"]
