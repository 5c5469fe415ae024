"""Random programs for comparing compilers.

Each value of a program carries what is known of it: a bound of its magnitude, the binary places that it needs as long
as it is exact, and a bound of its error once it is not. Operations that are not continuous (comparisons, rounding,
argmax) are applied to exact values alone, so that a difference between two compilers is a mistake of one of them.
"""

import numpy as np

from nxkernel import types
from nxkernel.graph.expr import Graph
from random_programs.elementwise import Elementwise
from random_programs.known import INTEGERS, MANTISSA
from random_programs.reducing import Reducing
from random_programs.shaping import Shaping
from random_programs.winding import Winding

__all__ = ["Program", "SmoothProgram", "compare_results", "near"]


class Program(Elementwise, Shaping, Reducing, Winding):
    """A graph of some steps over one to three inputs.

    Parameters
    ----------
    choose : object
        Makes the choices: ``integer(low, high)``, ``pick(options)`` and ``chance(percent)``.
    most : int
        How many steps there are at most.
    """

    def __init__(self, choose, most=25):
        super().__init__(choose)
        self._steps = {
            self.binary: 20, self.unary: 10, self.compare: 6, self.select: 5, self.gentle: 6, self.positive: 5,
            self.divide: 3, self.whole: 8, self.typed: 5, self.reduce: 12, self.arg: 5, self.truth: 4, self.reshape: 6,
            self.transpose: 5, self.broadcast: 5, self.slice: 6, self.concatenate: 4, self.pad: 4, self.dot: 6,
            self.reverse: 2, self.dynamic: 3, self.iota: 2, self.normalize: 4, self.back: 6, self.bits: 1, self.wind: 5,
        }  # fmt: skip
        shape = self.shape()
        for _ in range(choose.integer(1, 3)):
            self.input(shape if choose.chance(60) else self.shape())
        for _ in range(choose.integer(1, most)):
            self.step()
        outputs = [self.values[-1]] + [choose.pick(self.values) for _ in range(choose.integer(0, 2))]
        self.graph = Graph("random", self.parameters, outputs, list)

    def step(self):
        place = self.choose.integer(0, sum(self._steps.values()) - 1)
        for step, weight in self._steps.items():
            if place < weight:
                return step()
            place -= weight
        raise AssertionError("the weights of the steps do not add up")


class SmoothProgram(Program):
    """One whose floats are f64 and finite; kinks and jumps are in what is exact alone, so that gradients are sure."""

    smooth = True

    def input_types(self):
        return [types.f64] * (2 * len(INTEGERS)) + INTEGERS


def compare_results(program, found, expected):
    """Assert that the results of a program are those that are expected, in type, shape and value."""
    for output, got, want in zip(program.graph.outputs, found, expected, strict=True):
        assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
        near(program, output, got, want)


def near(program, output, found, expected):
    """Assert that the elements of one result are as near to others as what is known of it says."""
    if output.type.is_integer:
        np.testing.assert_array_equal(found, expected)
        return
    known = program.known[output]
    rtol = 0 if known.exact else 4 * 2.0 ** -MANTISSA[output.type]
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=known.error)
