"""Ordinary differential equations: `solve_ivp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import nxkernel as nx
from nxkernel import types
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.integrate import step_loop
from nxkernel.integrate.dense_output import OdeSolution
from nxkernel.integrate.radau import Radau
from nxkernel.integrate.runge_kutta import RK23, RK45, Dop853, Problem
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.shapes import describe
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions
from nxkernel.solvers.implicit import Closed
from nxkernel.solvers.results import Result

_METHODS = {"RK45": RK45, "RK23": RK23, "DOP853": Dop853(), "Radau": Radau()}
#: Memory for steps that a program writes before it hands them to the host, and how many steps at least and at most.
_BYTES, _FEWEST, _MOST = 1 << 22, 16, 1024


class OdeResult(Result):
    """The result of :func:`solve_ivp`.

    Attributes
    ----------
    t : array
        Times.
    y : array
        The values there: ``n`` rows.
    sol : OdeSolution or None
        The solution as a function of the time, with ``dense_output=True``.
    nfev, njev, nlu : int
        Calls of the function, of its Jacobian, and inverses of matrices: the last two are of Radau.
    status : int
        0 where it came to the end, -1 where a step became too small, -2 where `max_steps` were too few.
    success : bool
    message : str
    """

    MEANINGS: ClassVar[dict[int, str]] = {
        step_loop.FINISHED: "The solver successfully reached the end of the integration interval.",
        step_loop.FAILED: "Required step size is less than spacing between numbers.",
        step_loop.LIMIT: "The end of the integration interval is not reached within max_steps.",
    }


def solve_ivp(
    fun: Callable[..., Any], t_span: Any, y0: Any, method: str = "RK45", t_eval: Any = None,
    dense_output: bool = False, events: Any = None, vectorized: bool = False, args: Any = None, *, rtol: Any = 1e-3,
    atol: Any = 1e-6, first_step: float | None = None, max_step: float = np.inf, jac: Any = None,
    max_steps: int | None = None,
) -> OdeResult:  # fmt: skip
    """Solve an initial value problem for ordinary differential equations, as :func:`scipy.integrate.solve_ivp`.

    All steps are one compiled program, with `fun` in it. Other times, values, tolerances or `args` of the same shapes
    and types do not compile again. In a definition it is a part of that, under :func:`nxkernel.vmap`, too.

    Parameters
    ----------
    fun : callable
        Of the time, a vector of ``n`` elements, and `args`; gives its derivative, as an array or list. It follows
        NumPy's rules or Nx's, as its text says.
    t_span : pair of numbers
        The first and the last time.
    y0 : array
        The value at the first one: ``n`` numbers, real or complex. Integers and lists are computed in f64, f32 stays
        f32.
    method : {"RK45", "RK23", "DOP853", "Radau"}, optional
        Explicit Runge-Kutta methods of order 5, 3 and 8 [1]_; for stiff equations, an implicit one of order 5 [2]_.
    t_eval : array, optional
        The times at which values are wanted, in order. In definitions it has to be given, since only the running
        program knows how many steps there are.
    dense_output : bool, optional
        Whether the solution is wanted as a function of the time, too; not in definitions.
    events : optional
        None are taken.
    vectorized : bool, optional
        Changes nothing.
    args : tuple, optional
        Further arguments of `fun`: arrays, numbers, or containers of them.
    rtol, atol : float, optional
        The relative and the absolute error of a step; `atol` may be one for each element.
    first_step : float, optional
        The size of the first step.
    max_step : float, optional
        The greatest size of a step.
    jac : callable, optional
        For Radau, the derivative of `fun` by the vector, ``n`` rows of ``n`` elements, a function of the same
        arguments. Unless given, it is derived from `fun`, exactly.
    max_steps : int, optional
        How many steps are tried at most, in definitions. With it there are gradients: of the steps that were taken,
        whose sizes count as constants. They keep so many values of `y`.

    Returns
    -------
    OdeResult

    Raises
    ------
    NxValueError
        For times that do not lie in `t_span` or are not in order, a `y0` that is no vector, and methods that are not
        here.
    NxTypeError
        For events, and for complex results of a real equation.

    References
    ----------
    .. [1] E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary Differential Equations I: Nonstiff Problems", 1993.
    .. [2] E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II: Stiff and Differential-Algebraic
           Problems", 1996.

    Examples
    --------
    >>> def swinging(t, y, friction):
    ...     return [y[1], -np.sin(y[0]) - friction * y[1]]
    >>> found = nx.integrate.solve_ivp(swinging, (0, 10), [1.0, 0.0], args=(0.1,), rtol=1e-8)
    >>> found.y[:, -1].round(6).tolist(), found.success
    ([-0.59326, 0.096284], True)

    What the end depends on:

    >>> def end(friction):
    ...     found = nx.integrate.solve_ivp(
    ...         swinging, (0, 10), [1.0, 0.0], args=(friction,), t_eval=[10.0], rtol=1e-8, max_steps=200
    ...     )
    ...     return found.y[0, -1]
    >>> round(float(nx.grad(end)(np.float64(0.1))), 4)
    3.0579
    """
    user_functions.checked(fun, "solve_ivp")
    name = checks.choice("solve_ivp", "method", method, _METHODS, lambda _: "Radau is for stiff equations.")
    if events is not None:
        raise NxTypeError(
            message(
                "solve_ivp takes no events.",
                "With dense_output=True, nx.optimize.root_scalar finds where a function of .sol(t) is 0.",
            )
        )
    y0 = user_functions.vector(y0, "solve_ivp: y0", complex_=True)
    if jac is not None and not callable(jac):
        raise NxTypeError(
            message(
                f"solve_ivp: jac is a function, got {describe(jac)}.", "Without jac it is derived from fun, exactly."
            )
        )
    if name == "Radau" and y0.dtype.kind == "c":
        raise NxTypeError(
            message("solve_ivp: Radau takes real numbers.", "Real and imaginary parts can be two parts of y.")
        )
    span = _span(t_span)
    points = None if t_eval is None else _points(t_eval, span)
    traced = tracing.current() is not None
    if traced and points is None:
        raise NxValueError(
            message("solve_ivp: in a definition, only the running program knows how many steps there are.",
                    "Say at which times values are wanted: t_eval=np.linspace(0, 10, 100).")
        )  # fmt: skip
    if dense_output and traced:
        raise NxTypeError(
            message(
                "solve_ivp: dense_output=True is for calls outside of definitions.",
                "t_eval= says at which times values are wanted.",
            )
        )
    limit = None if max_steps is None else int(checks.whole("solve_ivp", "max_steps", max_steps))
    numbers = {
        "rtol": rtol,
        "atol": atol,
        "first_step": 0.0 if first_step is None else first_step,
        "max_step": max_step,
    }
    numbers = {key: _number(value, f"solve_ivp: {key}") for key, value in numbers.items()}
    inputs = (span, y0, () if args is None else user_functions.arguments(args, y0))
    rules = user_functions.rules_of(fun, inputs)
    kept = programs.as_array if programs.gives_arrays(rules, inputs) else (lambda value: value)
    if points is not None and not dense_output:
        found = programs.run(_at_points, ((fun, jac), name, rules, limit), (*inputs, numbers, points))
        return found if traced else _cut(found, kept)
    found = _all_steps((fun, jac), name, rules, limit, inputs, numbers, dense_output)
    if points is not None:
        reached = points[np.abs(points - found.t[0]) <= np.abs(found.t[-1] - found.t[0])]
        found |= {"t": reached, "y": found.sol(reached)}
    if kept is not programs.as_array:
        found |= {"t": nx.tensor(found.t), "y": nx.tensor(found.y)}
    return found


def _cut(found: OdeResult, kept: Callable[[Any], Any]) -> OdeResult:
    """A result of given times with those that were reached, for the caller."""
    count = found.pop("count").to_number()
    found |= {"t": kept(found.t[:count]), "y": kept(found.y[:, :count]), "sol": None}
    return OdeResult({key: programs.as_python(value) for key, value in found.items()})


def _span(t_span: Any) -> tuple[Any, Any]:
    try:
        first, last = t_span
    except (TypeError, ValueError):
        raise NxValueError(f"solve_ivp: t_span is the first and the last time, (0, 10), got {t_span!r}.") from None
    span = _number(first, "solve_ivp: t_span"), _number(last, "solve_ivp: t_span")
    if any(programs.is_known(time) and not np.all(np.isfinite(np.asarray(time))) for time in span):
        raise NxValueError(
            message(
                f"solve_ivp: t_span is from {first!r} to {last!r}, which no number of steps reaches.",
                "Take a finite time.",
            )
        )
    return span


def _number(value: Any, what: str) -> Any:
    """A number, or one for each element, as an input of a program."""
    found = user_functions.start(value, what)
    return found[()] if isinstance(found, np.ndarray) and not found.shape else found


def _points(t_eval: Any, span: tuple[Any, Any]) -> Any:
    points = user_functions.start(t_eval, "solve_ivp: t_eval")
    if len(points.shape) != 1 or not points.shape[0]:
        raise NxValueError(f"solve_ivp: t_eval is a row of times, got the shape {tuple(points.shape)}.")
    known = [np.asarray(one) for one in (points, *span) if programs.is_known(one)]
    if len(known) < 3:
        return points
    times, first, last = known
    if np.any(times < min(first, last)) or np.any(times > max(first, last)):
        raise NxValueError(f"solve_ivp: values in t_eval are not within t_span, from {first:g} to {last:g}.")
    steps_ = np.diff(times)
    if np.any(steps_ <= 0 if last > first else steps_ >= 0):
        raise NxValueError(
            "solve_ivp: values in t_eval are not properly sorted: they go from the first time to the last."
        )
    return points


def _equation(
    functions: tuple,
    name: str,
    rules: str,
    span: tuple,
    y: Any,
    args: tuple,
    numbers: dict[str, Any],
    is_differentiable: bool,
) -> tuple[Any, Problem, Any, Any]:
    """The method, the equation, the first time, and the first step."""
    fun, jac = functions
    y, method, what = operand(y), _METHODS[name], f"solve_ivp: {user_functions.name_of(fun)}"
    real = types.to_real(y.type)
    called = user_functions.called(fun, rules, args)

    def derivative(t: Any, y: Any) -> Any:
        found = user_functions.as_tensor(called(t, y), y.type, what)
        if found.shape != y.shape:
            raise NxValueError(
                message(f"{what} gives as many numbers as y0 has elements, {y.shape[0]}, got {found.spec}.",
                        "It gives the derivative of each.")
            )  # fmt: skip
        return found

    begin, end = (convert(operand(time), real) for time in span)
    number = {key: convert(operand(value), real) for key, value in numbers.items()}
    function = Closed(derivative, [begin, y], what)
    direction = nx.select(end < begin, nx.as_type(-1, real), nx.as_type(1, real))
    given = None if jac is None else user_functions.called(jac, rules, args)

    def jacobian(t: Any, y: Any) -> Any:
        if given is None:
            return nx.jacobian(lambda y: function(t, y))(y)
        found = user_functions.as_tensor(given(t, y), y.type, f"{what}: jac")
        if found.shape != (y.shape[0], y.shape[0]):
            raise NxValueError(f"{what}: jac gives {y.shape[0]} rows of as many elements, got {found.spec}.")
        return found

    problem = Problem(
        function, end, direction, number["rtol"], number["atol"], number["max_step"], jacobian, is_differentiable
    )
    return method, problem, begin, number["first_step"]


@transform("solve_ivp")
def _at_points(
    is_inner: bool, functions: tuple, name: str, rules: str, limit: int | None, span: tuple, y: Any, args: tuple,
    numbers: dict[str, Any], points: Any,
) -> dict[str, Any]:  # fmt: skip
    """The program: values at given times."""
    method, problem, begin, first_step = _equation(functions, name, rules, span, y, args, numbers, limit is not None)
    y, times = operand(y), convert(operand(points), begin.type)
    memory = method.begin(problem, begin, y, first_step)
    record = step_loop.Points(nx.zeros((times.shape[0], y.shape[0]), y.type), nx.tensor(0))
    found = step_loop.integrate(method, problem, begin, y, memory, record, times, limit)
    values, status = found.record.values, found.status
    count = nx.select(problem.end == begin, times.shape[0], found.record.count)
    rows = nx.iota((times.shape[0], 1))
    # Without a step, there is the first value alone. What is not reached is NaN, and so is its gradient.
    values = nx.select(nx.broadcast(rows < found.record.count, values.shape), values, nx.new_axis(y, 0))
    missing = nx.cond(count < times.shape[0], lambda: found.value * np.nan, lambda: found.value)
    values = nx.select(nx.broadcast(rows < count, values.shape), values, nx.new_axis(missing, 0))
    more = {} if is_inner else {"count": count}
    memory = found.memory
    return OdeResult(
        t=times, y=nx.transpose(values), nfev=memory.calls, njev=memory.jacobians, nlu=memory.inverses, status=status,
        success=status == step_loop.FINISHED, **more,
    )  # fmt: skip


@transform("solve_ivp")
def _chunk(
    is_inner: bool, functions: tuple, name: str, rules: str, dense: bool, rows: int, span: tuple, y: Any, args: tuple,
    numbers: dict[str, Any], time: Any, value: Any, memory: tuple, fresh: Any, most: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The program: so many steps, from where the last call has ended."""
    method, problem, begin, first_step = _equation(functions, name, rules, span, y, args, numbers, False)
    y = operand(y)
    memory = nx.cond(
        fresh, lambda: method.begin(problem, begin, y, first_step), lambda: method.kind(*map(operand, memory))
    )
    time, value = nx.select(fresh, begin, time), operand(value)
    between = nx.zeros((rows, method.count, y.shape[0]), y.type) if dense else None
    record = step_loop.Rows(nx.zeros((rows,), begin.type), nx.zeros((rows, y.shape[0]), y.type), between, nx.tensor(0))
    found = step_loop.integrate(method, problem, time, value, memory, record, None, most)
    record = found.record
    kept = (record.times, record.values, *([record.between] if dense else []))
    return kept, record.count, found.time, found.value, tuple(found.memory), found.status, found.attempts


