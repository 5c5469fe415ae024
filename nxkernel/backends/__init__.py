"""The reference implementation of each primitive in NumPy, in the table :data:`MEANING`, and devices (``cuda``)."""

from nxkernel.backends import (
    array_primitives,
    graph_evaluation,
    library_routines,
    numba_calls,
    numpy_primitives,
    threefry,
)
from nxkernel.backends.numpy_primitives import Meaning
from nxkernel.primitives import Primitive

#: What each primitive does to NumPy arrays.
MEANING: dict[Primitive, Meaning] = {
    **numpy_primitives.MEANING,
    **array_primitives.MEANING,
    **library_routines.MEANING,
    **threefry.MEANING,
    **numba_calls.MEANING,
    **graph_evaluation.MEANING,
}
