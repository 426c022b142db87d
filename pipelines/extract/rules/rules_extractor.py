"""The extractor that needs no key: labels first, then the few sentences that only sound like items.

Those have phrases such as `we decided to` or `from now on`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, Extraction, ExtractionRequest, OpenList, Place
from pipelines.extract.rules.label_reader import TICK_BOX, LabelReader, due_of, end_of
from pipelines.extract.rules.labels import NAME
from pipelines.store.evidence import act_in, voice_in
from pipelines.store.item import Confidence, ItemType
from pipelines.store.spoken_lines import Line, clean, sentences, without_filler
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pipelines.store.log import Entry


_TICKED = re.compile(r"[>\s]*[-*+]\s+\[[xX-]\]")
_MOST = 5  # suggestions kept per day
_FEW = 5  # entries of speech that make a day a meeting, if they are also a share of its entries
_SHARE = 3


class RulesExtractor:
    """Reads typed lines, labels of meetings and code, and cue phrases. It calls nothing and never fails."""

    name: str = NAME

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the day's candidates in log order: labelled ones with high confidence, others with medium."""
        reader = LabelReader()
        read = [(entry, reader.read(entry)) for entry in request.entries]
        laid_down, suggested = list[Candidate](), list[Candidate]()
        if acts := [one for one in read if act_in(one[0].text)]:
            from pipelines.extract.rules.owner_acts import read_acts  # noqa: PLC0415  only sessions have acts

            said = (one for entry, lines in acts for one in read_acts(entry, lines, request.seals, _lays_down))
            laid_down = [one for one in said if one.places[0].start_line not in reader.taken]
        own = [one for one in read if voice_in(one[0].head) is None]
        # In minutes and chats people think aloud.
        speaking = sum(lines[0].spoken is not None and lines[0].spoken.is_speech for _, lines in own)
        if speaking < _FEW or speaking * _SHARE < len(own):
            suggested += [one for entry, lines in own for one in _suggested(entry, lines, reader.taken)]
        kept = once_each(reader.found, laid_down, suggested)
        more = [one for one in kept if one.confidence is not Confidence.HIGH][_MOST:]
        # The tick boxes of a day are lists: all below one heading, a title of the day or of all aside.
        is_title = len({one.headings[0] for one in request.entries if one.headings}) == 1
        boxes = [(one.places[0], one.text, True) for one in reader.found if one.reason == TICK_BOX]
        ticked = (one for one in reader.forms if _TICKED.match(one.place.quote) and not voice_in(one.place.entry.head))
        boxes += [(one.place, one.target, False) for one in ticked]
        under = defaultdict[tuple[str, ...], list[tuple[Place, str, bool]]](list)
        for box in boxes:
            headings = box[0].entry.headings
            under[headings[: 2 if is_title or box[0].entry.day in "".join(headings[:1]) else 1]].append(box)
        lists = [
            OpenList(
                tuple(place for place, _, is_open in some if is_open),
                depth=len(top),
                whole=False,
                boxes=tuple(text for _, text, _ in some),
            )
            for top, some in under.items()
        ]
        return Extraction(
            tuple(one for one in kept if one not in more), forms=tuple(reader.forms), open_lists=tuple(lists)
        )


def once_each(*groups: Iterable[Candidate]) -> list[Candidate]:
    """Return the statements of a day in log order, each repeated one only where it is surest, in the earliest group.

    What is said of another project is no repetition. A todo has the due day that it names.
    """
    kept: dict[tuple[object, ...], Candidate] = {}
    for found in groups:
        for one in sorted(found, key=lambda one: (one.confidence is not Confidence.HIGH, one.places[0].start_line)):
            text, due = due_of(one.text, one.entry.day) if one.type is ItemType.TODO else (one.text, one.due)
            of = one.entry.project, one.entry.tags
            kept.setdefault((one.type, one.page_section, words_key(text), of), replace(one, text=text, due=due))
    return sorted(kept.values(), key=lambda one: one.places[0].start_line)


def _lays_down(sentence: str) -> ItemType | None:
    """Return the type that a sentence explicitly lays down: a rule, a todo to remember, a decision."""
    cued = cue_of(sentence)
    if cued is None or cued[0] is ItemType.FACT:
        return None
    before = sentence.partition(cued[1])[0].rstrip()
    is_main = len(before.split()) <= 1 or before.endswith(",")  # `the plan we agreed on` decides nothing
    return cued[0] if is_main or cued[0] is not ItemType.DECISION else None


# ---------------------------------------- phrases that suggest an item without a label
# Four families, each measured on outside text by `benchmarks/cues.py`. A phrase counts only if it opens a main clause
# that is stated, not asked, denied, reported or supposed.


