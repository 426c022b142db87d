"""Commands in processes of their own, which are forked and so need not load the product first."""

import gc
import os
import sys
from collections.abc import Callable
from os import _exit  # as it is: a test may have replaced it
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile

from pipelines import start


def forked(
    *words: str, cwd: Path | None = None, stdin: str = "", first: Callable[[], object] = int
) -> CompletedProcess[str]:
    """Run `curate WORDS` as a process that a shell starts, and return what came of it; `first` is done in it before."""
    with TemporaryFile("w+") as given, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        given.write(stdin)
        given.seek(0)
        if not (child := os.fork()):
            for number, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), number)
            _become(words, cwd, first)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return CompletedProcess(words, code, out.read(), err.read())


def _become(words: tuple[str, ...], cwd: Path | None, first: Callable[[], object]) -> None:
    gc.disable()  # what the tests left would be walked through, and copied, at each collection
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = ["curate", *words]
    code: object = 99
    try:
        os.chdir(cwd or os.curdir)
        first()
        start.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        _exit(code if isinstance(code, int) else 1)
