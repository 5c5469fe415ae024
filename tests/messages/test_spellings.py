"""Arguments by the names of other libraries: the call is that of the documented names."""

import inspect

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn, optim
from nxkernel.messages import spellings

KEY = nx.random.key(1)
A = np.arange(24.0).reshape(2, 3, 4) % 7
T = nx.tensor(A)
M = nx.tensor(A[0])


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t: nx.mean(t, axis=0), A.mean(axis=0)),
        (lambda t: t.mean(axis=(0, -1)), A.mean(axis=(0, -1))),
        (lambda t: nx.sum(t, axes=1), A.sum(axis=1)),
        (lambda t: nx.sum(t, 1), A.sum(1)),
        (lambda t: t.sum((0, 1)), A.sum((0, 1))),
        (lambda t: nx.sum(t, dim=0, keepdim=True), A.sum(axis=0, keepdims=True)),
        (lambda t: nx.sum(t, axis=None, keepdims=True), A.sum(keepdims=True)),
        (lambda t: nx.argmax(t, axes=[2], keepdims=True), A.argmax(axis=2, keepdims=True)),
        (lambda t: t.argmin(1), A.argmin(1)),
        (lambda t: nx.median(t, axis=1, keep_axis=True), np.median(A, axis=1, keepdims=True)),
        (lambda t: nx.standard_deviation(t, axis=1, correction=1), A.std(axis=1, ddof=1)),
        (lambda t: nx.sort(t, 1), np.sort(A, 1)),
        (lambda t: nx.sort(t, axis=-1, descending=True), np.sort(A)[..., ::-1]),
        (lambda t: nx.transpose(t, (1, 0, 2)), A.transpose(1, 0, 2)),
        (lambda t: t.transpose(2, 0, 1), A.transpose(2, 0, 1)),
        (lambda t: t.reshape(4, -1), A.reshape(4, -1)),
        (lambda t: nx.reshape(t, newshape=(4, 6)), A.reshape(4, 6)),
        (lambda t: nx.clip(t, a_min=1, a_max=3), A.clip(1, 3)),
        (lambda t: nx.concatenate([t, t], 1), np.concatenate([A, A], 1)),
        (lambda t: nx.stack([t, t], -1), np.stack([A, A], -1)),
        (lambda t: nx.take(t, [1, 0], 1), A.take([1, 0], 1)),
        (lambda t: nx.tril(t, 1), np.tril(A, 1)),
        (lambda t: nx.take_diagonal(t, k=1), A.diagonal(1, 1, 2)),
        (lambda t: nx.fft(t, n=8), np.fft.fft(A, n=8)),
        (lambda t: nx.fft(t, 8), np.fft.fft(A, 8)),
        (lambda t: nx.select(condition=t > 3, x=t, y=0.0), np.where(A > 3, A, 0)),
        (lambda t: nx.map(t, fun=lambda x: 2 * x), 2 * A),
        (lambda t: nx.as_type(a=t, dtype=np.int32), A.astype(np.int32)),
        (lambda t: t.as_type(dtype="int32"), A.astype(np.int32)),
    ],
)
def test_numpys_names_are_ours(call, expected):
    for found in (call(T), nx.jit(call)(T)):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: nx.tensor([1], dtype=np.float32), np.float32([1])),
        (lambda: nx.linspace(0, 1, 5), np.linspace(0, 1, 5)),
        (lambda: nx.linspace(0, 1, num=5, dtype="f64"), np.linspace(0, 1, 5)),
        (lambda: nx.eye(2, 3), np.eye(2, 3)),
        (lambda: nx.tri(N=2, M=3), np.tri(2, 3)),
        (lambda: nx.top_k(M, 2)[0], np.sort(A[0])[:, ::-1][:, :2]),
        (lambda: nx.linalg.norm(M, axis=1, keepdims=True), np.linalg.norm(A[0], axis=1, keepdims=True)),
        (lambda: nx.random.normal(KEY, size=3, loc=2.0, scale=0.0)[0], np.full(3, 2.0)),
        (lambda: nx.random.randint(KEY, low=3, high=4, size=(2,))[0], np.full(2, 3)),
        (lambda: nx.jacobian(fun=lambda x: x * x)(nx.f32([1, 2])), np.diag([2.0, 4.0])),
    ],
)
def test_names_of_other_functions(call, expected):
    np.testing.assert_allclose(call(), expected, rtol=1e-6)


def test_layers_and_optimizers_take_other_names():
    assert str(nn.rms_norm(epsilon=0.5)) == str(nn.rms_norm(eps=0.5))
    assert repr(optim.scale_by_adam(epsilon=0.5)) == repr(optim.scale_by_adam(eps=0.5))


