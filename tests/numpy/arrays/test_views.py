"""Parts of arrays that share their memory, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as xp
from numpy_comparison.source_text import assert_same, function_of
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError, NxValueError

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])


def _written(m, part):
    seen = part(m)
    seen += 10
    seen[..., 0] = 7
    m[2] *= 2
    return m, seen


ROWS = {
    "slices": lambda np, m: _written(m, lambda m: m[1:, ::2]),
    "transposed": lambda np, m: _written(m, lambda m: m.T[1:]),
    "reshaped": lambda np, m: _written(m, lambda m: m.reshape(2, 6)[:, 1:4]),
    "views of views": lambda np, m: _written(m, lambda m: m[::-1][1:].T[::2]),
    "with new axes": lambda np, m: _written(m, lambda m: m[None, :, 1, None]),
    "flat": lambda np, m: _written(m, lambda m: m.ravel()[3:7]),
    "swapped": lambda np, m: _written(m, lambda m: m.swapaxes(0, 1)[0]),
    "copies": lambda np, m: _written(m, lambda m: m[[0, 1]]),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


SLICES = [
    slice(None, None, 3), slice(2, None, 5), slice(-2, 3, -4), slice(None, None, -7), slice(40, 80, 2), slice(9, 2, 2),
    slice(-400, 400, 9), slice(5, 6, 20), slice(None, 1, -13),
]  # fmt: skip


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("key", SLICES, ids=str)
@pytest.mark.parametrize("kind", ["f8", "i2", "?", "c16"])
def test_slices_with_steps_are_assigned(key, kind):
    def assigned(np, x, m):
        x[key] = 7
        x[key] = x[key][::-1]
        m[key, 1::2] = m[key, :2]
        m[::2, key] = 3
        if kind != "?":
            x[key] += 1
            m[..., key][::2] *= 2
        return x, m

    x = np.arange(41) % 5
    check(assigned, x.astype(kind), np.arange(41 * 4).reshape(41, 4).astype(kind))


@pytest.mark.parametrize("seed", range(5))
def test_random_slices_are_assigned(seed):
    rng = np.random.default_rng(seed)

    def bound(size):
        return None if rng.random() < 0.3 else int(rng.integers(-size - 3, size + 4))

    keys = []
    for _ in range(6):
        steps = [int(rng.choice([-5, -3, -1, 1, 2, 3, 4])) for _ in range(2)]
        keys.append(tuple(slice(bound(n), bound(n), step) for n, step in zip((17, 9), steps, strict=True)))

    def assigned(np, m):
        for number, key in enumerate(keys):
            m[key] = m[key] * 2 + number
            m[key][::2] = number
        return m

    check(assigned, np.arange(17 * 9).reshape(17, 9))


FOUND_BY_RANDOM_PROGRAMS = """
p = a.flat[1:3]; p[...] = 0; a.flat[3:] = 7; return a, p
a.T.flat[1] = 5; a[::-1].flat = 3; return a
p = np.copy(a[0, 0]); p[...] = 8; return a, p
p = np.where(a[0, 0] > 1, 2, 3); q = p; p += 5; return p, q
p = np.pad(a[0, 0] * 1.0, 1); p.fill(3); return p
p = a[0, 0].flat[0]; return p
p = np.array(2).astype(bool); q = np.zeros_like(7).astype(bool); p[...] = False; q[...] = True; return p, q
return a + 1j > 3, a + 1j <= 3 + 1j, (a + 1j).ravel() < (a - 1j).ravel()
return np.maximum.accumulate(a > 2), (a > 2) ** 2, np.subtract.reduce((a > 2).astype("i1"))
"""


@pytest.mark.parametrize("text", FOUND_BY_RANDOM_PROGRAMS.strip().splitlines())
@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_what_random_programs_found(text, compiler):
    f = function_of(text, "a")
    ours, theirs = M.copy(), M.copy()
    assert_same(nx.defn(f, promotion="numpy", compiler=compiler)(ours), f(theirs))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize("text", ["np.diagonal(a[i:, :2])", "a[a > 1].flat", "a[i:].flat"])
def test_parts_of_traced_length_refuse_what_takes_a_size(text):
    f = function_of(f"return {text}", "a, i")
    with pytest.raises(NxTypeError, match="only the running program knows: this use of it is not possible"):
        nx.defn(f, promotion="numpy")(M.copy(), np.int64(1))


WHOLE = [
    "a[:]",
    "a[...]",
    "a[:, :]",
    "a[0:2]",
    "a[()]",
    "a.view()",
    "a.T.T",
    "a.squeeze()",
    "a.real",
    "np.asarray(a)",
    "a.reshape(2, 3)",
    "np.broadcast_arrays(a, np.ones((2, 3)))[0]",
]


@pytest.mark.parametrize("view", WHOLE)
def test_a_view_of_all_is_another_array_where_it_is_one_in_numpy(view):
    function = function_of(f"b = {view}\nsame = b is a\nb.shape = (3, 2)\nb[0, 1] = 9.0\nreturn a, b, same", "a")
    a = np.arange(6.0).reshape(2, 3)
    assert_same(nx.defn(function, promotion="numpy")(a.copy()), function(a.copy()))


def test_an_argument_that_is_given_another_shape_has_it_afterwards():
    function = function_of("a.shape = 3, 2\na[0] = 9.0\nreturn a.sum(axis=0)", "a")
    program = nx.jit(function)
    for _ in range(3):
        mine, theirs = np.arange(6.0), np.arange(6.0)
        assert_same(program(mine), function(theirs))
        assert_same(mine, theirs)


def test_a_captured_array_is_not_given_another_shape():
    weights = np.arange(6.0)

    def program(x):
        weights.shape = 2, 3
        return x * weights.sum()

    with pytest.raises(NxTypeError, match=r"^weights is an array from outside .* it is given the shape \(2, 3\)\."):
        nx.jit(program)(2.0)
    assert weights.shape == (6,)


FRACTIONS = (np.arange(6.0) * 1.7 - 3).reshape(2, 3)


def field_written(x):
    field = x.getfield(np.int32, 4)
    field[0, 1] = 7
    return field * 1


def field_followed(x):
    field = x.getfield(np.int32, 4)
    x[0] = 1
    return field * 1


def field_set(x):
    x.setfield(5, np.int16, 2)
    return x * 1


def without_signs(x):
    x.view(np.uint64)[...] &= np.uint64(0x7FFFFFFFFFFFFFFF)
    return x * 1


def swapped_in_place(x):
    return x.byteswap(inplace=True) * 1


def imaginary_set(x):
    z = x + 1j
    z.setfield(2.5, np.float64, 8)
    return z, z.getfield(np.float32, 4)


def masks(x):
    mask = x > 0
    mask.view(np.uint8)[0] = 0
    return mask, mask.view(np.int8).sum()


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "function",
    [
        field_written, field_followed, field_set, without_signs, swapped_in_place, imaginary_set, masks,
        lambda x: x.getfield(np.int32, 4), lambda x: x.T.getfield(np.int16, 2), lambda x: x[:, ::2].view("u8") >> 52,
        lambda x: x.view(np.complex64) * 1, lambda x: x[0, 0].view(np.int64), lambda x: x[0, 0].getfield(np.int32, 4),
        lambda x: x.byteswap(), lambda x: x.view().sum(),
    ],
)  # fmt: skip
def test_fields_of_elements(function):
    expected_in, given, array = FRACTIONS.copy(), FRACTIONS.copy(), xp.asarray(FRACTIONS.copy())
    expected = function(expected_in)
    for found, changed in ((nx.jit(function, promotion="numpy")(given), given), (function(array), array)):
        np.testing.assert_array_equal(np.asarray(changed), expected_in)
        pairs = [(found, expected)] if not isinstance(expected, tuple) else zip(found, expected, strict=True)
        for one, other in pairs:
            assert np.asarray(one).dtype == other.dtype
            assert np.asarray(one).tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: x.view("i4"), NxTypeError, "view() shows elements of f64 as those of types of 8 bytes, not as s32."),
        (lambda x: x.getfield("i4", 6), NxValueError, "getfield(): an element of f64 has 8 bytes, and no s32 from"),
        (lambda x: x.getfield("?"), NxTypeError, "getfield() shows no elements of f64 as those of bool."),
        (lambda x: (x > 0).view("?").view("f2"), NxTypeError, "view() shows elements of bool as those of types"),
    ],
)  # fmt: skip
def test_fields_that_there_are_not(function, error, text):
    for call in (function, nx.jit(function, promotion="numpy")):
        with pytest.raises(error) as raised:
            call(xp.asarray(FRACTIONS) if call is function else FRACTIONS)
        assert str(raised.value).startswith(text)


def test_gradient_through_a_field_of_the_same_type():
    np.testing.assert_array_equal(
        nx.grad(lambda x: (x.getfield(np.float64) ** 2).sum(), promotion="numpy")(FRACTIONS), 2 * FRACTIONS
    )
