"""What functions capture: arrays are read at every call, everything else is compared: never a stale answer."""

import abc
import functools
import operator
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.captures import snapshot
from nxkernel.errors import TracedValueError

ONE = np.ones(3, np.float32)


def value(tensor):
    """A result as Python numbers."""
    return tensor.tolist()


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("wrap", [np.array, nx.tensor, lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(">f4")])
def test_a_captured_array_is_read_at_every_call(run, compiler, wrap):
    space = run(f"f = nx.jit(lambda t: t * w, compiler='{compiler}')", {"nx": nx, "w": wrap(ONE)})
    f = space["f"]
    for factor in (1.0, 2.0, 3.0):
        space["w"] = wrap(ONE * np.float32(factor))
        with nx.assert_compiles(1 if factor == 1.0 else 0):
            assert value(f(ONE)) == [factor] * 3


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_a_captured_array_that_is_written_into_is_seen(run, compiler):
    wide = np.ones(6, np.float32)
    space = {"nx": nx, "w": np.ones(3, np.float32), "strided": wide[::2]}
    f = run(f"f = nx.jit(lambda t: t * w + strided, compiler='{compiler}')", space)["f"]
    assert value(f(ONE)) == [2.0, 2.0, 2.0]
    space["w"][:] = 5.0
    wide[:] = [1, 0, 2, 0, 3, 0]
    with nx.no_compile():
        assert value(f(ONE)) == [6.0, 7.0, 8.0]
        wide[:] = 0
        assert value(f(ONE)) == [5.0, 5.0, 5.0]


def test_what_the_code_makes_of_a_captured_array_is_no_constant(run):
    space = {"nx": nx, "w": np.arange(4.0).reshape(2, 2), "rows": [0.0]}
    f = run("f = nx.jit(lambda t: t + w[0] * w[1, 1] - nx.sum(w) + len(w) + w.shape[1])", space)["f"]
    assert value(f(0.0)) == [-2.0, 1.0]
    space["w"][1, 1] = 0.0
    with nx.no_compile():
        assert value(f(0.0)) == [1.0, 1.0]
    space["w"] = np.ones((2, 2))
    with nx.no_compile():
        assert value(f(0.0)) == [1.0, 1.0]


def test_numpys_functions_do_not_fix_the_values_of_a_captured_array(run):
    space = {"nx": nx, "np": np, "w": ONE}
    f = run("f = nx.jit(lambda t: t * np.sqrt(w))", space)["f"]
    assert value(f(1.0)) == [1.0, 1.0, 1.0]
    space["w"] = 4 * ONE
    with nx.no_compile():
        assert value(f(1.0)) == [2.0, 2.0, 2.0]


def test_numpy_cannot_fix_the_values_of_a_captured_array(run):
    space = {"nx": nx, "np": np, "w": ONE}
    f = run("f = nx.jit(lambda t: t * np.asarray(w))", space)["f"]
    assert value(f(1.0)) == [1.0, 1.0, 1.0]
    space["w"] = 4 * ONE
    with nx.no_compile():
        assert value(f(1.0)) == [4.0, 4.0, 4.0]
    f = run("f = nx.jit(lambda t: nx.sum(t) * np.asarray(w))", space)["f"]
    with pytest.raises(TracedValueError, match=r"asks for the data of a traced value of type f32\[3\]"):
        f(1.0)


def test_another_shape_of_a_captured_array_is_new(run, misses):
    space = {"nx": nx, "w": ONE}
    f = run("f = nx.jit(lambda t: t * nx.sum(w))", space)["f"]
    assert value(f(1.0)) == 3.0
    space["w"] = np.ones(4, np.float32)
    assert value(f(1.0)) == 4.0
    assert misses()[-1] == ("captured w: f32[3] → f32[4]",)


def test_one_array_under_two_names_becomes_two(run):
    space = {"nx": nx, "a": ONE}
    space["b"] = space["a"]
    f = run("f = nx.jit(lambda t: t * a + b)", space)["f"]
    assert value(f(1.0)) == [2.0] * 3
    space["b"] = ONE * 5
    assert value(f(1.0)) == [6.0] * 3
    space["a"] = ONE * 2
    assert value(f(1.0)) == [7.0] * 3
    space["a"] = space["b"]
    assert value(f(1.0)) == [10.0] * 3


