"""Rewriting statements: blocks become functions that take and return live variables, called by the runtime."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Container, Iterable

from nxkernel.definitions.syntax import list_append_analysis, unsupported_syntax
from nxkernel.definitions.syntax import names as naming
from nxkernel.definitions.syntax.assignments import Assignments
from nxkernel.definitions.syntax.expressions import ExpressionRewriter, load, runtime, store, thunk
from nxkernel.definitions.syntax.jumps import GoOn, Tail, straighten
from nxkernel.definitions.syntax.liveness import Liveness
from nxkernel.definitions.syntax.names import at, children


def rewrite(tree: ast.FunctionDef | ast.Lambda, file: str, fresh: Callable[[str], str]) -> ast.FunctionDef | ast.Lambda:
    """Rewrite a function: its blocks become inner functions that the runtime calls.

    Parameters
    ----------
    tree : ast.FunctionDef or ast.Lambda
        As :func:`prepare` leaves it; it is changed.
    file : str
    fresh : callable
        Makes names that the function does not use.

    Returns
    -------
    ast.FunctionDef or ast.Lambda
        Without decorators and defaults.
    """
    if isinstance(tree, ast.Lambda):
        body = ExpressionRewriter(file, "<lambda>", fresh).visit(tree.body)
        twin: ast.FunctionDef | ast.Lambda = ast.Lambda(_bare(tree.args), body)
    else:
        twin = _def(tree.name, _bare(tree.args), _FunctionRewriter(tree, file, fresh).rewritten())
    at(twin, tree)
    locate(twin, tree)
    return twin


def locate(node: ast.AST, near: ast.AST) -> None:
    """Give new nodes the location of the node around them, unless they have one."""
    if "lineno" in node._attributes:
        if getattr(node, "located", False):
            return
        if not hasattr(node, "lineno"):
            at(node, near)
            if node.end_lineno != node.lineno:
                # A method's name would be taken to stand at the end, and tracebacks would show the last line.
                node.end_lineno, node.end_col_offset = node.lineno, node.col_offset + 1
        node.located = True
        near = node
    for child in children(node):
        locate(child, near)


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Parameters without defaults, which the rewritten function takes from the original."""
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    return arguments


