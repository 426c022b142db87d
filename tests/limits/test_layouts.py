"""What a `[layout]` or an adoption may name: nothing that leads out, into what is hidden, or that takes for ever."""

from __future__ import annotations

import json
import time
import tomllib
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import pytest

from pipelines.agents.adopt_days import moment_pattern, read_vault, written_pattern
from pipelines.cli import run_cli
from pipelines.store.in_place_layout import layout_faults, layout_names
from pipelines.store.layout import is_matched, may_hold
from tests.agents.adopt.samples import fingerprint, lay, obsidian
from tests.limits.test_paths import ODDER, Watched
from tests.limits.test_terminal import steers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Memory

CANARY: Final = "The canary sings in cellar 77"
LOGS: Final = "Daily/{YYYY}-{MM}-{DD}.md"
BASE: Final[dict[str, object]] = {"home": "Curated", "logs": LOGS, "notes": ["**"], "opted_in": ["Projects/*.md"]}
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
KINDS: Final[dict[str, Callable[[str], object]]] = {
    "home": lambda told: told,
    "logs": lambda told: f"{told}/{{YYYY}}-{{MM}}-{{DD}}.md",
    "logs beside": lambda told: f"{{YYYY}}-{{MM}}-{{DD}}{told}.md",
    "memory": lambda told: f"{told}.md",
    "user": lambda told: f"{told}/USER.md",
    "soul": lambda told: told,
    "notes": lambda told: [told],
    "opted_in": lambda told: [told, f"{told}/**", f"!{told}"],
}
OWN: Final = (
    "Logs/2026-03-12.md", "Logs/2026-03-12/-x.md", "MEMORY.md", "USER.md", "SOUL.md", "Review.md", "Projects/alpha.md",
    "State/progress.jsonl", "Sessions/2026-03-12/s.jsonl", "Notes/Ideas/Map.md", "Notes/a.md",
)  # fmt: skip
NEVER: Final = (
    "../outside/x.md", "../x.md", "/etc/passwd.md", ".git/config.md", "a/.git/x.md", ".obsidian/x.md", "a/../x.md",
    "./x.md", "Curated/../x.md", "",
)  # fmt: skip


def layout(kind: str, value: str) -> dict[str, object]:
    told = KINDS[kind](value)
    key = kind.partition(" ")[0]
    more = {"opted_in": [told]} if key in {"memory", "user"} else {}
    return {**BASE, **more, key: told}


def written(told: dict[str, object]) -> str:
    """Return a layout as TOML, with every character that TOML wants escaped."""
    rows = "".join(f"{key} = {json.dumps(value)}\n" for key, value in told.items()).replace("\x7f", "\\u007F")
    tomllib.loads(rows)
    return f"\n[layout]\n{rows}"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = lay(tmp_path / "notes", {"Ideas/Map.md": "# Map\n", "Projects/a.md": "# A\n"})
    outside = lay(tmp_path / "elsewhere", {"x.md": f"# Canary\n\n- Fact: {CANARY}\n"})
    (root / "link").symlink_to(outside)
    (root / "Projects/link").symlink_to(outside)
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_no_layout_leads_out_or_into_what_is_hidden(vault: Path, kind: str) -> None:
    taken = 0
    for value in GLOBS if kind in {"notes", "opted_in"} else PARTS:
        told = layout(kind, value)
        if layout_faults(told, vault):
            continue
        taken += 1
        names = layout_names(told)
        for path in OWN:
            real = names.real(path)
            parts = PurePosixPath(real).parts
            assert real.isprintable() or not real, (value, path)
            assert not real.startswith(("/", "~")), (value, path)
            assert "//" not in real, (value, path)
            assert not [part for part in parts if part.startswith(".")], (value, path)
            assert parts[0] not in {"link", "curate.toml"}, (value, path)
        for real in NEVER:
            own = names.canonical(real)
            assert own is None or not names.is_writable(own), (value, real)
            assert not names.is_opted_in(real) or own is None, (value, real)
    assert 0 < taken < len(PARTS)


@pytest.mark.parametrize("value", PARTS)
def test_what_runs_make_can_stand_on_every_disk(vault: Path, value: str) -> None:
    """The home is made by runs; everything else in a layout is there already, and is called what it is called."""
    if layout_faults({**BASE, "home": value}, vault):
        return
    for part in value.split("/"):
        assert unicodedata.is_normalized("NFC", part)
        assert part == part.rstrip(". ")
        assert not set(part) & set('\\:*?"<>|')
        assert part.casefold().partition(".")[0] not in {"con", "nul", "com1", "git~1"}


