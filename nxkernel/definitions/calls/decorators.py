"""The public functions `defn`, `jit`, `jit_apply`, `deftransform`, `debug_expr`, `to_numba_source`, `print_expr`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from nxkernel.definitions.calls.definition import Definition, Parameters, Result
from nxkernel.definitions.calls.explanations import TracedFunction
from nxkernel.definitions.flow.operators.call_dispatch import is_users
from nxkernel.definitions.keys import argument_errors, containers, options, tree_functions
from nxkernel.definitions.keys.static_arguments import Names, Numbers
from nxkernel.definitions.observe import numba_module
from nxkernel.definitions.outputs import hook_delivery
from nxkernel.definitions.outputs.hook_delivery import Hooks
from nxkernel.definitions.syntax import check
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import TracedValue, VectorizedExpr, node_with
from nxkernel.graph.printing import print_graph
from nxkernel.messages.grammar import a
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Template
from nxkernel.transforms.simplify import simplify_nodes

Marked = TypeVar("Marked", bound=Callable[..., Any])


@overload
def defn(function: Callable[Parameters, Result], /) -> Definition[Parameters, Result]: ...
@overload
def defn(
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Callable[[Callable[Parameters, Result]], Definition[Parameters, Result]]: ...
def defn(
    function: Callable[..., Any] | None = None,
    /,
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Any:
    """Make a function a numerical definition.

    Positional arguments become tensors, keyword-only arguments are static options. Its `if`, `while`, `for` over ranges
    and tensors, and assignments like ``x[i] = v`` become part of the compiled program, and so do those of the plain
    functions that it calls. Called by another definition, it becomes part of that definition's graph.

    Functions, texts, None, types, slices, members of enumerations, and tuples, lists and dicts of these alone are
    static by position, too: each new one is a program of its own. So are Python's truth values, where tracing needs
    their values.

    Parameters
    ----------
    function : callable
    compiler : str, optional
        ``"numba_cpu"``, ``"numba_cuda"``, ``"auto"`` or ``"evaluator"``; the default option when not given
        (:func:`nxkernel.default_options`).
    promotion : {"nx", "numpy"}, optional
        The dialect: Nx's type promotion and immutable values, or NumPy's promotion and arrays that can be assigned
        into. By default it is that of the library whose functions the function computes with, Nx's with both; where it
        computes with neither, NumPy's for calls with NumPy's arrays, and Nx's with tensors; for Python numbers alone,
        that of the arrays that it reads, and Nx's without any.
    static_argnames : str or sequence of str, optional
        Positional parameters that are static values, by name; they must be hashable, and each new value is a new
        program. Keyword-only parameters always are.
    static_argnums : int or sequence of int, optional
        The same by position, from 0.
    hooks : dict, optional
        Functions by the names of :func:`nxkernel.hook` calls: each gets the hook's value when the program has run.

    Returns
    -------
    Definition

    Examples
    --------
    >>> @nx.defn
    ... def softmax(t):
    ...     e = nx.exp(t - nx.reduce_max(t))
    ...     return e / nx.sum(e)
    >>> softmax(nx.tensor([1.0, 1.0])).to_list()
    [0.5, 0.5]

    >>> @nx.defn
    ... def collatz(n):
    ...     steps = 0
    ...     while n > 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> int(collatz(27))
    111

    >>> @nx.defn
    ... def objective(predict, loss, w, x, y):
    ...     return loss(predict(w, x), y)
    >>> float(objective(nx.multiply, lambda p, y: nx.sum((p - y) ** 2), 2.0, nx.tensor([1.0, 2.0]), 3.0))
    2.0
    """
    given = {
        "compiler": compiler,
        "promotion": promotion,
        "static_argnames": static_argnames,
        "static_argnums": static_argnums,
        "hooks": hooks,
    }
    return functools.partial(_define, **given) if function is None else _define(function, **given)


def _define(function: Callable[..., Any], **given: Any) -> Definition:
    if isinstance(function, Definition):
        if given["static_argnames"] is None and given["static_argnums"] is None:
            given["static_argnames"] = function.static
        given["promotion"] = given["promotion"] or function.promotion
        given |= {"ruled_by": function.ruled_by, "hooks": function.hooks | hook_delivery.checked(given["hooks"])}
        function = function.__nx_function__
    if not callable(function):
        raise NxTypeError(f"nx.defn makes a function a definition, got {a(type(function).__name__)}")
    if isinstance(function, types.FunctionType) and is_users(function):
        check(function)
    return Definition(function, syntax=True, **given)


def deftransform(function: Marked) -> Marked:
    """Mark a function as plain host code: inside a definition it runs while that is traced, on traced values.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        The same function.

    Examples
    --------
    >>> @deftransform
    ... def show(t):
    ...     print("tracing", t.spec)
    ...     return t
    >>> _ = nx.jit(lambda t: show(t) + 1)(nx.tensor([1.0, 2.0]))
    tracing f32[2]

    What it is given besides tensors is known while it runs, so that it can match on a tuple of tags:

    >>> @deftransform
    ... def activation(t, tags):
    ...     match tags:
    ...         case ("relu", "leaky"):
    ...             return nx.select(t > 0, t, 0.01 * t)
    ...         case ("relu", *_):
    ...             return nx.max(t, 0)
    ...     raise ValueError(f"no activation is {tags}")
    >>> nx.defn(lambda t, tags: activation(t, tags))(nx.tensor([-1.0, 2.0]), ("relu", "plain")).to_list()
    [0.0, 2.0]
    """
    if not callable(function):
        raise NxTypeError(f"nx.deftransform marks a function, got {a(type(function).__name__)}")
    function.__nx_transform__ = True
    return function


@overload
def jit(
    function: Callable[Parameters, Result],
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    on_conflict: str = "reuse",
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    donate_argnames: Names = None,
    donate_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Definition[Parameters, Result]: ...
@overload
def jit(
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    on_conflict: str = "reuse",
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    donate_argnames: Names = None,
    donate_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Callable[[Callable[Parameters, Result]], Definition[Parameters, Result]]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    on_conflict: str = "reuse",
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    donate_argnames: Names = None,
    donate_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Any:
    """Compile a function when it is called, by the types and shapes of its arguments.

    Parameters
    ----------
    function : callable, optional
        Without one, the result takes it, as a decorator with options does: ``@nx.jit(compiler="evaluator")``. It is
        traced as it is, so its Python loops are unrolled; in a function with ``@nx.defn`` they are loops of the
        program. One that follows NumPy's rules is rewritten as that is where it cannot be traced as it is: where an
        ``if``, a ``while`` or an assignment asks for what only the running program knows.
    compiler : str, optional
        ``"numba_cpu"``, ``"numba_cuda"``, ``"auto"`` or ``"evaluator"``; the default option when not given
        (:func:`nxkernel.default_options`).
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.
    on_conflict : {"reuse", "raise", "force"}
        What a call does while another function is being traced: it becomes a part of that function's graph, whose
        compiler counts then; it is an error; or it is compiled on its own.
    static_argnames, static_argnums : optional
        Positional parameters that are static values, as :func:`nxkernel.defn` takes them. Functions, texts, None and
        types are static by themselves.
    donate_argnames, donate_argnums : optional
        Positional parameters, by name or position, whose tensors are not needed after the call. The memory of those on
        a device is reused for results of the same type and shape, and using such a tensor again is an error. Tensors
        and arrays on the host can still be used, so with ``"numba_cpu"`` all of them.
    hooks : dict, optional
        Functions by the names of :func:`nxkernel.hook` calls: each gets the hook's value when the program has run.

    Returns
    -------
    Definition

    Examples
    --------
    >>> power = nx.jit(lambda t, n: t**n if n > 1 else t, static_argnames="n")
    >>> float(power(3.0, 2))
    9.0

    >>> nx.jit(lambda t: t + 1)(nx.tensor([1, 2]))
    Tensor([2, 3], s64[2])

    >>> @nx.jit(hooks={"sum": print})
    ... def shifted(t):
    ...     return t - nx.hook(nx.sum(t), "sum")
    >>> shifted(nx.tensor([1, 2]))
    3
    Tensor([-2, -1], s64[2])
    """
    given = {
        "compiler": compiler,
        "promotion": promotion,
        "on_conflict": on_conflict,
        "static_argnames": static_argnames,
        "static_argnums": static_argnums,
        "donate_argnames": donate_argnames,
        "donate_argnums": donate_argnums,
        "hooks": hooks,
    }
    return functools.partial(_jit, **given) if function is None else _jit(function, **given)


def _jit(
    function: Callable[..., Any], *, promotion: str | None, on_conflict: str, hooks: Hooks, **more: Any
) -> Definition:
    if on_conflict not in ("raise", "force", "reuse"):
        raise NxValueError(f"on_conflict is 'raise', 'force' or 'reuse', got {on_conflict!r}")
    if not callable(function):
        raise NxTypeError(
            message(
                f"nx.jit takes a function, got {a(type(function).__name__)}.",
                "To compile and call at once, write nx.jit_apply(fun, [arguments]).",
            )
        )
    if isinstance(function, Definition):
        if more["static_argnames"] is None and more["static_argnums"] is None:
            more["static_argnames"] = function.static
        if more["donate_argnames"] is None and more["donate_argnums"] is None:
            more["donate_argnames"] = function.donated
        more |= {"syntax": function.syntax, "ruled_by": function.ruled_by}
        promotion = promotion or function.promotion
        hooks = function.hooks | hook_delivery.checked(hooks)
        function = function.__nx_function__
    return Definition(function, promotion=promotion, on_conflict=on_conflict, hooks=hooks, **more)


def jit_apply(
    function: Callable[..., Result],
    arguments: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    on_conflict: str = "reuse",
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    donate_argnames: Names = None,
    donate_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Result:
    """Compile a function and call it: ``nx.jit(function)(*arguments, **options)``.

    Parameters
    ----------
    function : callable
    arguments : list
        Its positional arguments.
    options : dict, optional
        Its options.
    compiler, promotion, on_conflict, static_argnames, static_argnums, donate_argnames, donate_argnums, hooks
        As :func:`nxkernel.jit` takes them.

    Returns
    -------
    tensor or container
        The function's result.

    Examples
    --------
    >>> float(nx.jit_apply(nx.multiply, [2.0, 3.0]))
    6.0
    """
    argument_errors.check_list("jit_apply", "arguments", arguments)
    compiled = jit(
        function, compiler=compiler, promotion=promotion, on_conflict=on_conflict, static_argnames=static_argnames,
        static_argnums=static_argnums, donate_argnames=donate_argnames, donate_argnums=donate_argnums, hooks=hooks,
    )  # fmt: skip
    return compiled(*arguments, **(options or {}))


def debug_expr(
    function: Callable[Parameters, Any],
    *,
    promotion: str | None = None,
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Callable[Parameters, Any]:
    """A function that returns the traced expression of `function` instead of running it.

    Parameters
    ----------
    function : callable or definition
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.
    static_argnames, static_argnums : optional
        Positional parameters that are static values, as :func:`nxkernel.defn` takes them.
    hooks : dict, optional
        Functions by the names of :func:`nxkernel.hook` calls. None is called, as nothing runs.

    Returns
    -------
    callable
        It takes the arguments of `function`, or templates, and returns traced values, which print as their graph, with
        what says so where NumPy's rules hold. Its own repr says whose rules hold, too.

    Examples
    --------
    >>> nx.debug_expr(lambda a: nx.tanh(a) + 1)(nx.tensor([1.0, 2.0]))
    #Nx.Tensor<
      f32[2]
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0    f32[2]
      b = tanh a       f32[2]
      c = add b, 1.0   f32[2]
    >
    """
    definition = jit(
        function, promotion=promotion, static_argnames=static_argnames, static_argnums=static_argnums, hooks=hooks
    )
    return TracedFunction(definition, function)


def debug_expr_apply(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    promotion: str | None = None,
    static_argnames: Names = None,
    static_argnums: Numbers = None,
    hooks: Hooks = None,
) -> Any:
    """The traced expression of ``function(*arguments, **options)``.

    Parameters
    ----------
    function : callable or definition
    arguments : list
        Its positional arguments.
    options : dict, optional
        Its options.
    promotion, static_argnames, static_argnums, hooks
        As :func:`debug_expr` takes them.

    Returns
    -------
    traced value or container
        It prints as its graph.

    Examples
    --------
    >>> nx.debug_expr_apply(nx.tanh, [nx.tensor(1.0)])
    #Nx.Tensor<
      f32
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0   f32
      b = tanh a      f32
    >
    """
    if not isinstance(arguments, list | tuple):
        raise NxTypeError(
            message(f"debug_expr_apply takes a list of arguments, got {describe(arguments)}.", "One is written [x].")
        )
    if not isinstance(options, Mapping | None):
        raise NxTypeError(f"debug_expr_apply takes options in a dict, got {describe(options)}")
    traced = debug_expr(
        argument_errors.checked_function(function),
        promotion=promotion,
        static_argnames=static_argnames,
        static_argnums=static_argnums,
        hooks=hooks,
    )
    return traced(*arguments, **(options or {}))


def eval_shape(function: Callable[..., Any], *arguments: Any, promotion: str | None = None, **options: Any) -> Any:
    """What a function would give, as templates: it is traced, and neither compiled nor run.

    Parameters
    ----------
    function : callable or definition
    *arguments
        Templates, tensors, numbers or containers of them, of which only types, shapes and axis names count.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.
    **options
        The options of `function`.

    Returns
    -------
    Template or container of them
        Like the result.

    Raises
    ------
    NxTypeError
        What calling it would raise.

    Examples
    --------
    >>> nx.eval_shape(nx.dot, nx.template((1000, 200), "f32"), nx.template((200, 5), "f32"))
    template f32[1000][5]
    >>> nx.eval_shape(lambda t: {"rows": nx.sum(t, axes=[1])}, nx.template((3, 4), "u8"))
    {'rows': template u64[3]}
    """
    traced = debug_expr(function, promotion=promotion)(*arguments, **options)
    return tree_functions.map_leaves(lambda leaf: Template(*operand(leaf).spec), traced)


def to_numba_source(function: Callable[..., Any], /, *args: Any, **options: Any) -> str:
    """A call of a function as one module of Python that needs Numba and NumPy, and not nxkernel.

    It computes the same: what would be traced and fused is written out as loops, by the same rules, in a function with
    ``@numba.njit`` that has the name of the given one. Its parameters are the arrays and numbers of the call, those of
    containers one by one, then what the function captures; types, shapes and options are those of the call.

    Parameters
    ----------
    function : callable or definition
    *args, **options
        As the function takes them; templates stand for tensors.

    Returns
    -------
    str
        The text of a file. Products of matrices in it ask for SciPy, of which Numba takes BLAS.

    Raises
    ------
    CompilationError
        For what cannot be said in Numba: half-width floats, hooks and prints, functions that are called as they are.

    Examples
    --------
    >>> def halve(x):
    ...     return x / 2
    >>> source = nx.to_numba_source(halve, nx.template((3,), "f32"))
    >>> print(source[source.index("    result") :])
        result = np.empty(3, np.float32)
        for i in range(3):
            result[i] = x[i] * np.float32(0.5)
        return result
    <BLANKLINE>
    """
    definition = function if isinstance(function, Definition) else jit(function)
    arguments = definition._bind(args, options, templates=True)
    traced, _ = definition._trace(arguments)
    return numba_module.source_of(traced.graph, traced.convention)


def print_expr(tensor: Any) -> Any:
    """Print the graph of a traced value, once, when the definition is traced; returns the value.

    Parameters
    ----------
    tensor : tensor or container

    Returns
    -------
    tensor or container
        `tensor`.

    Examples
    --------
    >>> _ = nx.jit(lambda t: nx.print_expr(t * 2))(1.0)
    #Nx.Tensor<
      f32
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0         f32
      b = multiply a, 2.0   f32
    >
    """
    leaves: list[tuple[str, Any]] = []
    containers.flatten(tensor, "the value", leaves, containers.no_tensor("print_expr"))
    traced = [value for _, value in leaves if isinstance(value, TracedValue)]
    nodes = simplify_nodes([value.node if type(value) is VectorizedExpr else value for value in traced])
    values = [node_with(node, value.spec) for node, value in zip(nodes, traced, strict=True)]
    print(print_graph(values) if values else repr(tensor))
    return tensor


keyword = options.keyword
