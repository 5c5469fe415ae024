"""Nonlinear least squares: `least_squares`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.optimize import trust_region
from nxkernel.optimize.trust_region import Tolerances
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions
from nxkernel.solvers.implicit import Closed, implicit
from nxkernel.solvers.results import Result


class LeastSquaresResult(Result):
    """The result of :func:`least_squares`.

    Attributes
    ----------
    x : array
        Where the residuals are least in squares.
    cost : float
        Half of the sum of their squares.
    fun, jac : array
        The residuals, and their Jacobian.
    grad : array
        The gradient of the cost.
    optimality : float
        Its greatest element.
    active_mask : array
        Zeros: there are no bounds.
    nfev, njev : int
        Calls of the function, and of its Jacobian.
    status : int
        Above 0 where it converged.
    success : bool
    message : str
    """

    MEANINGS: ClassVar[dict[int, str]] = {
        trust_region.NOT_A_NUMBER: "The residuals or their Jacobian are NaN or infinite.",
        trust_region.LIMIT: "The maximum number of function evaluations is exceeded.",
        trust_region.GRADIENT: "`gtol` termination condition is satisfied.",
        trust_region.VALUE: "`ftol` termination condition is satisfied.",
        trust_region.STEP: "`xtol` termination condition is satisfied.",
        trust_region.BOTH: "Both `ftol` and `xtol` termination conditions are satisfied.",
    }


def least_squares(
    fun: Callable[..., Any], x0: Any, jac: Any = None, bounds: Any = None, method: str = "lm",
    ftol: float | None = 1e-8, xtol: float | None = 1e-8, gtol: float | None = 1e-8, x_scale: Any = None,
    loss: str = "linear", max_nfev: int | None = None, args: Any = (), kwargs: Mapping[str, Any] | None = None,
) -> LeastSquaresResult:  # fmt: skip
    """Find the parameters that make residuals least in squares, as :func:`scipy.optimize.least_squares`.

    The whole iteration is one compiled program. Another start, tolerance or `args` of the same shapes and types does
    not compile again. In a definition it is a part of that, under :func:`nxkernel.vmap`, too, and its result has
    gradients by what the function reads and by `args`: those of the minimum, by the implicit function theorem.

    Parameters
    ----------
    fun : callable
        Of a vector of ``n`` parameters, and `args`; gives ``m`` residuals. It follows NumPy's rules or Nx's, as its
        text says.
    x0 : array
        The start. Integers and lists are computed in f64, f32 stays f32.
    jac : callable, optional
        The Jacobian, ``m`` rows of ``n`` elements, a function of the same arguments. Unless given, it is derived from
        `fun`, exactly.
    bounds : optional
        None are taken.
    method : {"lm"}, optional
        Levenberg-Marquardt [1]_.
    ftol, xtol, gtol : float or None, optional
        When it ends: by what part the cost falls, how small the trust region is beside `x`, and the cosine between the
        residuals and each column of the Jacobian. None is never.
    x_scale : array or "jac", optional
        A size of each parameter. Unless given, it is the inverse of the norm of each column of the Jacobian.
    loss : {"linear"}, optional
    max_nfev : int, optional
        Calls of the function at most: ``100 * n`` unless given.
    args : tuple, optional
        Further arguments: arrays, numbers, or containers of them.
    kwargs : dict, optional
        Further arguments by name.

    Returns
    -------
    LeastSquaresResult

    Raises
    ------
    NxValueError
        For a start that is no vector, residuals that are no vector, and methods and losses that are not here.
    NxTypeError
        For bounds, and for numbers that are complex.

    References
    ----------
    .. [1] J. J. Moré, "The Levenberg-Marquardt algorithm: implementation and theory", 1978.

    Examples
    --------
    >>> t = np.linspace(0, 4, 20)
    >>> def residuals(p, t, y):
    ...     return p[0] * np.exp(-p[1] * t) - y
    >>> found = nx.optimize.least_squares(residuals, [1.0, 1.0], args=(t, 3 * np.exp(-0.5 * t)))
    >>> found.x.round(8).tolist(), found.success
    ([3.0, 0.5], True)
    """
    user_functions.checked(fun, "least_squares")
    checks.choice(
        "least_squares", "method", method, ["lm"], lambda given: "Levenberg-Marquardt is the one without bounds."
    )
    checks.choice("least_squares", "loss", loss, ["linear"], lambda given: (
        "Weigh the residuals in the function: nx.sqrt(2 * ((1 + r * r) ** 0.5 - 1)) for 'soft_l1'."))  # fmt: skip
    if bounds is not None and not _is_open(bounds):
        raise NxTypeError(
            message(
                "least_squares takes no bounds.",
                "Fit parameters that have none: lambda u: fun(nx.exp(u)) for x > 0.",
            )
        )
    if jac in ("2-point", "3-point", "cs"):
        raise NxTypeError(
            message(
                f"least_squares: jac={jac!r} is a difference.", "Without jac the Jacobian is derived from fun, exactly."
            )
        )
    x0 = user_functions.vector(x0, "least_squares: x0")
    most = 100 * x0.shape[0] if max_nfev is None else max_nfev
    numbers = {
        name: programs.number(-1.0 if value is None else value)
        for name, value in (("ftol", ftol), ("xtol", xtol), ("gtol", gtol))
    }
    numbers["most"] = checks.whole("least_squares", "max_nfev", most)
    by_jacobian = x_scale is None or (isinstance(x_scale, str) and x_scale == "jac")
    if not by_jacobian:
        numbers["scales"] = user_functions.start(x_scale, "least_squares: x_scale")
    inputs = (x0, user_functions.arguments(args, x0), *user_functions.arguments(dict(kwargs or {}), x0))
    rules = user_functions.rules_of(fun, inputs)
    found = programs.run(_least_squares, (fun, jac, rules), (*inputs, numbers))
    kept = programs.as_array if programs.gives_arrays(rules, inputs) else (lambda value: value)
    arrays = ("x", "fun", "jac", "grad", "active_mask")
    return LeastSquaresResult(
        {key: kept(value) if key in arrays else programs.as_python(value) for key, value in found.items()}
    )


def _is_open(bounds: Any) -> bool:
    """Whether bounds leave all numbers, as SciPy's default does."""
    try:
        low, high = bounds
        return bool(np.all(np.asarray(low) == -np.inf) and np.all(np.asarray(high) == np.inf))
    except (TypeError, ValueError):
        return False


