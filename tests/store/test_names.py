"""Names of a memory that was adopted in place: there and back again, and a `[layout]` with all its faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import BadSettings, BrokenChangeSet
from pipelines.settings import load_settings
from pipelines.store.change_set import Change
from pipelines.store.git import Author, Git
from pipelines.store.in_place_layout import DayNames, InPlaceLayout
from pipelines.store.journal import apply_changes
from pipelines.store.layout import is_matched, may_hold
from pipelines.store.user_layout import read_layout

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

PATTERNS = (
    "memory/{YYYY}-{MM}-{DD}*.md",
    "{YYYY}/{MM}/{DD}.md",
    "{DD}.{MM}.{YYYY}.md",
    "Curated/Logs/{YYYY}-{MM}-{DD}.md",
)
LAYOUT = '[layout]\nhome = "Curated"\nlogs = "Daily/{YYYY}-{MM}-{DD}.md"\n'
FOLDERS = ("", "Daily/", "memory/", "Curated/", "Curated/Projects/", "Curated/State/", "Projects/", "2026/02/", "a/b/")
FILES = (
    "2026-02-03.md",
    "2026-02-03-frost.md",
    "03.md",
    "03.02.2026.md",
    "MEMORY.md",
    "USER.md",
    "SOUL.md",
    "x.md",
    "x.png",
)
NAMES = st.builds(
    InPlaceLayout,
    home=st.just("Curated"),
    days=st.sampled_from(PATTERNS).map(DayNames),
    theirs=st.sampled_from([{}, {"MEMORY.md": "MEMORY.md", "USER.md": "a/USER.md", "SOUL.md": "SOUL.md"}]),
    notes=st.sampled_from([(), ("**",), ("*.md", "!x.md")]),
    opted_in=st.sampled_from([(), ("MEMORY.md",), ("Projects/*.md", "a/**"), ("**", "!MEMORY.md")]),
)


@given(NAMES, st.lists(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(FILES)), max_size=12))
def test_no_two_files_have_one_name(names: InPlaceLayout, paths: list[tuple[str, str]]) -> None:
    reals = {folder + file for folder, file in paths}
    owns = [own for real in reals if (own := names.canonical(real)) is not None]
    assert len(owns) == len(set(owns))


@given(NAMES, st.sampled_from(FOLDERS), st.sampled_from(FILES))
def test_only_what_is_made_or_opted_in_is_written(names: InPlaceLayout, folder: str, file: str) -> None:
    own = names.canonical(folder + file)
    if own is not None and names.is_writable(own):
        assert (folder + file).startswith("Curated/") or names.is_opted_in(folder + file)
        assert not own.startswith("Logs/")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_day_is_written_and_understood(pattern: str) -> None:
    names = DayNames(pattern)
    real = names.real("Logs/2026-02-03.md")
    assert real is not None
    assert names.canonical(real) == "Logs/2026-02-03.md"
    assert names.real("Logs/2026-02-31.md") is None
    assert names.canonical(real.replace("03", "41")) is None


def test_globs() -> None:
    assert is_matched("a/b/c.md", ["**/*.md"])
    assert is_matched("c.md", ["**/*.md"])
    assert not is_matched("a/b.md", ["*.md"])
    assert not is_matched("Templates/x.md", ["**", "!Templates/**"])
    assert is_matched("Templates/keep.md", ["**", "!Templates/**", "Templates/keep.md"])
    assert may_hold("memory/deep", ["memory/**"])
    assert not may_hold("src", ["*.md", "memory/**"])


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "curate.toml").write_text(
        'day_end = "25:00"\n[layout]\nhome = "../out"\nlogs = "linked/{YYYY}-{MM}-{DD}.md"\nsoul = ".git/SOUL.md"\n'
        'memory = "NOTES.md"\nuser = "NOTES.md"\nnotes = "**"\nopted_in = ["/etc/**", 3]\ncolour = "red"\n'
    )
    with pytest.raises(BadSettings) as caught:
        load_settings(tmp_path)
    told = str(caught.value)
    for fault in (
        'day_end = "25:00"', 'layout.home = "../out": it leads out', "linked is a symbolic link",
        'layout.soul = ".git/SOUL.md": hidden files', "layout.memory names the same",
        'layout.notes = "**": it should be',
        'layout.opted_in[0] = "/etc/**": it leads out', "layout.opted_in[1] = 3", 'layout.colour = "red": there is no',
    ):  # fmt: skip
        assert fault in told
    with pytest.raises(BadSettings):
        read_layout(tmp_path)


@pytest.mark.parametrize(
    "odd",
    [
        "layout = 3",
        '[layout]\nlogs = "Daily/{YYYY}-{MM}-{DD}.md"',
        '[layout]\nhome = "Curated"\nlogs = "Curated/Days/{YYYY}-{MM}-{DD}.md"',
        f'{LAYOUT}memory = "Curated/MEMORY.md"',
        f'{LAYOUT}memory = "Daily/2026-01-01.md"',
        f'{LAYOUT}user = "USER.txt"',
        LAYOUT.replace("Curated", "a//b"),
    ],
)
def test_what_overlaps_or_lacks_is_refused(tmp_path: Path, odd: str) -> None:
    (tmp_path / "curate.toml").write_text(f"{odd}\n")
    with pytest.raises(BadSettings):
        load_settings(tmp_path)


def test_a_key_that_is_not_seen_is_refused(tmp_path: Path) -> None:
    (tmp_path / "curate.toml").write_text(LAYOUT.replace("[layout]", '["l\\u0061yout"]'))
    with pytest.raises(BadSettings, match="without escapes"):
        load_settings(tmp_path)


def test_each_command_reads_the_layout_anew(tmp_path: Path) -> None:
    settings = tmp_path / "curate.toml"
    settings.write_text(LAYOUT)
    assert read_layout(tmp_path).real("MEMORY.md") == "Curated/MEMORY.md"
    settings.write_text(LAYOUT.replace("Curated", "Kept by night"))
    assert read_layout(tmp_path).real("MEMORY.md") == "Kept by night/MEMORY.md"


@pytest.mark.parametrize("path", ["Logs/2026-02-03.md", "Notes/plan.md", "curate.toml"])
def test_a_change_of_a_persons_file_is_refused_whoever_decided_on_it(
    tmp_path: Path, at: Callable[[str], datetime], path: str
) -> None:
    (tmp_path / "curate.toml").write_text(f'{LAYOUT}notes = ["**"]\n')
    (tmp_path / "plan.md").write_text("mine\n")
    git = Git(tmp_path)
    git.init()
    author = Author("Night", "night@example.org", at("2026-03-01T02:00+00:00"))
    with pytest.raises(BrokenChangeSet):
        apply_changes(tmp_path, git, [Change(path, None, b"theirs\n")], "A run\n", author)
    assert (tmp_path / "plan.md").read_text() == "mine\n"
    assert not (tmp_path / ".curate" / "pending").exists()


@pytest.mark.parametrize("home", ["a" * 256, "é" * 128, "/".join(["a" * 200] * 6)])
def test_a_name_that_no_file_can_have_is_a_fault(tmp_path: Path, home: str) -> None:
    (tmp_path / "curate.toml").write_text(f'[layout]\nhome = "{home}"\nlogs = "{{YYYY}}-{{MM}}-{{DD}}.md"\n')
    with pytest.raises(BadSettings, match="it is too long for a file name"):
        load_settings(tmp_path)
