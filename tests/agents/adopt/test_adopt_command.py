"""`curate init --adopt`: memories of other programs become memories, and stay what they are themselves."""

import os
from pathlib import Path
from typing import Any

import pytest

from pipelines.agents import adopt_copy as mapping
from pipelines.agents.adopt_source import notes_in
from pipelines.cli import run_cli
from pipelines.errors import CurateError
from tests.agents.adopt.samples import PNG, claude_code, fingerprint, lay, obsidian, openclaw
from tests.conftest import Memory, curate

NIGHT = ("--now", "2026-03-01T02:00")


class Adoption:
    """A folder that is adopted, and the command line."""

    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.old, self.new, self._capsys = tmp_path / "old", tmp_path / "new", capsys

    def adopt(self, *arguments: str, exits: int = 0) -> str:
        words = ("init", str(self.new), "--adopt", str(self.old), "--now", "2026-02-28T12:00", *arguments)
        return curate(self._capsys, *words, exits=exits)

    def plan(self, *arguments: str) -> mapping.CopyPlan:
        named = arguments[arguments.index("--as") + 1] if "--as" in arguments else None
        plan = mapping.plan_adoption(notes_in(self.old, named), 8192)
        self.adopt(*arguments)
        return plan

    def places(self, *arguments: str) -> dict[str, str]:
        return {path: target for target, paths in self.plan(*arguments).pieces.items() for path in paths}

    @property
    def memory(self) -> Memory:
        return Memory(self.new, self._capsys)


