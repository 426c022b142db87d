"""Append lines to an open file: all of them, flushed, or none. Imports nothing slow."""

from __future__ import annotations

import os


def append_whole(descriptor: int, data: bytes) -> bool:
    """Append whole lines to a file that is open for reading and appending; the caller holds the log's lock.

    An incomplete write is cut off if nobody wrote after it.

    Returns:
        Whether the file was empty, so that the caller must flush its folder.

    Raises:
        OSError: the disk refused; the file is unchanged.
    """
    size = os.fstat(descriptor).st_size
    if size and not data.startswith(b"\n") and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
        os.fsync(descriptor)
    except OSError:
        if written and os.fstat(descriptor).st_size == size + written:
            os.ftruncate(descriptor, size)
        raise
    return size == 0
