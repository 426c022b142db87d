"""The documents are short, and every command that they show exists, with its options."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

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