def _all_steps(
    functions: tuple, name: str, rules: str, limit: int | None, inputs: tuple, numbers: dict[str, Any], dense: bool
) -> OdeResult:
    """All steps, which programs of a fixed number of steps give one after the other."""
    span, y0, args = inputs
    method, value = _METHODS[name], np.asarray(y0)
    time = np.asarray(span[0], value.real.dtype)[()]
    size = value.nbytes * (1 + (method.count if dense else 0))
    rows = int(np.clip(_BYTES // max(size, 1), _FEWEST, _MOST))
    times, values, between = [time[None]], [value[None]], []
    memory, fresh, status, left = method.empty(value), np.bool_(True), step_loop.RUNNING, limit
    now = value
    while status == step_loop.RUNNING and left != 0:
        most = np.int64(2**62 if left is None else left)
        kept, count, time, now, memory, status, attempts = programs.run(
            _chunk, (functions, name, rules, dense, rows), (span, y0, args, numbers, time, now, memory, fresh, most)
        )
        status, fresh = int(status), np.bool_(False)
        left = None if left is None else left - int(attempts)
        arrays = [part.numpy()[: int(count)].copy() for part in kept]
        times.append(arrays[0])
        values.append(arrays[1])
        between += arrays[2:]
    t, y = np.concatenate(times), np.concatenate(values)
    sol = None
    if dense:
        rows_of = np.concatenate(between) if between else np.zeros((0, method.count, value.size), value.dtype)
        sol = OdeSolution(t, y, rows_of, lambda part: np.asarray(method.weights(part)))
    memory = method.kind(*memory)
    status = step_loop.LIMIT if left == 0 and status == step_loop.RUNNING else status
    return OdeResult(
        t=t, y=np.ascontiguousarray(y.T), sol=sol, nfev=int(memory.calls), njev=int(memory.jacobians),
        nlu=int(memory.inverses), status=status, success=status == step_loop.FINISHED,
    )  # fmt: skip
