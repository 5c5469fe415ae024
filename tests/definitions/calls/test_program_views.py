"""Compiled programs as data for display: their nodes, kernels, types and what is constant in them."""

import numpy as np
import pytest

import nxkernel as nx

ONE = np.ones(3, np.float32)


@pytest.fixture
def f():
    @nx.defn(compiler="numba_cpu")
    def smooth(t, *, rate=0.5, axis=0):
        return nx.sum(nx.tanh(t) * rate, axes=[axis])

    return smooth


def test_views(f):
    f(ONE)
    (view,) = f.compilations()
    assert (view.function, view.compiler, view.calls, view.reason) == ("smooth", "numba_cpu", 1, ("first call",))
    assert view.signature == "smooth(t: f32[3], rate=0.5, axis=0)"
    assert view.cell.startswith("test_program_views.py, line ")
    assert view.text == repr(nx.debug_expr(f)(ONE))
    by_label = {node.label: node for node in view.nodes}
    assert (by_label["t"].role, by_label["t"].spec, by_label["t"].id) == ("argument", "f32[3]", "a")
    assert by_label["0.5"].role == "constant"
    tanh = by_label["tanh"]
    assert (tanh.role, tanh.operands, tanh.kernels, tanh.output) == ("operation", ("a",), (0,), False)
    assert (tanh.cell, tanh.code) == ("test_program_views.py", "return nx.sum(nx.tanh(t) * rate, axes=[axis])")
    assert tanh.line == f.__nx_function__.__code__.co_firstlineno + 2
    assert by_label["sum"].output
    assert by_label["sum"].detail == "axes=[0], keep_axes=False"
    (kernel,) = view.kernels
    assert kernel.index == 0
    assert "tanh" in kernel.texts["Numba source"]()


def test_views_name_nodes_as_the_printed_graph_does():
    f = nx.jit(lambda t, u: (nx.linalg.qr(t)[1], nx.exp(u) * 0.1 + t), compiler="numba_cpu")
    f(np.eye(2, dtype="f4"), ONE[:1])
    (view,) = f.compilations()
    rows = [line.split() for line in view.text.splitlines()]
    for node in view.nodes:
        if node.role == "operation":
            assert [node.id, "=", node.label] in [row[:3] for row in rows]
    assert [node.label for node in view.nodes if node.role == "constant"] == ["0.1"]


def test_views_of_several_results():
    f = nx.jit(lambda t: nx.linalg.qr(t)[1], compiler="numba_cpu")
    f(np.eye(2, dtype="f4"))
    (view,) = f.compilations()
    shown = [(node.id, node.label, node.detail, node.spec, node.kernels) for node in view.nodes]
    assert shown == [
        ("a", "t", "", "f32[2][2]", ()),
        ("b", "qr", 'mode="reduced"', "(f32[2][2], f32[2][2])", (0,)),
        ("c", "elem", "index=1", "f32[2][2]", (0,)),
    ]
    (kernel,) = view.kernels
    assert kernel.title == "qr of f32[2][2] by LAPACK's geqrf"
    texts = {form: text() for form, text in kernel.texts.items()}
    assert list(texts) == ["NumPy", "algorithm", "LLVM", "assembly"]
    assert texts["NumPy"] == "b = np.linalg.qr(a, mode='reduced')"
    assert "result[matrix] = lapack.geqrf(a[matrix])" in texts["algorithm"]
    assert "call void @nxk_lapack_sgeqrf(" in texts["LLVM"]


def test_views_of_folds():
    f = nx.jit(lambda t: nx.reduce(t, 0.0, lambda a, b: nx.max(a * 0.5, b) + nx.exp(-b)), compiler="numba_cpu")
    f(ONE)
    (view,) = f.compilations()
    (fold,) = [node for node in view.nodes if node.label == "reduce"]
    assert fold.detail == 'axes=[0], keep_axes=False, body={a, b -> g}, type="f32"'
    assert fold.body == (
        "c = multiply a, 0.5   f32",
        "d = max c, b          f32",
        "e = negate b          f32",
        "f = exp e             f32",
        "g = add d, f          f32",
    )


def test_what_needs_no_work_stands_with_what_reads_it():
    f = nx.jit(lambda t: nx.sum(nx.iota((3,), type="f32") * nx.reshape(t, (3,))), compiler="numba_cpu")
    f(ONE.reshape(1, 3))
    (view,) = f.compilations()
    assert {node.label: node.kernels for node in view.nodes} == {
        "t": (), "iota": (0,), "reshape": (0,), "multiply": (0,), "sum": (0,),
    }  # fmt: skip


def test_vectorized_values_in_views():
    rows = nx.vectorize(nx.iota((2, 3), type="f32"), "x")
    f = nx.jit(lambda t, u: nx.tanh(t["w"]) * u + rows)
    f({"w": rows}, ONE)
    (view,) = f.compilations()
    assert [(node.label, node.spec) for node in view.nodes if node.operands == () or node.output] == [
        ("t['w']", "vectorized[x: 2] f32[3]"),
        ("u", "f32[3]"),
        ("rows", "vectorized[x: 2] f32[3]"),
        ("add", "vectorized[x: 2] f32[3]"),
    ]
    assert view.text.splitlines()[1:3] == ["  vectorized[x: 2]", "  f32[3]"]


def test_captured_arrays_in_views():
    weights = ONE.copy()
    f = nx.jit(lambda t: t * weights)
    f(ONE)
    (view,) = f.compilations()
    assert [(node.label, node.role, node.spec) for node in view.nodes[:2]] == [
        ("t", "argument", "f32[3]"),
        ("weights", "captured", "f32[3]"),
    ]


def test_compilations_are_in_the_order_in_which_they_were_made(f):
    for size in (3, 4, 3):
        f(np.ones(size, np.float32))
    assert [view.signature for view in f.compilations()] == [
        "smooth(t: f32[3], rate=0.5, axis=0)",
        "smooth(t: f32[4], rate=0.5, axis=0)",
    ]


def test_what_is_baked_in():
    rate, weights, table = 0.5, ONE.copy(), {"w": ONE, "k": 2}
    f = nx.jit(lambda t, n, *, steps=3: t * rate * weights * n + table["w"] * table["k"] + steps, static_argnames="n")
    f(ONE, 4)
    (view,) = f.compilations()
    assert view.baked == ("argument n = 4", "option steps = 3", "captured rate = 0.5", "captured table['k'] = 2")


def test_nothing_is_baked_in():
    weights = ONE.copy()
    f = nx.jit(lambda t: t * weights)
    f(ONE)
    assert f.compilations()[0].baked == ()
