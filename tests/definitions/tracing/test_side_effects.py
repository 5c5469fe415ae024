"""What a trace stores in Python's own objects: numbers count at the next call, traced values are refused."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

ONE = np.ones(1)


class Walker:
    """An object with what a simulation keeps."""

    def __init__(self):
        self.time, self.steps, self.place = 0.0, 0, np.zeros(3)

    def count(self, x):
        self.steps += 1
        return np.sin(x) * 0 + self.steps

    def begin(self, x):
        if self.steps == 0:
            self.steps = 5
        return np.sin(x) * 0 + self.steps

    def wait(self, x, dt):
        self.time += dt
        return np.sin(x) * 0 + self.time

    def go(self, x):
        self.place = self.place + x
        return np.sum(self.place)


def numbers(function, *args, times=3):
    return [float(np.asarray(function(*args)).ravel()[0]) for _ in range(times)]


def test_an_attribute_that_is_counted_up_and_read():
    walker = Walker()
    count = nx.defn(walker.count)
    assert numbers(count, ONE) == [1.0, 2.0, 3.0]
    walker.steps = 10
    assert numbers(count, ONE) == [11.0, 12.0, 13.0]
    assert walker.steps == 13


def test_an_attribute_that_is_set_once_keeps_its_program():
    walker = Walker()
    begin = nx.defn(walker.begin)
    assert numbers(begin, ONE) == [5.0, 5.0, 5.0]
    walker.steps = 3
    assert numbers(begin, ONE) == [3.0, 3.0, 3.0]
    with nx.no_compile():
        assert numbers(begin, ONE) == [3.0, 3.0, 3.0]


def test_numbers_that_are_added_up_in_an_attribute():
    walker = Walker()
    assert numbers(nx.defn(walker.wait), ONE, 0.5) == [0.5, 1.0, 1.5]
    assert walker.time == 1.5


def test_an_array_in_an_attribute_is_refused_and_stays():
    walker = Walker()
    with pytest.raises(NxTypeError) as caught:
        nx.defn(walker.go)(np.ones(3))
    first, line, hint = str(caught.value).split("\n")
    assert first == "go stores a traced value in `place` of a Walker, where it would have no data."
    assert line.endswith(":  self.place = self.place + x")
    assert hint == "  Return it from go, and store it where go is called."
    assert walker.place.tolist() == [0.0, 0.0, 0.0]


def test_traced_values_in_dicts_lists_and_names(run):
    source = (
        "table, row, last = {}, [0.0], None\n"
        "def memo(t):\n    table['y'] = t * 2\n    return t\n"
        "def first(t):\n    row[0] = t * 2\n    return t\n"
        "def name(t):\n    global last\n    last = (t, 1)\n    return t\n"
        "def log(t):\n    row.append(t)\n    return t\n"
    )
    space = run(source)
    places = {"memo": "table['y']", "first": "row[0]", "name": "the global name `last`"}
    lines = {"memo": "3:  table['y'] = t * 2", "first": "6:  row[0] = t * 2", "name": "10:  last = (t, 1)"}
    for name, place in places.items():
        with pytest.raises(NxTypeError) as caught:
            nx.jit(space[name])(1.0)
        assert str(caught.value) == (
            f"{name} stores a traced value in {place}, where it would have no data.\n"
            f"  cell.py, line {lines[name]}\n"
            f"  Return it from {name}, and store it where {name} is called."
        )
    assert (space["table"], space["row"], space["last"]) == ({}, [0.0], None)
    nx.defn(space["log"])(1.0)
    assert len(space["row"]) == 2


def test_a_name_of_the_function_around():
    last = None

    @nx.defn
    def f(t):
        nonlocal last
        last = t + 1
        return t

    with pytest.raises(NxTypeError, match="in `last`, a name of the function around it, where"):
        f(1.0)
    assert last is None


def test_what_is_traced_twice_is_stored_once():
    log = []

    @nx.defn
    def f(a, n):
        log.append(1)
        return np.sum(a) + np.sum(np.ones(n))

    assert f(np.ones(2), 3).item() == 5.0
    assert log == [1]


def test_containers_of_the_caller_that_change(run):
    source = (
        "def put(p):\n    p['w'] = p['w'] * 2\n    return nx.sum(p['w'])\n"
        "def item(p):\n    p[0] = p[1] * 2\n    return p[0]\n"
        "def more(p):\n    p.append(p[0] * 2)\n    return p[0]\n"
        "def inner(p):\n    q = p[0]\n    q['w'] = q['w'] * 2\n    return p[1]\n"
    )
    space = run(source)
    lines = {"put": "2:  p['w'] = p['w'] * 2", "item": "5:  p[0] = p[1] * 2", "inner": "12:  q['w'] = q['w'] * 2"}
    kinds = {"put": "a dict", "item": "a list", "more": "a list", "inner": "a dict"}
    given = {"put": {"w": ONE}, "item": [ONE, ONE], "more": [ONE], "inner": [{"w": ONE}, ONE]}
    for name, kind in kinds.items():
        with pytest.raises(NxTypeError) as caught:
            nx.defn(space[name])(given[name])
        line = f"  cell.py, line {lines[name]}\n" if name in lines else ""
        assert str(caught.value) == (
            f"{name} changes p, {kind}: the one that the caller passed stays as it is.\n"
            f"{line}"
            f"  Return p, or what changes of it, and assign it where {name} is called."
        )


def test_containers_that_are_returned_may_change():
    @nx.defn
    def step(p):
        p["w"] = p["w"] * 2
        return {"new": p}

    assert step({"w": ONE})["new"]["w"].tolist() == [2.0]


def test_copies_of_containers_may_change():
    @nx.defn
    def f(p):
        p = dict(p)
        p["w"] = p["w"] * 2
        return p["w"]

    assert f({"w": ONE}).tolist() == [2.0]


class Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return np.sin(x)

    def method(self, x):
        self.calls += 1
        return np.sin(x)

    def elsewhere(self, x):
        self.calls += 1
        return nx.sin(x)


def test_what_only_counts_calls_is_refused_in_numpy_programs():
    counter = Counter()
    for function, name, line in ((counter, "Counter", "__call__"), (counter.method, "method", "method")):
        with pytest.raises(NxTypeError) as caught:
            nx.defn(function)(ONE)
        number = getattr(Counter, line).__code__.co_firstlineno + 1
        assert str(caught.value) == (
            f"{name} counts up `calls` of a Counter: it is traced once, so that later calls would not be counted.\n"
            f"  test_side_effects.py, line {number}:  self.calls += 1\n"
            f"  Count where {name} is called."
        )
        assert counter.calls == 0
    # By the rules of Nx it tells how often a function was traced.
    traced = nx.defn(counter.elsewhere)
    for _ in range(3):
        traced(ONE)
    assert counter.calls == 1


CALLS = """\
import collections, types
log, table, queue, seen = [], {}, collections.deque(), set()
settings = types.SimpleNamespace(kind="", n=0)
class Model:
    calls = 0
    def __init__(self): self.shape = None
    def fit(self, x):
        self.shape = x.shape
        return np.sum(x)
    def count(self, x):
        Model.calls += 1
        return np.sum(x)
