"""The text of a PDF, page by page, read by a process of its own with limits on time and memory.

A PDF of a few kilobytes can require hours and all memory; only limits on the process stop it. The process runs this
module: `-m pipelines.search.pdf SECONDS BYTES`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from pipelines.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pypdf import PdfReader


SECONDS = 20
"""Of processor time; the whole may take three times as long on a busy machine."""
MEMORY = 1024 * 1024 * 1024
MOST_OUTPUT = 64 * 1024 * 1024
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "LD_LIBRARY_PATH")
_BROKEN = "is broken, or not a PDF"


class Pdf(NamedTuple):
    """The text of a PDF.

    Args:
        pages: number, from 1, and text of each page with text.
        title: the title in the file, or empty.
        date: the day of its last change, `YYYY-MM-DD`, or empty.
        reason: why it has no text, or not all, as the predicate of a sentence about it.
    """

    pages: tuple[tuple[int, str], ...] = ()
    title: str = ""
    date: str = ""
    reason: str = ""


def read_pdf(file: BinaryIO) -> Pdf:
    """Return the text of an open PDF. No content makes it fail, or take more than about a minute."""
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # the process reads the descriptor, not Python's buffer
    with tempfile.TemporaryFile() as out:
        # -P: do not import from the working directory, which may be somebody else's.
        program = [sys.executable, "-P", "-W", "ignore", "-m", "pipelines.search.pdf", str(SECONDS), str(MEMORY)]
        environment = {key: value for key, value in os.environ.items() if key in _KEPT or key.startswith("PYTHON")}
        try:
            ended = subprocess.run(
                program, stdin=file, stdout=out, stderr=subprocess.DEVNULL, env=environment, timeout=3 * SECONDS,
                check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            ended = -9
        out.seek(0)
        return _told(out.read(), ended)


def _told(output: bytes, ended: int) -> Pdf:
    """Return the process's result; one that was killed leaves the pages before."""
    found = []
    for line in output.splitlines():
        with contextlib.suppress(ValueError):  # cut off within a page
            found.append(json.loads(line))
    last = (
        found.pop()
        if found and "page" not in found[-1]
        else {"fault": f"takes more than {SECONDS} s to read" if ended < 0 else _BROKEN}
    )
    lines = ((one["page"], map(str.strip, clean(one["text"]).split("\n"))) for one in found)
    pages = tuple((number, text) for number, some in lines if (text := "\n".join(some).strip()))
    reason = last.get("fault", "")
    if not pages:
        return Pdf(reason=reason or "has no text; its pages may be pictures")
    part = f"is indexed in part: up to page {len(found):,}, because it {reason}" if reason else ""
    title = clean(last.get("title", "").replace("\n", " "))[:200]
    return Pdf(pages, title, last.get("date", ""), part)


def _child() -> None:
    """Limit this process, read standard input, and write one JSON object per page, and one about the file."""
    for kind, most in (
        (resource.RLIMIT_CPU, int(sys.argv[1])),
        (resource.RLIMIT_AS, int(sys.argv[2])),
        (resource.RLIMIT_FSIZE, MOST_OUTPUT),
    ):
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # macOS refuses to limit memory; the reader's own limits apply there.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
    try:
        for one in _read(sys.stdin.buffer.read()):
            print(json.dumps(one), flush=True)  # noqa: T201  for the parent process
    except MemoryError:
        sys.stdout.write('\n{"fault": "takes too much memory to read"}\n')


def _read(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the pages, and finally the file's title and date."""
    import pypdf  # noqa: PLC0415  only in a process of its own

    reader = _tried(pypdf.PdfReader, io.BytesIO(data))
    # Many files open with an empty password: they are encrypted only against editing.
    if _tried(lambda: reader.is_encrypted) and not _tried(lambda: reader.decrypt("")):
        yield {"fault": "is encrypted"}
        return
    count = _tried(lambda: len(reader.pages))
    if count is None:
        yield {"fault": _BROKEN}
        return
    for number in range(count):
        text = _tried(lambda at: reader.pages[at].extract_text(), number)
        yield {"page": number + 1, "text": text or ""}  # a broken page does not affect the others
    yield _tried(_about, reader) or {}


def _tried(work: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401  the result of `work`
    """Return the result of `work`, or None for any error that a broken file causes."""
    try:
        return work(*given)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  pypdf does not say which kinds it raises
        return None


def _about(reader: PdfReader) -> dict[str, str]:
    known = reader.metadata
    day = known and (known.modification_date or known.creation_date)
    return {"title": str((known and known.title) or "")[:1000], "date": f"{day:%Y-%m-%d}" if day else ""}


if __name__ == "__main__":
    _child()
