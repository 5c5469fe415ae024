"""Vectorized axes: making and unmaking them, and every function over them."""

import dataclasses
import itertools

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

RANDOM = np.random.default_rng(3)
T = np.round(RANDOM.uniform(0.1, 0.9, (2, 3, 4)), 3)
U = np.round(RANDOM.uniform(0.1, 0.9, (3, 3, 4)), 3)
SQUARES = T[:, :, :3] @ T[:, :, :3].swapaxes(1, 2) + np.eye(3)


def text(error, function, *args, **options):
    with pytest.raises(error) as raised:
        function(*args, **options)
    return str(raised.value)


# Making and unmaking them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "found", "shape"),
    [
        ("x", (("x", 2),), (3, 4)),
        (["x", "y"], (("x", 2), ("y", 3)), (4,)),
        ({"x": 2, "y": 3}, (("x", 2), ("y", 3)), (4,)),
        ([("x", 2), "y"], (("x", 2), ("y", 3)), (4,)),
        ([], (), (2, 3, 4)),
    ],
)
def test_first_axes_become_vectorized(axes, found, shape):
    tensor = nx.vectorize(nx.tensor(T), axes)
    assert tensor.vectorized_axes == found
    assert tensor.shape == shape
    assert (tensor.rank, tensor.size, len(tensor)) == (len(shape), np.prod(shape), shape[0])
    assert nx.flat_size(tensor) == 24
    assert nx.byte_size(tensor) == 192
    np.testing.assert_array_equal(tensor.to_numpy(), T)


def test_names_of_other_axes_stay():
    tensor = nx.iota((2, 3, 4), names=["a", "b", None])
    assert tensor.vectorize("x").names == ("b", None)
    assert tensor.vectorize("a").vectorized_axes == (("a", 2),)
    assert tensor.vectorize("x").vectorize("y").vectorized_axes == (("x", 2), ("y", 3))


def test_axes_that_cannot_be_vectorized():
    tensor = nx.iota((2, 3), names=[None, "y"])
    assert text(NxValueError, nx.vectorize, 1.0, "x") == (
        "vectorize needs an axis for each of ['x'], f32 has 0.\n"
        "  Its first axes become vectorized axes; nx.new_axis adds one."
    )
    assert text(NxValueError, nx.vectorize, tensor, {"x": 3}) == (
        "the axis 'x' is to have size 3, in s64[2][y: 3] it has size 2"
    )
    assert text(NxValueError, nx.vectorize, tensor.vectorize("x"), "x") == (
        "vectorized[x: 2] s64[y: 3] has a vectorized axis 'x' already.\n  Choose another name for this one."
    )
    assert text(NxValueError, nx.vectorize, tensor, "y") == (
        "the name 'y' would stand for a vectorized axis and for an axis of s64[y: 3].\n"
        "  Give the axis another name with nx.rename(t, [...]), or none."
    )
    assert text(NxValueError, nx.rename, nx.vectorize(nx.iota((2, 3)), "x"), ["x"]).startswith("the name 'x' would")
    assert text(NxValueError, nx.vectorize, tensor, ["x", "x"]) == (
        "the name 'x' stands for two vectorized axes; names must differ"
    )
    assert text(NxTypeError, nx.vectorize, tensor, 2) == (
        "vectorized axes are a name, a list of names, or a dict of sizes, got 2.\n"
        '  For example "x", ["x", "y"] or {"x": 2}.'
    )
    assert text(NxTypeError, nx.vectorize, tensor, [0]) == "the name of a vectorized axis is a str, got 0"
    assert text(NxValueError, nx.template, (2,), "f32", vectorized_axes={"x": 0}) == (
        "the size of a vectorized axis is at least 1, got 0 for 'x'"
    )


def test_devectorize():
    tensor = nx.vectorize(nx.iota((2, 3), names=["row", "column"]), "x")
    assert tensor.devectorize().spec == nx.iota((2, 3), names=["x", "column"]).spec
    assert tensor.devectorize(keep_names=False).names == (None, "column")
    plain = nx.iota(3)
    assert nx.devectorize(plain) is plain


@dataclasses.dataclass(frozen=True)
class Pair:
    first: object
    second: object


