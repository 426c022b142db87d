"""The memory: its settings, its repository, its items, its index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.clock import system_zone
from pipelines.doctor.findings import look, ok, wrong
from pipelines.search.damage import index_facts
from pipelines.settings import load_settings
from pipelines.store.conservation import check_memory
from pipelines.store.git import Git
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.doctor.findings import Finding


def settings(root: Path) -> Finding:
    """Read curate.toml, its time zone included; faults come as the error that names them all."""
    found = load_settings(root)
    if ignored := found.ignored_note:
        return look("settings", ignored[0], "Put it into your own settings, if you want it; docs/models.md says where.")
    says = f"curate.toml is sound; days are cut in {found.timezone} at {found.day_end}."
    if found.timezone != (here := system_zone()):
        return look("settings", f"{says} This machine is in {here}.", "See that `timezone` is the one you live in.")
    return ok("settings", says)


def repository(root: Path) -> Finding:
    """See that a commit can be made; if not, the error says why."""
    git = Git(root)
    git.check()
    if git.identity() is None:
        return look("repository", "A commit can be made; git does not know your name.", "`git config user.name NAME`.")
    return ok("repository", "A commit can be made.")


def items(root: Path) -> Finding:
    """See that every item is accounted for and nothing is broken."""
    snapshot = read_snapshot(root)
    faults = check_memory(snapshot, Git(root), load_settings(root).caps.briefing)
    if faults:
        count = "One fault" if len(faults) == 1 else f"{len(faults)} faults"
        return wrong("items", f"{count} in what the memory holds.", "`curate check` names each; `--fix` mends some.")
    if snapshot.warnings:
        return look("items", f"{snapshot.warnings[0]}", "Mend that file, or move it.")
    return ok("items", "Everything is accounted for.")


def index(root: Path) -> Finding:
    """See whether search answers, and follows the files."""
    facts = index_facts(root)
    if facts.state == "current":
        return ok("index", f"{facts.units:,} units; it follows the files.")
    if facts.state in {"behind", "missing"}:
        return ok("index", facts.sentence)
    return look("index", facts.sentence, "`curate index` mends it.")
