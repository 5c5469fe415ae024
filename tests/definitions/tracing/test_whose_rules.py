"""Whose rules hold is told by repr, why, events and warnings, and can be asked for."""

import warnings

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.errors import NxValueError, PromotionWarning

WHOLE = np.arange(3)


def helper(x):
    return nx.exp(x)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: np.mean(x), "NumPy's rules: it computes with np.mean"),
        (lambda x: special.expit(x), "NumPy's rules: it computes with special.expit"),
        (lambda x: nx.numpy.sin(x), "NumPy's rules: it computes with nx.numpy.sin"),
        (lambda x: nx.exp(x), "Nx's rules: it computes with nx.exp"),
        (lambda x: nx.exp(x) + np.sin(x), "Nx's rules: it computes with nx.exp, and with np.sin, too"),
        (lambda x: nx.hook(x, "a") + nx.shape(x)[0], "the rules of what it is called with"),
        (lambda x: x * np.pi + np.float32(2), "the rules of what it is called with"),
        (lambda x: isinstance(x, nx.Tensor | np.ndarray), "the rules of what it is called with"),
        (lambda x: helper(x), "the rules of what it is called with"),
        (np.sum, "NumPy's rules"),
        (nx.sum, "Nx's rules"),
    ],
)
def test_the_text_says_it(function, text):
    assert nx.defn(function).rules == text
    for made in (nx.jit(function), nx.vmap(function), nx.checkpoint(function), nx.jit(nx.defn(function))):
        assert made.rules == text
        assert repr(made).endswith(f", {text}>")


def test_an_inner_function_and_an_import_count():
    def inner(x):
        def deeper(y):
            return np.exp(y)

        return deeper(x)

    def imports(x):
        from numpy import linalg

        return linalg.norm(x)

    assert (whose_rules.of(inner), whose_rules.of(imports)) == ("numpy", "numpy")


def test_a_parameter_is_no_global():
    @nx.defn
    def total(np):
        return np * 2

    assert total.dialect is None


def test_a_name_that_means_something_else_by_now(monkeypatch):
    monkeypatch.setitem(globals(), "_sine", np.sin)

    @nx.defn
    def f(x):
        return _sine(x) / 2  # noqa: F821 - set above

    assert f(WHOLE).dtype == np.float64
    monkeypatch.setitem(globals(), "_sine", nx.sin)
    assert (f(WHOLE).type, f.rules) == ("f32", "Nx's rules: it computes with _sine")
    monkeypatch.setitem(globals(), "_sine", np.sin)
    assert f(WHOLE).dtype == np.float64


def test_what_comes_in_decides_and_is_told():
    @nx.defn
    def half(n):
        return n / 2

    by_arrays = "NumPy's rules: it computes with neither np nor nx, and gets or reads NumPy's arrays"
    by_others = "Nx's rules: it computes with neither np nor nx, and gets a tensor, or numbers alone"
    for given, type_, text in [
        (WHOLE, np.float64, by_arrays),
        (nx.tensor(WHOLE), np.float32, by_others),
        (3, np.float32, by_others),
        (np.int64(3), np.float64, by_arrays),
    ]:
        for _ in range(3):
            result = half(given)
            assert (result.dtype, isinstance(result, nx.Tensor)) == (type_, text == by_others)
        assert half.why(given).rules == text
        assert str(half.why(given)).endswith(text)
    assert nx.defn(lambda pair: pair["a"] / 2)({"a": WHOLE}).dtype == np.float64
    assert nx.defn(lambda pair: pair["a"] / 2)({"a": nx.tensor(WHOLE), "b": WHOLE}).dtype == np.float32
    assert nx.events(half.__name__, "miss")[-1].rules == by_arrays
    assert by_arrays in str(nx.events(half.__name__, "miss")[-1])


def cosine_window(n, sym):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / (n - 1 if sym else n))


class Decay:
    def __init__(self, rate):
        self.rate = rate

    def after(self, time):
        return np.exp(-self.rate * time)


def hann(n, sym=True):
    return cosine_window(n, sym)


def test_numbers_alone_go_by_the_helpers_that_compute_with_numpy():
    window = nx.jit(hann, static_argnames=["n", "sym"])
    np.testing.assert_array_equal(window(8), hann(8))
    assert window.why(8).rules == "NumPy's rules: it calls cosine_window, which computes with np.cos"

    def left(rate, time):
        return Decay(rate).after(time)

    found = nx.jit(left)(0.5, 2.0)
    assert (found, found.dtype) == (np.exp(-1.0), np.float64)

    def with_both(rate):
        return left(rate, 1.0) + by_nx(rate)

    def by_nx(rate):
        return nx.exp(rate)

    assert nx.jit(lambda rate: by_nx(rate))(1.0).type == "f32"
    assert nx.jit(with_both).why(1.0).rules == (
        "Nx's rules: it computes with neither np nor nx, and gets a tensor, or numbers alone"
    )


def test_a_helper_that_changes_is_seen():
    def doubled(x):
        return x * 2

    def doubled_size(x):
        return np.abs(x) * 2

    def outer(x):
        return helper(x) / 3

    helper, call = doubled, nx.defn(outer)
    assert call(1.0).type == "f32"
    helper = doubled_size
    assert call(1.0).dtype == np.float64


def test_a_caller_decides_for_what_it_calls():
    @nx.defn
    def half(n):
        return n / 2

    assert nx.defn(lambda n: np.sum(half(n)))(WHOLE).dtype == np.float64
    assert nx.defn(lambda n: nx.sum(half(n)))(WHOLE).type == "f32"


