"""Secrets: what they look like, where they stand, and what is put in their place."""

from __future__ import annotations

from pipelines.store.secrets.find import ALLOWED, Span, find_secrets
from pipelines.store.secrets.redact import Found, Redacted, Redactor, format_found, load_redactor, veil

__all__ = ["ALLOWED", "Found", "Redacted", "Redactor", "Span", "find_secrets", "format_found", "load_redactor", "veil"]
