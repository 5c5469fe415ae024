"""Functions of libraries in graphs: C functions of single numbers, and Python's functions of whole arrays.

A C function is one that ``scipy.special.cython_special`` publishes for compiled code, or a routine of BLAS or LAPACK
that ``scipy.linalg`` does. Kernels call it by a symbol that tells its name and its types, never by an address, so that
code on disk means the same function in every process.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import importlib.util
import itertools
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from nxkernel import compile_thread, types
from nxkernel.errors import NxValueError, message
from nxkernel.primitives import Spec
from nxkernel.types import Type

#: SciPy and packages upon it: their functions can be called with examples, to find what they give, since they compute
#: and do nothing else.
LIBRARIES = frozenset({"scipy", "sklearn", "skimage", "statsmodels"})
#: Before each symbol of a C function of numbers of SciPy's, and of a routine of BLAS or LAPACK.
PREFIX, LINEAR_ALGEBRA = "nxk_special_", "nxk_lapack_"
#: Types of C, and the letter of each in symbols.
_TYPES = {"double": types.f64, "float": types.f32, "Py_ssize_t": types.s64}
if ctypes.sizeof(ctypes.c_long) == 8:
    _TYPES["long"] = types.s64
_LETTERS = {types.f64: "d", types.f32: "f", types.s64: "l"}
_SIGNATURE = re.compile(r"(\w+) \((.*)\)")


# Functions of single numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class ElementFunction:
    """A C function of single numbers that a library publishes.

    Parameters
    ----------
    exported : str
        Its name in the library.
    types : tuple of Type
        Of its arguments.
    result : Type
        Of what is taken of it.
    outputs : tuple of Type
        Of what it writes to the addresses behind its arguments; none if it returns its one result.
    output : int
        Which of these is taken.
    call : numpy.ufunc
        The same function of arrays.
    adjoint : callable, optional
        Its gradient rule, see :mod:`nxkernel.transforms.adjoints.rule_table`.
    """

    exported: str
    types: tuple[Type, ...]
    result: Type
    outputs: tuple[Type, ...]
    output: int
    call: np.ufunc
    adjoint: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        """The name, as people call it."""
        return self.call.__name__

    @property
    def symbol(self) -> str:
        """What kernels call."""
        outputs = "".join(_LETTERS[type_] for type_ in self.outputs) or _LETTERS[self.result]
        arguments = "".join(_LETTERS[type_] for type_ in self.types)
        return f"{PREFIX}{'v' if self.outputs else ''}{outputs}_{arguments}_{self.exported}"

    @property
    def key(self) -> str:
        """What tells it from others in every process."""
        return f"{self.symbol}_{self.output}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ElementFunction) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"special({self.name}, {self.key})"

    def __str__(self) -> str:
        return self.name

    @property
    def origin(self) -> str:
        """Where its code comes from, for errors."""
        return "which SciPy has"

    def over(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Apply the function to each element of arrays of one shape."""
        with np.errstate(all="ignore"):
            results = self.call(*arrays)
        return np.asarray(results[self.output] if self.outputs else results)


@functools.cache
def _published() -> dict[str, Any]:
    compile_thread.load("scipy.special.cython_special")
    return importlib.import_module("scipy.special.cython_special").__pyx_capi__


def capsule_contents(capsule: Any) -> tuple[str, int]:
    """The name of a capsule, which tells the signature of a published function, and the address in it."""
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = name_of(capsule)
    return name.decode(), pointer_of(capsule, name)


def _signature(text: str) -> tuple[tuple[Type, ...], Type | None, tuple[Type, ...]] | None:
    """The types of arguments, of what is returned and of what is written, of a function of real numbers."""
    returned, listed = _SIGNATURE.fullmatch(text).groups()
    parameters = [one for one in listed.split(", ") if not one.startswith("int __pyx_skip")]
    inputs = [one for one in parameters if not one.endswith("*")]
    outputs = [one.removesuffix(" *") for one in parameters if one.endswith("*")]
    if any(one not in _TYPES for one in [*inputs, *outputs]) or returned not in (*_TYPES, "void"):
        return None
    return tuple([_TYPES[one] for one in inputs]), _TYPES.get(returned), tuple([_TYPES[one] for one in outputs])


