"""Order statistics (quantiles, median) and correlation."""

from __future__ import annotations

from typing import Any

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.numpy.arrays.array import ArrayValue, as_value
from nxkernel.numpy.arrays.casting import type_of
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import products, reductions, shaping
from nxkernel.numpy.functions.joining import concatenate
from nxkernel.numpy.functions.selection import take_along_axis, where
from nxkernel.numpy.functions.sorting import sort
from nxkernel.numpy.functions.ufunc import finished
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.shapes import axes_of

__all__ = [
    "corrcoef", "cov", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile",
]  # fmt: skip


def _last(a: Any, axis: Any) -> tuple[ArrayValue, tuple[int, ...]]:
    """The array with the reduced axes joined into one, which is moved to the end."""
    value = shaping.as_array(a)
    axes = axes_of(axis, value.ndim)
    rest = [k for k in range(value.ndim) if k not in axes]
    moved = value.transpose([*rest, *axes])
    return moved.reshape((*[value.shape[k] for k in rest], -1)), axes


def _kept(result: ArrayValue, value: ArrayValue, axes: tuple[int, ...], keepdims: bool, before: int = 0) -> ArrayValue:
    if not keepdims:
        # A result without axes is a number.
        return result[()]
    sizes = [1 if k in axes else n for k, n in enumerate(value.shape)]
    return result.reshape((*result.shape[:before], *sizes))


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles, as :func:`numpy.quantile`."""
    _refuse_weights(weights)
    value = shaping.as_array(a)
    line, axes = _last(value, axis)
    if line.type is types.bool_ and method in ("linear", "midpoint"):
        raise NxTypeError(f"quantiles of truth values have no {method!r} averages, as in NumPy: convert them first")
    is_weak, shares = is_number(q) or tracing.weak(operand(q)), as_value(q)
    # The least and the greatest element, asked for by whole numbers, are no averages.
    is_exact = method == "linear" and shares.type.is_integer
    is_average = method in ("linear", "midpoint") and not is_exact
    if line.type.is_integer and is_average:
        line = line.astype("float64")
    ordered, count = sort(line), line.shape[-1]
    rank = e.multiply(shares, count - 1 if is_exact else float(count - 1))
    rank = rank.astype(ordered.dtype) if is_average and is_weak else rank
    if is_exact:
        result = _at(ordered, rank)
    elif is_average:
        low = e.floor(rank)
        first = low.astype("int64")
        share = e.subtract(rank, low)
        if method == "midpoint":
            share = e.multiply(e.ceil(share), 0.5)
        below, above = _at(ordered, first), _at(ordered, e.minimum(e.add(first, 1), count - 1))
        share = share[(..., *(None,) * (ordered.ndim - 1))] if shares.ndim else share
        result = _between(below, above, share)
    else:
        rounded = {"lower": e.floor, "higher": e.ceil, "nearest": e.rint}
        if method in rounded:
            result = _at(ordered, rounded[method](rank).astype("int64"))
        else:
            raise NxValueError(f"quantile: method {method!r} is none of linear lower higher nearest midpoint")
    if ordered.type.is_float:
        result = where(e.isnan(ordered[..., -1]), float("nan"), result)
    return finished(_kept(result, value, axes, keepdims, shares.ndim), out, True, "quantile")


def _refuse_weights(weights: Any) -> None:
    if weights is not None:
        raise NxValueError(
            message(
                "quantile() and percentile() take no weights= here.",
                "Write it with k = np.argsort(x) and the running sums np.cumsum(weights[k]).",
            )
        )


def _at(ordered: ArrayValue, positions: ArrayValue) -> ArrayValue:
    """The elements at positions of the last axis; the axes of the positions come first."""
    return shaping.moveaxis(ordered, -1, 0)[positions]


def _between(below: Any, above: Any, share: Any) -> ArrayValue:
    """Linear interpolation between two values, computed from the nearer one as NumPy does."""
    apart = e.subtract(above, below)
    from_above = e.subtract(above, e.multiply(apart, e.subtract(1, share)))
    return where(e.greater_equal(share, 0.5), from_above, e.add(below, e.multiply(apart, share)))


def percentile(a: Any, q: Any, axis: Any = None, out: Any = None, *args: Any, **options: Any) -> Any:
    """Percentiles, as :func:`numpy.percentile`."""
    return quantile(a, _hundredths(q), axis, out, *args, **options)


def _hundredths(q: Any) -> Any:
    return q / 100 if is_number(q) or isinstance(q, ArrayValue) else e.divide(q, 100)


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median, as :func:`numpy.median`."""
    value = shaping.as_array(a)
    line, axes = _last(value, axis)
    ordered, count = sort(line), line.shape[-1]
    if count == 0:
        return finished(_kept(reductions.mean(line, axis=-1), value, axes, keepdims), out, True, "median")
    middle = ordered[..., (count - 1) // 2 : count // 2 + 1]
    result = reductions.mean(middle, axis=-1)
    result = where(e.isnan(ordered[..., -1]), float("nan"), result)
    return finished(_kept(result, value, axes, keepdims), out, True, "median")


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles that ignore NaN, as :func:`numpy.nanquantile`; one quantile a call."""
    _refuse_weights(weights)
    value = shaping.as_array(a)
    if value.type.is_integer:
        return quantile(value, q, axis, out, method=method, keepdims=keepdims)
    if method != "linear" or as_value(q).ndim:
        raise NxValueError("nanquantile takes one share, and the method linear")
    line, axes = _last(value, axis)
    ordered = sort(line)
    count = reductions.sum(e.logical_not(e.isnan(ordered)), axis=-1, keepdims=True)
    rank = e.multiply(e.maximum(e.subtract(count, 1), 0), q)
    if as_value(q).type.is_integer:
        # The least and the greatest element are no averages.
        result = take_along_axis(ordered, rank.astype("int64"))[..., 0]
        return finished(_kept(result, value, axes, keepdims), out, True, "nanquantile")
    low = e.floor(rank).astype("int64")
    high = e.minimum(e.add(low, 1), e.maximum(e.subtract(count, 1), 0))
    share = e.subtract(rank, low).astype(ordered.dtype)
    result = _between(take_along_axis(ordered, low), take_along_axis(ordered, high), share)[..., 0]
    return finished(_kept(result, value, axes, keepdims), out, True, "nanquantile")


def nanpercentile(a: Any, q: Any, axis: Any = None, out: Any = None, *args: Any, **options: Any) -> Any:
    """Percentiles that ignore NaN, as :func:`numpy.nanpercentile`."""
    return nanquantile(a, _hundredths(q), axis, out, *args, **options)


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The median that ignores NaN, as :func:`numpy.nanmedian`."""
    value = shaping.as_array(a)
    if value.type.is_integer:
        return median(value, axis, out, keepdims=keepdims)
    line, axes = _last(value, axis)
    if not line.shape[-1]:
        return median(value, axis, out, keepdims=keepdims)
    ordered = sort(line)
    count = reductions.sum(e.logical_not(e.isnan(ordered)), axis=-1, keepdims=True)
    # One or two elements in the middle; where all are NaN, so is the first.
    places = concatenate([e.floor_divide(e.maximum(e.subtract(count, 1), 0), 2), e.floor_divide(count, 2)], axis=-1)
    middle = take_along_axis(ordered, places)
    single = e.equal(e.mod(count, 2), 1)[..., 0]
    found = where(single, middle[..., 0], reductions.mean(middle, axis=-1))
    found = where(e.equal(count, 0)[..., 0], float("nan"), found)
    return finished(_kept(found, value, axes, keepdims), out, True, "nanmedian")


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """The covariance matrix of variables, as :func:`numpy.cov`."""
    if fweights is not None or aweights is not None:
        raise NxValueError("cov takes no weights: weigh the samples before")
    value = shaping.as_array(m)
    value = value[(None,) * (2 - value.ndim)] if value.ndim < 2 else value
    value = value.T if not rowvar and value.shape[0] != 1 else value
    if y is not None:
        other = as_value(y)
        other = other[None, :] if other.ndim == 1 else other
        value = concatenate([value, other if rowvar or other.shape[0] == 1 else other.T], axis=0)
    value = value.astype(type_of(dtype, types.merge(value.type, types.f64)))
    fewer = (0 if bias else 1) if ddof is None else ddof
    centred = e.subtract(value, reductions.mean(value, axis=1, keepdims=True))
    count = value.shape[1]
    # Beside a number of Python's the type stays; a length that the program computes gets it.
    count = max(count - fewer, 0) if isinstance(count, int) else e.maximum(count - fewer, 0).astype(centred.dtype)
    result = e.divide(products.dot(centred, e.conjugate(centred.T)), count)
    return shaping.squeeze(result) if 1 in result.shape else result


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlation matrix of variables, as :func:`numpy.corrcoef`."""
    result = cov(x, y, rowvar, dtype=dtype)
    if not result.ndim:
        return e.divide(result, result)
    spread = e.sqrt(products.diagonal(result).real)
    result = e.divide(e.divide(result, spread[:, None]), spread[None, :])
    return result if result.type.is_complex else e.minimum(e.maximum(result, -1), 1)
