"""Functions that Numba compiled, as part of kernels and programs: their results, their errors, and their code."""

import math

import numba
import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu.codegen import user_functions
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.errors import CompilationError
from nxkernel.numba_functions import scalar_function
from nxkernel.types import f32, f64

X = np.random.default_rng(3).uniform(-2, 2, 1003)
Y = np.random.default_rng(4).uniform(-2, 2, 1003)
FACTOR = 1.5


@numba.njit
def scaled(x):
    return x * FACTOR


@numba.njit
def curve(x, y):
    return scaled(x * x + y) * x - y


@numba.njit
def quotient(x, y):
    return x / y


@numba.njit
def steps(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


@numba.njit
def limited(x):
    if x > 1.9:
        raise ValueError("above the limit")
    return x


@numba.njit
def told(x):
    if x > 1.9:
        raise ValueError("above the limit", x)
    return x


@numba.njit
def turned(z, w):
    return z * w - w


@numba.njit
def positive(x):
    return x > 0


@numba.njit
def signed(up, x):
    return x if up else -x


@numba.njit
def transcendental(x):
    return math.sin(x) + math.gamma(abs(x) + 1) ** 2.5


@numba.njit
def summed(x):
    row = np.empty(5)
    for i in range(5):
        row[i] = x * i
    return row.sum()


@numba.njit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


TABLE = np.array([3.0, 5.0, 7.0])


@numba.njit
def looked_up(i):
    return TABLE[i]


def each(function, *arrays):
    """The function of each element, by Numba itself."""
    return np.array([function(*numbers) for numbers in zip(*arrays, strict=True)])


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (curve, (X, Y)),
        (curve, (X.astype("f4"), Y.astype("f4"))),
        (quotient, (X, Y)),
        (steps, (np.arange(1, 1004),)),
        (turned, (X + 1j * Y, Y - 1j * X)),
        (turned, ((X + 1j * Y).astype("c8"), (Y - 1j * X).astype("c8"))),
        (positive, (X,)),
        (signed, (X > Y, X)),
        (transcendental, (X,)),
        (summed, (X,)),
        (fibonacci, (np.arange(40) % 9,)),
        (looked_up, (np.arange(300) % 3,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_elements_are_as_numba_computes_them(function, arrays, compiler):
    found = np.asarray(nx.jit(lambda *values: nx.njit_map(function, *values), compiler=compiler)(*arrays))
    expected = each(function, *arrays)
    # Numba gives Python complex numbers of either width.
    assert found.dtype == (arrays[0].dtype if function is turned else expected.dtype)
    expected = expected.astype(found.dtype)
    if function is transcendental:
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    else:
        np.testing.assert_array_equal(found, expected)


def test_it_is_one_kernel_with_what_is_around_it():
    made = nx.compile(lambda x, y: nx.sum(nx.njit_map(curve, x, y) * 2 + 1), [nx.tensor(X), nx.tensor(Y)])
    assert float(made(X, Y)) == pytest.approx((each(curve, X, Y) * 2 + 1).sum())


@pytest.mark.parametrize("place", [0, 15, 16, 500, 1002])
def test_an_error_of_one_element_is_raised(place):
    divisors = np.where(np.arange(1003) == place, 0.0, Y)
    run = nx.jit(lambda x, y: nx.njit_map(quotient, x, y) + 1)
    with pytest.raises(ZeroDivisionError, match="division by zero") as error:
        run(X, divisors)
    assert error.value.__notes__ == ["Raised by quotient, compiled by Numba, for one of the elements."]
    np.testing.assert_array_equal(run(X, Y), X / Y + 1)


def test_lanes_that_do_not_count_raise_nothing_and_end():
    for size in (1, 3, 15, 17, 33):
        np.testing.assert_array_equal(nx.jit(lambda x: nx.njit_map(quotient, 1.0, x))(Y[:size]), 1 / Y[:size])
        numbers = np.arange(1, size + 1)
        np.testing.assert_array_equal(nx.jit(lambda n: nx.njit_map(steps, n))(numbers), each(steps, numbers))
    assert nx.jit(lambda x: nx.njit_map(limited, x))(X[:0]).shape == (0,)


def test_errors_with_a_text_of_their_own():
    with pytest.raises(ValueError, match="above the limit"):
        nx.jit(lambda x: nx.njit_map(limited, x))(X)
    with pytest.raises(CompilationError, match="raised an error whose text it computes"):
        nx.jit(lambda x: nx.njit_map(told, x))(X)


def test_single_numbers_in_loops():
    @nx.defn
    def longest(n):
        best = 0
        for i in range(n):
            best = max(best, steps(i + 1))
        return best

    @nx.defn
    def divided(x, n):
        for i in range(n):
            x = quotient(x, 3.0 - i)
        return x

    assert int(longest(100)) == max(steps(i + 1) for i in range(100))
    assert float(divided(6.0, 3)) == 1.0
    with pytest.raises(ZeroDivisionError):
        divided(6.0, 5)


def test_in_reductions_columns_and_tiles():
    m = X[:1000].reshape(20, 50)

    def f(m):
        values = nx.njit_map(scaled, m)
        return (
            nx.sum(values, axes=[0]),
            nx.argmax(values, axis=1),
            nx.njit_map(limited, nx.dot(m, nx.transpose(m)) / 99),
        )

    columns, places, products = nx.jit(f)(m)
    np.testing.assert_allclose(columns, (m * FACTOR).sum(0), rtol=1e-12)
    np.testing.assert_array_equal(places, m.argmax(1))
    np.testing.assert_allclose(products, m @ m.T / 99, rtol=1e-12)


def test_the_wrapper_is_made_of_vectors():
    function = scalar_function(curve, (f32, f32))
    user_functions._functions[function.key] = function
    symbol = f"nx.njit.{function.key}.16"
    (wrapper,) = user_functions.wrappers(f"declare <16 x float> @{symbol}(<16 x float>, <16 x float>, ptr, i1)\n")
    text = str(wrapper)
    body = text[text.index(f"@{symbol}(") :]
    assert "fmul <16 x " in body[: body.index("\n}")] or "fmul <8 x " in body[: body.index("\n}")]
    assert "extractelement" not in body[: body.index("\n}")]
    assert user_functions.wrappers("declare void @other(ptr)\n") == []


def test_the_same_function_made_anew_is_the_same_kernel(monkeypatch, tmp_path):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path))
    disk_cache.reset()
    origins = []
    native = code_store.native

    def watched(symbol, *args, **options):
        found = native(symbol, *args, **options)
        if symbol.startswith("nxk_") and "runtime" not in symbol:
            origins.append(found[1])
        return found

    monkeypatch.setattr(code_store, "native", watched)

    def check(factor):
        @numba.njit
        def cubed(x):
            return x * x * x / factor

        np.testing.assert_array_equal(nx.defn(lambda x: cubed(x) + 1)(X), X * X * X / factor + 1)

    for factor in (3.25, 3.25, 4.25):
        code_store.forget()
        check(factor)
    assert origins == ["compiled", "disk", "compiled"]
    disk_cache.reset()


def test_keys_tell_types_and_code_apart():
    keys = {scalar_function(f, types).key for f in (scaled, limited) for types in ((f32,), (f64,))}
    assert len(keys) == 4
