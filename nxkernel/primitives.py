"""The table of primitives: each has a name, a family, and the rule that gives the result's type, shape and names.

Primitives are homogeneous: the functions people call (:mod:`nxkernel.ops`) convert types and broadcast first, so that
an element-wise primitive sees operands of one shape, and of one type where it needs one. That keeps meanings, lowerings
and gradients one line each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from nxkernel import shapes, types
from nxkernel.errors import NxIndexError, NxTypeError, message
from nxkernel.types import Type

Names = tuple[str | None, ...]


class Spec(NamedTuple):
    """The static description of a value: type, shape and axis names."""

    type: Type
    shape: tuple[int, ...]
    names: Names

    def __str__(self) -> str:
        return self.type + "".join(
            f"[{size}]" if name is None else f"[{name}: {size}]"
            for size, name in zip(self.shape, self.names, strict=True)
        )


Rule = Callable[..., "Spec | tuple[Spec, ...]"]


@dataclass(frozen=True, eq=False, slots=True)
class Primitive:
    """A primitive operation: a row of the table.

    Parameters
    ----------
    name : str
        How graphs print it.
    family : str
        ``elementwise``, ``reduction``, ``shape``, ``creation``, ``contraction``, ``indexing``, ``cumulative``,
        ``sorting``, ``library``, ``control``, ``tuple`` or ``leaf``; compilers go by it.
    rule : callable
        ``rule(*specs, **params)`` gives the :class:`Spec` of the result, or a tuple of them.
    """

    name: str
    family: str
    rule: Rule

    def __repr__(self) -> str:
        return self.name


#: Every primitive by name.
TABLE: dict[str, Primitive] = {}


@dataclass(frozen=True, slots=True)
class ElementaryFunction:
    """The properties of an elementary function that backends need besides its name.

    Parameters
    ----------
    cost : int
        About how many simple instructions it takes for one element.
    complex : bool
        Whether it takes complex numbers, too.
    python : str
        How it reads in Python for a real number: ``{0}`` is the text of its operand, ``{x}`` the same held together by
        brackets. Empty where :mod:`math` has it by its name.
    libdevice : str
        NVIDIA's name for it. ``"-"`` where GPUs need code of our own; empty where it is this name.
    """

    cost: int
    complex: bool = True
    python: str = ""
    libdevice: str = ""


#: The elementary functions by name.
ELEMENTARY: dict[str, ElementaryFunction] = {}


def primitive(name: str, family: str, rule: Rule) -> Primitive:
    """Add a row to the table."""
    if name in TABLE:
        raise ValueError(f"there is a primitive {name} already")
    TABLE[name] = Primitive(name, family, rule)
    return TABLE[name]


# Rules of element-wise primitives --------------------------------------------------------------------------------


def _same(first: Spec, *others: Spec) -> Spec:
    """The rule of results like the first operand, with the names of all operands."""
    if not others:
        return first
    names = first.names
    for other in others:
        if other.names != names:
            names = shapes.merge_names(names, other.names)
    return first if names is first.names else Spec(first.type, first.shape, names)


def _product(first: Spec, *others: Spec, rounded: bool = False) -> Spec:
    return _same(first, *others)


def _predicate(*operands: Spec) -> Spec:
    return _same(*operands)._replace(type=types.bool_)


def _real(operand: Spec) -> Spec:
    return operand._replace(type=types.to_real(operand.type)) if operand.type.is_complex else operand


def _select(mask: Spec, then: Spec, otherwise: Spec) -> Spec:
    return _same(then, otherwise, mask._replace(type=then.type))


def _as_type(operand: Spec, *, type: Type) -> Spec:
    return operand._replace(type=type)


def _word(*operands: Spec, word: int) -> Spec:
    return _same(*operands)


def _njit(*operands: Spec, function: Any, type: Type) -> Spec:
    return _same(*operands)._replace(type=type)


def _first(operand: Spec, *_: Spec) -> Spec:
    return operand


def _complex(real: Spec, imag: Spec) -> Spec:
    return _same(real, imag)._replace(type=types.to_complex(real.type))


def _elementwise(rule: Rule, names: str) -> list[Primitive]:
    return [primitive(name, "elementwise", rule) for name in names.split()]


def _function(name: str, cost: int, **facts: Any) -> Primitive:
    """Add an elementary function: see :class:`ElementaryFunction`."""
    ELEMENTARY[name] = ElementaryFunction(cost, **facts)
    return primitive(name, "elementwise", _same)


add, subtract, divide, remainder, quotient, atan2, maximum, minimum = _elementwise(
    _same, "add subtract divide remainder quotient atan2 max min"
)
multiply, power = PRODUCTS = _elementwise(_product, "multiply pow")
"""``rounded``: whether each product is rounded, as by NumPy's rules, before anything is added to it."""
bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift = _elementwise(
    _same, "bitwise_and bitwise_or bitwise_xor left_shift right_shift"
)
equal, not_equal, greater, less, greater_equal, less_equal = _elementwise(
    _predicate, "equal not_equal greater less greater_equal less_equal"
)
logical_and, logical_or, logical_xor, logical_not = _elementwise(
    _predicate, "logical_and logical_or logical_xor logical_not"
)
is_nan, is_infinity = _elementwise(_predicate, "is_nan is_infinity")
negate, sign, floor, ceil, round_half_away, round_half_even, truncate, conjugate = _elementwise(
    _same, "negate sign floor ceil round round_half_even truncate conjugate"
)
bitwise_not, population_count, count_leading_zeros = _elementwise(
    _same, "bitwise_not population_count count_leading_zeros"
)
(absolute, real, imag, phase) = _elementwise(_real, "abs real imag phase")
exp, expm1 = _function("exp", 10), _function("expm1", 10)
log, log1p, log2, log10 = [_function(name, 10) for name in ("log", "log1p", "log2", "log10")]
sigmoid = _function("sigmoid", 10, python="1 / (1 + math.exp(-{x}))", libdevice="-")
sin, cos, tan = _function("sin", 10), _function("cos", 10), _function("tan", 20)
asin, acos, atan = _function("asin", 20), _function("acos", 20), _function("atan", 20)
sinh, cosh, tanh = _function("sinh", 20), _function("cosh", 20), _function("tanh", 10)
asinh, acosh, atanh = _function("asinh", 20), _function("acosh", 20), _function("atanh", 20)
sqrt, rsqrt = _function("sqrt", 5), _function("rsqrt", 5, python="1 / math.sqrt({0})")
cbrt = _function("cbrt", 30, python="np.cbrt({0})")
erf, erfc = _function("erf", 10, complex=False), _function("erfc", 30, complex=False)
erf_inv = _function("erf_inv", 30, complex=False, python="erf_inv({0})", libdevice="erfinv")
select = primitive("select", "elementwise", _select)
as_type = primitive("as_type", "elementwise", _as_type)
bitcast = primitive("bitcast", "elementwise", _as_type)
make_complex = primitive("complex", "elementwise", _complex)
threefry2x32 = primitive("threefry2x32", "elementwise", _word)
"""Of the two words that Threefry makes of ``(k0, k1, x0, x1)``, a key and a counter of u32 each: ``word`` 0 or 1."""

