"""Every public function that takes or makes tensors, with positional arguments that it takes."""

import inspect

import numpy as np

import nxkernel as nx

#: What deals with files, settings, definitions and other functions.
_OTHERS = frozenset([
    "assert_compiles", "backend_copy", "backend_deallocate", "backend_memory", "backend_names", "backend_transfer",
    "checkpoint", "clear_cache", "compile", "cond", "custom_grad", "custom_jvp",
    "custom_linear_solve", "custom_root", "debug_expr", "debug_expr_apply", "eval_shape",
    "default_options", "defn", "deftransform", "deserialize", "events", "fori", "get_threads", "global_default_options",
    "grad", "hessian", "hook", "jacfwd", "jacobian", "jacrev", "jit", "jit_apply", "jvp", "keyword", "leaves",
    "linearize", "load",
    "load_ipython_extension", "map_leaves", "host_call", "check", "checked", "container", "switch",
    # They give or take pairs, or need a size.
    "unique",
    "cho_factor", "cho_solve", "lu_factor", "lu_solve",
    "load_numpy", "load_numpy_archive", "load_safetensors", "load_safetensors_metadata", "njit_call", "njit_map",
    "no_compile", "print_expr", "print_value", "save", "save_numpy", "save_numpy_archive", "save_safetensors", "scan",
    "serialize", "debug_nans", "set_threads", "stream", "template", "to_numba_source",
    "unload_ipython_extension", "unroll",
    "value_and_grad", "vjp", "vmap", "while_",
])  # fmt: skip
#: What is told about a tensor, or made of it, that is no tensor.
_TOLD = frozenset([
    "axes", "axis_index", "axis_size", "bit_size", "byte_size", "compatible", "flat_size", "inspect", "is_tensor",
    "names", "nonzero", "rank", "shape", "size", "to_batched", "to_binary", "to_flat_list", "to_heatmap", "to_list",
    "to_number", "to_template", "type",
])  # fmt: skip
#: Positional arguments that are no tensors, which is why nx.jit could not pass them.
STATIC = {
    "axis": 0, "batch_size": 1, "binary": bytes(8), "function": lambda *values: values[0] + 0, "length": 1,
    "lengths": [1, 1], "n": 3, "d": 3, "num_segments": 3, "name_or_axes": "v", "names": ["a", "b"], "new_shape": (9,),
    "padding_config": [(0, 0, 0), (0, 0, 0)], "power": 1, "repeats": 2, "kth": 1, "axis1": 0, "axis2": 1,
    "repetitions": [1, 1], "shape": (3, 3), "split": 1,
    "start_indices": [0, 0], "target_axes": [], "text": "1 2", "type": "f64", "window_dimensions": (1, 1),
}  # fmt: skip
#: Options without a default.
OPTIONS = {"linspace": {"n": 4}, "reflect": {"padding_config": [(1, 1), (0, 0)]}}
#: Makers of tensors by the name of the argument. What is not here is a matrix.
_TENSORS = {
    "segment_ids": lambda: np.array([0, 2, 0]),
    "key": lambda: np.array([0, 1], np.uint32), "seed": lambda: np.array(1), "data": lambda: np.array(1),
    "start_index": lambda: np.array(1), "indices": lambda: np.array([[0, 1], [2, 2]]),
    "updates": lambda: np.array([1.0, 2.0]), "diagonal": lambda: np.array([1.0, 2.0, 3.0]),
    "mean": lambda: np.array([1.0, 2.0, 3.0]), "tensors": lambda: [_matrix(), _matrix()],
    "choices": lambda: [_matrix(), 2 * _matrix()], "fill_value": lambda: np.array(1.0),
    "xs": lambda: np.array([[1, 2]], np.uint32).T, "ks": lambda: np.array([1, 2], np.uint32),
    "start": lambda: np.array(1.0), "stop": lambda: np.array(2.0), "min": lambda: np.array(0.0),
    "max": lambda: np.array(9.0), "min_val": lambda: np.array(0), "max_val": lambda: np.array(9),
    "pad_value": lambda: np.array(0.0), "acc": lambda: np.array(0.0), "init_value": lambda: np.array(0.0),
}  # fmt: skip
#: What segments are joined by.
_JOINS = ("sum", "prod", "max", "min")
#: Makers for one function.
_SPECIAL = {
    ("conv", "tensor"): lambda: _matrix()[None, None], ("conv", "kernel"): lambda: _matrix()[None, None, :1, :1],
    ("arange", "start"): lambda: 3, ("searchsorted", "tensor"): lambda: np.array([1.0, 2.0, 3.0]),
    ("choose", "tensor"): lambda: np.eye(3, dtype=int),
    ("fill", "value"): lambda: np.array(1.0), ("linalg.least_squares", "b"): lambda: _matrix()[0],
    ("make_diagonal", "tensor"): lambda: _matrix()[0], ("pad_outer", "padding_config"): lambda: [(0, 0), (0, 0)],
    ("pad_outer", "pad_value_or_type"): lambda: "replicate",
    **{(f"segment_{join}", "data"): lambda: _matrix() for join in _JOINS},
    ("take_along_axis", "indices"): lambda: np.eye(3, dtype=int), ("to_number", "tensor"): lambda: np.array(1.0),
}  # fmt: skip
#: Functions of integers, and of numbers below 1.
_WHOLE = ("bitwise_", "left_shift", "right_shift", "quotient", "population_count", "count_leading_zeros")
_SMALL = ("erf_inv", "atanh", "acos", "asin")


def _found():
    for prefix, room in {"": nx, "linalg.": nx.linalg, "random.": nx.random}.items():
        for name in sorted(getattr(room, "__all__", dir(room))):
            function = getattr(room, name)
            if inspect.isfunction(function) and name[0] != "_" and name not in _OTHERS:
                yield prefix + name, function


#: By the name that follows ``nx.``.
FUNCTIONS = dict(_found())
#: Those whose results are tensors.
OF_TENSORS = {name: function for name, function in FUNCTIONS.items() if name not in _TOLD}


#: Arguments that are left out only for another meaning.
_MORE = {"dot": ["right"], "where": ["x", "y"], **{f"segment_{join}": ["num_segments"] for join in _JOINS}}


def positional(name):
    """The names of the arguments that a function needs."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    names = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return [*names, *_MORE.get(name, ())]


def is_dynamic(name):
    """Whether all that a function needs are tensors."""
    return not set(positional(name)) & set(STATIC) and name not in ("arange", "pad_outer", "searchsorted")


def arguments(name):
    """Fresh arguments for what a function needs, tensors as arrays, and its options."""
    return [_argument(name, parameter) for parameter in positional(name)], OPTIONS.get(name, {})


def _argument(name, parameter):
    if (name, parameter) in _SPECIAL:
        return _SPECIAL[name, parameter]()
    if parameter in STATIC:
        return STATIC[parameter]
    if parameter in _TENSORS:
        return _TENSORS[parameter]()
    return _matrix().astype(np.int64) if name.startswith(_WHOLE) else _matrix() / (10 if name in _SMALL else 1)


def _matrix():
    return np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
