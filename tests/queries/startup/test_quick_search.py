"""`curate search` as agents call it: at once, and to the byte what the verb proper prints."""

import os
import subprocess
import sys

import pytest

from pipelines import start
from pipelines.search.schema import INDEX
from tests.conftest import Memory
from tests.forking import forked

ASKED = [
    ["boat"], ["what", "sank?"], ["nothing", "known"], ["boat", "--json"], ["--json", "boat", "--limit", "1"],
    ["vessel", "--limit=2"], ["boat", "--project", "Alpha"], ["boat", "--json", "--project", "none such"],
    ["\x1b[2J boat"], ["project:alpha", "#tag"], ["日本 boat"],
]  # fmt: skip
LEFT = [
    ["-"], ["boat", "--limit", "0"], ["boat", "--limit", "x"], ["boat", "--flat"], ["boat", "--type", "fact"], [],
    ["boat", "--json=1"], ["--help"], ["boat", "--limit", "1001"], ["--", "boat"],
]  # fmt: skip


PROPER = -1
"""What the command line proper, which is not called here, would answer."""


@pytest.fixture
def filled(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory.write("Projects/alpha.md", "---\ntitle: Alpha\n---\n# Alpha\n\n- Decision: paint the boat blue\n")
    memory.write("Logs/2026-02-05.md", "- the boat \x1b[2J sank\n- we bought a vessel and a boat\n- 日本 boat\n")
    memory.curate("index")
    monkeypatch.setattr(os, "_exit", sys.exit)
    return memory


def quick(memory: Memory, words: list[str], monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Return the exit code of the quick way, or None where it leaves a search to the verb proper."""
    monkeypatch.setattr(sys, "argv", ["curate", "search", *words, "--memory", str(memory.root)])
    monkeypatch.setattr("pipelines.cli.main", lambda: PROPER)
    with pytest.raises(SystemExit) as ended:
        start.main()
    code = ended.value.code or 0
    return None if code == PROPER else int(code)


@pytest.mark.parametrize("words", ASKED, ids=repr)
def test_it_prints_what_the_verb_proper_prints(
    filled: Memory, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proper = filled.curate("search", *words)
    assert quick(filled, words, monkeypatch) == 0
    said = capsys.readouterr()
    assert said.out + said.err == proper


@pytest.mark.parametrize("words", LEFT, ids=repr)
def test_what_is_unusual_is_left_to_the_verb_proper(
    filled: Memory, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert quick(filled, words, monkeypatch) is None
    assert capsys.readouterr() == ("", "")


def test_what_goes_wrong_and_what_a_terminal_shows_is_left_to_the_verb_proper(
    filled: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as terminal:
        terminal.setattr(sys.stdout, "isatty", lambda: True)
        assert quick(filled, ["boat"], monkeypatch) is None
    filled.write("curate.toml", "[search]\nmode = 'magic'\n")
    assert quick(filled, ["boat"], monkeypatch) is None
    assert "search.mode" in filled.curate("search", "boat", exits=1)


def test_the_notes_come_on_standard_error_and_the_index_is_made(filled: Memory) -> None:
    (filled.root / INDEX).write_bytes(b"no index")
    told = forked("search", "vessel", "--memory", str(filled.root))
    assert "we bought a vessel" in told.stdout
    assert "rebuilt" in told.stderr


def test_a_search_by_words_loads_no_command_line_and_no_numbers(filled: Memory) -> None:
    code = (
        "import os, sys; from pipelines import start\n"
        "os._exit = lambda code: print(sorted({'click', 'numpy', 'pydantic', 'tokenizers', 'pipelines.store.secrets',"
        " 'pipelines.cli', 'pipelines.search.rows', 'http.client', 'subprocess'} & set(sys.modules)))\n"
        "start.main()"
    )
    asked = [sys.executable, "-c", code, "search", "boat", "--memory", str(filled.root)]
    told = subprocess.run(asked, check=False, capture_output=True, text=True)
    assert "\n[]\n" in told.stdout, told
