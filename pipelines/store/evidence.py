"""Evidence: whether a quote stands in the lines that it cites, where it stands now, and who spoke it.

The lines are a hint, the hash is the truth, so a log that grew or was folded still answers. A line that capture wrote
ends with a pointer to its record in a transcript.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store.files import read_bytes
from pipelines.store.item import Trust, fold, quote_digest
from pipelines.store.log import lines_of
from pipelines.store.transcripts.acts import Act
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipelines.store.item import Evidence


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands now: its lines, and its words, or None where it no longer stands in the file.

    `record` is the transcript's record that the log tells of, as (path, line), or None where it tells of none.
    """

    path: str
    start_line: int
    end_line: int
    quote: str | None
    record: tuple[str, int] | None = None

    def to_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        found = {"path": self.path, "start_line": self.start_line, "end_line": self.end_line, "quote": self.quote}
        return found | ({"record": {"path": self.record[0], "line": self.record[1]}} if self.record else {})


@dataclass(frozen=True, slots=True)
class Quotes:
    """Finds the quotes of evidence; each file is read once."""

    root: Path
    _lines: dict[str, list[str]] = field(default_factory=dict, init=False)

    def found(self, evidence: Evidence) -> Found:
        """Return where the quote stands: at its lines, else at the nearest lines whose text has its hash."""
        lines, shown = self._read(evidence.path), real_path(self.root, evidence.path)
        if (start := next(starts_of(evidence, lines), None)) is None:
            return Found(shown, evidence.start_line, evidence.end_line, None)
        entry, end = start, start + evidence.height
        while 0 < entry < len(lines) and lines[entry][:1] in {" ", "\t"}:
            entry -= 1  # the pointer stands on the entry's first line
        record = pointer_in(lines[entry])
        record = (real_path(self.root, record[0]), record[1]) if record else None
        return Found(shown, start + 1, end, "\n".join(lines[start:end]), record)

    def _read(self, path: str) -> list[str]:
        if path not in self._lines:
            # Whether a path, as a comment tells it, would lead out of the memory.
            leaves = path.startswith(("/", "~")) or ".." in path.split("/") or "\x00" in path
            try:
                data = b"" if leaves else read_bytes(self.root, path) or b""
            except BadFile:
                data = b""
            self._lines[path] = lines_of(data.decode(errors="replace"))
        return self._lines[path]


def starts_of(evidence: Evidence, lines: Sequence[str]) -> Iterator[int]:
    """Yield where, from 0, the words that evidence names begin in some lines: the nearest to their old place first."""
    count = len(lines) - max(evidence.height, 1) + 1
    start = min(evidence.start_line - 1, count)  # whatever line a comment names
    for distance in range(max(start, count - start) + 1):
        for at in dict.fromkeys((start + distance, start - distance)):
            if 0 <= at < count and quote_digest("\n".join(lines[at : at + evidence.height])).startswith(
                evidence.digest
            ):
                yield at


# Only white space and Markdown's marks of lines and emphasis are folded. Case, punctuation, digits and the marks of
# strike-through are not: a quote that differs in one of them may say something else.
# What may stand before the text of a line: quote marks, list marks, a box, a heading mark, in any order.
_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)|#{1,6}(?=\s))[ \t]*)+")
# Emphasis hugs a word on one side only; `max_tokens` and `2*3` keep their signs.
_OPENING = re.compile(r"(?<![\w*_])(?:\*{1,3}|_{1,3})(?=[^\s*_])")
_CLOSING = re.compile(r"(?<=[^\s*_])(?:\*{1,3}|_{1,3})(?![\w*_])")
_LINE_END = re.compile(r"\r\n|\r|\n")


def quote_stands(quote: str, lines: Sequence[str]) -> bool:
    """Return whether `quote` stands in `lines`, as whole words.

    Args:
        quote: what is said to stand there; it may run over several lines.
        lines: the cited lines, in order, verbatim.

    Returns:
        True where the folded quote is part of the folded lines and cuts no word or number in two. A quote without a
        letter or a digit proves nothing and never stands.
    """
    needle, text = fold_markdown([quote]), fold_markdown(lines)
    at = text.find(needle) if any(char.isalnum() for char in needle) else -1
    while at >= 0 and (_cuts_a_word(text, at) or _cuts_a_word(text, at + len(needle))):
        at = text.find(needle, at + 1)
    return at >= 0


