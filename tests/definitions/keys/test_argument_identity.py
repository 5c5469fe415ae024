"""What is one object: a function that can tell answers as plain Python does, one that cannot compiles nothing new."""

import copy
import dataclasses
import operator

import numpy as np
import pytest
from numpy import may_share_memory as overlap

import nxkernel as nx
from nxkernel.errors import NxTypeError, TracedValueError

WRAPPERS = [nx.defn, nx.jit]
G = np.arange(3.0)
H = [np.arange(3.0)]
NUMBER = 2.5
TEXT = "ab" * 20
IS = "is_"
same = operator.is_
name_of = id


class Mode:
    first = object()


def apart():
    return np.arange(3.0), np.arange(3.0)


def one():
    x = np.arange(3.0)
    return x, x


def lists_apart():
    return [np.arange(3.0)], [np.arange(3.0)]


def lists_of_one():
    x = np.arange(3.0)
    return [x], [x]


def one_list():
    x = [np.arange(3.0)]
    return x, x


def dicts_apart():
    return {"w": np.arange(3.0)}, {"w": np.arange(3.0)}


def one_dict():
    x = {"w": np.arange(3.0)}
    return x, x


class Model:
    table = np.arange(3.0)

    def __init__(self):
        self.weights = np.arange(3.0)

    def which(self, x):
        return 1 if x is self.weights else 2 if x is self.table else 3

    def twice(self, x, y):
        return (x * y).sum() + (1 if x is y else 0) + (10 if x is self.table else 0)


def answers(wrap, function, calls):
    """What comes of calls, and what plain Python gives."""
    definition = wrap(function)
    for make in calls:
        got = np.asarray(definition(*make())).tolist()
        yield got, np.asarray(function(*make())).tolist()


OF_ARRAYS = {
    "is": lambda a, b: a * (10.0 if a is b else 1.0),
    "is not": lambda a, b: a * (10.0 if a is not b else 1.0),
    "in a comprehension": lambda a, b: a * (10.0 if any(v is a for v in [b]) else 1.0),
    "id": lambda a, b: a * (10.0 if id(a) == id(b) else 1.0),
    "id under another name": lambda a, b: a * (10.0 if name_of(a) == name_of(b) else 1.0),
    "a set of ids": lambda a, b: a * len({id(a), id(b)}),
    "a dict of ids": lambda a, b: a * len({id(a): 1, id(b): 2}),
    "operator.is_": lambda a, b: a * (10.0 if operator.is_(a, b) else 1.0),
    "operator.is_ under another name": lambda a, b: a * (10.0 if same(a, b) else 1.0),
    "operator.is_ by getattr": lambda a, b: a * (10.0 if getattr(operator, IS)(a, b) else 1.0),
    "np.shares_memory": lambda a, b: a * (10.0 if np.shares_memory(a, b) else 1.0),
    "np.may_share_memory": lambda a, b: a * (10.0 if np.may_share_memory(a, b) else 1.0),
    "np.may_share_memory under another name": lambda a, b: a * (10.0 if overlap(a, b) else 1.0),
    "is a captured one": lambda a, b: a * (10.0 if a is G else 1.0),
    "is one of a captured list": lambda a, b: a * (10.0 if a is H[0] else 1.0),
    "in a helper function": lambda a, b: a * (10.0 if are_one(a, b) else 1.0),
}


def are_one(a, b):
    return a is b


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("function", OF_ARRAYS.values(), ids=OF_ARRAYS)
def test_arguments_that_are_one_array(wrap, function):
    calls = [apart, one, one, apart, lambda: (G, G + 1), lambda: (G + 1, G), lambda: (H[0], G), lambda: (H[0], H[0])]
    for got, expected in answers(wrap, function, calls):
        assert got == expected


