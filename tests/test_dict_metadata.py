"""Dicts keep their order and their kind wherever they go; Python running the same function says what is right."""

from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.dict_metadata import form_of
from nxkernel.errors import NxTypeError


class Items(dict):
    __getattr__ = dict.__getitem__


class Open(dict):
    def __init__(self, **items):
        super().__init__(items)
        self.__dict__ = self


class Labelled(dict):
    def __init__(self, label, items):
        super().__init__(items)
        self.label = label


class Upper(defaultdict):
    pass


def told(value):
    """A result with kinds and orders, tensors as lists."""
    if isinstance(value, dict):
        return type(value), [(key, told(item)) for key, item in value.items()]
    if isinstance(value, tuple | list):
        return type(value), [told(item) for item in value]
    return np.asarray(value).tolist()


@pytest.mark.parametrize(
    "value",
    [{"b": 1, 2: 3}, OrderedDict(b=1, a=2), defaultdict(list, b=1), Items(b=1, a=2), Open(b=1, a=2)],
    ids=["dict", "OrderedDict", "defaultdict", "Items", "Open"],
)
def test_a_dict_is_made_of_its_form_and_other_values(value):
    form = form_of(value)
    hash(form)
    made = form.filled([10 * item for item in value.values()])
    assert told(made) == (type(value), [(key, 10 * item) for key, item in value.items()])
    assert form_of(made) == form


def test_forms():
    assert form_of({0: 1}) != form_of({False: 1}) != form_of({0.0: 1})
    assert form_of(defaultdict(list)) != form_of(defaultdict(int))
    assert form_of(defaultdict(list)).filled([])["new"] == []
    assert form_of(Open(b=1)).filled([2]).b == 2
    assert form_of(Labelled("x", {"b": 1})) is None
    assert type(form_of(Upper(list)).filled([])) is Upper
    assert form_of(Upper(list)).filled([])["new"] == []


def digits(d):
    s = np.float64(0)
    for v in d.values():
        s = s * 10 + v
    return s


def default(d={"b": 1.0, "a": 2.0}):  # noqa: B006 - what it is about
    return digits(d)


def keywords(**d):
    return digits(d)


def nested(d):
    return next(iter(d["z"].values())), np.concatenate([d["z"][k] for k in d["z"]])


def chosen(x):
    d = {"b": x, "a": 2 * x}
    if x[0] > 0:
        d["d"], d["c"] = x * 3, x
    else:
        d["d"], d["c"] = x * 4, 2 * x
    return d, list(d.values())[2], list(d).index("c")


def looped(x, n):
    d = {"b": x, "a": 2 * x}
    for _ in range(n):
        d["b"] = d["b"] + d["a"]
        d["a"] = d["a"] * 1.5
    return digits(d), d


def replaced(x, n):
    d = {"b": x, "a": 2 * x}
    for _ in range(n):
        d = {"a": d["b"] + 1, "b": d["a"]}
    return d


def ordered(x):
    return OrderedDict([("b", x), ("a", -x)]), defaultdict(list, {"y": x, "x": -x}), Items(q=x, p=x), Open(q=x, p=x)


def attributes(d):
    return Open(c=d.b - d.a, a=d.a)


