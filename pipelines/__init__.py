"""memcurate: the nightly curation of an AI agent's memory. `from pipelines import Memory` embeds it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pipelines.api import Memory

__all__ = ["Memory", "__version__"]
__version__ = "0.1.0"

if not TYPE_CHECKING:  # a checker is to know every name

    def __getattr__(name: str) -> object:
        # Imported only when asked for: the startup context goes through this file, and a session waits for it.
        if name == "Memory":
            from pipelines.api import Memory  # noqa: PLC0415  see above

            return Memory
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
