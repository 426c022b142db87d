"""The few sentences of a day that no label marks, but whose words suggest an item."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from pipelines.models.rules.cues import STEMS, cue_of
from pipelines.models.rules.labelled import Found, end_of
from pipelines.models.rules.marks import clean, overlap, words
from pipelines.models.rules.noise import is_procedural
from pipelines.models.rules.sentences import sentences, without_filler

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.models.rules.lines import Line
    from pipelines.store.log import Entry

MOST: Final = 5
_SAME: Final = 0.6
_LONGEST: Final = 400
_MOST_KNOWN, _MOST_LOOKED_AT = 2000, 200  # bounds the comparisons of a day, however long its log


def suggest(entry: Entry, lines: Sequence[Line], taken: set[int]) -> list[Found]:
    """Return what the cues of an entry suggest in the log's own voice, without the lines whose numbers are `taken`.

    Where somebody speaks, people think aloud, and most such phrases decide nothing.
    """
    low = entry.text.lower()
    if not any(stem in low for stem in STEMS):
        return []
    result: list[Found] = []
    index = 0
    while index < len(lines):
        spoken, end = lines[index].spoken, index
        if spoken is not None and lines[index].number not in taken and not spoken.is_speech:
            end = index if spoken.quoted else end_of(lines, index)
            result += _of_block(entry, lines[index : end + 1])
        index = end + 1
    return result


def _of_block(entry: Entry, lines: Sequence[Line]) -> list[Found]:
    first = lines[0].spoken
    if first is None or first.said.startswith(("|", "~~", "`", "http", '"')):
        return []
    text = "\n".join([first.said, *(line.spoken.line for line in lines[1:] if line.spoken)])
    result: list[Found] = []
    for start, end in sentences(text):
        if end - start > _LONGEST:
            continue
        sentence = without_filler(clean(text[start:end]))
        if (cued := cue_of(sentence)) and not is_procedural(sentence):
            above = text.count("\n", 0, start)
            placed = Found(
                type=cued.type,
                text=sentence,
                entry=entry,
                start_line=lines[0].number + above,
                end_line=lines[0].number + above + text.count("\n", start, end),
                quote=text[start:end],
                sure=False,
                reason=f"cue: {cued.phrase}",
            )
            result.append(_verbatim(placed, lines))
    return result


def _verbatim(found: Found, lines: Sequence[Line]) -> Found:
    """Widen the quote to its whole lines where a comment inside the sentence keeps it from standing there."""
    own = [line.raw for line in lines if found.start_line <= line.number <= found.end_line]
    return found if found.quote in "\n".join(own) else replace(found, quote="\n".join(own).strip())


def best(suggested: Iterable[Found], labelled: Iterable[Found], most: int) -> list[Found]:
    """Return the first `most` suggestions, none of which says what another, or a label, already says."""
    known = [Counter(words(found.text)) for found in islice(labelled, _MOST_KNOWN)]
    kept: list[Found] = []
    for one in islice(suggested, _MOST_LOOKED_AT):
        if len(kept) >= most:
            break
        bag = Counter(words(one.text))
        if all(overlap(bag, other) < _SAME for other in known):
            known.append(bag)
            kept.append(one)
    return kept
