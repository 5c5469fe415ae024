"""What tools that read sources see of nxkernel: types, signatures, and what they offer to complete."""

import ast
import importlib.util
import inspect
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import jedi
import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter

import nxkernel as nx
from nxkernel.messages import spellings
from nxkernel.numpy.arrays.array import ArrayValue
from nxkernel.operand import Operand

ROOT = Path(__file__).resolve().parent.parent
#: Where tools find the packages: an editable installation is found by a hook that runs, and they run nothing.
PATHS = sorted(
    {str(Path(importlib.util.find_spec(name).origin).parent.parent) for name in ("nxkernel", "nxkernel_magics")}
)
#: What people write; behind each `reveal_type` stands what it is.
USED = """
import nxkernel as nx
import numpy as np
from typing_extensions import reveal_type

t = nx.tensor([1])
reveal_type(t)  # Tensor
reveal_type(t + 1)  # Tensor
reveal_type(1 - t)  # Tensor
reveal_type([1] @ t)  # Tensor
reveal_type(-t)  # Tensor
reveal_type(t == 1)  # Tensor
reveal_type(t < 1)  # Tensor
reveal_type(t.sum())  # Tensor
reveal_type(t.reshape((1, 1)).sum(axes=[0]).exp())  # Tensor
reveal_type(t[0])  # Tensor
reveal_type(t[None, ..., :1])  # Tensor
reveal_type([row for row in t])  # list[Tensor]
reveal_type(t.top_k(k=1))  # tuple[Tensor, Tensor]
reveal_type(t.shape)  # tuple[int, ...]
reveal_type(t.type)  # Type
reveal_type(t.to_numpy())  # ndarray[tuple[Any, ...], dtype[Any]]
reveal_type(t[0].to_number())  # int | float | complex
reveal_type(float(t))  # float
reveal_type(nx.sin)  # (tensor: Any) -> Tensor
reveal_type(nx.sin(t))  # Tensor
reveal_type(nx.sum(np.ones(3), axes=[0]))  # Tensor
reveal_type(nx.split([1, 2], 1))  # tuple[Tensor, Tensor]
reveal_type(nx.shape(t))  # tuple[int, ...]
reveal_type(nx.dot(t, t))  # Tensor
reveal_type(nx.dot(t, [0], t, [0]))  # Tensor
reveal_type(nx.dot(t, [0], [], t, [0], []))  # Tensor
reveal_type(nx.f32)  # Type
reveal_type(nx.f32([1, 2]))  # Tensor
reveal_type(nx.types.s8)  # Type
reveal_type(nx.constants.nan())  # Tensor
reveal_type(nx.linalg.qr(nx.eye(2)))  # tuple[Tensor, Tensor]
reveal_type(nx.random.normal(nx.random.key(1)))  # tuple[Tensor, Tensor]
reveal_type(nx.serialize(t))  # bytes
reveal_type(nx.nn)  # Module("nxkernel.nn")


@nx.defn
def scaled(x: nx.Tensor, *, by: int = 3):
    return nx.exp(x) * by


@nx.defn(compiler="numba_cpu")
def total(x: nx.Tensor, y: nx.Tensor) -> nx.Tensor:
    return (x * y).sum()


reveal_type(scaled)  # Definition[(x: Tensor, *, by: int = 3), Tensor]
reveal_type(scaled(t, by=2))  # Tensor
reveal_type(scaled.why(t))  # Explanation
reveal_type(scaled.measure(t))  # CompilationView
reveal_type(total)  # Definition[(x: Tensor, y: Tensor), Tensor]
reveal_type(total(t, y=t))  # Tensor
reveal_type(nx.jit(total))  # Definition[(x: Tensor, y: Tensor), Tensor]
reveal_type(nx.jit(lambda x: nx.exp(x))(t))  # Tensor
reveal_type(nx.vmap(total))  # Definition[(x: Tensor, y: Tensor), Tensor]
reveal_type(nx.checkpoint(total))  # Definition[(x: Tensor, y: Tensor), Tensor]
reveal_type(nx.grad(total))  # Definition[(x: Tensor, y: Tensor), Any]
reveal_type(nx.value_and_grad(total))  # Definition[(x: Tensor, y: Tensor), tuple[Tensor, Any]]
reveal_type(nx.value_and_grad(t, lambda x: x.sum()))  # tuple[Any, Any]
reveal_type(nx.hessian(total))  # Definition[(x: Tensor, y: Tensor), Any]
reveal_type(nx.compile(total, [t, t]))  # Compiled[(x: Tensor, y: Tensor), Tensor]
reveal_type(nx.jit_apply(total, [t, t]))  # Tensor


class Model:
    weights = t

    @nx.defn
    def run(self, x: nx.Tensor) -> nx.Tensor:
        return x @ self.weights


reveal_type(Model().run)  # Definition[(x: Tensor), Tensor]
reveal_type(Model().run(t))  # Tensor
"""
#: What people write by mistake; behind each line stands what they are told.
MISTAKEN = """
import nxkernel as nx


@nx.defn
def scaled(x: nx.Tensor, *, by: int = 3):
    return nx.exp(x) * by


t = nx.tensor([1])
nx.sinus(t)  # "sinus" is not a known attribute of module "nxkernel"
nx.nn.dens(3)  # "dens" is not a known attribute of module "nxkernel.nn"
nx.linalg.inv(t)  # "inv" is not a known attribute of module "nxkernel.linalg"
t.summ()  # Cannot access attribute "summ" for class "Tensor"
nx.dot(t)  # No overloads for "dot" match the provided arguments
nx.sum(t, axis=0, keepdims=True).reshape(2, 1).std(0).astype("f32").T.sum(0)
nx.sum(t, flavour=0)  # No parameter named "flavour"
scaled()  # Argument missing for parameter "x"
scaled(t, to=2)  # No parameter named "to"
scaled.why(t, by=t)  # Argument of type "Tensor" cannot be assigned to parameter "by" of type "int" in function "why"
scaled.whi(t)  # Cannot access attribute "whi" for class "Definition[(x: Tensor, *, by: int = 3), Tensor]"
"""


