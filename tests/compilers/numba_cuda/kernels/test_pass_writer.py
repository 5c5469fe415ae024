"""Passes of nests as text."""

from emulated_gpu.loop_nests import planned_nests
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import types
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments
from nxkernel.compilers.numba_cuda.kernels.pass_writer import (
    PassWriter,
    got,
    needed,
    parts,
    put,
    shared_dtypes,
    variable,
)
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.loop_nest import Op


def code_of(function, *specs):
    (step,) = planned_nests(graph_of(function, *specs)).steps
    return PassWriter(KernelArguments(step.work), SourceWriter()), step.work.nest.passes


def test_a_pass_of_two_lanes():
    code, (nest_pass,) = code_of(lambda x, y: x - y, spec("f32", 7), spec("f32", 7))
    lanes = [{0: "i"}, {0: "k"}]
    code.store(nest_pass, code.values(nest_pass, lanes), lanes)
    assert code.w.text == (
        "v0 = a[i]\nv1 = a[k]\nv2 = b[i]\nv3 = b[k]\nv4 = v2 - v0\nv5 = v3 - v1\nd[i] = v4\nd[k] = v5"
    )


def test_a_vector():
    code, (nest_pass,) = code_of(lambda x: -x, spec("f64", 7))
    lanes = [{0: "i"}, {0: "k"}]
    code.store(nest_pass, code.values(nest_pass, lanes, frozenset([0, 1])), lanes, frozenset([0, 1]))
    assert "load2(a, i)" in code.w.text
    assert "store2(b, i, (" in code.w.text


def test_where_rows_are_is_written_once():
    code, (nest_pass,) = code_of(lambda x: x[:, 1:] + x[:, :-1], spec("f32", 7, 9))
    code.locate({0: "row"})
    code.values(nest_pass, [{1: "i"}])
    assert code.w.lines[0] == "at0 = row * a_0"
    assert code.w.text.count("[at0 + i]") == 2
    assert code.order({0: "row", 1: "i"}) == "(row) * n1 + i"


def test_shared_memory_holds_truth_as_bytes():
    w = SourceWriter()
    put(w, ["s[0]"], "v", types.bool_)
    assert got(w, ["s[0]"], types.bool_) == "v1"
    put(w, ["s[0]", "t[0]"], ComplexText("x", "y"), types.c64)
    assert w.text == "s[0] = u8(v)\nv0 = s[0]\nv1 = truth(v0)\ns[0] = x\nt[0] = y"
    assert (shared_dtypes(types.bf16), shared_dtypes(types.bool_), shared_dtypes(types.c128)) == (
        ["np.float32"],
        ["np.uint8"],
        ["np.float64"] * 2,
    )
    assert parts(variable("s", types.c64)) == ["s_re", "s_im"]


def test_what_an_instruction_needs():
    code = [Op("load", types.f32, (), 0), Op("load", types.f32, (), 1), Op("negate", types.f32, (1,))]
    assert needed(code, 2) == [Op("load", types.f32, (), 1), Op("negate", types.f32, (0,))]
