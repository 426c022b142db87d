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

from pipelines.extract.choose_models import choose_extractor
from pipelines.extract.llm.model_extractor import Counting, ModelExtractor, estimate, unanswered
from pipelines.extract.llm.replies import Replies
from pipelines.night.plan import plan_night
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.provider_settings import ProviderSettings
from pipelines.settings import load_settings
from pipelines.store.git import Git
from pipelines.store.template import lay_down
from pipelines.templating import resource
from pipelines.user_settings import UserSettings

WEEK = Path(__file__).resolve().parent.parent / "examples" / "sample_week" / "Logs"
MODELS = ("anthropic:claude-haiku-5-5", "gemini:gemini-3.8-flash", "anthropic:claude-sonnet-5-5")


def main() -> None:
    """Print the table."""
    log = max(WEEK.glob("*.md"), key=lambda file: file.stat().st_size)
    print("| model | sent | received | a night | a year |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay_down(root, resource("memory_template"), "UTC")
        Git(root).init()
        (root / "Logs" / log.name).write_bytes(log.read_bytes())
        for model in sys.argv[1:] or MODELS:
            print(row(root, *model.split(":", 1)))


def row(root: Path, provider: str, model: str) -> str:
    """Return what one model would cost."""
    user = UserSettings((provider,), **{provider: ProviderSettings(model, "")})  # type: ignore[arg-type]  # by its name
    reader = choose_extractor(user)
    if not isinstance(reader, ModelExtractor):
        raise SystemExit(f"{provider} is no provider of a model.")
    now = datetime(2027, 1, 1, tzinfo=UTC)
    counting = Counting(reader)
    plan_night(Night(root, load_settings(root), counting, now), Git(root), Watch())
    calls = unanswered(counting.calls, reader.chain.models, Replies(root / "none"))
    found = estimate(calls, reader.chain.models[0], ())
    tokens = f"| `{model}` | {found.input_tokens:,} | {found.output_tokens:,} |"
    if found.usd is None:
        return f"{tokens} not known | |"
    return f"{tokens} ${found.usd:.4f} | ${found.usd * 365:.2f} |"


if __name__ == "__main__":
    main()
