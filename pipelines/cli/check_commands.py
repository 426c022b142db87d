"""`curate check`: is everything accounted for, and is nothing broken? With --secrets: where do secrets stand?

`curate secrets` lists which values are known to be secret, and takes one back.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from dataclasses import asdict
from getpass import getpass
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, now_option, with_root
from pipelines.cli.output import say, say_json, say_table, warn
from pipelines.clock import moment
from pipelines.errors import EXPECTED, FINE, BadSettings, DamagedGit, GitFault, UsageFault
from pipelines.settings import load_settings
from pipelines.store.conservation import Fault, check_memory
from pipelines.store.git import Git
from pipelines.store.git_damage import mend_repository, repository_faults
from pipelines.store.lock import run_lock
from pipelines.store.secrets import load_redactor
from pipelines.store.secrets.redact import known_values
from pipelines.store.secrets.scan import ask_scanner, installed_scanner, scan_files, scan_history
from pipelines.store.snapshot import read_snapshot
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.secrets import Found


@click.command()
@click.option("--fix", is_flag=True, help="Mend what has one right answer, and commit that.")
@click.option("--secrets", is_flag=True, help="Look for secrets instead: in the files as they are.")
@click.option("--history", is_flag=True, help="With --secrets: in every version that git holds, too.")
@json_option("Print the faults as JSON.")
@with_root
@now_option
def curate_check(*, fix: bool, secrets: bool, history: bool, as_json: bool, root: Path, now: str | None) -> int:
    """Check that every item that ever was live is accounted for, and that no hand edit broke anything.

    Each fault is named with file, line and item. The exit code is 1 while there are any. With --secrets, files are
    looked through for secrets instead, and it is said how to get them out of git's history; nothing is changed.
    """
    settings = load_settings(root)
    git = Git(root)
    if secrets:
        git.check()
        return _check_secrets(root, git if history else None, as_json=as_json)
    if history:
        raise UsageFault("--history goes with --secrets.", "Write `curate check --secrets --history`.")
    if fix:
        _mend(root, settings, moment(now, settings), quiet=as_json)
    faults = [*_settings_faults(), *repository_faults(root)]
    try:
        git.check()
        faults += check_memory(read_snapshot(root), git, settings.caps.briefing)
    except GitFault:
        if not faults:
            raise
    if as_json:
        say_json([fault.to_json() for fault in faults])
    else:
        say(*map(str, faults))
        if not faults:
            say("Everything is accounted for, and nothing is broken.")
        elif any(fault.mendable for fault in faults):
            say("`curate check --fix` mends what has one right answer.")
    return EXPECTED if faults else FINE


def _mend(root: Path, settings: Settings, when: datetime, *, quiet: bool) -> None:
    """Mend the repository, then what it holds, and say what was done."""
    from pipelines.night.repair import mend  # noqa: PLC0415  only --fix writes

    with run_lock(root, "curate check --fix"):
        done = mend_repository(root)
    if done and not quiet:
        say("Mended; what gave way is kept in .git/broken:", *(f"  {one}" for one in done))
    try:
        mended = mend(root, settings, when)
    except DamagedGit:
        mended = ""  # what is left is told next
    if not quiet and (mended or not done):
        say(f"Mended: {mended}." if mended else "There was nothing to mend.")


def _settings_faults() -> list[Fault]:
    """Return the faults of the user's own settings, and of the key with which capture seals whose words are whose."""
    faults = []
    try:
        load_user_settings(os.environ)
    except BadSettings as bad:
        faults = [Fault(str(bad.path), 0, "", "settings", f"has a fault: {fault}") for fault in bad.faults]
    return faults


def _check_secrets(root: Path, git: Git | None, *, as_json: bool) -> int:
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
        _tell_secrets(root, files, past, git)
    return EXPECTED if files or past else FINE


def _tell_secrets(root: Path, files: Sequence[Found], past: Sequence[Found], git: Git | None) -> None:
    """Say what was found and how to purge a history. That is never done here: it rewrites what others may have."""
    say(*map(str, (*files, *past)))
    if not (files or past):
        say(f"No secret was found in the files{' or in any version that git holds' if git else ''}.")
        return
    say(
        "\nRevoke each of them where it was issued: whoever saw it has it for good. What is none, mark on its line with"
        "\n<!-- allow-secret -->. Take the others out of your documents; the next run redacts the logs by itself."
    )
    if not git:
        say("`curate check --secrets --history` looks through git's history, too, and says how to purge it.")
    if not (past and git):
        return
    top = shlex.quote(str(git.repository.top))
    listed = shlex.quote(f"{root}/.curate/purge.txt")
    blobs = " ".join(dict.fromkeys(leak.blob for leak in past))
    say(
        "\nTo purge the history, when no file holds any of them and that is committed (git-filter-repo is needed; every"
        "\ncommit after the first of these gets another id, and the versions named above are gone from it):\n"
    )
    say(f"  cp -a {top} {shlex.quote(f'{git.repository.top}.before-purge')}")
    say(f"  printf '%s\\n' {blobs} > {listed}")
    say(f"  git -C {top} filter-repo --force --strip-blobs-with-ids {listed}")
    say("\nThen, if it was ever pushed: add the remote again, `git push --force --all`, and clone anew elsewhere.")


@click.command()
@click.argument("action", type=click.Choice(("list", "allow")), default="list")
@click.argument("tag", default="")
@with_root
def curate_secrets(action: str, tag: str, root: Path) -> None:
    """List the tags of the values that are known to be secret, and the rules that found them; never a value.

    What was found once is redacted wherever it occurs from then on. `curate secrets allow TAG` says that it is no
    secret; without a TAG the value is asked for and not shown, or read from standard input.
    """
    known = known_values(root)
    if action == "allow":
        given = tag or (getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
        if not known.allow(given):
            why = "No known value has that tag." if tag else "That is too short to be a value."
            raise UsageFault(why, "`curate secrets` lists the tags.")
        say("That is no secret from now on. What was redacted already stays redacted.")
    elif known.rules:
        rows = Counter((digest[:4], rule) for digest, rule in known.rules.items())
        say_table(("tag", "rule", "values"), [(tag, rule, str(count)) for (tag, rule), count in sorted(rows.items())])
        say(f"{len(known.rules):,} known. `curate secrets allow TAG` takes one back.")
    else:
        say("No value is known to be secret.")