def test_containers():
    made = nx.vectorize({"a": (nx.f32([1, 2]), [nx.f32([3])]), "b": Pair([1, 2], 5 * nx.f32([1]))}, "x")
    assert made["a"][0].vectorized_axes == (("x", 2),)
    assert made["a"][1][0].vectorized_axes == (("x", 1),)
    assert made["b"].first.vectorized_axes == (("x", 2),)
    plain = nx.devectorize(made)["b"]
    assert (plain.first.to_list(), plain.second.to_list()) == ([1, 2], [5])
    assert nx.devectorize((1, made["a"]))[0].spec == nx.tensor(1).spec


def test_revectorize():
    tensor = nx.vectorize(nx.iota((2, 2, 2), names=[None, None, "k"]), ["x", "y"])
    assert str(tensor.revectorize({"z": 4}).spec) == "vectorized[z: 4] s64[k: 2]"
    assert str(tensor.revectorize([("y", "auto"), ("x", 2)]).spec) == "vectorized[y: 2][x: 2] s64[k: 2]"
    made = tensor.revectorize({"z": 2}, target_shape=(1, "auto"), target_names=["one", "all"])
    assert str(made.spec) == "vectorized[z: 2] s64[one: 1][all: 4]"
    assert made.to_list() == [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]
    assert str(tensor.revectorize({}, target_shape=(8,)).spec) == "s64[8]"
    assert text(NxValueError, tensor.revectorize, {"z": 3}).startswith("cannot reshape 8 elements to [3][2]")
    assert text(NxValueError, tensor.revectorize, "z") == "the vectorized axis 'z' needs a size: write {'z': 2}"


def test_tensors_are_given_the_same_vectorized_axes():
    a, b = nx.vectorize(nx.f32([1, 2]), "x"), nx.vectorize(nx.f32([[3, 4, 5]]), {"x": 1, "y": 3})
    both = (("x", 2), ("y", 1)), (("x", 1), ("y", 3))
    assert tuple(t.vectorized_axes for t in nx.reshape_vectors([a, b])) == both
    assert [t.vectorized_axes for t in nx.reshape_vectors((b, 7))] == [b.vectorized_axes, (("x", 1), ("y", 1))]
    first, rest = nx.broadcast_vectors([a, {"b": b}])
    assert first.spec == rest["b"].spec
    assert first.vectorized_axes == (("x", 2), ("y", 3))
    assert first.to_list() == [[1, 1, 1], [2, 2, 2]]
    assert rest["b"].to_list() == [[3, 4, 5]] * 2
    c = nx.vectorize(nx.iota((2, 2, 3)), "x")
    assert [t.shape for t in nx.broadcast_vectors([a, c], align_ranks=True)] == [(1, 1), (2, 3)]
    assert [t.shape for t in nx.reshape_vectors([c, a], align_ranks=True)] == [(2, 3), (1, 1)]
    assert text(NxTypeError, nx.broadcast_vectors, a) == (
        "broadcast_vectors takes a list of tensors, got a tensor (f32)"
    )


def test_sizes_that_do_not_go_together():
    a, b = nx.vectorize(nx.f32([1, 2]), "x"), nx.vectorize(nx.f32([1, 2, 3]), "x")
    for function in (nx.add, nx.jit(nx.add), lambda a, b: nx.broadcast_vectors([a, b])):
        assert text(NxValueError, function, a, b).splitlines()[:3] == [
            "the vectorized axis 'x' has size 2 in vectorized[x: 2] f32 and size 3 in vectorized[x: 3] f32.",
            "  Sizes must be equal, or one of them 1.",
            "  nx.revectorize(t, {...}) gives vectorized axes other names and sizes.",
        ]


def test_tensors_of_entries_in_another_order():
    t = nx.iota((2, 3))
    a, b = nx.vectorize(t, ["x", "y"]), nx.vectorize(nx.transpose(t), ["y", "x"])
    assert (a - b).vectorized_axes == (("x", 2), ("y", 3))
    assert nx.all(nx.devectorize(a - b) == 0)
    assert (b - nx.vectorize(nx.iota((1, 1, 3)), ["x", "z", "y"])).vectorized_axes == (("y", 3), ("x", 2), ("z", 1))


