"""A numerical definition: a Python function that is traced, compiled and cached when it is called."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel.compilers import interface
from nxkernel.defn import captures as capturing
from nxkernel.defn import containers, defaults, explain, fingerprint, guards, options, places
from nxkernel.defn import trace as tracer
from nxkernel.defn.cache import Family, Key, Program, family
from nxkernel.defn.events import Event, stream
from nxkernel.defn.report import CacheInfo, CompilationView
from nxkernel.errors import CompilationError, NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.tensor.tensor import Template, Tensor
from nxkernel.transforms.simplify import simplify

_empty = np.empty
_wrap = Tensor.wrap


class Definition:
    """What :func:`nxkernel.defn` and :func:`nxkernel.jit` return; call it like the function.

    Positional arguments are tensors, arrays, numbers or containers of them; keyword-only arguments are options, which are
    static. The identity of a definition is the content of its code: a cell that is run again unchanged finds its programs.
    """

    def __init__(
        self, function: Callable[..., Any], *, compiler: str | None = None, on_conflict: str = "reuse"
    ) -> None:
        functools.update_wrapper(self, function)
        self.__nx_function__ = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        if compiler is not None:
            interface.get(compiler)
        self.compiler, self.on_conflict = compiler, on_conflict
        self._signature = inspect.signature(function)
        plain = inspect.unwrap(function)
        plain = getattr(plain, "__nx_function__", plain)
        self._captures = capturing.Captures(plain) if inspect.isfunction(plain) else None
        self.fingerprint = fingerprint.of_function(plain) if inspect.isfunction(plain) else f"object {id(function)}"
        self._family: Family = family(self.fingerprint, self.__name__)
        self._positional = [
            parameter
            for parameter in self._signature.parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        self._shortcuts: dict[tuple, _Shortcut] = {}

    def __repr__(self) -> str:
        return f"<definition {self.__name__}{self._signature}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    # Calls -----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **opts: Any) -> Any:
        # The path of a call that was made before: a tuple of types and shapes, one lookup, one native call.
        if not opts and tracing._state.trace is None:
            key: list[Any] = [defaults.changes]
            arrays: list[Any] = []
            for value in args:
                kind = type(value)
                if kind is np.ndarray:
                    key += (value.dtype, value.shape)
                    arrays.append(value)
                elif kind is Tensor:
                    key.append(value.spec)
                    arrays.append(value.data)
                elif kind is float:
                    key.append(kind)
                    arrays.append(np.float32(value).reshape(()))
                else:
                    break
            else:
                shortcut = self._shortcuts.get(tuple(key))
                if shortcut is not None and shortcut.valid():
                    return shortcut.run(arrays)
        return self._call(args, opts)

    def _call(self, args: tuple, opts: dict[str, Any]) -> Any:
        if tracing.current() is not None:
            return self._inline(args, opts)
        arguments = self._bind(args, opts)
        program = self._family.find(arguments.key)
        if program is None:
            program = self._miss(arguments)
        else:
            program.calls += 1
            if stream.listening:
                stream.emit(Event("hit", self.__name__, where=places.caller()))
        self._shorten(args, opts, arguments, program)
        return run(program, arguments)

    def _inline(self, args: tuple, opts: dict[str, Any]) -> Any:
        """A call while another function is traced becomes part of its graph."""
        if self.on_conflict == "raise":
            raise CompilationError(
                message(
                    f"{self.__name__} was wrapped with nx.jit and is called while another function is traced.",
                    'Call the function itself, or wrap it with nx.jit(fun, on_conflict="reuse") to make it part of that '
                    'graph, or "force" to compile it on its own.',
                )
            )
        if self.on_conflict == "force":
            before, tracing._state.trace = tracing._state.trace, None
            try:
                return self._call(args, opts)
            finally:
                tracing._state.trace = before
        return self.__nx_function__(*args, **options.check(self.__name__, self._signature, opts))

    # Keys ------------------------------------------------------------------------------------------------------

    def _bind(self, args: tuple, opts: dict[str, Any]) -> Arguments:
        args, opts = self._positional_by_name(args, opts)
        values = options.check(self.__name__, self._signature, opts)
        leaves: list[tuple[str, Any]] = []
        structures = []
        for place, value in enumerate(args):
            name = self._positional[place].name if place < len(self._positional) else f"argument {place + 1}"
            structures.append(containers.flatten(value, name, leaves, self._refuse))
        for path, value in leaves:
            if type(value) is Expr:
                raise NxTypeError(
                    message(
                        f"{self.__name__} got a traced value for {path!r} outside of any trace.",
                        "A traced value lives only while its definition is traced; return it from there.",
                    )
                )
        compiler = self.compiler or defaults.current()["compiler"]
        found = self._captures.walk() if self._captures else []
        arrays, constants = capturing.sort_out(found)
        return Arguments(self, structures, leaves, values, compiler, arrays, constants)

    def _positional_by_name(self, args: tuple, opts: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Positional arguments that were given by name, or have a default, take their places."""
        wanted = self._positional
        if len(args) >= len(wanted):
            if len(args) > len(wanted) and not any(
                q.kind is q.VAR_POSITIONAL for q in self._signature.parameters.values()
            ):
                raise NxTypeError(
                    message(
                        f"{self.__name__}{self._signature} takes {len(wanted)} positional arguments, got {len(args)}.",
                        "Options go by keyword.",
                    )
                )
            return args, opts
        given, rest = list(args), dict(opts)
        for parameter in wanted[len(args) :]:
            if parameter.name in rest:
                given.append(rest.pop(parameter.name))
            elif parameter.default is not parameter.empty:
                given.append(parameter.default)
            else:
                raise NxTypeError(
                    message(
                        f"{self.__name__}{self._signature} needs the argument {parameter.name!r}.",
                        f"It was given {len(args)} of {len(wanted)} positional arguments.",
                    )
                )
        return tuple(given), rest

    def _refuse(self, path: str, value: Any) -> Exception:
        if isinstance(value, Template):
            return NxTypeError(
                message(
                    f"{self.__name__} got a template for {path!r}, which has no data.", "Templates are for nx.compile."
                )
            )
        got = "None" if value is None else f"a {type(value).__name__}"
        name = path.partition("[")[0].partition(".")[0]
        shown = repr(value) if isinstance(value, str | type(None)) else "…"
        return NxTypeError(
            message(
                f"{self.__name__}() takes tensors or numbers as positional arguments, got {got} for {path!r}.",
                f"Python values go in as options: declare them after `*`, as in `def {self.__name__}(*, {name})`, and call "
                f"{self.__name__}({name}={shown}).",
            )
        )

    # Misses ----------------------------------------------------------------------------------------------------

    def _miss(self, arguments: Arguments) -> Program:
        with self._family.lock:
            program = self._family.find(arguments.key)
            if program is not None:
                program.calls += 1
                return program
            reason = self._family.closest(arguments.key)
            why = explain.reason(reason)
            guards.report(self.__name__, why)
            where = places.caller()
            try:
                program = self._make(arguments, why, where)
            except Exception as error:
                stream.emit(Event("error", self.__name__, where=where, reason=(f"{type(error).__name__}: {error}",)))
                raise
            self._family.add(program)
        for kernel in program.executable.kernels:
            stream.emit(
                Event(
                    "kernel",
                    self.__name__,
                    where=where,
                    origin=kernel.origin,
                    kernel=kernel.symbol,
                    native_ms=kernel.milliseconds,
                )
            )
        compiled = sum(kernel.origin == "compiled" for kernel in program.executable.kernels)
        stream.emit(
            Event(
                "miss",
                self.__name__,
                where=where,
                reason=why,
                advice=explain.advice(reason, arguments),
                trace_ms=program.trace_ms,
                lower_ms=program.executable.lower_ms,
                native_ms=program.executable.native_ms,
                compiled=compiled,
                reused=len(program.executable.kernels) - compiled,
            )
        )
        return program

    def _make(self, arguments: Arguments, why: tuple[str, ...], where: str) -> Program:
        begin = time.perf_counter()
        traced = arguments.trace()
        graph = simplify(traced.graph)
        spent = 1e3 * (time.perf_counter() - begin)
        executable = interface.get(arguments.compiler).compile(graph)
        return Program(
            arguments.key,
            executable,
            traced.structure,
            traced.fixed,
            traced.captured,
            traced.prints,
            why,
            where,
            arguments.signature(),
            spent,
            arguments.kept,
        )

    def _shorten(self, args: tuple, opts: dict[str, Any], arguments: Arguments, program: Program) -> None:
        """Remember how to answer the same types and shapes quickly, where a call is plain enough for it."""
        if opts or program.prints or (self.compiler is None and defaults.CONTEXT.get() is not None):
            return
        key: list[Any] = [defaults.changes]
        for value in args:
            if type(value) is np.ndarray and value.dtype.isnative:
                key += (value.dtype, value.shape)
            elif type(value) is Tensor:
                key.append(value.spec)
            elif type(value) is float:
                key.append(float)
            else:
                return
        if len(self._shortcuts) > 1024:
            self._shortcuts.clear()
        self._shortcuts[tuple(key)] = _Shortcut(self, arguments, program)

    # What people ask -------------------------------------------------------------------------------------------

    def why(self, *args: Any, **opts: Any) -> explain.Explanation:
        """What a call with these arguments would do: hit the cache, or compile, and then why.

        Nothing is compiled or run.
        """
        return explain.why(self, self._bind(args, opts))

    def cache_info(self) -> CacheInfo:
        """Hits, misses, and where kernels came from."""
        found = self._family
        return CacheInfo(found.calls, found.misses, found.compiled, found.memory, found.disk, len(found.programs))

    def clear_cache(self) -> None:
        """Forget this definition's programs; kernels stay in memory and on disk."""
        self._family.clear()
        self._shortcuts.clear()

    def compilations(self) -> list[CompilationView]:
        """Its programs as data for display, oldest first."""
        with self._family.lock:
            programs = list(self._family.programs.values())
        return [explain.view(self.__name__, program) for program in sorted(programs, key=lambda program: program.made)]


