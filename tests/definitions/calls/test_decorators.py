"""What people call: jit, defn and jit_apply."""

import functools
import operator

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError, NxTypeError, NxValueError

ONE = np.ones(3, np.float32)


def error(kind, function, *args, **opts):
    with pytest.raises(kind) as raised:
        function(*args, **opts)
    return str(raised.value)


def lines(text):
    """An error's text without the line of this file that it names."""
    return [line for line in text.split("\n") if "test_decorators.py, line" not in line]


# What can be compiled ----------------------------------------------------------------------------------------------


class Model:
    def __init__(self, k):
        self.k = k

    def __call__(self, t):
        return t * self.k

    def forward(self, t, *, n=1):
        return t * self.k * n

    @nx.defn
    def step(self, t, *, n=1):
        """One step."""
        return t * self.k * n

    @staticmethod
    def twice(t):
        return t * 2

    @classmethod
    def named(cls, t):
        return t * len(cls.__name__)


@pytest.mark.parametrize("compile_", [nx.jit, nx.defn])
def test_plain_functions_of_all_kinds(compile_):
    assert compile_(nx.sum)(ONE, axes=[0]).to_number() == 3.0
    assert compile_(operator.add)(ONE, 1.0).tolist() == [2.0] * 3
    assert compile_(abs)(-2.0).to_number() == 2.0
    assert compile_(functools.partial(lambda a, b, *, k: a * b + k, 2.0, k=1.0))(3.0).to_number() == 7.0
    assert compile_(Model.twice)(2.0).to_number() == 4.0
    assert compile_(Model.named)(2.0).to_number() == 10.0
    assert compile_(compile_(lambda t: t + 1))(2.0).to_number() == 3.0
    assert compile_(lambda *ts: ts[0] + ts[-1])(1.0, 2.0, 5.0).to_number() == 6.0
    assert compile_(lambda: 1.0)().to_number() == 1.0


@pytest.mark.parametrize("get", [lambda m: m, lambda m: m.forward, lambda m: functools.partial(m.forward, n=1)])
def test_methods_and_callable_objects(get):
    model = Model(2.0)
    f = nx.jit(get(model))
    assert f(1.0).to_number() == 2.0
    model.k = 3.0
    assert f(1.0).to_number() == 3.0
    other = nx.jit(get(Model(3.0)))
    with nx.no_compile():
        assert other(1.0).to_number() == 3.0


def test_a_definition_as_a_method():
    model = Model(2.0)
    assert model.step(1.0).to_number() == 2.0
    with nx.no_compile():
        assert Model(2.0).step(3.0).to_number() == 6.0
    model.k = 5.0
    assert model.step(1.0, n=2).to_number() == 10.0
    assert nx.events("step", "miss")[-1].reason == ("option n: 1 → 2", "captured self.k: 2.0 → 5.0")
    assert (repr(model.step), repr(Model.step)) == (
        "<definition step(t, *, n=1), the rules of what it is called with>",
        "<definition step(self, t, *, n=1), the rules of what it is called with>",
    )
    assert Model.step.__doc__ == "One step."
    assert nx.jit(lambda t: model.step(t) + 1)(1.0).to_number() == 6.0
    assert Model.step(model, 1.0).to_number() == 5.0
    assert lines(error(NxTypeError, Model.step, object(), 1.0))[0] == (
        "step() takes tensors or numbers as positional arguments, got an object for 'self'."
    )


