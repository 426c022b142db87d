"""What of a record's content was said, and what the agent's program put around it."""

from __future__ import annotations

import re
from typing import Any, Final

from pipelines.text import clean

_SPOKEN: Final = frozenset({"text", "input_text", "output_text"})
# What programs put into a user's turn, between tags at the beginning of a line. Slash commands and shell escapes are
# commands to the program, not words to the agent.
_PUT_IN: Final = (
    "system-reminder", "system_reminder", "local-command-stdout", "local-command-stderr", "local-command-caveat",
    "command-message", "command-name", "command-contents", "bash-input", "bash-stdout", "bash-stderr",
    "task-notification", "user-prompt-submit-hook", "ide_selection", "ide_opened_file", "ide_diagnostics",
    "environment_context", "user_instructions", "permissions instructions", "collaboration_mode", "turn_aborted",
    "user_shell_command", "subagent_notification", "INSTRUCTIONS",
)  # fmt: skip
_OPENING: Final = re.compile(rf"^[ \t]*<({'|'.join(map(re.escape, _PUT_IN))})(?: [^<>\n]*)?>", re.MULTILINE)
_ARGUMENTS: Final = re.compile(r"</?command-args>")


def words_of(content: object) -> tuple[str, frozenset[str]]:
    """Return the text of a message's content, and the kinds of its parts that are no text.

    Args:
        content: a text, or a list of blocks, as a record holds it; anything else has no text.
    """
    if isinstance(content, str):
        return clean(content), frozenset()
    texts: list[str] = []
    others: set[str] = set()
    for block in content if isinstance(content, list) else ():
        text, kind = _block(block)
        texts += [text] if text else []
        others |= {kind} if kind else set()
    return clean("\n".join(texts)), frozenset(others)


def _block(block: Any) -> tuple[str, str]:  # noqa: ANN401  whatever JSON can hold
    if isinstance(block, str):
        return block, ""
    if not isinstance(block, dict):
        return "", "other"
    kind, text = block.get("type"), block.get("text")
    kind = kind if isinstance(kind, str) else "other"
    return (text, "") if kind in _SPOKEN and isinstance(text, str) else ("", kind)


def spoken(text: str) -> str:
    """Return a user's text without what the agent's program put in; what was typed after a slash command stays."""
    if "<" not in text:
        return text
    kept: list[str] = []
    unclosed: set[str] = set()  # so that each closing tag is looked for in vain only once
    at = 0
    while found := _OPENING.search(text, at):
        closing = f"</{found[1]}>"
        end = -1 if closing in unclosed else text.find(closing, found.end())
        if end < 0:
            unclosed.add(closing)
            kept.append(text[at : found.end()])
            at = found.end()
        else:
            kept.append(text[at : found.start()])
            at = end + len(closing)
    kept.append(text[at:])
    return _ARGUMENTS.sub("", "".join(kept)).strip()