def test_arrays_made_in_the_function_are_part_of_the_program():
    f = nx.jit(lambda t: t + np.arange(3.0) + nx.tensor([1, 2, 3]))
    assert value(f(1.0)) == [2.0, 4.0, 6.0]
    with nx.no_compile():
        assert value(f(2.0)) == [3.0, 5.0, 7.0]


def test_a_captured_number_is_compared_at_every_call(run, misses):
    space = {"nx": nx, "lr": 0.1}
    f = run("f = nx.jit(lambda t: t * lr)", space)["f"]
    assert value(f(10.0)) == 1.0
    space["lr"] = 0.01
    assert value(f(10.0)) == pytest.approx(0.1)
    assert misses()[-1] == ("captured lr: 0.1 → 0.01",)
    space["lr"] = 0.1
    with nx.no_compile():
        assert value(f(10.0)) == 1.0


def test_kernels_are_reused_for_another_number():
    lr = 0.1
    f = nx.jit(lambda t: nx.exp(t) * lr, compiler="numba_cpu")
    f(ONE)
    lr = 0.01
    assert value(f(ONE)) == pytest.approx([0.01 * np.e] * 3, rel=1e-6)
    event = nx.events(f, "miss")[-1]
    assert (event.compiled, event.reused) == (0, 1)
    assert event.advice == (
        "lr is a number, and each new one makes a program of its own: if it keeps changing, pass it as a positional "
        "argument, and it will be compiled once."
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("a", "b"),
        (None, 0),
        (1j, 2j),
        (np.float32(1), np.float64(1)),
        (2**70, 2**70 + 1),
    ],
)
def test_constants_that_differ_in_type_or_sign_are_new(run, first, second):
    space = {"nx": nx, "k": first, "note": lambda k: 1.0}
    f = run("f = nx.jit(lambda t: t + note(k))", space)["f"]
    f(1.0)
    space["k"] = second
    with nx.assert_compiles(1):
        f(1.0)
    with nx.no_compile():
        f(1.0)


def test_nan_is_equal_to_itself(run):
    space = {"nx": nx, "k": float("nan")}
    f = run("f = nx.jit(lambda t: t + k)", space)["f"]
    f(1.0)
    space["k"] = -float("inf") + float("inf")
    with nx.no_compile():
        f(1.0)


def test_constants_of_modules(run):
    module = types.ModuleType("mine")
    module.rate = 2.0
    f = run("f = nx.jit(lambda t: t * mine.rate + nx.as_type(np.pi * 0, 'f32'))", {"nx": nx, "np": np, "mine": module})[
        "f"
    ]
    assert value(f(1.0)) == 2.0
    module.rate = 3.0
    assert value(f(1.0)) == 3.0


def test_a_name_that_is_gone(run, misses):
    space = {"nx": nx, "k": 2.0}
    f = run("f = nx.jit(lambda t: t * k)", space)["f"]
    f(1.0)
    del space["k"]
    with pytest.raises(NameError, match="name 'k' is not defined"):
        f(1.0)
    with pytest.raises(NameError):
        f(1.0)
    space["k"] = 2.0
    with nx.no_compile():
        assert value(f(1.0)) == 2.0


def test_a_name_that_is_defined_after_the_function(run):
    space = run("@nx.defn\ndef f(t):\n    return t * config.rate + len([1])")
    space["config"] = types.SimpleNamespace(rate=2.0)
    assert value(space["f"](1.0)) == 3.0
    space["config"].rate = 3.0
    assert value(space["f"](1.0)) == 4.0
    space["len"] = lambda _: 0.0
    assert value(space["f"](1.0)) == 3.0


def test_variables_of_enclosing_functions():
    rate, w = 2.0, ONE

    @nx.defn
    def f(t):
        return t * rate * w

    assert value(f(1.0)) == [2.0] * 3
    rate, w = 3.0, ONE * 2
    assert value(f(1.0)) == [6.0] * 3


def test_another_module_under_the_same_name(run):
    space = {"nx": nx, "xp": np}
    f = run("f = nx.jit(lambda t: t * xp.e)", space)["f"]
    assert value(f(1.0)) == pytest.approx(np.e)
    space["xp"] = types.SimpleNamespace(e=1.0)
    assert value(f(1.0)) == 1.0


