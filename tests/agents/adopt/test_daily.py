"""Which day a note tells: by its name, and by the format that a vault's settings give."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.agents.adopt_source import Vault, dated, moment_pattern, read_vault, said_elsewhere
from tests.agents.adopt.samples import lay


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("YYYY-MM-DD", "2026-02-03.md"),
        ("YYYY/MM-MMMM/YYYY-MM-DD dddd", "2026/02-February/2026-02-03 Tuesday.md"),
        ("D MMM YYYY", "3 Feb 2026.md"),
        ("MMMM Do, YYYY", "February 3rd, 2026.md"),
        ("[Day] YYYY.M.D", "Day 2026.2.3.md"),
        ("gggg-[W]ww/YYYYMMDD", "2026-W06/20260203.md"),
        ("YYYY/MMM/YYYY-MM-DD", "2026/2月/2026-02-03.md"),
        ("YYYY/MMMM/YYYY-MM-DD", "2026/Şubat/2026-02-03.md"),
    ],
)
def test_formats_of_daily_notes(form: str, path: str) -> None:
    """Also https://github.com/community-archive/obsidian-full-calendar/issues/521."""
    vault = Vault("Journal", moment_pattern(form))
    assert vault.day_of(f"Journal/{path}") == "2026-02-03"
    assert not vault.day_of(path)
    assert not vault.day_of("Journal/Tuesday.md")


@pytest.mark.parametrize("form", ["YYYY-MM", "gggg-[W]ww", "YYYY-DDDD", "HH:mm", "", "words"])
def test_a_format_that_tells_no_day_is_none(form: str) -> None:
    assert moment_pattern(form) is None


@given(st.text("YMDdoWwQg[]()*+?\\. -/", max_size=30))
def test_no_format_breaks_it(form: str) -> None:
    pattern = moment_pattern(form)
    Vault(pattern=pattern).day_of("2026-02-31.md")


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_each_day_is_found_again(day: date) -> None:
    form = "YYYY/M/YYYY-MM-DD"
    assert Vault(pattern=moment_pattern(form)).day_of(f"{day.year}/{day.month}/{day.isoformat()}.md") == day.isoformat()


def test_days_by_name() -> None:
    assert dated("a/2026-02-03.md")[0] == dated("a/2026-02-03-standup.md")[0] == "2026-02-03"
    assert dated("journals/2026.02.03.md")[0] == "2026-02-03"  # https://github.com/logseq/logseq/issues/5046
    assert dated("a/2026/02/03-b.md") == ("2026-02-03", "a/????/??/??", "-b")
    assert not dated("2026-02-30.md")[0]
    assert not dated("2026-02-031.md")[0]
    assert not dated("02/03.md")[0]


@pytest.mark.parametrize("told", ["", "[]", "{", "[" * 20_000, '{"format": 3}', '{"format": "HH"}', "\udcff"])
def test_broken_settings_of_a_vault_are_passed_over(told: str, tmp_path: Path) -> None:
    lay(tmp_path, {".obsidian/daily-notes.json": told.encode("utf-8", "surrogateescape")})
    assert read_vault(tmp_path, ()).pattern is None


def test_notes_that_a_person_sorted_into_folders_are_days_still(tmp_path: Path) -> None:
    lay(tmp_path, {".obsidian/daily-notes.json": json.dumps({"folder": "Daily"})})
    vault = read_vault(tmp_path, ())
    assert vault.day_of("Daily/2026-02/2026-02-03.md") == "2026-02-03"
    assert not vault.day_of("Other/2026-02-03.md")
    assert not vault.day_of("Daily/2026-02/ideas.md")


def test_settings_of_another_shape_are_passed_over(tmp_path: Path) -> None:
    lay(tmp_path, {".obsidian/plugins/periodic-notes/data.json": '{"calendarSets": 5}'})
    assert read_vault(tmp_path, ()).pattern is None


@pytest.mark.parametrize(
    "told",
    [
        {"daily": {"enabled": True, "folder": "Log", "format": "YYYY/MM/YYYY-MM-DD"}, "weekly": {"enabled": True}},
        {"calendarSets": [{"id": "x", "day": {"enabled": True, "folder": "Log", "format": "YYYY/MM/YYYY-MM-DD"}}]},
    ],
)
def test_periodic_notes_say_more_than_daily_notes(tmp_path: Path, told: dict[str, object]) -> None:
    lay(tmp_path, {".obsidian/daily-notes.json": json.dumps({"folder": "Daily"})})
    lay(tmp_path, {".obsidian/plugins/periodic-notes/data.json": json.dumps(told)})
    vault = read_vault(tmp_path, ())
    assert vault.day_of("Log/2026/02/2026-02-03.md") == "2026-02-03"
    assert vault.day_of("Log/2026-02-03 standup.md") == "2026-02-03"
    assert not vault.day_of("Daily/2026-02-03.md")


def test_a_note_named_after_a_day_and_more_was_said_on_it_wherever_it_is(tmp_path: Path) -> None:
    meetings = {f"Inbox/2026-02-{day}_Mill.md": "- oak\n" for day in ("03", "10", "17")}
    others = {f"Reports/2026-02-0{day}-heartbeat.md": "up\n" for day in range(1, 5)}
    others |= dict.fromkeys(("Other/2026-02-03.md", "1 Projects/2026-02-03 Gate.md", "Inbox/2026-02-03 2.md"), "x\n")
    lay(tmp_path, meetings | others)
    assert said_elsewhere(tmp_path, meetings | others) == {path: path[6:16] for path in meetings}


@pytest.mark.parametrize(
    "front",
    [
        'source: "https://example.org/oak"',
        "source:\n  - https://example.org/oak",
        'source: ["https://example.org/oak"]',
        'source: "[Oak](https://example.org/oak)"',
        "Source: https://example.org/oak",
        "URL: HTTP://example.org/oak",
        "link: http://example.org/oak",
    ],
)
@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_a_note_with_an_address_in_its_front_matter_is_a_clipping(tmp_path: Path, front: str, code: str) -> None:
    path = "Clips/2026-02-03 Oak.md"
    for text, days in ((f"---\n{front}\n---\nOak is hard.\n", {}), (f"# Oak\n{front}\n", {path: "2026-02-03"})):
        lay(tmp_path, {path: text.encode(code)})
        assert said_elsewhere(tmp_path, [path]) == days
