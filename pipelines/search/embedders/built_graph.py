"""Read a local model's folder, and build its graph into the user's cache.

Supported are BERT encoders with mean pooling in a sentence-transformers folder. Anything else is refused with a reason:
a model that runs differently from how it was trained gives vectors that look right and find nothing. A graph is built
once, and again when its files or the builder change.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import UnusableModel
from pipelines.search.embedders.pinned_model import LOCAL, PinnedModel, changed_file
from pipelines.store.files import replace_synced, writing

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


BUILDER = 3  # increment it when the graph changes, so that old graphs are not reused
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
MODULES = "modules.json"
PROMPTS = "config_sentence_transformers.json"
_SOURCES = (CONFIG, TOKENIZER, WEIGHTS)
_AGAIN = "Run `curate models fetch` to fetch it again."
_DEFAULTS = {"hidden_act": "gelu", "position_embedding_type": "absolute", "layer_norm_eps": 1e-12}
# The model cards of this family demand these prefixes, which no file of theirs holds.
_E5 = re.compile(r"(?:^|[-_])e5(?:[-_]|$)")
_E5_PROMPTS = {"query": "query: ", "document": "passage: "}
# RoBERTa counts positions from the one behind that of its padding.
_FIRST_POSITION = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
_SUPPORTED = {
    "model_type": (tuple(_FIRST_POSITION), "its type is"),
    "hidden_act": (("gelu",), "its activation is"),
    "position_embedding_type": (("absolute",), "its positions are"),
}
_POOLING = "pooling_mode_"
_SHOWN = 40
_STEPS = frozenset({"Transformer", "Pooling", "Normalize"})
_KINDS = {"F32": "<f4", "F16": "<f2"}
_COUNT_BYTES = 8


class ModelFolder(NamedTuple):
    """A model's shape, as described by its folder.

    Args:
        path: the folder.
        layers: the number of encoder layers.
        heads: the number of attention heads per layer.
        width: the dimension of a token's vector, and of the text's.
        limit: the most tokens read from a text, including the special tokens at its ends.
        epsilon: what layer normalisation adds to the variance.
        first: the position of a text's first token.
        prompts: the prefixes of a document and of a query.
    """

    path: Path
    layers: int
    heads: int
    width: int
    limit: int
    epsilon: float
    first: int = 0
    prompts: tuple[str, str] = ("", "")


class BuiltModel(NamedTuple):
    """A local model that is ready to run.

    Args:
        name: model, state of its files and how it computes, as the index records them.
        graph: the ONNX file.
        shape: the model it was built from.
    """

    name: str
    graph: Path
    shape: ModelFolder


def built_model(folder: Path, models: Path, pinned: PinnedModel | None = None) -> BuiltModel:
    """Return the model in a folder, and build its graph into the cache unless it is there.

    Args:
        folder: a sentence-transformers folder.
        models: the folder of all models; graphs go to its subfolder `built`.
        pinned: the expected files, or None for a folder named by the user.

    Raises:
        UnusableModel: a file is missing, damaged or not the pinned one, or the model is not supported.
        NotWritable: the cache cannot be written.
    """
    shape = read_folder(folder)
    # The size and time of each source reveal a change without reading 90 MB.
    states = [((folder / name).stat().st_size, (folder / name).stat().st_mtime_ns) for name in _SOURCES]
    place, state = (_tag(one) for one in (os.fsencode(folder.absolute()), repr(states).encode()))
    graph = models / "built" / f"{place}-{state}-{BUILDER}.onnx"
    if not graph.is_file():
        _build(graph, shape, pinned)
    # A user's model carries the state of its files: two folders with the same name can hold different models.
    label = pinned.name if pinned else f"{folder.absolute().name}#{state}"
    return BuiltModel(f"{LOCAL}{label}@int8", graph, shape)


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def _build(graph: Path, shape: ModelFolder, pinned: PinnedModel | None) -> None:
    from pipelines.search.embedders.onnx_graph import build_graph  # noqa: PLC0415  only a build pays for numpy

    if pinned and (name := changed_file(pinned, shape.path)):
        raise UnusableModel(shape.path, f"{name} does not match its pinned SHA-256", _AGAIN)
    data = build_graph(shape, read_tensors(shape.path / WEIGHTS))
    with writing(graph.parent):
        graph.parent.mkdir(parents=True, exist_ok=True)
        replace_synced(graph, data)
        for old in {*graph.parent.glob(f"{graph.name[:8]}-*")} - {graph}:
            old.unlink(missing_ok=True)


def read_folder(path: Path) -> ModelFolder:
    """Return the shape of the model in a folder.

    Raises:
        UnusableModel: a file is missing or damaged, or the model is not supported.
    """
    for name in _SOURCES:
        if not (path / name).is_file():
            raise UnusableModel(
                path, f"it has no {name}", "Name a sentence-transformers folder with safetensors weights."
            )
    try:
        config = _DEFAULTS | _read(path, CONFIG)
        fault = _fault(path, config)
        if not fault:
            return _shape(path, config)
    except OSError as error:
        fault = f"it cannot be read ({error.strerror})"
    except (ValueError, TypeError, LookupError, AttributeError):
        fault = "its description is damaged, or lacks something"
    raise UnusableModel(path, fault, "Set `folder` in [embedder] to a BERT model with mean pooling.")


def _shape(path: Path, config: dict[str, Any]) -> ModelFolder:
    first = _FIRST_POSITION[config["model_type"]]
    positions = int(config["max_position_embeddings"]) - first
    wanted = _read(path, "sentence_bert_config.json").get("max_seq_length")
    prompts = _read(path, PROMPTS).get("prompts")
    if not isinstance(prompts, dict):
        prompts = _E5_PROMPTS if _E5.search(path.name) else {}
    return ModelFolder(
        path=path,
        layers=int(config["num_hidden_layers"]),
        heads=int(config["num_attention_heads"]),
        width=int(config["hidden_size"]),
        # Below three there is no room for a token between the two special ones.
        limit=min(wanted, positions) if isinstance(wanted, int) and wanted > 2 else positions,  # noqa: PLR2004
        epsilon=float(config["layer_norm_eps"]),
        first=first,
        prompts=(str(prompts.get("document", prompts.get("passage", ""))), str(prompts.get("query", ""))),
    )


def _read(path: Path, name: str) -> Any:  # noqa: ANN401  JSON
    """Return the content of a JSON file in the folder, or an empty object if there is no such file."""
    try:
        return json.loads((path / name).read_bytes())
    except FileNotFoundError:
        return {}


def _fault(path: Path, config: dict[str, Any]) -> str:
    """Return why a model is not supported, or an empty string."""
    for key, (wanted, what) in _SUPPORTED.items():
        if config.get(key) not in wanted:
            return f"{what} {str(config.get(key))[:_SHOWN]}, not {' or '.join(wanted)}"
    for step in _read(path, MODULES) or ():
        if (kind := step["type"].rpartition(".")[2]) not in _STEPS:
            return f"it has an unsupported step, {kind[:_SHOWN]}"
    pooling = [key for key, value in _read(path, "1_Pooling/config.json").items() if value is True]
    others = [key.removeprefix(_POOLING)[:_SHOWN] for key in pooling if key.startswith(_POOLING)]
    return f"its pooling is {', '.join(others)}, not the mean" if others not in ([], ["mean_tokens"]) else ""


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return a safetensors file's floating-point tensors by name, without the prefix `bert.` that some files add.

    The format needs no library: a table of offsets, then plain numbers.

    Raises:
        UnusableModel: the file is truncated, is not safetensors, or holds an unsupported number type.
    """
    import numpy as np  # noqa: PLC0415  costs a tenth of a second

    found = {}
    try:
        raw = np.memmap(path, np.uint8, "r")
        start = _COUNT_BYTES + int.from_bytes(raw[:_COUNT_BYTES].tobytes(), "little")
        for name, entry in json.loads(raw[_COUNT_BYTES:start].tobytes()).items():
            if (kind := entry.get("dtype", "I64")) in _KINDS:
                begin, end = entry["data_offsets"]
                tensor = raw[start + begin : start + end].view(_KINDS[kind]).reshape(entry["shape"])
                found[name.removeprefix("bert.")] = tensor.astype(np.float32, copy=False)
            elif kind != "I64":  # the position ids, which the graph counts itself
                raise UnusableModel(path.parent, f"its weights are {kind[:10]}; only F32 and F16 are supported")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UnusableModel(path.parent, f"{path.name} is truncated or not a safetensors file") from None
    return found
