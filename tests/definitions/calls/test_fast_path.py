"""The fast path: what its keys tell apart, and that it answers as the long way does."""

import functools
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.keys import fast_keys

ONE = np.ones(3, np.float32)
Point = namedtuple("Point", "x y")


@dataclass
class State:
    w: object
    k: object


@nx.container(static=["mode"])
class Layer:
    def __init__(self, w, mode):
        self.w, self.mode = w, mode


class Items(list):
    pass


def key_of(*values, **options):
    key, arrays = [], []
    form = fast_keys.CallForm(len(values), (), tuple(options), (), frozenset(), (), False)
    plain = form.encode(values, options, key, arrays)
    return (tuple(key), arrays) if plain else None


ARGUMENTS = [
    (1.0,),
    (1,),
    (True,),
    (ONE,),
    (ONE.astype(np.float64),),
    (np.ones((3, 1), np.float32),),
    (nx.tensor(ONE),),
    (nx.tensor(ONE, names=["x"]),),
    (nx.vectorize(ONE, "x"),),
    (nx.vectorize(ONE, "y"),),
    (nx.vectorize(ONE[None], "x"),),
    (nx.vectorize(ONE[None], {"x": 1, "y": 3}),),
    ((ONE,),),
    ([ONE],),
    ((ONE, ONE),),
    ((ONE,), ONE),
    ((ONE, (ONE,)),),
    ({"a": ONE},),
    ({"b": ONE},),
    ({"a": {"a": ONE}},),
    (Point(ONE, ONE),),
    (State(ONE, ONE),),
    ({"a": ONE, "b": None},),
    ({"a": ONE, "b": "x"},),
    ({"a": ONE, "b": "y"},),
    (Layer(ONE, "x"),),
    (Layer(ONE, "y"),),
    (Layer(ONE, 1),),
    (Layer(ONE, 1.0),),
    (Layer(ONE, (1, "x")),),
    (Layer(ONE, nx.tanh),),
    (Layer((ONE,), nx.tanh),),
    (Items([ONE]),),
    (),
    ((),),
]


@pytest.mark.parametrize("arguments", [(ONE, 2.0), (nx.tensor(ONE), ONE), ([ONE, 1], {"a": ONE}), (3, Point(ONE, ONE))])
def test_calls_make_the_same_keys_in_place(arguments):
    f = nx.defn(lambda *values, scale=1.0: nx.sum(values[0][0] if isinstance(values[0], list) else values[0]) * scale)
    f(*arguments, scale=2.5)
    assert list(f._snapshot.fast_paths) == [key_of(*arguments, scale=2.5)[0]]


def test_arguments_of_different_kinds_have_different_keys():
    keys = [key_of(*arguments)[0] for arguments in ARGUMENTS]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_values_do_not_count(arguments):
    assert key_of(*arguments)[0] == key_of(*arguments)[0]
    assert key_of(2.5)[0] == key_of(0.0)[0]


def test_the_leaves_are_in_the_order_of_the_long_way():
    value = {"b": 1.0, "a": (2.0, [3, Point(x=True, y=ONE)])}
    _, arrays = key_of(value, State(w=4.0, k=5.0))
    assert [array.tolist() for array in arrays] == [1.0, 2.0, 3, 1, [1.0] * 3, 4.0, 5.0]
    assert [array.dtype for array in arrays[1:5]] == [np.float32, np.int64, np.uint8, np.float32]
    assert key_of({"b": 1.0, "a": 2.0})[0] != key_of({"a": 2.0, "b": 1.0})[0]


@pytest.mark.parametrize(
    "value",
    [1e300, 2**63, 1j, np.str_("a"), {1: ONE}, nx.template((2,), "f32"), object(), [{1}], Layer(ONE, lambda x: x)],
)
def test_what_takes_the_long_way(value):
    assert key_of(value) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_special_numbers_are_plain(value):
    _, (array,) = key_of(value)
    np.testing.assert_array_equal(array, np.float32(value))


OPTIONS = [1, 1.0, True, 0.0, -0.0, None, "1", (1,), [1], (True,), ("a", 1), (), float("nan"), float("inf")]


