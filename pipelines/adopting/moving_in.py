"""Making a memory of notes where they lie: curate.toml, the folder of what runs make, and a commit, all of it new."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.adopting.in_place import settings_text
from pipelines.errors import UsageFault
from pipelines.memory.edits import commit_edits, find_edits
from pipelines.memory.files import create_file, writing
from pipelines.memory.git import Author, Git
from pipelines.memory.layout import PRIVATE, SESSIONS, SETTINGS
from pipelines.memory.lock import run_lock
from pipelines.memory.names import real_path
from pipelines.memory.template import lay_down, template_files

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.adopting.copying import Making
    from pipelines.adopting.in_place import InPlace


def repository_of(root: Path) -> Path | None:
    """Return the top of the git repository that a folder stands in, or None where it stands in none.

    Raises:
        UsageFault: the repository's ignore rules leave out what a memory must commit.
        DetachedHead, GitFault: no commit can be made in it.
    """
    git = Git(root)
    if not git.is_repository() and not os.path.lexists(root / ".git"):
        return None
    git.check()
    if git.ignored([SETTINGS]):
        raise UsageFault(
            f"The repository at {git.repository.top} ignores {root / SETTINGS}.",
            "A memory needs git: change the ignore rules, or copy the notes, without --in-place.",
        )
    return git.repository.top


def move_in(plan: InPlace, root: Path, making: Making) -> tuple[str, ...]:
    """Make a memory of a folder, and commit it. No file that is there is touched.

    From the moment at which curate.toml is there it is a memory, and what a broken start left out the next run adds.

    Returns:
        The files that hold a secret or something private, which were not committed.

    Raises:
        UsageFault: curate.toml came to be there meanwhile.
        NotWritable: the disk refused.
        GitFault: git refused.
    """
    git = Git(root)
    if repository_of(root) is None:
        git.init()
        git.check()
    _leave_out(git, plan.names.home)
    template = template_files(making.template)[SETTINGS].decode()
    if not create_file(root, SETTINGS, settings_text(template, making.timezone, plan.layout).encode()):
        raise UsageFault(f"{root / SETTINGS} is there already.", f"`curate init {root}` adds what it lacks.")
    lay_down(root, making.template, making.timezone)
    with run_lock(root, "curate init"):
        edits = find_edits(root, git)
        author = Author(*(git.identity() or making.author), making.now)
        commit_edits(root, git, f"Adopt {plan.kind.called} in place\n", author, edits)
    return tuple(real_path(root, path) for path in edits.held)


def _leave_out(git: Git, home: str) -> None:
    """Tell git to ignore what is private, where no file of the person's says so: in the repository's own list."""
    wanted = [f"/{git.prefix}{PRIVATE}/", f"/{git.prefix}{home}/{SESSIONS}/"]
    file = git.repository.common_dir / "info" / "exclude"
    with writing(file):
        file.parent.mkdir(exist_ok=True)
        there = file.read_text(errors="surrogateescape") if file.exists() else ""
        missing = [line for line in wanted if line not in there.splitlines()]
        if missing:
            gap = "" if not there or there.endswith("\n") else "\n"
            with file.open("a") as out:
                out.write(gap + "".join(f"{line}\n" for line in missing))
