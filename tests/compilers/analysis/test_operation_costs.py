"""What operations cost, and that the table speaks of operations that there are."""

from nxkernel import primitives as p
from nxkernel.compilers.analysis.operation_costs import COSTS, cost, is_function
from nxkernel.compilers.numba_cpu.codegen.elementwise import ELEMENTARY


def test_every_name_is_a_primitive():
    assert set(COSTS) <= set(p.TABLE)


def test_costs():
    assert [cost(name) for name in ("add", "divide", "exp", "tan", "pow", "threefry2x32")] == [1, 5, 10, 20, 30, 80]


def test_functions_are_those_that_take_many_instructions():
    # Random bits are as long, and the division that a remainder takes.
    assert {name for name in p.TABLE if is_function(name)} == ELEMENTARY | {"pow", "remainder", "threefry2x32"}
