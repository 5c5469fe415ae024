# ruff: noqa: E501 - a text is one string, as the cell of a table
"""Programs of which something changes between calls: a text that defines `f`, then what is run, one after the other."""

PROGRAMS = [
    (
        "import numpy as np\nT=np.ones(2)\nclass B:\n    def m(self): return np.sum(T)\nclass C(B): pass\no=C()\ndef f(x): return x*o.m()",
        "T[0]=5.",
        "T=np.ones(3)",
        "B.m=lambda self: 3.",
        "C.m=lambda self: 9.",
        "del C.m",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    t=T\n    def m(self): return np.sum(self.t)\no=C()\ndef f(x): return x*o.m()",
        "T[0]=5.",
        "C.t=np.zeros(2)",
        "o.t=np.full(2,3.)",
        "del o.t",
    ),
    (
        "import numpy as np\nclass C:\n    def __init__(self): self.w=np.ones(2)\n    @property\n    def total(self): return np.sum(self.w)\no=C()\ndef f(x): return x*o.total",
        "o.w[0]=5.",
        "o.w=np.ones(3)",
        "C.total=property(lambda s: np.max(s.w)*7.)",
    ),
    (
        "import numpy as np\nT=[np.ones(2)]\nclass C:\n    def m(self): return np.sum(T[0])\no=C()\ndef f(x): return x*o.m()",
        "T[0][0]=5.",
        "T[0]=np.zeros(2)",
        "T.insert(0,np.full(2,4.))",
    ),
    (
        "import numpy as np\nT={'a':np.ones(2)}\nclass C:\n    @staticmethod\n    def m(): return np.sum(T['a'])\ndef f(x): return x*C.m()",
        "T['a'][0]=5.",
        "T['a']=np.zeros(2)",
    ),
    (
        "import numpy as np\nT=np.ones(2)\ndef deco(g):\n    def w(*a): return g(*a)*np.sum(T)\n    return w\nclass C:\n    @deco\n    def m(self): return 2.\no=C()\ndef f(x): return x*o.m()",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def __add__(self,o): return o*np.sum(T)\n    __radd__=__add__\no=C()\ndef f(x): return o+2.*x",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def __init__(self): self.k=float(np.sum(T))\ndef f(x): return x*C().k",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nimport dataclasses\nT=np.ones(2)\n@dataclasses.dataclass\nclass C:\n    k:float=dataclasses.field(default_factory=lambda: float(np.sum(T)))\ndef f(x): return x*C().k",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def __iter__(self): return iter([np.sum(T)])\no=C()\ndef f(x): return x*sum(o)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def __enter__(self): return 1\n    def __exit__(self,*a): pass\n    def m(self): return max(T.tolist())\no=C()\ndef f(x): return x*o.m()",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nimport functools\nT=np.ones(2)\nclass C:\n    @functools.cached_property\n    def m(self): return np.sum(T)\no=C()\ndef f(x): return x*o.m",
        "T[0]=5.",
        "o=C()",
    ),
    (
        "import numpy as np\nimport functools\nT=np.ones(2)\nclass C:\n    @functools.singledispatchmethod\n    def m(self,a): return np.sum(T)\no=C()\ndef f(x): return x*o.m(1)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nimport functools\nT=np.ones(2)\nclass C:\n    def m(self,k): return np.sum(T)*k\n    h=functools.partialmethod(m,2.)\no=C()\ndef f(x): return x*o.h()",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass M(type):\n    def m(cls): return np.sum(T)\nclass C(metaclass=M): pass\ndef f(x): return x*C.m()",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass D:\n    def __get__(self,o,t): return np.sum(T)\nclass C:\n    k=D()\no=C()\ndef f(x): return x*o.k",
        "T[0]=5.",
        "C.k=3.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def __getattr__(self,n): return np.sum(T)\no=C()\ndef f(x): return x*o.zz",
        "T[0]=5.",
        "o.zz=3.",
        "del o.zz",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def __getattr__(self,n): return {'zz':k}[n]\nk=2.\no=C()\ndef f(x): return x*o.zz",
        "k=5.",
        "C.zz=7.",
    ),
    (
        "class C:\n    def __getattribute__(self,n): return k if n == 'zz' else object.__getattribute__(self,n)\nk=2.\no=C()\ndef f(x): return x*o.zz",
        "k=5.",
    ),
    (
        "class M(type):\n    def __getattr__(cls,n): return k\nk=2.\nclass C(metaclass=M): pass\ndef f(x): return x*C.zz",
        "k=5.",
        "C.zz=7.",
    ),
    (
        "import types\nm=types.ModuleType('m')\nk=2.\nm.__getattr__=lambda n:k\ndef f(x): return x*m.zz",
        "k=5.",
        "m.zz=7.",
    ),
    (
        "class D:\n    def __init__(s): s.v={}\n    def __get__(s,o,t): return s.v.get(id(o),2.)\n    def __set__(s,o,v): s.v[id(o)]=v\nclass C:\n    k=D()\no=C()\ndef f(x): return x*o.k",
        "o.k=5.",
        "o.k=7.",
    ),
    ("class C:\n    k=2.\no=C()\nclass E:\n    k=5.\ndef f(x): return x*o.k", "o.__class__=E", "E.k=9."),
    (
        "class C:\n    def m(self): return 2.\no=C()\ndef f(x): return x*o.m()",
        "o.m=lambda:5.",
        "del o.m",
        "import types\no.m=types.MethodType(lambda s:7.,o)",
    ),
    (
        "class C:\n    def __call__(self): return 2.\no=C()\ndef f(x): return x*o()",
        "C.__call__=lambda s:5.",
        "o=lambda:9.",
    ),
    (
        "class C:\n    __slots__=('a','b')\no=C()\no.a=2.\ndef f(x): return x*(o.b if hasattr(o,'b') else o.a)",
        "o.b=5.",
        "del o.b",
    ),
    ("import enum\nclass E(enum.Enum):\n    A=2.\n    B=5.\nm=E.A\ndef f(x): return x*m.value", "m=E.B", "m=E.A"),
    (
        "import enum\nclass E(enum.Flag):\n    A=1\n    B=2\nm=E.A\ndef f(x): return x*(2. if E.B in m else 1.)",
        "m=E.A|E.B",
        "m=E.A",
    ),
    (
        "import collections\nP=collections.namedtuple('P','a b')\no=P(2.,3.)\ndef f(x): return x*o.a",
        "o=o._replace(a=5.)",
    ),
    (
        "import types\no=types.MappingProxyType({'a':2.})\nd={'a':1.}\no=types.MappingProxyType(d)\ndef f(x): return x*o['a']",
        "d['a']=5.",
        "d['b']=1.",
    ),
    ("d={'a':2.}\ndef f(x): return x*list(reversed(d.values()))[0]", "d['b']=5.", "d['a']=d.pop('a')"),
    ("s={1.,2.}\ndef f(x): return x*len(s|{3.})", "s.add(3.)", "s.add(9.)"),
    ("o=(1.,[2.])\ndef f(x): return x*o[1][0]", "o[1][0]=5.", "o=(1.,[7.])"),
    ("a=[1.,2.]\nb=a\ndef f(x): return x*(b is a)*a[0]", "a[0]=5.", "b=list(a)", "b=a"),
    ("a=[1.]\nb=[a,a]\ndef f(x): return x*(2. if b[0] is b[1] else 3.)*b[1][0]", "b[1]=[1.]", "b[0]=b[1]"),
    ("def g(): return 2.\ndef h(): return 5.\ndef f(x): return x*g()", "g.__code__=h.__code__", "g=lambda:9."),
    ("def g(a=2.): return a\ndef f(x): return x*g()", "g.__defaults__=(5.,)"),
    ("def g(*,a=2.): return a\ndef f(x): return x*g()", "g.__kwdefaults__['a']=5.", "g.__kwdefaults__={'a':7.}"),
    (
        "def mk(k):\n    def g(): return k\n    return g\ng=mk(2.)\ndef f(x): return x*g()",
        "g.__closure__[0].cell_contents=5.",
        "g=mk(7.)",
    ),
    (
        "import operator\nd={'a':2.}\ng=operator.itemgetter('a')\ndef f(x): return x*g(d)",
        "d['a']=5.",
        "d['b']=3.; g=operator.itemgetter('b')",
    ),
    (
        "class C: pass\no=C(); o.p=C(); o.p.k=2.\nimport operator\ng=operator.attrgetter('p.k')\ndef f(x): return x*g(o)",
        "o.p.k=5.",
        "o.p=C(); o.p.k=7.",
    ),
    ("def gen():\n    for v in l: yield v\nl=[1.,2.]\ndef f(x): return x*sum(gen())", "l[0]=5.", "l.append(3.)"),
    ("l=[3.,1.,2.]\ndef f(x): return x*sorted(l,key=key)[0]\nkey=lambda v:v", "key=lambda v:-v", "l[0]=9."),
    (
        "import string\nt=string.Template('$a')\nd={'a':'2'}\ndef f(x): return x*float(t.substitute(d))",
        "d['a']='5'",
        "t=string.Template('${a}1')",
    ),
    (
        "import re\nr=re.compile('a+')\ns='aab'\ndef f(x): return x*len(r.match(s).group())",
        "s='aaab'",
        "r=re.compile('a')",
    ),
    ("import json\ns='{\"a\": 2.0}'\ndef f(x): return x*json.loads(s)['a']", "s='{\"a\": 5.0}'"),
    ("import fractions\nq=fractions.Fraction(1,2)\ndef f(x): return x*float(q)", "q=fractions.Fraction(3,2)"),
    ("import decimal\nq=decimal.Decimal('2')\ndef f(x): return x*float(q)", "q=decimal.Decimal('5')"),
    ("import datetime\nq=datetime.date(2020,1,2)\ndef f(x): return x*q.day", "q=q.replace(day=5)"),
    (
        "import numpy as np\na=np.arange(6.)\nv=a[::2]\ndef f(x): return x*v",
        "a[0]=5.",
        "a[:]=a[::-1].copy()",
        "v=a[1::2]",
    ),
    (
        "import numpy as np\na=np.arange(6.)\nm=np.ma.masked_greater(a,3.)\ndef f(x): return x*float(m.sum())",
        "m[0]=5.",
        "m.mask[0]=True",
        "m=np.ma.masked_greater(a,4.)",
    ),
    ("import numpy as np\na=np.arange(3.)\nb=memoryview(a)\ndef f(x): return x*b[1]", "a[1]=5."),
    ("import numpy as np\nt=np.dtype('f4')\ndef f(x): return x.astype(t)*1.", "t=np.dtype('f8')", "t='f4'"),
    ("import numpy as np\nk=np.float32(2)\ndef f(x): return x*k", "k=np.float32(5)", "k=np.float64(5)", "k=5."),
    ("import numpy as np\nrng=np.random.RandomState(1)\ndef f(x): return x*rng.rand()", "rng.rand()"),
    (
        "import numpy as np\ni=np.array([0,1,2])\ndef f(x): return x[i]*1.",
        "i[0]=2",
        "i=np.array([True,False,True])",
        "i=np.array([1])",
    ),
    ("import numpy as np\ns=slice(0,2)\ndef f(x): return x[s]*1.", "s=slice(1,3)", "s=slice(None,None,-1)", "s=0"),
    ("import numpy as np\ni=(0,)\ndef f(x): return x[i]*1.", "i=(1,)", "i=[0,1]", "i=..."),
    ("import numpy as np\nn=2\ndef f(x): return np.zeros(n)+x[0]", "n=3", "n=np.int64(4)", "n=(2,2)"),
    ("import math\nfn=math.sqrt\ndef f(x): return x*fn(4.)", "fn=math.exp", "fn=abs", "fn=float"),
    ("import numpy as np\nfn=np.sin\ndef f(x): return fn(x)", "fn=np.cos", "fn=lambda v:v*2."),
    (
        "ops=['a']\ndef a(x): return x*2.\ndef b(x): return x*5.\ntable={'a':a,'b':b}\ndef f(x):\n    for o in ops: x=table[o](x)\n    return x",
        "ops.append('b')",
        "table['a']=b",
        "ops.clear()",
    ),
    (
        "class L:\n    def __init__(s,k): s.k=k\n    def __call__(s,x): return x*s.k\nclass S:\n    def __init__(s,*l): s.l=list(l)\n    def __call__(s,x):\n        for i in s.l: x=i(x)\n        return x\nm=S(L(2.),L(3.))\ndef f(x): return m(x)",
        "m.l[0].k=5.",
        "m.l.append(L(2.))",
        "m.l.pop(0)",
        "m.l[:]=[L(9.)]",
    ),
    (
        "class N:\n    def __init__(s,k,n=None): s.k=k; s.n=n\nr=N(1.,N(2.,N(3.)))\ndef total(n): return 0. if n is None else n.k+total(n.n)\ndef f(x): return x*total(r)",
        "r.n.n.k=9.",
        "r.n.n.n=N(4.)",
        "r.n=None",
    ),
    (
        "import contextlib\nk=2.\n@contextlib.contextmanager\ndef c():\n    yield k\ndef g():\n    with c() as v: return v\ndef f(x): return x*g()",
        "k=5.",
    ),
    (
        "k=2.\nclass C:\n    @classmethod\n    def make(cls):\n        o=cls(); o.k=k; return o\ndef f(x): return x*C.make().k",
        "k=5.",
        "C.make=classmethod(lambda cls: type('Z',(),{'k':7.}))",
    ),
    (
        "registry={}\ndef reg(n):\n    def d(g): registry[n]=g; return g\n    return d\n@reg('a')\ndef a(): return 2.\ndef f(x): return x*registry['a']()",
        "@reg('a')\ndef z(): return 5.",
    ),
    (
        "import abc\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def k(self): ...\nclass C(B):\n    def k(self): return 2.\no=C()\ndef f(x): return x*o.k()*(3. if isinstance(o,B) else 1.)",
        "C.k=lambda s:5.",
    ),
    (
        "class B: pass\nclass C: pass\nimport abc\nclass A(abc.ABC): pass\no=C()\ndef f(x): return x*(3. if isinstance(o,A) else 1.)",
        "A.register(C)",
    ),
    (
        "class C:\n    def __instancecheck__(s,o): return k>3\nk=2.\nc=C()\ndef f(x): return x*(3. if isinstance(1,c) else 1.)",
        "k=5.",
    ),
    ("def f(x): return x*f.k\nf.k=2.\ng=f", "g.k=5."),
    ("l=[1.,2.,3.]\ndef f(x): return x*(l*n)[-1]*len(l*n)\nn=1", "n=2", "l[-1]=5."),
    ("a,b=1.,2.\ndef f(x):\n    c=a if flag else b\n    return x*c\nflag=True", "flag=False", "b=5.", "flag=1"),
    ("text='2'\ndef f(x): return x*float(f'{text}{n:02d}')\nn=3", "n=4", "text='7'"),
    ("b=b'ab'\ndef f(x): return x*b[0]", "b=b'bb'", "b=bytearray(b'cb')"),
    (
        "class C(float):\n    def __mul__(s,o): return o*k\n    __rmul__=__mul__\nk=2.\nc=C(1.)\ndef f(x): return c*x",
        "k=5.",
    ),
    ("class S(str):\n    def __len__(s): return n\nn=2\ns=S('a')\ndef f(x): return x*len(s)", "n=5"),
    ("class D(dict):\n    def __missing__(s,k): return n\nn=2.\nd=D()\ndef f(x): return x*d['q']", "n=5.", "d['q']=7."),
    ("class L(list):\n    def __getitem__(s,k): return n\nn=2.\nl=L([1.])\ndef f(x): return x*l[0]", "n=5."),
    (
        "import weakref\nclass C: pass\no=C(); o.k=2.\nw=weakref.WeakValueDictionary(a=o)\ndef f(x): return x*w['a'].k",
        "o.k=5.",
    ),
    (
        "import copy\nclass C: pass\no=C(); o.l=[2.]\ndef f(x): return x*copy.copy(o).l[0]*copy.deepcopy(o).l[0]",
        "o.l[0]=5.",
    ),
    (
        "import functools\nl=[1.,2.]\ndef f(x): return x*functools.reduce(lambda a,b:a+b*k,l)\nk=2.",
        "k=5.",
        "l.append(1.)",
    ),
    (
        "import itertools\nl=[1.,2.]\ndef f(x): return x*sum(itertools.accumulate(l))*len(list(itertools.product(l,m)))\nm=[1]",
        "l[0]=5.",
        "m.append(2)",
    ),
    (
        "import numpy as np\nimport nxkernel as nx\nk=2.\n@nx.defn\ndef g(x): return x*k\ndef f(x): return g(x)*2.",
        "k=5.",
    ),
    (
        "import numpy as np\nimport nxkernel as nx\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\no=C()\ndef f(x): return nx.vmap(o.m)(x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nimport nxkernel as nx\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\no=C()\ng=nx.vmap(lambda v: o.m(v))\ndef f(x): return g(x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nimport functools\nT=np.ones(2)\nclass C:\n    def m(self,v,k): return v*np.sum(T)*k\no=C()\ng=functools.partial(o.m,k=2.)\ndef f(x): return g(x)",
        "T[0]=5.",
        "g.keywords['k']=3.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\nh=C().m\ndef f(x): return h(x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\nl=[C()]\ndef f(x): return l[0].m(x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\nd={'a':C().m}\ndef f(x): return d['a'](x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\ndef g(o,x): return o.m(x)\no=C()\ndef f(x): return g(o,x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\ndef f(x):\n    o=C()\n    return o.m(x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\ndef f(x): return C.m(None,x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\no=C()\ndef f(x): return getattr(o,'m')(x)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass C:\n    def m(self,v): return v*np.sum(T)\nimport operator\ng=operator.methodcaller('m',2.)\no=C()\ndef f(x): return x*g(o)",
        "T[0]=5.",
    ),
    (
        "import numpy as np\nT=np.ones(2)\nclass B:\n    def h(self): return np.sum(T)\nclass C(B):\n    def m(self): return self.h()*2.\no=C()\ndef f(x): return x*o.m()",
        "T[0]=5.",
        "B.h=lambda s: 3.",
    ),
    (
        "import numpy as np\nclass B:\n    def __init__(s): s.w=np.ones(2)\n    def h(self): return np.sum(self.w)\nclass C(B):\n    def m(self): return super().h()*2.\no=C()\ndef f(x): return x*o.m()",
        "o.w[0]=5.",
        "o.w=np.zeros(2)",
    ),
    (
        "import numpy as np\nclass I:\n    def __init__(s): s.w=np.ones(2)\n    def h(self): return np.sum(self.w)\nclass C:\n    def __init__(s): s.i=I()\n    def m(self): return self.i.h()*2.\no=C()\ndef f(x): return x*o.m()",
        "o.i.w[0]=5.",
        "o.i=I()",
        "o.i.w=np.zeros(2)",
    ),
    (
        "import numpy as np\nclass I:\n    def __init__(s): s.w=np.ones(2)\nclass C:\n    i=I()\n    def m(self): return np.sum(self.i.w)\no=C()\ndef f(x): return x*o.m()",
        "o.i.w[0]=5.",
        "C.i.w=np.zeros(2)",
        "o.i=I()",
    ),
    (
        "import numpy as np\nclass C:\n    all=[]\n    def __init__(s): s.w=np.ones(2); C.all.append(s)\n    def m(self): return sum(float(np.sum(o.w)) for o in C.all)\no=C()\ndef f(x): return x*o.m()",
        "o.w[0]=5.",
        "C()",
        "C.all.clear()",
    ),
    (
        "import numpy as np\nclass C:\n    def __init__(s): s.l=[np.ones(2)]\n    @property\n    def m(self): return np.sum(self.l[0])\no=C()\ndef f(x): return x*o.m",
        "o.l[0][0]=5.",
        "o.l=[np.zeros(2)]",
        "o.l.insert(0,np.ones(3))",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __init__(s): s.w=w\n    @property\n    def m(self): return np.sum(self.w)*np.sum(w)\no=C()\ndef f(x): return x*o.m",
        "w[0]=5.",
        "o.w=np.zeros(2)",
        "o.w=w",
    ),
    (
        "import numpy as np\nw=np.ones(2)\ndef g(): return np.sum(w)\nclass C:\n    def m(self): return g()\no=C()\ndef f(x): return x*g()*o.m()",
        "w[0]=5.",
        "w=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def m(self): return g()\ndef g(): return np.sum(w)\no=C()\ndef f(x): return x*o.m()*g()",
        "w[0]=5.",
        "w=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nl=[w]\nclass C:\n    def m(self): return np.sum(l[0])\no=C()\ndef f(x): return x*l[0][0]*o.m()",
        "w[0]=5.",
        "l[0]=np.zeros(2)",
    ),
    (
        "import numpy as np\nclass T:\n    def __init__(s): s.w=np.ones(2)\nt=T()\nclass C:\n    def m(self): return np.sum(t.w)\no=C()\ndef f(x): return x*t.w[0]*o.m()",
        "t.w[0]=5.",
        "t.w=np.full(2,3.)",
    ),
    (
        "import numpy as np\nclass T:\n    def __init__(s): s.w=np.ones(2)\n    def m(self): return np.sum(t.w)\nt=T()\ndef f(x): return x*t.w[0]*t.m()",
        "t.w[0]=5.",
        "t.w=np.full(2,3.)",
    ),
    (
        "import numpy as np\nimport types\nm=types.ModuleType('m')\nm.w=np.ones(2)\nclass C:\n    def m(self): return np.sum(m.w)\no=C()\ndef f(x): return x*o.m()",
        "m.w[0]=5.",
        "m.w=np.zeros(2)",
    ),
    (
        "import numpy as np\ndef mk():\n    w=np.ones(2)\n    class C:\n        def m(self): return np.sum(w)\n    return C(),w\no,w=mk()\ndef f(x): return x*o.m()",
        "w[0]=5.",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def m(self,t=w): return np.sum(t)\no=C()\ndef f(x): return x*o.m()",
        "w[0]=5.",
        "C.m.__defaults__=(np.zeros(2),)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def m(self,*,t=w): return np.sum(t)\no=C()\ndef f(x): return x*o.m()",
        "w[0]=5.",
        "C.m.__kwdefaults__['t']=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def m(self): return np.sum(C.m.w)\nC.m.w=w\no=C()\ndef f(x): return x*o.m()",
        "w[0]=5.",
        "C.m.w=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __getattr__(s,n):\n        if n!='zz': raise AttributeError(n)\n        return np.sum(w)\no=C()\ndef f(x): return x*o.zz",
        "w[0]=5.",
        "w=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __array__(s,dtype=None,copy=None): return w\no=C()\ndef f(x): return x*np.sum(o)",
        "w[0]=5.",
        "w=np.zeros(2)",
    ),
    (
        "import numpy as np\nclass W(np.ndarray): pass\nw=np.ones(2).view(W)\ndef f(x): return x*float(w.sum())",
        "w[0]=5.",
        "w.k=1",
        "w=np.zeros(2).view(W)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nw.flags.writeable=False\nclass C:\n    def m(self): return np.sum(w)\no=C()\ndef f(x): return x*o.m()",
        "w=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones((2,2))\nv=w.T\nclass C:\n    def m(self): return np.sum(v[0])\no=C()\ndef f(x): return x*o.m()",
        "w[0,0]=5.",
        "v=w[1:]",
    ),
    (
        "import numpy as np\nw={'a':np.ones(2)}\nclass C:\n    def m(self): return sum(np.sum(v) for v in w.values())\no=C()\ndef f(x): return x*o.m()",
        "w['a'][0]=5.",
        "w['b']=np.ones(1)",
        "del w['a']",
    ),
    (
        "import numpy as np\nimport collections\nw=collections.deque([np.ones(2)],2)\ndef f(x): return x*np.sum(w[0])",
        "w[0][0]=5.",
        "w.append(np.zeros(2))",
        "w.append(np.zeros(2))",
    ),
    (
        "import numpy as np\nw=(np.ones(2),)\ns={1}\nclass C:\n    def m(self): return np.sum(w[0])*len(s)\no=C()\ndef f(x): return x*o.m()",
        "w[0][0]=5.",
        "s.add(4)",
        "w=(np.zeros(2),)",
    ),
    (
        "import numpy as np\nimport dataclasses\n@dataclasses.dataclass\nclass C:\n    w: object\n    def m(self): return np.sum(self.w)\no=C(np.ones(2))\ndef f(x): return x*o.m()",
        "o.w[0]=5.",
        "o=C(np.zeros(2))",
        "o=dataclasses.replace(o,w=np.ones(3))",
    ),
    (
        "import numpy as np\nimport typing\nclass P(typing.NamedTuple):\n    w: object\n    def m(self): return np.sum(self.w)\no=P(np.ones(2))\ndef f(x): return x*o.m()",
        "o.w[0]=5.",
        "o=P(np.zeros(2))",
    ),
    (
        "import numpy as np\nimport threading\nl=threading.local()\nl.w=np.ones(2)\ndef f(x): return x*np.sum(l.w)",
        "l.w[0]=5.",
        "l.w=np.zeros(2)",
    ),
    (
        "import numpy as np\nimport contextvars\nv=contextvars.ContextVar('v')\nv.set(np.ones(2))\ndef f(x): return x*np.sum(v.get())",
        "v.get()[0]=5.",
        "v.set(np.zeros(2))",
    ),
    (
        "import numpy as np\nimport enum\nclass E(enum.Enum):\n    A=1\n    def m(self): return np.sum(w)\nw=np.ones(2)\ndef f(x): return x*E.A.m()",
        "w[0]=5.",
        "w=np.zeros(2)",
    ),
    (
        "import numpy as np\nclass C:\n    def __init__(s): s._w=np.ones(2)\n    @property\n    def w(s): return s._w\n    @w.setter\n    def w(s,v): s._w=v\no=C()\ndef f(x): return x*np.sum(o.w)",
        "o._w[0]=5.",
        "o.w=np.zeros(2)",
    ),
    (
        "import numpy as np\nclass C:\n    __slots__=('w',)\n    def m(s): return np.sum(s.w)\no=C(); o.w=np.ones(2)\ndef f(x): return x*o.m()",
        "o.w[0]=5.",
        "o.w=np.zeros(2)",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def m(self): return [np.sum(w) for _ in range(2)][0]\n    def n(self): return (lambda: np.sum(w))()\no=C()\ndef f(x): return x*o.m()*o.n()",
        "w[0]=5.",
    ),
    (
        "import numpy as np\nw=np.ones(2)\ndef around(g):\n    def h(*a): return g(*a)\n    return h\nclass C:\n    @around\n    def m(self): return np.sum(w)\n    @property\n    @around\n    def n(self): return np.sum(w)\no=C()\ndef f(x): return x*o.m()*o.n",
        "w[0]=5.",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __matmul__(s,o): return np.sum(w)*o\n    def __neg__(s): return np.sum(w)\n    def __bool__(s): return bool(w[0]>2)\no=C()\ndef f(x): return (o@x)*(-o)*(2. if o else 3.)",
        "w[0]=5.",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __format__(s,t): return str(float(w[0]))\n    def __str__(s): return str(float(w[0]))\no=C()\ndef f(x): return x*float(f'{o}')*float(str(o))",
        "w[0]=5.",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __contains__(s,k): return w[0]>k\n    def __eq__(s,k): return w[0]==k\n    __hash__=None\no=C()\ndef f(x): return x*(2. if 3. in o else 1.)*(5. if o==1. else 7.)",
        "w[0]=5.",
    ),
    (
        "import numpy as np\nw=np.ones(2)\nclass C:\n    def __index__(s): return int(w[0])\n    def __float__(s): return float(w[0])\no=C()\ndef f(x): return x*float(o)*list(range(9))[o]",
        "w[0]=5.",
    ),
]
