"""Assignments to parts and in place: rewritten functions do what the original does."""

import pytest

from source_rewriting.rewritten_twins import cases, check

# What people write is not always how it would be written here.
# ruff: noqa: B007, F722, F821, F842
CASES, case = cases()


@case(([1, 2, 3],))
def items(x):
    x[0] = 5
    x[-1] += x[0]
    x[1], x[0] = x[0], x[1]
    x[0:2] = [7]
    return x


@case(([[1, 2], [3, 4]], {"w": [1, 2]}))
def nested_items(x, d):
    x[0][1] = 9
    x[1][0] += 3
    d["w"][1] = x[0]
    d["v"] = d["w"][0]
    d["w"][x[0][0]][0] *= 2
    return x, d


@case(([0, 1, 2], 1))
def index_among_the_targets(x, i):
    i, x[i] = 2, 7
    x[i], i = 8, 0
    a, (x[0], *b) = 1, (2, 3, 4)
    k = x[1] = 5
    x[0], *x[1:] = [i, 4, 5]
    return x, i, a, b, k


@case(([0, 1, 2],))
def swaps(x):
    a, b = x[0], x[2]
    for _ in range(3):
        a, b = b, a + b
        x[0], x[1] = x[1], x[0]
    return a, b, x


@case(([3, 1, 2],), ([],))
def sort_by_hand(x):
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


class Holder:
    def __init__(self, a):
        self.a = a
        self.inner = [1, 2]

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None


@case((Holder([1, 2, 3]),))
def attributes(h):
    h.a[1] = 5
    h.a[0] += 2
    h.b = 4
    h.b *= 3
    h.inner[h.a[0] - 3] = [1]
    h.inner[0][0] -= 1
    return h.a, h.b, h.inner


@case((6, 5))
def all_in_place(a, b):
    a += 1
    a -= 2
    a *= b
    a //= 2
    a %= 7
    a **= 2
    a <<= 3
    a >>= 1
    a |= 1
    a &= 29
    a ^= 3
    a /= 2
    return a


@case((1,), (0,))
def deletes(x):
    a, b, d = 1, 2, {"k": 1, "l": 2}
    if x:
        del a
        del b, d["k"]
    else:
        b = 3
    return d, a + b


@case((3,))
def annotations(n: "no such name"):
    a: int = 1
    b: undefined_name = a + n
    c: int
    for i in range(n):
        a += i
    return a, b


@case(((1, [2, 3]),), ((5, [1, 2, 3]),))
def unpacking(pair):
    a, [b, *c] = pair
    for d, (e, *f) in [pair, pair]:
        a += d
        if f:
            c = f
    (g), [h] = 1, [2]
    return a, b, c, d, e, f, g, h


@case(([0, 0, 0],))
def target_of_a_loop_is_a_part(x):
    for x[0] in range(4):
        x[1] += x[0]
    for i, x[i] in enumerate("ab"):
        pass
    return x, i


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_the_twin_does_what_the_function_does(function, inputs):
    check(function, inputs)