@pytest.fixture
def adoption(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Adoption:
    return Adoption(tmp_path, capsys)


def test_a_vault_keeps_its_folders_and_its_templates_stay_behind(adoption: Adoption) -> None:
    obsidian(adoption.old)
    assert adoption.places() == {
        "Journal/2026/02-February/2026-02-03 Tuesday.md": "Logs/2026-02-03.md",
        "Journal/ideas.md": "Resources/Journal/ideas.md",
        "1 Projects/Spring concert.md": "Projects/Spring concert.md",
        "02 - Areas/Choir/Voices.md": "Areas/Choir/Voices.md",
        "Archive/Autumn concert.md": "Archives/Autumn concert.md",
        "Old chapel.md": "Resources/Old chapel.md",
        "files/plan.png": "Resources/files/plan.png",
        "files/contract.pdf": "Resources/files/contract.pdf",
    }
    assert dict(adoption.plan().left_out) == {
        ".obsidian": "is hidden",
        "Templates/Day.md": "is not part of the memory",
        "Board.canvas": "is no Markdown, text, PDF or image file",
        "files/rehearsal.mp3": "is no Markdown, text, PDF or image file",
    }


def test_what_search_does_not_cover_and_days_that_cannot_be_told_are_said(adoption: Adoption) -> None:
    lay(adoption.old, {"2026-02-03.md": "- Fact: one\n", ".obsidian/daily-notes.json": '{"format": "gggg-[W]ww"}'})
    told = adoption.adopt()
    assert "not known (gggg-[W]ww), so only notes named like YYYY-MM-DD.md are" in " ".join(told.split())
    assert "search does not cover" not in told
    lay(adoption.old, {"a.PDF": b"%PDF-1.4\n"})
    assert "PDF files and images are kept, but search does not cover them." in adoption.adopt()


def test_a_folders_index_is_named_like_its_folder(adoption: Adoption) -> None:
    obsidian(adoption.old)
    lay(adoption.old, {"1 Projects/Ferry/_index.md": "# Ferry\n", "1 Projects/index.md": "# All\n"})
    assert adoption.places()["1 Projects/Ferry/_index.md"] == "Projects/Ferry/Ferry.md"
    assert adoption.places()["1 Projects/index.md"] == "Projects/index.md"


def test_every_note_of_a_workspace_is_adopted_and_no_programs_folder(adoption: Adoption) -> None:
    openclaw(adoption.old)
    notes = ("learnings/LEARNINGS.md", "state/current.md", "reports/2026-02-01.md", "reports/2026-02-02_mill.md")
    apart = ("node_modules/x/README.md", "app/docs/a.md", "lib/a.md", "clone/a.md", "state/templates/day.md")
    files: dict[str, str | bytes] = {
        "app/package.json": "{}",
        "lib/pyproject.toml": "",
        "clone/.git/config": "",
        "state/a.png": PNG,
    }
    files |= dict.fromkeys((*notes, *apart), "# Orchard\n\nThe ladder is blue.\n")
    lay(adoption.old, files)
    plan = adoption.plan("--yes")
    places = {path: target for target, paths in plan.pieces.items() for path in paths}
    assert {path: places.get(path) for path in notes} == {path: f"Resources/{path}" for path in notes}
    behind = {path for path, why in plan.left_out if why == "is not part of the memory"}
    assert behind == {*apart, "skills/prune/SKILL.md", "state/a.png"}
    found = adoption.memory.json("search", "ladder")["results"]
    assert {"Resources/learnings/LEARNINGS.md", "Resources/state/current.md"} <= {one["path"] for one in found}


def test_what_instructs_agents_in_a_vault_is_found_in_the_copy(adoption: Adoption) -> None:
    obsidian(adoption.old)
    lay(adoption.old, {"CLAUDE.md": "# House rules\n\n- Notes need a title.\n"})
    assert adoption.places()["CLAUDE.md"] == "Resources/CLAUDE.md"


def test_claude_codes_folder_is_adopted_from_outside_and_from_inside(adoption: Adoption) -> None:
    lay(claude_code(adoption.old), {"notes.md": "# Of nobody\n"})
    assert adoption.plan().kind == "claude-code"
    outside = adoption.places()
    adoption.old /= "memory"
    inside = adoption.places()
    assert inside == outside
    assert inside["CLAUDE.md"] == "AGENTS.md"


def test_without_yes_nothing_is_written(adoption: Adoption, tmp_path: Path) -> None:
    openclaw(adoption.old)
    told = adoption.adopt()
    assert "1  memory/suppliers.md → Resources/suppliers.md" in told
    assert "Nothing was written. Add --yes to do it." in told
    adoption.adopt("--print")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["old"]
    adoption.adopt("--yes", "--print", exits=2)
    assert run_cli(["init", "--adopt", str(adoption.old), "--yes"]) == 2
    assert not adoption.new.exists()


def test_a_briefing_that_openclaw_loads_stays_the_briefing(adoption: Adoption) -> None:
    large = "# Memory\n\n" + "The orchard has a long story.\n" * 400
    lay(openclaw(adoption.old), {"MEMORY.md": large})
    assert "MEMORY.md may have 20,202 bytes, since yours has 12,010" in adoption.adopt("--yes")
    memory = adoption.memory
    memory.curate("run", "--provider", "rules")
    assert "long story" in memory.read("MEMORY.md")
    assert "long story" in memory.curate("context")
    assert memory.json("status")["briefing"]["cap"] == 20_202


def test_a_large_briefing_is_kept_whole_elsewhere(adoption: Adoption) -> None:
    large = "# Memory\n\n" + "The orchard has a long story.\n" * 800
    lay(openclaw(adoption.old), {"MEMORY.md": large})
    assert "too large to load at every start" in adoption.adopt("--yes")
    assert adoption.memory.read("Resources/adopted-MEMORY.md") == f"---\ntrust: self\n---\n{large}"
    assert len(adoption.memory.read("MEMORY.md")) < 1000


def test_the_briefing_leads_to_where_notes_went(adoption: Adoption) -> None:
    claude_code(adoption.old)
    notes = {f"memory/n{number:02}.md": f"# Note {number}\n\nBody.\n" for number in range(12)}
    told = "---\nname: Focus\ndescription: the press is repaired first\ntype: project\n---\n\nThe press.\n"
    tasks = "# Tasks\n\n- [ ] Mend the press\n- LATER call Ada\n- [x] Pay\n- DONE write\n"
    index = "# Index\n\n- [One](n01.md): the first\n- [Attic](<attic plan.md>): the roof\n"
    index += "- [Web](https://example.com/100%25%20real%2Fb.md)\n"
    more = {"memory/my tasks (old).md": tasks, "memory/attic plan.md": tasks}
    lay(adoption.old, {**notes, "memory/z.md": told, "memory/tasks.md": tasks, "memory/MEMORY.md": index, **more})
    adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    briefing = adoption.memory.read("MEMORY.md")
    assert "- [One](Resources/n01.md): the first" in briefing
    assert "- [Web](https://example.com/100%25%20real%2Fb.md)" in briefing
    assert "(Resources/z.md): the press is repaired first" in briefing
    assert "- [Tasks](Resources/tasks.md): 2 open tasks\n" in briefing
    assert "- [Tasks](Resources/my%20tasks%20%28old%29.md): 2 open tasks\n" in briefing
    assert briefing.count("attic") == briefing.count("(Resources/attic%20plan.md): the roof") == 1
    assert "notes under Resources/: search finds them" in briefing
    assert "n02" not in briefing


def test_notes_of_windows_become_utf8(adoption: Adoption) -> None:
    openclaw(adoption.old)
    days = {
        "memory/2026-02-05.md": b"# 2026-02-05\n\n- Decision: Open the caf\xe9 \x97 daily. \xc3\xa9\n",
        "memory/2026-02-06.md": "# 2026-02-06\n\n- Decision: Paint the café red.\n".encode("utf-16"),
    }
    lay(adoption.old, days)
    assert dict(adoption.plan("--yes").left_out).keys().isdisjoint(days)
    adoption.memory.curate("run", *NIGHT)
    held = {one["text"] for one in adoption.memory.json("items")}
    assert {"Open the café — daily. é", "Paint the café red."} <= held


def test_a_secret_stays_behind_and_no_night_waits_for_it(adoption: Adoption) -> None:
    openclaw(adoption.old)
    lay(adoption.old, {"MEMORY.md": "# Memory\n\n- password: hunter2Xy9!kk\n- The orchard is old.\n"})
    assert "1 secret was not copied from MEMORY.md" in adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    assert "hunter2" not in adoption.memory.git("log", "-p", "--all") + adoption.memory.read("MEMORY.md")
    assert "The orchard is old." in adoption.memory.git("show", "HEAD:MEMORY.md")
    assert "hunter2" in (adoption.old / "MEMORY.md").read_text()


def test_odd_files_are_left_out_with_a_reason(adoption: Adoption) -> None:
    openclaw(adoption.old)
    lay(adoption.old, {"memory/bin.md": b"a\0b", "memory/.hidden/x.md": "x"})
    (adoption.old / "memory" / "link.md").symlink_to(adoption.old / "USER.md")
    (adoption.old / "memory" / "away").symlink_to("/")
    os.mkfifo(adoption.old / "memory" / "pipe.md")
    with (adoption.old / "memory" / "huge.pdf").open("wb") as file:
        file.truncate(65 << 20)
    why = dict(adoption.plan("--yes").left_out)
    assert "memory/bin.md" not in why
    assert adoption.memory.read("Resources/bin.md").endswith("\na\0b")
    assert why["memory/.hidden"] == "is hidden"
    assert why["memory/link.md"] == "is a symbolic link; links are not followed"
    assert why["memory/away"] == "is a symbolic link; links are not followed"
    assert why["memory/pipe.md"] == "is no Markdown, text, PDF or image file"
    assert why["memory/huge.pdf"] == "is larger than 64 MB"
    adoption.memory.curate("run", *NIGHT)


def test_two_notes_of_one_day_from_two_folders(adoption: Adoption) -> None:
    lay(adoption.old, {"a/2026-02-01.md": "- Fact: one bell\n", "b/2026-02-01.md": "- Fact: two bells\n"})
    assert set(adoption.places("--yes").values()) == {"Logs/2026-02-01.md"}
    assert adoption.memory.read("Logs/2026-02-01.md") == "- Fact: one bell\n\n## b/2026-02-01\n\n- Fact: two bells\n"


def test_days_in_folders_and_several_a_day(adoption: Adoption) -> None:
    day = "J/2026/02/01"
    notes = {f"{day}.md": "- Fact: one bell\n", f"{day}-noon.md": "- Fact: noon\n"}
    lay(adoption.old, {"J/2026/02/02.md": "- Fact: b\n", "Meet/2026-02-01-x.md": "- y\n", **notes})
    places = adoption.places("--as", "obsidian", "--yes")
    logs = {path for path, place in places.items() if place.startswith("Logs/")}
    assert logs == {f"{day}.md", f"{day}-noon.md", "J/2026/02/02.md", "Meet/2026-02-01-x.md"}
    assert "one bell" in adoption.memory.read("Logs/2026-02-01.md")


def test_a_dated_note_beside_the_daily_folder_is_read_as_that_day(adoption: Adoption) -> None:
    obsidian(adoption.old)
    lay(adoption.old, {"Inbox/2026-02-03_Mill.md": "# Mill\n\n- Decision: We saw oak.\n"})
    assert adoption.places("--yes")["Inbox/2026-02-03_Mill.md"] == "Logs/2026-02-03.md"
    adoption.memory.curate("run", *NIGHT)
    (item,) = (one for one in adoption.memory.json("items") if one["text"] == "We saw oak.")
    assert item["since"] == "2026-02-03"


def test_a_page_named_after_a_day_is_found_with_it(adoption: Adoption) -> None:
    obsidian(adoption.old)
    lay(adoption.old, {"1 Projects/2026-02-05_Mill.md": "The mill has a blue ladder.\n"})
    adoption.adopt("--yes")
    assert adoption.memory.json("search", "ladder")["results"][0]["date"] == "2026-02-05"


def test_private_files_stay_private(adoption: Adoption) -> None:
    lay(adoption.old, {"SOUL.md": "s", "USER.md": "u", "memory/photo.png": PNG})
    for name in ("USER.md", "memory/photo.png"):
        (adoption.old / name).chmod(0o600)
    adoption.adopt("--yes")
    for name in ("USER.md", "Resources/photo.png"):
        assert (adoption.new / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "code", "says"),
    [
        ({}, 2, "There is nothing to adopt"),
        ({"curate.toml": "", "MEMORY.md": ""}, 2, "is already a memory"),
        ({"a.exe": b"MZ"}, 2, "There is nothing to adopt"),
    ],
)
def test_folders_that_cannot_be_adopted(
    adoption: Adoption, before: dict[str, str | bytes], code: int, says: str
) -> None:
    adoption.old.mkdir()
    lay(adoption.old, before)
    assert says in adoption.adopt("--yes", exits=code)
    assert not adoption.new.exists()


