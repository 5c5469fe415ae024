"""What primitives do to data. :data:`MEANING` has every primitive but ``parameter``."""

from nxkernel.backends import arrays, functions, graphs, libraries, numpy, threefry
from nxkernel.backends.numpy import Meaning
from nxkernel.primitives import Primitive

#: What each primitive does to NumPy arrays.
MEANING: dict[Primitive, Meaning] = {
    **numpy.MEANING,
    **arrays.MEANING,
    **libraries.MEANING,
    **threefry.MEANING,
    **functions.MEANING,
    **graphs.MEANING,
}
