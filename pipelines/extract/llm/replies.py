"""Kept replies: a model is not paid twice for the same call.

One file per reply, named by the model and the call. They are derived and safe to delete: the next run calls again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import CurateError
from pipelines.extract.llm.call import Call, Model, ModelAnswer
from pipelines.store.files import make_folder, read_bytes, replace_synced
from pipelines.store.user_layout import inside
from pipelines.usage import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.user_settings import SharedReplySettings


KEPT_DAYS: Final = 60
_FORM = 1


@dataclass(frozen=True, slots=True)
class KeptReply:
    """One kept reply; its `usage` is that of the original call.

    Args:
        key: its file name without the suffix.
        digest: the digest of the call (`Call.digest`), whatever the model.
        answer: the answer.
        prompt: the prompt's id and version, `extract/2`.
        at: the time of the night, ISO 8601.
    """

    key: str
    digest: str
    answer: ModelAnswer
    prompt: str
    at: str


class Replies:
    """A folder of replies.

    Args:
        folder: its path, one per memory; created for the first reply.
        now: the time of the night, from which ages are counted.
        anew: whether to ignore replies of earlier runs, for a day that is read again.
        shared: replies that other machines kept, or None; those used are copied to the folder.
    """

    def __init__(self, folder: Path, now: datetime, *, anew: bool = False, shared: SharedReplies | None = None) -> None:
        self._folder, self._now, self._anew, self._shared = folder, now, anew, shared
        # The memory, and the path from there: links in `.curate/` are not followed, either.
        self._root, self._below = folder.parents[1], f"{folder.parent.name}/{folder.name}"
        self._own: dict[str, str] = {}
        self._cleared = False
        self._lock = threading.Lock()

    def find(self, model: Model, call: Call) -> KeptReply | None:
        """Return a model's kept reply to this call, or None. Files of another form are ignored."""
        key = _key(model, call)
        if self._anew and key not in self._own:
            return None
        name = self._own.get(key) or self._names(key)[0]
        if self._answers(kept := self.read(name), model, call):
            return kept
        data = self._shared.read(_request(model, call)) if self._shared else None
        if data is None or not self._answers(kept := _kept(name, _parsed(data)), model, call):
            return None
        self._write(name, data)
        return kept

    @staticmethod
    def _answers(kept: KeptReply | None, model: Model, call: Call) -> bool:
        return bool(kept and (kept.digest, kept.answer.model) == (call.digest, model.name))

    def read(self, key: str) -> KeptReply | None:
        """Return the reply with this key, or None."""
        try:
            data = read_bytes(self._root, f"{self._below}/{key}.json")
            return _kept(key, _parsed(data)) if data else None
        except (CurateError, OSError):
            return None

    def keep(self, model: Model, call: Call, answer: ModelAnswer) -> str:
        """Keep a reply atomically, and return its name. If the disk refuses, the run goes on without."""
        key = _key(model, call)
        newest, further = self._names(key)
        name = self._own.get(key) or (further if self._anew else newest)
        found = {
            "form": _FORM,
            "digest": call.digest,
            "model": answer.model,
            "task": call.task,
            "prompt": f"{call.prompt_id}/{call.prompt_version}",
            "at": self._now.isoformat(timespec="seconds"),
            "usage": asdict(answer.usage),
            "text": answer.text,
        }
        with contextlib.suppress(ValueError):
            data = json.dumps(found, indent=1).encode()
            if self._write(name, data):
                self._own[key] = name
            if self._shared:
                self._shared.keep(_request(model, call), data)
        self._clear_once()
        return name

    def _write(self, name: str, data: bytes) -> bool:
        """Write a reply atomically, and return whether the disk took it."""
        file, when = f"{name}.json", self._now.timestamp()
        with contextlib.suppress(CurateError, OSError):
            place = make_folder(self._root, self._below) / file
            replace_synced(place, data)
            os.utime(place, (when, when))
            return True
        return False

    def _names(self, key: str) -> tuple[str, str]:
        """Return the names of the newest reply to a call, and of the next one.

        Reading a day again adds a reply beside the old one, so that the earlier run can still be replayed.
        """
        newest, number = key, 0
        while (self._folder / f"{key}-{number + 1}.json").is_file():
            number += 1
            newest = f"{key}-{number}"
        is_first = not number and not (self._folder / f"{key}.json").exists()
        return newest, key if is_first else f"{key}-{number + 1}"

    def _clear_once(self) -> None:
        """Delete replies older than `KEPT_DAYS`, and unfinished files, when this run keeps its first reply."""
        with self._lock:
            is_due, self._cleared = not self._cleared, True
        if not is_due:
            return
        oldest = (self._now - timedelta(days=KEPT_DAYS)).timestamp()
        with contextlib.suppress(CurateError, OSError):
            for file in inside(self._root, self._below).iterdir():
                if (file.suffix == ".json" or file.name.startswith(".")) and file.lstat().st_mtime < oldest:
                    file.unlink()


