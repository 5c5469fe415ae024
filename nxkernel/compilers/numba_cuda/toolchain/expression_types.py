"""Expressions of kernel source: translated to LLVM, with Numba's types."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from llvmlite import ir
from numba.cuda import types

from nxkernel.compilers.numba_cuda.toolchain import device_intrinsics

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SHARED = 3
_DIMENSIONS = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OF_BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_OF_INTEGERS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", **_OF_BITS}
_OF_FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul"}


class TranslationError(ValueError):
    """Kernel source uses a construct that the translator does not support."""


class Typed(NamedTuple):
    """An LLVM value with its Numba type."""

    value: ir.Value
    type: types.Type


class LocalArray(NamedTuple):
    """Memory of a block or of a thread: its address, and the type of its elements."""

    pointer: ir.Value
    element: types.Type


class Context:
    """The part of Numba's target context that intrinsics use."""

    @staticmethod
    def get_value_type(type_: types.Type) -> ir.Type:
        """The LLVM type of values of a Numba type."""
        return llvm_type(type_)

    @staticmethod
    def make_tuple(b: ir.IRBuilder, type_: types.Type, parts: Sequence[ir.Value]) -> ir.Value:
        """A tuple value of some parts."""
        result = ir.Constant(llvm_type(type_), ir.Undefined)
        for position, part in enumerate(parts):
            result = b.insert_value(result, part, position)
        return result

    @staticmethod
    def get_dummy_value() -> None:
        """The value that stands for None."""
        return


def llvm_type(type_: types.Type) -> ir.Type:
    """The LLVM type of values of a Numba type.

    Parameters
    ----------
    type_ : numba.types.Type
    """
    if isinstance(type_, types.CPointer):
        return llvm_type(type_.dtype).as_pointer()
    if isinstance(type_, types.UniTuple):
        return ir.ArrayType(llvm_type(type_.dtype), type_.count)
    if isinstance(type_, types.Float):
        return ir.FloatType() if type_ == types.float32 else ir.DoubleType()
    return ir.IntType(1 if isinstance(type_, types.Boolean) else type_.bitwidth)


