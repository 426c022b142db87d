"""Hooks in the form that Claude Code and Codex share: events, in each a list of groups, in each group commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.install.jsontext import append, check_strict, drop, load, put
from pipelines.install.program import is_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.install.program import Program


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


def with_hooks(text: str, hooks: Sequence[Hook], program: Program) -> str:
    """Return settings with each hook once: one that is there is renewed where it stands, others are left alone.

    Raises:
        Broken: the settings are no JSON, or their hooks have a form of which nothing is known.
    """
    text = text if text.strip() else "{}\n"
    check_strict(text)
    for hook in hooks:
        text = _with_hook(text, hook, program)
    return text


def without_hooks(text: str, hooks: Sequence[Hook]) -> str:
    """Return settings without the hooks, and without what is empty for it; an empty text where nothing is left.

    Raises:
        Broken: the settings are no JSON.
    """
    if text.strip():
        check_strict(text)
    for hook in hooks:
        while found := next(_found(text, hook), None):
            text = _without(text, hook, found)
    return emptied(text)


def emptied(text: str) -> str:
    """Return a text, or an empty one where it holds nothing: then the agent is as well off without the file."""
    return "" if not text.strip() or load(text) == {} else text


def _with_hook(text: str, hook: Hook, program: Program) -> str:
    places = list(_found(text, hook))
    for place in reversed(places[1:]):
        text = _without(text, hook, place)
    if not places:
        entry = {"type": "command", "command": program.line(hook.verb), "timeout": hook.timeout, **(hook.more or {})}
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        return append(text, ("hooks", hook.event), {**matcher, "hooks": [entry]})
    path = ("hooks", hook.event, *places[0], "command")
    return put(text, path, program.renewed(_at(load(text), path), hook.verb))


def _without(text: str, hook: Hook, place: tuple[int, str, int]) -> str:
    """Return settings without one command, and without its group where that has no other."""
    group = ("hooks", hook.event, place[0])
    alone = len(_at(load(text), (*group, "hooks"))) == 1
    return drop(text, group if alone else (*group, *place[1:]))


def _found(text: str, hook: Hook) -> Iterator[tuple[int, str, int]]:
    """Yield where the hook stands, as the path from its event on."""
    if not text.strip():
        return
    settings = load(text)
    events = settings.get("hooks") if isinstance(settings, dict) else None
    groups = events.get(hook.event) if isinstance(events, dict) else None
    for number, group in enumerate(groups if isinstance(groups, list) else []):
        entries = group.get("hooks") if isinstance(group, dict) else None
        for place, entry in enumerate(entries if isinstance(entries, list) else []):
            if isinstance(entry, dict) and is_line(entry.get("command"), hook.verb):
                yield number, "hooks", place


def _at(value: Any, path: Sequence[str | int]) -> Any:  # noqa: ANN401  whatever JSON can hold
    for step in path:
        value = value[step]
    return value