def fold_markdown(lines: Sequence[str]) -> str:
    """Return the words of `lines` on one line: white space folded; list, quote, heading and emphasis marks gone."""
    bare = (_LINE_MARKS.sub("", line) for text in lines for line in _LINE_END.split(text))
    text = fold(" ".join(bare).replace("`", ""))
    return fold(_CLOSING.sub("", _OPENING.sub("", text)))


def _cuts_a_word(text: str, at: int) -> bool:
    """Whether letters stand on both sides, of a script that sets words apart by blanks: Chinese or Thai does not."""
    around = text[at - 1 : at + 1] if 0 < at < len(text) else " "
    return all(char.isdecimal() or char.lower() != char.upper() for char in around)


_POINTER: Final = re.compile(
    r"<!-- (Sessions/[^<>\s]+\.jsonl)#L(\d{1,9})~([0-9a-f]{8})(?: (owner|self|external)~"
    r"([0-9a-f]{16}|-|all|\d{1,4}(?:\.\d{1,4}){0,99}))? -->"
)


Voice = tuple[str, int, Trust, str]
"""What a pointer tells of its record: the transcript, the record's line from 1, whose words they are, and the seal.

The trust is what the line says, `self` where it does not say; by the seal it is known that capture said so, and it is
empty where there is none. `external` says that outside text had come before; in place of a seal stand the numbers of
the sentences that repeat it, joined by dots, or `all`.
"""


def render_pointer(file: str, line: int, mark: str, trust: Trust = Trust.SELF, seal: str = "") -> str:
    """Return a pointer.

    Args:
        file: the transcript, relative to the memory.
        line: the record's line, from 1.
        mark: eight hex digits, a hash of moment, role and words.
        trust: whose words the record holds.
        seal: what proves it to the night, or which sentences are not the agent's; without one it is said all the same,
            for it may lower trust.
    """
    voice = f" {trust}~{seal or '-'}" if seal or trust is not Trust.SELF else ""
    return f"<!-- {file}#L{line}~{mark}{voice} -->"


def pointer_in(line: str) -> tuple[str, int] | None:
    """Return the transcript and the record (from 1) that a log's line points at, or None."""
    found = _POINTER.search(line)
    return (found[1], int(found[2])) if found else None


def voice_in(line: str) -> Voice | None:
    """Return what the pointer of a log's line tells of its record, or None where it has none.

    Of several pointers the last one counts: capture puts its own at the line's end, and breaks what looks like one in
    the words of a turn.
    """
    found = _POINTER.findall(line)
    if not found:
        return None
    file, record, _, trust, seal = found[-1]
    return file, int(record), Trust(trust or Trust.SELF), seal.removeprefix("-")


def captured_in(log: str, file: str) -> tuple[int, frozenset[str]]:
    """Return the last record of a transcript that a log has, and the marks of all turns in it, whoever's they are."""
    last, marks = 0, set[str]()
    for path, line, mark, *_ in _POINTER.findall(log):
        marks.add(mark)
        last = max(last, int(line)) if path == file else last
    return last, frozenset(marks)


def without_pointer(line: str) -> str:
    """Return a log's line as people read it, without the pointer at its end."""
    return _POINTER.sub("", line).rstrip() if "<!-- Sessions/" in line else line


_LABELS: Final = {Act.ANSWERED: "user answered", Act.REFUSED: "user refused", Act.PLANNED: "user approved the plan"}
_LABELLED: Final = re.compile(
    r"- \d\d:\d\d (?:\[project: [^\[\]\n]{1,88}\] )?"
    r"\*\*(user answered|user refused|user approved the plan|user)(?: ([\w.-]+))?:\*\*[ \n]"
)


def act_label(act: Act, refused: str = "") -> str:
    """Return how a log calls an act of the owner.

    Args:
        act: the act.
        refused: the tool that was refused, or empty.
    """
    return f"{_LABELS.get(act, 'user')} {refused}".rstrip()


def act_in(entry: str) -> tuple[Act, str, str] | None:
    """Return the act that a captured entry is labelled with, the refused tool, and the words of its first line.

    Nobody types that label: it stands before all words of a turn. But a journal may hold anything, so the label means
    something only where the entry's seal is the owner's.
    """
    found = _LABELLED.match(entry)
    if found is None or voice_in(entry.partition("\n")[0]) is None:
        return None
    act = next((act for act, label in _LABELS.items() if label == found[1]), Act.TYPED)
    return act, found[2] or "", without_pointer(entry[found.end() - 1 :].partition("\n")[0]).strip()
