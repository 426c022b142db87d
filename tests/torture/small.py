"""A small memory in which one night does all that a night can, and the account of what must stand afterwards."""

import contextlib
import io
import json
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pipelines.cli import run_cli
from pipelines.store.snapshot import read_documents

NOW = "2026-03-21T02:00"
_SETTINGS = "timezone = 'UTC'\n[caps]\nbriefing = 1100\nuser = 1024\ndocument = 8192\n"
_FIRST = """# 2026-03-17

- 08:00 Fact: The staging cluster lives in Reykjavik.
- 08:10 Rule: Never restart the mailer on a Friday.
- 08:20 Fact: Backups are kept for ninety days.
- 08:30 Decision: Invoices are numbered by year.

project: Alpha

- 09:00 Decision: Use SQLite for the cache.
"""
_SECOND = """# 2026-03-19

- 09:00 Fact: The printer answers on port 9100.
- 09:30 had coffee with Mara, nothing else
- 12:00 Rule: Always tag a release before the tarball.
- 12:30 Risk: The certificate runs out in May.
"""
_PARTIAL = "- 08:30 Todo: Call Ben about the badge.\n- 10:15 Fact: The badge office opens at nine.\n"
_LABELLED = (
    "The staging cluster lives in Reykjavik.", "Never restart the mailer on a Friday.",
    "Backups are kept for ninety days.", "Invoices are numbered by year.", "Use SQLite for the cache.",
    "The printer answers on port 9100.", "Always tag a release before the tarball.",
    "The certificate runs out in May.", "Call Ben about the badge.", "The badge office opens at nine.",
)  # fmt: skip
_WORDS = ("written by hand into a project", "mine alone", "had coffee with Mara, nothing else", "a staged note")


@dataclass(frozen=True)
class Account:
    """What a memory is after a night that nothing disturbed.

    Args:
        files: path → bytes of every file but those of git and the derived folder.
        status: what `git status` says of it.
    """

    files: dict[str, bytes]
    status: str


def small_memory(root: Path) -> None:
    """Make a memory with a night behind it, and a day, a partial log and uncommitted edits by hand before it."""
    quiet("init", str(root), "--now", "2026-03-01T12:00")
    (root / "curate.toml").write_text(_SETTINGS)
    (root / "Logs" / "2026-03-17.md").write_text(_FIRST)
    quiet("run", "--now", "2026-03-18T02:00", "--memory", str(root))
    (root / "Logs" / "2026-03-19.md").write_text(_SECOND)
    (root / "Logs" / "partial").mkdir()
    (root / "Logs" / "partial" / "2026-03-19-phone.md").write_text(_PARTIAL)
    with (root / "Projects" / "alpha.md").open("a") as project:
        project.write("\nwritten by hand into a project\n")
    (root / "SOUL.md").write_text("# Soul\n\nmine alone\n")
    (root / "NOTES.txt").write_text("a staged note\n")
    git(root, "add", "NOTES.txt")


def git(root: Path, *arguments: str) -> str:
    """Run git in the memory, as its owner would."""
    owner = ("-c", "user.name=Mara", "-c", "user.email=mara@example.org")
    done = subprocess.run(["git", *owner, *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {arguments[0]}: {done.stdout}{done.stderr}"
    return done.stdout


def files_of(root: Path) -> dict[str, bytes]:
    """Return every file but those of git, the derived folder, and reports, which tell how a run went."""
    own = (path for path in sorted(root.rglob("*")) if path.relative_to(root).parts[0] not in {".git", ".curate"})
    files = {str(path.relative_to(root)): path.read_bytes() for path in own if path.is_file()}
    return {path: data for path, data in files.items() if "/State/runs/" not in f"/{path}"}


def torn_reports(root: Path) -> list[str]:
    """Return the reports of runs that are not whole."""
    torn = []
    for path in sorted(root.glob("**/State/runs/*")):
        try:
            whole = json.loads(path.read_bytes())["run"] == path.stem
        except (ValueError, KeyError):
            whole = False
        torn += [] if whole else [str(path.relative_to(root))]
    return torn


def account_of(root: Path) -> Account:
    """Return the account of a memory after an undisturbed night, and make sure that it is worth comparing with."""
    files = files_of(root)
    everything = b"\n".join(files.values()).decode()
    assert [words for words in (*_WORDS, *_LABELLED) if words not in everything] == []
    assert all(count == 1 for text, count in _items(root).items() if text in _LABELLED)
    assert set(_LABELLED) <= set(_items(root))
    assert "Logs/partial/2026-03-19-phone.md" not in files
    assert len(files["MEMORY.md"]) <= 1100
    assert any("Areas" in path for path in files), "nothing was evicted"
    status = git(root, "status", "--porcelain")
    assert status == "A  NOTES.txt\n"
    return Account(files, status)


def curated(root: Path) -> tuple[int, str]:
    """Run one plain `curate run`, and return its exit code and what it said on standard error."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        code = run_cli(["run", "--now", NOW, "--memory", str(root)])
    return code, wrong.getvalue()


def copied(prepared: Path, place: Path) -> Path:
    """Return a fresh copy of a prepared memory."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    shutil.copytree(prepared, place / "memory", symlinks=True)
    return place / "memory"


def torn_files(root: Path, before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return the files that are neither as they were nor as they will be."""
    now = files_of(root)
    torn = (
        path for path in sorted({*before, *after, *now}) if now.get(path) not in {before.get(path), after.get(path)}
    )
    return [*torn, *torn_reports(root)]


def faults_of(root: Path, account: Account) -> list[str]:
    """Return what is not as after an undisturbed night, a sentence each; the owner goes on working meanwhile."""
    faults = []
    now = files_of(root)
    faults += [
        f"{path} is {'gone' if path not in now else 'not what an undisturbed night leaves'}"
        for path in sorted({*account.files, *now})
        if now.get(path) != account.files.get(path)
    ]
    faults += [f"{path} is not whole" for path in torn_reports(root)]
    faults += [f"{text!r} stands {count} times" for text, count in _items(root).items() if count != 1]
    if (status := git(root, "status", "--porcelain")) != account.status:
        faults.append(f"git status says {status!r}")
    faults += [f"{lock} was left" for lock in (root / ".git").rglob("*.lock")]
    if (root / ".curate" / "pending").exists():
        faults.append("a journal was left")
    if trouble := git(root, "fsck", "--strict", "--no-dangling"):
        faults.append(f"git fsck says {trouble!r}")
    if "port 9100" not in quiet("search", "printer", "--memory", str(root)):
        faults.append("the index does not answer")
    (root / "SOUL.md").write_text("# Soul\n\nmine alone, and more\n")
    git(root, "add", "SOUL.md")
    git(root, "commit", "--quiet", "-m", "by hand")
    return faults


def _items(root: Path) -> Counter[str]:
    return Counter(placed.item.text for document in read_documents(root).values() for placed in document.items)


def quiet(*words: str) -> str:
    """Run a command that must end well, and return what it said."""
    said = io.BytesIO()  # JSON is printed as bytes
    with contextlib.redirect_stdout(io.TextIOWrapper(said, write_through=True)):
        assert run_cli(words) == 0, said.getvalue()
        return said.getvalue().decode()