def residuals_of(fun: Any, rules: str, args: Any, options: Any, x: Operand, name: str) -> Callable[[Any], Any]:
    """A person's function as one of a vector that gives a vector."""
    whole = user_functions.called(fun, rules, args, options)

    def residuals(x: Any) -> Any:
        found = user_functions.as_tensor(whole(x), x.type, name)
        if len(found.shape) > 1 or 0 in found.shape:
            raise NxValueError(message(f"{name} gives a vector, got {found.spec}.", "Flatten it: r.reshape(-1)."))
        return found if found.shape else nx.reshape(found, (1,))

    return residuals


def jacobian_of(
    function: Callable[[Any], Any], jac: Any, rules: str, args: Any, options: Any, x: Operand, name: str
) -> Callable[[Any], Any]:
    """The Jacobian of a function: the person's, or the derived one."""
    if jac is None:
        return nx.jacobian(function)
    given = user_functions.called(jac, rules, args, options)

    def matrix(x: Any) -> Any:
        found, wanted = user_functions.as_tensor(given(x), x.type, f"{name}: jac"), (function(x).shape[0], x.shape[0])
        if found.shape != wanted:
            raise NxValueError(f"{name}: jac gives {wanted[0]} rows of {wanted[1]} elements, got {found.spec}.")
        return found

    return matrix


@transform("least_squares")
def _least_squares(
    is_inner: bool,
    fun: Any,
    jac: Any,
    rules: str,
    x: Any,
    args: tuple,
    options: dict[str, Any],
    numbers: dict[str, Any],
) -> LeastSquaresResult:
    """The program: `least_squares` for traced values."""
    x, name = operand(x), f"least_squares: {user_functions.name_of(fun)}"
    function = Closed(residuals_of(fun, rules, args, options, x, name), [x], name)
    jacobian = jacobian_of(function, jac, rules, args, options, x, name)
    tolerances = Tolerances(
        *(convert(operand(numbers[key]), x.type) for key in ("ftol", "xtol", "gtol")), operand(numbers["most"])
    )
    scales = convert(operand(numbers["scales"]), x.type) if "scales" in numbers else None
    state = trust_region.solve(function, jacobian, x, scales, tolerances)
    point = state.x
    if is_inner:
        point = implicit(point, function, lambda f: nx.grad(lambda x: nx.sum(f(x) * f(x)) / 2))
    residuals = function(point)
    gradient = nx.dot(state.residuals, state.jacobian)
    return LeastSquaresResult(
        x=point, cost=nx.dot(residuals, residuals) / 2, fun=residuals, jac=state.jacobian, grad=gradient,
        optimality=nx.reduce_max(nx.abs(gradient)), active_mask=nx.zeros(point.shape, "s64"), nfev=state.calls,
        njev=state.jacobians, status=state.status, success=state.status > trust_region.LIMIT,
    )  # fmt: skip
