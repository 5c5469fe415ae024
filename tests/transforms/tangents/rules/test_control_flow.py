"""Tangents through loops, branches and assignments: as those of the same function in Python, by complex steps."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import primitives as p
from nxkernel.graph.traverse import post_order

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.25, -2.0])
STEP = 1e-30


def same(ours, theirs, x=X, v=V):
    value, tangent = nx.jvp(ours, (x,), (v,))
    stepped = theirs(x + STEP * 1j * v)
    np.testing.assert_allclose(value, np.real(stepped), rtol=1e-12)
    np.testing.assert_allclose(tangent, np.imag(stepped) / STEP, rtol=1e-11)


@nx.defn
def halved(x):
    while nx.sum(x) > 0.01:
        x = x * nx.cos(x) / 2 + 0.001
    return x


def halved_in_python(x):
    while np.sum(x).real > 0.01:
        x = x * np.cos(x) / 2 + 0.001
    return x


def test_a_loop_without_a_known_limit():
    same(halved, halved_in_python, np.abs(X))


def test_a_value_from_outside_and_a_counter():
    def ours(x):
        return nx.while_(lambda s: s[0] < 4, lambda s: (s[0] + 1, nx.sin(s[1]) * x * s[0]), (1, x))[1]

    def theirs(x):
        s = x
        for i in range(1, 4):
            s = np.sin(s) * x * i
        return s

    same(ours, theirs)


def test_loops_in_loops_and_what_does_not_change():
    @nx.defn
    def ours(x):
        total, weight = x * 0, nx.tensor([3.0, 2.0, 1.0], type="f64")
        for i in range(3):
            y = x * (i + 1)
            while nx.sum(y * y) > 1:
                y = y * 0.5
            total = total + y * weight
            weight = weight * 2
        return total * weight

    def theirs(x):
        total, weight = x * 0, np.array([3.0, 2.0, 1.0])
        for i in range(3):
            y = x * (i + 1)
            while np.sum(y.real**2) > 1:
                y = y * 0.5
            total = total + y * weight
            weight = weight * 2
        return total * weight

    same(ours, theirs)


def test_a_scan_and_its_rows():
    def ours(x):
        return nx.scan(lambda c, row: (c * row + nx.sin(c), c * c), x[0], x)[1] * x

    def theirs(x):
        c, rows = x[0], []
        for row in x:
            rows.append(c * c)
            c = c * row + np.sin(c)
        return np.array(rows) * x

    same(ours, theirs)


def chosen(x):
    def then(x):
        return nx.sin(x) * x, x[0] * 0 + 1.0

    return nx.cond(nx.sum(x) > 1, then, lambda x: (x * x, x[1] * x[1]), x)


@pytest.mark.parametrize("sign", [1, -1])
def test_branches(sign):
    x = sign * X
    value, tangent = nx.jvp(chosen, (x,), (V,))
    first, second = (np.sin(x) * x, 1.0) if sign > 0 else (x * x, x[1] ** 2)
    np.testing.assert_allclose(value[0], first)
    np.testing.assert_allclose(value[1], second)
    np.testing.assert_allclose(tangent[0], V * ((np.cos(x) * x + np.sin(x)) if sign > 0 else 2 * x))
    np.testing.assert_allclose(tangent[1], 0 if sign > 0 else 2 * x[1] * V[1])


def test_branches_in_loops_and_an_early_end():
    @nx.defn
    def ours(x):
        for i in range(10):
            if nx.sum(x) > 5:
                break
            if i % 2 == 0:
                x = x * 1.5
            else:
                x = x * x
        return x

    def theirs(x):
        for i in range(10):
            if np.sum(x).real > 5:
                break
            x = x * 1.5 if i % 2 == 0 else x * x
        return x

    same(ours, theirs)
    same(ours, theirs, X / 4)


def test_assignments_by_numpys_rules():
    def running(a):
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * np.sin(a[i])
            a[0] += a[i] ** 2
        return a

    same(nx.defn(running), lambda a: running(a.copy()))


def test_a_loop_runs_once_for_the_value_and_its_tangent():
    def function(x):
        y = nx.fori(0, 5, lambda i, t: nx.sin(t), x)
        return y * x, y + 1

    together = nx.debug_expr(lambda x: sum(nx.jvp(function, (x,), (x,), has_aux=True)))
    assert repr(together(1.0)).count("= while") == 1


def test_a_branch_that_changes_nothing_stays_as_it_is():
    def function(x):
        return x * nx.cond(nx.sum(V) > 0, lambda: 1.0, lambda: 2.0)

    (tangent,) = nx.debug_expr(lambda x: nx.jvp(function, (x,), (x,))[1:])(X)
    branches = [node for node in post_order([tangent]) if node.primitive is p.cond]
    assert [len(branch.spec) for branch in branches] in ([], [1])


def test_a_fold_of_captured_values():
    def ours(x):
        second = x[1]
        return nx.reduce(x, x[0], lambda a, b: a * b + second * a, axes=[0])

    def theirs(x):
        held = x[0]
        for one in x:
            held = one * held + x[1] * one
        return held

    same(ours, theirs)


def test_loops_whose_entries_end_at_different_turns():
    rows = np.abs(np.array([[0.5, 1.0, 2.0], [0.01, 0.02, 0.01], [3.0, 0.1, 0.2]]))
    value, tangent = nx.vmap(lambda x: nx.jvp(halved, (x,), (V,)))(rows)
    again, other = nx.jvp(nx.vmap(halved), (rows,), (np.tile(V, (3, 1)),))
    expected = [halved_in_python(row + STEP * 1j * V) for row in rows]
    for one in (value, again):
        np.testing.assert_allclose(one, np.real(expected), rtol=1e-12)
    for one in (tangent, other):
        np.testing.assert_allclose(one, np.imag(expected) / STEP, rtol=1e-11)


def test_in_a_loop():
    @nx.defn
    def newton(x):
        for _ in range(20):
            value, slope = nx.jvp(lambda t: t**3 - 2 * t - 5, (x,), (1.0,))
            x = x - value / slope
        return x

    assert abs(float(newton(nx.f64(2.0))) - 2.0945514815423265) < 1e-12
