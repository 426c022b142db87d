"""The vectors of the index: which embedder makes them, which text is embedded, and embedding what is new.

Vectors are optional: without them, search uses words. Vectors are reused by key. A text that an embedder refuses is
found by its words alone, and tried again when it changes or after a week; other texts are not affected.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sqlite3
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError, ModelFailed, read_toml
from pipelines.provider_settings import VOYAGE_KEY, EmbedderSettings, user_file
from pipelines.search.chunk_context import day_words
from pipelines.search.embedders.pinned_model import LOCAL
from pipelines.search.matrix import follow, read_stamp
from pipelines.search.schema import SEPARATOR, reading, writer_lock
from pipelines.search.vectors import VectorModel, keep, keep_refused, load, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.embedder import Embedder


BATCH: Final = 64
"""Texts per call; each call's vectors are stored at once."""
_FAILURES: Final = 3
"""The limit of successive failed calls, each confirmed with a harmless text, before giving up on the embedder."""
_HARMLESS: Final = "memory"
_READ: Final = 65_536
_REFUSED_SECONDS: Final = 7 * 24 * 3600
# Items first, because review compares new items with their vectors; then the most recent and the shortest texts.
_WANTED: Final = """
    SELECT key, text, title, headings, date, status FROM units
    WHERE hidden < 2 AND (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))
    ORDER BY status = '', date DESC, length(text)
"""
# List and emphasis marks mean nothing, but a model would give them weight.
_BULLET: Final = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*|__")


def chosen_embedder() -> tuple[Embedder | None, str]:
    """Return the embedder chosen by the user's settings, or None, and a sentence that says which and why.

    Raises:
        BadSettings: the user's settings for it are not valid.
    """
    from pipelines.search.embedders.choose_embedder import choose_embedder  # noqa: PLC0415  only needed to embed

    return choose_embedder(embedder_settings(os.environ), os.environ)


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
    return asdict(report), notes


def vector_of(embedder: Embedder, query: str) -> tuple[NDArray[np.float32] | None, str]:
    """Return a question's vector, or None and the sentence that says why there is none."""
    if not query.strip():
        return None, ""
    if not embedder.name.startswith(LOCAL):  # local models need no redaction, which takes longer to load than a search
        from pipelines.store.secrets import without_secrets  # noqa: PLC0415  see above

        query = without_secrets(query)
    try:
        return embedder.embed_query(query), ""
    except CurateError as fault:
        return None, f"{fault.sentence} This answer uses words alone."


def embedder_settings(environ: Mapping[str, str]) -> EmbedderSettings:
    """Return the user's `[embedder]` settings; a file without that table is not validated.

    Raises:
        BadSettings: the file cannot be read, or has that table and any fault.
    """
    path = user_file(environ)
    if path is None or "embedder" not in read_toml(path):
        return EmbedderSettings(api_key=environ.get(VOYAGE_KEY, "").strip())
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  validation takes a tenth of a second

    return load_user_settings(environ).embedder


@dataclass(frozen=True, slots=True)
class VectorReport:
    """The result of embedding.

    Args:
        embedder: the model's name.
        embedded: texts embedded now.
        missing: units found only by their words until next time.
        faults: how the embedder failed, each sentence once; refused texts do not count.
    """

    embedder: str
    embedded: int
    missing: int
    faults: tuple[str, ...] = ()


