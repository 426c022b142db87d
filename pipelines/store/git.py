"""The git repository of a memory: what it holds, and commits to it.

No hook, no fsmonitor, no filter and no signing prompt runs: commits are made by plumbing from blobs that we hashed,
in an index of our own, so that the person's staged changes stay as they are.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

from pipelines.errors import DetachedHead, GitFault, NotARepository
from pipelines.store.files import making, read_bytes, sync_folder, write_synced, writing
from pipelines.store.git_locks import Repository, clear_stale_locks, wait_for_locks
from pipelines.store.git_process import GitCommands, last_line
from pipelines.store.layout import PRIVATE
from pipelines.store.user_layout import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from hashlib import _Hash
    from pathlib import Path


MOST_FILES: Final = 1_000_000
"""What the tree of one commit may hold below the memory."""
_APART: Final = "Let the memory have a repository of its own, without what is no memory."
_FOLDERS: Final = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
_PIECE: Final = 1 << 20
_LEAST: Final = 4096
_LAG: Final = f"{PRIVATE}/index-base"
_ASIDE: Final = f"{PRIVATE}/stale-lock"


class Git(GitCommands):
    """The git repository that a memory stands in. Paths are relative to the memory, with `/`, and canonical."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._prefix: str | None = None
        self._trees: dict[str, dict[str, tuple[str, str]]] = {}  # a commit's tree never changes, and a night asks often
        self._repository: Repository | None = None

    # ------------------------------------------------------------ asking

    def is_repository(self) -> bool:
        """Whether the memory is in the work tree of a repository."""
        return self._ask("rev-parse", "--is-inside-work-tree") == "true"

    def check(self) -> None:
        """Make sure that a commit can be made here.

        Raises:
            GitMissing: there is no git program.
            NotARepository: the memory is not under git.
            DetachedHead: HEAD names no branch.
        """
        code, out, error = self._call(["rev-parse", "--is-inside-work-tree", *_FOLDERS, "--show-prefix"])
        inside, *told = out.split(b"\n")
        if code and inside != b"false" and (self.root / ".git").exists():
            raise GitFault(f"git cannot use {self.root}: {last_line(error)}")
        if inside != b"true":
            raise NotARepository(self.root)
        if len(told) == len(_FOLDERS) + 2:  # else a name holds a line end, and each of the two is asked for alone
            *folders, prefix, _ = told
            self._repository, self._prefix = self._placed(folders), os.fsdecode(prefix)
        if self._ask("symbolic-ref", "--quiet", "HEAD") is None:
            raise DetachedHead(self.root, self.head() or "nothing")

    def head(self) -> str | None:
        """Return the id of the commit at HEAD, or None before the first one."""
        return self._ask("rev-parse", "--quiet", "--verify", "HEAD^{commit}")

    def _head_and_tree(self) -> tuple[str | None, str | None]:
        """Return the ids of the commit at HEAD and of its tree, in one answer; None and None before the first one."""
        told = (self._ask("rev-list", "-1", "--format=%T", "HEAD", "--") or "").split()
        return (told[1], told[2]) if len(told) == 3 else (None, None)  # noqa: PLR2004  `commit ID`, and what was asked

    def tree(self, commit: str | None) -> dict[str, tuple[str, str]]:
        """Return path → (mode, blob id) of a commit's files below the memory; empty for None."""
        if commit is None:
            return {}
        if commit not in self._trees:
            self._trees[commit] = self._read_tree(commit)
        return dict(self._trees[commit])

    def _read_tree(self, commit: str) -> dict[str, tuple[str, str]]:
        prefix = self.prefix
        listed = self.run("ls-tree", "-r", "-z", "--full-tree", commit, *([prefix] if prefix else []))
        if listed.count(b"\0") > MOST_FILES:
            raise GitFault(f"{commit[:10]} holds more than the {MOST_FILES:,} files that are looked through.", _APART)
        out: dict[str, tuple[str, str]] = {}
        own = self._own_names()
        for row in os.fsdecode(listed).split("\0")[:-1]:
            about, _, path = row.partition("\t")
            mode, _, blob = about.split(" ")
            if (name := own(path.removeprefix(prefix))) is not None:
                out[name] = (mode, blob)
        return out

    def real(self, path: str) -> str:
        """Return the path, relative to the memory, at which git holds the file that the program calls `path`."""
        names = names_of(self.root)
        return path if names is None else names.real(path)

    def _own_names(self) -> Callable[[str], str | None]:
        """Return how the program calls a file of git's; None for a person's that is no part of what it commits."""
        names = names_of(self.root)
        return str if names is None else names.tracked

    def show(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes at a commit, or None where it is not there."""
        code, out, _ = self._call(["cat-file", "blob", f"{commit}:{self.prefix}{self.real(path)}"])
        return out if code == 0 else None

    def versions(self, path: str) -> list[str]:
        """Return the commits that changed a file, newest first."""
        listed = self._ask("log", "--full-history", "--format=%H", "--", self.real(path))
        return listed.split() if listed else []

    def last_run(self, since: str = "", until: str = "HEAD") -> str | None:
        """Return the newest commit that a run, or a join of two machines, made; None before the first one.

        Args:
            since: a commit; only what came after it. Empty for all.
            until: a commit; only it and what came before it.
        """
        commits = f"{since}..{until}" if since else until
        return self._ask("log", "-1", "--format=%H", "--grep=^Run-Id: ", "--grep=^Joins: ", commits, "--") or None

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return those of the paths that the repository's ignore rules leave out."""
        if not paths:
            return set()
        asked = {self.real(path): path for path in paths}
        data = b"".join(os.fsencode(real) + b"\0" for real in asked)
        _, out, _ = self._call(["check-ignore", "-z", "--stdin", "--no-index"], data=data)
        return {asked.get(real, real) for real in map(os.fsdecode, out.split(b"\0")) if real}

    def identity(self) -> tuple[str, str] | None:
        """Return the person's own name and mail address, where git's configuration holds both."""
        told = self._ask("config", "-z", "--get-regexp", r"^user\.(name|email)$") or ""
        found = dict(row.partition("\n")[::2] for row in told.split("\0"))  # of a key told twice, the last one counts
        name, mail = found.get("user.name", "").rstrip("\n"), found.get("user.email", "").rstrip("\n")
        return (name, mail) if name and mail else None

    @property
    def prefix(self) -> str:
        """The memory's place in the repository: empty, or a folder with `/` at its end."""
        if self._prefix is None:
            self._prefix = self._ask("rev-parse", "--show-prefix") or ""
        return self._prefix

    @property
    def repository(self) -> Repository:
        """Where the repository is on the disk."""
        if self._repository is None:
            folders = self.run("rev-parse", *_FOLDERS).splitlines()
            if len(folders) != len(_FOLDERS):
                raise GitFault(f"git does not say where the repository of {self.root} is.")
            self._repository = self._placed(folders)
        return self._repository

    def _placed(self, folders: Sequence[bytes]) -> Repository:
        return Repository(*(self.root / os.fsdecode(folder) for folder in folders))

    # ------------------------------------------------------------ writing

    def settle(self) -> None:
        """Take out of the way what a killed process left: stale locks, and an index that lags behind its branch."""
        clear_stale_locks(self.repository, self.root / _ASIDE)
        self._follow_in_index()

    def init(self) -> None:
        """Make the memory a repository of its own, on the branch `main`."""
        self.run("init", "--quiet", "--initial-branch=main", "--template=")

    def write_blobs(self, files: Sequence[Path]) -> list[str]:
        """Store files as blobs, byte for byte, and return their ids in the same order."""
        if not files:
            return []
        asked = b"".join(os.fsencode(f) + b"\n" for f in files)
        return self.run("hash-object", "-w", "--no-filters", "--stdin-paths", data=asked).decode().split()

    def commit(self, changes: Mapping[str, tuple[str, str] | None], message: str, author: Author) -> str | None:
        """Commit blobs over HEAD and return the commit's id, or None where they change nothing.

        Args:
            changes: path → (mode, blob id), or None for a file that goes.
            message: the whole message, with its trailers.
            author: who signs, and when.

        Raises:
            GitFault: git refused, another git holds a lock, or HEAD moved meanwhile.
        """
        wait_for_locks(self.repository, self.root / _ASIDE)
        head, before = self._head_and_tree()
        tree = self.write_tree(head, changes)
        if tree == before:
            return None
        made = self.commit_tree(tree, [head] if head else [], message, author)
        self.advance(made, head, f"commit: {message.partition(chr(10))[0]}")
        return made

    def write_tree(self, base: str | None, changes: Mapping[str, tuple[str, str] | None]) -> str:
        """Store the tree of a commit with these files changed, and return its id."""
        own = self._own_index()
        index = {"GIT_INDEX_FILE": str(own)}
        if base:
            self.run("read-tree", base, env=index)
        self.run("update-index", "-z", "--index-info", data=self._index_info(changes), env=index)
        tree = self.run("write-tree", env=index).decode().strip()
        with writing(own):
            own.unlink(missing_ok=True)  # git lets everybody read it
        return tree

    def commit_tree(self, tree: str, parents: Sequence[str], message: str, author: Author) -> str:
        """Store a commit of a tree, which no branch names yet, and return its id."""
        named = [part for parent in parents for part in ("-p", parent)]
        return self.run("commit-tree", tree, *named, data=message.encode(), env=author.environment()).decode().strip()

    def advance(self, made: str, head: str | None, why: str) -> None:
        """Let the branch name a commit that is stored, in place of `head`.

        Raises:
            GitFault: another git holds a lock, or HEAD moved meanwhile.
        """
        self._sync_objects(made, head)
        self._note_lag(head)
        self.run("update-ref", "-m", why, "HEAD", made, head or "0" * len(made))
        self._sync_branch()
        self._follow_in_index()

    def _own_index(self) -> Path:
        """Return the path of an index of this process alone: the git of a killed run may still write to that run's."""
        with writing(PRIVATE), making(self.root, PRIVATE) as folder:
            for left in folder.names():
                if left.startswith("git-index"):
                    folder.unlink(left)
        return self.root / PRIVATE / f"git-index.{os.getpid()}"

    def _index_info(self, changes: Mapping[str, tuple[str, str] | None]) -> bytes:
        rows = []
        for path, entry in changes.items():
            mode, blob = entry or ("0", "0" * 40)
            rows.append(f"{mode} {blob}\t".encode() + os.fsencode(self.prefix + self.real(path)) + b"\0")
        return b"".join(rows)

    def _sync_objects(self, made: str, head: str | None) -> None:
        """Flush the folders of a commit's objects: git flushes the files that it renames into them, and not these."""
        listed = self.run("rev-list", "--objects", made, *([f"^{head}"] if head else []))
        objects = self.repository.common_dir / "objects"
        with writing(objects):
            for name in sorted({line[:2] for line in listed.decode(errors="replace").splitlines()}):
                if (objects / name).is_dir():
                    sync_folder(objects / name)
            sync_folder(objects)

    def _sync_branch(self) -> None:
        branch = self.repository.common_dir / (self._ask("symbolic-ref", "--quiet", "HEAD") or "HEAD")
        if branch.exists():
            with writing(branch):
                sync_folder(branch.parent)

    def _note_lag(self, head: str | None) -> None:
        """Write down at which commit the person's index is, before its branch moves on; a note that is there stands."""
        with writing(_LAG), making(self.root, PRIVATE) as folder:
            name = _LAG.rpartition("/")[2]
            if folder.lstat(name) is None:
                write_synced(folder, f"{name}.new", (head or "").encode(), 0o600)
                folder.rename(f"{name}.new", folder, name)
                folder.sync()

    def _follow_in_index(self) -> None:
        """Move the person's index along for the files that we committed, except where they had staged something.

        A lock that another git holds is left alone: the index then lags behind, and the note by which it is known how
        far stays for the next start.
        """
        note = read_bytes(self.root, _LAG)
        if note is None:
            return
        base = note.decode().strip()
        known = not base or base in self._trees or self._ask("rev-parse", "--quiet", "--verify", f"{base}^{{commit}}")
        before, now = (self.tree(base or None), self.tree(self.head())) if known else ({}, {})
        changed = [path for path in sorted({*before, *now}) if before.get(path) != now.get(path)]
        staged = self._staged() if changed else {}
        follow = {path: now.get(path) for path in changed if staged.get(path) == before.get(path)}
        code = 0
        if follow:
            code, _, _ = self._call(["update-index", "-z", "--index-info"], data=self._index_info(follow))
        if code == 0:
            with writing(_LAG), making(self.root, PRIVATE) as folder:
                folder.unlink(_LAG.rpartition("/")[2])

    def _staged(self) -> dict[str, tuple[str, str]]:
        listed = self.run("ls-files", "--stage", "-z")
        out, own = {}, self._own_names()
        for row in os.fsdecode(listed).split("\0")[:-1]:
            about, _, path = row.partition("\t")
            mode, blob, _ = about.split(" ")
            if (name := own(path)) is not None:
                out[name] = (mode, blob)
        return out


class Author:
    """Who signs a commit, and when; both as author and as committer, so that a replay gives the same id."""

    def __init__(self, name: str, mail: str, when: datetime) -> None:
        self.name, self.mail, self.when = name, mail, when

    def environment(self) -> dict[str, str]:
        """Return the variables by which git is told."""
        stamp = f"{int(self.when.timestamp())} {self.when.strftime('%z')}"
        return {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", self.name), ("EMAIL", self.mail), ("DATE", stamp))
        }


def blob_id(data: bytes, like: str) -> str:
    """Return the id that git gives a blob of these bytes.

    Args:
        data: the blob.
        like: any id of the same repository; its length tells SHA-1 from SHA-256.
    """
    return _hash(like)(b"blob %d\0" % len(data) + data).hexdigest()


def blob_of(descriptor: int, like: str) -> str:
    """Return the id that git gives a blob of what a file that is open holds, however much that is."""
    size = os.fstat(descriptor).st_size
    found = _hash(like)(b"blob %d\0" % size)
    room = min(max(size + 1, _LEAST), _PIECE)  # room for much more than there is takes time
    while part := os.read(descriptor, room):
        found.update(part)
    return found.hexdigest()


def _hash(like: str) -> Callable[[bytes], _Hash]:
    return hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
