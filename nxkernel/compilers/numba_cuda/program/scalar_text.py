"""Source text of scalar computations in a kernel: parameters, arithmetic, elements read and written."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.analysis.scalars import Offset, Term
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.element_types import Value
from nxkernel.compilers.numba_cuda.language.elementwise import emit
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.numba_cuda.program.host_steps import Address, HostNumber, LiveScalar, part_of
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.build_nest import attribute_of
from nxkernel.compilers.schedule.loop_nest import Op, StoreMode
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

#: Where the first element is.
FIRST = "s64(0)"


class ScalarKernel:
    """A kernel whose parameters are added while its source is written.

    Parameters
    ----------
    name : str
        What its function is called.
    title : str
        What it does, for people.

    Attributes
    ----------
    w : SourceWriter
        Of its body.
    """

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title, self.w = name, title, SourceWriter(1)
        self._pointers: dict[tuple[Address, str], str] = {}
        self._scalars: list[tuple[str, float]] = []
        self._live: list[LiveScalar] = []
        self._numbers: dict[tuple[int | bytes, Type], Value] = {}

    @property
    def arguments(self) -> int:
        """The number of parameters."""
        return len(self._pointers) + len(self._scalars)

    def pointer(self, where: Address, kind: str) -> str:
        """The name of a pointer parameter to elements of a memory type."""
        return self._pointers.setdefault((where, kind), f"p{len(self._pointers)}")

    def pointer_to(self, where: Address, type_: Type) -> str:
        """The name of a pointer parameter to elements of a type."""
        return self.pointer(where, element_types.memory_type(type_))

    def number(self, value: HostNumber, type_: Type) -> Value:
        """A host number as a parameter: constant, or set in each run.

        Parameters
        ----------
        value : int or NumPy number
            The host's register of it, or where it is the same in every run the number itself.
        type_ : Type
        """
        live = type(value) is int
        key = (value if live else value.tobytes(), type_)
        if key not in self._numbers:
            names = []
            for part, kind in enumerate(element_types.parameter_types(type_)):
                half = part if type_.is_complex else None
                names.append(self.live(kind, value, half) if live else self.scalar(kind, part_of(value.item(), half)))
            self._numbers[key] = element_types.constant(names, type_)
        return self._numbers[key]

    def scalar(self, kind: str, number: float) -> str:
        """The name of a parameter that is the same in every run."""
        self._scalars.append((kind, number))
        return f"c{len(self._scalars) - 1}"

    def live(self, kind: str, value: int, part: int | None) -> str:
        """The name of a parameter that each run sets from a host register."""
        self._live.append(LiveScalar(len(self._scalars), value, part))
        return self.scalar(kind, 0)

    def launch(
        self, grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (1,), shared: int = 0
    ) -> tuple[KernelLaunch, list[Address], list[LiveScalar]]:
        """The launch, the addresses of its pointers, and the parameters that are set in each run."""
        names = [*self._pointers.values(), *(f"c{place}" for place in range(len(self._scalars)))]
        parameters = (*(kind for _, kind in self._pointers), *(kind for kind, _ in self._scalars))
        source = KernelSource(self.name, f"def {self.name}({', '.join(names)}):\n{self.w.text}\n", parameters)
        count = len(self._pointers)
        live = [one._replace(argument=count + one.argument) for one in self._live]
        launch = KernelLaunch(
            source, (), [number for _, number in self._scalars], grid, block, shared, title=self.title
        )
        return launch, [where for where, _ in self._pointers], live


class Arithmetic(ABC):
    """Writes the scalars of a plan as kernel source.

    Parameters
    ----------
    kernel : ScalarKernel
    plan : ProgramPlan
    """

    def __init__(self, kernel: ScalarKernel, plan: ProgramPlan) -> None:
        self.kernel, self.w, self.plan = kernel, kernel.w, plan

    @abstractmethod
    def operand(self, node: Expr) -> Value:
        """The text of a scalar operand, other than a constant."""

    @abstractmethod
    def array(self, node: Expr) -> str:
        """The name of the pointer to an array."""

    def taken(self, node: Expr) -> Value:
        """The text of a scalar operand."""
        if node.primitive is p.constant:
            return self.kernel.number(cast_number(node.params["value"], node.type), node.type)
        return self.operand(node)

    def value(self, node: Expr) -> Value:
        """The value of a scalar node, written if need be."""
        low, high = self.plan.ranges.get(node, (0, 1))
        if low == high:
            return self.kernel.number(cast_number(low, node.type), node.type)
        if node.primitive.family == "elementwise":
            values = [self.taken(operand) for operand in node.operands]
            operands = [Op("", operand.type) for operand in node.operands]
            op = Op(node.primitive.name, node.type, tuple(range(len(values))), attribute=attribute_of(node))
            return self.w.held(emit(self.w, op, values, operands))
        if node.primitive in (p.iota, p.constant):
            return self.kernel.number(cast_number(node.params.get("value", 0), node.type), node.type)
        element = scalars.element_of(node)
        if scalars.is_single(element.base):
            return self.taken(element.base)
        return self.w.load(self.array(element.base), self.index(element.offset), node.type)

    def stored(self, node: Expr) -> tuple[str, Value, StoreMode]:
        """The index, value and store mode of an element store."""
        (store,) = piecewise_buffers.stores(node, in_place=True)
        terms = [Term(at.index, at.most, at.stride) for at in store.places]
        return self.index(Offset(store.offset, terms)), self.taken(store.value), store.mode

    def joined(self, before: Value, value: Value, type_: Type, mode: StoreMode) -> Value:
        """An element's old value and what joins it, such as their sum."""
        both = [Op("", type_), Op("", type_)]
        return self.w.held(emit(self.w, Op(mode.value, type_, (0, 1)), [before, value], both))

    def index(self, offset: Offset) -> str:
        """The text of an offset, in elements."""
        parts = [self.kernel.scalar("s64", offset.fixed)] if offset.fixed else []
        for term in offset.terms:
            if term.most and term.stride:
                index = self._clamped(term)
                parts.append(index if term.stride == 1 else f"{index} * {self.kernel.scalar('s64', term.stride)}")
        return self.w.let(" + ".join(parts)) if parts else FIRST

    def _clamped(self, term: Term) -> str:
        """An index as s64, clamped to the elements that exist."""
        index, type_ = self.taken(term.index), term.index.type
        low, high = self.plan.ranges.get(term.index, types.limits(type_))
        if type_ is types.u64:
            most = self.kernel.scalar("s64", term.most)
            return self.w.let(f"s64({index})" if high <= term.most else f"s64(minimum({index}, u64({most})))")
        text = f"s64({index})"
        if low < 0:
            text = f"maximum({text}, {FIRST})"
        if high > term.most:
            text = f"minimum({text}, {self.kernel.scalar('s64', term.most)})"
        return self.w.let(text)
