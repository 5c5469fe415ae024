"""Finding regions of a graph whose columns are independent: loops over planes, and the nodes around them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import operation_costs, scalars
from nxkernel.compilers.rewrite.columns import column_axes as forms_of
from nxkernel.compilers.rewrite.columns.column_axes import Form, RefusedError, is_uniform, uniform
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import post_order

#: Fewest columns that are worth a loop. Smaller planes stay in the cache, where vectors are as fast.
FEWEST = 512


class Region:
    """A set of nodes that compute independent columns, with the column axes (form) of each value in it.

    Parameters
    ----------
    order : sequence of Expr
        The nodes of the graph, operands first.
    users : mapping
        The readers of each.
    outputs : sequence of Expr
        The graph's.
    seed : Expr
        A loop.

    Attributes
    ----------
    extents : tuple of int
        How many columns there are along each index.
    nodes : set of Expr
        Those of the graph itself.
    forms : dict
        By value; a result of a branch goes by the branch and a number. What is taken from outside of the region has no
        form of its own.
    asked : dict
        For each value from outside the forms in which it is read.
    same : dict
        For each parameter of a part of a loop or branch that only hands on a value that value.

    Raises
    ------
    RefusedError
        When the loop does not work on columns.
    """

    def __init__(
        self, order: Sequence[Expr], users: Mapping[Expr, list[Expr]], outputs: Sequence[Expr], seed: Expr
    ) -> None:
        self.order, self.users = order, users
        self.kept = set(outputs)
        access, axes = _first_walk(seed)
        self.extents = _sizes(access, axes)
        if shapes.size(self.extents) < FEWEST:
            raise RefusedError("too few columns")
        self.nodes: set[Expr] = set()
        self.inside: set[Expr] = set()
        self.forms: dict[object, Form] = {}
        self.asked: dict[Expr, set[Form]] = {}
        self.same: dict[Expr, Expr] = {}
        self._take([seed, *users[seed]], {access: _walk_form(access, axes)})
        self._grow()
        self._cut()

    def value(self, node: Expr) -> Expr:
        """The value that a node stands for: of a body's parameter the value that is passed in, else the node itself."""
        while node in self.same:
            node = self.same[node]
        return node

    def form(self, node: Expr) -> Form:
        """The form (column axes) of a value in the region."""
        value = self.value(node)
        return uniform(value) if scalars.is_single(value) else self.forms[value]

    def result_form(self, node: Expr, index: int) -> Form:
        """The form of one result of a node."""
        spec = node.spec[index]
        return (None,) * len(spec.shape) if scalars.is_single(spec) else self.forms[node, index]

    # Growing ---------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """Add nodes before and after the loop that work column by column too."""
        while True:
            before = len(self.nodes)
            todo = deque(node for node in self.order if node in self.nodes)
            while todo:
                node = todo.popleft()
                for other in (*reversed(self._outside(node)), *self.users[node]):
                    if other not in self.nodes:
                        todo += self._try(other)
            if len(self.nodes) == before:
                return

    def _outside(self, node: Expr) -> list[Expr]:
        return [operand for operand in node.operands if operand in self.asked and operand not in self.nodes]

    def _try(self, node: Expr) -> list[Expr]:
        """Add a node if it belongs to the region; the nodes that were added."""
        if node in self.asked and all(map(is_uniform, self.asked[node])):
            return []
        control = node.operands[0] if node.primitive is p.elem else node
        group = [node]
        if control.primitive.family == "control":
            if type(control.spec) is not tuple or gain(control) < 0:
                return []
            group = [control, *self.users[control]]
        asked = {one: self.asked[one] for one in group if one in self.asked}
        if any(len(forms) > 1 for forms in asked.values()):
            return []
        given_forms = {one: form for one, (form,) in asked.items()}
        try:
            self._take(group, given_forms, self._fits)
        except RefusedError:
            return []
        return group

    def _fits(self, node: Expr, form: Form) -> bool:
        """Whether a node other than a loop is better computed inside the region."""
        if node.primitive.family == "leaf":
            return False
        if node in self.asked and (node in self.kept or not self.nodes.issuperset(self.users[node])):
            return False
        size = shapes.size(forms_of.left(form, node.shape))
        return not is_uniform(form) and (size == 1 or node in self.asked or node.primitive is p.put_slice)

    def _take(
        self, group: list[Expr], forms: Mapping[object, Form], fits: Callable[[Expr, Form], bool] | None = None
    ) -> None:
        trial = _Trial(self, group)
        trial.infer(forms)
        if fits is not None and group[0].primitive.family != "control" and not fits(group[0], trial.get(group[0])):
            raise RefusedError("better off where it is")
        self.forms |= trial.forms
        for value, asked in trial.asked.items():
            self.asked.setdefault(value, set()).update(asked)
        self.same |= trial.same
        self.inside.update(trial.inside)
        self.nodes.update(group)

    def _cut(self) -> None:
        """Remove nodes that depend on outside nodes which in turn depend on the region."""
        after: set[Expr] = set()
        for node in self.order:
            if any(operand in after for operand in node.operands):
                self.nodes.discard(node)
            if node not in self.nodes and any(operand in after or operand in self.nodes for operand in node.operands):
                after.add(node)

    # What it is ------------------------------------------------------------------------------------------------

    @property
    def loops(self) -> list[Expr]:
        """The loops and branches of the graph that are in the region."""
        return [node for node in self.order if node in self.nodes and node.primitive.family == "control"]

    def results(self) -> list[Expr]:
        """The values of the region that are used outside it."""
        return [
            node
            for node in self.order
            if node in self.nodes
            and type(node.spec) is not tuple
            and (node in self.kept or not self.nodes.issuperset(self.users[node]))
        ]

    def inputs(self) -> list[Expr]:
        """The outside values, other than constants, that the region reads."""
        operands = [operand for node in self.order if node in self.nodes for operand in node.operands]
        return [v for v in dict.fromkeys(operands) if v not in self.nodes and v.primitive is not p.constant]