def test_what_cannot_be_compiled():
    assert error(NxTypeError, nx.jit, "x") == (
        "nx.jit takes a function, got a str.\n  To compile and call at once, write nx.jit_apply(fun, [arguments])."
    )
    assert error(NxTypeError, nx.defn, 3) == "nx.defn makes a function a definition, got an int"
    assert error(NxTypeError, nx.deftransform, 3) == "nx.deftransform marks a function, got an int"
    assert error(NxValueError, nx.jit, abs, on_conflict="x") == "on_conflict is 'raise', 'force' or 'reuse', got 'x'"
    assert error(NxValueError, nx.jit, abs, compiler="x") == (
        "there is no compiler 'x'.\n"
        "  The compilers are 'auto', 'evaluator', 'numba', 'numba_cpu', 'numba_cuda', and 'numba_cuda:1' for a "
        "second GPU."
    )


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
def test_a_decorator_with_options(make):
    @make(compiler="evaluator", static_argnames="n", hooks={"sum": list})
    def power(t, n):
        """To the n-th."""
        return t**n if n > 1 else t

    assert (power(3.0, 2).to_number(), power(3.0, 1).to_number()) == (9.0, 3.0)
    assert (power.compiler, power.hooks, power.__doc__) == ("evaluator", {"sum": list}, "To the n-th.")
    assert make()(lambda t: t + 1)(1.0).to_number() == 2.0
    assert error(NxTypeError, make(promotion="nx"), 3).split("\n")[0].endswith(", got an int.") or make is nx.defn


def test_jit_apply_takes_the_options_of_jit():
    met = []

    def power(t, n, by):
        return nx.hook(t, "base") ** n * by

    given = {"static_argnames": "n", "donate_argnums": 0, "hooks": {"base": met.append}, "compiler": "evaluator"}
    assert nx.jit_apply(power, [2.0, 3, 10.0], **given).to_number() == 80.0
    assert nx.jit_apply(power, [2.0, 3], {"by": 1.0}, static_argnums=1, donate_argnames="t").to_number() == 8.0
    assert [float(each) for each in met] == [2.0]
    assert "has no parameter 'm'" in error(NxTypeError, nx.jit_apply, power, [2.0, 3, 1.0], static_argnames="m")


def test_debug_expr_takes_options():
    def power(t, n):
        return nx.hook(t, "base") ** n if n > 1 else t

    for how in ({"static_argnames": "n"}, {"static_argnums": 1}):
        assert repr(nx.debug_expr(power, hooks={"base": print}, **how)(2.0, 3)).count(" = ") == 1
        assert repr(nx.debug_expr_apply(power, [2.0, 1], **how)).count(" = ") == 0
    assert "has no parameter 'm'" in error(NxTypeError, nx.debug_expr, power, static_argnames="m")
    assert repr(nx.debug_expr(lambda t, mode: t if mode == "same" else -t)(2.0, "same")).count(" = ") == 0


def test_jit_apply():
    assert nx.jit_apply(nx.multiply, [2.0, 3.0]).to_number() == 6.0
    assert nx.jit_apply(nx.sum, [np.ones((2, 3))], {"axes": [1]}, compiler="numba_cpu").to_list() == [3.0, 3.0]
    assert nx.debug_expr_apply(nx.sum, [np.ones((2, 3))], {"axes": [1]}).shape == (2,)


# Calls within a trace ----------------------------------------------------------------------------------------------


def test_on_conflict_raise():
    inner = nx.jit(lambda t: t + 1, on_conflict="raise")
    assert lines(error(CompilationError, nx.jit(lambda t: inner(t)), 1.0)) == [
        '<lambda> was wrapped with nx.jit(fun, on_conflict="raise") and is called while another function is traced.',
        "  Without that option it becomes part of that function's graph.",
        '  With on_conflict="force" it is compiled on its own.',
    ]


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
def test_a_nested_jit_is_part_of_the_program_around_it(make):
    k, seen = 1.0, []
    inner = nx.jit(lambda t, *, n=1: nx.hook(t + k, "inner") * n, compiler="evaluator", hooks={"inner": seen.append})

    @make(compiler="numba_cpu")
    def outer(t):
        return inner(t, n=3) * 2

    assert outer(1.0).to_number() == 12.0
    assert (inner.cache_info().misses, [float(each) for each in seen]) == (0, [2.0])
    assert [each.compiler for each in outer.compilations()] == ["numba_cpu"]
    k = 2.0
    assert outer(1.0).to_number() == 18.0
    assert outer.cache_info().misses == 2
    assert nx.grad(outer)(1.0).to_number() == 6.0


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_numbers_of_the_outer_call_are_static_where_the_inner_one_says_so(make, promotion):
    inner = nx.jit(lambda t, n: t**n if n > 1 else t, static_argnames="n")
    outer = make(lambda t, n: inner(t, n) + 1, promotion=promotion)
    assert [float(outer(2.0, n)) for n in (3, 1, 3)] == [9.0, 3.0, 9.0]
    assert "got a tensor" in error(NxTypeError, make(lambda t: inner(t, t), promotion="nx"), nx.tensor(2.0))


