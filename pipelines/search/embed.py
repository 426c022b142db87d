"""The vectors of the index: who makes them, what of a unit is turned into one, and what is new embedded.

Vectors are a help only: without them, words are searched. What was embedded before is found again by its key. A text
that an embedder refuses costs that text alone: it is found by its words, and tried again when it changes or in a week.
"""

from __future__ import annotations

import contextlib
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
from pipelines.search.found import QUESTIONS, chance_keys
from pipelines.search.matrix import follow, read_stamp
from pipelines.search.schema import SEPARATOR, reading, writer_lock
from pipelines.search.vectors import Model, keep, keep_refused, load, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.search.embedders.embedder import Embedder


BATCH: Final = 64
"""Texts a call; each call's vectors are kept at once."""
_FAILURES: Final = 3
"""So many calls in a row may fail, each with the harmless one after it, before the embedder is left alone."""
_HARMLESS: Final = "memory"
_READ: Final = 65_536
_REFUSED_SECONDS: Final = 7 * 24 * 3600
# Items first, for the review compares what is new with their vectors; then what is asked of most and done soonest.
_WANTED: Final = """
    SELECT key, text, title, headings, date, status FROM units
    WHERE hidden < 2 AND (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))
    ORDER BY status = '', date DESC, length(text)
"""
# The marks of a list item and of bold text say nothing, and a model would take them for something.
_BULLET: Final = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*|__")


def chosen_embedder() -> tuple[Embedder | None, str]:
    """Return the embedder that the user's settings come to, or None, and the sentence that says which and why.

    Raises:
        BadSettings: what the user's settings say of it cannot be read.
    """
    from pipelines.search.embedders.choose_embedder import choose_embedder  # noqa: PLC0415  only who embeds needs them

    return choose_embedder(embedder_settings(os.environ), os.environ)


