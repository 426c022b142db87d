"""`curate check` looks for lost items, damage and secrets; `curate secrets` lists known secrets or allows one."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import flag_option, json_option, with_root
from pipelines.cli.output import count, say, say_json, say_table, say_verbatim
from pipelines.errors import EXPECTED, FINE, GitFault, UsageFault
from pipelines.settings import load_settings
from pipelines.store.conservation import check_memory, repository_faults
from pipelines.store.git import Git
from pipelines.store.secrets.known import TAG_DIGITS
from pipelines.store.secrets.redact import known_values, load_redactor
from pipelines.store.secrets.scan import scan_files, scan_history
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.store.secrets.redact import FoundSecret


@click.command()
@flag_option("--secrets", "Look for secrets in the current files instead.")
@flag_option("--history", "With --secrets: also look in every version in git.")
@json_option("Print the faults as JSON.")
@with_root
def curate_check(*, secrets: bool, history: bool, as_json: bool, root: Path) -> int:
    """Check that no item was lost, and that no edit broke anything.

    This names each fault with its file, line and item; the exit code is 1 if there are any. With --secrets it looks for
    secrets instead and prints the commands that remove them from git's history. Nothing is changed.
    """
    settings = load_settings(root)
    git = Git(root)
    if secrets:
        git.check()
        return _check_secrets(root, git if history else None, as_json=as_json)
    if history:
        raise UsageFault("--history needs --secrets.", "Run `curate check --secrets --history`.")
    faults = repository_faults(root)
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
    return EXPECTED if faults else FINE


def _check_secrets(root: Path, git: Git | None, *, as_json: bool) -> int:
    """Print the secrets in the memory's files, and return 1 if there are any.

    Args:
        root: the memory.
        git: its repository, to look through every version as well, or None.
        as_json: whether to print JSON.
    """
    redactor = load_redactor(root)
    files = list(scan_files(root, redactor))
    past = scan_history(git, redactor) if git else []
    if as_json:
        say_json([asdict(leak) for leak in (*files, *past)])
    else:
        _tell_secrets(root, files, past, git)
    return EXPECTED if files or past else FINE


def _tell_secrets(root: Path, files: Sequence[FoundSecret], past: Sequence[FoundSecret], git: Git | None) -> None:
    """Print what was found and how to purge the history, which only the user may rewrite."""
    say(*map(str, (*files, *past)))
    if not (files or past):
        say(f"No secret was found in the files{' or in any version that git holds' if git else ''}.")
        return
    say(
        "\nRevoke each secret where it was issued, because whoever saw it keeps it. To allow a false positive, add"
        " <!-- allow-secret --> to its line. Remove the others from your documents; the next run redacts the logs."
    )
    if not git:
        say("`curate check --secrets --history` also searches git's history, and prints how to purge it.")
    if not (past and git):
        return
    top = shlex.quote(str(git.root))
    listed = shlex.quote(f"{root}/.curate/purge.txt")
    blobs = " ".join(dict.fromkeys(leak.blob for leak in past))
    say(
        "\nOnce no file holds any of them and that is committed, purge the history with git-filter-repo. This removes"
        " the versions above, and every later commit gets a new id:\n"
    )
    say_verbatim(f"  cp -a {top} {shlex.quote(f'{git.root}.before-purge')}")
    say_verbatim(f"  printf '%s\\n' {blobs} > {listed}")
    say_verbatim(f"  git -C {top} filter-repo --force --strip-blobs-with-ids {listed}")
    say("\nIf it was ever pushed, add the remote again, run `git push --force --all`, and clone it again elsewhere.")


@click.command()
@click.argument("action", type=click.Choice(("list", "allow")), default="list")
@click.argument("tag", default="")
@with_root
def curate_secrets(action: str, tag: str, root: Path) -> None:
    """List the tags of known secrets and the rules that found them, but never a value.

    A value that was found once is redacted wherever it occurs. `curate secrets allow TAG` stops that for one value.
    """
    known = known_values(root)
    if action == "allow":
        if not known.allow(tag):
            raise UsageFault("No known secret has that tag.", "`curate secrets` lists the tags.")
        say("Allowed: this value is no longer treated as a secret. What was redacted stays redacted.")
    elif known.rules:
        rows = Counter((digest[:TAG_DIGITS], rule) for digest, rule in known.rules.items())
        say_table(("tag", "rule", "values"), [(tag, rule, str(values)) for (tag, rule), values in sorted(rows.items())])
        say(f"{count(len(known.rules), 'known secret')}. `curate secrets allow TAG` allows one.")
    else:
        say("No secrets are known.")
