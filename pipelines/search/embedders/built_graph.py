"""A local model's files: the folder that it comes in, and the graph that is built from it into the user's cache.

Understood are BERT encoders whose token vectors are averaged, in a folder of sentence-transformers. Anything else is
refused with its reason, since a model run in another way than it was trained gives vectors that look right and find
nothing. A graph is built once, and built again when its files or the builder change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import UnusableModel
from pipelines.search.embedders.pinned_model import LOCAL, digest
from pipelines.store.files import replace_synced, writing
from pipelines.store.folders import holding

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pipelines.provider_settings import Precision
    from pipelines.search.embedders.pinned_model import PinnedModel


BUILDER: Final = 1  # counts up whenever the graph's recipe changes, so that old graphs are not taken for new ones
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"
_SOURCES: Final = (CONFIG, TOKENIZER, WEIGHTS)
_AGAIN: Final = "`curate models fetch` fetches it again."
_DEFAULTS: Final = {"hidden_act": "gelu", "position_embedding_type": "absolute", "layer_norm_eps": 1e-12}
_UNDERSTOOD: Final = {
    "model_type": ("bert", "it is of the type"),
    "hidden_act": ("gelu", "its activation is"),
    "position_embedding_type": ("absolute", "its positions are"),
}
_POOLING: Final = "pooling_mode_"
_SHOWN: Final = 40
_STEPS: Final = frozenset({"Transformer", "Pooling", "Normalize"})
_KINDS: Final = {"F32": "<f4", "F16": "<f2"}
_COUNT_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model's shape, as its folder says.

    Args:
        path: the folder.
        layers: how many encoder layers.
        heads: how many attention heads a layer has.
        width: how many numbers a token's vector has, and the text's.
        limit: the most tokens of a text that are read, the two marks at its ends included.
        epsilon: what layer normalisation adds to the variance.
        prompts: what is put before a document and before a query.
    """

    path: Path
    layers: int
    heads: int
    width: int
    limit: int
    epsilon: float
    prompts: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A local model that is ready to run.

    Args:
        name: model, weights and precision, as the index records them.
        graph: the ONNX file.
        shape: what it was built from.
    """

    name: str
    graph: Path
    shape: ModelFolder


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
    shape = read_folder(folder)
    tag = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:16]
    stamp = models / "built" / f"{tag}-{precision}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # then it is built
        built: dict[str, Any] = json.loads(stamp.read_bytes())
        graph = stamp.parent / built["graph"]
        as_built = (_states(folder), BUILDER, graph.stat().st_size)
        if (built["sources"], built["builder"], built["size"]) == as_built:
            return BuiltModel(built["name"], graph, shape)
    return _build(stamp, shape, precision, pinned)


def _states(folder: Path) -> list[list[int]]:
    """Return size and time of each source file: what a changed file changes, without reading it."""
    found = [(folder / name).stat() for name in _SOURCES]
    return [[state.st_size, state.st_mtime_ns] for state in found]


def _build(stamp: Path, shape: ModelFolder, precision: Precision, pinned: PinnedModel | None) -> BuiltModel:
    folder = shape.path
    from pipelines.search.embedders.onnx_graph import build_graph  # noqa: PLC0415  only a build pays for numpy

    states, weights = _states(folder), _verified(folder, pinned)
    graph = build_graph(shape, read_tensors(folder / WEIGHTS), precision)
    # A named folder's weights are part of the name: two folders called alike are two models.
    label = pinned.name if pinned else f"{folder.absolute().name}#{weights[:8]}"
    name, file = f"{LOCAL}{label}@{precision}", f"{weights[:16]}-{precision}-{BUILDER}.onnx"
    built = {"name": name, "builder": BUILDER, "sources": states, "graph": file, "size": len(graph)}
    with writing(stamp.parent):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        with holding(stamp.parent, "") as place:  # whole: a process that reads the old files keeps them
            replace_synced(place, file, graph)
            replace_synced(place, stamp.name, json.dumps(built, ensure_ascii=False, indent=1).encode())
            place.sync()
    return BuiltModel(name, stamp.parent / file, shape)


def _verified(folder: Path, pinned: PinnedModel | None) -> str:
    """Return the digest of the weights; where pins are given, every file is compared with its own."""
    try:
        for name, (_, sha256) in pinned.files.items() if pinned else ():
            if digest(folder / name) != sha256:
                raise UnusableModel(folder, f"{name} is not the file that was pinned", _AGAIN)
        return pinned.files[WEIGHTS][1] if pinned else digest(folder / WEIGHTS)
    except OSError as error:
        raise UnusableModel(folder, f"it cannot be read: {error.strerror}", _AGAIN) from None


def read_folder(path: Path) -> ModelFolder:
    """Return the shape of the model in a folder.

    Raises:
        UnusableModel: a file is missing or damaged, or the model is of a kind that is not understood.
    """
    for name in _SOURCES:
        if not (path / name).is_file():
            raise UnusableModel(path, f"it has no {name}", "Name a folder of sentence-transformers with safetensors.")
    config = _DEFAULTS | _read(path, CONFIG)
    if fault := _fault(path, config):
        raise UnusableModel(path, fault, "Understood are BERT models with mean pooling; name one in [embedder] folder.")
    positions = config["max_position_embeddings"]
    wanted = _read(path, "sentence_bert_config.json").get("max_seq_length")
    prompts = _read(path, "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    document, query = prompts.get("document", prompts.get("passage")), prompts.get("query")
    return ModelFolder(
        path=path,
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        width=config["hidden_size"],
        # Below three there is no room for a token between the two marks.
        limit=min(wanted, positions) if isinstance(wanted, int) and wanted > 2 else positions,  # noqa: PLR2004
        epsilon=config["layer_norm_eps"],
        prompts=(document if isinstance(document, str) else "", query if isinstance(query, str) else ""),
    )


def _read(path: Path, name: str, kind: type[dict[str, Any] | list[Any]] = dict) -> Any:  # noqa: ANN401  of that kind
    """Return what a JSON file of the folder holds; of a file that is not there, nothing."""
    try:
        value = json.loads((path / name).read_bytes())
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise UnusableModel(path, f"{name} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UnusableModel(path, f"{name} is not JSON") from None
    if not isinstance(value, kind):
        raise UnusableModel(path, f"{name} holds no {'JSON object' if kind is dict else 'list of steps'}")
    return value


def _fault(path: Path, config: dict[str, Any]) -> str:
    """Return why a model is not understood, or an empty string."""
    for key, (wanted, what) in _UNDERSTOOD.items():
        if config.get(key) != wanted:
            return f"{what} {str(config.get(key))[:_SHOWN]}, not {wanted}"
    for key in ("num_hidden_layers", "num_attention_heads", "hidden_size", "max_position_embeddings"):
        value = config.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            return f"config.json says no {key}"
    if config["hidden_size"] % config["num_attention_heads"]:
        return "its heads do not divide its width"
    epsilon = config["layer_norm_eps"]
    if not (isinstance(epsilon, float) and 0 < epsilon < 1):
        return "its layer_norm_eps is no small number"
    for step in _read(path, "modules.json", list):
        kind = str(step.get("type", "") if isinstance(step, dict) else step).rpartition(".")[2]
        if kind not in _STEPS:
            return f"it has a step of the kind {kind[:_SHOWN]}"
    pooling = [key for key, value in _read(path, "1_Pooling/config.json").items() if value is True]
    others = [key.removeprefix(_POOLING)[:_SHOWN] for key in pooling if key.startswith(_POOLING)]
    return f"it pools by {', '.join(others)}, not by the mean" if others not in ([], ["mean_tokens"]) else ""


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return a safetensors file's tensors of floating numbers by name, without the prefix `bert.` that some add.

    It is read without the library of that name: a table of offsets, all checked against the file's size, then plain
    numbers.

    Raises:
        UnusableModel: the file is cut off or is no safetensors, or its numbers are of a kind that is not understood.
    """
    import numpy as np  # noqa: PLC0415  a tenth of a second that only this work pays

    try:
        raw = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError):
        raise UnusableModel(path.parent, f"{path.name} cannot be read or is empty") from None
    broken = UnusableModel(path.parent, f"{path.name} is cut off or is no safetensors file")
    start = _COUNT_BYTES + int.from_bytes(raw[:_COUNT_BYTES].tobytes(), "little")
    found = {}
    try:
        for name, entry in json.loads(raw[_COUNT_BYTES:start].tobytes()).items():
            if name == "__metadata__":
                continue
            kind, shape = str(entry["dtype"]), [int(side) for side in entry["shape"]]
            begin, end = entry["data_offsets"]
            right = kind not in _KINDS or end - begin == np.dtype(_KINDS[kind]).itemsize * math.prod(shape)
            if not (0 <= begin <= end <= len(raw) - start and right and min(shape, default=1) > 0):
                raise broken
            if kind in _KINDS:
                tensor = raw[start + begin : start + end].view(_KINDS[kind]).reshape(shape)
                found[name.removeprefix("bert.")] = tensor.astype(np.float32, copy=False)
            elif kind != "I64":  # the positions that BERT counts for itself
                raise UnusableModel(path.parent, f"its weights are {kind[:10]}; F32 and F16 are understood")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise broken from None
    return found
