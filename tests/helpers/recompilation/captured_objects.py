# ruff: noqa: E501 - a text is one string, as the cell of a table
"""Everything that a function can read, each with a change of it, and what a definition does about that.

`seen`: the next call is told apart from the ones before, and calls without a change are answered from the cache.
`read anew`: every call is traced. `refused`: the first call raises, and says what to write instead.
"""

from typing import NamedTuple

SEEN, ANEW, REFUSED = "seen", "read anew", "refused"
#: Seen, and the first call itself changes it.
FILLED = "seen, and filled by the first call"


class Object(NamedTuple):
    """An object `o`: how it is made, what a function reads of it, and how it changes."""

    name: str
    make: str
    read: str
    change: str
    answer: str = SEEN
    #: Where the object has a global name of its own, by which a part of it is found.
    by_name: str = ""
    #: As a definition, where that is another matter than with nx.jit.
    in_defn: str = ""


class Text(NamedTuple):
    """A function `f` as a whole."""

    name: str
    make: str
    change: str
    answer: str = SEEN
    in_defn: str = ""
    undo: str = ""


OBJECTS = [
    Object("list", "o = [1., 2.]", "o[1]", "o[1] = 5."),
    Object("list that grows", "o = [1., 2.]", "len(o)", "o.append(5.)"),
    Object("nested list", "o = [[1.], [2.]]", "o[1][0]", "o[1][0] = 5."),
    Object("tuple of lists", "o = ([1.], 2.)", "o[0][0]", "o[0][0] = 5."),
    Object("dict", "o = {'k': 2.}", "o['k']", "o['k'] = 5."),
    Object("order of a dict", "o = {'k': 2., 'l': 3.}", "list(o.values())[0]", "o['k'] = o.pop('k')"),
    Object("keys of a dict", "o = {1: 2.}", "next(iter(o)) / 2", "o.clear(); o[1.5] = 2."),
    Object("type of a key", "o = {1: 2.}", "float(type(next(iter(o))) is int)", "o.clear(); o[1.] = 2."),
    Object("set", "o = {1., 2.}", "sum(o)", "o.add(5.)"),
    Object("frozenset that is bound anew", "o = frozenset({1., 2.})", "sum(o)", "o |= {5.}"),
    Object("deque", "import collections\no = collections.deque([1., 2.])", "o[0]", "o.appendleft(5.)"),
    Object(
        "length limit of a deque",
        "import collections\no = collections.deque([1.], 3)",
        "o.maxlen",
        "o = collections.deque([1.], 5)",
    ),
    Object("OrderedDict", "import collections\no = collections.OrderedDict(k=2.)", "o['k']", "o['k'] = 5."),
    Object("defaultdict", "import collections\no = collections.defaultdict(float, k=2.)", "o['k']", "o['k'] = 5."),
    Object(
        "default of a defaultdict",
        "import collections\no = collections.defaultdict(lambda: 2.)",
        "o.default_factory()",
        "o.default_factory = lambda: 5.",
    ),
    Object("Counter", "import collections\no = collections.Counter('abb')", "o['b']", "o['b'] = 5"),
    Object("ChainMap", "import collections\no = collections.ChainMap({}, {'k': 2.})", "o['k']", "o.maps[1]['k'] = 5."),
    Object("UserDict", "import collections\no = collections.UserDict(k=2.)", "o['k']", "o['k'] = 5."),
    Object("UserList", "import collections\no = collections.UserList([2.])", "o[0]", "o[0] = 5."),
    Object("MappingProxyType", "import types\nd = {'k': 2.}\no = types.MappingProxyType(d)", "o['k']", "d['k'] = 5."),
    Object("view of a dict's values", "d = {'k': 2.}\no = d.values()", "list(o)[0]", "d['k'] = 5."),
    Object("view of a dict's items", "d = {'k': 2.}\no = d.items()", "list(o)[0][1]", "d['k'] = 5."),
    Object("view of a dict's keys", "d = {'k': 2.}\no = d.keys()", "len(o)", "d['l'] = 5."),
    Object("subclass of list", "class L(list): pass\no = L([1., 2.])", "o[1]", "o[1] = 5."),
    Object("subclass of dict", "class D(dict): pass\no = D(k=2.)", "o['k']", "o['k'] = 5."),
    Object(
        "dict with attributes", "class D(dict):\n    __getattr__ = dict.__getitem__\no = D(k=2.)", "o.k", "o['k'] = 5."
    ),
    Object("subclass of tuple", "class T(tuple): pass\no = T([1., 2.])\no.k = 2.", "o.k", "o.k = 5."),
    Object(
        "named tuple",
        "import collections\nP = collections.namedtuple('P', 'a b')\no = P(1., [2.])",
        "o.b[0]",
        "o.b[0] = 5.",
    ),
    Object("subclass of float", "class F(float): pass\no = F(2.)", "float(o)", "o = F(5.)"),
    Object("attribute of a subclass of str", "class S(str): pass\no = S('a')\no.k = 2.", "o.k", "o.k = 5."),
    Object("attribute of a subclass of int", "class I(int): pass\no = I(1)\no.k = 2.", "o.k", "o.k = 5."),
    Object("bytearray", "o = bytearray([2])", "float(o[0])", "o[0] = 5"),
    Object("memoryview", "b = bytearray([2])\no = memoryview(b)", "float(o[0])", "b[0] = 5"),
    Object("array.array", "import array\no = array.array('d', [2.])", "o[0]", "o[0] = 5."),
    Object("ctypes array", "import ctypes\no = (ctypes.c_double * 2)(1., 2.)", "o[1]", "o[1] = 5."),
    Object(
        "ctypes structure",
        "import ctypes\nclass P(ctypes.Structure):\n    _fields_ = [('k', ctypes.c_double)]\no = P(2.)",
        "o.k",
        "o.k = 5.",
    ),
    Object(
        "ctypes pointer",
        "import ctypes\nv = ctypes.c_double(2.)\no = ctypes.pointer(v)",
        "o.contents.value",
        "v.value = 5.",
        ANEW,
        by_name=SEEN,
    ),
    Object(
        "array of records",
        "import numpy as np\no = np.array([(1., 2)], [('k', 'f8'), ('n', 'i4')])",
        "o['k'][0]",
        "o['k'][0] = 5.",
    ),
    Object(
        "record",
        "import numpy as np\nr = np.array([(1., 2)], [('k', 'f8'), ('n', 'i4')])\no = r[0]",
        "o['k']",
        "r['k'][0] = 5.",
    ),
    Object("array of texts", "import numpy as np\no = np.array(['lo', 'hi'])", "float(o[0] == 'lo')", "o[0] = 'hi'"),
    Object(
        "array of bytes", "import numpy as np\no = np.array([b'lo', b'hi'])", "float(o[0] == b'lo')", "o[0] = b'hi'"
    ),
    Object(
        "array of dates",
        "import numpy as np\no = np.array(['2020-01-01'], 'M8[D]')",
        "float(o[0].astype('i8') % 97)",
        "o[0] = np.datetime64('2020-01-05')",
    ),
    Object(
        "date of NumPy",
        "import numpy as np\no = np.datetime64('2020-01-01')",
        "float(o.astype('i8') % 97)",
        "o = np.datetime64('2020-01-05')",
    ),
    Object("array of objects", "import numpy as np\no = np.array([1., 'a', None], object)", "o[0]", "o[0] = 5."),
    Object(
        "list in an array of objects",
        "import numpy as np\no = np.array([[1.], 'a', None], object)",
        "o[0][0]",
        "o[0][0] = 5.",
    ),
    Object(
        "records with objects",
        "import numpy as np\no = np.array([([2.],)], [('k', 'O')])",
        "o['k'][0][0]",
        "o['k'][0][0] = 5.",
        ANEW,
    ),
    Object("array", "import numpy as np\no = np.array([2., 3.])", "o[0]", "o[0] = 5."),
    Object("array that is bound anew", "import numpy as np\no = np.array([2., 3.])", "o[0]", "o = o * 2"),
    Object(
        "array in another byte order", "import numpy as np\no = np.array([2., 3.])", "o[0]", "o = (o * 2).astype('>f8')"
    ),
    Object("array of another type", "import numpy as np\no = np.array([2., 3.])", "o[0]", "o = np.array([5, 6], 'i4')"),
    Object(
        "array of another shape", "import numpy as np\no = np.array([2., 3.])", "o[1]", "o = np.array([2., 5., 6.])"
    ),
    Object("array that another name changes", "import numpy as np\nw = np.arange(6.)\no = w[::2]", "o[1]", "w[2] = 7."),
    Object("array that becomes a number", "import numpy as np\no = np.array(2.)", "o * 1.", "o = np.float64(5.)"),
    Object("number of NumPy", "import numpy as np\no = np.float64(2.)", "o * 1.", "o = np.float64(5.)"),
    Object(
        "array that becomes one with a mask",
        "import numpy as np\no = np.array([2., 3.])",
        "o[1]",
        "o = np.ma.array([2., 5.], mask=[True, False])",
    ),
    Object(
        "array with a mask", "import numpy as np\no = np.ma.array([2., 3.], mask=[True, False])", "o[1]", "o[1] = 5."
    ),
    Object("matrix", "import numpy as np\no = np.matrix([[2., 3.]])", "o[0, 0]", "o[0, 0] = 5."),
    Object(
        "subclass of an array",
        "import numpy as np\nclass W(np.ndarray): pass\no = np.array([2., 3.]).view(W)",
        "o[0]",
        "o[0] = 5.",
    ),
    Object(
        "memory map",
        "import numpy as np, tempfile\no = np.memmap(tempfile.TemporaryFile(), 'f8', 'w+', shape=2)",
        "o[0]",
        "o[0] = 5.",
    ),
    Object("bound method of an array", "import numpy as np\nw = np.array([2., 3.])\no = w.item", "o(0)", "w[0] = 5."),
    Object("bound method of a dict", "d = {'k': 2.}\no = d.get", "o('k')", "d['k'] = 5."),
    Object("bound method of a list", "d = [2., 3.]\no = d.__getitem__", "o(0)", "d[0] = 5."),
    Object("np.vectorize", "import numpy as np\nk = 2.\no = np.vectorize(lambda a: a * k)", "float(o(1.))", "k = 5."),
    Object(
        "np.frompyfunc",
        "import numpy as np\nk = 2.\no = np.frompyfunc(lambda a: a * k, 1, 1)",
        "float(o(1.))",
        "k = 5.",
        ANEW,
    ),
    Object("np.poly1d", "import numpy as np\no = np.poly1d([1., 2.])", "float(o(1.))", "o[1] = 5."),
    Object(
        "DataFrame",
        "import pandas as pd\no = pd.DataFrame({'k': [1., 2.]})",
        "float(o['k'][1])",
        "o.loc[1, 'k'] = 5.",
        ANEW,
    ),
    Object("Series", "import pandas as pd\no = pd.Series([1., 2.])", "float(o[1])", "o[1] = 5.", ANEW),
    Object("argparse.Namespace", "import argparse\no = argparse.Namespace(k=2.)", "o.k", "o.k = 5."),
    Object("SimpleNamespace", "import types\no = types.SimpleNamespace(k=2.)", "o.k", "o.k = 5."),
    Object(
        "dataclass", "import dataclasses\n@dataclasses.dataclass\nclass C:\n    k: float\no = C(2.)", "o.k", "o.k = 5."
    ),
    Object(
        "frozen dataclass with a list",
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    k: list\no = C([2.])",
        "o.k[0]",
        "o.k[0] = 5.",
    ),
    Object(
        "equal dataclass, that changes later",
        "import dataclasses\n@dataclasses.dataclass\nclass C:\n    k: float\no = C(2.)",
        "o.k",
        "o = C(2.)\no.k = 5.",
    ),
    Object("attribute", "class C: pass\no = C()\no.k = 2.", "o.k", "o.k = 5."),
    Object("attribute of an attribute", "class C: pass\no = C()\no.c = C()\no.c.k = 2.", "o.c.k", "o.c.k = 5."),
    Object("attribute that is added", "class C: pass\no = C()", "getattr(o, 'k', 2.)", "o.k = 5."),
    Object("attribute that is deleted", "class C:\n    k = 2.\no = C()\no.k = 5.", "o.k", "del o.k"),
    Object("slot", "class C:\n    __slots__ = ('k',)\no = C()\no.k = 2.", "o.k", "o.k = 5."),
    Object("class attribute", "class C:\n    k = 2.\no = C()", "o.k", "C.k = 5."),
    Object("class attribute of a base", "class B:\n    k = 2.\nclass C(B): pass\no = C()", "o.k", "B.k = 5."),
    Object("class", "class o:\n    k = 2.", "o.k", "o.k = 5."),
    Object("attribute of a metaclass", "class M(type):\n    k = 2.\nclass o(metaclass=M): pass", "o.k", "M.k = 5."),
    Object(
        "bases of a class",
        "class A:\n    k = 2.\nclass B:\n    k = 5.\nclass C(A): pass\no = C()",
        "o.k",
        "C.__bases__ = (B,)",
    ),
    Object("class of an object", "class A:\n    k = 2.\nclass B:\n    k = 5.\no = A()", "o.k", "o.__class__ = B"),
    Object(
        "property", "class C:\n    @property\n    def k(self): return self.j * 2\no = C()\no.j = 2.", "o.k", "o.j = 5."
    ),
    Object(
        "property that is defined anew",
        "class C:\n    @property\n    def k(self): return 2.\no = C()",
        "o.k",
        "C.k = property(lambda self: 5.)",
    ),
    Object(
        "descriptor",
        "class K:\n    def __get__(self, o, t): return self.v\n    def __set__(self, o, v): pass\nclass C:\n    k = K()\nC.__dict__['k'].v = 2.\no = C()",
        "o.k",
        "C.__dict__['k'].v = 5.",
    ),
    Object(
        "descriptor that is no data",
        "class K:\n    def __get__(self, o, t): return self.v\nclass C:\n    k = K()\nC.__dict__['k'].v = 2.\no = C()",
        "o.k",
        "C.__dict__['k'].v = 5.",
    ),
    Object(
        "cached_property",
        "import functools\nclass C:\n    @functools.cached_property\n    def k(self): return self.j * 2\no = C()\no.j = 2.\no.k",
        "o.k",
        "o.j = 5.\ndel o.k\no.k",
    ),
    Object(
        "__getattr__",
        "class C:\n    def __getattr__(self, name): return STORE[name]\nSTORE = {'k': 2.}\no = C()",
        "o.k",
        "STORE['k'] = 5.",
    ),
    Object(
        "__getitem__",
        "class C:\n    def __getitem__(self, i): return self.v[i]\no = C()\no.v = [2.]",
        "o[0]",
        "o.v[0] = 5.",
    ),
    Object(
        "__call__", "class C:\n    def __call__(self, y): return y * self.k\no = C()\no.k = 2.", "o(1.)", "o.k = 5."
    ),
    Object("__len__", "class C:\n    def __len__(self): return self.n\no = C()\no.n = 2", "len(o)", "o.n = 5"),
    Object("method", "class C:\n    def m(self): return self.k\no = C()\no.k = 2.", "o.m()", "o.k = 5."),
    Object(
        "method of the class that is defined anew",
        "class C:\n    def m(self): return 2.\no = C()",
        "o.m()",
        "C.m = lambda self: 5.",
    ),
    Object("attribute over a method", "class C:\n    def m(self): return 2.\no = C()", "o.m()", "o.m = lambda: 5."),
    Object("static method", "class C:\n    @staticmethod\n    def m(): return k\nk = 2.\no = C()", "o.m()", "k = 5."),
    Object(
        "class method",
        "class C:\n    k = 2.\n    @classmethod\n    def m(cls): return cls.k\no = C()",
        "o.m()",
        "C.k = 5.",
    ),
    Object(
        "super()",
        "class B:\n    def m(self): return self.k\nclass C(B):\n    def m(self): return super().m()\no = C()\no.k = 2.",
        "o.m()",
        "o.k = 5.",
    ),
    Object(
        "super() whose base changes",
        "class B:\n    def m(self): return 2.\nclass C(B):\n    def m(self): return super().m()\no = C()",
        "o.m()",
        "B.m = lambda self: 5.",
    ),
    Object(
        "super() whose base reads a name",
        "k = 2.\nclass B:\n    def m(self): return k\nclass C(B):\n    def m(self): return super().m()\no = C()",
        "o.m()",
        "k = 5.",
    ),
    Object(
        "super(C, self)",
        "class B:\n    def m(self): return self.k\nclass C(B):\n    def m(self): return super(C, self).m()\no = C()\no.k = 2.",
        "o.m()",
        "o.k = 5.",
    ),
    Object("enumeration", "import enum\nclass E(enum.Enum):\n    A = 2.\n    B = 5.\no = E.A", "o.value", "o = E.B"),
    Object("attribute of an exception", "o = ValueError('a')\no.k = 2.", "o.k", "o.k = 5."),
    Object("arguments of an exception", "o = ValueError(2.)", "o.args[0]", "o.args = (5.,)"),
    Object("function", "def o(): return 2.", "o()", "def o(): return 5."),
    Object("name that a function reads", "k = 2.\ndef o(): return k", "o()", "k = 5."),
    Object(
        "name that a function of a function reads", "k = 2.\ndef h(): return k\ndef o(): return h()", "o()", "k = 5."
    ),
    Object(
        "variable around a function",
        "def make():\n    k = 2.\n    def o(): return k\n    def change():\n        nonlocal k\n        k = 5.\n    return o, change\no, change = make()",
        "o()",
        "change()",
    ),
    Object(
        "variable around a function around",
        "def make():\n    k = [2.]\n    def h():\n        def o(): return k[0]\n        return o\n    return h(), k\no, k = make()",
        "o()",
        "k[0] = 5.",
    ),
    Object("default of a function", "def o(a=2.): return a", "o()", "o.__defaults__ = (5.,)"),
    Object("list that is a default", "l = [2.]\ndef o(a=l): return a[0]", "o()", "l[0] = 5."),
    Object("default by keyword", "def o(*, a=2.): return a", "o()", "o.__kwdefaults__ = {'a': 5.}"),
    Object("default by keyword that is put in", "def o(*, a=2.): return a", "o()", "o.__kwdefaults__['a'] = 5."),
    Object("code of a function", "def o(): return 2.\ndef p(): return 5.", "o()", "o.__code__ = p.__code__"),
    Object("attribute of a function", "def o(): return 2.\no.k = 2.", "o.k", "o.k = 5."),
    Object("attribute of a function that is added", "def o(): return 2.", "getattr(o, 'k', 2.)", "o.k = 5."),
    Object(
        "functools.partial",
        "import functools\ndef g(a, b): return a[0] * b\nl = [2.]\no = functools.partial(g, l, b=1.)",
        "o()",
        "l[0] = 5.",
    ),
    Object(
        "state of a functools.partial",
        "import functools\ndef g(a): return a\no = functools.partial(g, 2.)",
        "o()",
        "o.__setstate__((g, (5.,), {}, {}))",
    ),
    Object(
        "functools.lru_cache over a constant",
        "import functools\nl = [2.]\n@functools.lru_cache\ndef o(): return l",
        "o()[0]",
        "l[0] = 5.",
        FILLED,
    ),
    Object(
        "functools.lru_cache over a name",
        "import functools\nk = 2.\n@functools.lru_cache\ndef o(): return k",
        "o()",
        "k = 5.\no.cache_clear()",
        ANEW,
    ),
    Object(
        "array in a functools.cache",
        "import functools, numpy as np\n@functools.cache\ndef o(n): return np.full(n, 2.)",
        "o(3)[0]",
        "o(3)[0] = 5.",
        FILLED,
    ),
    Object(
        "name that a functools.cache does not read again",
        "import functools\nk = 2.\n@functools.lru_cache\ndef o(): return k",
        "o()",
        "k = 5.",
        FILLED,
    ),
    Object(
        "functools.singledispatch",
        "import functools\n@functools.singledispatch\ndef o(a): return 2.\no('a')",
        "o('a')",
        "o.register(str, lambda a: 5.)",
    ),
    Object(
        "functools.wraps",
        "import functools\nk = 2.\ndef deco(g):\n    @functools.wraps(g)\n    def w(): return g() * k\n    return w\n@deco\ndef o(): return 1.",
        "o()",
        "k = 5.",
    ),
    Object(
        "functools.reduce over a list",
        "import functools, operator\nl = [1., 2.]\ndef o(): return functools.reduce(operator.add, l)",
        "o()",
        "l[0] = 5.",
    ),
    Object(
        "operator.itemgetter",
        "import operator\no = operator.itemgetter(0)",
        "o([2., 5.])",
        "o = operator.itemgetter(1)",
    ),
    Object(
        "decorator of contextlib",
        "import contextlib\nk = 2.\n@contextlib.contextmanager\ndef m(): yield k\ndef o():\n    return list(m().gen)[0]",
        "o()",
        "k = 5.",
    ),
    Object("contextvar", "import contextvars\no = contextvars.ContextVar('o', default=2.)", "o.get()", "o.set(5.)"),
    Object(
        "contextvar with a list",
        "import contextvars\no = contextvars.ContextVar('o')\no.set([2.])",
        "o.get()[0]",
        "o.get()[0] = 5.",
    ),
    Object("thread local", "import threading\no = threading.local()\no.k = 2.", "o.k", "o.k = 5."),
    Object(
        "weak reference",
        "import weakref\nclass C: pass\nc = C()\nc.k = 2.\no = weakref.ref(c)",
        "o().k",
        "c.k = 5.",
        ANEW,
    ),
    Object(
        "weak reference whose object goes",
        "import weakref\nclass C: pass\nc = C()\no = weakref.ref(c)",
        "float(o() is None) + 1",
        "del c",
        ANEW,
    ),
    Object(
        "weak proxy", "import weakref\nclass C: pass\nc = C()\nc.k = 2.\no = weakref.proxy(c)", "o.k", "c.k = 5.", ANEW
    ),
    Object(
        "WeakValueDictionary",
        "import weakref\nclass C: pass\nc = C()\nc.k = 2.\no = weakref.WeakValueDictionary(c=c)",
        "o['c'].k",
        "c.k = 5.",
        ANEW,
    ),
    Object("iterator", "o = iter([2., 5., 7., 9., 11., 13., 15.])", "next(o)", "next(o)", ANEW),
    Object(
        "generator",
        "def g():\n    n = 0.\n    while True:\n        n += 1.\n        yield n\no = g()",
        "next(o)",
        "next(o)",
        ANEW,
    ),
    Object("itertools.count", "import itertools\no = itertools.count(2)", "next(o)", "next(o)", ANEW),
    Object(
        "iterator of one's own",
        "class I:\n    n = 0.\n    def __iter__(self): return self\n    def __next__(self):\n        self.n += 1.\n        return self.n\no = I()",
        "next(o)",
        "next(o)",
        ANEW,
    ),
    Object(
        "generator of random numbers",
        "import random\no = random.Random(1)",
        "float(len(o.getstate()))",
        "o.random()",
        ANEW,
        in_defn=REFUSED,
    ),
    Object("file", "import io\no = io.StringIO('2 5 7 9 11 13')", "float(o.read(2))", "o.read(2)", ANEW),
    Object(
        "path",
        "import pathlib, tempfile\no = pathlib.Path(tempfile.mkdtemp()) / 'k'\no.write_text('2')",
        "float(o.read_text())",
        "o.write_text('5')",
        ANEW,
    ),
    Object(
        "pure path",
        "import pathlib\no = pathlib.PurePosixPath('a/b')",
        "float(len(o.parts))",
        "o = pathlib.PurePosixPath('a/b/c')",
    ),
    Object("range", "o = range(0, 3, 2)", "float(o.stop)", "o = range(0, 4, 2)"),
    Object("slice", "o = slice(0, 2)", "float(o.stop)", "o = slice(0, 3)"),
    Object("Fraction", "import fractions\no = fractions.Fraction(2)", "float(o)", "o = fractions.Fraction(5)"),
    Object(
        "Decimal", "import decimal\no = decimal.Decimal('1.0')", "float(len(str(o)))", "o = decimal.Decimal('1.000')"
    ),
    Object(
        "Decimal in another context",
        "import decimal\no = decimal.Decimal(1)",
        "float(len(str(o / 3)))",
        "decimal.getcontext().prec = 5 + decimal.getcontext().prec % 5",
    ),
    Object("date", "import datetime\no = datetime.date(2020, 1, 2)", "float(o.day)", "o = datetime.date(2020, 1, 5)"),
    Object(
        "moment in another zone",
        "import datetime as d\no = d.datetime(2020, 1, 2, 12, tzinfo=d.timezone.utc)",
        "float(o.hour)",
        "o = o.astimezone(d.timezone(d.timedelta(hours=3)))",
    ),
    Object("regular expression", "import re\no = re.compile('a')", "float(len(o.pattern))", "o = re.compile('aa')"),
    Object("dtype", "import numpy as np\no = np.dtype('f4')", "float(o.itemsize)", "o = np.dtype('f8')"),
    Object("complex", "o = 2. + 0j", "o.real", "o = 5. + 0j"),
    Object("zero with a sign", "import math\no = 0.", "math.copysign(1., o)", "o = -0."),
    Object("number of another type", "o = 1", "float(isinstance(o, int))", "o = 1."),
    Object("text", "o = 'ab'", "float(len(o))", "o = 'abc'"),
    Object("bytes", "o = b'ab'", "float(len(o))", "o = b'abc'"),
    Object("None", "o = None", "float(o is None)", "o = 1"),
    Object("module of one's own", "import types\no = types.ModuleType('cfg_o')\no.k = 2.", "o.k", "o.k = 5."),
    Object(
        "array in a module of one's own",
        "import types, numpy as np\no = types.ModuleType('cfg_o')\no.k = np.array([2.])",
        "o.k[0]",
        "o.k[0] = 5.",
    ),
    Object("lock", "import threading\no = threading.Lock()", "float(o.locked())", "o.acquire()", ANEW),
    Object("thread", "import threading\no = threading.Thread(name='a')", "float(len(o.name))", "o.name = 'bc'", ANEW),
    Object("queue", "import queue\no = queue.Queue()", "float(o.qsize())", "o.put(1)", ANEW),
    Object(
        "logger",
        "import logging\no = logging.getLogger('nx_kinds')\no.setLevel(10)",
        "float(o.level)",
        "o.setLevel(20)",
        ANEW,
        by_name=SEEN,
    ),
    Object(
        "tensor of PyTorch or the like",
        "class A:\n    def __init__(self, v): self.v = v\n    def __array__(self, *a, **k):\n        import numpy\n        return numpy.asarray(self.v)\no = A([2., 3.])",
        "o.v[0]",
        "o.v[0] = 5.",
    ),
]