def worth(region: Region) -> bool:
    """Whether interchanging the region's loops is estimated to be faster.

    They are where loops walk along memory from plane to plane, and do little besides.
    """
    return sum(gain(loop) for loop in region.loops) > 0


def gain(node: Expr) -> int:
    """How many more accesses of a loop are close to the previous one in memory by columns than by planes.

    A function that vectors compute so much faster than single numbers counts as some that are not.
    """
    total = 0
    for one in _nested(node):
        axes = forms_of.walks(one)
        if axes is not None:
            total += 1 if forms_of.is_column_wise(one, axes) else -1
        elif operation_costs.is_function(one.primitive.name) and not scalars.is_single(one):
            total -= FUNCTION
    return total


#: How many reads and writes along memory a function of vectors outweighs.
FUNCTION = 3


def _nested(node: Expr) -> Iterator[Expr]:
    """All nodes of the graphs of a loop or branch, recursively."""
    for _, graph in forms_of.parts(node):
        for one in post_order(graph.outputs):
            yield one
            if one.primitive.family == "control":
                yield from _nested(one)


def _sizes(access: Expr, axes: Sequence[int]) -> tuple[int, ...]:
    part = access if access.primitive is p.dynamic_slice else access.operands[1]
    return tuple(part.shape[axis] for axis in axes)


def _walk_form(access: Expr, axes: Sequence[int]) -> Form:
    """The form of a plane that is read, or of an array in which a plane is updated."""
    first = forms_of.starts_of(access) if access.primitive is p.put_slice else [0] * len(access.shape)
    return tuple((axes.index(axis), first[axis]) if axis in axes else None for axis in range(len(access.shape)))


def _first_walk(node: Expr) -> tuple[Expr, tuple[int, ...]]:
    """The first plane that a loop reads or writes, and its axes; None if there is none."""
    for one in _nested(node):
        axes = forms_of.walks(one)
        if axes is not None and forms_of.is_column_wise(one, axes):
            return one, axes
    raise RefusedError("no walk along memory")


