"""What the torture tests share: a prepared memory, its account, and the table at the end."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.figures import FOLDER, table
from tests.torture.small import account_of, copied, curated, files_of, small_memory
from tests.torture.strace import WARM


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder in which all workers of a torture run put their figures."""
    if config.getoption("markexpr") == "torture" and not hasattr(config, "workerinput"):
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="torture-")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures once, at the end."""
    if FOLDER not in os.environ or hasattr(terminalreporter.config, "workerinput"):
        return
    folder = Path(os.environ[FOLDER])
    if lines := table(folder):
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(lines))
    shutil.rmtree(folder, ignore_errors=True)


class Prepared:
    """A memory with a night before it, and the account of that night undisturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "prepared"
        small_memory(self.source)
        self.before = files_of(self.source)
        done = copied(self.source, folder / "done")
        assert curated(done) == (0, "")
        self.account = account_of(done)

    def copy(self) -> Path:
        """Return a fresh copy."""
        return copied(self.source, self.folder / "point")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """Return the prepared memory of this worker."""
    with pytest.MonkeyPatch.context() as patch:
        for key in [key for key in os.environ if key.startswith(("CURATE_", "GIT_", "XDG_"))]:
            patch.delenv(key)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield Prepared(tmp_path_factory.mktemp("torture"))
        WARM.close()
