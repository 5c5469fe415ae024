"""Type stubs for what is made at run time: ``python docs/type_stubs.py`` writes them, a test holds them to the code.

Functions made of rows, and the methods and operators that :mod:`nxkernel.ops.tensor_methods` installs, are not there
for a tool that reads the source and runs nothing. Their signatures are those that :func:`inspect.signature` gives.
Where a function gives ``Tensor | Expr``, its stub says ``Tensor``, and that of a method says ``Self``: people write
definitions in terms of tensors, and the traced values that stand for tensors in them take the same calls.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import subprocess
import sys
import textwrap
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import nxkernel.numpy.array_methods  # noqa: F401  installs methods
from nxkernel.messages import spellings
from nxkernel.messages.other_libraries import Hint
from nxkernel.numpy.arrays.array import ArrayValue
from nxkernel.operand import Operand
from nxkernel.tensor import Tensor

ROOT = Path(__file__).resolve().parent.parent
#: Modules whose public names are written out.
MODULES = ("nxkernel.constants", "nxkernel.linalg", "nxkernel.ops", "nxkernel.random")
HEADER = "# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.\n"
#: What stands for tensors while a definition is traced.
_TRACED = {"Expr", "TracedValue", "VectorizedExpr"}
#: Operators of two operands that Python's `object` answers with a truth value.
_EQUALITY = {"__eq__", "__ne__"}


class _Annotations(ast.NodeTransformer):
    """Annotations of one function as a stub says them; what they name is imported.

    Parameters
    ----------
    function : function
        Whose module says what the names mean.
    result : str
        What stands for a tensor or a traced value: ``"Tensor"`` or ``"Self"``.
    taken : set of str
        Names that the stub defines, which stand for something else there than among Python's built-in names.
    imports : dict
        By module, what is imported from it; added to.
    """

    def __init__(
        self, function: FunctionType, result: str, taken: set[str], imports: defaultdict[str, set[str]]
    ) -> None:
        self.module, self.names = function.__globals__["__name__"], function.__globals__
        self.result, self.taken, self.imports = result, taken, imports

    def text(self, annotation: Any) -> str:
        """An annotation's text in the stub."""
        source = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        return ast.unparse(self.visit(ast.parse(source, mode="eval").body))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sides = [self.visit(node.left), self.visit(node.right)]
        shown = [side for side in sides if not (isinstance(side, ast.Name) and side.id in _TRACED)]
        if len(shown) == 1:
            return ast.Name(self._imported("typing", "Self") if self.result == "Self" else self.result)
        return ast.BinOp(sides[0], node.op, sides[1])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.names[node.value.id] if isinstance(node.value, ast.Name) else None
        if value is builtins:
            return ast.Attribute(ast.Name(self._imported("builtins")), node.attr)
        if not isinstance(value, ModuleType):
            raise ValueError(f"{ast.unparse(node)} in {self.module} is no name of a module")
        return _Annotations.of(value, self).visit(ast.Name(node.attr))

    @classmethod
    def of(cls, module: ModuleType, other: _Annotations) -> _Annotations:
        """The same for what another module names."""
        made = cls.__new__(cls)
        made.module, made.names = module.__name__, vars(module)
        made.result, made.taken, made.imports = other.result, other.taken, other.imports
        return made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in _TRACED:
            return node
        if name not in self.names and hasattr(builtins, name):
            return ast.Attribute(ast.Name(self._imported("builtins")), name) if name in self.taken else node
        value = Any if name == "Any" else self.names[name]
        if isinstance(value, type) or getattr(value, "__module__", "") == "typing":
            module = value.__module__
            return ast.Name(self._imported("nxkernel.tensor" if value is Tensor else module, name))
        # An alias is written out.
        module, alias = _alias(self.module, name)
        return _Annotations.of(module, self).visit(alias)

    def _imported(self, module: str, name: str = "") -> str:
        self.imports[module].add(name)
        return name or module


def _alias(module: str, name: str) -> tuple[ModuleType, ast.expr]:
    """Where a name is assigned to, and what; followed through imports."""
    where = importlib.import_module(module)
    for node in ast.parse(inspect.getsource(where)).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            return where, node.value
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _alias(node.module or "", alias.name)
    raise ValueError(f"{module} does not say what {name} is")


def _doc(function: FunctionType, indent: str) -> str:
    """The first paragraph of a function's documentation as a docstring.

    Tools find the whole one by themselves where the source has a function of this name.
    """
    if not indent[4:] and not function.__closure__:
        return ""
    text = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    if not text:
        return ""
    lines = textwrap.wrap(text, 112 - len(indent), break_long_words=False)
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""\n'
    return f'{indent}"""' + f"\n{indent}".join(lines) + f'\n{indent}"""\n'


def _signature(signature: inspect.Signature, annotations: _Annotations, method: bool) -> str:
    parameters = []
    for index, parameter in enumerate(signature.parameters.values()):
        if method and not index:
            parameters.append(parameter.replace(name="self", annotation=parameter.empty))
            continue
        text = Any if parameter.annotation is parameter.empty else parameter.annotation
        parameters.append(parameter.replace(annotation=_Text(annotations.text(text))))
    returned = Any if signature.return_annotation is signature.empty else signature.return_annotation
    return str(inspect.Signature(parameters)) + f" -> {annotations.text(returned)}"


