"""What tests of vectorization share: a graph of entries beside the graph of one, entry after entry."""

import numpy as np

from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.primitives import Spec
from nxkernel.transforms.vectorize import vectorize

#: The number of entries.
SIZE = 3


def entries_of(array):
    """Three entries out of one, of which the second one has the same elements in another order."""
    array = np.asarray(array)
    return np.stack([array, array.ravel()[::-1].reshape(array.shape), array])


def results(graph, arrays):
    return registry.get("evaluator").compile(graph).run([np.array(array, order="C") for array in arrays])


def check(graph, arrays, mapped):
    """Compare a graph of entries with the graph of one, entry after entry."""
    alone = [[array[k] if flag else array for array, flag in zip(arrays, mapped, strict=True)] for k in range(SIZE)]
    expected = [results(graph, entry) for entry in alone]
    made = vectorize(graph, SIZE, mapped)
    for output, flag, old in zip(made.graph.outputs, made.mapped, graph.outputs, strict=True):
        assert output.spec == (Spec(old.type, (SIZE, *old.shape), (None, *old.names)) if flag else old.spec)
    for place, (found, flag) in enumerate(zip(results(made.graph, arrays), made.mapped, strict=True)):
        for entry in range(SIZE):
            near(found[entry] if flag else found, expected[entry][place])
    return made


def near(found, expected):
    """Sums of many entries go in another order than those of one."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    kind = types.normalize(found.dtype)
    if kind.is_integer or found.dtype.kind == "b":
        np.testing.assert_array_equal(found, expected)
        return
    wide = np.complex128 if kind.is_complex else np.float64
    found, expected = found.astype(wide), expected.astype(wide)
    rounding = {2: 2e-2, 4: 1e-4}.get(kind.size // (2 if kind.is_complex else 1), 1e-10)
    finite = np.abs(expected[np.isfinite(expected)])
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding * finite.max(initial=0))
