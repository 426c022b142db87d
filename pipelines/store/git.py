"""The git repository of a memory: its content, and commits to it.

No hook, fsmonitor, filter or signing prompt runs, as they would with GitPython's own commits: `git fast-import` stores
commits without the person's index, so that staged changes stay as they are.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import (
    DamagedGit,
    DetachedHead,
    GitFailed,
    GitFault,
    NotARepository,
    TooMuchFromGit,
)
from pipelines.store import git_process
from pipelines.store.files import read_bytes, replace_synced, sync_folder, writing
from pipelines.store.git_locks import Repository, clear_stale_locks, wait_for_locks
from pipelines.store.git_objects import Commit, Entry, import_stream
from pipelines.store.git_process import GitCommands, Process, reason_in
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import killed_between, private_folder
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from hashlib import _Hash
    from pathlib import Path


MOST_FILES: Final = 1_000_000
"""The limit of files below the memory in one commit."""
_APART = "Give the memory a repository of its own, without unrelated files."
_FOLDER = "40000"
"""The mode of a folder in a git tree."""
_FOLDERS = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
_LAG = "index-base"
_SCRATCH = "refs/curate/doctor"
_BEGUN = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}
_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
"""What git's `ident.c` strips from both ends of a name."""
_NEAR = 64
_BY_RUN = re.compile(r"^(?:Run-Id|Joins): ", re.MULTILINE)
_MANY_PACKS = 16
_BAD_USAGE = 129