class _Text(str):
    """A text that :func:`inspect.formatannotation` prints without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _function(
    name: str, function: Callable[..., Any], result: str, taken: set[str], imports: defaultdict[str, set[str]]
) -> Iterator[str]:
    """A function or a method as a stub says it, with each of its overloads."""
    method = result != "Tensor"
    indent = "    " if method else ""
    inner = inspect.unwrap(function)
    annotations = _Annotations(inner, result, taken, imports)
    overloads = typing.get_overloads(inner)
    for each in overloads:
        imports["typing"].add("overload")
        yield f"{indent}@overload\n{indent}def {name}{_signature(inspect.signature(each), annotations, method)}: ...\n"
    if not overloads:
        signature = spellings.accepted(function) if function is not inner else inspect.signature(function)
        yield f"{indent}def {name}{_signature(signature, annotations, method)}:\n"
        yield _doc(inner, indent + "    ") or f"{indent}    ...\n"


def _imports(imports: dict[str, set[str]]) -> str:
    lines = []
    for module, names in imports.items():
        if "" in names:
            lines.append(f"import {module}\n")
        if names - {""}:
            lines.append(f"from {module} import {', '.join(sorted(names - {''}))}\n")
    return "".join(sorted(lines)) + "\n"


def of_module(name: str) -> str:
    """The stub of a module: each name of its ``__all__``."""
    module = importlib.import_module(name)
    names = sorted(module.__all__)
    imports: defaultdict[str, set[str]] = defaultdict(set)
    body = []
    for each in names:
        value = getattr(module, each)
        if isinstance(value, FunctionType):
            body += _function(each, value, "Tensor", set(names), imports)
        else:
            imports[type(value).__module__].add(type(value).__name__)
            body.append(f"{each}: {type(value).__name__}\n")
    if any("Tensor" in line for line in body):
        imports["nxkernel.tensor"].add("Tensor")
    quoted = ", ".join(f'"{each}"' for each in names)
    head = f'{HEADER}"""{(module.__doc__ or "").splitlines()[0]}"""\n\n{_imports(imports)}\n__all__ = [{quoted}]\n\n'
    return head + "".join(body)


def _written(cls: type) -> set[str]:
    """The names that the source of a class gives it."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    return {"__module__", "__doc__", "__slots__", "__annotations__"} | {
        name
        for node in body.body
        for name in (
            [node.name]
            if isinstance(node, ast.FunctionDef)
            else [ast.unparse(target) for target in node.targets]
            if isinstance(node, ast.Assign)
            else []
        )
    }


def installed(cls: type) -> dict[str, Any]:
    """The methods and operators of a class that its source does not have, by name."""
    written = _written(cls)
    found = {
        name: value
        for name, value in vars(cls).items()
        if name not in written and (callable(value) or isinstance(value, property))
    }
    return {name: found[name] for name in sorted(found) if not isinstance(found[name], Hint)}


def _methods(name: str, cls: type, what: str, imports: defaultdict[str, set[str]], result: str = "Self") -> str:
    body = [f'class {name}:\n    """{what}"""\n\n']
    methods = installed(cls)
    for each, value in methods.items():
        if isinstance(value, property):
            imports["typing"].add("Self")
            body.append(f"    @property\n    def {each}(self) -> {result}:\n{_doc(value.fget, '        ')}")
            continue
        parameters = [one for one in inspect.signature(value).parameters.values() if one.default is one.empty]
        if each.startswith("__") and len(parameters) <= 2 and each != "__getitem__":
            imports["typing"] |= {"Any", "Self"}
            ignored = "  # type: ignore[override]" if each in _EQUALITY else ""
            other = ", other: Any" if len(parameters) == 2 else ""
            given = (
                f"tuple[{result}, {result}]" if each in ("__divmod__", "__rdivmod__") and result == "Self" else result
            )
            body.append(f"    def {each}(self{other}) -> {given}: ...{ignored}\n")
        else:
            body += _function(each, value, result, set(methods), imports)
    return "".join(body)


def of_methods() -> str:
    """The stub of the classes that stand for what is installed on operands and on tensors."""
    imports: defaultdict[str, set[str]] = defaultdict(set)
    operands = _methods("OperandMethods", Operand, "The operators and methods of tensors and traced values.", imports)
    tensors = _methods("TensorMethods", Tensor, "The methods of tensors that ask for their elements.", imports)
    what = '"""What nxkernel.ops.tensor_methods installs on operands and on tensors when the package is imported."""'
    return f"{HEADER}{what}\n\n{_imports(imports)}\n{operands}\n{tensors}"


def of_array_methods() -> str:
    """The stub of the class that stands for what is installed on the arrays of NumPy programs."""
    imports: defaultdict[str, set[str]] = defaultdict(set)
    arrays = _methods("ArrayMethods", ArrayValue, "The operators and methods of NumPy's arrays.", imports, "Any")
    what = '"""What nxkernel.numpy.array_methods installs on arrays when the package is imported."""'
    return f"{HEADER}{what}\n\n{_imports(imports)}\n{arrays}"


def stubs() -> dict[Path, str]:
    """The text of each stub by its path."""
    texts = {
        ROOT / "nxkernel" / "operand_methods.pyi": of_methods(),
        ROOT / "nxkernel" / "numpy" / "installed_methods.pyi": of_array_methods(),
    }
    for name in MODULES:
        module = importlib.import_module(name)
        # Beside the sources, though the package may be installed elsewhere.
        path = ROOT.joinpath(*name.split("."), *(["__init__"] if hasattr(module, "__path__") else []))
        texts[path.with_suffix(".pyi")] = of_module(name)
    return {path: _formatted(path, text) for path, text in texts.items()}


def _formatted(path: Path, text: str) -> str:
    """A stub laid out as the repository's sources are."""
    for command in (["check", "--quiet", "--select", "I,F401,RUF022", "--fix"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", path, "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


if __name__ == "__main__":
    for _path, _text in stubs().items():
        _path.write_text(_text)
        print(_path.relative_to(ROOT))
