"""A numerical definition: a Python function that is traced, compiled and cached when it is called."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import types
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np

from nxkernel import types as types_
from nxkernel.definitions.calls import (
    explanations,
    fast_path,
    pickling,
    recompilation_advice,
)
from nxkernel.definitions.calls.arguments import CallArguments, flattened
from nxkernel.definitions.calls.content_identity import HasPrograms
from nxkernel.definitions.calls.default_values import DefaultValues
from nxkernel.definitions.calls.event_reports import report_failure
from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup, Learned, entry_group
from nxkernel.definitions.calls.missed_calls import MissedCall
from nxkernel.definitions.captures.snapshot import Snapshot, take_snapshot
from nxkernel.definitions.flow.operators.call_dispatch import fn, seen
from nxkernel.definitions.flow.values import negative_indices
from nxkernel.definitions.keys import (
    argument_errors,
    callables,
    code_fingerprint,
    containers,
    default_options,
    fast_keys,
    options,
    source_locations,
    static_arguments,
)
from nxkernel.definitions.observe.events import Event, stream
from nxkernel.definitions.outputs import assigned_arrays, hook_delivery, nan_checks
from nxkernel.definitions.outputs.running_output import RunOutput
from nxkernel.definitions.outputs.value_checks import ValuesChangedError, run_for_values
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.definitions.tracing.trace import Traced
from nxkernel.errors import NxError
from nxkernel.fork_safety import cached_property
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.numpy.forwarding import LEFT_OUT
from nxkernel.scoped_settings import settled
from nxkernel.tensor.device import tensor_of
from nxkernel.tensor.tensor import Template, Tensor

if TYPE_CHECKING:
    from nxkernel.definitions.observe.compilation_report import CompilationView

#: The parameters of a definition's function, and what it gives, for tools that check and complete.
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result", covariant=True)
_Rest = ParamSpec("_Rest")

#: Fast paths kept for one snapshot of captures; beyond, they are made anew.
_FAST_PATHS = 1024
#: The same where keys hold functions with what these hold, which may be made anew for each call.
_FEW_PATHS = 16
#: What appends an argument to a key, by whose rules hold.
_ADDERS = {dialects.NX: fast_keys.add, dialects.NUMPY: fast_keys.add_of_numpy}


#: Attributes of a definition that only other modules of nxkernel ask for.
_INNER = frozenset({"dialect", "donated", "fingerprint", "on_conflict", "ruled_by", "static", "syntax"})


class Definition(HasPrograms, Generic[Parameters, Result]):
    """What :func:`nxkernel.defn` and :func:`nxkernel.jit` return; call it like the function.

    Positional arguments are tensors, arrays, numbers or containers of them; keyword-only arguments are options, which
    are static. The identity of a definition is the content of its code: a cell that is run again unchanged finds its
    programs. In a class it is a method: the object is captured, and what the method reads of it counts.
    """

    def __init__(
        self,
        function: Callable[Parameters, Result],
        *,
        compiler: str | None = None,
        on_conflict: str = "reuse",
        syntax: bool = False,
        promotion: str | None = None,
        static_argnames: static_arguments.Names = None,
        static_argnums: static_arguments.Numbers = None,
        donate_argnames: static_arguments.Names = None,
        donate_argnums: static_arguments.Numbers = None,
        hooks: hook_delivery.Hooks = None,
        ruled_by: Any = None,
    ) -> None:
        function = argument_errors.checked_function(function)
        functools.update_wrapper(self, function, updated=())
        if compiler is not None:
            default_options.check(compiler)
        default_options.check_promotion(promotion)
        #: Whether `if`, `while` and assignments of the function become part of the graph, or run while it is traced.
        self.syntax = syntax
        self.compiler, self.on_conflict = compiler, on_conflict
        #: What is called with values of each run, by the name of the hook.
        self.hooks = hook_delivery.checked(hooks)
        self.__name__ = callables.name(function)
        self._set_function(function, callables.signature(function))
        plain = callables.plain(function)
        code = getattr(plain, "__code__", None)
        self.fingerprint = code_fingerprint.of_code(code) if code is not None else type(function).__name__
        #: The dialect that was asked for; None where the text of the function decides.
        self.promotion = promotion
        #: The function whose text that is: of a gradient, that of the function which is differentiated.
        self.ruled_by = function if ruled_by is None else ruled_by
        #: As what it sees its values, by the rules of Nx or of NumPy; None where what it is called with decides.
        self.dialect = self._rules()
        #: That for calls with Python's numbers alone, where the text leaves it open: of what the function reads.
        self._beside_numbers = dialects.NX
        #: The parameters that are static values whatever is passed.
        self.static = static_arguments.named(self.__name__, self._signature, static_argnames, static_argnums)
        self._static_by = "static_argnums" if static_argnames is None else "static_argnames"
        #: The parameters whose tensors on a device are given away.
        self.donated = static_arguments.named(
            self.__name__, self._signature, donate_argnames, donate_argnums, static_arguments.DONATED
        )
        # Where the text leaves open whose rules hold, traced indices are by those that a person asked for.
        content = f"{self.fingerprint} {'syntax' if syntax else 'plain'} {promotion or 'inferred'}"
        self._entry_group: CacheEntryGroup = entry_group(self.__name__, content, callables.qualified_name(plain))

    def __dir__(self) -> list[str]:
        """The names for people: without those by which other modules know what to do with a definition."""
        return [name for name in super().__dir__() if name not in _INNER]

    @property
    def rules(self) -> str:
        """Whose rules of types hold and what says so, as in ``"NumPy's rules: it computes with np.sum"``."""
        return self._told(self._rules())

    def _told(self, dialect: str | None) -> str:
        return whose_rules.told(dialect, self.ruled_by, self.promotion or default_options.promotion())

    def _rules(self) -> str | None:
        """Whose rules hold, by request or by the text as it is now; None where what is passed decides."""
        return self.promotion or whose_rules.of(self.ruled_by, default_options.promotion())

    @property
    def _silent(self) -> bool:
        """Whether its text leaves open whose rules hold."""
        return self.promotion is None and self.dialect is None

    def _set_function(self, function: Callable[..., Any], signature: inspect.Signature) -> None:
        self.__nx_function__ = function
        self._root = function
        if not isinstance(function, types.FunctionType | types.MethodType | functools.partial):
            method = type(function).__call__
            self._root = types.MethodType(method, function) if isinstance(method, types.FunctionType) else function
        self._signature = self.__signature__ = signature
        parameters = list(signature.parameters.values())
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._positional = [parameter for parameter in parameters if parameter.kind in kinds]
        self._open = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
        self._snapshot: Snapshot | None = None
        self._made_of = callables.made_of(function)
        self._defaults = DefaultValues(callables.plain(function), self._positional)
        #: With so many arguments by position, a call leaves no number out.
        self._full = self._defaults.last

    def __repr__(self) -> str:
        return f"<definition {options.call(self.__name__, self._signature)}, {self.rules}>"

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Definition[Concatenate[Any, _Rest], Result], instance: object, owner: type | None = None
    ) -> Definition[_Rest, Result]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound = self.__copy__()
        rest = list(self._signature.parameters.values())[1:]
        bound._set_function(types.MethodType(self.__nx_function__, instance), inspect.Signature(rest))
        return bound

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> str | tuple:
        return pickling.reduced(self, Definition)

    __nx_pickled__ = cached_property(pickling.placeholder)

    # Calls -----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Parameters.args, **opts: Parameters.kwargs) -> Result:
        """Answer a call: by a program that was made before, or by one that is made now."""
        __tracebackhide__ = True
        if tracing._state.trace is not None:
            return self._inline(args, opts)
        key: list[Any] = []
        arrays: list[Any] = []
        form = None
        fixed = self._entry_group.static_numbers
        if opts or fixed or self.static or len(args) < self._full:
            # Arguments are left out or named, or the key has values of arguments in it.
            form = self._form(args, opts, fixed)
            if form is None:
                return self._call(args, opts)
            if not form.encode(args, opts, key, arrays):
                return self._call(*form.placed(args, opts))
        else:
            add = None
            for value in args:
                kind = type(value)
                if kind is np.ndarray:
                    key += (value.dtype, value.shape)
                    arrays.append(value)
                elif kind is Tensor:
                    key.append(value.spec)
                    arrays.append(value.data)
                else:
                    # How a key has others than arrays and tensors depends on whose rules hold.
                    add = add or _ADDERS[self.dialect or self._dialect_of_call(args, opts)]
                    if not add(value, key, arrays):
                        return self._call(args, opts)
        flat = tuple(key)
        snapshot = self._snapshot
        path = None if snapshot is None else snapshot.fast_paths.get(flat)
        if path is not None:
            if path.exact:
                path.take_digits(args if form is None else form.placed(args, opts)[0], arrays)
            try:
                result = path.run(arrays)
            except Exception as error:
                self._failed(error)
                raise
            if result is not fast_path.OUTDATED:
                return result
            if path.checks_values:
                snapshot.fast_paths.pop(flat, None)
        if form is not None:
            args, opts = form.placed(args, opts)
        return self._call(args, opts, flat, arrays)

    def _form(self, args: tuple, opts: dict[str, Any], fixed: Collection[str]) -> fast_keys.CallForm | None:
        """How the call is looked up; None where its defaults have to be read anew."""
        of_numpy = (self.dialect or self._dialect_of_call(args, opts)) == dialects.NUMPY
        return self._defaults.form(len(args), opts, of_numpy, self.static, fixed)

    def _dialect_of_call(self, args: tuple, opts: dict[str, Any]) -> str:
        """Whose rules a call's key is made by: those that hold, as far as is known before captures are looked at."""
        return self.dialect or whose_rules.of_values((*args, *opts.values()) if opts else args) or self._beside_numbers

    def _call(
        self, args: tuple, opts: dict[str, Any], key: tuple | None = None, arrays: list[Any] | None = None
    ) -> Any:
        __tracebackhide__ = True
        dialect = None if key is None else self._dialect_of_call(args, opts)
        arguments = self._bind(args, opts)
        version = self._entry_group.version
        try:
            program, hit = self._program(arguments)
        except NxError as error:
            # It names the line; the dozen frames in which it was traced would hide those of the person.
            error.__traceback__ = source_locations.users_traceback(error.__traceback__)
            raise
        program.calls += 1
        if not hit:
            program.new += 1
        elif stream.listening:
            stream.emit(
                Event("hit", self.__name__, where=source_locations.caller(), identity=self._entry_group.identity)
            )
        # A key made when fewer numbers were known to be static does not have their values.
        watching = nan_checks.watching() or arguments.checked
        known = key is not None and version == self._entry_group.version and not watching
        # Nor does one that was made by other rules than hold with the defaults, or by now.
        known = known and dialect == arguments.dialect
        # What a trace changed is another call by now.
        if known and (hit or self._entry_group.known(program.ident) is program):
            self._keep_fast_path(key, arguments, program, arrays, args, opts)
        try:
            try:
                return self._run(program, arguments, watching)
            except ValuesChangedError as error:
                changed = error
                arguments.snapshot.fast_paths.pop(key, None)
            # Out of the handler, so that what the other program raises says nothing of this one.
            return run_for_values(
                changed, program, self._entry_group, functools.partial(self._missed, arguments),
                lambda other: self._run(other, arguments, watching),
            )  # fmt: skip
        except Exception as error:
            self._failed(error)
            raise

    def _keep_fast_path(
        self,
        key: tuple,
        arguments: CallArguments,
        program: CachedProgram,
        arrays: list[Any],
        args: tuple,
        opts: dict[str, Any],
    ) -> None:
        """Have the next call with this key answered without a look at its arguments, where that is possible."""
        if not fast_path.FastPath.is_possible(arguments, program, arrays, args, opts):
            return
        fast_paths = arguments.snapshot.fast_paths
        if len(fast_paths) >= (_FEW_PATHS if fast_keys.keeps_alive(key) else _FAST_PATHS):
            fast_paths.clear()
        left = fast_path.CallDefaults.of(callables.plain(self._root), arguments.options, len(args), opts)
        if left is not None:
            fast_paths[key] = fast_path.FastPath(self._entry_group, arguments, program, left, self.hooks)

    def _run(self, program: CachedProgram, arguments: CallArguments, watching: bool) -> Any:
        """Run a program for a call; with `watching`, in the search for NaNs."""
        convention = program.convention
        arguments.refuse_changes(self.__name__, convention)
        given = arguments.inputs(convention, program.fixed)
        assigned_arrays.copy_kept(convention, arguments.values, given)
        of_values = convention.checked_values is not None
        wrap = fast_path.as_array if arguments.gives_arrays else tensor_of
        finish = functools.partial(
            fast_path.results, program, hooks=self.hooks, wrap=wrap, held=arguments.static_values
        )
        output: Any = contextlib.nullcontext()
        if convention.regions:
            output = RunOutput(convention.regions, self.hooks, program.signature, wrap, not of_values)
            finish = functools.partial(finish, has_called=output.has_called)
        try:
            with arguments.host_results.from_the_beginning() if of_values else contextlib.nullcontext(), output:
                made = nan_checks.run(self.__name__, program, given) if watching else program.run(given)
        except Exception as error:
            if not of_values:
                raise
            raise ValuesChangedError([]) from error
        late = finish(made) if convention.holds_back else None
        if convention.changes:
            assigned_arrays.give_back(self.__name__, convention, arguments.leaves, given, made)
        for place, shape in convention.given_shapes:
            if type(arguments.values[place]) is np.ndarray:
                arguments.values[place].shape = shape
        return late if convention.holds_back else finish(made)

    def _failed(self, error: Exception) -> None:
        report_failure(self.__name__, self._entry_group.identity, error, source_locations.caller())

    def _inline(self, args: tuple, opts: dict[str, Any]) -> Any:
        """A call while another function is traced becomes part of its graph."""
        __tracebackhide__ = True
        if self.on_conflict == "raise":
            raise argument_errors.in_another_trace(self.__name__)
        if self.on_conflict == "force":
            before, tracing._state.trace = tracing._state.trace, None
            try:
                return self(*args, **opts)
            finally:
                tracing._state.trace = before
        args, opts = self._placed(args, opts)
        self.dialect = self._rules()
        dialect = self.dialect or dialects.current()
        for path, value in zip(self._names(len(args)), args, strict=True):
            if path in self.static:
                static_arguments.check(self.__name__, path, value)
            elif value is not LEFT_OUT and not dialects.is_static(value, dialect):
                flattened(self.__name__, [path], [value])
        args = [None if value is LEFT_OUT else value for value in args]
        order = options.further(self._signature, opts)
        given, opts = options.by_name(self._signature, opts)
        values = options.check(self.__name__, self._signature, opts) | given
        values |= {name: values.pop(name) for name in order}
        with hook_delivery.inside(self.hooks), negative_indices.by_text(self._silent):
            return dialects.inside(dialect, self._twin(self.__nx_function__), args, values)

    def _twin(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What runs while the function is traced."""
        return fn(function) if self.syntax else seen(function)

    # Keys ------------------------------------------------------------------------------------------------------

    @settled
    def _bind(self, args: tuple, opts: dict[str, Any], templates: bool = False) -> CallArguments:
        __tracebackhide__ = True
        if not all(map(operator.is_, callables.made_of(self.__nx_function__), self._made_of)):
            # Somebody has given it other defaults, or its class another `__call__`.
            self._set_function(self.__nx_function__, callables.signature(self.__nx_function__))
        if opts or len(args) < self._full:
            # As a call does it, so that questions about it get its answer.
            form = self._form(args, opts, self._entry_group.static_numbers)
            args, opts = (args, opts) if form is None else form.placed(args, opts)
        args, opts = self._placed(args, opts)
        # The names that it reads may mean something else by now.
        self.dialect = self._rules()
        dialect = self.dialect or whose_rules.of_values((*args, *opts.values()))
        if dialect is None:
            snapshot, captured = self._look()
            beside = [*captured, *(value for _, value in snapshot.beside)]
            dialect = self._beside_numbers = whose_rules.of_values(beside) or whose_rules.of_numbers(self.ruled_by)
        with types_.promotion(dialect):
            return self._bound(args, opts, dialect, templates)

    def _bound(self, args: tuple, opts: dict[str, Any], dialect: str, templates: bool) -> CallArguments:
        __tracebackhide__ = True
        names, keywords, more = self._names(len(args)), [], {}
        is_static = functools.partial(self._is_static, dialect)
        args, names, keywords, more = static_arguments.split_static(args, names, is_static)
        order = options.further(self._signature, opts)
        given, opts = options.by_name(self._signature, opts)
        args, names, keywords = (*args, *given.values()), [*names, *given], [*keywords, *given]
        values = more | options.check(self.__name__, self._signature, opts)
        leaves, structures, held = flattened(self.__name__, names, args)
        for path, value in leaves:
            if isinstance(value, TracedValue):
                raise argument_errors.traced(self.__name__, path, self.on_conflict == "force")
            if isinstance(value, Template) and not templates:
                raise argument_errors.template(self.__name__, path)
        snapshot, captured = self._look()
        notes = self._notes_of_defaults(names, args, not templates)
        learned = self._learned
        fixed = learned.static_numbers if dialect == dialects.NUMPY else learned.fixed
        placed, assigned, owner = frozenset(more), learned.assigned, ()
        if learned.owned:
            owner = hook_delivery.owner(self._root)

        def arguments(structures: Sequence[Any], leaves: Sequence[Any], held: Sequence[Any]) -> CallArguments:
            return CallArguments(
                names, args, structures, leaves, values, self.compiler, snapshot, captured, dialect, fixed,
                keywords, placed, assigned, self.hooks, owner, self.donated, order, notes, held,
            )  # fmt: skip

        found = arguments(structures, leaves, held)
        if found.compares_memory:
            found.refuse_shared(self.__name__)
        if found.identifies:
            leaves, structures, held = flattened(self.__name__, names, args, found.identities())
            found = arguments(structures, leaves, held)
        return found

    def _notes_of_defaults(self, names: Sequence[str], args: Sequence[Any], learns: bool) -> dict[str, str]:
        """Keep which numbers have had other values than their defaults; what is said of those that are new."""
        if not self._defaults.numbers:
            return {}
        return self._defaults.become_inputs(self._entry_group, dict(zip(names, args, strict=True)), learns)

    @property
    def _learned(self) -> Learned:
        """What is known of the arguments from traces before."""
        return self._entry_group.learned

    def _is_static(self, dialect: str, name: str, value: Any) -> bool:
        """Whether an argument is a static value: by request, or since it is no data."""
        __tracebackhide__ = True
        if name in self.static:
            static_arguments.check(self.__name__, name, value)
            return True
        if dialects.is_static(value, dialect):
            return True
        # What says that an argument is missing is the function's own.
        parameter = self._signature.parameters.get(name)
        return parameter is not None and value is parameter.default and containers.is_opaque(value)

    def _look(self) -> tuple[Snapshot, list[Any]]:
        """What the function captures, as it is now."""
        snapshot = self._snapshot
        captured = snapshot.fetch() if snapshot is not None else None
        if captured is None:
            return self._look_anew()
        return snapshot, captured

    def _look_anew(self) -> tuple[Snapshot, list[Any]]:
        snapshot, captured = take_snapshot(self._root)
        # What is read anew is not kept alive either.
        self._snapshot = None if snapshot.anew else snapshot
        return snapshot, captured

    def _names(self, count: int) -> list[str]:
        names = [parameter.name for parameter in self._positional[:count]]
        more = count - len(names)
        return [*names, *callables.rest(self._signature, more)] if more else names

    def _placed(self, args: tuple, opts: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Positional arguments that were given by name, or have a default, take their places."""
        __tracebackhide__ = True
        return options.placed(self.__name__, self._signature, self._positional, self._open, args, opts)

    # Misses ----------------------------------------------------------------------------------------------------

    def _find(self, arguments: CallArguments, find: Callable[[tuple], CachedProgram | None]) -> CachedProgram | None:
        """The program that was made for such a call, where there is one."""
        program = find(arguments.ident)
        if program is None and arguments.is_aliased:
            # A program that reads two arrays answers for one in both places, and not the other way round.
            arguments.look_again(*self._look_anew())
            program = find(arguments.ident)
        return program

    def _program(self, arguments: CallArguments) -> tuple[CachedProgram, bool]:
        """The program that answers a call, and whether it was there."""
        __tracebackhide__ = True
        program = self._find(arguments, self._entry_group.find)
        if program is not None:
            return program, True
        with self._entry_group.making:
            program = self._find(arguments, self._entry_group.find)
            if program is not None:
                return program, True
            missed = self._missed(arguments)
            program = missed.make()
            missed.keep(program)
        missed.report(program)
        return program, False

    def _missed(self, arguments: CallArguments, found: tuple[CachedProgram, Sequence[int]] | None = None) -> MissedCall:
        declared = recompilation_advice.Declared(self._root, self._static_by)
        return MissedCall(
            self.__name__, self._entry_group, self._root, self._twin, self.syntax, self._silent, declared, arguments,
            self._told(arguments.dialect), self.ruled_by if self.promotion is None else None, found,
        )  # fmt: skip

    def _trace(self, arguments: CallArguments) -> tuple[Traced, float]:
        """The graph for a call, and the milliseconds that it took."""
        return self._missed(arguments).trace()

    # What people ask -------------------------------------------------------------------------------------------

    def why(self, *args: Parameters.args, **opts: Parameters.kwargs) -> explanations.Explanation:
        """What a call with these arguments would do: hit the cache, or compile, and then why.

        Nothing is compiled or run; templates stand for tensors. A call that would be refused is refused here, too.

        Examples
        --------
        >>> @nx.defn
        ... def double(t):
        ...     return t * 2
        >>> double.why(nx.template((3,), "f32")).difference
        ('first call',)
        """
        arguments = self._bind(args, opts, templates=True)
        program = self._find(arguments, self._entry_group.known)
        if program is not None:
            arguments.refuse_changes(self.__name__, program.convention)
            if program.convention.checked_values is not None and arguments.may_be_asked:
                return self._missed(arguments).explained(program)
            return explanations.hit(self.__name__, program, self._told(arguments.dialect))
        return self._missed(arguments).explained()

    def measure(self, *args: Parameters.args, **opts: Parameters.kwargs) -> CompilationView:
        """Run a call a few times with a clock around each kernel; the arguments do not change and nothing is kept.

        No hook is called, and the runs do not count as calls.

        Returns
        -------
        CompilationView
            The program that answers the call, compiled now where there was none, with its `measurement`.

        Raises
        ------
        NxValueError
            For a compiler that makes no kernels.

        Examples
        --------
        >>> @nx.defn(compiler="numba_cpu")
        ... def halve(t):
        ...     return t / 2
        >>> found = halve.measure(nx.iota((1000,), type="f32"))
        >>> found.signature, found.measurement.inputs, list(found.measurement.kernels)
        ('halve(t: f32[1000])', 'your call', [0])
        """
        __tracebackhide__ = True
        arguments = self._bind(args, opts)
        program, _ = self._program(arguments)
        return self._view(program, arguments.inputs(program.convention, program.fixed))
