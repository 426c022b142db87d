"""The extractor that needs no key: labels in any Markdown dress, and the owner's explicit acts in sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, Extraction, ExtractionRequest
from pipelines.extract.rules.label_reader import LabelReader
from pipelines.extract.rules.owner_acts import NAME, read_acts
from pipelines.store.item import Confidence
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Iterable


_MOST_UNSURE = 5  # a day


class RulesExtractor:
    """Reads typed lines, labels of meetings and code, and what the owner did. It calls nothing and never fails."""

    name: str = NAME

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the day's candidates in log order: surely labelled ones with high confidence, others with medium."""
        reader = LabelReader()
        read = [(entry, reader.read(entry)) for entry in request.entries]
        acts = [one for entry, lines in read for one in read_acts(entry, lines, request.seals)]
        ordered = once_each(reader.found, [one for one in acts if one.start_line not in reader.taken])
        unsure = [one for one in ordered if one.confidence is not Confidence.HIGH][_MOST_UNSURE:]
        return Extraction(tuple(one for one in ordered if one not in unsure))


def once_each(*groups: Iterable[Candidate]) -> list[Candidate]:
    """Return the statements of a day in log order, each repeated one only where it is surest, in the earliest group."""
    kept: dict[tuple[str, str, str], Candidate] = {}
    for found in groups:
        for one in sorted(found, key=lambda one: (one.confidence is not Confidence.HIGH, one.start_line)):
            kept.setdefault((one.type, one.page_section, words_key(one.text)), one)
    return sorted(kept.values(), key=lambda one: one.start_line)
