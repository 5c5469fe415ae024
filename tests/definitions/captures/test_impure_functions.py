"""Functions, classes and modules that look at more than their arguments."""

import datetime
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
import scipy.io
import scipy.special

import nxkernel as nx
from nxkernel.definitions.captures.impure_functions import is_impure


@pytest.mark.parametrize(
    "value",
    [
        os.getcwd, os.path.exists, os, time.time, time, open, io.open, eval, exec, globals, input, pathlib.Path,
        datetime.datetime.now, datetime.date.today, sys._getframe, logging.getLogger, np.load, np.loadtxt, np.geterr,
        np.get_printoptions, np.random.default_rng, np.memmap, scipy.io.loadmat, nx.load_numpy,
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
