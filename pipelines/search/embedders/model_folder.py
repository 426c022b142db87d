"""The tensors of a safetensors file, read without the library of that name: a table of offsets, then plain numbers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import UnusableModel

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


_KINDS: Final = {"F32": "<f4", "F16": "<f2"}
_COUNT_BYTES: Final = 8


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return a file's tensors of floating numbers by name, without the prefix `bert.` that some exporters add.

    Raises:
        UnusableModel: the file is cut off or is no safetensors, or its numbers are of a kind that is not understood.
    """
    import numpy as np  # noqa: PLC0415  a tenth of a second that only this work pays

    try:
        raw = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError):
        raise UnusableModel(path.parent, f"{path.name} cannot be read or is empty") from None
    start, table = _table(path, raw)
    found = {}
    for name, about in table.items():
        if about["dtype"] in _KINDS:
            data = raw[start + about["from"] : start + about["to"]]
            tensor = data.view(_KINDS[about["dtype"]]).reshape(about["shape"]).astype(np.float32, copy=False)
            found[name.removeprefix("bert.")] = tensor
        elif about["dtype"] != "I64":  # the positions that BERT counts for itself
            raise UnusableModel(path.parent, f"its weights are {about['dtype'][:10]}; F32 and F16 are understood")
    return found


def _table(path: Path, raw: NDArray[np.uint8]) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return where the numbers begin, and kind, shape and place of each tensor, all checked against the file's size."""
    broken = UnusableModel(path.parent, f"{path.name} is cut off or is no safetensors file")
    size = int.from_bytes(raw[:_COUNT_BYTES].tobytes(), "little")
    start = _COUNT_BYTES + size
    try:
        listed = json.loads(raw[_COUNT_BYTES:start].tobytes())
        table = {}
        for name, entry in listed.items():
            if name == "__metadata__":
                continue
            kind, shape, (begin, end) = (
                str(entry["dtype"]),
                [int(side) for side in entry["shape"]],
                entry["data_offsets"],
            )
            width = {"F32": 4, "F16": 2}.get(kind)
            right = width is None or end - begin == width * math.prod(shape)
            if not (0 <= begin <= end <= len(raw) - start and right and min(shape, default=1) > 0):
                raise broken
            table[name] = {"dtype": kind, "shape": shape, "from": begin, "to": end}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise broken from None
    return start, table


# ---------------------------------------- what a sentence-transformers folder says about its model
# and whether it is one that can be run here.
#
# Understood are BERT encoders whose token vectors are averaged. Anything else is refused with its reason, since a
# model run in another way than it was trained gives vectors that look right and find nothing.


WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"
_STEPS: Final = frozenset({"Transformer", "Pooling", "Normalize"})


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


def read_folder(path: Path) -> ModelFolder:
    """Return the shape of the model in a folder.

    Raises:
        UnusableModel: a file is missing or damaged, or the model is of a kind that is not understood.
    """
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        if not (path / name).is_file():
            raise UnusableModel(path, f"it has no {name}", "Name a folder of sentence-transformers with safetensors.")
    config = _read(path, CONFIG)
    if fault := _config_fault(config) or _steps_fault(path) or _pooling_fault(path):
        raise UnusableModel(path, fault, "Understood are BERT models with mean pooling; name one in [embedder] folder.")
    return ModelFolder(
        path=path,
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        width=config["hidden_size"],
        limit=_limit(path, config["max_position_embeddings"]),
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        prompts=_prompts(path),
    )


def _read(path: Path, name: str) -> dict[str, Any]:
    """Return a JSON object of the folder; of a file that is not there, an empty one."""
    try:
        value = json.loads((path / name).read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnusableModel(path, f"{name} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UnusableModel(path, f"{name} is not JSON") from None
    if not isinstance(value, dict):
        raise UnusableModel(path, f"{name} holds no JSON object")
    return value


def _config_fault(config: dict[str, Any]) -> str:
    if config.get("model_type") != "bert":
        return f"it is of the type {_shown(config.get('model_type'))}, not bert"
    if config.get("hidden_act", "gelu") != "gelu":
        return f"its activation is {_shown(config.get('hidden_act'))}, not gelu"
    if config.get("position_embedding_type", "absolute") != "absolute":
        return f"its positions are {_shown(config.get('position_embedding_type'))}, not absolute"
    for key in ("num_hidden_layers", "num_attention_heads", "hidden_size", "max_position_embeddings"):
        value = config.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            return f"config.json says no {key}"
    if config["hidden_size"] % config["num_attention_heads"]:
        return "its heads do not divide its width"
    epsilon = config.get("layer_norm_eps", 1e-12)
    return "" if isinstance(epsilon, float) and 0 < epsilon < 1 else "its layer_norm_eps is no small number"


def _steps_fault(path: Path) -> str:
    try:
        steps = json.loads((path / "modules.json").read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return "modules.json cannot be read"
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return "modules.json holds no list of steps"
    for step in steps:
        kind = str(step.get("type", "")).rpartition(".")[2]
        if kind not in _STEPS:
            return f"it has a step of the kind {_shown(kind)}"
    return ""


def _pooling_fault(path: Path) -> str:
    pooling = _read(path, "1_Pooling/config.json")
    on = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value is True]
    if on not in ([], ["pooling_mode_mean_tokens"]):
        return f"it pools by {', '.join(_shown(key.removeprefix('pooling_mode_')) for key in on)}, not by the mean"
    return ""


def _limit(path: Path, positions: int) -> int:
    wanted = _read(path, "sentence_bert_config.json").get("max_seq_length")
    # Below three there is no room for a token between the two marks.
    return min(wanted, positions) if isinstance(wanted, int) and wanted > 2 else positions  # noqa: PLR2004


def _prompts(path: Path) -> tuple[str, str]:
    prompts = _read(path, "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return "", ""
    document = prompts.get("document", prompts.get("passage", ""))
    query = prompts.get("query", "")
    return document if isinstance(document, str) else "", query if isinstance(query, str) else ""


def _shown(value: object) -> str:
    return str(value)[:40]
