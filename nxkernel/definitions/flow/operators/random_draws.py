"""Generators of random numbers of NumPy's and Python's in NumPy programs: the running program draws from them.

Each draw is a call of Python in the middle of the program. A number that loops and branches carry, how many were made
so far, is an argument and a result of each, so that they come in the order of the text, as often as its loops go round,
and from the generator that a plain call would draw from: the numbers are those of NumPy. A generator that the program
makes is made at each run; what stands for it in the trace is another one, which nobody draws from.
"""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import operator
import random
import re
import threading
import types as types_
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.flow.operators.python_builtins import as_number, in_dialect_of_rules
from nxkernel.definitions.flow.values import changed_places
from nxkernel.definitions.flow.values.variable_leaves import has_traced, is_traced
from nxkernel.definitions.keys.static_values import ByIdentity, generator_state, numpys_generators
from nxkernel.definitions.outputs import host_results
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import deferred_calls, tracing
from nxkernel.graph.expr import constant
from nxkernel.graph.tracing import MutableCell
from nxkernel.library_functions import HostFunction
from nxkernel.messages.grammar import a
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.scipy.example_values import NoExampleError, are_alike, of_examples
from nxkernel.numpy.scipy.hosted import is_of_numbers, leaves, rebuilt, spec_like
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.ops.machinery.known_parts import filled, frozen, given_copies, taken_out
from nxkernel.primitives import Spec

#: Under which keys the outermost trace remembers the cell that counts draws, and the generators that its program makes.
_COUNT, _MADE = "how many numbers were drawn", "generators of the program"
#: What of a generator has no part in drawing numbers.
_OTHER = frozenset({"get_state", "getstate", "spawn", "bytes", "randbytes"})
_COUNTED = Spec(types.s64, (), ())
_SIGNATURE = r"\b{}\((.*?)\)"


class Draw(NamedTuple):
    """What draws from a generator.

    Parameters
    ----------
    generator : Generator, RandomState or random.Random
    name : str
        Of the method.
    shown : str
        How people call it.
    """

    generator: Any
    name: str
    shown: str


def draw_by(function: Any) -> Draw | None:
    """The draw that calling a function would be; None for other functions.

    Examples
    --------
    >>> draw_by(np.random.normal).shown, draw_by(random.gauss).shown, draw_by(len)
    ('np.random.normal', 'random.gauss', None)
    """
    if isinstance(function, types_.MethodType | types_.BuiltinFunctionType):
        owner, name = function.__self__, function.__name__
        if isinstance(owner, random.Random):
            return Draw(owner, name, f"random.{name}") if hasattr(random.Random, name) and name[0] != "_" else None
        return Draw(owner, name, f"np.random.{name}") if isinstance(owner, numpys_generators()) else None
    if numpys_generators() and any(function is one for one in (np.random.seed, np.random.ranf, np.random.sample)):
        name = function.__name__
        return Draw(np.random.normal.__self__, "seed" if name == "seed" else "random_sample", f"np.random.{name}")
    return None


def makes(function: Any) -> bool:
    """Whether a function or class makes a generator, or what one is made of.

    Examples
    --------
    >>> makes(np.random.default_rng), makes(random.Random), makes(np.random.PCG64), makes(np.zeros)
    (True, True, True, False)
    """
    if isinstance(function, type):
        return issubclass(function, (random.Random, *numpys_generators(), *_sources()))
    return bool(numpys_generators()) and function is np.random.default_rng


def twin(function: Any) -> Callable[..., Any] | None:
    """What to call in place of a function that draws or makes a generator; None for other functions."""
    draw = draw_by(function)
    if draw is not None and draw.name not in _OTHER:
        return functools.partial(_shuffled if draw.name == "shuffle" else _drawn, draw)
    if makes(function):
        is_source = isinstance(function, type) and issubclass(function, _sources())
        return functools.partial(_source if is_source else _made, function)
    if function is copy.copy or function is copy.deepcopy:
        return functools.partial(_copy_of, function)
    return None


# Draws ----------------------------------------------------------------------------------------------------------


