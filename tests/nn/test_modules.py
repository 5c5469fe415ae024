"""Modules: what init creates, what calls take, and what is shared."""

import copy
import pickle

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

X = np.random.default_rng(0).standard_normal((5, 3)).astype("f4")
KEY = nx.random.key(0)


def shapes(tree):
    return {name: shapes(value) if isinstance(value, dict) else value.shape for name, value in tree.items()}


@nn.module
def sandwich(bread, filling):
    def apply(x):
        return bread(filling(bread(x)))  # bread is shared: one set of parameters

    return apply


def test_a_network_is_its_layers():
    net = nn.serial(nn.dense(16), nn.relu, nn.parallel(nn.dense(4), nn.dense(4)))
    params = net.init(KEY, X)
    left, right = net(params, X)
    hidden = np.maximum(X @ params["dense"]["kernel"].to_numpy(), 0)
    np.testing.assert_allclose(left, hidden @ params["parallel"]["dense"]["kernel"].to_numpy(), atol=1e-6)
    np.testing.assert_allclose(right, hidden @ params["parallel"]["dense_1"]["kernel"].to_numpy(), atol=1e-6)


def test_parameters_are_nested_dicts_by_names():
    net = nn.serial(nn.dense(16), nn.relu, nn.parallel(nn.dense(4), nn.dense(4)))
    two = {"bias": (4,), "kernel": (16, 4)}
    assert shapes(net.init(KEY, X)) == {
        "dense": {"bias": (16,), "kernel": (3, 16)},
        "parallel": {"dense": two, "dense_1": two},
    }


def test_a_shared_module_has_one_set_of_parameters():
    net = sandwich(nn.dense(3), nn.dense(3))
    params = net.init(KEY, X)
    assert sorted(params) == ["bread", "filling"]
    bread, filling = (params[name]["kernel"].to_numpy() for name in ("bread", "filling"))
    np.testing.assert_allclose(net(params, X), X @ bread @ filling @ bread, atol=1e-5)


def test_a_module_is_shared_across_levels():
    layer = nn.dense(3)
    params = nn.serial(layer, nn.serial(layer, nn.dense(2))).init(KEY, X)
    assert shapes(params) == {
        "dense": {"bias": (3,), "kernel": (3, 3)},
        "serial": {"dense": {"bias": (2,), "kernel": (3, 2)}},
    }


def test_fresh_and_repeat_have_parameters_of_their_own():
    layer = nn.dense(3)
    assert sorted(nn.serial(layer, layer, layer.fresh()).init(KEY, X)) == ["dense", "dense_1"]
    params = nn.repeat(layer, 3).init(KEY, X)
    assert sorted(params) == ["dense", "dense_1", "dense_2"]
    assert params["dense"]["kernel"].to_list() != params["dense_1"]["kernel"].to_list()


def test_every_parameter_has_a_key_by_its_place():
    first = nn.serial(nn.dense(3), nn.dense(3)).init(KEY, X)
    more = nn.serial(nn.dense(3), nn.layer_norm(), nn.dense(3)).init(KEY, X)
    assert first["dense"]["kernel"].to_list() != first["dense_1"]["kernel"].to_list()
    assert first["dense_1"]["kernel"].to_list() == more["dense_1"]["kernel"].to_list()
    other = nn.serial(nn.dense(3), nn.dense(3)).init(nx.random.key(1), X)
    assert first["dense"]["kernel"].to_list() != other["dense"]["kernel"].to_list()


def test_init_takes_templates_and_runs_nothing():
    ran = []
    net = nn.serial(nn.dense(4), lambda x: ran.append(x.spec) or x)
    params = net.init(KEY, nx.template((1000, 3), "f32"))
    assert shapes(params) == {"dense": {"bias": (4,), "kernel": (3, 4)}}
    assert [str(spec) for spec in ran] == ["f32[1000][4]"]


def test_init_is_one_program_and_networks_made_alike_share_it():
    def make():
        return nn.serial(nn.dense(7), nn.relu, sandwich(nn.dense(7), nn.dense(7)))

    net = make()
    params = net.init(KEY, X)
    result = net(params, X)
    again = make()
    with nx.no_compile():
        assert again.init(KEY, X)["dense"]["kernel"].to_list() == params["dense"]["kernel"].to_list()
        assert again(params, X).to_list() == result.to_list()


def test_networks_that_differ_in_a_name_are_two():
    first, second = (nn.serial(nn.dense(7).named(name)) for name in ("a", "b"))
    assert sorted(first.init(KEY, X)) == ["a"]
    assert sorted(second.init(KEY, X)) == ["b"]
    assert repr(first) == "serial(dense(7).named('a'))"


