"""Evidence: whether a quote is in the cited lines, where it is now, and who said it.

Line numbers are a hint and the hash decides, so evidence still resolves in a log that grew or was folded. A line that
capture wrote ends with a pointer to its record in a transcript.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.errors import BadFile
from pipelines.store.files import log_notes, read_bytes
from pipelines.store.item import Evidence, Trust, quote_digest
from pipelines.store.layout import day_of_log, is_note
from pipelines.store.log import lines_of
from pipelines.store.trees import left_out
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class FoundQuote:
    """Where a quote is now, and its words, or None if the file no longer contains it.

    `record` is the transcript record behind the log entry, as (path, line), or None.
    """

    path: str
    start_line: int
    end_line: int
    quote: str | None
    record: tuple[str, int] | None = None

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        found = {"path": self.path, "start_line": self.start_line, "end_line": self.end_line, "quote": self.quote}
        return found | ({"record": {"path": self.record[0], "line": self.record[1]}} if self.record else {})


@dataclass(frozen=True, slots=True)
class Quotes:
    """Finds the quotes of evidence; each file is read once."""

    root: Path
    _lines: dict[str, list[str]] = field(default_factory=dict, init=False)

    def found(self, evidence: Evidence) -> FoundQuote:
        """Return where the quote is: at its lines, or else at the nearest lines with the same hash.

        If its file has them no more, it is in the note of the same day that has them: people move their notes.
        """
        paths = [evidence.path]
        for path in paths:  # which grows, if the quote is not there
            lines = self._read(path)
            if (start := next(starts_of(evidence, lines), None)) is not None:
                entry, end = start, start + evidence.height
                while 0 < entry < len(lines) and lines[entry][:1] in {" ", "\t"}:
                    entry -= 1  # the pointer is on the entry's first line
                voice = voice_in(lines[entry])
                return FoundQuote(path, start + 1, end, "\n".join(lines[start:end]), voice and voice[:2])
            if path == evidence.path and is_note(path) and (day := day_of_log(path)):
                with contextlib.suppress(BadFile):
                    paths += [one for one in log_notes(self.root) if day_of_log(one) == day and one != path]
        return FoundQuote(evidence.path, evidence.start_line, evidence.end_line, None)

    def text(self, evidence: Evidence) -> str:
        """Return the quote's words, or an empty string if they are gone."""
        return self.found(evidence).quote or ""

    def _read(self, path: str) -> list[str]:
        if path not in self._lines:
            leaves = path.startswith(("/", "~")) or "\x00" in path
            try:
                data = b"" if leaves else read_bytes(self.root, path) or left_out(self.root).get(path, b"")
            except BadFile:
                data = b""
            self._lines[path] = lines_of(data.decode(errors="replace"))
        return self._lines[path]


def starts_of(evidence: Evidence, lines: Sequence[str]) -> Iterator[int]:
    """Yield the positions (from 0) in `lines` at which the quoted words begin, nearest to the old position first."""
    count = len(lines) - max(evidence.height, 1) + 1
    start = min(evidence.start_line - 1, count)  # a comment may name any line
    for distance in range(max(start, count - start) + 1):
        for at in dict.fromkeys((start + distance, start - distance)):
            if 0 <= at < count and quote_digest("\n".join(lines[at : at + evidence.height])).startswith(
                evidence.digest
            ):
                yield at


# Folding removes only white space and Markdown's line and emphasis marks. Case, punctuation, digits and strike-through
# stay: a quote that differs in one of them may mean something else.
# These marks may precede a line's text, in any order: quote marks, list marks, a box, a heading mark.
_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)|#{1,6}(?=\s))[ \t]*)+")
# Emphasis touches a word on one side only; `max_tokens` and `2*3` keep their signs.
_OPENING = re.compile(r"(?<![\w*_])(?:\*{1,3}|_{1,3})(?=[^\s*_])")
_CLOSING = re.compile(r"(?<=[^\s*_])(?:\*{1,3}|_{1,3})(?![\w*_])")
_LINE_END = re.compile(r"\r\n|\r|\n")


def fold_markdown(lines: Sequence[str]) -> str:
    """Return `lines` folded to one line, without list, quote, heading and emphasis marks, and without pointers."""
    bare = (_LINE_MARKS.sub("", without_pointer(line)) for text in lines for line in _LINE_END.split(text))
    text = fold(" ".join(bare).replace("`", ""))
    return fold(_CLOSING.sub("", _OPENING.sub("", text)))


