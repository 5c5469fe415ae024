"""What once came back stale, one by one; all kinds of reads are in `test_what_is_read`, random ones in sessions."""

import collections
import contextlib
import copy
import dataclasses
import functools
import io
import threading
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError, NxTypeError

X = np.ones(3)


def value(tensor):
    return np.asarray(tensor).tolist()


@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_a_method_that_calls_super_answers_for_its_own_object(wrap):
    class Base:
        def f(self, x):
            return x * self.k

    class Derived(Base):
        def f(self, x):
            return super().f(x)

    one, other = Derived(), Derived()
    one.k, other.k = 2.0, 5.0
    assert value(wrap(one.f)(X)) == [2.0] * 3
    assert value(wrap(other.f)(X)) == [5.0] * 3
    one.k = 7.0
    assert value(wrap(one.f)(X)) == [7.0] * 3


def test_super_in_definitions_dataclasses_and_gradients():
    @dataclasses.dataclass
    class Base:
        k: float

        @nx.defn
        def f(self, x):
            return nx.sum(x * x * self.k)

    class Derived(Base):
        @nx.defn
        def f(self, x):
            return super().f(x)

    one, other = Derived(2.0), Derived(5.0)
    assert value(one.f(X)), value(other.f(X)) == (6.0, 15.0)
    assert value(nx.grad(one.f)(X)) == [4.0] * 3
    assert value(nx.grad(other.f)(X)) == [10.0] * 3
    other.k = 1.0
    assert value(nx.grad(other.f)(X)) == [2.0] * 3


def test_a_definition_that_is_a_default_of_an_option():
    k = 2.0

    @nx.defn
    def act(v):
        return v * k

    @nx.defn
    def f(x, *, a=act):
        return a(x)

    assert value(f(X)) == value(f(X)) == [2.0] * 3
    k = 5.0
    assert not f.why(X).hit
    assert value(f(X)) == [5.0] * 3
    with nx.no_compile():
        assert value(f(X)) == [5.0] * 3
        assert value(f(X, a=act)) == [5.0] * 3


def test_a_function_as_an_option_is_compiled_once():
    @nx.defn
    def f(x, *, a=nx.cos):
        return a(x)

    with nx.assert_compiles(1):
        for _ in range(3):
            f(X)
            f(X, a=nx.cos)


@pytest.mark.parametrize("make", [
    lambda w: collections.OrderedDict(w=w),
    lambda w: collections.defaultdict(list, w=w),
    lambda w: collections.UserDict(w=w),
], ids=["OrderedDict", "defaultdict", "UserDict"])  # fmt: skip
def test_containers_that_are_copied_before_they_change(make):
    p = make(np.ones(3))
    f = nx.jit(lambda x: x * p["w"])
    assert value(f(X)) == [1.0] * 3
    before = copy.deepcopy(p)
    p["w"] *= 2
    assert value(f(X)) == [2.0] * 3
    p = before
    assert value(f(X)) == [1.0] * 3


def test_an_array_that_a_function_makes_and_changes_while_it_is_traced():
    def f(x):
        a = np.zeros(3)
        y = x * a
        a[0] = 5.0
        return y + x * a

    assert value(nx.jit(f)(X)) == value(f(X)) == [5.0, 0.0, 0.0]


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_an_array_that_becomes_one_of_another_byte_order(compiler):
    w = np.array([1.0, 2.0, 3.0])
    f = nx.jit(lambda x: x * w, compiler=compiler)
    f(X)
    f(X)
    w = w.astype(">f8")
    assert value(f(X)) == value(f(X)) == [1.0, 2.0, 3.0]
    w[0] = 7.0
    assert value(f(X)) == [7.0, 2.0, 3.0]


def test_an_array_that_becomes_one_of_another_class():
    w = np.ones(3)
    f = nx.defn(lambda x: x * w)
    f(X)
    w = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    assert f(X).tolist() == (X * w).tolist()
    w.mask[0] = True
    assert f(X).tolist() == (X * w).tolist()
    with pytest.warns(PendingDeprecationWarning):
        w = np.matrix([[1.0, 2.0, 3.0]])
    with pytest.raises(NxTypeError) as caught:
        f(X)
    first, *_, last = str(caught.value).split("\n")
    assert first == "a NumPy matrix is no tensor: its `*` and `**` are products of matrices."
    assert last == "  Make an array of it, np.asarray(m), and write a @ b for products."


