"""Cases of reductions, contractions, running totals and orders."""

import functools
import itertools
import math
import operator

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.graph.tracing import trace_body
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Spec
from random_primitives.cases import Case, case_of, compare, epsilon
from random_primitives.references import compare_rows, held, numbers_of, reference_of, rows_of, sample, wide
from random_primitives.values import ALL, COMPLEX, FLOATS, MOST, REAL, WHOLE, array, shape


def _axes(choose, rank):
    axes = choose.some(range(rank))
    return axes or ((choose.integer(0, rank - 1),) if rank and choose.chance(80) else ())


def _sizes(x):
    """Magnitudes of finite elements, in f64."""
    with np.errstate(all="ignore"):
        sizes = np.abs(x.astype("c16" if x.dtype.kind == "c" else "f8"))
    return np.where(np.isfinite(sizes), sizes, 0)


@case_of(p.sum_, p.product)
def _total(choose, primitive):
    type_ = choose.pick([*REAL, *COMPLEX])
    x = shape(choose, total=MOST if primitive is p.sum_ else 1100)
    params = {"axes": _axes(choose, len(x)), "keep_axes": choose.chance(50)}
    kind = choose.pick(["wide", "grid" if primitive is p.sum_ else "units"])
    if kind == "wide" and primitive is p.product:
        kind = "tame"
    x = array(choose, type_, x, special=not type_.is_complex, kind=kind)
    if type_.is_integer:
        return Case(primitive, (x,), params)
    if kind == "tame":
        # Near one, so that no order of the factors goes beyond the greatest number.
        with np.errstate(all="ignore"):
            x = np.where(np.isfinite(x) & (x != 0), x / np.abs(x) ** (31 / 32), x).astype(x.dtype)
    if kind in ("grid", "units") and not (type_.is_complex and primitive is p.product):
        return Case(primitive, (x,), params, error=0.0)
    count = max(math.prod(x.shape[axis] for axis in params["axes"]), 1)
    sizes = _sizes(x)
    if primitive is p.sum_:
        most = float(sizes.sum(axis=params["axes"]).max(initial=0))
    else:
        # Products are compared by their error beside the greatest of them.
        sizes = np.where(sizes == 0, 1, sizes)
        most = float(sizes.prod(axis=params["axes"]).max(initial=0)) * 4
    return Case(primitive, (x,), params, error=2 * count * epsilon(type_) * most)


@case_of(p.reduce_max, p.reduce_min)
def _extreme(choose, primitive):
    x = shape(choose, empty=False)
    params = {"axes": _axes(choose, len(x)), "keep_axes": choose.chance(50)}
    return Case(primitive, (array(choose, choose.pick(REAL), x),), params, error=0.0)


@case_of(p.all_, p.any_)
def _truth(choose, primitive):
    x = shape(choose)
    params = {"axes": _axes(choose, len(x)), "keep_axes": choose.chance(50)}
    x = array(choose, choose.pick(ALL), x)
    if choose.chance(50):
        x = np.where(choose.rng().integers(0, max(x.size, 1), x.shape) == 0, ~(x != 0), x != 0).astype(x.dtype)
    return Case(primitive, (x,), params)


@case_of(p.argmax, p.argmin)
def _argument(choose, primitive):
    x = array(choose, choose.pick(REAL), shape(choose, 1, empty=False))
    params = {
        "axis": choose.integer(0, x.ndim - 1),
        "keep_axis": choose.chance(50),
        "tie_break": choose.pick(["low", "high"]),
        "type": choose.pick([*WHOLE, types.s64]),
    }
    return Case(primitive, (x,), params)


# Folds -----------------------------------------------------------------------------------------------------------

#: What folds do: (element, accumulated, a captured number).
BODIES = [
    lambda x, a, c: a * 2 + x,
    lambda x, a, c: a * c + x,
    lambda x, a, c: x - a,
    lambda x, a, c: apply(p.select, apply(p.greater, x, a), x, a),
    lambda x, a, c: apply(p.select, apply(p.greater, x, c), apply(p.add, a, x), a),
    lambda x, a, c: apply(p.maximum, apply(p.minimum, x, a), c),
    lambda x, a, c: a,
    lambda x, a, c: x,
]


