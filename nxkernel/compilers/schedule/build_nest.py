"""Building a canonical loop nest from the materialized values of a kernel, with its sizes, strides and constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis import index_maps
from nxkernel.compilers.analysis.index_maps import Map
from nxkernel.compilers.analysis.partial_reductions import partial
from nxkernel.compilers.analysis.reduction_table import ARGUMENTS
from nxkernel.compilers.schedule import axis_roles, dynamic_indices, reduction_bounds
from nxkernel.compilers.schedule.canonical_form import BoundNest, Draft, Raw
from nxkernel.compilers.schedule.fusion import Fusion, weight
from nxkernel.compilers.schedule.kernel_groups import KernelGroup
from nxkernel.compilers.schedule.loop_nest import (
    BufferRole,
    LaneAxis,
    NestConstant,
    NestPass,
    Op,
    PassLevel,
    Reduce,
    Scatter,
    StoreMode,
    TieBreak,
)
from nxkernel.compilers.schedule.piecewise_buffers import DynamicOffset, Store
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import post_order
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.numba_functions import ScalarFunction

#: Looked up so often that how long it takes counts.
_ROW, _FULL, _READ = PassLevel.ROW, PassLevel.FULL, BufferRole.READ
#: A value at the elements that a map gives; the same in a pass of that level and depth; how a buffer moves.
_Placed: TypeAlias = tuple[Expr, Map]
_Wanted: TypeAlias = tuple[Expr, Map, PassLevel, int]
_Moves: TypeAlias = tuple[int, BufferRole, int, tuple[tuple[int, int], ...], Type]

#: Most bytes of rows that a nest keeps on the stack between two passes over them.
SCRATCH_BYTES = 64 << 10


class OpenPass:
    """A pass of a nest under construction, to which instructions are added."""

    def __init__(self, level: PassLevel) -> None:
        self.level = level
        self.code: list[Op] = []
        self.stores: list[tuple[int, int]] = []
        self.scatters: list[Scatter] = []
        self.keeps: list[tuple[int, int]] = []
        self.reduces: list[Reduce] = []
        self.scratches: list[tuple[int, int]] = []

    def emit(self, op: Op) -> int:
        """Append an instruction; its number in the pass."""
        self.code.append(op)
        return len(self.code) - 1

    def frozen(self) -> NestPass:
        """The pass as an immutable :class:`NestPass`."""
        return NestPass(
            self.level,
            tuple(self.code),
            tuple(self.stores),
            tuple(self.keeps),
            tuple(self.reduces),
            tuple(self.scratches),
            tuple(self.scatters),
        )


class NestBuilder:
    """Builds the nest of a kernel group."""

    def __init__(self, fusion: Fusion, kernel: KernelGroup, kept: Callable[[Expr], bool]) -> None:
        self.fusion, self.kernel, self.kept = fusion, kernel, kept
        self.raws: list[Raw] = []
        self._raw_index: dict[_Moves, int] = {}
        self.slots: list[Type] = []
        self.scratches: list[Type] = []
        self.constants: list[NestConstant] = []
        self.rows: dict[int, OpenPass] = {}
        self.fulls: dict[int, OpenPass] = {}
        self._memo: dict[_Wanted, int] = {}
        #: Slots of reductions and of what is computed once a row; scratch rows of what earlier passes computed.
        self._slot_of: dict[Expr, int] = {}
        self._row_slots: dict[_Placed, int] = {}
        self._scratch_of: dict[_Placed, int] = {}
        self._depths: dict[Expr, int] = {}
        self._cost: dict[int, dict[int, int]] = {}
        self._where: dict[_Placed, list[int]] = {}
        self.nodes: dict[Expr, None] = {}
        self.in_order = False
        self._limits: reduction_bounds.ReductionBounds | None = None
        self._limit_slots: tuple[int, ...] = ()
        chosen = axis_roles.walk(kernel, fusion)
        self.lanes, self.tile, self.sizes = chosen.lanes, chosen.tile, chosen.sizes
        self.outer, self.inner = chosen.outer, chosen.inner

    # Depth: how many reductions of this kernel a value waits for -------------------------------------------------

    def _mine(self, node: Expr) -> bool:
        return self.fusion.group_of.get(node) is self.kernel

    def _depth(self, root: Expr) -> int:
        todo = [root]
        while todo:
            node = todo[-1]
            if node in self._depths:
                todo.pop()
                continue
            if self._loaded(node) or node.primitive is p.constant:
                self._depths[node] = 0
                continue
            missing = [o for o in node.operands if o not in self._depths]
            if missing:
                todo.extend(missing)
                continue
            depth = max((self._depths[o] for o in node.operands), default=0)
            self._depths[node] = depth + (node.primitive.family == "reduction")
        return self._depths[root]

    def _loaded(self, node: Expr) -> bool:
        """Whether the nest reads a value from memory instead of computing it."""
        if node.primitive is p.parameter:
            return True
        owner = self.fusion.buffer_of(node)
        if owner.primitive is p.parameter:
            return True
        return owner in self.fusion.materialized and not self._mine(owner)

    # Evaluation ------------------------------------------------------------------------------------------------

    def build(self) -> BoundNest:
        """The canonical nest, bound to the sizes, strides and buffers of this graph."""
        kernel = self.kernel
        self._find_limits()
        for store in kernel.stores:
            self._store(store.value, index_maps.identity(store.value.shape), store)
        for value in sorted(kernel.materialized, key=lambda a: (self._depth(a), a.primitive.family != "reduction")):
            start = self.fusion.start(value, kernel)
            if value.primitive.family == "reduction":
                self._reduce(value, start)
            elif self.kept(value):
                strides = index_maps.row_strides(value.shape)
                self._store(value, start, Store(value, value, 0, strides))
        return self._freeze()

    def _find_limits(self) -> None:
        """Narrow the loop over the last axis to a range outside of which all terms of the sums are zero."""
        kernel = self.kernel
        plain = (
            self.lanes is LaneAxis.INNER and kernel.reduce is not None and kernel.block is None and not kernel.stores
        )
        if not plain or self.inner != [len(kernel.space) - 1]:
            return
        bounds = {
            reduction_bounds.of(node.operands[0], self.inner[0]) if node.primitive is p.sum_ else None
            for node in kernel.materialized
        }
        if len(bounds) == 1:
            (self._limits,) = bounds
        if self._limits is None or not self._knows(self._limits):
            self._limits = None
            return
        slots = []
        for number in (self._limits.start, self._limits.stop):
            if number is None:
                slots.append(-1)
                continue
            row = self._pass(_ROW, 0)
            value = self._value(number, index_maps.identity(number.shape), _ROW, 0)
            if number.type is not types.s64:
                value = row.emit(Op("as_type", types.s64, (value,), attribute=number.type))
            slots.append(self._slot(types.s64))
            row.keeps.append((slots[-1], value))
        self._limit_slots = tuple(slots)

    def _knows(self, bounds: reduction_bounds.ReductionBounds) -> bool:
        """Whether the limits can be computed before the loops: neither is inside a mask read from memory, nor needs a
        reduction of this nest.
        """
        mask = bounds.mask
        parts = mask.operands if mask.primitive is p.logical_and else (mask,)
        between = [mask, *parts, *(part.operands[1] for part in parts)]
        numbers = [number for number in (bounds.start, bounds.stop) if number is not None]
        return not any(map(self._loaded, between)) and not any(map(self._depth, numbers))

    def _pass(self, level: PassLevel, depth: int) -> OpenPass:
        table = self.rows if level is _ROW else self.fulls
        if depth not in table:
            table[depth] = OpenPass(level)
        return table[depth]

    def along_lanes(self, map_: Map) -> bool:
        """Whether an index map moves along the axis of the lanes, so that lanes may differ."""
        if self.lanes is not LaneAxis.INNER:
            return self.outer[-1] in index_maps.axes_of(map_)
        return bool(index_maps.axes_of(map_) & set(self.inner if self.kernel.reduce is None else self.inner[-1:]))

    def _level(self, map_: Map) -> PassLevel:
        return _FULL if index_maps.axes_of(map_) & set(self.inner) else _ROW

    def _store(self, value: Expr, map_: Map, store: Store) -> None:
        fixed, places = _settled(store)
        wanted = [(value, map_), *((at.index, map_[: len(at.index.shape)]) for at in places)]
        level = self._level(map_) if self.sizes else _ROW
        depth = max(self._depth(node) for node, _ in wanted)
        number, *indices = [self._value(node, own, level, depth) for node, own in wanted]
        offset, steps = index_maps.linear(map_, store.strides)
        raw = self.raw(store.target, value.type, BufferRole.WRITE, fixed + offset, steps)
        nest_pass = self._pass(level, depth)
        if places:
            parts = [(at.index, n, at.most, at.stride) for at, n in zip(places, indices, strict=True)]
            total = dynamic_indices.offset_of(self, nest_pass, parts)
            per_lane = any(self.along_lanes(own) for _, own in wanted[1:])
            nest_pass.scatters.append(Scatter(raw, number, total, store.mode, per_lane))
            self.in_order |= store.in_order
        else:
            nest_pass.stores.append((raw, number))
        self.nodes[value] = None

    def _reduce(self, node: Expr, map_: Map) -> None:
        operand = node.operands[0]
        depth = max(map(self._depth, node.operands))
        primitive = node.params["reduce"] if node.primitive is partial else node.primitive
        nest_pass = self._pass(_FULL, depth)
        result = node.type
        if primitive is p.reduce:
            args = self._fold(node, map_, depth)
        else:
            args = (self._value(operand, map_, _FULL, depth),)
        tie_break = None
        if primitive.name in ARGUMENTS:
            tie_break = TieBreak(node.params.get("tie_break") or node.params.get("tie"))
            narrow = self.kernel.space[self.kernel.reduce[0]] < 1 << 31
            args = (*args, nest_pass.emit(Op("index", types.s32 if narrow else types.s64, (), self._flat_index())))
        slot = self._slot_of[node] = self._slot(result)
        nest_pass.reduces.append(
            Reduce(primitive.name, result if primitive is p.reduce else operand.type, args, slot, tie_break)
        )
        self.nodes[node] = None
        if self.kept(node):
            row = self._pass(_ROW, depth + 1)
            value = row.emit(Op("slot", result, (), slot))
            strides = index_maps.row_strides(self._result_shape(node))
            own = self.fusion._own_map(_Shaped(self._result_shape(node)), self.kernel)
            _, steps = index_maps.linear(own, strides)
            row.stores.append((self.raw(node, result, BufferRole.WRITE, 0, steps), value))

    def _fold(self, node: Expr, map_: Map, depth: int) -> tuple[int, int]:
        """Write one step of a fold; the numbers of the instructions of its next value and of its initial one."""
        operand, start, *captured = node.operands
        body, nest_pass = node.params["body"], self._pass(_FULL, depth)
        arguments = [self._value(operand, map_, _FULL, depth)]
        arguments.append(nest_pass.emit(Op("carry", start.type, (), len(nest_pass.reduces))))
        arguments += [self._value(value, (), _FULL, depth) for value in captured]
        numbers = dict(zip(body.parameters, arguments, strict=True))
        (output,) = body.outputs
        for one in post_order([output]):
            if one not in numbers:
                numbers[one] = self._instruction(one, [numbers[o] for o in one.operands], nest_pass)
        return numbers[output], self._value(start, (), _FULL, depth)

    def _instruction(self, node: Expr, args: list[int], nest_pass: OpenPass) -> int:
        """The instruction of an element-wise primitive or of a constant."""
        if node.primitive is p.constant:
            self.constants.append(NestConstant(node.params["value"], node.type))
            return nest_pass.emit(Op("const", node.type, (), len(self.constants) - 1))
        return nest_pass.emit(Op(node.primitive.name, node.type, tuple(args), -1, attribute_of(node)))

    @staticmethod
    def _result_shape(node: Expr) -> tuple[int, ...]:
        return node.shape[1:] if node.primitive is partial else node.shape

    def _flat_index(self) -> int:
        """The number of the running index that argmax reports, along the one axis that it reduces."""
        axis = self.kernel.reduce[0]
        return self.raw(None, types.s64, BufferRole.INDEX, 0, {axis: 1})

    def _slot(self, type_: Type) -> int:
        self.slots.append(type_)
        return len(self.slots) - 1

    def raw(self, owner: Expr | None, type_: Type, role: BufferRole, offset: int, steps: dict[int, int]) -> int:
        """The number of a buffer or running index with this owner, offset and steps an axis; added if it is new."""
        steps = {axis: step for axis, step in steps.items() if step}
        key = (id(owner), role, offset, tuple(sorted(steps.items())), type_)
        if key not in self._raw_index:
            self._raw_index[key] = len(self.raws)
            self.raws.append(Raw(owner, type_, role, offset, steps))
        return self._raw_index[key]

    def _value(self, node: Expr, map_: Map, level: PassLevel, depth: int) -> int:
        """The number of the instruction that gives a value in the pass of that level and depth; missing ones are
        emitted.
        """
        memo = self._memo
        root = (node, map_, level, depth)
        todo, waiting = [root], {}
        while todo:
            key = todo[-1]
            if key in memo:
                todo.pop()
                continue
            needs = waiting.get(key)
            if needs is None:
                needs = waiting[key] = self._needs(key)
                missing = [need for need in needs if need not in memo]
                if missing:
                    todo.extend(missing)
                    continue
            memo[key] = self._emit(key, [memo[need] for need in needs])
            todo.pop()
        return memo[root]

    def _elsewhere(self, key: _Wanted) -> tuple[PassLevel, int] | None:
        """The row pass that computes a value once, if the current pass should read it from a slot; else None."""
        node, map_, level, depth = key
        if node.primitive is p.constant or (node.primitive.family == "reduction" and self._mine(node)):
            return None
        own = self._depth(node)
        if level is _FULL and self._level(map_) == _ROW:
            return (_ROW, own)
        return (_ROW, own) if level is _ROW and own < depth else None

    def _is_inside(self, node: Expr) -> bool:
        """Whether a select always takes its first value, since the loop is limited to where its mask is true."""
        return self._limits is not None and node.primitive is p.select and node.operands[0] is self._limits.mask

    def _needs(self, key: _Wanted) -> list[_Wanted]:
        node, map_, level, depth = key
        elsewhere = self._elsewhere(key)
        if elsewhere:
            return [(node, map_, *elsewhere)]
        if node.primitive in (p.constant, p.iota) or node.primitive.family == "reduction":
            return []
        if self._loaded(node) or self._scratch(key) is not None:
            return []
        if index_maps.is_view(node):
            return [(node.operands[0], index_maps.through(node, map_), level, depth)]
        if self._is_inside(node):
            return [(node.operands[1], map_, level, depth)]
        if node.primitive is p.dynamic_slice:
            return [(start, (), level, depth) for start in node.operands[1:]]
        if node.primitive is p.gather:
            return [(index, map_[: len(index.shape)], level, depth) for index in node.operands[1:]]
        return [(operand, map_, level, depth) for operand in node.operands]

    def _emit(self, key: _Wanted, args: list[int]) -> int:
        node, map_, level, depth = key
        nest_pass = self._pass(level, depth)
        elsewhere = self._elsewhere(key)
        if elsewhere:
            slot = self._row_slots.get((node, map_))
            if slot is None:
                slot = self._row_slots[node, map_] = self._slot(node.type)
            keep = (slot, args[0])
            row = self._pass(*elsewhere)
            if keep not in row.keeps:
                row.keeps.append(keep)
            return nest_pass.emit(Op("slot", node.type, (), slot))
        if node.primitive is p.constant:
            return self._instruction(node, args, nest_pass)
        if self._loaded(node):
            return nest_pass.emit(Op("load", node.type, (), self._load(node, map_)))
        if node.primitive is p.iota:
            raw = self.raw(None, types.s64, BufferRole.INDEX, *self._index_of(node, map_))
            if node.type.kind in ("s", "u"):
                return nest_pass.emit(Op("index", node.type, (), raw))
            return nest_pass.emit(
                Op("as_type", node.type, (nest_pass.emit(Op("index", types.s64, (), raw)),), attribute=types.s64)
            )
        if node.primitive.family == "reduction":
            return nest_pass.emit(Op("slot", node.type, (), self._slot_of[node]))
        scratch = self._scratch(key)
        if scratch is not None:
            return nest_pass.emit(Op("scratch", node.type, (), scratch))
        self.nodes[node] = None
        if index_maps.is_view(node) or self._is_inside(node):
            return args[0]
        if node.primitive is p.dynamic_slice:
            return dynamic_indices.sliced(self, node, map_, nest_pass, args)
        if node.primitive is p.gather:
            return dynamic_indices.gathered(self, node, map_, nest_pass, args)
        number = self._instruction(node, args, nest_pass)
        self._remember_cost(key, number, args)
        return number

    @staticmethod
    def _index_of(iota: Expr, map_: Map) -> tuple[int, dict[int, int]]:
        """The first value of an iota, and its step along each axis of the nest."""
        axis = iota.params["axis"]
        if axis is None:
            return index_maps.linear(map_, index_maps.row_strides(iota.shape))
        start, moves = map_[axis]
        return start, dict(moves)

    def _load(self, node: Expr, map_: Map) -> int:
        offset, steps = index_maps.linear(map_, index_maps.row_strides(node.shape))
        return self.raw(self.fusion.buffer_of(node), node.type, _READ, offset, steps)

    # Scratch rows ----------------------------------------------------------------------------------------------

    def _remember_cost(self, key: _Wanted, number: int, args: list[int]) -> None:
        node, map_, level, depth = key
        if level is not _FULL:
            return
        costs = self._cost.setdefault(depth, {})
        costs[number] = min(weight(node) + sum(costs.get(arg, 0) for arg in args), 10_000)
        self._where.setdefault((node, map_), []).append(depth)

    def _scratch(self, key: _Wanted) -> int | None:
        """The scratch row that holds a costly value from an earlier pass; None to compute it again."""
        node, map_, level, depth = key
        earlier = self._where.get((node, map_))
        if (
            level is not _FULL
            or not earlier
            or earlier[0] >= depth
            or self.lanes is not LaneAxis.INNER
            or len(self.inner) != 1
        ):
            return None
        first = earlier[0]
        number = self._memo[node, map_, level, first]
        row = self._scratch_of.get((node, map_))
        if row is None:
            element = sum(types.compute_type(type_).size for type_ in (*self.scratches, node.type))
            least = self.fusion.keeping.row
            if self._cost[first].get(number, 0) < least or self.sizes[self.inner[0]] * element > SCRATCH_BYTES:
                return None
            row = self._scratch_of[node, map_] = len(self.scratches)
            self.scratches.append(node.type)
            self.fulls[first].scratches.append((row, number))
        return row

    def _freeze(self) -> BoundNest:
        passes = []
        for depth in sorted({*self.rows, *self.fulls}):
            passes += [table[depth].frozen() for table in (self.rows, self.fulls) if depth in table]
        return Draft(
            self.kernel,
            self.lanes,
            self.tile,
            self.sizes,
            self.outer,
            self.inner,
            self.raws,
            passes,
            self.slots,
            self.scratches,
            self.constants,
            list(self.nodes),
            self.in_order,
            self._limit_slots,
        ).bound()


def _settled(store: Store) -> tuple[int, tuple[DynamicOffset, ...]]:
    """The constant part of a store's offset, and the dynamic ones."""
    if store.mode is not StoreMode.PUT or not all(_is_number(at.index) for at in store.places):
        return store.offset, store.places
    return store.offset + sum(min(max(at.index.params["value"], 0), at.most) * at.stride for at in store.places), ()


def _is_number(index: Expr) -> bool:
    return index.primitive is p.constant and not index.shape


@dataclass(frozen=True)
class _Shaped:
    shape: tuple[int, ...]


def attribute_of(node: Expr) -> Type | int | bool | ScalarFunction | None:
    """The attribute of an element-wise instruction: what decides its code besides its type."""
    if node.primitive in _BY_OPERAND:
        return node.operands[0].type
    return node.params.get(_DECISIVE.get(node.primitive))


_DECISIVE = {p.threefry2x32: "word", p.njit: "function", p.multiply: "rounded"}
#: Primitives whose code depends on the type of what they are given.
_BY_OPERAND = frozenset(
    (p.as_type, p.bitcast, p.equal, p.not_equal, p.greater, p.less, p.greater_equal, p.less_equal)
    + (p.logical_and, p.logical_or, p.logical_xor, p.logical_not, p.is_nan, p.is_infinity, p.select, p.absolute)
    + (p.real, p.imag, p.phase)
)
