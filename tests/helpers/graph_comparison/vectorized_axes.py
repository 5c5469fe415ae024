"""What every function does along vectorized axes: with each entry what it does with that entry alone."""

import numpy as np

import nxkernel as nx


def check_entries(function, array):
    """Compare a function of all entries, eager and traced, with what it gives for one after the other."""
    alone = [function(entry) for entry in array]
    vectorized = nx.vectorize(array, "entry")
    for found in (function(vectorized), nx.jit(function, compiler="evaluator")(vectorized)):
        assert found.vectorized_axes == (("entry", len(array)),)
        assert (found.type, found.shape, found.names) == (alone[0].type, alone[0].shape, alone[0].names)
        np.testing.assert_array_equal(nx.devectorize(found), np.stack([one.to_numpy() for one in alone]))
