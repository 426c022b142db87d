"""Runs of `curate` under strace, which ends the process, or fails a call, at one chosen system call.

`when=K` counts the calls of one kind in one process: strace runs without `-f`, so that the K-th is the K-th of just
that process. A point counts only when strace says that it fired.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

import pipelines
from tests.torture.small import NOW
from tests.torture.warm import Warm

STRACE: Final = shutil.which("strace") or ""
GIT: Final = shutil.which("git") or ""
CALLS: Final = (
    "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir",
    "mkdirat", "rmdir", "link", "linkat", "symlink", "ftruncate", "chmod", "fchmod",
)  # fmt: skip
"""Every kind of call by which a run, or its git, changes something."""
SECONDS: Final = 120
RUN: Final = ("run", "--now", NOW)
WARM: Final = Warm()

needs_strace = pytest.mark.skipif(not STRACE, reason="strace is not installed, so nothing can be killed at a call")


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code (negative for a signal), what it said, and whether the injection fired."""

    code: int
    said: str
    fired: bool

    @property
    def killed(self) -> bool:
        """Whether it was ended by SIGKILL."""
        return self.code in {-signal.SIGKILL, 128 + signal.SIGKILL}


def curate(root: Path, *verb: str, prefix: tuple[str, ...] = (), path: str = "") -> Ended:
    """Run `curate VERB` (else `run`) on a memory in a process of its own."""
    told = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(Path(pipelines.__file__).parents[1])}
    if path:
        told["PATH"] = f"{path}{os.pathsep}{told['PATH']}"
    words = verb or ("run", "--now", NOW)
    command = [*prefix, sys.executable, "-m", "pipelines.cli", *words, "--memory", str(root)]
    done = subprocess.run(command, capture_output=True, env=told, timeout=SECONDS, check=False, cwd=root.parent)
    return Ended(done.returncode, (done.stdout + done.stderr).decode(errors="replace"), fired=False)


def warm_curate(root: Path, options: tuple[str, ...] = (), path: str = "", verb: tuple[str, ...] = RUN) -> Ended:
    """Run a verb in a process that is forked with everything imported, strace attached to it where asked for."""
    output = root.parent / "output"
    pid = WARM.start([*verb, "--memory", str(root)], output, path)
    log = root.parent / "strace.log"
    tracer = _attached(pid, log, options) if options else None
    os.kill(pid, signal.SIGCONT)
    code = WARM.wait(pid)
    if tracer:
        tracer.communicate(timeout=SECONDS)
    said = output.read_text(errors="replace")
    return Ended(code, said, fired=False)


def _attached(pid: int, log: Path, options: tuple[str, ...]) -> subprocess.Popen[str]:
    """Attach strace to a stopped process, and return when it has hold of it."""
    command = [STRACE, "-o", str(log), *options, "-p", str(pid)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    told = tracer.stderr.readline()
    if "attached" not in told:
        os.kill(pid, signal.SIGKILL)
        tracer.communicate()
        pytest.fail(f"strace could not take hold of a process: {told}")
    return tracer


def injected(root: Path, call: str, what: str, when: str, verb: tuple[str, ...] = RUN) -> Ended:
    """Run with one injection into the Python process, such as `signal=SIGKILL` or `error=ENOSPC`."""
    ended = warm_curate(root, _options(call, what, when), verb=verb)
    return Ended(ended.code, ended.said, _fired(root.parent / "strace.log", ended))


def injected_from_the_start(root: Path, call: str, what: str, when: str) -> Ended:
    """Do the same in a process that is started, not forked: what the interpreter does at its end counts, too."""
    log = root.parent / "strace.log"
    ended = curate(root, prefix=(STRACE, "-o", str(log), *_options(call, what, when)))
    return Ended(ended.code, ended.said, _fired(log, ended))


def injected_in_git(
    root: Path, number: int, call: str, what: str, *, take_python: bool = False, from_the_start: bool = False
) -> Ended:
    """Run with one injection into the `number`-th git that the run starts.

    Args:
        root: the memory.
        number: which git, from 1.
        call: the kind of call.
        what: what to inject, with its `:when=`.
        take_python: whether the run itself is killed in the same moment, as when the machine stops.
        from_the_start: whether the run is started, not forked: the first gits are those that an import starts.
    """
    what, _, when = what.partition(":when=")
    log = root.parent / "strace.log"
    log.unlink(missing_ok=True)
    traced = " ".join([STRACE, "-o", str(log), *_options(call, what, when), GIT, '"$@"'])
    last = f"{traced}; code=$?; [ $code = 137 ] && kill -9 $PPID; exit $code" if take_python else f"exec {traced}"
    run = curate if from_the_start else warm_curate
    ended = run(root, path=_shim(root, f'[ "$n" = {number} ] || exec {GIT} "$@"\n{last}'))
    return Ended(ended.code, ended.said, log.exists() and _fired(log, ended))


def python_points(root: Path, verb: tuple[str, ...] = RUN) -> dict[str, int]:
    """Return kind of call → how often the Python process of an untouched run makes it. The run is done on `root`."""
    log = root.parent / "strace.log"
    ended = warm_curate(root, ("-e", f"trace={','.join(CALLS)}"), verb=verb)
    assert ended.code == 0, f"{verb}: {ended.said}"
    return {call: len(lines) for call, lines in _calls(log).items()}


def git_points(root: Path, *, on_disk: bool = False) -> list[tuple[int, str, int]]:
    """Return (which git, kind of call, the how-manyeth of its kind) of an untouched run. The run is done on `root`.

    Args:
        root: the memory.
        on_disk: leave out what git writes to us: a pipe has neither a full disk nor a broken one.
    """
    logs = root.parent / "git-logs"
    logs.mkdir()
    traced = f'exec {STRACE} -y -o {logs}/$n -e trace={",".join(CALLS)} {GIT} "$@"'
    assert warm_curate(root, path=_shim(root, traced)).code == 0
    points = []
    for log in sorted(logs.iterdir(), key=lambda log: int(log.name)):
        for call, lines in _calls(log).items():
            points += [
                (int(log.name), call, nth)
                for nth, line in enumerate(lines, 1)
                if not (on_disk and re.match(r"\w+\(\d+<(?:pipe|socket):", line))
            ]
    shutil.rmtree(logs)
    return points


def _options(call: str, what: str, when: str) -> tuple[str, ...]:
    return ("-e", f"trace={call}", "-e", f"inject={call}:{what}:when={when}")


def _shim(root: Path, body: str) -> str:
    """Make a `git` that counts its starts, before it does what `body` says with `$n`; return its folder."""
    folder = root.parent / "shim"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    count = folder / "count"
    count.write_text("0")
    shim = folder / "git"
    shim.write_text(f"#!/bin/sh\nread n < {count}\nn=$((n + 1))\necho $n > {count}\n{body}\n")
    shim.chmod(0o755)
    return str(folder)


def _calls(log: Path) -> dict[str, list[str]]:
    lines = log.read_text(errors="replace").splitlines()
    found = {call: [line for line in lines if line.startswith(f"{call}(")] for call in CALLS}
    return {call: told for call, told in found.items() if told}


def _fired(log: Path, ended: Ended) -> bool:
    text = log.read_text(errors="replace")
    return bool(re.search(r"\(INJECTED\)|\+\+\+ killed by SIGKILL", text)) or ended.killed