class _Trial:
    """Infers the forms of candidate nodes, and of the values in their loops, for a region."""

    def __init__(self, region: Region, group: Sequence[Expr]) -> None:
        self.region, self.extents = region, region.extents
        self.forms: dict[object, Form] = {}
        self.asked: dict[Expr, set[Form]] = {}
        self.same: dict[Expr, Expr] = {}
        self.inside: dict[Expr, None] = {}
        self.elements: dict[Expr, list[Expr]] = {}
        self.touching: dict[object, list[Expr]] = {}
        self.todo: deque[Expr] = deque()
        self._enter(group)
        for node in self.inside:
            for value in self._values(node):
                self.touching.setdefault(value, []).append(node)

    def _enter(self, nodes: Iterable[Expr]) -> None:
        for node in nodes:
            self.inside[node] = None
            if node.primitive is p.elem:
                self.elements.setdefault(node.operands[0], []).append(node)
            elif node.primitive is p.while_:
                count, body = node.params["state"], node.params["body"]
                condition = node.params["condition"]
                self.same |= zip(condition.parameters[:count], body.parameters[:count], strict=True)
                for graph in (condition, body):
                    self.same |= zip(graph.parameters[count:], node.operands[count:], strict=True)
            elif node.primitive is p.cond:
                for _, graph in forms_of.parts(node):
                    self.same |= zip(graph.parameters, node.operands[1:], strict=True)
            for _, graph in forms_of.parts(node) if node.primitive.family == "control" else ():
                self.inside |= dict.fromkeys(graph.parameters)
                self._enter(post_order(graph.outputs))

    def _value(self, node: Expr) -> Expr:
        while node in self.same or node in self.region.same:
            node = self.same[node] if node in self.same else self.region.same[node]
        return node

    def _values(self, node: Expr) -> list[object]:
        if node.primitive.family == "control":
            return [value for group in self._groups(node) for value in group]
        return [self._value(value) for value in (node, *node.operands) if type(value.spec) is not tuple]

    def _groups(self, node: Expr) -> list[list[object]]:
        """The sets of values of a loop or branch that must have the same form."""
        if node.primitive is p.while_:
            body, count = node.params["body"], node.params["state"]
            groups: list[list[object]] = [
                [self._value(value) for value in (node.operands[k], body.parameters[k], body.outputs[k])]
                for k in range(count)
            ]
        else:
            sides = [[self._value(value) for value in node.params[name].outputs] for name in ("then", "otherwise")]
            groups = [[(node, k), *values] for k, values in enumerate(zip(*sides, strict=True))]
        for user in self.elements.get(node, ()):
            groups[user.params["index"]].append(user)
        return groups

    # Forms -----------------------------------------------------------------------------------------------------

    def infer(self, forms: Mapping[object, Form]) -> None:
        """Infer all forms from the given ones.

        Raises
        ------
        RefusedError
            When there are none.
        """
        for value, form in forms.items():
            self._set(value, form)
        self.todo.extend(node for node in self.inside if node.primitive is not p.parameter)
        self._settle()
        for guess in (self._further_walk, self._further_spread, self._further_uniform):
            while guess():
                self._settle()
        for node in self.inside:
            if node.primitive is p.while_:
                self._check_state(node)

    def _check_state(self, node: Expr) -> None:
        for operand in node.params["body"].parameters[: node.params["state"]]:
            if not scalars.is_single(operand) and is_uniform(self.forms[operand]):
                raise RefusedError("a loop changes an array that all columns share")

    def get(self, value: object) -> Form | None:
        """The form of a value; None while it is unknown."""
        spec = value.spec if type(value) is Expr else value[0].spec[value[1]]
        if scalars.is_single(spec):
            return (None,) * len(spec.shape)
        form = self.forms.get(value)
        return self.region.forms.get(value) if form is None else form

    def _set(self, value: object, form: Form) -> None:
        if type(value) is not Expr:
            shape = value[0].spec[value[1]].shape
        elif value.primitive is p.constant:
            return
        else:
            value, shape = self._value(value), value.shape
        forms_of.check(form, shape, self.extents)
        if type(value) is Expr and value not in self.inside and value not in self.region.inside:
            self.asked.setdefault(value, set()).add(form)
            return
        present = self.get(value)
        if present is None:
            self.forms[value] = form
            self.todo.extend(self.touching.get(value, ()))
        elif present != form:
            raise RefusedError("a value is read as other columns than its own")
        else:
            self.forms.setdefault(value, form)

    def _settle(self) -> None:
        while self.todo:
            node = self.todo.popleft()
            if node.primitive is p.constant or node.primitive is p.parameter or node.primitive is p.elem:
                continue
            if node.primitive.family == "control":
                self._control(node)
                continue
            form = self.get(node)
            if form is None:
                form = self._from_operands(node)
            if form is None:
                continue
            self._set(node, form)
            needed = forms_of.of_operands(node, form, self.extents)
            for operand, needed_form in zip(node.operands, needed, strict=True):
                if needed_form is not None:
                    self._set(operand, needed_form)

    def _from_operands(self, node: Expr) -> Form | None:
        for position, operand in enumerate(node.operands):
            operand_form = self.get(self._value(operand))
            if operand_form is not None:
                form = forms_of.of_result(node, position, operand_form)
                if form is not None and not (scalars.is_single(operand) and len(form) != len(node.shape)):
                    return form
        return None

    def _control(self, node: Expr) -> None:
        for group in self._groups(node):
            form_of_group = next((form for form in map(self.get, group) if form is not None), None)
            if form_of_group is not None:
                for value in group:
                    self._set(value, form_of_group)

    # Guesses, where nothing follows from anything else ---------------------------------------------------------------

    def _open(self) -> list[Expr]:
        return [
            node
            for node in self.inside
            if node.primitive is not p.constant
            and type(node.spec) is not tuple
            and self._value(node) is node
            and self.get(node) is None
        ]

    def _further_walk(self) -> bool:
        """Try the form of another plane of the same sizes."""
        for node in self.inside:
            axes = forms_of.walks(node)
            if axes is None:
                continue
            if self.get(node) is None and _sizes(node, axes) == self.extents:
                self._set(node, _walk_form(node, axes))
                return True
        return False

    def _further_spread(self) -> bool:
        """Try the form of a broadcast whose new axes are no column axes."""
        for node in self._open():
            if node.primitive is p.broadcast:
                operand_form = self.get(self._value(node.operands[0]))
                if operand_form is not None:
                    self._set(node, forms_of.spread(node, operand_form))
                    return True
        return False

    def _further_uniform(self) -> bool:
        """Take one more value as the same for all columns."""
        for node in self._open():
            self._set(node, uniform(node))
            return True
        return False
