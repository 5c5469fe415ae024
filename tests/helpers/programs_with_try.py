"""Programs with `try` and `with`, as people write them; outside of the tests, whose asserts pytest rewrites."""

import warnings

import numpy as np


class Scale:
    """A context manager that only has a number."""

    def __init__(self, k):
        self.k = k

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def missing_attribute(x):
    try:
        return x.foo
    except AttributeError:
        return x * 2


def missing_module(x):
    try:
        import nothing_of_this_name
    except ImportError:
        nothing_of_this_name = None
    if nothing_of_this_name is None:
        return x + 1
    return x


def length(x):
    try:
        n = len(x[0])
    except TypeError:
        n = 1
    return x * n


def shapes(x):
    try:
        y = x + np.ones(7)
    except ValueError:
        y = x + 1
    return y


def a_check(x):
    try:
        if x.sum() < 0:
            raise ValueError("negative", x.sum())
        y = np.sqrt(x)
    except ValueError as e:
        y = x * 0 + e.args[1]
    return y


def _powered(x, n):
    if n < 0:
        raise ValueError("negative")
    return x**n


def a_check_in_a_helper(x):
    n = x.sum()
    try:
        y = _powered(x, n)
    except (ValueError, TypeError):
        y = x
    return y


def converted(x):
    try:
        y = np.asarray(x, dtype=float)
    except Exception as e:
        raise TypeError("bad") from e
    return y + 1


def raised_from(x):
    try:
        if x.sum() < 0:
            raise KeyError("a", x.sum())
        y = 2.0
    except KeyError as e:
        raise ValueError(f"sum {x.sum()}") from e
    return x * y


def one_in_another(x):
    try:
        try:
            if x[0] < 0:
                raise KeyError("a")
            y = 1.0
        except ValueError:
            y = 2.0
        if x[1] < 0:
            raise ValueError("b")
    except KeyError:
        y = 3.0
    except ValueError:
        y = 4.0
    return y


def not_caught(x):
    try:
        if x.sum() < 0:
            raise ValueError("negative")
        y = x * 2
    except KeyError:
        y = x
    return y


def assigned_into(x):
    try:
        x[0] = 100
        if x.sum() < 0:
            raise ValueError
        x[1] = 7
    except ValueError:
        x[0] = -1
    return x.sum()


def jumps(x):
    for k in range(3):
        try:
            if k == 1:
                continue
            if k == 2:
                break
            {}[k]
        except KeyError:
            x = x + 1
        finally:
            x = x * 2
    return x


def a_return_on_a_condition(x):
    out = 0
    try:
        if x[0] > 0:
            return x
        out = x.sum()
    finally:
        out = out + 1
    return x * out


def otherwise(x):
    try:
        if x.sum() < 0:
            raise ValueError
    except ValueError:
        y = x - 1
    else:
        y = x + 1
    finally:
        z = 3
    return y * z


def settings(x):
    with np.errstate(all="ignore"), np.printoptions(precision=2):
        y = x / 0
        print("y", x)
    return y


def no_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("never", stacklevel=1)
        if x.sum() < 0:
            warnings.warn(f"sum {x.sum()}", stacklevel=1)
        return x * 2


def warned(x):
    if x.sum() < 0:
        warnings.warn(f"sum {x.sum():.1f}", RuntimeWarning, stacklevel=1)
    return x


def of_a_class(x):
    with Scale(3) as s:
        if x.sum() < 0:
            return x
        y = x * s.k
    return y + 1


def text_of_all_kinds(x):
    if x.sum() < 0:
        print(f"{x[0]:.2f}", "%d %s" % (x[1], x[0]), f"{x.max():>8}", str(x), repr(x.min()))
    return x


def text_of_parts(x):
    print("negative:", x[x < 0], np.flatnonzero(x < 0), x[: np.argmax(x)], f"{x[x < 0]}")
    if (x < -3).any():
        raise ValueError(f"too low: {x[x < -3]}")
    return x


def of_types(x):
    assert isinstance(x, np.ndarray), type(x)
    if not isinstance(x, np.ndarray) or x.ndim != 1:
        raise TypeError(x)
    return x + 1


