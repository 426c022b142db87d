"""Build the ONNX graph of a BERT encoder with mean pooling from its tensors: token ids in, unit vectors out.

Products with weights are computed in integers: one scale per column for weights, one scale per token for activations.
The usual dynamic quantisation has one scale per batch, so the vector of a text depends on its neighbours in the batch
(down to a cosine of 0.97). Here it depends on the text alone. Weights keep seven bits, because processors without the
newer instructions saturate at eight and would give different vectors.

The bytes are written here, without the `onnx` package: it would add 33 MB to every installation for one short encoding.
The field and type numbers are those of ONNX's `onnx.proto`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.errors import UnusableModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pipelines.search.embedders.built_graph import ModelFolder

    Tensors = Mapping[str, NDArray[np.float32]]
    _Attribute = int | float | list[int]


_OPSET, _IR = 20, 10
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_WEIGHT_TOP = 63  # seven bits: two products of it with 255 still fit sixteen
_ROW_TOP = 127
_SMALLEST = 1e-12  # keeps a row of zeros from dividing by zero


def build_graph(shape: ModelFolder, tensors: Tensors) -> bytes:
    """Return the graph's bytes.

    Its input `ids` are the token ids of one text, int64 (1, tokens). Its output `vector` is float32 (1, width), of
    length one.

    Args:
        shape: what the folder says about the model.
        tensors: its weights by name.

    Raises:
        UnusableModel: a tensor is missing.
    """
    graph = _Graph(shape, tensors)
    graph.encoder()
    whole = b"".join(
        (
            *(_field(1, node) for node in graph.nodes),
            _field(2, b"encoder"),
            *(_field(5, constant) for constant in graph.constants),
            _field(11, _value("ids", "int64")),
            _field(12, _value("vector", "float32")),
        )
    )
    return _field(1, _IR) + _field(7, whole) + _field(8, _field(1, b"") + _field(2, _OPSET))


def _field(number: int, value: int | float | bytes) -> bytes:  # noqa: PYI041  an int is encoded otherwise than a float
    """Return a protobuf field: a varint, a 32-bit float, or bytes with their length before them."""
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, bytes):
        return b"".join((_varint(number << 3 | 2), _varint(len(value)), value))
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Return an integer in groups of seven bits, the lowest first; a negative one counts as 64 bits wide."""
    value &= (1 << 64) - 1
    groups = bytearray()
    while value > 0x7F:  # noqa: PLR2004  the seven bits
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*groups, value))


def _value(name: str, kind: str) -> bytes:
    """Return the ValueInfoProto of an input or output, of any shape."""
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, _TYPES[kind])))


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    """Return the TensorProto of an array."""
    raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    dims = b"".join(_field(1, side) for side in array.shape)
    return b"".join((dims, _field(2, _TYPES[array.dtype.name]), _field(8, name.encode()), _field(9, raw)))


def _node(kind: str, inputs: list[str], outputs: list[str], **attributes: _Attribute) -> bytes:
    """Return a NodeProto; an attribute is an int, a float or a list of ints."""
    return b"".join(
        (
            *(_field(1, name.encode()) for name in inputs),
            *(_field(2, name.encode()) for name in outputs),
            _field(4, kind.encode()),
            *(_field(5, _attribute(name, value)) for name, value in sorted(attributes.items())),
        )
    )


def _attribute(name: str, value: _Attribute) -> bytes:
    if isinstance(value, float):
        held, kind = _field(2, value), 1
    elif isinstance(value, int):
        held, kind = _field(3, value), 2
    else:
        held, kind = b"".join(_field(8, one) for one in value), 7
    return _field(1, name.encode()) + held + _field(20, kind)


