"""Tests of the package of file formats as a whole."""

import sys

import nxkernel as nx
from nxkernel import formats


def test_its_functions_are_those_of_the_top_level():
    assert [name for name in nx.__all__ if name in formats.__all__] == formats.__all__
    assert all(getattr(nx, name) is getattr(formats, name) for name in formats.__all__)
    assert nx.formats is formats is sys.modules["nxkernel.formats"]
