"""Integrals of functions: `quad`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions

#: Points and weights of Kronrod's rule of 21 points, from an end to the middle, and weights of Gauss's rule of 10, for
#: every second of its points: QUADPACK's.
_POINTS = (
    0.9956571630258081, 0.9739065285171717, 0.9301574913557082, 0.8650633666889845, 0.7808177265864169,
    0.6794095682990244, 0.5627571346686047, 0.4333953941292472, 0.2943928627014602, 0.14887433898163122, 0.0,
)  # fmt: skip
_KRONROD = (
    0.011694638867371874, 0.032558162307964725, 0.054755896574351995, 0.07503967481091996, 0.0931254545836976,
    0.10938715880229764, 0.12349197626206584, 0.13470921731147334, 0.14277593857706009, 0.1477391049013385,
    0.149445554002916905,
)  # fmt: skip
_GAUSS = (0.06667134430868814, 0.1494513491505806, 0.21908636251598204, 0.26926671930999635, 0.29552422471475287)
#: Into how many intervals an integral is divided at first.
_FIRST = 10
_REACHED, _LIMIT, _ROUNDING, _NOT_A_NUMBER = 0, 1, 2, 3
_MEANINGS = {
    _LIMIT: "The maximum number of subdivisions ({limit}) has been achieved. If the function has a difficulty inside "
    "of the interval, such as a singularity, divide the integral there.",
    _ROUNDING: "The occurrence of roundoff error is detected, which prevents the requested tolerance from being "
    "achieved. The error may be underestimated.",
    _NOT_A_NUMBER: "The function is NaN or infinite at a point.",
}


class IntegrationWarning(UserWarning):
    """A warning of :func:`quad` that an integral is not as exact as it was asked for."""


class _Sums(NamedTuple):
    value: Any
    error: Any


class _State(NamedTuple):
    lefts: Any
    rights: Any
    values: Any
    errors: Any
    count: Any
    #: How often dividing an interval has not made the error smaller.
    vain: Any
    status: Any


def quad(
    func: Callable[..., Any], a: Any, b: Any, args: Any = (), full_output: int = 0, epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8, limit: int = 50, points: Any = None, weight: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Integrate a function of one number, as :func:`scipy.integrate.quad`.

    The integral is one compiled program. Other limits, tolerances or `args` do not compile again, but for limits that
    become infinite. In a definition it is a part of that, under :func:`nxkernel.vmap`, too, and it has gradients by its
    limits, by `args`, and by what the function reads.

    Parameters
    ----------
    func : callable
        Of a number, and `args`; gives a number. It follows NumPy's rules or Nx's, as its text says.
    a, b : number
        The limits, which may be infinite; in a definition they may be traced where they are finite.
    args : tuple, optional
        Further arguments: arrays, numbers, or containers of them.
    full_output : bool, optional
        Whether a dict with ``neval``, the number of calls, and ``last``, that of intervals, is wanted, too, and a
        message where it did not succeed, in place of a warning.
    epsabs, epsrel : float, optional
        The absolute error, or the relative one, that is small enough.
    limit : int, optional
        Into how many intervals it is divided at most.
    points, weight : optional
        None are taken.

    Returns
    -------
    y : float
        The integral.
    abserr : float
        An estimate of its absolute error.

    Raises
    ------
    NxValueError
        For a function that gives more than one number.

    Warns
    -----
    IntegrationWarning
        Where the error is not small enough; outside of definitions.

    Notes
    -----
    Intervals are halved where the error is greatest; each has Kronrod's rule of 21 points [1]_. The variable is changed
    so that ends where the function is infinite weigh less [2]_.

    References
    ----------
    .. [1] R. Piessens, E. de Doncker-Kapenga, C. W. Überhuber and D. K. Kahaner, "QUADPACK", 1983.
    .. [2] L. F. Shampine, "Vectorized adaptive quadrature in MATLAB", 2008.

    Examples
    --------
    >>> y, abserr = nx.integrate.quad(lambda x: np.exp(-(x**2)), -np.inf, np.inf)
    >>> round(y, 10), abserr < 1e-7
    (1.7724538509, True)
    >>> float(nx.grad(lambda b: nx.integrate.quad(lambda x: x**2, 0.0, b)[0])(3.0))
    9.0
    """
    user_functions.checked(func, "quad", "func")
    for name, value in (("points", points), ("weight", weight)):
        if value is not None:
            raise NxTypeError(
                message(
                    f"quad takes no {name}.",
                    "Divide the integral at a point of difficulty, and multiply the function by a weight.",
                )
            )
    most = int(checks.whole("quad", "limit", limit))
    if most < 1:
        raise NxValueError(f"quad: limit is at least 1, got {limit!r}.")
    ends = tuple(_end(value) for value in (a, b))
    inputs = (ends, user_functions.arguments(args, ends[0]))
    rules = user_functions.rules_of(func, inputs)
    kind = _kind(*ends)
    tolerances = (programs.number(epsabs), programs.number(epsrel))
    sums, status, count = programs.run(_integral, (func, rules, kind, most), (*inputs, tolerances))
    if tracing.current() is not None:
        return sums.value, sums.error
    result = tuple(map(programs.as_python, sums))
    status, count = int(status), int(count)
    text = _MEANINGS.get(status, "").format(limit=most)
    if full_output:
        calls = 21 * (2 * count - min(_FIRST, most))
        return (*result, {"neval": calls, "last": count}, *([text] if text else []))
    if text:
        warnings.warn(text, IntegrationWarning, stacklevel=2)
    return result


