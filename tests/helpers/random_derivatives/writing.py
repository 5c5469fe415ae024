"""Random programs as text, of functions of a library `L`: expressions, transformations of lambdas, control flow.

A program is an expression of `x`, `y` and what lambdas around it bind, so that transformed functions close over values
of other transformations, at any depth.
"""

from __future__ import annotations

import math
import random
from typing import NamedTuple

Shape = tuple[int, ...]
SHAPES: list[Shape] = [(), (2,), (3,), (2, 3)]
#: How many elements a value may have: a second derivative has the square of those of its argument.
MOST = 100


class Variable(NamedTuple):
    """A name and the shape of what it is bound to."""

    name: str
    shape: Shape


class Program(NamedTuple):
    """A program: its text, the shapes of `x`, `y` and the result, and which transformations are in it."""

    text: str
    x: Shape
    y: Shape
    shape: Shape
    used: tuple[str, ...]


#: Element-wise functions, as text: bounded, or growing slowly, and smooth almost everywhere.
UNARY = [
    "L.sin({})", "L.cos({})", "L.tanh({})", "L.atan({})", "L.sigmoid({})", "L.exp(-L.square({}))", "L.exp(L.sin({}))",
    "L.log(1.0 + L.square({}))", "L.sqrt(1.0 + L.square({}))", "1.0 / (1.0 + L.square({}))", "L.square(L.tanh({}))",
    "(L.tanh({}) ** 3)", "L.absolute({})", "L.erf({})", "-{}", "(2.0 - {})",
    "L.stop_grad(L.sin({})) * 0.5", "({} * 0.5)",
]  # fmt: skip
BINARY = [
    "({} + {})", "({} - {})", "({} * {})", "L.maximum({}, {})", "L.minimum({}, {})",
    "L.where(L.less({}, 0.25), {}, L.sin({}))", "({} / (1.5 + L.square({})))", "L.tanh({}) * {}",
    "L.atan2({}, 2.0 + L.square({}))",
]  # fmt: skip
CONTROL = ["cond", "while", "fori", "scan"]
DERIVATIVES = {
    "grad": 1, "value_and_grad": 1, "jvp": 1, "linearize": 1, "vjp": 1, "jacobian": 1, "jacfwd": 1, "jacrev": 1,
    "hessian": 2,
}  # fmt: skip
OTHERS = ["vmap", "vmap_axes", "checkpoint", "custom_grad"]