def test_a_definition_is_the_same_program():
    graphs = [
        str(nx.debug_expr(f)(T))
        for f in (lambda t: nx.sum(t, axes=[1], keep_axes=True), lambda t: t.sum(axis=1, keepdims=True))
    ]
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nx.sum(T, axis=0, axes=1), "sum got axis= and axes=, which are one argument."),
        (lambda: nx.sum(T, 0, axis=1), "sum takes 1 argument by position, got 2."),
        (lambda: nx.sum(T, axis=0, out=T), "sum takes no out=."),
        (lambda: nx.sum(T, 0, 1), "sum takes 1 argument by position, got 3."),
        (lambda: nx.concatenate(T, T), "concatenate takes 1 argument by position, got 2."),
        (lambda: nx.iota(0, 10), "iota takes 1 argument by position, got 2."),
    ],
)
def test_what_says_two_things_is_refused(call, text):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value).splitlines()[0] == text


def test_an_error_of_the_call_is_told_alone():
    with pytest.raises(IndexError) as error:
        nx.sum(T, axis=5)
    assert error.value.__context__ is None


def test_every_name_means_a_parameter_that_some_function_has():
    functions = [
        getattr(module, name) for module in (nx, nx.linalg, nx.random, nn, optim) for name in module.__all__
    ]  # fmt: skip
    known = {
        key for function in functions if inspect.isfunction(function) for key in inspect.signature(function).parameters
    }
    assert {name for several in spellings.SAME.values() for name in several} <= known


#: What functions that take axes are called with, where that is not one tensor.
ARGUMENTS = {
    "argpartition": (T, 0),
    "broadcast": (T[0, :, 0], (3, 2)),
    "associative_scan": (nx.add, T),
    "categorical": (KEY, T),
    "choice": (KEY, T),
    "concatenate": ([T, T],),
    "gather": (T, nx.tensor([[1], [0]])),
    "indexed_add": (T, nx.tensor([[1]]), T[:1]),
    **{f"indexed_{name}": (T, nx.tensor([[1]]), T[:1]) for name in ("max", "min", "multiply", "put")},
    "iota": ((2, 3),),
    "one_hot": (nx.iota((2, 3)), 4),
    "permutation": (KEY, T),
    "reduce": (T, 0.0, lambda left, right: left + right),
    "repeat": (T, 2),
    "shuffle": (KEY, T),
    "slice_along_axis": (T, 0, 1),
    "split": (T, 1),
    "squeeze": (T[:1],),
    "stack": ([T, T],),
    "take": (T, [1, 0]),
    "take_along_axis": (T, nx.as_type(T > 3, "s64")),
    "weighted_mean": (T, T + 1),
}
#: Those of which the number of axes is given.
SEVERAL = {"fft2": (0, 1), "ifft2": (0, 1), "flatten": (0, 1), "ravel": (0, 1), "transpose": (2, 0, 1)}


def _taking_axes():
    """The functions with an axis or axes: what is called, its name, and the parameter."""
    for module in (nx, nx.linalg, nx.random):
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and name != "vmap":
                parameters = inspect.signature(function).parameters
                own = next((each for each in ("axis", "axes") if each in parameters), None)
                if own is not None:
                    yield pytest.param(function, name, own, "keep_axes" in parameters, id=name)


def _arrays(value):
    return [np.asarray(each) for each in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("function", "name", "own", "keeps"), list(_taking_axes()))
def test_every_function_with_axes_takes_them_by_all_names(function, name, own, keeps):
    args, several = ARGUMENTS.get(name, (T,)), SEVERAL.get(name, (0,))
    wanted = _arrays(function(*args, **{own: several[0] if own == "axis" else list(several)}))
    spelled = [several, list(several), *([0, np.int64(0)] if several == (0,) else [])]
    calls = [{key: axes} for key in ("axis", "axes") for axes in spelled]
    for options in calls:
        for found, expected in zip(_arrays(function(*args, **options)), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)
    for keep in ("keepdims", "keepdim", "keep_axes") if keeps else ():
        assert function(*args, axis=0, **{keep: True}).shape[0] == 1
        if own == "axes":
            found = function(*args, axis=(0, 2), **{keep: True})
            np.testing.assert_array_equal(found, function(*args, axes=[0, 2], keep_axes=True))
            assert len(found.shape) == 3
    if hasattr(nx.Tensor, name) and isinstance(args[0], nx.Tensor) and several == (0,):
        np.testing.assert_array_equal(
            _arrays(getattr(args[0], name)(*args[1:], axis=0))[0], _arrays(function(*args, axis=0))[0]
        )


def test_the_functions_with_axes_are_many():
    assert len(list(_taking_axes())) > 50


@pytest.mark.parametrize("run", [lambda f: f, nx.jit], ids=["outside", "inside"])
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (lambda t: t.max(), A.max()),
        (lambda t: t.min(), A.min()),
        (lambda t: nx.max(t), A.max()),
        (lambda t: t.max(axis=1), A.max(axis=1)),
        (lambda t: t.min(axis=(0, 2)), A.min((0, 2))),
    ],
)
def test_extremes_without_a_second_operand_reduce(run, mine, theirs):
    np.testing.assert_array_equal(run(mine)(T), theirs)