def test_a_fault_names_key_and_value_on_one_line(vault: Path) -> None:
    for kind in KINDS:
        for value in PARTS:
            for fault in layout_faults(layout(kind, value), vault):
                assert fault.startswith("layout."), fault
                assert "\n" not in fault, (kind, value)


class _Theirs(Watched):
    """A memory whose files are a person's, called what they are called."""

    def check(self, path: Path) -> None:
        assert ".." not in path.parts


ROWS: Final = (
    ("home", "Curated notes"), ("home", "a/b/c"), ("home", "State"), ("home", "link"), ("home", "A."),
    ("home", "Cafe\u0301"),
    ("logs", "link"), ("logs", "Projects/link"), ("logs", "Cafe\u0301"), ("logs", "A."), ("memory", "link/x"),
    ("user", "Projects"), ("notes", "link/**"), ("notes", "**"), ("opted_in", "**"), ("opted_in", "link/*.md"),
    ("opted_in", "[!"), ("logs beside", "*"), ("logs beside", "\u202e"), ("home", "a\nb"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value"),
    [pytest.param(*row, marks=[] if number % 3 == 0 else pytest.mark.torture) for number, row in enumerate(ROWS)],
)
def test_a_night_in_such_a_layout_stays_within(vault: Path, memory: Memory, kind: str, value: str) -> None:
    place = memory.aside(vault)
    assert run_cli(["init", str(vault), "--now", "2026-03-01T12:00"]) == 0
    place.write("curate.toml", memory.read("curate.toml") + written(layout(kind, value)))
    place.write("Daily/2026-03-12.md", "- Fact: The gate of the mill is green\n")
    watched = _Theirs(place)
    for verb in (
        ("run", "--now", "2026-03-13T02:00"), ("log", "hello"), ("add", "fact", "The mill is old"), ("index",),
        ("search", "canary sings cellar"), ("context",), ("status",), ("undo",),
    ):  # fmt: skip
        said = watched.do(*verb)
        assert CANARY not in said, verb
        assert not steers(said), verb
    assert CANARY not in place.git("log", "-p", "--all", "--text")


@pytest.mark.parametrize("option", ["--home", "--opt-in"])
def test_what_an_adoption_in_place_is_told(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    before, around = fingerprint(vault), fingerprint(tmp_path / "elsewhere")
    for value in GLOBS:
        if "\0" in value or "\ud800" in value:
            continue  # no argument of a command
        words = ["init", "--adopt", str(vault), "--in-place", "--print", "--now", "2026-02-28T12:00"]
        code = run_cli([*words, f"{option}={value}"])
        said = capsys.readouterr()
        assert code in {0, 1, 2}, (value, said.err)
        assert "bug" not in said.err.casefold(), (value, said.err)
        assert CANARY not in said.out
        assert not steers(said.out + said.err), value
        if not code:
            told = {"home": value} if option == "--home" else {"opted_in": [value]}
            assert not layout_faults({**BASE, **told}, vault)
    assert (fingerprint(vault), fingerprint(tmp_path / "elsewhere")) == (before, around)


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
    for number, told in enumerate(SETTINGS):
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
    assert read_vault(tmp_path).day_of("2026/02-February/2026-02-03 Tuesday week 6.md") == "2026-02-03"
    assert written_pattern("[../]YYYY-MM-DD") == "../{YYYY}-{MM}-{DD}"  # which a layout refuses


def test_a_glob_takes_no_longer_than_a_path() -> None:
    path = "/".join(["a"] * 1000)
    begun = time.process_time()
    for glob in ("**/a/" * 200 + "b", "**/" * 300 + "b", "**/a/**/" * 100 + "a/b", "!" + "**/a/" * 200 + "b"):
        assert not is_matched(path, [glob])
        may_hold(path, [glob])
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


def test_a_layout_of_many_globs_is_a_fault(vault: Path) -> None:
    assert not layout_faults({**BASE, "notes": ["*.md"] * 200}, vault)
    (fault,) = layout_faults({**BASE, "notes": ["*.md"] * 201}, vault)
    assert "it has more than 200 globs" in fault


def test_a_vault_is_adopted_as_ever(tmp_path: Path) -> None:
    assert read_vault(obsidian(tmp_path)).pattern
