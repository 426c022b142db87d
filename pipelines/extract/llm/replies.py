"""Kept replies: a night that died, or left days pending, is not paid twice for the same call.

One file per reply, named by the model and the call. They go once a night has read all there is. They are derived and
safe to delete: the next run calls again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import threading
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.extract.llm.call import Call, Model, ModelAnswer
from pipelines.store.files import make_folder, read_bytes, replace_synced
from pipelines.store.layout import REPLIES
from pipelines.store.user_layout import inside
from pipelines.usage import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.user_settings import SharedReplySettings


KEPT_DAYS: Final = 60
"""How long shared replies stay: no machine knows when the others are done."""
_FORM = 2


class Replies:
    """A folder of replies.

    Args:
        root: the memory.
        shared: replies that other machines kept, or None; those used are copied to the folder.
    """

    def __init__(self, root: Path, shared: SharedReplies | None = None) -> None:
        self._root, self._shared = root, shared

    def find(self, model: Model, call: Call) -> ModelAnswer | None:
        """Return a model's kept reply to this call, with the usage of that time, or None."""
        key, data = _key(model, call), None
        with contextlib.suppress(CurateError, OSError):
            data = read_bytes(self._root, f"{REPLIES}/{key}.json")
        if data and (found := _answer(data, model, call)):
            return found
        data = self._shared.read(_request(model, call)) if self._shared else None
        found = _answer(data, model, call) if data else None
        if data and found:
            self._write(key, data)
        return found

    def keep(self, model: Model, call: Call, answer: ModelAnswer) -> None:
        """Keep a reply atomically. If the disk refuses, the run goes on without."""
        found = {"form": _FORM, "digest": call.digest, **asdict(answer)}
        with contextlib.suppress(ValueError):
            data = json.dumps(found, indent=1).encode()
            self._write(_key(model, call), data)
            if self._shared:
                self._shared.keep(_request(model, call), data)

    def _write(self, key: str, data: bytes) -> None:
        with contextlib.suppress(CurateError, OSError):
            replace_synced(make_folder(self._root, REPLIES) / f"{key}.json", data)


def drop_replies(root: Path) -> None:
    """Delete the replies that a memory keeps; what cannot be deleted stays."""
    with contextlib.suppress(CurateError, OSError):
        for file in inside(root, REPLIES).iterdir():
            file.unlink()


def _key(model: Model, call: Call) -> str:
    """Return the file name of a model's reply to a call."""
    return hashlib.sha256(_request(model, call).encode(errors="surrogatepass")).hexdigest()[:32]


def _request(model: Model, call: Call) -> str:
    """Return what identifies a model's call."""
    return f"{model.source}\x1f{call.digest}"


def _answer(data: bytes, model: Model, call: Call) -> ModelAnswer | None:
    """Return the answer in a file that anybody may have changed; None if it is no reply of this model to this call."""
    try:
        found = json.loads(data)
        answer = ModelAnswer(found["text"], found["model"], Usage(**found["usage"]))
        ours = (found["form"], found["digest"], answer.model) == (_FORM, call.digest, model.name)
        numbers = all(isinstance(one, int | float) for one in found["usage"].values())
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return answer if ours and numbers and isinstance(answer.text, str) else None


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
        with contextlib.suppress(CurateError, OSError, InvalidTag), holding(self._folder, below) as folder:
            there, begin = folder.lstat(name), len(_MARK) + _NONCE
            data = folder.read(name) if there and there.st_size <= _MOST else b""
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
            with making(self._folder, below) as folder:
                replace_synced(folder, name, _MARK + nonce + sealed)
                os.utime(name, (self._when, self._when), dir_fd=folder.descriptor)
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
        with holding(self._folder, below) as folder:
            for name in folder.names():
                if (there := folder.lstat(name)) and there.st_mtime < self._oldest:
                    folder.unlink(name)
