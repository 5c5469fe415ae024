"""Random smooth functions with loops, choices and assignments, whose gradients are taken."""

import numpy as np

import nxkernel as nx
from random_graphs.definitions import written
from random_graphs.differing import agrees

HEAD = (
    "import nxkernel as nx", "", "", "def f(x, m, a, b):", "    y = x * 1.0", "    z = nx.sin(x)", "    s = x[0]",
)  # fmt: skip
VALUES = (
    "nx.sin(y) * x + 0.3 * z", "y * nx.cos(x)", "nx.tanh(y + z)", "0.5 * y + m[1] * 0.1", "y * s + x",
    "nx.exp(-y * y) + z", "nx.sqrt(1 + y * y)", "nx.reverse(y) * 0.7",
    "nx.cumulative_sum(y) * 0.2", "x / (2 + nx.cos(z))",
    "nx.dot(m, nx.sin(y)) * 0.3", "nx.select(x > 0.2, nx.sin(y), z)", "nx.log(1 + nx.exp(y * 0.5))",
)  # fmt: skip
NUMBERS = ("nx.tanh(s + nx.sum(y * z))", "s * 0.5 + x[0]", "nx.sin(y[1]) * s")
ELEMENTS = ("nx.sin(x[1]) + s", "s * 0.5", "y[0] * z[1]")
CONDITIONS = ("a > b", "b < 4", "a % 2 == 0", "nx.sum(y) > 0.4", "s < 0.3", "x[0] > y[1]")


class Curve:
    """Writes a function of a vector `x`, a square matrix `m` and two whole numbers, which gives one number.

    Parameters
    ----------
    choose : Choices
    """

    def __init__(self, choose):
        self.choose = choose
        self.size = choose.pick([4, 2, 7, 33])
        self.lines = [*HEAD]
        self.loops = 0
        self.block(1, None)
        self.lines.append("    return nx.sum(y * z) + s")
        self.text = "\n".join(self.lines) + "\n"
        rng = choose.rng()
        self.arrays = [rng.normal(size=self.size), rng.normal(size=(self.size, self.size))]
        self.numbers = (choose.integer(0, 4), choose.integer(0, 6))
        self.ways = [rng.normal(size=array.shape) for array in self.arrays]

    def __str__(self):
        return f"{self.text}\nx, m = {self.arrays!r}\na, b = {self.numbers}"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def block(self, depth, counter):
        for _ in range(self.choose.integer(1, 3 if depth == 1 else 2)):
            self.statement(depth, counter)
        if counter and self.choose.chance(20):
            self.add(depth, f"if {self.choose.pick(CONDITIONS)}:")
            self.add(depth + 1, "break")

    def statement(self, depth, counter):
        kinds = ["value", "value", "number", "place"]
        if depth < 4 and len(self.lines) < 16:
            kinds += ["choice", "for", "while"]
        kind = self.choose.pick(kinds)
        if kind == "value":
            value = self.choose.pick(VALUES)
            self.add(depth, f"{self.choose.pick('yyz')} = {value}")
        elif kind == "number":
            self.add(depth, f"s = {self.choose.pick(NUMBERS)}")
        elif kind == "place":
            name, place = self.choose.pick("yz"), self.choose.pick(["0", "1", counter or "0"])
            self.add(depth, f"{name}[{place}] = {self.choose.pick(ELEMENTS)}")
        elif kind == "choice":
            self.add(depth, f"if {self.choose.pick(CONDITIONS)}:")
            self.block(depth + 1, None)
            if self.choose.chance(50):
                self.add(depth, "else:")
                self.block(depth + 1, None)
        else:
            self.loops += 1
            name, turns = f"i{self.loops}", self.choose.integer(0, 3)
            if kind == "for":
                self.add(depth, f"for {name} in range({turns}):")
                self.block(depth + 1, name if turns <= 2 else None)
            else:
                self.add(depth, f"{name} = 0")
                more = self.choose.pick(["", " and nx.sum(y) < 3", f" and {name} < a"])
                self.add(depth, f"while {name} < {turns}{more}:")
                self.add(depth + 1, f"{name} += 1")
                self.block(depth + 1, None)

    def check(self):
        with written(self.text) as function:
            slopes = nx.value_and_grad(nx.defn(function), argnums=(0, 1))
            evaluated, compiled = (nx.jit(slopes, compiler=name) for name in ("evaluator", "numba_cpu"))
            wanted, found = (self.run(each, *self.arrays) for each in (evaluated, compiled))
        for got, want in zip(found, wanted, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9 * (1 + np.abs(want).max()))
        slope = sum(np.sum(part * way) for part, way in zip(found[1:], self.ways, strict=True))
        assert agrees(lambda distance: self.moved(compiled, distance), slope), "differences tell another slope"

    def run(self, definition, *arrays):
        value, slopes = definition(*arrays, *self.numbers)
        return [value.to_numpy(), *[slope.to_numpy() for slope in slopes]]

    def moved(self, definition, distance):
        arrays = [array + distance * way for array, way in zip(self.arrays, self.ways, strict=True)]
        return float(self.run(definition, *arrays)[0])
