"""Reads a PDF from standard input and writes its text to standard output: a JSON object a page, and one on the whole.

It runs in a process of its own (`pipelines.search.pdf` starts it), because a PDF of a few kilobytes can ask for hours
and for all memory there is: the limits of the process end it, and nothing else. Run as `-m pipelines.search.pdf_child
READER SECONDS BYTES`; the reader `pdftotext` takes the process over, with the limits in place.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypdf import PdfReader


MOST_PAGES: Final = 2000
MOST_TEXT: Final = 8 * 1024 * 1024
"""Characters of text: beyond it, a file is no document that a person would be shown a page of."""
MOST_OUTPUT: Final = 64 * 1024 * 1024


def main() -> None:
    """Limit the process, read, and write what came of it."""
    reader, seconds, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_FSIZE, MOST_OUTPUT)
    if reader == "pdftotext":
        os.execvp(reader, [reader, "-q", "-enc", "UTF-8", "-l", str(MOST_PAGES), "-", "-"])  # noqa: S606  no shell
    try:
        for told in _read(sys.stdin.buffer.read()):
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
    except MemoryError:
        sys.stdout.write('\n{"fault": "memory"}\n')


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (ValueError, OSError):  # macOS refuses to limit memory; the limits of the reader itself hold there
        return


def _read(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the pages, and at last how many there are, and the title and day of the file."""
    import pypdf  # noqa: PLC0415  only here, in a process of its own

    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not _opened(reader):
            yield {"fault": "encrypted"}
            return
        count = len(reader.pages)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  whatever a broken file makes a reader raise
        yield {"fault": "broken"}
        return
    yield from _pages(reader, count)
    yield {"pages": count, **_about(reader)}


def _opened(reader: PdfReader) -> bool:
    """Return whether an empty password opens the file: many are encrypted only so that they cannot be edited."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # noqa: BLE001  as above; also where no library for the cipher is installed
        return False


def _pages(reader: PdfReader, count: int) -> Iterator[dict[str, Any]]:
    room = MOST_TEXT
    for number in range(min(count, MOST_PAGES)):
        try:
            text = reader.pages[number].extract_text()
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  one broken page costs no other
            yield {"page": number + 1, "fault": "broken"}
            continue
        yield {"page": number + 1, "text": text[:room]}
        room -= len(text)
        if room <= 0:
            return


def _about(reader: PdfReader) -> dict[str, str]:
    try:
        told = reader.metadata
        day = told and (told.modification_date or told.creation_date)
        return {"title": str((told and told.title) or "")[:1000], "date": f"{day:%Y-%m-%d}" if day else ""}
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  a title and a day are a help only
        return {}


if __name__ == "__main__":
    main()
