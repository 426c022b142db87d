"""The vectors of the index: which embedder makes them, which text is embedded, and embedding what is new.

The embedder is Voyage if there is a key, else the local model if it was fetched, else there is none: vectors are
optional, and search uses words without them. They are reused by key. A text that an embedder refuses is found by its
words alone, and tried again the next time; other texts are not affected.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from pipelines.errors import CurateError, ModelFailed, read_toml
from pipelines.provider_settings import VOYAGE_KEY, VOYAGE_MODEL, EmbedderSettings, models_folder, user_file
from pipelines.search.chunk_context import day_words, unspaced_pairs
from pipelines.search.embedders.embedder import LOCAL, MODEL, Embedder
from pipelines.search.schema import NEVER, SEPARATOR, reading, writer_lock
from pipelines.search.vectors import VectorModel, drop_unused, keep, kept_keys, note_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pipelines.search.chunks import Unit
    from pipelines.search.embedders.embedder import Floats


FEWEST_WORDS = 5
"""A shorter text ("ok, thanks") is found by its words alone, unless it is an item: its vector says little."""
BATCH = 64
"""Texts per call; each call's vectors are stored at once."""
_FAILURES = 3
"""The limit of successive failed calls, each confirmed with a harmless text, before giving up on the embedder."""
_HARMLESS = "memory"
_KEYS = "SELECT id, key FROM units INDEXED BY idx_units_placed WHERE key != 0"
# Items first, because review compares new items with their vectors; then the most recent and the shortest texts.
_WANTED = """
    SELECT key, text, title, headings, date, status FROM units
    WHERE id IN (SELECT value FROM json_each(?)) ORDER BY status = '', date DESC, length(text)
"""
# List and emphasis marks mean nothing, but a model would give them weight.
_BULLET = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?", re.MULTILINE)
_BOLD = re.compile(r"\*\*|__")
_WORD = re.compile(r"\w+")
_WORDS_ONLY = "Keyword search only"

Choice = tuple["Embedder | None", str]


def chosen_embedder(settings: EmbedderSettings | None = None) -> Choice:
    """Return the embedder, or None for keyword search only, and a sentence that says which and why.

    This uses no network and imports no SDK.

    Args:
        settings: the user's `[embedder]`; by default from their file. A file without that table is not validated, which
            takes a tenth of a second.

    Raises:
        BadSettings: the file cannot be read, or has that table and any fault.
    """
    if settings is None:
        path, settings = user_file(), EmbedderSettings(api_key=os.environ.get(VOYAGE_KEY, "").strip())
        if path and "embedder" in read_toml(path):
            from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

            settings = load_user_settings().embedder
    if settings.provider == "none":
        return None, f"{_WORDS_ONLY}, as configured."
    if settings.provider in {"openai", "voyage"} or (settings.provider is None and settings.api_key):
        return _remote(settings)
    from pipelines.search.embedders.local import WEIGHTS, LocalEmbedder  # noqa: PLC0415  only the chosen one is imported

    try:
        folder = models_folder() / MODEL
    except CurateError as fault:
        return None, f"{_WORDS_ONLY}: {fault}"
    if not (folder / WEIGHTS).is_file():
        no_key = "" if settings.provider else f"{VOYAGE_KEY} is not set, and "
        return None, f"{_WORDS_ONLY}: {no_key}{MODEL} was not fetched (run `curate models fetch`)."
    reason = "as configured" if settings.provider else f"because {VOYAGE_KEY} is not set"
    return LocalEmbedder(folder), f"{MODEL} on this machine, {reason}."


def _remote(settings: EmbedderSettings) -> Choice:
    from pipelines.search.embedders.remote import OpenAIEmbedder, VoyageEmbedder  # noqa: PLC0415  as above

    if settings.provider == "openai":
        if settings.key_variable and not settings.api_key:
            return None, f"{_WORDS_ONLY}: the settings take the key from {settings.key_variable}, which is not set."
        # The host alone: the address may hold a login.
        host = urlsplit(settings.base_url).netloc.rpartition("@")[2]
        return OpenAIEmbedder(settings), f"{settings.model} at {host}, as configured."
    if not settings.api_key:
        return None, f"{_WORDS_ONLY}: the settings ask for Voyage, but {settings.key_variable} is not set."
    reason = "as configured" if settings.provider else f"because {settings.key_variable} is set"
    return VoyageEmbedder(
        settings
    ), f"{settings.model or VOYAGE_MODEL} at {'your own address' if settings.base_url else 'Voyage'}, {reason}."


