"""The `curate` command: one module for each verb or group of verbs, imported only when one of its verbs is called.

Verbs share `options` (and the opening of a memory), `output` (all printing), `item_lines` and `manual_changes`. This
file holds the table of verbs and turns errors and signals into a sentence and an exit code, never a traceback.
Others import `main`, `run_cli` and `VERBS`, but no module of a verb.
It may import every other room; no room imports it.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sqlite3
import sys
from typing import TYPE_CHECKING, Any

import click

from pipelines import __version__
from pipelines.cli.options import memory_option
from pipelines.cli.output import warn
from pipelines.errors import (
    BUG,
    EXPECTED,
    INTERRUPTED,
    USAGE,
    CurateError,
    Ended,
    NotWritable,
    NotYours,
    UsageFault,
    did_you_mean,
    reason_of,
)
from pipelines.text import escape_terminal_line, is_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import FrameType

    from click.shell_completion import CompletionItem


_TABLE = """\
demo       Curate a week of sample logs, and show what came of it.
init       Create a memory; connect agents, choose who reads, schedule nights.
install    Connect an agent, or schedule nightly runs.
run        Curate: read the logs, keep what matters, commit.
status     Show whether nights run, and what waits.
log        Append a line to today's log.
search     Search the memory.
add        Add an item yourself.
done       Mark todos as done.
correct    Replace an item with the right sentence.
review     Decide what waits for you.
view       Open the memory in your browser.

check      Check the memory for lost items, damage or secrets.
close      Close items: dropped, resolved, ended, never true.
doctor     Check the set-up and show what to do next.
export     Write the whole memory to one file.
forget     Erase an item everywhere but in git's history.
import     Take in chats of ChatGPT or claude.ai.
index      Update the search index.
items      List items.
models     Show or choose the models that read and embed.
move       Move an item to another document.
pin        Pin an item: it does not fade and stays in MEMORY.md.
project    Rename, merge or close a project.
recap      Show what happened on some days.
reopen     Open or restore items that were closed.
runs       List the runs, or show one.
schedule   Run every night in the foreground (daemon).
secrets    List secrets in files or history, or allow one.
set        Say more of an item, such as topic=kafka.
settle     Settle two items that may conflict.
sync       Push logs and edits, fetch nights from elsewhere.
undo       Undo a run, or its change to one item.
uninstall  Undo what `curate install` did.
why        Show what an item rests on, its past, what needs it.

capture    Copy an agent's sessions into the logs.
context    Print what a new session starts with.
mcp        Serve the memory to an agent as tools (MCP)."""
"""The verbs with their help: what a person needs on most days; more; what agents and schedulers call."""
_FIRST, _MORE, _PLUMBING = (dict(row.split(None, 1) for row in part.split("\n")) for part in _TABLE.split("\n\n"))
VERBS: dict[str, str] = {**_FIRST, **_MORE, **_PLUMBING}
_GROUPS = """\
log_commands      log add
outcome_commands  done close correct settle reopen
items_commands    items pin set move forget project
transfer_commands import export sync
runs_commands     runs undo why recap
install_commands  install uninstall
models_commands   models
serve_commands    mcp schedule context view
search_command    search index
health_commands   status doctor check secrets"""
"""Modules with several verbs; any other verb has its own module, `VERB_command`."""
_MODULES = {verb: row.split()[0] for row in _GROUPS.split("\n") for verb in row.split()[1:]}
_RENAMED = """\
drop     close --as dropped
resolve  close --as resolved
end      close --as ended
retract  close --as never-true
history  why
impact   why
audit    search
unpin    pin --off
night    run"""
"""Former names of verbs, which still work."""
_RENAMES = dict(row.split(None, 1) for row in _RENAMED.split("\n"))

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})


class Verbs(click.Group):
    """The group of verbs. It has their names and one-line help itself, so that help imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the verbs in the order a newcomer needs them."""
        return list(VERBS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant; for an unknown verb, fail with the nearest known ones."""
        if args and (now := _RENAMES.get(args[0])):
            if sys.stderr.isatty():
                warn(f"`curate {args[0]}` is `curate {now}` now.")
            args = [*now.split(), *args[1:]]
        if args and args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            advice = did_you_mean(args[0], VERBS)
            raise UsageFault(f"There is no verb “{args[0]}”.", f"{advice} `curate --help` lists all verbs.".strip())
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  click's signature
        """Return the verbs that begin so, without importing any."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only a shell asks

        return [CompletionItem(verb, help=text) for verb, text in VERBS.items() if verb.startswith(incomplete)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  as above
        """Import and return a verb's command; None for an unknown verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"pipelines.cli.{_MODULES.get(cmd_name, f'{cmd_name}_command')}")
        command: click.Command = getattr(module, f"curate_{cmd_name}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs of most days with their one-line help, and the names of the others."""
        with formatter.section("Verbs"):
            formatter.write_dl([*_FIRST.items()])
        with formatter.section("More"):
            formatter.write_text(", ".join(_MORE))


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each verb has its own --help. To complete verbs and options with the Tab key, put this into your"
    ' ~/.bashrc: eval "$(_CURATE_COMPLETE=bash_source curate)"',
)
@click.version_option(__version__, prog_name="curate")
@memory_option
def curate(memory: Path | None) -> None:
    """Curate the memory of an AI agent: plain Markdown, curated every night, with git as its history."""


