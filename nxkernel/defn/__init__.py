"""Numerical definitions: what people write, and what happens when it is called."""

from nxkernel import calling
from nxkernel.defn.defaults import default_options, global_default_options
from nxkernel.defn.definition import Definition
from nxkernel.defn.differentiation import grad, value_and_grad
from nxkernel.defn.events import Event, events
from nxkernel.defn.flow.public import cond, fori, scan, unroll, while_
from nxkernel.defn.gradients import checkpoint, custom_grad, stop_grad
from nxkernel.defn.guards import assert_compiles, no_compile
from nxkernel.defn.hooks import hook, print_value
from nxkernel.defn.jit import (
    compile,
    debug_expr,
    debug_expr_apply,
    defn,
    deftransform,
    jit,
    jit_apply,
    print_expr,
)
from nxkernel.defn.linear import hessian, jacobian, jvp, vjp
from nxkernel.defn.mapping import vmap
from nxkernel.defn.nans import debug_nans
from nxkernel.defn.options import keyword
from nxkernel.defn.stream import Stream, stream
from nxkernel.defn.transfer import (
    backend_copy,
    backend_deallocate,
    backend_memory,
    backend_names,
    backend_transfer,
)
from nxkernel.defn.walking import leaves, map_leaves

__all__ = [
    "Definition",
    "Event",
    "Stream",
    "assert_compiles",
    "backend_copy",
    "backend_deallocate",
    "backend_memory",
    "backend_names",
    "backend_transfer",
    "checkpoint",
    "compile",
    "cond",
    "custom_grad",
    "debug_expr",
    "debug_expr_apply",
    "debug_nans",
    "default_options",
    "defn",
    "deftransform",
    "events",
    "fori",
    "global_default_options",
    "grad",
    "hessian",
    "hook",
    "jacobian",
    "jit",
    "jit_apply",
    "jvp",
    "keyword",
    "leaves",
    "map_leaves",
    "no_compile",
    "print_expr",
    "print_value",
    "scan",
    "stop_grad",
    "stream",
    "unroll",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_",
]

calling.explain(globals(), ["defn", "jit"], "nx")
