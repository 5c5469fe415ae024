"""The reference implementation of calls of Numba functions."""

from __future__ import annotations

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends.numpy_primitives import Meaning
from nxkernel.numba_functions import ArrayFunction, ScalarFunction
from nxkernel.primitives import Primitive, Spec
from nxkernel.types import Type


def _njit(out: Spec, *operands: np.ndarray, function: ScalarFunction, type: Type) -> np.ndarray:
    return np.asarray(function.over(operands), type.dtype)


def _njit_call(
    out: Spec | tuple[Spec, ...], *operands: np.ndarray, function: ArrayFunction
) -> np.ndarray | list[np.ndarray]:
    # Arrays of no axes have one when they are made contiguous.
    results = [
        one if one.flags.c_contiguous else np.ascontiguousarray(one).reshape(one.shape) for one in function(operands)
    ]
    return results[0] if function.single else results


#: The meanings of these primitives.
MEANING: dict[Primitive, Meaning] = {p.njit: _njit, p.njit_call: _njit_call}
