"""The arguments of a call, taken apart: its key for machines and for people."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys.containers import LEAF
from nxkernel.definitions.outputs.calling_convention import CallingConvention
from nxkernel.errors import NxTypeError, TracedValueError

ONE = np.ones(3, np.float32)


def arguments(function, *args, **opts):
    return nx.defn(function)._bind(args, opts)


def test_the_key_for_people():
    rate, w = 0.5, ONE.copy()

    def f(a, p, *, n=2, act=abs):
        return act(a) * p["b"][0] * rate * w

    made = arguments(f, ONE, {"b": (1.0,)}, n=3)
    assert {label: text for label, (_, text) in made.parts().items()} == {
        "argument a": "f32[3]",
        "argument p": "{'b': (·,)}",
        "argument p['b'][0]": "f64 (a Python float)",
        "option n": "3",
        "option act": "abs",
        "captured rate": "0.5",
        "captured w": "f32[3]",
        "rules": "NumPy's",
        "compiler": "evaluator",
    }
    assert made.signature("f") == "f(a: f32[3], p['b'][0]: f64, n=3, act=abs)"
    assert list(made.paths) == ["a", "p['b'][0]"]
    assert [(name, str(spec)) for name, spec, _ in made.arrays] == [("w", "f32[3]")]


def test_the_key_for_machines():
    k = 1.0

    def f(t, *, n=1, act=None):
        return t * n * k

    base = arguments(f, 1.0).ident
    assert base == arguments(f, 2.0).ident
    assert hash(base) == hash(arguments(f, 2.0, n=1).ident)
    others = [
        arguments(f, 1),
        arguments(f, (1.0,)),
        arguments(f, ONE),
        arguments(f, 1.0, n=2),
        arguments(f, 1.0, n=True),
    ]
    others += [arguments(f, 1.0, act=lambda t: t), arguments(f, 1.0, act=lambda t: t * 2), arguments(f, 1.0, act=[])]
    k = 2.0
    others.append(arguments(f, 1.0))
    nx.default_options(compiler="numba_cpu")
    others.append(arguments(f, 1.0))
    nx.default_options(compiler=None)
    idents = [base, *(other.ident for other in others)]
    assert len(set(idents)) == len(idents)


def test_inputs():
    w = np.arange(6.0)[::2]
    made = arguments(lambda t, u: t * w, True, np.arange(3, dtype=">i2"))
    inputs = made.inputs(CallingConvention(LEAF, captured=(0,)), (np.ones((2, 2)).T,))
    assert [(array.dtype.name, array.tolist()) for array in inputs] == [
        ("bool", True),
        ("int16", [0, 1, 2]),
        ("float64", [0.0, 2.0, 4.0]),
        ("float64", [[1.0, 1.0], [1.0, 1.0]]),
    ]
    assert all(array.flags.c_contiguous and array.dtype.isnative for array in inputs)


ROWS = nx.vectorize(np.arange(6, dtype=np.float32).reshape(2, 3), "x")


def test_vectorized_axes_are_part_of_the_key():
    made = arguments(lambda t: t, ROWS)
    assert made.signature("f") == "f(t: vectorized[x: 2] f32[3])"


def test_large_containers_are_told_by_how_much_is_in_them():
    made = arguments(lambda params, x: x, [{"w": ONE, "b": 0.5}] * 4, (ONE, 2))
    assert made.signature("f") == "f(params: 8 tensors, x[0]: f32[3], x[1]: s64)"
    plain = [nx.devectorize(ROWS, keep_names=False), ROWS.devectorize()[0], nx.vectorize(ROWS, "y")]
    assert len({arguments(lambda t: t, value).ident for value in [ROWS, *plain]}) == 4


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_calls_with_vectorized_tensors(compiler, misses):
    f = nx.defn(lambda t: (nx.sum(t), [t * 2]), compiler=compiler)
    one = f(ROWS.devectorize(keep_names=False)[0])
    two = f(ROWS)
    assert [str(part.spec) for part in (one[0], one[1][0])] == ["f32", "f32[3]"]
    assert [str(part.spec) for part in (two[0], two[1][0])] == ["vectorized[x: 2] f32", "vectorized[x: 2] f32[3]"]
    assert two[0].to_list() == [3, 12]
    assert f(ROWS)[0].spec == two[0].spec
    assert f(ROWS.devectorize(keep_names=False))[0].spec == one[0].spec
    assert f(nx.vectorize(ROWS.devectorize(), "z"))[0].vectorized_axes == (("z", 2),)
    assert misses(f) == [
        ("first call",),
        ("argument t: f32[3] → vectorized[x: 2] f32[3]",),
        ("argument t: vectorized[x: 2] f32[3] → f32[2][3]",),
        ("argument t: f32[2][3] → vectorized[z: 2] f32[3]",),
    ]


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_the_quick_path_tells_vectorized_and_plain_apart(compiler):
    f = nx.defn(lambda t: nx.reduce_max(t) - t, compiler=compiler)
    plain = ROWS.devectorize(keep_names=False)
    for _ in range(3):
        assert f(ROWS).to_list() == [[2, 1, 0], [2, 1, 0]]
        assert f(plain).to_list() == [[5, 4, 3], [2, 1, 0]]
        assert f(plain[1]).to_list() == [2, 1, 0]
        assert f(nx.vectorize(plain, ["x", "y"])).to_list() == [[0, 0, 0], [0, 0, 0]]
    assert f.cache_info().misses == 4
    assert f.cache_info().hits == 8


def test_captured_tensors_with_vectorized_axes(misses):
    w = nx.vectorize(nx.f32([10, 20]), "w")

    class Model:
        weights = [w]

    def f(t):
        return t * w + Model.weights[0]

    f = nx.jit(f)
    assert f(nx.f32([1, 2])).to_list() == [[20, 30], [40, 60]]
    w = nx.vectorize(nx.f32([1, 2]), "w")
    Model.weights[0] = w
    assert f(nx.f32([1, 2])).to_list() == [[2, 3], [4, 6]]
    w = nx.vectorize(nx.f32([1, 2]), "v")
    assert f(nx.f32([0])).vectorized_axes == (("v", 2), ("w", 2))
    assert any("captured w: vectorized[w: 2] f32 → vectorized[v: 2] f32" in reason for reason in misses()[-1])


def test_vectors_are_made_inside():
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    f = nx.jit(lambda t: nx.devectorize(nx.sum(nx.vectorize(t, "x"))))
    assert f(rows).spec == nx.template((2,), "f32", names=["x"]).spec
    captured = nx.jit(lambda t: nx.vectorize(rows, "x") + t)
    assert captured(1.0).to_list() == [[1, 2, 3], [4, 5, 6]]
    rows[0, 0] = 9
    assert captured(1.0).to_list() == [[10, 2, 3], [4, 5, 6]]


def test_templates_and_printed_values(capsys):
    f = nx.compile(lambda t: nx.print_value(t + 1), [nx.template((3,), "f32", vectorized_axes={"x": 2})])
    assert repr(f) == "<compiled <lambda>(t: vectorized[x: 2] f32[3])>"
    assert f(ROWS).spec == ROWS.spec
    assert capsys.readouterr().out == repr(ROWS + 1) + "\n"
    with pytest.raises(NxTypeError, match=r"t: expected vectorized\[x: 2\] f32\[3\], got f32\[2\]\[3\]"):
        f(ROWS.devectorize(keep_names=False))


def test_traced_values_with_vectorized_axes_have_no_data():
    kept = []
    nx.jit(lambda t: kept.append(t) or t)(ROWS)
    with pytest.raises(TracedValueError, match=r"asks for the data of a traced value of type vectorized\[x: 2\]"):
        bool(kept[0])
    with pytest.raises(TracedValueError, match=r"a traced value of type vectorized\[x: 2\] f32\[3\] is used after"):
        kept[0] + 1
    with pytest.raises(NxTypeError, match="got a traced value for 't' outside of any trace"):
        nx.jit(lambda t: t)(kept[0])
