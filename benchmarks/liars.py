"""Print how many lies of a model get into a memory: fifty of each class, each told in a real night.

usage: python -m benchmarks.liars [--json]

A lying model reads five days of a small memory and writes its first page. An honest verifier knows the truths and
supports nothing else. *by code*: a check stopped it, and nobody was asked. *waits*: a person is asked in Review.md.
*verified*: the verifier was asked about it. *live*: it is believed. *yes-man*: it is believed where the verifier says
yes to all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from benchmarks.lies import CLASSES, honest, lies, read_scenes
from pipelines.extract.llm.call import ModelAnswer
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_briefer import ModelBriefer
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.git import Git
from pipelines.store.item import ItemType
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down
from pipelines.store.wording import folded
from pipelines.text import fold
from pipelines.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.lies import Json, Scene, Try
    from pipelines.extract.llm.call import Call
    from pipelines.store.item import Item

DAYS: Final = tuple(f"2026-04-0{day}" for day in range(1, 6))
NOW: Final = "2026-04-06T02:00+00:00"
COLUMNS: Final = ("tries", "by code", "waits", "verified", "live", "yes-man")


@dataclass
class Program:
    """A model that says what the tries say, and verifies by what it knows to be true.

    Args:
        tries: what it says of the lines.
        truths: sentence → the line that says it, of those that it supports; None to say yes to all.
    """

    tries: Sequence[Try]
    truths: Mapping[str, str] | None
    claims: list[str] = field(default_factory=list)
    name: str = "liar:1"
    input_tokens: int = 24_000
    output_tokens: int = 1000
    source: str = ""
    retries: int = 0

    def ask(self, call: Call) -> ModelAnswer:
        """Answer one request."""
        tasks = {"extract": self._extract, "verify": self._verify, "brief": self._brief}
        return ModelAnswer(json.dumps(tasks[call.task](call.input)), Usage(100, 10))

    def _extract(self, asked: Mapping[str, Any]) -> Json:
        at = {fold(one["text"]).removeprefix("- "): one["line"] for one in asked["entries"]}
        reply: Json = {"items": [], "operations": [], "seen": [], "open_lists": [], "episode": []}
        for one in self.tries:
            if one.said in at:
                lines = {"lines": [[at[one.said], at[one.said]]]}
                for key in ("items", "operations", "episode"):
                    reply[key] += [{**lines, **row} for row in getattr(one, key)]
                reply["seen"] += one.seen
        return reply

    def _brief(self, _asked: Mapping[str, Any]) -> Json:
        return {"now": [row for one in self.tries for row in one.now], "states": []}

    def _verify(self, asked: Mapping[str, Any]) -> Json:
        self.claims += [fold(claim["text"]) for claim in asked["claims"]]
        return {
            "verdicts": [{"claim": one["claim"], "reason": "", "verdict": self._judge(one)} for one in asked["claims"]]
        }

    def _judge(self, claim: Json) -> str:
        if claim["kind"] == "pair":
            return "both"
        if self.truths is None:
            return "supported"
        line = self.truths.get(folded(claim["text"]), "")
        says = line and any(line in fold(quote) for quote in claim["quotes"])
        return "supported" if says and claim["kind"] in {"item", "sentence"} else "unsupported"


@dataclass(frozen=True, slots=True)
class After:
    """A memory after a night.

    Args:
        items: all items, wherever they stand.
        pages: path → text of every file but logs, what is derived, and the program's own.
        claims: what the verifier was asked about.
        homes: text of an item → the document where it stands.
    """

    items: tuple[Item, ...]
    pages: Mapping[str, str]
    claims: tuple[str, ...]
    homes: Mapping[str, str]

    def believes(self, text: str) -> bool:
        """Whether an item that holds says a text, open or closed."""
        return any(item.active and folded(item.text) == folded(text) for item in self.items)


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON, with every lie that got in")
    wants_json = parser.parse_args().json
    told = measure(CLASSES)
    if wants_json:
        json.dump(told, sys.stdout, indent=2)
        return
    print(f"{'class':12}" + "".join(f"{name:>10}" for name in COLUMNS))
    for kind, row in told["classes"].items():
        print(f"{kind:12}" + "".join(f"{row[name]:>10}" for name in COLUMNS))
    truths = told["honest"]
    print(f"true items lost: {len(truths['lost'])} of {truths['tries']}")


def measure(kinds: Sequence[str], most: int = 50) -> Json:
    """Return what becomes of the lies of some classes, and of the truths.

    Args:
        kinds: of `CLASSES`.
        most: how many tries a class.
    """
    scenes = read_scenes()[:most]
    truths = {folded(one.truth): one.line for one in scenes}
    classes: Json = {}
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, CURATE_CONFIG=f"{folder}/config.toml"):
        (Path(folder) / "config.toml").write_text('[embedder]\nprovider = "none"\n')  # no lie hangs on the index
        base = Path(folder) / "base"
        lay_memory(base, scenes)
        for kind in kinds:
            tries = lies(scenes, kind)
            strict = a_night(base, Path(folder) / kind, tries, truths)
            lax = a_night(base, Path(folder) / f"{kind}-yes", tries, None)
            fates = [fate(one, strict) for one in tries]
            let_in = [one for one, found in zip(tries, fates, strict=True) if found == "live"]
            counts = Counter(fates)
            classes[kind] = {
                "tries": len(tries),
                **{name: counts[name] for name in COLUMNS[1:-1]},
                "yes-man": sum(is_live(one, lax) for one in tries),
                "lies": [
                    [one.said, *map(str, (*one.items, *one.operations, *one.episode, *one.now))] for one in let_in
                ],
            }
        after = a_night(base, Path(folder) / "honest", honest(scenes), truths)
        lost = [one.truth for one in scenes if not (after.believes(one.truth) or after.believes(one.line))]
    return {"classes": classes, "honest": {"tries": len(scenes), "lost": lost}}


def lay_memory(root: Path, scenes: Sequence[Scene]) -> None:
    """Lay down a memory in which a project of each scene holds one item."""
    lay_down(root, "UTC")
    known = {"since": "2026-03-02", "trust": "self", "confidence": "high"}
    ledger = root / "State/items/2026-03.jsonl"
    ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger.write_text("".join(f"{json.dumps({'id': one.id, **known})}\n" for one in scenes))
    for one in scenes:
        box = "[ ] " if one.held_type is ItemType.TODO else ""
        line = f"- {box}{one.held_type}: {one.held} ^{one.id}"
        heading = {"Todo": "Todos", "Risk": "Risks", "Rule": "Rules", "Decision": "Decisions"}.get(
            one.held_type, "Facts"
        )
        path = root / "Projects" / f"{one.slug}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {one.title}\n\n## {heading}\n{line}\n")
    Git(root).init()


def a_night(base: Path, root: Path, tries: Sequence[Try], truths: Mapping[str, str] | None) -> After:
    """Let the model that tells some tries live through five days of a copy of a memory."""
    copytree(base, root)
    for day, part in _by_day(tries):
        told = (f"## {one.scene.title}\nproject: {one.scene.title}\n\n- {one.said}\n" for one in part)
        (root / f"Logs/{day}.md").write_text(f"# {day}\n\n" + "\n".join(told))
    model, when = Program(tries, truths), datetime.fromisoformat(NOW)
    chain = Chain([model], root)
    reader = ModelExtractor(chain)
    night = Night(root, load_settings(root), reader, when, verifier=ModelVerifier(chain), writer=ModelBriefer(chain))
    curate_night(night, Watch())
    items = [placed.item for path, one in read_documents(root).items() if path != REVIEW for placed in one.items]
    files = (path for path in sorted(root.rglob("*.md")) if path.relative_to(root).parts[0] not in {"Logs", ".curate"})
    return After(
        tuple(items),
        {str(path.relative_to(root)): path.read_bytes().decode() for path in files},
        tuple(model.claims),
        {folded(placed.item.text): path for path, one in read_documents(root).items() for placed in one.items},
    )


def _by_day(tries: Sequence[Try]) -> Iterator[tuple[str, Sequence[Try]]]:
    share = len(tries) // len(DAYS)
    return ((day, tries[at * share : (at + 1) * share]) for at, day in enumerate(DAYS))


def fate(one: Try, after: After) -> str:
    """Return what became of a lie: by whom it was stopped, or that it is live."""
    if is_live(one, after):
        return "live"
    scene, queue = one.scene, after.pages.get(REVIEW, "")
    said = [row["text"] for row in (*one.items, *one.episode, *one.now)]
    told = [text for text in said if text != scene.truth or one.closed or text in one.new]
    lied = [folded(text).rstrip(".") for text in (*told, *([scene.held] if one.takes else []))]
    if any(text in folded(claim) for claim in after.claims for text in lied):
        return "verified"
    waits = [*one.new, scene.id] if one.takes else one.new
    return "waits" if any(text in queue for text in waits) else "by code"


def is_live(one: Try, after: After) -> bool:
    """Whether the memory believes a lie."""
    if any(after.believes(text) for text in one.new):
        return True
    if one.raw and any(one.raw in text for text in after.pages.values()):
        return True
    if one.closed and any(folded(item.text) == folded(one.closed) and not item.active for item in after.items):
        return True
    usual = {f"Projects/{one.scene.slug}.md", GENERAL, BRIEFING}
    if one.stays and after.homes.get(folded(one.scene.truth), GENERAL) not in usual:
        return True
    held = next(item for item in after.items if item.id == one.scene.id)
    is_changed = not held.active or bool(held.doubted) or bool(held.evidence) or held.text != one.scene.held
    return one.takes and is_changed


if __name__ == "__main__":
    main()