def checked(folder, code):
    """What the checker says of a file: severity, line and the first line of the text of each."""
    pytest.importorskip("basedpyright", reason="the checker comes with nxkernel[test]")
    (folder / "code.py").write_text(code)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": PATHS}))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", "code.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return [
        (each["severity"], each["range"]["start"]["line"], each["message"].partition("\n")[0])
        for each in json.loads(done.stdout)["generalDiagnostics"]
    ]


def expected(code, severity, said):
    """What stands behind the lines of some code."""
    lines = [(line, *text.split("  # ", 1)) for line, text in enumerate(code.splitlines()) if "  # " in text]
    return [(severity, line, said(text, comment)) for line, text, comment in lines]


@pytest.mark.slow
def test_types_of_what_people_write(tmp_path):
    def said(text, revealed):
        return f'Type of "{text.removeprefix("reveal_type(").removesuffix(")")}" is "{revealed}"'

    assert checked(tmp_path, USED) == expected(USED, "information", said)


def test_types_are_those_that_values_have(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("typing_extensions.reveal_type", lambda value: seen.append(type(value).__name__))
    (tmp_path / "code.py").write_text(USED)
    runpy.run_path(str(tmp_path / "code.py"))
    told = [each[2] for each in expected(USED, "information", lambda text, comment: comment)]
    others = {"(tensor": "function", 'Module("nxkernel': "module"}
    assert seen == [others.get(name, name) for name in (re.split(r"[\[: |.]", text)[0] for text in told)]


@pytest.mark.slow
def test_mistakes_are_told(tmp_path):
    assert checked(tmp_path, MISTAKEN) == expected(MISTAKEN, "error", lambda text, comment: comment)


@pytest.fixture(scope="module")
def type_stubs():
    """The module that writes stubs."""
    pytest.importorskip("ruff", reason="stubs are laid out by ruff, which comes with nxkernel[test]")
    spec = importlib.util.spec_from_file_location("type_stubs", ROOT / "docs" / "type_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_those_of_the_code(type_stubs):
    stubs = type_stubs.stubs()
    assert set((ROOT / "nxkernel").rglob("*.pyi")) == set(stubs)
    outdated = [str(path.relative_to(ROOT)) for path, text in stubs.items() if path.read_text() != text]
    assert outdated == [], "python docs/type_stubs.py writes them anew"


def parameters(node):
    """Name and kind of each parameter of a function in a source, and whether it has a default."""
    arguments = node.args
    places = [*arguments.posonlyargs, *arguments.args]
    first = len(places) - len(arguments.defaults)
    for index, each in enumerate(places):
        kind = "POSITIONAL_ONLY" if index < len(arguments.posonlyargs) else "POSITIONAL_OR_KEYWORD"
        yield each.arg, kind, index >= first
    if arguments.vararg:
        yield arguments.vararg.arg, "VAR_POSITIONAL", False
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield each.arg, "KEYWORD_ONLY", default is not None
    if arguments.kwarg:
        yield arguments.kwarg.arg, "VAR_KEYWORD", False


def accepted(function):
    """The signature of a function, with other spellings where it takes them."""
    return spellings.accepted(function) if hasattr(function, "__wrapped__") else inspect.signature(function)


def functions(path, class_name=None):
    """The functions of a stub, or the methods of a class in it, by name; those with overloads are left out."""
    body = ast.parse((ROOT / path).read_text()).body
    if class_name:
        (body,) = [node.body for node in body if isinstance(node, ast.ClassDef) and node.name == class_name]
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef) and not node.decorator_list}


