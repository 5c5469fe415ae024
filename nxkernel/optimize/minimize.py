"""Minimization of a function of a vector: `minimize`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.optimize import descent
from nxkernel.optimize.directions import Bfgs, Lbfgs, NewtonCg
from nxkernel.optimize.nelder_mead import first_simplex, nelder_mead
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions
from nxkernel.solvers.implicit import Closed, implicit
from nxkernel.solvers.results import Result

#: By method, its options and their defaults; None depends on the number of variables.
_OPTIONS: dict[str, dict[str, Any]] = {
    "BFGS": {"gtol": 1e-5, "norm": np.inf, "xrtol": 0.0, "maxiter": None, "c1": 1e-4, "c2": 0.9, "hess_inv0": None},
    "L-BFGS-B": {"gtol": 1e-5, "ftol": 2.220446049250313e-09, "maxcor": 10, "maxiter": 15000, "maxfun": 15000},
    "Newton-CG": {"xtol": 1e-5, "maxiter": None, "c1": 1e-4, "c2": 0.9},
    "Nelder-Mead": {
        "xatol": 1e-4, "fatol": 1e-4, "maxiter": None, "maxfev": None, "adaptive": False, "initial_simplex": None,
    },
}  # fmt: skip
#: Which options `tol` stands for.
_TOLERANCES = {
    "BFGS": ["gtol"], "L-BFGS-B": ["ftol", "gtol"], "Newton-CG": ["xtol"], "Nelder-Mead": ["xatol", "fatol"],
}  # fmt: skip
_UNLIMITED = 2**62


class OptimizeResult(Result):
    """The result of :func:`minimize`.

    Attributes
    ----------
    x : array
        The minimum.
    fun : float
        The function there.
    jac : array
        Its gradient; not of Nelder-Mead.
    hess_inv : array
        The estimate of the inverse Hessian, of BFGS.
    nit, nfev, njev, nhev : int
        Iterations, calls of the function, of its gradient, and products of the Hessian and a vector.
    status : int
        0 where it converged.
    success : bool
    message : str
    """

    MEANINGS: ClassVar[dict[int, str]] = {
        descent.CONVERGED: "Optimization terminated successfully.",
        descent.LIMIT: "Maximum number of iterations or of function evaluations has been exceeded.",
        descent.PRECISION: "Desired error not necessarily achieved due to precision loss.",
        descent.NOT_A_NUMBER: "The function or its gradient is NaN or infinite.",
    }


def minimize(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str | None = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: float | None = None, callback: Any = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult:  # fmt: skip
    """Minimize a function of a vector, as :func:`scipy.optimize.minimize`.

    The whole iteration is one compiled program. Another start, tolerance or `args` of the same shapes and types does
    not compile again. In a definition it is a part of that, under :func:`nxkernel.vmap`, too, and its result has
    gradients by what the function reads and by `args`: those of the minimum, by the implicit function theorem.

    Parameters
    ----------
    fun : callable
        Of a vector, and `args`; gives one number. It follows NumPy's rules or Nx's, as its text says.
    x0 : array
        The start, ``n`` numbers. Integers and lists are computed in f64, f32 stays f32.
    args : tuple, optional
        Further arguments: arrays, numbers, or containers of them.
    method : {"BFGS", "L-BFGS-B", "Newton-CG", "Nelder-Mead"}, optional
        BFGS unless given. L-BFGS-B keeps no matrix, for many variables; it takes no bounds here.
    jac : callable or True, optional
        The gradient, a function of the same arguments; True where `fun` gives a pair of the value and the gradient.
        Unless given, it is derived from `fun`, exactly.
    hess, hessp : callable, optional
        For Newton-CG: the Hessian, or a function of the vector, a direction, and `args` that gives their product.
        Unless given, products are derived from the gradient.
    bounds, constraints, callback
        None are taken.
    tol : float, optional
        The tolerances of the method in one number.
    options : dict, optional
        By method: ``maxiter``; ``gtol``, ``norm``, ``xrtol``, ``c1``, ``c2``, ``hess_inv0`` of BFGS; ``gtol``,
        ``ftol``, ``maxcor``, ``maxfun`` of L-BFGS-B; ``xtol``, ``c1``, ``c2`` of Newton-CG; ``xatol``, ``fatol``,
        ``maxfev``, ``adaptive``, ``initial_simplex`` of Nelder-Mead. ``disp=True`` prints how it ended.

    Returns
    -------
    OptimizeResult

    Raises
    ------
    NxValueError
        For a start that is no vector, a function that gives more than one number, and methods that are not here.
    NxTypeError
        For an option that the method does not have, and for bounds, constraints and callbacks.

    Notes
    -----
    BFGS, L-BFGS-B and Newton-CG find step lengths by the strong Wolfe conditions [1]_, Newton-CG its directions by
    conjugate gradients.

    References
    ----------
    .. [1] J. Nocedal and S. J. Wright, "Numerical Optimization", 2006.

    Examples
    --------
    >>> def rosenbrock(x, scale):
    ...     return np.sum(scale * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> found = nx.optimize.minimize(rosenbrock, [-1.2, 1.0], args=(100.0,))
    >>> found.x.round(6).tolist(), found.success, found.message
    ([1.0, 1.0], True, 'Optimization terminated successfully.')

    How the minimum depends on a parameter:

    >>> nx.grad(lambda a: nx.optimize.minimize(lambda x: nx.sum((x - a) ** 2 + x), nx.tensor([0.0])).x[0])(3.0)
    Tensor(1.0, f32)
    """
    user_functions.checked(fun, "minimize")
    name = checks.choice("minimize", "method", "BFGS" if method is None else method, _OPTIONS, _elsewhere)
    _refuse(bounds, constraints, callback)
    if jac is not None and jac is not True and not callable(jac):
        raise NxTypeError(
            message(f"minimize: jac is a function, or True where fun gives (value, gradient), got {jac!r}.",
                    "Without jac the gradient is derived from fun, exactly.")
        )  # fmt: skip
    disp, given = checks.split(options, "disp")
    chosen = checks.options("minimize", name, given, _OPTIONS[name])
    if tol is not None:
        chosen |= {key: tol for key in _TOLERANCES[name] if key not in given}
    x0 = user_functions.vector(x0, "minimize: x0")
    _default_limits(chosen, name, x0.shape[0])
    inputs = (x0, user_functions.arguments(args, x0))
    rules = user_functions.rules_of(fun, inputs)
    static = {key: chosen.pop(key) for key in ("maxcor", "adaptive") if key in chosen}
    numbers = {key: programs.number(value) for key, value in chosen.items() if value is not None}
    derivative = (jac, hess, hessp) if name == "Newton-CG" else (jac, None, None)
    found = programs.run(_minimum, (fun, name, rules, derivative, tuple(static.items())), (*inputs, numbers))
    result = _finished(found, programs.gives_arrays(rules, inputs))
    if disp:
        print(result.message, *(f"    {key}: {result[key]}" for key in ("fun", "nit", "nfev")), sep="\n")
    return result


def _elsewhere(method: str) -> str:
    if method.upper() in ("SLSQP", "COBYLA", "TRUST-CONSTR", "TNC", "COBYQA"):
        return "scipy.optimize.minimize takes bounds and constraints, outside of definitions."
    return "Without method= it is BFGS."


def _refuse(bounds: Any, constraints: Any, callback: Any) -> None:
    if bounds is not None:
        raise NxTypeError(
            message(
                "minimize takes no bounds.",
                "Minimize a function of what has none: lambda u: fun(nx.exp(u)) for x > 0, or",
                "lambda u: fun(low + (high - low) * nx.sigmoid(u)) for low < x < high.",
            )
        )
    if not isinstance(constraints, Sequence) or len(constraints):
        raise NxTypeError(
            message(
                "minimize takes no constraints.",
                "Add a penalty to the function: fun(x) + weight * nx.max(0, -margin(x)) ** 2 for margin(x) >= 0.",
            )
        )
    if callback is not None:
        raise NxTypeError(
            message(
                "minimize takes no callback: its iterations run in one program.",
                "options={'maxiter': n} stops after n iterations, and another call goes on from .x.",
            )
        )


def _default_limits(chosen: dict[str, Any], method: str, count: int) -> None:
    if method == "Nelder-Mead" and chosen["maxiter"] is None and chosen["maxfev"] is None:
        chosen["maxiter"] = chosen["maxfev"] = count * 200
    for key in ("maxiter", "maxfev"):
        if key in chosen:
            unset = _UNLIMITED if method == "Nelder-Mead" else count * 200
            chosen[key] = np.int64(unset) if chosen[key] is None else checks.whole("minimize", key, chosen[key])
    if "maxfun" in chosen:
        chosen["maxfun"] = checks.whole("minimize", "maxfun", chosen["maxfun"])


def _finished(found: dict[str, Any], arrays: bool) -> OptimizeResult:
    kept = programs.as_array if arrays else (lambda value: value)
    vectors = ("x", "jac", "hess_inv", "final_simplex")
    return OptimizeResult(
        {
            key: kept(value) if key in vectors or key == "fun" else programs.as_python(value)
            for key, value in found.items()
        }
    )


@transform("minimize")
def _minimum(
    is_inner: bool,
    fun: Any,
    method: str,
    rules: str,
    derivatives: tuple,
    static: tuple,
    x: Any,
    args: tuple,
    numbers: dict[str, Any],
) -> OptimizeResult:
    """The program: `minimize` for traced values."""
    x, name = operand(x), f"minimize: {user_functions.name_of(fun)}"
    whole = user_functions.called(fun, rules, args)
    jac, hess, hessp = derivatives
    pair = (lambda x: whole(x)) if jac is True else (lambda x: (whole(x), None))

    def value(x: Any) -> Operand:
        return user_functions.scalar(pair(x)[0], x.type, name)

    objective = Closed(value, [x], name)
    function = _with_gradient(objective, pair, jac, rules, args, name)
    tolerance = {
        key: convert(operand(one), x.type if key not in ("maxiter", "maxfun", "maxfev") else nx.types.s64)
        for key, one in numbers.items()
    }
    chosen = dict(static)
    if method == "Nelder-Mead":
        corners = tolerance.get("initial_simplex")
        corners = first_simplex(x) if corners is None else _corners(corners, x)
        found = nelder_mead(
            objective, corners, tolerance["xatol"], tolerance["fatol"], tolerance["maxiter"], tolerance["maxfev"],
            chosen["adaptive"],
        )  # fmt: skip
        point, status = found.corners[0], found.status
        more = {"nit": found.iterations, "nfev": found.calls, "final_simplex": (found.corners, found.values)}
    else:
        state, more = _descent(
            method, function, x, tolerance, chosen, _product(function, hess, hessp, rules, args, name)
        )
        point, status = state.x, state.status
        more |= {"nit": state.iterations, "nfev": state.calls, "njev": state.calls, "jac": state.gradient}
    if is_inner:
        point = implicit(point, objective, lambda f: nx.grad(f))
    result = {"x": point, "fun": objective(point), "status": status, "success": status == descent.CONVERGED}
    return OptimizeResult(result | more)


def _corners(corners: Any, x: Any) -> Any:
    if corners.shape != (x.shape[0] + 1, x.shape[0]):
        raise NxValueError(
            f"minimize: initial_simplex has {x.shape[0] + 1} rows of {x.shape[0]} elements, got {corners.spec}."
        )
    return corners


def _with_gradient(
    objective: Closed, pair: Callable[[Any], Any], jac: Any, rules: str, args: tuple, name: str
) -> Callable[[Any], tuple[Any, Any]]:
    if jac is None:
        return lambda x: nx.value_and_grad(objective)(x)

    def gradient(found: Any, x: Any) -> Any:
        slope = user_functions.as_tensor(found, x.type, f"{name}: jac")
        if slope.shape != x.shape:
            raise NxValueError(f"{name}: the gradient is like x, {x.spec}, got {slope.spec}.")
        return slope

    if jac is True:
        return lambda x: (objective(x), gradient(pair(x)[1], x))
    slope = user_functions.called(jac, rules, args)
    return lambda x: (objective(x), gradient(slope(x), x))


def _product(
    function: Callable[[Any], tuple[Any, Any]], hess: Any, hessp: Any, rules: str, args: tuple, name: str
) -> Callable[[Any, Any], Any]:
    """The product of the Hessian at a point and a vector."""
    if callable(hess):
        matrix = user_functions.called(hess, rules, args)
        return lambda x, p: nx.dot(user_functions.as_tensor(matrix(x), x.type, f"{name}: hess"), p)
    if callable(hessp):
        given = user_functions.called(hessp, rules, args)
        return lambda x, p: user_functions.as_tensor(given(x, p), x.type, f"{name}: hessp")
    return lambda x, p: nx.grad(lambda x: nx.dot(function(x)[1], p))(x)


def _descent(
    method: str, function: Callable[[Any], tuple[Any, Any]], x: Any, tolerance: dict[str, Any], chosen: dict[str, Any],
    product: Callable[[Any, Any], Any],
) -> tuple[descent.State, dict[str, Any]]:  # fmt: skip
    never = nx.as_type(-1.0, x.type)
    gtol, order = tolerance.get("gtol", never), tolerance.get("norm", nx.as_type(np.inf, x.type))
    stop = descent.Stop(
        gtol, order, tolerance.get("ftol", never), tolerance.get("xtol", never), tolerance.get("xrtol", 0.0),
        tolerance["maxiter"], tolerance.get("maxfun", nx.tensor(_UNLIMITED)),
    )  # fmt: skip
    direction = Bfgs(tolerance.get("hess_inv0"))
    if method == "L-BFGS-B":
        direction = Lbfgs(chosen["maxcor"])
    if method == "Newton-CG":
        direction = NewtonCg(product)
    state = descent.descend(function, x, direction, stop, tolerance.get("c1", 1e-4), tolerance.get("c2", 0.9))
    more = {"hess_inv": state.memory[0]} if method == "BFGS" else {}
    return state, more | ({"nhev": state.hessians} if method == "Newton-CG" else {})
