"""Which embedder the user asked for, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Provider = Literal["voyage", "local", "openai", "none"]
Precision = Literal["int8", "fp32"]

VOYAGE_KEY: Final = "VOYAGE_API_KEY"
VOYAGE_MODEL: Final = "voyage-4-lite"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The `[embedder]` table of the user's settings, with the key looked up.

    Args:
        provider: who embeds, or None to take Voyage where there is a key, else the local model where it is fetched.
        model: the model's name as the provider spells it; empty for Voyage's default.
        base_url: where the wire is spoken; empty for Voyage's own address.
        key_variable: the environment variable that holds the key; empty where no key is needed.
        api_key: the key itself, empty where the variable is not set; it is in no `repr` and no message.
        folder: a sentence-transformers folder to use as the local model; empty for the one that is fetched.
        precision: how the local model computes: `int8`, or `fp32`, which is exact and slower.
        threads: how many threads the local model uses.
        timeout_seconds: how long one call may take.
        max_retries: how often a call is made again after a failure that may pass.
    """

    provider: Provider | None = None
    model: str = ""
    base_url: str = ""
    key_variable: str = VOYAGE_KEY
    api_key: str = field(default="", repr=False)
    folder: str = ""
    precision: Precision = "int8"
    threads: int = 2
    timeout_seconds: float = 60.0
    max_retries: int = 2
