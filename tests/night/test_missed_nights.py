"""Nights that were missed: one run makes up for all, day by day, and what did not fit comes first the next night."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Memory
from tests.extract.wire import KEY, anthropic_wire

DAYS = [f"2026-03-{day:02}" for day in range(9, 16)]
DECIDED = (
    "Use SQLite for the cache",
    "The office moves to Bern in June",
    "Invoices go out on the first Monday",
    "Mara leads the port project",
    "Backups are kept for ninety days",
    "The website is written in Hugo",
    "Lunch is at noon on Fridays",
    "Tests run on every push",
)


def a_week(memory: Memory) -> None:
    for number, day in enumerate(DAYS):
        memory.write(f"Logs/{day}.md", f"# {day}\n\n- 10:00 Decision: {DECIDED[number]}.\n")


def test_what_did_not_fit_the_budget_is_the_next_nights_first_work(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_week(memory)
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with anthropic_wire() as wire:
        (tmp_path / "config.toml").write_text(
            f"providers = ['anthropic']\n[anthropic]\nbase_url = '{wire.url}'\nmax_tokens = 256\n"
            "[limits]\nmax_tokens = 7800\n"
        )
        pending = []
        for night in range(16, 20):
            told = memory.json("run", "--now", f"2026-03-{night}T02:00")
            assert told["exit_code"] == 0, "a cap that was kept is no failure"
            pending.append(told["pending_days"])
            if night == 16:
                memory.write("Logs/2026-03-16.md", f"# 2026-03-16\n\n- 10:00 Decision: {DECIDED[7]}.\n")
        said = [json.dumps(request["messages"]) for request in wire.requests]
        read = [text for text in said if "Each line has its number" in text]
        asked = [re.findall(f"Decision: ({'|'.join(DECIDED)})", text) for text in read]
    assert pending[0] == DAYS[3:]
    assert [len(days) for days in pending] == sorted((len(days) for days in pending), reverse=True)
    order = [DECIDED.index(one) for found in asked for one in dict.fromkeys(found)]
    assert order == sorted(order), "the oldest first, each once, and the new day last"
    assert (order[0], order[-1]) == (0, 7)