def test_numbers_and_scalars_that_are_the_same_for_all():
    t = nx.vectorize(nx.f32([1, 5]), "x")
    assert nx.to_list(t + 1) == [2, 6]
    assert nx.clip(t, 2, 3).to_list() == [2, 3]
    assert text(NxValueError, nx.clip, t, t, 3).startswith("the bound 'min' of clip is a scalar, got vectorized[x: 2]")
    assert (
        text(NxValueError, nx.pad, nx.f32([1]), t, [(1, 0, 0)]) == "pad_value is one number, got vectorized[x: 2] f32"
    )
    assert text(NxTypeError, nx.reduce, nx.f32([1]), t, lambda a, b: a).startswith("reduce starts with one number, got")
    assert text(NxTypeError, nx.to_number, nx.vectorize(nx.f32([1]), "x")).startswith("to_number takes a scalar, got")


# Every function ----------------------------------------------------------------------------------------------------

#: Of one tensor of 3 × 4.
OF_ONE = {
    "operators": lambda t: -(t**2) % 0.3 // 0.1 + abs(t) @ nx.iota((4, 4)),
    "rounding": lambda t: nx.round(t * 9) + nx.sign(t) + nx.floor(t) * nx.fill(t, 3),
    "fill": lambda t: nx.fill(t, 3),
    "is_nan": lambda t: nx.is_nan(nx.as_type(t * 9, "s64")),
    "imag": lambda t: nx.imag(t) + nx.real(t) * nx.phase(t),
    "complex": lambda t: nx.abs(nx.complex(t, t)),
    "bits": lambda t: nx.bitcast(t, "s64") & 255,
    "reshape": lambda t: nx.reshape(t, (2, "auto")),
    "flatten": nx.flatten,
    "rename": lambda t: nx.rename(t, ["a", "b"]),
    "new_axis": lambda t: nx.squeeze(nx.new_axis(t, 1)),
    "broadcast": lambda t: nx.broadcast(t, (3, 2, 4), axes=[0, 2]),
    "tile": lambda t: nx.tile(t, [2, 1, 2]),
    "pad": lambda t: nx.pad(t, 0.5, [(1, -1, 2), (0, 1, 0)]),
    "pad_outer": lambda t: nx.pad_outer(t, "reflect", [(1, 0), (0, 2)]),
    "reverse": lambda t: nx.reverse(t, axes=[-1]),
    "brackets": lambda t: t[1:, ::-2] * t[nx.tensor(1), None, ..., 0],
    "take": lambda t: nx.take(t, nx.tensor([2, 0, 1]), axis=-1),
    "slice": lambda t: nx.slice(t, [nx.tensor(5), 1], [2, 2]),
    "split": lambda t: nx.split(t, 0.5, axis=1)[1],
    "diagonals": lambda t: nx.put_diagonal(t, nx.take_diagonal(t) + 1),
    "triangles": lambda t: nx.tril(t) - nx.triu(t, k=1),
    "reductions": lambda t: nx.sum(t, axes=[0], keep_axes=True) + nx.reduce_max(t, axes=[1], keep_axes=True),
    "all": lambda t: nx.all(t > 0.2, axes=[0]),
    "statistics": lambda t: nx.mean(t) + nx.variance(t) + nx.standard_deviation(t) + nx.median(t),
    "covariance": lambda t: nx.covariance(t),
    "mode": lambda t: nx.mode(nx.round(t * 3), axis=0),
    "argmax": lambda t: nx.argmax(t) + nx.argmin(t, axis=1, tie_break="high"),
    "logsumexp": lambda t: nx.logsumexp(t, axes=[1]),
    "softmax": lambda t: nx.exp(t) / nx.sum(nx.exp(t), axes=[1], keep_axes=True),
    "cumulative": lambda t: nx.cumulative_sum(t, axis=1, reverse=True) + nx.cumulative_max(t),
    "diff": nx.diff,
    "sort": lambda t: nx.sort(t, axis=1, direction="desc") + nx.argsort(t, axis=1),
    "top_k": lambda t: nx.top_k(t, k=2)[0],
    "windows": lambda t: nx.window_sum(t, (2, 2), padding="same") + nx.window_max(t, (3, 1), padding=[(1, 1), (0, 0)]),
    "window_reduce": lambda t: nx.window_reduce(t, 0.0, (2, 2), lambda x, a: x + 2 * a),
    "reduce": lambda t: nx.reduce(t, 1.0, lambda x, a: x - a, axes=[1]),
    "map": lambda t: nx.map(t, lambda x: x * 2),
    "conv": lambda t: nx.conv(nx.reshape(t, (1, 3, 4)), nx.iota((2, 3, 2), type="f64"), padding="same"),
    "dot": lambda t: nx.dot(t, [0], nx.iota((3, 2), type="f64"), [0]) - nx.dot(nx.iota((4, 4)), [1], t, [1])[:, :2],
    "outer": lambda t: nx.outer(t[0], t[:, 0]),
    "linspace": lambda t: nx.linspace(t, t + 1, n=3, type="f64"),
    "concatenate": lambda t: nx.concatenate([t, nx.iota((1, 4))]),
    "stack": lambda t: nx.stack([t, nx.iota((3, 4)), t], axis=1),
    "select": lambda t: nx.select(t > 0.5, t, 0),
    "all_close": lambda t: nx.all_close(t, 0.5, atol=0.4),
    "fft": lambda t: nx.abs(nx.fft(t, length=3)) + nx.irfft(nx.rfft(t, length=4), length=3),
    "norm": lambda t: nx.linalg.norm(t),
    "pinv": lambda t: nx.linalg.pinv(t),
    "qr": lambda t: nx.abs(nx.linalg.qr(t)[1]),
    "entry after entry": lambda t: sum(nx.sum(row) * place for place, row in enumerate(t)),
}  # fmt: skip


