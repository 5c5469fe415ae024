"""The steps of a plan as Python source: loop nests, single numbers, products; loops and branches are beside this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.analysis.matrix_products import Matrix, Product
from nxkernel.compilers.analysis.scalars import Offset, Term
from nxkernel.compilers.display import operation_text
from nxkernel.compilers.numba_njit import source_writer, user_functions
from nxkernel.compilers.numba_njit.array_indices import IndexTerm, flat_index, indices
from nxkernel.compilers.numba_njit.bound_nest import BoundNestText
from nxkernel.compilers.numba_njit.source_writer import SourceWriter, Variable
from nxkernel.compilers.plan.locations import MemoryKind
from nxkernel.compilers.plan.program_plan import ElementStore, ProgramPlan, ScalarStep, Step
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.build_nest import attribute_of
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import Op, StoreMode
from nxkernel.graph.expr import Expr

#: What writes the steps of other kinds: loops, branches, and opaque operations, which have scopes inside.
WRITERS: dict[type, Callable[[SourceScope, Any], None]] = {}


class SourceScope:
    """Writes the steps of one plan: the program's, or that of a body of a loop or branch.

    Parameters
    ----------
    writer : SourceWriter
    plan : ProgramPlan
    inputs : sequence of Variable
        The variables of its inputs.
    outputs : dict
        For arrays that the plan makes, by number, the variables that they are to be in; others get variables of their
        own.
    shared : bool
        Whether the threads may share its loops.
    """

    def __init__(
        self,
        writer: SourceWriter,
        plan: ProgramPlan,
        inputs: Sequence[Variable],
        outputs: dict[int, Variable] | None = None,
        shared: bool = True,
    ) -> None:
        self.w, self.plan, self.inputs, self.shared = writer, plan, inputs, shared
        self._variables: dict[object, Variable] = {}
        for number, array in enumerate(plan.arrays):
            variable = (outputs or {}).get(number)
            if variable is not None:
                self._variables[MemoryKind.OUTPUT, number, array.type, array.size] = variable
        self.ranges = plan.ranges

    def run(self) -> None:
        """Write all steps."""
        for step in self.plan.steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """Write one step."""
        work = step.work
        if isinstance(work, BoundNest):
            BoundNestText(self.w, work, self.variable, self.shared).write()
        elif isinstance(work, ScalarStep):
            self.w.line(f"{self.reference(self.variable(work.node))} = {self.computed(work.node)}")
        elif isinstance(work, ElementStore):
            self._store(work.node)
        elif isinstance(work, Product):
            self._product(work)
        else:
            WRITERS[type(work)](self, work)

    # Variables -------------------------------------------------------------------------------------------------

    def variable(self, node: Expr) -> Variable:
        """The variable that holds a value."""
        return self.at(self.plan.place[node], node)

    def at(self, location: tuple[MemoryKind, int], like: Expr) -> Variable:
        """The variable at a location, for a value like the given one.

        Values at one location that differ in type or size are not there at the same time, and have variables of their
        own.
        """
        kind, number = location
        if kind is MemoryKind.INPUT:
            return self.inputs[number]
        key = (kind, number, like.type, like.size)
        variable = self._variables.get(key)
        if variable is None:
            meaning = like.primitive.name if like.primitive.name not in ("elem", "while", "cond") else "value"
            if scalars.is_single(like):
                variable = self.w.number(meaning, like.type, like.shape)
            else:
                variable = self.w.allocate(meaning, like.type, like.shape)
            self._variables[key] = variable
        return variable

    # Numbers ---------------------------------------------------------------------------------------------------

    def computed(self, node: Expr) -> str:
        """The expression of a single number that a step computes."""
        low, high = self.ranges.get(node, (0, 1))
        if low == high:
            return operation_text.literal(low, node.type)
        if node.primitive.family == "elementwise":
            if node.primitive is p.njit:
                user_functions.add(self.w, node.params["function"], node)
            op = Op(node.primitive.name, node.type, attribute=attribute_of(node))
            operands = [Op("", operand.type) for operand in node.operands]
            return operation_text.phrase(op, [self.value(operand) for operand in node.operands], operands)
        if node.primitive in (p.iota, p.constant):
            return operation_text.literal(node.params.get("value", 0), node.type)
        found = scalars.element_of(node)
        if found.base.primitive is p.constant:
            return operation_text.literal(found.base.params["value"], node.type)
        return self._element(self.variable(found.base), found.offset)

    def value(self, node: Expr) -> str:
        """The expression of a single number that is there already."""
        if node.primitive is p.constant:
            return operation_text.literal(node.params["value"], node.type)
        return self.reference(self.variable(node))

    @staticmethod
    def reference(variable: Variable) -> str:
        """The one element of a variable, to be read or assigned."""
        if variable.is_number:
            return variable.name
        return f"{variable.name}[{', '.join('0' * len(variable.shape)) or '()'}]"

    def truth(self, node: Expr) -> str:
        """A single number as a condition."""
        return operation_text.truth(self.value(node), Op("", node.type))

    def _element(self, variable: Variable, offset: Offset) -> str:
        terms = [IndexTerm(self._clamped(term), term.most, term.stride) for term in offset.terms]
        at = indices(variable.shape, offset.fixed, terms)
        return source_writer.element(variable, at, lambda: flat_index(offset.fixed, terms))

    def _clamped(self, term: Term) -> str:
        """An index, clamped to the elements that exist."""
        index = term.index
        if index.primitive is p.constant:
            return str(min(max(int(index.params["value"]), 0), term.most))
        low, high = self.ranges.get(index, types.limits(index.type))
        text = self.value(index)
        if index.type is types.u64:
            return f"min({text}, np.uint64({term.most}))" if high > term.most else text
        if low < 0:
            text = f"max({text}, 0)"
        return f"min({text}, {term.most})" if high > term.most else text

    def _store(self, node: Expr) -> None:
        """Store an element into the array that an update in place changes."""
        (store,) = piecewise_buffers.stores(node, in_place=True)
        terms = [Term(at.index, at.most, at.stride) for at in store.places]
        place, value = self._element(self.variable(node), Offset(store.offset, terms)), self.value(store.value)
        if store.mode is StoreMode.PUT:
            self.w.line(f"{place} = {value}")
        else:
            self.w.line(operation_text.update(store.mode.value, place, value, node.type))

    # Products --------------------------------------------------------------------------------------------------

    def _product(self, product: Product) -> None:
        batch, rows, columns, depth = product.batch, product.rows, product.columns, product.depth
        target = self.variable(product.node)
        left = self._matrix(product.left, batch, rows, depth)
        right = self._matrix(product.right, batch, columns, depth, across=True)
        shape = (rows, columns) if batch == 1 else (batch, rows, columns)
        name = target.name if target.shape == shape else f"{target.name}.reshape({source_writer.shape_text(shape)})"
        if batch == 1:
            self.w.line(f"np.dot({left}, {right}, {name})")
            return
        if "(" in name:
            matrices = self.w.name(f"{target.name}_matrices")
            self.w.line(f"{matrices} = {name}")
            name = matrices
        index = self.w.name("b")
        with self.w.block(f"for {index} in range({batch}):"):
            self.w.line(f"np.dot({left.format(b=index)}, {right.format(b=index)}, {name}[{index}])")

    def _matrix(self, side: Matrix, batch: int, rows: int, depth: int, across: bool = False) -> str:
        """The expression of an operand, [rows, depth], or turned if it is the right one; ``{b}`` is the number of the
        product.
        """
        variable = self.variable(side.base)
        height, width = (depth, rows) if side.turned else (rows, depth)
        turned = side.turned != across
        size = height * width
        plain = side.step == width or height == 1
        if variable.is_number:
            text = f"np.full((1, 1), {variable.name})"
        elif plain and (batch == 1 or side.batch_step == size) and batch * size == variable.size:
            shape = (height, width) if batch == 1 else (batch, height, width)
            text = variable.name
            if variable.shape != shape:
                text = f"{text}.reshape({source_writer.shape_text(shape)})"
            if batch > 1:
                text = f"{text}[{{b}}]"
        elif plain and side.batch_step == 0 and size == variable.size:
            text = variable.name
            if variable.shape != (height, width):
                text = f"{text}.reshape(({height}, {width}))"
        else:
            first = f"{{b}} * {side.batch_step}" if batch > 1 and side.batch_step else "0"
            flat = variable.name if len(variable.shape) == 1 else f"{variable.name}.reshape(-1)"
            bytes_ = variable.type.size
            strides = f"({side.step * bytes_}, {bytes_})"
            text = f"np.lib.stride_tricks.as_strided({flat}[{first}:], ({height}, {width}), {strides})"
            text = f"np.ascontiguousarray({text})"
        return f"{text}.T" if turned else text
