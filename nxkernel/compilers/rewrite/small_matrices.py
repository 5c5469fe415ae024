"""Linear algebra of small matrices, unrolled into operations on single elements over a batch.

They fuse with what is around them, go through a batch as vectors, and are instructions for a single matrix in a loop,
where a library would be called for each. Rows are exchanged by selections, so that pivots are LAPACK's.

References
----------
G. H. Golub and C. F. Van Loan, "Matrix Computations", 4th edition, 2013, algorithms 3.4.1 and 4.2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, constant
from nxkernel.primitives import Primitive, Spec
from nxkernel.shapes import unnamed

#: Most rows of a matrix that is written out. A single inverse takes 0.08 µs then, where a call of a library takes 13,
#: and 30 ms more to compile; inverses of six rows would take 0.6 s, which is too much for what may run only once.
MOST_ROWS = 4
#: Most columns of a right side.
MOST_COLUMNS = 4

#: A number that is known, 0 or 1, or a node.
Element = Expr | int


class _Elements:
    """Arithmetic on matrix elements; operations with constant zeros and ones are left out.

    Parameters
    ----------
    node : Expr
        What is written out; the last two of its first operand's axes are matrices.
    """

    def __init__(self, node: Expr) -> None:
        self.node, (matrices, *_) = node, node.operands
        self.type, self.batch = matrices.type, matrices.shape[:-2]

    def make(self, primitive: Primitive, *operands: Expr, **params: Any) -> Expr:
        """A node that takes the source location of the node being replaced."""
        spec = primitive.rule(*[operand.spec for operand in operands], **params)
        return Expr(primitive, operands, params, spec, self.node.source)

    def of(self, matrices: Expr) -> list[list[Element]]:
        """The elements of a batch of matrices, by row: each a node of the shape of the batch."""
        rows, columns = matrices.shape[-2:]
        return [[self._element(matrices, i, j) for j in range(columns)] for i in range(rows)]

    def _element(self, matrices: Expr, row: int, column: int) -> Expr:
        zeros = (0,) * len(self.batch)
        ones = (1,) * (len(self.batch) + 2)
        part = self.make(p.slice_, matrices, starts=(*zeros, row, column), lengths=(*self.batch, 1, 1), strides=ones)
        return self.make(p.reshape, part, shape=self.batch, names=unnamed(self.batch))

    def full(self, number: complex, type_: types.Type | None = None) -> Expr:
        """A constant over the batch."""
        return constant(number, type_ or self.type, self.batch)

    def value(self, element: Element) -> Expr:
        """An element, possibly a Python number, as a node."""
        return self.full(element) if isinstance(element, int) else element

    def less(self, a: Element, factor: Element, b: Element) -> Element:
        """``a - factor * b``."""
        if 0 in (_constant(factor), _constant(b)):
            return a
        product = factor if _constant(b) == 1 else self.make(p.multiply, self.value(factor), self.value(b))
        if _constant(a) == 0:
            return self.make(p.negate, product)
        return self.make(p.subtract, self.value(a), product)

    def over(self, a: Element, b: Expr) -> Element:
        """``a / b``."""
        return 0 if _constant(a) == 0 else self.make(p.divide, self.value(a), b)

    def either(self, condition: Expr, one: Element, other: Element) -> Element:
        """`one` where a condition holds, `other` elsewhere."""
        if one is other or _constant(one) == _constant(other) is not None:
            return one
        return self.make(p.select, condition, self.value(one), self.value(other))

    def size(self, element: Expr) -> Expr:
        """The magnitude by which pivots are compared; of complex numbers the sum of those of the parts."""
        if not self.type.is_complex:
            return self.make(p.absolute, element)
        parts = [self.make(p.absolute, self.make(part, element)) for part in (p.real, p.imag)]
        return self.make(p.add, *parts)

    def together(self, rows: Sequence[Sequence[Element]], invalid: Expr) -> Expr:
        """The matrices of given elements; all NaN where `invalid` is true."""
        nothing = self.full(complex("nan") if self.type.is_complex else float("nan"))
        elements = [self.make(p.select, invalid, nothing, self.value(element)) for row in rows for element in row]
        return self.joined(elements, self.node.spec)

    def joined(self, elements: Sequence[Element], spec: Spec) -> Expr:
        """A tensor of the given spec made of its elements, along axes after the batch."""
        around = (*self.batch, 1)
        parts = [self.make(p.reshape, self.value(one), shape=around, names=unnamed(around)) for one in elements]
        joined = self.make(p.concatenate, *parts, axis=len(self.batch)) if len(parts) > 1 else parts[0]
        return self.make(p.reshape, joined, shape=spec.shape, names=spec.names)

    def any(self, conditions: Sequence[Expr]) -> Expr:
        """A node that is true where any of some conditions is."""
        first, *rest = conditions
        for condition in rest:
            first = self.make(p.logical_or, first, condition)
        return first


def _constant(element: Element) -> int | None:
    return element if isinstance(element, int) else None


def _eliminated(e: _Elements, a: list[list[Element]], b: list[list[Element]]) -> list[Expr]:
    """Gaussian elimination below the diagonal, in place; for each possible row exchange the condition that it takes
    place.
    """
    exchanges = []
    for k, pivot in enumerate(a):
        for row in range(k + 1, len(a)):
            # The greatest so far comes to the diagonal: the first of equal ones, as in LAPACK.
            swap = e.make(p.greater, e.size(e.value(a[row][k])), e.size(e.value(pivot[k])))
            exchanges.append(swap)
            for sides, first in ((a, k), (b, 0)):
                for j in range(first, len(sides[k])):
                    one, other = sides[k][j], sides[row][j]
                    sides[k][j], sides[row][j] = e.either(swap, other, one), e.either(swap, one, other)
        for row in range(k + 1, len(a)):
            factor = e.over(a[row][k], e.value(pivot[k]))
            for sides, first in ((a, k + 1), (b, 0)):
                for j in range(first, len(sides[k])):
                    sides[row][j] = e.less(sides[row][j], factor, sides[k][j])
    return exchanges


def _is_zero(e: _Elements, element: Element) -> Expr:
    return e.make(p.equal, e.value(element), e.full(0))


def _solution(node: Expr, b: list[list[Element]]) -> Expr:
    e = _Elements(node)
    a = e.of(node.operands[0])
    _eliminated(e, a, b)
    for k in reversed(range(len(a))):
        for column in range(len(b[k])):
            rest = b[k][column]
            for later in range(k + 1, len(a)):
                rest = e.less(rest, a[k][later], b[later][column])
            b[k][column] = e.over(rest, e.value(a[k][k]))
    return e.together(b, e.any([_is_zero(e, a[k][k]) for k in range(len(a))]))


def solved(node: Expr) -> Expr:
    """The solution of small linear systems, by elimination."""
    if not _is_small(node) or not 0 < node.shape[-1] <= MOST_COLUMNS:
        return node
    return _solution(node, _Elements(node).of(node.operands[1]))


def inverted(node: Expr) -> Expr:
    """The inverses of small matrices."""
    if not _is_small(node):
        return node
    indices = range(node.shape[-1])
    return _solution(node, [[int(i == j) for j in indices] for i in indices])


def determined(node: Expr) -> Expr:
    """The determinants of small matrices: products of pivots, with the sign of the row exchanges."""
    if not _is_small(node):
        return node
    e = _Elements(node)
    a = e.of(node.operands[0])
    exchanges = _eliminated(e, a, [[] for _ in a])
    determinant = e.value(a[0][0])
    for k in range(1, len(a)):
        determinant = e.make(p.multiply, determinant, e.value(a[k][k]))
    singular = e.any([_is_zero(e, a[k][k]) for k in range(len(a))])
    if exchanges:
        odd = exchanges[0]
        for swap in exchanges[1:]:
            odd = e.make(p.logical_xor, odd, swap)
        determinant = e.make(p.select, odd, e.make(p.negate, determinant), determinant)
    return e.make(p.select, singular, e.full(0), determinant)


def factored(node: Expr) -> Expr:
    """The Cholesky factors of small matrices; the upper triangle is not read."""
    if not _is_small(node):
        return node
    e = _Elements(node)
    a, size = e.of(node.operands[0]), node.shape[-1]
    lower: list[list[Element]] = [[0] * size for _ in range(size)]
    wrong = []
    for j in range(size):
        for i in range(j, size):
            rest = a[i][j]
            for k in range(j):
                rest = e.less(rest, lower[i][k], _conjugate(e, lower[j][k]))
            if i > j:
                lower[i][j] = e.over(rest, e.value(lower[j][j]))
                continue
            real = e.make(p.real, rest) if e.type.is_complex else rest
            # NaN goes on from where it is, as in LAPACK.
            wrong.append(e.make(p.less_equal, real, e.full(0, real.type)))
            root = e.make(p.sqrt, real)
            lower[j][j] = e.make(p.as_type, root, type=e.type) if e.type.is_complex else root
    return e.together(lower, e.any(wrong))


def _conjugate(e: _Elements, element: Element) -> Element:
    return e.make(p.conjugate, element) if e.type.is_complex and isinstance(element, Expr) else element


def substituted(node: Expr) -> Expr:
    """The solution of small triangular systems, row by row; the other triangle is not read."""
    if not _is_small(node) or not 0 < node.shape[-1] <= MOST_COLUMNS:
        return node
    e, transform, lower = _Elements(node), node.params["transform"], node.params["lower"]
    a, b = e.of(node.operands[0]), e.of(node.operands[1])
    if transform != "none":
        a, lower = [list(column) for column in zip(*a, strict=True)], not lower
    if transform == "conjugate":
        a = [[_conjugate(e, element) for element in row] for row in a]
    indices = list(range(len(a)))
    for k in indices if lower else reversed(indices):
        for column in range(len(b[k])):
            rest = b[k][column]
            for earlier in indices[:k] if lower else indices[k + 1 :]:
                rest = e.less(rest, a[k][earlier], b[earlier][column])
            b[k][column] = e.over(rest, e.value(a[k][k]))
    return e.together(b, e.any([_is_zero(e, a[k][k]) for k in indices]))


#: Several nodes in the place of one with several results; only ``elem`` reads it, and takes its part.
results = Primitive("results", "library", lambda *specs: specs)


def decomposed(node: Expr) -> Expr:
    """LU factors of small matrices in one matrix, and the order of the rows, as LAPACK has them."""
    if not _is_small(node):
        return node
    e = _Elements(node)
    a, type_ = e.of(node.operands[0]), node.spec[1].type
    order = [e.full(k, type_) for k in range(len(a))]
    for k in range(len(a)):
        greatest, chosen = e.size(e.value(a[k][k])), []
        for row in range(k + 1, len(a)):
            size = e.size(e.value(a[row][k]))
            better = e.make(p.greater, size, greatest)
            greatest = e.make(p.select, better, size, greatest)
            chosen = [e.make(p.logical_and, one, e.make(p.logical_not, better)) for one in chosen] + [better]
        rows = [[*row, pivot_row] for row, pivot_row in zip(a, order, strict=True)]
        pivot = rows[k]
        for one, row in zip(chosen, range(k + 1, len(a)), strict=True):
            pivot = [e.either(one, other, mine) for other, mine in zip(rows[row], pivot, strict=True)]
            rows[row] = [e.either(one, mine, other) for other, mine in zip(rows[row], rows[k], strict=True)]
        rows[k] = pivot
        a, order = [row[:-1] for row in rows], [e.value(row[-1]) for row in rows]
        # All below a pivot of 0 are 0.
        divisor = e.make(p.select, _is_zero(e, a[k][k]), e.full(1), e.value(a[k][k]))
        for row in range(k + 1, len(a)):
            a[row][k] = e.over(a[row][k], divisor)
            for column in range(k + 1, len(a)):
                a[row][column] = e.less(a[row][column], a[row][k], a[k][column])
    packed, pivots = e.joined([element for row in a for element in row], node.spec[0]), e.joined(order, node.spec[1])
    return Expr(results, (packed, pivots), {}, node.spec, node.source)


def taken(node: Expr) -> Expr:
    """One result of a decomposition, by its index."""
    (source,) = node.operands
    return source.operands[node.params["index"]] if source.primitive is results else node


def _is_small(node: Expr) -> bool:
    operand = node.operands[0]
    return 0 < operand.shape[-1] <= MOST_ROWS and operand.type is types.compute_type(operand.type)


#: What is written out.
SMALL: dict[Primitive, Callable[[Expr], Expr]] = {
    p.solve: solved,
    p.inverse: inverted,
    p.determinant: determined,
    p.cholesky: factored,
    p.triangular_solve: substituted,
    p.lu: decomposed,
    p.elem: taken,
}
