"""Expressions, and the order in which they are evaluated: rewritten functions do what the original does."""

import pytest

from source_rewriting.rewritten_twins import cases, check, noted

# What people write is not always how it would be written here.
# ruff: noqa: C416, C420, E731
K = 3
CASES, case = cases()


@case((1, [1, 2]), (3, [1, 2]), (0, (0,)))
def members(x, among):
    found = [x in among, x not in among, 0 <= x in among, x in among not in ([True], [False])]
    return found, {x, *among}, {x: 1, "a": x}, {each for each in among}, {each: x for each in among}


@case((1, 2, 3), (3, 2, 1), (2, 2, 2))
def chained(a, b, c):
    return a < b < c, a <= b <= c <= 5, a < (b + 1) < c + 2 < 9, 0 < a == b


@case((1, 2, 3, []), (3, 2, 1, []))
def chained_once(a, b, c, log):
    return noted(log, a) < noted(log, b) < noted(log, c) < noted(log, 9)


@case((0, 1), (1, 0), ([], "x"))
def logic(a, b):
    return a and b, a or b, not a, not (a and b) or (b and a and 3), (a and b) or "c"


@case((0, []), (1, []))
def logic_is_lazy(a, log):
    r = a and noted(log, 1) and noted(log, 0) and noted(log, 2)
    s = a or noted(log, 3)
    return r, s


@case((0, []), (1, []))
def choice_expression_is_lazy(a, log):
    return noted(log, "yes") if a else noted(log, "no") if log else None


@case(([5, 6],))
def order_of_evaluation(log):
    x = {}
    x[noted(log, 1)] = noted(log, 0)
    x[noted(log, 1)] += noted(log, 2)
    x[len(log)] = log.pop()
    x[noted(log, "a")], x[noted(log, "b")] = noted(log, "c"), noted(log, "d")
    noted(log, x)[noted(log, "k")] = noted(log, "v")
    return x, log


@case(([1, 2, 3, 4],))
def comprehensions(xs):
    a = [x * K for x in xs if x % 2]
    b = {x: [y for y in range(x) if y] for x in xs}
    c = {x + len(xs) for x in xs}
    xs = [x for x in xs]
    return a, b, c, sum(x * x for x in xs), xs


@case(([1, 2, 3, 4],))
def comprehension_in_a_loop(xs):
    s = 0
    for i in range(3):
        t = [x * i for x in xs]
        s += sum(x + i for x in t)
    return s


@case((3,), (30,))
def walrus(x):
    if (y := x * 2) > 10:
        y += 1
    z = (w := y + 1) + w
    a = [q := v * 2 for v in range(3)]
    return y, z, w, a, q


@case((20,), (0,))
def walrus_in_while(n):
    out = []
    while (k := n // 2) > 1 and k != 7:
        out.append(k)
        n -= 1
    return out, k


@case((1,), (0,))
def asserts(x):
    assert x, f"no {x}"
    assert x == 1
    return x


@case((2,))
def starred_calls(x):
    a = [1, 2]
    d = {"sep": "-"}
    f = lambda *p, **k: (p, k)
    return f(*a, x, *a, y=x, **d), [*a, x], {**d, "z": 1}


@case((2.5,))
def text(x):
    name = "a"
    return f"{name!r:>4} {x:.{int(x)}f} {abs(-x) if x else 0} {{}} {[1, 2][1]}"


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_the_twin_does_what_the_function_does(function, inputs):
    check(function, inputs)
