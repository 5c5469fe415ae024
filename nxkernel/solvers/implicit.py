"""Functions as graphs, whose values from outside are inputs, and gradients of what solves an equation of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nxkernel as nx
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.tracing import subgraphs
from nxkernel.operand import Operand, entry_spec
from nxkernel.ops.machinery.dispatch import operand

#: Newton steps in a gradient. After one the first derivative is right, after two the second and the third, too.
_STEPS = 2


class Closed:
    """A function that was traced once, so that all calls of it are parts of the same graph.

    Parameters
    ----------
    function : callable
        Of traced values; gives a traced value.
    like : sequence of tensors
        What it is called with, by type and shape.
    name : str
        For messages.
    """

    def __init__(self, function: Callable[..., Any], like: Sequence[Any], name: str) -> None:
        specs = [(f"x{place}", entry_spec(operand(value).spec)) for place, value in enumerate(like)]
        refuse = differentiated_variables.no_value(name)
        self._graph, outside, _ = subgraphs.traced(name, function, specs, refuse)
        self._outside = [operand(value) for value in outside]
        #: The places of those values from outside that can have a gradient.
        self._places = [place for place, value in enumerate(self._outside) if value.type.is_float]

    @property
    def variables(self) -> list[Operand]:
        """The values from outside that gradients are of."""
        return [self._outside[place] for place in self._places]

    def __call__(self, *values: Any) -> Any:
        """The function of traced values."""
        return subgraphs.placed(self._graph, [*values, *self._outside])[0]

    def of(self, variables: Sequence[Any]) -> Callable[..., Any]:
        """The same function of other values in the place of :attr:`variables`."""
        outside = list(self._outside)
        for place, value in zip(self._places, variables, strict=True):
            outside[place] = value
        return lambda *values: subgraphs.placed(self._graph, [*values, *outside])[0]


def implicit(solution: Any, function: Closed, residual: Callable[[Callable[..., Any]], Callable[[Any], Any]]) -> Any:
    """A solution, a vector, with its gradients by what its equation depends on.

    Parameters
    ----------
    solution : tensor
        Of ``n`` elements, computed in any way.
    function : Closed
    residual : callable
        Takes the function, and gives the one of a vector whose value is 0 there, a vector of ``n`` elements.

    Returns
    -------
    tensor
        `solution`. Its gradients are those of Newton steps that begin there, so that what computed it is not
        differentiated.
    """
    variables = function.variables
    if not variables:
        return solution

    def backward(cotangent: Any) -> list[Any]:
        def improved(*values: Any) -> Any:
            x, wanted = nx.stop_grad(solution), residual(function.of(values))
            for _ in range(_STEPS):
                x = x - nx.linalg.solve(nx.jacobian(wanted)(x), wanted(x))
            return x

        _, pull = nx.vjp(improved, *variables)
        return list(pull(cotangent))

    return nx.custom_grad(solution, variables, backward)
