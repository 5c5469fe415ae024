"""Each function of NumPy's with each of its keywords gives NumPy's values, types and shapes, or is refused.

Which calls there are, NumPy's signatures say (`tests/helpers/numpy_comparison/keyword_calls.py`). A sample of them
always runs, and ``pytest -m fuzz tests/numpy/test_every_keyword.py`` runs all, of each kind of arrays.
"""

import functools
import itertools
import zlib

import pytest

from numpy_comparison import keyword_calls

#: One call in so many always runs, and so many are one definition.
EVERY, TOGETHER = 1200, 15


def check(kind, texts):
    compared, different, inside = 0, [], []
    for group in itertools.batched(texts, TOGETHER) if hasattr(itertools, "batched") else _batches(texts):
        count, one, other = keyword_calls.differences(list(group), kind)
        compared, different, inside = compared + count, different + one, inside + other
    assert not different, f"{len(different)} of {compared}:\n" + "\n".join(different)
    assert not inside, f"{len(inside)} from inside:\n" + "\n".join(inside)
    return compared


def _batches(texts):
    texts = list(texts)
    return [texts[place : place + TOGETHER] for place in range(0, len(texts), TOGETHER)]


@functools.cache
def all_calls():
    return list(itertools.chain.from_iterable(map(keyword_calls.written, keyword_calls.names())))


def sampled(kind):
    return [text for text in all_calls() if zlib.crc32(f"{kind}{text}".encode()) % EVERY == 0]


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("kind", keyword_calls.KINDS)
def test_some_calls(kind):
    assert check(kind, sampled(kind)) > 8


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", keyword_calls.KINDS)
def test_all_calls(kind, say):
    say(f"{check(kind, all_calls())} calls of {kind}")


def test_what_differs_is_told():
    assert keyword_calls.differences(["np.sum(A, axis=1)", "np.nosuch(A)"], "f8") == (1, [], [])
    assert keyword_calls._differs([1.0, 2], [1.0, 2.5]) == "float64(), NumPy has int64()"
    assert keyword_calls._differs((1.0,), (1.5,)) == "1.5, NumPy has 1.0"


def test_each_function_is_called():
    calls = {name: len(list(keyword_calls.written(name))) for name in ("sum", "linalg.norm", "add", "fft.fft", "pad")}
    assert min(calls.values()) > 20
    assert len(keyword_calls.names()) > 300
