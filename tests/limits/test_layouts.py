"""What `curate-notes.toml` and an adoption may name: nothing that leads out, is hidden, or takes for ever."""

import json
import time
from pathlib import Path
from typing import Final

import pytest

from pipelines.agents.adopt_source import moment_pattern, read_vault
from pipelines.cli import run_cli
from pipelines.store.layout import NOTES_FILE, Layout, is_matched
from tests.agents.adopt.samples import fingerprint, lay, obsidian
from tests.conftest import Memory
from tests.limits.test_paths import ODDER
from tests.limits.test_terminal import steers

CANARY: Final = "The canary sings in cellar 77"
PARTS: Final = (
    *ODDER, "link", "link/x", "Projects/link", "a/../b", "a/..", "./a", "a/.", "//x", "a//b", "a/", "/", "", ".hidden",
    "a/.git", ".git/hooks", "A.", "A ", "con.x", "git~1", "Git~2", "x/GIT~1", "Cafe\u0301/x", "\u212bngstrom",
    "curate.toml/x", "Curate.TOML", "x" * 256,
    "x/" * 600 + "x", "é" * 128, "\x85", "a\u2028b", ".curate", ".curate/tmp", "State", "Sessions", "Review.md", "Logs",
)  # fmt: skip
GLOBS: Final = (
    *PARTS, "../**", "**/..", "**/../../*", "/**", "~/**", ".git/**", "**/.git/**", "**/.*", "link/**", "[", "[!", "[]",
    "[!]", "[z-a]", "**", "*", "**/**/**", "!", "!!", "!../x", "!**", "{a,b}", "**/" * 300 + "x", "*" * 200, "?" * 200,
    "[a-z]*" * 60,
)  # fmt: skip


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = lay(tmp_path / "notes", {"Ideas/Map.md": "# Map\n", "Projects/a.md": "# A\n"})
    outside = lay(tmp_path / "elsewhere", {"x.md": f"# Canary\n\n- Fact: {CANARY}\n"})
    (root / "link").symlink_to(outside)
    (root / "Projects/link").symlink_to(outside)
    return root


def test_a_night_with_such_globs_stays_within(vault: Path, memory: Memory) -> None:
    place = memory.aside(vault / "Curated")
    assert run_cli(["init", "--adopt", str(vault), "--in-place", "--as", "obsidian", "--yes"]) == 0
    told = json.dumps([one for one in GLOBS if one.isprintable() and one.isascii()])
    (vault / NOTES_FILE).write_text(f'memory = "Curated"\nlogs = {told}\nnotes = {told}\n')
    before = fingerprint(vault / "Projects")
    for verb in (("run", "--now", "2026-03-13T02:00"), ("search", "canary sings cellar"), ("context",)):
        said = place.curate(*verb)
        assert CANARY not in said, verb
        assert not steers(said), verb
    assert CANARY not in place.git("log", "-p", "--all", "--text")
    assert fingerprint(vault / "Projects") == before


SETTINGS: Final = (
    {"folder": "../outside"}, {"folder": "/etc"}, {"folder": "link"}, {"folder": ".git"}, {"folder": "a/../.."},
    {"folder": "\0"}, {"folder": "Cafe\u0301"}, {"folder": "ends."}, {"folder": 7}, {"folder": "x" * 5000},
    {"format": "../../YYYY-MM-DD"}, {"format": "[../]YYYY-MM-DD"}, {"format": "/YYYY-MM-DD"},
    {"format": "[.git/]YYYYMMDD"},
    {"format": "YYYY-MM-DD[\0]"}, {"format": "YYYYMMDD" + "W" * 60}, {"format": "YYYYMMDD" + "dddd" * 40},
    {"format": "YYYYMMDDMMMMMMMddddddddd"}, {"format": "YYYY-MM-DD" + "[a]" * 100_000},
    {"format": ["YYYY"]}, {"format": ""},
    {"format": "YYYY-MM-DD\n"}, {"format": "YYYY-MM-DD[\u202e]"},
)  # fmt: skip


