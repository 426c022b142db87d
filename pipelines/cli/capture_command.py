"""`curate capture`: copy what was said in an agent's sessions into the logs of those days."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.agents.agent_folders import AGENTS_SESSIONS
from pipelines.agents.capture import CapturedSession, capture_sessions
from pipelines.agents.session_places import open_kept, sessions_of, sweep, transcripts_below
from pipelines.cli.options import (
    ANY_PATH,
    day_option,
    flag_option,
    json_option,
    memory_option,
    now_option,
    open_memory,
    project_option,
    root_of,
)
from pipelines.cli.output import days_shown, say, say_json, warn
from pipelines.errors import EXPECTED, CurateError, UsageFault
from pipelines.provider_settings import user_table
from pipelines.queries.startup.fast import start_aside
from pipelines.store.transcripts.reader import open_transcript
from pipelines.text import count, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from pipelines.settings import Settings


_AGENTS = tuple(AGENTS_SESSIONS)
_HOOK_BYTES = 1 << 20


@click.command()
@click.argument("paths", nargs=-1, type=ANY_PATH)
@click.option("--from", "agent", type=click.Choice(_AGENTS), help="Capture every session that this agent has kept.")
@flag_option("--sweep", "Capture what is new of each agent that uses the memory.", "sweeping")
@flag_option("--hook", "Capture the session that a hook's JSON on standard input names.")
@project_option("The project of the sessions (default: that of their working directory).")
@day_option("--since", "Skip what was said before this day.")
@json_option("Print the result for each transcript as a JSON array.")
@memory_option
@now_option
def curate_capture(  # noqa: PLR0913  click hands over each option by name
    *,
    paths: tuple[Path, ...],
    agent: str | None,
    sweeping: bool,
    hook: bool,
    project: str,
    since: str | None,
    as_json: bool,
    memory: Path | None,
    now: str | None,
) -> int:
    """Capture session transcripts. Each PATH is a JSONL file, or a folder that holds some.

    This keeps the transcript in Sessions and appends what the user and the agent said to the logs of those days; each
    line names its place in the transcript. Capturing a session again adds only what is new. Runs, syncs and the starts
    of sessions sweep by themselves.

    What you typed, queued, answered, approved or refused with a reason counts as your word. What a program sent does
    not, unless your settings say `[trust] headless = "owner"`.
    """
    if hook:
        _capture_from_hook(memory, project, now)
        return 0
    opened = open_memory(memory, now)
    if sweeping and not (paths or agent):
        found = sweep(*opened)
    else:
        opening = open_kept if agent else open_transcript
        chosen, when = _transcripts(paths, agent, sweeping=sweeping), since or ""
        found = capture_sessions(*opened, chosen, project, when, opening=opening)
    if as_json:
        say_json([one._asdict() for one in found])
    else:
        _tell(found)
    failed = any(one.fault for one in found) and not any(one.file for one in found)
    return EXPECTED if failed and not sweeping else 0


def sweep_sessions(root: Path, settings: Settings, when: datetime, *, quiet: bool) -> None:
    """Capture what is new of the agents that use a memory, before its logs are read or sent.

    Args:
        root: the memory.
        settings: its settings.
        when: the moment.
        quiet: whether to print nothing but what could not be captured.
    """
    try:
        found = sweep(root, settings, when)
    except (CurateError, OSError) as fault:  # the logs can be read all the same
        warn(f"Not all sessions were captured: {fault}")
        return
    _tell([one._replace(turns=0, known=0) for one in found] if quiet else found)


def _capture_from_hook(memory: Path | None, project: str, now: str | None) -> None:
    """Capture the session that a hook names, and start a sync if the session ends.

    Errors are only printed, because a session must end in any case.
    """
    event: Any = None
    try:
        event = json.loads(sys.stdin.buffer.read(_HOOK_BYTES))
        path = Path(event["transcript_path"]).expanduser()
        for one in capture_sessions(*open_memory(memory, now), [path], project):
            if one.fault:
                warn(f"curate capture: {escape_terminal_line(one.source)} {one.fault}.")
    except (ValueError, TypeError, KeyError, RecursionError):
        warn("curate capture: the hook's input names no transcript_path.")
    except (CurateError, OSError) as fault:
        warn(f"curate capture: {fault}")
    if isinstance(event, dict) and event.get("hook_event_name") == "SessionEnd" and user_table("push"):
        with contextlib.suppress(CurateError, OSError):
            start_aside(str(root_of(memory)), "sync")  # `curate status` shows failures


def _transcripts(paths: Sequence[Path], agent: str | None, *, sweeping: bool) -> list[Path]:
    """Return the transcripts to capture, in order of their names; those that an agent kept, oldest first."""
    if bool(paths) == bool(agent) or sweeping:
        how = f"Give a PATH, --from {'|'.join(_AGENTS)}, or --sweep."
        raise UsageFault("It is not clear what to capture.", how)
    if missing := [str(path) for path in paths if not path.exists()]:
        raise UsageFault(f"{missing[0]} does not exist.", "Check the path.")
    found = sessions_of(agent) if agent else []
    found += [path for folder in paths for path in (transcripts_below(folder) if folder.is_dir() else [folder])]
    if not found:
        where = paths[0] if paths else AGENTS_SESSIONS[str(agent)].home()
        raise UsageFault(f"There is no transcript in {where}.", "A transcript's name ends in .jsonl.")
    return found


def _tell(found: Sequence[CapturedSession]) -> None:
    for one in found:
        name = escape_terminal_line(one.source)
        if one.fault:
            warn(f"{name} {one.fault}.")
        if one.unread:
            warn(f"{name}: {one.unread}; the rest was read.")
        if one.file and one.redacted:
            warn(f"{name}: redacted secrets in {count(one.redacted, 'line')} of the copy.")
    new = [one for one in found if one.turns]
    if not new:
        if known := sum(bool(one.known) for one in found):
            say(f"Nothing new in {count(known, 'session')}.")
        return
    turns, owners = sum(one.turns for one in new), sum(one.owners for one in new)
    span = days_shown({day for one in new for day in one.days})
    say(f"Captured {count(turns, 'turn')} of {count(len(new), 'session')}, {span}; {owners:,} of them yours.")
