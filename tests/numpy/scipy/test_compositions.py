"""Special functions that are made of primitives: their values where they are special."""

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
from nxkernel.numpy.scipy.compositions import COMPOSITIONS

EDGES = np.array([-np.inf, -1e150, -2.0, -1.0, -0.0, 0.0, 1e-150, 0.5, 1.0, 2.0, 1e150, np.inf, np.nan])


@pytest.mark.parametrize("name", sorted(set(COMPOSITIONS) & set(dir(special))))
def test_values_at_the_edges(name):
    ufunc = getattr(special, name)
    given = [EDGES] if ufunc.nin == 1 else [EDGES[:, None], EDGES]
    with np.errstate(all="ignore"):
        wanted = ufunc(*given)
    for compiler in ("evaluator", "numba_cpu"):
        found = nx.jit(lambda *values: ufunc(*values), promotion="numpy", compiler=compiler)(*given)
        np.testing.assert_allclose(found, wanted, rtol=4e-15)


def test_they_are_fused():
    x = np.linspace(0.1, 0.9, 5)
    f = nx.jit(lambda x: special.logit(x) + special.rel_entr(x, x * 0.5), compiler="numba_cpu")
    f(x)
    assert f.cache_info().compiled + f.cache_info().memory + f.cache_info().disk == 1