@pytest.mark.parametrize("wrap", [nx.defn, nx.jit, nx.checkpoint, nx.vmap])
def test_it_can_be_asked_for(wrap):
    def half(n):
        return n / 2

    by_nx, by_numpy = [
        nx.defn(promotion=rules)(half) if wrap is nx.defn else wrap(half, promotion=rules) for rules in ("nx", "numpy")
    ]
    assert (by_nx(WHOLE).type, by_numpy(WHOLE).dtype) == ("f32", np.float64)
    assert (by_nx.rules, by_numpy.rules) == (
        "Nx's rules, as promotion='nx' says",
        "NumPy's rules, as promotion='numpy' says",
    )
    assert by_numpy(nx.tensor(WHOLE)).type == "f64"
    with pytest.raises(NxValueError, match=r"^promotion is 'nx' or 'numpy', got 'jax'\."):
        wrap(half, promotion="jax") if wrap is not nx.defn else nx.defn(promotion="jax")(half)


def test_gradients_by_request():
    function = nx.grad(lambda x: (x * x).sum(), promotion="nx")
    assert function(np.ones(2)).type == "f64"
    assert isinstance(nx.grad(lambda x: (x * x).sum())(np.ones(2)), np.ndarray)
    assert nx.jit_apply(lambda x: x / 2, [WHOLE], promotion="nx").type == "f32"
    assert nx.compile(lambda x: x / 2, [WHOLE], promotion="nx")(WHOLE).type == "f32"
    value, pull = nx.vjp(lambda x: x * 2, np.ones(2), promotion="nx")
    assert (value.type, pull(np.ones(2))[0].type) == ("f64", "f64")
    assert nx.jvp(lambda x: x * 2, (np.ones(2),), (np.ones(2),), promotion="nx")[1].type == "f64"
    assert nx.hessian(lambda x: (x * x).sum(), promotion="nx")(np.ones(2)).type == "f64"


def test_a_default_for_all():
    mean = nx.defn(lambda n: np.mean(n) / 3)
    assert mean(WHOLE).dtype == np.float64
    with nx.default_options(promotion="nx"):
        assert mean(WHOLE).type == "f32"
        assert mean.rules == "Nx's rules, as promotion='nx' says"
        # What nxkernel computes itself goes by its own rules.
        assert nx.jit(nx.sum)(WHOLE).type == "s64"
    assert mean(WHOLE).dtype == np.float64
    with pytest.raises(NxValueError, match=r"^promotion is 'nx' or 'numpy', got 'torch'\."):
        nx.default_options(promotion="torch")


def test_a_line_where_the_rules_differ_is_warned_of_once():
    @nx.defn
    def both(n):
        scale = np.sum(n)
        return nx.exp(n) * scale

    with pytest.warns(PromotionWarning) as told:
        both(WHOLE)
    assert [str(each.message) for each in told] == [
        "both: this line has f32 by Nx's rules of types, which hold, and f64 by NumPy's.\n"
        "  The function computes with nx.exp and with np.sum.\n"
        '  Say which are meant: promotion="nx" or promotion="numpy", as in @nx.defn(promotion="numpy").'
    ]
    assert told[0].lineno == both.__nx_function__.__code__.co_firstlineno + 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both(np.ones(3))
        nx.defn(promotion="nx")(both.__nx_function__)(WHOLE)


def test_the_first_of_several_lines_is_warned_of():
    @nx.defn
    def three(n):
        grown = nx.exp(n)
        mean = np.mean(n) / 3
        half = np.sum(n) / 2
        return grown + mean + half

    with pytest.warns(PromotionWarning) as told:
        three(WHOLE)
    assert [one.lineno - three.__nx_function__.__code__.co_firstlineno for one in told] == [2]
    assert str(told[0].message).startswith(
        "three: this line has f32 by Nx's rules of types, which hold, and f64 by NumPy's."
    )


def test_numbers_beside_arrays_that_the_function_reads():
    class Model:
        weights = np.arange(3.0)

        @nx.defn
        def run(self, x):
            doubled = self.weights * 2
            same = doubled
            doubled[0] = x
            return same.sum()

    model = Model()
    for number in (5.0, 2.5):
        assert model.run(number) == number + 6
    Model.weights = nx.tensor([0.0, 1.0, 2.0])
    assert isinstance(model.run(5.0), nx.Tensor)
    Model.weights = np.arange(3.0)
    assert model.run(5.0) == 11
    assert Model.run.rules == "the rules of what it is called with"


def test_a_request_that_comes_from_a_text_is_one_too():
    # Such as a word of a command line: an equal string, and another object.
    rules = "".join(["num", "py"])
    assert rules is not dialects.NUMPY
    asked, default = nx.jit(lambda x, y: x * y, promotion=rules), nx.jit(lambda x, y: y * x)
    for _ in range(3):
        assert asked(np.ones(1), 0.1).tolist() == [0.1]
    with nx.default_options(promotion=rules):
        for _ in range(3):
            assert default(np.ones(1), 0.1).tolist() == [0.1]


def test_what_is_traced_again_is_warned_of_again():
    @nx.defn
    def both(n):
        return nx.exp(n) * np.sum(n)

    for _ in range(2):
        with pytest.warns(PromotionWarning):
            both(WHOLE)
        both.clear_cache()
