"""Roots of systems of equations: `root`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.optimize import trust_region
from nxkernel.optimize.least_squares import jacobian_of, residuals_of
from nxkernel.optimize.trust_region import Tolerances
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions
from nxkernel.solvers.implicit import Closed, implicit
from nxkernel.solvers.results import Result

#: By method, its options and their defaults.
_OPTIONS: dict[str, dict[str, Any]] = {
    "hybr": {"xtol": 1.49012e-8, "maxfev": None},
    "lm": {"xtol": 1.49012e-8, "ftol": 1.49012e-8, "gtol": 0.0, "maxfev": None},
}
#: How small residuals are beside those of the start where a trust region has shrunk to a root.
_SMALL = 1e-6
_CONVERGED, _LIMIT, _STUCK, _NOT_A_NUMBER = 1, 2, 4, -1


class RootResult(Result):
    """The result of :func:`root`.

    Attributes
    ----------
    x : array
        The root.
    fun : array
        The function there.
    nfev, njev : int
        Calls of the function, and of its Jacobian.
    status : int
        1 where it converged.
    success : bool
    message : str
    """

    MEANINGS: ClassVar[dict[int, str]] = {
        _CONVERGED: "The solution converged.",
        _LIMIT: "The number of calls to function has reached maxfev.",
        _STUCK: "The iteration is not making good progress: it has come to a point where the function is not 0.",
        _NOT_A_NUMBER: "The function or its Jacobian is NaN or infinite.",
    }


def root(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str = "hybr", jac: Any = None, tol: float | None = None,
    callback: Any = None, options: Mapping[str, Any] | None = None,
) -> RootResult:  # fmt: skip
    """Find a root of a function of a vector, as :func:`scipy.optimize.root`.

    The whole iteration is one compiled program. Another start, tolerance or `args` of the same shapes and types does
    not compile again. In a definition it is a part of that, under :func:`nxkernel.vmap`, too, and its result has
    gradients by what the function reads and by `args`: those of the root, by the implicit function theorem.

    Parameters
    ----------
    fun : callable
        Of a vector of ``n`` elements, and `args`; gives ``n`` numbers. It follows NumPy's rules or Nx's, as its text
        says.
    x0 : array
        The start. Integers and lists are computed in f64, f32 stays f32.
    args : tuple, optional
        Further arguments: arrays, numbers, or containers of them.
    method : {"hybr", "lm"}, optional
        Powell's hybrid method [1]_, or Levenberg-Marquardt.
    jac : callable, optional
        The Jacobian, a function of the same arguments. Unless given, it is derived from `fun`, exactly.
    tol : float, optional
        The tolerances of the method in one number.
    options : dict, optional
        ``xtol`` and ``maxfev``, of lm also ``ftol`` and ``gtol``.

    Returns
    -------
    RootResult

    Raises
    ------
    NxValueError
        For a start that is no vector, another number of results than of elements, and methods that are not here.

    References
    ----------
    .. [1] M. J. D. Powell, "A hybrid method for nonlinear equations", 1970.

    Examples
    --------
    >>> def equations(x):
    ...     return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]]
    >>> found = nx.optimize.root(equations, [0.0, 0.0])
    >>> found.x.round(8).tolist(), found.success
    ([0.8411639, 0.1588361], True)
    """
    user_functions.checked(fun, "root")
    name = checks.choice(
        "root", "method", method, _OPTIONS, lambda _: "Both derive the Jacobian, and need no estimate."
    )
    if callback is not None:
        raise NxTypeError(
            message("root takes no callback: its iterations run in one program.",
                    "options={'maxfev': n} stops after n calls, and another call goes on from .x.")
        )  # fmt: skip
    if jac is not None and not callable(jac):
        if jac is not False:
            raise NxTypeError(
                message(
                    f"root: jac is a function, got {jac!r}.", "Without jac the Jacobian is derived from fun, exactly."
                )
            )
        jac = None
    x0 = user_functions.vector(x0, "root: x0")
    chosen = checks.options("root", name, options or {}, _OPTIONS[name])
    if tol is not None:
        chosen |= {key: tol for key in ("xtol", "ftol") if key in chosen and key not in (options or {})}
    most = chosen.pop("maxfev")
    numbers = {key: programs.number(value) for key, value in chosen.items()}
    numbers["most"] = checks.whole("root", "maxfev", 100 * (x0.shape[0] + 1) if most is None else most)
    inputs = (x0, user_functions.arguments(args, x0))
    rules = user_functions.rules_of(fun, inputs)
    found = programs.run(_root, (fun, name, jac, rules), (*inputs, numbers))
    kept = programs.as_array if programs.gives_arrays(rules, inputs) else (lambda value: value)
    return RootResult(
        {key: kept(value) if key in ("x", "fun") else programs.as_python(value) for key, value in found.items()}
    )


@transform("root")
def _root(
    is_inner: bool, fun: Any, method: str, jac: Any, rules: str, x: Any, args: tuple, numbers: dict[str, Any]
) -> RootResult:
    """The program: `root` for traced values."""
    x, name = operand(x), f"root: {user_functions.name_of(fun)}"
    function = Closed(residuals_of(fun, rules, args, {}, x, name), [x], name)
    if function(x).shape != x.shape:
        raise NxValueError(
            message(
                f"{name} gives as many numbers as x has elements, {x.shape[0]}, got {function(x).spec}.",
                "nx.optimize.least_squares takes any number of them.",
            )
        )
    jacobian = jacobian_of(function, jac, rules, args, {}, x, name)
    never = nx.as_type(-1.0, x.type)
    parts = [convert(operand(numbers[key]), x.type) if key in numbers else never for key in ("ftol", "xtol", "gtol")]
    state = trust_region.solve(
        function, jacobian, x, None, Tolerances(*parts, operand(numbers["most"])), hybrid=method == "hybr"
    )
    point = implicit(state.x, function, lambda f: f) if is_inner else state.x
    residuals = function(point)
    first = function(x)
    # A trust region that has shrunk around a point that is none tells of a minimum of the squares.
    size = nx.sqrt(nx.dot(residuals, residuals))
    small = size <= _SMALL * nx.max(1.0, nx.sqrt(nx.dot(first, first)))
    stuck = nx.select(small, _CONVERGED, _STUCK)
    status = nx.select(state.status == trust_region.LIMIT, _LIMIT, stuck)
    status = nx.select(size == 0, _CONVERGED, nx.select(size < np.inf, status, _NOT_A_NUMBER))
    status = nx.as_type(status, "s64")
    return RootResult(
        x=point, fun=residuals, nfev=state.calls, njev=state.jacobians, status=status, success=status == _CONVERGED
    )