def test_arrays_that_become_one_are_no_change_of_the_function():
    p, q = np.ones(3), np.ones(3)
    f = nx.defn(lambda x: x * p + q)
    f(1.0)
    q = p
    assert f.why(1.0).hit
    assert value(f(X)) == [2.0] * 3
    assert nx.events(f, "miss")[-1].advice == ""
    assert f.why(X).hit
    with nx.no_compile():
        f(X)
    q = np.zeros(3)
    assert value(f(X)) == [1.0] * 3


def test_an_array_that_becomes_a_number_is_no_change_of_the_function():
    w = np.array(2.0)
    f = nx.defn(lambda x: x * w)
    f(X)
    w = np.float64(5.0)
    assert value(f(X)) == [5.0] * 3
    assert nx.events(f, "miss")[-1].reason == ("captured w: f64 → np.float64(5.0)",)
    assert f.why(X).hit


def test_a_memo_in_a_list_is_refused():
    log = []

    def helper():
        if not log:
            log.append(np.ones(3))
        return log[0]

    f = nx.defn(lambda x: x * helper(), promotion="numpy")
    with pytest.raises(NxTypeError, match=r"stores a traced value in log\[0\], where it would have no data"):
        f(X)
    assert log == []


# Read anew ---------------------------------------------------------------------------------------------------------


class Frame:
    """Stands for an object of an extension, whose contents nobody can compare."""

    def __init__(self):
        self.lock = threading.Lock()
        self.rate = 2.0


def test_what_is_read_anew_is_told():
    frame = Frame()

    def of(given):
        return given.rate if given.lock else 0.0

    f = nx.jit(lambda x: x * of(frame))
    reason = ("captured frame.lock: a lock, whose contents cannot be compared, is read anew at each call",)
    for rate in (2.0, 5.0, 5.0):
        frame.rate = rate
        assert f.why(X).difference == reason
        assert not f.why(X).hit
        assert value(f(X)) == [rate] * 3
        event = nx.events(f, "miss")[-1]
        assert event.reason == reason
        assert event.advice == (
            "To have it traced once, read what it needs of frame.lock outside, into a number, a list, a dict or an "
            "array: changes of those are seen."
        )
    assert f.cache_info().misses == 3
    assert f.compilations() == []
    with pytest.raises(CompilationError), nx.no_compile():
        f(X)


def test_what_an_object_of_a_package_keeps_for_itself_is_told_as_the_object():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    held = types.SimpleNamespace(frame=pandas.DataFrame({"rate": [1.0, 2.0]}))
    f = nx.jit(lambda x: x * held.frame["rate"][1])
    assert value(f(X)) == [2.0] * 3
    held.frame.loc[1, "rate"] = 9.0
    assert f.why(X).difference == (
        "captured held.frame: a DataFrame, whose contents cannot be compared, is read anew at each call",
    )
    assert value(f(X)) == [9.0] * 3


def test_attributes_and_methods_that_nobody_names_are_no_reason():
    class Model:
        def __init__(self, name):
            self.rate, self.lock, self.weights = 2.0, threading.Lock(), np.loadtxt(name)

        def save(self, name):
            return open(name)

    model = Model(io.StringIO("1 2 3"))

    def of(given):
        return given.rate * given.weights

    f = nx.jit(lambda x: x * of(model))
    assert value(f(X)) == value(f(X)) == [2.0, 4.0, 6.0]
    assert f.cache_info().misses == 1
    model.rate = 5.0
    assert value(f(X)) == [5.0, 10.0, 15.0]
    made = nx.jit(lambda x: x * Model(io.StringIO("1 2 3")).rate)
    made(X)
    assert "read anew" in made.why(X).difference[0]
    named = nx.jit(lambda x: x * getattr(model, "rate"))  # noqa: B009
    named(X)
    assert "read anew" in named.why(X).difference[0]


def test_what_is_read_anew_makes_its_kernel_once():
    frame = Frame()
    f = nx.jit(lambda x: nx.exp(x) * len([frame.lock]), compiler="numba_cpu")
    f(X)
    for _ in range(3):
        f(X)
        assert nx.events(f, "miss")[-1].compiled == 0


def test_what_gives_each_value_once_is_not_looked_at_before_the_call():
    numbers = iter([2.0, 5.0])
    f = nx.jit(lambda x: x * next(numbers))
    assert str(f.why(X)).split("\n")[0] == (
        "<lambda> would be traced: captured numbers: a list_iterator, whose contents cannot be compared, is read anew "
        "at each call"
    )
    assert [value(f(X)), value(f(X))] == [[2.0] * 3, [5.0] * 3]


