"""Print what a typical night costs by the price table: the fullest day of the sample week, read by each model.

usage: python -m benchmarks.typical_night [MODEL ...]

MODEL is provider:model as the price table has it. No model is asked: the calls are made up as a night makes them and
counted at four bytes a token, with a usual reply. One row a model, in Markdown.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from pipelines.extract.llm.call import Call, ModelAnswer, load_prompt
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.nearby import BYTES_A_TOKEN
from pipelines.night.manual import read_memory
from pipelines.night.plan import plan_night
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.provider_settings import added_tokens
from pipelines.settings import load_settings
from pipelines.store.git import Git
from pipelines.store.template import lay_down
from pipelines.usage import Usage, price_of

WEEK = Path(__file__).resolve().parent.parent / "examples" / "sample_week" / "Logs"
MODELS = ("anthropic:claude-haiku-5-5", "gemini:gemini-3.8-flash", "anthropic:claude-sonnet-5-5")
READ = 900
"""The tokens of a usual reply about a day: four items, three operations and the episode, without thinking."""
CLAIMS, VERDICT, CLAIM_BYTES = 27, 40, 550
"""The claims of a night: twelve of the day (items, operations, episode, near pairs), the rest of the brief."""
BRIEF, BRIEF_BYTES = 900, 10_000
"""What a claim and a brief show, measured over months of public journals."""


class Noting:
    """A model that notes what it is asked, and finds nothing."""

    input_tokens, output_tokens, retries, source = 24_000, 8192, 0, ""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[Call] = []

    def ask(self, call: Call) -> ModelAnswer:
        """Note a call."""
        self.calls.append(call)
        return ModelAnswer('{"items": []}')


def main() -> None:
    """Print the table."""
    log = max(WEEK.glob("*.md"), key=lambda file: file.stat().st_size)
    print("| model | sent | received | a night | a year |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay_down(root, "UTC")
        Git(root).init()
        (root / "Logs" / log.name).write_bytes(log.read_bytes())
        for model in sys.argv[1:] or MODELS:
            print(row(root, model))


def row(root: Path, name: str) -> str:
    """Return what one model would cost."""
    model = Noting(name)
    now = datetime(2027, 1, 1, tzinfo=UTC)
    held = read_memory(Git(root), load_settings(root), now)
    plan_night(Night(root, held.settings, ModelExtractor(Chain([model])), now), held, Watch(), held.documents)
    verify, brief = (len(load_prompt(task).body.encode()) for task in ("verify", "brief"))
    sent = [*(call.bytes for call in model.calls), verify, CLAIM_BYTES * CLAIMS, brief, BRIEF_BYTES]
    added = added_tokens(name) * (len(model.calls) + 2)
    usage = Usage(sum(-(-size // BYTES_A_TOKEN) for size in sent) + added, READ + VERDICT * CLAIMS + BRIEF)
    price = price_of(name)
    tokens = f"| `{name.partition(':')[2]}` | {usage.input_tokens:,} | {usage.output_tokens:,} |"
    usd = price.cost(usage) if price else None
    return f"{tokens} not known | |" if usd is None else f"{tokens} ${usd:.4f} | ${usd * 365:.2f} |"


if __name__ == "__main__":
    main()
