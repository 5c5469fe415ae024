"""Cases of primitives that move elements, and of those that put them at computed places."""

import math

import numpy as np

from nxkernel import primitives as p
from nxkernel import shapes, types
from random_primitives.cases import Case, case_of, compare, epsilon
from random_primitives.references import compare_places, held, reference_of, sample, wide
from random_primitives.values import ALL, COMPLEX, MOST, REAL, array, indices, names, shape


@case_of(p.iota)
def _iota(choose, primitive):
    around = shape(choose, 0)
    axis = choose.pick([None, *range(len(around))])
    type_ = choose.pick([type_ for type_ in ALL if type_ is not types.bool_])
    return Case(primitive, (), {"type": type_, "shape": around, "names": names(choose, len(around)), "axis": axis})


def _one(choose, least=0, most=4, **limits):
    return array(choose, choose.pick(ALL), shape(choose, least, most, **limits))


@case_of(p.reshape)
def _reshape(choose, primitive):
    x = _one(choose)
    sizes, total = [], x.size
    for _ in range(choose.integer(0, 3)):
        divisors = [n for n in range(1, min(total, 70) + 1) if total % n == 0]
        sizes.append(choose.pick(divisors) if divisors else choose.integer(0, 3))
        total //= max(sizes[-1], 1)
    if total != 1 or not sizes:
        sizes.append(total)
    if x.size == 1 and choose.chance(50):
        sizes = [1] * choose.integer(0, 3)
    target = tuple(sizes)
    assert math.prod(target) == x.size
    return Case(primitive, (x,), {"shape": target, "names": names(choose, len(target))})


@case_of(p.broadcast)
def _broadcast(choose, primitive):
    target = shape(choose, 0, 4)
    axes = list(choose.some(range(len(target))))
    if choose.chance(30):
        axes = [axes[place] for place in choose.order(len(axes))]
    source = tuple(1 if choose.chance(30) else target[axis] for axis in axes)
    x = array(choose, choose.pick(ALL), source)
    return Case(primitive, (x,), {"shape": target, "axes": tuple(axes), "names": names(choose, len(target))})


@case_of(p.transpose)
def _transpose(choose, primitive):
    x = _one(choose)
    return Case(primitive, (x,), {"axes": choose.order(x.ndim)})


@case_of(p.reverse)
def _reverse(choose, primitive):
    x = _one(choose)
    return Case(primitive, (x,), {"axes": choose.some(range(x.ndim))})


@case_of(p.slice_)
def _slice(choose, primitive):
    x = _one(choose)
    starts, lengths, strides = [], [], []
    for n in x.shape:
        stride = choose.pick([1, 1, 2, 3, -1, -2, -5])
        start = choose.integer(0, max(n - 1, 0))
        room = (n - start if stride > 0 else start + 1) if n else 0
        lengths.append(choose.integer(0 if choose.chance(5) or not room else 1, room))
        starts.append(start)
        strides.append(stride)
    return Case(primitive, (x,), {"starts": tuple(starts), "lengths": tuple(lengths), "strides": tuple(strides)})


def _starts(choose, shape, lengths):
    """Where a part begins: sometimes so that it does not fit."""
    return [indices(choose, (), max(n - length + 1, 1)) for n, length in zip(shape, lengths, strict=True)]


@case_of(p.dynamic_slice)
def _dynamic_slice(choose, primitive):
    x = _one(choose)
    lengths = tuple(choose.integer(1 if n else 0, n) for n in x.shape)
    strides = tuple(choose.pick([1, 1, 2, 3]) for _ in x.shape)
    return Case(primitive, (x, *_starts(choose, x.shape, lengths)), {"lengths": lengths, "strides": strides})


@case_of(p.put_slice)
def _put_slice(choose, primitive):
    x = _one(choose)
    lengths = tuple(choose.integer(0 if choose.chance(5) or not n else 1, n) for n in x.shape)
    part = array(choose, types.normalize(x.dtype), lengths)
    return Case(primitive, (x, part, *_starts(choose, x.shape, lengths)))


