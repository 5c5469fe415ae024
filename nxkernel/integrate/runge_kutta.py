"""Explicit Runge-Kutta methods: their coefficients, one attempt of a step, and what lies between two steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import nxkernel as nx
from nxkernel.integrate import dop853_coefficients as dop853

#: How steps grow and shrink: a part of what the error allows, and the least and greatest factor.
SAFETY, LEAST, GREATEST = 0.9, 0.2, 10.0
#: Coefficients by the number of the stage.
Row = Mapping[int, float]


class Problem(NamedTuple):
    """A differential equation, and how exactly it is to be solved.

    Parameters
    ----------
    function : callable
        Of a time and a vector; gives the derivative, a vector.
    end, direction : tensor
        The last time, and 1 or -1.
    rtol, atol, max_step : tensor
    jacobian : callable
        Of a time and a vector; gives the derivative of the function by the vector.
    is_differentiable : bool
        Whether gradients may be asked for.
    """

    function: Callable[[Any, Any], Any]
    end: Any
    direction: Any
    rtol: Any
    atol: Any
    max_step: Any
    jacobian: Callable[[Any, Any], Any]
    is_differentiable: bool


class Memory(NamedTuple):
    """What an explicit method takes from one attempt to the next."""

    size: Any
    slope: Any
    rejected: Any
    calls: Any
    #: Of implicit methods alone.
    jacobians: Any
    inverses: Any


class Attempt(NamedTuple):
    """An attempt of a step: where it ends, whether that is exact enough, and whether steps have become too small."""

    memory: Any
    time: Any
    value: Any
    accepted: Any
    failed: Any
    #: What :meth:`coefficients` needs of it.
    stages: Any


def norm(vector: Any) -> Any:
    """The root of the mean of the squares."""
    return nx.sqrt(nx.mean(nx.abs(vector) ** 2))


def first_size(problem: Problem, time: Any, value: Any, slope: Any, order: int) -> Any:
    """The size of a first step.

    References
    ----------
    E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary Differential Equations I", 1993, section II.4.
    """
    span = nx.abs(problem.end - time)
    scale = problem.atol + nx.abs(value) * problem.rtol
    first, second = norm(value / scale), norm(slope / scale)
    small = (first < 1e-5) | (second < 1e-5)
    guess = nx.min(nx.select(small, 1e-6, 0.01 * first / nx.select(small, 1.0, second)), span)
    ahead = problem.function(time + guess * problem.direction, value + guess * problem.direction * slope)
    third = norm((ahead - slope) / scale) / nx.select(guess > 0, guess, 1.0)
    flat = (second <= 1e-15) & (third <= 1e-15)
    greatest = nx.select(flat, 1.0, nx.max(second, third))
    size = nx.select(flat, nx.max(1e-6, guess * 1e-3), (0.01 / greatest) ** (1 / (order + 1)))
    return nx.min(nx.min(100 * guess, size), nx.min(span, problem.max_step))


def least_size(problem: Problem, time: Any) -> Any:
    """The smallest step that changes a time."""
    type_ = time.type.dtype
    # The distance to the next number is that of the power of two below.
    exponent = nx.floor(nx.log2(nx.max(nx.abs(time), float(np.finfo(type_).tiny))))
    return 10 * float(np.finfo(type_).eps) * nx.max(2.0**exponent, float(np.finfo(type_).tiny))


class RungeKutta:
    """A method by its coefficients.

    Parameters
    ----------
    order : int
        Of the error.
    times, stages, result : sequence
        When the stages are, and what they and the result are made of.
    error : Row
        What the error is made of.
    between : sequence of sequence
        For each stage its part of the coefficients of the powers of a time between two steps.
    """

    kind = Memory

    def __init__(
        self, order: int, times: Sequence[float], stages: Sequence[Row], result: Row, error: Row,
        between: Sequence[Sequence[float]],
    ) -> None:  # fmt: skip
        self.order, self.times, self.stages, self.result = order, times, stages, result
        self.error, self.between = error, between
        #: How many coefficients there are between two steps.
        self.count = len(between[0]) if between else 0

    def empty(self, value: np.ndarray) -> tuple:
        """A memory to be replaced by :meth:`begin`."""
        real = np.zeros((), value.dtype).real.dtype.type
        return (real(0), np.zeros_like(value), np.bool_(False), np.int64(0), np.int64(0), np.int64(0))

    def begin(self, problem: Problem, time: Any, value: Any, first_step: Any) -> Memory:
        """What is known before the first step; `first_step` is its size, 0 for one to be found."""
        slope = problem.function(time, value)

        def found() -> tuple[Any, Any]:
            return first_size(problem, time, value, slope, self.order), nx.tensor(2)

        size, calls = nx.cond(first_step > 0, lambda: (first_step, nx.tensor(1)), found)
        none = nx.tensor(0)
        return Memory(nx.stop_grad(size), slope, nx.tensor(False), calls, none, none)

    def attempt(self, problem: Problem, memory: Memory, time: Any, value: Any) -> Attempt:
        """Try one step."""
        least = least_size(problem, time)
        # A step begins within its bounds; one that was made smaller and is below them has failed.
        size = nx.select(memory.rejected, memory.size, nx.clip(memory.size, least, nx.max(least, problem.max_step)))
        failed = memory.rejected & (size < least)
        after = time + nx.stop_grad(size) * problem.direction
        after = nx.select(problem.direction * (after - problem.end) > 0, problem.end, after)
        step = after - time
        slopes = [memory.slope]
        for row, part in zip(self.stages[1:], self.times[1:], strict=False):
            slopes.append(problem.function(time + part * step, value + step * combined(row, slopes)))
        reached = value + step * combined(self.result, slopes)
        slopes.append(problem.function(after, reached))
        scale = problem.atol + nx.max(nx.abs(value), nx.abs(reached)) * problem.rtol
        error = nx.stop_grad(self.error_norm(slopes, step, scale))
        accepted = (error < 1) & ~failed
        allowed = SAFETY * nx.select(error > 0, error, 1.0) ** (-1 / (self.order + 1))
        grown = nx.select(error > 0, nx.min(GREATEST, allowed), GREATEST)
        grown = nx.select(memory.rejected, nx.min(1.0, grown), grown)
        # NaN is an error, too.
        shrunk = nx.select(allowed == allowed, nx.max(LEAST, allowed), LEAST)
        size = nx.stop_grad(nx.abs(step) * nx.select(accepted, grown, shrunk))
        slope = nx.select(nx.broadcast(accepted, value.shape), slopes[-1], memory.slope)
        memory = memory._replace(size=size, slope=slope, rejected=~accepted, calls=memory.calls + len(self.stages))
        return Attempt(memory, after, reached, accepted, failed, tuple(slopes))

    def error_norm(self, slopes: Sequence[Any], step: Any, scale: Any) -> Any:
        """The error of a step, 1 for the greatest that is accepted."""
        return norm(step * combined(self.error, slopes) / scale)

    def coefficients(self, problem: Problem, time: Any, value: Any, attempt: Attempt) -> tuple[Any, int]:
        """The coefficients of the value between two steps, and how many calls these took."""
        step = attempt.time - time
        columns = [
            combined({stage: row[power] for stage, row in enumerate(self.between) if row[power]}, attempt.stages)
            for power in range(self.count)
        ]
        return nx.stack([step * column for column in columns]), 0

    def weights(self, part: Any) -> Any:
        """By what the coefficients are multiplied at a part of the step."""
        return nx.stack([part**power for power in range(1, self.count + 1)])


def combined(row: Row, slopes: Sequence[Any]) -> Any:
    """A sum of slopes with coefficients."""
    total: Any = None
    for stage, factor in row.items():
        term = slopes[stage] * factor
        total = term if total is None else total + term
    return total


class Dop853(RungeKutta):
    """The method of order 8, whose error is estimated by two of lower orders."""

    def __init__(self) -> None:
        super().__init__(7, dop853.TIMES[:12], dop853.STAGES[:12], dop853.RESULT, {}, [])
        self.count = 7

    def error_norm(self, slopes: Sequence[Any], step: Any, scale: Any) -> Any:
        """The error of order 5, weighed by that of order 3."""
        fifth, third = combined(dop853.FIFTH, slopes) / scale, combined(dop853.THIRD, slopes) / scale
        fifth, third = nx.sum(nx.abs(fifth) ** 2), nx.sum(nx.abs(third) ** 2)
        root = nx.sqrt((fifth + 0.01 * third) * slopes[0].size)
        return nx.abs(step) * fifth / nx.select(root > 0, root, 1.0)

    def coefficients(self, problem: Problem, time: Any, value: Any, attempt: Attempt) -> tuple[Any, int]:
        """By three more stages."""
        step, slopes = attempt.time - time, list(attempt.stages)
        for row, part in zip(dop853.STAGES[13:], dop853.TIMES[13:], strict=True):
            slopes.append(problem.function(time + part * step, value + step * combined(row, slopes)))
        change, first, last = attempt.value - value, slopes[0], slopes[12]
        rows = [change, step * first - change, 2 * change - step * (last + first)]
        rows += [step * combined(row, slopes) for row in dop853.INTERPOLATION]
        return nx.stack(rows), 3

    def weights(self, part: Any) -> Any:
        """Products of the part and what is left of the step, in turn."""
        products, product = [], None
        for place in range(self.count):
            factor = part if place % 2 == 0 else 1 - part
            product = factor if product is None else product * factor
            products.append(product)
        return nx.stack(products)


#: Bogacki and Shampine, 1989.
RK23 = RungeKutta(
    2, [0, 1 / 2, 3 / 4], [{}, {0: 1 / 2}, {1: 3 / 4}], {0: 2 / 9, 1: 1 / 3, 2: 4 / 9},
    {0: 5 / 72, 1: -1 / 12, 2: -1 / 9, 3: 1 / 8},
    [[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]],
)  # fmt: skip
#: Dormand and Prince, 1980; between steps Shampine, 1986.
RK45 = RungeKutta(
    4,
    [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1],
    [
        {},
        {0: 1 / 5},
        {0: 3 / 40, 1: 9 / 40},
        {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
        {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
        {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
    ],
    {0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
    {0: -71 / 57600, 2: 71 / 16695, 3: -71 / 1920, 4: 17253 / 339200, 5: -22 / 525, 6: 1 / 40},
    [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ],
)
