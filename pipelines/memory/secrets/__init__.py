"""Secrets: what they look like, where they stand, and what is put in their place."""

from pipelines.memory.secrets.finding import ALLOWED, Span, find_secrets
from pipelines.memory.secrets.keys import load_redactor
from pipelines.memory.secrets.redacting import Found, Redacted, Redactor, told, veil

__all__ = ["ALLOWED", "Found", "Redacted", "Redactor", "Span", "find_secrets", "load_redactor", "told", "veil"]
