"""Run git through GitPython, hardened: the repository may be somebody else's, and nothing that it names may run."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import DamagedGit, GitFault
from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterator


_NOT_FOUND = 127


@dataclass(eq=False)
class GitCommands:
    """Git commands in a folder.

    Args:
        root: the folder, which git takes for its work tree or a part of one.
    """

    root: Path

    def run(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run a git command with this input, and return its output.

        Raises:
            GitFault: it failed; the message contains git's own reason.
        """
        code, out, error = self._call(*arguments, data=data)
        if code:
            raise fault_of(arguments[0], code, error)
        return out

    def _call(self, *arguments: str, data: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return its exit code, its output and its standard error. A git that writes may finish if we end.

        Raises:
            GitFault: it could not be started, or was killed.
        """
        with writing(tempfile.gettempdir()):
            given = tempfile.TemporaryFile()  # noqa: SIM115  closed below
            given.write(data)
            given.seek(0)
        with given:
            commands = gitpython().GitCommandWrapperType(str(self.root))
            code, out, error = commands.execute(
                ["git", *arguments], istream=given, with_extended_output=True, with_exceptions=False,
                stdout_as_string=False, strip_newline_in_stdout=False,
            )  # fmt: skip
        if code == _NOT_FOUND or code < 0:
            raise fault_of(arguments[0], code, error)
        return code, out, error


@cache
def gitpython() -> Any:  # noqa: ANN401  its types are not worth the import
    """Return GitPython's `Repo`, with hardened commands. Its import takes 90 ms, which only what needs git pays."""
    with without_git_variables(GIT_PYTHON_REFRESH="quiet", GIT_PYTHON_GIT_EXECUTABLE="/nowhere/git"):
        import git  # noqa: PLC0415  without asking a git in PATH for its version: the first command says as much

    class Commands(git.Git):
        """Git commands that nothing in the repository or in the caller's environment can change.

        They have settings that the repository cannot override, and no program of the memory runs.
        """

        def execute(self, command: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  as GitPython has it
            own = Path(os.path.realpath(str(self.working_dir)))
            if (where := (own, os.environ.get("PATH", os.defpath))) not in _PROGRAMS:
                folders = [one for one in where[1].split(os.pathsep) if one.startswith("/")]
                path = os.pathsep.join(one for one in folders if not f"{os.path.realpath(one)}/".startswith(f"{own}/"))
                _PROGRAMS[where] = path, shutil.which("env", path=path) or "/usr/bin/env"
            path, program = _PROGRAMS[where]
            passed = {key: os.environ[key] for key in PASSED_ON & os.environ.keys()}
            top = next((folder for folder in (own, *own.parents) if os.path.lexists(folder / ".git")), own)
            # Git looks no further up: a damaged repository is not passed over for another one.
            environment = passed | _FIXED | {"PATH": path, "GIT_CEILING_DIRECTORIES": str(top.parent)}
            settings = [part for setting in _SETTINGS for part in ("-c", setting)]
            # `env -i` is the only way to give GitPython's children a minimal environment.
            start = [program, "-i", *(f"{key}={value}" for key, value in environment.items()), "git", *settings]
            verb, *asked = command[1:]
            if verb == "log":  # `-G` would run a textconv, too
                asked = ["--no-ext-diff", "--no-textconv", *asked]
            return super().execute([*start, verb, *asked], *arguments, **options)

    class Repo(git.Repo):
        """A repository that is read with these commands."""

        GitCommandWrapperType = Commands

    return Repo


@contextlib.contextmanager
def without_git_variables(**own: str) -> Iterator[None]:
    """Hide the caller's variables for git, which would lead GitPython elsewhere, and set others instead."""
    kept = {key: os.environ.pop(key) for key in [*os.environ] if key.startswith("GIT_") and key not in PASSED_ON}
    os.environ.update(own)
    try:
        yield
    finally:
        for key in own:
            del os.environ[key]
        os.environ.update(kept)


def fault_of(command: str, code: int, error: str) -> GitFault:
    """Return the error for a git command that ended with this exit code and standard error."""
    if code == _NOT_FOUND:
        return GitFault("The program `git` was not found.", "Install git 2.30 or newer.")
    if code < 0:
        return GitFault(f"git {command} was ended by {signal.Signals(-code).name}.", "Nothing is lost; run again.")
    return DamagedGit(f"git {command} failed: {reason_in(error, code)}")


def reason_in(error: str, code: int) -> str:
    """Return git's reason, from its standard error: what was fatal, else its last line or its exit code."""
    lines = error.strip().splitlines() or [f"exit code {code}"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1].strip())


_PROGRAMS: Final = dict[tuple[Path, str], tuple[str, str]]()
"""Repository and PATH → the folders of PATH that are not in it, and `env` in them."""
PASSED_ON: Final = frozenset(
    """PATH HOME USER LOGNAME TMPDIR XDG_CONFIG_HOME SSH_AUTH_SOCK
    GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM""".split()
)
_FIXED = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # overrides the repository's settings
}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "user.useConfigOnly=true",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.filesRefLockTimeout=2000",
    "core.packedRefsTimeout=2000",
    "core.fsync=all",  # git's default lets a power cut tear the objects of a commit that a branch already names
    "safe.bareRepository=explicit",
    "fastimport.unpackLimit=1",  # keep a commit as one pack, flushed at once
    "pack.compression=1",  # a night stores whole pages, which a later repack stores as differences
    "log.showSignature=false",  # would run a program named in the repository's settings
    "submodule.recurse=false",
    "core.askPass=",
    "core.pager=cat",
    "protocol.allow=never",  # nothing here fetches, and a partial clone must not either
)
