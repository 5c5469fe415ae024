"""The readable source of a nest: as text, and run as Python against what the kernel computes."""

import math
import types as python

import numpy as np
import pytest

import nxkernel as nx
from compiling import agree, nests, planned, spec
from nxkernel.compilers.render import names, render


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def test_softmax_as_somebody_would_write_it():
    (nest,) = nests(softmax, spec("f32", 30, 40))
    assert render(nest) == (
        "@numba.njit(parallel=True)\n"
        "def rows(a, b, n0, n1, a_0, b_0):\n"
        "    # a: f32, b: f32; vectors run along j1\n"
        "    for i0 in numba.prange(n0):\n"
        "        row0 = np.empty(n1, np.float32)\n"
        "        s0 = -np.inf\n"
        "        for j1 in range(n1):\n"
        "            s0 = max(s0, a[i0 * a_0 + j1])\n"
        "        s1 = 0\n"
        "        for j1 in range(n1):\n"
        "            t0 = math.exp(a[i0 * a_0 + j1] - s0)\n"
        "            row0[j1] = t0\n"
        "            s1 += t0\n"
        "        for j1 in range(n1):\n"
        "            b[i0 * b_0 + j1] = row0[j1] / s1\n"
    )
    assert names(nest) == (["a", "b"], ["n0", "n1", "a_0", "b_0"])


def standardized(x):
    moved = x - nx.mean(x, axes=[0], keep_axes=True)
    return moved / nx.sqrt(nx.mean(moved * moved, axes=[0], keep_axes=True) + 1)


def clipped(x):
    return nx.select((x > 0) & (x < 3), nx.max(x, 1.0), nx.min(-x, 2.0)) * nx.as_type(x >= 1, "f32")


def looked_up(x):
    return x[nx.argmax(x[:, 0])] + 1


def wound(x):
    z = nx.exp(nx.complex(x, x * 0.5)) * (1 - 2j) + nx.asinh(nx.as_type(x, "c64"))
    real = nx.as_type(nx.conjugate(z), "f32") + nx.imag(z) * nx.abs(z) - nx.phase(z)
    return real, nx.real(nx.sum(nx.sigmoid(z) / nx.rsqrt(z + 3), axes=[1])), nx.real(nx.cbrt(z))


PROGRAMS = {
    "softmax": softmax,
    "standardized columns": standardized,
    "choices": clipped,
    "first place": lambda x: nx.argmax(x, axis=1),
    "last place": lambda x: nx.argmin(x, axis=0, tie_break="high"),
    "turned and counted": lambda x: nx.transpose(x)[::-1] * 2 + nx.iota((9, 7), axis=1),
    "short rows": lambda x: nx.transpose(nx.reshape(x, (7, 3, 3)), axes=[1, 0, 2]) + 1,
    "joined": lambda x: nx.concatenate([x[1:], x * 2], axis=0),
    "padded": lambda x: nx.pad(x, -1.0, [(1, 0, 1), (0, 2, 0)]),
    "everything": lambda x: (nx.sum(x), nx.product(x * 0.1 + 1), nx.all(x), nx.any(x)),
    "functions": lambda x: nx.tanh(x) + nx.erf(x) * nx.sigmoid(x) - nx.cbrt(x) ** 2 + nx.round(x) + nx.sign(x),
    "computed places": looked_up,
    "complex numbers": wound,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_source_computes_what_the_kernel_computes(name):
    function = PROGRAMS[name]
    x = np.random.default_rng(0).integers(-12, 13, (7, 9)).astype("f4") / 4
    expected = agree(function, x, rtol=1e-5, atol=1e-6)
    found = run(planned(function, spec("f32", 7, 9)), x)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want.reshape(-1), rtol=1e-5, atol=1e-6)


class From:
    """A flat array seen from one of its elements on; negative places are before it."""

    def __init__(self, array, first):
        self.array, self.first = array, first

    def __getitem__(self, place):
        return self.array[place + self.first]

    def __setitem__(self, place, value):
        self.array[place + self.first] = value


def run(plan, x):
    """Run the source of every step of a plan as Python; the outputs, flat."""
    memory = {}

    def array_of(node):
        if plan.place[node][0] == "input":
            return x.reshape(-1)
        return memory.setdefault(node, np.zeros(math.prod(node.shape), node.type.dtype))

    for step in plan.steps:
        bound = step.work
        numba = python.SimpleNamespace(njit=lambda parallel: lambda function: function, prange=range)
        scope = {"numba": numba, "np": np, "math": math}
        exec(render(bound.nest), scope)
        arrays = [From(array_of(node), offset // node.type.size) for node, offset in bound.buffers]
        words = [word[1].dtype.type(word[0]) if isinstance(word, tuple) else word for word in bound.words]
        scope[bound.nest.kind](*arrays, *words)
    wanted = {plan.place[node]: node for step in plan.steps for node in step.writes if plan.place[node][0] == "output"}
    return [memory[wanted["output", index]] for index in plan.outputs]