stop_grad = primitive("stop_grad", "elementwise", _same)
"""Its operand, through which no gradient flows."""

after = primitive("after", "elementwise", _first)
"""Its first operand, once the second is there: what is computed from it is nothing that was computed before."""

njit = primitive("njit", "elementwise", _njit)
"""A Numba function of single numbers, ``function``, of each element; operands have the types that it takes."""


# Leaves and creation ---------------------------------------------------------------------------------------------


def _leaf(*, spec: Spec, **_: Any) -> Spec:
    return spec


parameter = primitive("parameter", "leaf", _leaf)
"""An input of a graph. ``index``: its place; ``name``: how the person called it; ``captured``: an implicit argument."""

constant = primitive("constant", "leaf", _leaf)
"""One Python number (``value``) in every element."""

iota = primitive("iota", "creation", lambda *, type, shape, names, axis: Spec(type, shape, names))
"""The index along ``axis``; with None, each element's place in C order."""


# Shape -----------------------------------------------------------------------------------------------------------


def _reshape(operand: Spec, *, shape: tuple[int, ...], names: Names) -> Spec:
    return Spec(operand.type, shape, names)


def _broadcast(operand: Spec, *, shape: tuple[int, ...], axes: tuple[int, ...], names: Names) -> Spec:
    for position, axis in enumerate(axes):
        if operand.shape[position] not in (1, shape[axis]):
            raise NxTypeError(
                message(
                    f"cannot broadcast {operand} to {shapes.text(shape)}: axis {position} has size "
                    f"{operand.shape[position]}, the axis {axis} that it goes to has size {shape[axis]}.",
                    "Sizes must be equal, or 1 on the left.",
                )
            )
    return Spec(operand.type, shape, names)


def _transpose(operand: Spec, *, axes: tuple[int, ...]) -> Spec:
    return Spec(operand.type, tuple(operand.shape[a] for a in axes), tuple(operand.names[a] for a in axes))