class Writer:
    """Writes programs.

    Parameters
    ----------
    seed : int
    control : bool
        Whether there may be loops and choices.
    """

    def __init__(self, seed: int, control: bool = True) -> None:
        self.random = random.Random(seed)
        self.around = [*DERIVATIVES, *OTHERS, *(CONTROL if control else [])]
        self.used: list[str] = []
        self.names = 0

    def program(self) -> Program:
        """A program with one transformation at least."""
        x, y = (self.random.choice(SHAPES) for _ in range(2))
        shape = self.random.choice(SHAPES)
        text = self.applied([Variable("x", x), Variable("y", y)], shape, 3, 4)
        return Program(text, x, y, shape, tuple(self.used))

    def value(self, variables: list[Variable], shape: Shape, fuel: int, depth: int, order: int) -> str:
        """An expression of a shape.

        Parameters
        ----------
        variables : list of Variable
            What it may be made of.
        shape : tuple of int
        fuel : int
            How large it may be.
        depth : int
            How many transformations may be inside of one another.
        order : int
            How many derivatives there may be of one another.
        """
        if fuel <= 0:
            return self.leaf(variables, shape)
        ways = ["unary", "unary", "binary", "binary", "shaped", "leaf"]
        if depth:
            ways += ["applied"] * 4
        way = self.random.choice(ways)
        part = lambda s=shape, f=fuel - 1: self.value(variables, s, f, depth, order)  # noqa: E731
        if way == "unary":
            return self.random.choice(UNARY).format(part())
        if way == "binary":
            text = self.random.choice(BINARY)
            return text.format(*[part(f=fuel // 2) for _ in range(text.count("{}"))])
        if way == "shaped":
            return self.shaped(part, shape)
        if way == "applied":
            return self.applied(variables, shape, depth, order)
        return self.leaf(variables, shape)

    def leaf(self, variables: list[Variable], shape: Shape) -> str:
        """A variable in a shape, newer ones rather than older ones."""
        name, own = self.random.choice([*variables, *variables[-2:]])
        return self.fitted(name, own, shape)

    def fitted(self, text: str, own: Shape, shape: Shape) -> str:
        """A value in another shape, of which every element counts."""
        if own == shape:
            return text
        if shape == own[: len(shape)]:
            return f"L.mean({text}, {tuple(range(len(shape), len(own)))})"
        if own == shape[len(shape) - len(own) :]:
            return f"({text} * {self.constant(shape)})"
        return f"(L.total(L.tanh({text}), {tuple(range(len(own)))}) * {self.constant(shape)})"

    def constant(self, shape: Shape) -> str:
        """Numbers of a shape."""
        numbers = [round(self.random.uniform(-1.5, 1.5), 3) for _ in range(math.prod(shape))]
        return f"L.constant({numbers}, {shape})"

    def shaped(self, part, shape: Shape) -> str:
        """An expression that moves, joins or adds up elements."""
        if not shape:
            other = self.random.choice(SHAPES[1:])
            axes, text = tuple(range(len(other))), part(other)
            ways = [f"L.total({text}, {axes})", f"L.mean({text}, {axes})", f"L.reduce_max({text}, {axes})"]
            ways.append(f"L.element({text}, {tuple(self.random.randrange(n) for n in other)})")
            ways.append(f"L.log_sum_exp({text}, {axes})")
            return self.random.choice(ways)
        first, rest = shape[0], shape[1:]
        axis = self.random.randrange(len(shape))
        ways = [
            lambda: f"L.reverse({part()}, {axis})",
            lambda: f"L.cumulative_sum({part()}, {axis})",
            lambda: f"L.sort({part()}, {axis})",
            lambda: f"L.stack([{', '.join(part(rest) for _ in range(first))}])",
            lambda: f"L.transpose({part(shape[::-1])})",
            lambda: f"L.reshape({part((math.prod(shape),))}, {shape})",
            lambda: f"L.take({part()}, {[self.random.randrange(first) for _ in range(first)]})",
            lambda: f"L.put({part()}, {self.random.randrange(first)}, {part(rest)})",
            lambda: f"L.matmul({self.constant((first, 2))}, {part((2, *rest))})",
            lambda: f"L.part({part((first + 2, *rest))}, 1, {first + 1})",
            lambda: f"(L.reshape({part(())}, {(1,) * len(shape)}) * {part()})",
        ]
        if first > 1:
            ways.append(lambda: f"L.concatenate([{part((1, *rest))}, {part((first - 1, *rest))}])")
        return self.random.choice(ways)()

    # Transformations ---------------------------------------------------------------------------------------------

    def applied(self, variables: list[Variable], shape: Shape, depth: int, order: int) -> str:
        """What a transformation of a lambda gives for an argument, in a shape."""
        names = [name for name in self.around if DERIVATIVES.get(name, 0) <= order]
        name = self.random.choice(names)
        self.used.append(name)
        source = self.random.choice(SHAPES)
        argument = self.value(variables, source, 2, 0, 0)
        order -= DERIVATIVES.get(name, 0)
        own, text = getattr(self, f"of_{name}")(variables, source, argument, shape, depth - 1, order)
        return self.fitted(text, own, shape)

    def function(
        self, variables: list[Variable], source: Shape, shape: Shape, depth: int, order: int, *more: Shape
    ) -> str:
        """A lambda from a value of one shape to one of another; values of the other shapes are arguments, too."""
        bound = []
        for one in (*more, source):
            self.names += 1
            bound.append(Variable(f"t{self.names}", one))
        body = self.value([*variables, *bound], shape, self.random.randint(2, 5), depth, order)
        # What it is a function of is in it.
        body = f"({body} + L.sin({self.fitted(bound[-1].name, source, shape)}))"
        return f"(lambda {', '.join(one.name for one in bound)}: {body})"

    def target(self, *source: int) -> Shape:
        """The shape of a value whose derivatives are not too large."""
        return self.random.choice([shape for shape in SHAPES if math.prod(shape) * math.prod(source) <= MOST])

    def of_grad(self, variables, source, argument, shape, depth, order):
        return source, f"L.grad({self.function(variables, source, (), depth, order)})({argument})"

    def of_value_and_grad(self, variables, source, argument, shape, depth, order):
        return source, f"L.value_plus_grad({self.function(variables, source, (), depth, order)})({argument})"

    def of_jvp(self, variables, source, argument, shape, depth, order, name="jvp"):
        tangent = self.value(variables, source, 2, 0, 0)
        return shape, f"L.{name}({self.function(variables, source, shape, depth, order)}, {argument}, {tangent})"

    def of_linearize(self, *given):
        return self.of_jvp(*given, name="linearize")

    def of_vjp(self, variables, source, argument, shape, depth, order):
        target = self.target()
        cotangent = self.value(variables, target, 2, 0, 0)
        return source, f"L.vjp({self.function(variables, source, target, depth, order)}, {argument}, {cotangent})"

    def of_jacfwd(self, *given):
        return self.of_jacobian(*given, name="jacfwd")

    def of_jacrev(self, *given):
        return self.of_jacobian(*given, name="jacrev")

    def of_jacobian(self, variables, source, argument, shape, depth, order, name="jacobian"):
        target = self.target(*source)
        function = self.function(variables, source, target, depth, order)
        return (*target, *source), f"L.{name}({function})({argument})"

    def of_hessian(self, variables, source, argument, shape, depth, order):
        target = self.target(*source, *source)
        function = self.function(variables, source, target, depth, order)
        return (*target, *source, *source), f"L.hessian({function})({argument})"

    def of_checkpoint(self, variables, source, argument, shape, depth, order):
        return shape, f"L.checkpoint({self.function(variables, source, shape, depth, order)})({argument})"

    def of_custom_grad(self, variables, source, argument, shape, depth, order):
        value, slope = (self.random.choice(UNARY[:10]).format("u") for _ in range(2))
        return source, f"L.custom_grad(lambda u: {value}, lambda u: {slope}, {argument})"

    def of_vmap(self, variables, source, argument, shape, depth, order):
        count = self.random.choice([2, 3])
        entries = self.constant((count, *source))
        function = self.function(variables, source, shape, depth, order)
        return (count, *shape), f"L.vmap({function}, 0, 0)({entries} * {argument})"

    def of_vmap_axes(self, variables, source, argument, shape, depth, order):
        """Entries along any axis, beside an argument that all of them share."""
        count = self.random.choice([2, 3])
        came, goes = self.random.randint(0, len(source)), self.random.randint(0, len(shape))
        entries = f"L.move({self.constant((count, *source))} * {argument}, {came})"
        shared = self.random.choice(SHAPES)
        function = self.function(variables, source, shape, depth, order, shared)
        own = (*shape[:goes], count, *shape[goes:])
        given = self.value(variables, shared, 2, 0, 0)
        return own, f"L.vmap({function}, (None, {came}), {goes})({given}, {entries})"

    # Control flow ------------------------------------------------------------------------------------------------

    def of_cond(self, variables, source, argument, shape, depth, order):
        then, otherwise = (self.function(variables, source, shape, depth, order) for _ in range(2))
        asked = self.leaf(variables, ())
        return shape, f"L.cond(L.less({asked}, 0.2), {then}, {otherwise}, {argument})"

    def of_while(self, variables, source, argument, shape, depth, order):
        turn = self.function(variables, source, source, depth, min(order, 1))
        limit = round(self.random.uniform(0.2, 2.0), 3)
        axes = tuple(range(len(source)))
        asked = f"lambda t: L.less(L.absolute(L.total(t, {axes})), {limit})"
        return source, f"L.while_({self.random.randint(1, 4)}, {asked}, {turn}, {argument})"

    def of_fori(self, variables, source, argument, shape, depth, order):
        turn = self.function(variables, source, source, depth, min(order, 1), ())
        return source, f"L.fori({self.random.randint(1, 4)}, {turn}, {argument})"

    def of_scan(self, variables, source, argument, shape, depth, order):
        row = self.random.choice(SHAPES[:3])
        step = self.function(variables, source, source, depth, min(order, 1), row)
        rows = f"({self.constant((3, *row))} * {self.value(variables, row, 1, 0, 0)})"
        reverse = self.random.choice([True, False])
        return (3, *source), f"L.scan({step}, {argument}, {rows}, {reverse})"


def written(seed: int, control: bool = True) -> Program:
    """The program of a seed."""
    return Writer(seed, control).program()