@functools.cache
def _overloads(name: str) -> list[tuple[str, tuple[Type, ...], Type | None, tuple[Type, ...]]]:
    pattern = re.compile(rf"(__pyx_fuse_[\d_]*\d)?{name}")
    found = []
    for exported, capsule in _published().items():
        if pattern.fullmatch(exported):
            signature = _signature(capsule_contents(capsule)[0])
            found += [(exported, *signature)] if signature else []
    return found


def element_function(
    ufunc: np.ufunc, given: Sequence[Type], output: int = 0, adjoint: Callable[[Any], Any] | None = None
) -> ElementFunction | None:
    """The C function of single numbers behind a ufunc of SciPy's; None where SciPy publishes none.

    Parameters
    ----------
    ufunc : numpy.ufunc
    given : sequence of Type
        Of the arguments: f64 for floats of any width, s64 for whole numbers where it is to take these.
    output : int, optional
        Which result, of a function that has several.
    adjoint : callable, optional
        The gradient rule.
    """
    counted = [place for one in ufunc.types for place, letter in enumerate(one.partition("->")[0]) if letter == "l"]
    if any(given[place].is_float for place in counted):
        # SciPy asks Python to warn of fractions that it cuts off, which compiled code that holds no lock may not.
        return None
    for exported, arguments, returned, outputs in _overloads(ufunc.__name__):
        if arguments == tuple(given) and (returned is None) == bool(outputs):
            result = returned or outputs[output]
            return ElementFunction(exported, arguments, result, outputs, output, ufunc, adjoint)
    return None


def address(symbol: str) -> int | None:
    """The address of the function behind a symbol; None if SciPy has none of that name and these types."""
    if symbol.startswith(LINEAR_ALGEBRA):
        return linear_algebra_address(symbol)
    codes, arguments, exported = symbol.removeprefix(PREFIX).split("_", 2)
    capsule = _published().get(exported)
    if capsule is None:
        return None
    name, place = capsule_contents(capsule)
    signature = _signature(name)
    if signature is None:
        return None
    inputs, returned, outputs = signature
    found = "".join(_LETTERS[one] for one in outputs or (returned,))
    spelled = ("v" if outputs else "") + found, "".join(_LETTERS[one] for one in inputs)
    return place if spelled == (codes, arguments) else None


# Linear algebra --------------------------------------------------------------------------------------------------


@functools.cache
def linear_algebra(module: str) -> ModuleType:
    """A module of ``scipy.linalg`` that publishes pointers: ``"cython_blas"`` or ``"cython_lapack"``.

    It is imported without its package, which takes three times as long.
    """
    name = f"scipy.linalg.{module}"
    if name in sys.modules:
        return sys.modules[name]
    folder = Path(importlib.util.find_spec("scipy").origin).with_name("linalg")
    spec = importlib.machinery.PathFinder.find_spec(name, [str(folder)])
    if spec is None:
        return importlib.import_module(name)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    # Left there, a later import would not make it an attribute of its package.
    sys.modules.pop(name, None)
    return found


def linear_algebra_address(symbol: str) -> int | None:
    """The address of a routine of BLAS or LAPACK by its symbol; None if there is none."""
    routine = symbol.removeprefix(LINEAR_ALGEBRA)
    for module in ("cython_blas", "cython_lapack"):
        capsule = linear_algebra(module).__pyx_capi__.get(routine)
        if capsule is not None:
            return capsule_contents(capsule)[1]
    return None


