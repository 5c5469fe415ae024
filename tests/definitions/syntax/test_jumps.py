"""Returns, breaks and what else leaves a block: rewritten functions do what the original does."""

import pytest

from source_rewriting.rewritten_twins import cases, check

# What people write is not always how it would be written here.
# ruff: noqa: B007, E731, PERF402, RET503, RET504
CASES, case = cases()


@case(([1, 2], 2), ([1, 2], 3), ([], 1))
def found_or_not(among, x):
    for place, each in enumerate(among):
        if each == x:
            found = place
            break
    else:
        found = -1
    return found


@case(([[1, 2], [3]], 2), ([[1], [2], [1]], 1), ([[1, 2]], 3), ([], 1))
def found_inside(rows, x):
    last = "none"
    for row in rows:
        for each in row:
            if each == x:
                last = each
                break
        else:
            if len(row) > 1:
                break
            last = row
    return last


@case((3,), (-3,), (0,))
def early_return(x):
    if x > 0:
        return "positive"
    y = x * 2
    if y < -2:
        return y
    y += 1
    return y, x


@case((1, 1), (1, 0), (0, 1), (0, 0))
def partial_return(a, b):
    c = 0
    if a:
        if b:
            return 1
        c += 1
    else:
        c += 2
    c *= 10
    return c


@case((1, 1), (1, 0), (0, 1), (0, 0))
def partial_returns_in_a_row(a, b):
    s = []
    if a:
        if b:
            return s
        s.append(1)
    if b:
        if a:
            return s
        s.append(2)
    if a:
        s.append(3)
        if not b:
            return s, "end"
    s.append(4)


@case((1,), (0,))
def bare_return(x):
    out = [0]
    if x:
        return None
    out[0] = 1
    return out


@case((1,), (0,))
def returns_in_both(x):
    if x:
        y = x + 1
        return y
    else:
        y = x - 1
        return y
    return "never"


@case((12,), (3,))
def while_true_return(n):
    k = 0
    while True:
        k += 1
        if k % 2:
            continue
        if k * k > n:
            return k, n


@case(([1, 5, 2, 7],), ([1],), ([9],))
def for_break_else(xs):
    for i, x in enumerate(xs):
        if x > 4:
            break
    else:
        i = None
    return i


@case(([1, 5, 2, 7],), ([],))
def for_continue(xs):
    s = 0
    for x in xs:
        if x % 2 == 0:
            continue
        s += x
        if s > 5:
            continue
        s += 100
    return s


@case(([1, 5, 2, 7], 2), ([1], 3), ([], 0))
def search(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            return i
    return -1


@case(([1, 5, 2, 7], 2), ([1], 3), ([], 0))
def search_without_end(xs, wanted):
    for x in xs:
        if x == wanted:
            return


@case(([[1, 2], [3, 4], [5]], 4), ([[1], [2]], 9), ([], 1))
def search_in_rows(rows, wanted):
    count = 0
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            count += 1
            if x == wanted:
                return i, j, count
            if x == 2:
                break
        else:
            count += 100
            continue
        count += 1000
    return count


@case((10,), (3,))
def return_break_and_else(n):
    for i in range(n):
        if i == 7:
            return "seven"
        if i * n > 40:
            break
    else:
        n = -n
    return i, n


@case((6, 1), (6, 0))
def guard_after_a_choice(n, flag):
    s = 0
    for i in range(n):
        if i % 2:
            if i == 3:
                continue
            if flag and i == 5:
                break
            s += 1
        else:
            s += 10
        s += 100
        if flag:
            if i == 4:
                continue
        else:
            s += 1000
        s += 10000
    return s


@case((4,), (9,))
def return_deep_inside(n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if i * j * k > 8:
                    if (i + j) % 2:
                        return i, j, k
                    break
            if j > i:
                break
    return None


@case((3,), (0,))
def break_in_the_else_of_a_loop(n):
    out = []
    for i in range(4):
        for j in range(n):
            out.append(j)
        else:
            if i == 2:
                break
            out.append("else")
    return out


@case((1,), (5,))
def closure_and_early_return(x):
    a = 1
    h = lambda: a
    if x > 2:
        return h()
    a = 2
    return h(), a


@case((1,), (0,), (-1,))
def raises(x):
    if x < 0:
        raise ValueError("negative")
    if x:
        y = 1
    else:
        raise KeyError(x)
    return y


@case((3,), (5,))
def raise_in_a_loop(n):
    s = 0
    for i in range(n):
        if i == 4:
            raise ValueError
        if i == 1:
            continue
        s += i
    return s


@case((0,), (3,))
def many_flags(n):
    found = None
    while True:
        n += 1
        for i in range(n):
            if i > 3:
                found = i
                break
            while i:
                i -= 1
                if n == 4:
                    return "four", i
                if i == 1:
                    break
        if found is not None:
            break
    return found, n


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_the_twin_does_what_the_function_does(function, inputs):
    check(function, inputs)
