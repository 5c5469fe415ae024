"""Statements of rewritten functions do what those of the original do, with Python itself as the runtime."""

import pytest

from source_rewriting.rewritten_twins import cases, check

# What people write is not always how it would be written here.
# ruff: noqa: B007, F841
CASES, case = cases()


@case((1,), (-1,), (0,))
def branches(x):
    if x > 0:
        a = 1
    elif x < 0:
        a = 2
    else:
        a = 3
    return a


@case((1,), (0,))
def one_branch_assigns(x):
    a = 5
    if x:
        a, b = a + 1, 2
    return a


@case((1,), (0,))
def maybe_unassigned(x):
    if x:
        a = 1
    return a + 1


@case((1,), (0,))
def temporary_read_before(x):
    t = 4
    r = 0
    if x:
        t = t + 1
        r = t
    return r


@case((5,), (0,))
def while_loop(n):
    s = 0
    while n > 0:
        t = n * n
        s += t
        n -= 1
    return s, n


@case((5,), (0,))
def while_else(n):
    while n:
        n -= 1
        if n == 2:
            break
    else:
        n = "all"
    return n


@case((12,), (3,))
def while_true(n):
    k = 0
    while True:
        k += 1
        if k * k > n:
            break
    return k


@case(([1, 2, 3],), ([],))
def for_loop(xs):
    s = 0
    for x in xs:
        s += x
    return s


@case(([1, 2, 3],), ([],))
def variable_of_a_loop_afterwards(xs):
    for x in xs:
        pass
    return x + 0


@case(([1, 2, 3],), ([],))
def variable_of_a_loop_before(xs):
    x = "none"
    for x in xs:
        x = x * 2
    return x


@case((6,), (0,))
def nested_loops(n):
    s = []
    for i in range(n):
        for j in range(i):
            if j == 3:
                break
            if (i + j) % 2:
                continue
            s.append((i, j))
        while i > 4:
            i -= 1
            if i == 5:
                continue
            s.append(i)
    return s, i


@case((4,), (0,))
def loop_in_a_branch(n):
    s = 0
    if n:
        for i in range(n):
            s += i
            if s > 3:
                break
        n = i
    else:
        while s < 3:
            s += 1
    return s, n


@case((3, 0), (3, 5), (0, 0))
def docstring(n, stop):
    """Of the function."""
    while n != stop and n > -5:
        n -= 1
        if n == 1:
            pass
        elif n == -2:
            break
    return n


@case(([[1, 2], [3, 4]],), ([[0.0, 1], [2, 3]],))
def triangular(a):
    n = len(a)
    for k in range(n):
        if a[k][k] == 0:
            continue
        for i in range(k + 1, n):
            a[i][k] /= a[k][k]
            for j in range(k + 1, n):
                a[i][j] -= a[i][k] * a[k][j]
    return a


@case((27,), (1,))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case((1,), (0,))
def loop_variable_reused(x):
    t = 0
    for i in range(3):
        t = i
    for i in range(2):
        t += i
    if x:
        for i in range(5):
            pass
    return t, i


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_the_twin_does_what_the_function_does(function, inputs):
    check(function, inputs)
