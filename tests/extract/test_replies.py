"""Replies kept: nothing is paid twice, nothing foreign is believed."""

import stat
from pathlib import Path

import pytest

from pipelines.extract.llm.call import BadReply, Call
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.openai import OpenAIModel
from pipelines.extract.llm.program import ProgramModel
from pipelines.provider_settings import ProviderSettings
from pipelines.usage import Tally
from tests.extract.fakes import USAGE, Scripted

CALL = Call("extract", "extract", 2, "system", "user", {"type": "object"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".curate" / "replies"


def whole(text: str) -> str:
    if text.startswith("bad"):
        raise BadReply("answered nonsense")
    return text


def asked(folder: Path, model: Scripted, tally: Tally | None = None) -> tuple[str, str]:
    return Chain([model], folder.parents[1]).ask(CALL, whole, tally or Tally())


def test_a_reply_is_asked_for_once(folder: Path) -> None:
    model = Scripted("a:1", ["one", "two"])
    first, second = Tally(), Tally()
    assert asked(folder, model, first) == ("one", "a:1")
    assert asked(folder, model, second) == ("one", "a:1")
    assert len(model.calls) == 1
    assert (first.spent[0].usage, second.spent) == (USAGE, []), "tokens count when the call is made, and only then"
    [file] = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_reply_is_of_one_address_or_command(folder: Path) -> None:
    assert asked(folder, Scripted("exec:python3", ["one"], source="python3 a.py"))[0] == "one"
    assert asked(folder, Scripted("exec:python3", ["two"], source="python3 b.py"))[0] == "two"
    commands = (["python3", "a.py"], ["python3", "b.py"])
    assert len({ProgramModel(one).source for one in commands}) == 2
    made = (ProviderSettings("m", base_url=f"http://{host}/v1") for host in ("one", "two"))
    assert len({OpenAIModel(one).source for one in made}) == 2


@pytest.mark.parametrize("data", [b"", b"\xff", b"bad"])
def test_what_is_no_reply_of_ours_is_paid_anew(folder: Path, data: bytes) -> None:
    model = Scripted("a:1", ["one", "two"])
    asked(folder, model)
    [file] = folder.iterdir()
    file.write_bytes(data)
    assert asked(folder, model)[0] == "two"
    assert asked(folder, model)[0] == "two", "and it is kept again"


def test_no_link_is_followed(folder: Path, tmp_path: Path) -> None:
    model = Scripted("a:1", ["one", "two", "three"])
    asked(folder, model)
    [file] = folder.iterdir()
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert asked(folder, model)[0] == "two"
    assert elsewhere.read_text() == "one"
    outside = tmp_path / "outside"
    outside.mkdir()
    file.unlink()
    folder.rmdir()
    folder.symlink_to(outside)
    assert asked(folder, model)[0] == "three"
    assert list(outside.iterdir()) == []
