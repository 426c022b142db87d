"""Making a memory of notes where they lie: curate.toml, the folder of what runs make, and a commit, all of it new."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.adopting.in_place import settings_text
from pipelines.errors import UsageFault
from pipelines.store.edits import commit_edits, find_edits
from pipelines.store.files import create_file
from pipelines.store.git import Author, Git
from pipelines.store.layout import BRIEFING, SETTINGS
from pipelines.store.lock import run_lock
from pipelines.store.template import lay_down, template_files
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.adopting.copying import Making
    from pipelines.adopting.in_place import InPlace


def repository_of(root: Path, plan: InPlace) -> Path | None:
    """Return the top of the git repository that a folder stands in, or None where it stands in none.

    Raises:
        UsageFault: the repository ignores what a memory must commit, or has it go through a filter.
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
    _refuse_filters(git, [SETTINGS, f"{plan.names.home}/{BRIEFING}", *plan.logs, *plan.opted_in])
    return git.repository.top


def _refuse_filters(git: Git, paths: Sequence[str]) -> None:
    """Refuse a repository that encrypts or otherwise filters files: commits of a memory hold them as they stand."""
    told = git.run("check-attr", "-z", "--stdin", "filter", data=b"".join(os.fsencode(path) + b"\0" for path in paths))
    fields = [os.fsdecode(field) for field in told.split(b"\0")]
    for path, value in zip(fields[::3], fields[2::3], strict=False):
        if value not in {"unspecified", "unset"}:
            raise UsageFault(
                f"The repository at {git.repository.top} has {path} go through the filter {value}.",
                "Commits of a memory would hold it unfiltered: copy the notes, without --in-place.",
            )


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
    if repository_of(root, plan) is None:
        git.init()
        git.check()
    template = template_files(making.template)[SETTINGS].decode()
    if not create_file(root, SETTINGS, settings_text(template, making.timezone, plan.layout).encode()):
        raise UsageFault(f"{root / SETTINGS} is there already.", f"`curate init {root}` adds what it lacks.")
    lay_down(root, making.template, making.timezone)
    with run_lock(root, "curate init"):
        edits = find_edits(root, git)
        author = Author(*(git.identity() or making.author), making.now)
        commit_edits(root, git, f"Adopt {plan.kind.called} in place\n", author, edits)
    return tuple(real_path(root, path) for path in edits.held)
