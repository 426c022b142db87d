"""What every test stands on: no home directory, no user's git config, no key, no clock but the one it is given."""

import gc
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

from pipelines.cli import run_cli
from pipelines.store.template import lay_down
from tests.making import git, plant

_FOREIGN = (
    "ANTHROPIC_",
    "GEMINI_",
    "GOOGLE_",
    "VOYAGE_",
    "OPENAI_",
    "CURATE_",
    "GIT_",
    "XDG_",
    "CLAUDE_",
    "CODEX_",
    "OPENCLAW_",
)


# A busy machine is no fault of a property: no test is timed.
# `make test` draws the same few each time, so that a change is what fails it; `make fuzz` looks for many new ones.
FEW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=40)
settings.register_profile("same", FEW)
settings.register_profile("search", FEW, derandomize=False, max_examples=1000)
settings.load_profile("same")


SERVED: Final = list[Any]()
"""The servers that a test has begun. Each looks ten times a second whether it is to end."""
CERTIFICATE: Final = str(Path(__file__).with_name("data") / "certificate.pem")
"""All that is trusted: no test speaks TLS, and each client that is made would read all certificates of the machine."""
SHARED: Final = "/dev/shm"  # noqa: S108  a name within it is pytest's to choose


def pytest_configure() -> None:
    """Live in UTC, write to memory, and heed the signals that whoever started the tests had ignored (`nohup`, say)."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    os.environ["TZ"] = "UTC"  # the zone is looked up once a process, which a fixture of a module may do
    os.environ["SSL_CERT_FILE"] = CERTIFICATE
    if "TMPDIR" not in os.environ and _has_room(SHARED):
        os.environ["TMPDIR"] = tempfile.tempdir = SHARED


def pytest_collection_finish() -> None:
    """Look no more at what was collected, neither for garbage, nor, which copies it, in each process that is forked."""
    gc.freeze()


def _has_room(folder: str) -> bool:
    """Whether a folder that is held in memory takes what the tests write, and runs the programs among it."""
    found = os.statvfs(folder) if Path(folder).is_dir() else None
    return bool(found and found.f_bavail * found.f_frsize > 4 << 30 and not found.f_flag & os.ST_NOEXEC)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return where the next home is; pytest would look through all of them to number one more."""
    return map(tmp_path_factory.mktemp("homes").joinpath, map(str, count()))