def embed_index(
    root: Path, embedder: Embedder, seconds: float = math.inf, advance: Callable[[int, int], None] = lambda _, __: None
) -> VectorReport:
    """Embed everything without a vector of this embedder, and update the matrix that searches scan.

    The index is not locked while texts are embedded. Vectors of another embedder stay in use until all texts have been
    sent to the new one.

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
    model, until, now = VectorModel(embedder.name, embedder.dimension), time.monotonic() + seconds, time.time()
    wanted, faults, failures, embedded = _wanted(root, model), dict[str, None](), 0, 0
    known = {key: one for key, one in refused(root, model).items() if key in wanted}
    kept_out = {key: one for key, one in known.items() if 0 <= now - one[0] < _REFUSED_SECONDS}
    keys = [key for key in wanted if key not in kept_out]
    for at in range(0, len(keys), BATCH):
        if time.monotonic() >= until or failures == _FAILURES:
            break
        try:
            for some, vectors in _asked(embedder, model, {key: wanted[key] for key in keys[at : at + BATCH]}):
                if isinstance(vectors, str):
                    kept_out[some[0]] = now, vectors.rstrip(".")
                    continue
                with writer_lock(root):
                    keep(root, model, some, vectors)
                embedded, failures = embedded + len(some), 0
        except ModelFailed as fault:
            faults[fault.sentence] = None
            failures += 1
        advance(min(at + BATCH, len(keys)), len(keys))
    with writer_lock(root), reading(root) as index:
        stamp = follow(root, index, model if embedded or not faults else None)
        keep_refused(root, model, kept_out)
    missing = len(stamp.missing) if stamp and stamp.model == model else len(wanted) - embedded
    return VectorReport(model.name, embedded, missing, tuple(faults))


def _wanted(root: Path, model: VectorModel) -> dict[bytes, str]:
    """Return the texts without a vector by their keys, in the order in which to embed them."""
    wanted, kept, stamp = dict[bytes, str](), load(root, model), read_stamp(root)
    with reading(root) as index:
        marks = index.execute("SELECT build, last_unit FROM marks").fetchone()
        is_followed = stamp and (stamp.model, stamp.build, stamp.units) == (model, *marks)
        units = index.execute(_WANTED, (json.dumps(stamp.missing) if stamp and is_followed else None,))
        while rows := units.fetchmany(_READ):
            there = kept.find([row[0] for row in rows])
            for known, text, title, headings, date, status in rows:
                if known not in there:
                    embedded = embedded_text(text, title, headings.split(SEPARATOR) if headings else (), date, status)
                    wanted[key(embedded)] = embedded
    return wanted


def _asked(
    embedder: Embedder, model: VectorModel, texts: Mapping[bytes, str]
) -> Iterator[tuple[list[bytes], NDArray[np.float32] | str]]:
    """Yield keys with their vectors, and the key of each refused text alone, with the message.

    A batch that fails is halved until only the refused texts are left.

    Raises:
        ModelFailed: the embedder fails with a harmless text, too, so these texts are not the cause.
    """
    keys = list(texts)
    try:
        vectors = _vectors(embedder, model, list(texts.values()))
    except ModelFailed as fault:
        _vectors(embedder, model, [_HARMLESS])
        half = len(keys) // 2
        if not half:
            yield keys, fault.sentence
        for some in (keys[:half], keys[half:]) if half else ():
            yield from _asked(embedder, model, {key: texts[key] for key in some})
    else:
        yield keys, vectors


def _vectors(embedder: Embedder, model: VectorModel, texts: list[str]) -> NDArray[np.float32]:
    """Call the embedder, whose vectors have length one, and check that they are usable.

    Raises:
        ModelFailed: they are not.
    """
    import numpy as np  # noqa: PLC0415  only needed to embed

    vectors = np.asarray(embedder.embed_documents(texts), np.float32)
    if vectors.shape != (len(texts), model.dimension) or not np.isfinite(vectors).all():
        raise ModelFailed(model.name, f"returned unusable vectors (shape {vectors.shape})")
    return vectors


def key(text: str) -> bytes:
    """Return the 16 bytes that identify the vector of an embedded text."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()


def embedded_text(text: str, title: str, headings: Sequence[str], date: str, status: str = "") -> str:
    """Return the text to embed: the words first, because they matter most, then place and date.

    The path is not included, so that a renamed file keeps its vectors. An item (which has a status) is a complete
    sentence with a label in place of its heading, so it keeps its vector when it moves.
    """
    bare = _BOLD.sub("", _BULLET.sub("", text)).strip()
    where = "" if status else " > ".join(dict.fromkeys(part for part in (title, *headings) if part))
    about = ", ".join(part for part in (where, day_words(date)) if part)
    return f"{bare} ({about})" if about else bare
