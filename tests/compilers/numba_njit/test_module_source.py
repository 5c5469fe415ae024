"""Programs as modules for Numba: their texts, and what they compute in a process without nxkernel."""

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError
from nxkernel.numba_functions import python_function

X = np.random.default_rng(0).normal(size=(4, 6))


def softmax(t):
    e = nx.exp(t - nx.reduce_max(t, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def body(function, *args, **options):
    """The source of a call, from the first line of its function's body."""
    source = nx.to_numba_source(function, *args, **options)
    lines = source[source.rindex("\ndef ") :].splitlines()[2:]
    return textwrap.dedent("\n".join(lines))


def test_rows():
    assert nx.to_numba_source(softmax, nx.template((4096, 1000), "f32")) == textwrap.dedent('''\
        import math
        import numba
        import numpy as np


        @numba.njit(fastmath={"reassoc", "nsz"})
        def plus(total, value):
            """Their sum, of which the compiler may choose the order."""
            return total + value


        @numba.njit
        def maximum(x, y):
            """The greater one; NaN where one of them is."""
            return x if x >= y or x != x else y


        @numba.njit(parallel=True, error_model="numpy")
        def softmax(t):
            """softmax(t: f32[4096][1000]) -> f32[4096][1000]"""
            result = np.empty((4096, 1000), np.float32)
            for i in numba.prange(4096):
                row = np.empty(1000, np.float32)
                largest = np.float32(-np.inf)
                for j in range(1000):
                    largest = maximum(largest, t[i, j])
                total = np.float32(0.0)
                for j in range(1000):
                    t2 = math.exp(t[i, j] - largest)
                    row[j] = t2
                    total = plus(total, t2)
                for j in range(1000):
                    result[i, j] = row[j] / total
            return result
        ''')


def test_columns_are_gone_over_row_by_row():
    assert body(lambda x: nx.sum(x, axes=[0]), X) == textwrap.dedent("""\
        \"\"\"program(x: f64[4][6]) -> f64[6]\"\"\"
        result = np.empty(6, np.float64)
        total = np.empty(6, np.float64)
        for i in range(6):
            total[i] = 0.0
        for j in range(4):
            for i in range(6):
                total[i] += x[j, i]
        for i in range(6):
            result[i] = total[i]
        return result""")


@nx.defn
def relaxed(u, *, steps=3):
    for _ in range(steps):
        u = (u[:-1] + u[1:]) / 2
        u = nx.concatenate([u, u[-1:]])
    return u


def test_loops_change_names():
    source = body(relaxed, X[0], steps=30)
    assert "while counter < 30:" in source
    assert "# " not in source


@nx.defn
def assigned(x):
    x[1:] = x[:-1] * 2
    x[0] = np.sum(x)


def test_arguments_that_are_assigned_into_change():
    scope = {}
    source = nx.to_numba_source(assigned, np.arange(4.0))
    exec(source, scope)
    x = np.arange(4.0)
    assert scope["assigned"].py_func(x) is None
    assert x.tolist() == [6.0, 0.0, 2.0, 4.0]
    assert "assigned(x: f64[4]) -> None" in source
    assert "    x changes.\n" in source


def test_types_without_numbers_in_numba_are_refused():
    with pytest.raises(CompilationError) as error:
        nx.to_numba_source(lambda x: x * 2, nx.template((3,), "bf16"))
    assert str(error.value) == (
        "parameter of bf16[3] cannot be written for Numba: Numba has no numbers of type bf16 on processors.\n"
        '  The compiler "numba_cpu" runs it.'
    )


def test_hooks_are_refused():
    with pytest.raises(CompilationError) as error:
        nx.to_numba_source(lambda x: nx.hook(x * 2, "seen", print) + 1, X)
    assert str(error.value) == (
        "<lambda> gives values to Python while it runs, which a module for Numba cannot: seen.\n"
        "  Leave out hooks, prints and checks of values in what is handed on."
    )


def test_calls_of_python_are_refused():
    with pytest.raises(CompilationError, match=r"njit_call of f64\[4\]\[6\] \(.*\) cannot be written for Numba"):
        nx.to_numba_source(lambda x: nx.host_call(np.sort, x, x) + 1, X)


@nx.defn
def ending(x, limit):
    count = 0
    while nx.sum(x) > limit:
        x = nx.select(x > 0.1, x / 2, x)
        if x[0, 0] > 0.2:
            x = x - 0.1
        count += 1
    return x, count


@nx.defn
def convolved(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(i + 1):
            out[i] += x[j] * x[i - j]
    return out


def sorted_rows(x):
    return nx.sort(x, axis=1), nx.argsort(x, axis=0, direction="desc"), nx.cumulative_sum(x, axis=1, reverse=True)


def solved(a, b):
    square = nx.dot(a, nx.transpose(a)) + nx.eye(4)
    return nx.linalg.svd(a)[1], nx.fft(b), nx.linalg.cholesky(square), nx.linalg.determinant(square)


def small_integers(n):
    return (
        nx.quotient(n, 3) * 50,
        nx.remainder(n, 0),
        nx.as_type(nx.as_type(n, "f32") * 9.5, "u8"),
        n << 3,
        nx.argmax(n),
    )


STRANGE = np.array([[1.0, np.nan, -np.inf], [np.inf, -0.0, 2.5], [2.5, 2.5, np.nan]])
PROGRAMS = {
    "element-wise": (lambda x: nx.max(x, 0.5) * 2 + 1, STRANGE),
    "transforms of integers": (lambda n: nx.fft(n), np.array([1, 1, 1, 0, 1, 1], np.int32)),
    "softmax": (softmax, X.astype("f4")),
    "reductions with NaN and ties": (
        lambda x: (nx.argmax(x, axis=1), nx.argmin(x, axis=0, tie_break="high"), nx.reduce_max(x, axes=[0])), STRANGE
    ),
    "gradient": (nx.grad(lambda x: nx.sum(nx.tanh(x) ** 2 * nx.sigmoid(x))), X.astype("f4")),
    "loop and branch": (ending, np.abs(X), np.float64(3)),
    "elements": (convolved, X[0]),
    "sorting": (sorted_rows, X.astype("f4")),
    "libraries": (solved, X, X[:, 0]),
    "integers": (small_integers, np.array([-7, 100, -128, 5], np.int8)),
    "random": (lambda key: nx.random.uniform(key, shape=(5,))[0], np.array([3, 1 << 31], np.uint32)),
    "complex": (lambda x: nx.exp(nx.complex(x, x * 0.5)) / (1 - 2j), X),
    "products": (lambda a: nx.dot(a, nx.transpose(a)), np.sin(np.arange(1200.0)).reshape(40, 30)),
    "empty": (lambda x: (x * 2, nx.sum(x)), np.zeros((0, 3))),
}  # fmt: skip

#: Runs sources from a file where nxkernel cannot be imported.
RUN = """
import pickle, sys, types
sys.modules["nxkernel"] = None
for name, source, function, arguments in pickle.load(sys.stdin.buffer):
    module = sys.modules["program"] = types.ModuleType("program")
    exec(source, module.__dict__)
    results.append(getattr(module, function)(*arguments))
"""


def alone(programs):
    """What sources compute in a process in which nxkernel cannot be imported."""
    code = f"results = []\n{RUN}\npickle.dump(results, sys.stdout.buffer)"
    ran = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(programs), capture_output=True, check=False)
    assert not ran.returncode, ran.stderr.decode()
    return pickle.loads(ran.stdout)


def compared(names):
    programs, expected = [], []
    for name in names:
        function, *arguments = PROGRAMS[name]
        source = nx.to_numba_source(function, *arguments)
        last = source[source.rindex("\ndef ") + 5 :].partition("(")[0]
        programs.append((name, source, last, arguments))
        expected.append(nx.jit(function)(*arguments) if not hasattr(function, "why") else function(*arguments))
    for name, found, wanted in zip(names, alone(programs), expected, strict=True):
        pairs = zip(*(each if isinstance(each, tuple) else (each,) for each in (found, wanted)), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one, np.asarray(other), rtol=2e-5, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_one_runs_without_nxkernel():
    compared(["element-wise"])


@pytest.mark.slow
def test_they_run_without_nxkernel():
    compared(list(PROGRAMS))


def test_functions_of_the_users_go_along():
    numba = pytest.importorskip("numba")

    @numba.njit
    def bent(x):
        return x * 2 if x > 0 else x

    source = nx.to_numba_source(lambda x: nx.njit_map(bent, x) + 1, X)
    assert source.count("def bent(x):\n    return x * 2 if x > 0 else x\n") == 1
    assert python_function(bent)(2) == 4


FACTOR = 3


def test_functions_that_read_something_are_refused():
    numba = pytest.importorskip("numba")

    @numba.njit
    def scaled(x):
        return x * FACTOR

    with pytest.raises(CompilationError, match="it reads FACTOR, which a module by itself does not have"):
        nx.to_numba_source(lambda x: nx.njit_map(scaled, x), X)
