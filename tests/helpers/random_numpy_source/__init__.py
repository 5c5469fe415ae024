"""Random programs written as NumPy source text, which plain Python runs beside what nxkernel compiles of it.

A program is written while NumPy runs it (``writing.py``), so that every statement is one that NumPy takes: arrays of
all types and layouts (``inputs.py``), expressions (``expressions.py``, ``templates.py``) and statements
(``statements.py``). It is compared in values, types, shapes and in what became of its arguments (``checking.py``),
alone, under gradients and under ``vmap``; what differs is cut down to the statements that it takes (``shrinking.py``).
``python -m random_numpy_source`` runs many.
"""

from random_numpy_source.checking import Difference, Tally, gradient, mapped, plain
from random_numpy_source.shrinking import shrunk
from random_numpy_source.writing import Program, smooth_program, written

__all__ = ["Difference", "Program", "Tally", "gradient", "mapped", "plain", "shrunk", "smooth_program", "written"]
