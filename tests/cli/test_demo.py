"""`curate demo`: a week, one night and three questions, without a key, a network or anything of the user's."""

import os
import subprocess
import sys
from pathlib import Path

CURATE = Path(sys.executable).with_name("memcurate")


def demo(home: Path, *words: str, exits: int = 0) -> str:
    home.mkdir(exist_ok=True)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "k", "VOYAGE_API_KEY": "k"}
    environment |= {"TMPDIR": str(home), "https_proxy": "http://127.0.0.1:9", "TZ": "UTC"}
    told = subprocess.run([CURATE, "demo", *words], capture_output=True, text=True, env=environment, check=False)
    assert told.returncode == exits, told.stderr
    return told.stdout + told.stderr


def test_it_shows_before_after_and_three_answers_and_leaves_nothing(tmp_path: Path) -> None:
    told = demo(tmp_path / "home")
    before, night, after = told.partition("One night")[0], *told.partition("One night")[2].split("After")
    assert "13:50 Proposed: drop the English version" in before
    assert "31 items added" in night
    assert "Todo: write the committee a half-page summary" in night
    assert "Proposed" not in night
    answers = after.split("$ curate ")[1:]
    asked = ("Hugo, since the Ruby setup breaks", "expires on 2026-05-20", "Logs/2026-03-09.md:13")
    assert [part in answer for part, answer in zip(asked, answers, strict=True)] == [True] * 3
    assert list((tmp_path / "home").iterdir()) == []


def test_the_memory_stays_in_a_folder_that_is_named(tmp_path: Path) -> None:
    demo(tmp_path / "home", str(tmp_path / "sample"))
    assert (tmp_path / "sample" / "Projects" / "kestrel.md").is_file()
    assert "Name a new folder" in demo(tmp_path / "home", str(tmp_path / "sample"), exits=1)
