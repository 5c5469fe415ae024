"""Tangents of one's own: `custom_jvp`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nxkernel import primitives as p
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.autodiff.custom_gradients import with_derivatives
from nxkernel.definitions.autodiff.linear_maps import alike
from nxkernel.definitions.calls.definition import Definition, Parameters, Result
from nxkernel.definitions.flow.operators.call_dispatch import seen
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.operand import entry_spec
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.shapes import describe
from nxkernel.transforms.adjoints.rule_table import tangent_spec

#: A function of the primals and their tangents, each a tuple with one for each argument.
TangentRule = Callable[..., tuple[Any, Any]]


def custom_jvp(
    function: Callable[Parameters, Result], nondiff_argnums: Sequence[int] = (), *, promotion: str | None = None
) -> CustomJvp[Parameters, Result]:
    """A function whose derivatives you define yourself, by how its value changes with its arguments.

    Gradients follow from that: the rule is linear in the tangents, and is gone through backwards.

    Parameters
    ----------
    function : callable
    nondiff_argnums : int or sequence of int, optional
        Places of arguments that are no tensors and do not change; the rule gets them first.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable
        The function, with two methods of which one says its rule. ``f.defjvp(rule)``, a decorator: the rule takes a
        tuple of the arguments and a tuple of their tangents, and returns the value and its tangent. A call of the
        function itself with these arguments stands for the value. ``f.defjvps(*rules)``: a rule for each argument takes
        its tangent, the value, and the arguments, and returns what it contributes; None where nothing.

    Raises
    ------
    NxTypeError
        When it is called without a rule, or the rule returns something else.

    See Also
    --------
    custom_grad : The same by the gradient.

    Examples
    --------
    >>> @nx.custom_jvp
    ... def safe_log1pexp(x):
    ...     return nx.log(1 + nx.exp(x))
    >>> @safe_log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return safe_log1pexp(x), (1 - 1 / (1 + nx.exp(x))) * t
    >>> float(nx.grad(safe_log1pexp)(100.0)), float(nx.jvp(safe_log1pexp, (0.0,), (3.0,))[1])
    (1.0, 1.5)
    >>> product = nx.custom_jvp(lambda x, y: x * y)
    >>> product.defjvps(lambda t, value, x, y: t * y, None)
    >>> [float(slope) for slope in nx.grad(product, argnums=(0, 1))(2.0, 5.0)]
    [5.0, 0.0]
    """
    function = differentiated_variables.checked(function, "custom_jvp")
    fixed = differentiated_variables.argument_positions(nondiff_argnums) if nondiff_argnums != () else ()
    return CustomJvp(differentiated_variables.inlined(function), fixed, promotion)


class CustomJvp(Definition[Parameters, Result]):
    """What :func:`custom_jvp` returns."""

    def __init__(
        self, function: Callable[Parameters, Result], fixed: tuple[int, ...], promotion: str | None = None
    ) -> None:
        name, declared = callables.name(function), []

        @differentiated_variables.transform(name)
        @functools.wraps(function, updated=())
        def evaluated(*args: Any, **options: Any) -> Any:
            return _Call(function, declared, fixed, args, options).result()

        self._declared: list[TangentRule] = declared
        self._fixed = fixed
        ruled_by, promotion = (
            (function.ruled_by, promotion or function.promotion)
            if isinstance(function, Definition)
            else (function, promotion)
        )
        super().__init__(evaluated, promotion=promotion, static_argnums=fixed or None, ruled_by=ruled_by)

    def defjvp(self, rule: TangentRule) -> TangentRule:
        """Say how the value changes; returns the rule.

        Parameters
        ----------
        rule : callable
            ``rule(primals, tangents)`` gives the value and its tangent; with `nondiff_argnums`, those arguments come
            before, and options by name.
        """
        if not callable(rule):
            raise NxTypeError(
                message(
                    f"defjvp takes a function of primals and tangents, got {describe(rule)}.",
                    f"Write @{self.__name__}.defjvp above `def rule(primals, tangents):`.",
                )
            )
        self._declared[:] = [rule]
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Say for each argument how the value changes with it.

        Parameters
        ----------
        *rules : callable or None
            ``rule(tangent, value, *primals)`` gives what the argument contributes; None for nothing.
        """
        wrong = next((rule for rule in rules if rule is not None and not callable(rule)), None)
        if wrong is not None or self._fixed:
            what = f"got {describe(wrong)}" if wrong is not None else "and goes without nondiff_argnums"
            raise NxTypeError(message(f"defjvps takes a function, or None, for each argument, {what}.", _DEFJVPS))

        def rule(primals: tuple, tangents: tuple) -> tuple[Any, Any]:
            if len(rules) != len(primals):
                what = f"defjvps got {len(rules)} rules for the {len(primals)} arguments of {callables.name(self)}."
                raise NxTypeError(message(what, _DEFJVPS))
            value = self(*primals)
            parts = [
                one(tangent, value, *primals) for one, tangent in zip(rules, tangents, strict=True) if one is not None
            ]
            return value, functools.reduce(_added, parts) if parts else _scaled(value)

        self._declared[:] = [rule]


_DEFJVPS = "Write f.defjvps(lambda t, value, x, y: …, None), or @f.defjvp for a rule of all arguments."


