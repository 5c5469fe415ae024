"""Sorts, running results, and what libraries compute as Python source."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from nxkernel import primitives as p
from nxkernel.compilers.analysis.reduction_table import running_join
from nxkernel.compilers.display import operation_text
from nxkernel.compilers.numba_njit.library_functions import FUNCTIONS
from nxkernel.compilers.numba_njit.program_steps import WRITERS, SourceScope
from nxkernel.compilers.numba_njit.source_writer import SourceWriter, Variable, shape_text
from nxkernel.compilers.plan.program_plan import OpaqueStep
from nxkernel.compilers.schedule.loop_nest import Op
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Primitive


def write(scope: SourceScope, step: OpaqueStep) -> None:
    """Write an opaque operation."""
    node = step.node
    results = [None if result is None else scope.variable(result) for result in step.results]
    writer = _ALONG_AXES.get(node.primitive)
    if writer is not None:
        (result,) = results
        assert result is not None
        _along_axis(scope, node, result, writer)
    else:
        _by_library(scope, node, results)


def _along_axis(scope: SourceScope, node: Expr, result: Variable, write_lane: Callable[..., None]) -> None:
    """Write loops over all lanes along an axis, and what is done with each of them."""
    w, operand, axis = scope.w, scope.variable(node.operands[0]), node.params["axis"]
    shape = node.operands[0].shape
    if not math.prod(shape):
        return
    if operand.is_number:
        w.line(f"{result.name} = {_of_one(node, operand)}")
        return
    sizes, names = [n for place, n in enumerate(shape) if place != axis], []
    for variable in (operand, result):
        name = variable.name
        if variable.shape != shape:
            name = w.name(f"lanes_of_{name}")
            w.line(f"{name} = {variable.name}.reshape({shape_text(shape)})")
        names.append(name)
    letters = [letter for letter in "ijklmnpqruvw" if not w.is_name(letter)][: len(sizes)]
    shared = scope.shared and bool(sizes) and math.prod(shape) > _WORTH_SHARING
    w.is_parallel |= shared
    for number, (letter, size) in enumerate(zip(letters, sizes, strict=True)):
        w.line(f"for {letter} in {'numba.prange' if shared and not number else 'range'}({size}):")
        w.depth += 1
    at = ", ".join([*letters[:axis], "{}", *letters[axis:]])
    write_lane(w, node, shape[axis], *(f"{name}[{at}]".format for name in names))
    w.depth -= len(letters)


#: Elements from which threads share lanes.
_WORTH_SHARING = 1 << 14
Lane = Callable[[str], str]


def _of_one(node: Expr, operand: Variable) -> str:
    if node.primitive is p.argsort:
        return operation_text.literal(0, node.type)
    op = Op("as_type", node.type, attribute=operand.type)
    return operation_text.phrase(op, [operand.name], [Op("", operand.type)])


def _running(w: SourceWriter, node: Expr, length: int, source: Lane, target: Lane) -> None:
    """Write a running result along a lane."""
    total, index, join = w.name("so_far"), w.name("place"), running_join(node)
    operand = node.operands[0]
    start, span = ("0", f"1, {length}") if not node.params["reverse"] else (str(length - 1), f"{length - 2}, -1, -1")

    def read(place: str) -> str:
        op = Op("as_type", node.type, attribute=operand.type)
        text = source(place)
        return text if operand.type is node.type else operation_text.phrase(op, [text], [Op("", operand.type)])

    own = Op("", node.type)
    w.line(f"{total} = {read(start)}")
    w.line(f"{target(start)} = {total}")
    with w.block(f"for {index} in range({span}):"):
        joined = operation_text.phrase(Op(join, node.type), [total, read(index)], [own, own])
        w.line(f"{total} = {joined}")
        w.line(f"{target(index)} = {total}")


def _sort(w: SourceWriter, node: Expr, length: int, source: Lane, target: Lane) -> None:
    turned = "[::-1]" if node.params["direction"] == "desc" else ""
    w.line(f"{target(':')} = np.sort({source(':')}){turned}")


def _argsort(w: SourceWriter, node: Expr, length: int, source: Lane, target: Lane) -> None:
    if node.params["direction"] == "asc":
        w.line(f'{target(":")} = np.argsort({source(":")}, kind="mergesort")')
    else:
        # Turned twice, so that equal elements keep their order.
        w.line(f'{target(":")} = {length - 1} - np.argsort({source("::-1")}, kind="mergesort")[::-1]')


_ALONG_AXES: dict[Primitive, Callable[..., None]] = {
    p.cumulative_sum: _running,
    p.cumulative_product: _running,
    p.cumulative_max: _running,
    p.cumulative_min: _running,
    p.sort: _sort,
    p.argsort: _argsort,
}


def _by_library(scope: SourceScope, node: Expr, results: Sequence[Variable | None]) -> None:
    """Write a call of NumPy, which Python makes."""
    w = scope.w
    name = node.primitive.name
    w.functions[name] = FUNCTIONS[name]
    operands = []
    for operand in node.operands:
        variable = scope.variable(operand)
        if variable.is_number:
            operands.append(f"np.full({shape_text(operand.shape)}, {variable.name})")
        elif variable.shape == operand.shape:
            operands.append(variable.name)
        else:
            operands.append(f"{variable.name}.reshape({shape_text(operand.shape)})")
    params = [f"{key}={value!r}" for key, value in node.params.items()]
    specs = node.spec if type(node.spec) is tuple else (node.spec,)
    # What nobody needs must not be declared.
    found = ["_" if variable is None else w.name(f"{name}_result") for variable in results]
    declared = []
    for own, spec in zip(found, specs, strict=True):
        if own == "_":
            continue
        axes = ", ".join([*[":"] * (len(spec.shape) - 1), "::1"])
        declared.append(f'{own}="{spec.type.dtype.name}[{axes}]"' if spec.shape else f'{own}="{spec.type.dtype.name}"')
    with w.block(f"with numba.objmode({', '.join(declared)}):"):
        call = f"{name}({', '.join([*operands, *params])})"
        if len(specs) == 1 and specs[0].shape:
            call = f"np.ascontiguousarray({call}, {operation_text.array_dtype(specs[0].type)})"
        w.line(f"{', '.join(found)} = {call}")
    for own, variable, spec in zip(found, results, specs, strict=True):
        if variable is None:
            continue
        if variable.is_number:
            w.line(f"{variable.name} = {own}" + (f"[{', '.join('0' * len(spec.shape))}]" if spec.shape else ""))
        elif variable.shape == spec.shape:
            w.line(f"{variable.name}[...] = {own}")
        else:
            w.line(f"{variable.name}[...] = {own}.reshape({shape_text(variable.shape)})")


WRITERS[OpaqueStep] = write
