"""Random graphs of every kind, each compiled by numba_cpu and compared with what the evaluator gives for it.

``python -m random_graphs 7 10`` (in this folder's parent) checks those of the seeds 7 to 16.
"""

from random_graphs.checking import KINDS, failure
from random_graphs.choices import smallest
from random_graphs.graphs import Unsuitable

__all__ = ["KINDS", "Unsuitable", "failure", "smallest"]
