"""The tensors of a safetensors file, read without the library of that name: a table of offsets, then plain numbers."""

from __future__ import annotations

import json
import math
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
