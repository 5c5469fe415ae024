"""Names of closures, nested functions and modules: rewritten functions do what the original does."""

import pytest

from nxkernel.definitions.syntax import rewritten
from source_rewriting.plain_runtime import PlainRuntime
from source_rewriting.rewritten_twins import cases, check, noted

# What people write is not always how it would be written here.
# ruff: noqa: B023, E731
K = 3
CASES, case = cases()


@case((1,), (5,))
def closure_reads_later_values(x):
    a = 1

    def g(y):
        return y + a

    if x > 2:
        a = 10
    first = g(0)
    for i in range(3):
        a += i
    return first, g(0)


@case((3,))
def closures_of_a_loop(n):
    made = []
    for i in range(n):
        k = i * 10
        made.append(lambda: (i, k))
    return [each() for each in made]


@case((3,))
def closure_used_in_its_turn(n):
    s = 0
    for i in range(n):
        k = i + 1

        def add(v, scale=k):
            if v > 1:
                return v * k
            return v + scale

        s += add(i)
    return s


@case((4,))
def nested_functions(n):
    def outer(a, *, by=2):
        def inner(b):
            total = 0
            for i in range(b):
                if i == by:
                    return total
                total += a
            return -total

        return inner

    return outer(3)(n), outer(3, by=9)(n)


@case((4,), (1,))
def function_in_a_branch(n):
    if n > 2:

        def g(v):
            return v * n
    else:
        g = lambda v: v - n
    return g(10)


@case((1, 2, 3), (1,))
def signatures(a, b=5, /, c=7, *rest, d=K, e, **more):
    return a, b, c, rest, d, e, more


@case((4,))
def imports(n):
    import math
    import os.path as p
    from math import sqrt as root

    if n:
        import operator
    return math.floor(root(n)), p.basename("a/b"), operator.add(1, n)


@case(([1, 2],))
def global_function(x):
    return noted(x, K)


@case((2,), (0,))
def lambdas(n):
    fs = [lambda v: v if v > n else -v, lambda v: v and n]
    g = lambda v, w=n: [u + w for u in range(v)] if v < 3 else None
    return [f(1) for f in fs], g(2), g(5), (lambda: n)()


@case((2,), (0,))
def shadowed_names(slice):
    then_1 = 5
    broken_1 = [1, 2, 3]
    if slice:
        then_1 += 1
    for i in range(3):
        if i == slice:
            break
    return then_1, broken_1[0:2], i


@case((2,), (0,))
def recursive_inside(n):
    def down(k):
        if k > 0:
            return [k, *down(k - 1)]
        return []

    return down(n)


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_the_twin_does_what_the_function_does(function, inputs):
    check(function, inputs)


def test_signatures_by_keyword():
    twin = rewritten(signatures, PlainRuntime())
    assert twin(1, e=4) == signatures(1, e=4)
    assert twin(1, 2, 3, 4, d=1, e=4, f=6) == signatures(1, 2, 3, 4, d=1, e=4, f=6)