def test_options_of_different_kinds_have_different_keys():
    keys = [key_of(k=value)[0] for value in OPTIONS]
    assert len(set(keys)) == len(keys)
    assert keys == [key_of(k=value)[0] for value in OPTIONS]
    assert key_of(j=1)[0] != key_of(k=1)[0]


@pytest.mark.parametrize("value", [{"a": 1}, (1.0,), ((1,),), len, np.float32(1), 1j])
def test_options_that_take_the_long_way(value):
    assert key_of(k=value) is None


@pytest.fixture
def long_way(monkeypatch):
    """How many calls took the long way."""
    calls, through = [], Definition._bind

    def bind(self, *args, **opts):
        calls.append(self)
        return through(self, *args, **opts)

    monkeypatch.setattr(Definition, "_bind", bind)
    return calls


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_the_second_call_is_quick(long_way, compiler):
    rate, w, table = 2.0, ONE.copy(), {"b": nx.tensor(1.0), "k": 1.0}

    def f(p, q, *, n=1, axes=(0,)):
        return {"sum": nx.sum(p["t"] * rate * w + table["b"] * table["k"], axes=axes) * n, "q": (q,)}

    f = nx.jit(f, compiler=compiler)
    for call in range(4):
        w[:] = call
        table["b"] = nx.tensor(float(call))
        result = f({"t": ONE * call}, 2, n=3, axes=[0])
        assert result["sum"].to_number() == 3 * 3 * (2 * call * call + call)
        assert result["q"][0].to_number() == 2
    assert len(long_way) == 1
    assert f.cache_info().hits == 3


def test_defaults_and_arguments_by_name_take_the_long_way():
    f = nx.jit(lambda t, by=2.0, more=(): t * by + sum(more))
    for _ in range(3):
        assert f(3.0).to_list() == 6
        assert f(3.0, by=4.0).to_list() == 12
        assert f(t=3.0).to_list() == 6
        assert f(3.0, more=[5.0]).to_list() == 11


def test_a_rebound_array_stays_quick(long_way):
    w = ONE
    f = nx.jit(lambda t: t * w)
    for call in range(3):
        w = ONE * call
        assert f(1.0).tolist() == [float(call)] * 3
    # That numbers alone go by NumPy's rules here is known after the first call.
    assert len(long_way) == 2


def test_what_prints_and_what_has_hooks_is_quick(long_way, capsys):
    seen = []
    f = nx.jit(lambda t: nx.hook(nx.print_value(t), "t"), hooks={"t": seen.append})
    f(1.0), f(2.0)
    assert len(long_way) == 1
    assert [float(value) for value in seen] == [1.0, 2.0]
    assert capsys.readouterr().out.count("f32") == 2


def first_above(x, least):
    places = np.nonzero(x > least)[0]
    return x[places] * len(places) if len(places) else -x


def test_what_asks_for_numbers_is_quick_while_they_stay(long_way):
    f = nx.jit(first_above)
    x = np.linspace(0.0, 1.0, 7)
    for least in (0.5, 0.5, 0.55, 0.6):
        np.testing.assert_array_equal(f(x, least), first_above(x, least))
    assert len(long_way) == 1
    for least in (0.1, 2.0, 0.5, 0.5, 0.5, 2.0, 2.0, 0.1):
        np.testing.assert_array_equal(f(x, least), first_above(x, least))
    assert f.cache_info().misses == 3
    assert f.cache_info().hits == 9
    assert [event.kind for event in nx.events(f.__name__)].count("hit") in (0, 9)


def test_what_is_said_and_called_with_such_numbers_is_once_a_call(capsys):
    called = []

    def told(value):
        called.append(float(value))
        return value

    def program(x, least):
        count = len(np.nonzero(x > least)[0])
        print("above:", count)
        return x[:count] * nx.host_call(told, 0.0, x[0])

    f, x = nx.jit(program), np.linspace(1.0, 2.0, 7)
    for least in (1.4, 1.4, 1.9, 1.9, 1.4, 9.0):
        f(x, least)
    assert called == [1.0] * 6
    assert capsys.readouterr().out.split() == [
        "above:",
        "4",
        "above:",
        "4",
        *["above:", "1"] * 2,
        "above:",
        "4",
        "above:",
        "0",
    ]


