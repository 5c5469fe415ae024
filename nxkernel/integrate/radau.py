"""An implicit Runge-Kutta method for stiff equations: Radau IIA of order 5."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import nxkernel as nx
from nxkernel.integrate.runge_kutta import GREATEST, LEAST, Attempt, Problem, first_size, least_size, norm

_ROOT = math.sqrt(6)
#: When the stages are, and what they are made of.
_TIMES = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1])
_STAGES = np.array([
    [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
    [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
    [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
])  # fmt: skip
_ERROR = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3
#: The eigenvalues of the inverse of the stages: a real one, and one of a pair.
_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
_PAIR = 3 + 0.5 * (3 ** (1 / 3) - 3 ** (2 / 3)), -0.5 * (3 ** (5 / 6) + 3 ** (7 / 6))
#: To and from their eigenvectors.
_FROM = np.array([
    [0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
    [0.25021312296533332, 0.20412935229379994, -0.38294211275726192],
    [1, 1, 0],
])  # fmt: skip
_TO = np.array([
    [4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
    [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
    [0.50287263494578682, -2.57192694985560522, 0.59603920482822492],
])  # fmt: skip
#: The coefficients of the powers of a time between two steps, for each stage.
_BETWEEN = np.array([
    [13 / 3 + 7 * _ROOT / 3, -23 / 3 - 22 * _ROOT / 3, 10 / 3 + 5 * _ROOT],
    [13 / 3 - 7 * _ROOT / 3, -23 / 3 + 22 * _ROOT / 3, 10 / 3 - 5 * _ROOT],
    [1 / 3, -8 / 3, 10 / 3],
])  # fmt: skip
_MOST = 6


class RadauMemory(NamedTuple):
    """What the method takes from one attempt to the next."""

    size: Any
    slope: Any
    #: Whether an attempt is made again, and whether because of its error.
    again: Any
    rejected: Any
    #: The size and the error of the last step; 0 for none.
    size_before: Any
    error_before: Any
    jacobian: Any
    is_current: Any
    #: Inverses for the real eigenvalue and the pair, and whether they are of this size and Jacobian.
    inverse: Any
    pair: Any
    is_inverse: Any
    #: The polynomial of the last step, where it began, and how long it was; 0 for none.
    between: Any
    time_before: Any
    value_before: Any
    step_before: Any
    calls: Any
    jacobians: Any
    inverses: Any


class _Newton(NamedTuple):
    turned: Any
    stages: Any
    length: Any
    rate: Any
    count: Any
    status: Any


class Radau:
    """The method: an attempt of a step, and what lies between two steps.

    References
    ----------
    E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II: Stiff and Differential-Algebraic Problems",
    1996, section IV.8.
    """

    count = 3
    kind = RadauMemory

    def empty(self, value: np.ndarray) -> tuple:
        """A memory to be replaced by :meth:`begin`."""
        n, type_ = value.size, value.dtype
        zero, no, none = type_.type(0), np.bool_(False), np.int64(0)
        matrix, pair, rows = np.zeros((n, n), type_), np.zeros((2 * n, 2 * n), type_), np.zeros((3, n), type_)
        like = np.zeros_like(value)
        return (zero, like, no, no, zero, zero, matrix, no, matrix, pair, no, rows, zero, like, zero, none, none, none)

    def begin(self, problem: Problem, time: Any, value: Any, first_step: Any) -> RadauMemory:
        """What is known before the first step; `first_step` is its size, 0 for one to be found."""
        slope, jacobian = problem.function(time, value), problem.jacobian(time, value)

        def found() -> tuple[Any, Any]:
            return first_size(problem, time, value, slope, 3), nx.tensor(2)

        size, calls = nx.cond(first_step > 0, lambda: (first_step, nx.tensor(1)), found)
        n, type_ = value.shape[0], value.type
        zero, no, none = nx.zeros((), type_), nx.tensor(False), nx.tensor(0)
        return RadauMemory(
            size=nx.stop_grad(size), slope=nx.stop_grad(slope), again=no, rejected=no, size_before=zero,
            error_before=zero, jacobian=nx.stop_grad(jacobian), is_current=nx.tensor(True),
            inverse=nx.zeros((n, n), type_), pair=nx.zeros((2 * n, 2 * n), type_), is_inverse=no,
            between=nx.zeros((3, n), type_), time_before=zero, value_before=nx.zeros((n,), type_), step_before=zero,
            calls=calls, jacobians=none + 1, inverses=none,
        )  # fmt: skip

    def attempt(self, problem: Problem, memory: RadauMemory, time: Any, value: Any) -> Attempt:
        """Try one step."""
        now, least = nx.stop_grad(value), least_size(problem, time)
        within = nx.clip(memory.size, least, nx.max(least, problem.max_step))
        is_same = memory.again | (within == memory.size)
        before = nx.select(is_same, memory.size_before, 0.0)
        size = nx.select(memory.again, memory.size, within)
        failed = memory.again & (size < least)
        after = time + nx.stop_grad(size) * problem.direction
        after = nx.select(problem.direction * (after - problem.end) > 0, problem.end, after)
        step = after - time
        # Inverses are of the size that was meant when they were made.
        is_inverse = memory.is_inverse & (nx.abs(step) == size)
        h, size = nx.stop_grad(step), nx.stop_grad(nx.abs(step))
        inverse, pair = nx.cond(
            is_inverse, lambda: (memory.inverse, memory.pair), lambda: self._inverses(memory.jacobian, h)
        )
        memory = memory._replace(inverses=memory.inverses + nx.select(is_inverse, 0, 2))
        newton = self._newton(problem, memory, nx.stop_grad(time), now, h, inverse, pair)
        converged = newton.status == 1
        memory = memory._replace(
            inverse=inverse, pair=pair, is_inverse=nx.tensor(True), calls=memory.calls + 3 * newton.count,
            size_before=before,
        )  # fmt: skip

        def stale() -> tuple[RadauMemory, Any]:
            """With a Jacobian of here, or with half of the size where there is one."""
            fresh = memory.is_current
            matrix = nx.cond(fresh, lambda: memory.jacobian, lambda: problem.jacobian(nx.stop_grad(time), now))
            return memory._replace(
                jacobian=nx.stop_grad(matrix), is_current=nx.tensor(True), is_inverse=nx.tensor(False),
                size=nx.select(fresh, size / 2, size), again=nx.tensor(True),
                jacobians=memory.jacobians + nx.select(fresh, 0, 1),
            ), nx.tensor(False)  # fmt: skip

        def judged() -> tuple[RadauMemory, Any]:
            return self._judged(problem, memory, nx.stop_grad(time), now, nx.stop_grad(after), h, newton)

        memory, accepted = nx.cond(converged, judged, stale)
        # Of what did not converge nothing is kept, and its gradient would be NaN.
        stages = nx.select(nx.broadcast(converged, newton.stages.shape), newton.stages, 0.0)
        if problem.is_differentiable:
            stages = self._exact(problem, time, value, step, stages)
        return Attempt(nx.stop_grad(memory), after, value + stages[2], accepted & ~failed, failed, stages)

    def _inverses(self, jacobian: Any, h: Any) -> tuple[Any, Any]:
        unit = nx.eye(jacobian.shape[0], type=jacobian.type)
        real, imaginary = unit * (_PAIR[0] / h) - jacobian, unit * (_PAIR[1] / h)
        block = nx.concatenate(
            [nx.concatenate([real, -imaginary], axis=1), nx.concatenate([imaginary, real], axis=1)], axis=0
        )
        return nx.linalg.invert(unit * (_REAL / h) - jacobian), nx.linalg.invert(block)

    def _slopes(self, problem: Problem, time: Any, value: Any, h: Any, stages: Any) -> Any:
        rows = [problem.function(time + float(part) * h, value + stages[row]) for row, part in enumerate(_TIMES)]
        return nx.stack(rows)

    def _newton(
        self, problem: Problem, memory: RadauMemory, time: Any, value: Any, h: Any, inverse: Any, pair: Any
    ) -> _Newton:
        """The stages, by simplified Newton steps from what the last step's polynomial says."""
        n, type_ = value.shape[0], value.type
        to, from_ = nx.tensor(_TO, type=type_), nx.tensor(_FROM, type=type_)
        scale = problem.atol + nx.abs(value) * problem.rtol
        tiny = float(np.finfo(type_.dtype).eps)
        enough = nx.max(10 * tiny / problem.rtol, nx.min(0.03, nx.sqrt(problem.rtol)))
        enough = nx.reduce_max(enough)
        known = memory.step_before != 0
        part = time + h * nx.tensor(_TIMES, type=type_) - memory.time_before
        part = part / nx.select(known, memory.step_before, 1.0)
        guess = nx.dot(nx.transpose(self.weights(part)), memory.between) + nx.new_axis(memory.value_before - value, 0)
        guess = nx.select(nx.broadcast(known, guess.shape), guess, 0.0)

        def turn(held: _Newton) -> _Newton:
            slopes = self._slopes(problem, time, value, h, held.stages)
            sides = nx.dot(to, slopes)
            first = nx.dot(inverse, sides[0] - _REAL / h * held.turned[0])
            real, imaginary = held.turned[1], held.turned[2]
            others = nx.dot(pair, nx.concatenate([
                sides[1] - (_PAIR[0] * real - _PAIR[1] * imaginary) / h,
                sides[2] - (_PAIR[0] * imaginary + _PAIR[1] * real) / h,
            ]))  # fmt: skip
            change = nx.stack([first, others[:n], others[n:]])
            length = norm(change / nx.new_axis(scale, 0))
            rate = nx.select(held.count > 0, length / held.length, 0.0)
            left = _MOST - nx.as_type(held.count, type_)
            diverges = (rate >= 1) | ((rate > 0) & (rate**left / (1 - rate) * length > enough))
            diverges = diverges | ~(length < np.inf)
            done = (length == 0) | ((held.count > 0) & (rate / (1 - rate) * length < enough))
            turned = held.turned + change
            status = nx.select(diverges, -1, nx.select(done, 1, 0))
            return _Newton(turned, nx.dot(from_, turned), length, rate, held.count + 1, nx.as_type(status, "s64"))

        zero = nx.zeros((), type_)
        begun = _Newton(nx.dot(to, guess), guess, zero, zero, nx.tensor(0), nx.tensor(0))
        return nx.while_(lambda held: nx.logical_and(held.count < _MOST, held.status == 0), turn, begun)

    def _judged(
        self, problem: Problem, memory: RadauMemory, time: Any, value: Any, after: Any, h: Any, newton: _Newton
    ) -> tuple[RadauMemory, Any]:
        """Whether an attempt is exact enough, and what comes after it."""
        reached = value + newton.stages[2]
        scale = problem.atol + nx.max(nx.abs(value), nx.abs(reached)) * problem.rtol
        part = nx.dot(nx.tensor(_ERROR, type=value.type), newton.stages) / h
        error = nx.dot(memory.inverse, memory.slope + part)
        size = norm(error / scale)

        def again() -> tuple[Any, Any]:
            better = nx.dot(memory.inverse, problem.function(time, value + error) + part)
            return norm(better / scale), nx.tensor(1)

        size, calls = nx.cond(memory.rejected & (size > 1), again, lambda: (size, nx.tensor(0)))
        accepted = size <= 1
        count = nx.as_type(newton.count, value.type)
        safety = 0.9 * (2 * _MOST + 1) / (2 * _MOST + count)
        h_abs = nx.abs(h)
        known = (memory.size_before > 0) & (size > 0)
        more = h_abs / nx.select(known, memory.size_before, 1.0)
        more = more * (memory.error_before / nx.select(size > 0, size, 1.0)) ** 0.25
        factor = nx.min(1.0, nx.select(known, more, 1.0)) * nx.select(size > 0, size, 1e-20) ** -0.25
        factor = nx.select(size == size, safety * factor, LEAST)
        narrower = h_abs * nx.max(LEAST, factor)

        def refused() -> RadauMemory:
            return memory._replace(
                size=narrower, again=nx.tensor(True), rejected=nx.tensor(True), is_inverse=nx.tensor(False),
                calls=memory.calls + calls,
            )  # fmt: skip

        def kept() -> RadauMemory:
            slow = (newton.count > 2) & (newton.rate > 1e-3)
            grown = nx.min(GREATEST, factor)
            same = ~slow & (grown < 1.2)
            matrix = nx.cond(slow, lambda: problem.jacobian(after, reached), lambda: memory.jacobian)
            return memory._replace(
                size=h_abs * nx.select(same, 1.0, grown), slope=problem.function(after, reached),
                again=nx.tensor(False), rejected=nx.tensor(False), size_before=memory.size, error_before=size,
                jacobian=matrix, is_current=slow, is_inverse=same,
                between=nx.dot(nx.tensor(_BETWEEN.T.copy(), type=value.type), newton.stages), time_before=time,
                value_before=value, step_before=h, calls=memory.calls + calls + 1,
                jacobians=memory.jacobians + nx.select(slow, 1, 0),
            )  # fmt: skip

        return nx.cond(accepted, kept, refused), accepted

    def _exact(self, problem: Problem, time: Any, value: Any, step: Any, stages: Any) -> Any:
        """The stages after a whole Newton step, by which they depend on the value as the equation says."""
        matrix, shape = nx.tensor(_STAGES, type=value.type), stages.shape

        def residual(flat: Any) -> Any:
            rows = nx.reshape(flat, shape)
            return flat - nx.flatten(step * nx.dot(matrix, self._slopes(problem, time, value, step, rows)))

        begin = nx.flatten(nx.stop_grad(stages))
        better = begin - nx.linalg.solve(nx.stop_grad(nx.jacobian(residual)(begin)), residual(begin))
        return nx.reshape(better, shape)

    def coefficients(self, problem: Problem, time: Any, value: Any, attempt: Attempt) -> tuple[Any, int]:
        """The coefficients of the value between two steps, and how many calls these took."""
        return nx.dot(nx.tensor(_BETWEEN.T.copy(), type=value.type), attempt.stages), 0

    def weights(self, part: Any) -> Any:
        """By what the coefficients are multiplied at a part of the step."""
        return nx.stack([part, part**2, part**3])