@case_of(p.reduce)
def _fold(choose, primitive):
    type_ = choose.pick([*REAL, *COMPLEX])
    body = choose.pick(BODIES[:3] if type_.is_complex else BODIES)
    # Products by powers of two are exact, so that a product and a sum may be rounded together or one by one.
    x = array(choose, type_, shape(choose, total=2000), kind="grid" if body in BODIES[:2] else None)
    spec = Spec(type_, (), ())
    inputs = [("element", spec), ("accumulated", spec), ("outside", spec)]
    graph, _ = trace_body("fold", body, inputs, lambda result: [result])
    params = {"axes": _axes(choose, x.ndim), "keep_axes": choose.chance(50), "body": graph, "type": type_}
    numbers = [array(choose, type_, (), kind=kind) for kind in ("grid", "units")]
    return Case(primitive, (x, *numbers), params)


# Contraction -----------------------------------------------------------------------------------------------------


def _products(choose, type_, left, right):
    """Numbers to be multiplied and added up, and how far such sums may be apart."""
    kind = choose.pick(["grid", "wide"])
    special = not type_.is_complex
    left, right = (array(choose, type_, x, special=special, kind=kind) for x in (left, right))
    if type_.is_integer:
        return left, right, None
    if kind == "grid":
        return left, right, 0.0
    return left, right, float(_sizes(left).max(initial=0) * _sizes(right).max(initial=0)) * 4 * epsilon(type_)


@case_of(p.dot)
def _dot(choose, primitive):
    def some(most, total=40):
        return list(shape(choose, 0, most, total=total))

    batch, contracted, left, right = some(1, 4), some(2, 300), some(2), some(2)
    type_ = choose.pick([*REAL, *COMPLEX])
    count = len(batch)
    orders = [
        choose.order(len(contracted) + len(free)) if choose.chance(50) else range(len(contracted) + len(free))
        for free in (left, right)
    ]
    shapes, places = [], []
    for free, order in zip((left, right), orders, strict=True):
        sizes = [*contracted, *free]
        shapes.append((*batch, *[sizes[place] for place in order]))
        places.append(tuple(count + list(order).index(place) for place in range(len(contracted))))
    a, b, error = _products(choose, type_, *shapes)
    if error:
        error *= max(math.prod(contracted), 1) ** 2
    params = {"contract": tuple(places), "batch": (tuple(range(count)),) * 2}
    return Case(primitive, (a, b), params, error=error)


@case_of(p.conv)
def _conv(choose, primitive):
    space = choose.integer(1, 2)
    type_ = choose.pick([*FLOATS, types.f32, *COMPLEX])
    groups, by_batch = choose.pick([1, 1, 2, 3]), choose.chance(30)
    batch = choose.pick([1, 2, 3]) * (groups if by_batch else 1)
    depth = choose.pick([1, 2, 3, 5])
    features = choose.pick([1, 2, 4, 9]) * groups
    channels = depth if by_batch else depth * groups
    window, params = [], {"padding": [], "strides": [], "input_dilation": [], "kernel_dilation": []}
    sizes = []
    for _ in range(space):
        w, spread, inner = choose.integer(1, 4), choose.pick([1, 1, 2]), choose.pick([1, 1, 2])
        n = choose.pick([1, 4, 5, 8, 16, 17, 33])
        reach, wide = (w - 1) * spread + 1, (n - 1) * inner + 1
        low, high = choose.pick([0, 0, 1, 3]), choose.pick([0, 0, 2, -1])
        if wide + low + high < reach:
            low, high = max(low, 0), max(high, 0) + max(reach - wide - low, 0)
        window.append(w)
        sizes.append(n)
        for key, value in zip(params, ((low, high), choose.pick([1, 1, 2, 3]), inner, spread), strict=True):
            params[key].append(value)
    params = {key: tuple(value) for key, value in params.items()}
    params |= {"feature_groups": 1 if by_batch else groups, "batch_groups": groups if by_batch else 1}
    x, kernel, error = _products(choose, type_, (batch, channels, *sizes), (features, depth, *window))
    if error:
        error *= (depth * math.prod(window)) ** 2
    return Case(primitive, (x, kernel), params, error=error)


