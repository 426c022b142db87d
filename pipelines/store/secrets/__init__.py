"""Secrets: what they look like, where they stand, and what is put in their place."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pipelines.store.secrets.find import ALLOWED, Span, find_secrets
    from pipelines.store.secrets.redact import Found, Redacted, Redactor, format_found, load_redactor, veil

__all__ = ["ALLOWED", "Found", "Redacted", "Redactor", "Span", "find_secrets", "format_found", "load_redactor", "veil"]

if not TYPE_CHECKING:  # a checker is to know every name

    def __getattr__(name: str) -> object:
        # Imported only when asked for: `curate log` looks for secrets, and an agent waits for it.
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415  see above

        module = "find" if name in {"ALLOWED", "Span", "find_secrets"} else "redact"
        return getattr(import_module(f"{__name__}.{module}"), name)
