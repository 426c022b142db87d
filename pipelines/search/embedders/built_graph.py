"""The graph of a local model in the user's cache: built once, and built again when its files or the builder change."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import NotWritable, UnusableModel
from pipelines.search.embedders.fetch import digest
from pipelines.search.embedders.model_folder import CONFIG, TOKENIZER, WEIGHTS, read_folder
from pipelines.store.files import sync_folder

if TYPE_CHECKING:
    from pipelines.provider_settings import Precision
    from pipelines.search.embedders.fetch import PinnedModel


BUILDER: Final = 1  # counts up whenever the graph's recipe changes, so that old graphs are not taken for new ones
_SOURCES = (CONFIG, TOKENIZER, WEIGHTS)
_AGAIN = "`curate models fetch` fetches it again."


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A local model that is ready to run.

    Args:
        name: model, weights and precision, as the index records them.
        graph: the ONNX file.
        folder: what it was built from: tokenizer, shape and weights.
        dimension: how many numbers a vector has.
        limit: the most tokens of a text that are read.
        prompts: what is put before a document and before a query.
    """

    name: str
    graph: Path
    folder: Path
    dimension: int
    limit: int
    prompts: tuple[str, str] = ("", "")

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file."""
        return self.folder / TOKENIZER


def built_model(folder: Path, models: Path, precision: Precision, pinned: PinnedModel | None = None) -> BuiltModel:
    """Return the model of a folder, its graph built into the cache unless it is there and fits the folder's files.

    Args:
        folder: a sentence-transformers folder.
        models: the folder of all models; graphs and stamps come into `built` in it.
        precision: how the graph computes.
        pinned: which bytes the files must have, or None for a folder that the user named.

    Raises:
        UnusableModel: a file is missing, damaged, not the pinned one, or of a kind that is not understood.
        NotWritable: the cache cannot be written.
    """
    stamp = models / "built" / f"{_tag(folder)}-{precision}.json"
    return _ready(stamp, folder) or _build(stamp, folder, precision, pinned)


def _tag(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:16]


def _states(folder: Path) -> list[list[int]]:
    """Return size and time of each source file: what a changed file changes, without reading it."""
    found = [(folder / name).stat() for name in _SOURCES]
    return [[state.st_size, state.st_mtime_ns] for state in found]


def _ready(stamp: Path, folder: Path) -> BuiltModel | None:
    """Return the model that a stamp tells of, if all that it was built from is as it was then."""
    try:
        told: dict[str, Any] = json.loads(stamp.read_bytes())
        graph = stamp.parent / told["graph"]
        if told["sources"] != _states(folder) or told["builder"] != BUILDER or graph.stat().st_size != told["size"]:
            return None
        document, query = told["prompts"]
        return BuiltModel(told["name"], graph, folder, int(told["dimension"]), int(told["limit"]), (document, query))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _build(stamp: Path, folder: Path, precision: Precision, pinned: PinnedModel | None) -> BuiltModel:
    try:
        from pipelines.search.embedders.model_folder import read_tensors  # noqa: PLC0415  as above
        from pipelines.search.embedders.onnx_graph import build_graph  # noqa: PLC0415  brings in onnx, needed only to build
    except ImportError as missing:
        raise UnusableModel(folder, f"the library {missing.name} is not installed") from None

    shape = read_folder(folder)
    states, weights = _states(folder), _verified(folder, pinned)
    graph = build_graph(shape, read_tensors(folder / WEIGHTS), precision)
    # A named folder's weights are part of the name: two folders called alike are two models.
    label = pinned.name if pinned else f"{folder.absolute().name}#{weights[:8]}"
    model = BuiltModel(
        name=f"local:{label}@{precision}",
        graph=stamp.parent / f"{weights[:16]}-{precision}-{BUILDER}.onnx",
        folder=folder,
        dimension=shape.width,
        limit=shape.limit,
        prompts=shape.prompts,
    )
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        _put(model.graph, graph)
        _put(stamp, _stamped(model, states, len(graph)))
    except OSError as error:
        raise NotWritable(stamp.parent, (error.strerror or str(error)).lower()) from error
    return model


def _verified(folder: Path, pinned: PinnedModel | None) -> str:
    """Return the digest of the weights; where pins are given, every file is compared with its own."""
    try:
        for file in pinned.files if pinned else ():
            if digest(folder / file.name) != file.sha256:
                raise UnusableModel(folder, f"{file.name} is not the file that was pinned", _AGAIN)
        return pinned.pin(WEIGHTS) if pinned else digest(folder / WEIGHTS)
    except OSError as error:
        raise UnusableModel(folder, f"it cannot be read: {error.strerror}", _AGAIN) from None


def _stamped(model: BuiltModel, states: list[list[int]], size: int) -> bytes:
    told = {
        "name": model.name,
        "builder": BUILDER,
        "sources": states,
        "graph": model.graph.name,
        "size": size,
        "dimension": model.dimension,
        "limit": model.limit,
        "prompts": model.prompts,
    }
    return json.dumps(told, ensure_ascii=False, indent=1).encode()


def _put(path: Path, data: bytes) -> None:
    """Put a file in place whole: a process that reads the old one keeps it."""
    import tempfile  # noqa: PLC0415  only who builds needs it

    descriptor, name = tempfile.mkstemp(prefix=".build-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
