"""The documents are short, and every command that they show exists, with its options."""

import html
import re
import shlex
from pathlib import Path

import click
import pytest

from examples.terminal import SESSION, printed, typed, with_logs
from pipelines.cli import curate, run_cli
from tests.conftest import Memory

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CHANGELOG = ROOT / "CHANGELOG.md"
SHOWN = re.compile(r"(?:^|`|\$ )curate ([a-z][^`#;\n]*)", re.MULTILINE)


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def test_the_documents_stay_short() -> None:
    assert sum(words(page) for page in PAGES if page.name != "CONTRIBUTING.md") <= 12_000
    assert words(ROOT / "docs/design.md") <= 1_800
    assert words(CHANGELOG) <= 600


@pytest.mark.parametrize("page", [*PAGES, CHANGELOG, ROOT / "benchmarks/RESULTS.md"], ids=lambda page: page.name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    """A path in backticks begins at the top, or, of the code, in `pipelines/` or in `tests/torture/`."""
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|j2|service|timer|plist|sh))`", text):
        places = (
            ROOT / top / path for top in ("", "pipelines", "tests/torture", "deploy", "tests/night", "benchmarks")
        )
        assert any(place.exists() for place in places), path
    for path in re.findall(r"`((?:benchmarks|deploy|docs|examples|pipelines|requirements|tests)/[^`*\s]+)`", text):
        assert (ROOT / path).exists(), path
    for module in re.findall(r"python -m (benchmarks[.\w]*)", text):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        there = (page.parent / link).resolve() if link else page
        assert there.exists(), link
        headings = re.findall(r"(?m)^#+ (.+)$", there.read_text(encoding="utf-8")) if anchor else ()
        assert not anchor or anchor in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}, (
            anchor
        )


SERVES = ("view", "schedule", "models fetch", "run --due", "import", "export -", "demo")
"""What does not end, asks the network or standard input, prints bytes, or has a test of its own."""


def test_every_command_that_a_page_shows_runs(
    memory: Memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is misused, and none ends in a bug; what a command finds in this memory is not the question."""
    (Path.home() / "memory").symlink_to(memory.root)
    monkeypatch.setenv("CURATE_MEMORY", str(memory.root))
    memory.day("2026-03-18", "- Decision: The site moved\n- Todo: call Anders\n")
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for fence in re.findall(r"(?ms)^ *```\w*\n(.*?)^ *```", text):
        for line in re.findall(r"(?m)^(?:\$ )?(curate [^\n]*)", fence):
            given = re.split(r" #| \|", line)[0].replace("~", str(Path.home()))
            if any(given.startswith(f"curate {verb}") for verb in SERVES):
                continue
            run_cli(shlex.split(given)[1:])
            said = capsys.readouterr()
            assert "Usage: curate" not in said.err, line
            assert "This is a bug" not in said.err, f"{line}: {said.err}"


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
    with_logs(tmp_path)
    real = "".join(typed(words) + printed([*words, *clock], tmp_path) for words, clock in SESSION)
    drawn = re.findall(r"<text[^>]*-r\d+\"[^>]*>(.*?)</text>", (ROOT / "docs/pictures/terminal.svg").read_text("utf-8"))
    shown = html.unescape("".join(drawn))
    plain = [re.sub(r"\x1b\[[\d;]*m|[\s$]", "", text) for text in (real, shown)]
    assert same_ids(plain[0]) == same_ids(plain[1])
    assert "31itemsadded" in plain[0]


def same_ids(text: str) -> str:
    return re.sub(r"T020000-[0-9a-f]{6}|commit[0-9a-f]{10}", "", text)