class Arguments:
    """The arguments of one call, taken apart, with the key that they make."""

    def __init__(
        self,
        definition: Definition,
        structures: Sequence[Any],
        leaves: Sequence[tuple[str, Any]],
        values: dict[str, Any],
        compiler: str,
        arrays: Sequence[tuple[capturing.Capture, Any]],
        constants: Sequence[tuple[capturing.Capture, Any]],
    ) -> None:
        self.definition, self.structures, self.options, self.compiler = definition, structures, values, compiler
        self.paths = [path for path, _ in leaves]
        self.values = [value for _, value in leaves]
        self.specs = [tracer.spec_of(value) for value in self.values]
        self.captured_arrays, self.captured_constants = arrays, constants
        states = tuple(capturing.state(value) for _, value in constants)
        array_specs = tuple(tracer.spec_of(value) for _, value in arrays)
        self.states = states
        self.kept = tuple(value for _, value in constants)
        ident = (
            tuple(structures),
            tuple(self.specs),
            tuple((name, options.freeze(value)) for name, value in values.items()),
            states,
            array_specs,
            compiler,
        )
        parts = {f"argument {path}": str(spec) for path, spec in zip(self.paths, self.specs, strict=True)}
        parts |= {f"option {name}": repr(value) for name, value in values.items()}
        for (capture, value), known in zip(constants, states, strict=True):
            parts[f"captured {capture.name}"] = _state_text(value, known)
        for (capture, _), spec in zip(arrays, array_specs, strict=True):
            parts[f"captured {capture.name}"] = str(spec)
        parts["compiler"] = compiler
        self.key = Key(ident, parts)

    def trace(self) -> tracer.Traced:
        """Trace the function on these arguments."""
        known = {id(value): (number, capture.name) for number, (capture, value) in enumerate(self.captured_arrays)}
        return tracer.trace(
            self.definition.__name__,
            self.definition.__nx_function__,
            self.structures,
            list(zip(self.paths, self.specs, strict=True)),
            self.options,
            known,
        )

    def arrays(self) -> list[np.ndarray]:
        """The leaves as arrays of their types."""
        return [array_of(value, spec) for value, spec in zip(self.values, self.specs, strict=True)]

    def signature(self) -> str:
        """The call as a person would write it, types in place of values."""
        named = [f"{path}: {spec}" for path, spec in zip(self.paths, self.specs, strict=True)]
        named += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{self.definition.__name__}({', '.join(named)})"