# Running totals and orders ---------------------------------------------------------------------------------------


def _along(choose, types_, kind=None, total=MOST, special=True):
    x = shape(choose, 1, total=total)
    return array(choose, choose.pick(types_), x, kind=kind, special=special), choose.integer(0, len(x) - 1)


@case_of(p.cumulative_sum)
def _running_sum(choose, primitive):
    type_ = choose.pick([*REAL, *COMPLEX])
    kind = choose.pick(["grid", "wide"])
    x, axis = _along(choose, [type_], kind, special=not type_.is_complex)
    params = {"axis": axis, "reverse": choose.chance(50)}
    if type_.is_integer:
        return Case(primitive, (x,), params)
    error = 0.0
    if kind == "wide":
        error = 2 * x.shape[axis] * epsilon(type_) * float(_sizes(x).sum(axis=axis).max(initial=0))
    return Case(primitive, (x,), params, error=error)


@case_of(p.cumulative_product)
def _running_product(choose, primitive):
    type_ = choose.pick([*REAL, *COMPLEX])
    x, axis = _along(choose, [type_], None if type_.is_integer else "units", 1100, special=not type_.is_complex)
    params = {"axis": axis, "reverse": choose.chance(50)}
    if type_.is_complex:
        x = (x / np.maximum(np.abs(x), 0.5)).astype(x.dtype)
        return Case(primitive, (x,), params, error=16 * x.shape[axis] * epsilon(type_))
    return Case(primitive, (x,), params, error=None if type_.is_integer else 0.0)


@case_of(p.cumulative_max, p.cumulative_min)
def _running_extreme(choose, primitive):
    x, axis = _along(choose, REAL)
    return Case(primitive, (x,), {"axis": axis, "reverse": choose.chance(50)}, error=0.0)


SORTED = [*REAL, types.bool_]


@case_of(p.sort)
def _sort(choose, primitive):
    x, axis = _along(choose, SORTED)
    return Case(primitive, (x,), {"axis": axis, "direction": choose.pick(["asc", "desc"])})


@case_of(p.argsort)
def _argsort(choose, primitive):
    x, axis = _along(choose, SORTED)
    return Case(
        primitive,
        (x,),
        {"axis": axis, "direction": choose.pick(["asc", "desc"]), "type": choose.pick([*WHOLE, types.s64])},
    )


# By definition ---------------------------------------------------------------------------------------------------


def _maximum(numbers, best=max):
    nan = [n for n in numbers if n != n]
    return nan[0] if nan else best(numbers)


def _minimum(numbers):
    return _maximum(numbers, min)


def _sum(numbers):
    return math.fsum(numbers) if all(type(n) is float and math.isfinite(n) for n in numbers) else sum(numbers)


#: What becomes of a list of Python's numbers.
TOTALS = {
    p.sum_: _sum,
    p.product: math.prod,
    p.reduce_max: _maximum,
    p.reduce_min: _minimum,
    p.all_: lambda numbers: all(map(bool, numbers)),
    p.any_: lambda numbers: any(map(bool, numbers)),
}


@reference_of(*TOTALS)
def _totals(case, result):
    compare_rows(case, result, TOTALS[case.primitive], case.params["axes"])


@reference_of(p.argmax, p.argmin)
def _places_of_best(case, result):
    def place(numbers):
        best = _maximum(numbers, max if case.primitive is p.argmax else min)
        places = [i for i, n in enumerate(numbers) if n == best or (n != n and best != best)]
        return places[0 if case.params["tie_break"] == "low" else -1]

    compare_rows(case, result, place, (case.params["axis"],))


