"""Choose the embedder: Voyage if there is a key, else the local model if it was fetched, else none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipelines.errors import CurateError, UnusableModel
from pipelines.provider_settings import VOYAGE_KEY, VOYAGE_MODEL, EmbedderSettings
from pipelines.search.embedders.pinned_model import MINILM, is_complete, models_folder, recorded_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.search.embedders.embedder import Embedder


Choice = tuple["Embedder | None", str]
_WORDS_ONLY = "Keyword search only"


def choose_embedder(settings: EmbedderSettings, environ: Mapping[str, str]) -> Choice:
    """Return the embedder, or None for keyword search only, and a sentence that says which and why.

    This uses no network and imports no SDK. It builds the local model's graph if necessary.

    Args:
        settings: the user's `[embedder]`.
        environ: the environment, which locates the user's cache.
    """
    if settings.provider == "none":
        return None, f"{_WORDS_ONLY}, as configured."
    if settings.provider == "openai":
        return _openai(settings)
    if settings.provider == "voyage" or (settings.provider is None and settings.api_key):
        return _voyage(settings)
    return _local(settings, environ)


def _openai(settings: EmbedderSettings) -> Choice:
    if settings.key_variable and not settings.api_key:
        return None, f"{_WORDS_ONLY}: the settings take the key from {settings.key_variable}, which is not set."
    from pipelines.search.embedders.remote import OpenAIEmbedder  # noqa: PLC0415  only the chosen one is imported

    # The host alone: the address may hold a login.
    host = urlsplit(settings.base_url).netloc.rpartition("@")[2]
    return OpenAIEmbedder(settings), f"{settings.model} at {host}, as configured."


def _voyage(settings: EmbedderSettings) -> Choice:
    if not settings.api_key:
        return None, f"{_WORDS_ONLY}: the settings ask for Voyage, but {settings.key_variable} is not set."
    from pipelines.search.embedders.remote import VoyageEmbedder  # noqa: PLC0415  as above

    reason = "as configured" if settings.provider else f"because {settings.key_variable} is set"
    return VoyageEmbedder(
        settings
    ), f"{settings.model or VOYAGE_MODEL} at {'your own address' if settings.base_url else 'Voyage'}, {reason}."


def _local(settings: EmbedderSettings, environ: Mapping[str, str]) -> Choice:
    try:
        models = models_folder(environ)
        folder = Path(settings.folder).expanduser() if settings.folder else models / MINILM.name
        if not settings.folder and not is_complete(folder):
            no_key = "" if settings.provider else f"{VOYAGE_KEY} is not set, and "
            return None, f"{_WORDS_ONLY}: {no_key}{MINILM.name} was not fetched (run `curate models fetch`)."
        from pipelines.search.embedders.built_graph import built_model  # noqa: PLC0415  as above
        from pipelines.search.embedders.local import LocalEmbedder  # noqa: PLC0415  as above

        others = recorded_model(models, folder.name) if folder.parent == models else None
        model = built_model(folder, models, others if settings.folder else MINILM)
    except UnusableModel as fault:
        return None, f"{_WORDS_ONLY}: {fault.sentence[0].lower()}{fault.sentence[1:]} {fault.advice}".rstrip()
    except CurateError as fault:
        return None, f"{_WORDS_ONLY}: {fault}"
    reason = "as configured" if settings.provider else f"because {VOYAGE_KEY} is not set"
    return LocalEmbedder(model), f"{folder.name} on this machine, {reason}."