def main() -> int:
    """Run the command line and return its exit code; SIGTERM and SIGHUP end it as Ctrl-C does.

    A signal that the parent process ignores (`nohup`) stays ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    return run_cli(sys.argv[1:])


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second signal must not cut short the clean-up after the first
    raise Ended(number)


def run_cli(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Errors go to standard error, without a traceback.

    A verb may return its own exit code.
    """
    if odd := next((one for one in arguments if not is_utf8(one)), None):  # no memory could hold its bytes
        sentence = f"The argument “{escape_terminal_line(odd)}” is not UTF-8."
        return _say(f"{sentence} Set the terminal, or the file that it came from, to UTF-8.", USAGE)
    try:
        result: Any = curate.main(list(arguments), prog_name="curate", standalone_mode=False)
        sys.stdout.flush()
    except CurateError as fault:
        return _say(str(fault), fault.exit_code)
    except click.ClickException as fault:
        return _say_misuse(fault)
    except (KeyboardInterrupt, click.Abort) as fault:
        cause = fault.__cause__ or fault  # click turns every interrupt into an abort
        sentence, code = "Interrupted. The next run continues where this one stopped.", INTERRUPTED
        if isinstance(cause, Ended):
            sentence, code = cause.sentence, cause.exit_code
        return _say(sentence, code)
    except BrokenPipeError:
        _discard_output()  # the reader closed the pipe, which is not an error
        result = 0
    except Exception as fault:  # noqa: BLE001  the last line of defence: a person gets a sentence, not a traceback
        return _say_unforeseen(fault, arguments)
    return result if isinstance(result, int) else 0


def _say(sentence: str, code: int) -> int:
    from pipelines.store.secrets.redact import without_secrets  # noqa: PLC0415  only what went wrong is looked through

    warn(f"curate: {without_secrets(sentence)}", wrap=code != BUG)  # a report is pasted as it is
    return code


def _say_misuse(fault: click.ClickException) -> int:
    if isinstance(fault, click.exceptions.NoArgsIsHelpError):  # its message is the help, laid out already
        warn(fault.format_message(), wrap=False)
        return USAGE
    context = getattr(fault, "ctx", None)
    usage = f"{context.get_usage()}\n" if context else ""
    return _say(f"{usage}{fault.format_message()}", USAGE)


def _discard_output() -> None:
    """Discard what is still buffered for standard output; it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_unforeseen(fault: Exception, arguments: Sequence[str]) -> int:
    if isinstance(fault, OSError) and fault.errno in _FULL and fault.filename is None:
        _discard_output()
        return _say(str(NotWritable("Standard output", reason_of(fault))), EXPECTED)
    if isinstance(fault, FileNotFoundError) and not fault.filename:  # of `Path.cwd()`
        return _say("The working directory no longer exists. Change to another folder.", USAGE)
    if isinstance(fault, PermissionError) and fault.filename:
        return _say(str(NotYours(fault.filename)), EXPECTED)
    # A bug, as a Markdown report: versions, the verb without its texts, and the stack. The exception's message is cut
    # to 200 characters, because it may quote a log.
    import platform  # noqa: PLC0415  bugs are few
    import traceback  # noqa: PLC0415  as above

    verb = next((word for word in arguments if not word.startswith("-")), "(none)")
    options = " ".join(word.partition("=")[0] for word in arguments if word.startswith("--"))
    steps = "".join(traceback.format_tb(fault.__traceback__))
    report = (
        "This is a bug in memcurate. Nothing was lost. Please paste this report into a new issue:\n\n"
        f"### `curate {verb}` failed: {type(fault).__name__}\n\n"
        f"- memcurate {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.platform()}\n- options: {options or 'none'}\n\n"
        f"```\n{steps}{type(fault).__name__}: {str(fault)[:200]}\n```"
    )
    return _say(report, BUG)
