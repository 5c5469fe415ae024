"""Truth values in arithmetic: as s64, or as the type that they meet; in programs as at once."""

import numpy as np
import pytest

import nxkernel as nx

X = np.array([[3, -1, 2], [0, 5, 1]])
M = X > 1


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("compiler", [None, "evaluator", "numba_cpu"], ids=["at once", "evaluator", "numba_cpu"])
@pytest.mark.parametrize(
    ("function", "type_", "expected"),
    [
        (lambda m, x: m + m, "s64", 2 * M),
        (lambda m, x: m + True, "s64", M + 1),
        (lambda m, x: 1 - m * 2, "s64", 1 - M * 2),
        (lambda m, x: -m, "s64", -1 * M),
        (lambda m, x: m / 2, "f32", M / 2),
        (lambda m, x: m // 2 + m % 2, "s64", M % 2),
        (lambda m, x: m + 0.5, "f32", M + 0.5),
        (lambda m, x: m * 1j, "c64", M * 1j),
        (lambda m, x: m * nx.u8(7), "u8", M * 7),
        (lambda m, x: m * nx.f16(0.5), "f16", M * 0.5),
        (lambda m, x: m * x, "s64", M * X),
        (lambda m, x: m.sum(), "s64", 3),
        (lambda m, x: nx.sum(x > 1, axes=[0]), "s64", M.sum(0)),
        (lambda m, x: nx.product(m), "s64", 0),
        (lambda m, x: m.mean(), "f32", 0.5),
        (lambda m, x: nx.dot(m, nx.transpose(m)), "s64", M.astype(int) @ M.T),
        (lambda m, x: nx.abs(m), "s64", M),
        (lambda m, x: m << 2, "s64", M * 4),
        (lambda m, x: nx.max(m, x > 2), "bool", M | (X > 2)),
        (lambda m, x: nx.min(m, x > 2), "bool", M & (X > 2)),
        (lambda m, x: nx.max(m, 3), "s64", np.full_like(X, 3)),
        (lambda m, x: nx.reduce_max(m, axes=[1]), "bool", M.max(1)),
        (lambda m, x: nx.reduce_min(m), "bool", False),
        (lambda m, x: nx.window_max(m, (1, 2)), "bool", M[:, 1:] | M[:, :-1]),
        (lambda m, x: nx.clip(m, False, True), "bool", M),
        (lambda m, x: nx.argmax(m, axis=1), "s64", [0, 1]),
        (lambda m, x: nx.sort(m, axis=1), "bool", np.sort(M, 1)),
        (lambda m, x: nx.median(m, axis=1), "bool", [True, False]),
        (lambda m, x: ~m, "bool", ~M),
        (lambda m, x: m & (x > 2) | (m ^ (x < 0)), "bool", M & (X > 2) | (M ^ (X < 0))),
        (lambda m, x: nx.select(m, x > 2, False), "bool", M & (X > 2)),
        (lambda m, x: nx.select(m, m, 0), "s64", M),
        (lambda m, x: nx.all_close(x, x), "bool", True),
        (lambda m, x: nx.as_type(m, "u8"), "u8", M),
    ],
)  # fmt: skip
def test_truth_values(function, type_, expected, compiler):
    mask, x = nx.tensor(M), nx.tensor(X)
    found = (nx.jit(function, compiler=compiler) if compiler else function)(mask, x)
    assert found.type == type_
    np.testing.assert_array_equal(found, expected)


def test_python_truth_values_are_bool():
    assert nx.tensor(True).spec == nx.template((), "bool").spec
    assert nx.tensor([True, False]).to_list() == [True, False]
    assert nx.defn(lambda flag: flag)(True).to_list() is True
    assert (nx.u8([1]) * True).type == "u8"