@reference_of(p.reduce)
def _folded(case, result):
    x, *outside = case.arrays
    body = case.params["body"]
    (output,) = body.outputs
    start, *captured = outside

    def step(accumulated, element):
        values = dict(zip(body.parameters, (element, accumulated, *captured), strict=True))
        for node in post_order([output]):
            if node not in values:
                values[node] = MEANING[node.primitive](node.spec, *[values[o] for o in node.operands], **node.params)
        return values[output]

    rows, found = rows_of(x, case.params["axes"]), result.reshape(-1)
    for number in sample(len(rows), 2):
        elements = [rows[number, place : place + 1].reshape(()) for place in range(rows.shape[1])]
        compare(found[number], functools.reduce(step, elements, start)[()], case)


@reference_of(p.dot)
def _multiplied(case, result):
    (left, right), (places, others) = case.arrays, case.params["contract"]
    batch = len(case.params["batch"][0])
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    first = [next(letters) for _ in left.shape]
    second = [next(letters) for _ in right.shape]
    second[:batch] = first[:batch]
    for place, other in zip(places, others, strict=True):
        second[other] = first[place]
    free = [letter for letter in first[batch:] if letter not in second]
    out = first[:batch] + free + [letter for letter in second[batch:] if letter not in first]
    kind = "c16" if left.dtype.kind == "c" else left.dtype if left.dtype.kind in "iu" else "f8"
    with np.errstate(all="ignore"):
        want = np.einsum(f"{''.join(first)},{''.join(second)}->{''.join(out)}", left.astype(kind), right.astype(kind))
        compare(result, np.asarray(want).astype(result.dtype), case)


@reference_of(p.conv)
def _convolved(case, result):
    x, kernel = map(wide, case.arrays)
    padding, strides, inner, spread = (
        case.params[key] for key in ("padding", "strides", "input_dilation", "kernel_dilation")
    )
    groups, batches = case.params["feature_groups"], case.params["batch_groups"]
    features, depth, *window = kernel.shape
    for number in sample(result.size, 10):
        entry, feature, *space = map(int, np.unravel_index(number, result.shape))
        entry += feature // (features // batches) * (len(x) // batches)
        first = feature // (features // groups) * depth
        total = 0
        for channel, *at in np.ndindex(depth, *window):
            element = 0.0
            places = [
                divmod(s * step + w * far - low, gap)
                for s, step, w, far, (low, _), gap in zip(space, strides, at, spread, padding, inner, strict=True)
            ]
            if all(rest == 0 and 0 <= i < n for (i, rest), n in zip(places, x.shape[2:], strict=True)):
                element = x[(entry, first + channel, *[i for i, _ in places])]
            total += element * kernel[(feature, channel, *at)]
        compare(result.flat[number], held([total], result.dtype)[0], case)


RUNNING = {
    p.cumulative_sum: operator.add,
    p.cumulative_product: operator.mul,
    p.cumulative_max: lambda *numbers: _maximum(numbers),
    p.cumulative_min: lambda *numbers: _minimum(numbers),
}


@reference_of(*RUNNING)
def _running(case, result):
    step = -1 if case.params["reverse"] else 1

    def along(numbers):
        return list(itertools.accumulate(numbers[::step], RUNNING[case.primitive]))[::step]

    compare_rows(case, result, along, (case.params["axis"],))


def _ordered(case, numbers):
    """Places in order: NaN is greater than every number, and what is equal stays in order."""
    return sorted(
        range(len(numbers)),
        key=lambda place: (numbers[place] != numbers[place], 0 if numbers[place] != numbers[place] else numbers[place]),
        reverse=case.params["direction"] == "desc",
    )


@reference_of(p.sort)
def _sorted(case, result):
    axes = (case.params["axis"],)
    rows, found = rows_of(case.arrays[0], axes), rows_of(result, axes)
    for number in sample(len(rows), 8):
        order = _ordered(case, numbers_of(rows[number]))
        compare(found[number], rows[number][order], case)


@reference_of(p.argsort)
def _sorted_places(case, result):
    compare_rows(case, result, lambda numbers: _ordered(case, numbers), (case.params["axis"],))
