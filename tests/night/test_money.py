"""What a night costs and may cost, through the command: the real SDK, a local server, the user's settings."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Memory
from tests.extract.wire import KEY, Wire, anthropic_error, anthropic_wire

USD = 0.0000282  # of a good reply of the server: 12 tokens, 1000 out of the cache, 100 into it, 9 received


class Claude:
    """The settings and the server of a test."""

    def __init__(self, memory: Memory, config: Path, wire: Wire) -> None:
        self.memory, self.config, self.wire = memory, config, wire

    def settings(self, more: str = "", providers: str = '"anthropic"') -> None:
        head = f"providers = [{providers}]\n[anthropic]\nbase_url = '{self.wire.url}'\nmax_tokens = 256\n"
        self.config.write_text(head + more)

    def run(self, *more: str, day: int = 20, exits: int = 0) -> dict[str, Any]:
        said = self.memory.curate("run", "--json", "--now", f"2026-03-{day}T02:00", *more, exits=exits)
        told: dict[str, Any] = json.loads(said)
        return told


@pytest.fixture
def claude(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Claude]:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for number in (1, 2, 3):
        day = f"2026-03-0{number}"
        memory.write(f"Logs/{day}.md", f"# {day}\n\n- 09:14 We go with plan {number}.\n")
    with anthropic_wire() as wire:
        yield Claude(memory, config, wire)


def test_a_run_says_what_it_cost_once(claude: Claude) -> None:
    claude.settings()
    claude.wire.answers = [anthropic_error(529, "overloaded_error"), anthropic_error(400, "invalid_request_error")]
    told = claude.run(exits=1)
    paid = told["model"]["calls"] - 2
    assert (told["model"]["usd"], paid) == (round(USD * paid, 6), 2)
    again = claude.run()
    assert (again["model"]["usd"], again["entries"]["pending"]) == (round(USD, 6), 0)
    assert claude.run()["model"]["usd"] == 0
    listed = claude.memory.curate("runs")
    assert sorted(re.findall(r"(\$[\d.]+)  ", listed)) == ["$0.000028"] * 3, "each day is a run"


def test_a_cap_holds_with_several_calls_at_once_and_nothing_is_paid_twice(claude: Claude) -> None:
    claude.settings("[limits]\nmax_tokens = 6500\n")
    told = claude.run()
    assert (told["model"]["calls"], told["exit_code"], told["entries"]["pending"] > 0) == (2, 0, True)
    assert claude.run(day=21)["entries"]["pending"] == 0
    assert len(claude.wire.requests) == 3


def test_runs_of_one_day_share_the_caps(claude: Claude) -> None:
    claude.settings("[limits]\nmax_usd = 0.5\n")
    model = claude.run()["model"]
    claude.memory.write("Logs/2026-03-19.md", "- 09:14 We go with plan 4.\n")
    claude.settings(f"[limits]\nmax_tokens = {model['input_tokens'] + model['output_tokens'] + 5000}\n")
    assert "is spent, and one call may cost" in claude.run()["model"]["over_budget"]
    assert claude.run(day=21)["entries"]["pending"] == 0


def test_a_price_must_be_known_where_money_is_capped(claude: Claude) -> None:
    claude.settings('model = "claude-of-tomorrow"\n[limits]\nmax_usd = 1.0\n')
    said = claude.memory.curate("run", exits=1)
    assert "the price of anthropic:claude-of-tomorrow is not known, so limits.max_usd cannot hold" in said
    claude.config.write_text("[limits]\nmax_usd = -1\nmax_tokens = 0\nmax_hours = 1\n")
    said = claude.memory.curate("run", exits=1)
    assert all(key in said for key in ("limits.max_usd: ", "limits.max_tokens: ", "limits.max_hours: "))


def test_an_estimate_asks_nobody_and_counts_what_is_unread(claude: Claude) -> None:
    claude.settings("[limits]\nmax_tokens = 6500\n")
    told = claude.run("--estimate")
    [model] = told["models"]
    assert told["days"] == 3
    assert 22_500 < model["input_tokens"] < 23_000
    assert 0 < model["usd"] < 0.02
    assert claude.run("--estimate", "--days", "2")["days"] == 2
    assert (claude.wire.requests, claude.memory.git("status", "--short", "State")) == ([], "")
    claude.run()
    assert claude.run("--estimate")["days"] == 1
    said = claude.memory.curate("run", "--estimate", "--now", "2026-03-20T02:00")
    assert re.search(r"anthropic:claude-haiku-5-5: about [\d,]+ tokens sent, 2,900 received: about \$0\.00\d+\n", said)
    claude.config.write_text("")
    assert "nothing is paid" in claude.memory.curate("run", "--estimate", "--provider", "rules")
    assert len(claude.wire.requests) == 2
