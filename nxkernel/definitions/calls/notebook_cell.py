"""A whole cell as one compiled program: its free variables are inputs, and the names that it assigns are outputs."""

from __future__ import annotations

import ast
import functools
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nxkernel.container_classes.object_forms import opened
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.flow.control import unrolling
from nxkernel.definitions.flow.values.mutable_arguments import bind_tensors_anew
from nxkernel.definitions.flow.values.unassigned_variables import is_unassigned
from nxkernel.definitions.keys import containers, default_options
from nxkernel.definitions.keys.static_values import CONTAINERS
from nxkernel.definitions.syntax import check, names, sources
from nxkernel.definitions.syntax.unsupported_syntax import refusal, site
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.errors import NxError, NxTypeError, UnrolledWarning
from nxkernel.graph import tracing
from nxkernel.messages.grammar import a
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.tensor.tensor import StoredTensor, Tensor

#: The name of the cell's function in errors and events.
NAME = "%%jit"
#: The key of the cell's last expression in its result.
_LAST = ""

_REFUSED: dict[type[ast.AST], tuple[str, str, tuple[str, ...]]] = {
    ast.Import: ("import", "`import`", ("Import in a cell before: imported modules can be used here.",)),
    ast.FunctionDef: (
        "def",
        "`def`",
        ("Define functions in a cell before, as they are or under %%defn: those that are called here become part.",),
    ),
    ast.ClassDef: ("class", "`class`", ("Write the class in a cell before.",)),
    ast.Delete: ("del", "`del`", ("Delete names in a cell of its own.",)),
    ast.Return: ("return", "`return`", ("Assign the value to a name, or write it as the last line of the cell.",)),
}
_REFUSED[ast.ImportFrom] = _REFUSED[ast.Import]
_REFUSED[ast.AsyncFunctionDef] = _REFUSED[ast.FunctionDef]


class _UnchangedLeaf:
    """Marks a result leaf that is an argument leaf, unchanged."""

    def __init__(self, position: int) -> None:
        self.position = position


class _SharedResult:
    """Marks a result value that is also held by another name."""

    def __init__(self, name: str) -> None:
        self.name = name


class _CellDefinition(Definition):
    """The definition made of a cell; result values that are no tensors become constants of the program."""

    #: Whose rules somebody has asked for; where nobody has, `promotion` is what the cell reads.
    asked: str | None = None

    def _told(self, dialect: str | None) -> str:
        return whose_rules.told(dialect, self.ruled_by, self.asked or default_options.promotion())

    def _twin(self, function: Callable[..., Any]) -> Callable[..., Any]:
        inner = super()._twin(function)
        keywords = inner.__kwdefaults__
        inner = types.FunctionType(
            _as_module(inner.__code__), inner.__globals__, NAME, inner.__defaults__, inner.__closure__
        )
        inner.__kwdefaults__ = keywords

        @functools.wraps(inner, updated=())
        def gathered(*args: Any, **options: Any) -> Any:
            __tracebackhide__ = True
            bind_tensors_anew(tracing.current())
            positions = {id(leaf): position for position, leaf in enumerate(_leaves(args)) if not _is_plain(leaf)}
            result = _outcome(inner(*args, **options), positions)
            for name in self.__nx_function__.left_out:
                _note(f"{name} is assigned in a loop only, and keeps the value from before the cell")
            return result

        gathered.gives_back = True
        return gathered

    def trial(self, args: tuple, options: dict[str, Any]) -> tuple[str, ...]:
        """Trace without compiling: returns the notes of the trace."""
        return self._trace(self._bind(args, options))[0].notes


def _as_module(code: types.CodeType) -> types.CodeType:
    """Code of a cell, and its blocks, by the name of a module's: tracebacks show the lines of one as they are.

    They look for the `def` of anything else.
    """
    inside = [
        _as_module(each) if isinstance(each, types.CodeType) and each.co_name == NAME else each
        for each in code.co_consts
    ]
    return code.replace(co_name="<module>", co_qualname="<module>", co_consts=tuple(inside))


def _outcome(assigned: dict[str, Any], positions: dict[int, int]) -> dict[str, Any]:
    """The values of the names that a cell assigned; names without a value are left out, with a note in the event."""
    held: dict[int, str] = {}
    result = {}
    for name, value in assigned.items():
        if is_unassigned(value):
            _note(f"{name} is assigned only where some condition holds, so it keeps the value from before the cell")
        elif name != _LAST and not _has_shape(value):
            _note(f"{name} has a shape that only the running program knows, so it keeps the value from before the cell")
        elif id(value) in held and not _is_plain(value):
            result[name] = containers.Static(_SharedResult(held[id(value)]))
        else:
            held[id(value)] = name
            result[name] = _each(value, positions)
    return result


