"""What is told of the kernels of programs for GPUs."""

import numpy as np

import nxkernel as nx
from emulated_gpu.programs import compiled
from nxkernel.ops.programs import control_flow

X = np.ones((6, 70), np.float32)


def test_kernels_are_told_in_the_order_in_which_they_run(device):
    executable = compiled(lambda x: nx.transpose(nx.sort(nx.exp(x), axis=1)) + 1, X)
    assert [kernel.kind for kernel in executable.kernels] == ["map", "sort", "map"]
    assert [step.record for step in executable.program.launched] == [0, 1, 2]


def test_bytes_and_operations(device):
    (kernel,) = compiled(lambda x: nx.sum(nx.exp(x) * 2, axes=[1]), X).kernels
    assert kernel.moved == X.nbytes + 6 * 4
    assert kernel.operations == 2 * X.size
    assert kernel.title.startswith("rows of 6 x 70, 1 read, 1 write")


def test_kernels_know_the_nodes_of_the_graph(device):
    executable = compiled(lambda x: nx.exp(x * 1j), X)
    (kernel,) = executable.kernels
    known = {node.primitive.name for node in kernel.nodes}
    assert "exp" in known
    assert not known & {"sin", "cos"}


def test_parts_of_one_operation_are_marked(device):
    kernels = compiled(lambda x: nx.sort(x, axis=0), np.ones((3000, 2), np.float32)).kernels
    assert len(kernels) > 1
    assert [kernel.continues for kernel in kernels] == [False] + [True] * (len(kernels) - 1)


def test_a_loop_is_one_kernel_of_the_loop(device):
    def function(x):
        return control_flow.run_while([0, x], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, s[1] * 2], "ix")[1]

    executable = compiled(function, X[:2])
    first, kernel = executable.kernels
    assert (first.kind, first.title) == ("numbers", "1 single number, by one thread")
    assert (kernel.kind, kernel.title) == ("loop", "loop of at most 3 turns, by one block")
    assert [node.primitive.name for node in kernel.nodes] == ["while"]
    assert "while True:" in kernel.texts["Numba CUDA source"]()
