"""The program that answers from the gold: where its answers are heeded, every outcome of the month comes true.

A memory of twenty lines stands in for the nights: it shows all that it holds, and does what it is told.
"""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.queries.eval_month import WAYS, runs_of
from pipelines.queries.month_gold import read_month
from pipelines.store.log import parse_entries

if TYPE_CHECKING:
    from pipelines.queries.month_gold import Month

HOME = Path(__file__).resolve().parents[2] / "examples/month"
_spec = importlib.util.spec_from_file_location("month_answer", HOME / "answer.py")
assert _spec
assert _spec.loader
answer = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(answer)
ENDS = {"supersede": "superseded", "update": "superseded", "retract": "never-held"}


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
        """Read logs side by side, then review them in order of days: what a day proposes has an id for the next."""
        days = sorted(paths, key=lambda path: path.rpartition("/")[2][:10])
        replies = [(path.rpartition("/")[2][:10], self._extract(path)) for path in days]
        for day, reply in replies:
            for one in reply["operations"]:
                self._heed(one, one["ids"], None, [place["quote"] for place in one["evidence"]])
            new = [self._proposed(one, day) for one in reply["items"]]
            near = [{"id": ident, **item} for ident, item in self.items.items()]
            for number, one in enumerate(new):
                ids = [item["id"] for item in near] + [other["id"] for other in new[:number]]
                one |= {"candidate": number, "neighbours": ids}
            judged = answer.review({"candidates": new, "items": near})["operations"]
            for number, one in enumerate(new):
                mine = [operation for operation in judged if operation["candidate"] == number]
                for operation in mine:
                    self._heed(operation, operation["ids"], one, one["quotes"])
                if not mine or any(operation["operation"] in {"add", "supersede"} for operation in mine):
                    self._add(one)

    def _extract(self, path: str) -> Any:
        day = path.rpartition("/")[2][:10]
        entries = [
            {"line": one.start_line, "end_line": one.end_line, "text": one.text}
            for one in parse_entries(path, day, self.month.logs[path])
        ]
        shown = [{"id": ident, **item} for ident, item in self.items.items() if item["status"] in {"live", "open"}]
        documents = [{"id": ident, "title": title} for ident, title in self.titles.items()]
        return answer.extract({"day": day, "entries": entries, "documents": documents, "open": shown, "near": []})

    def _proposed(self, item: dict[str, Any], day: str) -> dict[str, Any]:
        title = item["new_project"] or self.titles[item["document"]]
        self.titles.setdefault("USER" if title == "User" else title.lower(), title)
        quotes = [place["quote"] for place in item["evidence"]]
        return item | {"id": f"n{next(self._numbers)}", "day": day, "quotes": quotes, "title": title}

    def _add(self, one: dict[str, Any]) -> None:
        status = one["closed"] or ("open" if one["type"] == "Todo" else "live")
        since = one["from"] or one["day"]
        kept = {"type": one["type"], "text": one["text"], "status": status, "since": since, "document": one["title"]}
        assert one["text"] not in [item["text"] for item in self.items.values()]
        self.items[one["id"]] = kept
        self.claims.append({"kind": "item", "text": one["text"], "quotes": one["quotes"]})

    def _heed(
        self, operation: dict[str, Any], ids: list[str], candidate: dict[str, Any] | None, quotes: list[str]
    ) -> None:
        name = operation["operation"]
        assert name in {"add", "confirm", "supersede", "update", "close", "retract"}, operation
        assert ids or name == "add"
        for ident in ids:
            item = self.items[ident]
            assert item["status"] in {"live", "open"}
            if name == "confirm":
                self.confirmed.append(item["text"])
                continue
            item["status"] = ENDS.get(name) or operation["how"]
            text = f"{item['type']}: {item['text']} is over ({item['status']})"
            self.claims.append({"kind": name, "text": text, "quotes": quotes})
        if name == "update":
            old = self.items[ids[0]]
            day = candidate["day"] if candidate else self._day_of(quotes[0])
            new = old | {"text": operation["text"], "status": "live", "since": day}
            self.items[f"n{next(self._numbers)}"] = new
            self.claims.append({"kind": "update", "text": operation["text"], "quotes": quotes})

    def _day_of(self, quote: str) -> str:
        return next(path.rpartition("/")[2][:10] for path, text in self.month.logs.items() if quote in text)


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
        ("supersede", "Fact: Backups of Hopyard run every night at 03:15. is over", "half past two collided"),
    ],
)
def test_a_lie_is_not_supported(kind: str, text: str, quote: str) -> None:
    claim = {"claim": 0, "kind": kind, "text": text, "quotes": [quote]}
    assert answer.verify({"claims": [claim]})["verdicts"][0]["verdict"] == "unsupported"


def test_it_cites_what_it_writes_of_pages_and_days() -> None:
    items = [
        {"id": "k1", "text": "The kiln is hot.", "status": "live"},
        {"id": "k2", "text": "Gone.", "status": "superseded"},
    ]
    asked = {"pages": [{"id": "kiln", "items": items}], "days": [{"day": "2026-04-09", "items": items}]}
    said = [{"text": "The kiln is hot.", "ids": ["k1"]}]
    assert answer.brief(asked) == {
        "states": [{"id": "kiln", "sentences": said}],
        "episodes": [{"day": "2026-04-09", "sentences": said}],
    }


@pytest.mark.parametrize("request_", [{"task": "extract"}, {"task": "sing", "input": {"day": "2026-04-01"}}])
def test_without_input_or_for_another_task_the_rules_do_it(
    request_: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(request_)))
    answer.main()
    assert json.loads(capsys.readouterr().out) == {}
