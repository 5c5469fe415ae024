"""Initializers of parameters.

Each function here makes an initializer, which takes ``(key, shape, type)``. A matrix has inputs on its last axis but
one and outputs on its last axis; axes before these, as kernels of convolutions have, multiply both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import linalg, random, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages.call_errors import explain
from nxkernel.ops.arithmetic.comparison import select
from nxkernel.ops.arithmetic.elementary import erf_inv
from nxkernel.ops.machinery.dispatch import convert, filled
from nxkernel.ops.shapes.diagonals import take_diagonal
from nxkernel.ops.shapes.shaping import broadcast, reshape, transpose
from nxkernel.ops.tensors.creation import eye
from nxkernel.shapes import describe

__all__ = [
    "constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity", "lecun_normal",
    "lecun_uniform", "normal", "ones", "orthogonal", "truncated_normal", "uniform", "variance_scaling", "zeros",
]  # fmt: skip

Initializer = Callable[[Any, Sequence[int], Any], Any]

#: The standard deviation of a standard normal distribution cut off at -2 and 2.
_CUT = 0.87962566103423978


def zeros() -> Initializer:
    """Initialize with zeros.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.initializers.zeros()(nx.random.key(0), (2,), "f32").to_list()
    [0.0, 0.0]
    """
    return constant(0)


def ones() -> Initializer:
    """Initialize with ones.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.initializers.ones()(nx.random.key(0), (2,), "f32").to_list()
    [1.0, 1.0]
    """
    return constant(1)


def constant(value: float) -> Initializer:
    """Initialize with one number, or the broadcast elements of a tensor.

    Parameters
    ----------
    value : number or tensor

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.initializers.constant(0.5)(nx.random.key(0), (2,), "f32").to_list()
    [0.5, 0.5]
    """

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        type = types.normalize(type)
        if isinstance(value, bool | int | float | complex):
            return filled(value, type, tuple(shape))
        return broadcast(convert(value, type), tuple(shape))

    return init


def identity(scale: float = 1.0) -> Initializer:
    """Initialize with a scaled identity matrix.

    Parameters
    ----------
    scale : float, optional

    Returns
    -------
    callable
        For shapes of at least two axes; the last two are those of the matrix.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.initializers.identity(2.0)(nx.random.key(0), (2, 2), "f32").to_list()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        _check_matrix("identity", shape)
        return eye(tuple(shape), type=type) * scale

    return init


def uniform(scale: float = 0.01) -> Initializer:
    """Initialize uniformly in ``[-scale, scale)``.

    Parameters
    ----------
    scale : float, optional

    Returns
    -------
    callable
    """

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        return random.uniform_split(key, -scale, scale, shape=tuple(shape), type=type)

    return init


def normal(standard_deviation: float = 0.01, mean: float = 0.0) -> Initializer:
    """Initialize from a normal distribution.

    Parameters
    ----------
    standard_deviation, mean : float, optional

    Returns
    -------
    callable
    """

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        return random.normal_split(key, mean, standard_deviation, shape=tuple(shape), type=type)

    return init


def truncated_normal(standard_deviation: float = 0.01, mean: float = 0.0) -> Initializer:
    """Initialize from a normal distribution truncated at two standard deviations from the mean.

    Parameters
    ----------
    standard_deviation : float, optional
        Of the distribution before it is cut off.
    mean : float, optional

    Returns
    -------
    callable
    """

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        return _truncated(key, shape, type) * standard_deviation + mean

    return init


def _truncated(key: Any, shape: Sequence[int], type_: Any) -> Any:
    """Samples of the standard normal distribution truncated to [-2, 2], by the inverse distribution function."""
    edge = math.erf(2 / math.sqrt(2))
    return erf_inv(random.uniform_split(key, -edge, edge, shape=tuple(shape), type=type_)) * math.sqrt(2)


