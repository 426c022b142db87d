"""Who can read the logs on this machine: what goes where, and what it costs a month."""

from __future__ import annotations

import json
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any

from pipelines.provider_settings import LOGINS, added_tokens
from pipelines.usage import Usage, price_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipelines.user_settings import UserSettings

_DAY, _BRIEF, _MONTH = Usage(5_700, 1_400), Usage(5_400, 1_500), 30
"""A typical day, two calls, and the brief, which each night has once (`python -m benchmarks.typical_night`)."""
_BYTES_A_TOKEN = 4
_VENDORS = {"anthropic": "Anthropic", "gemini": "Google"}
_PORTS = (11434, 8080, 1234)
"""Where Ollama, llama.cpp's server and LM Studio listen unless told otherwise."""
_SECONDS = 0.5
_MOST_BYTES = 1_000_000


def readers(user: UserSettings) -> list[tuple[str, str]]:
    """Return who can read here, the best first: what goes where, and what it costs a month."""
    from pipelines.extract.choose_models import model_of  # noqa: PLC0415  the verb's work, not its help

    here = (name for name in LOGINS if not model_of(name, user.models[name]).trouble())
    rows = [(name, f"with your login of {LOGINS[name].title}: {login_means(name)}") for name in here]
    for name in user.keys:
        settings = user.models[name]
        model, where = settings.model, settings.address or _VENDORS[name]
        price = price_of(f"{name}:{model}")
        costs = f"about ${_MONTH * price.cost(_DAY + _BRIEF):.2f} a month" if price else "at an unknown price"
        rows.append((name, f"with your key: log text goes to {where}, {costs} ({model})"))
    if local := local_server():
        rows.append(("openai", f"{local[1]} at {local[0]}: nothing leaves this machine"))
    return [*rows, ("rules", "no model: only labels (`Decision: …`) and fixed phrases; nothing leaves this machine")]


def days_read_by_rules(root: Path) -> list[str]:
    """Return the days, in order, that the rules have read and no model, as far as reports tell."""
    from pipelines.night.report import reported_nights  # noqa: PLC0415  few ask for it

    rules, models = set[str](), set[str]()
    for run in reported_nights(root):
        days: Any = run.reported("read_days")
        by_rules = str(run.reported("model", "extractor")).startswith("rules")
        (rules if by_rules else models).update(days or ())
    return sorted(rules - models)


def cost_of(model: str, days: Iterable[int]) -> tuple[int, int, float | None]:
    """Return about how many tokens a model is sent and answers in a night, and the cost; None at an unknown price.

    Args:
        model: provider and model.
        days: how many bytes each of its days has beyond those of a typical one.
    """
    price, added = price_of(model), added_tokens(model)
    parts = [_BRIEF + Usage(added), *(_DAY + Usage(2 * added + size // _BYTES_A_TOKEN) for size in days)]
    whole = sum(parts, Usage())
    return whole.input_tokens, whole.output_tokens, sum(map(price.cost, parts)) if price else None


def local_server() -> tuple[str, str] | None:
    """Return the address of a model's server on this machine that answers, and its first model."""
    for port in _PORTS:
        server = HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
        with suppress(OSError, HTTPException, ValueError, LookupError, TypeError):
            server.request("GET", "/v1/models")
            model = json.loads(server.getresponse().read(_MOST_BYTES))["data"][0]["id"]
            return f"http://localhost:{port}/v1", str(model)
    return None


def login_means(name: str) -> str:
    """Return what it means that a program reads with its login."""
    return f"log text then goes to {LOGINS[name].vendor} and counts towards that login"
