"""The deterministic extractor, which needs no key."""

from pipelines.models.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
