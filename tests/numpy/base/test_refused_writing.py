"""Nothing of NumPy's writes into a tensor."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

ONES = np.ones(3)


@pytest.mark.parametrize(
    ("write", "called", "instead"),
    [
        (lambda t: np.add.at(t, [0], 1), "np.add.at", "nx.indexed_add(t, [[0], [2]], values)"),
        (lambda t: np.subtract.at(t, [0], 1), "np.subtract.at", "nx.indexed_add(t, [[0], [2]], -values)"),
        (lambda t: np.put(t, [0], 1), "np.put", "nx.indexed_put(t, [[0], [2]], values)"),
        (lambda t: np.place(t, ONES > 0, 5), "np.place", "nx.select(mask, values, t)"),
        (lambda t: np.putmask(t, ONES > 0, 5), "np.putmask", "nx.select(mask, values, t)"),
        (lambda t: np.fill_diagonal(nx.eye(2), 5), "np.fill_diagonal", "nx.put_diagonal(t, values)"),
    ],
)
def test_a_function_that_writes_says_what_gives_a_new_tensor(write, called, instead):
    t = nx.f64([3.0, 1.0, 2.0])
    with pytest.raises(NxTypeError) as raised:
        write(t)
    assert str(raised.value).splitlines() == [
        f"tensors are immutable: {called}(t, …) is not possible.",
        f"  {instead} gives a new one.",
        f"  Or write into a copy: a = t.to_numpy().copy(), and {called}(a, …).",
    ]
    assert t.tolist() == [3, 1, 2]
    values = nx.f64([5.0, 6.0]) if "[[0]" in instead or "diagonal" in instead else 5.0
    made = eval(instead, {"nx": nx, "t": nx.eye(2) if "diagonal" in instead else t, "mask": t > 1, "values": values})
    assert made.tolist() != t.tolist()


@pytest.mark.parametrize(
    ("write", "called"),
    [
        (lambda t: np.maximum.at(t, [0], 9), "np.maximum.at"),
        (lambda t: np.copyto(t, 0), "np.copyto"),
        (lambda t: np.copyto(dst=t, src=0), "np.copyto"),
        (lambda t: np.put_along_axis(t, np.array([0]), 9.0, 0), "np.put_along_axis"),
    ],
)
def test_others_write_into_a_copy(write, called):
    t = nx.f64([3.0, 1.0, 2.0])
    with pytest.raises(NxTypeError) as raised:
        write(t)
    assert str(raised.value).splitlines() == [
        f"tensors are immutable: {called}(t, …) is not possible.",
        f"  Write into a copy: a = t.to_numpy().copy(), and {called}(a, …).",
    ]
    assert t.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("write", "called"),
    [
        (lambda t: np.add(ONES, 1, out=t), "np.add"),
        (lambda t: np.add.reduce(np.ones((2, 3)), out=t), "np.add.reduce"),
        (lambda t: np.cumsum(t, out=t), "np.cumsum"),
        (lambda t: np.modf(ONES, out=(t, t)), "np.modf"),
    ],
)
def test_a_tensor_is_no_place_for_results(write, called):
    t = nx.f64([3.0, 1.0, 2.0])
    with pytest.raises(NxTypeError) as raised:
        write(t)
    assert str(raised.value).splitlines() == [
        f"tensors are immutable: {called}(…, out=t) is not possible.",
        f"  {called}(…) without out= gives a new one.",
    ]
    assert t.tolist() == [3, 1, 2]


def test_a_tensor_that_a_definition_reads_is_not_written_into():
    t = nx.f64([3.0, 1.0, 2.0])

    def f(x):
        np.add.at(t, [0], 1)
        return np.sum(x)

    with pytest.raises(NxTypeError, match=r"^t is an array from outside of the definition, and it is assigned into"):
        nx.defn(f)(ONES)
    assert t.tolist() == [3, 1, 2]


@pytest.mark.filterwarnings("ignore:you are shuffling:UserWarning")
def test_what_writes_through_other_ways_is_refused_by_numpy_or_python():
    t, rng = nx.f64([3.0, 1.0, 2.0]), np.random.default_rng(0)
    for write in (
        lambda: np.asarray(t).__setitem__(0, 1),
        lambda: t.numpy().__iadd__(1),
        lambda: np.from_dlpack(t).__setitem__(0, 1),
        lambda: np.asarray(t).setflags(write=True),
        lambda: rng.random(out=t),
        lambda: rng.shuffle(t),
        lambda: np.nditer(t, op_flags=["readwrite"]),
    ):
        with pytest.raises((TypeError, ValueError), match=r"read-only|WRITEABLE|writable|immutable"):
            write()
    assert t.tolist() == [3, 1, 2]
