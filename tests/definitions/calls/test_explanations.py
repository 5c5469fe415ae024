"""Why a call is new, in the words of the person who wrote it."""

import functools
import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls import explanations, graph_cache

ONE = np.ones(3, np.float32)


@pytest.fixture
def f():
    @nx.defn(compiler="numba_cpu")
    def smooth(t, *, rate=0.5, axis=0):
        return nx.sum(nx.tanh(t) * rate, axes=[axis])

    return smooth


def why(f, *args, **opts):
    explained = f.why(*args, **opts)
    text, rules = str(explained), f"\n  {explained.rules}"
    assert text.count(rules) == 1
    return re.sub(r"in test_explanations.py, line \d+", "in HERE", text.replace(rules, ""))


def test_a_first_call(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")
    f = nx.jit(lambda t: nx.atan(nx.asinh(nx.sinh(t)) - nx.cbrt(t)), compiler="numba_cpu")
    assert f.why(ONE).hit is False
    assert why(f, ONE) == ("<lambda> would compile: first call\n  kernel 1 (map of 3, 1 read, 1 write): new")
    f(ONE)
    f.clear_cache()
    assert why(f, ONE) == (
        "<lambda> would be traced, and reuse every kernel: first call\n"
        "  kernel 1 (map of 3, 1 read, 1 write): from memory"
    )


def test_a_loop_whose_kernels_are_part_of_it(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")

    @nx.defn(compiler="numba_cpu")
    def grown(t):
        while nx.sum(t) < 37.0:
            t = t * 1.5 + nx.atanh(t / 1000.0)
        return t

    assert why(grown, ONE) == (
        "grown would compile: first call\n"
        "  kernel 1 (rows of 3, 1 read, 1 write): part of the loop around it\n"
        "  kernel 2 (map of 3, 1 read, 1 write): part of the loop around it\n"
        "  kernel 3 (loops and choices of the program): new"
    )
    grown(ONE)
    grown.clear_cache()
    assert why(grown, ONE) == (
        "grown would be traced, and reuse every kernel: first call\n"
        "  kernel 1 (rows of 3, 1 read, 1 write): part of the loop around it\n"
        "  kernel 2 (map of 3, 1 read, 1 write): part of the loop around it\n"
        "  kernel 3 (loops and choices of the program): from memory"
    )


def test_a_loop_without_kernels(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")

    @nx.defn(compiler="numba_cpu")
    def turns(n):
        count = 0
        while n > 1:
            n = n // 3 if n % 3 == 0 else 2 * n - 7
            count += 1
        return count

    assert why(turns, 9) == "turns would compile: first call\n  kernel 1 (loops and choices of the program): new"
    turns(9)
    turns.clear_cache()
    assert why(turns, 9) == (
        "turns would be traced, and reuse every kernel: first call\n"
        "  kernel 1 (loops and choices of the program): from memory"
    )


def test_a_hit(f):
    f(ONE)
    assert f.why(ONE).hit is True
    assert why(f, ONE) == "smooth: answered from the cache\n  compiled 0 seconds ago in HERE, called 1 time"
    f(ONE)
    assert why(f, ONE).endswith("called 2 times")


def test_a_new_shape_reuses_the_kernels(f):
    f(ONE)
    found = f.why(np.ones(300, np.float32))
    assert found.difference == ("argument t: f32[3] → f32[300]",)
    assert [where for _, where in found.kernels] == ["memory"] * len(found.kernels)
    assert why(f, np.ones(300, np.float32)).startswith(
        "smooth would be traced, and reuse every kernel: argument t: f32[3] → f32[300]\n  kernel 1 ("
    )
    assert why(f, np.ones(300, np.float32)).endswith("\n  closest: compiled 0 seconds ago in HERE, called 1 time")


def test_a_new_type(f):
    f(ONE)
    assert f.why(ONE.astype(int)).difference == ("argument t: f32[3] → s64[3]",)


def test_a_dry_run_runs_nothing(f):
    f.why(ONE)
    assert f.cache_info().misses == 0
    assert nx.events(f) == []
    with nx.assert_compiles(1):
        f(ONE)


def test_templates_stand_for_tensors(f):
    f(ONE)
    assert f.why(nx.template((3,), "f32")).hit
    assert f.why(nx.template((4,), "f32")).difference == ("argument t: f32[3] → f32[4]",)


def test_several_differences(f):
    f(ONE)
    assert f.why(np.ones((2, 3)), rate=0.25).difference == (
        "argument t: f32[3] → f64[2][3]",
        "option rate: 0.5 → 0.25",
    )


def test_the_evaluator_has_no_kernels():
    f = nx.jit(lambda t: t + 1)
    assert f.why(ONE).kernels == ()
    assert why(f, ONE) == "<lambda> would be traced: first call"


def test_containers():
    f = nx.jit(lambda p: 1.0)
    f({"a": ONE})
    assert f.why({"a": ONE, "b": (ONE,)}).difference == ("argument p['b']: absent → (·,)",)
    assert f.why({"a": [ONE]}).difference == ("argument p['a']: · → [·]",)
    assert f.why([ONE]).difference == ("argument p: {'a': ·} → [·]",)
    assert f.why(ONE).difference == ("argument p: {'a': ·} → f32[3]",)
    assert f.why({"a": nx.tensor(ONE, names=["x"])}).difference == (
        "argument p['a']: f32[3] → f32[x: 3]",
        "rules: NumPy's → Nx's",
    )


def test_advice_for_float64(f):
    f(ONE)
    f(ONE.astype(np.float64))
    assert nx.events(f, "miss")[-1].advice == (
        'float64 came in from a NumPy array; nx.as_type(t, "f32") keeps the compiled f32 program.'
    )
    f.clear_cache()
    f(ONE)
    f(nx.tensor([1.0, 2.0, 3.0], type="f64"))
    assert nx.events(f, "miss")[-1].advice.startswith("float64 came in from a tensor;")


def test_advice_for_numbers_with_a_fraction(f):
    f(ONE)
    f(ONE, rate=0.25)
    assert nx.events(f, "miss")[-1].advice == (
        "rate is a number, and each new one makes a program of its own: if it keeps changing, declare it before `*` "
        "and pass it by position, and it will be compiled once."
    )


def test_a_list_in_the_place_of_a_tuple_is_told():
    @nx.defn
    def zeros(*, shape):
        return nx.broadcast(0.0, shape)

    zeros(shape=(2, 3))
    assert zeros.why(shape=[2, 3]).difference == ("option shape: (2, 3) → [2, 3]",)


def test_advice_for_what_keeps_changing(f):
    for size in range(1, 7):
        f(np.ones(size, np.float32))
    told = [event.advice for event in nx.events(f, "miss")]
    assert told[:4] == [""] * 4
    assert set(told[4:]) == {
        "t keeps changing: pad it to a few fixed shapes of one type, or group the calls by shape; each is traced once."
    }


def test_advice_for_an_option_of_many_values():
    def tiled(t, *, n):
        return nx.broadcast(t, (n,))

    made = nx.jit(tiled)
    for n in range(1, 6):
        made(1.0, n=n)
    told = [event.advice for event in nx.events(made, "miss")]
    assert told == [""] * 4 + [
        "Each new value of the option n is a program of its own: keep to a few values, or, where it only feeds "
        "arithmetic, declare it before `*` and pass it by position."
    ]


def test_no_advice_for_whole_numbers(f):
    f(np.ones((2, 2)))
    f(np.ones((2, 2)), axis=1)
    assert nx.events(f, "miss")[-1].reason == ("option axis: 0 → 1",)
    assert nx.events(f, "miss")[-1].advice == ""


def test_something_that_was_made_anew():
    class Config:
        pass

    config = Config()
    f = nx.jit(lambda t: t if config is None else t + 1)
    f(1.0)

    class Config:
        pass

    config = Config()
    assert f.why(1.0).difference == ("captured Config: class Config was made anew",)


def helped(body):
    """A function whose helper is what `body` says, and what is around both."""
    around = {"nx": nx, "np": np, "sin": np.sin, "rate": 0.5}
    exec(f"def more(x):\n    return x\ndef helper(x):\n    return {body}\ndef f(x):\n    return helper(x) * 2", around)
    return nx.jit(around["f"]), around


@pytest.mark.parametrize(
    ("before", "after"), [("nx.sin(x)", "np.sin(x)"), ("x + 1", "more(x)"), ("sin(x)", "nx.sin(x)"), ("x", "sin(x)")]
)
def test_modules_and_functions_that_other_code_names_are_no_reason(before, after):
    f, around = helped(before)
    f(ONE)
    exec(f"def helper(x):\n    return {after}", around)
    assert f.why(ONE).difference == ("captured helper: its code has changed",)
    f(ONE)
    assert f.compilations()[-1].reason == ("captured helper: its code has changed",)


def test_another_function_is_told_by_its_name():
    def twice(x):
        return x * 2

    def thrice(x):
        return x * 3

    f = nx.defn(lambda x, *, rule: rule(x))
    f(ONE, rule=twice)
    assert f.why(ONE, rule=thrice).difference == ("option rule: twice → thrice",)


def test_values_that_other_code_names_and_another_module_of_the_same_name_are_told():
    f, around = helped("np.sin(x)")
    f(ONE)
    exec("def helper(x):\n    return np.sin(x) * rate", around)
    assert f.why(ONE).difference == ("captured helper: its code has changed", "captured rate: absent → 0.5")
    f(ONE)
    around["np"] = nx.numpy
    assert f.why(ONE).difference == ("captured np: module numpy → module nxkernel.numpy",)


def test_a_function_that_a_container_got_is_told():
    table = {"sin": nx.sin}
    f = nx.jit(lambda x: sum(each(x) for each in table.values()))
    f(ONE)
    table["tanh"] = nx.tanh
    assert f.why(ONE).difference == ("captured table['tanh']: absent → tanh",)


def test_functions_of_packages_are_not_baked_in():
    around = {"sin": np.sin, "nx": nx}
    exec("def f(x, *, by):\n    return by(sin(x))", around)
    f = nx.jit(around["f"])
    f(ONE, by=nx.tanh)
    assert f.compilations()[0].baked == ("option by = tanh",)


def test_asking_is_no_use_of_a_program(monkeypatch):
    for module in (graph_cache, explanations):
        monkeypatch.setattr(module, "PROGRAMS", 16)
    f = nx.jit(lambda x: x + 1)
    for size in range(graph_cache.PROGRAMS):
        f(np.ones(size))
    for _ in range(3):
        assert f.why(np.ones(0)).hit
    f(np.ones(graph_cache.PROGRAMS))
    (event,) = nx.events(f, "evict")
    assert event.reason == ("more than 16 programs; the one for <lambda>(x: f64[0]) was unused for longest",)
    assert f.why(np.ones(0)).difference == (
        "its program was dropped: the function had more than 16, and it was unused for longest",
    )


def test_asking_leaves_what_the_function_stores_as_it_is():
    log, count = [], {"calls": 0}

    def stored(x):
        log.append(1)
        count["calls"] += 1
        return x * len(log)

    f = nx.jit(stored)
    assert f.why(ONE).difference == ("first call",)
    assert (log, count) == ([], {"calls": 0})
    f(ONE)
    for _ in range(2):
        assert why(f, ONE) == (
            "stored would be traced: captured count['calls']: 0 → 1; captured log: [] → [1]\n"
            "  closest: compiled 0 seconds ago in HERE, called 1 time\n"
            "  stored changed count['calls'], log while it was traced, so its program was not kept. Return values "
            "instead "
            "of storing them."
        )
    assert (log, count) == ([1], {"calls": 1})


def test_asking_leaves_what_methods_store_as_it_is():
    count = [0]

    class Rate:
        __slots__ = ()

        def called(self):
            count[0] += 1
            return float(count[0])

        @property
        def read(self):
            return self.called()

    rate = Rate()
    for times in (lambda x: x * rate.called(), lambda x: x * rate.read, lambda x: x * Rate.called(rate)):
        count[0], f = 0, nx.jit(times)
        for call in (1.0, 2.0):
            f.why(ONE)
            assert np.asarray(f(ONE)).tolist() == (np.asarray(ONE) * call).tolist()


def test_asking_what_raises_leaves_it_as_it_is():
    log = []

    def stored(x):
        log.append(1)
        raise ValueError("never")

    with pytest.raises(ValueError, match="never"):
        nx.jit(stored).why(ONE)
    assert log == []


def test_asking_leaves_keys_as_they_are():
    f = nx.jit(lambda x, n: nx.broadcast(x, (n,)) if x.rank else x * n)
    f(1.0, 2)
    assert f.why(np.ones(1), 3).difference == ("argument x: f32 (a Python float) → f64[1]",)
    assert f.why(1.0, 4).hit


def test_a_new_shape_that_takes_other_loops_says_so():
    f = nx.jit(lambda x: nx.sum(x, axes=[0]), compiler="numba_cpu")
    f(np.ones((40, 4)))
    wide = np.ones((4, 300))
    told = "The new shape takes other loops: columns of 4 x 40 → columns of 300 x 4."
    assert f.why(wide).notes == (told,)
    assert str(f.why(wide)).splitlines()[-1] == f"  {told}"
    f(wide)
    (event,) = nx.events(f, "miss")[1:]
    assert event.notes == (told,)
    f(np.ones((4, 310)))
    assert nx.events(f, "miss")[-1].notes == ()


def test_what_is_said_before_a_call_has_the_advice():
    f = nx.jit(lambda x, *, rate: x * rate)
    f(ONE, rate=0.5)
    assert why(f, ONE, rate=0.25) == (
        "<lambda> would be traced: option rate: 0.5 → 0.25\n"
        "  closest: compiled 0 seconds ago in HERE, called 1 time\n"
        "  rate is a number, and each new one makes a program of its own: if it keeps changing, declare it before `*` "
        "and pass it by position, and it will be compiled once."
    )


#: A function, two calls that are traced each, and the same where the advice has been followed, which are not.
FOLLOWED = {
    "an option": (
        "def f(x, *, k):\n    return x * k", ["x, k=0.5", "x, k=0.25"],
        "def f(x, k):\n    return x * k", ["x, 0.5", "x, 0.25"],
    ),
    "an option of a loop": (
        "def f(x, *, k):\n    for i in range(k):\n        x = x * 0.5 + 1\n    return x", ["x, k=3", "x, k=9"],
        "def f(x, k):\n    for i in range(k):\n        x = x * 0.5 + 1\n    return x", ["x, 3", "x, 9"],
    ),
    "a captured loop": (
        "k = 3\ndef f(x):\n    for i in range(k):\n        x = x * 0.5 + 1\n    return x", ["x", "x"],
        "def f(x, k):\n    for i in range(k):\n        x = x * 0.5 + 1\n    return x", ["x, 3", "x, 9"],
    ),
    "a captured number": (
        "k = 0.5\ndef f(x):\n    return x * k", ["x", "x"], "def f(x, k):\n    return x * k", ["x, 0.5", "x, 0.25"],
    ),
    "a number of NumPy": (
        "def f(x, *, k):\n    return x * k", ["x, k=np.float64(0.5)", "x, k=np.float64(0.25)"],
        "def f(x, k):\n    return x * k", ["x, np.float64(0.5)", "x, np.float64(0.25)"],
    ),
    "a text beside it": (
        "k = {'rate': 0.5, 'title': 'a'}\ndef f(x):\n    return x * k['rate']", ["x", "x"],
        "k = {'rate': 0.5, 'title': 'a'}\ndef f(x, rate):\n    return x * rate", ["x, 0.5", "x, k['rate']"],
    ),
    "float64": (
        "def f(x):\n    return x", ["nx.as_type(x, 'f32')", "x"],
        "def f(x):\n    return x", ["nx.as_type(x, 'f32')", "nx.as_type(x, 'f32')"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLLOWED)
def test_advice_that_is_followed_works(case, run):
    before, calls, after, followed = FOLLOWED[case]
    for text, given, hit in ((before, calls, False), (after, followed, True)):
        head, _, body = text.rpartition("def f")
        space = run(f"{head}@nx.defn\ndef f{body}\n", {"nx": nx, "np": np, "x": np.ones(3), "__name__": "a_cell"})
        eval(f"f({given[0]})", space)
        if "k" in space:
            space["k"] = {**space["k"], "rate": 0.25} if isinstance(space["k"], dict) else 9
        said = eval(f"f.why({given[1]})", space)
        assert said.hit is hit
        assert bool(said.advice) is not hit


def test_a_partial_is_told_once():
    def scaled(x, *, rate):
        return x * rate

    nx.jit(functools.partial(scaled, rate=0.5))(ONE)
    assert nx.jit(functools.partial(scaled, rate=0.25)).why(ONE).difference == ("option rate: 0.5 → 0.25",)


def test_why_fills_in_what_a_call_leaves_out():
    def f(x, a=None, b=2.0):
        return np.sum(x) * b if a is None else x * a

    g = nx.jit(f)
    g(np.ones(3))
    assert str(g.why(np.ones(3))).startswith("f: answered from the cache")
    assert str(g.why(np.ones(4))).splitlines()[0].endswith(": argument x: f64[3] → f64[4]")
