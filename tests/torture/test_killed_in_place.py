"""Killed anywhere, in notes that lie in place: a person's own pages are written into, beside what is only theirs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.agents.adopt.samples import lay
from tests.torture.figures import Series
from tests.torture.small import Account, copied, curated, files_of, git, quiet
from tests.torture.strace import WARM, needs_strace
from tests.torture.test_killed import kill_at, own_points, points_in_git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_strace
PARTS = 2
EVERY = 8
"""Of the points in git each how-manyeth is tried: the whole of them is tried where nothing has other names."""

_VAULT = {
    ".obsidian/daily-notes.json": '{"folder": "Daily"}',
    "Daily/2026-03-17.md": "# Tuesday\r\n\r\n- Rule: Never restart the mailer on a Friday.\r\n",
    "Projects/Alpha.md": "---\ntitle: Alpha\nmood: bright\n---\n# Alpha\n\n- Fact: Backups are kept for ninety days.\n",
    "Ideas/Map.md": "# Map\n\n- Fact: A purple lighthouse stands there.\n",
    "MEMORY.md": "# Memory\n\n- Fact: The choir has 40 voices.\n",
    "SOUL.md": "# Soul\n\nmine alone\n",
}
_SINCE = {
    "Daily/2026-03-19.md": (
        "- Fact: The printer answers on port 9100.\n- had coffee with Mara, nothing else\n"
        "- Decision: [project: Alpha] Use SQLite for the cache.\n- Todo: [project: Beta] Call Ben about the badge."
    ),
    "NOTES.txt": "a staged note\n",
}
_THEIRS = ("Daily/2026-03-17.md", "Daily/2026-03-19.md", "Ideas/Map.md", "SOUL.md", "NOTES.txt")


class InPlace:
    """A vault with a night behind it, edits by hand since, and the account of the next night undisturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = lay(folder / "prepared", _VAULT)
        opted_in = ("--opt-in", "Projects/*.md", "--opt-in", "MEMORY.md")
        quiet(
            "init",
            "--adopt",
            str(self.source),
            "--in-place",
            "--as",
            "obsidian",
            "--yes",
            *opted_in,
            "--now",
            "2026-03-16T12:00",
        )
        quiet("run", "--now", "2026-03-18T02:00", "--memory", str(self.source))
        lay(self.source, _SINCE)
        with (self.source / "Projects" / "Alpha.md").open("a") as page:
            page.write("\nwritten by hand into a page\n- Risk: The certificate runs out in May.\n")
        git(self.source, "add", "NOTES.txt")
        self.before = files_of(self.source)
        done = copied(self.source, folder / "done")
        assert curated(done) == (0, "")
        self.account = self._account(done)

    def _account(self, done: Path) -> Account:
        files = files_of(done)
        changed = {path for path, data in self.before.items() if files.get(path) != data}
        assert not changed & {*_THEIRS}
        assert {"Projects/Alpha.md", "MEMORY.md", "Curated/State/progress.jsonl"} <= changed
        page = files["Projects/Alpha.md"].decode()
        assert all(text in page for text in ("written by hand into a page", "Use SQLite for the cache. <!-- k"))
        assert "Curated/Projects/beta.md" in files.keys() - self.before.keys()
        return Account(files, git(done, "status", "--porcelain"))

    def copy(self) -> Path:
        """Return a fresh copy."""
        return copied(self.source, self.folder / "point")


@pytest.fixture(scope="module")
def in_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InPlace]:
    with pytest.MonkeyPatch.context() as patch:
        for key in [key for key in os.environ if key.startswith(("CURATE_", "GIT_", "XDG_"))]:
            patch.delenv(key)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield InPlace(tmp_path_factory.mktemp("torture"))
        WARM.close()


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_in_the_run(in_place: InPlace, part: int) -> None:
    points = own_points(in_place.copy())[part::PARTS]
    kill_at(in_place, in_place.source, points, Series("killed in the run, notes in place"))


@pytest.mark.torture
def test_killed_in_git(in_place: InPlace) -> None:
    points = points_in_git(in_place.copy())[::EVERY]
    kill_at(in_place, in_place.source, points, Series("killed in a git of the run, notes in place"))
