"""The gamma distribution, and those that are made of it: beta, Dirichlet, chi-squared, t, F, generalized normal."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.elementary import exp, sqrt
from nxkernel.ops.arithmetic.elementwise import abs, max, pow
from nxkernel.ops.machinery.dispatch import convert, is_number, operand, spread
from nxkernel.ops.reductions.reduction import reduce_max, sum
from nxkernel.ops.shapes.shaping import new_axis
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random.bit_stream import KeyWords, advance, pair_of, subkeys
from nxkernel.random.discrete import signs
from nxkernel.random.distributions import Names
from nxkernel.random.gamma_rejection import gammas, log_gammas
from nxkernel.random.sampler_options import named, normals, parameter, real_drawn, shape_drawn
from nxkernel.random.standard_distributions import exponentials
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = ["ball", "beta", "chisquare", "dirichlet", "f", "gamma", "generalized_normal", "loggamma", "t"]


def gamma(
    key: Any, a: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the gamma distribution, of density x**(a - 1) exp(-x) / Γ(a).

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    a : number or tensor
        The parameter of shape, positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.gamma``. Divided by a number it has that rate. The gradient by `a` keeps the probability to the left
    of each sample.

    References
    ----------
    G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical
    Software 26, 2000. M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients", NeurIPS 2018.

    Examples
    --------
    >>> x, key = nx.random.gamma(nx.random.key(7), 2.5, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 1)
    2.5
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("gamma", shape, a=a)
    type_, inner = real_drawn("gamma", type, a)
    return named(convert(gammas(pair, parameter(a, inner, shape), inner), type_), names), following


def loggamma(
    key: Any, a: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw the logarithms of numbers of the gamma distribution, which for small `a` are less than any float.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    a : number or tensor
        The parameter of shape, positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.loggamma``.

    Examples
    --------
    >>> x, key = nx.random.loggamma(nx.random.key(7), 0.001, shape=(1000,))
    >>> round(nx.mean(x).to_number(), -2)
    -1000.0
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("loggamma", shape, a=a)
    type_, inner = real_drawn("loggamma", type, a)
    return named(convert(log_gammas(pair, parameter(a, inner, shape), inner), type_), names), following


def beta(
    key: Any, a: Any, b: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the beta distribution, of density proportional to x**(a - 1) (1 - x)**(b - 1).

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    a, b : number or tensor
        Positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    The share of the first of two gamma numbers in their sum, as ``jax.random.beta``.

    Examples
    --------
    >>> x, key = nx.random.beta(nx.random.key(7), 2.0, 3.0, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 1)
    0.4
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("beta", shape, a=a, b=b)
    type_, inner = real_drawn("beta", type, a, b)
    logs = [
        log_gammas(own, parameter(value, inner, shape), inner)
        for own, value in zip(subkeys(pair, 2), (a, b), strict=True)
    ]
    greater = max(*logs)
    one, other = (exp(value - greater) for value in logs)
    return named(convert(one / (one + other), type_), names), following


def dirichlet(
    key: Any, alpha: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw vectors of probabilities from the Dirichlet distribution.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    alpha : tensor
        Positive concentrations along its last axis; axes in front are distributions of their own.
    shape : tuple of int, optional
        How many vectors, which `alpha` without its last axis spreads over, and is when not given. The result has the
        last axis of `alpha` besides.
    type : type, optional
        A float type; without it that of `alpha`, f32 for integers.
    names : list of str or None, optional
        For all axes of the result.

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        For a number, and when `alpha` does not spread over the shape.

    Notes
    -----
    The shares of gamma numbers in their sum, as ``jax.random.dirichlet``.

    Examples
    --------
    >>> x, key = nx.random.dirichlet(nx.random.key(7), [1.0, 2.0, 7.0], shape=(1000,))
    >>> x.shape, nx.round(nx.mean(x, axes=[0]) * 10).to_list()
    ((1000, 3), [1.0, 2.0, 7.0])
    """
    pair, following = advance(pair_of(key))
    alpha = operand(alpha, "alpha")
    if not alpha.rank:
        raise NxValueError(
            message(
                f"dirichlet: alpha is a vector with a number for each category, got {alpha.spec}.",
                "nx.random.beta(key, a, b) draws the share of the first of two.",
            )
        )
    shape = alpha.shape if shape is None else (*shape_of(shape), alpha.shape[-1])
    shape = shape_drawn("dirichlet", shape, alpha=alpha)
    type_, inner = real_drawn("dirichlet", type, alpha)
    logs = log_gammas(pair, parameter(alpha, inner, shape), inner)
    if not shape[-1]:
        return named(convert(logs, type_), names), following
    shares = exp(logs - reduce_max(logs, axes=[-1], keep_axes=True))
    return named(convert(shares / sum(shares, axes=[-1], keep_axes=True), type_), names), following


