"""The ONNX graph of a BERT encoder with mean pooling, built from its tensors: token ids in, unit vectors out.

In `int8`, the products with weights are computed in whole numbers: weights with one scale a column, activations with
one scale a token. The usual dynamic quantisation has one scale for a whole batch, so that the vector of a text depends
on its neighbours in the batch (down to a cosine of 0.97); here it depends on the text alone. Weights keep seven bits:
processors without the newer instructions saturate at eight, and would give other vectors than the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pipelines.errors import UnusableModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from onnx import NodeProto

    from pipelines.provider_settings import Precision
    from pipelines.search.embedders.built_graph import ModelFolder

    Tensors = Mapping[str, NDArray[np.float32]]


_OPSET, _IR = 20, 10
_WEIGHT_TOP: Final = 63  # seven bits: two products of it with 255 still fit sixteen
_ROW_TOP: Final = 127
_SMALLEST: Final = 1e-12  # keeps a row of zeros from dividing by zero


def build_graph(shape: ModelFolder, tensors: Tensors, precision: Precision) -> bytes:
    """Return the graph's bytes.

    Its inputs are `ids`, the token ids, int64 (batch, tokens), and `mask`, float32 of the same shape, one where a token
    is and zero where a row is padded. Its output `vector` is float32 (batch, width), each row of length one.

    Args:
        shape: what the folder says about the model.
        tensors: its weights by name.
        precision: `fp32` computes as the model was trained, `int8` about half again as fast.

    Raises:
        UnusableModel: a tensor is missing or has another shape than the folder says.
    """
    graph = _Int8Graph(shape, tensors) if precision == "int8" else _Graph(shape, tensors)
    graph.encoder()
    both = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, both),
        helper.make_tensor_value_info("mask", TensorProto.FLOAT, both),
    ]
    output = helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", shape.width])
    whole = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    return bytes(model.SerializeToString())


class _Graph:
    """The graph under construction: every method adds nodes and returns the name of what they give."""

    def __init__(self, shape: ModelFolder, tensors: Tensors) -> None:
        self.shape, self.tensors = shape, tensors
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def node(self, kind: str, *inputs: Any, **attributes: Any) -> str:  # noqa: ANN401  as ONNX defines them
        """Add a node; an input is the name of what another gives, or a constant."""
        name = f"n{len(self.nodes)}"
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self.nodes.append(helper.make_node(kind, names, [name], **attributes))
        return name

    def constant(self, value: Any) -> str:  # noqa: ANN401  whatever numpy makes an array of
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def tensor(self, name: str, *sides: int) -> NDArray[np.float32]:
        found = self.tensors.get(name)
        if found is None:
            raise UnusableModel(self.shape.path, f"its weights hold no {name}")
        if found.ndim != len(sides) or any(
            side not in {0, have} for side, have in zip(sides, found.shape, strict=True)
        ):
            raise UnusableModel(self.shape.path, f"{name} has the shape {found.shape}, which config.json does not say")
        return found

    def encoder(self) -> None:
        """Add the whole encoder, from `ids` and `mask` to `vector`."""
        self.scale = np.float32(1 / np.sqrt(self.shape.width // self.shape.heads))
        column = self.node("Unsqueeze", "mask", [2])
        hidden = self.embeddings()
        away = self.node("Sub", "mask", np.float32(1))
        bias = self.node("Mul", self.node("Unsqueeze", away, [1, 2]), np.float32(1e9))
        for layer in range(self.shape.layers):
            hidden = self.layer(f"encoder.layer.{layer}.", hidden, bias)
        axis = [1]
        total = self.node("ReduceSum", self.node("Mul", hidden, column), axis, keepdims=0)
        mean = self.node("Div", total, self.node("ReduceSum", column, axis, keepdims=0))
        self.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))

    def embeddings(self) -> str:
        width = self.shape.width
        places = self.tensor("embeddings.position_embeddings.weight", 0, width)
        places = places + self.tensor("embeddings.token_type_embeddings.weight", 0, width)[0]
        count = self.node("Shape", "ids", start=1, end=2)
        there = self.node("Slice", places, [0], count, [0])
        words = self.words(self.tensor("embeddings.word_embeddings.weight", 0, width))
        return self.norm(self.node("Add", words, there), "embeddings.LayerNorm")

    def layer(self, prefix: str, hidden: str, bias: str) -> str:
        width = self.shape.width
        attended = self.dense(
            self.attention(prefix + "attention.self.", hidden, bias), width, prefix + "attention.output.dense"
        )
        hidden = self.norm(self.node("Add", attended, hidden), prefix + "attention.output.LayerNorm")
        inner = self.node("Gelu", self.dense(hidden, width, prefix + "intermediate.dense"))
        outer = self.dense(inner, 0, prefix + "output.dense")
        return self.norm(self.node("Add", outer, hidden), prefix + "output.LayerNorm")

    def attention(self, prefix: str, hidden: str, bias: str) -> str:
        width, heads = self.shape.width, self.shape.heads
        joint = self.dense(hidden, width, *(prefix + part for part in ("query", "key", "value")))
        split = [0, 0, heads, width // heads]
        query, key, value = (f"{joint}.{part}" for part in "qkv")
        self.nodes.append(helper.make_node("Split", [joint], [query, key, value], axis=-1, num_outputs=3))
        query, key, value = (self.node("Reshape", part, split) for part in (query, key, value))
        query, value = (self.node("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 2, 3, 1]))
        shares = self.node("Softmax", self.node("Add", self.node("Mul", scores, self.scale), bias), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self.node("Reshape", mixed, [0, 0, width])

    def norm(self, hidden: str, name: str) -> str:
        gain = self.tensor(name + ".weight", self.shape.width)
        shift = self.tensor(name + ".bias", self.shape.width)
        return self.node("LayerNormalization", hidden, gain, shift, axis=-1, epsilon=self.shape.epsilon)

    def dense(self, hidden: str, width: int, *names: str) -> str:
        """Add the linear layers of these names, side by side: one product instead of several."""
        weights = np.concatenate([self.tensor(name + ".weight", 0, width).T for name in names], axis=1)
        shifts = np.concatenate([self.tensor(name + ".bias", 0) for name in names])
        return self.node("Add", self.product(hidden, weights), shifts)

    def words(self, table: NDArray[np.float32]) -> str:
        return self.node("Gather", table, "ids")

    def product(self, hidden: str, weights: NDArray[np.float32]) -> str:
        return self.node("MatMul", hidden, weights)


class _Int8Graph(_Graph):
    """The same, with word table and weights in eight bits, and the products with weights in whole numbers."""

    def words(self, table: NDArray[np.float32]) -> str:
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True) / _ROW_TOP, np.float32(_SMALLEST))
        whole = self.node("Gather", np.rint(table / scales).astype(np.int8), "ids")
        scale = self.node("Gather", scales.astype(np.float32), "ids")
        return self.node("Mul", self.node("Cast", whole, to=TensorProto.FLOAT), scale)

    def product(self, hidden: str, weights: NDArray[np.float32]) -> str:
        scales = np.maximum(np.abs(weights).max(axis=0) / _WEIGHT_TOP, np.float32(_SMALLEST))
        whole = np.rint(weights / scales).astype(np.int8)
        largest = self.node("ReduceMax", self.node("Abs", hidden), [-1], keepdims=1)
        row = self.node("Mul", largest, np.float32(1 / _ROW_TOP))
        row = self.node("Max", row, np.float32(_SMALLEST))
        steps = self.node("Round", self.node("Div", hidden, row))
        shifted = self.node("Add", steps, np.float32(_ROW_TOP + 1))
        bytes_ = self.node("Cast", shifted, to=TensorProto.UINT8)
        zero = np.uint8(_ROW_TOP + 1)
        summed = self.node("Cast", self.node("MatMulInteger", bytes_, whole, zero), to=TensorProto.FLOAT)
        return self.node("Mul", self.node("Mul", summed, scales.astype(np.float32)), row)
