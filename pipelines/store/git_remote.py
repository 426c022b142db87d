"""List, fetch from and push to a remote, with the person's own credentials and without any setting of the memory.

Fetch and push run in a separate repository, `.curate/remote.git`, whose configuration is ours and which shares the
memory's objects: `core.sshCommand`, `credential.helper`, `insteadOf` and `uploadpack` in the memory's `.git/config` are
not read. The person's own configuration (`~/.gitconfig`, the system's) is: there they choose how git authenticates.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import GitFault
from pipelines.store.files import writing
from pipelines.store.git_process import PASSED_ON, reason_in
from pipelines.store.layout import SETTINGS
from pipelines.store.lock import private_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.store.git import Git


# What a credential helper, an ssh agent or a proxy needs; no API key.
_PASSED_ON = PASSED_ON | frozenset(
    """XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS GIT_SSH GIT_SSH_COMMAND GNUPGHOME PASSWORD_STORE_DIR https_proxy
    HTTPS_PROXY http_proxy ALL_PROXY all_proxy NO_PROXY no_proxy SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO""".split()
)
_SETTINGS = (
    "core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "push.gpgSign=false",
    "transfer.fsckObjects=true", "submodule.recurse=false", "protocol.allow=never",
    "protocol.https.allow=always", "protocol.http.allow=always", "protocol.ssh.allow=always",
    "protocol.file.allow=always", "core.fsync=all",
    "fetch.unpackLimit=1",  # one pack, whose folder is flushed before the branch names what was fetched
)  # fmt: skip
_ADDRESS = re.compile(r"(?:https?|ssh|file)://[^\s-]\S*|/[^\s]*|(?:[\w.-]+@)?[\w][\w.-]*:(?!:|//)[^\s-]\S*")


class Unreachable(GitFault):
    """Raised when a remote does not let itself be read, or does not answer."""


class NotPushed(GitFault):
    """Raised when a remote does not take a push, whatever its reason."""


class Refused(NotPushed):
    """Raised when the remote rejects a push because it has commits that this machine has not seen."""


NIGHT_REF: Final = "refs/curate/night"
"""At the remote: the newest commit that a `curate run REMOTE` made or read through."""
SECONDS: Final = 60
"""The time limit of one fetch or push."""


@dataclass(frozen=True, slots=True)
class RemoteHeads:
    """What a remote points to.

    Args:
        branch: its default branch, or its only one; empty if it has neither.
        head: the commit of that branch, or empty.
        night: the commit of `NIGHT_REF`, or empty.
        branches: the commit of each branch, by its full name.
    """

    branch: str
    head: str
    night: str
    branches: Mapping[str, str] = field(default_factory=dict)


class Remote(NamedTuple):
    """A remote.

    Args:
        git: the memory's repository.
        address: the remote's URL or path.
        branch: the shared branch, `main`.
    """

    git: Git
    address: str
    branch: str

    def fetch(self) -> str | None:
        """Fetch the remote's branch and return its commit; None if the remote has no such branch.

        Raises:
            GitFault: the remote did not answer in time, or refused.
        """
        self._make_repository()
        if f"refs/heads/{self.branch}" not in list_heads(self.address).branches:
            return None
        if (head := self.git.head()) is not None:
            self._call("update-ref", "refs/heads/here", head)
        self._call(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc",
            self.address, f"+refs/heads/{self.branch}:refs/heads/there",
        )  # fmt: skip
        return self._call("rev-parse", "refs/heads/there").decode().strip()

    def push(self, commit: str, night: str = "", expected: str = "") -> None:
        """Fast-forward the remote's branch to a commit, never by force, and push `NIGHT_REF` with it, or neither.

        Args:
            commit: the branch's new commit.
            night: the new commit of `NIGHT_REF`; empty to leave it as it is.
            expected: what `NIGHT_REF` must be at the remote until now; empty if it must not exist.

        Raises:
            Refused: the branch has commits that this one does not follow, or `NIGHT_REF` is not what was expected.
            GitFault: the remote did not answer in time, or refused.
        """
        self._make_repository()
        lease = ["--atomic", f"--force-with-lease={NIGHT_REF}:{expected}"] if night else []
        # No leading `+` here: it would switch the lease off.
        refs = [f"{commit}:refs/heads/{self.branch}", *([f"{night}:{NIGHT_REF}"] if night else [])]
        try:
            self._call("push", "--quiet", "--no-verify", "--porcelain", *lease, self.address, *refs)
        except GitFault as fault:
            if "[rejected]" in fault.sentence:
                raise Refused(fault.sentence) from None
            raise

    def _call(self, *arguments: str) -> bytes:
        objects = str(self.git.repository.common_dir / "objects")
        return _run_git(arguments, self._folder, GIT_OBJECT_DIRECTORY=objects)

    @property
    def _folder(self) -> Path:
        return private_folder(self.git.root) / "remote.git"

    def _make_repository(self) -> None:
        """Make the repository anew: one that is already there may have been configured by whoever writes the memory."""
        folder = self._folder
        with writing(folder):
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            elif folder.exists():
                shutil.rmtree(folder)
            folder.mkdir(mode=0o700)
        self.git.run("init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(folder))


def memory_elsewhere(git: Git) -> str:
    """Return a branch, here or as fetched, that holds a memory while the current one holds none; else empty."""
    branch = git.repository.branch
    if git.object(f"HEAD:{SETTINGS}"):
        return ""
    names = git.run("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").decode().split()
    return next((name for name in names if name != branch and git.object(f"{name}:{SETTINGS}")), "")


def address_of(git: Git, remote: str) -> str:
    """Return the address of a remote in the user's settings: an address, or the name of a remote in the clone.

    Raises:
        GitFault: there is no remote of that name, or its address could run a program.
    """
    address = remote
    if re.fullmatch(r"[\w.-]+", remote):
        try:
            address = git.run("config", "--local", "--get", f"remote.{remote}.url").decode().strip()
        except GitFault:
            raise GitFault(f"The memory has no remote {remote}.", f"Add it: git remote add {remote} ADDRESS.") from None
    return checked_address(address)


def checked_address(address: str) -> str:
    """Return the address of a remote.

    Raises:
        GitFault: it could run a program, or is none that git's own transports serve.
    """
    if not _ADDRESS.fullmatch(address):
        raise GitFault(
            "The remote's address is not supported.", "Use https://, ssh://, user@host:path or an absolute path."
        )
    return address


def list_heads(address: str) -> RemoteHeads:
    """Return what a remote points to.

    Args:
        address: the remote's URL or path, as `checked_address` returns it.

    Raises:
        GitFault: the remote did not answer in time, or refused.
    """
    asked = ("ls-remote", "--symref", address, "HEAD", "refs/heads/*", NIGHT_REF)
    rows = _run_git(asked, Path("/")).decode(errors="replace").splitlines()
    found = {name: value for value, _, name in (row.partition("\t") for row in rows) if not value.startswith("ref: ")}
    named = next((row[5:].partition("\t")[0] for row in rows if row.startswith("ref: ")), "")
    branches = {name: commit for name, commit in found.items() if name.startswith("refs/heads/")}
    branch = named if named in branches else next(iter(branches)) if len(branches) == 1 else ""
    return RemoteHeads(branch.removeprefix("refs/heads/"), found.get(branch, ""), found.get(NIGHT_REF, ""), branches)


def _run_git(arguments: Sequence[str], folder: Path, **environment: str) -> bytes:
    """Run git on a bare repository, and kill it with all its children when the time is over."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    passed = {key: os.environ[key] for key in _PASSED_ON & os.environ.keys()}
    if not passed.keys() & {"GIT_SSH", "GIT_SSH_COMMAND"}:
        passed["GIT_SSH_COMMAND"] = f"ssh -oBatchMode=yes -oConnectTimeout={SECONDS}"
    own = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", "GIT_DIR": str(folder)}
    with subprocess.Popen(
        ["git", *settings, *arguments],  # noqa: S607  the person's own git, from PATH
        cwd=folder,
        env=passed | own | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # ssh and git's helpers are in the same group, and are killed with it
    ) as process:
        try:
            out, error = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Unreachable(f"The remote did not answer within {SECONDS} seconds.") from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        said = b"\n".join((out, error)).decode(errors="replace").splitlines()
        why = reason_in(error.decode(errors="replace"), process.returncode)
        reason = " ".join(next((line for line in said if "rejected]" in line), why).split()).rstrip(".")
        kind = {"ls-remote": Unreachable, "fetch": Unreachable, "push": NotPushed}.get(arguments[0], GitFault)
        raise kind(f"git {arguments[0]} failed: {reason}.", "Check the address, your access to it and the network.")
    return out
