"""Whose rules a definition follows, and what becomes of its arguments."""

import itertools
import linecache
import re
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.tracing import dialects
from nxkernel.errors import NxTypeError

COUNT = itertools.count()


def made(text, **names):
    """A function out of its text, among names."""
    space, file = dict(names), f"made-{next(COUNT)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return next(value for name, value in space.items() if isinstance(value, types.FunctionType) and name not in names)


PLAIN = "def f(x):\n    return x * 2"
ASSIGNS = "def f(x):\n    x[0] = 2"
IN_PLACE = "def f(x):\n    x += 1"
COUNTS = "def f(x):\n    n = 0\n    n += 1\n    return x * n"
NUMPYS = "def f(x):\n    return np.sin(x)"
NXS = "def f(x):\n    return nx.sin(x)"
BOTH = "def f(x):\n    return nx.sin(x) * np.pi"


@pytest.mark.parametrize(
    ("text", "names", "dialect"),
    [
        (PLAIN, {}, "nx"),
        (PLAIN, {"nx": nx}, "nx"),
        (PLAIN, {"np": np}, "numpy"),
        (PLAIN, {"np": np, "nx": nx}, "nx"),
        (ASSIGNS, {"np": np, "nx": nx}, "numpy"),
        (ASSIGNS, {"nx": nx}, "nx"),
        (IN_PLACE, {"np": np, "nx": nx}, "numpy"),
        (COUNTS, {"np": np, "nx": nx}, "nx"),
        (NUMPYS, {"np": np, "nx": nx}, "numpy"),
        (NXS, {"np": np, "nx": nx}, "nx"),
        (BOTH, {"np": np, "nx": nx}, "nx"),
    ],
)
def test_whose_rules_hold(text, names, dialect):
    assert dialects.of(made(text, **names)) == dialect


def test_helpers_tell_too():
    helper = made("def helper(x):\n    return np.sin(x)", np=np)
    assert dialects.of(made("def f(x):\n    return helper(x)", helper=helper, nx=nx)) == "numpy"


def test_names_may_be_defined_by_other_threads_meanwhile():
    class Restless:
        @property
        def __class__(self):
            plain.__globals__["new"] = 1
            return Restless

    plain = made(PLAIN, np=np)
    plain.__globals__["restless"] = Restless()
    assert dialects.of(plain) == "numpy"
    assert plain.__globals__["new"] == 1


def test_an_option_decides():
    assert nx.defn(promotion="numpy")(made(PLAIN)).dialect == "numpy"
    assert nx.defn(made(NUMPYS, np=np)).dialect == "numpy"
    assert nx.jit(made(NUMPYS, np=np)).dialect == "nx"


def test_types():
    half = made("def f(x, a):\n    return x * a, x > 1, x / 2", np=np)
    product, mask, quotient = nx.defn(half)(np.array([1, 2], np.int32), 0.5)
    assert (product.type, mask.type, quotient.type) == ("f64", "bool", "f64")
    product, _, _ = nx.defn(half)(np.array([1, 2], np.float32), 0.5)
    assert product.type == "f32"


def changing(text):
    return nx.defn(made(text, np=np))


def test_arguments_change():
    f = changing("def f(a, b):\n    a[1:] = b[:-1]\n    b *= 2")
    a, b = np.arange(3.0), np.arange(3.0) + 10
    assert f(a, b) is None
    assert (a.tolist(), b.tolist()) == ([0.0, 10.0, 11.0], [20.0, 22.0, 24.0])
    f(a, b)
    assert a.tolist() == [0.0, 20.0, 22.0]


def test_arguments_that_lie_otherwise_in_memory_change_too():
    f = changing("def f(a):\n    a[0] = a[1]\n    return a.sum()")
    a = np.arange(12.0).reshape(3, 4)[:, ::2]
    assert float(f(a)) == 2 * (4 + 6) + 8 + 10
    assert a[0].tolist() == [4.0, 6.0]
    assert float(f(np.asfortranarray(np.ones((2, 3))))) == 6.0