def embed(root: Path, seconds: float, advance: Callable[[int, int], None]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Embed what is new in the index.

    Args:
        root: the memory.
        seconds: the approximate time limit; the rest waits for the next time.
        advance: called with the number of texts done, and the total.

    Returns:
        What was done (empty without an embedder), and sentences about failures, which lose nothing.
    """
    try:
        embedder, _ = chosen_embedder()
        if embedder is None:
            return {}, ()
        report = embed_index(root, embedder, seconds, advance)
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"Nothing could be embedded: {fault} New text is found only by its words.",)
    units = "1 unit is" if report.missing == 1 else f"{report.missing:,} units are"
    notes = (f"{' '.join(report.faults)} Until next time, {units} found only by words.",) if report.faults else ()
    return report._asdict(), notes


def vector_of(embedder: Embedder, query: str) -> tuple[Floats | None, str]:
    """Return a question's vector, or None and the sentence that says why there is none."""
    if not query.strip():
        return None, ""
    if embedder.name != LOCAL:  # the local model needs no redaction, which takes longer to load than a search
        from pipelines.store.secrets.redact import without_secrets  # noqa: PLC0415  see above

        query = without_secrets(query)
    try:
        return embedder.embed_query(query), ""
    except CurateError as fault:
        return None, f"{fault.sentence} This answer uses words alone."


class VectorReport(NamedTuple):
    """The result of embedding.

    Args:
        embedder: the model's name.
        embedded: texts embedded now.
        missing: units found only by their words until next time.
        faults: how the embedder failed, each sentence once; refused texts do not count.
        interrupted: whether somebody pressed Ctrl-C; what was made until then stays.
    """

    embedder: str
    embedded: int
    missing: int
    faults: tuple[str, ...]
    interrupted: bool


def embed_index(
    root: Path, embedder: Embedder, seconds: float = math.inf, advance: Callable[[int, int], None] = lambda _, __: None
) -> VectorReport:
    """Embed everything without a vector of this embedder. Searches use each batch at once, even if the rest fails.

    The index is not locked while texts are embedded.

    Args:
        root: the memory, with its index.
        embedder: the embedder.
        seconds: no further batch is started after these; the rest waits for the next time.
        advance: called with the number of texts done, and the total.

    Raises:
        IndexUnusable: there is no index.
        LockHeld: another process is still writing it.
        OSError: the disk refuses.
    """
    model, until = VectorModel(embedder.name, embedder.dimension), time.monotonic() + seconds
    wanted, faults, failures, embedded, interrupted = _wanted(root, model), dict[str, None](), 0, 0, False
    texts = list(wanted.items())
    for at in range(0, len(texts), BATCH):
        if time.monotonic() >= until or failures == _FAILURES:
            break
        try:
            for some, vectors in _asked(embedder, dict(texts[at : at + BATCH])):
                with writer_lock(root):
                    keep(root, model, some, vectors)
                    if not embedded:
                        note_model(root, model)
                embedded, failures = embedded + len(some), 0
        except ModelFailed as fault:
            faults[fault.sentence] = None
            failures += 1
        except KeyboardInterrupt:
            interrupted = True
            break
        advance(min(at + BATCH, len(texts)), len(texts))
    with writer_lock(root), reading(root) as index:
        if embedded or not wanted:
            drop_unused(root, model)
            note_model(root, model)
        there = kept_keys(root, model)
        missing = sum(key not in there for _, key in index.execute(_KEYS))
    return VectorReport(model.name, embedded, missing, tuple(faults), interrupted)


def _wanted(root: Path, model: VectorModel) -> dict[int, str]:
    """Return the texts without a vector by their keys, in the order in which to embed them."""
    there = kept_keys(root, model)
    with reading(root) as index:
        units = [unit for unit, key in index.execute(_KEYS) if key not in there]
        return {
            known: embedded_text(text, title, headings.split(SEPARATOR) if headings else (), date, status)
            for known, text, title, headings, date, status in index.execute(_WANTED, (json.dumps(units),))
        }


def _asked(embedder: Embedder, texts: Mapping[int, str]) -> Iterator[tuple[list[int], Floats]]:
    """Yield keys with their vectors.

    A batch that fails is halved until only the refused texts are left, which are left out.

    Raises:
        ModelFailed: the embedder fails with a harmless text, too, so these texts are not the cause.
    """
    keys = list(texts)
    try:
        vectors = embedder.embed_documents(list(texts.values()))
    except ModelFailed:
        embedder.embed_documents([_HARMLESS])
        half = len(keys) // 2
        for some in (keys[:half], keys[half:]) if half else ():
            yield from _asked(embedder, {key: texts[key] for key in some})
    else:
        yield keys, vectors


def key_of_unit(unit: Unit) -> int:
    """Return the key of a unit's embedded text, or 0 if it is not embedded: it is too short, or never found."""
    count = len(_WORD.findall(unit.text)) + len(unspaced_pairs(unit.text))
    if unit.hidden >= NEVER or (count < FEWEST_WORDS and not unit.status):
        return 0
    text = embedded_text(unit.text, unit.title, unit.headings, unit.date, unit.status).encode(errors="replace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), signed=True) or 1


def embedded_text(text: str, title: str, headings: Sequence[str], date: str, status: str) -> str:
    """Return the text to embed: the words first, because they matter most, then place and date.

    The path is not included, so that a renamed file keeps its vectors. An item (which has a status) is a complete
    sentence with a label in place of its heading, so it keeps its vector when it moves.
    """
    bare = _BOLD.sub("", _BULLET.sub("", text)).strip()
    where = "" if status else " > ".join(dict.fromkeys(part for part in (title, *headings) if part))
    about = ", ".join(part for part in (where, day_words(date)) if part)
    return f"{bare} ({about})" if about else bare