def chisquare(
    key: Any, df: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the chi-squared distribution: sums of squares of standard normal numbers.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    df : number or tensor
        Degrees of freedom: how many are summed; positive, and no whole number of need.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    Twice a gamma number of df / 2, as ``jax.random.chisquare``.

    Examples
    --------
    >>> x, key = nx.random.chisquare(nx.random.key(7), 3, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 1)
    3.0
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("chisquare", shape, df=df)
    type_, inner = real_drawn("chisquare", type, df)
    return named(convert(_chi_squared(pair, parameter(df, inner, shape), inner), type_), names), following


def _chi_squared(pair: KeyWords, df: Operand, type_: Type) -> Operand:
    return 2 * exp(log_gammas(pair, df / 2, type_))


def t(
    key: Any, df: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from Student's t-distribution.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    df : number or tensor
        Degrees of freedom, positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    A normal number times √(h / g), for h = df / 2 and a gamma number g of h, as ``jax.random.t``.

    Examples
    --------
    >>> x, key = nx.random.t(nx.random.key(7), 5.0, shape=(1000,))
    >>> round(nx.median(nx.abs(x)).to_number(), 2)
    0.77
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("t", shape, df=df)
    type_, inner = real_drawn("t", type, df)
    half = parameter(df, inner, shape) / 2
    first, second = subkeys(pair, 2)
    drawn = normals(first, shape, inner) * sqrt(half / gammas(second, half, inner))
    return named(convert(drawn, type_), names), following


def f(
    key: Any, dfnum: Any, dfden: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the F-distribution: quotients of two chi-squared numbers, each divided by its degrees of freedom.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    dfnum, dfden : number or tensor
        Degrees of freedom of the numerator and of the denominator, positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.f``.

    Examples
    --------
    >>> x, key = nx.random.f(nx.random.key(7), 5.0, 20.0, shape=(1000,))
    >>> round(nx.median(x).to_number(), 1)
    0.9
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("f", shape, dfnum=dfnum, dfden=dfden)
    type_, inner = real_drawn("f", type, dfnum, dfden)
    above, below = parameter(dfnum, inner, shape), parameter(dfden, inner, shape)
    first, second = subkeys(pair, 2)
    drawn = (_chi_squared(second, above, inner) / above) / (_chi_squared(first, below, inner) / below)
    return named(convert(drawn, type_), names), following


def generalized_normal(
    key: Any, p: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the generalized normal distribution, of density proportional to exp(-abs(x)**p).

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    p : number or tensor
        The exponent, positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    Powers of gamma numbers with either sign, as ``jax.random.generalized_normal``.

    Examples
    --------
    >>> x, key = nx.random.generalized_normal(nx.random.key(7), 2.0, shape=(1000,))
    >>> round(nx.mean(x * x).to_number(), 1)
    0.5
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("generalized_normal", shape, p=p)
    type_, inner = real_drawn("generalized_normal", type, p)
    return named(convert(_generalized_normals(pair, parameter(p, inner, shape), inner), type_), names), following


def _generalized_normals(pair: KeyWords, p: Operand, type_: Type) -> Operand:
    first, second = subkeys(pair, 2)
    return signs(second, p.shape, type_) * pow(gammas(first, 1 / p, type_), 1 / p)


def ball(
    key: Any, d: int, p: Any = 2, *, shape: Any = (), type: Any = "f32", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw points that are evenly spread over a ball of radius 1.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    d : int
        The number of dimensions.
    p : number, optional
        Of the norm that says what a ball is: sums of powers of this exponent are at most 1.
    shape : tuple of int, optional
        How many points; the result has one more axis, of `d` coordinates.
    type : type, optional
        A float type.
    names : list of str or None, optional
        For all axes of the result.

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When `d` is less than 1.

    Notes
    -----
    As ``jax.random.ball``.

    References
    ----------
    F. Barthe, O. Guédon, S. Mendelson and A. Naor, "A probabilistic approach to the geometry of the l_p^n-ball", Annals
    of Probability 33, 2005.

    Examples
    --------
    >>> x, key = nx.random.ball(nx.random.key(7), 3, shape=(1000,))
    >>> x.shape, bool(nx.reduce_max(nx.sum(x * x, axes=[1])) <= 1)
    ((1000, 3), True)
    """
    pair, following = advance(pair_of(key))
    d, shape = static_int(d, "the number of dimensions"), shape_of(shape)
    if d < 1:
        raise NxValueError(f"ball: a point has at least one coordinate, got d={d}")
    type_, inner = real_drawn("ball", type)
    first, second = subkeys(pair, 2)
    if not is_number(p) and operand(p).shape:
        raise NxValueError(f"ball: p is one number, got {operand(p).spec}.")
    power = parameter(p, inner, ())
    drawn = _generalized_normals(first, spread(power, (*shape, d)), inner)
    size = sum(pow(abs(drawn), power), axes=[-1]) + exponentials(second, shape, inner)
    return named(convert(drawn / new_axis(pow(size, 1 / power), -1), type_), names), following
