"""Seals: how the night knows that a line of a log was written by capture, and whose words of a session it holds.

A log is a file that anybody with the memory can write, and so is a transcript under Sessions. A seal is an HMAC over
the line's words, its record and whose they are, with a key outside of every memory: text cannot make one, and neither
can somebody else's repository.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from typing import TYPE_CHECKING, Final

from pipelines.memory.items import Trust, fold
from pipelines.memory.pointers import voice_in, without_pointer
from pipelines.memory.secrets.keys import key_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME: Final = "capture.key"
_DIGITS: Final = 16
_CLOCK: Final = re.compile(r"^- \d{2}:\d{2} ")


class Seals:
    """Makes and checks seals.

    Args:
        key: the key; empty where there is none, and then nothing is sealed and no seal is believed.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, log: str, lines: Sequence[str], file: str, record: int, trust: Trust) -> str:
        """Return the seal of a captured turn, or an empty string where there is no key.

        Args:
            log: the log: what was said on another day cannot be said again today.
            lines: the entry's lines in it, with or without its pointer. The project that they name is sealed, too: what
                was said of one is no rule of another.
            file: the transcript.
            record: the record's line, from 1.
            trust: whose words they are.
        """
        if not self._key:
            return ""
        words = fold(_CLOCK.sub("", " ".join(map(without_pointer, lines))))
        told = "\x1f".join((log, file, str(record), trust, words))
        return hmac.new(self._key, told.encode(errors="replace"), hashlib.sha256).hexdigest()[:_DIGITS]

    def trust_of(self, log: str, lines: Sequence[str]) -> Trust:
        """Return whose words an entry of a log holds.

        A log line without a record is the agent's own journal, and so is one whose seal does not fit: nothing that is
        written in a log raises trust. That it lowers it is believed.
        """
        voice = voice_in(lines[0]) if lines else None
        if voice is None:
            return Trust.SELF
        if voice.trust is Trust.OWNER:
            real = self.of(log, lines, voice.file, voice.line, voice.trust)
            return Trust.OWNER if real and hmac.compare_digest(real, voice.seal) else Trust.SELF
        return voice.trust


def load_seals(*, make: bool = False) -> Seals:
    """Return the user's seals.

    Args:
        make: whether a key is made where there is none: capture makes it, and who only checks has no need of one.
    """
    return Seals(key_outside(NAME, os.environ, make=make))
