"""Replies that several machines share: a night that is repeated on another one pays only for what is not there.

Each is a file, encrypted and authenticated with AES-256-GCM under a key of the tenant. Its name is an HMAC of the
request under the same key, so neither names nor contents tell one tenant what another one asked; only sizes and times
show. They are safe to delete.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.store.files import making, replace_synced
from pipelines.store.folders import holding

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.user_settings import SharedReplySettings


_MARK: Final = b"memcurate reply 1\n"
_NONCE: Final = 12
_MOST: Final = 64 * 1024 * 1024


class SharedReplies:
    """A tenant's replies in a shared folder.

    Args:
        settings: the folder, which must exist, and the tenant's key.
        now: the time of the night, from which ages are counted.
        kept_days: how many days a reply is kept at least.
    """

    def __init__(self, settings: SharedReplySettings, now: datetime, kept_days: int) -> None:
        self._folder = settings.folder
        key = settings.key.encode()
        self._naming, self._sealing = (hmac.digest(key, use, "sha256") for use in (b"name", b"seal"))
        self._oldest = (now - timedelta(days=kept_days)).timestamp()
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
