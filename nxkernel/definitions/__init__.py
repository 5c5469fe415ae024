"""Numerical definitions: the public functions, and everything that a call of a definition does."""

from nxkernel.container_classes.declarations import container
from nxkernel.definitions.autodiff import numba_derivatives as _numba_derivatives  # noqa: F401  registers
from nxkernel.definitions.autodiff.custom_gradients import checkpoint, custom_grad, stop_grad
from nxkernel.definitions.autodiff.custom_tangents import custom_jvp
from nxkernel.definitions.autodiff.grad import grad, value_and_grad
from nxkernel.definitions.autodiff.implicit_functions import custom_linear_solve, custom_root
from nxkernel.definitions.autodiff.jvp_vjp import jvp, linearize, vjp
from nxkernel.definitions.autodiff.matrices import hessian, jacfwd, jacobian, jacrev
from nxkernel.definitions.autodiff.vmap import vmap
from nxkernel.definitions.calls.compiled import compile
from nxkernel.definitions.calls.decorators import (
    debug_expr,
    debug_expr_apply,
    defn,
    deftransform,
    eval_shape,
    jit,
    jit_apply,
    print_expr,
    to_numba_source,
)
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.devices.transfer import (
    backend_copy,
    backend_deallocate,
    backend_memory,
    backend_names,
    backend_transfer,
)
from nxkernel.definitions.flow.control.control_functions import (
    associative_scan,
    cond,
    fori,
    scan,
    switch,
    unroll,
    while_,
)
from nxkernel.definitions.keys.default_options import default_options, global_default_options
from nxkernel.definitions.keys.options import keyword
from nxkernel.definitions.keys.tree_functions import leaves, map_leaves
from nxkernel.definitions.observe.compilation_guards import assert_compiles, no_compile
from nxkernel.definitions.observe.events import Event, events
from nxkernel.definitions.outputs.checked_programs import checked
from nxkernel.definitions.outputs.nan_checks import debug_nans
from nxkernel.definitions.streams.stream import Stream, stream
from nxkernel.definitions.tracing.hooks import hook, print_value
from nxkernel.definitions.tracing.python_calls import host_call
from nxkernel.definitions.tracing.run_time_checks import check
from nxkernel.messages import call_errors

__all__ = [
    "Definition",
    "Event",
    "Stream",
    "assert_compiles",
    "associative_scan",
    "backend_copy",
    "backend_deallocate",
    "backend_memory",
    "backend_names",
    "backend_transfer",
    "check",
    "checked",
    "checkpoint",
    "compile",
    "cond",
    "container",
    "custom_grad",
    "custom_jvp",
    "custom_linear_solve",
    "custom_root",
    "debug_expr",
    "debug_expr_apply",
    "debug_nans",
    "default_options",
    "defn",
    "deftransform",
    "eval_shape",
    "events",
    "fori",
    "global_default_options",
    "grad",
    "hessian",
    "hook",
    "host_call",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jit_apply",
    "jvp",
    "keyword",
    "leaves",
    "linearize",
    "map_leaves",
    "no_compile",
    "print_expr",
    "print_value",
    "scan",
    "stop_grad",
    "stream",
    "switch",
    "to_numba_source",
    "unroll",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_",
]

_EXPLAINED = (
    "associative_scan", "checkpoint", "custom_grad", "custom_jvp", "custom_linear_solve", "custom_root", "defn",
    "hessian", "hook", "host_call", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linearize", "vjp",
)  # fmt: skip
call_errors.explain(globals(), _EXPLAINED, "nx")
