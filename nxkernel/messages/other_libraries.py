"""Hints for names of NumPy, JAX and PyTorch: what to write instead here.

An entry is a form that runs as it stands, or such a form and a sentence about it. In the forms ``t``, ``a`` and ``b``
are matrices, ``v`` and ``w`` vectors, ``mask`` is a predicate, ``indices`` are whole numbers and ``key`` is one of
``nx.random``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nxkernel.errors import NxAttributeError, message

Entry = str | tuple[str, str]

_OUTSIDE = "The size of the result depends on values, so this goes outside of definitions: NumPy takes tensors."
_HOOK = (
    "It calls the function with the value when the program has run; what the function returns goes nowhere. "
    "nx.print_value(t) prints."
)
_LOOPS = "In functions with @nx.defn and in %%defn cells, Python's own `for` and `while` are loops of the program."
_LAX = "nx.cond, nx.while_, nx.fori and nx.scan stand beside the rest; in definitions Python's own `for` and `if` do."
_KEYS = "Numbers come from a key, and every sampler returns them and a new key."
_READY = ("t", "When a call returns, its result is there.")
_BACKWARD = ("nx.grad(lambda x: nx.sum(x * x))(t)", "Nothing is recorded: gradients are of functions.")
_IMMUTABLE = "Tensors never change: a call gives a new one."
_HALVES = "Halves go away from 0, and not to the even number as NumPy's do."
_COLUMNS = "Variables are columns, and sums are divided by the number of rows: np.cov(t.T, bias=True) in NumPy."
_QUANTILE = "This is the element below; a definition that names np has np.quantile, which goes between two."
_NO_SAMPLER = "nx.random has no sampler of it: NumPy draws, outside of definitions."

#: By what is typed after ``nx.``.
FUNCTIONS: dict[str, Entry] = {
    "absolute": "nx.abs(t)", "fabs": "nx.abs(t)",
    "allclose": "nx.all_close(a, b)", "isclose": "nx.less_equal(nx.abs(a - b), 1e-8 + 1e-5 * nx.abs(b))",
    "amax": "nx.reduce_max(t)", "amin": "nx.reduce_min(t)",
    "angle": "nx.phase(t)",
    "append": "nx.concatenate([v, w])", "hstack": "nx.concatenate([a, b], axis=1)",
    "vstack": "nx.concatenate([a, b])", "cat": "nx.concatenate([a, b])", "column_stack": "nx.stack([v, w], axis=1)",
    "arccos": "nx.acos(t)", "arccosh": "nx.acosh(t)", "arcsin": "nx.asin(t)", "arcsinh": "nx.asinh(t)",
    "arctan": "nx.atan(t)", "arctan2": "nx.atan2(a, b)", "arctanh": "nx.atanh(t)",
    "argwhere": ("np.argwhere(t)", _OUTSIDE),
    "flatnonzero": ("np.flatnonzero(t)", _OUTSIDE),
    "partition": "nx.sort(t)",
    "around": ("nx.round(t)", _HALVES), "rint": ("nx.round(t)", _HALVES), "fix": "nx.sign(t) * nx.floor(nx.abs(t))",
    "trunc": "nx.sign(t) * nx.floor(nx.abs(t))",
    "from_numpy": "nx.tensor(np.ones(3))",
    "array_equal": "nx.all(nx.equal(a, b))", "array_split": "nx.split(t, 0.5)",
    "asnumpy": "t.to_numpy()", "cast": 'nx.as_type(t, "f32")',
    "atleast_1d": "nx.new_axis(nx.sum(t), 0)", "atleast_2d": "nx.new_axis(v, 0)",
    "average": "nx.weighted_mean(v, w)",
    "bincount": (
        "nx.indexed_add(nx.broadcast(0, (10,)), nx.new_axis(indices, -1), 1)",
        "The length, 10 here, is known when the graph is built.",
    ),
    "histogram": (
        "nx.indexed_add(nx.broadcast(0, (10,)), nx.new_axis(indices, -1), 1)",
        'Here indices holds the bin of each element, as nx.as_type(nx.floor((t - low) / width), "s64") does.',
    ),
    "bitwise_invert": "nx.bitwise_not(indices)", "invert": "nx.bitwise_not(indices)",
    "broadcast_arrays": "nx.broadcast(v, (3, 3))", "broadcast_to": "nx.broadcast(v, (3, 3))",
    "expand": "nx.broadcast(v, (3, 3))",
    "clamp": "nx.clip(t, 0.0, 1.0)", "concat": "nx.concatenate([a, b])",
    "convolve": (
        "nx.conv(v[None, None], nx.reverse(w)[None, None], padding=[(2, 2)])[0, 0]",
        "conv does not turn its kernel around, hence nx.reverse.",
    ),
    "copysign": "nx.select(nx.less(b, 0), -nx.abs(a), nx.abs(a))",
    "corrcoef": "nx.covariance(t) / nx.outer(nx.standard_deviation(t, axes=[0]), nx.standard_deviation(t, axes=[0]))",
    "count_nonzero": "nx.sum(nx.not_equal(t, 0))", "cov": ("nx.covariance(t)", _COLUMNS),
    "cross": "v[[1, 2, 0]] * w[[2, 0, 1]] - v[[2, 0, 1]] * w[[1, 2, 0]]",
    "cummax": "nx.cumulative_max(t, axis=0)", "cummin": "nx.cumulative_min(t, axis=0)",
    "deg2rad": "t * (nx.constants.pi() / 180)", "radians": "t * (nx.constants.pi() / 180)",
    "rad2deg": "t * (180 / nx.constants.pi())", "degrees": "t * (180 / nx.constants.pi())",
    "det": "nx.linalg.determinant(t)", "inv": "nx.linalg.invert(t)", "solve": "nx.linalg.solve(t, v)",
    "norm": "nx.linalg.norm(t)", "svd": "nx.linalg.svd(t)", "qr": "nx.linalg.qr(t)",
    "diag": ("nx.take_diagonal(t)", "nx.make_diagonal(v) makes a matrix of a vector."),
    "diagflat": "nx.make_diagonal(v)",
    "einsum": ("nx.dot(a, [1], b, [0])", 'This is "ij,jk->ik"; the lists name the axes that are summed over.'),
    "tensordot": "nx.dot(a, [1], b, [0])", "inner": "nx.dot(v, w)", "vdot": "nx.dot(nx.conjugate(v), w)",
    "matmul": "nx.dot(a, b)", "mm": "nx.dot(a, b)", "mv": "nx.dot(a, v)",
    "bmm": "nx.stack([a, b]) @ nx.stack([a, b])", "kron": (
        "nx.reshape(nx.reshape(a, (3, 1, 3, 1)) * nx.reshape(b, (1, 3, 1, 3)), (9, 9))",
        "Here both are matrices of 3 × 3.",
    ),
    "empty_like": "nx.fill(t, 0)", "zeros_like": "nx.fill(t, 0)",
    "ones_like": "nx.fill(t, 1)", "full_like": "nx.fill(t, 7)", "identity": "nx.eye(3)",
    "exp2": "nx.pow(2.0, t)", "expand_dims": "nx.new_axis(t, 0)", "unsqueeze": "nx.new_axis(t, 0)",
    "newaxis": "t[:, None]", "ndarray": "nx.Tensor", "Array": "nx.Tensor",
    "print": ("nx.print_value(t)", "It prints the value when the program has run."),
    "flip": "nx.reverse(t)", "fliplr": "nx.reverse(t, axes=[1])", "flipud": "nx.reverse(t, axes=[0])",
    "rot90": "nx.reverse(nx.transpose(t), axes=[0])",
    "float_power": 'nx.pow(nx.as_type(t, "f64"), 2)', "power": "nx.pow(t, 2)", "square": "t * t",
    "floor_divide": ("a // b", "nx.quotient truncates toward zero instead, and takes integers."),
    "fmax": "nx.select(nx.is_nan(b), a, nx.max(a, b))", "fmin": "nx.select(nx.is_nan(b), a, nx.min(a, b))",
    "maximum": "nx.max(a, b)", "minimum": "nx.min(a, b)",
    "fmod": "nx.remainder(a, b)", "mod": ("a % b", "nx.remainder(a, b) has the sign of a instead."),
    "divmod": "(a // b, a % b)",
    "frombuffer": 'nx.from_binary(b"\\x00\\x00\\x80?", "f32")',
    "gelu": "nx.nn.gelu(t)", "relu": "nx.nn.relu(t)", "silu": "nx.nn.silu(t)", "softplus": "nx.nn.softplus(t)",
    "softmax": "nx.nn.softmax(t)", "log_softmax": "nx.nn.log_softmax(t)",
    "geomspace": "nx.exp(nx.linspace(0.0, 1.0, n=5))", "logspace": "nx.pow(10.0, nx.linspace(0.0, 2.0, n=3))",
    "stop_gradient": "nx.stop_grad(t)",
    "backward": _BACKWARD, "no_grad": ("nx.stop_grad(t)", _BACKWARD[1]), "block_until_ready": _READY,
    "hvp": "nx.jvp(nx.grad(lambda x: nx.sum(x**3)), (v,), (w,))[1]", "pmap": "nx.vmap(nx.sin)(t)",
    "device_put": ('nx.backend_copy(t, "cpu")', 'To a GPU: nx.backend_transfer(t, "cuda:0").'),
    "to_backend": ('t.to_backend("cpu")', 'nx.backend_transfer(t, "cuda:0") takes containers, too.'),
    "random_uniform": ("nx.random.uniform(key, shape=(2, 3))", _KEYS),
    "random_normal": ("nx.random.normal(key, shape=(2, 3))", _KEYS),
    "random_randint": ("nx.random.randint(key, 0, 10, shape=(2, 3))", _KEYS),
    "device_get": "np.asarray(t)", "PRNGKey": ("nx.random.key(42)", _KEYS), "key": ("nx.random.key(42)", _KEYS),
    "Module": "nx.nn.dense(16)", "Linear": "nx.nn.dense(16)", "linear": "nx.nn.dense(16)",
    "custom_vjp": "nx.custom_grad(nx.sin(t), [t], lambda g: [g * nx.cos(t)])",
    "remat": "nx.checkpoint(nx.sin)(t)",
    "io_callback": ('nx.hook(t, "name", print)', _HOOK), "pure_callback": ('nx.hook(t, "name", print)', _HOOK),
    "debug": ('nx.hook(t, "name", print)', _HOOK), "host_callback": ('nx.hook(t, "name", print)', _HOOK),
    "ediff1d": "nx.diff(v)",
    "gradient": (
        "nx.concatenate([v[1:2] - v[:1], (v[2:] - v[:-2]) / 2, v[-1:] - v[-2:-1]])", "Of a function it is nx.grad(f)."
    ),
    "greater_than": "nx.greater(a, b)", "less_than": "nx.less(a, b)",
    "hypot": "nx.sqrt(a * a + b * b)", "heaviside": "nx.greater_equal(t, 0)",
    "interp": ("np.interp(v, v, w)", "This goes outside of definitions: NumPy's functions take tensors."),
    "trapz": "nx.sum((v[1:] + v[:-1]) / 2)", "trapezoid": "nx.sum((v[1:] + v[:-1]) / 2)",
    "isfinite": "nx.logical_not(nx.logical_or(nx.is_nan(t), nx.is_infinity(t)))",
    "isin": "nx.any(nx.equal(nx.new_axis(v, -1), w), axes=[-1])", "isinf": "nx.is_infinity(t)",
    "isnan": "nx.is_nan(t)", "nan_to_num": "nx.select(nx.is_nan(t), 0.0, t)",
    "nanmean": "nx.sum(nx.select(nx.is_nan(t), 0.0, t)) / nx.sum(nx.logical_not(nx.is_nan(t)))",
    "nansum": "nx.sum(nx.select(nx.is_nan(t), 0.0, t))", "nanmax": "nx.reduce_max(nx.select(nx.is_nan(t), -1e38, t))",
    "nanmin": "nx.reduce_min(nx.select(nx.is_nan(t), 1e38, t))",
    "lerp": "a + 0.5 * (b - a)", "log2p": "nx.log2(1 + t)", "logaddexp": "nx.logsumexp(nx.stack([a, b]), axes=[0])",
    "invsqrt": "nx.rsqrt(t)", "reciprocal": "1 / t", "expit": "nx.sigmoid(t)", "logit": "nx.log(t / (1 - t))",
    "sinc": ("nx.sin(np.pi * t) / (np.pi * t)", "At 0 it is 1: begin with t = nx.select(nx.equal(t, 0), 1e-20, t)."),
    "masked_fill": "nx.select(mask, 0.0, t)", "ifelse": "nx.select(mask, a, b)",
    "meshgrid": "(nx.iota((2, 3), axis=0), nx.iota((2, 3), axis=1))",
    "indices": "(nx.iota((2, 3), axis=0), nx.iota((2, 3), axis=1))",
    "moveaxis": "nx.transpose(t, axes=[1, 0])", "permute": "nx.transpose(t, axes=[1, 0])",
    "permute_dims": "nx.transpose(t, axes=[1, 0])",
    "mul": "nx.multiply(a, b)", "sub": "nx.subtract(a, b)",
    "div": "nx.divide(a, b)", "true_divide": "nx.divide(a, b)", "neg": "nx.negate(t)", "negative": "nx.negate(t)",
    "positive": "t", "ndim": "nx.rank(t)", "numel": "nx.size(t)",
    "percentile": ("nx.sort(v)[int(0.9 * (v.size - 1))]", _QUANTILE),
    "quantile": ("nx.sort(v)[int(0.9 * (v.size - 1))]", _QUANTILE),
    "polyval": "v[0] * t * t + v[1] * t + v[2]",
    "ptp": "nx.reduce_max(t) - nx.reduce_min(t)",
    "put": "nx.indexed_put(v, nx.new_axis(indices, -1), 0.0)",
    "rand": ("nx.random.uniform(key, shape=(2, 3))", _KEYS), "randn": ("nx.random.normal(key, shape=(2, 3))", _KEYS),
    "roll": ("nx.concatenate([v[-1:], v[:-1]])", "Along axis 1: nx.concatenate([t[:, -1:], t[:, :-1]], axis=1)."),
    "digitize": "nx.sum(nx.less_equal(w, nx.new_axis(v, -1)), axes=[-1])",
    "save_npy": 'nx.save_numpy("x.npy", t)', "load_npy": 'nx.load_numpy("x.npy")',
    "save_npz": 'nx.save_numpy_archive("x.npz", {"t": t})', "savez": 'nx.save_numpy_archive("x.npz", {"t": t})',
    "savez_compressed": 'nx.save_numpy_archive("x.npz", {"t": t}, compressed=True)',
    "load_npz": 'dict(nx.load_numpy_archive("x.npz"))', "savetxt": 'np.savetxt("x.txt", t)',
    "loadtxt": 'nx.tensor(np.loadtxt("x.txt"))',
    "while_loop": ("nx.while_(lambda t: nx.all(t < 100), lambda t: 2 * t, t)", _LOOPS),
    "fori_loop": ("nx.fori(0, 10, lambda k, t: 2 * t, t)", _LOOPS),
    "lax": ("nx.fori(0, 10, lambda k, t: 2 * t, t)", _LAX),
    "tree_map": 'nx.map_leaves(lambda t: -t, {"v": v, "w": w})',
    "tree": 'nx.map_leaves(lambda t: -t, {"v": v, "w": w})',
    "tree_util": 'nx.map_leaves(lambda t: -t, {"v": v, "w": w})',
    "scatter": "nx.indexed_put(v, nx.new_axis(indices, -1), 0.0)",
    "scatter_add": "nx.indexed_add(v, nx.new_axis(indices, -1), 1.0)",
    "sgn": "nx.sign(t)", "signbit": "nx.less(t, 0)",
    "topk": "nx.top_k(t, k=2)", "vander": "nx.pow(nx.new_axis(v, -1), nx.iota((3,)))",
    "vectorise": 'nx.vectorize(t, "rows")',
    "view": 'nx.bitcast(t, "s32")', "isscalar": "nx.rank(t) == 0", "float32": "nx.f32([1, 2])",
    "float64": "nx.f64([1, 2])", "float16": "nx.f16([1, 2])", "bfloat16": "nx.bf16([1, 2])", "int8": "nx.s8([1, 2])",
    "int16": "nx.s16([1, 2])", "int32": "nx.s32([1, 2])", "int64": "nx.s64([1, 2])", "uint8": "nx.u8([1, 2])",
    "uint16": "nx.u16([1, 2])", "uint32": "nx.u32([1, 2])", "uint64": "nx.u64([1, 2])", "complex64": "nx.c64([1, 2])",
    "complex128": "nx.c128([1, 2])", "bool_": 'nx.tensor([1, 0], type="bool")', "int_": "nx.s64([1, 2])",
    "pi": "nx.constants.pi()", "e": "nx.constants.e()", "inf": "nx.constants.infinity()", "nan": "nx.constants.nan()",
    "float": 'nx.as_type(t, "f32")', "int": 'nx.as_type(t, "s64")', "bool": 'nx.as_type(t, "bool")',
    "str": "repr(t)", "len": "t.shape[0]",
}  # fmt: skip

#: By what is typed after ``nx.linalg.``.
LINALG: dict[str, Entry] = {
    "cond": "nx.linalg.norm(t, ord=2) * nx.linalg.norm(nx.linalg.invert(t), ord=2)", "cross": FUNCTIONS["cross"],
    "det": "nx.linalg.determinant(t)", "slogdet": "nx.log(nx.abs(nx.linalg.determinant(t)))",
    "dot": "nx.dot(a, b)", "matmul": "nx.dot(a, b)", "multi_dot": "nx.dot(nx.dot(a, b), t)", "outer": "nx.outer(v, w)",
    "eigvals": "nx.linalg.eig(t)[0]",
    "eigvalsh": "nx.sort(nx.linalg.eigh(t)[0])", "svdvals": "nx.linalg.svd(t)[1]",
    "inv": "nx.linalg.invert(t)", "lstsq": "nx.linalg.least_squares(t, v)",
    "solve_triangular": "nx.linalg.triangular_solve(t, v)", "diagonal": "nx.take_diagonal(t)",
    "trace": "nx.sum(nx.take_diagonal(t))",
    "vector_norm": "nx.linalg.norm(v)", "matrix_norm": "nx.linalg.norm(t)",
}  # fmt: skip

#: By what is typed after ``nx.random.``.
RANDOM: dict[str, Entry] = {
    "seed": ("nx.random.key(42)", _KEYS), "PRNGKey": ("nx.random.key(42)", _KEYS),
    "default_rng": ("nx.random.key(42)", _KEYS), "RandomState": ("nx.random.key(42)", _KEYS),
    "manual_seed": ("nx.random.key(42)", _KEYS),
    "rand": ("nx.random.uniform(key, shape=(2, 3))", _KEYS), "random": ("nx.random.uniform(key, shape=(2, 3))", _KEYS),
    "randn": ("nx.random.normal(key, shape=(2, 3))", _KEYS),
    "standard_normal": ("nx.random.normal(key, shape=(2, 3))", _KEYS),
    "integers": ("nx.random.randint(key, 0, 10, shape=(2, 3))", _KEYS),
    "chi2": ("nx.random.chisquare(key, 3, shape=(2, 3))", _KEYS), "fisher_f": ("nx.random.f(key, 2, 3)", _KEYS),
    "standard_exponential": ("nx.random.exponential(key, shape=(2, 3))", _KEYS),
    "standard_gamma": ("nx.random.gamma(key, 2.5, shape=(2, 3))", _KEYS),
    "standard_cauchy": ("nx.random.cauchy(key, shape=(2, 3))", _KEYS),
    "standard_t": ("nx.random.t(key, 5.0, shape=(2, 3))", _KEYS),
    "weibull": ("nx.random.weibull_min(key, 1.0, 2.0, shape=(2, 3))", _KEYS),
    "vonmises": ("nx.tensor(np.random.default_rng(0).vonmises(0.0, 1.0, size=(2, 3)))", _NO_SAMPLER),
}  # fmt: skip

#: By what is typed after a tensor and a dot.
ATTRIBUTES: dict[str, Entry] = {
    "H": "nx.linalg.adjoint(t)", "dim": "t.rank", "numel": "t.size",
    "at": (
        "nx.indexed_put(v, nx.new_axis(indices, -1), 0.0)",
        "nx.indexed_add adds. In a definition x[i] = v and x[i] += v are assignments, of traced values, too.",
    ),
    "block_until_ready": _READY, "backward": _BACKWARD, "requires_grad": _BACKWARD, "grad": _BACKWARD,
    "fill_": "nx.fill(t, 0)", "detach": ("t", "In a definition nx.stop_grad(t) keeps gradients out."),
    "to": 'nx.as_type(t, "f32")', "double": 'nx.as_type(t, "f64")', "half": 'nx.as_type(t, "f16")',
    "long": 'nx.as_type(t, "s64")', "values": "t.to_numpy()",
    "cpu": "t", "clone": ("t", _IMMUTABLE), "contiguous": "t",
    "where": "nx.where(mask, t, 0.0)", "put": FUNCTIONS["put"], "partition": ("nx.sort(t)", _IMMUTABLE),
    "resize": ("nx.reshape(t, (9,))", _IMMUTABLE), "setfield": ("t.to_numpy().copy()", _IMMUTABLE),
    **{name: FUNCTIONS[name] for name in (
        "absolute", "amax", "amin", "average", "bool", "broadcast_to", "clamp", "cummax", "cummin", "det", "diag",
        "div", "einsum", "expand", "expand_dims", "flip",
        "float", "gradient", "inv", "int", "isfinite", "isinf", "isnan", "masked_fill", "matmul", "mm", "mod",
        "moveaxis", "mul", "neg", "norm", "numel", "percentile", "permute", "power", "ptp",
        "quantile", "roll", "scatter_add", "softmax", "sub", "topk", "unsqueeze", "view",
    )},
}  # fmt: skip


def advice(entry: Entry) -> list[str]:
    """The lines of an error for a table entry.

    Examples
    --------
    >>> advice("nx.is_nan(t)")
    ['Write nx.is_nan(t).']
    """
    form, *notes = (entry,) if isinstance(entry, str) else entry
    return [f"Write {form}.", *notes]


#: Plain words that differ by a letter from names here, and mean something else.
_OTHER_WORDS = {
    "call", "close", "convert", "data", "event", "eval", "float", "frame", "image", "int", "item", "line", "long",
    "loss", "match", "minor", "model", "move", "name", "node", "none", "number", "read", "reset", "run", "short",
    "signal", "splice", "stem", "style", "tail", "time", "title", "true", "type", "vector", "word",
}  # fmt: skip


def near(name: str, known: Iterable[str]) -> list[str]:
    """The public name that a name was probably meant to be, in a list; an empty one where none is as near as that.

    It begins with the same letter and differs by one slip of the keyboard, by two if it is long, and only by the order
    of its letters if it is short; or one of them goes on from the other. What is a word of its own is no slip.

    Examples
    --------
    >>> near("meen", ["mean", "sin"]), near("initialize", ["init", "_initial"]), near("train", ["tri", "training"])
    (['mean'], ['init'], ['training'])
    >>> near("testing", ["sin"]), near("read", ["real"]), near("batchnorm", ["batch_norm"])
    ([], [], ['batch_norm'])
    """
    if name.lower() in _OTHER_WORDS:
        return []
    public = [each for each in known if not each.startswith("_")]
    typed = _bare(name)
    slips = {each: _slips(typed, _bare(each)) for each in public if _bare(each)[:1] == typed[:1]}
    meant = [each for each in slips if slips[each] <= (1 if len(typed) < 8 else 2)]
    if len(typed) < 4:
        meant = [each for each in meant if sorted(_bare(each)) == sorted(typed)]
    meant.sort(key=slips.__getitem__)
    begun = [each for each in public if len(each) > 3 and name.startswith(each)]
    going_on = [each for each in public if len(name) > 3 and each.startswith(name)]
    return meant[:1] or sorted(begun, key=len)[-1:] or sorted(going_on, key=len)[:1]


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def _slips(typed: str, meant: str) -> int:
    """How many letters are missing, too many, wrong, or in the place of their neighbour."""
    before, row = [], list(range(len(meant) + 1))
    for i, letter in enumerate(typed, start=1):
        above, row, further = row, [i], before
        for j, other in enumerate(meant, start=1):
            steps = [above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other)]
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == other:
                steps.append(further[j - 2] + 1)
            row.append(min(steps))
        before = above
    return row[-1]


def missing(owner: str, name: str, table: dict[str, Entry], known: Iterable[str], of: Any = None) -> NxAttributeError:
    """The error for a missing attribute.

    Parameters
    ----------
    owner : str
        What lacks it, as people write it: ``"nx.linalg"``.
    name : str
    table : dict
        What to write for names of other libraries.
    known : iterable of str
        The names that there are, of which the nearest is offered where the table has none.
    of : object, optional
        What was asked; Python keeps it with the error.

    Returns
    -------
    NxAttributeError

    Examples
    --------
    >>> print(missing("nx", "meen", {}, ["mean", "sum"]))
    nx has no 'meen'.
      Did you mean 'mean'?
    """
    lines = []
    if name in table:
        lines = advice(table[name])
    elif not name.startswith("_"):
        lines = [f"Did you mean {each!r}?" for each in near(name, known)]
    return NxAttributeError(message(f"{owner} has no {name!r}.", *lines), name=name, obj=of)


class Hint:
    """A descriptor for a missing attribute: accessing it raises an error that says what to write.

    A ``__getattr__`` would make every attribute of the class slower, those that are there too.
    """

    def __init__(self, name: str, entry: Entry, owner: str = "a tensor") -> None:
        self._name, self._entry, self._owner = name, entry, owner

    def __get__(self, instance: Any, owner: type) -> Any:
        raise NxAttributeError(message(f"{self._owner} has no {self._name!r}.", *advice(self._entry)))
