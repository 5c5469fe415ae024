"""Special functions that are made of primitives: they are fused, have gradients, and run on every device."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel.numpy.scipy.derivatives import choose, compare, is_zero, like
from nxkernel.ops.machinery.dispatch import apply


def _log(x: Any) -> Any:
    return apply(p.log, x)


def _log1p(x: Any) -> Any:
    return apply(p.log1p, x)


def _is_nan(x: Any) -> Any:
    return apply(p.is_nan, x)


def _both(one: Any, other: Any) -> Any:
    return apply(p.logical_and, one, other)


def _not(x: Any) -> Any:
    return apply(p.logical_not, x)


def _logit(x: Any) -> Any:
    # In the middle the logarithm of a quotient near 1 would lose digits.
    middle = _both(compare(p.greater_equal, x, 0.3), compare(p.less_equal, x, 0.65))
    away = choose(middle, (x - 0.5) * 2, 0.0)
    outside = choose(middle, 0.25, x)
    return choose(middle, _log1p(away) - _log1p(-away), _log(outside / (1 - outside)))


def _log_expit(x: Any) -> Any:
    negative = compare(p.less, x, 0)
    decayed = apply(p.exp, choose(negative, x, -x))
    return choose(negative, x, 0.0) - _log1p(decayed)


def _times_log(log: Callable[[Any], Any], safe: float, x: Any, y: Any) -> Any:
    """A number times a logarithm, which is 0 for 0 times any number; its derivative is that of the product."""
    value = log(y)
    finite = compare(p.equal, value - value, 0)
    no_product = _both(is_zero(x), _both(_not(finite), _not(_is_nan(y))))
    return choose(no_product, 0.0, x * log(choose(no_product, safe, y)))


def _entr(x: Any) -> Any:
    positive = compare(p.greater, x, 0)
    known = choose(positive, x, 1.0)
    return choose(positive, -known * _log(known), choose(is_zero(x), 0.0, choose(_is_nan(x), x, like(x, -math.inf))))


def _relative(x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """``x * log(x / y)`` where both are positive, and both there and 1 elsewhere."""
    both = _both(compare(p.greater, x, 0), compare(p.greater, y, 0))
    x, y = choose(both, x, 1.0), choose(both, y, 1.0)
    ratio = x / y
    near = _both(compare(p.greater, ratio, 0.5), compare(p.less, ratio, 2.0))
    tiny = {32: 1.1754944e-38, 64: 2.2250738585072014e-308}[x.type.bits]
    fits = _both(compare(p.greater, ratio, tiny), compare(p.less, ratio, math.inf))
    away = choose(near, (x - y) / y, 0.0)
    far = choose(fits, _log(choose(fits, ratio, 1.0)), _log(x) - _log(y))
    return both, x * choose(near, _log1p(away), far), x, y


def _beyond(x: Any, y: Any, at_zero: Any) -> Any:
    """What relative entropies are where not both arguments are positive."""
    none = _both(is_zero(x), compare(p.greater_equal, y, 0))
    missing = apply(p.logical_or, _is_nan(x), _is_nan(y))
    return choose(missing, x + y, choose(none, at_zero, like(x, math.inf)))


def _rel_entr(x: Any, y: Any) -> Any:
    both, value, _, _ = _relative(x, y)
    return choose(both, value, _beyond(x, y, like(x, 0.0)))


def _kl_div(x: Any, y: Any) -> Any:
    both, value, one, other = _relative(x, y)
    return choose(both, value - one + other, _beyond(x, y, y))


def _ndtr(x: Any) -> Any:
    return apply(p.erfc, x * -math.sqrt(0.5)) * 0.5


def _huber(delta: Any, r: Any) -> Any:
    size = apply(p.absolute, r)
    value = choose(compare(p.less_equal, size, delta), r * r * 0.5, delta * (size - delta * 0.5))
    return choose(compare(p.less, delta, 0), math.inf, value)


#: By name, functions of operands of one real type.
COMPOSITIONS: dict[str, Callable[..., Any]] = {
    "erf": functools.partial(apply, p.erf),
    "erfc": functools.partial(apply, p.erfc),
    "erfinv": functools.partial(apply, p.erf_inv),
    "expit": functools.partial(apply, p.sigmoid),
    "expm1": functools.partial(apply, p.expm1),
    "log1p": functools.partial(apply, p.log1p),
    "cbrt": functools.partial(apply, p.cbrt),
    "logit": _logit,
    "log_expit": _log_expit,
    "xlogy": functools.partial(_times_log, _log, 1.0),
    "xlog1py": functools.partial(_times_log, _log1p, 0.0),
    "entr": _entr,
    "rel_entr": _rel_entr,
    "kl_div": _kl_div,
    "ndtr": _ndtr,
    "huber": _huber,
}