class ExpressionWriter:
    """Translates expressions to LLVM values.

    Parameters
    ----------
    function : llvmlite.ir.Function
    lines : sequence of str
        The kernel's text.
    """

    def __init__(self, function: ir.Function, lines: Sequence[str]) -> None:
        self.function, self.lines = function, lines
        self.entry = ir.IRBuilder(function.append_basic_block("entry"))
        self.b = ir.IRBuilder(function.append_basic_block("body"))
        #: What names stand for: what does not change (a parameter, an array), or a place with the type in it.
        self.fixed: dict[str, Typed | LocalArray] = {}
        self.places: dict[str, Typed] = {}

    def _refuse(self, node: ast.AST | None, why: str) -> NoReturn:
        if node is None:
            raise TranslationError(why)
        line = self.lines[node.lineno - 1].strip()
        raise TranslationError(f"line {node.lineno}, {line}: {why}")

    def _parts(self, whole: Typed) -> list[Typed]:
        """The elements of a tuple."""
        return [Typed(self.b.extract_value(whole.value, k), whole.type.dtype) for k in range(whole.type.count)]

    # Memory ----------------------------------------------------------------------------------------------------

    def _own_memory(self, node: ast.expr) -> LocalArray | None:
        """The array of ``cuda.shared.array(n, np.T)`` or ``cuda.local.array(n, np.T)``."""
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("cuda.shared.array", "cuda.local.array"):
            return None
        count, element = node.args[0], getattr(types, ast.unparse(node.args[1]).removeprefix("np."))
        array = ir.ArrayType(llvm_type(element), ast.literal_eval(count))
        zero = ir.Constant(_I32, 0)
        if node.func.value.attr == "local":
            return LocalArray(self.entry.gep(self.entry.alloca(array), [zero, zero]), element)
        module = self.function.module
        # All dynamic memory begins at one place, whatever is in it.
        name = module.get_unique_name("shared") if array.count else f"dynamic_{element}"
        memory = module.globals.get(name) or ir.GlobalVariable(module, array, name, addrspace=_SHARED)
        memory.align = 16
        memory.linkage = "internal" if array.count else "external"
        if array.count:
            memory.initializer = ir.Constant(array, ir.Undefined)
        return LocalArray(memory.gep([zero, zero]), element)

    def _element(self, node: ast.Subscript) -> tuple[ir.Value, types.Type]:
        """The address and type of an element."""
        memory = self.fixed.get(node.value.id) if isinstance(node.value, ast.Name) else None
        index = self._cast(self._value(node.slice), types.int64, node)
        if isinstance(memory, LocalArray):
            return self.b.gep(memory.pointer, [index]), memory.element
        pointer = self._value(node.value)
        if not isinstance(pointer.type, types.CPointer):
            self._refuse(node, f"{pointer.type} has no elements to be found by number")
        return self.b.gep(pointer.value, [index]), pointer.type.dtype

    # Expressions -----------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Typed:
        write = getattr(self, f"_value_{type(node).__name__.lower()}", None)
        if write is None:
            self._refuse(node, f"{type(node).__name__} is not known")
        return write(node)

    def _value_constant(self, node: ast.Constant) -> Typed:
        value = node.value
        if isinstance(value, bool):
            return Typed(ir.Constant(ir.IntType(1), int(value)), types.boolean)
        if isinstance(value, int):
            return Typed(ir.Constant(_I64, value), types.int64)
        if isinstance(value, float):
            return Typed(ir.Constant(ir.DoubleType(), value), types.float64)
        return self._refuse(node, f"{value!r} is no number")

    def _value_name(self, node: ast.Name) -> Typed:
        variable = self.places.get(node.id)
        if variable is not None:
            return Typed(self.b.load(variable.value), variable.type)
        if node.id in self.fixed:
            return self.fixed[node.id]
        number = device_intrinsics.TABLE.get(node.id)
        if isinstance(number, float):
            return Typed(ir.Constant(ir.DoubleType(), number), types.float64)
        return self._refuse(node, f"{node.id} has no value yet")

    def _value_attribute(self, node: ast.Attribute) -> Typed:
        words = ast.unparse(node).split(".")
        if len(words) != 3 or words[0] != "cuda" or words[1] not in _DIMENSIONS:
            self._refuse(node, f"{ast.unparse(node)} is not known")
        name = f"llvm.nvvm.read.ptx.sreg.{_DIMENSIONS[words[1]]}.{words[2]}"
        return Typed(self.b.zext(self._called(name, _I32), _I64), types.int64)

    def _value_subscript(self, node: ast.Subscript) -> Typed:
        if not (isinstance(node.value, ast.Name) and node.value.id in self.fixed):
            whole = self._value(node.value)
            if isinstance(whole.type, types.UniTuple):
                return self._parts(whole)[ast.literal_eval(node.slice)]
        address, element = self._element(node)
        return Typed(self.b.load(address), element)

    def _value_tuple(self, node: ast.Tuple) -> Typed:
        values = [self._value(one) for one in node.elts]
        type_ = types.UniTuple(values[0].type, len(values))
        if any(value.type != type_.dtype for value in values):
            self._refuse(node, "the elements of a tuple are of one type")
        return Typed(Context.make_tuple(self.b, type_, [value.value for value in values]), type_)

    def _value_unaryop(self, node: ast.UnaryOp) -> Typed:
        if isinstance(node.op, ast.Not):
            return Typed(self.b.not_(self._truth(node.operand)), types.boolean)
        operand = self._value(node.operand)
        if isinstance(node.op, ast.Invert):
            if isinstance(operand.type, types.Boolean):
                self._refuse(node, "~ of a truth value is a number in Python: write not")
            wide = self._widened(operand)
            return Typed(self.b.not_(wide.value), wide.type)
        if isinstance(operand.type, types.Float):
            # Zero keeps its sign.
            return Typed(self.b.fsub(ir.Constant(operand.value.type, -0.0), operand.value), operand.type)
        wide = self._widened(operand)
        if isinstance(wide.value, ir.Constant):
            return Typed(ir.Constant(_I64, -wide.value.constant), wide.type)
        return Typed(self.b.neg(wide.value), wide.type)

    def _value_binop(self, node: ast.BinOp) -> Typed:
        return self._binary(node, self._value(node.left), self._value(node.right))

    def _binary(self, node: ast.BinOp, left: Typed, right: Typed) -> Typed:
        operator = type(node.op)
        if isinstance(left.type, types.Boolean) and isinstance(right.type, types.Boolean):
            if operator not in _OF_BITS:
                self._refuse(node, "truth values have no arithmetic")
            return Typed(getattr(self.b, _OF_BITS[operator])(left.value, right.value), types.boolean)
        if operator in (ast.LShift, ast.RShift):
            left, right = self._widened(left), self._widened(right)
            logical = "lshr" if not left.type.signed else "ashr"
            return Typed(
                getattr(self.b, "shl" if operator is ast.LShift else logical)(left.value, right.value), left.type
            )
        left, right, type_ = self._together(node, left, right)
        table = _OF_FLOATS if isinstance(type_, types.Float) else _OF_INTEGERS
        if operator not in table:
            self._refuse(node, f"{operator.__name__} of {type_} is not known")
        return Typed(getattr(self.b, table[operator])(left, right), type_)

    def _together(self, node: ast.AST, left: Typed, right: Typed) -> tuple[ir.Value, ir.Value, types.Type]:
        """Two numbers converted to the type in which Numba computes with them, and that type."""
        kinds = [one.type for one in (left, right)]
        if any(isinstance(kind, types.Float) for kind in kinds):
            single = all(kind == types.float32 for kind in kinds)
            type_ = types.float32 if single else types.float64
        else:
            left, right = self._widened(left), self._widened(right)
            if left.type != right.type:
                # A number in the text has no sign of its own.
                known = [isinstance(one.value, ir.Constant) and one.value.constant >= 0 for one in (left, right)]
                if not any(known):
                    self._refuse(node, f"{kinds[0]} and {kinds[1]} have no type in common")
                type_ = left.type if known[1] else right.type
            else:
                type_ = left.type
        return self._cast(left, type_, node), self._cast(right, type_, node), type_

    def _widened(self, operand: Typed) -> Typed:
        """An integer widened to 64 bits, as Numba computes; only u64 stays unsigned."""
        type_ = types.uint64 if isinstance(operand.type, types.Integer) and not operand.type.signed else types.int64
        return Typed(self._cast(operand, type_, None), type_)

    def _value_compare(self, node: ast.Compare) -> Typed:
        ((operator,), (other,)) = node.ops, node.comparators
        left, right = self._value(node.left), self._value(other)
        if isinstance(left.type, types.Boolean) and isinstance(right.type, types.Boolean):
            return Typed(self.b.icmp_unsigned(_COMPARISONS[type(operator)], left.value, right.value), types.boolean)
        if not all(isinstance(one.type, types.Integer) and not one.type.signed for one in (left, right)):
            left, right = (self._signed(one) for one in (left, right))
        one, two, type_ = self._together(node, left, right)
        sign = _COMPARISONS[type(operator)]
        if isinstance(type_, types.Float):
            compare = self.b.fcmp_unordered if sign == "!=" else self.b.fcmp_ordered
        else:
            compare = self.b.icmp_signed if type_.signed else self.b.icmp_unsigned
        return Typed(compare(sign, one, two), types.boolean)

    def _signed(self, operand: Typed) -> Typed:
        """A narrow unsigned integer as s64, so that it can be compared with any other."""
        if isinstance(operand.type, types.Integer) and not operand.type.signed and operand.type.bitwidth < 64:
            return Typed(self._cast(operand, types.int64, None), types.int64)
        return operand

    def _value_boolop(self, node: ast.BoolOp) -> Typed:
        result = self.entry.alloca(ir.IntType(1))
        done = self.function.append_basic_block("decided")
        for value in node.values[:-1]:
            truth = self._truth(value)
            self.b.store(truth, result)
            further = self.function.append_basic_block("further")
            ends = (further, done) if isinstance(node.op, ast.And) else (done, further)
            self.b.cbranch(truth, *ends)
            self.b.position_at_end(further)
        self.b.store(self._truth(node.values[-1]), result)
        self.b.branch(done)
        self.b.position_at_end(done)
        return Typed(self.b.load(result), types.boolean)

    def _value_ifexp(self, node: ast.IfExp) -> Typed:
        then, otherwise, done = (self.function.append_basic_block(name) for name in ("then", "else", "chosen"))
        self.b.cbranch(self._truth(node.test), then, otherwise)
        sides = []
        for block, side in ((then, node.body), (otherwise, node.orelse)):
            self.b.position_at_end(block)
            value = self._value(side)
            sides.append((value, self.b.block))
            self.b.branch(done)
        if sides[0][0].type != sides[1][0].type:
            self._refuse(node, f"{sides[0][0].type} and {sides[1][0].type} are no choice of one type")
        self.b.position_at_end(done)
        chosen = self.b.phi(sides[0][0].value.type)
        for value, block in sides:
            chosen.add_incoming(value.value, block)
        return Typed(chosen, sides[0][0].type)

    def _truth(self, node: ast.expr) -> ir.Value:
        value = self._value(node)
        if isinstance(value.type, types.Boolean):
            return value.value
        return self.b.icmp_unsigned("!=", value.value, ir.Constant(value.value.type, 0))

    # Calls -----------------------------------------------------------------------------------------------------

    def _value_call(self, node: ast.Call) -> Typed:
        result = self._call(node)
        if result is None:
            self._refuse(node, f"{ast.unparse(node.func)} has no value")
        return result

    def _call(self, node: ast.Call) -> Typed | None:
        name = ast.unparse(node.func)
        if name == "cuda.syncthreads":
            self._called("llvm.nvvm.barrier0", ir.VoidType())
            return None
        operand = [self._value(one) for one in node.args]
        if name == "cuda.shfl_xor_sync":
            return self._shuffled(node, *operand)
        intrinsic = device_intrinsics.TABLE.get(name)
        typing = intrinsic and intrinsic._defn(None, *[value.type for value in operand])
        if not typing:
            kinds = ", ".join(str(value.type) for value in operand)
            self._refuse(node, f"{name} of {kinds} is not known")
        signature, write = typing
        values = [self._cast(one, type_, node) for one, type_ in zip(operand, signature.args, strict=True)]
        result = write(Context, self.b, signature, values)
        return None if signature.return_type == types.void else Typed(result, signature.return_type)

    def _called(self, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
        module = self.function.module
        function = module.globals.get(name)
        if function is None:
            function = ir.Function(module, ir.FunctionType(result, [value.type for value in arguments]), name)
        return self.b.call(function, arguments)

    def _shuffled(self, node: ast.Call, mask: Typed, operand: Typed, distance: Typed) -> Typed:
        """Another lane's value in a warp shuffle, 32 bits at a time."""
        b, (mask, distance) = self.b, [self._cast(one, types.int32, node) for one in (mask, distance)]
        width = operand.value.type.width if isinstance(operand.value.type, ir.IntType) else operand.type.bitwidth
        whole = ir.IntType(width)
        bits = operand.value if whole == operand.value.type else b.bitcast(operand.value, whole)
        wide = b.zext(bits, _I32) if width < 32 else bits
        words = [wide] if width <= 32 else [b.trunc(b.lshr(wide, whole(shift)), _I32) for shift in (0, 32)]
        result = ir.LiteralStructType([_I32, ir.IntType(1)])
        # 3 is the exchange by xor, 31 all lanes of the warp.
        words = [
            b.extract_value(self._called("llvm.nvvm.shfl.sync.i32", result, mask, _I32(3), word, distance, _I32(31)), 0)
            for word in words
        ]
        if width < 32:
            moved = b.trunc(words[0], whole)
        elif width == 32:
            moved = words[0]
        else:
            moved = b.or_(b.zext(words[0], whole), b.shl(b.zext(words[1], whole), whole(32)))
        return Typed(moved if whole == operand.value.type else b.bitcast(moved, operand.value.type), operand.type)

    def _cast(self, operand: Typed, target: types.Type, node: ast.AST | None) -> ir.Value:
        """A value converted to another type, as Numba casts."""
        source, value, b = operand.type, operand.value, self.b
        if source == target:
            return value
        if isinstance(target, types.UniTuple) and isinstance(source, types.UniTuple) and source.count == target.count:
            return Context.make_tuple(
                b, target, [self._cast(part, target.dtype, node) for part in self._parts(operand)]
            )
        numbers = types.Number, types.Boolean
        if not isinstance(source, numbers) or not isinstance(target, numbers):
            self._refuse(node, f"{source} does not become {target}")
        kind = llvm_type(target)
        if isinstance(target, types.Boolean):
            zero = ir.Constant(value.type, 0 if isinstance(value.type, ir.IntType) else 0.0)
            return (b.fcmp_unordered if isinstance(source, types.Float) else b.icmp_unsigned)("!=", value, zero)
        signed = isinstance(source, types.Integer) and source.signed
        if isinstance(target, types.Float):
            if isinstance(source, types.Float):
                return b.fptrunc(value, kind) if target == types.float32 else b.fpext(value, kind)
            return (b.sitofp if signed else b.uitofp)(value, kind)
        if isinstance(source, types.Float):
            return (b.fptosi if target.signed else b.fptoui)(value, kind)
        if isinstance(value, ir.Constant):
            return ir.Constant(kind, value.constant)
        if value.type.width >= kind.width:
            return b.trunc(value, kind) if value.type.width > kind.width else value
        return (b.sext if signed else b.zext)(value, kind)
