"""The deterministic extractor, which needs no key."""

from __future__ import annotations

from pipelines.extract.rules.rules_extractor import RulesExtractor

__all__ = ["RulesExtractor"]
