"""Translation of kernel source (a subset of Python for Numba CUDA) to LLVM.

Numba compiles the same text to the same instructions, but takes some five milliseconds a statement to find out the
types of everything; here each name has the type that it is first given. What is called are Numba's own intrinsics.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.cuda import types

from nxkernel.compilers.numba_cuda.language.element_types import numba_type
from nxkernel.compilers.numba_cuda.toolchain.expression_types import (
    ExpressionWriter,
    TranslationError,
    Typed,
    llvm_type,
)

_I64 = ir.IntType(64)


def translate(text: str, name: str, symbol: str, parameters: Sequence[str], module: ir.Module) -> ir.Function:
    """Translate a kernel's source into a function of a module.

    Parameters
    ----------
    text : str
    name : str
        What the function is called in the text.
    symbol : str
        What it is to be called.
    parameters : sequence of str
        The types of its parameters; see :class:`~nxkernel.compilers.numba_cuda.language.kernel_launches.KernelSource`.
    module : llvmlite.ir.Module

    Returns
    -------
    llvmlite.ir.Function

    Raises
    ------
    TranslationError
        For what kernels are not written in, with the line.
    """
    (definition,) = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name == name]
    kinds = [numba_type(parameter) for parameter in parameters]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [llvm_type(kind) for kind in kinds]), symbol)
    _Translator(function, definition, kinds, text.splitlines()).run()
    return function


class _Translator(ExpressionWriter):
    def __init__(self, function: ir.Function, definition: ast.FunctionDef, kinds: list[Any], lines: list[str]) -> None:
        super().__init__(function, lines)
        self.definition = definition
        #: Where `continue` and `break` go to, of the loops around.
        self.loops: list[tuple[Any, Any]] = []
        names = [node for node in ast.walk(definition) if isinstance(node, ast.Name)]
        assigned = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        for argument, value, kind in zip(definition.args.args, function.args, kinds, strict=True):
            if argument.arg in assigned:
                self._keep(argument.arg, Typed(value, kind))
            else:
                self.fixed[argument.arg] = Typed(value, kind)

    def run(self) -> None:
        """Translate the whole function."""
        body = self.b.block
        self._statements(self.definition.body)
        if not self.b.block.is_terminated:
            self.b.ret_void()
        self.entry.branch(body)

    # Statements ------------------------------------------------------------------------------------------------

    def _statements(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.b.block.is_terminated:
                return
            write = getattr(self, f"_statement_{type(statement).__name__.lower()}", None)
            if write is None:
                self._refuse(statement, f"{type(statement).__name__} is not known")
            write(statement)

    def _statement_pass(self, node: ast.Pass) -> None:
        pass

    def _statement_return(self, node: ast.Return) -> None:
        self.b.ret_void()

    def _statement_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._call(node.value)
        elif not isinstance(node.value, ast.Constant):
            self._refuse(node, "that does nothing")

    def _statement_assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        array = self._own_memory(node.value)
        if array is not None:
            self.fixed[target.id] = array
        elif isinstance(target, ast.Tuple):
            # All values are known before any name changes.
            if isinstance(node.value, ast.Tuple):
                values = [self._value(one) for one in node.value.elts]
            else:
                values = self._parts(self._value(node.value))
            for one, value in zip(target.elts, values, strict=True):
                self._assign(one, value)
        else:
            self._assign(target, self._value(node.value))

    def _statement_augassign(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        both = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        ast.fix_missing_locations(both)
        self._assign(node.target, self._binary(both, self._value(read), self._value(node.value)))

    def _assign(self, target: ast.expr, value: Typed) -> None:
        if isinstance(target, ast.Name):
            self._keep(target.id, value)
        elif isinstance(target, ast.Subscript):
            address, element = self._element(target)
            self.b.store(self._cast(value, element, target), address)
        else:
            self._refuse(target, "nothing can be assigned to that")

    def _keep(self, name: str, value: Typed) -> None:
        if name not in self.places:
            self.places[name] = Typed(self.entry.alloca(llvm_type(value.type), name=name), value.type)
        variable = self.places[name]
        if variable.type != value.type and not (
            isinstance(variable.type, types.Integer) and variable.type == types.int64
        ):
            raise TranslationError(f"{name} is {variable.type}, and is given {value.type}")
        self.b.store(self._cast(value, variable.type, None), variable.value)

    def _statement_if(self, node: ast.If) -> None:
        then, otherwise, done = (self.function.append_basic_block(name) for name in ("then", "else", "done"))
        self.b.cbranch(self._truth(node.test), then, otherwise if node.orelse else done)
        for block, statements in ((then, node.body), (otherwise, node.orelse)):
            self.b.position_at_end(block)
            self._statements(statements)
            if not self.b.block.is_terminated:
                self.b.branch(done)
        self.b.position_at_end(done)

    def _statement_while(self, node: ast.While) -> None:
        head, body, done = (self.function.append_basic_block(name) for name in ("while", "body", "after"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self._truth(node.test), body, done)
        self._loop_body(node.body, body, head, done)

    def _statement_for(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            self._refuse(node, "loops go over range(…)")
        limits = [self._cast(self._value(one), types.int64, node) for one in call.args]
        zero, one = ir.Constant(_I64, 0), ir.Constant(_I64, 1)
        first, stop, step = {1: [zero, *limits, one], 2: [*limits, one], 3: limits}[len(limits)]
        down = isinstance(step, ir.Constant) and step.constant < 0
        counter = self.entry.alloca(_I64)
        self.b.store(first, counter)
        head, body, following, done = (
            self.function.append_basic_block(name) for name in ("for", "body", "next", "after")
        )
        self.b.branch(head)
        self.b.position_at_end(head)
        now = self.b.load(counter)
        self.b.cbranch(self.b.icmp_signed(">" if down else "<", now, stop), body, done)
        self.b.position_at_end(body)
        self._assign(node.target, Typed(now, types.int64))
        self._loop_body(node.body, body, following, done)
        self.b.position_at_end(following)
        self.b.store(self.b.add(self.b.load(counter), step), counter)
        self.b.branch(head)
        self.b.position_at_end(done)

    def _loop_body(self, statements: Sequence[ast.stmt], body: Any, following: Any, done: Any) -> None:
        self.b.position_at_end(body)
        self.loops.append((following, done))
        self._statements(statements)
        self.loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(following)
        self.b.position_at_end(done)

    def _statement_continue(self, node: ast.Continue) -> None:
        self.b.branch(self.loops[-1][0])

    def _statement_break(self, node: ast.Break) -> None:
        self.b.branch(self.loops[-1][1])
