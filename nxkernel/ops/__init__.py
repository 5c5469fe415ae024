"""The public functions on tensors (`nx.sum`, `nx.dot`, …), one module a family."""

from nxkernel.messages.call_errors import explain
from nxkernel.ops import tensor_methods as tensor_methods  # installs operators and methods
from nxkernel.ops.arithmetic import casting, comparison, elementary, elementwise
from nxkernel.ops.arithmetic.casting import *  # noqa: F403
from nxkernel.ops.arithmetic.comparison import *  # noqa: F403
from nxkernel.ops.arithmetic.elementary import *  # noqa: F403
from nxkernel.ops.arithmetic.elementwise import *  # noqa: F403
from nxkernel.ops.numpy_names import axes as numpy_axes
from nxkernel.ops.numpy_names import creation as numpy_creation
from nxkernel.ops.numpy_names import selection as numpy_selection
from nxkernel.ops.numpy_names.aliases import ALIASES
from nxkernel.ops.numpy_names.axes import *  # noqa: F403
from nxkernel.ops.numpy_names.creation import *  # noqa: F403
from nxkernel.ops.numpy_names.selection import *  # noqa: F403
from nxkernel.ops.programs import numba_functions
from nxkernel.ops.programs.numba_functions import *  # noqa: F403
from nxkernel.ops.reductions import (
    contraction,
    convolution,
    cumulative,
    extremes,
    fourier,
    reduction,
    statistics,
    user_reductions,
    windows,
)
from nxkernel.ops.reductions.contraction import *  # noqa: F403
from nxkernel.ops.reductions.convolution import *  # noqa: F403
from nxkernel.ops.reductions.cumulative import *  # noqa: F403
from nxkernel.ops.reductions.extremes import *  # noqa: F403
from nxkernel.ops.reductions.fourier import *  # noqa: F403
from nxkernel.ops.reductions.reduction import *  # noqa: F403
from nxkernel.ops.reductions.statistics import *  # noqa: F403
from nxkernel.ops.reductions.user_reductions import *  # noqa: F403
from nxkernel.ops.reductions.windows import *  # noqa: F403
from nxkernel.ops.shapes import batching, diagonals, gathering, indexed_updates, indexing, padding, shaping, sorting
from nxkernel.ops.shapes.batching import *  # noqa: F403
from nxkernel.ops.shapes.diagonals import *  # noqa: F403
from nxkernel.ops.shapes.gathering import *  # noqa: F403
from nxkernel.ops.shapes.indexed_updates import *  # noqa: F403
from nxkernel.ops.shapes.indexing import *  # noqa: F403
from nxkernel.ops.shapes.padding import *  # noqa: F403
from nxkernel.ops.shapes.shaping import *  # noqa: F403
from nxkernel.ops.shapes.sorting import *  # noqa: F403
from nxkernel.ops.tensors import creation, inspection, literals, python_conversion, vectorized_axes
from nxkernel.ops.tensors.creation import *  # noqa: F403
from nxkernel.ops.tensors.inspection import *  # noqa: F403
from nxkernel.ops.tensors.literals import *  # noqa: F403
from nxkernel.ops.tensors.python_conversion import *  # noqa: F403
from nxkernel.ops.tensors.vectorized_axes import *  # noqa: F403

_FAMILIES = (
    batching, padding, casting, comparison, contraction, convolution, creation, cumulative, diagonals, elementary,
    elementwise, extremes, user_reductions, fourier, gathering, indexed_updates, indexing, inspection, literals,
    numba_functions, numpy_axes, numpy_creation, numpy_selection, python_conversion, reduction, shaping, sorting,
    statistics, vectorized_axes, windows,
)  # fmt: skip
__all__ = sorted(name for family in _FAMILIES for name in family.__all__)

explain(globals(), __all__, "nx")
globals().update({name: globals()[documented] for name, documented in ALIASES.items()})
__all__ = sorted([*__all__, *ALIASES])
