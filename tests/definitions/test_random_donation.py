"""Random programs give the same whether or not arguments are donated, and touch nothing that is not theirs."""

import random

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import devices

OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a * 0.5 - b,
    lambda a, b: nx.dot(a, b) * 0.1,
    lambda a, b: nx.transpose(a),
    lambda a, b: nx.reverse(a, axes=[0]),
    lambda a, b: nx.put_slice(a, [1, 1], nx.slice(b, [0, 0], [2, 2])),
    lambda a, b: a - nx.sum(b, axes=[0]),
    lambda a, b: nx.cumulative_sum(a, axis=1),
    lambda a, b: nx.sort(a, axis=0),
    lambda a, b: nx.concatenate([nx.slice(a, [2, 0], [2, 4]), nx.slice(b, [0, 0], [2, 4])], axis=0),
    lambda a, b: nx.fori(0, 3, lambda i, x: x * 0.5 + b, a),
    lambda a, b: nx.cond(nx.sum(a) > 0, lambda x, y: x + y, lambda x, y: x - y, a, b),
]


@pytest.fixture(autouse=True)
def _simulated(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 1)


def program(draw):
    """A function of matrices, and of what it gives."""
    steps = [(draw.choice(OPERATIONS), draw.random(), draw.random()) for _ in range(draw.randint(1, 6))]
    wanted = [draw.random() for _ in range(draw.randint(1, 4))]

    def function(*matrices):
        values = list(matrices)
        for operation, left, right in steps:
            values.append(operation(values[int(left * len(values))], values[int(right * len(values))]))
        return tuple(values[int(share * len(values))] for share in wanted)

    return function


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("seed", range(30))
def test_donation_changes_no_result(seed):
    draw = random.Random(seed)
    function, numbers = program(draw), np.random.default_rng(seed)
    data = [nx.tensor(numbers.normal(size=(4, 4)), type="f32") for _ in range(3)]
    expected = nx.jit(function, compiler="evaluator")(*data)
    given_away = draw.sample(range(3), draw.randint(1, 3))
    donating = nx.jit(function, compiler="numba_cuda", donate_argnums=given_away)
    for turn in range(3):
        there = nx.backend_copy(data, "cuda:0")
        rows = [tensor.rows(0, 1) for tensor in there] if turn == 2 else []
        found = donating(*there)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.to_numpy(), other.to_numpy(), rtol=1e-4, atol=1e-4)
        assert [place for place, tensor in enumerate(there) if tensor.released] == sorted(given_away)
        for row, before in zip(rows, data, strict=False):
            np.testing.assert_array_equal(row.to_numpy(), before.to_numpy()[:1])
        for tensor, before in zip(there, data, strict=True):
            if not tensor.released:
                np.testing.assert_array_equal(tensor.to_numpy(), before.to_numpy())
