"""The `curate` command: one module for each verb or group of verbs, imported only when one of its verbs is called.

Verbs share `options` (and the opening of a memory), `output` (all that is printed), `item_lines` and `manual_changes`.
Here are the table of verbs, and what becomes of faults and signals: a sentence and an exit code, never a traceback.
Others import `main`, `run_cli` and `VERBS`, and no module of a verb.
Stands on all other rooms; no room stands on it.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines import __version__
from pipelines.cli.options import memory_option
from pipelines.cli.output import warn
from pipelines.errors import BUG, EXPECTED, INTERRUPTED, USAGE, CurateError, Ended, NotWritable, NotYours

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


VERBS: Final = {
    "init": "Make a memory, or add what one lacks.",
    "log": "Append a line to today's log.",
    "capture": "Take an agent's sessions into the logs.",
    "add": "File an item of your own at once.",
    "done": "Say that todos are done.",
    "resolve": "Say that risks are over, or came true.",
    "drop": "Drop todos and risks that need nothing any more.",
    "end": "Say that something holds no longer.",
    "correct": "Put the right sentence in an item's place.",
    "retract": "Say that something was a mistake and never held.",
    "reopen": "Take the end of an item back.",
    "review": "Decide what waits for you, item by item.",
    "edit": "Edit a document; it is checked before it is saved.",
    "pin": "Let an item neither fade nor be evicted.",
    "unpin": "Let it fade again.",
    "move": "Move an item to another document.",
    "forget": "Forget an item everywhere but in git's history.",
    "project": "Make, rename or close a project.",
    "import": "Read what `curate export` wrote, or an export of ChatGPT or claude.ai.",
    "run": "Curate: read the logs, keep what matters, reindex, commit.",
    "schedule": "Stay, and run each night at its time.",
    "view": "Open the memory as a page in your browser.",
    "search": "Find things in the memory.",
    "recap": "Say what happened on some days.",
    "items": "List every item, whatever its status.",
    "why": "Say what an item rests on and who brought it.",
    "history": "Show every wording and state that an item had.",
    "audit": "Show all that is believed about a topic.",
    "impact": "Show what rests on an item.",
    "graph": "Show the links between items.",
    "export": "Write all items for other programs, or the whole memory.",
    "runs": "List the runs, or show one whole.",
    "replay": "Repeat a run from its kept replies, without a network.",
    "undo": "Take a run back, or its change of one item.",
    "install": "Tell an agent of the memory, or run every night.",
    "uninstall": "Take that back.",
    "mcp": "Serve the memory to an agent as tools (MCP).",
    "context": "Print what a new session should start with.",
    "recall": "Print the few beliefs that bear on a prompt.",
    "status": "Say how the memory fares.",
    "doctor": "Check the set-up, and say the one next thing to do.",
    "check": "Check that everything is accounted for.",
    "secrets": "List the values known to be secret; take one back.",
    "index": "Bring the search index up to date.",
    "models": "Say which embedder is used, or fetch the local one.",
    "eval": "Measure search on questions of your own.",
}
_GROUPS: Final = {
    "log_commands": ("log", "add"),
    "outcome_commands": ("done", "resolve", "drop", "end", "correct", "retract", "reopen"),
    "items_commands": ("items", "edit", "pin", "unpin", "move", "forget"),
    "project_commands": ("project",),
    "why_commands": ("why", "history", "impact", "audit", "graph", "recap"),
    "transfer_commands": ("import", "export"),
    "runs_commands": ("runs", "undo", "replay"),
    "install_commands": ("install", "uninstall"),
    "index_commands": ("index",),
    "models_commands": ("models",),
    "serve_commands": ("mcp", "schedule", "context", "recall"),
    "health_commands": ("status", "doctor"),
    "check_commands": ("check", "secrets"),
    "eval_commands": ("eval",),
}
"""The modules that hold a group of verbs; any other verb has a module of its own, `VERB_command`."""
_MODULES: Final = {verb: module for module, verbs in _GROUPS.items() for verb in verbs}

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})


class Verbs(click.Group):
    """The group of verbs. It knows their names and one-line helps by heart, so that help imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the verbs in the order in which a newcomer needs them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  as above
        """Return a verb's command, imported now, or None for an unknown one."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"pipelines.cli.{_MODULES.get(cmd_name, f'{cmd_name}_command')}")
        command: click.Command = getattr(module, f"curate_{cmd_name}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs and their one-line helps."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each verb has its own --help.",
)
@click.version_option(__version__, prog_name="curate")
@memory_option
def curate(memory: Path | None) -> None:
    """Curate the memory of an AI agent: plain Markdown, kept by a nightly run, with git as its history."""


def main() -> None:
    """Run the command line and end the process with its exit code; SIGTERM and SIGHUP end it as Ctrl-C does.

    Neither signal is heeded where whoever started the process had it ignored (`nohup`).
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    sys.exit(run_cli(sys.argv[1:]))


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # one is enough: a second would cut short what the first one lets unwind
    raise Ended(number)