def _key(model: Model, call: Call) -> str:
    """Return the file name of a model's first reply to a call."""
    return hashlib.sha256(_request(model, call).encode(errors="surrogatepass")).hexdigest()[:32]


def _request(model: Model, call: Call) -> str:
    """Return what identifies a model's call."""
    return f"{model.source}\x1f{call.digest}"


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _kept(key: str, found: Any) -> KeptReply | None:  # noqa: ANN401  JSON from a file that anybody may have changed
    if not isinstance(found, dict) or found.get("form") != _FORM or not isinstance(found.get("usage"), dict):
        return None
    words = [found.get(name) for name in ("digest", "text", "model", "prompt", "at")]
    numbers = found["usage"].values()
    if not all(isinstance(word, str) for word in words) or not all(isinstance(one, int | float) for one in numbers):
        return None
    digest, text, model, prompt, at = map(str, words)
    try:
        return KeptReply(key, digest, ModelAnswer(text, model, Usage(**found["usage"])), prompt, at)
    except TypeError:
        return None


# ---------------------------------------- replies that several machines share
# A night that is repeated on another one pays only for what is not there.


_MARK = b"memcurate reply 1\n"
_NONCE = 12
_MOST = 64 * 1024 * 1024


class SharedReplies:
    """A tenant's replies in a shared folder.

    Each is a file, encrypted and authenticated with AES-256-GCM under a key of the tenant. Its name is an HMAC of the
    request under the same key, so neither names nor contents tell one tenant what another one asked; only sizes and
    times show. They are safe to delete.

    Args:
        settings: the folder, which must exist, and the tenant's key.
        now: the time of the night, from which ages are counted.
    """

    def __init__(self, settings: SharedReplySettings, now: datetime) -> None:
        self._folder = settings.folder
        key = settings.key.encode()
        self._naming, self._sealing = (hmac.digest(key, use, "sha256") for use in (b"name", b"seal"))
        self._oldest = (now - timedelta(days=KEPT_DAYS)).timestamp()
        self._when = now.timestamp()
        self._cleared = False
        self._lock = threading.Lock()

    def read(self, request: str) -> bytes | None:
        """Return the reply to a request, or None if there is none that this tenant's key opens."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415  25 ms that only this feature needs
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  as above

        below, name = self._place(request)
        with contextlib.suppress(CurateError, InvalidTag):
            begin, data = len(_MARK) + _NONCE, read_bytes(self._folder, f"{below}/{name}", _MOST) or b""
            if data.startswith(_MARK) and len(data) > begin:
                return AESGCM(self._sealing).decrypt(data[len(_MARK) : begin], data[begin:], name.encode())
        return None

    def keep(self, request: str, reply: bytes) -> None:
        """Keep a reply atomically, replacing an earlier one. If the disk refuses, the run goes on without."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  as above

        below, name = self._place(request)
        nonce = os.urandom(_NONCE)
        sealed = AESGCM(self._sealing).encrypt(nonce, reply, name.encode())  # under another name it does not open
        with contextlib.suppress(CurateError, OSError):
            file = make_folder(self._folder, below) / name
            replace_synced(file, _MARK + nonce + sealed)
            os.utime(file, (self._when, self._when))
            self._clear_once(below)

    def _place(self, request: str) -> tuple[str, str]:
        """Return the subfolder and file name of a request: 256 subfolders, so that none grows too large."""
        name = hmac.digest(self._naming, request.encode(errors="surrogatepass"), "sha256").hex()
        return name[:2], name[2:]

    def _clear_once(self, below: str) -> None:
        """Delete old files of the first subfolder that this run writes to: nights take turns with the subfolders."""
        with self._lock:
            is_due, self._cleared = not self._cleared, True
        if not is_due:
            return
        for file in inside(self._folder, below).iterdir():
            if file.lstat().st_mtime < self._oldest:
                file.unlink()
