"""Gradients gathered over several steps."""

import numpy as np

import nxkernel as nx
from nxkernel import optim


def test_accumulated_gradients_give_the_update_of_their_mean():
    inner = optim.adam(0.1)
    patient = optim.multi_steps(inner, 3)
    update = nx.jit(patient.update)
    grads = [nx.tensor([float(n), -1.0]) for n in range(6)]
    state, updates = patient.init(grads[0]), []
    with nx.assert_compiles(1):
        for one in grads:
            made, state = update(one, state)
            updates.append(made.to_list())
    assert [one for place, one in enumerate(updates) if place % 3 < 2] == [[0.0, 0.0]] * 4
    first, its = inner.update(nx.tensor([1.0, -1.0]), inner.init(grads[0]))
    second, _ = inner.update(nx.tensor([4.0, -1.0]), its)
    np.testing.assert_allclose(updates[2], first.to_list(), rtol=1e-6)
    np.testing.assert_allclose(updates[5], second.to_list(), rtol=1e-6)
