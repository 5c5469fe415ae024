"""Memory intrinsics for Numba CUDA: vector loads and stores, and atomics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import nvvmutils, types
from numba.cuda.extending import intrinsic

TABLE: dict[str, Any] = {}

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()


def _bits(kind: Any) -> int:
    return kind.width if isinstance(kind, ir.IntType) else 32 if kind == _FLOAT else 64


def _moved(kind: Any, count: int) -> tuple[Any, int]:
    """The type and number of the units that a vector access moves: 32-bit words for narrower elements."""
    bits = _bits(kind) * count
    if _bits(kind) >= 32:
        return kind, count
    return (_I32, bits // 32) if bits >= 32 else (ir.IntType(bits), 1)


def _asm(b: ir.IRBuilder, result: Any, text: str, constraints: str, *arguments: Any) -> Any:
    """Inline PTX assembly."""
    kind = ir.FunctionType(result, [value.type for value in arguments])
    return b.call(ir.InlineAsm(kind, text, constraints, side_effect=False), arguments)


def _taken_apart(b: ir.IRBuilder, word: Any, kind: Any) -> list[Any]:
    """The elements packed in a word, lowest bits first.

    LLVM would read vectors of narrow elements instead, of which PTX has only those of four: it must not see through.
    """
    if word.type == kind:
        return [word]
    if word.type == _I32 and kind == _I16:
        both = _asm(b, ir.LiteralStructType([_I16, _I16]), "mov.b32 {$0, $1}, $2;", "=h,=h,r", word)
        return [b.extract_value(both, shift) for shift in (0, 1)]
    if word.type == _I32:
        word = _asm(b, _I32, "mov.b32 $0, $1;", "=r,r", word)
    shifts = range(0, word.type.width, kind.width)
    return [b.trunc(b.lshr(word, ir.Constant(word.type, shift)), kind) for shift in shifts]


def _put_together(b: ir.IRBuilder, parts: list[Any], kind: Any) -> Any:
    """Elements packed into a word."""
    if parts[0].type == kind:
        return parts[0]
    if kind == _I32 and len(parts) == 2:
        return _asm(b, _I32, "mov.b32 $0, {$1, $2};", "=r,h,h", *parts)
    word = b.zext(parts[0], kind)
    for position, part in enumerate(parts[1:], start=1):
        word = b.or_(word, b.shl(b.zext(part, kind), ir.Constant(kind, position * part.type.width)))
    return word


def _place(number: int) -> ir.Constant:
    return ir.Constant(_I32, number)


def _address(b: ir.IRBuilder, pointer: Any, index: Any, kind: Any) -> Any:
    """The address of an element, cast to a pointer to another type."""
    return b.bitcast(b.gep(pointer, [index]), kind.as_pointer())


def _check(pointer: Any, count: int) -> bool:
    return isinstance(pointer, types.CPointer) and pointer.dtype.bitwidth * count <= 128


def _load(count: int) -> Any:
    """The intrinsic that loads several consecutive, aligned elements."""

    @intrinsic
    def load(typingctx: Any, p: Any, i: Any) -> Any:
        if not _check(p, count):
            return None

        def codegen(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            kind = context.get_value_type(p.dtype)
            word, words = _moved(kind, count)
            several = ir.VectorType(word, words) if words > 1 else word
            value = b.load(_address(b, *arguments, several), align=_bits(kind) * count // 8)
            read = [b.extract_element(value, _place(n)) for n in range(words)] if words > 1 else [value]
            parts = [part for one in read for part in _taken_apart(b, one, kind)]
            return context.make_tuple(b, signature.return_type, parts)

        return types.UniTuple(p.dtype, count)(p, types.int64), codegen

    return load


def _store(count: int) -> Any:
    """The intrinsic that stores several consecutive, aligned elements."""

    @intrinsic
    def store(typingctx: Any, p: Any, i: Any, elements: Any) -> Any:
        if not _check(p, count) or not isinstance(elements, types.BaseTuple) or len(elements) != count:
            return None

        def codegen(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            kind = context.get_value_type(p.dtype)
            word, words = _moved(kind, count)
            parts = [b.extract_value(arguments[2], position) for position in range(count)]
            each = count // words
            packed = [_put_together(b, parts[n * each : (n + 1) * each], word) for n in range(words)]
            value = packed[0]
            if words > 1:
                value = ir.Constant(ir.VectorType(word, words), ir.Undefined)
                for position, one in enumerate(packed):
                    value = b.insert_element(value, one, _place(position))
            b.store(value, _address(b, *arguments[:2], value.type), align=_bits(kind) * count // 8)
            return context.get_dummy_value()

        return types.void(p, types.int64, types.UniTuple(p.dtype, count)), codegen

    return store


for _count in (2, 4, 8, 16):
    TABLE |= {f"load{_count}": _load(_count), f"store{_count}": _store(_count)}


@intrinsic
def further(typingctx: Any, p: Any, i: Any) -> Any:
    """The pointer advanced by i elements, kept in a register."""
    if not isinstance(p, types.CPointer):
        return None

    def codegen(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        # LLVM would add the number again at each use, where it cannot see that the pointer is the same in all of them.
        whole = b.ptrtoint(b.gep(*arguments[:1], arguments[1:]), _I64)
        kept = _asm(b, _I64, "mov.u64 $0, $1;", "=l,l", whole)
        kind = context.get_value_type(p.dtype)
        # Memory of the whole device, which LLVM no more sees either.
        return b.addrspacecast(b.inttoptr(kept, ir.PointerType(kind, addrspace=1)), ir.PointerType(kind))

    return p(p, types.int64), codegen


@intrinsic
def address(typingctx: Any, p: Any) -> Any:
    """A pointer as an integer."""
    if not isinstance(p, types.CPointer):
        return None
    return types.int64(p), lambda context, b, signature, arguments: b.ptrtoint(arguments[0], _I64)


# Among other threads ---------------------------------------------------------------------------------------------


def _exchange(b: ir.IRBuilder, pointer: Any, index: Any, kind: ir.IntType, combined: Callable[[Any], Any]) -> None:
    """Atomically update an element of 8 or 16 bits by compare-and-swap on the 32-bit word around it."""
    whole = b.ptrtoint(_address(b, pointer, index, kind), _I64)
    word = b.inttoptr(b.and_(whole, ir.Constant(_I64, -4)), _I32.as_pointer())
    # Eight times the number of the byte in its word: the first one has the lowest bits.
    shift = b.trunc(b.shl(b.and_(whole, ir.Constant(_I64, 3)), ir.Constant(_I64, 3)), _I32)
    mask = b.shl(ir.Constant(_I32, 2**kind.width - 1), shift)
    first, entry = b.load(word), b.block
    retry, done = b.append_basic_block("exchange"), b.append_basic_block("exchange.done")
    b.branch(retry)
    b.position_at_end(retry)
    old = b.phi(_I32)
    old.add_incoming(first, entry)
    new = b.shl(b.zext(combined(b.trunc(b.lshr(old, shift), kind)), _I32), shift)
    current = nvvmutils.atomic_cmpxchg(b, b.module, 32, word, old, b.or_(b.and_(old, b.not_(mask)), new))
    old.add_incoming(current, b.block)
    b.cbranch(b.icmp_unsigned("==", current, old), done, retry)
    b.position_at_end(done)


@intrinsic
def atomic_add(typingctx: Any, p: Any, i: Any, x: Any) -> Any:
    """Atomically add a number to an element."""
    if not isinstance(p, types.CPointer) or not isinstance(p.dtype, types.Number):
        return None

    def codegen(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer, index, value = arguments
        if isinstance(p.dtype, types.Float):
            single = p.dtype == types.float32
            declare = nvvmutils.declare_atomic_add_float32 if single else nvvmutils.declare_atomic_add_float64
            b.call(declare(b.module), [b.gep(pointer, [index]), value])
        elif p.dtype.bitwidth >= 32:
            b.atomic_rmw("add", b.gep(pointer, [index]), value, "monotonic")
        else:
            _exchange(b, pointer, index, value.type, lambda old: b.add(old, value))
        return context.get_dummy_value()

    return types.void(p, types.int64, p.dtype), codegen


def _exchange_whole(b: ir.IRBuilder, pointer: Any, value: Any, combined: Callable[[Any], Any]) -> None:
    """Atomically update an element of 32 or 64 bits by compare-and-swap."""
    is_float = not isinstance(value.type, ir.IntType)
    width = (32 if value.type == ir.FloatType() else 64) if is_float else value.type.width
    kind = ir.IntType(width)
    word = b.bitcast(pointer, kind.as_pointer())
    first, entry = b.load(word), b.block
    retry, done = b.append_basic_block("exchange"), b.append_basic_block("exchange.done")
    b.branch(retry)
    b.position_at_end(retry)
    old = b.phi(kind)
    old.add_incoming(first, entry)
    new = combined(b.bitcast(old, value.type) if is_float else old)
    new = b.bitcast(new, kind) if is_float else new
    current = nvvmutils.atomic_cmpxchg(b, b.module, width, word, old, new)
    old.add_incoming(current, b.block)
    b.cbranch(b.icmp_unsigned("==", current, old), done, retry)
    b.position_at_end(done)


def _extreme(sign: str) -> Callable[..., Any]:
    def joined(b: ir.IRBuilder, old: Any, value: Any, signed: bool) -> Any:
        if isinstance(value.type, ir.IntType):
            better = (b.icmp_signed if signed else b.icmp_unsigned)(sign, value, old)
            return b.select(better, value, old)
        # NaN wins: as what is there it is not worse than anything.
        better = b.or_(b.fcmp_ordered(sign, value, old), b.fcmp_unordered("uno", value, value))
        return b.select(better, value, old)

    return joined


def _product(b: ir.IRBuilder, old: Any, value: Any, signed: bool) -> Any:
    return b.mul(old, value) if isinstance(value.type, ir.IntType) else b.fmul(old, value)


#: What joins an element and a number atomically: of LLVM's values, and whether integers have a sign.
_JOINING = {"max": _extreme(">"), "min": _extreme("<"), "multiply": _product}


def _joining(name: str) -> Any:
    """The intrinsic that atomically joins a number with an element."""
    join = _JOINING[name]

    @intrinsic
    def atomic_join(typingctx: Any, p: Any, i: Any, x: Any) -> Any:
        if not isinstance(p, types.CPointer) or not isinstance(p.dtype, types.Number):
            return None
        whole = isinstance(p.dtype, types.Integer)
        signed = whole and p.dtype.signed

        def codegen(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            pointer, index, value = arguments
            if whole and p.dtype.bitwidth < 32:
                _exchange(b, pointer, index, value.type, lambda old: join(b, old, value, signed))
            elif whole and name != "multiply":
                operation = name if signed else f"u{name}"
                b.atomic_rmw(operation, b.gep(pointer, [index]), value, "monotonic")
            else:
                _exchange_whole(b, b.gep(pointer, [index]), value, lambda old: join(b, old, value, signed))
            return context.get_dummy_value()

        return types.void(p, types.int64, p.dtype), codegen

    return atomic_join


def of_halves(name: str, to_value: Callable[..., Any], to_bits: Callable[..., Any]) -> Any:
    """The intrinsic that atomically adds to a half-width float, or joins it, given conversions of its bits."""

    def join(b: ir.IRBuilder, old: Any, value: Any) -> Any:
        return b.fadd(old, value) if name == "add" else _JOINING[name](b, old, value, True)

    @intrinsic
    def atomic_half(typingctx: Any, p: Any, i: Any, x: Any) -> Any:
        if p != types.CPointer(types.uint16):
            return None

        def codegen(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            pointer, index, value = arguments
            _exchange(b, pointer, index, _I16, lambda old: to_bits(b, join(b, to_value(b, old), value)))
            return context.get_dummy_value()

        return types.void(p, types.int64, types.float32), codegen

    return atomic_half


TABLE |= {"address": address, "further": further, "atomic_add": atomic_add}
TABLE |= {f"atomic_{_name}": _joining(_name) for _name in _JOINING}
