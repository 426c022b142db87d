"""Kept replies: a night that died, or left days pending, is not paid twice for the same call.

One file per reply, named by the model and the call. They go once a night has read all there is. They are derived and
safe to delete: the next run calls again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from pipelines.errors import CurateError
from pipelines.store.files import make_folder, read_bytes, replace_synced
from pipelines.store.layout import REPLIES
from pipelines.store.user_layout import inside
from pipelines.usage import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.llm.call import Call, Model, ModelAnswer


class Replies:
    """The replies that a memory keeps.

    Args:
        root: the memory.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self, model: Model, call: Call) -> ModelAnswer | None:
        """Return a model's kept reply to this call, with the usage of that time, or None."""
        from pipelines.extract.llm.call import ModelAnswer  # noqa: PLC0415  a night without a model drops them too

        with contextlib.suppress(CurateError, OSError, ValueError, KeyError, TypeError, RecursionError):
            if data := read_bytes(self._root, f"{REPLIES}/{_key(model, call)}.json"):
                found = json.loads(data)
                return ModelAnswer(str(found["text"]), model.name, Usage(**found["usage"]))
        return None

    def keep(self, model: Model, call: Call, answer: ModelAnswer) -> None:
        """Keep a reply atomically. If the disk refuses, the run goes on without."""
        with contextlib.suppress(ValueError, CurateError, OSError):
            data = json.dumps(asdict(answer), indent=1).encode()
            replace_synced(make_folder(self._root, REPLIES) / f"{_key(model, call)}.json", data)


def drop_replies(root: Path) -> None:
    """Delete the replies that a memory keeps; what cannot be deleted stays."""
    with contextlib.suppress(CurateError, OSError):
        for file in inside(root, REPLIES).iterdir():
            file.unlink()


def _key(model: Model, call: Call) -> str:
    """Return the file name of a model's reply to a call."""
    return hashlib.sha256(f"{model.source}\x1f{call.digest}".encode(errors="surrogatepass")).hexdigest()[:32]
