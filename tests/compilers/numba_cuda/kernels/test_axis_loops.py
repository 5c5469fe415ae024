"""Loops over axes: every index comes once, whatever the sizes and the number of threads."""

import itertools

import pytest

from nxkernel.compilers.numba_cuda.kernels.axis_loops import Span, axis_indices, nested, one_by_one, product
from nxkernel.compilers.numba_cuda.language import intrinsics
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter


class Places:
    """As much of what writes passes as loops need."""

    def __init__(self):
        self.w, self.located = SourceWriter(), {}

    def locate(self, indices):
        self.located = {**self.located, **indices}


def run(w, **names):
    found = []
    exec(w.text, {**intrinsics.simulated(), "found": found, **names})
    return found


def body_of(code):
    def body(lanes, vectors):
        for lane in lanes:
            indices = {**code.located, **lane}
            code.w.line(f"found.append(({', '.join(indices[axis] for axis in sorted(indices))},))")

    return body


@pytest.mark.parametrize("abreast", [1, 4])
@pytest.mark.parametrize("sizes", [(3, 4), (1, 1), (5, 7), (0, 3)], ids=str)
def test_every_index_comes_once(sizes, abreast):
    code = Places()
    spans = [Span(0, None, "n"), Span(1, "low", "m")]
    one_by_one(code.w, spans, "thread", "threads", body_of(code), abreast=abreast)
    found = [run(code.w, n=sizes[0], m=sizes[1], low=10, thread=t, threads=3) for t in range(3)]
    assert sorted(itertools.chain(*found)) == [(i, 10 + j) for i in range(sizes[0]) for j in range(sizes[1])]


@pytest.mark.parametrize("abreast", [1, 4])
def test_loops_in_each_other_keep_the_order(abreast):
    code = Places()
    nested(code, [Span(0, None, "n"), Span(1, "low", "m"), Span(2, None, "k")], body_of(code), abreast=abreast)
    found = run(code.w, n=2, m=3, k=5, low=10)
    assert found == [(i, 10 + j, k) for i in range(2) for j in range(3) for k in range(5)]
    assert code.located == {}


def test_no_axes_are_one_turn():
    code = Places()
    one_by_one(code.w, [], "0", "1", lambda lanes, vectors: code.w.line(f"found.append({len(lanes[0])})"))
    assert run(code.w) == [0]
    assert product(SourceWriter(), [], "count") == "1"


def test_indices_out_of_one_number():
    w = SourceWriter()
    found = axis_indices(w, "number", [Span(0, None, "a"), Span(1, None, "b"), Span(2, "first", "c")])
    w.line(f"found.append(({found[0]}, {found[1]}, {found[2]}))")
    assert run(w, number=2 * 12 + 1 * 4 + 3, a=5, b=3, c=4, first=100) == [(2, 1, 103)]
