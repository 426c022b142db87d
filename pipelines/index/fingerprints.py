"""The fingerprint of a file: the hash of its bytes and of whatever else its units come of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.index.sources import UNDESCRIBED, Form, form_of
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.layout import sidecar_names
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_CHUNK: Final = 1024 * 1024


def fingerprint(root: Path, path: str, beside: str) -> str | None:
    """Return the hash of all that a file's units come of, without making them; None where the file vanished.

    Args:
        root: the memory.
        path: the file, relative to the memory.
        beside: what its stamp says of what else its text hangs on.
    """
    try:
        file = open_regular(root, path)
        if file is None:
            return None
        with file:
            digest = digest_of(file)
    except (BadFile, OSError):
        return ""
    if form_of(path) is Form.IMAGE:
        beside = sidecar_of(root, path).fingerprint
    return covering(digest, beside)


def covering(digest: str, beside: str) -> str:
    """Return the fingerprint of a file's bytes and of what stands beside them."""
    return hashlib.sha256(f"{digest} {beside}".encode()).hexdigest() if beside else digest


def digest_of(file: BinaryIO) -> str:
    """Return the hash of what is left of a file, and leave it at its end."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Sidecar:
    """An image's sidecar: where it is and what it holds, or why there is none."""

    path: str = ""
    data: bytes = b""
    reason: str = ""

    @property
    def fingerprint(self) -> str:
        """What of it goes into the fingerprint of its image."""
        return hashlib.sha256(self.data).hexdigest() + self.reason


def sidecar_of(root: Path, image: str) -> Sidecar:
    """Return the sidecar of an image as it is now."""
    for path in sidecar_names(image):
        try:
            data = read_bytes(root, path)
        except BadFile as error:
            return Sidecar(reason=f"has a description that cannot be used: {real_path(root, path)} {error.why}")
        if data is not None:
            return Sidecar(path, data)
    return Sidecar(reason=UNDESCRIBED)
