"""The socket on which a night asks whoever started it before it spends; docs/fleet.md has its messages."""

import json
import os
import socket
import threading
from typing import Any

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm import budget as guard_module
from pipelines.extract.llm.budget import GUARD, Budget, Guard, open_guard
from pipelines.extract.llm.call import Call
from pipelines.usage import Usage
from pipelines.user_settings import CostCaps, UserSettings
from tests.extract.fakes import Scripted

CALL = Call("extract", "extract", 2, "s", "u", {})


def test_a_guard_asks_before_each_call_and_tells_what_it_cost() -> None:
    (worker, child), alone = socket.socketpair(), threading.Event()
    lines = worker.makefile("r")
    budget = Budget(CostCaps(), Usage(), guard=Guard(child, {"openai": "the key"}, alone.set))
    asked: list[dict[str, Any]] = []

    def answer() -> None:
        asked.append(json.loads(lines.readline()))
        worker.sendall(json.dumps({"call": asked[0]["call"], "granted": True}).encode() + b"\n")

    thread = threading.Thread(target=answer)
    thread.start()
    budget.ask(Scripted("openai:m", ["yes"], output_tokens=98), CALL)
    thread.join()
    assert (asked[0]["tokens"], asked[0]["usd"]) == (100, None)
    assert asked[0]["bucket"].startswith("openai:")
    assert "the key" not in str(asked)
    assert json.loads(lines.readline()) == {"call": asked[0]["call"], "spent": [110, 0.0], "slow": None}
    lines.close()
    worker.close()
    assert alone.wait(10), "a night whose worker died would go on"


def test_what_the_guard_refuses_is_over_budget() -> None:
    worker, child = socket.socketpair()
    lines = worker.makefile("r")
    budget = Budget(CostCaps(), Usage(), guard=Guard(child, {}, threading.Event().set))

    def answer() -> None:
        told = json.loads(lines.readline())
        worker.sendall(json.dumps({"call": told["call"], "why": "was skipped: no money"}).encode() + b"\n")

    threading.Thread(target=answer).start()
    with pytest.raises(ModelFailed, match="was skipped: no money"):
        budget.ask(Scripted("openai:m", ["yes"]), CALL)
    worker.close()
    lines.close()


def test_a_night_without_a_worker_has_no_guard_and_one_with_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_guard(UserSettings()) is None
    worker, child = socket.socketpair()
    monkeypatch.setattr(guard_module, "end_alone", lambda: None)
    monkeypatch.setenv(GUARD, str(os.dup(child.fileno())))
    assert open_guard(UserSettings())
    assert GUARD not in os.environ
    worker.close()
    child.close()
