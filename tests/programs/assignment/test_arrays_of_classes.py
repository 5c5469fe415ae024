"""Arrays that NumPy computes while a program is made: all their names see what is assigned, or it is refused."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.definitions.flow.operators import subscripts
from nxkernel.errors import NxError, NxTypeError

#: Bodies of methods; `t` is an array of the class, TABLE one beside it, `given` what gives its argument back.
SEEN = [
    "u = self.t * 2; v = u; u[0] = x; return v.sum()",
    "u = self.t * 2; v = u; u[1:] += x; return v.sum()",
    "u = self.t * 2; v = u; u[:] = u + x; return v.sum()",
    "u = self.t * 2; v = u; u.sort(); u[0] = x; return v.sum()",
    "u, v = self.t * 2, self.t * 3; w = u; u[0] = x; v[0] = x; return w.sum() + v.sum()",
    "u = w = self.t * 2; u[0] = x; return w.sum()",
    "u = self.t * 2; v = u[1:]; u[1] = x; return v.sum()",
    "u = self.t * 2; v = u.reshape(3, 1); v[0] = x; return u.sum()",
    "u = self.t.astype(np.float32); w = u; u[0] = x; return w.sum()",
    "u = -self.t; w = u; u[x > 3] = 5; return w.sum()",
    "u = -self.t; w = u; u[u < -1.5] = x; return w.sum()",
    "u = -self.t; w = u; u[int(self.t[0])] = 7; return w.sum() + x",
    "w = (u := self.t * 2); u[0] = x; return w.sum()",
    "w = (u := self.t * 2)[1:]; w[0] = x; return u.sum()",
    "z = (u := self.t * 2).sum(); w = u; u[0] = x; return w.sum() + z",
    "w = (u := self.t * 2).reshape(3, 1); v = (z := w).T; v[0, 1] = x; return u.sum() + z.sum()",
    "w = self.t * 2; u = w[1:].T; u[0] = x; return w.sum()",
    "u = given(self.t * 2); v = [u]; u[0] = x; return v[0].sum()",
    "u = TABLE * 2; w = u; u[0] = x; return w.sum()",
    "u = self.doubled(); w = u; u[0] = x; return w.sum()",
    "u = np.array(self.t); w = u; u[0] = x; return w.sum()",
    "u = np.copy(self.t); w = u; u[0] = x; return w.sum()",
    "u = np.add(self.t, 1); w = u; u[0] = x; return w.sum()",
    "u = np.abs(self.t); w = u; u[0] = x; return w.sum()",
    "u = np.zeros_like(self.t); w = u; u[0] = x; return w.sum()",
    "u = self.f * 2; v = u.reshape(-1); v[0] = x; return u.sum() + v[1]",
    "u = self.f * 2; v = u.ravel(order='K'); v[1] = x; return u[0, 1] + u[1, 0]",
    "u = self.f * 2; v = u.T.reshape(-1); v[1] = x; return u[0, 1] + u[1, 0]",
    "u = np.ravel(self.f * x, order='K'); return u[1] - u[2]",
    "u = np.abs(self.f).T * x; return u.ravel(order='A')[1]",
    "w = self.f * 2; v = np.asarray(w).reshape(-1); v[0] = x; return w.sum() + v[1]",
    "u = self.z.copy(); w = u; u += x; u[...] = u * 2; return w",
    "u = self.t * 2; v = u; u += 1; return v.sum() + x",
    "u = self.t.astype(int); u += 1; return np.zeros(u[0]).sum() + x",
    "u = -self.t; v = u; u.sort(); return v[0] + x",
    "u = self.t * 2\nif x > 3:\n    u = u + 1\nv = u\nreturn v.sum()",
    "u = self.t * 2\ns = 0.0\nfor row in u:\n    s += row * x\nreturn s",
    "u = np.outer(self.t, self.t)\ns = 0.0\nfor row in u:\n    s += row.std() * x\nreturn s",
    "u = self.t * 2\nfor k in range(3):\n    v = u\n    u[k] = x * k + v[0]\nreturn v.sum()",
    "u = self.t * 2\nv = u\nif x > 3:\n    u[0] = x\nreturn v.sum()",
    "u = self.t * 2\nv = u\nk = 0\nwhile k < x:\n    u[0] = k\n    k += 1\nreturn v.sum()",
]
REFUSED = [
    "u = self.t > 1; w = u; u &= x > 7; return w.sum()",
    "u = self.t * 2; v = u; u += x; return v.sum()",
    "d = [self.t * 2]; a = np.asarray(d[0]); a[0] = x; return d[0].sum()",
    "d = {'u': self.t * 2}; v = d['u']; d['u'][0] = x; return v.sum()",
    "d = [self.t * 2, self.t * 3]; v = d[0]; d[0][1] = x; return v.sum()",
    "w = self.t * 2; u = given(w); u[0] = x; return w.sum()",
    "w = self.t * 2; u = w if self.t[0] > 0 else w; u[0] = x; return w.sum()",
    "w = self.t * 2; u = np.ravel(w); u[0] = x; return w.sum()",
    "w = self.t * 2; u = np.atleast_2d(w); u[0, 0] = x; return w.sum()",
    "w = self.t * 2; u = np.transpose(w); u[0] = x; return w.sum()",
    "w = self.t * 2; u = np.array(w, copy=False); u[0] = x; return w.sum()",
    "w = [self.t * 2]; u = w[0][1:]; u += x; return w[0].sum()",
    "u = self.t * 2; self.change(u, x); return u.sum()",
    "u = self.t * 2; u.flat[0] = x; return u.sum()",
    "u = self.fixed(); u[0] = x; return u.sum()",
    "return self.changed(self.t * 2, x)",
]
#: What would happen once, while the program is made, or to one of several.
ONCE = [
    "u = self.t * 2\nv = u\nif x > 3:\n    u = u + 1\nelse:\n    u = v\nu[0] = x\nreturn v.sum() + u.sum()",
    "u = self.t * 2\nw = self.t * 3\nz = u if x > 3 else w\nz[0] = x\nreturn u.sum() + w.sum()",
    "u = np.outer(self.t, self.t) * 2\nw = u\nfor row in given(w):\n    row[0] = x\nreturn w.sum()",
    "u = -self.t\nif x > 3:\n    u.sort()\nreturn u[0]", "u = -self.t\nif x > 3:\n    u.fill(2)\nreturn u[0]",
    "u = -self.t\nif x > 3:\n    u.put([0], 9)\nreturn u[0]",
    "d = [-self.t]\nif x > 3:\n    d[0].sort()\nreturn d[0][0]",
    "u = -self.t\nk = 0\nwhile k < x:\n    u.sort()\n    k += 1\nreturn u[0]",
    "u = -self.t\nif x > 3:\n    u += 1\nreturn u.sum()",
]  # fmt: skip
_CLASS = """
TABLE = np.array([1.0, 2.0, 3.0])

