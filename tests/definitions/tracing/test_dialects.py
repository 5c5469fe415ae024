"""Whose rules a definition follows, and what becomes of its arguments."""

import itertools
import linecache
import math
import operator
import re
import types

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.errors import NxTypeError, NxValueError

COUNT = itertools.count()


def made(text, **names):
    """A function out of its text, among names."""
    space, file = dict(names), f"made-{next(COUNT)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return next(value for name, value in space.items() if isinstance(value, types.FunctionType) and name not in names)


PLAIN = "def f(x):\n    return x * 2"
NUMPYS = "def f(x):\n    return np.sin(x)"
NXS = "def f(x):\n    return nx.sin(x)"
#: What a function is made of, and whose rules its text says.
SAID = {
    "nothing": (PLAIN, None),
    "an assignment": ("def f(x):\n    x[0] = 2", None),
    "an assignment in place": ("def f(x):\n    x += 1", None),
    "a constant of NumPy's": ("def f(x):\n    return x * np.pi", None),
    "a constant of math's": ("def f(x):\n    return x * math.pi", None),
    "a type of NumPy's": ("def f(x):\n    return x.astype(np.float32)", None),
    "a check": ("def f(x):\n    return x if isinstance(x, np.ndarray) else None", None),
    "a check for both": ("def f(x):\n    return x if isinstance(x, (np.ndarray, nx.Tensor)) else None", None),
    "a hook": ("def f(x):\n    nx.hook(x, 'x')\n    return x", None),
    "a print": ("def f(x):\n    return nx.print_value(x)", None),
    "a gradient": ("def f(x):\n    return nx.grad(g)(x)", None),
    "a condition": ("def f(x):\n    return nx.cond(x > 0, lambda: x, lambda: -x)", None),
    "a shape": ("def f(x):\n    return x * nx.size(x)", None),
    "a helper": ("def f(x):\n    return numpys(x) + nxs(x)", None),
    "a definition": ("def f(x):\n    return defined(x)", None),
    "Python's math": ("def f(x):\n    return math.sin(x)", None),
    "a parameter of the name": ("def f(x, np):\n    return np.sin(x)", None),
    "NumPy's function": (NUMPYS, "numpy"),
    "NumPy's function, deep": ("def f(x):\n    return np.linalg.norm(x)", "numpy"),
    "NumPy's function by its name": ("def f(x):\n    return sin(x)", "numpy"),
    "NumPy's function, closed over": ("def outer(s):\n    def f(x):\n        return s(x)\n    return f", "numpy"),
    "an import of NumPy": ("def f(x):\n    import numpy as n\n    return n.sin(x)", "numpy"),
    "an import from NumPy": ("def f(x):\n    from numpy import sin as s\n    return s(x)", "numpy"),
    "nxkernel's NumPy": ("def f(x):\n    return nnp.sin(x)", "numpy"),
    "NumPy's function and a hook": ("def f(x):\n    return nx.print_value(np.sin(x))", "numpy"),
    "NumPy's function and a loop": ("def f(x):\n    return nx.while_(x, lambda x: x < 1, np.cos)", "numpy"),
    "NumPy's function and a gradient": ("def f(x):\n    return np.sin(nx.grad(g)(x))", "numpy"),
    "Nx's function": (NXS, "nx"),
    "Nx's function by its name": ("def f(x):\n    return cosine(x)", "nx"),
    "an import from nxkernel": ("def f(x):\n    from nxkernel import sin as s\n    return s(x)", "nx"),
    "both": ("def f(x):\n    return nx.sin(np.sin(x))", "nx"),
    "both, the other way": ("def f(x):\n    return np.sin(x) + nx.cos(x)", "nx"),
    "Nx's function and a constant": ("def f(x):\n    return nx.sin(x) * np.pi", "nx"),
}  # fmt: skip


def helpers():
    """What the texts read."""
    numpys, nxs = made(NUMPYS, np=np), made(NXS, nx=nx)
    g = made("def g(x):\n    return x * x")
    return {
        "np": np, "nx": nx, "nnp": nnp, "math": math, "sin": np.sin, "cosine": nx.cos, "numpys": numpys, "nxs": nxs,
        "g": g, "defined": nx.defn(numpys),
    }  # fmt: skip


