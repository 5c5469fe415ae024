"""Directions of descent: by an estimate of the inverse Hessian, by the last steps, or by Hessian products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import nxkernel as nx


class Bfgs:
    """By an estimate of the inverse Hessian, a matrix that each step improves.

    References
    ----------
    J. Nocedal and S. J. Wright, "Numerical Optimization", 2006, algorithm 6.1.
    """

    def __init__(self, inverse: Any = None) -> None:
        self.inverse = inverse

    def begin(self, x: Any) -> tuple[Any, Any]:
        """The matrix, and whether it is still to be scaled by the first step."""
        if self.inverse is not None:
            return nx.as_type(self.inverse, x.type), nx.tensor(False)
        return nx.eye(x.shape[0], type=x.type), nx.tensor(True)

    def along(self, memory: Any, x: Any, gradient: Any) -> tuple[Any, Any]:
        """The Newton step by the estimate."""
        return -nx.dot(memory[0], gradient), nx.tensor(0)

    def after(self, memory: Any, step: Any, change: Any) -> Any:
        """The estimate that maps the change of the gradient to the step, where the curvature is positive."""
        inverse, fresh = memory
        curvature = nx.dot(step, change)
        known = curvature > 0
        length = nx.dot(change, change)
        inverse = nx.select(
            nx.broadcast(fresh & known, inverse.shape), inverse * (curvature / nx.select(known, length, 1.0)), inverse
        )
        by = 1.0 / nx.select(known, curvature, 1.0)
        product = nx.dot(inverse, change)
        more = (1.0 + nx.dot(change, product) * by) * by * nx.outer(step, step)
        improved = inverse + more - by * (nx.outer(product, step) + nx.outer(step, product))
        return nx.select(nx.broadcast(known, inverse.shape), improved, inverse), fresh & ~known


class _Pairs(NamedTuple):
    """The last steps and changes of the gradient, the newest first; of those that are not there yet `weights` is 0."""

    steps: Any
    changes: Any
    weights: Any
    scale: Any


class Lbfgs:
    """By the last steps, so that no matrix is kept.

    References
    ----------
    J. Nocedal and S. J. Wright, "Numerical Optimization", 2006, algorithm 7.4.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def begin(self, x: Any) -> _Pairs:
        """No pairs."""
        rows = nx.zeros((self.count, x.shape[0]), x.type)
        return _Pairs(rows, rows, nx.zeros((self.count,), x.type), nx.ones((), x.type))

    def along(self, memory: _Pairs, x: Any, gradient: Any) -> tuple[Any, Any]:
        """The product of the estimated inverse Hessian and the gradient, pair by pair."""

        def forth(row: Any, held: tuple[Any, Any]) -> tuple[Any, Any]:
            rest, shares = held
            share = memory.weights[row] * nx.dot(memory.steps[row], rest)
            return rest - share * memory.changes[row], nx.put_slice(shares, [row], nx.reshape(share, (1,)))

        rest, shares = nx.fori(0, self.count, forth, (gradient, nx.zeros((self.count,), x.type)))

        def back(turn: Any, result: Any) -> Any:
            row = self.count - 1 - turn
            share = memory.weights[row] * nx.dot(memory.changes[row], result)
            return result + (shares[row] - share) * memory.steps[row]

        return -nx.fori(0, self.count, back, memory.scale * rest), nx.tensor(0)

    def after(self, memory: _Pairs, step: Any, change: Any) -> _Pairs:
        """The pairs with one more, where the curvature is positive."""
        curvature = nx.dot(step, change)

        def more() -> _Pairs:
            def pushed(rows: Any, first: Any) -> Any:
                return nx.concatenate([nx.new_axis(first, 0), rows[: self.count - 1]])

            weight = 1.0 / curvature
            return _Pairs(
                pushed(memory.steps, step), pushed(memory.changes, change), pushed(memory.weights, weight),
                curvature / nx.dot(change, change),
            )  # fmt: skip

        return nx.cond(curvature > 0, more, lambda: memory)


class NewtonCg:
    """By conjugate gradients on the Newton equation, with products of the Hessian and a vector.

    Parameters
    ----------
    product : callable
        Of a point and a vector; gives the Hessian there times the vector.

    References
    ----------
    J. Nocedal and S. J. Wright, "Numerical Optimization", 2006, algorithm 7.1.
    """

    def __init__(self, product: Callable[[Any, Any], Any]) -> None:
        self.product = product

    def begin(self, x: Any) -> Any:
        """Nothing is remembered."""
        return nx.zeros((), x.type)

    def along(self, memory: Any, x: Any, gradient: Any) -> tuple[Any, Any]:
        """The direction where the residual is small enough, or the curvature is not positive."""
        size = nx.sqrt(nx.dot(gradient, gradient))
        enough = nx.min(0.5, nx.sqrt(size)) * size

        def turn(held: tuple) -> tuple:
            found, residual, conjugate, square, count, _ = held
            product = self.product(x, conjugate)
            curvature = nx.dot(conjugate, product)
            flat = ~(curvature > 3e-16 * nx.dot(conjugate, conjugate))
            share = square / nx.select(flat, 1.0, curvature)
            first = nx.select(count == 0, 1.0, 0.0)
            step = nx.select(flat, nx.as_type(first, x.type), share) * conjugate
            residual = residual + nx.select(flat, 0.0, share) * product
            after = nx.dot(residual, residual)
            return found + step, residual, -residual + after / square * conjugate, after, count + 1, flat

        begun = (nx.zeros(x.shape, x.type), gradient, -gradient, size * size, nx.tensor(0), nx.tensor(False))
        most = 20 * x.shape[0]
        found, *_, count, _ = nx.while_(lambda h: ~h[5] & (nx.sqrt(h[3]) > enough) & (h[4] < most), turn, begun)
        return found, count

    def after(self, memory: Any, step: Any, change: Any) -> Any:
        """Nothing."""
        return memory
