"""NumPy's functions under NumPy's names, on traced arrays that are assigned into and viewed as NumPy's are.

Functions that are written for NumPy alone are traced with these in the place of NumPy's: see :func:`twin`. Types follow
NumPy's rules while ``nxkernel.types.promotion("numpy")`` is active, and in calls that run at once. It is a namespace of
the array API standard, which tests/numpy/standard holds it to.
"""

import importlib
from typing import TYPE_CHECKING, Any

from nxkernel.numpy import array_methods as array_methods  # installs operators and methods
from nxkernel.numpy import array_protocols as array_protocols  # installs those
from nxkernel.numpy import called_functions, constants
from nxkernel.numpy.base import eager_rules
from nxkernel.numpy.functions import (
    creation,
    cumulative,
    elementwise,
    index_tricks,
    inspection,
    joining,
    products,
    reductions,
    selection,
    shaping,
    signals,
    sorting,
    statistics,
)

from nxkernel.numpy import fft as fft  # isort: skip
from nxkernel.numpy import linalg as linalg  # isort: skip
from nxkernel.numpy import refused_random as random  # noqa: F401 # isort: skip
from nxkernel.numpy.arrays.array import Array as Array
from nxkernel.numpy.arrays.array import ArrayValue as ArrayValue
from nxkernel.numpy.arrays.array import Scalar as Scalar
from nxkernel.numpy.arrays.array import wrap as wrap
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice as DynamicSlice
from nxkernel.numpy.arrays.masked_elements import MaskedElements as MaskedElements
from nxkernel.numpy.base.integer_bounds import assume as assume
from nxkernel.numpy.base.integer_bounds import forget as forget
from nxkernel.numpy.called_functions import *  # noqa: F403
from nxkernel.numpy.constants import *  # noqa: F403
from nxkernel.numpy.dispatch_table import twin as twin
from nxkernel.numpy.functions.creation import *  # noqa: F403
from nxkernel.numpy.functions.cumulative import *  # noqa: F403
from nxkernel.numpy.functions.elementwise import *  # noqa: F403
from nxkernel.numpy.functions.index_tricks import *  # noqa: F403
from nxkernel.numpy.functions.inspection import *  # noqa: F403
from nxkernel.numpy.functions.joining import *  # noqa: F403
from nxkernel.numpy.functions.products import *  # noqa: F403
from nxkernel.numpy.functions.reductions import *  # noqa: F403
from nxkernel.numpy.functions.selection import *  # noqa: F403
from nxkernel.numpy.functions.shaping import *  # noqa: F403
from nxkernel.numpy.functions.signals import *  # noqa: F403
from nxkernel.numpy.functions.sorting import *  # noqa: F403
from nxkernel.numpy.functions.statistics import *  # noqa: F403
from nxkernel.numpy.standard import data_types, devices, namespace_info, sequences, sets
from nxkernel.numpy.standard.data_types import *  # noqa: F403
from nxkernel.numpy.standard.devices import *  # noqa: F403
from nxkernel.numpy.standard.namespace_info import *  # noqa: F403
from nxkernel.numpy.standard.sequences import *  # noqa: F403
from nxkernel.numpy.standard.sets import *  # noqa: F403

_FAMILIES = (
    sequences, selection, constants, namespace_info, data_types, devices, sets, called_functions, creation, cumulative,
    elementwise, inspection, joining, products, reductions, shaping, signals, sorting, statistics, index_tricks,
)  # fmt: skip
for _family in (*_FAMILIES, fft, linalg):
    eager_rules.install(_family, _family.__all__)
devices.install(fft, ["fftfreq", "rfftfreq"])
devices.install(
    creation,
    ["arange", "asarray", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like", "zeros",
     "zeros_like"],
)  # fmt: skip
globals().update({name: getattr(family, name) for family in reversed(_FAMILIES) for name in family.__all__})

ndarray = Array
__all__ = sorted({name for family in _FAMILIES for name in family.__all__} - {"linalg_outer"})

if TYPE_CHECKING:
    from nxkernel.numpy.scipy import special as special
else:

    def __getattr__(name: str) -> Any:
        # What SciPy looks for in a library of arrays; who has no SciPy does without.
        if name == "special":
            return importlib.import_module("nxkernel.numpy.scipy.special")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
