"""Lines, blocks and names of a kernel's text, and elements on their way through memory."""

import pytest

from nxkernel import types
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter


def test_blocks_are_deeper():
    w = SourceWriter(1)
    with w.block("for i in range(n):"):
        w.extend(["a()", "b()"])
        with w.block("if i:"):
            w.line("c()")
    w.line("d()")
    assert w.text.split("\n") == [
        "    for i in range(n):",
        "        a()",
        "        b()",
        "        if i:",
        "            c()",
        "    d()",
    ]


def test_names():
    w = SourceWriter()
    assert [w.let("x + 1"), w.let("x"), w.let("True"), w.name("at"), w.let("x[1]", "at")] == [
        "v0",
        "x",
        "True",
        "at1",
        "at2",
    ]
    assert w.held(ComplexText("x + 1", "y")) == ComplexText("v3", "y")
    assert w.lines == ["v0 = x + 1", "at2 = x[1]", "v3 = x + 1"]


def test_what_is_known_holds_in_its_block():
    w = SourceWriter()
    w.known["x"] = 1
    with w.block("if t:"):
        assert w.known == {}
        w.known["y"] = 2
    assert w.known == {"x": 1}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("f32", ["v0 = p[i]", "q[i] = v0"]),
        ("bool", ["v0 = truth(p[i])", "q[i] = u8(v0)"]),
        ("bf16", ["v0 = p[i]", "v1 = bf16_value(v0)", "q[i] = v0"]),
        ("c64", ["v0 = load2(p, 2 * (i))", "v1 = v0[0]", "v2 = v0[1]", "store2(q, 2 * (i), (v1, v2))"]),
    ],
)
def test_single_elements(name, lines):
    w, type_ = SourceWriter(), types.normalize(name)
    w.store("q", "i", w.load("p", "i", type_), type_)
    assert w.lines == lines


@pytest.mark.parametrize(
    ("name", "count", "lines"),
    [
        ("f32", 1, ["v0 = p[i]", "q[i] = v0"]),
        ("f32", 2, ["v0 = load2(p, i)", "v1 = v0[0]", "v2 = v0[1]", "store2(q, i, (v1, v2))"]),
        (
            "f16",
            2,
            [
                "v0 = load2(p, i)",
                "v1 = v0[0]",
                "v2 = f16_value(v1)",
                "v3 = v0[1]",
                "v4 = f16_value(v3)",
                "store2(q, i, (v1, v3))",
            ],
        ),
        (
            "c64",
            2,
            [
                "v0 = load4(p, 2 * (i))",
                *[f"v{n + 1} = v0[{n}]" for n in range(4)],
                "store4(q, 2 * (i), (v1, v2, v3, v4))",
            ],
        ),
    ],
)
def test_several_elements(name, count, lines):
    w, type_ = SourceWriter(), types.normalize(name)
    w.store_vector("q", "i", w.load_vector("p", "i", type_, count), type_)
    assert w.lines == lines
