"""The git repository of a memory: its content, and commits to it.

GitPython finds the repository and reads its objects. It does not write them: no hook, fsmonitor, filter or signing
prompt runs, as they would with its commits; `git fast-import` stores commits without the person's index, so that staged
changes stay as they are, and flushes them.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import DamagedGit, GitFault, NotARepository
from pipelines.store.files import read_bytes, replace_synced, sync_folder, writing
from pipelines.store.git_process import GitCommands, fault_of, gitpython, without_git_variables
from pipelines.store.layout import PRIVATE
from pipelines.store.lock import clear_stale_locks, private_folder, wait_for_locks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    Tree = Mapping[str, tuple[str, str]]
    """Mode and blob id of a commit's files, by their paths."""


Entry = tuple[str, bytes | str]
"""A file of a commit: its mode, and its bytes or the id of a stored blob."""


class Repository(NamedTuple):
    """The folders of a repository: its own, and the one shared with its other work trees.

    `branch` is the full name of the current branch, even if it has no commit yet; `HEAD` if there is none.
    """

    git_dir: Path
    common_dir: Path
    branch: str


class Commit(NamedTuple):
    """A parsed commit; `seconds` is the committer's time since 1970."""

    id: str
    tree: str
    parents: tuple[str, ...]
    seconds: int
    message: str


_FOLDER = 0o40000
"""The mode of a folder in a git tree."""
_LAG = "index-base"
_BEGUN = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}
_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
"""What git's `ident.c` strips from both ends of a name."""
_COMMITTED = re.compile(r"^committer .* (\d+) \S+$", re.MULTILINE)
_NEAR = 64
_BY_RUN = re.compile(r"^(?:Run-Id|Joins): ", re.MULTILINE)
_MANY_PACKS = 16
_IMPORT = b"refs/memcurate/import"


