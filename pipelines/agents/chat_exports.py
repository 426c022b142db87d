"""Exports of ChatGPT and claude.ai, read as the transcripts that capture takes in: one a conversation, oldest first.

A transcript holds what the owner wrote, what the assistant answered, and as a tool's what was uploaded, pasted as a
file or brought by a tool, so that capture knows what the assistant repeats of it. Left out are branches that were given
up, hidden messages, calls of tools, thoughts and images.
Nothing in an export names a path that is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.agents.capture import Capture, CapturedSession
from pipelines.errors import BadFile, reason_of
from pipelines.store.lock import log_lock
from pipelines.store.session_state import KeptSession, read_kept
from pipelines.store.transcripts.reader import head_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pipelines.settings import Settings


Record = dict[str, Any]

CHATGPT, CLAUDE_AI = "chatgpt", "claude-ai"
TITLES = {CHATGPT: "ChatGPT", CLAUDE_AI: "claude.ai"}

_NAMES = re.compile(r"conversations(?:-\d{1,5})?\.json")
_FAULTS = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError)
_ADVICE = "Name the conversations.json of an export, or the zip file as it was downloaded."


class Conversation(NamedTuple):
    """One conversation of an export, as a transcript.

    Args:
        begun: when it began, in seconds since 1970; zero where nothing says so.
        program: the program that it was held with, a key of `TITLES`.
        project: the project that it belongs to, or empty.
        data: the transcript: JSON lines, the first of which opens the session.
    """

    begun: float
    program: str
    project: str
    data: bytes


def read_chats(path: Path) -> list[Conversation]:
    """Read an export: `conversations.json` of ChatGPT or claude.ai, or the zip file that holds it.

    Returns:
        Its conversations with words, the one that was begun first in front.

    Raises:
        BadFile: it cannot be read, or is no such export.
    """
    try:
        found = [chat for data in _files(path) for chat in _chats_in(json.loads(data.decode("utf-8-sig", "replace")))]
    except _FAULTS as fault:
        why = reason_of(fault) if isinstance(fault, OSError) else str(fault) or type(fault).__name__
        raise BadFile(path, f"cannot be read as an export: {why}", _ADVICE) from None
    if not found:
        raise BadFile(path, "holds no conversation of ChatGPT or claude.ai", _ADVICE)
    return sorted(filter(None, found), key=lambda chat: chat.begun)


def capture_chats(
    root: Path, settings: Settings, now: datetime, export: Path, chats: Iterable[Conversation]
) -> list[CapturedSession]:
    """Capture the conversations of an export, in their order, as `capture_sessions` captures transcripts.

    What an earlier export brought is passed over; of a conversation that went on, only what is new is added. Returned
    is what became of those that are not as they were.

    Args:
        root: the memory.
        settings: its settings, which say how its days are cut.
        now: the moment of the import: nothing was said later.
        export: the file that they come from.
        chats: the conversations.

    Raises:
        NotWritable: the disk refused.
        LockHeld: another capture does not end.
    """
    capture, found = Capture(root, settings, now, "", ""), list[CapturedSession]()
    with log_lock(root, "capture.lock"):
        known = read_kept(root)
        for chat in chats:
            data, capture.project = chat.data, chat.project
            # One that is shorter than it was had its end written anew. It is marked as a branch: capture takes a
            # transcript that begins as another one does for one that goes on from it, and adds what is new.
            if _kept(data, known).lines > data.count(b"\n"):
                opening, _, rest = data.partition(b"\n")
                mark = hashlib.sha256(rest).hexdigest()[:12].encode()
                data = b'%s,"branch":"%s"}\n%s' % (opening[:-1], mark, rest)
            kept = _kept(data, known)
            if kept.digest != hashlib.sha256(data).hexdigest()[:16] or not (root / kept.file).exists():
                found.append(capture.transcript(export, io.BytesIO(data), known))
    return found


def _kept(data: bytes, known: Mapping[str, KeptSession]) -> KeptSession:
    return known.get(head_of(io.BytesIO(data))) or KeptSession("", "", 0, "")


def _files(path: Path) -> Iterator[bytes]:
    """Yield the files that hold conversations.

    Raises:
        ValueError: an archive has none.
    """
    if not zipfile.is_zipfile(path):
        yield path.read_bytes()
        return
    with zipfile.ZipFile(path) as archive:
        inside = {one.filename.replace("\\", "/").rpartition("/")[2].lower(): one for one in archive.infolist()}
        wanted = sorted(name for name in inside if _NAMES.fullmatch(name))
        if not wanted:
            raise ValueError("it holds no conversations.json")
        for name in wanted:
            yield archive.read(inside[name])


def _chats_in(data: object) -> Iterator[Conversation | None]:
    """Yield the conversations of a file, None for each without words."""
    listed = data.get("conversations", [data]) if isinstance(data, dict) else data
    for raw in map(_object, _list(listed)):
        if isinstance(raw.get("mapping"), dict):
            yield _transcript(CHATGPT, raw, _of_chatgpt(raw))
        elif isinstance(raw.get("chat_messages"), list):
            yield _transcript(CLAUDE_AI, raw, _of_claude(raw))


# What a conversation comes to: (role, words, moment, id) for each message, a tool's for what came from outside.
Message = tuple[str, str, float | None, str]


def _transcript(program: str, raw: Record, said: Iterable[Message]) -> Conversation | None:
    """Return a conversation, or None where nobody says anything in it."""
    messages = list(said)
    if not any(role != "tool" for role, *_ in messages):
        return None
    begun = _moment(raw.get("create_time", raw.get("created_at")))
    begun = begun or min((moment for _, _, moment, _ in messages if moment), default=0.0)
    ident = next((str(raw[key]) for key in ("conversation_id", "uuid", "id", "title") if raw.get(key)), "")
    rows = [{"type": "session", "id": ident, "program": program, **_when(begun)}]
    for role, text, moment, key in messages:
        rows.append({"role": role, "program": program, "id": key, **_when(moment), "content": text})
    data = "".join(f"{json.dumps(row, ensure_ascii=False, separators=(',', ':'))}\n" for row in rows)
    return Conversation(begun, program, _text(_object(raw.get("project")).get("name")), data.encode("utf-8", "replace"))


def _of_chatgpt(raw: Record) -> Iterator[Message]:
    """Yield the messages from the first to the one that is shown last: other branches were given up."""
    mapping, branch, seen = raw["mapping"], list[Record](), set[str]()
    at = raw.get("current_node")
    while isinstance(at, str) and at not in seen and isinstance(node := mapping.get(at), dict):
        seen.add(at)
        branch.append(node)
        at = node.get("parent")
    for node in reversed(branch):
        message = _object(node.get("message"))
        told = _object(message.get("metadata"))
        if told.get("is_visually_hidden_from_conversation") or told.get("is_user_system_message"):
            continue
        author, content = _object(message.get("author")), _object(message.get("content"))
        role, kind = author.get("role"), content.get("content_type")
        text = _parts(content)
        moment, key = _moment(message.get("create_time")), _text(message.get("id"))
        if role == "tool" or kind in _BROUGHT:
            yield from [("tool", text, moment, key)] if text else ()
        elif role == "user" or (role == "assistant" and message.get("recipient") in {None, "", "all"}):
            yield from [(role, text, moment, key)] if text and kind in _SPOKEN else ()


_SPOKEN = frozenset({None, "text", "multimodal_text", "code"})
_BROUGHT = frozenset({"tether_quote", "tether_browsing_display", "execution_output", "system_error"})


def _parts(content: Record) -> str:
    """Return the words of a message: its texts, and what was understood of what was spoken."""
    texts = [content.get("text"), content.get("result")]
    for part in _list(content.get("parts")):
        is_spoken = isinstance(part, dict) and part.get("content_type", "text") in {"text", "audio_transcription"}
        texts.append(part.get("text") if is_spoken else part)
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _of_claude(raw: Record) -> Iterator[Message]:
    """Yield the messages in their order; what was attached follows the message that it came with, as a tool's."""
    for message in raw["chat_messages"]:
        role = _ROLES.get(str(_object(message).get("sender")))
        if role is None:
            continue
        moment, key = _moment(message.get("created_at")), _text(message.get("uuid"))
        blocks, attached = (list(map(_object, _list(message.get(key)))) for key in ("content", "attachments"))
        texts = [str(one.get("text") or "") for one in blocks if one.get("type") == "text"]
        brought = [json.dumps(one.get("content")) for one in blocks if str(one.get("type")).endswith("tool_result")]
        brought += [_text(one.get("extracted_content")) for one in attached]
        # Beside blocks stands their text once more, with a note in the place of what is no text.
        said = "\n".join(filter(str.strip, texts)) or ("" if blocks else _text(message.get("text")))
        outside = [("tool", text, moment, "") for text in brought if text.strip()]
        spoken = [(role, said, moment, key)] if said.strip() else []
        yield from (*spoken, *outside) if role == "user" else (*outside, *spoken)


_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def _object(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: object) -> float | None:
    """Return a moment of an export, a number of seconds or an ISO 8601 text, as seconds since 1970."""
    with contextlib.suppress(ValueError, OverflowError, OSError):
        if isinstance(value, str):
            told = datetime.fromisoformat(value)
            return told.replace(tzinfo=told.tzinfo or UTC).timestamp()
        if isinstance(value, (int, float)) and value > 0:
            return datetime.fromtimestamp(value, UTC).timestamp()
    return None


def _when(moment: float | None) -> Record:
    return {"timestamp": datetime.fromtimestamp(moment, UTC).isoformat()} if moment else {}