def test_lists_and_dicts_of_modules_are_named_by_their_variables():
    @nn.module
    def tower(width, depth):
        first, rest, heads = nn.dense(width), [nn.dense(width) for _ in range(depth)], {"a": nn.dense(1)}

        def apply(x):
            x = first(x)
            for layer in rest:
                x = nn.tanh(layer(x))
            return heads["a"](x)

        return apply

    assert sorted(tower(3, 2).init(KEY, X)) == ["first", "heads_a", "rest_0", "rest_1"]


def test_modules_made_while_applied_are_numbered():
    @nn.module
    def mlp(sizes):
        def apply(x):
            for size in sizes:
                x = nn.relu(nn.dense(size)(x))
            return x

        return apply

    net = mlp((4, 2))
    params = net.init(KEY, X)
    assert shapes(params) == {
        "dense": {"bias": (4,), "kernel": (3, 4)},
        "dense_1": {"bias": (2,), "kernel": (4, 2)},
    }
    assert net(params, X).shape == (5, 2)
    block = mlp((3,))
    assert sorted(nn.serial(block, block).init(KEY, X)) == ["mlp"]


def test_a_class_is_a_module_whose_attributes_name_its_layers():
    @nn.module
    class Net:
        def __init__(self, units):
            self.hidden, self.out = nn.dense(units), nn.dense(1)

        def __call__(self, x):
            return self.out(nn.relu(self.hidden(x)))

    net = Net(5)
    params = net.init(KEY, X)
    assert sorted(params) == ["hidden", "out"]
    assert net(params, X).shape == (5, 1)


def test_what_applies_is_a_definition():
    @nn.module
    def gate():
        def apply(x):
            if nx.sum(x) > 0:
                x = x * 2
            for i in range(3):
                x = x + i
            return x

        return apply

    assert gate()({}, nx.tensor([1.0, 2.0])).to_list() == [5.0, 7.0]
    assert gate()({}, nx.tensor([-1.0, -2.0])).to_list() == [2.0, 1.0]


def test_what_a_module_captures_is_read_at_each_call():
    factor = np.array([2.0], "f4")

    @nn.module
    def scaled():
        def apply(x):
            return x * factor

        return apply

    net = scaled()
    assert net({}, nx.tensor([1.0])).to_list() == [2.0]
    step = nx.jit(lambda x: net({}, x))
    assert step(nx.tensor([1.0])).to_list() == [2.0]
    factor = np.array([5.0], "f4")
    assert net({}, nx.tensor([1.0])).to_list() == [5.0]
    assert step(nx.tensor([1.0])).to_list() == [5.0]


def test_options_of_calls_are_static_and_tensors_among_them_are_data():
    @nn.module
    def masked():
        def apply(x, mask=None, double=False):
            x = x if mask is None else x * mask
            return x * 2 if double else x

        return apply

    net, x = masked(), nx.tensor([1.0, 2.0])
    assert net({}, x, double=True).to_list() == [2.0, 4.0]
    assert net({}, x, mask=nx.tensor([0.0, 1.0])).to_list() == [0.0, 2.0]
    assert net({}, x, mask=np.array([1.0, 0.0], "f4"), double=True).to_list() == [2.0, 0.0]


def test_gradients_go_through_networks():
    net = sandwich(nn.dense(3), nn.dense(3))
    params = net.init(KEY, X)

    def loss(params, x):
        return nx.sum(net(params, x) ** 2)

    value, slopes = nx.jit(lambda p, x: nx.value_and_grad(p, lambda p: loss(p, x)))(params, X)
    assert shapes(slopes) == shapes(params)
    wide = {name: {part: value.to_numpy().astype("f8") for part, value in one.items()} for name, one in params.items()}
    for name, part, place in (("bread", "kernel", (1, 2)), ("filling", "kernel", (0, 1)), ("bread", "bias", (1,))):
        step = np.zeros(wide[name][part].shape)
        step[place] = 1e-6
        moved = [{**wide, name: {**wide[name], part: wide[name][part] + sign * step}} for sign in (1, -1)]
        up, down = (float(loss(one, X.astype("f8"))) for one in moved)
        assert float(slopes[name][part][place]) == pytest.approx((up - down) / 2e-6, rel=1e-3)
    assert float(value) == pytest.approx(float(loss(params, X)), rel=1e-5)


def test_networks_are_mapped():
    net = nn.serial(nn.dense(4), nn.relu)
    params = net.init(KEY, X)
    rows = nx.vmap(net, in_axes=(None, 0))(params, X)
    np.testing.assert_allclose(rows, net(params, X), atol=1e-6)
    many = nx.vmap(lambda key: net.init(key, X))(nx.random.split(KEY, parts=3))
    assert shapes(many) == {"dense": {"bias": (3, 4), "kernel": (3, 3, 4)}}
    one = {"dense": {part: value[2] for part, value in many["dense"].items()}}
    np.testing.assert_allclose(nx.vmap(net, in_axes=(0, None))(many, X)[2], net(one, X), atol=1e-6)


