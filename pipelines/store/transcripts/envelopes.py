"""Whose words a user's message of OpenClaw holds: its gateway writes who sent what before the words themselves.

A session takes messages from chats of one person and of groups, and prompts that the gateway writes: scheduled jobs,
heartbeats, notices of commands that ended, and context of its own. What stands before the words names the sender:
blocks of JSON after a line that ends with `(untrusted metadata):`, or, in older versions, brackets with the channel's
name. The owner is who writes in a chat of their own; the first one, if several do. On another channel they have another
id: there their name tells.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_BLOCK = re.compile(r"(\S[^\n()]{0,90}) \((?:un)?trusted[^()\n]{0,40}\):\n```(?:json)?\n(.{0,100000}?)\n```", re.DOTALL)
_INTERNAL = re.compile(
    r"<<<BEGIN_OPENCLAW_[A-Z_]+>>>.*?(?:<<<END_OPENCLAW_[A-Z_]+>>>|\Z)"
    r"|(?:^Untrusted context [^\n]{0,90}\n{1,2})?<<<EXTERNAL_UNTRUSTED_CONTENT\b.*?"
    r"(?:<<<END_EXTERNAL_UNTRUSTED_CONTENT\b[^\n]*|\Z)",
    re.DOTALL | re.MULTILINE,
)
_NOTICE = re.compile(r"System(?: \(untrusted\))?: \[[^\n]*(?:\nSystem(?: \(untrusted\))?:[^\n]*)*(?:\n|\Z)")
_QUEUED = re.compile(r"^\[Queued messages[^\n]*\]$|^---\nQueued #\d+[^\n]*$", re.MULTILINE)
_STAMP = re.compile(r"\[(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,20}\] ?")
_CHANNEL = re.compile(
    r"\[(?:Telegram|WhatsApp|Discord|Slack|Signal|iMessage|Matrix|LINE|Feishu|Teams|Google Chat|Mattermost|Zalo)"
    r"\b ?([^\]\n]{0,200})\] ?"
)
_GROUP = re.compile(r"@g\.us\b|\bid:-\d|\bgroup\b|#|\bguild\b|\bchannel\b|\broom\b", re.IGNORECASE)
_OWN_PROMPTS = (
    "[cron:", "Read HEARTBEAT.md", "A new session was started via ", "Pre-compaction memory flush", "[Subagent ",
    "A scheduled reminder has been triggered", "A scheduled cron event was triggered", "An async command you ran ",
)  # fmt: skip
_OF_GROUPS = ("is_group", "group_", "guild", "channel_")
_FORWARDED = "Forwarded message"
_NAMES = ("sender", "name", "label", "username", "sender_id", "id")


@dataclass(slots=True)
class Envelopes:
    """Reads the user's messages of one session in order.

    Args:
        owner: the id of the first sender who wrote in a chat of their own; empty while there is none.
        name: that sender's name, folded.
    """

    owner: str = ""
    name: str = ""
    _none: tuple[str, str] = field(default=("", ""), init=False)

    def opened(self, text: str) -> list[tuple[str, str]]:
        """Return the messages in a text, each as sender and words; the sender is empty for the owner.

        What the gateway wrote itself is left out.
        """
        return [one for part in _QUEUED.split(text) if (one := self._opened(part))[1]]

    def _opened(self, text: str) -> tuple[str, str]:
        text, told, is_forwarded = _INTERNAL.sub("", text).lstrip(), dict[str, Any](), False
        while found := _BLOCK.match(text) or _NOTICE.match(text):
            if found.re is _BLOCK:
                is_forwarded = is_forwarded or found[1].startswith(_FORWARDED)
                with suppress(ValueError):
                    block = json.loads(found[2])
                    told = {**block, **told} if isinstance(block, dict) and _describes(found[1]) else told
            text = text[found.end() :].lstrip()
        channel = _CHANNEL.match(text)
        text = text[channel.end() :] if channel else _STAMP.sub("", text, count=1) if _STAMP.match(text) else text
        text = text.strip()
        if not text or text.startswith(_OWN_PROMPTS):
            return self._none
        sender = str(told.get("sender_id") or told.get("id") or "")
        name = next((str(told[key]) for key in _NAMES if told.get(key)), "")
        in_group = any(value for key, value in told.items() if key.startswith(_OF_GROUPS))
        in_group = in_group or bool(_GROUP.search(str(told.get("conversation_label") or "")))
        if channel and _GROUP.search(channel[1]):
            in_group, (name, _, rest) = True, text.partition(": ")
            text = rest or text
        if not in_group and not is_forwarded:
            if not self.owner:
                self.owner, self.name = sender, name.casefold()
            is_owner = not sender or sender == self.owner or name.casefold() == self.name
            return ("", text) if is_owner else (name, text)
        return ("", text) if sender and sender == self.owner and not is_forwarded else (name or "somebody else", text)


def _describes(title: str) -> bool:
    """Whether a block says who sent the message itself, and not what it replies to or came after."""
    return title in {"Conversation info", "Sender", "Inbound Context"}