def _added(first: Any, second: Any) -> Any:
    """The sum of two containers of one structure."""
    refuse = differentiated_variables.no_value("defjvps")
    leaves: tuple[list[tuple[str, Any]], list[tuple[str, Any]]] = [], []
    structure = containers.flatten(first, "a rule's tangent", leaves[0], refuse)
    containers.flatten(second, "a rule's tangent", leaves[1], refuse)
    return containers.rebuild(structure, iter([a + b for (_, a), (_, b) in zip(*leaves, strict=True)]))


def _scaled(value: Any) -> Any:
    """Zeros like a value."""
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(value, "the value", leaves, differentiated_variables.no_value("defjvps"))
    return containers.rebuild(structure, iter([leaf * 0 for _, leaf in leaves]))


class _RunningRule(NamedTuple):
    """A rule that is being traced: of which function, for which arguments, with which value."""

    declared: list[TangentRule]
    inputs: Sequence[Expr]
    value: Any


#: Under which key a trace remembers the rules that are being traced.
_RUNNING = "rules of custom_jvp"


class _Call:
    """A call of a function with a rule, in the active trace."""

    def __init__(
        self,
        function: Callable[..., Any],
        declared: list[TangentRule],
        fixed: Sequence[int],
        args: Sequence[Any],
        options: dict[str, Any],
    ) -> None:
        self.function, self.declared = function, declared
        self.name = f"custom_jvp of {callables.name(function)}"
        if not declared:
            raise NxTypeError(
                message(
                    f"{self.name}: there is no rule yet.",
                    f"Write @{callables.name(function)}.defjvp above `def rule(primals, tangents):`, which returns the "
                    "value and its tangent.",
                )
            )
        self.args, self.options = differentiated_variables.by_position(function, args, options)
        self.fixed = differentiated_variables.selected(self.name, tuple(self.args), fixed)
        self.leaves: list[tuple[str, Any]] = []
        refuse = differentiated_variables.no_variable(self.name, "nondiff_argnums says which arguments do not change.")
        self.structures = [
            containers.flatten(value, "an argument", self.leaves, refuse)
            for position, value in enumerate(self.args)
            if position not in self.fixed
        ]
        self.inputs = [operand(leaf) for _, leaf in self.leaves]

    def result(self) -> Any:
        """The value, as a node that knows its rule."""
        running: list[_RunningRule] = tracing.current().outermost.memory.setdefault(_RUNNING, [])
        for rule in running:
            if rule.declared is self.declared:
                return self._within(rule)
        call = differentiated_variables.guard_shared_arrays(self.function, self.name, self.args, self.options)
        value = call(*differentiated_variables.separate_copies(self.args), **self.options)
        outputs: list[tuple[str, Any]] = []
        structure = containers.flatten(value, "the value", outputs, differentiated_variables.no_value(self.name))
        results = [operand(leaf) for _, leaf in outputs]

        def forward(*nodes: Expr) -> list[Expr]:
            count, end = len(self.inputs), len(self.inputs) + len(results)
            moved, own, inputs = nodes[:count], nodes[count:end], nodes[end:]
            values = [
                differentiated_variables.in_dialect(node, leaf) for (_, leaf), node in zip(outputs, own, strict=True)
            ]
            running.append(_RunningRule(self.declared, inputs, containers.rebuild(structure, iter(values))))
            try:
                given = seen(self.declared[0])(*self._arguments(inputs, moved), **self.options)
            finally:
                running.pop()
            if not isinstance(given, tuple | list) or len(given) != 2:
                raise NxTypeError(
                    message(
                        f"{self.name}: a rule returns a pair, the value and its tangent, got {describe(given)}.",
                        "Write `return value, tangent`.",
                    )
                )
            return alike(given[1], structure, specs[1], f"{self.name}: the tangent", "the value")

        specs = [entry_spec(value.spec) for value in self.inputs], [entry_spec(value.spec) for value in results]
        given = [*map(tangent_spec, specs[0]), *specs[1], *specs[0]]
        refuse = differentiated_variables.no_value(self.name)
        graph, outside, _ = subgraphs.traced("tangent", forward, [("x", spec) for spec in given], refuse)
        params = {"results": len(results), "inputs": len(self.inputs), "forward": graph}
        made = with_derivatives(p.custom_jvp, [*results, *self.inputs, *outside], params)
        leaves = [
            differentiated_variables.in_dialect(node, leaf) for (_, leaf), node in zip(outputs, made, strict=True)
        ]
        return containers.rebuild(structure, iter(leaves))

    def _within(self, rule: _RunningRule) -> Any:
        """The value of a call in the function's own rule."""
        nodes = [differentiated_variables.node(value) for value in self.inputs]
        if len(nodes) == len(rule.inputs) and all(a is b for a, b in zip(nodes, rule.inputs, strict=True)):
            return rule.value
        raise NxTypeError(
            message(
                f"{self.name}: its rule calls it with other arguments than its primals.",
                "Write there what the function computes, or call a function without the rule.",
            )
        )

    def _arguments(self, inputs: Sequence[Expr], moved: Sequence[Expr]) -> tuple[Any, ...]:
        """What a rule is called with."""
        groups = []
        for nodes in (inputs, moved):
            pairs = zip(self.leaves, nodes, strict=True)
            supply = iter([differentiated_variables.in_dialect(node, leaf) for (_, leaf), node in pairs])
            groups.append(tuple([containers.rebuild(structure, supply) for structure in self.structures]))
        return (*[self.args[position] for position in self.fixed], *groups)
