"""The graph at each step of a compilation, the work of its nodes, and the text of the functions that made them."""

import numpy as np

import nxkernel as nx


@nx.defn
def loss(w, x):
    h = nx.tanh(x @ w) * (1.0 + 1.0)
    k = nx.tanh(x @ w)
    return nx.sum(h * k)


@nx.defn
def step(w, x):
    return w - 0.1 * nx.grad(w, lambda w: loss(w, x))


@nx.defn(compiler="numba_cpu")
def powers(x, *, turns=40):
    for _ in range(turns):
        x = x * x * 1.0 - (x * x) * 0.5
    return x


W, X = np.ones((3, 4), "f4"), np.ones((2, 3), "f4")


def steps(definition, *args):
    definition(*args)
    view = definition.compilations()[-1]
    return view, {each.name: each for each in view.steps()}


def labels(nodes):
    return [node.label for node in nodes if node.role == "operation"]


def test_equal_nodes_become_one():
    view, found = steps(loss, W, X)
    assert list(found) == ["traced", "simplified"]
    traced, after = found["traced"], found["simplified"]
    assert labels(traced.nodes()) == ["dot", "tanh", "multiply", "dot", "tanh", "multiply", "sum"]
    assert (traced.count, traced.about) == ("7", "7 nodes as the function's lines made them")
    assert (after.count, after.about) == ("\N{MINUS SIGN}2", "5 nodes left of 7: 2 merged with equal ones")
    assert sorted(word for word, _ in traced.changes.values()) == ["gone", "gone"]
    assert set(after.changes.values()) == {("merged", "2 equal nodes became this one")}
    assert [node.id for node in after.nodes() if node.role != "constant"] == [
        node.id for node in view.nodes if node.role != "constant"
    ]


def test_what_differentiation_added_is_known():
    _, found = steps(step, W, X)
    assert list(found) == ["traced", "differentiated", "simplified"]
    assert not any(node.gradient for node in found["traced"].nodes())
    whole = found["differentiated"]
    new = {name for name, (word, _) in whole.changes.items() if word == "new"}
    assert whole.about == f"differentiation added {len(new)} nodes"
    assert int(whole.count) == len(new)
    made = {node.id for node in whole.nodes() if node.gradient and node.role == "operation"}
    assert made < new
    assert {whole.changes[name][1] for name in new - made} == {"computed of gradients"}


def test_loops_are_graphs_in_their_nodes_and_count():
    view, found = steps(powers, np.ones(4000))
    (loop,) = [node for node in view.nodes if node.label == "while"]
    condition, body = loop.parts
    assert (condition.name, body.name) == ("condition", "body")
    assert all(node.id.startswith(f"{loop.id}.body.") for node in body.nodes if node.role == "operation")
    assert set(body.inputs.values()) == set(loop.operands)
    assert any(node.kernels for node in body.nodes)
    before = found["traced"]
    assert int(before.count) > len(labels(before.nodes()))
    assert any(name.startswith(f"{loop.id}.body.") for name in before.changes)
    assert found["simplified"].count.startswith("\N{MINUS SIGN}")


def test_work_of_nodes():
    view, _ = steps(loss, W, X)
    by_label = {node.label: (node.moved, node.operations) for node in view.nodes}
    assert by_label["dot"] == (4 * (6 + 12 + 8), 2 * 8 * 3)
    assert by_label["tanh"] == (2 * 4 * 8, 8)
    assert by_label["sum"] == (4 * 8 + 4, 8)
    assert by_label["w"] == (0, 0)


def test_the_functions_whose_lines_made_nodes():
    view, _ = steps(step, W, X)
    found = {source.name: source for source in view.sources()}
    assert list(found) == ["loss", "step"]
    assert found["loss"].lines[0] == "@nx.defn"
    assert found["loss"].lines[1] == "def loss(w, x):"
    assert found["loss"].cell == "test_graph_stages.py"
    lines = {node.line for node in view.nodes if node.line}
    inside = {line for source in found.values() for line in range(source.first, source.first + len(source.lines))}
    assert lines <= inside


def test_nodes_know_their_module():
    net = nx.nn.serial(nx.nn.dense(3), nx.nn.dense(2))
    params = net.init(nx.random.key(0), X)

    @nx.defn
    def forward(params, x):
        return net(params, x) * 2.0

    view, _ = steps(forward, params, X)
    modules = {node.module for node in view.nodes if node.role == "operation"}
    assert modules == {"", "dense", "dense_1"}


def test_a_function_is_shown_whole_where_its_only_line_has_another_one_in_it():
    view, _ = steps(step, W, X)
    (found,) = [source for source in view.sources() if source.name == "step"]
    assert [line.strip() for line in found.lines] == [
        "@nx.defn",
        "def step(w, x):",
        "return w - 0.1 * nx.grad(w, lambda w: loss(w, x))",
    ]
