"""Roots of functions of one number: `root_scalar`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions
from nxkernel.solvers.implicit import Closed, implicit
from nxkernel.solvers.results import Result

_METHODS = ("bisect", "brentq", "newton", "secant", "halley")
_CONVERGED, _LIMIT, _SAME_SIGNS, _FLAT = 0, -2, -1, -3


class RootResults(Result):
    """The result of :func:`root_scalar`.

    Attributes
    ----------
    root : float
    iterations, function_calls : int
        A call of the function with its derivatives counts as one.
    converged : bool
    flag : str
        ``"converged"``, or why it did not.
    method : str
        Not in definitions.
    status : int
        0 where it converged.
    """

    MEANINGS: ClassVar[dict[int, str]] = {
        _CONVERGED: "converged",
        _LIMIT: "convergence error: the maximum number of iterations is exceeded",
        _SAME_SIGNS: "sign error: f(a) and f(b) must have different signs",
        _FLAT: "value error: the function or its derivative is 0, NaN or infinite where a step begins",
    }

    @property
    def flag(self) -> Any:
        """How it ended, in words."""
        return self.message


class _State(NamedTuple):
    x: Any
    value: Any
    #: What a method has besides: the other end of a bracket, an earlier point.
    rest: tuple
    iterations: Any
    calls: Any
    status: Any


_RUNNING = 1


def root_scalar(
    f: Callable[..., Any], args: Any = (), method: str | None = None, bracket: Any = None, fprime: Any = None,
    fprime2: Any = None, x0: Any = None, x1: Any = None, xtol: float | None = None, rtol: float | None = None,
    maxiter: int | None = None, options: Mapping[str, Any] | None = None,
) -> RootResults:  # fmt: skip
    """Find a root of a function of one number, as :func:`scipy.optimize.root_scalar`.

    The whole iteration is one compiled program. Another bracket, start, tolerance or `args` does not compile again. In
    a definition it is a part of that, under :func:`nxkernel.vmap`, too, and its result has gradients by what the
    function reads and by `args`: those of the root, by the implicit function theorem.

    Parameters
    ----------
    f : callable
        Of a number, and `args`; gives a number. It follows NumPy's rules or Nx's, as its text says.
    args : tuple, optional
        Further arguments: arrays, numbers, or containers of them.
    method : {"brentq", "bisect", "newton", "secant", "halley"}, optional
        Unless given, ``"brentq"`` with a bracket, ``"secant"`` with `x1`, else ``"newton"``, or ``"halley"`` with
        `fprime2`.
    bracket : pair of numbers, optional
        Where the function has different signs, for brentq [1]_ and bisect.
    fprime, fprime2 : callable or True, optional
        The first two derivatives; True where `f` gives them, too, in a tuple. Unless given, they are derived from `f`,
        exactly.
    x0, x1 : number, optional
        The start; and a second one, for secant.
    xtol, rtol : float, optional
        How near to the root it ends, and that as a part of the root: 2e-12 and 8.9e-16 for brackets, 1.48e-8 and 0
        for the others.
    maxiter : int, optional
        100 for brackets, 50 for the others.

    Returns
    -------
    RootResults

    Raises
    ------
    NxValueError
        Where neither a bracket nor a start is given; outside of definitions also where the function has the same sign
        at both ends. In a definition the root is NaN then.

    References
    ----------
    .. [1] R. P. Brent, "Algorithms for Minimization Without Derivatives", 1973, chapter 4.

    Examples
    --------
    >>> found = nx.optimize.root_scalar(lambda x: x**3 - 2, bracket=[0, 2])
    >>> round(found.root, 12), found.converged
    (1.259921049895, True)
    >>> float(nx.grad(lambda a: nx.optimize.root_scalar(lambda x: x * x - a, x0=a).root)(4.0))
    0.25
    """
    user_functions.checked(f, "root_scalar", "f")
    if options:
        raise NxTypeError(
            message(
                f"root_scalar has no options, got {', '.join(map(repr, options))}.",
                "xtol, rtol and maxiter are arguments.",
            )
        )
    if method is None:
        method = "brentq" if bracket is not None else "secant" if x1 is not None else "halley" if fprime2 else "newton"
    name = checks.choice("root_scalar", "method", method, _METHODS, lambda _: "brentq takes a bracket, too.")
    begin = _begin(name, bracket, x0, x1)
    bracketed = name in ("bisect", "brentq")
    tolerances = (
        programs.number((2e-12 if bracketed else 1.48e-8) if xtol is None else xtol),
        programs.number((8.881784197001252e-16 if bracketed else 0.0) if rtol is None else rtol),
        checks.whole("root_scalar", "maxiter", (100 if bracketed else 50) if maxiter is None else maxiter),
    )
    inputs = (begin, user_functions.arguments(args, begin[0]))
    rules = user_functions.rules_of(f, inputs)
    found = programs.run(_root_scalar, (f, name, (fprime, fprime2), rules), (*inputs, tolerances))
    result = RootResults({key: programs.as_python(value) for key, value in found.items()})
    if not isinstance(result.status, int):
        return result
    result["method"] = name
    if result.status == _SAME_SIGNS:
        raise NxValueError(
            message("root_scalar: f(a) and f(b) must have different signs.", "bracket= has a root between its numbers.")
        )
    return result


def _begin(method: str, bracket: Any, x0: Any, x1: Any) -> tuple[Any, ...]:
    """The numbers that a method begins with."""
    if method in ("bisect", "brentq"):
        if bracket is None or len(bracket) != 2:
            raise NxValueError(f"root_scalar: {method} takes bracket=(a, b), two numbers, got {bracket!r}.")
        given = tuple(bracket)
    elif x0 is None:
        raise NxValueError(
            message(f"root_scalar: {method} takes a start, x0.", "With bracket=(a, b) a root is found for sure.")
        )
    elif method == "secant" and x1 is None:
        # As far away as SciPy takes it.
        given = (x0, x0 * (1 + 1e-4) + (1e-4 if not isinstance(x0, int | float) or x0 >= 0 else -1e-4))
    else:
        given = (x0, x1) if method == "secant" else (x0,)
    numbers = tuple(user_functions.start(value, "root_scalar: a number to begin with") for value in given)
    for number in numbers:
        if number.shape:
            raise NxValueError(
                message(f"root_scalar begins with numbers, got an array of shape {tuple(number.shape)}.",
                        "nx.vmap(lambda x0: nx.optimize.root_scalar(f, x0=x0).root)(starts) finds many roots.")
            )  # fmt: skip
    return numbers


@transform("root_scalar")
def _root_scalar(
    is_inner: bool, f: Any, method: str, derivatives: tuple, rules: str, begin: tuple, args: tuple, tolerances: tuple
) -> dict[str, Any]:
    """The program: `root_scalar` for traced values."""
    name = f"root_scalar: {user_functions.name_of(f)}"
    type_ = operand(begin[0]).type
    begin = tuple(convert(operand(value), type_) for value in begin)
    xtol, rtol, most = (
        convert(operand(tolerances[0]), type_),
        convert(operand(tolerances[1]), type_),
        operand(tolerances[2]),
    )
    whole = user_functions.called(f, rules, args)
    several = True in derivatives

    def value(x: Any) -> Operand:
        found = whole(x)
        return user_functions.scalar(found[0] if several else found, type_, name)

    function = Closed(value, [begin[0]], name)

    def near(x: Any) -> Any:
        return xtol + rtol * nx.abs(x)

    slopes = _slopes(function, whole, derivatives, rules, args, type_, name)
    if method == "bisect":
        state = _bisect(function, *begin, near, most)
    elif method == "brentq":
        state = _brent(function, *begin, near, most)
    elif method == "secant":
        state = _secant(function, *begin, near, most)
    else:
        state = _newton(function, slopes, method == "halley", *begin, near, most)
    root = state.x
    if is_inner:
        root = nx.reshape(implicit(nx.reshape(root, (1,)), function, _as_vector), ())
    return {
        "root": root, "iterations": state.iterations, "function_calls": state.calls, "status": state.status,
        "converged": state.status == _CONVERGED,
    }  # fmt: skip


def _as_vector(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: nx.reshape(function(nx.reshape(x, ())), (1,))


def _slopes(
    function: Closed, whole: Callable[..., Any], derivatives: tuple, rules: str, args: tuple, type_: Any, name: str
) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """The first two derivatives: the person's, or the derived ones."""

    def made(order: int, derived: Callable[[Any], Any]) -> Callable[[Any], Any]:
        given = derivatives[order - 1]
        if given is True:
            return lambda x: user_functions.scalar(whole(x)[order], type_, name)
        if given is None or given is False:
            return derived
        called = user_functions.called(given, rules, args)
        return lambda x: user_functions.scalar(called(x), type_, f"{name}: fprime{'2' if order == 2 else ''}")

    first = made(1, lambda x: nx.grad(function)(x))
    return first, made(2, lambda x: nx.grad(lambda x: first(x))(x))


