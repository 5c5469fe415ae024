"""The vocabulary: what people call, one module a family."""

from nxkernel.calling import explain
from nxkernel.ops import (
    batches,
    borders,
    comparison,
    contraction,
    conversion,
    convolution,
    creation,
    cumulative,
    diagonals,
    elementary,
    elementwise,
    folding,
    fourier,
    gathering,
    indexing,
    inspection,
    literals,
    methods,  # noqa: F401 - installs operators and methods
    njit,
    reduction,
    shaping,
    sorting,
    statistics,
    typing,
    vectorization,
    window,
)
from nxkernel.ops.batches import *  # noqa: F403
from nxkernel.ops.borders import *  # noqa: F403
from nxkernel.ops.comparison import *  # noqa: F403
from nxkernel.ops.contraction import *  # noqa: F403
from nxkernel.ops.conversion import *  # noqa: F403
from nxkernel.ops.convolution import *  # noqa: F403
from nxkernel.ops.creation import *  # noqa: F403
from nxkernel.ops.cumulative import *  # noqa: F403
from nxkernel.ops.diagonals import *  # noqa: F403
from nxkernel.ops.elementary import *  # noqa: F403
from nxkernel.ops.elementwise import *  # noqa: F403
from nxkernel.ops.folding import *  # noqa: F403
from nxkernel.ops.fourier import *  # noqa: F403
from nxkernel.ops.gathering import *  # noqa: F403
from nxkernel.ops.indexing import *  # noqa: F403
from nxkernel.ops.inspection import *  # noqa: F403
from nxkernel.ops.literals import *  # noqa: F403
from nxkernel.ops.njit import *  # noqa: F403
from nxkernel.ops.reduction import *  # noqa: F403
from nxkernel.ops.shaping import *  # noqa: F403
from nxkernel.ops.sorting import *  # noqa: F403
from nxkernel.ops.statistics import *  # noqa: F403
from nxkernel.ops.typing import *  # noqa: F403
from nxkernel.ops.vectorization import *  # noqa: F403
from nxkernel.ops.window import *  # noqa: F403

_FAMILIES = (
    batches, borders, comparison, contraction, conversion, convolution, creation, cumulative, diagonals, elementary,
    elementwise, folding, fourier, gathering, indexing, inspection, literals, njit, reduction, shaping, sorting, statistics,
    typing, vectorization, window,
)  # fmt: skip
__all__ = sorted(name for family in _FAMILIES for name in family.__all__)

explain(globals(), __all__, "nx")
