"""Whatever parameter of NumPy's a function takes, it goes by: one that is accepted and not read gives wrong results."""

import ast
import inspect
import pathlib

import pytest

import nxkernel.numpy as nnp

FOLDER = pathlib.Path(nnp.__file__).parent
#: What changes no value, type or shape, whatever function takes it.
WITHOUT_EFFECT = {
    "like": "there is one kind of array", "subok": "there is one kind of array",
    "device": "devices.install() lets functions go by it",
    "casting": "it says what NumPy refuses", "overwrite_input": "it permits to be faster",
    "assume_unique": "it permits to be faster", "optimize": "results differ by rounding",
    "kind": "all sorts are stable", "stable": "all sorts are stable", "kth": "all places are put in order",
    "max_work": "the exact answer is known",
    "overwrite_a": "it permits to be faster", "overwrite_b": "it permits to be faster", "_": "of `overwrite_a`",
    "__": "of `check_finite`", "check_finite": "a program does not stop where it meets NaN",
    "lapack_driver": "results differ by rounding", "driver": "results differ by rounding",
    "lwork": "how much room LAPACK has", "method": "results differ by rounding",
    "hermitian": "it permits to be faster",
}  # fmt: skip
#: And of single functions.
ALONE = {
    ("sort", "order"): "there are no fields", ("argsort", "order"): "there are no fields",
    ("partition", "order"): "there are no fields", ("argpartition", "order"): "there are no fields",
    ("histogram_bin_edges", "weights"): "bins of one size do not go by them",
    ("as_strided", "writeable"): "it is a copy, which is read-only",
}  # fmt: skip


def unread(tree):
    """Functions of a module and the parameters that they never read."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        given = node.args
        parts = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        names = [each.arg for each in parts if each]
        read = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)}
        yield from ((node.name, name) for name in names if name not in read)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.stem)
def test_functions_go_by_each_parameter(path):
    public = [name for part in (nnp, nnp.linalg, nnp.fft, nnp.random) for name in dir(part)]
    left = [pair for pair in unread(ast.parse(path.read_text())) if pair[0] in public]
    assert [pair for pair in left if pair[1] not in WITHOUT_EFFECT and pair not in ALONE] == []


def test_what_is_not_read_is_told():
    tree = ast.parse("def f(a, b, *, order='C', **options):\n    return a\ndef _g(a): pass\n")
    assert list(unread(tree)) == [("f", "b"), ("f", "order"), ("f", "options")]


def test_exceptions_are_parameters_that_are_not_read():
    assert ALONE.keys() <= {pair for path in FOLDER.rglob("*.py") for pair in unread(ast.parse(path.read_text()))}
    for function, name in ALONE:
        found = getattr(nnp, function, None) or getattr(nnp.linalg, function)
        assert name in inspect.signature(found).parameters
