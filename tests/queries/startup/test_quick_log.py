"""`curate log` as agents call it: at once, and to the byte what the verb proper writes."""

import fcntl
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines import Memory as OpenMemory
from pipelines import start
from pipelines.queries.startup import fast
from tests.conftest import Memory
from tests.forking import forked
from tests.planting import RULES

CURATE = str(Path(sys.executable).with_name("curate"))
NOON = datetime(2026, 3, 18, 11, 30, 59, tzinfo=UTC)
WORDS = [
    "hello", "Decision: ship it", "a=b", "é 😀", " ends ", "two  blanks", "[x]", "a\nb", "\x1b[2J", "\u2028", "<b>", "",
    "tests/test_night_with_models.py", "--odd", "- [ ] milk", "<private>x", "my pwd=hunter2X9qq", "\xa0", "-",
]  # fmt: skip


@pytest.fixture
def both(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory of whose clock the quick way reads noon, as `--now` tells the verb proper."""
    memory.write("curate.toml", 'timezone = "Asia/Tokyo"\nday_end = "21:00"\n')
    monkeypatch.setattr("pipelines.queries.startup.fast.time.time", NOON.timestamp)
    return memory


def written(memory: Memory) -> dict[str, bytes]:
    """Return the logs, and remove them."""
    logs = {file.name: file.read_bytes() for file in (memory.root / "Logs").glob("*.md")}
    for name in logs:
        (memory.root / "Logs" / name).unlink()
    return logs


@pytest.mark.parametrize("project", ["", "Blue Whale", "a]b", " ", "-x", "password"])
def test_both_ways_write_the_same_bytes(both: Memory, project: str) -> None:
    quick = 0
    for word in WORDS:
        for before in (b"", b"# 2026-03-18\n\n- 10:00 x\n", b"no end of line"):
            command = ["log", word, *(["--project", project] if project else [])]
            if before:
                (both.root / "Logs/2026-03-18.md").write_bytes(before)
            code = start._answer(["--memory", str(both.root), *command])
            if code is None:
                left = written(both)
                assert set(left.values()) <= {before}  # nothing was written
                continue
            found = written(both)
            if before:
                (both.root / "Logs/2026-03-18.md").write_bytes(before)
            both.curate(*command, "--now", NOON.isoformat())
            assert (code, found) == (0, written(both))
            quick += 1
    assert quick >= (3 * 6 if project in {"", "Blue Whale", " "} else 0)


TRUE = [rule["true"].replace("¦", "") for rule in RULES]


def test_no_secret_is_written_at_once(both: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    for text in TRUE:
        for line in text.splitlines():
            fast.log_quickly(f"we use {line}", "", str(both.root))
    clean = b"".join(written(both).values()).decode()
    for text in TRUE:
        assert text not in clean
    assert start._answer(["log", "password", "is hunter2X9qq", "--memory", str(both.root)]) is None
    assert start._answer(["log", "hunter2X9qq is it", "--project", "--password", "--memory", str(both.root)]) is None
    assert written(both) == {}
    assert "1 secret (password) redacted" in both.curate("log", "password is hunter2X9qq")
    assert capsys.readouterr().out == ""


def test_a_value_that_is_known_is_left_to_the_verb_proper_and_a_shorter_word_is_not(
    both: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    both.curate("log", "password is hunter2X9qq-and-more", "--now", NOON.isoformat())
    assert start._answer(["log", "it was hunter2X9qq-and-more", "--memory", str(both.root)]) is None
    assert "1 secret (password) redacted" in both.curate(
        "log", "it was hunter2X9qq-and-more", "--now", NOON.isoformat()
    )
    assert start._answer(["log", "see tests/test_log.py", "--memory", str(both.root)]) == 0
    assert capsys.readouterr().out == ""


def test_what_goes_wrong_is_said_by_the_verb_proper(memory: Memory, tmp_path: Path) -> None:
    def log(*command: str) -> subprocess.CompletedProcess[str]:
        return forked("log", *command, cwd=tmp_path)

    here = ["--memory", str(memory.root)]
    assert "There is no memory at" in log("x").stderr
    assert "There is nothing to log" in log(" ", *here).stderr
    assert "No such option '--projct'. Did you mean '--project'?" in log("x", "--projct", "y", *here).stderr
    day = OpenMemory(memory.root).today()
    (tmp_path / "real.md").write_text("mine\n")
    (memory.root / f"Logs/{day}.md").symlink_to(tmp_path / "real.md")
    assert "symbolic link" in log("x", *here).stderr
    assert (tmp_path / "real.md").read_text() == "mine\n"
    (memory.root / f"Logs/{day}.md").unlink()
    memory.write("curate.toml", "timezone = 7\n")
    assert "curate.toml has" in log("x", *here).stderr
    assert not list((memory.root / "Logs").glob("*.md"))


def test_a_writer_is_waited_for(memory: Memory) -> None:
    with (memory.root / ".curate/log.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        waiting = subprocess.Popen([CURATE, "log", "x", "--memory", str(memory.root)])
        assert start._answer(["log", "y", "--memory", str(memory.root)]) is None
        assert waiting.poll() is None
    assert waiting.wait() == 0
    [log] = (memory.root / "Logs").glob("*.md")
    assert log.read_text().count("\n- ") == 1


@pytest.mark.parametrize("place", ["before", "behind", "both"])
def test_the_memory_is_named_before_the_verb_or_behind_it(memory: Memory, place: str, tmp_path: Path) -> None:
    here, nowhere = ["--memory", str(memory.root)], [f"--memory={tmp_path}"]
    before, behind = {"before": (here, []), "behind": ([], here), "both": (nowhere, here)}[place]
    for verb in (["log", "we ship"], ["context"], ["mcp"], ["items"]):
        done = forked(*before, *verb, *behind, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "we ship" in done.stdout or verb != ["context"]


@pytest.mark.parametrize("before", [True, False])
def test_nothing_heavy_is_imported(memory: Memory, *, before: bool) -> None:
    memory.curate("log", "the first line of a day takes longer")
    probe = (
        f"import sys; sys.path[:0] = {sys.path!r}\nimport atexit\n"
        "heavy = {'re', 'json', 'click', 'dataclasses', 'pathlib', 'pydantic', 'tomllib', 'typing'}\n"
        "before = set(sys.modules)\n"
        "atexit.register(lambda: print(sorted(heavy & (set(sys.modules) - before)), file=sys.stderr))\n"
        "from pipelines.start import main; main()\n"
    )
    named = ["--memory", str(memory.root)]
    command = [*named, "log", "we ship"] if before else ["log", "we ship", *named]
    done = subprocess.run([sys.executable, "-S", "-c", probe, *command], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert "we ship" in memory.read(f"Logs/{OpenMemory(memory.root).today()}.md")


@pytest.mark.parametrize(
    ("folder", "name"),
    [("src/Blue Whale/api", "blue-whale"), ("Zoë", "zoë"), ("src", ""), ("ada/blue_whale", ""), ("memory/alpha", "")],
)
def test_the_folder_names_the_project_if_the_memory_knows_it(
    both: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str
) -> None:
    for page in ("alpha", "blue-whale", "zoë"):
        both.write(f"Projects/{page}.md", "")
    monkeypatch.setenv("HOME", str(tmp_path / "ada/blue_whale"))  # a home folder is no project
    here = both.root if folder.startswith("memory") else tmp_path
    (here / folder).mkdir(parents=True)
    monkeypatch.chdir(here / folder)
    for words, project, mark in (("hello", "", name), ("hello", "Ada", "Ada"), ("[project: Ada] hello", "", "")):
        line = f"- 20:30 {f'[project: {mark}] ' if mark else ''}{words}\n"
        command = ["log", words, *(["--project", project] if project else [])]
        assert start._answer(["--memory", str(both.root), *command]) == (None if "[" in words else 0)
        both.curate(*command, "--now", NOON.isoformat())
        OpenMemory(both.root).log(words, project=project, now=NOON)
        assert set(written(both)["2026-03-17.md"].decode().splitlines(keepends=True)[2:]) == {line}
    said = both.curate("add", "fact", "The hull is blue", "--now", NOON.isoformat())
    assert (f"Projects/{name}.md" in said) is bool(name)
    assert "Projects/alpha.md" in both.curate("add", "fact", "The hull is red", "--project", "alpha")