model = Model()
def f(x):
    log.append(x.ndim)
    table["size"] = x.size
    queue.append("seen")
    seen.add(x.shape[0])
    settings.kind = "fitted"
    return np.sum(x)
def keep(x):
    log.append(np.sum(x))
    return x
def make(x):
    table["new"] = []
    return np.sum(x)
def take(x):
    queue.rotate(1)
    return np.sum(x)
def up(x):
    settings.n += 1
    return np.sum(x)
"""


def test_what_a_call_changes_outside_is_done_at_each_call(run):
    space = run(CALLS, {"np": np})
    f = nx.defn(space["f"])
    for _ in range(3):
        f(np.ones(3))
    f(np.ones(2))
    f(np.ones(3))
    assert space["log"] == [1, 1, 1, 1, 1]
    assert list(space["queue"]) == ["seen"] * 5
    assert (space["table"], space["seen"]) == ({"size": 3}, {2, 3})
    assert space["settings"].kind == "fitted"
    model = space["model"]
    fit = nx.defn(model.fit)
    for size in (3, 2, 3):
        fit(np.ones(size))
        assert model.shape == (size,)


def test_what_is_changed_is_that_of_the_call(run):
    space = run(
        "def maker():\n    log = []\n    def f(x):\n        log.append(x.shape)\n        return np.sum(x)\n"
        "    return f, log\n"
        "class Model:\n    def fit(self, x):\n        self.size_ = x.shape[0]\n        return np.sum(x)\n",
        {"np": np},
    )
    (f, of_f), (g, of_g) = space["maker"](), space["maker"]()
    f, g = nx.defn(f), nx.defn(g)
    for each in (f, g, g, f, g):
        each(np.ones(3))
    assert (len(of_f), len(of_g)) == (2, 3)
    models = [space["Model"]() for _ in range(2)]
    for model in models:
        nx.defn(model.fit)(np.ones(4))
    assert [model.size_ for model in models] == [4, 4]
    assert "f changes log[2] when it is traced, so its program was not kept" in nx.events(f)[-1].advice


def test_a_traced_value_in_a_log_is_refused(run):
    space = run(CALLS, {"np": np})
    with pytest.raises(NxTypeError, match=r"^keep stores a traced value in log\[0\], where it would have no data"):
        nx.defn(space["keep"])(np.ones(3))
    assert space["log"] == []


def test_what_no_later_call_could_repeat_is_traced_each_time(run):
    space = run(CALLS, {"np": np})
    space["queue"].extend([1, 2, 3])
    make, made = nx.defn(space["make"]), []
    for _ in range(3):
        make(np.ones(3))
        made.append(space["table"]["new"])
    assert len(set(map(id, made))) == 3
    take = nx.defn(space["take"])
    for _ in range(3):
        take(np.ones(3))
    assert list(space["queue"]) == [1, 2, 3]


def test_a_counter_of_a_namespace_is_refused(run):
    space = run(CALLS, {"np": np})
    with pytest.raises(NxTypeError, match=r"^up counts up `n` of a SimpleNamespace: it is traced once"):
        nx.defn(space["up"])(np.ones(3))
    assert space["settings"].n == 0


def test_a_counter_of_a_class_is_refused(run):
    model = run(CALLS, {"np": np})["model"]
    with pytest.raises(NxTypeError, match=r"^count counts up `calls` of the class Model: it is traced once"):
        nx.defn(model.count)(np.ones(3))
    assert type(model).calls == 0
