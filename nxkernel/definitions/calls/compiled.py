"""Functions that are compiled for fixed types and shapes: `compile`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nxkernel.definitions.calls import explanations
from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.definitions.calls.definition import Definition, Parameters, Result
from nxkernel.definitions.calls.graph_cache import CachedProgram, Learned
from nxkernel.definitions.calls.missed_calls import MissedCall
from nxkernel.definitions.keys import argument_errors
from nxkernel.definitions.keys.static_arguments import Names
from nxkernel.definitions.keys.static_values import describe
from nxkernel.definitions.observe.key_changes import MADE_ANEW, changes, lines
from nxkernel.definitions.outputs import hook_delivery
from nxkernel.definitions.outputs.hook_delivery import Hooks
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.errors import NxTypeError, message
from nxkernel.primitives import Spec


class Compiled(Definition[Parameters, Result]):
    """A function compiled for fixed types and shapes; what :func:`nxkernel.compile` returns."""

    #: Whose rules hold where the text leaves it open, whatever a call passes.
    _rules_of_templates: str | None = None
    #: The program that was compiled for the templates, and what was known of their numbers then.
    program: CachedProgram | None = None
    _fixed: Learned | None = None

    def __init__(
        self,
        function: Callable[Parameters, Result],
        templates: Sequence[Any],
        opts: Mapping[str, Any],
        compiler: str | None,
        syntax: bool,
        hooks: Hooks = None,
        promotion: str | None = None,
        static: Names = None,
        ruled_by: Any = None,
    ) -> None:
        super().__init__(
            function, compiler=compiler, syntax=syntax, hooks=hooks, promotion=promotion, static_argnames=static,
            ruled_by=ruled_by,
        )  # fmt: skip
        self._options = dict(opts)
        self._rules_of_templates = whose_rules.of_values((*templates, *self._options.values()))
        arguments = self._bind(tuple(templates), self._options, templates=True)
        # The compiler stays the same, wherever the tensors of a call are.
        self.compiler = arguments.compiler
        self._structures, self._expected = (
            arguments.structures,
            tuple(zip(arguments.paths, arguments.specs, strict=True)),
        )
        self._call_text = arguments.signature(self.__name__)
        _refuse_anew(self.__name__, arguments.anew)
        program = self._program(arguments)[0]
        group = self._entry_group
        if group.known(program.ident) is not program:
            raise _not_ahead(self.__name__, group.unkept[1] if group.unkept is not None else "")
        self.program, self._fixed = program, group.learned
        #: Positional arguments that are static values, and numbers that the trace needed as such.
        self._settled = _settled(arguments)

    def __repr__(self) -> str:
        return f"<compiled {self._call_text}>"

    def _rules(self) -> str | None:
        return super()._rules() or self._rules_of_templates

    @property
    def _silent(self) -> bool:
        return super()._rules() is None

    @property
    def _learned(self) -> Learned:
        return self._fixed or super()._learned

    def _notes_of_defaults(self, *_: Any) -> dict[str, str]:
        """Nothing: its numbers are inputs, whatever their defaults."""
        return {}

    def _bind(self, args: tuple, opts: dict[str, Any], templates: bool = False) -> Any:
        if opts is not self._options:
            if opts:
                name = next(iter(opts))
                raise NxTypeError(
                    message(
                        f"{self._call_text} was compiled with its options, got the option {name!r}.",
                        "Give options to nx.compile, or use nx.jit, which compiles for whatever comes.",
                    )
                )
            opts = self._options
        arguments = super()._bind(args, opts, templates)
        if arguments.dialect == dialects.NX:
            # Numbers have the types of their templates, and are no other values than tensors of those.
            arguments.kinds = ("",) * len(arguments.kinds)
        if not hasattr(self, "_expected"):
            return arguments
        specs = tuple(zip(arguments.paths, arguments.specs, strict=True))
        settled = _settled(arguments)
        settled = {name: settled[name] for name in self._settled if name in settled}
        if arguments.structures != self._structures or specs != self._expected or settled != self._settled:
            raise NxTypeError(self._mismatch(dict(specs), settled, arguments))
        if self._find(arguments, self._own) is None:
            raise self._changed(lines(changes(self.program.parts, arguments.parts())))
        return arguments

    def _own(self, ident: tuple) -> CachedProgram | None:
        """The program, if it answers calls with this key."""
        return self.program if self.program is not None and self.program.ident == ident else None

    def _program(self, arguments: CallArguments) -> tuple[CachedProgram, bool]:
        """The program that was compiled, also where others have taken its room in the cache."""
        return super()._program(arguments) if self.program is None else (self.program, True)

    def _missed(self, arguments: CallArguments, found: tuple[CachedProgram, Sequence[int]] | None = None) -> MissedCall:
        if found is not None and self.program is not None:
            raise self._changed(explanations.other_values(*found).reason)
        return super()._missed(arguments, found)

    def _changed(self, reasons: Sequence[str]) -> NxTypeError:
        """The error for a call that its program is no answer to, since other things than its arguments changed."""
        return NxTypeError(
            message(
                f"{self.__name__} was compiled for other values of what it reads, and compiles nothing again.",
                *(reasons or [MADE_ANEW]),
                "Make what changes an argument, compile it again with nx.compile, or use nx.jit, which compiles for "
                "whatever comes.",
            )
        )

    def _mismatch(self, specs: dict[str, Spec], settled: dict[str, Any], arguments: CallArguments) -> str:
        expected = dict(self._expected)
        told = [
            f"{path}: expected {spec}, got {specs.get(path, 'nothing')}"
            for path, spec in expected.items()
            if specs.get(path) != spec
        ]
        told += [f"{path}: got {spec}, which is not expected" for path, spec in specs.items() if path not in expected]
        told += [
            f"{name}: expected the static value {describe(value)}, got {describe(settled[name])}"
            for name, value in self._settled.items()
            if name in settled and settled[name] != value
        ]
        return message(
            f"{self.__name__} was compiled for other arguments.",
            *(told or lines(changes(self.program.parts, arguments.parts()))),
            "Compile it again with nx.compile for these, or use nx.jit, which compiles for whatever comes.",
        )


def compile(
    function: Callable[Parameters, Result],
    templates: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    compiler: str | None = None,
    promotion: str | None = None,
    hooks: Hooks = None,
) -> Compiled[Parameters, Result]:
    """Compile a function now, for arguments like the templates.

    Parameters
    ----------
    function : callable
    templates : sequence
        Templates, tensors, numbers or containers of them, of which only types, shapes and axis names count; static
        values for static parameters. A number whose value the trace needs, such as a size, becomes static.
    options : mapping, optional
        The function's options; they are fixed.
    compiler : str, optional
        As for :func:`nxkernel.jit`; by default ``"numba_cuda"`` if a template is a tensor on a device.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.
    hooks : dict, optional
        Functions by the names of :func:`nxkernel.hook` calls: each gets the hook's value when the program has run.

    Returns
    -------
    Compiled
        Takes arguments of exactly these types and shapes, and never compiles again. Captured arrays are read at each
        call, as always, and other captured values are compared.

    Raises
    ------
    NxTypeError
        For a function that every call would trace, as it reads a file or a clock. When it is called with other types,
        shapes or static values, or after what it captures has changed, with what that is.

    Examples
    --------
    >>> total = nx.compile(nx.sum, [nx.template((2, 2), "s64")], {"axes": [1]})
    >>> total(nx.iota((2, 2))).to_list()
    [1, 5]
    """
    argument_errors.check_list("compile", "templates", templates)
    syntax, static, ruled_by = False, None, None
    if isinstance(function, Definition):
        hooks, static, ruled_by = function.hooks | hook_delivery.checked(hooks), function.static, function.ruled_by
        syntax, promotion = function.syntax, promotion or function.promotion
        function = function.__nx_function__
    return Compiled(function, templates, options or {}, compiler, syntax, hooks, promotion, static, ruled_by)


def _settled(arguments: CallArguments) -> dict[str, Any]:
    """The static arguments of a call, by name."""
    return {name: arguments.options[name] for name in arguments.placed} | dict(arguments.fixed_values())


def _refuse_anew(name: str, captures: Mapping[str, str]) -> None:
    """Refuse a function that reads what cannot be compared, so that each call traces it."""
    if captures:
        label, what = next(iter(captures.items()))
        raise _not_ahead(name, f"It reads {label.partition(' ')[2]}, {what}: pass that as an argument.")


def _not_ahead(name: str, why: str) -> NxTypeError:
    return NxTypeError(
        message(
            f"{name} cannot be compiled once for all: each call would trace it.",
            *([why] if why else []),
            "nx.jit compiles for whatever comes.",
        )
    )