def test_another_class_under_the_same_name(run, misses):
    space = {"nx": nx, "dtype": np.float32}
    f = run("f = nx.jit(lambda t: nx.as_type(t, dtype))", space)["f"]
    assert f(1).type == "f32"
    space["dtype"] = np.float64
    assert f(1).type == "f64"
    assert misses()[-1] == ("captured dtype: class float32 → class float64",)


def test_a_helper_that_is_defined_anew(run, misses):
    space = run("def helper(t):\n    return t * rate\nrate = 2.0\nf = nx.jit(lambda t: helper(t) + 1)")
    f = space["f"]
    assert value(f(1.0)) == 3.0
    run("def helper(t):\n    return t * rate", space)
    with nx.no_compile():
        assert value(f(1.0)) == 3.0
    run("def helper(t):\n    return t - rate", space)
    assert value(f(1.0)) == 0.0
    assert misses()[-1] == ("captured helper: its code has changed",)
    space["rate"] = 5.0
    assert value(f(1.0)) == -3.0
    assert misses()[-1] == ("captured rate: 2.0 → 5.0",)


def test_defaults_of_a_helper(run, misses):
    space = run("def helper(t, k=2.0, *, m=1.0):\n    return t * k * m\nf = nx.jit(lambda t: helper(t))")
    assert value(space["f"](1.0)) == 2.0
    run("def helper(t, k=3.0, *, m=1.0):\n    return t * k * m", space)
    assert value(space["f"](1.0)) == 3.0
    assert misses()[-1] == ("captured k of helper: 2.0 → 3.0",)
    run("def helper(t, k=3.0, *, m=2.0):\n    return t * k * m", space)
    assert value(space["f"](1.0)) == 6.0


def test_an_array_as_a_default_of_a_helper(run):
    space = run("def helper(t, w=w):\n    return t * w\nf = nx.jit(lambda t: helper(t))", {"nx": nx, "w": ONE.copy()})
    assert value(space["f"](1.0)) == [1.0] * 3
    space["w"][:] = 4.0
    with nx.no_compile():
        assert value(space["f"](1.0)) == [4.0] * 3


def test_a_definition_that_is_defined_anew(run, misses):
    space = run("@nx.defn\ndef inner(t):\n    return t * 2\n@nx.defn\ndef outer(t):\n    return inner(t) + 1")
    assert value(space["outer"](1.0)) == 3.0
    run("@nx.defn\ndef inner(t):\n    return t * 3", space)
    assert value(space["outer"](1.0)) == 4.0
    assert misses("outer") == [("first call",), ("captured inner: its code has changed",)]


def test_functions_in_containers(run):
    def times(factor):
        return lambda t: t * factor

    space = {"nx": nx, "layers": [times(2.0), times(3.0)]}
    f = run("def apply(t):\n    for layer in layers:\n        t = layer(t)\n    return t\nf = nx.jit(apply)", space)[
        "f"
    ]
    assert value(f(1.0)) == 6.0
    space["layers"][1] = times(5.0)
    assert value(f(1.0)) == 10.0
    space["layers"].append(times(2.0))
    assert value(f(1.0)) == 20.0


def test_recursive_and_mutually_recursive_helpers(run):
    space = run(
        "def even(t, n):\n    return t if n == 0 else odd(t * k, n - 1)\n"
        "def odd(t, n):\n    return t if n == 0 else even(t + k, n - 1)\n"
        "k = 2.0\nf = nx.jit(lambda t: even(t, 3))"
    )
    assert value(space["f"](1.0)) == 8.0
    space["k"] = 3.0
    assert value(space["f"](1.0)) == 18.0


def test_a_partial(run):
    space = {"nx": nx, "partial": functools.partial, "w": ONE.copy()}
    run("def scale(t, k, *, m=1.0):\n    return t * k * m\nf = nx.jit(lambda t: by(t))", space)
    space["by"] = functools.partial(space["scale"], k=2.0)
    assert value(space["f"](1.0)) == 2.0
    space["by"] = functools.partial(space["scale"], k=3.0)
    assert value(space["f"](1.0)) == 3.0
    space["by"] = functools.partial(space["scale"], k=space["w"])
    assert value(space["f"](1.0)) == [1.0] * 3
    space["w"][:] = 2.0
    with nx.no_compile():
        assert value(space["f"](1.0)) == [2.0] * 3