_FLAGS = re.IGNORECASE | re.VERBOSE
_HOUR = r"\d{1,2}(?:[:.]\d\d)?(?:[ ]?[ap]\.?m\b\.?)?"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun"
_NO_NAME = r"(?:s?he|it|they|wh(?:at|o)\w*|that|this|if|when\w*|while|because|since|although|\w+one|\w+body)\b"
_NAME = rf"(?:the[ ]user|(?!{_NO_NAME})(?-i:[A-Z])[\w'-]{{1,20}}(?:[ ](?-i:[A-Z][a-z])[\w'-]{{1,20}})?)"
# Verbs of rules: `never confident` and `always visible` lay nothing down.
_VERBS = "|".join(
    """accept access add allow alert answer approve archive ask assume attach avoid back backup base block book branch
    bring build bump buy cache call cancel catch change charge check checkpoint choose clean clear close comment commit
    compare confirm connect contact copy create debug define delegate delete deploy describe design disable discuss do
    document double-check download draft drop edit email enable encrypt end ensure escape estimate execute explain
    export expose fail fetch fill filter fix follow force forget format forward generate get give go guess handle
    hard-code hardcode hide ignore implement import include inform install invent keep label launch leave let limit
    link lint list load lock log look make mark measure mention merge message mock modify monitor move name notify
    open order overwrite pass paste pay perform pin plan post prefer prepare present print profile promise proxy
    publish pull push put quote read rebase record refer release rely remove rename repeat replace reply report
    request require respond restart restore retry return reuse reveal reverse review rotate round run sandbox save
    say schedule search send set share ship show sign skip spawn speak specify stage start state stay stop store
    submit suggest switch sync tag take talk tell test touch track treat trust try turn update upload use validate
    verify version wait wash wear work wrap write""".split()
)
_CUES = {
    ItemType.DECISION: re.compile(
        r"""\b(?:we|i)(?:['’]ve|[ ]have|[ ]had)?(?:[ ](?:just|all|finally|now|also|both|then))?
            [ ](?:decided|agreed|chose)[ ](?:to|on|that|not|against)\b(?=.*\w)(?![ ](?:whether|how|what|if)\b)
          | (?:^|\b(?:we|i)(?:['’]re|['’]m|[ ]are|[ ]am)[ ](?:now[ ])?)going[ ]with\b(?=.*\w)""", _FLAGS,
    ),
    ItemType.RULE: re.compile(
        rf"""\bfrom[ ]now[ ]on\b
          | ^(?:please[ ])?(?:always|never)[ ](?:{_VERBS})\b""", _FLAGS,
    ),
    ItemType.FACT: re.compile(
        rf"""^{_NAME}[ ](?:(?:also|really)[ ])?
             (?:prefers
               |works[ ](?:from[ ])?(?:{_HOUR}|{_DAY})[ ]?(?:[-–]|to|until)[ ]?(?:{_HOUR}|{_DAY}))(?!\w)""", _FLAGS,
    ),
    ItemType.TODO: re.compile(
        r"""^(?:(?:please|must|need[ ]to|we[ ]must|i[ ]must)[ ])?
            (?:remember|don['’]t[ ]forget|do[ ]not[ ]forget)[ ]to\b""", _FLAGS,
    ),
}  # fmt: skip

_NOT_STATED = re.compile(
    r"\b(?:if|whether|unless|until|when\w*|because|since|although|though|which|where|why|how|reasons?|maybe|perhaps|"
    r"would|could|should|might|probably|supposed?|imagine|guess|think|thought|wish|until|once|before|after|not|never|"
    r"no|nobody|without|said|says|told|asked|wrote|writes|claims?|according|mentioned|page|docs?|documentation|"
    r"article|post)\b|n['’]t\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:i guess|not sure|no idea|who knows|or not|just kidding|lol)\b", re.IGNORECASE)
_DANGLING = re.compile(
    r"\s*(?:to\s)?(?:it|this|that|them|both|so|because|already|earlier|there|something)\b", re.IGNORECASE
)
_VOTE = re.compile(r"[+-][01]\b")
_WORD = re.compile(r"[^\W_][\w'’./@#-]{0,60}")
_FEWEST_WORDS, _MOST_WORDS = 3, 48
_LONGEST = 400
_FARTHEST = 40  # characters before a phrase that opens a main clause


def cue_of(sentence: str) -> tuple[ItemType, str] | None:
    """Return the type that a cleaned sentence suggests, and its phrase, or None if it has none or does not state it."""
    if sentence.endswith(("?", "…", "...", ":", ",", "-")) or sentence[:1] in "\"“'":
        return None
    if sentence.count("(") != sentence.count(")"):
        return None  # a fragment of a sentence
    for kind, pattern in _CUES.items():
        if (
            (found := pattern.search(sentence))
            and found.start() <= _FARTHEST
            and not _DANGLING.match(sentence, found.end())
            and _FEWEST_WORDS <= len(_WORD.findall(sentence)) <= _MOST_WORDS
            and not (_NOT_STATED.search(sentence[: found.start()]) or _HEDGED.search(sentence) or _VOTE.match(sentence))
        ):
            return kind, found[0].strip()
    return None


def _suggested(entry: Entry, lines: Sequence[Line], taken: set[int]) -> Iterator[Candidate]:
    """Yield the suggestions of an entry in the log's own voice, without the lines in `taken`."""
    index = 0
    while index < len(lines):
        spoken, end = lines[index].spoken, index
        if spoken is not None and lines[index].number not in taken and not (spoken.is_speech or spoken.heading):
            end = index if spoken.quoted else end_of(lines, index)
            if not spoken.said.startswith(("|", "~~", "`", "http", '"')):
                rest = (line.spoken for line in lines[index + 1 : end + 1])
                text = "\n".join([spoken.said, *(one.line for one in rest if one)])
                yield from _suggested_by(text, entry, lines[index : end + 1])
        index = end + 1


def _suggested_by(text: str, entry: Entry, lines: Sequence[Line]) -> Iterator[Candidate]:
    """Yield the suggestions of a paragraph's sentences."""
    for start, end in sentences(text):
        if end - start > _LONGEST:
            continue
        sentence, quote = without_filler(clean(text[start:end])), text[start:end]
        if cued := cue_of(sentence):
            first = text.count("\n", 0, start)
            last = first + quote.count("\n")
            # If a comment is inside the sentence, quote its whole lines instead.
            own = "\n".join(line.raw for line in lines[first : last + 1])
            place = Place(
                entry, lines[0].number + first, lines[0].number + last, quote if quote in own else own.strip()
            )
            yield Candidate(cued[0], sentence, (place,), Confidence.MEDIUM, f"cue: {cued[1]}", NAME)