OF_LISTS = {
    "lists": lambda a, b: a[0] * (10.0 if a is b else 1.0),
    "what is in lists": lambda a, b: a[0] * (10.0 if a[0] is b[0] else 1.0),
    "a captured list": lambda a, b: a[0] * (10.0 if b is H else 1.0),
    "what is in a captured list": lambda a, b: a[0] * (10.0 if b[0] is H[0] else 1.0),
}


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("function", OF_LISTS.values(), ids=OF_LISTS)
def test_arguments_that_are_one_list(wrap, function):
    calls = [lists_apart, one_list, lists_of_one, one_list, lists_apart, lambda: (H, H), lambda: ([G], H)]
    for got, expected in answers(wrap, function, [*calls, lambda: ([G], list(H))]):
        assert got == expected


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_empty_lists_have_no_arrays_to_tell_them_apart(wrap):
    empty = []
    calls = [lambda: (G, [], []), lambda: (G, empty, empty), lambda: (G, [], [])]
    for got, expected in answers(wrap, lambda x, a, b: x * (10.0 if a is b else 1.0), calls):
        assert got == expected


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_numbers_that_are_one_object(wrap):
    calls = [lambda: (G, 1.5, float("1.5")), lambda: (G, NUMBER, NUMBER), lambda: (G, NUMBER, float("2.5"))]
    for got, expected in answers(wrap, lambda x, a, b: x * (10.0 if a is b else 1.0), [*calls, *calls]):
        assert got == expected

    def f(x, fill=np.nan):
        return x * (10.0 if fill is np.nan else 1.0)

    calls = [lambda: (G,), lambda: (G, np.nan), lambda: (G, float("nan")), lambda: (G, 2.0)]
    for got, expected in answers(wrap, f, [*calls, *calls]):
        assert got == expected


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_tensors_that_are_one_object(wrap):
    one, other = nx.tensor([1.0, 2.0]), nx.tensor([1.0, 2.0])
    calls = [lambda: (one, other), lambda: (one, one), lambda: (other, one), lambda: (other, other)]
    for got, expected in answers(wrap, lambda a, b: a * (10.0 if a is b else 1.0), calls):
        assert got == expected
    calls = [lambda: (other,), lambda: (other,), lambda: (one,), lambda: (other,)]
    for got, expected in answers(wrap, lambda a: a * (10.0 if a is one else 1.0), calls):
        assert got == expected


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_captured_constants_that_are_one_object(wrap):
    p = q = 2.5
    box = [2.5, 2.5]

    def f(x):
        return x * (10.0 if p is q else 1.0) * (3.0 if box[0] is box[1] else 1.0)

    definition = wrap(f)
    other = float("2.5")
    for one, two in [(p, q), (other, q), (q, q), (q, other)]:
        for second in [box[0], other, box[0]]:
            p, q, box[1] = one, two, second
            assert np.asarray(definition(G)).tolist() == f(G).tolist()


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_options_that_are_captured_objects(wrap):
    for ours, other in [(TEXT, "".join(["ab"] * 20)), ([1.0], [1.0]), (are_one, copy_of(are_one))]:

        def f(x, *, o, ours=ours):
            return x * (10.0 if o is ours else 1.0)

        definition = wrap(f)
        for o in (ours, other, ours, other):
            assert np.asarray(definition(G, o=o)).tolist() == f(G, o=o).tolist()


def copy_of(function):
    return type(function)(function.__code__, function.__globals__)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_an_option_that_asks(wrap):
    def f(x, *, ask):
        return x * (10.0 if ask(x, G) else 1.0)

    definition = wrap(f)
    for x in (G, G + 1, G):
        assert np.asarray(definition(x, ask=are_one)).tolist() == f(x, ask=are_one).tolist()


def test_assignments_into_one_array_are_seen_where_code_can_tell():
    def f(a, b):
        a[0] = 7.0
        return b * (10.0 if a is b else 1.0)

    definition = nx.defn(f)
    for make in (apart, one, apart, one):
        here, plain = make(), make()
        assert np.asarray(definition(*here)).tolist() == f(*plain).tolist()
        assert [value.tolist() for value in here] == [value.tolist() for value in plain]


def add_to(a, b):
    a.append(a[0] * 2.0)
    return a[0] * len(b), a, b


def store_in(p, q):
    p["w"] = p["w"] * 2.0
    return q["w"], p, q


@dataclasses.dataclass
class Box:
    w: object


def set_in(p, q):
    p.w = p.w * 2.0
    return q.w, p, q


def boxes_apart():
    return Box(np.arange(3.0)), Box(np.arange(3.0))


def one_box():
    box = Box(np.arange(3.0))
    return box, box


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize(
    ("function", "apart", "one", "names"),
    [(add_to, lists_apart, one_list, "a b"), (store_in, dicts_apart, one_dict, "p q"),
     (set_in, boxes_apart, one_box, "p q")],
    ids=["list", "dict", "dataclass"],
)  # fmt: skip
def test_a_container_in_two_places_that_is_changed_is_refused(wrap, function, apart, one, names):
    definition = wrap(function)
    first, second = names.split()
    for _ in range(2):
        assert np.asarray(definition(*apart())[0]).tolist() == function(*apart())[0].tolist()
        with pytest.raises(NxTypeError) as raised:
            definition(*one())
        assert str(raised.value) == (
            f"{function.__name__} changes what it is given, and {second} is {first}, too: it would see the change "
            "there.\n"
            "  Pass a copy, such as copy.copy(...), in one of the places."
        )


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_captured_container_that_is_an_argument_and_changed_is_refused(wrap):
    held = [1.0]

    def f(x, box):
        box.append(2.0)
        return x * len(held), box

    definition = wrap(f)
    assert np.asarray(definition(G, [1.0])[0]).tolist() == G.tolist()
    with pytest.raises(NxTypeError, match="box is a list, dict or object that it captures, too"):
        definition(G, held)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_views_over_one_memory_cannot_be_told(wrap):
    x = np.arange(6.0)
    w, v = x[:3], x[2:5]

    def f(a, b):
        return a * (10.0 if np.shares_memory(a, b) else 1.0)

    definition = wrap(f)
    assert np.asarray(definition(*apart())).tolist() == f(*apart()).tolist()
    for _ in range(2):
        with pytest.raises(NxTypeError) as raised:
            definition(w, v)
    assert str(raised.value) == (
        "f asks whether arrays share memory, and b shares some with a: of views that were made outside it cannot "
        "tell.\n"
        "  Ask before the call and pass the answer as an option, or pass a copy: b.copy()."
    )

    def captured(a):
        return a * (10.0 if np.shares_memory(w, v) else 1.0)

    with pytest.raises(NxTypeError, match="captured asks whether arrays share memory, and v shares some with w"):
        wrap(captured)(G)