def _slice(operand: Spec, *, starts: tuple[int, ...], lengths: tuple[int, ...], strides: tuple[int, ...]) -> Spec:
    return operand._replace(shape=tuple(shapes.ceil_div(n, abs(s)) for n, s in zip(lengths, strides, strict=True)))


def _dynamic_slice(operand: Spec, *starts: Spec, lengths: tuple[int, ...], strides: tuple[int, ...]) -> Spec:
    _check_block("dynamic_slice", operand, lengths)
    return _slice(operand, starts=(), lengths=lengths, strides=strides)


def _check_block(name: str, operand: Spec, lengths: tuple[int, ...]) -> None:
    # Starts are clamped by what runs, and no start would do: what is read or written would lie outside of the array.
    for axis, (size, length) in enumerate(zip(operand.shape, lengths, strict=True)):
        if length > size:
            raise NxIndexError(f"{name}: a part of length {length} does not fit axis {axis} of {operand}")


def _reverse(operand: Spec, *, axes: tuple[int, ...]) -> Spec:
    return operand


def _concatenate(*operands: Spec, axis: int) -> Spec:
    shape = list(operands[0].shape)
    shape[axis] = sum(operand.shape[axis] for operand in operands)
    names = operands[0].names
    for operand in operands[1:]:
        names = shapes.merge_names(names, operand.names)
    return Spec(operands[0].type, tuple(shape), names)


def _pad(operand: Spec, value: Spec, *, config: tuple[tuple[int, int, int], ...]) -> Spec:
    return operand._replace(shape=shapes.pad(operand.shape, config))


def _windows(operand: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]) -> Spec:
    out = shapes.windows(operand.shape, window, strides, dilations)
    return Spec(operand.type, out + window, operand.names + shapes.unnamed(window))


reshape = primitive("reshape", "shape", _reshape)
broadcast = primitive("broadcast", "shape", _broadcast)
"""Axis i of the operand becomes axis ``axes[i]`` of the result; the rest repeat."""
transpose = primitive("transpose", "shape", _transpose)
slice_ = primitive("slice", "shape", _slice)
"""``lengths[i]`` elements from ``starts[i]``, every ``strides[i]``-th; a negative stride walks backwards."""
dynamic_slice = primitive("dynamic_slice", "shape", _dynamic_slice)
"""A slice whose starts are scalar operands, clamped so that it fits."""
reverse = primitive("reverse", "shape", _reverse)
concatenate = primitive("concatenate", "shape", _concatenate)
pad = primitive("pad", "shape", _pad)
"""``(low, high, interior)`` an axis; negative low and high crop."""
windows = primitive("windows", "shape", _windows)
"""Every window of the operand: element ``[o..., w...]`` is the operand's at ``o * stride + w * dilation``."""


# Reductions ------------------------------------------------------------------------------------------------------


def _reduce(operand: Spec, *, axes: tuple[int, ...], keep_axes: bool) -> Spec:
    shape, names = shapes.reduce(operand.shape, operand.names, axes, keep_axes)
    return Spec(operand.type, shape, names)


def _reduce_predicate(operand: Spec, *, axes: tuple[int, ...], keep_axes: bool) -> Spec:
    return _reduce(operand, axes=axes, keep_axes=keep_axes)._replace(type=types.bool_)


def _arg_reduce(operand: Spec, *, axis: int, keep_axis: bool, tie_break: str, type: Type) -> Spec:
    return _reduce(operand, axes=(axis,), keep_axes=keep_axis)._replace(type=type)


def _fold(
    operand: Spec, start: Spec, *captured: Spec, axes: tuple[int, ...], keep_axes: bool, body: Any, type: Type
) -> Spec:
    return _reduce(operand, axes=axes, keep_axes=keep_axes)._replace(type=type)


sum_, product, reduce_max, reduce_min = (
    primitive(name, "reduction", _reduce) for name in ("sum", "product", "reduce_max", "reduce_min")
)
all_, any_ = (primitive(name, "reduction", _reduce_predicate) for name in ("all", "any"))
argmax, argmin = (primitive(name, "reduction", _arg_reduce) for name in ("argmax", "argmin"))
reduce = primitive("reduce", "reduction", _fold)
"""A fold in row-major order: ``body`` is a graph of ``(element, accumulated, *captured)``, all scalars."""


# Contraction -----------------------------------------------------------------------------------------------------


def _dot(left: Spec, right: Spec, *, contract: tuple, batch: tuple) -> Spec:
    shape, names = shapes.dot(left, right, contract, batch)
    return Spec(left.type, shape, names)


