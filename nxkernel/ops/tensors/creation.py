"""Creation of tensors: from data, ranges and patterns, and by calling types."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.backends.numpy_primitives import cast, cast_number
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, lasting, operand, spread
from nxkernel.shapes import normalize_names
from nxkernel.tensor.tensor import Template, Tensor
from nxkernel.types import Type, bf16, c64, c128, f16, f32, f64, s8, s16, s32, s64, u8, u16, u32, u64

__all__ = [
    "bf16", "c64", "c128", "eye", "f16", "f32", "f64", "from_binary", "iota", "linspace", "s8", "s16", "s32", "s64",
    "template", "tensor", "tri", "tril", "triu", "u8", "u16", "u32", "u64",
]  # fmt: skip


def tensor(value: Any, *, type: Any = None, names: Sequence[str | None] | None = None) -> Tensor | Expr:
    """Make a tensor from numbers, nested lists, an array or another tensor.

    Parameters
    ----------
    value : number, (nested) list, array or tensor
        Whole numbers become s64, fractions f32, complex numbers c64 and truth values bool; arrays keep their type.
        Lists may hold tensors, which are stacked.
    type : type, optional
        The type to have instead. Whole numbers that do not fit wrap. A tensor is not converted: see ``nx.as_type``.
    names : list of str or None, optional
        One name an axis.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        For lists of uneven lengths.
    NxTypeError
        For elements that are no numbers.

    Examples
    --------
    >>> nx.tensor([[1, 2, 3], [4, 5, 6]], names=["row", None])
    Tensor([[1, 2, 3],
            [4, 5, 6]], s64[row: 2][3])
    >>> nx.tensor([300], type="s8").to_list()
    [44]
    """
    type_ = None if type is None else types.normalize(type)
    if isinstance(value, Operand):
        return _retold(value, type_, names)
    if is_number(value):
        if isinstance(value, int):
            _check_integer(value)
        result = filled(value, type_ or types.infer(value), ())
    elif isinstance(value, list | tuple):
        result = _from_list(value, type_)
    else:
        result = lasting(value, "value")
        if type_ is not None:
            result = convert(result, type_)
    return result if names is None else _named(result, names)


def _retold(value: Operand, type_: Type | None, names: Any) -> Operand:
    """A tensor passed to `tensor`: names may change, the type may not."""
    if type_ is not None and type_ is not value.type:
        raise NxTypeError(
            message(f"the tensor is {value.type}, asked for is {type_}.", f'Convert it with nx.as_type(t, "{type_}").')
        )
    if names is None:
        return value
    shapes.merge_names(value.names, normalize_names(names, value.shape))
    return _named(value, names)


def _named(value: Operand, names: Any) -> Operand:
    names = normalize_names(names, value.shape)
    return value if names == value.names else apply(primitives.reshape, value, shape=value.shape, names=names)


def _check_integer(value: int) -> None:
    if not -(2**63) <= value < 2**64:
        raise NxValueError(message(f"the integer {value} does not fit into 64 bits.", "Write it as a float."))


def _from_list(value: Any, type_: Type | None) -> Tensor | Expr:
    kinds: set = set()
    _collect_kinds(value, kinds)
    if any(isinstance(kind, builtins.type) and issubclass(kind, Operand) for kind in kinds):
        return _stacked(value, type_)
    inferred = functools.reduce(types.merge, map(_type_of, kinds)) if kinds else types.f32
    try:
        array = np.array(value)
    except ValueError:
        raise NxValueError(
            message(
                "the lists are uneven: those at one depth must have equal lengths.",
                f"Their lengths are {_lengths(value)}.",
            )
        ) from None
    if array.dtype == object or (inferred is types.s64 and array.dtype.kind == "f"):
        for number in _leaves(value):
            if isinstance(number, int):
                _check_integer(number)
        array = np.array([cast_number(number, inferred) for number in _leaves(value)]).reshape(array.shape)
    array = cast(array, type_ or inferred)
    array.flags.writeable = False
    return Tensor.from_numpy(array)


def _collect_kinds(value: Any, kinds: set) -> None:
    """Collect the Python classes of the numbers in nested lists, and the types of arrays among them."""
    here = set(map(builtins.type, value))
    for kind in (list, tuple, np.ndarray) if not here.isdisjoint((list, tuple, np.ndarray)) else ():
        here.discard(kind)
        for item in value:
            if builtins.type(item) is kind:
                kinds.add(types.normalize(item.dtype)) if kind is np.ndarray else _collect_kinds(item, kinds)
    kinds |= here


def _type_of(kind: Any) -> Type:
    if isinstance(kind, Type):
        return kind
    if issubclass(kind, np.generic):
        return types.normalize(np.dtype(kind))
    for python, type_ in ((bool, types.bool_), (int, types.s64), (float, types.f32), (complex, types.c64)):
        if issubclass(kind, python):
            return type_
    raise NxTypeError(
        message(
            f"a tensor holds numbers, got {'None' if kind is None.__class__ else f'a {kind.__name__}'} in a list.",
            "Numbers are int, float, complex and bool; math.nan can stand for what is missing.",
        )
    )


def _leaves(value: Any) -> Iterator[Any]:
    for item in value:
        if isinstance(item, list | tuple):
            yield from _leaves(item)
        else:
            yield item


def _lengths(value: Any) -> str:
    """The differing lengths in ragged nested lists, for an error."""
    lengths = [len(item) if isinstance(item, list | tuple | np.ndarray) else "none" for item in value]
    if len({*lengths}) > 1:
        return ", ".join(map(str, lengths[:8])) + (", …" if len(lengths) > 8 else "")
    return _lengths([inner for item in value for inner in item])


def _stacked(value: Any, type_: Type | None) -> Tensor | Expr:
    """A list that contains tensors, stacked into one."""
    from nxkernel.ops.shapes.shaping import stack

    result = stack([tensor(item) for item in value])
    return result if type_ is None else convert(result, type_)


def from_binary(binary: bytes, type: Any) -> Tensor:
    r"""A vector from bytes in native byte order.

    Parameters
    ----------
    binary : bytes
        As :meth:`~nxkernel.Tensor.to_binary` gives them.
    type : type
        The type of the elements.

    Returns
    -------
    Tensor
        A vector.

    Raises
    ------
    NxValueError
        When the bytes are no whole number of elements.

    Examples
    --------
    >>> nx.from_binary(b"\x01\x02\x03", "u8").to_list()
    [1, 2, 3]
    """
    type_ = types.normalize(type)
    if not isinstance(binary, bytes | bytearray | memoryview):
        raise NxTypeError(
            message(
                f"from_binary takes bytes, got {shapes.describe(binary)}.",
                "nx.tensor takes numbers, lists and arrays; t.to_binary() gives the bytes of a tensor.",
            )
        )
    binary = bytes(binary)
    if len(binary) % type_.size:
        raise NxValueError(f"{len(binary)} bytes are no whole number of {type_} elements, which have {type_.size} each")
    return Tensor.from_numpy(np.frombuffer(binary, dtype=type_.dtype))


def template(
    shape: Any, type: Any, *, names: Sequence[str | None] | None = None, vectorized_axes: Any = None
) -> Template:
    """A type, shape and names without data, for ``nx.compile``.

    Parameters
    ----------
    shape : tuple of int
    type : type
    names : list of str or None, optional
    vectorized_axes : dict of str to int, or list of (str, int), optional

    Returns
    -------
    Template

    Examples
    --------
    >>> nx.template((2, 3), "f32")
    template f32[2][3]
    """
    shape = shapes.normalize_shape(shape)
    axes = () if vectorized_axes is None else axis_alignment.sized(vectorized_axes)
    return Template(types.normalize(type), shape, normalize_names(names, shape), axes)


def shape_of(value: Any) -> shapes.Shape:
    """A shape from a tuple of sizes, one size, or a tensor."""
    return value.shape if isinstance(value, Operand | np.ndarray) and value.shape else shapes.normalize_shape(value)


def iota(
    shape: Any,
    *,
    axis: int | str | None = None,
    type: Any = "s64",
    names: Sequence[str | None] | None = None,
    vectorized_axes: Any = None,
) -> Tensor | Expr:
    """Count 0, 1, 2, … through all elements or along one axis.

    Parameters
    ----------
    shape : tuple of int or tensor
        The shape of the result.
    axis : int or str, optional
        Count along this axis; without it through all elements in C order.
    type : type, optional
    names : list of str or None, optional
    vectorized_axes : dict of str to int, or list of (str, int), optional
        The result has these, and the same numbers in every entry.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.iota((2, 3)).to_list()
    [[0, 1, 2], [3, 4, 5]]
    >>> nx.iota((2, 3), axis=0).to_list()
    [[0, 0, 0], [1, 1, 1]]
    """
    shape = shape_of(shape)
    names = normalize_names(names, shape)
    if axis is not None or len(shape) == 1:
        position = shapes.normalize_axis(axis or 0, shape, names)
        result = apply(primitives.iota, type=types.normalize(type), shape=shape, names=names, axis=position)
    else:
        result = apply(primitives.reshape, iota(shapes.size(shape), type=type), shape=shape, names=names)
    return _entries(result, vectorized_axes)


def _entries(entry: Operand, axes: Any) -> Operand:
    """A tensor repeated for every entry of vectorized axes."""
    return entry if axes is None else axis_alignment.broadcast(entry, axis_alignment.sized(axes))


def eye(
    n: Any, *, type: Any = "s64", names: Sequence[str | None] | None = None, vectorized_axes: Any = None
) -> Tensor | Expr:
    """Ones on the diagonal, zeros elsewhere.

    Parameters
    ----------
    n : int, tuple of int or tensor
        The size of a square matrix, or the shape: its last two axes are the matrix, axes before repeat it.
    type : type, optional
    names : list of str or None, optional
    vectorized_axes : dict of str to int, or list of (str, int), optional
        The result has these, and the same matrix in every entry.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.eye(2).to_list()
    [[1, 0], [0, 1]]
    """
    shape = shape_of(n)
    shape = shape * 2 if len(shape) == 1 and not isinstance(n, tuple | list) else shape
    if len(shape) < 2:
        raise NxValueError(f"eye makes matrices: the shape needs at least two axes, got {shapes.text(shape)}")
    rows, columns = _places(shape)
    diagonal = convert(apply(primitives.equal, rows, columns), types.normalize(type))
    return _entries(_named(spread(diagonal, shape), normalize_names(names, shape)), vectorized_axes)


def _places(shape: shapes.Shape) -> tuple[Operand, Operand]:
    """The row and column index of each element of the last two axes."""
    return iota(shape[-2:], axis=0), iota(shape[-2:], axis=1)


def tri(n: int, m: int | None = None, *, k: int = 0, type: Any = "u8") -> Tensor | Expr:
    """Ones on and below a diagonal, zeros above.

    Parameters
    ----------
    n, m : int
        The numbers of rows and of columns, which are as many when not given.
    k : int, optional
        The diagonal: 0 is the main one, above it is positive.
    type : type, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.tri(2, 3).to_list()
    [[1, 0, 0], [1, 1, 0]]
    """
    rows, columns = _places(shapes.normalize_shape((n, n if m is None else m)))
    shift = filled(shapes.static_int(k, "the diagonal k"), types.s64, rows.shape)
    return convert(apply(primitives.less_equal, columns, apply(primitives.add, rows, shift)), types.normalize(type))


def tril(tensor: Any, *, k: int = 0) -> Tensor | Expr:
    """The lower triangle of each matrix, zeros above.

    Parameters
    ----------
    tensor : tensor
        Matrices in the last two axes.
    k : int, optional
        The diagonal: 0 is the main one, above it is positive.

    Returns
    -------
    Tensor
        Of the same type, shape and names.

    Examples
    --------
    >>> nx.tril([[1, 2], [3, 4]]).to_list()
    [[1, 0], [3, 4]]
    """
    tensor = operand(tensor, "tensor")
    return apply(primitives.select, _triangle(tensor, k), tensor, filled(0, tensor.type, tensor.shape))


def triu(tensor: Any, *, k: int = 0) -> Tensor | Expr:
    """The upper triangle of each matrix, zeros below.

    Parameters
    ----------
    tensor : tensor
        Matrices in the last two axes.
    k : int, optional
        The diagonal: 0 is the main one, above it is positive.

    Returns
    -------
    Tensor
        Of the same type, shape and names.

    Examples
    --------
    >>> nx.triu([[1, 2], [3, 4]]).to_list()
    [[1, 2], [0, 4]]
    """
    tensor = operand(tensor, "tensor")
    k = shapes.static_int(k, "the diagonal k")
    return apply(primitives.select, _triangle(tensor, k - 1), filled(0, tensor.type, tensor.shape), tensor)


def _triangle(tensor: Operand, k: int) -> Operand:
    if tensor.rank < 2:
        raise NxValueError(f"tril and triu take matrices, which have at least two axes, got {tensor.spec}")
    return spread(tri(tensor.shape[-2], tensor.shape[-1], k=k), tensor.shape)


def linspace(
    start: Any, stop: Any, *, n: int, type: Any = "f32", endpoint: bool = True, name: str | None = None
) -> Tensor | Expr:
    """Evenly spaced numbers from `start` to `stop`.

    Parameters
    ----------
    start, stop : number or tensor
        The first and the last number; tensors have the same shape.
    n : int
        How many.
    type : type, optional
        Integer types cut fractions off.
    endpoint : bool, optional
        Whether `stop` is the last of them; otherwise it is the one that would follow.
    name : str, optional
        The name of the new axis, which is the last.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.linspace(5, 8, n=5).to_list()
    [5.0, 5.75, 6.5, 7.25, 8.0]
    """
    n, type_ = shapes.static_int(n, "n"), types.normalize(type)
    if n < 1:
        raise NxValueError(f"linspace needs n of at least 1, got {n}")
    inner = types.f64 if type_.is_integer else type_
    start, stop = (
        filled(value, inner, ()) if is_number(value) else convert(operand(value, "start"), inner)
        for value in (start, stop)
    )
    if start.shape != stop.shape:
        raise NxValueError(f"start and stop need one shape, got {start.spec} and {stop.spec}")
    shape = (*start.shape, n)
    steps = filled(builtins.max(n - 1 if endpoint else n, 1), inner, start.shape)
    step = apply(primitives.divide, apply(primitives.subtract, stop, start), steps)
    index = apply(primitives.iota, type=inner, shape=shape, names=shapes.unnamed(shape), axis=len(shape) - 1)
    names = (*start.names, name)
    first, each, last = (_along_last(value, shape, names) for value in (start, step, stop))
    result = apply(primitives.add, first, apply(primitives.multiply, index, each))
    if endpoint and n > 1:
        is_last = apply(primitives.equal, index, filled(n - 1, inner, shape))
        result = apply(primitives.select, is_last, last, result)
    return convert(result, type_)


def _along_last(value: Operand, shape: shapes.Shape, names: shapes.Names) -> Operand:
    axes = tuple(range(value.rank))
    return apply(primitives.broadcast, value, shape=shape, axes=axes, names=names)