@dataclass(eq=False, repr=False)
class Git(GitCommands):
    """The git repository of a memory. Paths are relative to it, with `/`."""

    # Commits and trees are immutable, and read often in one run.
    _trees: dict[str, Tree] = field(default_factory=dict, init=False)
    _listed: dict[str, list[tuple[bytes, int, str]]] = field(default_factory=dict, init=False)
    _repository: Repository | None = field(default=None, init=False)
    _objects: Any = field(default=None, init=False)

    # ------------------------------------------------------------ asking

    def check(self) -> None:
        """Check that a commit can be made here.

        Raises:
            NotARepository: the memory is not under git.
            GitFault: there is no git program; there are commits, but HEAD names none that is readable: a new commit
                would have no history; HEAD names no branch: it would be lost at the next checkout; or a merge or the
                like is in progress: a commit would keep both sides, and the marks between them.
        """
        if self._objects is not None:
            self._objects.clear_cache()
        self._repository = None  # it may have changed
        repository = self.repository
        if self.object("HEAD") is None:
            own, common = repository.git_dir / "logs" / "HEAD", repository.common_dir / "refs" / "heads"
            if (own.exists() and own.stat().st_size) or any(file.is_file() for file in common.rglob("*")):
                raise DamagedGit(f"HEAD of the repository at {self.root} names no readable commit.")
        if not repository.branch.startswith("refs/"):
            sentence = f"The git repository at {self.root} is on no branch."
            raise GitFault(sentence, "Check out a branch first, for example with `git switch main`.")
        begun = (what for name, what in _BEGUN.items() if (repository.git_dir / name).exists())
        if what := next(begun, ""):
            advice = f"Finish it with `git {what} --continue`, or take it back with `git {what} --abort`."
            raise GitFault(f"The git repository at {self.root} is in the middle of a {what}.", advice)

    @property
    def repository(self) -> Repository:
        """The repository's folders, and the current branch.

        Raises:
            NotARepository: there is none, or its work tree is elsewhere.
            DamagedGit: it cannot be used.
        """
        if self._repository is not None:
            return self._repository
        top = Path(os.path.realpath(self.root))
        if not os.path.lexists(top / ".git"):
            raise NotARepository(self.root)
        opened = gitpython()
        from git.exc import GitError  # noqa: PLC0415  imported by now

        try:
            with without_git_variables():
                found = opened(str(top))
            settings = found.config_reader("repository")
            own, branch = Path(found.git_dir), "HEAD" if found.head.is_detached else found.head.reference.path
        except (GitError, ValueError, OSError, AssertionError, configparser.Error):
            raise DamagedGit(f"git cannot use the repository at {self.root}.") from None
        elsewhere = settings.get("core", "worktree", fallback="")
        if elsewhere and (own / elsewhere).resolve() != top:
            raise NotARepository(self.root)
        if settings.get("extensions", "objectformat", fallback="sha1") != "sha1":
            why = f"The repository at {self.root} has SHA-256 ids, which GitPython cannot read."
            raise GitFault(why, "Copy the files into a new folder, and run `curate init` there.")
        # Not `found.git`: the settings' parser keeps `found`, and so its `git cat-file`, until a garbage collection.
        self._objects = opened.GitCommandWrapperType(str(top))
        weakref.finalize(self, self._objects.clear_cache)  # closes its pipes, as a collection does not
        self._repository = Repository(own, Path(found.common_dir), branch)
        return self._repository

    def object(self, name: str) -> tuple[str, str, bytes] | None:
        """Return id, type and bytes of an object, by its id or as `HEAD`; None if it does not exist.

        Raises:
            GitFault: git failed.
        """
        _ = self.repository
        git = self._objects
        try:
            ident, kind, size, stream = git.stream_object_data(name)
            data = stream.read()
            del stream  # before anybody closes the pipe that it would read to its end
            if len(data) == size:  # else git ended amid its answer
                return ident.decode(), kind.decode(), data
        except ValueError as fault:
            if "missing" in str(fault):
                return None
        except OSError:  # it has ended
            pass
        process = git.cat_file_all.proc
        error = process.communicate()[1]
        ended = fault_of("cat-file", process.returncode, error.decode(errors="replace"))
        git.clear_cache()
        raise ended

    def head(self) -> str | None:
        """Return the id of HEAD's commit, or None before the first one."""
        with suppress(DamagedGit, NotARepository):
            found = self.object("HEAD")
            return found[0] if found else None
        return None

    def blob(self, ident: str) -> bytes | None:
        """Return the bytes of a blob, or None for a submodule or a blob missing from a partial clone."""
        found = self.object(ident)
        return found[2] if found and found[1] == "blob" else None

    def read_commit(self, name: str) -> Commit | None:
        """Return a commit, by its id or as `HEAD`; None if it is missing, as beyond the end of a shallow clone."""
        found = self.object(name)
        if found is None or found[1] != "commit":
            return None
        head, _, message = found[2].decode(errors="replace").partition("\n\n")
        rows = [row.split(" ") for row in head.split("\n")]
        tree, parents = ([row[-1] for row in rows if row[0] == key] for key in ("tree", "parent"))
        committed = _COMMITTED.search(head)
        return Commit(found[0], tree[0], tuple(parents), int(committed[1]) if committed else 0, message)

    def tree(self, commit: str | None) -> Tree:
        """Return path → (mode, blob id) of a commit's files; empty for None."""
        if commit is None or commit in self._trees:
            return self._trees.get(commit or "", {})
        if (made := self.read_commit(commit)) is None:
            raise DamagedGit(f"The repository of {self.root} has no commit {commit[:10]}.")
        found = dict[str, tuple[str, str]]()
        waiting = [("", made.tree)]
        while waiting:
            above, tree = waiting.pop()
            if tree not in self._listed:  # most trees of two commits are the same
                if (read := self.object(tree)) is None:
                    raise DamagedGit(f"The repository of {self.root} lacks the tree {tree[:10]}.")
                from git.objects.fun import tree_entries_from_data  # noqa: PLC0415  imported by now

                self._listed[tree] = tree_entries_from_data(read[2])
            for ident, mode, name in self._listed[tree]:
                if mode == _FOLDER:
                    waiting.append((f"{above}{name}/", ident.hex()))
                else:
                    found[above + name] = f"{mode:o}", ident.hex()
        self._trees[commit] = dict(sorted(found.items()))
        return self._trees[commit]

    def show(self, commit: str | None, path: str) -> bytes | None:
        """Return a file's bytes at a commit, or None if the commit lacks it, or is None."""
        entry = self.tree(commit).get(path)
        return self.blob(entry[1]) if entry else None

    def versions(self, path: str) -> list[str]:
        """Return the commits that changed a file, newest first."""
        return self.run("log", "--full-history", "--format=%H", "--", path).decode().split()

    def last_run(self, until: str = "HEAD") -> str | None:
        """Return the newest commit that a run, or a join of two machines, made; None before the first one.

        Args:
            until: a commit; consider only it and earlier ones.
        """
        commit = self.read_commit(until)
        for _ in range(_NEAR):  # mostly it is among the newest, and needs no other git process
            if commit is None or _BY_RUN.search(commit.message):
                return commit.id if commit else None
            if len(commit.parents) > 1:
                break
            commit = self.read_commit(commit.parents[0]) if commit.parents else None
        found = self.run("log", "-1", "--format=%H", "--grep=^Run-Id: ", "--grep=^Joins: ", until, "--")
        return found.decode().strip() or None

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return those of the paths that git ignores."""
        data = b"".join(os.fsencode(path) + b"\0" for path in paths)
        _, out, _ = self._call("check-ignore", "-z", "--stdin", "--no-index", data=data)
        return set(filter(None, map(os.fsdecode, out.split(b"\0"))))

    def identity(self) -> tuple[str, str] | None:
        """Return the person's name and email address, if git's configuration has both."""
        code, out, _ = self._call("var", "GIT_AUTHOR_IDENT")
        found = re.fullmatch(r"(.*) <(.*)> \d+ \S+\n", out.decode(errors="replace"))  # a commit is UTF-8
        return (found[1], found[2]) if found and not code else None

    # ------------------------------------------------------------ writing

    def settle(self) -> None:
        """Clean up after a killed process: remove stale locks, and update an index that is behind its branch."""
        clear_stale_locks(self)
        self._follow_in_index()

    def pack(self) -> None:
        """Repack if there are many packs; no object is lost.

        Each commit is a pack of its own. Each pack is kept at least twice as large as all smaller ones together, so an
        object is rewritten only as often as the logarithm of the history's length.
        """
        objects = self.repository.common_dir / "objects"
        if len(list((objects / "pack").glob("*.pack"))) < _MANY_PACKS:
            return
        self._call("repack", "-d", "-l", "-q", "--geometric=2")  # git before 2.32 cannot, and keeps them all

    def init(self, branch: str = "main") -> None:
        """Make the memory a repository of its own, with this branch."""
        self.run("init", "--quiet", f"--initial-branch={branch}", "--template=", "--object-format=sha1")

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
                now = entry[0], blob_id(entry[1])
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
        """Store a commit that changes files of the first parent, without moving a branch, and return its id.

        Git does not write the branch of the import, which is reset to nothing.
        """
        wait_for_locks(self)
        # Like git, drop what would end the name or the address.
        name, mail = (re.sub(r"[<>\n\0]", "", word).strip(_CRUD) for word in author[:2])
        signed = f"{name} <{mail}> {int(author.when.timestamp())} {author.when:%z}".encode()
        head, body = b"commit %s\nmark :1\nauthor %s\ncommitter %s\n" % (_IMPORT, signed, signed), message.encode()
        stream = [head, b"data %d\n%s\n" % (len(body), body)]
        for how, parent in zip((b"from", *[b"merge"] * len(parents)), parents, strict=False):
            stream.append(b"%s %s\n" % (how, parent.encode()))
        for path in sorted(changes, key=lambda path: (changes[path] is not None, path)):  # deletions first: make room
            entry = changes[path]
            quoted = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
            if entry is None:
                stream.append(b'D "%s"\n' % quoted)
            elif isinstance(entry[1], str):
                stream.append(b'M %s %s "%s"\n' % (entry[0].encode(), entry[1].encode(), quoted))
            else:
                about = b'M %s inline "%s"\ndata %d\n' % (entry[0].encode(), quoted, len(entry[1]))
                stream += [about, entry[1], b"\n"]
        data = b"".join([*stream, b"\nget-mark :1\nreset %s\n\ndone\n" % _IMPORT])
        return self.run("fast-import", "--quiet", "--done", data=data).decode().strip()

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
        """Update the person's index for the files that we committed; what is staged of others stays staged.

        If another git holds the index lock, the index stays behind, and the record of its commit stays for the next
        start.
        """
        note = read_bytes(self.root, f"{PRIVATE}/{_LAG}")
        if note is None:
            return
        base, head, rows = note.decode().strip(), self.head(), list[bytes]()
        # A clone that was never checked out has no index; one with our files alone would say that all others are gone.
        is_bare = base and not (self.repository.git_dir / "index").exists()
        # `read-tree` keeps the marks of files that git was told to leave out. It fails where a file of ours has staged
        # changes.
        if not is_bare and not (base and head and self._call("read-tree", "-i", "-m", base, head)[0] == 0):
            with suppress(GitFault):  # else it is no longer known how far the index is behind
                before, now = self.tree(base or None), self.tree(head)
                for path in sorted({*before, *now}):
                    if before.get(path) != now.get(path):
                        place = os.fsencode(path)
                        rows.append(b"%s %s\t%s\0" % (*map(str.encode, now.get(path, ("0", "0" * 40))), place))
        if not rows or self._call("update-index", "-z", "--index-info", data=b"".join(rows))[0] == 0:
            with writing(_LAG):
                (private_folder(self.root) / _LAG).unlink(missing_ok=True)


class Author(NamedTuple):
    """Name, address and time of a commit, used for author and committer, so that a replay gives the same id."""

    name: str
    mail: str
    when: datetime


def run_id(now: datetime, head: str | None) -> str:
    """Return a run's id: its time, and a hash that distinguishes runs of the same time. A replay has the same id."""
    birth = f"{now.isoformat()}\x1f{head or ''}"
    return f"{now:%Y%m%dT%H%M%S}-{hashlib.sha256(birth.encode()).hexdigest()[:6]}"


def blob_id(data: bytes) -> str:
    """Return git's id of a blob."""
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()
