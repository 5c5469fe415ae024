"""The vocabulary: what people call, one module a family."""

from nxkernel.ops import (
    comparison,
    contraction,
    conversion,
    creation,
    elementary,
    elementwise,
    indexing,
    inspection,
    methods,  # noqa: F401 - installs operators and methods
    reduction,
    shaping,
    typing,
)
from nxkernel.ops.comparison import *  # noqa: F403
from nxkernel.ops.contraction import *  # noqa: F403
from nxkernel.ops.conversion import *  # noqa: F403
from nxkernel.ops.creation import *  # noqa: F403
from nxkernel.ops.elementary import *  # noqa: F403
from nxkernel.ops.elementwise import *  # noqa: F403
from nxkernel.ops.indexing import *  # noqa: F403
from nxkernel.ops.inspection import *  # noqa: F403
from nxkernel.ops.reduction import *  # noqa: F403
from nxkernel.ops.shaping import *  # noqa: F403
from nxkernel.ops.typing import *  # noqa: F403

_FAMILIES = (
    comparison, contraction, conversion, creation, elementary, elementwise, indexing, inspection, reduction, shaping,
    typing,
)  # fmt: skip
__all__ = sorted(name for family in _FAMILIES for name in family.__all__)
