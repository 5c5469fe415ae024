"""Objects of declared classes wherever containers go: NumPy and plain Python say what is right."""

import ast
import types
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim, training
from nxkernel.container_classes import declarations
from nxkernel.definitions.calls.notebook_cell import CompiledCell
from nxkernel.errors import NanError, NxTypeError

A, B = np.array([1.0, 2.0], np.float32), np.float32(3.0)


class Base:
    def __init__(self, a, b, mode):
        self.a, self.b, self.mode = a, b, mode


Open = nx.container(type("Open", (Base,), {}), static=["mode"])
Closed = nx.container(type("Closed", (Base,), {}), fields=["a", "b"], static=["mode"])


@nx.container(static=["mode"])
class Slotted:
    __slots__ = ("a", "b", "mode")
    __init__ = Base.__init__


Space = nx.container(type("Space", (types.SimpleNamespace,), {}), static=["mode"])
Table = nx.container(type("Table", (OrderedDict,), {}), static=["mode"])
Missing = nx.container(type("Missing", (defaultdict,), {}), static=["mode"])
Rows = nx.container(type("Rows", (list,), {}), static=["mode"])
Pair = nx.container(type("Pair", (tuple,), {}), static=["mode"])
Named = nx.container(namedtuple("Named", "a b mode"), static=["mode"])


@dataclass(frozen=True)
class Data:
    a: object
    b: object
    mode: object = field(default=None, metadata={"static": True})


def with_mode(value, mode):
    value.mode = mode
    return value


MAKERS = {
    "open": Open,
    "closed": Closed,
    "slots": Slotted,
    "SimpleNamespace": lambda a, b, mode: Space(a=a, b=b, mode=mode),
    "OrderedDict": lambda a, b, mode: with_mode(Table(a=a, b=b), mode),
    "defaultdict": lambda a, b, mode: with_mode(Missing(list, a=a, b=b), mode),
    "list": lambda a, b, mode: with_mode(Rows([a, b]), mode),
    "tuple": lambda a, b, mode: with_mode(Pair([a, b]), mode),
    "named tuple": Named,
    "dataclass": Data,
}


MAKER_OF = {type(make(0, 0, None)): make for make in MAKERS.values()}


def parts(value):
    if isinstance(value, dict):
        return value["a"], value["b"], value.mode
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return value[0], value[1], value.mode
    return value.a, value.b, value.mode


def same(found, like, a, b):
    """Whether a container is of the same class with the same static value, and has these arrays."""
    found_a, found_b, mode = parts(found)
    assert type(found) is type(like)
    assert mode is parts(like)[2]
    np.testing.assert_allclose(np.asarray(found_a), a, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(found_b), b, rtol=1e-6)
    return True


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def changed(value, a, b):
    """A container of the same kind with other arrays, as the person's code makes one."""
    return MAKER_OF[value.__class__](a, b, parts(value)[2])


def test_in_and_out(make):
    f = nx.jit(lambda c: c)
    for mode in ("sin", nx.tanh, [1, {"k": 2.0}], len, np.arange(3), lambda x: x, None):
        value = make(A, B, mode)
        for _ in range(2):
            assert same(f(value), value, A, B)
            assert same(nx.map_leaves(lambda leaf: leaf * 2, value), value, 2 * A, 2 * B)
    assert [leaf.tolist() for leaf in nx.leaves(make(A, B, "x"))] == [[1.0, 2.0], 3.0]


def test_gradients(make):
    value = make(A, B, "sin")
    found = nx.grad(lambda c: nx.sum(parts(c)[0] ** 2) * parts(c)[1])(value)
    assert same(found, value, 2 * A * B, np.sum(A**2))
    total, found = nx.value_and_grad(value, lambda c: nx.sum(parts(c)[0]) * parts(c)[1])
    assert float(total) == 9.0
    assert same(found, value, [3.0, 3.0], 3.0)