@pytest.fixture(autouse=True)
def _alone(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take away what the machine's user has set, and the wait for the disk; end the pages that are served."""
    home = next(_homes)
    home.mkdir()
    _cut_off(monkeypatch, home)
    monkeypatch.setattr(os, "fsync", os.fstat)  # nobody pulls the plug: waiting for the disk would be half of the time
    yield
    while SERVED:
        SERVED.pop().should_exit = True
    for key in _foreign():  # what a test set by itself
        del os.environ[key]


def _foreign() -> list[str]:
    return [key for key in os.environ if key.startswith(_FOREIGN)]


def _cut_off(patch: pytest.MonkeyPatch, home: Path) -> None:
    for key in _foreign():
        patch.delenv(key)
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("TZ", "UTC")


def curate(capsys: pytest.CaptureFixture[str], *arguments: str, exits: int = 0) -> str:
    """Run `curate ARGUMENTS`, and return what it printed on both streams."""
    capsys.readouterr()
    code = run_cli(arguments)
    said = capsys.readouterr()
    assert code == exits, said.out + said.err
    return said.out + said.err


class Memory:
    """A memory in a folder of the test's own, and the command line on it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys

    def curate(self, *arguments: str, exits: int = 0) -> str:
        """Run `curate ARGUMENTS --memory ROOT`, and return what it printed on both streams."""
        return curate(self._capsys, *arguments, "--memory", str(self.root), exits=exits)

    def json(self, *arguments: str, exits: int = 0) -> Any:
        """Return what a command prints as JSON."""
        return json.loads(self.curate(*arguments, "--json", exits=exits))

    def night(self, now: str, *more: str, exits: int = 0) -> str:
        """Curate at a moment, and return what the run said."""
        return self.curate("run", "--now", now, *more, exits=exits)

    def day(self, day: str, log: str) -> str:
        """Write the log of a day, curate it at two in the night that follows, and return what the run said."""
        self.write(f"Logs/{day}.md", log)
        return self.night(f"{date.fromisoformat(day) + timedelta(days=1)}T02:00")

    def aside(self, root: Path) -> "Memory":
        """Return another memory, driven in the same way."""
        return Memory(root, self._capsys)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the memory as a person would; of a page, its ledger, too, as `plant` reads it."""
        return plant(self.root, path, text)

    def read(self, path: str) -> str:
        """Return a file's text, line ends as they are."""
        return (self.root / path).read_bytes().decode()

    def row(self, words: str) -> dict[str, Any]:
        """Return the ledger's row of the one item whose line, on any page, says these words."""
        pages = "\n".join(file.read_text() for file in self.root.rglob("*.md") if "Logs" not in file.parts)
        [line] = {line for line in pages.splitlines() if words in line and " ^k" in line}
        rows = [json.loads(row) for file in self.root.glob("State/items/*") for row in file.read_text().splitlines()]
        return next(row for row in rows if row["id"] == line.split("^")[-1])

    def amend(self, words: str, **fields: str) -> None:
        """Change what the ledger has of the item whose line says these words."""
        row = self.row(words)
        for file in self.root.glob("State/items/*"):
            rows = [json.loads(one) for one in file.read_text().splitlines()]
            rows = [one | fields if one["id"] == row["id"] else one for one in rows]
            file.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in rows))

    def git(self, *arguments: str) -> str:
        """Run git in the memory, as its owner would."""
        return git(self.root, *arguments)

    def files(self) -> dict[str, bytes]:
        """Return every file below the memory but those of git and of the derived folder."""
        return {
            str(file.relative_to(self.root)): file.read_bytes()
            for file in sorted(self.root.rglob("*"))
            if file.is_file() and file.relative_to(self.root).parts[0] not in {".git", ".curate"}
        }


@pytest.fixture(scope="session")
def _new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a memory once a process: `curate init` starts git some twenty times, and a copy of what it makes none."""
    root = tmp_path_factory.mktemp("new") / "memory"
    with pytest.MonkeyPatch.context() as patch:
        _cut_off(patch, tmp_path_factory.mktemp("home"))
        assert run_cli(["init", str(root), "--now", "2026-03-01T12:00"]) == 0
    return root


@pytest.fixture
def memory(_new: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Memory:
    """Return a fresh memory as `curate init` makes it."""
    root = tmp_path / "memory"
    shutil.copytree(_new, root, symlinks=True)
    return Memory(root, capsys)


Once = Callable[[Callable[[Memory], object]], Memory]
_LIVED: Final = dict[Callable[[Memory], object], tuple[Path, Path]]()


@pytest.fixture
def once(memory: Memory, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Return how to do to the memory what a function of a module does: done once a process, and copied from then on.

    What the function puts beside the memory, in the test's own folder, is copied, too.
    """

    def lived(live: Callable[[Memory], object]) -> Memory:
        if live in _LIVED:
            kept, there = _LIVED[live]
            shutil.rmtree(tmp_path)
            shutil.copytree(kept, tmp_path, symlinks=True)
            for settings in tmp_path.glob("*/.git/config"):  # which names remotes by their place
                settings.write_text(settings.read_text().replace(str(there), str(tmp_path)))
        else:
            live(memory)
            for derived in tmp_path.glob("*/.curate/remote.git"):  # which knows where the memory stands
                shutil.rmtree(derived)
            kept = shutil.copytree(tmp_path, tmp_path_factory.mktemp("lived") / "all", symlinks=True)
            _LIVED[live] = kept, tmp_path
        return memory

    return lived


@pytest.fixture
def bare_memory(tmp_path: Path) -> Path:
    """Return the template laid down, without git."""
    root = tmp_path / "bare"
    lay_down(root, "UTC")
    return root


@pytest.fixture
def at() -> Callable[[str], datetime]:
    """Return how to write a moment."""
    return lambda text: datetime.fromisoformat(text).astimezone()