def _ended(converged: Any, failed: Any, iterations: Any, most: Any) -> Any:
    status = nx.select(iterations >= most, _LIMIT, _RUNNING)
    return nx.as_type(nx.select(converged, _CONVERGED, nx.select(failed, _FLAT, status)), "s64")


def _at_ends(a: Any, b: Any, f_a: Any, f_b: Any) -> tuple[Any, Any, Any]:
    """Where a bracket begins: the root if it is at an end, its value, and the status."""
    at_a, at_b = f_a == 0, f_b == 0
    other = ~(f_a * f_b < 0) & ~at_a & ~at_b
    x = nx.select(at_a, a, nx.select(other, float("nan"), b))
    status = nx.select(at_a | at_b, _CONVERGED, nx.select(other, _SAME_SIGNS, _RUNNING))
    return x, nx.select(at_a, f_a, f_b), nx.as_type(status, "s64")


def _bisect(function: Any, a: Any, b: Any, near: Callable[[Any], Any], most: Any) -> _State:
    def turn(now: _State) -> _State:
        begin, at_begin, width = now.rest
        width = width / 2
        middle = begin + width
        value = function(middle)
        begin = nx.select(value * at_begin >= 0, middle, begin)
        done = (value == 0) | (nx.abs(width) < near(middle))
        count = now.iterations + 1
        return _State(middle, value, (begin, at_begin, width), count, now.calls + 1, _ended(done, False, count, most))

    f_a, f_b = function(a), function(b)
    x, value, status = _at_ends(a, b, f_a, f_b)
    begun = _State(x, value, (a, f_a, b - a), nx.tensor(0), nx.tensor(2), status)
    return nx.while_(lambda now: now.status == _RUNNING, turn, begun)