def test_loops_and_branches(make):
    value = make(A, B, "sin")

    def turn(c):
        a, b, _ = parts(c)
        return changed(c, a * 2, b + 1)

    @nx.defn(promotion="nx")
    def looped(c, n):
        i = 0
        while i < n:
            c = turn(c)
            i += 1
        return c

    assert same(looped(value, 3), value, 8 * A, B + 3)
    assert same(nx.while_(lambda c: parts(c)[1] < 5, turn, value), value, 4 * A, B + 2)
    assert same(nx.fori(0, 4, lambda i, c: turn(c), value), value, 16 * A, B + 4)
    state, rows = nx.scan(lambda c, x: (turn(c), changed(c, x, parts(c)[1])), value, nx.tensor([5.0, 6.0]))
    assert same(state, value, 4 * A, B + 2)
    assert same(rows, value, [5.0, 6.0], [3.0, 4.0])
    chosen = nx.jit(lambda c, up: nx.cond(up > 0, lambda: turn(c), lambda: c))
    assert same(chosen(value, 1), value, 2 * A, B + 1)
    assert same(chosen(value, -1), value, A, B)


def test_vmap(make):
    value = make(np.stack([A, 2 * A]), B, "sin")
    f = lambda c, x: changed(c, parts(c)[0] * x, nx.sum(parts(c)[0]))  # noqa: E731
    for axes in (make(0, None, "sin"), make(0, None, "other"), (0, None, None)):
        if type(axes) is tuple and not isinstance(value, Named):
            continue
        found = nx.vmap(f, in_axes=(axes, None))(value, 10.0)
        assert same(found, value, [10 * A, 20 * A], [3.0, 6.0])
    found = nx.vmap(lambda x: changed(value, x, x), out_axes=make(0, 0, None))(A)
    assert same(found, value, A, A)


@nx.container(static=["activation"])
class Layer:
    def __init__(self, kernel, bias, activation=None, name="dense"):
        self.kernel, self.bias, self.activation, self.name = kernel, bias, activation, name

    def __call__(self, x):
        y = nx.dot(x, self.kernel) + self.bias
        return y if self.activation is None else self.activation(y)


@nx.container
class Net:
    def __init__(self, *layers):
        self.layers, self.note = list(layers), None

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(16, 2)).astype(np.float32)
Y = (X[:, :1] * X[:, 1:]).astype(np.float32)


def net(activation=nx.tanh):
    weights = np.random.default_rng(5)
    return Net(
        Layer(weights.normal(size=(2, 4)).astype(np.float32), np.zeros(4, np.float32), activation),
        Layer(weights.normal(size=(4, 1)).astype(np.float32), np.zeros(1, np.float32)),
    )


def loss(model, x, y):
    return nx.mean((model(x) - y) ** 2)


def by_numpy(model, x):
    hidden = np.tanh(x @ model.layers[0].kernel + model.layers[0].bias)
    return hidden @ model.layers[1].kernel + model.layers[1].bias


def test_a_model_as_argument_option_and_capture():
    model = net()
    expected = by_numpy(model, X)

    @nx.defn
    def applied(model, x):
        return model(x)

    @nx.defn
    def with_option(x, *, model):
        return model(x)

    @nx.defn
    def captured(x):
        return model(x)

    for call in (lambda: applied(model, X), lambda: with_option(X, model=model), lambda: captured(X)):
        np.testing.assert_allclose(call(), expected, rtol=1e-4, atol=1e-6)
    model = net()
    model.layers[1].bias = np.ones(1, np.float32)
    np.testing.assert_allclose(captured(X), expected + 1, rtol=1e-4, atol=1e-6)
    assert captured.cache_info().misses == 1


def test_training_and_checkpoints(tmp_path):
    model, optimizer = net(), optim.adam(0.05)
    state = optimizer.init(model)

    @nx.jit
    def step(model, state, x, y):
        value, slopes = nx.value_and_grad(lambda m: loss(m, x, y))(model)
        updates, state = optimizer.update(slopes, state, model)
        return optim.apply_updates(model, updates), state, value

    losses = []
    for _ in range(30):
        model, state, value = step(model, state, X, Y)
        losses.append(float(value))
    assert losses[-1] < 0.5 * losses[0]
    assert step.cache_info().misses == 1
    assert (type(model), model.note, model.layers[0].activation) == (Net, None, nx.tanh)
    path = tmp_path / "a.safetensors"
    training.save_checkpoint(path, {"model": model, "state": state})
    read, _ = training.load_checkpoint(path, {"model": net(nx.exp), "state": optimizer.init(net(nx.exp))})
    assert read["model"].layers[0].activation is nx.exp
    np.testing.assert_array_equal(read["model"].layers[0].kernel, model.layers[0].kernel)
    following = step(read["model"], read["state"], X, Y)
    assert following[0].layers[0].activation is nx.exp
    fitted = training.fit(
        lambda model, x: model(x), nx.nn.losses.mean_squared_error, optim.sgd(0.1), net(),
        training.batches(X, Y, 8), epochs=1, progress=False,
    )  # fmt: skip
    assert type(fitted.params) is Net


