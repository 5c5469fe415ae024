# ruff: noqa: E501 - a text is one string, as the cell of a table
"""Functions whose reading changes something: each call is one draw, count or look at a clock further than the last."""

COUNT = "count = [0]\ndef tick():\n    count[0] += 1\n    return float(count[0])\n"
DRAW = "import random\nrng = random.Random(3)\n"

#: Texts of cells that define `f`, by what reading changes.
CHANGING = {
    "property draws": DRAW
    + "class O:\n    @property\n    def k(self): return rng.random()\no=O()\ndef f(x): return x*o.k",
    "property draws np": "import numpy as np\nrng=np.random.default_rng(3)\nclass O:\n    @property\n    def k(self): return float(rng.random())\no=O()\ndef f(x): return x*o.k",
    "property global random": "import random\nrandom.seed(3)\nclass O:\n    @property\n    def k(self): return random.random()\no=O()\ndef f(x): return x*o.k",
    "property np.random": "import numpy as np\nnp.random.seed(3)\nclass O:\n    @property\n    def k(self): return np.random.rand()\no=O()\ndef f(x): return x*o.k",
    "property counts list": COUNT
    + "class O:\n    @property\n    def k(self): return tick()\no=O()\ndef f(x): return x*o.k",
    "property counts self": "class O:\n    n=0\n    @property\n    def k(self):\n        self.n+=1\n        return float(self.n)\no=O()\ndef f(x): return x*o.k",
    "property counts class": "class O:\n    n=0\n    @property\n    def k(self):\n        O.n+=1\n        return float(O.n)\no=O()\ndef f(x): return x*o.k",
    "property global counter": "n=0\nclass O:\n    @property\n    def k(self):\n        global n\n        n=n+1\n        return float(n)\no=O()\ndef f(x): return x*o.k",
    "property itertools": "import itertools\nc=itertools.count(1)\nclass O:\n    @property\n    def k(self): return float(next(c))\no=O()\ndef f(x): return x*o.k",
    "property deque": "import collections\nq=collections.deque(map(float,range(1,100)))\nclass O:\n    @property\n    def k(self): return q.popleft()\no=O()\ndef f(x): return x*o.k",
    "property pop": "q=list(map(float,range(1,100)))\nclass O:\n    @property\n    def k(self): return q.pop()\no=O()\ndef f(x): return x*o.k",
    "getattr draws": DRAW
    + "class O:\n    def __getattr__(self,name):\n        if name.startswith('__'): raise AttributeError(name)\n        return rng.random()\no=O()\ndef f(x): return x*o.k",
    "getattr counts": COUNT
    + "class O:\n    def __getattr__(self,name):\n        if name.startswith('__'): raise AttributeError(name)\n        return tick()\no=O()\ndef f(x): return x*o.k",
    "getattribute counts": "class O:\n    n=0\n    def __getattribute__(self,name):\n        if name=='k':\n            O.n+=1\n            return float(O.n)\n        return object.__getattribute__(self,name)\no=O()\ndef f(x): return x*o.k",
    "len counts": COUNT
    + "class O:\n    def __len__(self): return int(tick())\no=O()\ndef f(x): return x*float(len(o))",
    "call counts": COUNT + "class O:\n    def __call__(self): return tick()\no=O()\ndef f(x): return x*o()",
    "call draws": DRAW + "class O:\n    def __call__(self): return rng.random()\no=O()\ndef f(x): return x*o()",
    "float counts": COUNT + "class O:\n    def __float__(self): return tick()\no=O()\ndef f(x): return x*float(o)",
    "getitem counts": COUNT + "class O:\n    def __getitem__(self,k): return tick()\no=O()\ndef f(x): return x*o[0]",
    "contains counts": COUNT
    + "class O:\n    def __contains__(self,k): return tick()>2\no=O()\ndef f(x): return x*float(3 in o)",
    "iter counts": COUNT + "class O:\n    def __iter__(self): return iter([tick()])\no=O()\ndef f(x): return x*sum(o)",
    "bool counts": COUNT
    + "class O:\n    def __bool__(self): return tick()>2\no=O()\ndef f(x): return x*float(bool(o))",
    "eq counts": COUNT + "class O:\n    def __eq__(self,k): return tick()>2\no=O()\ndef f(x): return x*float(o==1)",
    "hash counts": COUNT
    + "class O:\n    def __hash__(self): return int(tick())\no=O()\ndef f(x): return x*float(hash(o))",
    "repr counts opt": COUNT
    + "class O:\n    def __repr__(self): return str(tick())\n    k=2.\no=O()\nl=[o]\ndef f(x): return x*float(count[0])*l[0].k",
    "str counts": COUNT
    + "class O:\n    def __str__(self): return str(tick())\no=O()\ndef f(x): return x*float(str(o))",
    "descriptor counts": COUNT
    + "class D:\n    def __get__(self,o,t): return tick()\nclass O:\n    k=D()\no=O()\ndef f(x): return x*o.k",
    "class property (metaclass)": COUNT
    + "class M(type):\n    @property\n    def k(cls): return tick()\nclass O(metaclass=M): pass\ndef f(x): return x*O.k",
    "metaclass getattr": COUNT
    + "class M(type):\n    def __getattr__(cls,name):\n        if name.startswith('__'): raise AttributeError(name)\n        return tick()\nclass O(metaclass=M): pass\ndef f(x): return x*O.k",
    "module getattr": COUNT
    + "import types\nm=types.ModuleType('mm')\ndef ga(name):\n    if name.startswith('__'): raise AttributeError(name)\n    return tick()\nm.__getattr__=ga\ndef f(x): return x*m.k",
    "cached_property draws": DRAW
    + "import functools\nclass O:\n    @functools.cached_property\n    def k(self): return rng.random()\no=O()\ndef f(x): return x*o.k",
    "lazy attribute": "class O:\n    @property\n    def k(self):\n        if not hasattr(self,'_k'): self._k=2.; log.append(1)\n        return self._k\nlog=[]\no=O()\ndef f(x): return x*o.k*len(log)",
    "lru_cache": COUNT + "import functools\n@functools.cache\ndef g(): return tick()\ndef f(x): return x*g()",
    "function counts": COUNT + "def f(x): return x*tick()",
    "generator": "def gen():\n    k=0.\n    while True:\n        k+=1\n        yield k\ng=gen()\ndef f(x): return x*next(g)",
    "nested object in list": COUNT
    + "class O:\n    @property\n    def k(self): return tick()\nbox=[O()]\ndef f(x): return x*box[0].k",
    "class attribute in list": "class O:\n    n=[0]\n    @property\n    def k(self):\n        self.n[0]+=1\n        return float(self.n[0])\no=O()\ndef f(x): return x*o.k",
    "dict attribute counters": "import collections\nc=collections.Counter()\nclass O:\n    @property\n    def k(self):\n        c['a']+=1\n        return float(c['a'])\no=O()\ndef f(x): return x*o.k",
    "np array counter": "import numpy as np\nc=np.zeros(1)\nclass O:\n    @property\n    def k(self):\n        c[0]+=1\n        return float(c[0])\no=O()\ndef f(x): return x*o.k",
    "np int array counter": "import numpy as np\nc=np.zeros(1,'i8')\ndef tick():\n    c[0]+=1\n    return float(c[0])\ndef f(x): return x*tick()",
    "bytearray": "b=bytearray(2)\nclass O:\n    @property\n    def k(self):\n        b[0]+=1\n        return float(b[0])\no=O()\ndef f(x): return x*o.k",
    "set": "s=set()\nclass O:\n    @property\n    def k(self):\n        s.add(len(s))\n        return float(len(s))\no=O()\ndef f(x): return x*o.k",
    "slots": "class O:\n    __slots__=('n',)\n    @property\n    def k(self):\n        self.n+=1\n        return float(self.n)\no=O()\no.n=0\ndef f(x): return x*o.k",
    "closure cell": "def mk():\n    n=0\n    class O:\n        @property\n        def k(self):\n            nonlocal n\n            n+=1\n            return float(n)\n    return O()\no=mk()\ndef f(x): return x*o.k",
    "function attribute": "def tick():\n    tick.n+=1\n    return float(tick.n)\ntick.n=0\ndef f(x): return x*tick()",
    "mutable default": "def tick(c=[0]):\n    c[0]+=1\n    return float(c[0])\ndef f(x): return x*tick()",
    "array.array": "import array\na=array.array('d',[0.])\nclass O:\n    @property\n    def k(self):\n        a[0]+=1\n        return a[0]\no=O()\ndef f(x): return x*o.k",
    "environ": "import os\nos.environ['NX_C']='0'\nclass O:\n    @property\n    def k(self):\n        os.environ['NX_C']=str(int(os.environ['NX_C'])+1)\n        return float(os.environ['NX_C'])\no=O()\ndef f(x): return x*o.k",
    "file write": "import pathlib,tempfile\np=pathlib.Path(tempfile.mkdtemp())/'c'\np.write_text('0')\nclass O:\n    @property\n    def k(self):\n        p.write_text(str(int(p.read_text())+1))\n        return float(p.read_text())\no=O()\ndef f(x): return x*o.k",
    "contextvar": "import contextvars\nv=contextvars.ContextVar('v',default=0)\nclass O:\n    @property\n    def k(self):\n        v.set(v.get()+1)\n        return float(v.get())\no=O()\ndef f(x): return x*o.k",
    "threading.local": "import threading\nv=threading.local()\nv.n=0\nclass O:\n    @property\n    def k(self):\n        v.n+=1\n        return float(v.n)\no=O()\ndef f(x): return x*o.k",
    "module attr": "import types\nm=types.ModuleType('mmm')\nm.n=0\nclass O:\n    @property\n    def k(self):\n        m.n+=1\n        return float(m.n)\no=O()\ndef f(x): return x*o.k",
    "defaultdict read": "import collections\nd=collections.defaultdict(float)\nkeys=iter('abcdefghijklmnop')\nclass O:\n    @property\n    def k(self):\n        d[len(d)]\n        return float(len(d))\no=O()\ndef f(x): return x*o.k",
    "clock": "import time\nclass O:\n    last=[0]\n    @property\n    def k(self):\n        time.perf_counter(); self.last.append(0); return float(len(self.last))\no=O()\ndef f(x): return x*o.k",
    "ordered dict move": "import collections\nd=collections.OrderedDict(a=1.,b=2.,c=3.)\nclass O:\n    @property\n    def k(self):\n        d.move_to_end(next(iter(d)))\n        return d[next(iter(d))]\no=O()\ndef f(x): return x*o.k",
    "UserList": "import collections\nu=collections.UserList([0.])\nclass O:\n    @property\n    def k(self):\n        u.append(1.)\n        return float(len(u))\no=O()\ndef f(x): return x*o.k",
    "queue": "import queue\nq=queue.Queue()\nfor i in range(1,50): q.put(float(i))\nclass O:\n    @property\n    def k(self): return q.get()\no=O()\ndef f(x): return x*o.k",
    "map iterator": "m=map(float,range(1,100))\nclass O:\n    @property\n    def k(self): return next(m)\no=O()\ndef f(x): return x*o.k",
    "dataclass field factory": COUNT
    + "import dataclasses\n@dataclasses.dataclass\nclass D:\n    k: float=dataclasses.field(default_factory=tick)\ndef f(x): return x*D().k",
    "init counts": COUNT + "class O:\n    def __init__(self): self.k=tick()\ndef f(x): return x*O().k",
    "weakref": "import weakref\nclass O:\n    n=0\n    def m(self):\n        self.n+=1\n        return float(self.n)\no=O()\nr=weakref.ref(o)\ndef f(x): return x*r().m()",
    "option draws": DRAW
    + "class O:\n    @property\n    def k(self): return rng.random()\no=O()\ndef f(x,*,o=o): return x*o.k",
    "option counts": "class O:\n    n=0\n    @property\n    def k(self):\n        self.n+=1\n        return float(self.n)\no=O()\ndef f(x,*,o=o): return x*o.k",
}