def _drawn(draw: Draw, *args: Any, **options: Any) -> Any:
    """The numbers that a method draws."""
    out = options.pop("out", None)
    if out is not None:
        options.setdefault("size", tuple(out.shape))
    call = functools.partial(_called, draw.name)
    args, options = _with_known_sizes(draw, args, options)
    try:
        result = _step(draw, call, args, options)
    except NoExampleError:
        # What was taken for parameters of a distribution may decide how many numbers there are.
        result = _step_of_known(draw, call, tuple(map(_as_known, args)), options)
    if out is not None:
        out[...] = result
        return out
    return result


def _called(name: str, generator: Any, *args: Any, **options: Any) -> Any:
    return getattr(generator, name)(*args, **options)


def _shuffled(draw: Draw, x: Any, *args: Any, **options: Any) -> None:
    """``shuffle``: the elements of an array or list are put in another order."""

    def call(generator: Any, values: Any) -> Any:
        mixed = copy.copy(values)
        getattr(generator, draw.name)(mixed, *args, **options)
        return mixed

    if isinstance(x, list):
        x[:] = _step_of_known(draw, call, (list(x),), {})
    elif isinstance(x, ArrayValue | np.ndarray):
        x[...] = _step_of_known(draw, call, (x,), {})
    else:
        raise NxTypeError(
            message(
                f"{draw.shown}() puts the elements of an array or list in another order, got {a(type(x).__name__)}.",
                "Make a list of it first: x = list(x).",
            )
        )


