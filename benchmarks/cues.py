"""Print what the rules' cue phrases find in journals, and how often a person judged it right, by type.

usage: python -m benchmarks.cues [--judged FILE] DIR ...

Every Markdown file below DIR is read as one day's log. Without FILE each find is printed as a line to judge: the
type, a tab, the sentence. FILE holds such lines with `right` or `wrong` and a tab before them; the table then counts
them, and what nobody judged is printed below it. A type whose precision is below .9 has no place in the rules.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.extract.extraction import ExtractionRequest
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.store.log import parse_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAY = "2027-01-01"


def main() -> None:
    """Print the finds, or the table."""
    parser = argparse.ArgumentParser(description="Count what the cue phrases find in journals, by type.")
    parser.add_argument("--judged", type=Path, help="finds that a person judged: right|wrong, type, sentence")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    given = parser.parse_args()
    found = list(dict.fromkeys(finds(given.folders)))
    if given.judged is None:
        print("\n".join(f"{family}\t{text}" for family, text in found))
        return
    judged = dict(_judged(given.judged))
    right = Counter(family for family, text in found if judged.get(text) == "right")
    known = Counter(family for family, text in found if text in judged)
    print("| type | judged | right | precision |\n|---|---|---|---|")
    for family, count in sorted(known.items()):
        print(f"| {family} | {count} | {right[family]} | {right[family] / count:.3f} |")
    for family, text in found:
        if text not in judged:
            print(f"not judged\t{family}\t{text}")


def finds(folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield the family and the sentence of each find, file by file."""
    for file in sorted(path for folder in folders for path in folder.rglob("*.md")):
        entries = parse_entries(f"Logs/{DAY}.md", DAY, file.read_text("utf-8", errors="replace"))
        for candidate in RulesExtractor().extract(ExtractionRequest(DAY, entries)).candidates:
            if candidate.reason.startswith("cue:"):
                yield candidate.type, candidate.text


def _judged(file: Path) -> Iterator[tuple[str, str]]:
    for line in file.read_text("utf-8").splitlines():
        verdict, _, rest = line.partition("\t")
        yield rest.rpartition("\t")[2], verdict


if __name__ == "__main__":
    main()
