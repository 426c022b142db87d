"""The deterministic extractor, which needs no key."""
