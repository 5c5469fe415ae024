"""Options: which values are new programs, and the errors of missing and unknown ones."""

import os
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import options
from nxkernel.errors import NxTypeError

ONE = np.ones(3, np.float32)


def value(tensor):
    """A result as Python numbers."""
    return tensor.to_list() if tensor.shape else tensor.to_number()


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 1.0), (1, True), (0.0, -0.0), ((1,), (1.0,)), ([1], (1,)), ({"a": 1}, {"a": 2}), (None, False)],
)
def test_options_that_differ_are_new(first, second):
    f = nx.jit(lambda t, *, k: t + 1)
    f(1.0, k=first)
    with nx.assert_compiles(1):
        f(1.0, k=second)
    with nx.no_compile():
        f(2.0, k=first)
        f(2.0, k=second)


def test_nan_as_an_option_hits():
    f = nx.jit(lambda t, *, k: t + k)
    f(1.0, k=float("nan"))
    with nx.no_compile():
        f(1.0, k=float("inf") - float("inf"))
        f(1.0, k=float("nan"))


def test_the_order_of_options_does_not_matter():
    f = nx.jit(lambda t, *, a=1.0, b=2.0: t * a + b)
    assert value(f(1.0, a=3.0, b=4.0)) == 7.0
    with nx.no_compile():
        assert value(f(1.0, b=4.0, a=3.0)) == 7.0


def test_unhashable_options_count_by_their_contents():
    f = nx.jit(lambda t, *, table: t + table["a"][0])
    table = {"a": [1.0]}
    assert value(f(1.0, table=table)) == 2.0
    table["a"][0] = 2.0
    assert value(f(1.0, table=table)) == 3.0
    with nx.no_compile():
        assert value(f(1.0, table={"a": [1.0]})) == 2.0


def test_functions_as_options(misses):
    k, w = 2.0, ONE.copy()
    f = nx.jit(lambda t, *, act: act(t))
    assert value(f(1.0, act=lambda t: t * k)) == 2.0
    with nx.no_compile():
        assert value(f(1.0, act=lambda t: t * k)) == 2.0
    k = 3.0
    assert value(f(1.0, act=lambda t: t * k)) == 3.0
    assert misses()[-1] == ("captured k of act: 2.0 → 3.0",)
    assert value(f(1.0, act=nx.negate)) == -1.0
    assert value(f(1.0, act=lambda t: t * w)) == [1.0] * 3
    w[:] = 4.0
    with nx.no_compile():
        assert value(f(1.0, act=lambda t: t * w)) == [4.0] * 3
    w = ONE * 5
    with nx.no_compile():
        assert value(f(1.0, act=lambda t: t * w)) == [5.0] * 3


def test_objects_as_options():
    class Config:
        def __init__(self, rate):
            self.rate = rate

        def scale(self, t):
            return t * self.rate

    f = nx.jit(lambda t, *, config: config.scale(t))
    config = Config(2.0)
    assert value(f(1.0, config=config)) == 2.0
    config.rate = 3.0
    assert value(f(1.0, config=config)) == 3.0
    with nx.no_compile():
        assert value(f(1.0, config=Config(2.0))) == 2.0


def test_an_array_within_an_object_given_as_an_option():
    config = types.SimpleNamespace(w=ONE.copy())
    f = nx.jit(lambda t, *, config: t * config.w)
    assert value(f(1.0, config=config)) == [1.0] * 3
    config.w[:] = 2.0
    with nx.no_compile():
        assert value(f(1.0, config=config)) == [2.0] * 3


def test_one_array_in_an_option_and_captured_becomes_two():
    w = ONE.copy()
    config = types.SimpleNamespace(w=w)
    f = nx.jit(lambda t, *, config: t * config.w + w, promotion="nx")
    assert value(f(1.0, config=config)) == [2.0] * 3
    config.w = ONE * 5
    assert value(f(1.0, config=config)) == [6.0] * 3


# The branch that is not taken --------------------------------------------------------------------------------------


def test_a_branch_on_an_option_leaves_no_trace_of_the_other():
    @nx.defn
    def f(t, *, root=False):
        if root:
            return nx.sqrt(t)
        return nx.exp(t)

    assert repr(nx.debug_expr(f)(ONE)) == (
        "#Nx.Tensor<\n  f32[3]\n  \n  Nx.Defn.Expr\n  parameter a:0   f32[3]\n  b = exp a       f32[3]\n>"
    )
    assert repr(nx.debug_expr(f)(ONE, root=True)) == (
        "#Nx.Tensor<\n  f32[3]\n  \n  Nx.Defn.Expr\n  parameter a:0   f32[3]\n  b = sqrt a      f32[3]\n>"
    )
    assert value(f(ONE * 4, root=True)) == [2.0] * 3


# Errors ------------------------------------------------------------------------------------------------------------


def error(function, *args, **opts):
    with pytest.raises(NxTypeError) as raised:
        function(*args, **opts)
    return str(raised.value)


@nx.defn
def norm(t, *, kind, axis=0):
    return t