@case_of(p.put_strided)
def _put_strided(choose, primitive):
    x = _one(choose)
    strides = tuple(choose.pick([1, 2, 3, 7]) for _ in x.shape)
    most = [-(-n // stride) for n, stride in zip(x.shape, strides, strict=True)]
    counts = tuple(choose.integer(0 if choose.chance(5) or not n else 1, n) for n in most)
    part = array(choose, types.normalize(x.dtype), counts)
    return Case(primitive, (x, part, *_starts(choose, x.shape, shapes.spans(counts, strides))), {"strides": strides})


@case_of(p.concatenate)
def _concatenate(choose, primitive):
    around = shape(choose, 1, 4, total=MOST // 3)
    axis, type_ = choose.integer(0, len(around) - 1), choose.pick(ALL)
    sizes = [around[axis], *[choose.pick([0, 1, 2, 3, 17]) for _ in range(choose.integer(0, 3))]]
    parts = tuple(array(choose, type_, (*around[:axis], n, *around[axis + 1 :])) for n in sizes)
    return Case(primitive, parts, {"axis": axis})


@case_of(p.pad)
def _pad(choose, primitive):
    x = _one(choose, total=MOST // 8)
    config = []
    for n in x.shape:
        inner = choose.pick([0, 0, 0, 1, 2])
        wide = n + max(n - 1, 0) * inner
        low, high = choose.pick([0, 0, 1, 3, -1, -2, -4]), choose.pick([0, 0, 2, 5, -1, -3])
        if wide + low + high < 0:
            low, high = max(low, 0), max(high, 0)
        config.append((low, high, inner))
    return Case(primitive, (x, array(choose, types.normalize(x.dtype), ())), {"config": tuple(config)})


@case_of(p.windows)
def _windows(choose, primitive):
    x = _one(choose, 0, 3, empty=False, total=400)
    window, strides, dilations = [], [], []
    for n in x.shape:
        dilation = choose.pick([1, 1, 2, 3])
        window.append(choose.integer(1, min((n - 1) // dilation + 1, 6)))
        dilations.append(dilation)
        strides.append(choose.pick([1, 1, 2, 3, 20]))
    params = {"window": tuple(window), "strides": tuple(strides), "dilations": tuple(dilations)}
    return Case(primitive, (x,), params)


# Computed places -------------------------------------------------------------------------------------------------


def _places(choose, x, most):
    """Some axes, and indices of each in one shape."""
    axes = tuple(axis for axis, n in enumerate(x.shape) if n and choose.chance(60))
    axes = axes or tuple(axis for axis, n in enumerate(x.shape) if n)[:1]
    rest = math.prod(n for axis, n in enumerate(x.shape) if axis not in axes)
    around = shape(choose, 0, 2, total=max(most // max(rest, 1), 1))
    return axes, around, [indices(choose, around, x.shape[axis]) for axis in axes]


def _indexed(choose, types_):
    return array(choose, choose.pick(types_), shape(choose, 1, 3, empty=False, total=MOST // 4))


@case_of(p.gather)
def _gather(choose, primitive):
    x = _indexed(choose, ALL)
    axes, _, places = _places(choose, x, MOST)
    return Case(primitive, (x, *places), {"axes": axes})


def _powers(choose, type_, shape):
    """Numbers whose products are exact: 1, 2 and -1, and of floats with room for them 1/2."""
    picked = array(choose, types.s8, shape, kind="grid").astype(np.int64) % 4
    numbers = [1, 2, -1, 1] if type_.is_integer else [1, -1, 2, 0.5] if type_.bits > 16 else [1, -1, 1, -1]
    return np.array(numbers)[picked].astype(type_.dtype)


@case_of(p.scatter)
def _scatter(choose, primitive):
    combine = choose.pick(["put", "add", "multiply", "max", "min"])
    x = _indexed(choose, ALL if combine == "put" else [*REAL, *COMPLEX] if combine == "add" else REAL)
    axes, around, places = _places(choose, x, MOST // 4)
    full = (*around, *[n for axis, n in enumerate(x.shape) if axis not in axes])
    type_ = types.normalize(x.dtype)
    params = {"axes": axes, "combine": combine}
    if combine in ("put", "max", "min"):
        return Case(primitive, (x, array(choose, type_, full), *places), params)
    if combine == "multiply":
        # Powers of two have exact products.
        x, updates = (_powers(choose, type_, shape) for shape in (x.shape, full))
        return Case(primitive, (x, updates, *places), params)
    # Sums are made in order, but for those that lanes share.
    kind = choose.pick(["grid", "wide"])
    x = array(choose, type_, x.shape, special=False, kind=kind)
    updates = array(choose, type_, full, special=not type_.is_complex, kind=kind)
    if type_.is_integer:
        return Case(primitive, (x, updates, *places), params)
    with np.errstate(all="ignore"):
        sizes = np.abs(updates.astype("c16" if type_.is_complex else "f8"))
    finite = float(sizes[np.isfinite(sizes)].sum() + np.abs(wide(x)).max(initial=0))
    error = 0.0 if kind == "grid" else 2 * max(math.prod(around), 1) * epsilon(type_) * finite
    return Case(primitive, (x, updates, *places), params, error=error)


# By definition ---------------------------------------------------------------------------------------------------


@reference_of(p.iota)
def _counted(case, result):
    axis, shape = case.params["axis"], case.params["shape"]
    for number in sample(result.size, 100):
        index = number if axis is None else np.unravel_index(number, shape)[axis]
        assert result.flat[number] == held([index], result.dtype)[0]


@reference_of(p.reshape)
def _reshaped(case, result):
    assert result.tobytes() == case.arrays[0].tobytes()
    assert result.shape == case.params["shape"]


def _backwards(x, at, *, axes):
    return [n - 1 - i if axis in axes else i for axis, (n, i) in enumerate(zip(x.shape, at, strict=True))]


def _in_window(x, at, *, strides, dilations, **_):
    return [at[axis] * strides[axis] + at[x.ndim + axis] * dilations[axis] for axis in range(x.ndim)]


#: Where the element of a result stands in the operand, by its place and by parameters.
PLACES = {
    p.broadcast: lambda x, at, *, axes, **_: [0 if n == 1 else at[a] for n, a in zip(x.shape, axes, strict=True)],
    p.transpose: lambda x, at, *, axes: [at[axes.index(axis)] for axis in range(x.ndim)],
    p.reverse: _backwards,
    p.slice_: lambda x, at, *, starts, strides, **_: np.add(starts, np.multiply(at, strides)).astype(int),
    p.windows: _in_window,
}


@reference_of(*PLACES)
def _moved(case, result):
    (x,) = case.arrays
    compare_places(result, lambda at: x[tuple(PLACES[case.primitive](x, at, **case.params))])


def _fitting(start, n, length):
    """The start nearest to a wanted one from which a part fits in an axis."""
    return min(max(int(start), 0), n - length)


@reference_of(p.dynamic_slice)
def _dynamic(case, result):
    x, *starts = case.arrays
    firsts = map(_fitting, starts, x.shape, case.params["lengths"])
    steps = list(zip(firsts, case.params["strides"], strict=True))
    compare_places(result, lambda at: x[tuple(first + i * step for i, (first, step) in zip(at, steps, strict=True))])


@reference_of(p.put_slice, p.put_strided)
def _overwritten(case, result):
    x, part, *starts = case.arrays
    strides = case.params.get("strides", (1,) * x.ndim)
    firsts = list(map(_fitting, starts, x.shape, shapes.spans(part.shape, strides)))

    def element(at):
        inside = [divmod(i - first, stride) for i, first, stride in zip(at, firsts, strides, strict=True)]
        hit = all(0 <= i < n and not rest for (i, rest), n in zip(inside, part.shape, strict=True))
        return part[tuple(i for i, _ in inside)] if hit else x[at]

    compare_places(result, element)


@reference_of(p.concatenate)
def _concatenated(case, result):
    axis = case.params["axis"]
    # For each place along the axis the part that it comes from, and where in it.
    sources = [(part, place) for part in case.arrays for place in range(part.shape[axis])]

    def element(at):
        part, place = sources[at[axis]]
        return part[(*at[:axis], place, *at[axis + 1 :])]

    compare_places(result, element)


@reference_of(p.pad)
def _padded(case, result):
    x, value = case.arrays

    def element(at):
        places = [divmod(i - low, inner + 1) for i, (low, _, inner) in zip(at, case.params["config"], strict=True)]
        if all(rest == 0 and 0 <= i < n for (i, rest), n in zip(places, x.shape, strict=True)):
            return x[tuple(i for i, _ in places)]
        return value[()]

    compare_places(result, element)


def _key(x, at, axes, indices):
    """The place in an array that a place among gathered elements stands for."""
    count = indices[0].ndim
    chosen = {axis: _fitting(index[at[:count]], x.shape[axis], 1) for axis, index in zip(axes, indices, strict=True)}
    rest = iter(at[count:])
    return tuple(chosen[axis] if axis in chosen else next(rest) for axis in range(x.ndim))


@reference_of(p.gather)
def _gathered(case, result):
    x, *indices = case.arrays
    compare_places(result, lambda at: x[_key(x, at, case.params["axes"], indices)])


@reference_of(p.scatter)
def _scattered(case, result):
    x, updates, *indices = case.arrays
    if case.params["combine"] == "put":
        want = x.copy()
        for at in np.ndindex(updates.shape):
            want[_key(x, at, case.params["axes"], indices)] = updates[at]
        assert result.tobytes() == want.tobytes()
        return
    if case.params["combine"] != "add":
        join = {"multiply": np.multiply, "max": np.maximum, "min": np.minimum}[case.params["combine"]]
        want = x.copy()
        with np.errstate(all="ignore"):
            for at in np.ndindex(updates.shape):
                key = _key(x, at, case.params["axes"], indices)
                want[key] = join(want[key], updates[at])
        np.testing.assert_array_equal(wide(result), wide(want))
        return
    want, updates = wide(x), wide(updates)
    for at in np.ndindex(updates.shape):
        want[_key(x, at, case.params["axes"], indices)] += updates[at]
    compare(result, held(want.reshape(-1), result.dtype).reshape(result.shape), case)