ONE, TWO = np.ones(2), np.full(2, 2.0)
CALLS = {
    "a dict": (digits, ({"b": 1.0, "a": 2.0},), {}),
    "in another order": (digits, ({"a": 2.0, "b": 1.0},), {}),
    "arrays": (digits, ({"b": ONE, "a": TWO},), {}),
    "an OrderedDict": (digits, (OrderedDict(b=ONE, a=TWO),), {}),
    "a defaultdict": (digits, (defaultdict(list, b=ONE, a=TWO),), {}),
    "a default": (default, (), {}),
    "numbers as keywords": (keywords, (), {"b": 1.0, "a": 2.0}),
    "arrays as keywords": (keywords, (), {"b": ONE, "a": TWO}),
    "arrays before numbers": (keywords, (), {"b": ONE, "a": 2, "c": TWO}),
    "numbers before arrays": (keywords, (), {"b": 2, "a": ONE, "c": 3}),
    "nested": (nested, ({"z": {"b": ONE, "a": TWO}, "y": 1.0},), {}),
    "a choice": (chosen, (ONE,), {}),
    "a loop": (looped, (ONE, 5), {}),
    "made anew in each turn": (replaced, (ONE, 3), {}),
    "results": (ordered, (ONE,), {}),
    "items as attributes": (attributes, (Items(b=TWO, a=ONE),), {}),
    "open": (attributes, (Open(b=TWO, a=ONE),), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_order_is_that_of_python(name):
    function, args, options = CALLS[name]
    compiled = nx.defn(promotion="numpy")(function)
    for _ in range(2):
        assert told(compiled(*args, **options)) == told(function(*args, **options))


def test_another_order_is_another_program():
    compiled = nx.defn(promotion="numpy")(keywords)
    assert float(compiled(b=1.0, a=2.0)) == 12.0
    assert compiled.why(a=2.0, b=1.0).difference == ("the order of the keywords: b, a → a, b",)
    assert float(compiled(a=2.0, b=1.0)) == 21.0
    assert float(compiled(b=1.0, a=2.0)) == 12.0
    of_one = nx.defn(promotion="numpy")(lambda d: np.stack(list(d.values())))
    of_one({"b": ONE, "a": TWO})
    assert of_one.why({"a": TWO, "b": ONE}).difference == ("argument d: {'b': ·, 'a': ·} → {'a': ·, 'b': ·}",)
    assert of_one.why(OrderedDict(b=ONE, a=TWO)).difference == (
        "argument d: {'b': ·, 'a': ·} → OrderedDict({'b': ·, 'a': ·})",
    )


captured = {"b": ONE, "a": TWO}


def test_captured_dicts_have_their_order(monkeypatch):
    compiled = nx.defn(promotion="numpy")(lambda x: digits(captured) + x)
    assert compiled(0.0).tolist() == [12.0, 12.0]
    monkeypatch.setitem(globals(), "captured", {"a": TWO, "b": ONE})
    assert compiled(0.0).tolist() == [21.0, 21.0]


@pytest.mark.usefixtures("ahead_of_calls")
def test_dicts_whose_order_depends_on_data_are_refused():
    @nx.defn(promotion="numpy")
    def turned(x):
        if x[0] > 0:
            d = {"b": x, "a": 2 * x}
        else:
            d = {"a": x, "b": 2 * x}
        return d

    line = turned.__nx_function__.__code__.co_firstlineno + 3
    with pytest.raises(NxTypeError) as error:
        turned(ONE)
    assert str(error.value).splitlines() == [
        "the branches of this `if` disagree about `d`.",
        f"  test_dict_metadata.py, line {line}:  d = {{\"b\": x, \"a\": 2 * x}}   {{'b': f64[2], 'a': f64[2]}}",
        f"  test_dict_metadata.py, line {line + 2}:  d = {{\"a\": x, \"b\": 2 * x}}   {{'a': f64[2], 'b': f64[2]}}",
        "  Both become one value in the compiled program: give them their keys in the same order on both sides.",
    ]


def test_dicts_with_more_than_items_are_refused():
    with pytest.raises(NxTypeError) as error:
        nx.jit(lambda d: d["b"])(Labelled("x", {"b": ONE}))
    assert "Labelled" in str(error.value)


def test_gradients_have_the_order_of_what_they_are_by():
    found = nx.grad(lambda p: nx.sum(p["b"] * p["a"]))({"b": ONE, "a": TWO})
    assert told(found) == (dict, [("b", [2.0, 2.0]), ("a", [1.0, 1.0])])


def test_optimizers_take_gradients_in_any_order():
    params, grads = {"w": nx.tensor(1.0), "b": nx.tensor(2.0)}, {"b": nx.tensor(20.0), "w": nx.tensor(10.0)}
    labels = {"b": "slow", "w": "fast"}
    for optimizer, wanted in (
        (optim.sgd(0.1), [("w", 0.0), ("b", 0.0)]),
        (optim.multi_transform({"slow": optim.sgd(0.1), "fast": optim.sgd(1.0)}, labels), [("w", -9.0), ("b", 0.0)]),
        (optim.masked(optim.sgd(0.1), {"b": False, "w": True}), [("w", 0.0), ("b", 22.0)]),
    ):
        updates, _ = optimizer.update(grads, optimizer.init(params), params)
        assert told(optim.apply_updates(params, updates)) == (dict, wanted)


def test_conversions_keep_kind_and_order():
    found = nx.vectorize(OrderedDict(b=nx.tensor([1, 2]), a=nx.tensor([3, 4])), "x")
    assert [type(found), *found] == [OrderedDict, "b", "a"]
    assert told(nx.devectorize(found)) == (OrderedDict, [("b", [1, 2]), ("a", [3, 4])])


def test_tensors_of_a_dict_are_joined_in_its_order():
    assert nx.stack({"b": nx.tensor(1), "a": nx.tensor(2)}).to_list() == [1, 2]