def _has_shape(value: Any) -> bool:
    """Whether a value can be a result; not where its length depends on data."""
    try:
        leaves = _leaves(value)
    except NxTypeError:
        return True
    try:
        for leaf in leaves:
            if not _is_plain(leaf):
                operand(leaf)
    except NxError:
        return False
    return True


def _leaves(value: Any) -> list[Any]:
    leaves: list[tuple[str, Any]] = []
    containers.flatten(value, "", leaves, lambda path, part: NxTypeError(path))
    return [leaf for _, leaf in leaves]


def _is_plain(value: Any) -> bool:
    return is_number(value) or isinstance(value, np.generic) or value is None


def _note(text: str) -> None:
    run = tracing.current()
    if run is not None:
        unrolling.add_note(run, text, text)


def _each(value: Any, positions: dict[int, int]) -> Any:
    """A result value in which everything but traced tensors is marked as static."""
    if id(value) in positions:
        return containers.Static(_UnchangedLeaf(positions[id(value)]))
    if not _is_plain(value) and containers.is_leaf(value):
        return value
    made = _mapped(value, lambda part: _each(part, positions))
    return containers.Static(value) if made is None else made


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A container of what a function gives for each part that is not static; None for what is no container."""
    if type(value) in (tuple, list):
        return type(value)(map(function, value))
    if type(value) is dict:
        return {key: function(item) for key, item in value.items()}
    found = opened(value)
    if found is None:
        return None
    form, parts = found
    pairs = zip(parts, form.static_flags, strict=True)
    return form.filled([part if is_static else function(part) for part, is_static in pairs])


class CompiledCell:
    r"""A cell that is ready to be called: the definition, what it is called with, and where its results go.

    Parameters
    ----------
    statements : sequence of ast.stmt
        The statements of the cell, with their lines in `file`.
    file : str
        The name under which the cell's source is known.
    namespace : dict
        The user's variables.
    compiler : str, optional
        As :func:`nxkernel.defn` takes it.
    promotion : {"nx", "numpy"}, optional
        As :func:`nxkernel.defn` takes it.

    Attributes
    ----------
    definition : Definition
    args, options : tuple and dict
        The arguments of the call.

    Raises
    ------
    RefusedSyntaxError
        For statements that a compiled cell cannot have.

    Examples
    --------
    >>> text = "total = 0.0\nfor i in range(len(x)):\n    total += x[i]\ntotal > 2"
    >>> variables = {"x": np.ones(4), "np": np}
    >>> cell = CompiledCell(ast.parse(text).body, "<example>", variables)
    >>> cell.finish(cell.definition(*cell.args, **cell.options)), variables["total"]
    (np.True_, np.float64(4.0))
    """

    def __init__(
        self,
        statements: Sequence[ast.stmt],
        file: str,
        namespace: dict[str, Any],
        *,
        compiler: str | None = None,
        promotion: str | None = None,
    ) -> None:
        self._namespace = namespace
        body = list(statements)
        for statement in body:
            _refuse(statement, file)
        self._has_value = bool(body) and isinstance(body[-1], ast.Expr)
        self._changed = dict.fromkeys([*names.updates(body), *_with_attributes(body, namespace)])
        assigned = {**names.stores(body), **self._changed}
        needed = _needed(body, assigned)
        data = [name for name in needed if name in namespace and _is_data(namespace[name])]
        static = [name for name in needed if name in namespace and name in assigned and name not in data]
        for name in static:
            if name in self._changed:
                raise _not_data(name, namespace[name], body, file)
        self._inputs = {name: namespace[name] for name in data}
        self._holds_tensors = any(_holds_tensor(value) for value in self._inputs.values())
        variants = [self._variant(body, file, static, list(assigned))]
        asked, promotion = promotion, promotion or self._rules(variants[0][0])
        looped = _only_in_loops(body) - set(needed)
        outputs = [[name for name in assigned if name not in looped]] if looped else []
        variants += [self._variant(body, file, static, each) for each in outputs]
        integers = [name for name, value in self._inputs.items() if type(value) is int]
        if promotion == dialects.NX and integers:
            variants += [self._variant(body, file, [*static, *integers], each) for each in [list(assigned), *outputs]]
        self.definition, args, self.options = _best(variants, compiler, promotion, asked)
        self._copies: dict[int, Tensor] = {}
        named = zip(self._argument_names, args, strict=True)
        self.args = tuple([self._changeable(name, value, assigned) for name, value in named])

    @property
    def _argument_names(self) -> tuple[str, ...]:
        code = self.definition.__nx_function__.__code__
        return code.co_varnames[: code.co_argcount]

    def _changeable(self, name: str, value: Any, assigned: Mapping[str, None]) -> Any:
        """A tensor that a NumPy program may assign into, as an array; the name gets a new tensor later."""
        if not isinstance(value, StoredTensor) or name not in assigned or self.definition.dialect != dialects.NUMPY:
            return value
        array = np.array(value.to_numpy())
        self._copies[id(array)] = value
        return array

    def _rules(self, function: types.FunctionType) -> str:
        """The dialect: that of the library that the code computes with, else of the one that its inputs come from."""
        return (
            whose_rules.of(function) or whose_rules.of_values(self._inputs.values()) or whose_rules.of_numbers(function)
        )

    def _variant(
        self, body: list[ast.stmt], file: str, static: list[str], outputs: list[str]
    ) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
        """One way to compile the cell: its function, and the arguments and options of the call."""
        data = {name: value for name, value in self._inputs.items() if name not in static}
        options = {name: self._namespace[name] for name in static}
        statements = body[:-1] if self._has_value else body
        near = body[-1]
        shown = {name: ast.Name(name, ast.Load()) for name in outputs}
        if self._has_value:
            shown[_LAST] = body[-1].value
        result = ast.Return(ast.Dict([ast.Constant(name) for name in shown], list(shown.values())))
        arguments = ast.arguments(
            [], [ast.arg(name) for name in data], None, [ast.arg(name) for name in options], [None] * len(options),
            None, [],
        )  # fmt: skip
        tree = ast.FunctionDef(NAME, arguments, [*statements, names.at(result, near)], [], None)
        tree.type_params = []
        names.at(tree, body[0])
        tree.lineno, tree.col_offset = 1, 0
        for node in ast.walk(tree):
            if "lineno" in node._attributes and not hasattr(node, "lineno"):
                names.at(node, near)
        module = compile(ast.Module([tree], []), file, "exec", dont_inherit=True)
        code = next(each for each in module.co_consts if isinstance(each, types.CodeType))
        sources.keep(code, tree)
        function = types.FunctionType(code, self._namespace, NAME)
        # Another cell is another function, and not a later state of this one.
        function.__qualname__ = f"<cell>.{NAME}"
        function.left_out = [name for name in names.stores(body) if name not in outputs]
        check(function)
        return function, tuple(data.values()), options

    def finish(self, result: dict[str, Any]) -> Any:
        """Put what the cell assigned into the user's namespace.

        Parameters
        ----------
        result : dict
            The definition's result.

        Returns
        -------
        Any
            The value of the cell's last expression; None where there is none.
        """
        as_tensors = self.definition.dialect == dialects.NUMPY and self._holds_tensors
        leaves = _leaves(self.args)
        leaves = [
            Tensor.wrap(leaf, self._copies[id(leaf)].spec) if id(leaf) in self._copies else leaf for leaf in leaves
        ]
        values = {name: _seen(value, leaves, as_tensors) for name, value in result.items()}
        values = {name: values[value.name] if type(value) is _SharedResult else value for name, value in values.items()}
        last = values.pop(_LAST, None)
        for name, value in values.items():
            if name not in self._changed or not _is_changed_to(self._namespace.get(name), value):
                self._namespace[name] = value
        return last


def _seen(value: Any, leaves: list[Any], as_tensor: bool) -> Any:
    """A result value as the user gets it."""
    if type(value) is _UnchangedLeaf:
        return leaves[value.position]
    if as_tensor and isinstance(value, np.ndarray | np.generic):
        # The cell got arrays in place of tensors that it assigns into.
        return Tensor.from_numpy(np.asarray(value))
    made = _mapped(value, lambda part: _seen(part, leaves, as_tensor))
    return value if made is None else made


def _is_changed_to(before: Any, value: Any) -> bool:
    """Write a result into the array or container that already holds it; False where that is impossible."""
    if isinstance(before, np.ndarray) and isinstance(value, StoredTensor | np.ndarray) and before.shape == value.shape:
        if before.flags.writeable:
            np.copyto(before, np.asarray(value), casting="unsafe")
        return before.flags.writeable
    if type(before) is not type(value) or isinstance(value, tuple) or containers.inside(value) is None:
        return False
    found = opened(before)
    if found is not None:
        found[0].write(before, value)
    elif isinstance(value, list):
        before[:] = value
    else:
        before.clear()
        before.update(value)
    return True


def _with_attributes(body: list[ast.stmt], namespace: Mapping[str, Any]) -> list[str]:
    """The names of objects that are data and whose attributes a cell assigns, as in ``m.w = v``."""
    roots = []
    for node in names.own(body):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            while isinstance(node, ast.Attribute | ast.Subscript):
                node = node.value
            roots += [node.id] if isinstance(node, ast.Name) else []
    return [name for name in roots if name in namespace and opened(namespace[name]) and _is_data(namespace[name])]


def _best(
    variants: list[tuple[types.FunctionType, tuple, dict[str, Any]]],
    compiler: str | None,
    promotion: str,
    asked: str | None,
) -> tuple[_CellDefinition, tuple, dict[str, Any]]:
    """The first variant that traces with no loop unrolled, else the first that traces at all.

    Names that only loops assign may force a loop to be unrolled, and integers may be needed as static values.
    """
    candidates = [
        (_CellDefinition(function, compiler=compiler, syntax=True, promotion=promotion), args, options)
        for function, args, options in variants
    ]
    for definition, _, _ in candidates:
        definition.asked = asked
    for candidate in candidates:
        if len(candidates) == 1 or candidate[0].cache_info().entries:
            return candidate
    fallback = None
    for candidate in candidates:
        try:
            with warnings.catch_warnings():
                # The one that is chosen warns again, when it is called.
                warnings.simplefilter("ignore", UnrolledWarning)
                notes = candidate[0].trial(*candidate[1:])
        except Exception:  # the call itself tells what is wrong
            continue
        if not any("written out" in note for note in notes):
            return candidate
        fallback = fallback or candidate
    # Errors are reported for the variant with the fewest outputs: others may fail because of those.
    return fallback or candidates[min(1, len(candidates) - 1)]


def _is_data(value: Any) -> bool:
    """Whether a value is an array, tensor, number or a container of such."""
    try:
        leaves = _leaves(value)
    except NxTypeError:
        return False
    return bool(leaves) and not any(_is_text(leaf) for leaf in leaves)


def _is_text(value: Any) -> bool:
    return isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "OSUmM"


def _holds_tensor(value: Any) -> bool:
    return any(isinstance(leaf, StoredTensor) for leaf in _leaves(value))


def _refuse(statement: ast.stmt, file: str) -> None:
    """Raise an error for statements that a compiled cell cannot hold."""
    for node in names.own([statement]):
        refused = _REFUSED.get(type(node))
        if refused is not None:
            word, what, instead = refused
            where = site(file, NAME, node)
            where = where._replace(end_line=node.lineno, end_column=node.col_offset + len(word))
            raise refusal(f"a %%jit cell is one compiled program, which has no {what}.", where, *instead)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "get_ipython":
            raise refusal(
                "a %%jit cell is one compiled program, which runs no magics.",
                site(file, NAME, node),
                "Write commands in a cell of their own.",
            )


def _not_data(name: str, value: Any, body: list[ast.stmt], file: str) -> NxError:
    for node in names.own(body):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base = node
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name) and base.id == name:
                break
    more = " that does not hold numbers alone" if isinstance(value, CONTAINERS) and value else ""
    return refusal(
        f"a %%jit cell assigns into arrays and containers of arrays, and {name} is {a(type(value).__name__)}{more}.",
        site(file, NAME, node),
        f"Assign the value to a name here, and put it into {name} in a cell after this one.",
    )


def _needed(body: list[ast.stmt], outputs: Mapping[str, None]) -> list[str]:
    """The names whose value from before the cell may be read, in the order in which the cell mentions them.

    If only one side of a branch assigns to an output, the other side leaves its value from before the cell.
    """
    read: set[str] = set()
    set_before = _assigned(body, frozenset(), read)
    chosen = names.stores([each for each in body if isinstance(each, ast.If)])
    read |= {name for name in chosen if name in outputs and name not in set_before}
    first_reads = {}
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.Name) and node.id in read:
            here = (node.lineno, node.col_offset)
            first_reads[node.id] = min(first_reads.get(node.id, here), here)
    return sorted(first_reads, key=first_reads.get)


def _assigned(body: list[ast.stmt], before: frozenset[str], read: set[str]) -> frozenset[str]:
    """The names that certainly have a value after a block; adds to `found` those read before they have one."""
    have = before
    for statement in body:
        if isinstance(statement, ast.If):
            read |= names.reads(statement.test) - have
            sides = [_assigned(side, have, read) for side in (statement.body, statement.orelse)]
            have |= sides[0] & sides[1]
        elif isinstance(statement, ast.While | ast.For):
            inner = have
            if isinstance(statement, ast.For):
                read |= names.reads(statement.iter) - have
                read |= names.reads(statement.target) - have
                inner |= set(names.stored(statement.target))
            else:
                read |= names.reads(statement.test) - have
            _assigned(statement.body, inner, read)
            _assigned(statement.orelse, have, read)
        else:
            read |= names.reads(statement) - have
            have |= names.stores([statement]).keys() - names.maybe_stores(statement).keys()
    return have


def _only_in_loops(body: list[ast.stmt]) -> frozenset[str]:
    """The names that are assigned in loops, and nowhere else."""
    loops = [each for each in body if isinstance(each, ast.While | ast.For)]
    others = [each for each in body if each not in loops]
    return frozenset(names.stores(loops)) - names.stores(others).keys() - names.updates(body).keys()
