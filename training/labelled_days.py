"""What the head learns from: days of remarks, each with the type of item that it is, or none.

The corpus beside this file is Markdown as people log it, with `{Decision}`, `{Rule}`, `{Todo}` or `{Risk}` behind each
sentence that is one. A folder of logs with a `gold.jsonl` names its items by day, type and text.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.memory.items import ItemType
from pipelines.memory.logs import parse_entries
from pipelines.models.rules.extractor import is_meeting
from pipelines.models.rules.features import Scene
from pipelines.models.rules.labelled import LabelReader
from pipelines.models.rules.marks import overlap, words
from pipelines.models.rules.noise import is_procedural
from pipelines.models.rules.remarks import remarks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.models.rules.remarks import Remark

_MARK: Final = re.compile(r"\s*\{(Decision|Rule|Todo|Risk)\}")
_DAY: Final = "2026-01-01"
_SAME: Final = 0.85
_TAIL: Final = 4
FORMAL: Final = "formal"
"""Stands for the type of what the head neither has to find nor to leave: the approval of earlier minutes."""


@dataclass(frozen=True, slots=True)
class LabelledDay:
    """A day's remarks, and what each is: an `ItemType`, `FORMAL`, or empty.

    Args:
        name: the day, or the file of the corpus.
        scene: its remarks.
        labels: one a remark.
        ours: whether it is of the corpus, in which all four types are marked.
        items: how many items of each type the day holds, those that no remark says included.
    """

    name: str
    scene: Scene
    labels: tuple[str, ...]
    ours: bool
    items: Counter[str]


def read_corpus(folder: Path) -> list[LabelledDay]:
    """Return the days of the corpus.

    Raises:
        SystemExit: a mark stands behind no remark; all of them are named.
    """
    faults: list[str] = []
    days = [_marked(path, faults) for path in sorted(folder.glob("*.md"))]
    if faults:
        raise SystemExit("\n".join(faults))
    return days


def _marked(path: Path, faults: list[str]) -> LabelledDay:
    plain, marks = [], []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        said, rest = "", line
        while found := _MARK.search(rest):
            said += rest[: found.start()]
            marks.append((number, words(said), found[1]))
            rest = rest[found.end() :]
        plain.append(said + rest)
    said_ = _remarks("\n".join(plain))
    labels = [""] * len(said_)
    for number, tail, kind in marks:
        behind = [at for at, one in enumerate(said_) if _ends(one, number, tail) and not one.taken]
        if len(behind) != 1:
            faults.append(f"{path.name}:{number}: {{{kind}}} stands behind no sentence of its own")
            continue
        labels[behind[0]] = kind
    return LabelledDay(path.name, Scene(said_), tuple(labels), True, Counter(filter(None, labels)))  # noqa: FBT003


def _ends(one: Remark, number: int, tail: Sequence[str]) -> bool:
    own = words(one.text)
    return one.start_line <= number <= one.end_line and list(tail[-_TAIL:][-len(own) :]) == own[-_TAIL:]


def read_days(folder: Path) -> list[LabelledDay]:
    """Return the days of a folder with `Logs/` and `gold.jsonl`, in order."""
    gold: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (folder / "gold.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        gold[one["date"]].append(one)
    return [_matched(path, gold[path.stem]) for path in sorted((folder / "Logs").glob("*.md"))]


def _matched(path: Path, gold: Sequence[dict[str, Any]]) -> LabelledDay:
    said = _remarks(path.read_text("utf-8"))
    bags = [Counter(words(one.text)) for one in said]
    pairs = [
        (-likeness, which, at)
        for which, one in enumerate(gold)
        for at, bag in enumerate(bags)
        if not said[at].taken and (likeness := overlap(Counter(words(one["text"])), bag)) >= _SAME
    ]
    labels, used = [""] * len(said), set()
    for _, which, at in sorted(pairs):
        if which in used or labels[at]:
            continue
        used.add(which)
        formal = gold[which]["procedural"] or is_procedural(said[at].text)
        labels[at] = FORMAL if formal else gold[which]["type"]
    items = Counter(str(one["type"]) for one in gold if not one["procedural"])
    return LabelledDay(path.stem, Scene(said), tuple(labels), False, items)  # noqa: FBT003


def _remarks(text: str) -> list[Remark]:
    reader = LabelReader()
    read = [(entry, reader.read(entry)) for entry in parse_entries(f"Logs/{_DAY}.md", _DAY, text)]
    meeting = is_meeting([lines for _, lines in read])
    return [one for entry, lines in read for one in remarks(entry, lines, reader.taken, meeting=meeting)]


TYPES: Final = (ItemType.DECISION, ItemType.RULE, ItemType.TODO, ItemType.RISK)