def test_on_conflict_force_compiles_on_its_own():
    k = 1.0
    inner = nx.jit(lambda t: t + k, on_conflict="force")
    f = nx.jit(lambda t: t * inner(2.0))
    assert f(2.0).to_number() == 6.0
    assert inner.cache_info().misses == 1
    k = 2.0
    assert f(2.0).to_number() == 8.0
    assert lines(error(NxTypeError, nx.jit(lambda t: inner(t)), 1.0)) == [
        "<lambda>, which has on_conflict=\"force\", got a traced value for 't'.",
        "  It is compiled and run on its own, while the function around it is traced: give it data, or use "
        'on_conflict="reuse" to make it part of that graph.',
    ]


def test_a_definition_within_a_trace_refuses_what_it_refuses_outside():
    @nx.defn
    def inner(t, *, n=1):
        return t * n

    assert lines(error(NxTypeError, nx.jit(lambda t: inner(object())), 1.0))[0] == (
        "inner() takes tensors or numbers as positional arguments, got an object for 't'."
    )
    assert lines(error(NxTypeError, nx.jit(lambda t: inner(t, m=1)), 1.0))[0] == ("inner(t, *, n=1) has no option 'm'.")
    assert nx.jit(lambda t: inner(t=t, n=3))(2.0).to_number() == 6.0


def test_a_template_is_no_argument():
    f = nx.jit(lambda t: t)
    assert error(NxTypeError, f, {"a": nx.template((2,), "f32")}) == (
        "<lambda> got a template for \"t['a']\", which has no data.\n"
        "  Templates are for nx.compile and for the `why` of a definition."
    )


# Looking at graphs and values --------------------------------------------------------------------------------------


def test_debug_expr():
    traced = nx.debug_expr(lambda a, *, n=1: {"sum": nx.sum(a) * n, "all": (a,)})(nx.template((2, 3), "f32"), n=2)
    assert sorted(traced) == ["all", "sum"]
    assert repr(traced["sum"]) == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n"
        "  parameter a:0                             f32[2][3]\n"
        "  b = sum a, axes=[0, 1], keep_axes=False   f32\n"
        "  c = multiply b, 2.0                       f32\n>"
    )


def test_debug_expr_tells_whose_rules_hold():
    def total(x):
        return {"sum": np.sum(x)}

    x = np.arange(3, dtype="f4")
    traced = nx.debug_expr(total)
    assert traced.rules == "NumPy's rules: it computes with np.sum"
    assert repr(traced) == "<expression of definition total(x), NumPy's rules: it computes with np.sum>"
    assert repr(traced(x)["sum"]) == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n"
        "  NumPy's rules: it computes with np.sum\n"
        "  parameter a:0                          f32[3]\n"
        "  b = sum a, axes=[0], keep_axes=False   f32\n>"
    )
    asked = nx.debug_expr(total, promotion="nx")
    assert repr(asked) == "<expression of definition total(x), Nx's rules, as promotion='nx' says>"
    assert "rules" not in repr(asked(x)["sum"])
    definition = nx.defn(lambda x, *, k=2: x / k)
    by_numpy = nx.debug_expr(definition, promotion="numpy")
    assert (by_numpy.__name__, by_numpy(nx.iota(3), k=4).type) == ("<lambda>", "f64")
    assert nx.debug_expr(definition)(nx.iota(3), k=4).type == "f32"
    assert nx.debug_expr_apply(definition, [nx.iota(3)], promotion="numpy").type == "f64"
    with pytest.raises(NxValueError, match=r"promotion"):
        nx.debug_expr(total, promotion="np")


