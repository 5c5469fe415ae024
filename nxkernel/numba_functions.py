"""Numba functions in graphs: compiling them, their result types, and equality.

A function of single numbers is known by its machine-independent code, constants that it captured and functions that it
calls included, so that the same text in a new cell or process is the same function. A function of arrays is a box that
nobody looks into.
"""

from __future__ import annotations

import functools
import inspect
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.types import Type

_ORIGIN = "which Numba compiled"
#: What gives the function to call in the place of one of Numba's while a program is traced.
TRACED: list[Callable[[Any], Callable[..., Any]]] = []
#: What gives the derivatives of a function of single numbers, at traced values, by those arguments.
DERIVATIVES: list[Callable[[ScalarFunction, Sequence[Any], Sequence[int]], list[Any]]] = []


def is_compiled(function: Any) -> bool:
    """Whether a function was made by `numba.njit` or `numba.vectorize`; does not import Numba."""
    return type(function).__module__.startswith("numba.") and (_is_dispatcher(function) or _is_ufunc(function))


def is_generalized(function: Any) -> bool:
    """Whether a function was made by `numba.guvectorize`."""
    return type(function).__module__.startswith("numba.") and type(function).__name__ == "GUFunc"


def python_function(function: Any) -> Callable[..., Any]:
    """The function of Python's that Numba compiled."""
    return (function if _is_dispatcher(function) else function._dispatcher).py_func


def signature(function: Any) -> inspect.Signature:
    """The arguments that a function of Numba's is called with; those of `guvectorize` come without its outputs."""
    found = inspect.signature(python_function(function))
    if not is_generalized(function):
        return found
    taken = function.signature.partition("->")[0].count("(")
    return found.replace(parameters=list(found.parameters.values())[:taken])


def _is_dispatcher(function: Any) -> bool:
    return hasattr(function, "overloads") and hasattr(function, "py_func")


def _is_ufunc(function: Any) -> bool:
    return hasattr(function, "_dispatcher") and hasattr(function, "ufunc") and not is_generalized(function)


def bound(function: Any, args: Sequence[Any], options: dict[str, Any]) -> list[Any]:
    """The values of all parameters of a call, defaults included.

    Raises
    ------
    NxTypeError
        For arguments that do not fit its parameters, or parameters that take any number of arguments.
    """
    own = signature(function)
    for parameter in own.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise NxTypeError(
                message(
                    f"{name_of(function)} takes any number of arguments (*{parameter.name}).",
                    "Numba functions of traced values name each argument.",
                )
            )
    try:
        bound_arguments = own.bind(*args, **options)
    except TypeError as error:
        raise NxTypeError(f"{name_of(function)}{own}: {error}") from None
    bound_arguments.apply_defaults()
    return list(bound_arguments.arguments.values())


def name_of(function: Any) -> str:
    """The name of a Numba function."""
    return getattr(function, "__name__", str(function))