def variance_scaling(scale: float = 1.0, mode: str = "fan_in", distribution: str = "normal") -> Initializer:
    """Initialize with variance `scale` divided by the number of inputs, of outputs, or their mean.

    Parameters
    ----------
    scale : float, optional
    mode : {"fan_in", "fan_out", "fan_avg"}, optional
    distribution : {"normal", "truncated_normal", "uniform"}, optional

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import nn
    >>> init = nn.initializers.variance_scaling(3.0, "fan_in", "uniform")
    >>> bool(nx.all(nx.abs(init(nx.random.key(0), (100, 50), "f32")) <= 0.3))
    True
    """
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise NxValueError(f"mode is 'fan_in', 'fan_out' or 'fan_avg', got {mode!r}")
    if distribution not in ("normal", "truncated_normal", "uniform"):
        raise NxValueError(f"distribution is 'normal', 'truncated_normal' or 'uniform', got {distribution!r}")

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        inputs, outputs = fans(shape)
        fan = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode]
        deviation = math.sqrt(scale / max(1.0, fan))
        if distribution == "normal":
            return random.normal_split(key, 0.0, deviation, shape=tuple(shape), type=type)
        if distribution == "truncated_normal":
            return _truncated(key, shape, type) * (deviation / _CUT)
        edge = math.sqrt(3) * deviation
        return random.uniform_split(key, -edge, edge, shape=tuple(shape), type=type)

    return init


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """The fan-in and fan-out of a parameter's shape."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    around = math.prod(shape[:-2])
    return shape[-2] * around, shape[-1] * around


_SCALED = """{title}

A variance of {scale} over {fan}.{source}

Parameters
----------
scale : float, optional

Returns
-------
callable

Examples
--------
>>> from nxkernel import nn
>>> nn.initializers.{name}()(nx.random.key(0), (4, 3), "f32").shape
(4, 3)
"""

_GLOROT = " Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010."
_HE = " He et al., Delving deep into rectifiers, 2015."
_LECUN = " LeCun et al., Efficient BackProp, 1998."


def _scaled(name: str, scale: float, mode: str, distribution: str, source: str) -> Callable[..., Initializer]:
    default = scale

    def make(scale: float = default) -> Initializer:
        return variance_scaling(scale, mode, distribution)

    fan = "the mean of inputs and outputs" if mode == "fan_avg" else "the number of inputs"
    title = (
        "Uniformly distributed." if distribution == "uniform" else "Normally distributed, cut off at two deviations."
    )
    make.__name__ = make.__qualname__ = name
    make.__doc__ = _SCALED.format(title=title, scale="`scale`", fan=fan, source=source, name=name)
    return make


glorot_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT)
he_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal", _HE)
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)


def orthogonal(scale: float = 1.0) -> Initializer:
    """Initialize with a random matrix of orthogonal columns, or rows if there are fewer, of norm `scale`.

    Parameters
    ----------
    scale : float, optional

    Returns
    -------
    callable
        All axes but the last are the rows of the matrix.

    References
    ----------
    Saxe, McClelland and Ganguli, Exact solutions to the nonlinear dynamics of learning in deep linear neural networks,
    2014.

    Examples
    --------
    >>> from nxkernel import nn
    >>> q = nn.initializers.orthogonal()(nx.random.key(0), (3, 2), "f32")
    >>> bool(nx.all_close(nx.dot(nx.transpose(q), q), nx.eye(2), atol=1e-6))
    True
    """

    def init(key: Any, shape: Sequence[int], type: Any = "f32") -> Any:
        _check_matrix("orthogonal", shape)
        rows, columns = math.prod(shape[:-1]), shape[-1]
        tall = (max(rows, columns), min(rows, columns))
        q, r = linalg.qr(random.normal_split(key, 0.0, 1.0, shape=tall, type=type))
        # Without the signs of R's diagonal the distribution would not be uniform.
        q = q * select(take_diagonal(r) < 0, -1.0, 1.0)
        return reshape(transpose(q) if rows < columns else q, tuple(shape)) * scale

    return init


def _check_matrix(name: str, shape: Sequence[int]) -> None:
    if len(shape) < 2:
        raise NxValueError(f"{name} is for shapes of at least 2 axes, got {tuple(shape)}")


def chosen(init: Any, argument: str) -> Initializer:
    """An initializer given as a function or by its name."""
    if isinstance(init, str):
        if init not in __all__:
            raise NxValueError(
                message(
                    f"there is no initializer {init!r}.", f"{argument} is a function, or one of {', '.join(__all__)}."
                )
            )
        return globals()[init]()
    name = getattr(init, "__name__", None)
    if name in __all__ and globals()[name] is init:
        raise NxTypeError(
            message(f"{argument} is {name} itself, not an initializer.", f"Call it: nn.initializers.{name}(…).")
        )
    if not callable(init):
        raise NxTypeError(f"{argument} is an initializer such as nn.initializers.he_normal(), got {describe(init)}")
    return init


explain(globals(), __all__, "nn.initializers")