def test_missing_and_unknown_options():
    assert error(norm, ONE) == (
        "norm(t, *, kind, axis=0) needs the option 'kind'.\n  Call it with kind=…, or declare a default."
    )
    assert error(norm, ONE, kind="l2", axes=1) == (
        "norm(t, *, kind, axis=0) has no option 'axes'.\n  The options are 'kind', 'axis'."
    )
    assert error(nx.jit(lambda t: t), 1.0, k=1) == "<lambda>(t) has no option 'k'.\n  It has no options."
    assert error(nx.jit(lambda t, *, n=1: t), 1.0, k=1) == (
        "<lambda>(t, *, n=1) has no option 'k'.\n  The option is 'n'."
    )


def test_an_argument_that_is_given_twice():
    assert error(norm, ONE, t=ONE, kind="l2") == (
        "norm(t, *, kind, axis=0) has no option 't'.\n"
        "  't' is a positional argument, and one was given in its place already."
    )


@pytest.mark.parametrize("tensor", [ONE, nx.tensor(1.0)])
def test_a_tensor_as_an_option(tensor):
    hint = "\n  Options are static values. Make it a positional argument: declare it before `*`."
    start = "norm(t, *, kind, axis=0) got a tensor for the option "
    assert error(norm, ONE, kind=tensor) == f"{start}'kind'.{hint}"
    assert error(norm, ONE, kind={"a": [1, (tensor,)]}) == f"{start}\"kind['a'][1][0]\".{hint}"


def test_tensors_by_names_that_are_not_declared_are_data():
    def weighted(t, *more, by=1.0, **options):
        return t * by + sum(more) + options.get("a", 0.0) - options.get("b", 0.0)

    f, one, two = nx.jit(weighted), nx.tensor(1.0), nx.tensor(2.0)
    assert float(f(1.0, b=one, by=2.0)) == 1.0
    assert float(f(1.0, 3.0, a=one, by=2.0)) == 6.0
    # Which of them is which is part of the key, and a value of one is not.
    assert f.cache_info().misses == 2
    assert float(f(1.0, a=one, by=2.0)) == 3.0
    assert float(f(1.0, a=two, by=2.0)) == 4.0
    assert float(f(1.0, b=two, by=2.0)) == 0.0
    assert f.cache_info().misses == 3
    assert float(nx.jit(lambda t: nx.defn(weighted)(t, a=t))(2.0)) == 4.0


def test_a_container_that_is_not_of_tensors_alone():
    assert error(nx.jit(lambda t, **options: t), 1.0, parts={"w": ONE, "by": 2}) == (
        "<lambda>(t, **options) got a tensor for the option \"parts['w']\".\n  Options are static values. "
        "A container of tensors alone is data: give the rest as another option."
    )


def test_a_tensor_as_the_default_of_an_option():
    w = nx.tensor(1.0)
    f = nx.jit(lambda t, *, w=w: t)
    assert "got a tensor for the option 'w'." in error(f, 1.0)


def test_keyword():
    def f(t, **opts):
        return t + options.keyword(opts, "by", scale=2.0)["by"] * opts.get("scale", 2.0)

    f = nx.jit(f)
    assert value(f(1.0, by=3.0)) == 7.0
    assert value(f(1.0, by=3.0, scale=1.0)) == 4.0
    place = 't + options.keyword(opts, "by", scale=2.0)["by"] * opts.get("scale", 2.0)'
    file = os.path.basename(__file__)
    line = f.__nx_function__.__code__.co_firstlineno + 1
    assert error(f, 1.0) == (
        f"the option 'by' is missing.\n  {file}, line {line}:  return {place}\n  Give it by keyword: by=…"
    )
    assert error(f, 1.0, by=1.0, to=2) == (
        f"unknown option 'to'.\n  {file}, line {line}:  return {place}\n  The options are 'by', 'scale'."
    )
    assert options.keyword({"a": None}, a=1) == {"a": None}


def test_the_options_as_one_list():
    """The reference writes ``keyword!(opts, [:shape, type: {:f, 32}])``: names that may be there, and defaults."""
    known = ["shape", ("type", "f32")]
    assert nx.keyword({"shape": (2,)}, known) == {"shape": (2,), "type": "f32"}
    assert nx.keyword({"type": "bf16"}, known, names=None) == {"type": "bf16", "names": None}
    assert nx.keyword({}, ["shape"]) == {}
    with pytest.raises(NxTypeError, match=r"^unknown option 'shap'\.\n  The options are 'shape', 'type'\.$"):
        nx.keyword({"shap": 1}, known)


@pytest.mark.parametrize("wrong", [[1], [("type", "f32", 3)], [["shape"]]])
def test_what_is_no_name_of_an_option(wrong):
    with pytest.raises(NxTypeError) as error:
        nx.keyword({"shape": (2,)}, wrong)
    assert str(error.value).startswith("keyword takes names of options, got ")
    assert str(error.value).endswith(
        '  Write nx.keyword(opts, "shape", type="f32"), names that must be there and others with defaults,\n'
        '  or nx.keyword(opts, ["shape", ("type", "f32")]), a list of all that there are.'
    )
