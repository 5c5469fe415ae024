"""A call that no program answers: the function is traced, its program compiled, kept, and reported."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

from nxkernel import passes
from nxkernel.definitions.calls import explanations, recompilation_advice
from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.definitions.calls.event_reports import report_compilation, report_failure
from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup
from nxkernel.definitions.captures import restoring
from nxkernel.definitions.captures.snapshot import Snapshot, reached, take_snapshot
from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.flow.operators import call_dispatch, random_draws, trace_time_calls
from nxkernel.definitions.flow.retracing import AssignedError, UndispatchedError, retraced
from nxkernel.definitions.flow.values import changed_places, negative_indices
from nxkernel.definitions.keys import argument_errors, source_locations
from nxkernel.definitions.observe import compilation_guards
from nxkernel.definitions.outputs import hook_delivery
from nxkernel.definitions.syntax.unsupported_syntax import RefusedSyntaxError
from nxkernel.definitions.tracing import dialects, side_effects, whose_rules
from nxkernel.definitions.tracing.trace import Traced
from nxkernel.errors import NxError, TracedValueError
from nxkernel.graph.python_numbers import RoundedNumberError
from nxkernel.graph.tracing import LongTraceError, tentative
from nxkernel.scoped_settings import settled

#: What code that does not know of traced values raises when it is given one.
_OF_FOREIGN_CODE = (TypeError, AttributeError, ValueError, RuntimeError, SystemError)


class MissedCall:
    """What a definition does for a call with new arguments.

    Parameters
    ----------
    name : str
        Of the definition.
    group : CacheEntryGroup
        Its programs.
    function : callable
        What is traced.
    twin : callable
        Gives the rewritten function for it.
    is_rewritten : bool
        Whether that is another one than the function as it is.
    is_silent : bool
        Whether its text leaves open whose rules hold.
    declared : Declared
        Which arguments it declares to be static.
    arguments : CallArguments
    rules : str
        Whose rules hold and why, for people.
    ruled_by : callable or None
        The function whose text says so; None where somebody has asked for them.
    found : tuple of (CachedProgram, sequence of int), optional
        A program that was traced for other numbers than it has computed for the call, and these.
    """

    def __init__(
        self, name: str, group: CacheEntryGroup, function: Callable[..., Any], twin: Callable[..., Any],
        is_rewritten: bool, is_silent: bool, declared: recompilation_advice.Declared, arguments: CallArguments,
        rules: str, ruled_by: Any, found: tuple[CachedProgram, Sequence[int]] | None = None,
    ) -> None:  # fmt: skip
        self._name, self._group, self._function, self._twin = name, group, function, twin
        self._is_rewritten, self._is_silent = is_rewritten, is_silent
        self._of_numpy = arguments.dialect == dialects.NUMPY
        self._arguments, self._rules, self._ruled_by = arguments, rules, ruled_by
        #: The first numbers that the trace may ask for; None as long as it may not.
        self._given: Sequence[int] | None = None
        #: Why there is no program, and what could be done about it.
        self.case = explanations.cache_miss(group, arguments, declared)
        if found is not None:
            self._given = found[1]
            self.case = explanations.other_values(*found)
        self._advice = self.case.advice
        self._notes: tuple[str, ...] = ()
        self._outside: tuple[str, ...] = ()
        #: What stopped the function when it was traced as it is.
        self._stopped: Exception | None = None
        #: Whether it is rewritten since its text needs that, or its loops, which is dropped where it cannot be.
        self._is_named = not is_rewritten and trace_time_calls.are_named(function, draws=not self._of_numpy)
        has_to_be = self._of_numpy and (group.long or call_dispatch.has_to_be_dispatched(function))
        self._by_text = not is_rewritten and bool(self._is_named or has_to_be)
        #: Whether it has been traced as it is until that became long, for this call or one before.
        self._is_long = group.long is not None
        #: What the function captures after a trace that has changed that.
        self._changed: Snapshot | None = None

    def make(self) -> CachedProgram:
        """Trace and compile; errors are reported, and name the line of the user's."""
        __tracebackhide__ = True
        arguments = self._arguments
        argument_errors.warn_of_numbers(self._name, arguments.paths, arguments.values)
        compilation_guards.report(self._name, self.case.reason)
        where = source_locations.caller()
        try:
            traced, trace_ms = self.trace()
            self._group.learn(arguments.found_assigned, arguments.found_fixed, bool(arguments.owner))
            return self._compiled(traced, trace_ms, where)
        except Exception as error:
            if isinstance(error, NxError):
                source_locations.point_out(error)
            report_failure(self._name, self._group.identity, error, where)
            raise

    def keep(self, program: CachedProgram) -> None:
        """Keep a program, unless what it reads has changed while it was traced."""
        arguments = self._arguments
        self._group.count(program)
        if self._outside:
            # Each call changes it, so each call runs the function: its kernels stay.
            self._advice = recompilation_advice.changing(self._name, self._outside)
            self._group.unkept = program, self._advice
            return
        changed = self._changed or take_snapshot(self._function)[0]
        is_settled, parts = arguments.options_now()
        if is_settled and changed.ident == arguments.snapshot.ident:
            self._group.add(program)
        elif not arguments.anew:
            after = {**arguments.parts(), **changed.parts, **parts}
            self._advice = recompilation_advice.restless(self._name, arguments.parts(), after)
            self._group.unkept = program, self._advice

    def report(self, program: CachedProgram) -> None:
        """Tell who watches that a program was made, why, and what would avoid it."""
        notes = (
            *self._arguments.inputs_now.values(),
            *self._notes,
            *explanations.other_loops(self.case, program.executable.kernels),
        )
        report_compilation(self._name, self._group.identity, program, self._rules, self._advice, notes)

    def _compiled(self, traced: Traced, trace_ms: float, where: str) -> CachedProgram:
        arguments, self._notes, self._outside = self._arguments, traced.notes, traced.changes_outside
        executable, placed = device_programs.compiled(
            traced.graph, arguments.compiler, self._name, len(arguments.values), arguments.donated
        )
        return CachedProgram(
            ident=arguments.ident,
            parts=arguments.parts(),  # with the values of numbers that tracing made static
            executable=executable,
            placed=placed,
            convention=traced.convention,
            fixed=traced.fixed,
            reason=self.case.reason,
            rules=self._rules,
            where=where,
            signature=arguments.signature(self._name),
            compiler=arguments.compiler,
            trace_ms=trace_ms,
        )

    # Tracing ---------------------------------------------------------------------------------------------------

    def explained(self, program: CachedProgram | None = None) -> explanations.Explanation:
        """What the call would do: traced as for a program, and everything that this changes is put back.

        Parameters
        ----------
        program : CachedProgram, optional
            The one that would run first, where it was traced for numbers that it computes: the trace tells those of
            the call.
        """
        arguments = self._arguments
        if arguments.anew:
            # A trace would draw, use up or write what nobody can put back.
            return explanations.miss(self._name, self.case, None, arguments.compiler, (), self._rules)
        if program is not None:
            self._given = ()
        outside = side_effects.SideEffects(self._function, arguments.options)
        try:
            met = reached([("", self._function), *arguments.options.items()])
            traced, _ = restoring.run_and_restore(met, self.trace)
        finally:
            # What the function stores elsewhere is stored by calls alone.
            outside.undo()
        arguments.refuse_changes(self._name, traced.convention)
        if program is not None:
            check = traced.convention.checked_values
            values = () if check is None else check.values
            other = program.by_values.get(values)
            if other is not None:
                return explanations.hit(self._name, other, self._rules)
            self.case = explanations.other_values(program, values)
        notes = (*arguments.inputs_now.values(), *traced.notes)
        return explanations.miss(self._name, self.case, traced.graph, arguments.compiler, notes, self._rules)

    @settled
    def trace(self) -> tuple[Traced, float]:
        """The graph for the call, simplified, and the milliseconds that it took; errors name the line of the user's.

        It is traced again where a trace finds an argument that is assigned into, or a number whose value or digits it
        needs.
        """
        __tracebackhide__ = True
        begin, arguments = time.perf_counter(), self._arguments
        outside = side_effects.SideEffects(self._function, arguments.options)
        try:
            reasons = (AssignedError, RoundedNumberError, UndispatchedError, LongTraceError, NxError)
            traced = retraced(lambda: self._traced(outside), reasons, outside.undo, self._learn)
        except NxError:
            raise
        except RecursionError as error:
            raise argument_errors.endless(self._name, error) from None
        except (TypeError, AttributeError, ValueError) as error:
            static = {name: value for name, value in arguments.options.items() if name in arguments.placed}
            argument_errors.note_of_values(error, dict(zip(arguments.names, arguments.given, strict=True)), static)
            raise
        if not arguments.owner and hook_delivery.is_owned(traced.convention.hooks):
            arguments.owner = hook_delivery.owner(self._function)
        if arguments.found_fixed:
            notes = [f"argument {path}: its value is needed while tracing, so each new one is traced"
                     for path in arguments.fixed]  # fmt: skip
            traced = dataclasses.replace(traced, notes=(*traced.notes, *notes))
        graph = dataclasses.replace(passes.SIMPLIFY(traced.graph), traced=traced.graph)
        return dataclasses.replace(traced, graph=graph), 1e3 * (time.perf_counter() - begin)

    def _learn(self, error: BaseException) -> None:
        """Keep what a trace has found, by the error that it left with; raise that where it says nothing new."""
        arguments = self._arguments
        more = arguments.fixable(error) if isinstance(error, NxError) else set()
        may_ask = self._given is None and self._is_to_ask(more) and not isinstance(error, RefusedSyntaxError)
        if self._by_text and isinstance(error, NxError) and not more and not may_ask and self._goes_as_it_is(error):
            # As it is it may be traced all the same; if not, it is rewritten again, and this error is the one.
            self._by_text, self._given = False, None
            if self._is_long:
                self._group.long = False
            return
        if isinstance(error, LongTraceError):
            self._by_text = self._is_long = self._group.long = True
            return
        if isinstance(error, NxError) and self._given is None and self._is_to_ask(more):
            # What it needs the call knows.
            self._given = ()
            arguments.fixed -= arguments.found_fixed
            arguments.found_fixed.clear()
            return
        if isinstance(error, NxError) and not more:
            source_locations.point_out(error)
            raise error
        argument_errors.check_once(self._name, arguments.used_up)
        if isinstance(error, AssignedError):
            arguments.add_assigned(error.path, error.augmented)
            arguments.found_assigned.append((error.path, error.augmented))
        elif isinstance(error, RoundedNumberError):
            arguments.whole = True
        elif isinstance(error, UndispatchedError):
            self._group.dispatched = True
        arguments.fixed |= more
        arguments.found_fixed |= more

    def _goes_as_it_is(self, error: NxError) -> bool:
        """Whether a function that cannot be rewritten, or was refused when it was, may be traced as it is."""
        has_to_be = self._is_named or call_dispatch.has_to_be_dispatched(self._function, True)
        return isinstance(error, RefusedSyntaxError) or not has_to_be

    def _is_to_ask(self, more: set[str]) -> bool:
        """Whether a trace that stopped is to ask for numbers that the program computes: those of Python do not help."""
        return not more and self._arguments.may_be_asked

    def _may_be_rewritten(self, error: Exception) -> bool:
        """Whether an error of a NumPy program that is traced as it is may be none of the rewritten function.

        An `if`, a loop or an assignment of values that only the running program knows is a part of that one's program.
        Where a Python number of the call is asked for, its value does.
        """
        if not self._of_numpy or self._is_rewritten or self._is_dispatched:
            return False
        if isinstance(error, TracedValueError):
            may_be = not self._arguments.asks_for_number(error)
        else:
            # NumPy answers some questions that were refused with an error of its own, and so does the function itself.
            may_be = not isinstance(error, NxError) or isinstance(error.__cause__, TracedValueError)
        return (may_be and not call_dispatch.is_below_scipy(error)) or call_dispatch.is_stopped_by_scipy(error)

    @property
    def _is_dispatched(self) -> bool:
        """Whether a function that is traced as it is is rewritten all the same."""
        return self._group.dispatched or self._by_text

    def _traced(self, outside: side_effects.SideEffects) -> Traced:
        """One trace."""
        __tracebackhide__ = True
        arguments = self._arguments
        everywhere = call_dispatch.everywhere(self._is_dispatched)
        own = changed_places.outside(outside.reaches)
        may_be_shorter = self._of_numpy and not (self._is_rewritten or self._is_dispatched or self._is_long)
        once = tentative(may_be_shorter)
        with (
            negative_indices.by_text(self._is_silent),
            whose_rules.warning_of_both(self._ruled_by),
            everywhere,
            own,
            once,
        ):
            try:
                traced = arguments.trace(self._name, self._function, self._twin, self._given)
            except Exception as error:
                if self._may_be_rewritten(error):
                    self._stopped = error
                    raise UndispatchedError from error
                if self._stopped is not None and isinstance(error, RefusedSyntaxError):
                    # What stopped the function says more than why it is not rewritten.
                    self._group.dispatched = False
                    raise self._stopped from None
                foreign = isinstance(error, _OF_FOREIGN_CODE) and not isinstance(error, NxError | RecursionError)
                if foreign and argument_errors.is_of_traced(error):
                    refusal = argument_errors.not_taken(error).with_traceback(error.__traceback__)
                    source_locations.point_out(refusal)
                    raise refusal from error
                raise
        # By Nx's rules a trace is pure, and what it logs tells how often it ran.
        outside.refuse_traced(self._name, arguments.snapshot.compared, logs=not self._of_numpy)
        if any(starmap(random_draws.has_drawn, arguments.generators)):
            if self._of_numpy and not (self._is_rewritten or self._is_dispatched or self._stopped):
                # The program draws what it draws; as it is, it would at its trace.
                raise UndispatchedError
            return dataclasses.replace(traced, changes_outside=("a generator of random numbers",))
        if self._of_numpy and not arguments.anew:
            changes = outside.changed_places()
            if changes:
                now = take_snapshot(self._function)[0]
                if now.ident == arguments.snapshot.ident:
                    outside.refuse_counts(self._name)
                    return dataclasses.replace(traced, changes_outside=changes)
                self._changed = now
        return traced