def test_a_tensor_is_given_back_and_stays():
    f = changing("def f(a):\n    a[0] = 7\n    return a")
    t = nx.tensor([1.0, 2.0])
    assert f(t).to_list() == [7.0, 2.0]
    assert t.to_list() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            "def f(a):\n    a[0] = 7\n    return a.sum()",
            lambda: [nx.tensor([1.0])],
            "f assigns into a, which is a Tensor: those never change.\n"
            "  FILE, line 2:  a[0] = 7\n"
            "  Return the new value of a from f, or pass a NumPy array.",
        ),
        (
            "def f(a, b):\n    a[0] = b[1]",
            lambda: [X[:3], X[1:]],
            "f assigns into a, whose memory b shares.\n  FILE, line 2:  a[0] = b[1]\n  Pass a copy: a.copy().",
        ),
        (
            "def f(a):\n    a[0] = 7",
            lambda: [READ_ONLY],
            "f assigns into a, which is read-only.\n  FILE, line 2:  a[0] = 7\n  Pass a.copy().",
        ),
    ],
)
def test_what_cannot_change(text, arguments, message):
    with pytest.raises(NxTypeError) as error:
        changing(text)(*arguments())
    assert re.sub(r"made-\d+\.py", "FILE", str(error.value)) == message


X = np.arange(4.0)
READ_ONLY = np.arange(4.0)
READ_ONLY.flags.writeable = False


def test_an_array_from_outside_is_not_assigned_into():
    f = nx.defn(made("def f(a):\n    w[0] = 1\n    return a + w", np=np, w=np.zeros(2)))
    with pytest.raises(NxTypeError, match="w is an array from outside of the definition, and it is assigned into"):
        f(np.zeros(2))


def test_numbers_become_static_when_they_are_needed():
    f = changing("def f(n, a):\n    return np.zeros(n) + a")
    assert f(3, 1.5).tolist() == [1.5] * 3
    assert f(2, 2.5).tolist() == [2.5] * 2
    assert f(2, 3.5).tolist() == [3.5] * 2
    info = f.cache_info()
    assert (info.misses, info.hits) == (2, 1)


def test_text_none_and_functions_are_static():
    f = changing(
        "def f(a, mode='sum', start=None, g=abs):\n    s = a.sum() if mode == 'sum' else a.max()\n    return g(s)"
    )
    a = np.array([-1.0, -2.0])
    assert [float(f(a)), float(f(a, "max")), float(f(a, mode="max", g=np.negative))] == [3.0, 1.0, 1.0]


def test_definitions_of_both_faces_call_each_other():
    inner = nx.defn(made("def inner(a):\n    return nx.sum(a * 2)", nx=nx))
    outer = nx.defn(promotion="numpy")(made("def outer(a):\n    return np.sqrt(inner(a)) + a.T", np=np, inner=inner))
    assert outer(np.array([2.0, 6.0])).tolist() == [6.0, 10.0]
    numpys = nx.defn(made("def numpys(a):\n    b = a.copy()\n    b[0] = 0\n    return b", np=np))
    back = nx.defn(made("def back(a):\n    return nx.sum(numpys(a))", nx=nx, numpys=numpys))
    assert float(back(np.array([2.0, 6.0]))) == 6.0


def test_a_definition_sees_arrays_from_outside_with_its_own_face_wherever_it_is_called():
    u = np.array([[3.0, 4.0], [5.0, 6.0]])
    final = nx.defn(made("def final(p):\n    v = u.copy()\n    v[0] *= p\n    return np.sum(v)", np=np, u=u))
    assert float(nx.grad(final)(2.0)) == 7.0
    assert nx.vmap(final)(np.array([1.0, 2.0])).tolist() == [18.0, 25.0]
    assert float(nx.defn(made("def f(p):\n    return nx.sum(u) + final(p)", nx=nx, u=u, final=final))(2.0)) == 43.0
    inner = nx.defn(made("def inner():\n    return nx.mean(u, axes=[0])", nx=nx, u=u))
    outer = nx.defn(made("def outer():\n    return np.sort(u[0])[::-1] + inner() + u.T[1]", np=np, u=u, inner=inner))
    assert nx.defn(outer.__wrapped__, promotion="numpy")().tolist() == [12.0, 14.0]
    assigning = nx.defn(made("def assigning(p):\n    u[0] = p\n    return np.sum(u)", np=np, u=u))
    with pytest.raises(NxTypeError, match="u is an array from outside of the definition, and it is assigned into"):
        nx.grad(assigning)(2.0)
    assert u.tolist() == [[3.0, 4.0], [5.0, 6.0]]


def test_numpy_is_named_at_the_end_of_a_long_chain_of_helpers():
    space = {"np": np}
    source = (
        "".join(f"def f{k}(x):\n    return f{k + 1}(x)\n" for k in range(1200)) + "def f1200(x):\n    return np.sin(x)"
    )
    exec(source, space)
    assert dialects.of(space["f0"]) == dialects.NUMPY
