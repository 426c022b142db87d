"""Started in a folder that was deleted meanwhile: a sentence, and what needs no such folder does its work."""

from pathlib import Path

import pytest

from pipelines import start
from tests.conftest import Memory

SENTENCE = "curate: The working directory no longer exists. Change to another folder.\n"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "deleted"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    return here


def _started(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["curate", *arguments])
    with pytest.raises(SystemExit) as ended:
        start.main()
    return int(str(ended.value.code))


def test_the_startup_context_says_so_and_a_session_goes_on(
    nowhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del nowhere
    assert _started(monkeypatch, "context") == 2
    assert capsys.readouterr().err == SENTENCE
    assert _started(monkeypatch, "context", "--format", "claude-code") == 0
    assert "no memory was found" in capsys.readouterr().out


def test_with_a_memory_that_is_named_it_does_its_work(
    memory: Memory, nowhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del nowhere
    memory.curate("log", "Fact: The moon is far.", "--now", "2026-03-02T10:00")
    memory.night("2026-03-03T02:00")
    assert _started(monkeypatch, "context", "--memory", str(memory.root)) == 0
    said = capsys.readouterr().out
    assert "The moon is far." in said
    assert "could not be" not in said