@pytest.mark.parametrize(("text", "dialect"), SAID.values(), ids=SAID)
def test_whose_rules_hold(text, dialect):
    function = made(text, **helpers())
    if function.__name__ == "outer":
        function = function(np.sin)
    assert whose_rules.of(function) == dialect
    for wrap in (nx.defn, nx.jit, nx.vmap, nx.grad, nx.value_and_grad, nx.checkpoint):
        assert getattr(wrap(function), "dialect", dialect) == dialect


@pytest.mark.parametrize("names", [{}, {"np": np}, {"nx": nx}, {"np": np, "nx": nx}])
@pytest.mark.parametrize("text", [PLAIN, "def f(x):\n    x[0] = 2"])
def test_imports_of_the_module_say_nothing(text, names):
    assert whose_rules.of(made(text, **names)) is None


def test_nested_functions_say_it_too():
    assert whose_rules.of(made("def f(x):\n    return list(map(lambda v: np.sin(v), [x]))", np=np)) == "numpy"


def test_what_a_function_calls_does_not_say_it():
    """Each has its own rules, as it has them when it is called alone."""
    helper = made("def helper(x):\n    return np.sin(x)", np=np)
    f = made("def f(x):\n    return helper(x)", helper=helper)
    assert whose_rules.of(f) is None


def test_to_ask_for_a_name_of_a_module_has_no_effect():
    module = types.ModuleType("restless")
    module.__getattr__ = lambda name: pytest.fail(f"{name} was asked for")
    assert whose_rules.of(made("def f(x):\n    return x * module.k", module=module)) is None


def test_the_text_decides_as_it_is_when_it_is_called():
    space = {"sin": np.sin}
    exec("def f(x):\n    return sin(x)", space)
    f = nx.jit(space["f"])
    x = np.arange(3)
    assert (type(f(x)), f(x).dtype) == (np.ndarray, np.float64)
    space["sin"] = nx.sin
    assert "rules: NumPy's → Nx's" in f.why(x).difference
    assert (type(f(x)), f(x).type) == (nx.Tensor, "f32")
    space["sin"] = np.sin
    with nx.no_compile():
        assert f(x).dtype == np.float64


@pytest.mark.parametrize("wrap", [nx.defn, nx.jit, nx.vmap, nx.checkpoint], ids=["defn", "jit", "vmap", "checkpoint"])
def test_an_option_decides(wrap):
    x = np.arange(1, 4)
    for text in (PLAIN, NUMPYS):
        function = made(text.replace("x * 2", "x / 2"), np=np)
        if wrap is nx.checkpoint:
            with nx.default_options(promotion="nx"):
                assert nx.type(wrap(function)(x)) == "f32"
            continue
        assert wrap(function, promotion="numpy")(x).dtype == np.float64
        assert wrap(function, promotion="nx")(x).type == "f32"
        with nx.default_options(promotion="nx"):
            assert wrap(function)(x).type == "f32"
            assert wrap(function, promotion="numpy")(x).dtype == np.float64
    numbers = made("def f(x):\n    return nx.sin(x)", nx=nx)
    with nx.default_options(promotion="numpy"):
        assert np.asarray(wrap(numbers)(x)).dtype == np.float64
    with pytest.raises(NxValueError, match="promotion is 'nx' or 'numpy', got 'numpys'"):
        nx.default_options(promotion="numpys")


#: Arguments of a function that says nothing, and whose rules hold then.
PASSED = {
    "an array": (lambda: [np.arange(2)], "numpy"),
    "an array of no axes": (lambda: [np.array(2)], "numpy"),
    "a scalar of NumPy's": (lambda: [np.int64(2)], "numpy"),
    "an array in a container": (lambda: [{"a": (1, np.arange(2))}], "numpy"),
    "an array and a number": (lambda: [1, np.arange(2)], "numpy"),
    "a tensor": (lambda: [nx.tensor([1, 2])], "nx"),
    "a tensor and an array": (lambda: [np.arange(2), nx.tensor([1, 2])], "nx"),
    "a tensor in a container": (lambda: [np.arange(2), {"t": [nx.tensor([1, 2])]}], "nx"),
    "numbers": (lambda: [1, 2.5], "nx"),
    "numbers in a container": (lambda: [{"n": (1, True)}], "nx"),
    "nothing": (list, "nx"),
}


@pytest.mark.parametrize(("arguments", "dialect"), PASSED.values(), ids=PASSED)
@pytest.mark.parametrize("wrap", [nx.defn, nx.jit])
def test_what_is_passed_decides_where_the_text_says_nothing(arguments, dialect, wrap):
    seen = []

    def f(*values):
        seen.append(dialects.current())
        return 1

    wrap(f)(*arguments())
    assert seen == [dialect]


