#!/usr/bin/env python3
"""Writes cases.txt beside this file: the ONNX operator tests of Attention (opsets 23 to 25) and FlexAttention.

    python3 -m venv venv
    venv/bin/pip install onnx==1.23.2
    venv/bin/python tests/onnx/export.py

The suite seeds NumPy for each case, so two runs write the same bytes. Its expected outputs are computed on the spot by
its reference implementation: another NumPy or processor may differ in their last digits. The cases `..._expanded` run
the same data through the operator's decomposition, so they are left out.

cases.txt holds lines of words:

    onnx 1.23.2
    tensor 0 float32 2 3 4 8            number, element type, sizes; the values follow, row-major, on lines of their own
    case test_attention_4d Attention 23 0.001 1e-07      name, operator, opset, relative and absolute tolerance
    attribute is_causal 1               a number, or the expression that a graph computes
    input Q 0                           the formal name and the number of a tensor
    output Y 3

Equal tensors are stored once. Values are the shortest decimals that give back the same float or double; those of
float16 and bfloat16 are written as the floats they equal.
"""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # other operators' tests divide by zero on purpose
    from onnx.backend.test.case.node import collect_testcases

HERE = Path(__file__).resolve().parent
COUNTS = {"Attention": 93, "FlexAttention": 11}
WIDTH = 118


def number(value) -> str:
    """Shortest decimal of a NumPy scalar."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    text = str(value)
    return text.removesuffix(".0")


def words(array) -> list[str]:
    widened = array.astype(np.float32) if array.dtype.name in ("float16", "bfloat16") else array
    assert np.array_equal(widened.astype(array.dtype), array)
    return [number(value) for value in widened.ravel()]


def expression(graph) -> str:
    """The only output of a graph in terms of its inputs, such as Add(scores, 0.5)."""
    known = {value.name: value.name for value in graph.input}
    for constant in graph.initializer:
        array = numpy_helper.to_array(constant)
        text = ", ".join(words(array))
        known[constant.name] = f"[{text}]" if array.ndim else text
    for node in graph.node:
        arguments = [known[name] for name in node.input]
        arguments += [f"{a.name}={helper.get_attribute_value(a)}" for a in node.attribute]
        (output,) = node.output
        known[output] = f"{node.op_type}({', '.join(arguments)})"
    (output,) = graph.output
    return known[output.name]


def attribute(a) -> str:
    if a.type == AttributeProto.GRAPH:
        return expression(a.g)
    if a.type == AttributeProto.FLOAT:
        return number(np.float32(a.f))
    assert a.type == AttributeProto.INT, a
    return str(a.i)


def formal_names(parameters, actual_names) -> list[str]:
    """What the operator calls the tensors that a node gives it or takes from it; an empty name is none."""
    return [formal.name for formal, actual in zip(parameters, actual_names) if actual]


class Data:
    """The lines of cases.txt."""

    def __init__(self):
        self.lines = [f"onnx {onnx.__version__}"]
        self.numbers: dict[tuple, int] = {}

    def tensor(self, array) -> int:
        array = np.asarray(array)
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self.numbers:
            self.numbers[key] = len(self.numbers)
            sizes = " ".join(map(str, array.shape))
            self.lines.append(f"tensor {self.numbers[key]} {array.dtype.name} {sizes}")
            self.lines += textwrap.wrap(" ".join(words(array)), WIDTH, break_on_hyphens=False)
        return self.numbers[key]

    def case(self, case) -> str:
        """Adds a case and returns the name of its operator."""
        (node,) = case.model.graph.node
        (opset,) = (o.version for o in case.model.opset_import if o.domain == node.domain)
        schema = onnx.defs.get_schema(node.op_type, opset, node.domain)
        ((inputs, outputs),) = case.data_sets
        lines = [f"case {case.name} {node.op_type} {opset} {case.rtol} {case.atol}"]
        lines += [f"attribute {a.name} {attribute(a)}" for a in node.attribute]
        for kind, formal, actual, arrays in (
            ("input", schema.inputs, node.input, inputs),
            ("output", schema.outputs, node.output, outputs),
        ):
            names = formal_names(formal, actual)
            assert len(names) == len(arrays)
            lines += [f"{kind} {name} {self.tensor(array)}" for name, array in zip(names, arrays)]
        self.lines += lines
        return node.op_type

    def write(self) -> None:
        text = "\n".join([*self.lines, ""])
        path = HERE / "cases.txt"
        path.write_text(text)
        print(f"{path.name}: {len(text) / 1000:.0f} kB, {len(self.numbers)} tensors")


def main() -> None:
    data = Data()
    counts = dict.fromkeys(COUNTS, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in COUNTS and not case.name.endswith("_expanded"):
            counts[data.case(case)] += 1
    assert counts == COUNTS, counts
    data.write()


if __name__ == "__main__":
    main()