# Snapshots -----------------------------------------------------------------------------------------------------------


def test_a_snapshot_names_what_it_found():
    rate, w, config = 0.5, ONE.copy(), types.SimpleNamespace(k=1, inner={"b": nx.tensor([1.0])})

    def helper(t, scale=2.0):
        return t * scale

    def f(t):
        return helper(t) * rate * w * config.k + config.inner["b"] * np.pi

    found, values = snapshot.take_snapshot(f)
    assert {label: text for label, (_, text) in found.parts.items() if "helper" not in label or "scale" in label} == {
        "captured scale of helper": "2.0",
        "captured rate": "0.5",
        "captured w": "f32[3]",
        "captured config.k": "1",
        "captured config.inner['b']": "f32[1]",
        "captured np": "module numpy",
    }
    assert found.parts["captured helper"][1] == "helper"
    assert [(array.name, str(array.spec)) for array in found.arrays] == [
        ("w", "f32[3]"),
        ("config.inner['b']", "f32[1]"),
    ]
    assert values[0] is w
    assert not found.is_looked_up


def test_a_snapshot_is_current_until_something_changes():
    rate, w, log = 0.5, ONE, {"a": [1, 2]}
    found, _ = snapshot.take_snapshot(lambda t: t * rate * w * log["a"][0])
    assert found.fetch()[0] is w
    w = ONE * 2
    assert found.fetch()[0] is w
    log["a"].append(3)
    assert found.fetch() is None
    log["a"].pop()
    assert found.fetch()[0] is w
    del log["a"]
    assert found.fetch() is None


def test_equal_things_make_equal_snapshots(run):
    source = "def helper(t):\n    return t * k[0]\nk = [1.0]\ndef f(t):\n    return helper(t)"
    first, second = (snapshot.take_snapshot(run(source, file=file)["f"])[0] for file in ("one.py", "two.py"))
    assert first.ident == second.ident
    assert hash(first.ident) == hash(second.ident)
    other = snapshot.take_snapshot(run(source.replace("1.0", "1"))["f"])[0]
    assert other.ident != first.ident


def test_a_snapshot_of_nothing():
    found, _ = snapshot.take_snapshot(lambda t: t * 2)
    assert found.is_looked_up
    assert found.items == ()
    assert snapshot.take_snapshot(nx.sum)[0].ident == snapshot.take_snapshot(nx.sum)[0].ident
    assert snapshot.take_snapshot(nx.sum)[0].ident != snapshot.take_snapshot(nx.product)[0].ident


def test_what_nxkernel_writes_on_functions_is_not_looked_at(run):
    """Each call would ask for it: a Hessian is a function of a function of a function."""
    space = run(
        "def f(x):\n    return nx.sum(nx.sin(x) * x)\nh = nx.hessian(f)\nm = nx.jit(lambda x: h(x))", {"nx": nx}
    )
    for name in ("h", "m"):
        found, _ = snapshot.take_snapshot(space[name].__nx_function__)
        assert [key for _, key, _ in found.items if key in ("__wrapped__", "__nx_transform__")] == []
        assert found.fetch() == []
    # What they are made of is.
    zero = ONE * 0
    assert value(space["m"](zero)) == (2 * np.eye(3)).tolist()
    run("f.__code__ = (lambda x: nx.sum(3 * x * x)).__code__", space)
    assert value(space["m"](zero)) == (6 * np.eye(3)).tolist()


def test_what_goes_in_circles():
    class Node:
        pass

    node = Node()
    node.self, node.k, node.all = node, 1.0, []
    node.all.append(node.all)

    def k_of(n):
        return n.k

    f = nx.jit(lambda t: t * k_of(node))
    assert value(f(1.0)) == 1.0
    node.k = 2.0
    assert value(f(1.0)) == 2.0


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
@pytest.mark.parametrize("kind", ["straight", "loop"])
def test_a_changed_global_costs_a_trace_and_no_kernel(promotion, kind):
    def straight(x):
        return x * rate + x

    def loop(x):
        total = x[0] * 0
        for i in range(3):
            total += x[i] * rate
        return total

    rate, x = 0.5, np.arange(3.0)
    f = nx.defn(straight if kind == "straight" else loop, promotion=promotion, compiler="numba_cpu")
    before = value(f(x))
    rate = 0.25
    after = value(f(x))
    expected = {"straight": ([0.0, 1.5, 3.0], [0.0, 1.25, 2.5]), "loop": (1.5, 0.75)}[kind]
    assert (before, after) == expected
    event = nx.events(f, "miss")[-1]
    assert event.reason == ("captured rate: 0.5 → 0.25",)
    assert event.compiled == 0
    assert event.headline().startswith(f"{kind} traced (")


