"""Conversion between tensors and Python numbers, lists and bytes."""

from __future__ import annotations

from typing import Any

from nxkernel.backends.numpy_primitives import widened
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import Operand
from nxkernel.ops.machinery.container_functions import each
from nxkernel.ops.machinery.dispatch import is_number, lasting, operand
from nxkernel.shapes import describe, static_int
from nxkernel.tensor import device
from nxkernel.tensor.tensor import StoredTensor, Template, Tensor

__all__ = [
    "from_dlpack", "is_tensor", "to_binary", "to_flat_list", "to_list", "to_number", "to_template", "to_tensor",
]  # fmt: skip


def is_tensor(value: Any) -> bool:
    """Whether a value is accepted where a tensor is expected: a tensor or number, but no list or array.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool

    Examples
    --------
    >>> nx.is_tensor(1.5), nx.is_tensor([1.5]), nx.is_tensor(True)
    (True, False, False)
    """
    return isinstance(value, Operand) or (is_number(value) and not isinstance(value, bool))


def to_tensor(value: Any) -> Any:
    """A tensor from a number, an array or a tensor.

    Parameters
    ----------
    value : number, array, list or tensor

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.to_tensor(1.5).type
    'f32'
    """
    return lasting(value, "value")


def to_number(tensor: Any) -> int | float | complex:
    """The element of a scalar tensor as a Python number.

    Parameters
    ----------
    tensor : tensor or number
        A scalar.

    Returns
    -------
    int, float or complex

    Raises
    ------
    NxTypeError
        When it has axes.

    Examples
    --------
    >>> nx.to_number(nx.tensor(2))
    2
    """
    tensor = operand(tensor, "tensor")
    if tensor.shape or tensor.vectorized_axes:
        raise NxTypeError(
            message(f"to_number takes a scalar, got {tensor.spec}.", "nx.to_list and nx.to_flat_list take any tensor.")
        )
    return eager(tensor, "to_number").item()


def to_list(tensor: Any) -> Any:
    """The elements as nested lists of Python numbers; a scalar as a number.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    list or number

    Examples
    --------
    >>> nx.to_list(nx.iota((2, 2)))
    [[0, 1], [2, 3]]
    """
    return eager(tensor, "to_list").tolist()


def to_flat_list(tensor: Any, *, limit: int | None = None) -> list[Any]:
    """The elements in C order as one list of Python numbers.

    Parameters
    ----------
    tensor : tensor or number
    limit : int, optional
        At most so many.

    Returns
    -------
    list of numbers

    Examples
    --------
    >>> nx.to_flat_list(nx.iota((2, 2)), limit=3)
    [0, 1, 2]
    """
    return widened(eager(tensor, "to_flat_list").data.reshape(-1)[: _limit(limit)]).tolist()


def to_binary(tensor: Any, *, limit: int | None = None) -> bytes:
    r"""The elements in C order as bytes in native byte order.

    Parameters
    ----------
    tensor : tensor or number
    limit : int, optional
        At most so many elements.

    Returns
    -------
    bytes

    Examples
    --------
    >>> nx.to_binary(nx.u8([1, 2]))
    b'\x01\x02'
    """
    return eager(tensor, "to_binary").data.reshape(-1)[: _limit(limit)].tobytes()


def _limit(limit: int | None) -> int | None:
    number = None if limit is None else static_int(limit, "limit")
    if number is not None and number < 0:
        raise NxValueError(f"limit is at least 0, got {number}")
    return number


def eager(tensor: Any, asked: str) -> Tensor:
    """The tensor itself; a traced value raises its error, since it has no data."""
    tensor = operand(tensor, "tensor")
    if isinstance(tensor, Template):
        raise NxTypeError(f"{tensor!r} has no data")
    return tensor if isinstance(tensor, StoredTensor) else getattr(tensor, asked)


def from_dlpack(value: Any) -> Tensor:
    """A tensor that shares the memory of another library's array.

    Parameters
    ----------
    value : object
        An array that answers ``__dlpack__``: of NumPy, PyTorch, JAX, CuPy and others.

    Returns
    -------
    Tensor
        It sees what is written into the other array afterwards. What is in the memory of a GPU that can be used here
        stays there; else it is copied.

    Raises
    ------
    NxTypeError
        For what does not answer ``__dlpack__``, and with the library's reason where it does not hand its array over.

    Examples
    --------
    >>> nx.from_dlpack(np.arange(3)).to_list()
    [0, 1, 2]
    """
    if not hasattr(value, "__dlpack__"):
        raise NxTypeError(
            message(f"from_dlpack takes what answers __dlpack__, got {describe(value)}.", "nx.tensor takes lists.")
        )
    return device.from_dlpack(value)


def to_template(value: Any) -> Any:
    """The type, shape and names of a tensor, or of each tensor in a container, without data.

    Parameters
    ----------
    value : tensor or number, or tuple, list, dict or dataclass of them

    Returns
    -------
    Template, or the container with templates in it

    Examples
    --------
    >>> nx.to_template({"a": nx.f32([1, 2])})
    {'a': template f32[2]}
    """
    return each(value, lambda leaf: Template(*operand(leaf, "value").spec))