def test_places_that_cannot_be(adoption: Adoption, tmp_path: Path) -> None:
    assert "is not a folder" in adoption.adopt("--yes", exits=1)
    adoption.old.write_text("a file")
    assert "is not a folder" in adoption.adopt("--yes", exits=1)
    adoption.old.unlink()
    openclaw(adoption.old)
    before = fingerprint(tmp_path)
    for new, says, code in (
        (adoption.old, "is the folder to adopt", 2),
        (adoption.old / "memory" / "new", "is inside the other", 2),
        (tmp_path, "is inside the other", 2),
        (adoption.old / "USER.md", "is inside the other", 2),
    ):
        adoption.new = new
        assert says in adoption.adopt("--yes", exits=code)
    assert fingerprint(tmp_path) == before
    adoption.new = tmp_path / "full"
    lay(adoption.new, {"mine.txt": "mine"})
    assert "is not empty" in adoption.adopt("--yes", exits=2)
    assert "is not a folder" in Adoption.adopt(_at(adoption, adoption.new / "mine.txt"), "--yes", exits=1)


def _at(adoption: Adoption, new: Path) -> Adoption:
    adoption.new = new
    return adoption


def test_a_link_to_the_notes_does_not_hide_where_they_stand(adoption: Adoption, tmp_path: Path) -> None:
    openclaw(tmp_path / "real")
    adoption.old.symlink_to(tmp_path / "real")
    adoption.new = tmp_path / "real" / "new"
    assert "is inside the other" in adoption.adopt("--yes", exits=2)
    (tmp_path / "door").symlink_to(tmp_path / "real" / "memory")
    adoption.new = tmp_path / "door" / "new"
    assert "is inside the other" in adoption.adopt("--yes", exits=2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_left_out_and_what_may_not_be_written_is_said(adoption: Adoption) -> None:
    openclaw(adoption.old)
    (adoption.old / "USER.md").chmod(0)
    (adoption.old / "avatar.png").chmod(0)
    (adoption.old / "memory" / "projects").chmod(0)
    why = dict(adoption.plan("--yes").left_out)
    assert {path for path in why if "ermission denied" in why[path]} == {"USER.md", "avatar.png", "memory/projects"}
    closed = adoption.new.parent / "closed"
    closed.mkdir(mode=0)
    adoption.new = closed / "new"
    assert "cannot be written: permission denied" in adoption.adopt("--yes", exits=1)


def test_an_empty_folder_may_be_the_new_memory(adoption: Adoption, monkeypatch: pytest.MonkeyPatch) -> None:
    openclaw(adoption.old)
    adoption.new.mkdir()
    monkeypatch.chdir(adoption.new)
    adoption.adopt("--yes")
    assert (adoption.new / "curate.toml").is_file()
    assert "is already a memory" in Adoption.adopt(_swapped(adoption), "--yes", exits=2)


def _swapped(adoption: Adoption) -> Adoption:
    adoption.old, adoption.new = adoption.new, adoption.old.with_name("third")
    return adoption


def test_a_disk_that_refuses_leaves_nothing(adoption: Adoption, monkeypatch: pytest.MonkeyPatch) -> None:
    openclaw(adoption.old)

    def full(*_: object) -> None:
        raise CurateError("There is no space left.", "")

    monkeypatch.setattr(mapping, "commit_edits", full)
    for _ in range(2):
        assert "no space left" in adoption.adopt("--yes", exits=1)
        assert not list(adoption.new.iterdir())


@pytest.mark.parametrize(
    ("lays", "words", "trust"),
    [
        (openclaw, "Odile keeps 400 apple trees", "self"),
        (openclaw, "sawmill in Lokeren delivers on Thursdays", "self"),
        (claude_code, "merges stop", "self"),
        (obsidian, "six altos", "owner"),
    ],
)
def test_the_prose_of_an_agents_page_is_the_agents(adoption: Adoption, lays: Any, words: str, trust: str) -> None:
    lays(adoption.old)
    adoption.adopt("--yes")
    hit = adoption.memory.json("search", words)["results"][0]
    assert (hit["trust"], hit["types"]) == (trust, [])
    assert "trust: self" not in adoption.memory.curate("context")