MODULE = "import sys, types\ncfg = sys.modules['nx_cfg'] = types.ModuleType('nx_cfg')\ncfg.k = 2.\n"
FILE = "import pathlib, tempfile\nk = pathlib.Path(tempfile.mkdtemp()) / 'k.txt'\nk.write_text('2')\nname = str(k)\n"
ENVIRONMENT = "import os\nos.environ['NX_K'] = '2'\n"

TEXTS = [
    Text("global name", "k = 2.\ndef f(x): return x * k", "k = 5."),
    Text("global name in a comprehension", "k = 2.\ndef f(x): return x * sum([k for _ in range(2)])", "k = 5."),
    Text("global name in a function inside", "k = 2.\ndef f(x):\n    def g(): return k\n    return x * g()", "k = 5."),
    Text("global name in a lambda's default inside", "k = 2.\ndef f(x): return (lambda v, a=k: v * a)(x)", "k = 5."),
    Text(
        "global name with which a definition's is hidden",
        "abs = lambda v: 5.\ndef f(x): return x * abs(-2.)",
        "del abs",
    ),
    Text(
        "attribute that a function is given, and that was done without",
        "def h(): return 2.\ndef f(x):\n    try:\n        return x * h.k\n    except AttributeError:\n        return x * h()",
        "h.k = 5.",
    ),
    Text(
        "default that a function is given, and that was done without",
        "def h(k): return k\ndef f(x):\n    try:\n        return x * h()\n    except TypeError:\n        return x * h(2.)",
        "h.__defaults__ = (5.,)",
    ),
    Text("name of Python's own that is defined", "def f(x): return x * len('ab')", "def len(v): return 5."),
    Text(
        "name in builtins",
        "import builtins\nbuiltins.nx_k = 2.\ndef f(x): return x * nx_k",
        "builtins.nx_k = 5.",
        undo="del builtins.nx_k",
    ),
    Text(
        "name of Python's own that is another in builtins",
        "import builtins\nown = builtins.ascii\ndef f(x): return x * len(ascii('a'))",
        "builtins.ascii = lambda v: 'abcdef'",
        undo="builtins.ascii = own",
    ),
    Text("__name__", "def f(x): return x * len(__name__)", "__name__ = 'another'"),
    Text(
        "variable of the function around",
        "def make():\n    k = 2.\n    def f(x): return x * k\n    def change():\n        nonlocal k\n        k = 5.\n    return f, change\nf, change = make()",
        "change()",
    ),
    Text(
        "array of the function around",
        "import numpy as np\ndef make():\n    k = np.array([2.])\n    def f(x): return x * k[0]\n    return f, k\nf, k = make()",
        "k[0] = 5.",
    ),
    Text("attribute of the function itself", "def f(x): return x * g.k\ng = f\ng.k = 2.", "g.k = 5."),
    Text(
        "code of the function itself",
        "def f(x): return x * 2.\ndef g(x): return x * 5.\nh = f",
        "h.__code__ = g.__code__",
    ),
    Text("default of an option", "def f(x, *, k=2.): return x * k\nh = f", "h.__kwdefaults__ = {'k': 5.}"),
    Text("default of an option that is put in", "def f(x, *, k=2.): return x * k\nh = f", "h.__kwdefaults__['k'] = 5."),
    Text(
        "default of an argument",
        "import numpy as np\ndef f(x, k=2.): return np.multiply(x, k)\nh = f",
        "h.__defaults__ = (5.,)",
    ),
    Text("list that is an option's default", "l = [2.]\ndef f(x, *, k=l): return x * k[0]", "l[0] = 5."),
    Text("dict that is an option's default", "d = {'k': 2.}\ndef f(x, *, k=d): return x * k['k']", "d['k'] = 5."),
    Text(
        "object that is an option's default",
        "class C: pass\nc = C()\nc.k = 2.\ndef f(x, *, k=c): return x * k.k",
        "c.k = 5.",
    ),
    Text(
        "function that is an option's default",
        "k = 2.\ndef act(v): return v * k\ndef f(x, *, a=act): return a(x)",
        "k = 5.",
    ),
    Text(
        "function that is an argument's default",
        "import numpy as np\nk = 2.\ndef act(v): return v * k\ndef f(x, a=act): return a(np.multiply(x, 1.))",
        "k = 5.",
        SEEN,
    ),
    Text(
        "iterator that is an option's default",
        "i = iter([2., 5., 7., 9., 11., 13.])\ndef f(x, *, k=i): return x * next(k)",
        "next(i)",
        ANEW,
    ),
    Text("bound method", "class C:\n    def m(self, x): return x * self.k\no = C()\no.k = 2.\nf = o.m", "o.k = 5."),
    Text(
        "bound method of a dataclass with super()",
        "import dataclasses\n@dataclasses.dataclass\nclass B:\n    k: float\n    def m(self, x): return x * self.k\n@dataclasses.dataclass\nclass C(B):\n    def m(self, x): return super().m(x)\no = C(2.)\nf = o.m",
        "o.k = 5.",
    ),
    Text(
        "super() in a list",
        "class B:\n    def m(self): return self.k\nclass C(B):\n    def m(self, x): return x * [super(C, self).m() for _ in range(1)][0]\no = C()\no.k = 2.\nf = o.m",
        "o.k = 5.",
    ),
    Text("class of the object", "class C:\n    k = 2.\no = C()\ndef f(x): return x * type(o).k", "C.k = 5."),
    Text("attributes as a dict", "class C: pass\no = C()\no.k = 2.\ndef f(x): return x * vars(o)['k']", "o.k = 5."),
    Text("names of attributes", "class C: pass\no = C()\ndef f(x): return x * float('k' in dir(o))", "o.k = 5."),
    Text(
        "whether there is an attribute",
        "class C: pass\no = C()\ndef f(x): return x * float(hasattr(o, 'k'))",
        "o.k = 5.",
    ),
    Text("module", MODULE + "def f(x): return x * cfg.k", "cfg.k = 5."),
    Text("module under another name", MODULE + "def f(x):\n    c = cfg\n    return x * c.k", "cfg.k = 5."),
    Text("module by getattr", MODULE + "def f(x): return x * getattr(cfg, 'k')", "cfg.k = 5."),
    Text("module in a list", MODULE + "def f(x): return x * [cfg][0].k", "cfg.k = 5."),
    Text("module that is handed on", MODULE + "def g(c): return c.k\ndef f(x): return x * g(cfg)", "cfg.k = 5."),
    Text(
        "module that is imported inside", MODULE + "def f(x):\n    import nx_cfg\n    return x * nx_cfg.k", "cfg.k = 5."
    ),
    Text(
        "name of a module that is imported inside",
        MODULE + "def f(x):\n    from nx_cfg import k\n    return x * k",
        "cfg.k = 5.",
    ),
    Text(
        "array of a module that is imported inside",
        MODULE + "import numpy as np\ncfg.k = np.array([2.])\ndef f(x):\n    from nx_cfg import k\n    return x * k[0]",
        "cfg.k[0] = 5.",
    ),
    Text("module by sys.modules", MODULE + "def f(x): return x * sys.modules['nx_cfg'].k", "cfg.k = 5.", ANEW),
    Text(
        "helper of a module",
        MODULE + "exec('def g(): return k', vars(cfg))\ndef f(x): return x * cfg.g()",
        "cfg.k = 5.",
    ),
    Text(
        "number of a package",
        "import math\nown = math.tau\ndef f(x): return x * math.tau",
        "math.tau = 5.",
        undo="math.tau = own",
    ),
    Text(
        "function of a package",
        "import math\nown = math.gcd\ndef f(x): return x * math.gcd(4, 6)",
        "math.gcd = lambda *v: 5.",
        undo="math.gcd = own",
    ),
    Text(
        "list of a package",
        "import sys\ndef f(x): return x * len(sys.argv)",
        "sys.argv.append('')",
        undo="sys.argv.pop()\nsys.argv.pop()",
    ),
    Text("environment", ENVIRONMENT + "def f(x): return x * float(os.environ['NX_K'])", "os.environ['NX_K'] = '5'"),
    Text(
        "environment by get",
        ENVIRONMENT + "def f(x): return x * float(os.environ.get('NX_K'))",
        "os.environ['NX_K'] = '5'",
        in_defn=REFUSED,
    ),
    Text(
        "environment by getenv",
        ENVIRONMENT + "def f(x): return x * float(os.getenv('NX_K'))",
        "os.environ['NX_K'] = '5'",
        ANEW,
        in_defn=REFUSED,
    ),
    Text(
        "environment under another name",
        "from os import environ\nenviron['NX_K'] = '2'\ndef f(x): return x * float(environ['NX_K'])",
        "environ['NX_K'] = '5'",
    ),
    Text(
        "current directory",
        "import os, tempfile\nfirst = os.getcwd()\ndef f(x): return x * len(os.getcwd())",
        "os.chdir(tempfile.gettempdir())",
        ANEW,
        undo="os.chdir(first)",
    ),
    *[
        Text(
            f"file by {name}",
            FILE + "import functools, operator\nclass O:\n    def m(self): return float(open(name).read())\n"
            f"    p = property(m)\no = O()\n{make}\ndef f(x): {body}",
            "k.write_text('5')",
            ANEW,
        )
        for name, make, body in (
            ("operator.methodcaller", "call = operator.methodcaller('m')", "return x * call(o)"),
            ("operator.attrgetter", "", "return x * operator.attrgetter('p')(o)"),
            ("a partial of getattr", "of = functools.partial(getattr, o)", "return x * of('p')"),
            ("str.format", "", "return x * float('{0.p}'.format(o))"),
            ("match", "", "\n    match o:\n        case O(p=v): return x * v"),
        )
    ],
    Text(
        "file by open", FILE + "def f(x): return x * float(open(name, closefd=True).read(1))", "k.write_text('5')", ANEW
    ),
    Text(
        "file by Path", FILE + "def f(x): return x * float(pathlib.Path(name).read_text())", "k.write_text('5')", ANEW
    ),
    Text("file by a path", FILE + "def f(x): return x * float(k.read_text())", "k.write_text('5')", ANEW),
    Text(
        "file by np.loadtxt",
        FILE + "import numpy as np\ndef f(x): return x * float(np.loadtxt(name))",
        "k.write_text('5')",
        ANEW,
    ),
    Text(
        "whether there is a file",
        FILE + "import os\ndef f(x): return x * float(os.path.exists(name))",
        "k.unlink()",
        ANEW,
    ),
    Text(
        "clock",
        "import time\nstart = time.time()\ndef f(x): return x * float(time.time() >= start)",
        "start = 1e300",
        REFUSED,
    ),
    Text(
        "today",
        "import datetime\ndef f(x): return x * float(datetime.datetime.now().year > k)\nk = 0",
        "k = 9999",
        REFUSED,
    ),
    Text("time zone", "import time\nk = 2.\ndef f(x): return x * (time.timezone * 0. + k)", "k = 5."),
    Text(
        "random number",
        "import random\nrandom.seed(1)\ndef f(x): return x * (random.random() * 0. + 1.)",
        "random.seed(2)",
    ),
    Text(
        "random number of NumPy",
        "import numpy as np\ndef f(x): return x * (np.random.rand() * 0. + 1.)",
        "np.random.seed(2)",
    ),
    Text(
        "random numbers of a generator",
        "import random\nrng = random.Random(1)\ndef f(x): return x * rng.random()",
        "rng.random()",
    ),
    Text(
        "random numbers of NumPy's generator",
        "import numpy as np\nrng = np.random.default_rng(1)\ndef f(x): return x * rng.random()",
        "rng.random()",
    ),
    Text(
        "settings of NumPy's errors",
        "import numpy as np\nnp.seterr(over='warn')\ndef f(x): return x * float(np.geterr()['over'] == 'warn')",
        "np.seterr(over='ignore')",
        ANEW,
        undo="np.seterr(over='warn')",
    ),
    Text(
        "settings of NumPy's printing",
        "import numpy as np\ndef f(x): return x * np.get_printoptions()['precision']",
        "np.set_printoptions(precision=5)",
        ANEW,
        undo="np.set_printoptions(precision=8)",
    ),
    Text(
        "context of decimal",
        "import decimal\ndef f(x): return x * decimal.getcontext().prec",
        "decimal.getcontext().prec = 5",
        ANEW,
        undo="decimal.getcontext().prec = 28",
    ),
    Text("locale", "import locale\ndef f(x): return x * len(locale.setlocale(locale.LC_ALL))", "k = 1", ANEW),
    Text(
        "recursion limit",
        "import sys\nown = sys.getrecursionlimit()\ndef f(x): return x * sys.getrecursionlimit()",
        "sys.setrecursionlimit(own + 1)",
        ANEW,
        undo="sys.setrecursionlimit(own)",
    ),
    Text(
        "name of the thread",
        "import threading\nown = threading.current_thread().name\n"
        "def f(x): return x * len(threading.current_thread().name)",
        "threading.current_thread().name = 'ab'",
        ANEW,
        undo="threading.current_thread().name = own",
    ),
    Text(
        "whether there is a collection of garbage",
        "import gc\ndef f(x): return x * float(gc.isenabled())",
        "gc.disable()",
        ANEW,
        undo="gc.enable()",
    ),
    Text(
        "context of a function of decimal",
        "import decimal\ndef f(x): return x * float(decimal.Decimal(1) / 3)",
        "decimal.getcontext().prec = 3",
        undo="decimal.getcontext().prec = 28",
    ),
    Text(
        "context that is read",
        "import decimal\ndef f(x): return x * decimal.getcontext().prec",
        "decimal.getcontext().prec = 3",
        ANEW,
        undo="decimal.getcontext().prec = 28",
    ),
    Text(
        "level of a logger",
        "import logging\ndef f(x): return x * logging.getLogger('nx_kinds').level",
        "logging.getLogger('nx_kinds').setLevel(20)",
        ANEW,
        undo="logging.getLogger('nx_kinds').setLevel(0)",
    ),
    Text("names as a dict", "k = 2.\ndef f(x): return x * globals()['k']", "k = 5.", ANEW, in_defn=REFUSED),
    Text("text that is evaluated", "k = 2.\ndef f(x): return x * eval('k')", "k = 5.", ANEW, in_defn=REFUSED),
    Text("frame", "import sys\nk = 2.\ndef f(x): return x * sys._getframe().f_globals['k']", "k = 5.", ANEW),
    Text("largest of a generator expression", "l = [1., 2.]\ndef f(x): return x * max(v for v in l)", "l[0] = 5."),
    Text("least of a map", "l = [-3., 2.]\ndef f(x): return x * min(map(abs, l))", "l[1] = 5."),
    Text("sum of a generator expression", "l = [1., 2.]\ndef f(x): return x * sum(v for v in l)", "l[0] = 5."),
    Text(
        "function of a list of functions", "k = 2.\ndef g(): return k\nfs = [g]\ndef f(x): return x * fs[0]()", "k = 5."
    ),
    Text(
        "function that calls itself",
        "k = 2.\ndef g(n): return k if n == 0 else g(n - 1)\ndef f(x): return x * g(3)",
        "k = 5.",
    ),
    Text(
        "functions that call each other",
        "k = 2.\ndef g(n): return k if n == 0 else h(n - 1)\ndef h(n): return g(n)\ndef f(x): return x * g(3)",
        "k = 5.",
    ),
    Text("class that is made inside", "class C:\n    k = 2.\ndef f(x): return x * C().k", "C.k = 5."),
    Text(
        "dispatch by class",
        "import functools\n@functools.singledispatch\ndef g(a): return 2.\ndef f(x): return x * g('a')",
        "@g.register\ndef _(a: str): return 5.",
    ),
]
