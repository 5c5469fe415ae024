"""Functions, classes and modules that look at more than their arguments."""

import datetime
import functools
import io
import json
import logging
import math
import os
import pathlib
import random
import sys
import time

import numpy as np
import pytest
import scipy.fft
import scipy.io
import scipy.special

import nxkernel as nx
from nxkernel.definitions.captures.impure_functions import is_impure


@pytest.mark.parametrize(
    "value",
    [
        os.getcwd, os.path.exists, os, time.time, time, open, io.open, eval, exec, globals, input, pathlib.Path,
        datetime.datetime.now, datetime.date.today, sys._getframe, logging.getLogger, np.load, np.loadtxt, np.geterr,
        np.get_printoptions, np.memmap, scipy.io.loadmat, nx.load_numpy,
    ],
)  # fmt: skip
def test_what_looks_around(value):
    assert is_impure(value)


@pytest.mark.parametrize(
    "value",
    [
        len, abs, getattr, math.sqrt, math, json.dumps, np.sum, np.sin, np, scipy.special.erf, nx.sum, nx,
        logging.info, logging.log, dict.fromkeys, datetime.date,
        datetime.datetime.fromisoformat, random.Random, int, ValueError, lambda: 1,
    ],
)  # fmt: skip
def test_what_looks_at_its_arguments_alone(value):
    assert not is_impure(value)


LOG = logging.getLogger("nx_said")


def warns_of_much(x):
    if len(x) > 3:
        logging.warning("%d values", len(x))
    LOG.info("the sum is %.1f", x.sum())
    return x * 2


def reads_a_level(x):
    return x * logging.getLogger("nx_said").level


def asks_what_is_logged(x):
    return x * 2 if LOG.isEnabledFor(logging.INFO) else x


def test_what_logs_is_traced_once(caplog):
    caplog.set_level(logging.INFO)
    program = nx.jit(warns_of_much)
    for values in ([1.0, 2.0], [3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0]):
        program(np.array(values))
    assert program.cache_info().misses == 2
    said = ["the sum is 3.0", "the sum is 7.0", "4 values", "the sum is 10.0", "4 values", "the sum is 11.0"]
    assert caplog.messages == said
    caplog.set_level(logging.ERROR)
    program(np.array([1.0, 2.0]))
    assert caplog.messages == said


@pytest.mark.parametrize("function", [reads_a_level, asks_what_is_logged])
def test_what_reads_how_logging_is_set_up_is_traced_at_each_call(function, caplog):
    program = nx.jit(function)
    for level in (logging.INFO, logging.ERROR, logging.INFO):
        caplog.set_level(level, "nx_said")
        assert program(np.array([1.0])).tolist() == function(np.array([1.0])).tolist()


@functools.lru_cache
def doubled(number):
    return number * 2.0


BY_NAME = {
    "function of scipy.fft": lambda x, transform=scipy.fft.rfft: np.abs(transform(x)),
    "cache that is asked for a traced number": lambda x: x * doubled(x.sum()),
}


@pytest.mark.parametrize("function", BY_NAME.values(), ids=BY_NAME)
def test_what_is_read_by_name_is_read_once(function):
    program, calls = nx.jit(function), [np.array([1.0, 2.0, 4.0]), np.array([0.0, -1.0, 3.0])]
    results = list(map(program, calls))
    assert program.cache_info().misses == 1
    np.testing.assert_allclose(results, list(map(function, calls)))


def ends_early(x):
    if x.shape[0] > 100:
        exit()
    return x + 1.0


def test_a_function_that_has_no_name():
    assert nx.jit(ends_early)(np.array([1.0])).tolist() == [2.0]
