"""NumPy's functions under NumPy's names, on traced arrays that are assigned into and viewed as NumPy's are.

Functions that are written for NumPy alone are traced with these in the place of NumPy's: see :func:`twin`. Types follow
NumPy's rules while ``nxkernel.types.promotion("numpy")`` is active.
"""

from nxkernel.numpy import (
    choosing,
    constants,
    creation,
    cumulative,
    elementwise,
    inspection,
    joining,
    methods,  # noqa: F401 - installs operators and methods
    products,
    reductions,
    shaping,
    signals,
    sorting,
    statistics,
    tricks,
)

from nxkernel.numpy import fft as fft  # isort: skip
from nxkernel.numpy import linalg as linalg  # isort: skip
from nxkernel.numpy import random as random  # isort: skip
from nxkernel.numpy.array import Array as Array
from nxkernel.numpy.array import Scalar as Scalar
from nxkernel.numpy.array import Value as Value
from nxkernel.numpy.array import wrap as wrap
from nxkernel.numpy.bounds import assume as assume
from nxkernel.numpy.bounds import forget as forget
from nxkernel.numpy.choosing import *  # noqa: F403
from nxkernel.numpy.constants import *  # noqa: F403
from nxkernel.numpy.creation import *  # noqa: F403
from nxkernel.numpy.cumulative import *  # noqa: F403
from nxkernel.numpy.elementwise import *  # noqa: F403
from nxkernel.numpy.inspection import *  # noqa: F403
from nxkernel.numpy.joining import *  # noqa: F403
from nxkernel.numpy.parts import Part as Part
from nxkernel.numpy.products import *  # noqa: F403
from nxkernel.numpy.reductions import *  # noqa: F403
from nxkernel.numpy.selected import Selected as Selected
from nxkernel.numpy.shaping import *  # noqa: F403
from nxkernel.numpy.signals import *  # noqa: F403
from nxkernel.numpy.sorting import *  # noqa: F403
from nxkernel.numpy.statistics import *  # noqa: F403
from nxkernel.numpy.tricks import *  # noqa: F403
from nxkernel.numpy.twins import twin as twin

ndarray = Array
_FAMILIES = (
    choosing, constants, creation, cumulative, elementwise, inspection, joining, products, reductions, shaping, signals,
    sorting, statistics, tricks,
)  # fmt: skip
__all__ = sorted({name for family in _FAMILIES for name in family.__all__} - {"linalg_outer"})
