"""Single elements as instructions of a program: arithmetic, elements of arrays, and what is part of the text."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, spec
from nxkernel import types
from nxkernel.ops.programs import control_flow

X = np.random.default_rng(0).random((5, 7))


def turns(count, body, state):
    """The state after so many turns of ``body(i, state)``."""
    return control_flow.run_while(
        [0, *state],
        lambda s: nx.less(s[0], count),
        lambda s: [s[0] + 1, *body(s[0], s[1:])],
        ["i", *(f"s{place}" for place in range(len(state)))],
    )[1:]


def put(x, value, *places):
    return nx.put_slice(x, list(places), nx.reshape(value, (1,) * x.rank))


@pytest.fixture
def programs(monkeypatch):
    """What is written of each graph that is compiled."""
    from nxkernel.compilers.numba_cpu.program import program_writer

    found, write = [], program_writer.write

    def kept(*given):
        found.append(write(*given))
        return found[-1]

    monkeypatch.setattr(program_writer, "write", kept)
    return found


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", [t for t in types.TYPES.values() if str(t) != "bool"], ids=str)
def test_elements_of_every_type(type_):
    def function(x):
        one = nx.as_type(nx.s64(1), type_)
        return turns(4, lambda i, s: [put(s[0], s[0][i] * x[i + 1] + one, i + 1)], [x])[0]

    (found,) = agree(function, np.arange(1, 6).astype(type_.dtype), rtol=1e-2)
    expected = np.array([1, 3, 10, 41, 206]).astype(type_.dtype)
    np.testing.assert_allclose(found.astype("c16"), expected.astype("c16"))


def test_elements_of_views():
    def function(x):
        turned = nx.transpose(x)[1:, ::2]
        return turns(3, lambda i, s: [s[0] + turned[i, i % 3]], [nx.f64(0.0)])[0]

    (found,) = agree(function, X, rtol=1e-14)
    np.testing.assert_allclose(found, sum(X.T[1:, ::2][i, i % 3] for i in range(3)))


@pytest.mark.parametrize("start", [-(2**62), -1, 0, 4, 5, 2**62])
def test_indices_from_outside_are_clamped(start):
    def function(x, start):
        return turns(2, lambda i, s: [s[0] + x[start, i]], [nx.f64(0.0)])[0]

    (found,) = agree(function, X, np.int64(start))
    row = X[min(max(start, 0), 4)]
    assert found == row[0] + row[1]


def test_unsigned_indices_are_clamped():
    def function(x, start):
        return turns(1, lambda i, s: [s[0] + x[start, i]], [nx.f64(0.0)])[0]

    for start in (0, 4, 2**64 - 1):
        (found,) = agree(function, X, np.uint64(start))
        assert found == X[min(start, 4), 0]


def test_sums_at_a_place():
    def function(x, places):
        def body(i, s):
            where = nx.reshape(places[i], (1, 1))
            return [nx.indexed_add(s[0], where, nx.reshape(x[0, i], (1,)))]

        return turns(4, body, [x[1]])[0]

    (found,) = agree(function, X, np.array([2, 2, 0, 6]), rtol=1e-14)
    expected = X[1].copy()
    np.add.at(expected, [2, 2, 0, 6], X[0, :4])
    np.testing.assert_allclose(found, expected)


def test_small_integers_are_part_of_the_text():
    def text(number):
        return compiled(lambda x: turns(5, lambda i, s: [s[0] + number], [x])[0], spec("s64")).symbol

    assert text(2) != text(3)
    assert text(1000) == text(2000)


def test_what_is_divided_by_is_part_of_the_text(programs):
    compiled(lambda x: turns(5, lambda i, s: [nx.remainder(s[0] * 77777, 100003)], [x])[0], spec("s64"))
    assert "100003" in programs[0].text
    assert "77777" not in programs[0].text


def test_one_stride_is_one_scalar_parameter(programs):
    def function(x):
        return turns(4, lambda i, s: [put(s[0], s[0][i, 1] + s[0][i + 1, 2] + nx.sum(s[0][i]), i, 0)], [x])[0]

    agree(function, X, rtol=1e-14)
    assert programs[0].params.tolist().count(7) == 1


def test_a_function_of_complex_numbers():
    (found,) = agree(lambda z: turns(9, lambda i, s: [s[0] * s[0] + z], [z])[0], np.complex128(-0.4 + 0.5j), rtol=1e-12)
    z = -0.4 + 0.5j
    for _ in range(9):
        z = z * z + (-0.4 + 0.5j)
    np.testing.assert_allclose(found, z)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("type_", [types.s8, types.s16, types.s32, types.s64], ids=str)
def test_what_is_never_negative_is_divided_without_a_sign(type_, programs):
    def by(number):
        def body(i, s):
            value = nx.as_type(i, type_) + nx.as_type(nx.s64(number), type_)
            two = nx.as_type(nx.s64(3), type_)
            return [s[0] + nx.as_type(nx.remainder(value, two) * 10 + nx.quotient(value, two), "s64")]

        return lambda x: turns(9, body, [x])[0]

    for number in (0, -5):
        (found,) = agree(by(number), np.int64(0))
        values = range(number, number + 9)
        assert found == sum(int(np.fmod(v, 3)) * 10 + int(v / 3) for v in values)
    without, signed = (made.text for made in programs)
    assert " urem " in without
    assert " srem " not in without
    assert " srem " in signed