def embed(root: Path, seconds: float, advance: Callable[[int, int], None]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Give what is new in the index its vectors.

    Args:
        root: the memory.
        seconds: how long that may take, about; what is left waits for the next time.
        advance: is told how many texts are done, and of how many.

    Returns:
        What was done (empty where there is no embedder), and sentences on what failed; nothing is lost by it.
    """
    try:
        embedder, _ = chosen_embedder()
        if embedder is None:
            return {}, ()
        report = embed_index(root, embedder, seconds, advance)
    except (CurateError, sqlite3.Error, OSError) as fault:
        return {}, (f"Nothing could be embedded: {fault} What is new is found by its words.",)
    units = "1 unit is" if report.missing == 1 else f"{report.missing:,} units are"
    notes = (f"{' '.join(report.faults)} Until the next time, {units} found by words alone.",) if report.faults else ()
    return asdict(report), notes


def vector_of(embedder: Embedder, query: str) -> tuple[NDArray[np.float32] | None, str]:
    """Return a question's vector, or None and the sentence that says why there is none."""
    if not query.strip():
        return None, ""
    if not embedder.name.startswith(LOCAL):  # what stays here needs no veil, which takes longer to load than a search
        from pipelines.store.secrets import veil  # noqa: PLC0415  see above

        query = veil(query)
    try:
        return embedder.embed_query(query), ""
    except CurateError as fault:
        return None, f"{fault.sentence} This answer goes by words alone."


def embedder_settings(environ: Mapping[str, str]) -> EmbedderSettings:
    """Return the user's `[embedder]`; a file that says nothing of it is not looked at any further.

    Raises:
        BadSettings: the file cannot be read, or has that table and any fault.
    """
    path = user_file(environ)
    if path is None or "embedder" not in read_toml(path):
        return EmbedderSettings(api_key=environ.get(VOYAGE_KEY, "").strip())
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  a tenth of a second for the checks alone

    return load_user_settings(environ).embedder


@dataclass(frozen=True, slots=True)
class VectorReport:
    """What giving vectors came to.

    Args:
        embedder: the model's name.
        embedded: texts that were embedded now.
        missing: units that are found by their words alone until the next time.
        faults: how the embedder failed, each sentence once; texts that it refused are none.
    """

    embedder: str
    embedded: int
    missing: int
    faults: tuple[str, ...] = ()


def embed_index(
    root: Path, embedder: Embedder, seconds: float = math.inf, advance: Callable[[int, int], None] = lambda _, __: None
) -> VectorReport:
    """Embed what has no vector of this embedder yet, and make the matrix that searches scan.

    The index stays free for others while texts are embedded. Where another embedder made the vectors so far, those stay
    in use until the new ones are all asked for.

    Args:
        root: the memory; its index is there.
        embedder: what makes vectors.
        seconds: after these no further batch is begun; what is left waits for the next time.
        advance: is told how many texts are done, and of how many.

    Raises:
        IndexUnusable: there is no index.
        LockHeld: another process still writes it.
        OSError: the disk refuses.
    """
    model, until, now = Model(embedder.name, embedder.dimension), time.monotonic() + seconds, time.time()
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
    if not faults and time.monotonic() < until:
        _ask_by_chance(root, embedder, model)
    with writer_lock(root), reading(root) as index:
        stamp = follow(root, index, model if embedded or not faults else None)
        keep_refused(root, model, kept_out)
    missing = len(stamp.missing) if stamp and stamp.model == model else len(wanted) - embedded
    return VectorReport(model.name, embedded, missing, tuple(faults))


def _ask_by_chance(root: Path, embedder: Embedder, model: Model) -> None:
    """Keep the vectors of `QUESTIONS`, which are asked once; where one fails, they wait for the next time."""
    import numpy as np  # noqa: PLC0415  only who embeds needs it

    keys = chance_keys()
    if len(load(root, model).find(keys)) == len(keys):
        return
    with contextlib.suppress(ModelFailed):
        vectors = np.stack([embedder.embed_query(one) for one in QUESTIONS])
        if vectors.shape[1] == model.dimension and np.isfinite(vectors).all():
            with writer_lock(root):
                keep(root, model, keys, vectors)


def _wanted(root: Path, model: Model) -> dict[bytes, str]:
    """Return the texts without a vector by their keys, in the order in which they are to be embedded."""
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
    embedder: Embedder, model: Model, texts: Mapping[bytes, str]
) -> Iterator[tuple[list[bytes], NDArray[np.float32] | str]]:
    """Yield keys with their vectors, and each key alone whose text is refused, with the sentence that says why.

    A batch that fails is halved until those texts stand alone that make it fail.

    Raises:
        ModelFailed: the embedder fails with a harmless text, too: what failed before tells nothing of these.
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


def _vectors(embedder: Embedder, model: Model, texts: list[str]) -> NDArray[np.float32]:
    """Ask the embedder, which gives vectors of length one, and believe it only what can be compared.

    Raises:
        ModelFailed: what came is of no use.
    """
    import numpy as np  # noqa: PLC0415  only who embeds needs it

    vectors = np.asarray(embedder.embed_documents(texts), np.float32)
    if vectors.shape != (len(texts), model.dimension) or not np.isfinite(vectors).all():
        raise ModelFailed(model.name, f"gave vectors that are of no use (shape {vectors.shape})")
    return vectors


def key(text: str) -> bytes:
    """Return the 16 bytes by which the vector of an embedded text is known."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()


def embedded_text(text: str, title: str, headings: Sequence[str], date: str, status: str = "") -> str:
    """Return what is embedded: the words first, for they matter most, then where and of when they are.

    The path is not in it, so that a renamed file keeps its vectors. An item (what has a status) is a sentence that
    stands for itself, under a label that says what its heading would; so it keeps its vector wherever it moves.
    """
    bare = _BOLD.sub("", _BULLET.sub("", text)).strip()
    where = "" if status else " > ".join(dict.fromkeys(part for part in (title, *headings) if part))
    about = ", ".join(part for part in (where, day_words(date)) if part)
    return f"{bare} ({about})" if about else bare
