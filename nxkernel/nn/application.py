"""Applying a network from its root, and initializing its parameters and state by tracing it without data."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.leaves import is_leaf, spec_of
from nxkernel.definitions.keys.options import is_data
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, VectorizedExpr, node_with, parameter
from nxkernel.graph.traverse import post_order
from nxkernel.nn import scopes
from nxkernel.nn.scopes import NetworkRun
from nxkernel.operand import whole_spec
from nxkernel.shapes import describe

if TYPE_CHECKING:
    from nxkernel.nn.modules import Module


def network(
    module: Module, params: Any, inputs: tuple, given: dict, /, *, training: bool = False, **static: Any
) -> Any:
    """Apply a network from its root on."""
    __tracebackhide__ = True
    run = NetworkRun(module, params, given.get("state"), given.get("key"), training)
    options = {**static, **given.get("options", {})}
    root = run.known[id(module)][1]
    with scopes.ModuleScope(None):
        result, _ = module._applied(run, root, inputs, options, 0)
    if not static:
        _check_used(module, run, params, inputs, options)
    return (result, run.state) if run.given_state is not None else result


def initial(module: Module, what: str, specs: tuple, training: bool, key: Any) -> dict:
    """The initial parameters or state of a network, in the trace that is active."""
    __tracebackhide__ = True
    inputs_: list[Any] = []

    def placeholder(spec: Any) -> Any:
        inputs_.append(parameter(-1, "input", whole_spec(spec)))
        return inputs_[-1]

    inputs, options = placeholders(specs, placeholder)
    run = NetworkRun(module, None, None, key, training)
    with scopes.ModuleScope(None):
        module._applied(run, run.known[id(module)][1], inputs, options, 0)
    leaves: list[tuple[str, Any]] = []
    result = run.params if what == "params" else run.state
    containers.flatten(result, what, leaves, containers.no_tensor(module.name))
    nodes = [(path, value.node if type(value) is VectorizedExpr else value) for path, value in leaves]
    nodes = [(path, node) for path, node in nodes if isinstance(node, Expr)]
    for path, node in nodes if _uses([node for _, node in nodes], inputs_) else ():
        if _uses([node], inputs_):
            raise NxTypeError(
                message(
                    f"{module.name}: the first value of {path} depends on the values of the inputs.",
                    "init sees types and shapes alone. Compute with the inputs in the function that applies.",
                )
            )
    return result


def _uses(nodes: Sequence[Expr], inputs: Sequence[Expr]) -> bool:
    used = set(map(id, post_order(nodes)))
    return any(id(one) in used for one in inputs)


def placeholders(specs: tuple, make: Callable[[Any], Any]) -> tuple[tuple, dict]:
    """Inputs and options with traced values in place of what they had."""
    structure, inputs_, static = specs
    supply = iter([node_with(make(spec), spec) for spec in inputs_])
    inputs, options = containers.rebuild(structure, supply)
    return inputs, {**dict(static), **options}


def specs_of(name: str, inputs: tuple, options: Mapping[str, Any]) -> tuple:
    """The key of a traced network: structure and specs of its inputs, and its static options."""
    data = {key: value for key, value in options.items() if is_data(value)}
    inputs_: list[tuple[str, Any]] = []

    def refuse(path: str, value: Any) -> Exception:
        return NxTypeError(
            message(
                f"{name}: inputs are tensors, templates and containers of them, got {describe(value)}.",
                "Everything else goes by keyword, as an option.",
            )
        )

    given = [containers.flatten(value, "inputs", inputs_, refuse) for value in inputs]
    structure = ("tuple", None, (("tuple", None, tuple(given)), containers.flatten(data, "inputs", inputs_, refuse)))
    static = tuple(sorted((key, value) for key, value in options.items() if key not in data))
    return structure, tuple(spec_of(value, path) for path, value in inputs_), static


def check_key(name: str, key: Any) -> None:
    """Raise an error for a value that is no random key, such as an input in its position."""
    if is_leaf(key) and not isinstance(key, bool | int | float | complex):
        spec = spec_of(key)
        if str(spec.type) == "u32" and spec.shape == (2,):
            return
        shown = str(spec)
    else:
        shown = describe(key)
    raise NxTypeError(
        message(
            f"{name}: the key is u32[2], got {shown}.",
            "nx.random.key(0) makes one: params = net.init(nx.random.key(0), x).",
        )
    )


def _check_used(module: Module, run: NetworkRun, params: dict, inputs: tuple, options: dict) -> None:
    """Raise an error for parameters that no layer uses, neither in training nor outside of it."""
    extra = [path for path in _paths(params) if path not in run.used]
    if not extra:
        return
    specs = specs_of(module.name, inputs, options)
    other = module._layout(specs, not run.training)
    extra = [path for path in extra if path not in set(_paths(other.params))]
    if extra:
        where = "".join(f"[{part!r}]" for part in extra[0])
        raise NxTypeError(
            message(
                f"{module.name}: params{where} is for no layer of this network.",
                "They are those of another network: net.init(key, x) makes them for this one.",
            )
        )


def _paths(tree: Any, before: tuple = ()) -> list[tuple]:
    if not isinstance(tree, dict):
        return [before]
    return [path for name, value in tree.items() for path in _paths(value, (*before, name))]


def replaced(tree: dict, path: Sequence[str], values: Any) -> Any:
    """A copy of a nested dict with another value at a path."""
    return {**tree, path[0]: replaced(tree[path[0]], path[1:], values)} if path else values


def check_alike(expected: Any, values: Any, shown: str, where: str) -> None:
    """Raise an error if parameters to reuse differ in keys or shapes from those that they replace."""
    if isinstance(expected, dict):
        keys, given = sorted(expected), sorted(values) if isinstance(values, dict) else describe(values)
        if keys != given:
            raise NxTypeError(f"{shown}: reuse expected the keys {keys}{where}, got {given}")
        for key in keys:
            check_alike(expected[key], values[key], shown, f" at [{key!r}]")
    elif not is_leaf(values) or spec_of(values).shape != expected.shape:
        got = spec_of(values) if is_leaf(values) else describe(values)
        raise NxTypeError(f"{shown}: reuse expected {expected.spec}{where}, got {got}")


@functools.lru_cache(maxsize=1024)
def renamed(function: types.FunctionType, name: str) -> types.FunctionType:
    """A function renamed to what events and errors call the network."""
    copy = types.FunctionType(function.__code__, function.__globals__, name, None, function.__closure__)
    copy.__kwdefaults__, copy.__qualname__, copy.__module__ = function.__kwdefaults__, f"<{name}>", function.__module__
    return copy
