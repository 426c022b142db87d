"""The few best sentences of a day that no label marks, but whose words suggest an item."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from pipelines.memory.items import fold
from pipelines.models.rules.cues import STEMS
from pipelines.models.rules.judging import judge
from pipelines.models.rules.labelled import Found, end_of
from pipelines.models.rules.marks import clean, overlap, same_key, words
from pipelines.models.rules.noise import is_bot, is_procedural
from pipelines.models.rules.sentences import sentences, without_filler

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.memory.entries import Entry
    from pipelines.models.rules.lines import Line

MOST_SPOKEN: Final = 3
MOST_OWN: Final = 20
_SAME: Final = 0.6
_LONGEST: Final = 400
_MOST_KNOWN, _MOST_LOOKED_AT = 2000, 200  # bounds the comparisons of a day, however long its log


@dataclass(frozen=True, slots=True)
class Suggested:
    """A thing found by a cue, and what it is worth."""

    found: Found
    score: float


def suggest(entry: Entry, lines: Sequence[Line], taken: set[int], *, meeting: bool) -> list[Suggested]:
    """Return what the cues of an entry suggest, leaving out the lines whose numbers are `taken`.

    In the log of a `meeting` no line is the log's own voice: whoever writes it down only repeats.
    """
    low = entry.text.lower()
    if not any(stem in low for stem in STEMS):
        return []
    result: list[Suggested] = []
    index = 0
    while index < len(lines):
        spoken = lines[index].spoken
        end = index
        if spoken is not None and lines[index].number not in taken and not is_bot(spoken.speaker):
            end = index if spoken.quoted else end_of(lines, index)
            result += _of_block(entry, lines[index : end + 1], meeting=meeting)
        index = end + 1
    return result


def _of_block(entry: Entry, lines: Sequence[Line], *, meeting: bool) -> list[Suggested]:
    first = lines[0].spoken
    if first is None or first.said.startswith(("|", "~~", "`", "http", '"')):
        return []
    spoken = meeting or first.is_speech
    text = "\n".join([first.said, *(line.spoken.line for line in lines[1:] if line.spoken)])
    result: list[Suggested] = []
    for start, end in sentences(text):
        if end - start > _LONGEST:
            continue
        sentence = without_filler(clean(text[start:end]))
        if (judged := judge(sentence, spoken=spoken)) and not is_procedural(sentence):
            above = text.count("\n", 0, start)
            placed = Found(
                type=judged.type,
                text=sentence,
                entry=entry,
                start_line=lines[0].number + above,
                end_line=lines[0].number + above + text.count("\n", start, end),
                quote=text[start:end],
                sure=False,
                reason=f"cue: {judged.phrase}",
            )
            named = with_speaker(_verbatim(placed, lines), first.speaker, lines[0].number, lines[0].raw)
            result.append(Suggested(named, judged.score))
    return result


def _verbatim(found: Found, lines: Sequence[Line]) -> Found:
    """Widen the quote to its whole lines where a comment inside the sentence keeps it from standing there."""
    own = [line.raw for line in lines if found.start_line <= line.number <= found.end_line]
    return found if found.quote in "\n".join(own) else replace(found, quote="\n".join(own).strip())


def with_speaker(found: Found, speaker: str, number: int, raw: str) -> Found:
    """Put the speaker's name before what they say of themselves: nobody else can know who `I` is.

    Args:
        found: what was found.
        speaker: who spoke, or empty.
        number: the line on which they are named.
        raw: that line, verbatim.
    """
    if not speaker or found.start_line != number or not _of_oneself(found.text):
        return found
    at, end = raw.find(speaker), raw.find(found.quote)
    if at < 0 or end < at:
        return found
    return replace(found, text=fold(f"{speaker}: {found.text}"), quote=raw[at : end + len(found.quote)])


def _of_oneself(text: str) -> bool:
    return any(word in {"i", "i'll", "i’ll", "i'm", "i’m", "i've", "my", "me"} for word in text.lower().split())


def _rank(one: Suggested) -> tuple[float, int]:
    return (-one.score, one.found.start_line)


def best(suggested: Iterable[Suggested], labelled: Iterable[Found], most: int) -> list[Suggested]:
    """Return at most `most` suggestions, best first, none of which says what another, or a label, already says."""
    known = [Counter(words(found.text)) for found in islice(labelled, _MOST_KNOWN)]
    kept: list[Suggested] = []
    different = {same_key(one.found.text): one for one in sorted(suggested, key=_rank, reverse=True)}
    for one in sorted(different.values(), key=_rank)[:_MOST_LOOKED_AT]:
        if len(kept) >= most:
            break
        bag = Counter(words(one.found.text))
        if all(overlap(bag, other) < _SAME for other in known):
            known.append(bag)
            kept.append(one)
    return kept