def test_what_gives_each_value_once_is_refused_where_it_would_be_used_twice():
    numbers = iter([2.0, 5.0])

    @nx.defn
    def f(x, n):
        return x * next(numbers) + nx.iota((n,))

    with pytest.raises(NxTypeError) as caught:
        f(X, 3)
    assert str(caught.value).split("\n")[0] == (
        "f reads numbers, which gives each value once, and has to be traced twice for this call."
    )
    assert "Take the value where f is called, and pass it: f(…, next(numbers))." in str(caught.value)


def test_what_is_read_anew_is_not_kept_alive():
    import weakref

    class Thing:
        k = 2.0

    thing = Thing()
    seen = weakref.ref(thing)
    f = nx.jit(lambda x: x * (1.0 if seen() is None else seen().k))
    assert value(f(X)) == [2.0] * 3
    del thing
    assert value(f(X)) == [1.0] * 3


def test_threads_read_what_is_their_own():
    local, found = threading.local(), {}
    local.k = 2.0
    f = nx.jit(lambda x: x * local.k)

    def call(k):
        local.k = k
        found[k] = value(f(X))

    for k in (3.0, 4.0):
        thread = threading.Thread(target=call, args=(k,))
        thread.start()
        thread.join()
    assert value(f(X)) == [2.0] * 3
    assert found == {3.0: [3.0] * 3, 4.0: [4.0] * 3}


def test_objects_whose_class_answers_every_name():
    class Settings(dict):
        __getattr__ = dict.__getitem__

    settings = Settings(k=2.0)
    f = nx.defn(lambda x: x * settings.k)
    assert value(f(X)) == [2.0] * 3
    settings["k"] = 5.0
    assert value(f(X)) == [5.0] * 3
    with contextlib.suppress(KeyError):
        del settings["k"]
    with pytest.raises(KeyError, match="'k'"):
        f(X)


@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_an_object_is_called_as_its_class_has_it_now(wrap):
    class Scale:
        def __call__(self, x):
            return x * 2

    f = wrap(Scale())
    assert [value(f(X)) for _ in range(2)] == [[2.0] * 3] * 2
    Scale.__call__ = lambda self, x: x * 5
    assert [value(f(X)) for _ in range(2)] == [[5.0] * 3] * 2
    assert f.cache_info().misses == 2


@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_what_a_partial_gives_may_change(wrap):
    def scaled(x, k):
        return x * k

    part = functools.partial(scaled, k=2.0)
    f = wrap(part)
    assert [value(f(X)) for _ in range(2)] == [[2.0] * 3] * 2
    part.keywords["k"] = 5.0
    assert [value(f(X)) for _ in range(2)] == [[5.0] * 3] * 2
    part.__setstate__((scaled, (), {"k": 7.0}, {}))
    assert [value(f(X)) for _ in range(2)] == [[7.0] * 3] * 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda pair: pair[0] is pair[1],
        lambda pair: pair[0] is not pair[1],
        lambda pair: len({id(array) for array in pair}) == 1,
        lambda pair: any(array is pair[0] for array in pair[1:]),
    ],
)
def test_two_captured_arrays_that_become_one(ask):
    first = np.ones(3)
    pair = [first, first.copy()]

    def plain(x):
        return x * (2.0 if ask(pair) else 1.0)

    f = nx.defn(plain, promotion="numpy")
    for second in (first.copy(), first, first, first.copy(), first):
        pair[1] = second
        assert value(f(X)) == plain(X).tolist()


def test_two_captured_arrays_that_become_one_have_one_copy():
    first = np.ones(3)
    both = {"a": first, "b": first.copy()}

    def plain(x):
        copied = copy.deepcopy(both)
        copied["a"][0] = 5.0
        return x * copied["b"]

    f = nx.defn(plain, promotion="numpy")
    for second in (first.copy(), first, first.copy()):
        both["b"] = second
        assert value(f(X)) == plain(X).tolist()


class Counting:
    def __init__(self):
        self.n = 0

    @property
    def k(self):
        self.n += 1
        return float(self.n)


@pytest.mark.parametrize("wrap", [nx.defn, nx.jit])
def test_an_option_that_a_trace_changes_is_seen(wrap):
    ours, plain = Counting(), Counting()

    def f(x, *, o=ours):
        return x * o.k

    definition = wrap(f)
    for given in ({}, {}, {"o": ours}, {}, {"o": ours}):
        assert np.asarray(definition(np.ones(3), **given)).tolist() == f(np.ones(3), o=plain).tolist()
