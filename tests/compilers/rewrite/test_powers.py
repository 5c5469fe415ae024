"""Powers that are written out: which, and that they are as exact as the function, also of special numbers."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, graph_of, spec
from nxkernel.compilers.rewrite.powers import written_out


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("number", [3, 4, -1, -2, 0.5, -0.5, 1.5, -1.5])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_powers_that_are_written_out_are_as_exact(number, type_):
    special = [0.0, -0.0, 1.0, -1.0, 2.5, -3.7, np.inf, -np.inf, np.nan]
    x = np.array([*special, *np.random.default_rng(0).lognormal(0, 6, 500)]).astype(nx.types.normalize(type_).dtype)
    (power,) = graph_of(lambda x: nx.pow(x, number), x).outputs
    assert written_out(power) is not power
    (found,) = compiled(lambda x: nx.pow(x, number), x).run([x])
    with np.errstate(all="ignore"):
        wanted = np.float_power(x.astype(np.float64), np.full(x.shape, float(number))).astype(x.dtype)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(wanted)]), np.signbit(wanted[~np.isnan(wanted)]))
    np.testing.assert_array_max_ulp(found[np.isfinite(wanted)], wanted[np.isfinite(wanted)], 2, dtype=x.dtype)
    np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))


@pytest.mark.parametrize(
    ("number", "type_"), [(5, "f64"), (2.5, "f64"), (0.3, "f32"), (3, "s32"), (3, "c64"), (3, "bf16")]
)
def test_others_stay(number, type_):
    (power,) = graph_of(lambda x: nx.pow(x, number), spec(type_, 4)).outputs
    assert written_out(power) is power


def test_a_computed_exponent_stays():
    (power,) = graph_of(lambda x, y: nx.pow(x, y), spec("f64", 4), spec("f64", 4)).outputs
    assert written_out(power) is power