def run_cli(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; whatever goes wrong is said on standard error, without a traceback.

    A verb says its own exit code by returning a number.
    """
    try:
        result: Any = curate.main(list(arguments), prog_name="curate", standalone_mode=False)
        sys.stdout.flush()
    except CurateError as fault:
        return _say(str(fault), fault.exit_code)
    except click.ClickException as fault:
        context = getattr(fault, "ctx", None)
        usage = f"{context.get_usage()}\n" if context else ""
        return _say(f"{usage}{fault.format_message()}", USAGE)
    except (KeyboardInterrupt, click.Abort) as fault:
        cause = fault.__cause__ or fault  # click makes an abort of every interrupt
        sentence, code = "Interrupted; the next run takes up where this one was.", INTERRUPTED
        if isinstance(cause, Ended):
            sentence, code = cause.sentence, cause.exit_code
        return _say(sentence, code)
    except BrokenPipeError:
        _discard_output()  # nobody reads on: a closed pipe is no failure
        return 0
    except Exception as fault:  # noqa: BLE001  the last line of defence: a person gets a sentence, not a traceback
        return _say_unforeseen(fault, arguments)
    return result if isinstance(result, int) else 0


def _say(sentence: str, code: int) -> int:
    from pipelines.store.secrets import veil  # noqa: PLC0415  only what went wrong is looked through

    warn(f"curate: {veil(sentence)}")
    return code


def _discard_output() -> None:
    """Let what is still buffered for standard output go nowhere, as it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_unforeseen(fault: Exception, arguments: Sequence[str]) -> int:
    if isinstance(fault, OSError) and fault.errno in _FULL and fault.filename is None:
        _discard_output()
        return _say(str(NotWritable("Standard output", (fault.strerror or str(fault)).lower())), EXPECTED)
    if isinstance(fault, PermissionError) and fault.filename:
        return _say(str(NotYours(fault.filename)), EXPECTED)
    if isinstance(fault, FileNotFoundError):
        try:
            Path.cwd()
        except FileNotFoundError:  # whatever is relative to a folder that was deleted cannot even be asked for
            return _say("The working directory is gone. Change into a folder that is there and run it again.", USAGE)
    return _say(_bug_report(fault, arguments), BUG)


def _bug_report(bug: BaseException, arguments: Sequence[str]) -> str:
    """Return a Markdown report: versions, the verb without its texts, and where the code broke.

    The exception's own message is left out beyond its first 200 characters: it may quote a log.
    """
    import platform  # noqa: PLC0415  bugs are few
    import traceback  # noqa: PLC0415  as above

    verb = next((word for word in arguments if not word.startswith("-")), "(none)")
    options = " ".join(word.partition("=")[0] for word in arguments if word.startswith("--"))
    steps = "".join(traceback.format_tb(bug.__traceback__))
    return (
        "This is a bug in memcurate. Nothing is lost; please paste what follows into a new issue.\n\n"
        f"### `curate {verb}` failed: {type(bug).__name__}\n\n"
        f"- memcurate {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.platform()}\n- options: {options or 'none'}\n\n"
        f"```\n{steps}{type(bug).__name__}: {str(bug)[:200]}\n```"
    )
