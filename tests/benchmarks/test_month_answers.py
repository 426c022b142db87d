"""The program that answers from the gold: where its answers are heeded, every outcome of the month comes true.

A memory of twenty lines stands in for the nights: it shows all that it holds, and does what it is told.
"""

import importlib.util
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from benchmarks.month import WAYS, runs_of
from benchmarks.month_gold import Month, read_month
from pipelines.store.log import parse_entries

HOME = Path(__file__).resolve().parents[2] / "examples/month"
_spec = importlib.util.spec_from_file_location("month_answer", HOME / "answer.py")
assert _spec
assert _spec.loader
answer = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(answer)
ENDS = {"update": "superseded", "retract": "never-held"}


def day_in(path: str) -> str:
    return path.rpartition("/")[2][:10]


class Heeding:
    """A memory that does what a program says, and asks it whether each line says so."""

    def __init__(self, month: Month) -> None:
        self.month = month
        self.items: dict[str, dict[str, Any]] = {}
        self.titles: dict[str, str] = {"USER": "User", "MEMORY": "Memory", "general": "General"}
        self.claims: list[dict[str, Any]] = []
        self.confirmed: list[str] = []
        self._numbers = count(1)

    def night(self, paths: list[str]) -> None:
        """Read logs in order of their days, each against what the one before left."""
        for path in sorted(paths, key=day_in):
            self._read(path)

    def _read(self, path: str) -> None:
        reply, lines = self._extract(path), self.month.logs[path].split("\n")

        def quotes(one: dict[str, Any]) -> list[str]:
            return ["\n".join(lines[first - 1 : last]) for first, last in one["lines"]]

        own = {f"n{at}": f"k{next(self._numbers)}" for at, _ in enumerate(reply["items"])}
        for ident, one in zip(own.values(), reply["items"], strict=True):
            self._add(ident, one, day_in(path), quotes(one))
        for one in reply["items"]:
            self._end([own.get(ident, ident) for ident in one["replaces"]], "superseded", "replace", quotes(one))
        for one in reply["operations"]:
            name, ids = one["operation"], [own.get(ident, ident) for ident in one["ids"]]
            assert ids
            assert name in ENDS or name == "close"
            self._end(ids, ENDS.get(name) or one["how"], name, quotes(one))
            if name == "update":
                new = self.items[ids[0]] | {"text": one["text"], "status": "live", "since": day_in(path)}
                self.items[f"k{next(self._numbers)}"] = new
                self.claims.append({"kind": "update", "text": one["text"], "quotes": quotes(one)})
        self.confirmed += [self.items[ident]["text"] for ident in reply["seen"]]

    def _extract(self, path: str) -> Any:
        entries = [
            {"line": one.start_line, "end_line": one.end_line, "text": one.text}
            for one in parse_entries(path, day_in(path), self.month.logs[path])
        ]
        shown = [{"id": ident, **item} for ident, item in self.items.items() if item["status"] in {"live", "open"}]
        documents = [{"id": ident, "title": title} for ident, title in self.titles.items()]
        return answer.extract(
            {"day": day_in(path), "entries": entries, "documents": documents, "open": shown, "near": []}
        )

    def _add(self, ident: str, one: dict[str, Any], day: str, quotes: list[str]) -> None:
        title = one["new_page"].removeprefix("project: ") or self.titles[one["document"]]
        self.titles.setdefault("USER" if title == "User" else title.lower(), title)
        status = one["closed"] or ("open" if one["type"] == "Todo" else "live")
        assert one["text"] not in [item["text"] for item in self.items.values()]
        since = one["from"] or day
        self.items[ident] = {
            "type": one["type"], "text": one["text"], "status": status, "since": since, "document": title,
        }  # fmt: skip
        self.claims.append({"kind": "item", "text": one["text"], "quotes": quotes})

    def _end(self, ids: list[str], status: str, kind: str, quotes: list[str]) -> None:
        for ident in ids:
            item = self.items[ident]
            assert item["status"] in {"live", "open"}
            item["status"] = status
            text = f"{item['type']}: {item['text']} is over ({status})"
            self.claims.append({"kind": kind, "text": text, "quotes": quotes})


@pytest.mark.parametrize("way", WAYS)
def test_heeded_it_makes_every_outcome_come_true(way: str) -> None:
    month = read_month(HOME)
    memory = Heeding(month)
    for _, paths in runs_of(month, way):
        memory.night(paths)
    held = {(one["text"], one["type"], one["status"], one["since"], one["document"]) for one in memory.items.values()}
    gold = {(one.text, one.type, one.status, one.since, one.document) for one in month.beliefs.values()}
    assert held == gold
    assert sorted(memory.confirmed) == sorted(month.beliefs[key].text for key, _ in month.targets("confirm"))
    verdicts = answer.verify({"claims": [{"claim": at, **one} for at, one in enumerate(memory.claims)]})["verdicts"]
    assert {one["verdict"] for one in verdicts} == {"supported"}
    assert [one["claim"] for one in verdicts] == list(range(len(memory.claims)))


@pytest.mark.parametrize(
    ("kind", "text", "quote"),
    [
        ("item", "Anders agreed to a four-week trial.", "Called Anders, he agreed."),
        ("item", "Fares are stored in öre, as integers.", "git log --oneline | wc -l -> 1,902"),
        ("close", "Todo: Renew the domain of Lanternbook. is done", "Renewed the domain of Ferrywake for two years."),
        (
            "close",
            "Todo: Ask Birgitta for the list of harbour fees. is done",
            "Todo: ask Birgitta for the list of harbour",
        ),
        ("replace", "Fact: Backups of Hopyard run every night at 03:15. is over", "half past two collided"),
    ],
)
def test_a_lie_is_not_supported(kind: str, text: str, quote: str) -> None:
    claim = {"claim": 0, "kind": kind, "text": text, "quotes": [quote]}
    assert answer.verify({"claims": [claim]})["verdicts"][0]["verdict"] == "unsupported"
