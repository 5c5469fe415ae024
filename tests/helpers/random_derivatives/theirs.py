"""The programs by JAX: its transformations write the operations down, and NumPy does them.

Compiling them takes JAX a second or more a program, and so does running them one by one, of which each is compiled for
its shapes; written down they are there after a tenth of that. What NumPy has no word for is JAX's to do.
"""

from __future__ import annotations

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import scipy.special

sin, cos, tanh, atan, exp, log, sqrt, absolute = (
    jnp.sin, jnp.cos, jnp.tanh, jnp.arctan, jnp.exp, jnp.log, jnp.sqrt, jnp.abs,
)  # fmt: skip
sigmoid, erf, maximum, minimum, less, where, atan2 = (
    jax.nn.sigmoid, jax.scipy.special.erf, jnp.maximum, jnp.minimum, jnp.less, jnp.where, jnp.arctan2,
)  # fmt: skip
stop_grad, sort, transpose, reshape = jax.lax.stop_gradient, jnp.sort, jnp.transpose, jnp.reshape
concatenate, stack, matmul, square = jnp.concatenate, jnp.stack, jnp.matmul, jnp.square
total, mean, reduce_max = jnp.sum, jnp.mean, jnp.max
cumulative_sum, reverse, checkpoint, grad = jnp.cumsum, jnp.flip, jax.checkpoint, jax.grad
log_sum_exp = jax.scipy.special.logsumexp
jacobian, jacfwd, jacrev = jax.jacrev, jax.jacfwd, jax.jacrev


def hessian(function):
    return jax.jacfwd(jax.jacrev(function))


def constant(numbers, shape):
    return np.array(numbers).reshape(shape)


def element(x, places):
    return jax.lax.reshape(jax.lax.slice(x, places, [place + 1 for place in places]), ())


def move(x, axis):
    return jnp.moveaxis(x, 0, axis)


def take(x, places):
    return jnp.asarray(x)[np.array(places)]


def put(x, place, row):
    return jax.lax.dynamic_update_slice(x, row[None], (place, *[0] * (len(x.shape) - 1)))


def part(x, start, stop):
    return x[start:stop]


def value_plus_grad(function):
    def of(x):
        value, slope = jax.value_and_grad(function)(x)
        return value + slope

    return of


def jvp(function, x, tangent):
    return jax.jvp(function, (x,), (tangent,))[1]


def linearize(function, x, tangent):
    return jax.linearize(function, x)[1](tangent)


def vjp(function, x, cotangent):
    return jax.vjp(function, x)[1](cotangent)[0]


def custom_grad(value, slope, x):
    """By a rule that both modes know: it is linear in the tangent."""

    @jax.custom_jvp
    def own(x):
        return value(x)

    @own.defjvp
    def _(primals, tangents):
        (x,), (tangent,) = primals, tangents
        return own(x), slope(x) * tangent

    return own(x)


def vmap(function, in_axes, out_axes):
    return jax.vmap(function, in_axes=in_axes, out_axes=out_axes)


def cond(predicate, then, otherwise, x):
    return jax.lax.cond(predicate, then, otherwise, x)


def while_(most, condition, turn, x):
    """With a bound, as a loop that goes backwards too."""

    def step(state, _):
        going, x = state
        going = jnp.logical_and(going, condition(x))
        return (going, jnp.where(going, turn(x), x)), None

    return jax.lax.scan(step, (jnp.array(True), x), None, length=most)[0][1]


def fori(turns, turn, x):
    return jax.lax.fori_loop(0, turns, lambda k, x: turn(jnp.asarray(k, jnp.float64) + 0.375, x), x)


def scan(step, x, rows, backwards):
    def both(x, row):
        x = step(row, x)
        return x, x

    return jax.lax.scan(both, x, rows, reverse=backwards)[1]


# Running -------------------------------------------------------------------------------------------------------------


def run(function, values, lanes):
    """What a function gives for values, for all lanes at once where there are such."""
    closed = jax.make_jaxpr(jax.vmap(function) if lanes else function)(*values)
    return _evaluated(closed.jaxpr, closed.consts, [np.asarray(value) for value in values])[0]


def _evaluated(jaxpr, constants, values):
    known = {}

    def read(atom):
        return atom.val if isinstance(atom, jax.extend.core.Literal) else known[atom]

    known |= zip(jaxpr.constvars, constants, strict=True)
    known |= zip(jaxpr.invars, values, strict=True)
    for eqn in jaxpr.eqns:
        given = [read(atom) for atom in eqn.invars]
        name, params = eqn.primitive.name, eqn.params
        if name in _CONTROL:
            made = _CONTROL[name](given, eqn)
        elif name in _MEANINGS:
            with np.errstate(all="ignore"):
                made = [np.asarray(_MEANINGS[name](*given, **params), eqn.outvars[0].aval.dtype)]
        else:
            made = eqn.primitive.bind(*given, **params)
            made = [np.asarray(one) for one in (made if eqn.primitive.multiple_results else [made])]
        known |= zip(eqn.outvars, made, strict=True)
    return [np.asarray(read(atom)) for atom in jaxpr.outvars]


def _part(name):
    """The graph of a primitive that does nothing but that."""

    def of(given, eqn):
        closed = eqn.params[name]
        if isinstance(closed, jax.extend.core.ClosedJaxpr):
            return _evaluated(closed.jaxpr, closed.consts, given)
        return _evaluated(closed, [], given)

    return of


