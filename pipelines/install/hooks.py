"""Hooks in the form that Claude Code and Codex share: events, in each a list of groups, in each group commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.install.program import is_line
from pipelines.install.settings_files import CannotEdit, drop_at, table_at, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.install.program import Program
    from pipelines.install.settings_files import Settings


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that an agent runs at an event.

    Args:
        event: the event.
        verb: the words of the verb of `curate`.
        timeout: seconds that it may take.
        matcher: which kinds of the event; empty for all.
        more: further settings of the command that the agent knows.
    """

    event: str
    verb: tuple[str, ...]
    timeout: int
    matcher: str = ""
    more: Mapping[str, Any] | None = None


def add_hooks(settings: Settings, hooks: Sequence[Hook], program: Program) -> None:
    """Put each hook into settings once: one that is there is renewed where it stands, others are left alone.

    Raises:
        CannotEdit: the hooks have a form of which nothing is known.
    """
    for hook in hooks:
        found = _found(settings, hook)
        if found:
            (_, entry), *others = found
            entry["command"] = program.renewed(entry["command"], hook.verb)
            _remove(settings, hook, others)
            continue
        groups = table_at(settings, ["hooks"]).setdefault(hook.event, [])
        if not isinstance(groups, list):
            raise CannotEdit(f"cannot be edited: `hooks.{hook.event}` is no list")
        entry = {"type": "command", "command": program.line(hook.verb), "timeout": hook.timeout, **(hook.more or {})}
        groups.append({**({"matcher": hook.matcher} if hook.matcher else {}), "hooks": [entry]})


def remove_hooks(settings: Settings, hooks: Sequence[Hook]) -> None:
    """Take the hooks out of settings, and what is empty then."""
    for hook in hooks:
        _remove(settings, hook, _found(settings, hook))


def _remove(settings: Settings, hook: Hook, found: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for group, entry in found:
        group["hooks"] = [one for one in group["hooks"] if one is not entry]
        if not group["hooks"]:
            groups = settings["hooks"][hook.event]
            groups[:] = [one for one in groups if one is not group]
    if value_at(settings, ("hooks", hook.event)) == []:
        drop_at(settings, ("hooks", hook.event))


def _found(settings: Settings, hook: Hook) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each group that has the hook, with the hook's entry."""
    groups = value_at(settings, ("hooks", hook.event))
    return [
        (group, entry)
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for entry in group["hooks"]
        if isinstance(entry, dict) and is_line(entry.get("command"), hook.verb)
    ]
