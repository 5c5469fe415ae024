"""Rewritten functions do what the original does: many small functions, with Python itself as the runtime."""

import copy

import pytest

from nxkernel.defn.syntax import rewritten
from plain_runtime import PlainRuntime, Unassigned

# What people write is not always how it would be written here.
# ruff: noqa: B007, B023, C416, C420, E731, F722, F821, F841, F842, PERF402, RET503, RET504
K = 3


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        result = function(*arguments)
        # What a definition returns is looked at by the runtime's caller.
        missing = [part for part in (result if isinstance(result, tuple) else [result]) if isinstance(part, Unassigned)]
        return UnboundLocalError if missing else result, arguments
    except Exception as error:
        return type(error), arguments


CASES = []


def case(*inputs):
    """Mark a function as a case, with the arguments to try it on."""

    def mark(function):
        CASES.append(pytest.param(function, inputs, id=function.__name__))
        return function

    return mark


@case((1,), (-1,), (0,))
def branches(x):
    if x > 0:
        a = 1
    elif x < 0:
        a = 2
    else:
        a = 3
    return a


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


@case((1, [1, 2]), (3, [1, 2]), (0, (0,)))
def members(x, among):
    found = [x in among, x not in among, 0 <= x in among, x in among not in ([True], [False])]
    return found, {x, *among}, {x: 1, "a": x}, {each for each in among}, {each: x for each in among}


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


@case((12,), (3,))
def while_true_return(n):
    k = 0
    while True:
        k += 1
        if k % 2:
            continue
        if k * k > n:
            return k, n


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


@case((1, 2, 3), (3, 2, 1), (2, 2, 2))
def chained(a, b, c):
    return a < b < c, a <= b <= c <= 5, a < (b + 1) < c + 2 < 9, 0 < a == b


def noted(log, x):
    log.append(x)
    return x


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


@case(([5, 6],))
def order_of_evaluation(log):
    x = {}
    x[noted(log, 1)] = noted(log, 0)
    x[noted(log, 1)] += noted(log, 2)
    x[len(log)] = log.pop()
    x[noted(log, "a")], x[noted(log, "b")] = noted(log, "c"), noted(log, "d")
    noted(log, x)[noted(log, "k")] = noted(log, "v")
    return x, log


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


@case((1,), (5,))
def closure_and_early_return(x):
    a = 1
    h = lambda: a
    if x > 2:
        return h()
    a = 2
    return h(), a


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


@case((1,), (0,))
def deletes(x):
    a, b, d = 1, 2, {"k": 1, "l": 2}
    if x:
        del a
        del b, d["k"]
    else:
        b = 3
    return d, a + b


@case((1, 2, 3), (1,))
def signatures(a, b=5, /, c=7, *rest, d=K, e, **more):
    return a, b, c, rest, d, e, more


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


@case((4,))
def imports(n):
    import math
    import os.path as p
    from math import sqrt as root

    if n:
        import operator
    return math.floor(root(n)), p.basename("a/b"), operator.add(1, n)


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


@case(([1, 2],))
def global_function(x):
    return noted(x, K)


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
    twin = rewritten(function, PlainRuntime())
    for arguments in inputs:
        if function is signatures:
            assert twin(*arguments, e=4) == function(*arguments, e=4)
            assert twin(*arguments, d=1, e=4, f=6) == function(*arguments, d=1, e=4, f=6)
        assert outcome(twin, arguments) == outcome(function, arguments)


def test_there_are_many_cases():
    assert len(CASES) >= 60
