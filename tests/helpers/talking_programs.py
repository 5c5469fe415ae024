"""Programs that say something before they raise errors; outside of the tests, whose asserts pytest rewrites."""

import warnings

import numpy as np


def checked_before_it_prints(x):
    s = 0.0
    for v in x:
        assert s < 2.5, f"sum {s}"
        s += v
        print("sum", s)
    print("end")
    return s


def prints_around_a_check(x):
    print("begin", x)
    for i in range(len(x)):
        print(i, x[i])
        if x[i] > 1:
            raise ValueError(f"{i}: {x[i]}")
        print("fine", i)
    print("end")
    return x.sum()


def prints_in_a_while(x):
    i = 0
    while i < 3:
        if x[i] < 0:
            raise ValueError(i)
        print(i, x)
        i += 1
        assert x[0] + i < 4
        print("so far", i)
    print("end")
    return i


def prints_in_inner_loops(x):
    s = 0.0
    for v in x:
        if s < -20:
            raise ValueError("low")
        for w in x:
            s += v * w
            print("in", s)
            if s > 4:
                raise ValueError("high", s)
            print("done", s)
        print("out", s)
    print("end")
    return s


def one_loop_after_another(x):
    s = 0.0
    for v in x:
        s += v
        print("one", s)
    for v in x:
        print("two", s)
        s += v
        if s > 7:
            raise ValueError("high")
    for v in x:
        print("three", s)
        s -= v
        if s < -7:
            raise ValueError("low")
    return s


def on_sides_in_a_loop(x):
    for v in x:
        if v > 1:
            print("big", v)
        else:
            print("small", v)
            continue
        if v > 2:
            raise ValueError(v)
        print("bottom", v)
    return x


def _checked(v, i):
    print("look at", i)
    if v < 0:
        print("negative", v)
        raise ValueError(f"element {i}")
    return np.sqrt(v)


def in_a_helper(x):
    found = np.zeros(3)
    for i, v in enumerate(x):
        found[i] = _checked(v, i)
        print("root", found[i])
    print("end")
    return found


def warns(x):
    s = 0.0
    for v in x:
        s += v
        warnings.warn(f"sum {s}", stacklevel=1)
        if s > 2:
            raise ValueError("high")
        warnings.warn(f"still {s}", RuntimeWarning, stacklevel=1)
    warnings.warn("end", stacklevel=1)
    return s


def each_turn_raises(x):
    for i in range(3):
        print(i, x[0])
        raise ValueError(f"turn {i} of {x[0]}")


def each_turn_raises_something(x):
    n = 0
    print("begin")
    while x[n] > 0:
        print("turn", x[n])
        n += 1
        if x[n] > 0:
            raise ValueError(x[n])
        raise KeyError(n)
    print("end", n)
    return n


def each_of_several_turns_raises(x):
    n = int(x[0])
    for i in range(n):
        print("turn", i)
        raise ValueError(i)
    print("end", n)
    return n


def raises_in_the_end(x):
    print("begin", x[0])
    raise ValueError("known")


def raises_by_what_is_known(x):
    n = 0
    for _ in range(3):
        print(n, x[0])
        if n < len(x):
            raise ValueError(f"bad {n}")
        x = x + 1
    return x


PROGRAMS = [
    checked_before_it_prints, prints_around_a_check, prints_in_a_while, prints_in_inner_loops, one_loop_after_another,
    on_sides_in_a_loop, in_a_helper, warns, each_turn_raises, each_turn_raises_something, each_of_several_turns_raises,
    raises_in_the_end, raises_by_what_is_known,
]  # fmt: skip
