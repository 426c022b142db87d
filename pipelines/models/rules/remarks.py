"""The remarks of a day: what a reader weighs one by one, a line of speech or a sentence of a journal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.models.rules.labelled import end_of
from pipelines.models.rules.marks import clean
from pipelines.models.rules.noise import is_bot
from pipelines.models.rules.sentences import sentences, without_filler

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from pipelines.memory.entries import Entry
    from pipelines.models.rules.lines import Line

_LONGEST: Final = 500
_NO_WORDS: Final = ("|", "~~", "```", "http", "---", "<")


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark and where it stands.

    Args:
        entry: the entry it stands in.
        start_line: its first line in the log.
        end_line: its last line, inclusive.
        text: its words, cleaned, on one line, without the speaker.
        quote: verbatim words of those lines.
        speaker: who says it, or empty.
        spoken: whether it is said in a meeting or a chat, rather than by the log itself.
        alone: whether it is all that its entry says.
        goes_on: whether it goes on with what was said above (`… and so`).
        quoted: whether a quote mark stands before it.
        taken: whether a label was read there, so that nothing else is to be found in it.
    """

    entry: Entry
    start_line: int
    end_line: int
    text: str
    quote: str
    speaker: str = ""
    spoken: bool = False
    alone: bool = False
    goes_on: bool = False
    quoted: bool = False
    taken: bool = False


def remarks(entry: Entry, lines: Sequence[Line], taken: AbstractSet[int], *, meeting: bool) -> list[Remark]:
    """Return the remarks of an entry in order.

    A line that somebody speaks is one remark, with the lines that it wraps into, and so is every line of a `meeting`;
    elsewhere each sentence is one. Bots, code and comments say nothing.
    """
    found: list[Remark] = []
    index = 0
    while index < len(lines):
        spoken = lines[index].spoken
        end = index
        if spoken is not None and not is_bot(spoken.speaker):
            end = index if spoken.quoted else end_of(lines, index)
            found += _of_block(entry, lines[index : end + 1], taken, spoken=meeting or spoken.is_speech)
        index = end + 1
    return [replace(found[0], alone=True)] if len(found) == 1 else found


def _of_block(entry: Entry, lines: Sequence[Line], taken: AbstractSet[int], *, spoken: bool) -> Iterator[Remark]:
    first = lines[0].spoken
    if first is None or first.said.startswith(_NO_WORDS) or not first.said.strip():
        return
    text = "\n".join([first.said, *(line.spoken.line for line in lines[1:] if line.spoken)]).rstrip(" \\")
    for start, end in [(0, len(text))] if spoken else sentences(text):
        words = text[start:end]
        if len(words) > _LONGEST:
            continue
        said = clean(words) if spoken else without_filler(clean(words))
        if not said:
            continue
        above = text.count("\n", 0, start)
        below = above + words.count("\n")
        own = [line.raw for line in lines[above : below + 1]]
        yield Remark(
            entry=entry,
            start_line=lines[above].number,
            end_line=lines[below].number,
            text=said,
            # A comment inside the words keeps them from standing there as they are; the whole lines do.
            quote=words.strip() if words.strip() in "\n".join(own) else "\n".join(own).strip(),
            speaker=first.speaker,
            spoken=spoken,
            goes_on=first.dots or start > 0,
            quoted=first.quoted,
            taken=not taken.isdisjoint(line.number for line in lines),
        )