def _state_text(value: Any, known: Any) -> str:
    text = capturing.describe(value)
    return f"{text} {known[1][:8]}" if isinstance(known, tuple) and known[0] == "function" else text


def array_of(value: Any, spec: Spec) -> np.ndarray:
    """A leaf as an array of its type, C-contiguous and in native byte order; without a copy where it is that already."""
    if type(value) is Tensor:
        return value.data
    return np.require(value, dtype=spec.type.dtype, requirements=["C", "A"]).reshape(spec.shape)


def run(program: Program, arguments: Arguments) -> Any:
    """Run a program on the arguments of a call, and rebuild the result."""
    captured = [array_of(arguments.captured_arrays[number][1], _spec(arguments, number)) for number in program.captured]
    results = program.executable.run([*arguments.arrays(), *captured, *program.fixed])
    nodes = program.executable.graph.outputs
    tensors = [_wrap(array, node.spec) for array, node in zip(results, nodes, strict=True)]
    if program.prints:
        shown = tensors[len(tensors) - len(program.prints) :]
        for label, tensor in zip(program.prints, shown, strict=True):
            print(f"{label}{tensor!r}")
        tensors = tensors[: len(tensors) - len(program.prints)]
    return containers.rebuild(program.structure, iter(tensors))


def _spec(arguments: Arguments, number: int) -> Spec:
    return tracer.spec_of(arguments.captured_arrays[number][1])


