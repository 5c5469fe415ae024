"""Ufuncs of SciPy's on traced arrays: their values, types, and how they are computed."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
import nxkernel.numpy as nnp
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError

#: What is near zero and one and beyond, where most functions of several arguments have values.
X = np.array([-1.3, -0.4, 0.0, 0.2, 0.5, 0.9, 1.0, 2.0, 3.7, 12.5])
Y = np.array([1.5, 2.0, 0.3, 1.0, 4.0, 2.5, 0.7, 3.0, 1.2, 0.4])
ARGUMENTS = (X, Y, X[::-1].copy(), Y[::-1].copy(), X)
#: All ufuncs, by their names.
UFUNCS = {
    one.__name__: one for one in vars(special).values() if isinstance(one, np.ufunc) and "d" in "".join(one.types)
}
#: Functions that SciPy publishes for compiled code, and such that are made of primitives.
SAMPLE = [
    "erfcx", "gammaln", "psi", "i0e", "j0", "betaln", "jv", "eval_legendre", "expit", "xlogy", "ndtr", "log_ndtr",
    "gammainc", "stdtr",
]  # fmt: skip


def _arguments(ufunc):
    whole = {place for one in ufunc.types for place, letter in enumerate(one.partition("->")[0]) if letter == "l"}
    return [np.arange(10) if place in whole else value for place, value in enumerate(ARGUMENTS[: ufunc.nin])]


def _agree(found, wanted, ulps=8):
    for one, other in zip(found, wanted, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=ulps * np.finfo(other.dtype).eps, atol=1e-300)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("names", [sorted(UFUNCS)[start::8] for start in range(8)], ids=lambda names: names[0])
def test_every_ufunc_is_scipys(names):
    for name in names:
        ufunc, given = UFUNCS[name], _arguments(UFUNCS[name])
        with np.errstate(all="ignore"):
            wanted = ufunc(*given)
        run = nx.jit(lambda *values, call=ufunc: call(*values), promotion="numpy", compiler="evaluator")
        found = run(*given)
        _agree(*[value if isinstance(value, tuple) else (value,) for value in (found, wanted)])


def test_compiled_ones_are_scipys():
    x, n = np.linspace(0.1, 0.95, 37), np.arange(37) % 5
    arguments = {"jv": (1.5, x), "eval_legendre": (n, x), "betaln": (x, 2.0), "xlogy": (x, x), "gammainc": (x, 0.3)}
    arguments |= {"stdtr": (4.0, x)}

    def all_of_them(x, n):
        given = {"jv": (1.5, x), "eval_legendre": (n, x), "betaln": (x, 2.0), "xlogy": (x, x), "gammainc": (x, 0.3)}
        given |= {"stdtr": (4.0, x)}
        return tuple([getattr(special, name)(*given.get(name, (x,))) for name in SAMPLE])

    found = nx.jit(all_of_them, compiler="numba_cpu")(x, n)
    _agree(found, [getattr(special, name)(*arguments.get(name, (x,))) for name in SAMPLE])


def test_several_results_and_narrow_floats():
    x = np.linspace(0.2, 3.0, 11)
    _agree(nx.jit(lambda x: special.sici(x) + special.ellipj(x, 0.3), compiler="numba_cpu")(x),
           special.sici(x) + special.ellipj(x, 0.3))  # fmt: skip
    narrow = x.astype("float32")
    (found,) = [nx.jit(lambda x: special.gammaln(x) + special.erf(x), compiler="numba_cpu")(narrow)]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, special.gammaln(narrow) + special.erf(narrow), rtol=1e-6, atol=1e-7)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", ["gammaln", "erf", "xlogy", "eval_chebyt", "beta"])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "bool", "float16", "float32"])
def test_types_are_numpys(name, dtype):
    ufunc = getattr(special, name)
    x = np.array([1, 1, 1], dtype)
    check(lambda np, x: ufunc(*[x] * ufunc.nin), x)
    if ufunc.nin == 2:
        check(lambda np, x: (ufunc(2, x), ufunc(x, 0.5)), x)


def test_fractions_where_whole_numbers_belong_are_seen_by_scipy():
    x = np.linspace(0.2, 0.9, 5)
    check(lambda np, x: special.eval_legendre(x + 1, x), x)
    with pytest.warns(RuntimeWarning, match="floating point number truncated to an integer"):
        found = nx.jit(lambda x: special.expn(x + 1, x), compiler="numba_cpu")(x)
    with pytest.warns(RuntimeWarning, match="floating point number truncated to an integer"):
        np.testing.assert_array_equal(found, special.expn(x + 1, x))


def test_complex_numbers_are_computed_by_scipy():
    z = np.array([0.5 + 1j, -1.0 + 0.1j])
    check(lambda np, z: (special.gamma(z), special.erf(z), special.jv(1.0, z), special.wofz(z)), z)
    with pytest.raises(NxTypeError, match=r"scipy\.special\.gammaln takes no numbers of these types: complex128"):
        nx.jit(lambda z: special.gammaln(z))(z)


def test_options_of_ufuncs():
    x = np.linspace(0.5, 2.0, 4)
    check(lambda np, x: special.gammaln(x, where=x > 1, out=np.zeros(4)), x)
    check(lambda np, x: special.erf(x, dtype=np.float32), x)


def test_arrays_that_are_there():
    found = special.gammaln(nnp.array([1.0, 5.0]))
    assert type(found) is nnp.Array
    np.testing.assert_allclose(found, special.gammaln([1.0, 5.0]))
    np.testing.assert_allclose(special.gammaln(nx.tensor([1.0, 5.0])), special.gammaln([1.0, 5.0]), rtol=1e-6)


def test_entries_of_vmap():
    x = np.linspace(0.5, 2.0, 6).reshape(2, 3)
    both = lambda row: special.gammaincc(row, 0.7) + special.zeta(2.5, row)  # noqa: E731
    np.testing.assert_allclose(nx.vmap(both)(x), both(x), rtol=1e-14)


def test_nobody_else_knows_it():
    assert nnp.special.gammaln is nnp.twin(special.gammaln)
    assert nnp.special.gammaln is not special.gammaln
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = nnp.special.nothing


@pytest.mark.slow
def test_another_process_finds_the_function_by_its_name(tmp_path):
    program = (
        "import nxkernel as nx, numpy as np\nfrom scipy import special\n"
        "f = nx.jit(lambda x: special.gammaln(x) * 3 + special.i0e(x))\nx = np.arange(1.0, 9.0)\n"
        "print(np.abs(f(x) - special.gammaln(x) * 3 - special.i0e(x)).max(), f.cache_info().disk)"
    )
    environment = {**os.environ, "NXKERNEL_CACHE_DIR": str(tmp_path)}
    done = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    found = [[float(number) for number in one.stdout.split()] for one in done]
    assert [error < 1e-14 for error, _ in found] == [True, True]
    assert (found[0][1], found[1][1] > 0) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_every_ufunc_compiled_is_scipys(name):
    ufunc, given = UFUNCS[name], _arguments(UFUNCS[name])
    with np.errstate(all="ignore"):
        wanted = ufunc(*given)
    found = nx.jit(lambda *values: ufunc(*values), promotion="numpy", compiler="numba_cpu")(*given)
    _agree(*[value if isinstance(value, tuple) else (value,) for value in (found, wanted)])