def _brent(function: Any, a: Any, b: Any, near: Callable[[Any], Any], most: Any) -> _State:
    """Inverse quadratic interpolation between the last points, and halving where that does not help."""

    def turn(now: _State) -> _State:
        here, value = now.x, now.value
        before, value_before, other, value_other, step_before, step = now.rest
        apart = (value_before != 0) & ((value_before > 0) != (value > 0))
        other, value_other = nx.select(apart, before, other), nx.select(apart, value_before, value_other)
        step_before = nx.select(apart, here - before, step_before)
        step = nx.select(apart, here - before, step)
        swap = nx.abs(value_other) < nx.abs(value)
        before, here, other = nx.select(swap, here, before), nx.select(swap, other, here), nx.select(swap, here, other)
        value_before, value, value_other = (
            nx.select(swap, value, value_before), nx.select(swap, value_other, value),
            nx.select(swap, value, value_other),
        )  # fmt: skip
        enough, half = near(here) / 2, (other - here) / 2
        done = (value == 0) | (nx.abs(half) < enough)
        slope = (value_before - value) / (before - here)
        slope_other = (value_other - value) / (other - here)
        secant = -value * (here - before) / (value - value_before)
        quadratic = -value * (value_other * slope_other - value_before * slope)
        quadratic = quadratic / (slope_other * slope * (value_other - value_before))
        trial = nx.select(before == other, secant, quadratic)
        fits = (nx.abs(step_before) > enough) & (nx.abs(value) < nx.abs(value_before))
        fits = fits & (2 * nx.abs(trial) < nx.min(nx.abs(step_before), 3 * nx.abs(half) - enough))
        step_before = nx.select(fits, step, half)
        step = nx.select(fits, trial, half)
        least = nx.select(half > 0, enough, -enough)
        after = here + nx.select(nx.abs(step) > enough, step, least)
        count = now.iterations + 1

        def moved() -> _State:
            rest = (here, value, other, value_other, step_before, step)
            reached = function(after)
            return _State(after, reached, rest, count, now.calls + 1, _ended(False, False, count, most))

        def ended() -> _State:
            rest = (before, value_before, other, value_other, step_before, step)
            return _State(here, value, rest, count, now.calls, nx.tensor(_CONVERGED))

        return nx.cond(done, ended, moved)

    f_a, f_b = function(a), function(b)
    x, value, status = _at_ends(a, b, f_a, f_b)
    begun = _State(x, value, (a, f_a, a, f_a, b - a, b - a), nx.tensor(0), nx.tensor(2), status)
    return nx.while_(lambda now: now.status == _RUNNING, turn, begun)