def test_what_counts_of_static_values():
    f = nx.jit(lambda layer: layer)

    def difference(one, other):
        f(one)
        return f.why(other).difference

    layer = Layer(A, B, 3)
    assert difference(layer, Layer(A, B, 4)) == ("argument layer.activation: 3 → 4",)
    assert difference(layer, Layer(A, B, 3.0)) == ("argument layer.activation: 3 → 3.0",)
    assert difference(layer, Layer(A, B, 3, "conv")) == ("argument layer.name: 'dense' → 'conv'",)
    assert difference(layer, Layer(A, B, nx.tanh)) == ("argument layer.activation: 3 → tanh",)
    assert difference(layer, Layer(A, None, 3)) == ("argument layer.bias: f32 → None",)
    assert difference(Layer(A, B, [1, 2]), Layer(A, B, [1, 3])) == ("argument layer.activation: [1, 2] → [1, 3]",)
    assert difference(Layer(A, B, {"a": 1}), Layer(A, B, {"a": 1})) == ()
    array = np.arange(3)
    one = Layer(A, B, array)
    assert difference(one, Layer(A, B, array.copy())) == ()
    assert difference(one, Layer(A, B, array + 1)) == ("argument layer.activation: s64[3] → s64[3] of other values",)
    by = 2.0
    assert difference(Layer(A, B, lambda x: x * by), Layer(A, B, lambda x: x / by)) == (
        "argument layer.activation: its code has changed",
    )
    assert difference(scaled(2.0), scaled(2.0)) == ()


def scaled(by):
    return Layer(A, B, lambda x: x * by)


def test_functions_in_static_fields_read_what_they_read():
    f = nx.jit(lambda layer, x: (layer.activation(x), layer))
    weights = np.array([1.0, 2.0], np.float32)
    for by in (2.0, 3.0, 2.0):
        layer = scaled(by)
        found, back = f(layer, 5.0)
        assert float(found) == 5.0 * by
        assert back.activation is layer.activation
    for by in (weights, weights + 1):
        layer = scaled(by)
        found, back = f(layer, 5.0)
        np.testing.assert_array_equal(found, 5 * by)
        assert back.activation is layer.activation
    assert f.cache_info().misses == 3


def test_results_do_not_share_what_can_be_changed():
    made = nx.jit(lambda x: Layer(x, x, {"sizes": [1, 2]}))
    first = made(1.0)
    first.activation["sizes"].append(3)
    assert made(1.0).activation == {"sizes": [1, 2]}
    options = {"sizes": [1]}
    f = nx.jit(lambda layer: layer)
    assert f(Layer(A, B, options)).activation is options
    options["sizes"].append(2)
    assert f(Layer(A, B, {"sizes": [1]})).activation == {"sizes": [1]}
    assert f(Layer(A, B, options)).activation is options


def test_texts_and_none_in_any_container():
    for rules in ("nx", "numpy"):
        f = nx.jit(lambda c: c, promotion=rules)
        found = f({"a": A, "name": "dense", "bias": None, "raw": b"x", "more": [None, ("u", B)]})
        assert np.asarray(found.pop("a")).tolist() == [1.0, 2.0]
        assert float(found["more"][1][1]) == 3.0
        assert (found["name"], found["bias"], found["raw"], found["more"][0], found["more"][1][0]) == (
            "dense", None, b"x", None, "u",
        )  # fmt: skip
    slopes = nx.grad(lambda c: c["a"] ** 2)({"a": 3.0, "n": None, "s": "x"})
    assert (float(slopes["a"]), slopes["n"], slopes["s"]) == (6.0, None, "x")


