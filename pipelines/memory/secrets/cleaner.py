"""Transcripts on their way into a memory: each line, and what was said in it, without secrets and private parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.memory.private import record_without_private, without_private

if TYPE_CHECKING:
    from pipelines.memory.secrets.redacting import Redactor


class TranscriptCleaner:
    """Cleans transcripts.

    Args:
        redactor: takes out secrets.
        redacted: how many lines held some, so far.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.redacted = 0

    def record(self, line: bytes) -> bytes:
        """Return a line of a transcript as it is kept: JSON if it was JSON, and one line."""
        open_line = record_without_private(line)
        clean = self._redactor.redact_record(open_line)
        self.redacted += clean is not open_line
        return clean

    def words(self, text: str) -> str:
        """Return what was said as it is told: once more without what the escapes of JSON may have hidden."""
        return self._redactor.redact(without_private(text)).text
