"""The documents are short, and every command that they show exists, with its options."""

from __future__ import annotations

import html
import re
from pathlib import Path

import click
import pytest

from examples.terminal import SESSION, printed, typed
from pipelines.cli import curate

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CHANGELOG = ROOT / "CHANGELOG.md"
SHOWN = re.compile(r"(?:^|`|\$ )curate ([a-z][^`#;\n]*)", re.MULTILINE)


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def test_the_documents_stay_short() -> None:
    assert sum(map(words, PAGES)) <= 16_000
    assert words(CHANGELOG) <= 600


@pytest.mark.parametrize("page", [*PAGES, CHANGELOG], ids=lambda page: page.name)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    shown = SHOWN.findall(page.read_text(encoding="utf-8"))
    for line in shown:
        verb, *rest = line.split()
        context = click.Context(curate)
        command = curate.get_command(context, verb)
        assert command, line
        options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        if isinstance(command, click.Group) and rest and (below := command.get_command(context, rest[0].split("|")[0])):
            options |= {name for one in below.params for name in (*one.opts, *one.secondary_opts)}
        assert {word.rstrip(".,") for word in rest if word.startswith("--")} <= options, line


def test_the_picture_of_the_terminal_shows_what_the_commands_print(tmp_path: Path) -> None:
    """`make demo` draws it anew. Ids of runs and commits differ wherever git's user does."""
    (tmp_path / "sample_week").symlink_to(ROOT / "examples/sample_week")
    real = "".join(typed(words) + printed([*words, *clock], tmp_path) for words, clock in SESSION)
    drawn = re.findall(r"<text[^>]*-r\d+\"[^>]*>(.*?)</text>", (ROOT / "docs/pictures/terminal.svg").read_text("utf-8"))
    shown = html.unescape("".join(drawn))
    plain = [re.sub(r"\x1b\[[\d;]*m|[\s$]", "", text) for text in (real, shown)]
    assert same_ids(plain[0]) == same_ids(plain[1])
    assert "31itemsadded" in plain[0]
    assert "into 31 items" in (ROOT / "README.md").read_text("utf-8")


def same_ids(text: str) -> str:
    return re.sub(r"T020000-[0-9a-f]{6}|commit[0-9a-f]{10}", "", text)
