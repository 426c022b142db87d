"""Whether a record of a transcript lets in words from outside: what the agent says next may be somebody else's wish.

Known tools that touch nothing but the session's own folder let in none. Every other tool does, the unknown ones, too: a
page, a search, a server of tools, a subagent that may have read any of these.
"""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.memory.transcripts.records import Record

_OWN: Final = frozenset(
    """edit write multiedit notebookedit todowrite todoread exitplanmode enterplanmode askuserquestion killshell
    killbash bashoutput applypatch updateplan taskcreate taskupdate tasklist taskget strreplaceeditor
    strreplacebasededittool ls glob listdir think requestuserinput""".split()
)
_READS: Final = frozenset("read grep notebookread view readfile viewimage cat searchfiles grepsearch".split())
_SHELLS: Final = frozenset(
    """bash shell exec execcommand localshell localshellcall terminal runterminalcmd containerexec writestdin
    shellcommand""".split()
)
_PATHS: Final = ("file_path", "path", "notebook_path", "filename", "file")
_FOREIGN: Final = frozenset(
    "node_modules site-packages dist-packages vendor third_party .venv venv downloads .cargo .npm .cache gems".split()
)
_REACHES_OUT: Final = re.compile(
    r"\b(?:curl|wget|aria2c|git\s+(?:clone|pull|fetch|submodule)|gh|glab|hub|ssh|scp|sftp|rsync|nc|ncat|telnet|"
    r"ftp|lynx|w3m|links|"
    r"pip3?\s+(?:download|show)|npm\s+(?:view|info|search)|docker\s+(?:pull|run)|kubectl\s+logs|mail|mutt|imap|"
    r"psql|mysql|"
    r"redis-cli|mongo(?:sh)?|aws|gcloud|az|slack|jira)\b|(?:https?|ftp)://(?!localhost|127\.|\[::1\])",
    re.IGNORECASE,
)
_CALL_LINE: Final = re.compile(rb'"type":\s?"(?:[a-z_]{1,40}_call|mcp_[a-z_]{1,40})"|"role":\s?"(?:tool|function)"')
_HEAD: Final = 600
_TOOLS: Final = ("tool", "function")  # a record may hold anything in their place, also what no set can hold
_USES: Final = ("tool_use", "toolCall", "tool_call")


def may_call(line: bytes) -> bool:
    """Return whether a line that no side spoke may hold the call of a tool."""
    return bool(_CALL_LINE.search(line, 0, _HEAD))


def lets_in(record: Record, cwd: str) -> bool:
    """Return whether a record lets words from outside into the session.

    Args:
        record: the record.
        cwd: the session's folder as far as it was told, or empty.
    """
    cwd = record["cwd"] if isinstance(record.get("cwd"), str) else cwd
    return any(_is_outside(name, told, cwd) for name, told in _calls(record))


def _calls(record: Record) -> Iterator[tuple[str, object]]:
    """Yield name and input of each tool that a record calls; of a result that comes with no call, no name."""
    payload, message = record.get("payload"), record.get("message")
    if isinstance(payload, dict) and isinstance(kind := payload.get("type"), str) and kind.endswith("_call"):
        told = payload.get("arguments", payload.get("input", payload.get("action")))
        yield str(payload.get("name") or ("shell" if kind == "local_shell_call" else "")), told
    spoken = message if isinstance(message, dict) else record
    if spoken.get("role") in _TOOLS:
        yield str(spoken.get("name") or ""), None
    content, calls = spoken.get("content"), spoken.get("tool_calls")
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in _USES:
            yield str(block.get("name") or ""), block.get("input", block.get("arguments"))
        elif isinstance(kind, str) and (kind.endswith(("_tool_use", "_tool_result")) or kind == "mcp_call"):
            yield "", None  # the provider's own search, or a server of tools
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        yield (str(function.get("name") or ""), function.get("arguments")) if isinstance(function, dict) else ("", None)


def _is_outside(name: str, told: object, cwd: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", name.casefold())
    if "__" in name or not plain:
        return True
    if plain in _OWN:
        return False
    given = _given(told)
    if plain in _READS:
        return any(_leads_out(value, cwd) for key, value in given.items() if key in _PATHS and isinstance(value, str))
    if plain in _SHELLS:
        return bool(_REACHES_OUT.search(str(given)[:20_000]))
    return True


def _given(told: object) -> dict[str, Any]:
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return {"command": told}
    return told if isinstance(told, dict) else {"command": told} if told is not None else {}


def _leads_out(path: str, cwd: str) -> bool:
    if frozenset(path.casefold().split("/")) & _FOREIGN:
        return True
    if not path.startswith(("/", "~")) and ".." not in path.split("/"):
        return False
    whole = posixpath.normpath(posixpath.join(cwd, path))
    return not cwd or not (whole == cwd or whole.startswith(f"{cwd.rstrip('/')}/"))