_POINTER = re.compile(
    r"<!-- (Sessions/[^<>\s]+\.jsonl)#L(\d{1,9})~([0-9a-f]{8})(?: (owner|self|external)~"
    r"([0-9a-f]{16}|-|all|\d{1,4}(?:\.\d{1,4}){0,99}))? -->"
)


Voice = tuple[str, int, Trust, str]
"""What a pointer says about its record: the transcript, the record's line from 1, whose words they are, and the seal.

The trust is as written in the line (`self` if missing); the seal proves that capture wrote it, and may be empty.
`external` means that outside text came earlier; the seal is then the numbers of the sentences that repeat that text,
joined by dots, or `all`.
"""


def render_pointer(file: str, line: int, mark: str, trust: Trust = Trust.SELF, seal: str = "") -> str:
    """Return a pointer.

    Args:
        file: the transcript, relative to the memory.
        line: the record's line, from 1.
        mark: eight hex digits, a hash of time, role and words.
        trust: whose words the record contains.
        seal: what proves the trust to the nightly run, or which sentences are not the agent's. Trust is written even
            without a seal, because it may be lower.
    """
    voice = f" {trust}~{seal or '-'}" if seal or trust is not Trust.SELF else ""
    return f"<!-- {file}#L{line}~{mark}{voice} -->"


def voice_in(line: str) -> Voice | None:
    """Return what the pointer of a log line says about its record, or None if there is no pointer.

    The last of several pointers counts: capture puts its own at the end of the line, and breaks anything in a turn's
    words that looks like one.
    """
    found = _POINTER.findall(line)
    if not found:
        return None
    file, record, _, trust, seal = found[-1]
    return file, int(record), Trust(trust or Trust.SELF), seal.removeprefix("-")


def captured_in(log: str, file: str) -> tuple[int, frozenset[str]]:
    """Return the last record of a transcript that a log contains, and the marks of all its turns, of any transcript."""
    last, marks = 0, set[str]()
    for path, line, mark, *_ in _POINTER.findall(log):
        marks.add(mark)
        last = max(last, int(line)) if path == file else last
    return last, frozenset(marks)


def without_pointer(line: str) -> str:
    """Return a log line as people read it, without the pointer at its end."""
    return _POINTER.sub("", line).rstrip() if "<!-- Sessions/" in line else line


class Act(StrEnum):
    """The owner's act that put their words into a record; NONE if the words are nobody's act."""

    NONE = ""
    TYPED = "typed"
    ANSWERED = "answered"  # with one of the answers that were offered
    REPLIED = "replied"  # to a question, in other words than those, or in words that may decide nothing
    LEFT_OPEN = "left open"  # a question, which was answered without a choice
    REFUSED = "refused"
    PLANNED = "planned"
    REMEMBERED = "remembered"


_LABELS = {
    Act.ANSWERED: "user answered",
    Act.REPLIED: "user replied",
    Act.LEFT_OPEN: "user left open",
    Act.REFUSED: "user refused",
    Act.PLANNED: "user approved the plan",
    Act.REMEMBERED: "user asked to remember",
}
_WHO = re.compile(rf"({'|'.join(_LABELS.values())}|user)(?: ([\w.-]+))?")
_TURN = re.compile(r"- \d\d:\d\d (?:\[project: [^\[\]\n]{1,88}\] )?\*\*(?P<speaker>[^*:\n]{1,80}):\*\*(?: |$)")


def turn_in(entry: str) -> re.Match[str] | None:
    """Return what capture wrote before the words of an entry, with their speaker; None if it is no captured turn."""
    head = entry.partition("\n")[0]
    return _TURN.match(head) if voice_in(head) else None


def act_label(act: Act, refused: str) -> str:
    """Return a log's label for an act of the owner.

    Args:
        act: the act.
        refused: the refused tool, or empty.
    """
    return f"{_LABELS.get(act, 'user')} {refused}".rstrip()


def act_in(entry: str) -> tuple[Act, str, str] | None:
    """Return the act in a captured entry's label, the refused tool, and the words of the entry's first line.

    A turn's words cannot forge the label, because it precedes them. A journal may contain anything, though: the label
    counts only if the entry has the owner's seal.
    """
    if (turn := turn_in(entry)) is None or (who := _WHO.fullmatch(turn["speaker"])) is None:
        return None
    act = next((act for act, label in _LABELS.items() if label == who[1]), Act.TYPED)
    return act, who[2] or "", without_pointer(turn.string[turn.end() :]).strip()
