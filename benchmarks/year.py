"""Ask fifteen questions on each morning of a made-up year: of the context, search, a summary, and the raw logs.

usage: python -m benchmarks.year [--days N] [--seed N] [--json]

`benchmarks.year_logs` makes the logs and the model that reads them. Five questions are about what changed last in the
projects at work, up to three about what is due within a week, two about what was done last, and the others about
anything that still holds. *summary*: the true sentences, newest first, in as many tokens as a context may have; no
model can write a better one. *raw logs*: the end of the logs, in as many tokens. A text is *right* if it has the value
that holds; *stale* if it has only one that held, or tells something done as open; *false* if it has only one that
others claimed; else it has *nothing*. Of search the first three hits are read, by words alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from benchmarks.searching import search
from benchmarks.year_logs import FIRST, CarefulReader, Year
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_briefer import ModelBriefer
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.queries.startup.context import ContextRequest, assemble
from pipelines.queries.startup.page import as_text
from pipelines.queries.startup.read import tokens
from pipelines.search.build import rebuild_index
from pipelines.settings import load_settings
from pipelines.store.git import Git
from pipelines.store.layout import REVIEW
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from benchmarks.year_logs import Matter

SOURCES: Final = ("context", "search", "summary", "raw logs")
ANSWERS: Final = ("right", "stale", "false", "nothing")
QUESTIONS: Final = 15
_CAP = 4000
_CHANGED, _DUE, _DONE, _WEEK, _HITS = 5, 3, 2, 7, 3


@dataclass
class Lived:
    """What a year came to.

    Args:
        answers: of each source, how often each answer was given to each kind of question.
        failed: source, day, question and answer, of each that was not right.
        harm: by name, how many sentences the memory holds wrongly at the end, or lost.
        most: tokens of the largest context.
    """

    answers: dict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: {one: Counter() for one in SOURCES})
    failed: list[tuple[str, str, str, str]] = field(default_factory=list)
    harm: dict[str, int] = field(default_factory=dict)
    most: int = 0


def questions(matters: Sequence[Matter], day: date, chance: random.Random) -> list[tuple[str, Matter]]:
    """Return the kind and the matter of each question of a morning."""
    values = [one for one in matters if not one.due]
    recent = sorted(values, key=lambda one: one.values[-1][0], reverse=True)[:_CHANGED]
    soon = [one for one in matters if one.due and not one.over and day <= one.due <= day + timedelta(days=_WEEK)]
    done = sorted((one for one in matters if one.over), key=lambda one: f"{one.over}", reverse=True)[:_DONE]
    asked = [("changed", one) for one in recent]
    asked += [("due", one) for one in sorted(soon, key=lambda one: f"{one.due}")[:_DUE]]
    asked += [("done", one) for one in done]
    rest = [one for one in values if one not in recent]
    return asked + [("older", one) for one in chance.sample(rest, min(len(rest), QUESTIONS - len(asked)))]


def answer(lines: Iterable[str], matter: Matter) -> str:
    """Return how lines, the one to be believed most first, answer what is asked about a matter."""
    held = [one for one in lines if _names(one, matter)]
    if matter.over:
        is_told_over = not held or "is through" in held[0] or "done" in held[0].casefold()
        return "right" if is_told_over else "stale"
    if any(matter.value in one for one in held):
        return "right"
    if any(value in one for one in held for _, value in matter.values):
        return "stale"
    return "false" if any(value in one for one in held for value, _ in matter.false) else "nothing"


def _names(line: str, matter: Matter) -> bool:
    return any(value in line for value in (*(one for _, one in matter.values), *(one for one, _ in matter.false)))


def live(root: Path, days: int, seed: int) -> Lived:
    """Live through days of a year in a new memory, and return what each source answered."""
    lay_down(root, "UTC")
    Git(root).init()
    year, settings, lived = Year(random.Random(seed)), load_settings(root), Lived()
    model = CarefulReader(year)
    chain = Chain([model], root)
    reader, logs, chance = ModelExtractor(chain), "", random.Random(seed)
    for number in range(days):
        day = FIRST + timedelta(days=number)
        if not (log := year.day(number)):
            continue
        (root / "Logs" / f"{day}.md").write_text(log, encoding="utf-8")
        logs += log
        when = datetime.combine(day + timedelta(days=1), time(2), UTC)
        night = Night(root, settings, reader, when, verifier=ModelVerifier(chain), writer=ModelBriefer(chain))
        report = curate_night(night, Watch())
        if report.failure:
            raise SystemExit(f"{day}: {report.failure}")
        told = as_text(assemble(ContextRequest.at(root, when + timedelta(hours=6))))
        lived.most = max(lived.most, tokens(told))
        rebuild_index(root)
        texts = {"context": told.splitlines(), "summary": summary(year.matters), "raw logs": ending(logs)}
        for kind, matter in questions(year.matters, day, chance):
            hits = search(root, matter.question, _HITS)
            texts["search"] = [
                one.text for one in hits if one.status in {"", "live", "open", "quiet"} and not one.overruled
            ]
            for source in SOURCES:
                found = answer(texts[source], matter)
                lived.answers[source][kind, found] += 1
                if found != "right":
                    lived.failed.append((source, f"{day}", matter.question, found))
    lived.harm = harm(root, year) | {"ends that the reader was not shown": len(model.missed)}
    return lived


def found_for(root: Path, question: str) -> list[str]:
    """Return the first hits of a search, with what became of each, without those that are overruled."""
    hits = search(root, question, _HITS)
    return [f"{one.text} [{one.status}]" for one in hits if not one.overruled]


def summary(matters: Sequence[Matter]) -> list[str]:
    """Return what holds, the newest first, in as many tokens as a context has."""
    held = [one for one in matters if not one.over]
    lines: list[str] = []
    for one in sorted(held, key=lambda one: one.values[-1][0], reverse=True):
        lines.append(one.text + (f" (due {one.due})" if one.due else ""))
        if tokens("\n".join(lines)) > _CAP:
            return lines[:-1]
    return lines


def ending(logs: str) -> list[str]:
    """Return the last lines of the logs, the last one first, in as many tokens as a context has."""
    lines = logs[-_CAP * 6 :].splitlines()[1:]
    while tokens("\n".join(lines)) > _CAP:
        del lines[: len(lines) // 20 + 1]
    return lines[::-1]


def harm(root: Path, year: Year) -> dict[str, int]:
    """Return what the memory holds wrongly, or lost, at the end."""
    items = [placed.item for path, one in read_documents(root).items() if path != REVIEW for placed in one.items]
    active = [fold(item.text) for item in items if item.active]
    held = set(active)
    true = {fold(one.text) for one in year.matters if not one.over}
    false = {fold(one.sentence.format(value)) for one in year.matters for value, _ in one.false}
    past = {fold(one.sentence.format(value)) for one in year.matters for _, value in one.values} - true
    return {
        "true sentences": len(true),
        "of them lost": len(true - held),
        "false ones believed": len(false & held),
        "past ones believed": len(past & held),
        "said twice": len(active) - len(held),
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON, with every question that was not answered")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, CURATE_CONFIG=f"{folder}/config.toml"):
        (Path(folder) / "config.toml").write_text('[embedder]\nprovider = "none"\n')
        lived = live(Path(folder) / "memory", given.days, given.seed)
    if given.json:
        json.dump({"answers": rows(lived), "harm": lived.harm, "failed": lived.failed}, sys.stdout, indent=1)
        return
    print(f"| of {sum(lived.answers['context'].values()):,} | {' | '.join(ANSWERS)} | changed | due | done | older |")
    print("|---" * 9 + "|")
    for source, row in rows(lived).items():
        print(
            f"| {source} | {' | '.join(f'{one:,}' if isinstance(one, int) else f'{one:.2f}' for one in row.values())} |"
        )
    print("\n" + ", ".join(f"{name} {number:,}" for name, number in lived.harm.items()))
    print(f"largest context {lived.most:,} tokens")


def rows(lived: Lived) -> dict[str, dict[str, Any]]:
    """Return for each source how often it gave each answer, and the share right of each kind of question."""
    told = {}
    for source, found in lived.answers.items():
        row: dict[str, Any] = {one: sum(n for (_, how), n in found.items() if how == one) for one in ANSWERS}
        for kind in ("changed", "due", "done", "older"):
            asked = sum(n for (one, _), n in found.items() if one == kind)
            row[kind] = found[kind, "right"] / max(1, asked)
        told[source] = row
    return told


if __name__ == "__main__":
    main()
