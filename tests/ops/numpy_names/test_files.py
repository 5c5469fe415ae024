"""Files that a program writes each time that it has run."""

import pickle

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import TracedValueError

A = np.arange(6.0).reshape(2, 3)
RULES = pytest.mark.parametrize("promotion", ["nx", "numpy"])


@RULES
def test_each_run_writes_its_values(tmp_path, promotion):
    path = str(tmp_path / "x")
    f = nx.jit(lambda t: (t * 2).tofile(path), promotion=promotion)
    for given in (A, A + 1):
        assert f(given) is None
        np.testing.assert_array_equal(np.fromfile(path), 2 * given.ravel())
    assert f.cache_info().misses == 1


@RULES
def test_text(tmp_path, promotion):
    nx.jit(lambda t: t.tofile(str(tmp_path / "x"), ", ", "%g"), promotion=promotion)(A)
    assert (tmp_path / "x").read_text() == "0, 1, 2, 3, 4, 5"


def test_an_open_file_is_written_into_where_it_is(tmp_path):
    with (tmp_path / "x").open("wb") as file:
        file.write(A.tobytes())
        nx.jit(lambda t: (t.tofile(file), (-t).tofile(file)), promotion="nx")(nx.tensor(A))
    np.testing.assert_array_equal(np.fromfile(tmp_path / "x"), [*A.ravel(), *A.ravel(), *-A.ravel()])


@RULES
def test_dump(tmp_path, promotion):
    def f(t):
        (t * 2).dump(tmp_path / "x")
        return t.sum()

    assert float(nx.jit(f, promotion=promotion)(nx.tensor(A) if promotion == "nx" else A)) == A.sum()
    found = pickle.loads((tmp_path / "x").read_bytes())
    assert type(found) is (nx.Tensor if promotion == "nx" else np.ndarray)
    np.testing.assert_array_equal(np.asarray(found), A * 2)


@RULES
def test_a_branch_writes_where_it_is_taken(tmp_path, promotion):
    @nx.defn(promotion=promotion)
    def f(t, wanted):
        if wanted > 0:
            t.tofile(tmp_path / "x")
        return t

    f(A, -1)
    assert not (tmp_path / "x").exists()
    f(A, 1)
    np.testing.assert_array_equal(np.fromfile(tmp_path / "x"), A.ravel())


def test_a_loop_of_the_program_writes_nothing():
    def f(t):
        return nx.fori(0, 3, lambda k, t: (t.tofile("x"), t)[1], t)

    with pytest.raises(TracedValueError) as raised:
        nx.jit(f)(nx.tensor(A))
    first, *_, last = str(raised.value).split("\n  ")
    assert first == ".tofile() writes what the program has computed, which is not possible in a loop of it."
    assert last == (
        "Return the values from the definition, and write them there; those of a loop in an array: a[i] = v."
    )