class _Graph:
    """The graph under construction: each method adds nodes and returns the name of their output."""

    def __init__(self, shape: ModelFolder, tensors: Tensors) -> None:
        self.shape, self.tensors = shape, tensors
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []

    def node(self, kind: str, *inputs: Any, **attributes: _Attribute) -> str:  # noqa: ANN401  as for `constant`
        """Add a node; an input is the name of another node's output, or a constant."""
        name = f"n{len(self.nodes)}"
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self.nodes.append(_node(kind, names, [name], **attributes))
        return name

    def constant(self, value: Any) -> str:  # noqa: ANN401  whatever numpy makes an array of
        name = f"c{len(self.constants)}"
        self.constants.append(_tensor(name, np.ascontiguousarray(value)))
        return name

    def tensor(self, name: str) -> NDArray[np.float32]:
        if name not in self.tensors:
            raise UnusableModel(self.shape.path, f"its weights lack {name}")
        return self.tensors[name]

    def encoder(self) -> None:
        """Add the whole encoder, from `ids` to `vector`."""
        self.scale = np.float32(1 / np.sqrt(self.shape.width // self.shape.heads))
        hidden = self.embeddings()
        for layer in range(self.shape.layers):
            hidden = self.layer(f"encoder.layer.{layer}.", hidden)
        mean = self.node("ReduceMean", hidden, [1], keepdims=0)
        self.nodes.append(_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))

    def embeddings(self) -> str:
        places = self.tensor("embeddings.position_embeddings.weight")
        places = places + self.tensor("embeddings.token_type_embeddings.weight")[0]
        places = places[self.shape.first :]
        count = self.node("Shape", "ids", start=1, end=2)
        there = self.node("Slice", places, [0], count, [0])
        words = self.words(self.tensor("embeddings.word_embeddings.weight"))
        return self.norm(self.node("Add", words, there), "embeddings.LayerNorm")

    def layer(self, prefix: str, hidden: str) -> str:
        attended = self.dense(self.attention(prefix + "attention.self.", hidden), prefix + "attention.output.dense")
        hidden = self.norm(self.node("Add", attended, hidden), prefix + "attention.output.LayerNorm")
        inner = self.node("Gelu", self.dense(hidden, prefix + "intermediate.dense"))
        outer = self.dense(inner, prefix + "output.dense")
        return self.norm(self.node("Add", outer, hidden), prefix + "output.LayerNorm")

    def attention(self, prefix: str, hidden: str) -> str:
        width, heads = self.shape.width, self.shape.heads
        joint = self.dense(hidden, *(prefix + part for part in ("query", "key", "value")))
        split = [0, 0, heads, width // heads]
        query, key, value = (f"{joint}.{part}" for part in "qkv")
        self.nodes.append(_node("Split", [joint], [query, key, value], axis=-1, num_outputs=3))
        query, key, value = (self.node("Reshape", part, split) for part in (query, key, value))
        query, value = (self.node("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 2, 3, 1]))
        shares = self.node("Softmax", self.node("Mul", scores, self.scale), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self.node("Reshape", mixed, [0, 0, width])

    def norm(self, hidden: str, name: str) -> str:
        gain, shift = self.tensor(name + ".weight"), self.tensor(name + ".bias")
        return self.node("LayerNormalization", hidden, gain, shift, axis=-1, epsilon=self.shape.epsilon)

    def dense(self, hidden: str, *names: str) -> str:
        """Add the linear layers with these names side by side: one product instead of several."""
        weights = np.concatenate([self.tensor(name + ".weight").T for name in names], axis=1)
        shifts = np.concatenate([self.tensor(name + ".bias") for name in names])
        return self.node("Add", self.product(hidden, weights), shifts)

    def words(self, table: NDArray[np.float32]) -> str:
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True) / _ROW_TOP, np.float32(_SMALLEST))
        whole = self.node("Gather", np.rint(table / scales).astype(np.int8), "ids")
        scale = self.node("Gather", scales.astype(np.float32), "ids")
        return self.node("Mul", self.node("Cast", whole, to=_TYPES["float32"]), scale)

    def product(self, hidden: str, weights: NDArray[np.float32]) -> str:
        scales = np.maximum(np.abs(weights).max(axis=0) / _WEIGHT_TOP, np.float32(_SMALLEST))
        whole = np.rint(weights / scales).astype(np.int8)
        # Few nodes: the time to load a graph grows with their square.
        largest = self.node("ReduceMax", self.node("Abs", hidden), [-1], keepdims=1)
        zero = np.uint8(_ROW_TOP + 1)
        steps = self.node("QuantizeLinear", self.node("Div", hidden, largest), np.float32(1 / _ROW_TOP), zero)
        columns = (scales / _ROW_TOP).astype(np.float32)
        total = self.node("DequantizeLinear", self.node("MatMulInteger", steps, whole, zero), columns, axis=2)
        return self.node("Mul", total, largest)
