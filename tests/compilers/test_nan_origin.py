"""What made a NaN, by graphs: the operation, its operands, and the loops and choices around it."""

import numpy as np

import nxkernel as nx
from nxkernel.compilers.nan_origin import has_nan, origin


def graph_of(definition, *arguments):
    definition(*arguments)
    return definition._entry_group.programs()[-1].executable.graph


def test_a_graph_without_one_has_no_origin():
    graph = graph_of(nx.jit(lambda x: nx.log(x)), np.float32([1.0]))
    assert origin(graph, [np.float32([2.0])]) is None


def test_an_origin_has_the_operation_and_its_operands():
    graph = graph_of(nx.jit(lambda x, y: nx.sum(x / y) * 2), np.float32([1.0]), np.float32([1.0]))
    found = origin(graph, [np.float32([0.0]), np.float32([0.0])])
    assert found.node.primitive.name == "divide"
    assert [value.tolist() for value in found.values] == [[0.0], [0.0]]
    assert found.around == ()


def test_an_origin_in_a_loop_in_a_loop_has_the_turns_of_both():
    @nx.defn
    def nested(x):
        for i in range(4):
            for j in range(3):
                x = x + nx.sqrt(5.0 - (i * 3 + j))
        return x

    found = origin(graph_of(nested, 0.0), [np.float32(0.0)])
    assert found.node.primitive.name == "sqrt"
    assert [(node.primitive.name, turn) for node, turn in found.around] == [("while", 2), ("while", 0)]


def test_numbers_of_any_kind_are_looked_at():
    assert has_nan(np.array([1.0, np.nan]))
    assert has_nan(np.array([complex(0, np.nan)]))
    assert has_nan((np.array(1), np.array(np.nan)))
    assert has_nan(nx.tensor([np.nan], type="bf16").data)
    assert not has_nan(np.array([1, 2]))
    assert not has_nan(np.array([np.inf]))