@pytest.mark.parametrize(
    ("path", "class_name", "owner"),
    [
        ("nxkernel/ops/__init__.pyi", None, nx),
        ("nxkernel/linalg/__init__.pyi", None, nx.linalg),
        ("nxkernel/random/__init__.pyi", None, nx.random),
        ("nxkernel/constants.pyi", None, nx.constants),
        ("nxkernel/operand_methods.pyi", "OperandMethods", Operand),
        ("nxkernel/operand_methods.pyi", "TensorMethods", nx.Tensor),
        ("nxkernel/numpy/installed_methods.pyi", "ArrayMethods", ArrayValue),
    ],
)
def test_stubs_have_the_signatures_that_python_sees(path, class_name, owner):
    differing = {}
    for name, node in functions(path, class_name).items():
        # Python calls operators itself, always with the same arguments.
        if name.startswith("__"):
            continue
        seen = [
            (each.name, each.kind.name, each.default is not each.empty)
            for each in accepted(getattr(owner, name)).parameters.values()
        ]
        told = list(parameters(node))
        # The first parameter of a method has another name.
        skipped = 1 if class_name else 0
        if seen[skipped:] != told[skipped:] or len(seen) != len(told):
            differing[name] = seen, told
    assert differing == {}


def test_stubs_have_every_name():
    assert {*functions("nxkernel/ops/__init__.pyi"), "dot"} == {
        name for name in nx.ops.__all__ if inspect.isfunction(getattr(nx, name))
    }


def offered(code, namespace):
    """What IPython offers to complete code with, for values that are there and for those that only stand in it."""
    completer = IPCompleter(namespace=namespace, use_jedi=True)
    completer.jedi_compute_type_timeout = 10_000
    with provisionalcompleter():
        return {each.text for each in completer.completions(code, len(code))}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("t.su", {"subtract", "sum"}),
        ("nx.re", {"real", "reduce", "reduce_max", "remainder", "rename", "reshape", "reverse"}),
        ("nx.si", {"sigmoid", "sign", "sin", "sinh", "size"}),
        ("f.wh", {"why"}),
        ("nx.n", {"names", "nn", "negate"}),
    ],
)
def test_notebooks_complete_names(code, found):
    t, f = nx.tensor([1]), nx.defn(lambda x: x + 1)
    assert found <= {text.rpartition(".")[2] for text in offered(code, {"nx": nx, "t": t, "f": f})}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("nx.tensor([1]).su", ["subtract", "sum"]),
        ("(nx.tensor([1]) + 1).su", ["subtract", "sum"]),
        ("nx.sin(1).reshape((1,)).su", ["subtract", "sum"]),
        ("nx.cos", ["cos", "cosh"]),
        ("nx.f32([1]).su", ["subtract", "sum"]),
    ],
)
def test_sources_that_have_not_run_complete_names(code, found):
    script = jedi.Script(f"import nxkernel as nx\n{code}", project=jedi.Project(ROOT, added_sys_path=PATHS))
    assert [each.name for each in script.complete()] == found