def _scan(given, eqn):
    params, body = eqn.params, eqn.params["jaxpr"]
    # How many of them are carried, and how many are rows, is told by their shapes in every version of JAX.
    carried = sum(out.aval.ndim == own.aval.ndim for out, own in zip(eqn.outvars, body.jaxpr.outvars, strict=True))
    rows = sum(np.ndim(value) != own.aval.ndim for value, own in zip(given, body.jaxpr.invars, strict=True))
    fixed = len(given) - rows - carried
    around, state, rows = given[:fixed], given[fixed : fixed + carried], given[fixed + carried :]
    found = []
    places = range(params["length"])
    for place in reversed(places) if params["reverse"] else places:
        made = _evaluated(body.jaxpr, body.consts, [*around, *state, *(row[place] for row in rows)])
        state, results = made[:carried], made[carried:]
        found.append(results)
    found = found[::-1] if params["reverse"] else found
    return [*state, *(np.stack(column) for column in zip(*found, strict=True))]


def _while(given, eqn):
    params = eqn.params
    asked, body = params["cond_jaxpr"], params["body_jaxpr"]
    first, second = params["cond_nconsts"], params["body_nconsts"]
    outside, inside, state = given[:first], given[first : first + second], given[first + second :]
    while _evaluated(asked.jaxpr, asked.consts, [*outside, *state])[0]:
        state = _evaluated(body.jaxpr, body.consts, [*inside, *state])
    return state


def _cond(given, eqn):
    side = eqn.params["branches"][int(given[0])]
    return _evaluated(side.jaxpr, side.consts, given[1:])


_CONTROL = {
    "scan": _scan, "while": _while, "cond": _cond, "jit": _part("jaxpr"), "pjit": _part("jaxpr"),
    "remat2": _part("jaxpr"), "checkpoint": _part("jaxpr"), "closed_call": _part("call_jaxpr"),
    "custom_jvp_call": _part("call_jaxpr"), "custom_vjp_call": _part("call_jaxpr"),
}  # fmt: skip


def _of_arrays(function):
    return lambda *values, **params: function(*values)


def _broadcast(x, *, shape, broadcast_dimensions, **_):
    wide = np.ones(len(shape), int)
    for axis, size in zip(broadcast_dimensions, np.shape(x), strict=True):
        wide[axis] = size
    return np.broadcast_to(np.reshape(x, wide), shape)


def _product(a, b, *, dimension_numbers, **_):
    (one, other), (batch, same) = dimension_numbers
    left, right, letters = list(range(a.ndim)), [None] * b.ndim, a.ndim
    for here, there in (*zip(one, other, strict=True), *zip(batch, same, strict=True)):
        right[there] = left[here]
    for axis in range(b.ndim):
        if right[axis] is None:
            right[axis], letters = letters, letters + 1
    free = [left[k] for k in range(a.ndim) if k not in (*one, *batch)]
    more = [right[k] for k in range(b.ndim) if k not in (*other, *same)]
    return np.einsum(a, left, b, right, [*[left[k] for k in batch], *free, *more])


def _running_totals(x, *, axis, reverse):
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)


_MEANINGS = {
    name: _of_arrays(function)
    for name, function in {
        "add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
        "max": np.maximum, "min": np.minimum, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "exp": np.exp,
        "exp2": np.exp2, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign,
        "atan": np.arctan, "atan2": np.arctan2, "pow": np.power, "eq": np.equal, "ne": np.not_equal, "lt": np.less,
        "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "and": np.logical_and, "or": np.logical_or,
        "not": np.logical_not, "is_finite": np.isfinite, "square": np.square, "rsqrt": lambda x: 1 / np.sqrt(x),
        "stop_gradient": lambda x: x, "copy": lambda x: x, "copy_p": lambda x: x, "optimization_barrier": lambda x: x,
        "select_n": lambda which, *cases: np.choose(np.asarray(which, int), cases), "convert_element_type": lambda x: x,
        "logistic": scipy.special.expit, "erf": scipy.special.erf, "pvary": lambda x: x,
    }.items()
} | {
    "integer_pow": lambda x, *, y: np.power(np.asarray(x, float), y),
    "broadcast_in_dim": _broadcast,
    "dot_general": _product,
    "reshape": lambda x, *, new_sizes, **_: np.reshape(x, new_sizes),
    "transpose": lambda x, *, permutation: np.transpose(x, permutation),
    "squeeze": lambda x, *, dimensions: np.squeeze(x, dimensions),
    "expand_dims": lambda x, *, dimensions: np.expand_dims(x, dimensions),
    "reduce_sum": lambda x, *, axes, **_: np.sum(x, axis=tuple(axes)),
    "reduce_max": lambda x, *, axes, **_: np.max(x, axis=tuple(axes)),
    "reduce_or": lambda x, *, axes, **_: np.any(x, axis=tuple(axes)),
    "reduce_and": lambda x, *, axes, **_: np.all(x, axis=tuple(axes)),
    "rev": lambda x, *, dimensions: np.flip(x, dimensions),
    "concatenate": lambda *parts, dimension: np.concatenate(parts, dimension),
    "iota": lambda *, shape, dimension, **_: np.indices(shape)[dimension],
    "slice": lambda x, *, start_indices, limit_indices, strides: x[
        tuple(map(slice, start_indices, limit_indices, strides or [1] * len(start_indices)))
    ],
    "cumsum": _running_totals,
    "clamp": lambda low, x, high: np.clip(x, low, high),
}  # fmt: skip