def test_a_container_that_changes_while_it_is_looked_at_is_looked_at_again(run):
    class Key:
        def __hash__(self):
            # As another thread would.
            registry.pop("last", None)
            return 7

    registry = {}
    registry |= {Key(): 1.0, "rate": 2.0}
    registry["last"] = 3.0
    f = run("f = nx.jit(lambda t: t * registry.get('rate') * len(registry))", {"nx": nx, "registry": registry})["f"]
    assert value(f(ONE)) == [4.0, 4.0, 4.0]


def test_a_dict_is_looked_at_without_the_methods_of_its_class(run):
    class Broken(dict):
        def __getitem__(self, key):
            raise KeyError("broken")

    f = run("f = nx.jit(lambda t: t * broken.get('rate'))", {"nx": nx, "broken": Broken(rate=2.0)})["f"]
    assert np.asarray(f(ONE)).tolist() == (ONE * 2.0).tolist()


def test_a_definition_by_other_rules():
    quotients = [nx.defn(promotion=rules)(lambda a, b: a / b) for rules in ("numpy", "nx")]
    x = np.array([1, 2])
    found = [nx.defn(promotion="nx")(lambda a, b: quotient(a, b))(x, x) for quotient in quotients]  # noqa: B023
    assert [value.type for value in found] == ["f64", "f32"]


@pytest.mark.parametrize(
    "of", ["nx.jit(f, on_conflict='reuse')", "nx.defn(f)", "nx.grad(f)", "nx.checkpoint(f)", "nx.hessian(f)"]
)
@pytest.mark.parametrize("read", ["getattr(c, 'fac' + name, 2.0)", "vars(c).get('fac' + name, 2.0)", "c.factor"])
def test_what_a_person_writes_on_a_definition_is_looked_at(run, of, read):
    space = run(f"def f(x):\n    return nx.sin(x)\nc = {of}\nname = 'tor'", {"nx": nx})
    c = space["c"]
    if read == "c.factor":
        c.factor = 2.0
    made = run(f"g = nx.jit(lambda x: x * {read})", space)["g"]
    assert value(made(ONE)) == [2.0] * 3
    c.factor = 3.0
    assert value(made(ONE)) == [3.0] * 3
    c.factor = 4.0
    assert value(made(ONE)) == [4.0] * 3


class Kernel(abc.ABC):
    @abc.abstractmethod
    def weights(self, x):
        """What each element counts."""

    def __call__(self, x):
        return self.weights(x).sum()


class Bump(Kernel):
    def weights(self, x):
        return np.maximum(1 - x * x, 0)


def test_an_abstract_base_class_is_compared():
    f, x = nx.jit(lambda x: Bump()(x)), np.linspace(-2, 2, 9)
    f(x)
    with nx.assert_compiles(0):
        assert f(x) == Bump()(x)


class Scaled:
    factor = property(operator.attrgetter("_factor"))
    curve = staticmethod(np.sin)
    root = staticmethod(functools.partial(np.power, 2.0))

    def __init__(self, factor):
        self._factor = factor


def test_what_is_behind_a_property_or_static_method_is_compared():
    f, x = nx.jit(lambda x: Scaled(3.0).factor * Scaled.curve(x) + Scaled.root(x)), np.linspace(0, 1, 4)
    f(x)
    before = snapshot.take_snapshot(f.__wrapped__)[0]
    assert before.fetch() is not None
    Scaled.curve = staticmethod(np.cos)
    try:
        np.testing.assert_allclose(f(x), 3 * np.cos(x) + 2.0**x)
        assert before.fetch() is None
    finally:
        Scaled.curve = staticmethod(np.sin)
