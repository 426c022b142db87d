"""`curate check --secrets`: where secrets stand, and how to get them out of git."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from pipelines.commands.output import say, say_json, warn
from pipelines.errors import EXPECTED, FINE
from pipelines.store.secrets import load_redactor
from pipelines.store.secrets.scan import scan_files, scan_history
from pipelines.store.secrets.scanners import ask_scanner, installed_scanner

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.store.git import Git
    from pipelines.store.secrets.scan import Leak


def tell_secrets(root: Path, git: Git | None, *, as_json: bool) -> int:
    """Say which secrets the memory's files hold, and return 1 where there are any.

    Args:
        root: the memory.
        git: its repository, where every version that it holds shall be looked through, too.
        as_json: whether a script reads it.
    """
    redactor = load_redactor(root)
    files = list(scan_files(root, redactor))
    if program := installed_scanner(root, os.environ):
        more, fault = ask_scanner(program, root)
        known = {(leak.path, leak.line) for leak in files}
        files += [leak for leak in more if (leak.path, leak.line) not in known]
        if fault:
            warn(f"curate check: {fault}")
    past = scan_history(git, redactor) if git else []
    if as_json:
        say_json([asdict(leak) for leak in (*files, *past)])
    else:
        _tell(root, files, past, git)
    return EXPECTED if files or past else FINE


def _tell(root: Path, files: Sequence[Leak], past: Sequence[Leak], git: Git | None) -> None:
    for leak in (*files, *past):
        say(str(leak))
    if not (files or past):
        say(f"No secret was found in the files{' or in any version that git holds' if git else ''}.")
        return
    say(
        "\nRevoke each of them where it was issued: whoever saw it has it for good. What is none, mark on its line with"
    )
    say("<!-- allow-secret -->. Take the others out of your documents; the next run redacts the logs by itself.")
    if past and git:
        _tell_purge(root, past, git)
    elif files and not git:
        say("`curate check --secrets --history` looks through git's history, too, and says how to purge it.")


def _tell_purge(root: Path, past: Sequence[Leak], git: Git) -> None:
    """Say how to purge a history. It is never done here: it rewrites commits that others may have."""
    top = shlex.quote(str(git.repository.top))
    blobs = " ".join(dict.fromkeys(leak.blob for leak in past))
    say(
        "\nTo purge the history, when no file holds any of them and that is committed (git-filter-repo is needed; every"
    )
    say("commit after the first of these gets another id, and the versions named above are gone from it):\n")
    say(f"  cp -a {top} {shlex.quote(f'{git.repository.top}.before-purge')}")
    say(f"  printf '%s\\n' {blobs} > {shlex.quote(f'{root}/.curate/purge.txt')}")
    say(f"  git -C {top} filter-repo --force --strip-blobs-with-ids {shlex.quote(f'{root}/.curate/purge.txt')}")
    say("\nThen, if it was ever pushed: add the remote again, `git push --force --all`, and clone anew elsewhere.")