def factorized(x):
    m = np.array([[2.0, 0.5], [0.5, 1.0]]) * x[0]
    try:
        r = np.linalg.cholesky(m)
    except np.linalg.LinAlgError:
        r = np.linalg.cholesky(m + 1000 * np.eye(2))
    return r


def more_and_more(x):
    m = np.array([[2.0, 0.5], [0.5, 1.0]]) * x[0]
    more = 1e-6
    for _ in range(5):
        try:
            r = np.linalg.cholesky(m + more * np.eye(2))
            break
        except np.linalg.LinAlgError:
            more *= 80
    else:
        raise np.linalg.LinAlgError("not positive definite")
    return r * more


def inverted(x):
    m = np.array([[1.0, 2.0], [2.0, 4.0]])
    m[0, 0] = x[0]
    try:
        return np.linalg.inv(m)
    except np.linalg.LinAlgError:
        return np.full_like(m, np.nan)


def solved(x):
    m = np.array([[1.0, 2.0], [2.0, 4.0]])
    m[0, 0] = x[0]
    try:
        r = np.linalg.solve(m, np.ones(2))
    except np.linalg.LinAlgError as e:
        raise ValueError(f"singular for {x[0]}: {e}") from e
    else:
        r = r * 2
    return r


def in_each_turn(x):
    s = 0.0
    for i in range(len(x)):
        try:
            if x[i] < 0:
                raise ValueError(x[i])
            s += np.sqrt(x[i])
        except ValueError:
            s += 100.0
    return s


def out_of_a_while(x):
    n = 0
    while n < 2:
        try:
            if x[n] < 0:
                raise ValueError
            n += 1
        except ValueError:
            break
    return n


def in_a_branch(x):
    if x.sum() > 0:
        try:
            if x[0] < 0:
                raise ValueError("i")
            y = x * 2
        except ValueError:
            y = x * 3
    else:
        y = x
    return y


def a_return_in_a_loop(x):
    for i in range(len(x)):
        try:
            if x[i] < 0:
                return i
        finally:
            x = x + 1
    return -1


def _rooted(v):
    try:
        if v < 0:
            raise ValueError("neg")
        return np.sqrt(v)
    except ValueError:
        return 0.0 * v


def twice_in_a_helper(x):
    return _rooted(x[0]) + _rooted(x[1])


def to_python(x):
    try:
        v = float(x[0])
        w = int(x[1])
    except (TypeError, ValueError):
        v, w = 0.0, 0
    return v + w


def sizes(x, axis=None):
    try:
        n = x.shape[axis]
    except (TypeError, IndexError):
        n = x.size
    return x.sum() / n


def a_name_of_a_module(x):
    try:
        from scipy.special import nothing_like_this
    except ImportError:
        nothing_like_this = np.sin
    return nothing_like_this(x)


def several_handlers(x):
    try:
        d = {"a": 1}["b"]
    except KeyError:
        d = 2
    except:  # noqa: E722 - as people write it
        d = 3
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(x != 0, 1 / x, 0)
    return r * d


def jumps_out_of_with(x):
    for i in range(2):
        with np.errstate(all="ignore"):
            if i == 1:
                continue
            x = x * 2
            if x[0] > 100:
                break
    return x


def of_an_inner_function(x):
    def inner(v):
        if v.min() < 0:
            raise ValueError("inner")
        return v

    try:
        return inner(x) * 2
    except ValueError:
        pass
    return x


def raised_in_a_handler(x):
    try:
        if x[0] < 0:
            raise KeyError("k")
        try:
            if x[1] < 0:
                raise ValueError("v")
        except ValueError as e:
            raise RuntimeError("again") from e
    except RuntimeError:
        return x * 5
    return x


PROGRAMS = [
    missing_attribute, missing_module, length, shapes, a_check, a_check_in_a_helper, converted, raised_from,
    one_in_another, not_caught, assigned_into, jumps, a_return_on_a_condition, otherwise, settings, no_warnings,
    warned, of_a_class, text_of_all_kinds, text_of_parts,
    of_types, in_each_turn, out_of_a_while, in_a_branch, a_return_in_a_loop,
    twice_in_a_helper, to_python, sizes, a_name_of_a_module, several_handlers, jumps_out_of_with, of_an_inner_function,
    raised_in_a_handler, factorized, more_and_more, inverted, solved,
]  # fmt: skip
