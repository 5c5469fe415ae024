"""Programs that check their inputs, as people write them; outside of the tests, whose asserts pytest rewrites."""

import numpy as np


class Own(Exception):
    """An error of a user's, with an attribute."""

    def __init__(self, text, value=None):
        super().__init__(f"{text}: {value:.1f}" if value is not None else text)
        self.value = value


def any_negative(x):
    if np.any(x < 0):
        raise ValueError("negative")
    return np.sqrt(x)


def with_a_value(x):
    if x.min() < 0:
        raise ValueError(f"got {x.min()} of {x.size}, {x.max():.3f}")
    return np.sqrt(x)


def asserted(x):
    assert np.all(x > 0), "text"
    assert x.sum() < 100
    return np.log(x)


def negated(x):
    if not np.isfinite(x).all():
        raise FloatingPointError("bad %s" % x.sum())
    return x * 2


def helper(a, b):
    if a > b:
        raise Own("a > b", b)
    return b - a


def in_a_helper(x):
    return helper(x[0], x[1]) * 2


def in_a_for(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"element {i} is {x[i]}")
        if x[i] > 100:
            raise KeyError(i)
        s += x[i]
    return s


def in_a_while(x):
    n = 0
    while np.abs(x).max() > 1:
        x = x / 2
        n += 1
        if n > 9:
            raise RuntimeError(f"no convergence in {n} turns")
    return x


def among_returns(x):
    m = x.mean()
    if m > 5:
        return x * 2
    elif m < -5:
        raise ValueError("too low", m)
    else:
        return x - 1


def at_the_end(x):
    m = x.mean()
    if m > 5:
        return x * 2
    elif m > -5:
        return x - 1
    raise Own("too low", m)


def nested(x):
    if x.sum() > 0:
        if x.min() < 0:
            raise ValueError("low", x.min())
        y = x * 2
    else:
        y = -x
    return y


def on_both_sides(x):
    if x.sum() < 0:
        if x.min() < -10:
            raise ValueError("very")
        raise ValueError("a bit")
    return x


def on_all_sides(x):
    if x.min() < -10:
        raise ValueError("very")
    raise KeyError("a bit")


def the_class_alone(x):
    if x.sum() < 0:
        raise ValueError
    return x


def from_nothing(x):
    if x.sum() < 0:
        raise ValueError("a") from None
    return x


def from_another(x):
    cause = KeyError("c", x.sum())
    if x.sum() < 0:
        raise ValueError("a") from cause
    return x


def one_after_another(x):
    if x.sum() < 0 or x.max() > 100:
        raise Own("both", value=x.max())
    if x.sum() < -1:
        raise TypeError("never")
    return x


def text_made_before(x):
    if x.sum() < 0:
        said = f"sum {x.sum():.2f} of {x.size}"
        raise ValueError(said)
    return x


def printed(x):
    print("begin", x.sum())
    if x.sum() < 0:
        print("negative")
        raise ValueError("negative")
    print("end", x.sum())
    return x


def stopped(x):
    if x[0] <= 0:
        raise ValueError("tolerance")
    e = x[1]
    while e > x[0]:
        e = e / 2
    return e


def always(x):
    raise ValueError(f"sum is {x.sum():.2f}")


PROGRAMS = [
    any_negative, with_a_value, asserted, negated, in_a_helper, in_a_for, in_a_while, among_returns, at_the_end, nested,
    on_both_sides, on_all_sides, the_class_alone, from_nothing, from_another, one_after_another, text_made_before,
    printed, stopped, always,
]  # fmt: skip
