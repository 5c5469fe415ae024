"""Places in memory as indices of arrays."""

import pytest

from nxkernel.compilers.numba_njit.array_indices import IndexTerm, flat_index, indices


@pytest.mark.parametrize(
    ("shape", "fixed", "terms", "expected"),
    [
        ((4, 10), 0, [("i", 3, 10), ("j", 9, 1)], ["i", "j"]),
        ((4, 10), 11, [("i", 2, 10), ("j", 7, 1)], ["i + 1", "j + 1"]),
        ((4, 10), 0, [("i", 3, 11)], ["i", "i"]),
        ((4, 10), 39, [("i", 3, -10), ("j", 9, -1)], ["3 - i", "9 - j"]),
        ((4, 10), 0, [("j", 9, 1)], ["0", "j"]),
        ((4, 1, 10), 0, [("i", 3, 10), ("j", 4, 2)], ["i", "0", "2 * j"]),
        ((4, 10), 0, [("i", 39, 1)], None),
        ((4, 10), 8, [("j", 3, 1)], None),
        ((), 0, [], []),
        ((1, 1), 0, [("i", 0, 5)], ["0", "0"]),
    ],
)  # fmt: skip
def test_one_index_an_axis(shape, fixed, terms, expected):
    assert indices(shape, fixed, [IndexTerm(*term) for term in terms]) == expected


def test_all_elements_as_one_axis():
    assert flat_index(3, [IndexTerm("i", 4, 10)], ["a * 2", "b"]) == "10 * i + 3 + a * 2 + b"
    assert flat_index(0, [], ["place"]) == "place"
    assert flat_index(9, [IndexTerm("i", 4, -1)]) == "9 - i"
    assert flat_index(0, []) == "0"