class Git(GitCommands):
    """The git repository that contains a memory. Paths are canonical, relative to the memory, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root, self.layout = root, layout_of(root)
        # Commits and trees are immutable, and read often in one run.
        self._trees: dict[str, dict[str, tuple[str, str]]] = {}
        self._listed: dict[str, list[tuple[str, str, str]]] = {}
        self._repository: Repository | None = None
        self._reader: Process | None = None

    # ------------------------------------------------------------ asking

    def is_repository(self) -> bool:
        """Whether the memory is in a repository's work tree."""
        return self._ask("rev-parse", "--is-inside-work-tree") == "true"

    def check(self) -> None:
        """Check that a commit can be made here.

        Raises:
            GitMissing: there is no git program.
            NotARepository: the memory is not under git.
            GitFault: there are commits, but HEAD names none that is readable: a new commit would have no history; or
                a merge or the like is in progress: a commit would keep both sides, and the marks between them.
            DetachedHead: HEAD names no branch.
        """
        self._repository = None  # it may have changed
        if self.head() is None:
            own, common = self.repository.git_dir / "logs" / "HEAD", self.repository.common_dir / "refs" / "heads"
            if (own.exists() and own.stat().st_size) or any(file.is_file() for file in common.rglob("*")):
                raise DamagedGit(f"HEAD of the repository at {self.root} names no readable commit.")
        if not self.repository.branch.startswith("refs/"):
            raise DetachedHead(self.root, self.head() or "nothing")
        begun = (what for name, what in _BEGUN.items() if (self.repository.git_dir / name).exists())
        if what := next(begun, ""):
            advice = f"Finish it with `git {what} --continue`, or take it back with `git {what} --abort`."
            raise GitFault(f"The git repository at {self.root} is in the middle of a {what}.", advice)

    def damage(self) -> list[str]:
        """Return what git says is broken in the repository, one sentence or line for each fault. Changes nothing."""
        try:
            self.check()
        except DamagedGit as fault:
            return [fault.args[0].rstrip(".")]
        except GitFault:
            pass  # on no branch, or in the middle of a merge: nothing is damaged
        code, out, error = self._call(["fsck", "--no-dangling", "--no-reflogs", "--no-progress"])
        return (out + error).decode(errors="replace").splitlines() or ["git fsck failed"] if code else []

    def first_remote(self) -> str:
        """Return the name of a remote, or an empty string if there is none or the settings cannot be read."""
        return (self._ask("remote") or "").partition("\n")[0]

    @property
    def repository(self) -> Repository:
        """The repository's folders, the memory's path in it, and the current branch."""
        if self._repository is None:
            asked = ["rev-parse", "--is-inside-work-tree", *_FOLDERS, "--show-prefix", "--symbolic-full-name", "HEAD"]
            code, out, error = self._call(asked)
            inside, *lines = out.split(b"\n")
            if code and inside != b"false" and (self.root / ".git").exists() and len(lines) < len(_FOLDERS):
                raise DamagedGit(f"git cannot use {self.root}: {reason_in(error)}")
            if inside != b"true":
                raise NotARepository(self.root)
            if lines[len(_FOLDERS)] and (self.root / ".git").exists():  # git found one in a parent folder instead
                raise DamagedGit(f"git cannot use the repository at {self.root}.")
            *folders, prefix, branch, _ = lines
            if len(folders) != len(_FOLDERS):  # a name contains a line end: ask for each separately
                folders = self.run("rev-parse", *_FOLDERS).splitlines()
                prefix = self.run("rev-parse", "--show-prefix").removesuffix(b"\n")
            if len(folders) != len(_FOLDERS):
                raise GitFault(f"git cannot locate the repository of {self.root}.")
            name = self._ask("symbolic-ref", "--quiet", "HEAD") or "HEAD" if code else os.fsdecode(branch)
            own, common, top = (self.root / os.fsdecode(folder) for folder in folders)
            self._repository = Repository(own, common, top, os.fsdecode(prefix), name)
        return self._repository

    def object(self, name: str) -> tuple[str, bytes, bytes] | None:
        """Return id, type and bytes of an object, by its id or as `HEAD`; None if it does not exist.

        Raises:
            TooMuchFromGit: it is too large to hold.
            GitFault: git failed.
        """
        reader = self._reader or self.start("cat-file", "--batch")
        self._reader = None  # until it has answered: its next output may be the rest of this answer
        reader.write(name.encode() + b"\n")
        fields = reader.readline().split(b" ")
        found = None
        if len(fields) == 3:  # noqa: PLR2004  id, type and size; else the name and "missing"
            ident, kind, size = fields[0].decode(), fields[1], int(fields[2])
            if size > git_process.MOST_BYTES:
                raise TooMuchFromGit("cat-file", git_process.MOST_BYTES)
            found = ident, kind, reader.read(size + 1)[:-1]
        self._reader = reader
        return found

    def head(self) -> str | None:
        """Return the id of HEAD's commit, or None before the first one."""
        try:
            found = self.object("HEAD")
        except GitFailed:
            return None
        return found[0] if found else None

    def blob(self, ident: str) -> bytes | None:
        """Return the bytes of a blob, or None for a submodule or a blob missing from a partial clone."""
        found = self.object(ident)
        return found[2] if found and found[1] == b"blob" else None

    def read_commit(self, name: str) -> Commit | None:
        """Return a commit, by its id or as `HEAD`; None if it is missing, as beyond the end of a shallow clone."""
        found = self.object(name)
        if found is None or found[1] != b"commit":
            return None
        head, _, message = found[2].decode(errors="replace").partition("\n\n")
        rows = [row.split(" ") for row in head.split("\n")]
        tree, parents = ([row[-1] for row in rows if row[0] == key] for key in ("tree", "parent"))
        committed = next((row for row in rows if row[0] == "committer"), [])
        seconds = int(committed[-2]) if len(committed) > 2 and committed[-2].isdecimal() else 0  # noqa: PLR2004  words before
        return Commit(found[0], tree[0], tuple(parents), seconds, message)

    def tree(self, commit: str | None) -> dict[str, tuple[str, str]]:
        """Return path → (mode, blob id) of a commit's files below the memory; empty for None."""
        if commit is None or commit in self._trees:
            return dict(self._trees.get(commit or "", {}))
        if (made := self.read_commit(commit)) is None:
            raise DamagedGit(f"The repository of {self.root} has no commit {commit[:10]}.")
        top = made.tree
        for part in filter(None, self.repository.prefix.split("/")):
            inner = (tree for mode, name, tree in self._entries(top) if name == part and mode == _FOLDER)
            top = next(inner, "") if top else ""
        found: list[tuple[str, str, str]] = []
        waiting, seen = [("", top)] if top else [], 0
        while waiting:
            above, tree = waiting.pop()
            for mode, name, ident in self._entries(tree):
                if (seen := seen + 1) > MOST_FILES:
                    why = f"{commit[:10]} contains more than {MOST_FILES:,} files."
                    raise GitFault(why, _APART)
                if mode == _FOLDER:
                    waiting.append((f"{above}{name}/", ident))
                else:
                    found.append((above + name, mode, ident))
        named = ((self.layout.tracked(path), mode, ident) for path, mode, ident in sorted(found))
        self._trees[commit] = {path: (mode, ident) for path, mode, ident in named if path is not None}
        return dict(self._trees[commit])

    def _entries(self, tree: str) -> list[tuple[str, str, str]]:
        """Return mode, name and id of each entry of a tree; most trees of two commits are the same."""
        if tree in self._listed:
            return self._listed[tree]
        found = self.object(tree)
        if found is None:
            raise DamagedGit(f"The repository of {self.root} lacks the tree {tree[:10]}.")
        data, at, size = found[2], 0, len(tree) // 2  # all ids of a repository have the same length
        entries = []
        while at < len(data):
            space = data.index(b" ", at)
            end = data.index(b"\0", space) + 1
            mode, name, ident = data[at:space], data[space + 1 : end - 1], data[end : end + size]
            entries.append((mode.decode(), os.fsdecode(name), ident.hex()))
            at = end + size
        self._listed[tree] = entries
        return entries

    def show(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes at a commit, or None if the commit lacks it."""
        entry = self.tree(commit).get(path)
        return self.blob(entry[1]) if entry else None

    def versions(self, path: str) -> list[str]:
        """Return the commits that changed a file, newest first."""
        listed = self._ask("log", "--full-history", "--format=%H", "--", self.layout.real(path))
        return listed.split() if listed else []

    def last_run(self, since: str = "", until: str = "HEAD") -> str | None:
        """Return the newest commit that a run, or a join of two machines, made; None before the first one.

        Args:
            since: a commit; consider only later ones. Empty for all.
            until: a commit; consider only it and earlier ones.
        """
        found: tuple[str, ...] = (until,)
        seen: set[str] = set()
        waiting: list[Commit] = []
        for _ in range(0 if since else _NEAR):  # mostly it is among the newest, and needs no other git process
            for ident in found:
                if ident not in seen and (commit := self.read_commit(ident)):
                    seen.add(ident)
                    waiting.append(commit)
            if not waiting:
                return None
            newest = max(waiting, key=lambda one: one.seconds)
            if _BY_RUN.search(newest.message):
                return newest.id
            waiting.remove(newest)
            found = newest.parents
        commits = f"{since}..{until}" if since else until
        return self._ask("log", "-1", "--format=%H", "--grep=^Run-Id: ", "--grep=^Joins: ", commits, "--") or None

    def last_run_or_start(self) -> str | None:
        """Return the newest commit of a run; before the first run, the newest that is not one of a person's edits."""
        asked = (
            "log",
            "-1",
            "--format=%H",
            "--invert-grep",
            "--grep=^Edits since the last run",
            "--grep=^Edits by hand",
        )
        return self.last_run() or self._ask(*asked, "HEAD", "--") or None

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return those of the paths that git ignores."""
        asked = {self.layout.real(path): path for path in paths}
        data = b"".join(os.fsencode(real) + b"\0" for real in asked)
        _, out, _ = self._call(["check-ignore", "-z", "--stdin", "--no-index"], data=data)
        return {asked.get(real, real) for real in map(os.fsdecode, out.split(b"\0")) if real}

    def identity(self) -> tuple[str, str] | None:
        """Return the person's name and email address, if git's configuration has both."""
        listed = self._ask("config", "-z", "--get-regexp", r"^user\.(name|email)$") or ""
        listed = os.fsencode(listed).decode(errors="replace")  # a commit is UTF-8
        found = dict(row.partition("\n")[::2] for row in listed.split("\0"))  # the last value of a key counts
        name, mail = found.get("user.name", "").rstrip("\n"), found.get("user.email", "").rstrip("\n")
        return (name, mail) if name and mail else None

    # ------------------------------------------------------------ writing

    def settle(self) -> None:
        """Clean up after a killed process: remove stale locks, and update an index that is behind its branch."""
        clear_stale_locks(self.repository, killed_between(self.root))
        self._follow_in_index()

    def pack(self) -> None:
        """Repack if there are many packs; no object is lost.

        Each commit is a pack of its own. Each pack is kept at least twice as large as all smaller ones together, so an
        object is rewritten only as often as the logarithm of the history's length.
        """
        objects = self.repository.common_dir / "objects"
        if len(list((objects / "pack").glob("*.pack"))) < _MANY_PACKS:
            return
        code, _, _ = self._call(["repack", "-d", "-l", "-q", "--geometric=2"])
        if code == _BAD_USAGE:  # before git 2.32
            self._call(["repack", "-a", "-d", "-l", "-q"])

    def init(self, branch: str = "main", kind: str = "sha1") -> None:
        """Make the memory a repository of its own, with this branch and object format."""
        self.run("init", "--quiet", f"--initial-branch={branch}", "--template=", f"--object-format={kind}")

    def commit(
        self, changes: Mapping[str, Entry | None], message: str, author: Author, *, follow: bool = True
    ) -> str | None:
        """Commit files on top of HEAD and return the commit's id, or None if nothing changed.

        Args:
            changes: path → (mode, bytes or blob id), or None to delete the file.
            message: the whole message, with its trailers.
            author: author and time.
            follow: whether the person's index follows now; else with the next commit, or at the next `settle`.

        Raises:
            GitFault: git refused, another git holds a lock, or HEAD moved meanwhile.
        """
        head = self.head()
        before = self.tree(head)
        new = {}
        for path, entry in changes.items():
            was, now = before.get(path), entry
            if was and entry and isinstance(entry[1], bytes):
                now = entry[0], blob_id(entry[1], was[1])
            if now != was:
                new[path] = entry
        if not new:
            return None
        made = self.store_commit([head] if head else [], new, message, author)
        self.advance(made, head, f"commit: {message.partition(chr(10))[0]}", follow=follow)
        return made

    def store_commit(
        self, parents: Sequence[str], changes: Mapping[str, Entry | None], message: str, author: Author
    ) -> str:
        """Store a commit that changes files of the first parent, without moving a branch, and return its id."""
        wait_for_locks(self.repository, killed_between(self.root))
        order = sorted(changes, key=lambda path: (changes[path] is not None, path))  # deletions first: make room
        entries = {os.fsencode(self.repository.prefix + self.layout.real(path)): changes[path] for path in order}
        # Like git, drop what would end the name or the address.
        name, mail = (re.sub(r"[<>\n\0]", "", word).strip(_CRUD) for word in author[:2])
        signed = f"{name} <{mail}> {int(author.when.timestamp())} {author.when:%z}"
        stream = b"".join(import_stream(parents, entries, message, signed.encode()))
        return self.run("fast-import", "--quiet", "--done", data=stream).decode().strip()

    def try_commit(self) -> None:
        """Test whether a commit can be stored and referenced, and remove both again. Does nothing before the first one.

        Raises:
            GitFault: git refused, as it would at night.
            NotWritable: the pack folder is not writable.
        """
        head, objects = self.read_commit("HEAD"), self.repository.common_dir / "objects"
        if head is None:
            return
        self.run("ls-files", "--unmerged")  # fails if the index is damaged
        with writing(objects / "pack"), tempfile.TemporaryFile(dir=objects / "pack"):
            pass
        signed = f"curate doctor <> {int(time.time())} +0000"
        text = f"tree {head.tree}\nparent {head.id}\nauthor {signed}\ncommitter {signed}\n\nTried\n"
        made = self.run("hash-object", "-t", "commit", "-w", "--stdin", data=text.encode()).decode().strip()
        self.run("update-ref", _SCRATCH, made)
        self.run("update-ref", "-d", _SCRATCH)
        (objects / made[:2] / made[2:]).unlink(missing_ok=True)

    def advance(self, made: str, head: str | None, why: str, *, follow: bool = True) -> None:
        """Move the branch from `head` to a stored commit; `follow` as for `commit`.

        Raises:
            GitFault: another git holds a lock, or HEAD moved meanwhile.
        """
        packs = self.repository.common_dir / "objects" / "pack"
        with writing(packs):
            sync_folder(packs)  # git flushes the pack, but not the folder it is renamed into
        # Record the commit of the person's index before the branch moves on; keep an earlier record.
        note = private_folder(self.root) / _LAG
        if not os.path.lexists(note):
            with writing(note):
                replace_synced(note, (head or "").encode())
                sync_folder(note.parent)
        self.run("update-ref", "-m", why, "HEAD", made, head or "0" * len(made))
        branch = self.repository.common_dir / self.repository.branch
        if branch.exists():
            with writing(branch):
                sync_folder(branch.parent)
        if follow:
            self._follow_in_index()

    def _follow_in_index(self) -> None:
        """Update the person's index for the files that we committed, except those with staged changes.

        If another git holds the index lock, the index stays behind, and the record of its commit stays for the next
        start.
        """
        note = read_bytes(self.root, f"{PRIVATE}/{_LAG}")
        if note is None:
            return
        base, head = note.decode().strip(), self.head()
        # A clone that was never checked out has no index; one with our files alone would say that all others are gone.
        is_bare = bool(base) and not (self.repository.git_dir / "index").exists()
        has_followed = base and head and not is_bare and self._call(["read-tree", "-i", "-m", base, head])[0] == 0
        # Else there is no index yet, or a file of ours has staged changes.
        if is_bare or has_followed or self._follow_file_by_file(base, head) == 0:
            with writing(_LAG):
                (private_folder(self.root) / _LAG).unlink(missing_ok=True)

    def _follow_file_by_file(self, base: str, head: str | None) -> int:
        try:
            before, now = self.tree(base or None), self.tree(head)
        except GitFault:
            return 0  # it is no longer known how far the index is behind
        changed = [path for path in sorted({*before, *now}) if before.get(path) != now.get(path)]
        staged: dict[str, tuple[str, str]] = {}
        for row in os.fsdecode(self.run("ls-files", "--stage", "-z")).split("\0")[:-1] if changed else ():
            about, _, name = row.partition("\t")
            mode, blob, _ = about.split(" ")
            if (own := self.layout.tracked(name)) is not None:
                staged[own] = (mode, blob)
        follow = {path: now.get(path) for path in changed if staged.get(path) == before.get(path)}
        rows = []
        for path, entry in follow.items():
            mode, blob = entry or ("0", "0" * 40)
            rows.append(
                f"{mode} {blob}\t".encode() + os.fsencode(self.repository.prefix + self.layout.real(path)) + b"\0"
            )
        return self._call(["update-index", "-z", "--index-info"], data=b"".join(rows))[0] if rows else 0


class Author(NamedTuple):
    """Name, address and time of a commit, used for author and committer, so that a replay gives the same id."""

    name: str
    mail: str
    when: datetime


def blob_id(data: bytes, like: str) -> str:
    """Return git's id of a blob.

    Args:
        data: the blob.
        like: any id of the same repository; its length distinguishes SHA-1 from SHA-256.
    """
    found = blob_hash(len(data), like)
    found.update(data)
    return found.hexdigest()


def blob_hash(size: int, like: str) -> _Hash:
    """Return a hash object for a blob of that size, to be fed its bytes; `like` as in `blob_id`."""
    new = hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return new(b"blob %d\0" % size)
