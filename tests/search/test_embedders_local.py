"""The local model: the graph against a plain numpy forward pass, what is refused, and what is built again."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.errors import EmbeddingFailed, NotWritable, UnusableModel
from pipelines.search.embedders.built_graph import built_model
from pipelines.search.embedders.local import LocalEmbedder
from tests.search import tiny_bert

TEXTS = [
    "the cat sat on the mat",
    "dogs ran home",
    "we chose blue paint",
    "",
    "the dog sat on a blue mat and the cats ran home",
    "日本語 \ud800 nothing known",
    *(f"{'the cat ran ' * count}home" for count in range(9)),
]


def embedder(folder: Path, models: Path) -> LocalEmbedder:
    return LocalEmbedder(built_model(folder, models))


def expected(
    limit: int = tiny_bert.POSITIONS, tensors: tiny_bert.Weights | None = None
) -> np.ndarray[Any, np.dtype[np.float64]]:
    tokenizer = tiny_bert.tokenizer()
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = [tokenizer.encode(text.encode("utf-8", "replace").decode()).ids for text in TEXTS]
    assert max(map(len, ids)) > limit
    # A long text is read but for its middle: a quarter of what can be read is its end.
    ids = [row if len(row) <= limit else row[: limit - limit // 4] + row[-(limit // 4) :] for row in ids]
    return np.stack([tiny_bert.forward(tensors or tiny_bert.weights(), row) for row in ids])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert.lay(tmp_path / "tiny")


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


# ---------------------------------------------------------------- what it computes


def test_the_graph_computes_what_a_plain_forward_pass_computes(folder: Path, models: Path) -> None:
    found = embedder(folder, models).embed_documents(TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.sum(found * expected(), axis=1).min() >= 0.9995


def test_positions_of_roberta_begin_behind_those_of_its_padding(tmp_path: Path, models: Path) -> None:
    folder = tiny_bert.lay(tmp_path / "roberta", config={"model_type": "xlm-roberta"})
    tensors = tiny_bert.weights()
    places = "embeddings.position_embeddings.weight"
    tensors[places] = tensors[places][2:]
    found = embedder(folder, models).embed_documents(TEXTS)
    wanted = expected(tiny_bert.POSITIONS - 2, tensors)
    assert np.sum(found * wanted, axis=1).min() >= 0.9995
    assert np.sum(found * expected(tiny_bert.POSITIONS - 2), axis=1).min() < 0.999


def test_a_missing_runtime_is_said(folder: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = embedder(folder, models)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for embed in (one.embed_query, lambda text: one.embed_documents([text])):
        with pytest.raises(EmbeddingFailed, match="needs a library that is not installed"):
            embed("the cat")


def test_a_vector_without_direction_is_said(tmp_path: Path, models: Path) -> None:
    folder = tiny_bert.lay(tmp_path / "nothing")
    nothing = {name: tensor * np.float32(0) for name, tensor in tiny_bert.weights().items()}
    (folder / "model.safetensors").write_bytes(tiny_bert.safetensors(nothing))
    with pytest.raises(EmbeddingFailed, match="without a direction"):
        embedder(folder, models).embed_query("the cat")


def test_the_end_of_a_long_text_is_read(folder: Path, models: Path) -> None:
    long = "the cat ran " * 50
    one, other = embedder(folder, models).embed_documents([f"{long} home", f"{long} cat"])
    assert not np.allclose(one, other, atol=1e-4)


def test_the_prompts_of_a_folder_are_put_before_texts(folder: Path, models: Path) -> None:
    plain = embedder(folder, models).embed_documents(["the cat", "we the cat", "a the cat"])
    prompts = {"prompts": {"query": "we ", "document": "a "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(tiny_bert.CONFIG, indent=1), encoding="utf-8")
    prompted = embedder(folder, models)
    assert np.allclose(prompted.embed_query("the cat"), plain[1], atol=1e-6)
    assert np.allclose(prompted.embed_documents(["the cat"])[0], plain[2], atol=1e-6)


# ---------------------------------------------------------------- what is kept and what is built again


def test_bytes_that_are_not_the_pinned_ones_are_not_used(folder: Path, models: Path) -> None:
    pins = tiny_bert.pinned(folder)
    assert built_model(folder, models, pins).name == "local:tiny-bert@int8"
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(
        UnusableModel, match=r"model\.safetensors does not match its pinned SHA-256.*curate models fetch"
    ):
        built_model(folder, models, pins)


def test_a_cache_that_cannot_be_written_is_said(folder: Path, models: Path) -> None:
    models.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(NotWritable):
        built_model(folder, models)


def test_a_graph_that_vanishes_fails_the_batch_alone(folder: Path, models: Path) -> None:
    one = embedder(folder, models)
    one.model.graph.unlink()
    with pytest.raises(EmbeddingFailed, match=r"cannot be loaded.*curate models fetch"):
        one.embed_documents(["the cat"])


# ---------------------------------------------------------------- what is not understood


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_type": "distilbert"}, "its type is distilbert, not bert or roberta or xlm-roberta"),
        ({"hidden_act": "relu"}, "its activation is relu, not gelu"),
        ({"position_embedding_type": "relative_key"}, "its positions are relative_key"),
        ({"num_hidden_layers": 3}, "its weights lack encoder.layer.2"),
        ({"layer_norm_eps": "small"}, "its description is damaged"),
        ({"hidden_size": None}, "its description is damaged"),
    ],
)
def test_a_config_that_is_not_understood_is_refused(
    tmp_path: Path, models: Path, change: dict[str, Any], said: str
) -> None:
    folder = tiny_bert.lay(tmp_path / "odd", config=change)
    with pytest.raises(UnusableModel) as caught:
        built_model(folder, models)
    assert said in str(caught.value)
    assert str(folder) in str(caught.value)


def cut(data: bytes) -> bytes:
    return data[: len(data) - 5]


def beyond(data: bytes) -> bytes:
    return (2**62).to_bytes(8, "little") + data[8:]


@pytest.mark.parametrize("damage", [cut, beyond, lambda _: b"", lambda _: b"x" * 400, lambda data: data[:30]])
def test_weights_that_are_damaged_are_refused(folder: Path, models: Path, damage: Callable[[bytes], bytes]) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UnusableModel, match=r"model\.safetensors (is truncated|cannot be read)"):
        built_model(folder, models)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("1_Pooling/config.json", '{"pooling_mode_cls_token": true}', "its pooling is cls_token, not the mean"),
        ("modules.json", '[{"type": "sentence_transformers.models.Dense"}]', "an unsupported step, Dense"),
        ("modules.json", "{", "its description is damaged"),
        ("modules.json", "[1]", "its description is damaged"),
        ("config.json", "[1]", "its description is damaged"),
        ("config.json", "{", "its description is damaged"),
    ],
)
def test_a_folder_that_is_not_understood_is_refused(
    folder: Path, models: Path, name: str, text: str, said: str
) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(UnusableModel) as caught:
        built_model(folder, models)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_that_is_missing_is_named(folder: Path, models: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UnusableModel, match=f"it has no {name}"):
        built_model(folder, models)


def test_weights_of_another_kind_are_refused(tmp_path: Path, models: Path) -> None:
    folder = tiny_bert.lay(tmp_path / "brain", kind="BF16")
    with pytest.raises(UnusableModel, match="BF16; only F32 and F16 are supported"):
        built_model(folder, models)
