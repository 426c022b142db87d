"""Secrets: what they look like, where they are, and what replaces them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pipelines.store.secrets.find import ALLOWED, Span, find_secrets
    from pipelines.store.secrets.redact import (
        FoundSecret,
        Redacted,
        Redactor,
        format_found,
        holds_secret,
        load_redactor,
        without_secrets,
    )

__all__ = [
    "ALLOWED",
    "FoundSecret",
    "Redacted",
    "Redactor",
    "Span",
    "find_secrets",
    "format_found",
    "holds_secret",
    "load_redactor",
    "without_secrets",
]

if not TYPE_CHECKING:  # type checkers must see every name

    def __getattr__(name: str) -> object:
        # Imported lazily: `curate log` checks for secrets while an agent waits for it.
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415  see above

        module = "find" if name in {"ALLOWED", "Span", "find_secrets"} else "redact"
        return getattr(import_module(f"{__name__}.{module}"), name)
