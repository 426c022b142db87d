"""Git, hardened: GitPython's command interface with an environment allow-list and nothing that a repository could run.

No hook, no fsmonitor, no filter and no signing prompt runs: commits are made by plumbing from blobs that we hashed,
in an index of our own, so that the person's staged changes stay as they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, cast

from pipelines.errors import DetachedHead, GitFault, GitMissing, NotARepository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

_PASSED_ON: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
)  # fmt: skip
_HARDENED: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.bareRepository=explicit",
)
_NOT_FOUND: Final = 127


class Git:
    """The git repository that a memory stands in. Paths are relative to the memory, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._prefix: str | None = None

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
        code, out, error = self._call(["rev-parse", "--is-inside-work-tree"])
        if code and (self.root / ".git").exists():
            raise GitFault(f"git cannot use {self.root}: {_last_line(error)}")
        if out.strip() != b"true":
            raise NotARepository(self.root)
        if self._ask("symbolic-ref", "--quiet", "HEAD") is None:
            raise DetachedHead(self.root, self.head() or "nothing")

    def head(self) -> str | None:
        """Return the id of the commit at HEAD, or None before the first one."""
        return self._ask("rev-parse", "--quiet", "--verify", "HEAD^{commit}")

    def tree(self, commit: str | None) -> dict[str, tuple[str, str]]:
        """Return path → (mode, blob id) of a commit's files below the memory; empty for None."""
        if commit is None:
            return {}
        prefix = self.prefix
        listed = self.run("ls-tree", "-r", "-z", "--full-tree", commit, *([prefix] if prefix else []))
        out: dict[str, tuple[str, str]] = {}
        for row in listed.split(b"\0"):
            if row:
                about, _, path = row.partition(b"\t")
                mode, _, blob = about.decode().split(" ")
                out[os.fsdecode(path).removeprefix(prefix)] = (mode, blob)
        return out

    def show(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes at a commit, or None where it is not there."""
        code, out, _ = self._call(["cat-file", "blob", f"{commit}:{self.prefix}{path}"])
        return out if code == 0 else None

    def versions(self, path: str) -> list[str]:
        """Return the commits that changed a file, newest first."""
        listed = self._ask("log", "--format=%H", "--", path)
        return listed.split() if listed else []

    def last_run(self) -> str | None:
        """Return the newest commit that a run made, as its Run-Id trailer tells, or None before the first one."""
        return self._ask("log", "-1", "--format=%H", "--grep=^Run-Id: ") or None

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return those of the paths that the repository's ignore rules leave out."""
        if not paths:
            return set()
        asked = b"".join(os.fsencode(p) + b"\0" for p in paths)
        _, out, _ = self._call(["check-ignore", "-z", "--stdin", "--no-index"], data=asked)
        return {os.fsdecode(p) for p in out.split(b"\0") if p}

    def identity(self) -> tuple[str, str] | None:
        """Return the person's own name and mail address, where git's configuration holds both."""
        name, mail = self._ask("config", "user.name"), self._ask("config", "user.email")
        return (name, mail) if name and mail else None

    @property
    def prefix(self) -> str:
        """The memory's place in the repository: empty, or a folder with `/` at its end."""
        if self._prefix is None:
            self._prefix = self._ask("rev-parse", "--show-prefix") or ""
        return self._prefix

    # ------------------------------------------------------------ writing

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
            GitFault: git refused, or HEAD moved meanwhile.
        """
        head, before = self.head(), {}
        index = {"GIT_INDEX_FILE": str(self._own_index())}
        if head:
            before = self.tree(head)
            self.run("read-tree", head, env=index)
        self.run("update-index", "-z", "--index-info", data=self._index_info(changes), env=index)
        tree = self.run("write-tree", env=index).decode().strip()
        if head and tree == self._ask("rev-parse", f"{head}^{{tree}}"):
            return None
        parents = ["-p", head] if head else []
        made = self.run("commit-tree", tree, *parents, data=message.encode(), env=author.environment()).decode().strip()
        summary = message.partition("\n")[0]
        self.run("update-ref", "-m", f"commit: {summary}", "HEAD", made, head or "0" * len(made))
        self._follow_in_index(changes, before)
        return made

    def _own_index(self) -> Path:
        """Return the path of our own index, with nothing left of an earlier, killed run in the way."""
        index = self.root / ".curate" / "git-index"
        index.parent.mkdir(mode=0o700, exist_ok=True)
        for left in (index, index.with_name("git-index.lock")):
            left.unlink(missing_ok=True)
        return index

    def _index_info(self, changes: Mapping[str, tuple[str, str] | None]) -> bytes:
        rows = []
        for path, entry in changes.items():
            mode, blob = entry or ("0", "0" * 40)
            rows.append(f"{mode} {blob}\t".encode() + os.fsencode(self.prefix + path) + b"\0")
        return b"".join(rows)

    def _follow_in_index(
        self, changes: Mapping[str, tuple[str, str] | None], before: Mapping[str, tuple[str, str]]
    ) -> None:
        """Move the person's index along for the files that we committed, except where they had staged something.

        A lock that another git holds is left alone: the index then lags behind, and `git status` shows our files as
        changed until the next commit moves them along.
        """
        staged = self._staged(list(changes))
        follow = {path: entry for path, entry in changes.items() if staged.get(path) == before.get(path)}
        if follow:
            self._call(["update-index", "-z", "--index-info"], data=self._index_info(follow))

    def _staged(self, paths: Iterable[str]) -> dict[str, tuple[str, str]]:
        listed = self.run("ls-files", "--stage", "-z", "--", *paths)
        out = {}
        for row in listed.split(b"\0"):
            if row:
                about, _, path = row.partition(b"\t")
                mode, blob, _ = about.decode().split(" ")
                out[os.fsdecode(path)] = (mode, blob)
        return out

    # ------------------------------------------------------------ running

    def run(self, *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """Run one git command and return what it printed.

        Raises:
            GitFault: it failed; the sentence holds git's own last line.
        """
        code, out, error = self._call(list(arguments), data=data, env=env)
        if code:
            raise GitFault(f"git {arguments[0]} failed: {_last_line(error) or f'exit code {code}'}")
        return out

    def _ask(self, *arguments: str) -> str | None:
        code, out, _ = self._call(list(arguments))
        return os.fsdecode(out).rstrip("\n") if code == 0 else None

    def _call(
        self, arguments: list[str], *, data: bytes = b"", env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, bytes]:
        """Run git behind `env -i`, the one way to give GitPython's children an environment that is an allow-list."""
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        from git.cmd import Git as Command  # noqa: PLC0415  GitPython takes 90 ms to import

        told = {key: os.environ[key] for key in _PASSED_ON if key in os.environ} | {
            "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            **(env or {}),
        }
        hardened = [part for setting in _HARDENED for part in ("-c", setting)]
        command = ["env", "-i", *(f"{k}={v}" for k, v in told.items()), "git", *hardened, *arguments]
        with _input(data) as stream:
            answer: Any = Command(str(self.root)).execute(
                command,
                istream=cast("BinaryIO | None", stream),
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
            )
        code, out, error = answer
        if code == _NOT_FOUND:
            raise GitMissing
        return code, _bytes(out), _bytes(error)


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


def _last_line(error: bytes) -> str:
    return next(iter(reversed(error.decode(errors="replace").strip().splitlines())), "")


def _bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else os.fsencode(value)


@contextlib.contextmanager
def _input(data: bytes) -> Iterator[IO[bytes] | None]:
    """Yield a stream of these bytes for a child to read, or None for none."""
    if not data:
        yield None
        return
    with tempfile.TemporaryFile() as stream:
        stream.write(data)
        stream.seek(0)
        yield stream


def blob_id(data: bytes, like: str) -> str:
    """Return the id that git gives a blob of these bytes.

    Args:
        data: the blob.
        like: any id of the same repository; its length tells SHA-1 from SHA-256.
    """
    new = hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return new(b"blob %d\0" % len(data) + data).hexdigest()