# Functions of whole arrays ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class HostFunction:
    """A function of NumPy's arrays that a program calls in the interpreter, as one step.

    Parameters
    ----------
    name : str
        As people call it.
    identity : tuple
        What tells it from others: functions of one identity, results and batch are the same.
    call : callable
        Gives a sequence of arrays, or of numbers, for arrays.
    results : tuple of Spec
        Of one call.
    single : bool
        Whether the one result stands by itself.
    adjoint : callable, optional
        Its gradient rule.
    elementwise : bool
        Whether it takes arrays of any shape, and works on each element.
    masked : bool
        Whether its first argument says for which entries it is called, those that are there in a branch or loop, and
        the second is a number that orders the calls and that it gives the next one of.
    batch : tuple of int
        Axes in front of those that the function takes; it is called for each index.
    quiet : bool
        Whether NumPy is kept from warning of what it computes.
    declared_by : str
        For errors: what the shapes and types of its results come from, and what a person does about others.
    underivable : str
        For errors: why it has no gradient.
    """

    name: str
    identity: tuple[Any, ...]
    call: Callable[..., Sequence[Any]]
    outputs: tuple[Spec, ...]
    single: bool
    adjoint: Callable[[Any], Any] | None = None
    elementwise: bool = False
    masked: bool = False
    batch: tuple[int, ...] = ()
    quiet: bool = True
    declared_by: str = (
        "What the shapes of its results depend on besides those of its arguments, it has to be given before the "
        "definition."
    )
    underivable: str = "No derivative of this function of SciPy's is known here."

    @property
    def results(self) -> tuple[Spec, ...]:
        """The specs of all results, with the axes of the batch."""
        return tuple([_with_axes(spec, self.batch) for spec in self.outputs])

    def over_entries(self, size: int) -> HostFunction:
        """The same function of arrays with one more axis in front."""
        if self.elementwise:
            return replace(self, outputs=tuple([_with_axes(spec, (size,)) for spec in self.outputs]))
        return replace(self, batch=(size, *self.batch))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostFunction) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> tuple[Any, ...]:
        return self.name, self.identity, self.outputs, self.single, self.batch

    def __repr__(self) -> str:
        return self.name

    @property
    def origin(self) -> str:
        """Where its code comes from, for errors."""
        return "which Python calls"

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Call it on arrays; the results have the declared types and shapes.

        Raises
        ------
        NxValueError
            When it gives other shapes, or wider types.
        """
        given = arrays
        if self.quiet:
            # A person's function gets copies.
            given = [array.view() for array in arrays]
            for array in given:
                array.flags.writeable = False
        if not self.batch:
            return self._once(given)
        results = [np.empty(spec.shape, spec.type.dtype) for spec in self.results]
        for index in itertools.product(*map(range, self.batch)) if math.prod(self.batch) else ():
            for result, one in zip(results, self._once([array[index] for array in given]), strict=True):
                result[index] = one
        return results

    def _once(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        if self.quiet:
            with np.errstate(all="ignore"):
                returned = self.call(*arrays)
        else:
            returned = self.call(*arrays)
        return [self._checked(one, spec) for one, spec in zip(returned, self.outputs, strict=True)]

    def _checked(self, one: Any, spec: Spec) -> np.ndarray:
        """A result as it was declared; Python's numbers are of any type of their kind."""
        dtype = spec.type.dtype
        array = np.asarray(one)
        if array.dtype == dtype and array.shape == spec.shape:
            return array
        weak = type(one) in (int, float, complex) and np.result_type(dtype, one) == dtype
        if array.shape != spec.shape or not (weak or np.can_cast(array.dtype, dtype)):
            raise NxValueError(
                message(
                    f"{self.name} gave {array.dtype} of the shape {array.shape}, expected was {spec}.", self.declared_by
                )
            )
        return array.astype(dtype, copy=False)


def _with_axes(spec: Spec, axes: tuple[int, ...]) -> Spec:
    return Spec(spec.type, (*axes, *spec.shape), (None,) * len(axes) + tuple(spec.names)) if axes else spec
