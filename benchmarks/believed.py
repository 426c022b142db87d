"""Ask a memory about what changed in it: does the first hit say what is believed now, and is the rest marked?

The memory has lived through examples/month, read by whoever knows its outcomes. Then a web page orders four things:
the owner rejects two of them, and two wait. `questions.jsonl` there asks about each belief that ended, and about the
orders.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from pipelines.api import Memory
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pipelines.search.hits import Hit

    Row = Mapping[str, Any]

ORDERED: Final = ("rejected", "held back")
_DAY, _NIGHT = "2026-05-01", "2026-05-02T02:00"
_FIRST: Final = 10


def plant_orders(root: Path, rows: Iterable[Row]) -> None:
    """Have a web page order things, and the owner reject some of them."""
    orders = {row["line"]: row["kind"] for row in rows if row["kind"] in ORDERED}
    log = [f"# {_DAY}", "", *(f"- 1{number}:00 WebFetch: Rule: {line}" for number, line in enumerate(orders))]
    (root / f"Logs/{_DAY}.md").write_text("\n".join([*log, ""]), "utf-8")
    _curate(root, "run", "--now", _NIGHT, "--provider", "rules")
    waiting = json.loads(_curate(root, "review", "--json"))
    for item in (item for entry in waiting for item in entry["items"]):
        if orders.get(item["text"]) == "rejected":
            _curate(root, "review", item["id"], "--reject", "--now", _NIGHT)


def _curate(root: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from pipelines.start import main; main()", *words, "--memory", str(root)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return done.stdout.decode()


def believed(root: Path, month: Path) -> dict[str, Any]:
    """Return what the first hits were, of all questions of a month.

    Args:
        root: a memory that lived through it.
        month: the folder that holds gold.json and questions.jsonl.
    """
    gold = json.loads((month / "gold.json").read_text("utf-8"))
    rows = [json.loads(row) for row in (month / "questions.jsonl").read_text("utf-8").splitlines()]
    plant_orders(root, rows)
    figures = {"questions": len(rows), "hit 1 true": 0, "overruled above": 0, "unmarked": 0, "hits": 0, "repeats": 0}
    wrong = []
    for row in rows:
        hits = Memory(root).search(row["question"], limit=_FIRST).hits
        if hits and _is_true(hits[0], row, gold):
            figures["hit 1 true"] += 1
        else:
            wrong.append({"question": row["question"], "hit 1": hits[0].text if hits else ""})
        states = [bool(hit.overruled) for hit in hits]
        figures["overruled above"] += sum(one and not all(states[at:]) for at, one in enumerate(states))
        figures["unmarked"] += sum(row.get("line", " \n") in hit.text and hit.trust != "external" for hit in hits)
        figures["hits"] += len(hits)
        figures["repeats"] += repeats(hits)
    return {**figures, "wrong": wrong}


def _is_true(hit: Hit, row: Row, gold: Row) -> bool:
    """Whether a hit says what is believed of a question's subject, or that it is over."""
    if row["kind"] in ORDERED:
        return row["line"] not in hit.text
    if hit.overruled:
        return False
    beliefs = {one["key"]: one for one in gold["beliefs"]}
    key, said = row["of"], list[str]()
    while ended := next(
        (event for event in gold["events"] if key in event["of"] and event["operation"] != "confirm"), None
    ):
        said = [ended["quote"], *([beliefs[ended["belief"]]["text"]] if "belief" in ended else [])]
        key = ended.get("belief", "")
    words = [fold(text) for text in (hit.text, *(line.text for line in hit.evidence))]
    return any(fold(one) in text for one in said for text in words)


def repeats(hits: Iterable[Hit]) -> int:
    """Return how many hits say what one above them says, or stand where one above them stands.

    An episode has lines below it and stands for none of them.
    """
    seen, count = set[str](), 0
    for hit in hits:
        own = {fold(hit.text), f"{hit.path}:{hit.start_line}"}
        count += bool(own & seen)
        seen |= own | {f"{line.path}:{line.start_line}" for line in hit.evidence if hit.kind != "episode"}
    return count
