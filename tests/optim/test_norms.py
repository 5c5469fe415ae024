"""Norms of containers."""

import nxkernel as nx
from nxkernel import optim


def test_global_norm_is_that_of_all_leaves_after_clipping():
    grads = (nx.tensor([30.0, -40.0]), nx.tensor(120.0))
    updates, _ = optim.clip_by_global_norm(2.0).update(grads, ())
    assert abs(float(optim.global_norm(updates)) - 2.0) < 1e-6
    zero, _ = optim.clip_by_global_norm(2.0).update((nx.tensor([0.0]),), ())
    assert zero[0].to_list() == [0.0]
