"""A file as it is read into the index: its units, the fingerprint of all that they come of, or why there are none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.index.sources import UNDESCRIBED, Form, form_of, read_source
from pipelines.index.units import read_units
from pipelines.memory.files import open_regular, read_bytes
from pipelines.memory.sidecars import BadSidecar, parse_sidecar, sidecar_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import BinaryIO

    from pipelines.index.units import Unit

_CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file came to.

    Args:
        units: in order.
        sha256: the fingerprint; empty where the bytes could not be had.
        reason: why there are no units; ends a sentence that begins with the path.
        note: what is missing among the units; likewise.
    """

    units: Sequence[Unit]
    sha256: str
    reason: str = ""
    note: str = ""


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
            digest = _digest(file)
    except (BadFile, OSError):
        return ""
    if form_of(path) is Form.IMAGE:
        beside = _sidecar(root, path).fingerprint
    return _covering(digest, beside)


def _covering(digest: str, beside: str) -> str:
    """Return the fingerprint of a file's bytes and of what stands beside them."""
    return hashlib.sha256(f"{digest} {beside}".encode()).hexdigest() if beside else digest


def read_file(root: Path, path: str, beside: str) -> Reading | None:
    """Return a file as it is now, or None where it vanished. Nothing in a file makes this fail.

    Args:
        root: the memory.
        path: the file, relative to the memory; `form_of` knows it.
        beside: what its stamp says of what else its text hangs on.
    """
    form = form_of(path)
    if form is Form.TEXT:
        source = read_source(root, path)
        return Reading(read_units(path, source.text), source.sha256, source.reason) if source else None
    try:
        file = open_regular(root, path)
        if file is None:
            return None
        with file:
            if form is Form.TRANSCRIPT:
                return _transcript(path, file, beside)
            return _pdf(file, beside) if form is Form.PDF else _image(root, path, file)
    except BadFile as error:
        return Reading((), "", error.why)
    except OSError as error:
        return Reading((), "", f"cannot be read: {(error.strerror or str(error)).lower()}")


class _Hashed:
    """The lines of a file, hashed as they are read, so that the fingerprint is that of what was read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def readline(self, size: int, /) -> bytes:
        line = self._file.readline(size)
        self.digest.update(line)
        return line


def _transcript(path: str, file: BinaryIO, beside: str) -> Reading:
    from pipelines.index.spoken import turn_units  # noqa: PLC0415  most files are texts
    from pipelines.memory.days import parse_days  # noqa: PLC0415  as above
    from pipelines.memory.transcripts import Transcript  # noqa: PLC0415  as above

    days, hashed = parse_days(beside), _Hashed(file)
    transcript = Transcript(hashed, days.zone)
    units = list(turn_units(path, transcript, days))
    whole = _covering(hashed.digest.hexdigest(), beside)
    faults = "; ".join(transcript.faults())
    if faults and not units:
        return Reading((), whole, f"holds no turn that can be read: {faults}")
    return Reading(units, whole, note=f"is indexed in part: {faults}" if faults else "")


def _pdf(file: BinaryIO, beside: str) -> Reading:
    from pipelines.index.pdf import read_pdf  # noqa: PLC0415  as above
    from pipelines.index.spoken import pdf_units  # noqa: PLC0415  as above

    whole = _covering(_digest(file), beside)
    if not file.tell():
        return Reading((), whole, "is empty")
    pdf = read_pdf(file, beside)
    return Reading(tuple(pdf_units(pdf)), whole, pdf.reason, pdf.note)


def _image(root: Path, path: str, file: BinaryIO) -> Reading:
    from pipelines.index.spoken import image_units  # noqa: PLC0415  as above

    sidecar = _sidecar(root, path)
    whole = _covering(_digest(file), sidecar.fingerprint)
    if sidecar.reason:
        return Reading((), whole, sidecar.reason)
    try:
        return Reading(tuple(image_units(parse_sidecar(sidecar.data))), whole)
    except BadSidecar as fault:
        return Reading((), whole, f"has a description that cannot be used: {sidecar.path} {fault}")


def _digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Sidecar:
    """An image's sidecar: where it is and what it holds, or why there is none."""

    path: str = ""
    data: bytes = b""
    reason: str = ""

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.data).hexdigest() + self.reason


def _sidecar(root: Path, image: str) -> _Sidecar:
    for path in sidecar_names(image):
        try:
            data = read_bytes(root, path)
        except BadFile as error:
            return _Sidecar(reason=f"has a description that cannot be used: {path} {error.why}")
        if data is not None:
            return _Sidecar(path, data)
    return _Sidecar(reason=UNDESCRIBED)
