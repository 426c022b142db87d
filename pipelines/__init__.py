"""memcurate: the nightly curation of an AI agent's memory."""

__version__ = "0.1.0"