def weighted(t, weight):
    return nx.reduce(t, 0.0, lambda x, a: x + a * weight, axes=[0])


#: Of tensors with different vectorized axes, of 3 × 4 each.
OF_TWO = {
    "operators": lambda t, u: t + u * 2 - nx.max(t, u),
    "broadcast": lambda t, u: t[:, :1] + u[0],
    "select": lambda t, u: nx.select(u > 0.5, t, u),
    "concatenate": lambda t, u: nx.concatenate([u, t, t]),
    "dot": lambda t, u: nx.dot(t, [1], u, [1]),
    "matmul": lambda t, u: t @ nx.transpose(u),
    "batched": lambda t, u: nx.dot(t, [1], [0], u, [1], [0]),
    "weighted_mean": nx.weighted_mean,
    "conv": lambda t, u: nx.conv(nx.reshape(t, (1, 3, 4)), nx.reshape(u, (2, 3, 2))),
    "brackets": lambda t, u: t[nx.as_type(u[0, 0] * 3, "s64")],
    "take": lambda t, u: nx.take(t, nx.as_type(u * 3, "s64"), axis=1),
    "take_along_axis": lambda t, u: nx.take_along_axis(t, nx.as_type(u * 3, "s64"), axis=0),
    "put_slice": lambda t, u: nx.put_slice(t, [1, nx.as_type(u[0, 1] * 4, "s64")], u[:2, :2]),
    "indexed_add": lambda t, u: nx.indexed_add(t, nx.as_type(u[:, :2] * 3, "s64"), u[:, 3]),
    "reduce": lambda t, u: weighted(t, u[0, 0]),
    "linspace": lambda t, u: nx.linspace(t[0], u[0], n=4, type="f64"),
    "all_close": lambda t, u: nx.all_close(t, u, atol=0.5),
}  # fmt: skip
#: Of two symmetric, positive definite 3 × 3 matrices.
OF_MATRICES = {
    "cholesky": lambda a, b: nx.linalg.cholesky(a),
    "solve": nx.linalg.solve,
    "triangular_solve": lambda a, b: nx.linalg.triangular_solve(nx.linalg.cholesky(a), b),
    "invert": lambda a, b: nx.linalg.invert(a) + nx.linalg.adjoint(b),
    "determinant": lambda a, b: nx.linalg.determinant(a) * b,
    "eigh": lambda a, b: nx.linalg.eigh(a)[0],
    "svd": lambda a, b: nx.linalg.svd(a)[1],
    "lu": lambda a, b: nx.linalg.lu(a)[2],
    "matrix_power": lambda a, b: nx.linalg.matrix_power(a, 3),
    "matrix_rank": lambda a, b: nx.linalg.matrix_rank(a),
}  # fmt: skip


