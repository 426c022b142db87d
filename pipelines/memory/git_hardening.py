"""How git is called in a repository that may be somebody else's: what it is told, and what it is not."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_PASSED_ON: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
)  # fmt: skip
_TOLD: Final = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # a repository's settings cannot allow what the environment does not
}
_HARDENED: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",  # must, or a branch may name a commit whose objects a power cut tore: git leaves those to chance
    "safe.bareRepository=explicit",
    "log.showSignature=false",  # would ask the program that the repository's settings name
    "submodule.recurse=false",
    "core.askPass=",
    "core.pager=cat",
    "protocol.allow=never",  # nothing here fetches, and a partial clone shall not make git do so
)


def hardened(root: Path, env: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    """Return the command that runs git with settings that the repository cannot undo, behind `env -i`.

    That is the one way to give GitPython's children an environment that is an allow-list.

    Args:
        root: the memory; no program that lies in it is run.
        env: variables for this one call.
        arguments: of git.
    """
    passed = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    told = passed | _TOLD | {"PATH": _search_path(root)} | dict(env)
    settings = [part for setting in _HARDENED for part in ("-c", setting)]
    program = shutil.which("env", path=told["PATH"]) or "/usr/bin/env"
    return [program, "-i", *(f"{key}={value}" for key, value in told.items()), "git", *settings, *arguments]


def _search_path(root: Path) -> str:
    """Return where git is looked for: what PATH says, without what would be a program that lies in the memory."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    own = os.path.realpath(root)
    return os.pathsep.join(folder for folder in folders if not f"{os.path.realpath(folder)}/".startswith(f"{own}/"))