def _secant(function: Any, a: Any, b: Any, near: Callable[[Any], Any], most: Any) -> _State:
    def turn(now: _State) -> _State:
        before, value_before = now.rest
        flat = now.value == value_before
        after = now.x - now.value * (now.x - before) / nx.select(flat, 1.0, now.value - value_before)
        count = now.iterations + 1
        done = nx.abs(after - now.x) <= near(after)
        value = function(after)
        status = _ended(done & ~flat, flat | (value != value), count, most)
        return _State(nx.select(flat, now.x, after), value, (now.x, now.value), count, now.calls + 1, status)

    f_a, f_b = function(a), function(b)
    # From the end that is nearer to 0.
    swap = nx.abs(f_a) < nx.abs(f_b)
    x, value = nx.select(swap, a, b), nx.select(swap, f_a, f_b)
    status = nx.as_type(nx.select(value == 0, _CONVERGED, _RUNNING), "s64")
    begun = _State(x, value, (nx.select(swap, b, a), nx.select(swap, f_b, f_a)), nx.tensor(0), nx.tensor(2), status)
    return nx.while_(lambda now: now.status == _RUNNING, turn, begun)


def _newton(function: Any, slopes: tuple, halley: bool, x: Any, near: Callable[[Any], Any], most: Any) -> _State:
    def turn(now: _State) -> _State:
        slope = slopes[0](now.x)
        step = now.value / slope
        if halley:
            # Where its correction is too large, it is left out.
            correction = step * slopes[1](now.x) / slope / 2
            step = nx.select(nx.abs(correction) < 1, step / (1 - correction), step)
        after = now.x - step
        count, flat = now.iterations + 1, ~(nx.abs(step) < np.inf)
        done = nx.abs(step) <= near(after)
        value = function(nx.select(flat, now.x, after))
        status = _ended(done | (value == 0), flat, count, most)
        return _State(nx.select(flat, now.x, after), value, (), count, now.calls + 1, status)

    value = function(x)
    status = nx.as_type(nx.select(value == 0, _CONVERGED, _RUNNING), "s64")
    begun = _State(x, value, (), nx.tensor(0), nx.tensor(1), status)
    return nx.while_(lambda now: now.status == _RUNNING, turn, begun)