def given(value):
    return value

class Model:
    t = np.array([1.0, 2.0, 3.0])
    f = np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    z = np.array(7.0)

    def fixed(self):
        u = self.t * 2
        u.setflags(write=False)
        return u

    def doubled(self):
        return self.t * 2

    def change(self, u, x):
        u[0] = x

    def changed(self, u, x):
        v = u
        u[0] = x
        return v.sum()

    def run(self, x):
"""
_LINES = [
    "an array that NumPy computed while the program was made is assigned into: others who have it would not see that.",
    "Begin with an array of the program's own, x = np.array(x): it is computed of what a class has, or of what a "
    "function beside the definition gives.",
]


@pytest.fixture
def made():
    modules = []

    def make(body):
        modules.append(module_of(_CLASS + "\n".join(f"        {line}" for line in body.splitlines())))
        return modules[-1]["Model"]

    yield make
    for module in modules:
        forget(module)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("body", SEEN)
def test_an_assignment_is_seen_under_every_name(made, body):
    model = made(body)
    definition = nx.defn(model().run, promotion="numpy")
    for x in (5.0, 2.5):
        assert float(definition(x)) == float(model().run(x))
    assert model.t.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("body", REFUSED)
def test_an_assignment_is_refused_where_other_names_would_not_see_it(made, body):
    with pytest.raises(NxTypeError) as found:
        nx.defn(made(body)().run, promotion="numpy")(np.array(5.0))
    lines = [line.strip() for line in str(found.value).splitlines()]
    assert [lines[0], lines[-1]] == _LINES


@pytest.mark.parametrize("body", ONCE)
def test_what_would_happen_once_happens_each_time_or_is_refused(made, body):
    model = made(body)
    definition = nx.defn(model().run, promotion="numpy")
    for x in (5.0, 2.5, np.array(5.0), np.array(2.5)):
        try:
            found = float(definition(x))
        except NxError:
            continue
        assert found == float(model().run(x))


def test_an_array_that_somebody_else_has_is_known_by_its_references():
    kept = []

    def keeping(value):
        kept.append(value)
        return value

    new, known = subscripts._count(np.ones(3) + 1), subscripts._count(keeping(np.ones(3) + 1))
    assert new == subscripts._NEW
    assert known == subscripts._NEW + 1


def test_only_names_that_change_are_asked_for(made):
    # What is computed of what a class has and never assigned into stays NumPy's: the program may need to know it.
    body = "w = self.t.copy(); n = self.t.astype(int); u = np.zeros(tuple(n)); w[0] = x; u[0] = w; return u.sum()"
    model = made(body)
    assert float(nx.defn(model().run, promotion="numpy")(2.0)) == model().run(2.0) == 14.0
