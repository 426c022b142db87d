"""What a night may come to at the most, as the user's settings say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """What a night may come to at the most; None for no cap."""

    max_usd: float | None = None
    max_tokens: int | None = None
    max_minutes: float | None = None

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(cap is not None for cap in (self.max_usd, self.max_tokens, self.max_minutes))
