"""Measure how often the first hit answers a question to one's own memory, by words alone and with meaning.

usage: python -m benchmarks.own_memory [--half dev|unseen] [--memories DIR --questions FILE] [--json]

`own_memory.jsonl` has questions to examples/month and examples/sample_week, as people and agents ask them, written from
the raw logs before any search was run. A hit is right if a pattern of `right` is found in its text, its status or what
overruled it, and no string of `wrong` in its text. The memories are made in a temporary folder; --memories has others,
by name, and --questions more questions in the same form. The halves are `dev`, on which the ranking was made, and
`unseen`.

Printed is a table: the share of questions whose first hit is right, that have a right one among the first three and
ten, and how many gain and lose at the first hit against words alone; by words alone, and with an embedder by both.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.belief_search import lived_month
from benchmarks.search_quality import BOTH, WORDS_ALONE, markdown
from benchmarks.searching import search
from pipelines.errors import CurateError
from pipelines.search.build import rebuild_index
from pipelines.search.embed import chosen_embedder, embed_index
from pipelines.search.query import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.search.embedders.embedder import Embedder
    from pipelines.search.hits import Hit

    Question = Mapping[str, Any]

HERE = Path(__file__).resolve().parent
WEEK = HERE.parent / "examples/sample_week"
FIRST = 10


def make_memories(home: Path) -> None:
    """Let one memory live through the month, and another through the sample week."""
    lived_month(home / "month")
    command = [sys.executable, "-c", "from pipelines.start import main; main()"]
    for words in (("init", "--now", "2026-03-09T08:00"), ("run", "--now", "2026-03-16T02:00")):
        place = [str(home / "week")] if words[0] == "init" else ["--memory", str(home / "week")]
        subprocess.run([*command, *words, *place], check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(WEEK / "Logs", home / "week/Logs", dirs_exist_ok=True)


def is_right(question: Question, hit: Hit) -> bool:
    """Return whether a hit answers a question."""
    status = "" if hit.status in {"live", "open"} else f"[{hit.status}]"
    told = f"{hit.text}\n{status}\n{hit.overruled or ''}"
    is_wrong = any(one.casefold() in hit.text.casefold() for one in question["wrong"])
    return not is_wrong and any(re.search(one, told, re.IGNORECASE) for one in question["right"])


def places(root: Path, asked: Sequence[Question], embedder: Embedder | None) -> dict[str, list[int]]:
    """Return for each way the place of the first right hit of each question, from 1; 0 if none is right."""
    rebuild_index(root)
    if embedder:
        embed_index(root, embedder)
    found: dict[str, list[int]] = {}
    for way in (WORDS_ALONE, BOTH) if embedder else (WORDS_ALONE,):
        for one in asked:
            how = SearchRequest()
            if embedder and way == BOTH:
                how = how._replace(vector=embedder.embed_query(one["query"]), embedder=embedder.name)
            answer = enumerate(search(root, one["query"], FIRST, (), how), 1)
            found.setdefault(way, []).append(next((place for place, hit in answer if is_right(one, hit)), 0))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["dev", "unseen"], default="dev")
    parser.add_argument("--memories", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    lines = (given.questions or HERE / "own_memory.jsonl").read_text("utf-8").splitlines()
    questions: list[Question] = [json.loads(line) for line in lines]
    try:
        embedder, why = chosen_embedder()
        print(why, file=sys.stderr)
        found: dict[str, list[int]] = {}
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            if given.memories:
                shutil.copytree(given.memories, home, symlinks=True, dirs_exist_ok=True)
            else:
                make_memories(home)
            for name in dict.fromkeys(one["memory"] for one in questions):
                asked = [one for one in questions if one["memory"] == name and one["half"] == given.half]
                for way, some in places(home / name, asked, embedder).items():
                    found.setdefault(way, []).extend(some)
    except CurateError as fault:
        raise SystemExit(f"{fault}") from None
    rows = table(found)
    print(json.dumps(rows) if given.json else markdown(rows))


def table(found: Mapping[str, Sequence[int]]) -> list[dict[str, float | str]]:
    """Return a row a way: how often it is right, and who gains and loses against words alone."""
    rows: list[dict[str, float | str]] = []
    for name, some in found.items():
        pairs = list(zip(some, found[WORDS_ALONE], strict=True))
        row: dict[str, float | str] = {"ranking": name}
        row |= {f"hit {most}": sum(0 < one <= most for one in some) / len(some) for most in (1, 3, FIRST)}
        row |= {"gain": sum(one == 1 != other for one, other in pairs)}
        rows.append(row | {"lose": sum(one != 1 == other for one, other in pairs), "of": len(some)})
    return rows


if __name__ == "__main__":
    main()
