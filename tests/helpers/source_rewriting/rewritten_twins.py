"""Functions and their rewritten twins: whether these do the same, with Python itself as the runtime."""

import copy

import pytest

from nxkernel.definitions.syntax import rewritten
from source_rewriting.plain_runtime import PlainRuntime, Unassigned


def cases():
    """A list of cases, and a mark that adds functions to it, with the arguments to try them on."""
    found = []

    def case(*inputs):
        def mark(function):
            found.append(pytest.param(function, inputs, id=function.__name__))
            return function

        return mark

    return found, case


def outcome(function, arguments):
    """What a function returns or raises, and what becomes of its arguments."""
    arguments = copy.deepcopy(arguments)
    try:
        result = function(*arguments)
        # What a definition returns is looked at by the runtime's caller.
        missing = [part for part in (result if isinstance(result, tuple) else [result]) if isinstance(part, Unassigned)]
        return UnboundLocalError if missing else result, arguments
    except Exception as error:
        return type(error), arguments


def check(function, inputs):
    """Compare the twin with the function, once for each of the inputs."""
    twin = rewritten(function, PlainRuntime())
    for arguments in inputs:
        assert outcome(twin, arguments) == outcome(function, arguments)


def noted(log, x):
    """Its second argument, which the first takes down."""
    log.append(x)
    return x
