"""Python objects that a loop or branch of the program changes: as plain Python changes them, or refused.

Each row is an object, a change of it, and what is read of it afterwards; each is tried in several places, where a
branch depends on data and a loop has more than one iteration.
"""

import linecache

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxError

PREAMBLE = """\
import array, collections, dataclasses, functools, io, random, types
import numpy as np

class Plain:
    shared = 0
    log = []
    def __init__(self): self.n, self.d = 0, {}
    def __iadd__(self, v): self.n += v; return self
    def __setitem__(self, k, v): self.d[k] = v
    def up(self): self.n += 1

class Slots:
    __slots__ = ("n",)
    def __init__(self): self.n = 0

@dataclasses.dataclass(slots=True)
class Record:
    n: int = 0

class Node:
    def __init__(self, next=None): self.n, self.next = 0, next

def chain(length):
    head = None
    for _ in range(length): head = Node(head)
    return head

def last(node):
    while node.next is not None: node = node.next
    return node

def counting(by, log=[0]):
    log[0] += by
    return log[0]

def named(): pass

outside = types.ModuleType("outside")
outside.n = 0
"""
#: The object, the change, and what is read of it.
CHANGES = {
    "deque": ("q = collections.deque()", "q.append(1)", "len(q)"),
    "bounded deque": ("q = collections.deque([1, 2], maxlen=2)", "q.append(q[0] + q[1])", "q[1]"),
    "deque from the left": ("q = collections.deque(range(20))", "q.popleft()", "q[0]"),
    "slots": ("q = Slots()", "q.n += 1", "q.n"),
    "dataclass with slots": ("q = Record()", "q.n += 1", "q.n"),
    "namespace": ("q = types.SimpleNamespace(n=0)", "q.n += 1", "q.n"),
    "attribute of a class": ("Plain.shared = 0", "Plain.shared += 1", "Plain.shared"),
    "list of a class": ("Plain.log = []", "Plain.log.append(1)", "len(Plain.log)"),
    "attribute of a module": ("outside.n = 0", "outside.n += 1", "outside.n"),
    "attribute of a function": ("named.n = 0", "named.n += 1", "named.n"),
    "method": ("q = Plain()", "q.up()", "q.n"),
    "bytes": ("q = bytearray(9)", "q[q[0]] += 1", "q[0]"),
    "memory": ("b = bytearray(2); q = memoryview(b)", "q[0] += 1", "b[0]"),
    "array of numbers": ("q = array.array('i', [0])", "q[0] += 1", "q[0]"),
    "bound method": ("l = []; q = l.append", "q(1)", "len(l)"),
    "user's list": ("q = collections.UserList()", "q.append(1)", "len(q)"),
    "user's dict": ("q = collections.UserDict()", "q[len(q)] = 1", "len(q)"),
    "several dicts": ("q = collections.ChainMap({})", "q[len(q)] = 1", "len(q)"),
    "text": ("q = io.StringIO()", "q.write('a')", "len(q.getvalue())"),
    "operator of a class": ("q = Plain()", "q += 1", "q.n"),
    "item of a class": ("q = Plain()", "q[len(q.d)] = 1", "len(q.d)"),
    "set": ("q = {0}", "q |= {len(q)}", "len(q)"),
    "object in a frozen set": ("q = frozenset([Plain()])", "next(iter(q)).n += 1", "next(iter(q)).n"),
    "object that is a key": ("q = {Plain(): 1}", "list(q)[0].n += 1", "list(q)[0].n"),
    "object in an array": ("q = np.array([Plain()], dtype=object)", "q[0].n += 1", "q[0].n"),
    "attribute of a partial": ("q = functools.partial(print); q.n = 0", "q.n += 1", "q.n"),
    "list in a tuple": ("q = ([0],)", "q[0][0] += 1", "q[0][0]"),
    "many objects": ("q = [Plain() for _ in range(5000)]", "q[4999].n += 1", "q[4999].n"),
    "far objects": ("q = chain(12)", "last(q).n += 1", "last(q).n"),
    "default": ("counting.__defaults__[0][0] = 0", "counting(1)", "counting(0)"),
    "iterator of a list": ("q = iter(list(range(50)))", "k = next(q)", "next(q)"),
    "generator": ("q = (k for k in range(50))", "k = next(q)", "next(q)"),
    "random numbers": ("q = random.Random(3)", "q.random()", "round(q.random() * 1e6)"),
    "random numbers of NumPy": ("q = np.random.default_rng(3)", "q.integers(9)", "int(q.integers(10**6))"),
}
PLACES = {
    "branch that is taken": "    if x[0] < 10:\n        {}\n",
    "branch that is not taken": "    if x[0] > 10:\n        {}\n",
    "else": "    if x[0] > 10:\n        y = x * 2\n    else:\n        {}\n",
    "loop over numbers": "    for i in range(len(x)):\n        y[i] = x[i] * 2\n        {}\n",
    "loop over an array": "    for v in x:\n        y[0] += v\n        {}\n",
    "branch in a loop": "    for v in x:\n        if v > 0:\n            {}\n",
    "while": "    n = x[4]\n    while n > 0:\n        n -= 1\n        {}\n",
}
X = np.array([0.5, -1.0, 0.25, 3.0, 2.5])


def written(kind, place):
    begin, change, read = CHANGES[kind]
    lines = [f"def f(x):\n    y = x * 1\n    {begin}\n", PLACES[place].format(change), f"    return {read}, y\n"]
    source = PREAMBLE + "".join(lines)
    file = f"<{kind} in {place}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {}
    exec(compile(source, file, "exec"), space)
    return space["f"]


@pytest.mark.sampled(every=20)
@pytest.mark.sampled(every=3, lane="fuzz")
@pytest.mark.filterwarnings("ignore::nxkernel.errors.UnrolledWarning")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", CHANGES)
def test_changes_are_pythons_or_refused(kind, place):
    expected = written(kind, place)(X.copy())
    try:
        result = nx.defn(written(kind, place), promotion="numpy")(X.copy())
    except NxError:
        return
    for one, other in zip(expected, result, strict=True):
        np.testing.assert_allclose(np.asarray(other), one)


@pytest.mark.filterwarnings("ignore::nxkernel.errors.UnrolledWarning")
def test_most_loops_are_written_out_as_python_has_them():
    refused = []
    for kind in CHANGES:
        try:
            nx.defn(written(kind, "loop over numbers"), promotion="numpy")(X.copy())
        except NxError:
            refused.append(kind)
    # Those would be drawn from while the program is made, and arrays of objects are no arrays of numbers.
    assert set(refused) <= {"random numbers", "random numbers of NumPy", "object in an array"}
