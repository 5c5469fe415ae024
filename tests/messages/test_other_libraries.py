"""Names of other libraries: each is answered with a form that runs."""

import numpy as np
import pytest
import scipy.special
from IPython.core.completer import IPCompleter, provisionalcompleter

import nxkernel as nx
from nxkernel.messages import other_libraries

TABLES = {
    "nxkernel": other_libraries.FUNCTIONS,
    "nx.linalg": other_libraries.LINALG,
    "nx.random": other_libraries.RANDOM,
    "a tensor": other_libraries.ATTRIBUTES,
}
EACH = [(owner, name) for owner, table in TABLES.items() for name in table]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What forms may use: see the docstring of the tables."""
    monkeypatch.chdir(tmp_path)
    nx.save_numpy("x.npy", nx.eye(2))
    nx.save_numpy_archive("x.npz", {"t": nx.eye(2)})
    np.savetxt("x.txt", np.eye(2))
    t = nx.f32([[2.0, 0.5, 0.25], [0.5, 3.0, 0.75], [0.25, 0.75, 4.0]])
    return {
        "nx": nx, "np": np, "t": t, "a": t + 1, "b": t * 2, "v": nx.f32([1, 2, 3]), "w": nx.f32([3, 5, 8]),
        "mask": nx.greater(t, 1), "indices": nx.tensor([0, 2]), "key": nx.random.key(1),
    }  # fmt: skip


def _form(entry):
    return entry if isinstance(entry, str) else entry[0]


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize(("owner", "name"), EACH)
def test_every_form_runs(owner, name, names):
    eval(_form(TABLES[owner][name]), names)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hypot", np.hypot), ("arctan2", np.arctan2), ("fmax", np.fmax), ("mod", np.mod), ("copysign", np.copysign),
        ("divmod", np.divmod), ("kron", np.kron), ("matmul", np.matmul), ("hstack", lambda a, b: np.hstack([a, b])),
        ("einsum", lambda a, b: np.einsum("ij,jk->ik", a, b)), ("logaddexp", np.logaddexp),
    ],
)  # fmt: skip
def test_forms_of_two_matrices_are_those_of_numpy(name, expected, names):
    found = eval(_form(other_libraries.FUNCTIONS[name]), names)
    np.testing.assert_allclose(found, expected(names["a"].to_numpy(), names["b"].to_numpy()), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("roll", lambda v, w: np.roll(v, 1)), ("cross", np.cross),
        ("convolve", np.convolve), ("isin", np.isin),
        ("trapezoid", lambda v, w: (v[1:] + v[:-1]).sum() / 2), ("vander", lambda v, w: np.vander(v, increasing=True)),
        ("average", lambda v, w: np.average(v, weights=w)), ("gradient", lambda v, w: np.gradient(v)),
        ("quantile", lambda v, w: np.quantile(v, 0.9, method="lower")),
    ],
)  # fmt: skip
def test_forms_of_vectors_are_those_of_numpy(name, expected, names):
    found = eval(_form(other_libraries.FUNCTIONS[name]), names)
    np.testing.assert_allclose(found, expected(names["v"].to_numpy(), names["w"].to_numpy()), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("trunc", np.trunc), ("cov", lambda t: np.cov(t.T, bias=True)), ("ptp", np.ptp),
        ("corrcoef", lambda t: np.corrcoef(t.T)),
        ("rot90", np.rot90), ("softmax", lambda t: np.exp(t) / np.exp(t).sum(-1, keepdims=True)),
        ("sinc", np.sinc), ("expit", scipy.special.expit), ("rad2deg", np.rad2deg), ("nanmean", np.nanmean),
    ],
)  # fmt: skip
def test_forms_of_a_matrix_are_those_of_numpy(name, expected, names):
    found = eval(_form(other_libraries.FUNCTIONS[name]), names)
    np.testing.assert_allclose(found, expected(names["t"].to_numpy()), rtol=1e-4)


def test_what_is_said_of_sinc_at_0_is_so():
    form, note = other_libraries.FUNCTIONS["sinc"]
    names = {"nx": nx, "np": np, "t": nx.f64([0.0, 0.5])}
    exec(note.removeprefix("At 0 it is 1: begin with ").removesuffix("."), names)
    np.testing.assert_allclose(eval(form, names), np.sinc([0.0, 0.5]), rtol=1e-12)


def test_eigenvalues_are_in_numpys_order(names):
    found = eval(other_libraries.LINALG["eigvalsh"], names)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(names["t"].to_numpy()), rtol=1e-5)


def test_what_is_said_of_rolls_along_an_axis_is_so(names):
    t = names["t"]
    form = other_libraries.FUNCTIONS["roll"][1].removeprefix("Along axis 1: ").removesuffix(".")
    np.testing.assert_array_equal(eval(form, names), np.roll(t.to_numpy(), 1, axis=1))


def test_no_name_of_the_tables_is_there():
    assert not [name for name in other_libraries.FUNCTIONS if name in nx.__all__]
    assert not [name for name in other_libraries.LINALG if name in nx.linalg.__all__]
    assert not [name for name in other_libraries.RANDOM if name in nx.random.__all__]
    assert not [name for name in other_libraries.ATTRIBUTES if hasattr(nx.eye(2), name)]


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda: nx.zeros_like, "nxkernel has no 'zeros_like'.\n  Write nx.fill(t, 0)."),
        (
            lambda: nx.flatnonzero,
            "nxkernel has no 'flatnonzero'.\n  Write np.flatnonzero(t).\n"
            "  The size of the result depends on values, so this goes outside of definitions: NumPy takes tensors.",
        ),
        (
            lambda: nx.roll,
            "nxkernel has no 'roll'.\n  Write nx.concatenate([v[-1:], v[:-1]]).\n"
            "  Along axis 1: nx.concatenate([t[:, -1:], t[:, :-1]], axis=1).",
        ),
        (lambda: nx.meen, "nxkernel has no 'meen'.\n  Did you mean 'mean'?"),
        (lambda: nx.lgo, "nxkernel has no 'lgo'.\n  Did you mean 'log'?"),
        (lambda: nx.transpoze, "nxkernel has no 'transpoze'.\n  Did you mean 'transpose'?"),
        (lambda: nx.train, "nxkernel has no 'train'.\n  Did you mean 'training'?"),
        (lambda: nx.read, "nxkernel has no 'read'."),
        (lambda: nx.predict, "nxkernel has no 'predict'."),
        (lambda: nx.fit, "nxkernel has no 'fit'."),
        (lambda: nx.zzz, "nxkernel has no 'zzz'."),
        (lambda: nx.testing, "nxkernel has no 'testing'."),
        (lambda: nx.nn.dense(3).initialize, "a module has no 'initialize'.\n  Did you mean 'init'?"),
        (lambda: nx.linalg.inv, "nx.linalg has no 'inv'.\n  Write nx.linalg.invert(t)."),
        (
            lambda: nx.random.seed,
            "nx.random has no 'seed'.\n  Write nx.random.key(42).\n"
            "  Numbers come from a key, and every sampler returns them and a new key.",
        ),
        (lambda: nx.eye(2).H, "a tensor has no 'H'.\n  Write nx.linalg.adjoint(t)."),
    ],
)  # fmt: skip
def test_the_error_says_what_to_write(ask, text):
    with pytest.raises(AttributeError) as error:
        ask()
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("ask", "first", "last"),
    [
        (lambda t: t.H, "a traced value of type f32 has no 'H'.", "  Write nx.linalg.adjoint(t)."),
        (lambda t: t.meen, "a traced value of type f32 has no 'meen'.", "  Did you mean 'mean'?"),
    ],
)
def test_a_definition_says_it_with_the_line(ask, first, last):
    with pytest.raises(AttributeError) as error:
        nx.jit(ask)(1.0)
    lines = str(error.value).splitlines()
    assert [lines[0], lines[-1]] == [first, last]
    assert lines[1].startswith("  test_other_libraries.py, line ")


def test_a_misspelt_attribute_of_a_tensor_is_pythons_own_error():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'reshap'"):
        nx.eye(2).reshap  # noqa: B018


def test_names_that_only_say_something_are_not_there():
    t = nx.eye(2)
    assert not hasattr(t, "H")
    assert not hasattr(nx.Tensor, "H")
    assert not {"H", "resize", "put"} & set(dir(t))
    assert {"sum", "shape", "to_numpy", "T", "astype"} <= set(dir(t))
    assert [name for name in dir(t) if not hasattr(t, name)] == []
    assert [name for name in dir(nx.Tensor) if not hasattr(nx.Tensor, name)] == []


@pytest.mark.parametrize("use_jedi", [False, True])
@pytest.mark.parametrize("code", ["nx.", "t.", "nx.Tensor.", "nx.linalg.", "nx.random."])
def test_completion_offers_what_is_there(code, use_jedi):
    completer = IPCompleter(namespace={"nx": nx, "t": nx.eye(2)}, use_jedi=use_jedi)
    completer.jedi_compute_type_timeout = 10_000
    with provisionalcompleter():
        offered = {each.text.rpartition(".")[2] for each in completer.completions(code, len(code))}
    owner = eval(code[:-1], {"nx": nx, "t": nx.eye(2)})
    assert {name for name in dir(owner) if name[0] != "_"} <= offered
    assert [name for name in offered if not hasattr(owner, name)] == []
    assert [name for name in offered if name.isidentifier() and not hasattr(owner, name)] == []


def test_dir_shows_the_public_names():
    assert sorted(dir(nx)) == sorted(
        [*nx.__all__, "__version__", "integrate", "interpolate", "nn", "optim", "optimize", "training"]
    )
    assert sorted(dir(nx.linalg)) == sorted(nx.linalg.__all__)
    assert sorted(dir(nx.random)) == sorted(nx.random.__all__)


def test_modules_and_dunder_names_are_asked_for_as_ever():
    from nxkernel import formats

    assert formats.__name__ == "nxkernel.formats"
    with pytest.raises(AttributeError, match=r"^nxkernel has no '__wrapped__'\.$"):
        nx.__wrapped__  # noqa: B018