# Functions of single numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class ScalarFunction:
    """A Numba function of scalars, compiled for argument types.

    Parameters
    ----------
    name : str
    types : tuple of Type
        Of its arguments.
    result : Type
        Of what it returns.
    key : str
        A hash of its code; functions of one key are the same.
    call : callable
        The function as Python calls it.
    compiled : object
        What Numba's compiler made.
    """

    name: str
    types: tuple[Type, ...]
    result: Type
    key: str
    call: Callable[..., Any]
    compiled: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalarFunction) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"njit({self.name}, {self.key})"

    def __str__(self) -> str:
        return self.name

    @property
    def origin(self) -> str:
        """Where its code comes from, for errors."""
        return _ORIGIN

    def over(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Apply the function to each element of arrays of one shape."""
        if _is_ufunc(self.call):
            return np.asarray(self.call(*arrays))
        results = [self.call(*numbers) for numbers in zip(*(array.flat for array in arrays), strict=True)]
        return np.array(results, self.result.dtype).reshape(arrays[0].shape)


def scalar_function(function: Any, types_: Sequence[Type]) -> ScalarFunction:
    """Compile a Numba function of scalars for argument types.

    Parameters
    ----------
    function : numba.njit or numba.vectorize function
    types_ : sequence of Type
        Where it was declared with types of its own, those that fit best take their place.

    Returns
    -------
    ScalarFunction

    Raises
    ------
    NxTypeError
        For a function that Numba cannot compile for single numbers of these types, or that does not return one.
    """
    _check_mode(function)
    compiled = (_compiled_ufunc if _is_ufunc(function) else _compiled)(function, types_)
    signature = compiled.signature
    result = _type_of(signature.return_type)
    if result is None:
        raise NxTypeError(
            message(
                f"{name_of(function)} returns {signature.return_type} for single numbers of {_listed(types_)}.",
                "Element by element it has to return one number; nx.njit_call takes functions of whole arrays.",
            )
        )
    own = tuple([_type_of(one) for one in signature.args])
    if not all(own):
        raise NxTypeError(f"{name_of(function)} takes {signature.args}, which are not all numbers")
    return ScalarFunction(name_of(function), own, result, _key(compiled, function), function, compiled)


def _check_mode(function: Any) -> None:
    dispatcher = function._dispatcher if _is_ufunc(function) else function
    if dispatcher.targetoptions.get("forceobj") or any(
        overload.objectmode for overload in dispatcher.overloads.values()
    ):
        raise NxTypeError(
            message(
                f"{name_of(function)} is compiled in Numba's object mode, which runs in the interpreter.",
                "Compiled programs take functions of numba.njit, or of numba.vectorize.",
            )
        )


def _compiled(function: Any, types_: Sequence[Type]) -> Any:
    from numba.core.errors import NumbaError

    try:
        signature = _resolved(function, [_numba_type(type_) for type_ in types_])
    except NumbaError as error:
        raise NxTypeError(
            message(
                f"Numba cannot compile {name_of(function)} for single numbers of {_listed(types_)}:",
                _first_line(error),
                "Called on traced values, a Numba function works on one element at a time.",
                f"For a function of whole arrays write nx.njit_call({name_of(function)}, ..., shape=..., type=...).",
            )
        ) from None
    return function.overloads[signature.args]


def _resolved(dispatcher: Any, types_: Sequence[Any]) -> Any:
    """The signature that Numba selects for the arguments, compiled if allowed."""
    from numba.core import registry
    from numba.core.types import Dispatcher

    context = registry.cpu_target.typing_context
    return Dispatcher(dispatcher).get_call_type(context, tuple(types_), {})


def _compiled_ufunc(function: Any, types_: Sequence[Type]) -> Any:
    from numba.core.errors import NumbaError

    wanted = tuple([_numba_type(type_) for type_ in types_])
    try:
        if _overload(function, wanted) is None and not function._frozen:
            function.add(wanted)
        elif _overload(function, wanted) is None:
            dtypes = function.ufunc.resolve_dtypes((*[type_.dtype for type_ in types_], None))
            wanted = tuple([_numba_type(types.normalize(dtype)) for dtype in dtypes[:-1]])
    except (NumbaError, TypeError) as error:
        raise NxTypeError(f"Numba has no {name_of(function)} of {_listed(types_)}: {_first_line(error)}") from None
    return _overload(function, wanted)


def _overload(function: Any, wanted: tuple[Any, ...]) -> Any:
    overloads = function._dispatcher.overloads
    return next((overload for key, overload in overloads.items() if getattr(key, "args", key) == wanted), None)


def _listed(types_: Sequence[Type]) -> str:
    return ", ".join(types_)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Numba begins with where it failed; the reason stands behind that.
    return next((line for line in lines if not line.startswith("Failed in")), "no reason given")


def _numba_type(type_: Type) -> Any:
    from numba.np.numpy_support import from_dtype

    return from_dtype(type_.dtype)


def _type_of(numba_type: Any) -> Type | None:
    """The element type of a Numba type; None if it is no number."""
    from numba.core import types as numba_types
    from numba.np.numpy_support import as_dtype

    plain = numba_types.unliteral(numba_type)
    if not isinstance(plain, numba_types.Number | numba_types.Boolean):
        return None
    try:
        type_ = types.normalize(as_dtype(plain))
        return None if type_ is types.f16 else type_
    except (NotImplementedError, NxTypeError):
        return None


# Identity --------------------------------------------------------------------------------------------------------

_keys: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
#: The numbers that tell functions of one name apart within a process.
_NUMBERS = re.compile(r"(?<=B)\d+v\d+(?=B)|(?<=v)\d+(?=B)")


def _key(compiled: Any, function: Any) -> str:
    """A hash of a compiled function's code, the same in every process."""
    key = _keys.get(compiled.library)
    if key is None:
        order: dict[str, str] = {}
        text = str(core(compiled))
        if "@numba_gil_ensure" in text:
            raise NxTypeError(
                message(
                    f"{name_of(function)} asks Python for something (print, objmode) for each element.",
                    "Compiled programs run without the interpreter. nx.print_value prints a whole tensor.",
                )
            )
        text = _NUMBERS.sub(lambda met: order.setdefault(met[0], f"#{len(order)}"), text)
        lines = [line for line in text.splitlines() if not line.startswith((";", "source_filename"))]
        if "inttoptr (i64" in text:
            # An address means something in this process alone: nobody may find the code later.
            lines.append(_process_word())
        import hashlib  # see code_fingerprint

        signature = f"{compiled.signature.return_type} {compiled.signature.args}"
        key = hashlib.sha256("\n".join([signature, *lines]).encode()).hexdigest()[:32]
        _keys[compiled.library] = key
    return key


@functools.cache
def _process_word() -> str:
    return np.random.default_rng().bytes(16).hex()


def core(compiled: Any) -> Any:
    """An LLVM module of only a compiled function and what it calls.

    Returns
    -------
    llvmlite.binding.ModuleRef
        A copy; the function is the only one that others can see.
    """
    from llvmlite import binding as llvm

    module = compiled.library._get_module_for_linking().clone()
    name = compiled.fndesc.llvm_func_name
    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration:
            one.linkage = "linkonce_odr" if one.name == name else "internal"
    # What nobody calls, and may be thrown away, is; so the function has to be kept meanwhile.
    module.get_function(name).linkage = "external"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    machine = llvm.Target.from_default_triple().create_target_machine()
    run_passes(passes, module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    module.get_function(name).linkage = "linkonce_odr"
    return module


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run LLVM passes on a module, and free the memory that they hold.

    Parameters
    ----------
    passes : llvmlite.binding.ModulePassManager
        Of no use afterwards.
    module : llvmlite.binding.ModuleRef
    builder : llvmlite.binding.PassBuilder
    """
    from llvmlite.binding import ffi

    try:
        passes.run(module, builder)
    finally:
        # In llvmlite 0.45 to 0.50 two base classes have a method of the name that is to do this, and the empty one is
        # called: every manager stays in memory, with 200 KB of what its passes knew of a loop.
        dispose = getattr(ffi.lib, "LLVMPY_DisposeNewModulePassManger", None)
        if dispose is not None and not passes.closed:
            dispose(passes)
            passes.detach()


# Functions of arrays ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ArrayFunction:
    """A Numba function of whole arrays, with declared result types and shapes.

    Parameters
    ----------
    function : numba.njit function
    results : tuple of Spec
    single : bool
        Whether it returns its one result by itself, and not in a tuple.
    copies : bool
        Whether it is given copies, because it wants arrays that may be written to.
    """

    function: Any
    results: tuple[Spec, ...]
    single: bool
    copies: bool = field(default=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayFunction) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> tuple[Any, ...]:
        return id(self.function), self.results, self.single, self.copies

    def __repr__(self) -> str:
        return name_of(self.function)

    @property
    def origin(self) -> str:
        """Where its code comes from, for errors."""
        return _ORIGIN

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Call it on arrays; the results have the declared types and shapes.

        Raises
        ------
        NxValueError
            When the function returns other shapes.
        """
        returned = self.function(*[self._given(array) for array in arrays])
        outputs = [np.asarray(one) for one in ([returned] if self.single else returned)]
        for index, (one, spec) in enumerate(zip(outputs, self.results, strict=True)):
            if one.shape != spec.shape:
                which = "" if self.single else f" as result {index}"
                raise NxValueError(
                    message(
                        f"{self!r} returned the shape {one.shape}{which}, declared was {spec.shape}.",
                        "The shape given to nx.njit_call is that of what the function returns.",
                    )
                )
        return [one.astype(spec.type.dtype, copy=False) for one, spec in zip(outputs, self.results, strict=True)]

    def _given(self, array: np.ndarray) -> Any:
        if not array.shape:
            return array[()]
        argument = array.copy() if self.copies else array.view()
        argument.flags.writeable = self.copies
        return argument


def array_function(function: Any, specs: Sequence[Spec], results: tuple[Spec, ...], single: bool) -> ArrayFunction:
    """Compile a Numba function of arrays, and check its return type against the declared results.

    Parameters
    ----------
    function : numba.njit function
    specs : sequence of Spec
        C-ordered arrays; what has no axes is a number.
    results : tuple of Spec
    single : bool
        Whether it returns one array or number, and not a tuple.

    Returns
    -------
    ArrayFunction

    Raises
    ------
    NxTypeError
    """
    if not is_compiled(function) or _is_ufunc(function):
        raise NxTypeError(
            message(
                f"njit_call takes a function that numba.njit made, got {describe(function)}.",
                "Write @numba.njit above its def.",
            )
        )
    _check_mode(function)
    from numba.core.errors import NumbaError

    failed: Exception | None = None
    for copies in (False, True):
        try:
            signature = _resolved(function, [_array_type(spec, copies) for spec in specs])
        except NumbaError as error:
            failed = failed or error
            continue
        _check_returned(function, signature.return_type, results, single)
        return ArrayFunction(function, results, single, copies)
    raise NxTypeError(
        f"Numba cannot compile {name_of(function)} for {', '.join(map(str, specs))}: {_first_line(failed)}"
    ) from None


def _array_type(spec: Spec, writeable: bool) -> Any:
    from numba.core.types import Array

    element = _numba_type(spec.type)
    return Array(element, len(spec.shape), "C", readonly=not writeable) if spec.shape else element


def _check_returned(function: Any, returned: Any, results: tuple[Spec, ...], single: bool) -> None:
    from numba.core.types import Array, BaseTuple

    several = list(returned) if isinstance(returned, BaseTuple) and not single else [returned]
    if len(several) != len(results) or (not single and not isinstance(returned, BaseTuple)):
        raise _declared(function, returned, results, single)
    for one, spec in zip(several, results, strict=True):
        is_array = isinstance(one, Array)
        rank, element = (one.ndim, one.dtype) if is_array else (0, one)
        if rank != len(spec.shape) or _type_of(element) is not spec.type:
            raise _declared(function, returned, results, single)


def _declared(function: Any, returned: Any, results: tuple[Spec, ...], single: bool) -> NxTypeError:
    declared = str(results[0]) if single else f"({', '.join(map(str, results))})"
    return NxTypeError(
        message(
            f"{name_of(function)} returns {returned}, declared was {declared}.",
            "Declare in nx.njit_call what it returns: shape=... and type=..., or a list of templates for a tuple.",
        )
    )
