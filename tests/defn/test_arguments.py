"""The arguments of a call, taken apart: its key for machines and for people."""

import numpy as np

import nxkernel as nx

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
        "argument p['b'][0]": "f32",
        "option n": "3",
        "option act": "abs",
        "captured rate": "0.5",
        "captured w": "f32[3]",
        "compiler": "evaluator",
    }
    assert made.signature("f") == "f(a: f32[3], p['b'][0]: f32, n=3, act=abs)"
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
    inputs = made.inputs((0,), (np.ones((2, 2)).T,))
    assert [(array.dtype.name, array.tolist()) for array in inputs] == [
        ("uint8", 1),
        ("int16", [0, 1, 2]),
        ("float64", [0.0, 2.0, 4.0]),
        ("float64", [[1.0, 1.0], [1.0, 1.0]]),
    ]
    assert all(array.flags.c_contiguous and array.dtype.isnative for array in inputs)
