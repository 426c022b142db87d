"""The way into `curate`: what a session or an agent waits for is answered at once, all else by the command line proper.

Read here are the plain cases alone. What is unusual (help, a mistake, `--now`, a text that begins with a dash) is left
to the command line proper, which says the same things at more leisure.
"""

from __future__ import annotations

import gc
import os
import sys

_ALLOCATIONS = 20_000
"""How many new objects there are between two looks for garbage. By default they are 700; starting a command makes some
100,000, of which none is garbage, and a tenth of a search went into looking."""
_OPTIONS = {
    "context": {"memory", "budget", "format", "project"},
    "log": {"memory", "project"},
    "mcp": {"memory"},
}
_INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its exit code."""
    gc.set_threshold(_ALLOCATIONS)
    # By default numpy starts a thread per processor, and each spins while it waits. Beside two busy processes, a search
    # took 0.55 s instead of 0.25; four first nights at once took 31 s of processor time instead of 8.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = _answer(sys.argv[1:])
        if code is None:
            from pipelines.cli import main as command_line

            code = command_line()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on: a closed pipe is no failure
        code = 0
    finally:
        gc.freeze()  # a process that ends would look through all of its objects once more
    sys.exit(code)


def _answer(arguments: list[str]) -> int | None:
    """Answer a plain command and return the exit code, or return None where the command line proper has to look."""
    options: dict[str, str] = {}  # the last of each name
    words, left = [], arguments[::-1]
    while left:
        name, equals, value = left.pop().partition("=")
        if not name.startswith("-"):
            words.append(f"{name}{equals}{value}")
            continue
        value = value if equals or not left else left.pop()
        is_early = not words and name != "--memory"  # of a verb's options none stands before it
        if is_early or name[:2] != "--" or not value or value.startswith("-"):
            return None
        options[name[2:]] = value
    text = "".join(arguments)
    if not words or text.encode(errors="replace").decode() != text:
        return None
    verb, *words = words
    if verb not in _OPTIONS or not options.keys() <= _OPTIONS[verb] or (words and verb != "log"):
        return None
    if verb == "log":
        from pipelines.queries.startup.fast import log_quickly

        return log_quickly(" ".join(words), options.get("project", ""), options.get("memory", ""))
    if verb == "mcp":
        from pipelines.mcp import serve

        serve(options.get("memory", ""))
        return 0
    from pipelines.queries.startup.fast import answer

    return answer(options)