@pytest.mark.parametrize("in_place", [False, True])
def test_what_the_settings_of_a_vault_say(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, in_place: bool
) -> None:
    long = "a" * 240 + "1" * 8
    lay(vault, {"2026-03-12.md": "- Fact: The gate is green\n", f"{long}.md": "# A\n", "1" * 200 + ".md": "# B\n"})
    for number, told in enumerate(SETTINGS if in_place else SETTINGS[::3]):
        lay(vault, {".obsidian/daily-notes.json": json.dumps(told), ".obsidian/templates.json": json.dumps(told)})
        target = tmp_path / f"new-{number}"
        words = ["--in-place", "--print"] if in_place else ["--yes"]
        begun = time.process_time()
        where = [] if in_place else [str(target)]
        code = run_cli(["init", *where, "--adopt", str(vault), *words, "--now", "2026-02-28T12:00"])
        said = capsys.readouterr()
        assert code in {0, 1, 2}, (told, said.err)
        assert "bug" not in said.err.casefold(), (told, said.err)
        assert time.process_time() - begun < 10, told
        assert CANARY not in said.out
        assert not steers(said.out + said.err), told
        if not in_place:
            assert CANARY not in "".join(f.read_text() for f in target.rglob("*.md"))
            for path in target.rglob("*"):
                assert path.parts[-1].isprintable(), path
                assert path.resolve().is_relative_to(target), path


def test_a_format_takes_no_longer_than_a_name(tmp_path: Path) -> None:
    for form in (one["format"] for one in SETTINGS if isinstance(one.get("format"), str)):
        pattern = moment_pattern(str(form))
        begun = time.process_time()
        for name in ("a" * 250, "1" * 250, "2026" + "1" * 240, "20260312" + "a" * 240, "20260312" + "aa." * 80):
            assert pattern is None or not pattern.fullmatch(f"{name}!")
        assert time.process_time() - begun < 1, form
    lay(tmp_path, {".obsidian/daily-notes.json": json.dumps({"format": "YYYY/MM-MMMM/YYYY-MM-DD dddd [week] w"})})
    assert read_vault(tmp_path, ()).day_of("2026/02-February/2026-02-03 Tuesday week 6.md") == "2026-02-03"


def test_a_glob_takes_no_longer_than_a_path() -> None:
    path = "/".join(["a"] * 1000)
    layout = Layout("Curated")
    begun = time.process_time()
    for glob in ("**/a/" * 200 + "b", "**/" * 300 + "b", "**/a/**/" * 100 + "a/b", "!" + "**/a/" * 200 + "b"):
        assert not is_matched(path, [glob])
        layout.leads(path, [glob])
    assert not is_matched("a" * 60, ["*a" * 20 + "b.md"])
    assert is_matched(path, ["**/a/" * 200 + "a"])
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(("path", "glob", "is_in"), [
    ("a", "**", True), ("a/b", "**", True), ("a", "a/**", False), ("a/b", "a/**", True), ("a", "**/a", True),
    ("x/a", "**/a", True), ("a/x", "**/a", False), ("a/b/c", "a/**/c", True), ("a/c", "a/**/c", True),
    ("a/b/b/c", "a/**/b/c", True), ("a/b/c/b", "a/**/b/c", False), ("a/a/b", "**/a/**/b", True),
    ("a", "**/**", True), ("a/b", "**/**/b", True), ("b/a", "**/a/**", False), ("b/a/c/a", "**/a/**", True),
])  # fmt: skip
def test_what_two_stars_mean(path: str, glob: str, *, is_in: bool) -> None:
    assert is_matched(path, [glob]) is is_in


def test_a_vault_is_adopted_as_ever(tmp_path: Path) -> None:
    assert read_vault(obsidian(tmp_path), ()).pattern