def test_print_expr_prints_once_and_print_value_at_every_run(capsys):
    @nx.defn
    def f(t):
        t = nx.print_expr(t + 1)
        return nx.print_value(t, "t = ")

    f(1.0)
    first = capsys.readouterr().out
    assert first == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n  parameter a:0    f32\n  b = add a, 1.0   f32\n>\n"
        "t = Tensor(2.0, f32)\n"
    )
    for _ in range(2):
        assert f(2.0).to_number() == 3.0
        assert capsys.readouterr().out == "t = Tensor(3.0, f32)\n"


def test_print_value_of_containers_constants_and_captured(capsys):
    w = nx.tensor([1, 2])

    def f(t):
        nx.print_value({"b": t * 2, "a": (1.5,)}, "both ")
        nx.print_value(w)
        return t

    f = nx.jit(f)
    expected = "both {'b': Tensor(4.0, f32), 'a': (Tensor(1.5, f32),)}\nTensor([1, 2], s64[2])\n"
    for _ in range(2):
        assert f(2.0).to_number() == 2.0
        assert capsys.readouterr().out == expected


def test_printing_outside_of_a_trace(capsys):
    tensor = nx.tensor(2)
    assert nx.print_value(tensor, "two ") is tensor
    assert nx.print_expr(tensor) is tensor
    assert capsys.readouterr().out == "two Tensor(2, s64)\nTensor(2, s64)\n"


def test_printing_what_is_no_tensor():
    assert lines(error(NxTypeError, nx.jit(lambda t: nx.print_value(None)), 1.0)) == [
        "print_value returns no tensor: the value is None.",
        "  A `return` may be missing.",
    ]


def test_a_label_of_print_value_is_followed_by_a_colon(capsys):
    for label in ("x", "x:", "x: ", ""):
        nx.print_value(nx.tensor(1), label)
        nx.jit(lambda t, *, label: nx.print_value(t, label))(1, label=label)
    text = "Tensor(1, s64)\n"
    assert capsys.readouterr().out == 6 * f"x: {text}" + 2 * text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nx.compile(nx.sin, 1.0), "nx.compile takes its templates as a list, got 1.0.\n  Write nx.compile("),
        (
            lambda: nx.jit_apply(nx.sin, 1.0),
            "nx.jit_apply takes its arguments as a list, got 1.0.\n  Write nx.jit_apply(",
        ),
        (
            lambda: nx.jit_apply(nx.sin, nx.tensor([1.0])),
            "nx.jit_apply takes its arguments as a list, got a tensor (f32[1]).\n  W",
        ),
        (
            lambda: nx.jit(nx.sin, [1.0]),
            "jit takes 1 argument by position, got 2.\n  Write nx.jit(f)(t), or nx.jit_apply(f, [t]) to call it",
        ),
    ],
)
def test_arguments_are_a_list(call, text):
    with pytest.raises(NxTypeError) as error:
        call()
    assert str(error.value).startswith(text)


def test_what_a_function_would_give():
    matrix, vector = nx.template((3, 4), "f32", names=["row", None]), nx.template((4,), "f64")
    found = nx.eval_shape(lambda a, b: {"product": nx.dot(a, b), "all": (a, nx.sum(a > 1))}, matrix, vector)
    assert repr(found) == "{'product': template f64[row: 3], 'all': (template f32[row: 3][4], template s64)}"
    assert repr(nx.eval_shape(nx.sum, matrix, axes=[0])) == "template f32[4]"
    assert repr(nx.eval_shape(lambda n: np.sum(n) / 3, np.ones(3, int))) == "template f64"
    with pytest.raises(NxTypeError):
        nx.eval_shape(lambda a: a[nx.sum(a) > 1, 0.5], matrix)