def _end(value: Any) -> Any:
    found = user_functions.start(value, "quad: a limit")
    if found.shape:
        raise NxValueError(
            message(f"quad: a limit is a number, got an array of shape {tuple(found.shape)}.",
                    "nx.vmap(lambda b: nx.integrate.quad(f, 0.0, b)[0])(ends) gives many integrals.")
        )  # fmt: skip
    return found


def _kind(a: Any, b: Any) -> str:
    """Which limits are infinite."""
    infinite = [programs.is_known(end) and bool(np.isinf(np.asarray(end))) for end in (a, b)]
    return {(False, False): "finite", (False, True): "right", (True, False): "left", (True, True): "both"}[
        tuple(infinite)
    ]


def _changed(kind: str, a: Any, b: Any, t: Any) -> tuple[Any, Any]:
    """The variable at a place between -1 and 1, and its slope there."""
    if kind == "finite":
        # From the end that is nearer, so that places near an end at 0 have all of their digits.
        quarter, left, right = (b - a) / 4, 1 + t, 1 - t
        x = nx.select(t < 0, a + quarter * left * left * (2 - t), b - quarter * right * right * (2 + t))
        return x, 3 * quarter * left * right
    if kind == "both":
        sign = nx.select(a < b, 1.0, -1.0)
        rest = 1 - t * t
        return sign * t / rest, sign * (1 + t * t) / (rest * rest)
    # From 0 to 1, as that from -1 to 1 leaves it.
    t = (1 + t) / 2
    part = t / (1 - t)
    slope = part / ((1 - t) * (1 - t))
    end, other = (a, b) if kind == "right" else (b, a)
    sign = nx.select(other > 0, 1.0, -1.0)
    return end + sign * part * part, (sign if kind == "right" else -sign) * slope