def test_a_check_of_such_a_program_raises_where_its_numbers_agree(long_way):
    def program(x):
        count = len(np.nonzero(x > 0)[0])
        if x[0] > 5:
            raise ValueError(f"{x[0]} is too much")
        return x[:count]

    f = nx.jit(program)
    assert f(np.array([1.0, -2, 3])).tolist() == [1, -2]
    assert f(np.array([2.0, -2, 3])).tolist() == [2, -2]
    with pytest.raises(ValueError, match=r"^9\.0 is too much$"):
        f(np.array([9.0, -2, 3]))
    with pytest.raises(ValueError, match=r"^9\.0 is too much$"):
        f(np.array([9.0, 2, 3]))
    assert f(np.array([4.0, 2, 3])).tolist() == [4, 2, 3]


def test_a_changed_capture_takes_the_long_way_once(long_way):
    rate = 1.0
    f = nx.jit(lambda t: t * rate)
    for rate in (1.0, 1.0, 2.0, 2.0, 2.0):
        assert f(1.0).to_number() == rate
    assert len(long_way) == 2
    assert f.cache_info().misses == 2


def test_dropped_programs_are_not_followed():
    f = nx.jit(lambda t: t + 1)
    f(1.0), f(1.0)
    f.clear_cache()
    with nx.assert_compiles(1):
        f(1.0)


def test_many_kinds_of_calls(monkeypatch):
    from nxkernel.definitions.calls import definition

    monkeypatch.setattr(definition, "_FAST_PATHS", 4)
    f = nx.jit(lambda t, *, n: t + n)
    for n in range(10):
        for _ in range(2):
            assert f(1.0, n=n).to_number() == 1.0 + n
    assert len(f._snapshot.fast_paths) <= 4


def test_types_and_functions_of_numpy_take_the_short_way():
    compiled = nx.defn(lambda x, how=np.mean, to=np.float32: how(x).astype(to))
    x = np.array([1.0, 2.0, 6.0])
    calls = [(), (np.sum,), (np.max, np.dtype("int64")), (np.mean, np.int32), (np.sum, np.float64)]
    for call in [*calls, *calls]:
        found, expected = compiled(x, *call), (call[0] if call else np.mean)(x)
        assert found == expected
        assert found.dtype == (call[1] if len(call) > 1 else np.float32)
    assert len(compiled._snapshot.fast_paths) == len(calls)


def test_functions_of_the_users_are_looked_at_in_each_call():
    def inner(x):
        return x + factor

    factor = 1.0
    compiled = nx.defn(lambda x, how=inner: how(np.abs(x)))
    assert [compiled(2.0), compiled(2.0)] == [3.0, 3.0]
    factor = 2.0
    assert compiled(2.0) == 4.0
    wrapped = functools.wraps(np.mean)(inner)
    assert not fast_keys.is_lasting(wrapped)
    assert not fast_keys.is_lasting(np.frompyfunc(inner, 1, 1))


def test_checks_are_looked_at_by_their_first_value():
    compiled = nx.jit(lambda a: (np.linalg.inv(a), {"b": int(a[1, 1] * 1.75)}))
    result, other = compiled(2 * np.eye(2))
    assert (result.tolist(), other) == ([[0.5, 0.0], [0.0, 0.5]], {"b": 3})
    (program,) = compiled._entry_group.programs()
    assert (program.convention.results, program.convention.flags) == (2, (2, 3))
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.ones((2, 2)))
    with pytest.raises(ValueError, match="NaN to integer"):
        compiled(np.array([[1.0, 2.0], [3.0, np.nan]]))


def test_ordered_dicts_and_dicts_with_defaults_take_the_short_way():
    compiled = nx.jit(lambda d, x: functools.reduce(lambda one, other: one * 10 + other, d.values()) + np.sum(x))
    x = np.zeros(2)
    forms = [OrderedDict(a=1.0, b=2.0), OrderedDict(b=2.0, a=1.0), {"a": 1.0, "b": 2.0}, defaultdict(int, a=1.0, b=2.0)]
    for values in [*forms, *forms]:
        assert compiled(values, x) == (21.0 if next(iter(values)) == "b" else 12.0)
    assert len(compiled._snapshot.fast_paths) == 4