def test_networks_are_compiled_once_under_jit():
    net = nn.serial(nn.dense(4), nn.relu)
    params = net.init(KEY, X)
    step = nx.jit(net)
    np.testing.assert_allclose(step(params, X), net(params, X), atol=1e-6)
    with nx.no_compile():
        step(params, X + 1)


def test_modules_apply_in_the_bodies_of_loops():
    @nn.module
    def recurrent(cell):
        def apply(rows):
            return nx.scan(lambda h, x: (cell(h + x), h), nx.broadcast(0.0, (3,)), rows)[0]

        return apply

    net = recurrent(nn.serial(nn.dense(3), nn.tanh))
    params = net.init(KEY, X)
    assert shapes(params) == {"cell": {"dense": {"bias": (3,), "kernel": (3, 3)}}}
    h, kernel = np.zeros(3), params["cell"]["dense"]["kernel"].to_numpy()
    for row in X:
        h = np.tanh((h + row) @ kernel)
    np.testing.assert_allclose(net(params, X), h, atol=1e-5)


def test_apply_takes_parameters_within_a_module():
    inner = nn.dense(2)
    fixed = inner.init(KEY, X)

    @nn.module
    def frozen():
        def apply(x):
            return inner.apply(fixed, x)

        return apply

    net = nn.serial(frozen(), nn.dense(1))
    params = net.init(KEY, X)
    assert sorted(params) == ["dense"]
    np.testing.assert_allclose(frozen()({}, X), inner(fixed, X), atol=1e-6)


def test_reuse_takes_parameters_that_there_are():
    encoder = nn.serial(nn.dense(3), nn.dense(2))
    trained = encoder.init(nx.random.key(9), X)
    params = nn.serial(encoder, nn.dense(4)).init(KEY, X, reuse={encoder: trained})
    assert params["serial"]["dense"]["kernel"].to_list() == trained["dense"]["kernel"].to_list()


def test_state_and_keys_go_with_calls():
    net = nn.serial(nn.dense(4), nn.batch_norm(), nn.dropout(0.5))
    params, state = net.init(KEY, X), net.init_state(X)
    assert shapes(state) == {"batch_norm": {"mean": (4,), "variance": (4,)}}
    y, after = net(params, X, state=state, key=KEY, training=True)
    assert y.shape == (5, 4)
    assert after["batch_norm"]["mean"].to_list() != state["batch_norm"]["mean"].to_list()
    y, same = net(params, X, state=after)
    assert same["batch_norm"]["mean"].to_list() == after["batch_norm"]["mean"].to_list()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda net, params: net(params, np.zeros((5, 4), "f4")),
            "serial[0].dense: expected kernel f32[4][16] for the input f32[5][4], got f32[3][16].\n"
            "  An input of another shape than that of init, or the parameters of another network.",
        ),
        (
            lambda net, params: sandwich(nn.dense(4), nn.relu).init(KEY, X),
            "sandwich.bread: expected kernel f32[4][4] for the input f32[5][4], got f32[3][4].\n",
        ),
        (
            lambda net, params: net(X),
            "serial: the first argument is the dict of parameters, got a ndarray.\n"
            "  Make them with params = net.init(nx.random.key(0), x), and call net(params, x).",
        ),
        (
            lambda net, params: net.init(X),
            "serial: the key is u32[2], got f32[5][3].\n"
            "  nx.random.key(0) makes one: params = net.init(nx.random.key(0), x).",
        ),
        (
            lambda net, params: net({"dense": params["dense"]}, X),
            "serial[2].sandwich.bread: expected kernel f32[16][16] at params['sandwich']['bread']['kernel'], "
            "and params has the keys 'dense'.\n",
        ),
        (
            lambda net, params: net({**params, "other": {"bias": 1.0}}, X),
            "serial: params['other']['bias'] is for no layer of this network.\n"
            "  They are those of another network: net.init(key, x) makes them for this one.",
        ),
        (lambda net, params: net(params, X, X), "serial: apply() takes 1 positional argument but 2 were given"),
        (
            lambda net, params: nn.serial(nn.dense, nn.relu),
            "serial[0] is dense itself, not a module.\n  Call it: nn.dense(…).",
        ),
        (
            lambda net, params: nn.param("a", (), nn.initializers.zeros()),
            "nn.param is for the function that says how a module is applied, and none is being applied here.",
        ),
        (
            lambda net, params: nn.module(lambda: None)(),
            "nn.module: function gives None, not a function.\n  Define `def apply(x): …` in it, and return apply.",
        ),
        (
            lambda net, params: net.init(KEY, X, reuse={nn.dense(3): {}}),
            "serial: reuse has dense(3), which is no module of this network.",
        ),
        (
            lambda net, params: net.init(KEY, "x"),
            "serial: inputs are tensors, templates and containers of them, got 'x'.",
        ),
    ],
)
def test_errors_say_where(call, text):
    net = nn.serial(nn.dense(16), nn.relu, sandwich(nn.dense(16), nn.dense(16)))
    params = net.init(KEY, X)
    with pytest.raises((TypeError, ValueError)) as error:
        call(net, params)
    assert str(error.value).startswith(text)


