"""Every failure of a wire at a call of a three-day night, with the real SDKs: nothing wrong is kept or paid twice.

Here the telling ones come at one of the three calls; `make torture` has each come at each of them, in one memory.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pytest

from pipelines.extract.choose_models import model_of
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.report import RunReport, Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.provider_settings import ProviderSettings
from pipelines.settings import load_settings
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory
from tests.extract.fakes import Still
from tests.extract.wire import (
    KEY,
    Body,
    Prepared,
    Wire,
    anthropic_error,
    anthropic_wire,
    gemini_error,
    gemini_wire,
    generated,
    message,
)

ANTHROPIC: Mapping[str, Prepared] = {
    "400": anthropic_error(400, "invalid_request_error"),
    "401": anthropic_error(401, "authentication_error"),
    "402": anthropic_error(402, "billing_error"),
    "403": anthropic_error(403, "permission_error"),
    "404": anthropic_error(404, "not_found_error"),
    "413": anthropic_error(413, "request_too_large"),
    "429": anthropic_error(429, "rate_limit_error", retry_after="1"),
    "429 for long": anthropic_error(429, "rate_limit_error", retry_after="3600"),
    "500": anthropic_error(500, "api_error"),
    "529": anthropic_error(529, "overloaded_error"),
    "redirect": Prepared(302, {}, {"location": "http://127.0.0.1:9/"}),
    "cut": Prepared(body=message('{"items": []}').body, cut=True),
    "reset": Prepared(reset=True),
    "a proxy's page": Prepared(body="<html>hello</html>", content_type="text/html"),
    "no JSON": Prepared(body="{", content_type="application/json"),
    "no message": Prepared(body={"foo": 1}),
    "empty": message(""),
    "no text": message(),
    "refused": message(stop="refusal"),
    "truncated": message('{"items": [', stop="max_tokens"),
    "too long": message(stop="model_context_window_exceeded"),
    "prose": message("I would rather not."),
    "another shape": message('{"items": {}, "more": 1}'),
}
GEMINI: Mapping[str, Prepared] = {
    "400": gemini_error(400, "INVALID_ARGUMENT"),
    "403": gemini_error(403, "PERMISSION_DENIED"),
    "404": gemini_error(404, "NOT_FOUND"),
    "429": gemini_error(429, "RESOURCE_EXHAUSTED"),
    "500": gemini_error(500, "INTERNAL"),
    "503": gemini_error(503, "UNAVAILABLE"),
    "cut": Prepared(body=generated('{"items": []}').body, cut=True),
    "reset": Prepared(reset=True),
    "a proxy's page": Prepared(body="<html>hello</html>", content_type="text/html"),
    "empty": generated(),
    "blocked": Prepared(body={"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}),
    "safety": generated(finish="SAFETY"),
    "truncated": generated('{"items": [', finish="MAX_TOKENS"),
    "prose": generated("I would rather not."),
}
USD = {"anthropic": 0.0000282, "gemini": 0.00004125}


class Nights:
    """Nights of one memory with one provider, and what its server was paid for."""

    def __init__(self, memory: Memory, provider: str, wire: Wire) -> None:
        self.memory, self.provider, self.wire = memory, provider, wire
        self.paid, self._lock = 0, threading.Lock()
        self._model = {"anthropic": "claude-haiku-5-5", "gemini": "gemini-3.8-flash"}[provider]
        self._made: Callable[[str], Prepared] = message if provider == "anthropic" else generated

    def log(self, days: list[str]) -> None:
        for day in days:
            self.memory.write(f"Logs/{day}.md", f"# {day}\n\n- 09:14 We go with plan B{day[-2:]}.\n")

    def run(self, moment: str, failing: str = "", how: Prepared | None = None) -> RunReport:
        def answer(body: Body) -> Prepared:
            found = re.search(r"Today: \w+ (\d{4}-\d\d-\d\d)", str(body))
            said = {"items": [item(found[1])]} if found else {"verdicts": []}
            prepared = how if how and found and found[1] == failing else self._made(json.dumps(said))
            with self._lock:
                self.paid += _is_billed(prepared)
            return prepared

        self.wire.by_request = answer
        when = datetime.fromisoformat(moment)
        model = model_of(self.provider, ProviderSettings(self._model, KEY, self.wire.url))
        chain = Chain([model], self.memory.root, Still().retry)
        reader = ModelExtractor(chain)
        settings = load_settings(self.memory.root)
        verifier = ModelVerifier(chain)
        return curate_night(Night(self.memory.root, settings, reader, when, verifier=verifier), Watch())

    def texts(self) -> list[str]:
        documents = read_documents(self.memory.root).values()
        return sorted(placed.item.text for document in documents for placed in document.items)


def _is_billed(prepared: Prepared) -> bool:
    whole = not prepared.cut and isinstance(prepared.body, dict)
    return whole and any(key in prepared.body for key in ("usage", "candidates"))


def item(day: str) -> dict[str, Any]:
    return {
        "type": "Decision", "text": f"We go with plan B{day[-2:]}.", "lines": [[3, 3]],
    }  # fmt: skip


def said_of(days: list[str]) -> list[str]:
    return [f"We go with plan B{day[-2:]}." for day in days]


CASES = [("anthropic", name) for name in ANTHROPIC] + [("gemini", name) for name in GEMINI]


def fail_at(memory: Memory, provider: str, name: str, calls: Sequence[int]) -> None:
    """Let three days fail at one of their calls, and complete them; then three more, as often as is asked for."""
    how = (ANTHROPIC if provider == "anthropic" else GEMINI)[name]
    every: list[str] = []
    usd = 0.0
    with (anthropic_wire if provider == "anthropic" else gemini_wire)() as wire:
        nights = Nights(memory, provider, wire)
        for number, at in enumerate(calls):
            days = [f"2026-03-{3 * number + day:02}" for day in (1, 2, 3)]
            nights.log(days)
            first = nights.run(f"2026-03-{20 + number}T02:00+00:00", days[at], how)
            assert (first.exit_code, bool(first.failure)) == (1, True)
            read = [day for day in days if day not in first.pending_days]
            assert (read[:at], days[at] in read) == (days[:at], False)
            assert nights.texts() == said_of([*every, *read])
            second = nights.run(f"2026-03-{20 + number}T03:00+00:00")
            every += days
            assert (second.exit_code, second.pending_days, nights.texts()) == (0, (), said_of(every))
            usd += sum(one.usd or 0 for one in (*first.tally.spent, *second.tally.spent))
        assert wire.refused == []
    memory.curate("check")
    unanswered = 5 * 0.75e-6 * len(calls) if name == "blocked" else 0  # what was looked at is paid, though not answered
    assert usd == pytest.approx(nights.paid * USD[provider] + unanswered)


# One for each way in which an answer is none: refused for good or for now, broken off, half of one, of another shape.
TELLING = {
    "anthropic": ("529", "cut", "another shape"),
    "gemini": ("blocked",),
}


@pytest.mark.parametrize(
    ("number", "provider", "name"),
    [(at, *case) for at, case in enumerate((of, name) for of, names in TELLING.items() for name in names)],
)
def test_a_failure_at_one_call(memory: Memory, number: int, provider: str, name: str) -> None:
    fail_at(memory, provider, name, [number % 3])