def test_a_call_with_other_values_has_other_rules():
    f = nx.jit(made("def f(n):\n    return n / 3"))
    x = np.arange(3)
    assert f(x).dtype == np.float64
    assert f.why(nx.tensor(x)).difference == ("rules: NumPy's → Nx's",)
    assert f(nx.tensor(x)).type == "f32"
    assert f(4).type == "f32"
    with nx.no_compile():
        for _ in range(2):
            assert (f(x).dtype, f(nx.tensor(x)).type, f(4).type) == (np.float64, "f32", "f32")


def test_inside_of_a_definition_it_is_its_callers():
    third = nx.defn(made("def third(n):\n    return n / 3"))
    by_numpy = nx.jit(made("def f(n):\n    return third(n) + np.sum(n)", third=third, np=np))
    by_nx = nx.jit(made("def f(n):\n    return third(n) + nx.sum(n)", third=third, nx=nx))
    x = np.arange(3)
    assert by_numpy(x).dtype == np.float64
    assert by_nx(x).type == "f32"
    assert by_numpy(nx.tensor(x)).type == "f64"


def test_what_was_compiled_has_the_rules_of_its_templates():
    f = nx.compile(made("def f(n):\n    return n / 3"), [nx.template((3,), "s64")])
    g = nx.compile(made("def g(n):\n    return n / 3"), [np.arange(3)])
    with nx.no_compile():
        for given in (np.arange(3), nx.tensor([0, 1, 2])):
            assert f(given).type == "f32"
            assert np.asarray(g(given)).dtype == np.float64
    assert whose_rules.of(g.__nx_function__) is None


def test_a_container_that_holds_itself_decides_nothing():
    held = [1]
    held.append(held)
    assert whose_rules.of_values([held]) is None
    assert whose_rules.of_values([held, np.ones(1)]) == "numpy"


def test_types():
    half = made("def f(x, a):\n    return x * a, x > 1, x / 2", np=np)
    product, mask, quotient = nx.defn(half)(np.array([1, 2], np.int32), 0.5)
    assert (product.dtype, mask.dtype, quotient.dtype) == (np.float64, np.bool_, np.float64)
    product, _, _ = nx.defn(half)(np.array([1, 2], np.float32), 0.5)
    assert product.dtype == np.float32


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
    numpys = nx.defn(made("def numpys(a):\n    b = np.copy(a)\n    b[0] = 0\n    return b", np=np))
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


@pytest.mark.parametrize("transformed", [nx.grad, nx.value_and_grad, nx.hessian, nx.jacobian])
@pytest.mark.parametrize("wrap", [nx.defn, nx.jit, nx.checkpoint])
def test_functions_of_functions_have_their_rules(transformed, wrap):
    x = np.arange(3.0)
    for loss, kind in ((lambda x: np.sum(x**2) / 3, np), (lambda x: (x**2).sum() / 3, np), (lambda x: nx.sum(x), nx)):
        for result in (transformed(loss)(x), wrap(transformed(loss))(x)):
            assert isinstance(
                result[-1] if isinstance(result, tuple) else result, kind.ndarray if kind is np else nx.Tensor
            )


def test_gradients_of_whole_numbers():
    def loss(x):
        return (x**2).sum() / 3

    x = np.arange(3)
    for gradient in (nx.grad(loss), nx.defn(nx.grad(loss)), lambda x: nx.value_and_grad(loss)(x)[1]):
        assert (gradient(x).dtype, gradient(x).tolist()) == (np.float64, (2 * x / 3).tolist())
        assert gradient(nx.tensor(x)).type == "f32"
    y = np.array([1e10 + 1, 2.0, 3.0])
    assert nx.vjp(lambda x: np.sum(x * y), x)[1](1.0)[0].tolist() == y.tolist()


@pytest.mark.parametrize("wrap", [nx.defn, nx.jit])
def test_functions_without_a_text_go_by_what_is_passed(wrap):
    x = np.arange(3)
    assert (wrap(operator.truediv)(x, 3).dtype, wrap(abs)(x).dtype) == (np.float64, np.int64)
    assert wrap(operator.truediv)(nx.tensor(x), 3).type == "f32"
    assert isinstance(wrap(nx.numpy.sum)(x), np.int64)
    assert isinstance(wrap(nx.sum)(x), nx.Tensor)