dot = primitive("dot", "contraction", _dot)
"""``contract`` and ``batch`` are pairs of axis tuples; the result has batch, free left and free right axes."""


def _conv(
    operand: Spec,
    kernel: Spec,
    *,
    padding: tuple[tuple[int, int], ...],
    strides: tuple[int, ...],
    input_dilation: tuple[int, ...],
    kernel_dilation: tuple[int, ...],
    feature_groups: int,
    batch_groups: int,
) -> Spec:
    dilated = shapes.pad(
        operand.shape[2:], [(low, high, gap - 1) for (low, high), gap in zip(padding, input_dilation, strict=True)]
    )
    spatial = shapes.windows(dilated, kernel.shape[2:], strides, kernel_dilation)
    shape = (operand.shape[0] // batch_groups, kernel.shape[0], *spatial)
    return Spec(operand.type, shape, operand.names)


conv = primitive("conv", "contraction", _conv)
"""Cross-correlation of ``[batch, channels, spatial...]`` with ``[features, channels of a group, spatial...]``."""


# Indexing --------------------------------------------------------------------------------------------------------


def _check_not_empty(name: str, operand: Spec, indices: Spec, axes: tuple[int, ...]) -> None:
    for axis in axes:
        if operand.shape[axis] == 0 and shapes.size(indices.shape):
            raise NxIndexError(f"{name}: axis {axis} of {operand} has no elements to take")


def _gather(operand: Spec, *indices: Spec, axes: tuple[int, ...]) -> Spec:
    _check_not_empty("gather", operand, indices[0], axes)
    rest = [a for a in range(len(operand.shape)) if a not in axes]
    shape, names = (), ()
    for index in indices:
        shape, names = index.shape, shapes.merge_names(names, index.names) if names else index.names
    names += tuple(operand.names[a] for a in rest)
    known = [name for name in names if name is not None]
    if len(set(known)) < len(known):
        names = shapes.unnamed(names)
    return Spec(operand.type, shape + tuple(operand.shape[a] for a in rest), names)


def _scatter(target: Spec, updates: Spec, *indices: Spec, axes: tuple[int, ...], combine: str) -> Spec:
    if indices:
        _check_not_empty("scatter", target, indices[0], axes)
    return target


def _put_slice(target: Spec, part: Spec, *starts: Spec) -> Spec:
    _check_block("put_slice", target, part.shape)
    return target


def _put_strided(target: Spec, part: Spec, *starts: Spec, strides: tuple[int, ...]) -> Spec:
    _check_block("put_strided", target, shapes.spans(part.shape, strides))
    return target


gather = primitive("gather", "indexing", _gather)
"""Elements at indices along ``axes``, one operand of indices an axis; their axes come first, then those left over."""
scatter = primitive("scatter", "indexing", _scatter)
"""``scatter(target, updates, *indices)``: the target with updates put at indices (``combine="put"``), or joined with
what is there by the primitive of a name: ``"add"``, ``"multiply"``, ``"max"`` or ``"min"``."""
put_slice = primitive("put_slice", "indexing", _put_slice)
"""``put_slice(target, part, *starts)``: the target with a part overwritten; starts are clamped so that it fits."""
put_strided = primitive("put_strided", "indexing", _put_strided)
"""``put_slice`` of a part whose elements go to places that lie ``strides`` apart along each axis."""


# Cumulative and sorting ------------------------------------------------------------------------------------------


def _along(operand: Spec, *, axis: int, **_: Any) -> Spec:
    return operand


def _cumulative(operand: Spec, *, axis: int, reverse: bool, type: Type | None = None) -> Spec:
    return operand if type is None else operand._replace(type=type)


def _argsort(operand: Spec, *, axis: int, direction: str, type: Type) -> Spec:
    return operand._replace(type=type)


cumulative_sum, cumulative_product, cumulative_max, cumulative_min = (
    primitive(name, "cumulative", _cumulative)
    for name in ("cumulative_sum", "cumulative_product", "cumulative_max", "cumulative_min")
)
"""Of the operand's type; compilers may make one with another ``type``, to which it converts what it reads."""
sort = primitive("sort", "sorting", _along)
"""Ascending or descending; NaN counts as greater than every number."""
argsort = primitive("argsort", "sorting", _argsort)
"""The indices that sort an axis; equal elements keep their order."""


# Libraries -------------------------------------------------------------------------------------------------------


def _fft(operand: Spec, *, axes: tuple[int, ...], inverse: bool) -> Spec:
    return operand._replace(type=types.to_complex(operand.type))


def _solution(matrix: Spec, right: Spec, **_: Any) -> Spec:
    return right


def _one_number(operand: Spec) -> Spec:
    return Spec(operand.type, operand.shape[:-2], operand.names[:-2])


def _lu(operand: Spec) -> tuple[Spec, Spec]:
    order = Spec(types.s64, operand.shape[:-1], shapes.unnamed(operand.shape[:-1]))
    return operand, order


def _matrix_of(operand: Spec, rows: int, columns: int) -> Spec:
    shape = (*operand.shape[:-2], rows, columns)
    return Spec(operand.type, shape, shapes.unnamed(shape))


def _values_of(operand: Spec, count: int) -> Spec:
    shape = (*operand.shape[:-2], count)
    return Spec(types.to_real(operand.type), shape, shapes.unnamed(shape))


def _qr(operand: Spec, *, mode: str) -> tuple[Spec, Spec]:
    rows, columns = operand.shape[-2:]
    inner = rows if mode == "complete" else min(rows, columns)
    return _matrix_of(operand, rows, inner), _matrix_of(operand, inner, columns)


def _eigh(operand: Spec) -> tuple[Spec, Spec]:
    n = operand.shape[-1]
    return _values_of(operand, n), _matrix_of(operand, n, n)


def _svd(operand: Spec, *, full_matrices: bool) -> tuple[Spec, Spec, Spec]:
    rows, columns = operand.shape[-2:]
    least = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (least, least)
    return _matrix_of(operand, rows, left), _values_of(operand, least), _matrix_of(operand, right, columns)


def _njit_call(*operands: Spec, function: Any) -> Spec | tuple[Spec, ...]:
    return function.results[0] if function.single else function.results


def _elem(operand: tuple[Spec, ...], *, index: int) -> Spec:
    return operand[index]


fft = primitive("fft", "library", _fft)
"""The discrete Fourier transform over axes; the inverse divides by the number of elements."""
cholesky = primitive("cholesky", "library", _same)
"""The lower factor; NaN for a matrix that is not positive definite."""
triangular_solve = primitive("triangular_solve", "library", _solution)
"""``x`` of ``op(a) x = b`` for ``lower`` or upper triangular ``a``; ``transform`` is none, transpose or conjugate."""
solve = primitive("solve", "library", _solution)
"""``x`` of ``a x = b``."""
inverse = primitive("inverse", "library", _same)
determinant = primitive("determinant", "library", _one_number)
lu = primitive("lu", "library", _lu)
"""Both factors in one matrix, and the order of rows: ``a[order] = l u``."""
qr = primitive("qr", "library", _qr)
eigh = primitive("eigh", "library", _eigh)
"""Eigenvalues in ascending order and eigenvectors in columns."""
svd = primitive("svd", "library", _svd)
njit_call = primitive("njit_call", "library", _njit_call)
"""A Numba function of whole arrays, ``function``, which says what its results are."""


def _while(*operands: Spec, condition: Any, body: Any, state: int) -> tuple[Spec, ...]:
    return operands[:state]


def _cond(predicate: Spec, *captured: Spec, then: Any, otherwise: Any) -> tuple[Spec, ...]:
    return tuple([output.spec for output in then.outputs])


while_ = primitive("while", "control", _while)
"""A loop: ``condition`` and ``body`` are graphs of all operands, of which the first, as many as ``state``, change."""
cond = primitive("cond", "control", _cond)
"""A choice: ``then`` and ``otherwise`` are graphs of the operands after the first, a scalar that decides."""


def _declared(*operands: Spec, results: int, **_: Any) -> tuple[Spec, ...]:
    return operands[:results]


custom_grad = primitive("custom_grad", "control", _declared)
"""As many results as `results`, the first operands; the next, `inputs`, gain what the graph `backward` gives, of the
results' cotangents and the other operands. ``declared``: whether that may be another gradient than the results' own."""

custom_jvp = primitive("custom_jvp", "control", _declared)
"""As many results as `results`, the first operands; they change as the graph `forward` says, of the tangents of the
next operands, `inputs`, then the results, and all other operands."""

linear_solve = primitive("linear_solve", "control", _declared)
"""As many results as `results`, the first operands, which solve ``matvec(x) = b`` for the next as many. ``matvec``,
``solve`` and ``transpose_solve`` are graphs of so many vectors and of all other operands; the last may be None."""

#: Whose results are their first operands, with derivatives of their own: nothing runs that knows of them.
WITH_DERIVATIVES = (custom_grad, custom_jvp, linear_solve)

elem = primitive("elem", "tuple", _elem)
"""One of the results of a primitive that has several."""
