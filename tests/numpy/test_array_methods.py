"""Operators and methods of arrays and scalars, compared with NumPy's."""

import warnings

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import module_of
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxAttributeError

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])


def _in_place(np, m):
    m += 1
    m *= 2
    m[0] -= m[1]
    m[:, 1] //= 2
    m.sort()
    other = m.copy()
    other.fill(3)
    return m, other


ROWS = {
    "operators": lambda np, m: (
        m + 1,
        2 - m,
        m * 1.5,
        m / 2,
        m // 2,
        m % 3,
        m**2,
        -m,
        abs(m),
        divmod(m, 2),
        m @ m.T,
        +m,
    ),
    "comparisons": lambda np, m: (m > 2, m == 5, m != m.T[0][:, None], m <= 2.5, m > 3),
    "in place": lambda np, m: _in_place(np, m),
    "scalars": lambda np, m: (
        m[0, 0] + 1,
        m[0, 0] / 2,
        m[0, 0] ** 2,
        m[0, 0] > 1,
        m[0, 0] * m,
        m[0, 0].astype(int),
        m[0, 0].item() * 1,
    ),
    "methods": lambda np, m: (
        m.sum(),
        m.T,
        m.clip(2, 4),
        m.dot(m.T),
        m.take([0, 3]),
        m.repeat(2),
        m.round(),
        m.conj(),
        m.diagonal(),
    ),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


@pytest.mark.parametrize(
    ("function", "name", "instead"),
    [
        (lambda x: x.ctypes.data, "ctypes", "Write x."),
        (lambda x: x.base is x, "base", "Write np.shares_memory(a, b)."),
    ],
)
def test_what_only_memory_tells_is_refused(function, name, instead):
    with pytest.raises(NxAttributeError) as raised:
        nx.defn(promotion="numpy")(function)(np.ones(3))
    first, *hints = [line.strip() for line in str(raised.value).split("\n") if "test_array_methods.py" not in line]
    assert first == f"an array of a NumPy program has no {name!r}."
    assert hints == [instead, "Where elements lie in memory is for the compiler to say: each program decides anew."]


def test_partitions():
    def f(np, m):
        other = m.copy()
        other.partition(2)
        return np.sort(other, axis=-1), np.take_along_axis(m, m.argpartition(1), axis=-1)[:, 1]

    check(f, M)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "formula",
    ["~(k > 0)", "bool(k) + bool(k)", "-(k > 1)", "bool(k) * 3", "(k > 0) + (k > 1)", "~bool(a.any())", "~(a[0] > 0)",
     "bool(k) - True", "(k == 2) ** 2", "a.any() + a.all()", "(k - 3) / 2 % 1", "-k / 2 % -1", "(1 - k) * 0.0 // 4"],
)  # fmt: skip
def test_truth_values_and_numbers_of_python_compute_as_python_has_them(formula):
    """Those of NumPy are added and multiplied as truth values."""
    source = f"def f(a, n):\n    r = np.zeros(n)\n    for k in range(n):\n        r[k] = {formula}\n    return r\n"
    function, a = module_of(source)["f"], np.array([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, found = function(a, 6), np.asarray(nx.defn(function, promotion="numpy")(a, 6))
    assert found.tobytes() == wanted.tobytes()


def test_numbers_of_a_list():
    @nx.defn(promotion="numpy")
    def f(x):
        (a, b), (c, d) = x.tolist()
        return np.stack([d, c, b, a]), x.sum().tolist() + x.astype(np.float32)

    x = np.array([[1.0, 2.0], [3.0, 4.5]])
    for found, expected in zip(f(x), (np.array([4.5, 3.0, 2.0, 1.0]), np.float32(10.5) + x.astype("f4")), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_ranges_are_operands():
    @nx.jit
    def f(x):
        return (x + range(3)) / 2, range(1, 6, 2) * x

    for found, expected in zip(f(np.ones(3)), ([0.5, 1.0, 1.5], [1.0, 3.0, 5.0]), strict=True):
        np.testing.assert_array_equal(found, expected)
