"""What operations cost, and that the table speaks of operations that there are."""

from nxkernel import primitives as p
from nxkernel.compilers.costs import COSTS, cost


def test_every_name_is_a_primitive():
    assert set(COSTS) <= set(p.TABLE)


def test_costs():
    assert [cost(name) for name in ("add", "divide", "exp", "tan", "pow", "threefry2x32")] == [1, 5, 10, 20, 30, 80]