def _with_known_sizes(draw: Draw, args: tuple, options: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments with numbers where they say how many numbers are drawn: a traced one is asked for."""
    if "size" in options:
        options["size"] = _as_known(options["size"])
    named = _parameters(type(draw.generator), draw.name)
    all_ = draw.name in ("rand", "randn", "permutation")
    known = [_as_known(one) if all_ or named[place : place + 1] == ("size",) else one for place, one in enumerate(args)]
    return tuple(known), options


@functools.cache
def _parameters(kind: type, name: str) -> tuple[str, ...]:
    """The parameters of a method, which those in C tell in their documentation alone."""
    found = re.search(_SIGNATURE.format(re.escape(name)), getattr(kind, name).__doc__ or "", re.DOTALL)
    return tuple([one.partition("=")[0].strip() for one in found[1].split(",")]) if found else ()


def _as_known(value: Any) -> Any:
    """A value with Python's numbers in place of traced whole numbers."""
    if isinstance(value, list | tuple):
        return type(value)(map(_as_known, value)) if type(value) in (list, tuple) else value
    is_whole = is_traced(value) and not value.shape and value.type.is_integer
    return operator.index(value) if is_whole else value


def _step_of_known(draw: Draw, call: Callable[..., Any], args: tuple, options: dict[str, Any]) -> Any:
    try:
        return _step(draw, call, args, options)
    except NoExampleError:
        raise NxTypeError(
            message(
                f"how many numbers {draw.shown}() gives, or of which type, depends on values that are computed.",
                "Give it sizes that are known, and choose among what is drawn afterwards, as by np.where.",
            )
        ) from None


def _step(draw: Draw, call: Callable[..., Any], args: tuple, options: dict[str, Any]) -> Any:
    """A call of a function of a generator as a step of the program; what that gives is found by examples."""
    _refuse_entries(draw.shown)
    handle = _handle(draw)
    arrays: list[Any] = [] if handle is None else [handle]
    known = taken_out(args, arrays), {name: taken_out(value, arrays) for name, value in options.items()}
    nodes = [array if isinstance(array, np.ndarray) else operand(as_value(array)) for array in arrays]

    def run(generator: Any, values: Sequence[Any]) -> Any:
        if not values:
            return call(generator, *args, **options)
        given = filled(known[0], values)
        return call(generator, *given, **{name: filled(value, values) for name, value in known[1].items()})

    def tried(values: Sequence[Any]) -> Any:
        return run(_copied(draw.generator), values)

    found = of_examples(tried, nodes, None) if arrays[handle is not None :] else [tried(())]
    example = found[0]
    if not are_alike(found) or not (example is None or is_of_numbers(example)):
        raise NoExampleError

    def compute(values: Sequence[np.ndarray]) -> Any:
        generator = draw.generator if handle is None else _live.taken(int(values[0]))
        drawn = run(generator, given_copies(values))
        if tracing.current() is not None:
            _left[id(generator)] = generator_state(generator)
        return drawn

    which = ByIdentity(draw.generator) if handle is None else "its own"
    return _counted(draw.shown, (draw.name, which, frozen(known)), compute, nodes, example)


def _refuse_entries(shown: str) -> None:
    if checks.are_apart():
        raise NxTypeError(
            message(
                f"{shown}() in a function of nx.vmap would draw for each entry, in no order.",
                "Draw before, and map over what is drawn, or over keys: nx.random.split(nx.random.key(42), parts=8).",
            )
        )


def _copied(generator: Any) -> Any:
    """A generator that draws what this one will; itself where it has no state."""
    return generator if isinstance(generator, random.SystemRandom) else copy.deepcopy(generator)


def _counted(shown: str, identity: tuple, compute: Callable[..., Any], nodes: Sequence[Any], example: Any) -> Any:
    """A call of Python that comes after those of before, and its result."""
    run = tracing.current()
    host_results.note_call(run)
    results = [] if example is None else list(leaves(example))
    specs = tuple([spec_like(one, shown) for one in results])
    key = (shown, *identity)

    def call(count: np.ndarray, failed: np.ndarray, *values: np.ndarray) -> list[Any]:
        if failed:
            # Python's run has ended before.
            return [int(count), *[np.zeros(spec.shape, spec.type.dtype) for spec in specs]]

        def computed() -> list[Any]:
            made = compute(values)
            return [int(count) + 1, *([] if example is None else leaves(made))]

        return host_results.of(key, (count, *values), computed)

    function = HostFunction(
        shown,
        key,
        call,
        (_COUNTED, *specs),
        not specs,
        quiet=False,
        declared_by="Its arguments say so: give it sizes and types that are the same at each run.",
        underivable="What a generator draws has no derivative with regard to the parameters of its distribution.",
    )
    cell = _count(run)
    before = [run.node(run.read(cell)), run.node(checks.has_failed())]
    found = apply(p.njit_call, *before, *[checks.alone(operand(one)) for one in nodes], function=function)
    count, *values = found if type(found) is tuple else (found,)
    run.write(cell, run.node(count))
    if example is None:
        return None
    return rebuilt(example, iter(map(_like, values, results)))


def _like(value: Operand, example: Any) -> Any:
    """A result as what it stands for: a number of Python's, or one or an array of NumPy's."""
    is_pythons = type(example) in (bool, int, float, complex)
    return in_dialect_of_rules(as_number(value)) if is_pythons else wrap(value)


def _count(run: tracing.Trace) -> MutableCell:
    """The cell that counts what was drawn, which the program gives as a result, so that it draws what nobody uses."""
    memory = run.outermost.memory
    if _COUNT not in memory:
        cell = memory[_COUNT] = MutableCell("how many numbers were drawn")
        run.outermost.write(cell, constant(0, types.s64))
        deferred_calls.entries(run).append(deferred_calls.RecordedCall(_done, (cell,), in_branch=True, leads=True))
    return memory[_COUNT]


def _done(values: tuple) -> None:
    """Nothing is left to be done when the program has run."""


# Generators that the program makes ------------------------------------------------------------------------------


class _Live(threading.local):
    """The generators that programs of this thread have made, by the numbers that these know them by."""

    #: A program that uses an older one than the last so many is refused.
    most = 1 << 14

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._held: collections.OrderedDict[int, Any] = collections.OrderedDict()

    def add(self, generator: Any) -> int:
        """Hold a generator; returns its number."""
        number = next(self._numbers)
        self._held[number] = generator
        if len(self._held) > self.most:
            self._held.popitem(last=False)
        return number

    def taken(self, number: int) -> Any:
        """The generator of a number."""
        if number not in self._held:
            raise NxValueError(
                message(
                    f"a program draws from a generator of random numbers that it made more than {self.most:,} "
                    "generators ago.",
                    "Make fewer of them, and draw from each more often.",
                )
            )
        return self._held[number]


_live = _Live()
#: By identity, the states in which programs that ran for a trace have left generators.
_left: dict[int, Any] = {}


def has_drawn(generator: Any, before: Any) -> bool:
    """Whether a trace has drawn from a generator, apart from what programs have that ran for it.

    Parameters
    ----------
    generator : Generator, RandomState or random.Random
    before : object
        Its state before the trace.
    """
    now = generator_state(generator)
    return now != before and now != _left.get(id(generator))


def _made(make: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A generator that the program makes at each run: of a seed, which may be computed, or of none."""
    given = [*args, *options.values()]
    if any(isinstance(one, numpys_generators()) for one in given):
        # That which is given, or another view of the state of one.
        return make(*args, **options)
    shown = "random.Random" if make is random.Random else f"np.random.{make.__name__}"
    _refuse_entries(shown)
    arrays: list[Any] = []
    known = taken_out(args, arrays), {name: taken_out(value, arrays) for name, value in options.items()}

    def compute(values: Sequence[np.ndarray]) -> int:
        own = given_copies(values)
        parts, named = filled(known[0], own), {name: filled(value, own) for name, value in known[1].items()}
        return _live.add(make(*map(_own, parts), **{name: _own(value) for name, value in named.items()}))

    stands_for_it = make() if arrays else make(*copy.deepcopy(args), **copy.deepcopy(options))
    number = _counted(shown, (frozen(known),), compute, [operand(as_value(array)) for array in arrays], 0)
    _generators_made()[id(stands_for_it)] = stands_for_it, number
    return stands_for_it


def _copy_of(function: Callable[..., Any], value: Any, *args: Any) -> Any:
    """``copy.copy`` and ``copy.deepcopy``: of a generator, the copy would stand where that stands in the trace."""
    if isinstance(value, (random.Random, *numpys_generators())):
        raise NxTypeError(
            message(
                f"copy.{function.__name__}() of a generator of random numbers would copy it once, when it is traced.",
                "Copy it outside and pass the copy as an argument.",
            )
        )
    return function(value, *args)


def _sources() -> tuple[type, ...]:
    return (np.random.BitGenerator, np.random.SeedSequence) if numpys_generators() else ()


def _source(kind: type, seed: Any = None, *args: Any, **options: Any) -> Any:
    """What a generator is made of: of a seed that is known."""
    if (seed is None and not options) or has_traced([seed, *args, *options.values()]):
        raise NxTypeError(
            message(
                f"np.random.{kind.__name__} takes a seed that is known before the program runs, got "
                f"{'none' if seed is None else 'one that the program computes'}.",
                "np.random.default_rng(seed) takes any, and none for numbers that are others at each call.",
            )
        )
    return kind(seed, *args, **options)


def _own(part: Any) -> Any:
    """What a generator is made of, for one run; a source of bits that was there before the trace is shared."""
    return part if changed_places.is_outside(part) else copy.deepcopy(part)


def _generators_made() -> dict[int, tuple[Any, Any]]:
    """By identity, what stands for a generator of the program, and the number that the program knows that one by."""
    return tracing.current().outermost.memory.setdefault(_MADE, {})


def _handle(draw: Draw) -> Any:
    """The number by which the program knows a generator that it makes; None for one that was there before."""
    made = _generators_made().get(id(draw.generator))
    if made is not None:
        return made[1]
    if any(draw.generator is one for one in _of_modules()) or changed_places.is_outside(draw.generator):
        return None
    if tracing.current().previous is not None:
        raise NxTypeError(
            message(
                f"{draw.shown}() draws, in a loop or branch, from a generator that a function of another library made.",
                "Make it before the loop: rng = np.random.default_rng(seed).",
            )
        )
    # What a library has made of a known seed is made anew at each run.
    beginning = _copied(draw.generator)
    number = _counted(draw.shown, (ByIdentity(draw.generator),), lambda _: _live.add(_copied(beginning)), (), 0)
    _generators_made()[id(draw.generator)] = draw.generator, number
    return number


def _of_modules() -> tuple[Any, ...]:
    """The generators behind the functions of modules."""
    return (random.random.__self__, *([np.random.normal.__self__] if numpys_generators() else []))