def _def(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    definition = ast.FunctionDef(name, arguments, body, [], None)
    definition.type_params = []
    return definition


class _FunctionRewriter:
    """Rewrites the body of one function.

    Attributes
    ----------
    shared : set of str
        The variables that its inner functions read. They stay variables of the function itself, which blocks assign by
        ``nonlocal``, so that inner functions see the last value.
    """

    def __init__(self, tree: ast.FunctionDef, file: str, fresh: Callable[[str], str]) -> None:
        self.file, self.name, self.fresh = file, tree.name, fresh
        self.parameters = naming.parameters(tree)
        self.body = straighten(tree.body, fresh)
        self.locals = {*self.parameters, *naming.stores(self.body)}
        self.shared = self.locals & {name for inner in naming.functions_in(self.body) for name in naming.free(inner)}
        # Assignments that this does not find are refused while tracing.
        self.expressions = ExpressionRewriter(file, tree.name, fresh, naming.changed(self.body))
        self.assignments = Assignments(self.expressions, self.locals)
        self.declared: dict[str, None] = {}

    def rewritten(self) -> list[ast.stmt]:
        """The rewritten body."""
        Liveness(self.body)
        # A variable that only blocks assign must first be assigned in the function itself; which ones is known now.
        text = [each for each in self.body[:1] if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)]
        body = self.block(self.body[len(text) :], {*self.parameters, *self.shared})
        before = [self.unassigned(name, self.body[0]) for name in self.declared if name not in self.parameters]
        return [*text, *before, *body]

    def assigned(self, block: Iterable[ast.stmt]) -> list[str]:
        """The local variables that a block assigns, in order."""
        block = list(block)
        both = {**naming.stores(block), **naming.updates(block)}
        return [name for name in both if name in self.locals]

    def block(self, statements: list[ast.stmt], bound: set[str]) -> list[ast.stmt]:
        """Rewrite statements; `bound`, the variables that have a value, is updated."""
        rewritten: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            if isinstance(statement, Tail):
                # The next statement is the `if` whose sides both go on to it.
                statement.arguments = self.assigned([statements[number + 1], *statement.body])
            if isinstance(statement, ast.For):
                statement.appended = list_append_analysis.appended(statements[:number], statement)
            begin = len(rewritten)
            rewritten += self.statement(statement, bound)
            for new in rewritten[begin:]:
                locate(new, statement)
        return rewritten or [at(ast.Pass(), statements[0])] if statements else []

    def statement(self, statement: ast.stmt, bound: set[str]) -> list[ast.stmt]:
        """Rewrite one statement."""
        if isinstance(statement, ast.If):
            return self.returning(statement, bound) if statement.returns else self.branch(statement, bound)
        if isinstance(statement, ast.While):
            return self.while_(statement, bound)
        if isinstance(statement, ast.For):
            return self.for_(statement, bound)
        if isinstance(statement, ast.Try):
            return self.try_(statement, bound)
        if isinstance(statement, ast.With):
            return [self.with_(statement, bound)]
        if isinstance(statement, ast.FunctionDef):
            bound.add(statement.name)
            return [self.nested(statement)]
        if isinstance(statement, Tail):
            return [self.tail(statement, bound)]
        if isinstance(statement, GoOn):
            wanted = self.taken_on(statement.tail)
            call = ast.Call(load(statement.tail.function), list(map(load, wanted)), [])
            return [*self.bind(wanted, bound, statement), ast.Return(call)]
        if isinstance(statement, ast.Assert):
            text = thunk(ast.Constant(None)) if statement.msg is None else self.expressions.later(statement.msg)
            site = self.expressions.site(statement.test)
            return [ast.Expr(runtime("assert_", self.expressions.visit(statement.test), text, site))]
        if isinstance(statement, ast.Delete):
            bound.update(naming.stores([statement]))
            return self.delete(statement)
        bound.update(naming.stores([statement]))
        return self.assignments.statement(statement)

    def nested(self, statement: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite an inner function; a decorated one is left alone, and so is one that Python is to run as it is."""
        if getattr(statement, "stays", False):
            return statement
        statement.decorator_list = [self.expressions.visit(each) for each in statement.decorator_list]
        arguments = statement.args
        arguments.defaults = [self.expressions.visit(each) for each in arguments.defaults]
        arguments.kw_defaults = [each and self.expressions.visit(each) for each in arguments.kw_defaults]
        if not statement.decorator_list:
            statement.body = _FunctionRewriter(statement, self.file, self.fresh).rewritten()
        return statement

    def delete(self, statement: ast.Delete) -> list[ast.stmt]:
        """``del a``: the variable becomes unassigned."""
        statements = []
        for target in statement.targets:
            for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                if isinstance(each, ast.Name):
                    statements.append(self.unassigned(each.id, each))
                else:
                    statements.append(at(ast.Delete([self.expressions.generic_visit(each)]), statement))
        return statements

    def unassigned(self, name: str, near: ast.AST, settled: Container[str] = ()) -> ast.stmt:
        """``a = __nx__.unassigned("a")``; for variables that rewriting made, ``pending``."""
        start = "pending" if name in self.fresh.made or name in settled else "unassigned"
        assignment = ast.Assign([store(name)], runtime(start, ast.Constant(name)))
        return at(assignment, near)

    def bind(self, wanted: Iterable[str], bound: set[str], near: ast.AST) -> list[ast.stmt]:
        """Assign "unassigned" to those of these variables that have no value yet."""
        missing = [name for name in wanted if name not in bound]
        bound.update(missing)
        return [self.unassigned(name, near, getattr(near, "settled", ())) for name in missing]

    # Blocks as functions ---------------------------------------------------------------------------------------

    def function(
        self,
        stem: str,
        state: list[str],
        kept: list[str],
        body: Callable[[set[str]], list[ast.stmt]],
        assigned: Iterable[str],
        bound: set[str],
        near: ast.AST,
    ) -> ast.FunctionDef:
        """A block as a function of the variables in `state`; those in `kept` become its defaults."""
        parameters, entered = [], []
        for name in [*state, *kept]:
            if name in self.shared:
                parameters.append(self.fresh(name))
                entered.append(ast.Assign([store(name)], load(parameters[-1])))
            else:
                parameters.append(name)
        arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, list(map(load, kept)))
        outer = [name for name in dict.fromkeys([*state, *kept, *assigned]) if name in self.shared]
        self.declared.update(dict.fromkeys(outer))
        inside = (bound - set(assigned)) | {*state, *kept} | self.shared
        block = [*([ast.Nonlocal(outer)] if outer else []), *entered, *body(inside)]
        return at(_def(self.fresh(stem), arguments, block), near)

    def results(self, state: list[str]) -> list[ast.stmt]:
        """``return a, b``."""
        return [ast.Return(ast.Tuple(list(map(load, state)), ast.Load()))]

    def taken(self, state: list[str], call: ast.Call) -> ast.stmt:
        """``a, b = …``: assign the results of a block function."""
        return ast.Assign([ast.Tuple(list(map(store, state)), ast.Store())], call) if state else ast.Expr(call)

    def handed(self, state: list[str]) -> list[ast.expr]:
        """The values of the state's variables, and their names, as arguments for the runtime."""
        return [ast.Tuple(list(map(load, state)), ast.Load()), ast.Constant(tuple(state))]

    # Constructs ------------------------------------------------------------------------------------------------

    def branch(self, statement: ast.If, bound: set[str]) -> list[ast.stmt]:
        """An `if` after which the block goes on."""
        state = [name for name in self.assigned([*statement.body, *statement.orelse]) if name in statement.live]
        before, functions = self.sides(statement, state, bound)
        call = runtime(
            "if_",
            self.expressions.visit(statement.test),
            *(load(each.name) for each in functions),
            *self.handed(state),
            self.expressions.site(statement.test),
        )
        return [*before, *functions, self.taken(state, call)]

    def returning(self, statement: ast.If, bound: set[str]) -> list[ast.stmt]:
        """An `if` whose sides both return from the function."""
        before, functions = self.sides(statement, None, bound)
        call = runtime(
            "if_return",
            self.expressions.visit(statement.test),
            *(load(each.name) for each in functions),
            self.expressions.site(statement.test),
        )
        return [*before, *functions, ast.Return(call)]

    def sides(
        self, statement: ast.If, state: list[str] | None, bound: set[str]
    ) -> tuple[list[ast.stmt], list[ast.FunctionDef]]:
        # The test is evaluated where the functions are made, and may bind names.
        bound.update(naming.stores([statement.test]))
        before = self.bind(state or (), bound, statement)
        functions = []
        # Sides that end the function may go on to any part of it.
        either = sorted(self.shared) if statement.returns else self.assigned([*statement.body, *statement.orelse])
        sides = [
            ("then", statement.body, statement.live_body),
            ("else", statement.orelse, statement.live_orelse),
        ]
        for stem, block, live in sides:
            assigned = self.assigned(block)
            # Shared variables may have been assigned by the other side, as the runtime traces both.
            changed = dict.fromkeys([*assigned, *(name for name in either if name in self.shared)])
            kept = [name for name in changed if name in live and name not in (state or ())]
            before += self.bind(kept, bound, statement)

            def body(inside: set[str], block: list[ast.stmt] = block) -> list[ast.stmt]:
                statements = self.block(block, inside)
                return statements if state is None else [*statements, *self.results(state)]

            near = block[0] if block else statement
            functions.append(self.function(stem, state or [], kept, body, assigned, bound, near))
        return before, functions

    def taken_on(self, tail: Tail) -> list[str]:
        """The parameters of a tail: what it reads of the variables that may be assigned before it."""
        return [name for name in tail.arguments if name in tail.live]

    def tail(self, tail: Tail, bound: set[str]) -> ast.FunctionDef:
        """A tail, the end of the function that both sides of an `if` go on to, as a function."""
        assigned = self.assigned(tail.body)
        state = self.taken_on(tail)
        function = self.function("rest", state, [], lambda inside: self.block(tail.body, inside), assigned, bound, tail)
        tail.function = function.name
        return function

    def while_(self, statement: ast.While, bound: set[str]) -> list[ast.stmt]:
        """A `while`."""
        assigned = self.assigned(statement.body)
        state = [name for name in assigned if name in statement.live_iteration]
        before = self.bind(state, bound, statement)
        asked = self.expressions.visit(statement.test)
        if statement.broken is not None:
            goes_on = runtime("not_", load(statement.broken))
            endless = isinstance(asked, ast.Constant) and asked.value
            asked = goes_on if endless else runtime("and_", thunk(goes_on), thunk(asked))
        test = self.function("test", state, [], lambda _: [ast.Return(asked)], (), bound, statement.test)
        body = self.function(
            "body",
            state,
            [],
            lambda inside: [*self.block(statement.body, inside), *self.results(state)],
            assigned,
            bound,
            statement.body[0],
        )
        call = runtime(
            "while_", load(test.name), load(body.name), *self.handed(state), self.expressions.site(statement.test)
        )
        return [*before, test, body, self.taken(state, call)]

    def for_(self, statement: ast.For, bound: set[str]) -> list[ast.stmt]:
        """A `for`."""
        assigned = self.assigned(statement.body)
        target, unpack = statement.target, []
        if isinstance(target, ast.Name):
            item, shown = target.id, target.id
        else:
            item, shown = self.fresh("item"), ast.unparse(target)
            assigned = list(dict.fromkeys([*self.assigned([target]), *assigned]))
            unpack = self.assignments.assign([target], load(item))
        state = [item, *(name for name in assigned if name != item and name in statement.live_iteration)]
        gathered = self.gathered(statement)
        state += gathered
        before = self.bind(state, bound, statement)

        bound_here = naming.stores([target])

        def iteration(inside: set[str]) -> list[ast.stmt]:
            inside.update(bound_here)
            return [*unpack, *self.block(statement.body, inside), *self.results(state)]

        body = self.function("body", state, [], iteration, assigned, bound, statement.body[0])
        values, _ = self.handed(state)
        call = runtime(
            "for_",
            self.expressions.visit(statement.iter),
            load(body.name),
            values,
            ast.Constant((shown, *state[1:])),
            self.expressions.site(statement.iter),
        )
        if statement.broken in state:
            call.keywords = [ast.keyword("broken", ast.Constant(state.index(statement.broken)))]
        if gathered:
            lists = [
                ast.Tuple([ast.Constant(state.index(held)), ast.Constant(name), load(name)], ast.Load())
                for held, name in gathered.items()
            ]
            call.keywords = [ast.keyword("gathered", ast.Tuple(lists, ast.Load()))]
        return [*before, body, self.taken(state, call)]

    def with_(self, statement: ast.With, bound: set[str]) -> ast.With:
        """A `with`, which is entered and left while the function is traced."""
        items = []
        for item in statement.items:
            site = self.expressions.site(item.context_expr)
            manager = runtime("context", self.expressions.visit(item.context_expr), site)
            target = item.optional_vars and self.expressions.visit(item.optional_vars)
            bound.update(() if target is None else naming.stored(target))
            items.append(ast.withitem(manager, target))
        return at(ast.With(items, self.block(statement.body, bound)), statement)

    def try_(self, statement: ast.Try, bound: set[str]) -> list[ast.stmt]:
        """A `try`: one in a function of its own, which is called again for what only the running program decides."""
        assigned = self.assigned([statement])
        state = [name for name in assigned if name in statement.live]
        kept = [name for name in assigned if name in statement.live_body and name not in state]
        before = self.bind([*state, *kept], bound, statement)
        frame, error = self.fresh("attempt"), self.fresh("error")

        kinds = [
            ast.Constant(None) if handler.type is None else self.expressions.later(copy.deepcopy(handler.type))
            for handler in statement.handlers
        ]

        def asked(name: str, *arguments: ast.expr) -> ast.expr:
            return ast.Call(ast.Attribute(load(frame), name, ast.Load()), list(arguments), [])

        def body(inside: set[str]) -> list[ast.stmt]:
            # An exception may leave any of them without a value.
            first = self.bind(assigned, inside, statement)
            otherwise: list[ast.stmt] = [ast.Raise(None, None)]
            for handler in reversed(statement.handlers):
                block = self.block(handler.body, set(inside))
                if handler.name is not None:
                    block.insert(0, at(ast.Assign([store(handler.name)], load(error)), handler))
                kinds = [] if handler.type is None else [self.expressions.later(handler.type)]
                otherwise = [at(ast.If(asked("catches", load(error), *kinds), block, otherwise), handler)]
            everything = ast.Attribute(load(frame), "everything", ast.Load())
            caught = ast.ExceptHandler(everything, error, [ast.Expr(asked("end")), *otherwise])
            tried = [ast.Expr(asked("begin")), *self.block(statement.body, set(inside)), ast.Expr(asked("end"))]
            orelse = self.block(statement.orelse, set(inside))
            final = self.block(statement.finalbody, set(inside))
            return [*first, ast.Try(tried, [caught], orelse, final), *self.results(state)]

        function = self.function("try", state, kept, body, assigned, bound, statement)
        function.args.args.insert(0, ast.arg(frame))
        site = unsupported_syntax.site(self.file, self.name, statement)
        place = site._replace(end_line=site.line, end_column=site.column + len("try"))
        call = runtime(
            "try_", load(function.name), ast.Tuple(kinds, ast.Load()), *self.handed(state), ast.Constant(tuple(place))
        )
        return [*before, function, self.taken(state, call)]

    def gathered(self, loop: ast.For) -> dict[str, str]:
        """Replace appends to lists by new variables, which the body assigns; maps them to the lists' names."""
        items = {}
        for name, statement in loop.appended.items():
            if name in self.locals and name not in self.shared:
                held = self.fresh(f"{name}_item")
                self.locals.add(held)
                items[held] = name
                position = loop.body.index(statement)
                loop.body[position] = at(ast.Assign([at(store(held), statement)], statement.value.args[0]), statement)
        return items