def test_subclasses_without_attributes_stay_what_they_are():
    class Items(list):
        pass

    class Row(tuple):
        pass

    class Keyed(dict):
        pass

    found = nx.jit(lambda *values: values)(Items([1.0]), Row([1.0, 2.0]), Keyed(a=1.0), OrderedDict(b=1.0, a=2.0))
    assert [type(each) for each in found] == [Items, Row, Keyed, OrderedDict]
    assert list(found[3]) == ["b", "a"]


class Sim:
    def __init__(self, dt=0.5):
        self.x, self.v, self.dt, self.n, self.name = np.zeros(3), np.ones(3), dt, 2, "sim"


Declared = nx.container(type("Declared", (Sim,), {}), static=["name"])


def energy(sim):
    return np.sum((sim.x + sim.dt * sim.v) ** 2)


def advance(sim):
    for _ in range(sim.n):
        sim.x += sim.dt * sim.v
    return np.sum(sim.x)


def test_objects_by_the_rules_of_numpy():
    for cls, misses in ((Sim, 2), (Declared, 3)):
        f = nx.jit(energy)
        for dt in (0.5, 0.25, 0.5):
            assert f(cls(dt)) == energy(cls(dt))
        # Programs belong to the text: numbers of a declared class are inputs of one more, and of no other.
        assert f.cache_info().misses == misses
    one, other = Declared(), Declared()
    f = nx.jit(advance)
    for _ in range(2):
        assert f(one) == advance(other)
        np.testing.assert_array_equal(one.x, other.x)
    with pytest.raises(NxTypeError) as error:
        nx.jit(advance)(Sim())
    lines = str(error.value).split("\n")
    assert [lines[0], *lines[2:]] == [
        "sim.x is an array from outside of the definition, and it is assigned into.",
        "  Pass it as an argument: arrays that are arguments are changed as NumPy would.",
        "  Those of an object are arguments where its class is declared: nx.container(Class), or @nx.container.",
    ]


def test_what_is_no_container_is_told_how_to_become_one():
    def refused(call):
        with pytest.raises(NxTypeError) as error:
            call()
        return str(error.value).split("\n")

    hint = "  nx.container(Sim) declares that its objects are containers of their attributes."
    f = nx.jit(lambda sim: nx.sum(sim.x))
    assert refused(lambda: f(Sim()))[:2] == [
        "<lambda>() takes tensors or numbers as positional arguments, got a Sim for 'sim'.", hint,
    ]  # fmt: skip
    assert refused(lambda: nx.jit(lambda a: nx.sum(a[0].x))([Sim()]))[1] == hint
    assert refused(lambda: nx.leaves(Sim()))[1] == hint
    assert refused(lambda: nx.jit(lambda x: Sim())(1.0))[1] == hint
    assert refused(lambda: nx.jit(lambda x: Layer(x, x, x))(1.0)) == [
        "the result.activation is a static field, and its value is one that only the running program knows.",
        "  Declare it among the fields that hold tensors, or keep the value in another one.",
    ]
    assert refused(lambda: nx.map_leaves(lambda a, b: a, Layer(A, B, nx.tanh), Layer(A, B, nx.exp)))[1] == (
        "  container.activation is the static value tanh, others[0].activation is the static value exp."
    )


def test_hooks_prints_calls_and_streams(capsys):
    layer, met = Layer(A, B, {"k": [1]}), []
    f = nx.jit(lambda layer: nx.hook(layer, "seen", met.append).bias * 2)
    f(layer)
    assert same_layer(met[0], layer)
    nx.defn(lambda layer: nx.print_value({"b": layer.bias, "n": None, "s": "x"})["b"])(layer)
    assert capsys.readouterr().out == "{'b': np.float32(3.0), 'n': None, 's': 'x'}\n"
    doubled = nx.jit(lambda c: nx.host_call(lambda c: Layer(c.kernel * 2, c.bias, c.activation), c, c), promotion="nx")
    found = doubled(layer)
    np.testing.assert_array_equal(found.kernel, 2 * A)
    assert found.activation == {"k": [1]}

    def step(x, layer):
        return layer.bias + x, replaced(layer, layer.bias + x)

    with nx.stream(step, [nx.template((), "f32"), layer]) as stream:
        stream.send(1.0)
        stream.send(2.0)
    assert [float(stream.recv()), float(stream.recv())] == [4.0, 6.0]
    assert same_layer(stream.done(), layer, bias=6.0)
    with pytest.raises(NanError, match=r"gave NaN in its result\.kernel"), nx.debug_nans():
        nx.jit(lambda layer: replaced(layer, layer.bias, nx.log(-layer.kernel)))(layer)