def test_parts_of_one_array_cannot_be_told():
    def f(a):
        return a * (10.0 if np.shares_memory(a, a[1:]) else 1.0)

    assert nx.defn(f)(G).tolist() == f(G).tolist()
    with pytest.raises(TracedValueError) as raised:
        nx.defn(lambda a: a * (10.0 if np.shares_memory(a[:1], a[1:]) else 1.0))(G)
    assert str(raised.value).split("\n")[0] == (
        "whether two parts of an array share memory, or what is computed does, is not known while tracing."
    )


def test_why_says_which_arguments_are_one():
    @nx.defn
    def f(a, b):
        return a * (10.0 if a is b else np.sum(b))

    x = np.arange(3.0)
    f(*apart())
    assert f.why(x, x).difference == ("argument b: f64[3] → the same as a",)
    f(x, x)
    assert f.why(x, x).hit
    assert f.why(*apart()).hit
    assert [view.signature for view in f.compilations()] == [
        "f(a: f64[3], b: f64[3])",
        "f(a: f64[3], b: the same as a)",
    ]
    assert f.why(G, G[:2]).difference == ("argument b: the same as a → f64[2]",)

    @nx.defn
    def g(p, q):
        return p["w"][0] * (np.float64(10.0) if p["w"][0] is q[0] else np.float64(1.0))

    g({"w": [G]}, [x])
    assert g.why({"w": [x]}, [x]).difference == ("argument q[0]: · → the same as p['w'][0]",)


def test_code_that_cannot_tell_compiles_once():
    def f(a, b, mode=None):
        return a * b if mode is None else a

    definition = nx.defn(f)
    for make in (apart, one, apart, one):
        definition(*make())
    assert definition.cache_info().misses == 1


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_sentinels_types_and_members_are_no_data(wrap):
    def f(a, b):
        return a * b if type(a) is int or Mode.first is Mode.first else a

    definition = wrap(f)
    for make in (apart, one, apart, one):
        definition(*make())
    assert definition.cache_info().misses == 1


def test_a_deep_copy_keeps_what_is_one():
    def f(a, b):
        c, d = copy.deepcopy([a, b])
        c[0] = 7.0
        return d * 1.0

    definition = nx.defn(f)
    for make in (apart, one, apart):
        assert np.asarray(definition(*make())).tolist() == f(*make()).tolist()


TABLE = np.ones(3)
MASKED = np.ma.array(np.ones(3))


class Sums:
    def total(self):
        return np.sum(TABLE)


sums = Sums()


@pytest.mark.parametrize("name", ["TABLE", "MASKED"])
def test_assignments_into_what_methods_and_packages_read_are_refused(name):
    def of_method(a):
        a[0] = 5.0
        return a * sums.total()

    def of_package(a):
        a[0] = 5.0
        return a * float(MASKED.sum())

    function, shared = (of_method, TABLE) if name == "TABLE" else (of_package, MASKED.data)
    definition = nx.defn(function)
    for _ in range(2):
        for _ in range(2):
            assert np.asarray(definition(np.ones(3))).tolist() == function(np.ones(3)).tolist()
        for given in (shared, shared[:]):
            with pytest.raises(NxTypeError) as raised:
                definition(given)
            first, _, last = str(raised.value).split("\n")
            assert first == f"{function.__name__} assigns into a, whose memory {name} shares."
            assert last == "  Pass a copy: a.copy()."
    assert shared.tolist() == [1.0, 1.0, 1.0]


def test_an_argument_may_be_an_array_that_a_class_has():
    model = Model()

    def which(x):
        return model.which(x)

    definition = nx.defn(which, promotion="numpy")
    other = np.arange(3.0)
    for x in (model.weights, Model.table, other, other, Model.table, model.weights, other, Model.table):
        assert int(definition(x)) == which(x)
    before = Model.table
    try:
        Model.table = before.copy()
        for x in (before, Model.table, before):
            assert int(definition(x)) == which(x)
    finally:
        Model.table = before


def test_arguments_may_be_one_array_that_a_class_has():
    model, other = Model(), np.arange(3.0) + 1

    def twice(x, y):
        return model.twice(x, y)

    definition = nx.defn(twice, promotion="numpy")
    table = Model.table
    for x, y in ((other, table), (table, table), (table, other), (other, other), (table, table), (other, table)):
        assert float(definition(x, y)) == twice(x, y)
