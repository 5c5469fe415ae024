"""The NumPy meaning of each primitive, in the table :data:`MEANING`, and the devices that data can lie on."""

from nxkernel.backends import array_primitives, functions, graphs, libraries, numpy, threefry
from nxkernel.backends.numpy import Meaning
from nxkernel.primitives import Primitive

#: What each primitive does to NumPy arrays.
MEANING: dict[Primitive, Meaning] = {
    **numpy.MEANING,
    **array_primitives.MEANING,
    **libraries.MEANING,
    **threefry.MEANING,
    **functions.MEANING,
    **graphs.MEANING,
}