class _Shortcut:
    """A program with all that a plain call needs, looked up beforehand."""

    __slots__ = (
        "_captured",
        "_checks",
        "_family",
        "_name",
        "_plain",
        "_rebuild",
        "_version",
        "captured_values",
        "executable",
        "program",
    )

    def __init__(self, definition: Definition, arguments: Arguments, program: Program) -> None:
        self._family, self._version, self._name = definition._family, definition._family.version, definition.__name__
        self.program, self.executable = program, program.executable
        self._checks = []
        for (capture, value), known in zip(arguments.captured_constants, arguments.states, strict=True):
            mutable = known is not None and known[0] in ("list", "dict", "object", "tuple")
            self._checks.append((capture.read, value, known if mutable else None))
        self._checks += [(capture.read, value, None) for capture, value in arguments.captured_arrays]
        reads = [arguments.captured_arrays[number][1] for number in program.captured]
        self._captured = [array_of(value, tracer.spec_of(value)) for value in reads]
        # A captured array that had to be converted must be converted anew at each call: its values may change.
        if any(
            not np.shares_memory(a, getattr(v, "data", v)) for a, v in zip(self._captured, reads, strict=True) if a.size
        ):
            self._version = -1
        self._captured += program.fixed
        single = getattr(program.executable, "single", None)
        self._plain = (
            (*single, program.executable.graph.outputs[0].spec, program.executable.launch)
            if (single and program.structure == containers.LEAF)
            else None
        )

    def valid(self) -> bool:
        """Whether nothing that the function captures has changed."""
        if self._version != self._family.version:
            return False
        for read, value, known in self._checks:
            now = read()
            if now is not value:
                return False
            if known is not None and capturing.state(now) != known:
                return False
        return defaults.CONTEXT.get() is None

    def run(self, arrays: list[np.ndarray]) -> Any:
        """Answer a call."""
        program = self.program
        program.calls += 1
        if stream.listening:
            stream.emit(Event("hit", self._name, where=places.caller()))
        if self._captured:
            arrays += self._captured
        if self._plain is not None:
            shape, dtype, spec, launch = self._plain
            made = _empty(shape, dtype)
            if launch(*arrays, made):
                return _wrap(made, spec)
        results = self.executable.run(arrays)
        nodes = self.executable.graph.outputs
        tensors = [_wrap(array, node.spec) for array, node in zip(results, nodes, strict=True)]
        return (
            tensors[0] if program.structure == containers.LEAF else containers.rebuild(program.structure, iter(tensors))
        )


def template_arguments(definition: Definition, templates: Sequence[Any], opts: dict[str, Any]) -> Arguments:
    """The arguments that templates stand for."""
    return definition._bind(tuple(templates), opts)


__all__ = ["Arguments", "Definition", "array_of", "run", "unnamed"]