def replaced(layer, bias, kernel=None):
    return Layer(layer.kernel if kernel is None else kernel, bias, layer.activation)


def same_layer(found, layer, bias=B):
    np.testing.assert_array_equal(found.kernel, layer.kernel)
    assert float(np.asarray(found.bias)) == bias
    return found.activation == layer.activation and type(found) is Layer


def test_cells_and_compile():
    space = {"nx": nx, "layer": Layer(nx.tensor([1.0, 2.0]), nx.tensor(3.0), {"k": 1}), "Layer": Layer}
    text = "made = Layer(layer.kernel * 2, layer.bias, 'x')\nlayer.kernel"
    cell = CompiledCell(ast.parse(text).body, "<cell>", space)
    assert cell.finish(cell.definition(*cell.args, **cell.options)).to_list() == [1.0, 2.0]
    made = space["made"]
    assert (type(made), made.kernel.to_list(), made.activation, made.name) == (Layer, [2.0, 4.0], "x", "dense")
    assert made.bias is space["layer"].bias
    before = space["layer"]
    cell = CompiledCell(ast.parse("layer.bias = layer.bias + 1\nlayer.kernel *= 2").body, "<cell>", space)
    cell.finish(cell.definition(*cell.args, **cell.options))
    assert space["layer"] is before
    assert (float(before.bias), before.kernel.to_list(), before.activation) == (4.0, [2.0, 4.0], {"k": 1})
    compiled = nx.compile(lambda layer: layer.kernel * 2, [Layer(nx.template((2,), "f32"), None, nx.tanh)])
    assert compiled(Layer(A, None, nx.tanh)).to_list() == [2.0, 4.0]
    with pytest.raises(NxTypeError, match=r"layer\.kernel: expected f32\[2\], got f32\[3\]"):
        compiled(Layer(np.ones(3, np.float32), None, nx.tanh))
    with pytest.raises(NxTypeError):
        compiled(Layer(A, None, nx.exp))


def test_files_by_name():
    layer = Layer(nx.tensor([1.0, 2.0]), None, ("relu", 2), "first")
    back = nx.deserialize(nx.serialize([layer, Data(nx.tensor(1.0), 2, "m")]), classes=[Data])
    assert (type(back[0]), vars(back[0]).keys()) == (Layer, vars(layer).keys())
    assert (back[0].kernel.to_list(), back[0].activation, back[0].name) == ([1.0, 2.0], ("relu", 2), "first")
    assert back[1] == Data(back[1].a, 2, "m")


def test_foreign_classes():
    try:
        nx.container(types.SimpleNamespace)
        nx.container(OrderedDict)
        value = types.SimpleNamespace(w=A, unit="m", inner=OrderedDict(b=B))
        found = nx.jit(lambda c: c, promotion="nx")(value)
        assert (type(found), found.unit, found.w.to_list(), type(found.inner)) == (
            types.SimpleNamespace, "m", [1.0, 2.0], OrderedDict,
        )  # fmt: skip
        assert list(nx.deserialize(nx.serialize(OrderedDict(b=1, a=2)))) == ["b", "a"]
    finally:
        declarations.forget(types.SimpleNamespace)
        declarations.forget(OrderedDict)
    attrs = pytest.importorskip("attrs")

    @nx.container
    @attrs.frozen
    class Point:
        x: object
        unit: str = attrs.field(default="m", metadata={"static": True})

    found = nx.grad(lambda p: p.x**2)(Point(3.0))
    assert (type(found), float(found.x), found.unit) == (Point, 6.0, "m")


def test_ints_in_static_fields_stay_ints():
    @dataclass
    class Config:
        w: object
        n: int = field(default=2, metadata={"static": True})

    @nx.defn
    def power(c):
        y = c.w
        for _ in range(c.n):
            y = y * c.w
        return replace(c, w=y)

    for n in (2, 4):
        found = power(Config(2.0, n))
        assert (type(found.n), found.n, float(found.w)) == (int, n, 2.0 ** (n + 1))
    assert power.why(Config(2.0, 5)).difference == ("argument c.n: 4 → 5",)