@transform("quad")
def _integral(
    is_inner: bool, func: Any, rules: str, kind: str, most: int, ends: tuple, args: tuple, tolerances: tuple
) -> tuple[_Sums, Any, Any]:
    """The program: `quad` for traced values."""
    a = operand(ends[0])
    type_ = nx.types.merge(a.type, operand(ends[1]).type)
    a, b = (convert(operand(end), type_) for end in ends)
    epsabs, epsrel = (convert(operand(value), type_) for value in tolerances)
    name = f"quad: {user_functions.name_of(func)}"
    called = user_functions.called(func, rules, args)
    function = nx.vmap(lambda x: user_functions.scalar(called(x), type_, name))
    half, kronrod, gauss = (nx.tensor(np.array(row), type=type_) for row in (_POINTS, _KRONROD, _GAUSS))
    points = nx.concatenate([-half, nx.reverse(half[:10])])
    weights = nx.concatenate([kronrod, nx.reverse(kronrod[:10])])
    every_second = nx.stack([nx.zeros((5,), type_), gauss], axis=1).reshape((10,))
    fewer = nx.concatenate([every_second, nx.zeros((1,), type_), nx.reverse(every_second)])
    tiny = float(np.finfo(type_.dtype).eps)

    def at(lefts: Any, rights: Any) -> tuple[Any, Any]:
        """The changed function at the points of intervals, and half of their lengths."""
        halves = (rights - lefts) / 2
        places = nx.new_axis((lefts + rights) / 2, 1) + nx.new_axis(halves, 1) * nx.new_axis(points, 0)
        x, slope = _changed(kind, a, b, nx.flatten(places))
        # Where a change of variables has come to infinity, nothing is left of the integral.
        seen = function(nx.select(nx.abs(x) < np.inf, x, 0.0)) * slope
        seen = nx.select((nx.abs(slope) < np.inf) & (slope != 0), seen, 0.0)
        return nx.reshape(seen, places.shape), halves

    def ruled(lefts: Any, rights: Any) -> _Sums:
        seen, halves = at(lefts, rights)
        value, other = nx.dot(seen, weights), nx.dot(seen, fewer)
        size = nx.dot(nx.abs(seen), weights) * halves
        swing = nx.dot(nx.abs(seen - nx.new_axis(value / 2, 1)), weights) * halves
        error = nx.abs(value - other) * halves
        smaller = swing * nx.min(1.0, (200 * error / nx.select(swing > 0, swing, 1.0)) ** 1.5)
        error = nx.select((swing > 0) & (error > 0), smaller, error)
        return _Sums(value * halves, nx.max(error, 50 * tiny * size))

    def status(state: _State) -> _State:
        total, error = nx.sum(state.values), nx.sum(state.errors)
        enough = error <= nx.max(epsabs, nx.max(epsrel, 100 * tiny) * nx.abs(total))
        found = nx.select(state.count >= most, _LIMIT, -1)
        found = nx.select(enough, _REACHED, nx.select(state.vain >= 10, _ROUNDING, found))
        known = nx.abs(total) < np.inf
        return state._replace(status=nx.as_type(nx.select(known, found, _NOT_A_NUMBER), "s64"))

    def turn(now: _State) -> _State:
        worst = nx.argmax(now.errors)
        left, right = now.lefts[worst], now.rights[worst]
        middle = (left + right) / 2
        two = ruled(nx.stack([left, middle]), nx.stack([middle, right]))

        def put(row: Any, first: Any, second: Any) -> Any:
            row = nx.put_slice(row, [worst], nx.reshape(first, (1,)))
            return nx.put_slice(row, [now.count], nx.reshape(second, (1,)))

        before, after = now.errors[worst], nx.sum(two.error)
        same = nx.abs(now.values[worst] - nx.sum(two.value)) <= 1e-5 * nx.abs(nx.sum(two.value))
        vain = now.vain + nx.select(same & (after >= 0.99 * before), 1, 0)
        return status(
            _State(
                put(now.lefts, left, middle), put(now.rights, middle, right),
                put(now.values, two.value[0], two.value[1]), put(now.errors, two.error[0], two.error[1]),
                now.count + 1, vain, now.status,
            )
        )  # fmt: skip

    first = min(_FIRST, most)
    edges = nx.tensor(np.linspace(-1, 1, first + 1), type=type_)
    sums = ruled(edges[:-1], edges[1:])
    rest = nx.zeros((most - first,), type_)
    rows = [nx.concatenate([row, rest]) if most > first else row for row in (edges[:-1], edges[1:], *sums)]
    begun = status(_State(*rows, nx.tensor(first), nx.tensor(0), nx.tensor(-1)))
    found = nx.while_(lambda now: now.status == -1, turn, begun)
    value = nx.sum(found.values)
    if is_inner:
        value = _differentiable(found, at, weights)
    # Equal limits, infinite ones too, have nothing between them.
    value = nx.select(a == b, 0.0, value)
    return _Sums(value, nx.sum(found.errors)), found.status, found.count


def _differentiable(found: _State, at: Callable[[Any, Any], tuple[Any, Any]], weights: Operand) -> Any:
    """The same sum over the intervals that were found, which count as constants."""
    lefts, rights = nx.stop_grad(found.lefts), nx.stop_grad(found.rights)
    used = lefts < rights
    # Intervals that are not used are somewhere, and count for nothing.
    seen, halves = at(nx.select(used, lefts, 0.3), nx.select(used, rights, 0.4))
    return nx.sum(nx.select(used, nx.dot(seen, weights) * halves, 0.0))
