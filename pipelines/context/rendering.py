"""The startup context as a session gets it: as text, as JSON, or as a Claude Code hook answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pipelines.context.assembly import Part

_TITLES = {
    "SOUL.md": "Who you are",
    "their USER.md": "Who you work for, as they wrote it",
    "their MEMORY.md": "What you know, as it was written by hand",
    "USER.md": "Who you work for",
    "MEMORY.md": "What you know",
    "project": "The project",
    "yesterday": "Yesterday",
    "today": "Today so far",
    "hits": "Found for your question",
}


def as_text(parts: list[Part]) -> str:
    """Return the context as text: each part under a line that names its file, and what was cut at its end."""
    return "\n\n".join(_told(part) for part in parts)


def _told(part: Part) -> str:
    if part.name == "health":
        return part.text
    lines = [f"=== {_TITLES[part.name]}{f' ({part.path})' if part.path else ''} ==="]
    lines += [part.text] if part.text else []
    lines += [part.fault] if part.fault else []
    lines += [_cut(part)] if part.cut else []
    return "\n".join(lines)


def _cut(part: Part) -> str:
    entries = "1 entry was" if part.cut == 1 else f"{part.cut} entries were"
    where = f"read {part.path} in the memory, or " if part.path else ""
    return f"({entries} cut to fit; {where}use `curate search`.)"


def as_json(parts: list[Part]) -> str:
    """Return the parts as one JSON array."""
    import json  # text needs none

    return json.dumps([part.to_json() for part in parts], ensure_ascii=False, indent=1)


# What JSON wants escaped in a string, and nothing else; its library takes longer to import than all this takes to run.
_ESCAPES = {number: f"\\u{number:04x}" for number in range(32)} | {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n"}


def as_hook(text: str) -> str:
    """Return what a SessionStart hook of Claude Code prints to put a text into the session."""
    told = text.encode("utf-8", "replace").decode().translate(_ESCAPES)
    return f'{{"hookSpecificOutput": {{"hookEventName": "SessionStart", "additionalContext": "{told}"}}}}'