def close(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def entries(function, sizes):
    """What a function of an index gives for each entry, together."""
    made = [nx.to_tensor(function(*index)) for index in np.ndindex(*sizes)]
    return made[0].spec, np.stack([part.to_numpy() for part in made]).reshape(sizes + made[0].shape)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("how", ["eager", "evaluator"])
@pytest.mark.parametrize("name", OF_ONE)
def test_a_function_sees_one_entry(name, how):
    function = OF_ONE[name]
    found = run(function, how, nx.vectorize(T, "x"))
    spec, expected = entries(lambda i: function(nx.tensor(T[i])), (2,))
    assert found.vectorized_axes == (("x", 2),)
    assert found.spec.entry == spec
    close(found.to_numpy(), expected)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("how", ["eager", "evaluator", "numba_cpu"])
@pytest.mark.parametrize("name", OF_TWO)
def test_every_entry_of_one_meets_every_entry_of_another(name, how):
    function = OF_TWO[name]
    found = run(function, how, nx.vectorize(T, "x"), nx.vectorize(U, "y"))
    spec, expected = entries(lambda i, j: function(nx.tensor(T[i]), nx.tensor(U[j])), (2, 3))
    assert sorted(found.vectorized_axes) == [("x", 2), ("y", 3)]
    assert found.spec.entry == spec
    found = found.devectorize(keep_names=True)
    close(nx.transpose(found, axes=["x", "y", *range(2, found.rank)]).to_numpy(), expected)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("how", ["eager", "evaluator", "numba_cpu"])
@pytest.mark.parametrize("name", OF_TWO)
def test_only_one_side_is_vectorized(name, how):
    function = OF_TWO[name]
    for place, axis in enumerate("xy"):
        given = [T, U[1:]]
        given[place] = nx.vectorize(given[place], axis)
        given[1 - place] = nx.tensor(given[1 - place][0])
        found = run(function, how, *given)

        def one(index, place=place):
            sides = [nx.tensor(T[0]), nx.tensor(U[1])]
            sides[place] = nx.tensor([T, U[1:]][place][index])
            return function(*sides)

        spec, expected = entries(one, (2,))
        assert found.vectorized_axes == ((axis, 2),)
        assert found.spec.entry == spec
        close(found.to_numpy(), expected)


@pytest.mark.parametrize("how", ["eager", "evaluator"])
@pytest.mark.parametrize("name", OF_MATRICES)
def test_linear_algebra(name, how):
    function = OF_MATRICES[name]
    found = run(function, how, nx.vectorize(SQUARES, "x"), nx.vectorize(SQUARES, "x"))
    spec, expected = entries(lambda i: function(nx.tensor(SQUARES[i]), nx.tensor(SQUARES[i])), (2,))
    assert found.spec.entry == spec
    close(found.to_numpy(), expected)


def run(function, how, *given):
    return function(*given) if how == "eager" else nx.jit(function, compiler=how)(*given)


def test_constants_inside_are_the_same_for_all():
    t = nx.vectorize(nx.f32([1, 2]), "x")
    assert (t * nx.eye(2)).to_list() == [[[1, 0], [0, 1]], [[2, 0], [0, 2]]]
    assert nx.iota((2,), vectorized_axes={"x": 3}).to_list() == [[0, 1]] * 3
    assert nx.eye(2, vectorized_axes=[("x", 1), ("y", 2)]).vectorized_axes == (("x", 1), ("y", 2))
    assert text(NxValueError, nx.iota, 2, names=["x"], vectorized_axes={"x": 3}).startswith("the name 'x' would")


def test_keys_of_entries_give_numbers_of_their_own():
    keys = nx.vectorize(nx.random.split(nx.random.key(3), parts=3), "k")
    found, _ = nx.random.uniform(keys, shape=(4,))
    expected = [nx.random.uniform(keys.devectorize()[k], shape=(4,))[0].to_list() for k in range(3)]
    assert found.vectorized_axes == (("k", 3),)
    assert found.to_list() == expected


def test_compatible():
    def vector(axes, *shape):
        return nx.template(shape, "f32", vectorized_axes=axes)

    assert nx.compatible(vector({"x": 2}, 3), vector({"x": 2}, 3))
    for other in (vector({"x": 1}, 3), vector({"y": 2}, 3), vector({}, 3), vector({"x": 2})):
        assert not nx.compatible(vector({"x": 2}, 3), other)


def test_the_order_of_axes_is_that_of_the_arguments():
    t, u, v = (nx.vectorize(nx.f32([1, 2]), name) for name in "tuv")
    for order in itertools.permutations([t, u, v]):
        names = [value.vectorized_axes[0][0] for value in order]
        assert [name for name, _ in nx.stack(order).vectorized_axes] == names
        assert [name for name, _ in nx.select(*order).vectorized_axes] == names