def test_errors_within_a_layer_begin_with_its_path():
    net = nn.serial(nn.dense(4), sandwich(nn.relu, nn.conv(3)))
    with pytest.raises(ValueError, match=r"^serial\[1\]\.sandwich\.filling: expected an input \[batch, channels, "):
        net.init(KEY, X)


def test_first_values_do_not_depend_on_inputs():
    @nn.module
    def centred():
        def apply(x):
            return x - nn.param("mean", x.shape[-1:], lambda key, shape, type: nx.mean(x, axes=[0]))

        return apply

    with pytest.raises(TypeError, match=r"centred: the first value of params\['mean'\] depends on the values"):
        centred().init(KEY, X)


def test_initializers_that_do_not_fit_are_told():
    @nn.module
    def layer(init):
        def apply(x):
            return x + nn.param("bias", x.shape[-1:], init)

        return apply

    with pytest.raises(TypeError, match=r"layer: the initializer of 'bias' takes \(key, shape, type\)"):
        layer(lambda: 0).init(KEY, X)
    with pytest.raises(TypeError, match="layer: the initializer of 'bias' gives a function"):
        layer(lambda *given: nn.relu).init(KEY, X)
    with pytest.raises(TypeError, match="layer: the initializer of 'bias' is zeros itself, not an") as caught:
        layer(nn.initializers.zeros).init(KEY, X)
    assert str(caught.value).endswith("\n  Call it: nn.initializers.zeros(…).")
    with pytest.raises(ValueError, match="layer: there is no initializer 'nought'"):
        layer("nought").init(KEY, X)


def test_initializers_go_by_their_names():
    @nn.module
    def layer():
        def apply(x):
            return x * nn.param("factor", x.shape[-1:], "ones") + nn.state("last", (), "zeros")

        return apply

    assert layer().init(KEY, X)["factor"].to_list() == [1.0, 1.0, 1.0]
    assert layer().init_state(X)["last"].to_number() == 0.0


def test_initializers_of_another_shape():
    @nn.module
    def layer(init):
        def apply(x):
            return x + nn.param("bias", x.shape[-1:], init)

        return apply

    with pytest.raises(ValueError, match=r"layer: expected bias f32\[3\] for the input f32\[5\]\[3\], got f32\[2\]"):
        layer(lambda key, shape, type: nx.broadcast(0.0, (2,))).init(KEY, X)


def test_a_shared_layer_of_inputs_of_two_sizes_is_told_how_to_make_another():
    with pytest.raises(ValueError, match=r"^sandwich.bread: expected kernel") as caught:
        sandwich(nn.dense(4), nn.relu).init(KEY, X)
    assert str(caught.value).endswith(
        "\n  It was made for another input. A module in two places is one layer: layer.fresh() is another one."
    )


def test_modules_are_pickled_and_copied_with_what_is_shared_in_them():
    net = nn.serial(sandwich(nn.dense(3), nn.relu), nn.dense(2).named("head"))
    params = net.init(KEY, X)
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert repr(other) == repr(net)
        assert sorted(other.init(KEY, X)) == ["head", "sandwich"]
        np.testing.assert_array_equal(other(params, X), net(params, X))


def test_a_network_that_is_compiled_by_hand_takes_a_key():
    net = nn.serial(nn.dense(2), nn.dropout())
    params = net.init(KEY, X)
    compiled = nx.jit(net)
    for training in (False, True):
        expected = net(params, X, key=KEY, training=training)
        np.testing.assert_allclose(compiled(params, X, key=KEY, training=training), expected, rtol=1e-6)
    assert "argument key" in str(compiled.why(params, X))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("predict", "Write net(params, x)."),
        ("fit", "Write training.fit(net, loss, optimizer, params, data)."),
        ("parameters", "Write params = net.init(nx.random.key(0), x)."),
        ("summery", "Did you mean 'summary'?"),
    ],
)
def test_what_modules_of_other_libraries_have_is_answered(name, told):
    with pytest.raises(AttributeError) as caught:
        getattr(nn.dense(2), name)
    assert str(caught.value) == f"a module has no {name!r}.\n  {told}"
    assert not hasattr(nn.dense(2), "_repr_png_")
