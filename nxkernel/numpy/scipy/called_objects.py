"""Functions of SciPy's, and of packages upon it, that the running program calls though no table has them.

The shapes and types of what they give are found by calls with examples of several kinds: where these agree, they are
taken for those of every run, and a run that gives others is an error. An object is made anew in each call of what it is
asked for; an interpolator, which nothing changes, where its arrays are others than in the last one.
"""

from __future__ import annotations

import copy
import operator
import types as types_
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, message
from nxkernel.numpy.arrays.array import as_value
from nxkernel.numpy.scipy.example_values import NoExampleError, Recipe, are_alike, of_examples
from nxkernel.numpy.scipy.hosted import is_of_numbers, step
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.ops.machinery.known_parts import filled, given_copies, taken_out


@dataclass(frozen=True)
class _Made:
    """The place of an object among arguments: how it is made, and of which arrays."""

    recipe: Recipe
    begin: int
    end: int


def called(function: Callable[..., Any], name: str, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """The results of a function for traced arrays, computed by the running program.

    Parameters
    ----------
    function : callable
    name : str
        As people call it.
    args, options : sequence, dict

    Returns
    -------
    array, container of arrays or object of SciPy's

    Raises
    ------
    NoExampleError
        If it fails for all examples, or what it gives depends on more than shapes and types.
    """
    arrays: list[Any] = []
    known = [_taken_out(one, arrays) for one in args], {one: _taken_out(options[one], arrays) for one in options}
    arrays = [array if isinstance(array, np.ndarray) else operand(as_value(array)) for array in arrays]

    method = _Method.of(function)

    def recipe(values: Sequence[np.ndarray]) -> Any:
        given = [_filled(one, values) for one in known[0]]
        call = function if method is None else method.of_run()
        return call(*given, **{one: _filled(value, values) for one, value in known[1].items()})

    found = of_examples(recipe, arrays, getattr(function, "x", None))
    if method is not None:
        method.end_examples()
    if all(map(is_of_numbers, found)):
        if not are_alike(found):
            raise NoExampleError
        return step(name, (name, object()), lambda *values: recipe(given_copies(values)), arrays, found[0])
    if any(type(one) is not type(found[0]) for one in found) or not _is_scipys(found[0]):
        raise NoExampleError
    is_lasting = type(found[0]).__module__.startswith("scipy.interpolate.")
    return MadeObject(name, _LastMade(recipe) if is_lasting else recipe, arrays, found[0])


class _Method:
    """A method of a person's object of a package's, such as an estimator; examples leave the object as it was.

    One that changes its object does so to a copy at each run, so that later code does not see it.

    Parameters
    ----------
    method : method
    """

    def __init__(self, method: types_.MethodType) -> None:
        self._method, self._tried = method, copy.deepcopy(method.__self__)
        self._before = dict(vars(self._tried))
        self._is_example, self._changes = True, False

    @classmethod
    def of(cls, function: Callable[..., Any]) -> _Method | None:
        """The method of an object with attributes, of another package than SciPy."""
        if not isinstance(function, types_.MethodType) or isinstance(function.__self__, type):
            return None
        owner = function.__self__
        return cls(function) if hasattr(owner, "__dict__") and not _is_scipys(owner) else None

    def of_run(self) -> Callable[..., Any]:
        """What is called for an example, or at a run."""
        if not (self._is_example or self._changes):
            return self._method
        owner = self._tried if self._is_example else copy.deepcopy(self._method.__self__)
        return types_.MethodType(self._method.__func__, owner)

    def end_examples(self) -> None:
        """Call it for runs from now on; whether it changes its object is known."""
        now = vars(self._tried)
        self._changes = now.keys() != self._before.keys() or any(now[key] is not self._before[key] for key in now)
        self._is_example, self._tried = False, None


class _LastMade:
    """A recipe that keeps the last object that it made, and gives it again for the same arrays.

    Parameters
    ----------
    recipe : callable
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._last: tuple[list[np.ndarray], Any] | None = None

    def __call__(self, values: Sequence[np.ndarray]) -> Any:
        """The object that is made of these arrays."""
        last = self._last
        if last is not None and all(map(_is_same, values, last[0])):
            return last[1]
        copies = given_copies(values)
        made = self._recipe(copies)
        self._last = copies, made
        return made


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def _taken_out(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, MadeObject):
        _, recipe, own, _ = value._nx_made
        arrays += own
        return _Made(recipe, len(arrays) - len(own), len(arrays))
    return taken_out(value, arrays)


def _filled(value: Any, arrays: Sequence[np.ndarray]) -> Any:
    return value.recipe(arrays[value.begin : value.end]) if isinstance(value, _Made) else filled(value, arrays)


def _is_scipys(value: Any) -> bool:
    return any(one.__module__.partition(".")[0] == "scipy" for one in type(value).__mro__)


class MadeObject:
    """An object of SciPy's that depends on traced arrays: what is asked of it is a step of the program.

    Parameters
    ----------
    name : str
    recipe : callable
        Makes it.
    arrays : list
        What it is made of, traced or known.
    example : Any
        One that was made of an example.
    """

    def __init__(self, name: str, recipe: Recipe, arrays: list[Any], example: Any) -> None:
        self._nx_made = name, recipe, arrays, example

    @property
    def shown_as(self) -> str:
        """What it is, for errors."""
        return f"an object that {self._nx_made[0]} gives: take its arrays out of it"

    def __repr__(self) -> str:
        return f"<what {self._nx_made[0]} makes of traced arrays>"

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        name, example = f"{self._nx_made[0]}.{attribute}", self._nx_made[-1]
        if callable(getattr(example, attribute)):
            return lambda *args, **options: self._method(name, attribute, args, options)
        return _asked(name, operator.attrgetter(attribute), (self,), {})

    def _method(self, name: str, attribute: str, args: tuple, options: dict[str, Any]) -> Any:
        return _asked(name, lambda made, *a, **o: getattr(made, attribute)(*a, **o), (self, *args), options)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What calling the object gives: of an interpolator, its values."""
        return self._method(self._nx_made[0], "__call__", args, options)

    def __getitem__(self, index: Any) -> Any:
        return _asked(self._nx_made[0], operator.itemgetter(index), (self,), {})

    def __len__(self) -> int:
        return len(self._nx_made[-1])

    def __iter__(self) -> Iterator[Any]:
        return iter([self[place] for place in range(len(self))])

    def __mul__(self, other: Any) -> Any:
        return _asked(self._nx_made[0], operator.mul, (self, other), {})

    def __pow__(self, power: Any) -> Any:
        return _asked(self._nx_made[0], operator.pow, (self, power), {})


def _asked(name: str, function: Callable[..., Any], args: tuple, options: dict[str, Any]) -> Any:
    try:
        return called(function, name, args, options)
    except NoExampleError:
        raise NxTypeError(
            message(
                f"{name} gives results whose shapes or types depend on values, or none for arrays of these shapes.",
                "Declare them: nx.host_call(function, like, x), where `like` has the shape and type of its result.",
            )
        ) from None
