"""How each primitive runs: a new one has to be put into this table, and nothing becomes slower code unnoticed."""

import pytest

from elementary_references import OF_COMPLEX, OF_REAL
from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.routines.lowering_table import lowering_of
from nxkernel.errors import CompilationError
from nxkernel.graph.expr import Graph
from nxkernel.primitives import Primitive, Spec

#: Instructions in loop nests, for real and for complex numbers; predicates and conversions among them.
BOTH = [
    "add", "subtract", "multiply", "divide", "pow", "equal", "not_equal", "logical_and", "logical_or", "logical_xor",
    "logical_not", "is_nan", "is_infinity", "negate", "conjugate", "abs", "real", "imag", "phase", "select",
    "as_type", "stop_grad", "after", *OF_COMPLEX,
]  # fmt: skip
REAL = [
    "remainder", "quotient", "atan2", "max", "min", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
    "right_shift", "greater", "less", "greater_equal", "less_equal", "sign", "floor", "ceil", "round",
    "round_half_even", "truncate", "bitwise_not", "population_count", "count_leading_zeros", *OF_REAL,
    "bitcast", "threefry2x32",
]  # fmt: skip
COMPLEX = ["complex"]
#: Reductions in loop nests.
REDUCTIONS, REAL_REDUCTIONS = (
    ["sum", "product", "all", "any", "reduce"],
    ["reduce_max", "reduce_min", "argmax", "argmin"],
)
#: The same for all numbers.
OTHERS = {
    "leaf": ["parameter", "constant"],
    "index": ["iota"],
    "view": ["reshape", "broadcast", "transpose", "slice", "windows"],
    "computed read": ["dynamic_slice", "gather"],
    "pieces": ["concatenate", "pad", "put_slice", "put_strided", "scatter"],
    "rewritten": ["reverse", "conv"],
    "product": ["dot"],
    "kernels": ["cumulative_sum", "cumulative_product", "cumulative_max", "cumulative_min", "sort", "argsort"],
    "library": [
        "fft",
        "cholesky",
        "triangular_solve",
        "solve",
        "inverse",
        "determinant",
        "lu",
        "qr",
        "eigh",
        "svd",
        "njit_call",
    ],
    "part": ["elem"],
    "control": ["while", "cond"],
}

EXPECTED = {
    **dict.fromkeys(BOTH, ("instructions", "instructions")),
    **dict.fromkeys(REAL, ("instructions", None)),
    "njit": ("instructions", "instructions"),
    # Programs are simplified before they are compiled, which leaves its operands.
    "custom_grad": (None, None),
    "custom_jvp": (None, None),
    "linear_solve": (None, None),
    **dict.fromkeys(COMPLEX, (None, "instructions")),
    **dict.fromkeys(REDUCTIONS, ("reduction", "reduction")),
    **dict.fromkeys(REAL_REDUCTIONS, ("reduction", None)),
    **{name: (how, how) for how, names in OTHERS.items() for name in names},
}


@pytest.mark.parametrize("name", p.TABLE)
def test_how_a_primitive_runs(name):
    row = p.TABLE[name]
    assert (lowering_of(row), lowering_of(row, complex=True)) == EXPECTED[name]


def test_there_are_no_others():
    assert set(EXPECTED) == set(p.TABLE)


def test_a_primitive_that_is_not_known_is_refused_before_anything_runs():
    new = Primitive("twist", "shape", lambda operand: operand)
    (x,) = inputs(spec("f32", 3))
    with pytest.raises(CompilationError) as error:
        registry.get("numba_cpu").compile(Graph("f", [x], [make(new, x)], list))
    assert str(error.value) == (
        'numba_cpu has no code for twist of f32[3].\n  Run this definition with compiler="evaluator".'
    )


def test_a_reduction_that_complex_numbers_do_not_have_is_refused():
    (x,) = inputs(spec("c64", 200))
    node = make(p.reduce_max, x, axes=(0,), keep_axes=False)
    assert node.spec == Spec(x.type, (), ())
    with pytest.raises(CompilationError, match=r"^numba_cpu has no code for reduce_max of c64\[200\]\."):
        registry.get("numba_cpu").compile(Graph("f", [x], [node], list))
