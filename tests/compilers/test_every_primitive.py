"""Every primitive with random operands and parameters: compiled as evaluated, on any number of threads, and as others
define it.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanes.fuzzing import make_small, patient, repeat
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.program.graph_compilation import HostCall, OpaqueStep
from nxkernel.compilers.numba_cpu.routines.lowering_table import lowering_of
from nxkernel.compilers.numba_cpu.runtime import threading_layer
from nxkernel.transforms.simplify import simplify
from random_primitives import CASES, REFERENCES, Drawn, Surroundings, compare

#: Primitives that stand at the edge of graphs, parts of results, which every test of several results takes, loops
#: and choices, of which there are random functions in `tests/definitions/flow`, and functions of the user's.
WITHOUT_CASES = {p.parameter, p.constant, p.elem, p.while_, p.cond, *p.WITH_DERIVATIVES, p.njit, p.njit_call}
#: Programs of one primitive alone that are drawn in a run of all tests.
FEW, SOME = 2, 5


def check(primitive, draw):
    """Draw a case of a primitive, in surroundings; compare what it gives in every way."""
    choose = Drawn(draw)
    case = CASES[primitive](choose)
    around = Surroundings(choose, case)
    graph, arrays = around.graph, around.arrays
    expected = registry.get("evaluator").compile(graph).run(arrays)
    simple = simplify(graph)
    assert [output.spec for output in simple.outputs] == [output.spec for output in graph.outputs]
    with pytest.MonkeyPatch.context() as patch:
        if choose.chance(50):
            make_small(patch.setattr)
        executable = registry.get("numba_cpu").compile(simple)
        before = [array.tobytes() for array in arrays]
        found = on_threads(executable, arrays)
    assert [array.tobytes() for array in arrays] == before
    for output, want, got in zip(graph.outputs, expected, found, strict=True):
        assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
        assert not any(np.shares_memory(got, array) for array in arrays)
        compare(got, want, case)
    assert calls_python(executable) <= {primitive} & {row for row in p.TABLE.values() if lowering_of(row) == "library"}
    check_reference(case, around.node.spec)


def bits(result):
    """The bytes of a result; those of NaN are nobody's, as processors take them from either operand."""
    parts = [result.real, result.imag] if result.dtype.kind == "c" else [result]
    return [np.where(part != part, np.zeros_like(part), part).tobytes() + (part != part).tobytes() for part in parts]


def on_threads(executable, arrays):
    """What one thread gives; all of them give the same bits."""
    threading_layer.start()
    every = threading_layer.get_threads()
    first = executable.run(arrays)
    try:
        threading_layer.set_threads(1)
        alone = executable.run(arrays)
    finally:
        threading_layer.set_threads(every)
    assert list(map(bits, first)) == list(map(bits, alone))
    return first


def calls_python(executable):
    """The primitives for which a program calls Python."""
    wholes = [step.work for step in executable.plan.steps if isinstance(step.work, OpaqueStep)]
    return {w.node.primitive for w in wholes for launch in w.routine.launches if isinstance(launch, HostCall)}


def check_reference(case, spec):
    """What a primitive means is what somebody else computes."""
    results = MEANING[case.primitive](spec, *case.arrays, **case.params)
    with np.errstate(all="ignore"):
        REFERENCES[case.primitive](case, results)


def examples(primitive):
    return FEW if primitive.family == "elementwise" else SOME


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("primitive", CASES, ids=str)
def test_a_primitive(primitive):
    @settings(patient, max_examples=examples(primitive))
    @given(st.data())
    def run(data):
        check(primitive, data.draw)

    run()


def test_every_primitive_has_cases():
    assert set(CASES) == set(p.TABLE.values()) - WITHOUT_CASES


def test_every_primitive_has_a_reference():
    assert set(CASES) == set(REFERENCES)


@pytest.mark.fuzz
def test_every_primitive_for_long():
    def of(primitive):
        return lambda data: check(primitive, data.draw)

    assert repeat(*map(of, CASES), examples=20)
