"""Elementary functions as LLVM IR on any number of lanes, within 2 units in the last place.

`FUNCTIONS` has what the modules here list in their ``__all__``; `define` puts one into a module. They are free of
branches (but for rare operands), so that they stay in vector registers, and every lane computes the same bits whatever
the number of lanes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from nxkernel.compilers.numba_cpu.codegen.elementary import (
    exponential,
    inverse,
    logarithm,
    powers,
    rounding,
    special,
    trigonometric,
)
from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import Lanes
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue, suffix, vector

_WRITTEN: dict[str, Callable[..., Lanes]] = {
    name: getattr(module, name)
    for module in (exponential, logarithm, trigonometric, inverse, powers, special, rounding)
    for name in module.__all__
}


def _emitter(function: Callable[..., Lanes]) -> Callable[..., IRValue]:
    @functools.wraps(function)
    def emit(b: FunctionBuilder, *values: IRValue) -> IRValue:
        return function(*(Lanes(b, value) for value in values)).value

    return emit


#: By name, what writes the instructions of a function of values of the type "float" or "double": ``emit(b, *values)``.
FUNCTIONS: dict[str, Callable[..., IRValue]] = {name: _emitter(function) for name, function in _WRITTEN.items()}
#: By name, how many operands a function takes.
ARITY = {name: len(inspect.signature(function).parameters) for name, function in _WRITTEN.items()}


@functools.cache
def _define(name: str, element: str, lanes: int, inline: bool) -> tuple[str, IRModule]:
    """The symbol of an elementary function, and a module with its definition and what it calls."""
    module, kind = IRModule(), vector(element, lanes)
    symbol = f"nx.{name}.{suffix(element, lanes)}"
    operands = [IRValue(element, lanes, f"%x{number}") for number in range(ARITY[name])]
    b = FunctionBuilder(
        module,
        symbol,
        kind,
        [(operand.text[1:], kind) for operand in operands],
        linkage="internal",
        attributes=f"{'alwaysinline' if inline else 'noinline'} nounwind willreturn readnone",
    )
    b.do(f"ret {FUNCTIONS[name](b, *operands)}")
    b.finish()
    return symbol, module


def define(module: IRModule, name: str, element: str, lanes: int, *, inline: bool = True) -> str:
    """Add an elementary function to a module, unless it is there; its symbol.

    Parameters
    ----------
    module : IRModule
        Where it will be called.
    name : str
        One of `FUNCTIONS`.
    element : str
        The type of operands and result, "float" or "double".
    lanes : int
        How many numbers it takes at once; 1 makes it scalar.
    inline : bool
        Whether calls are to be replaced by its body, or all go to one copy. The first definition in a module decides.

    Returns
    -------
    str
        The symbol to call.
    """
    symbol, own_module = _define(name, element, lanes, inline)
    if symbol not in module.defined:
        module.functions += [text for text in own_module.functions if text not in module.functions]
        module.declarations.update(own_module.declarations)
        module.defined |= own_module.defined
    return symbol
