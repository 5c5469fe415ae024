"""What code reads from outside, as its bytecode has it."""

import pytest

from nxkernel.definitions.keys import bytecode_reads


def paths(function, root=None):
    return [
        ".".join(path.names)
        for path in bytecode_reads.of_code(function.__code__).paths
        if (path.root == root if root else path.root != "self")
    ]


def compiled(source, name="f"):
    space = {}
    exec(source, space)
    return space[name]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("x * rate", ["rate"]),
        ("x * config.rate + config.inner.bias", ["config.rate", "config.inner.bias"]),
        ("np.sum(x) * np.pi", ["np.sum", "np.pi"]),
        ("helper(x, k)", ["helper", "k"]),
        ("a if b else c.d", ["b", "a", "c.d"]),
        ("a and b.c or d", ["a", "b.c", "d"]),
        ("a < b < c", ["a", "b", "c"]),
        ("[w.k * v for v in items]", ["items", "w.k"]),
        ("(lambda y: y * inner.k)(x)", ["inner.k"]),
        ("table[0].name", ["table"]),
        ("f'{x} {label}'", ["label"]),
        ("(y := seed) + y", ["seed"]),
        ("x.T", []),
    ],
)
def test_the_names_of_an_expression(expression, found):
    assert paths(compiled(f"f = lambda x: {expression}")) == found


def test_variables_of_enclosing_functions():
    rate, config = 1.0, None

    def f(x):
        local = 2.0

        def inner(y):
            return y * rate * local * config.k

        return inner(x) + local

    assert paths(f) == ["rate", "config.k"]
    assert paths(f, "free") == ["rate", "config.k"]


def test_the_first_argument():
    def method(self, x):
        return [self.w * i for i in x] + (lambda: self.inner.b)() + helper(self)  # noqa: F821

    assert paths(method, "self") == ["self", "self.w", "self.inner.b"]

    def rebound(self, x):
        self = self.inner
        return self.w

    assert paths(rebound, "self") == ["self"]

    def shadowed(self):
        return (lambda self: self.w)(1)

    assert paths(shadowed, "self") == []


def test_what_code_counts_up_itself_is_not_read():
    f = compiled(
        "def f(self, x):\n"
        "    global n\n"
        "    n += 1\n"
        "    state.calls += 1\n"
        "    self.steps += 1\n"
        "    state.done = True\n"
        "    return x * k + state.rate"
    )
    assert paths(f) == ["k", "state.rate"]
    assert paths(f, "self") == []
    assert bytecode_reads.of_code(f.__code__).written == {"n"}


def test_a_nonlocal_counter_is_not_read():
    n, k = 0, 1.0

    def f(x):
        nonlocal n
        n += 1
        return x * k

    assert paths(f) == ["k"]


def test_what_code_assigns_and_reads_elsewhere_is_read():
    f = compiled(
        "def f(self, x, dt):\n"
        "    global n\n"
        "    n = n * 2\n"
        "    self.steps += 1\n"
        "    self.time += dt\n"
        "    self.rate = 2.0 * self.rate\n"
        "    return x * self.steps"
    )
    assert paths(f) == ["n"]
    assert paths(f, "self") == ["self.time", "self.rate", "self.steps"]


def test_what_only_fills_a_container():
    code = compiled("f = lambda: log.append(1) or table.get(1)").__code__
    found = {".".join(path.names): path.fills for path in bytecode_reads.of_code(code).paths}
    assert found == {"log.append": True, "table.get": False}


def test_names_beyond_the_first_256():
    many = "\n".join(f"    y = y + n{i}.value" for i in range(300))
    assert paths(compiled(f"def f(x):\n    y = x\n{many}\n    return y"))[-1] == "n299.value"


def test_modules_that_are_imported_inside():
    found = compiled(
        "def f():\n    import a.b\n    import c as d\n    from e import g, h\n"
        "    from .i import j\n    from . import k\n"
    )
    read = bytecode_reads.of_code(found.__code__).paths
    assert [path.names for path in read if path.root == "import"] == [
        ("a.b",), ("c",), ("e", "g"), ("e", "h"), (".i", "j"), (".", "k"),
    ]  # fmt: skip


def test_super_without_arguments_reads_the_class_and_the_object():
    class Base:
        def method(this, x):
            return super().method(x) + [super().k for _ in x]

    read = bytecode_reads.of_code(Base.method.__code__).paths
    assert bytecode_reads.Path("free", ("__class__",)) in read
    assert bytecode_reads.Path("self", ("this",)) in read


def test_names_and_introspection():
    plain, asking = (compiled(f"def f(o): return {text}") for text in ("[o.a for _ in b]", "getattr(o, 'a')"))
    assert bytecode_reads.of_code(plain.__code__).names == {"a", "b"}
    assert not bytecode_reads.of_code(plain.__code__).introspects
    assert bytecode_reads.of_code(asking.__code__).introspects


def test_questions_after_identity():
    def identifies(text):
        return bytecode_reads.of_code(compiled(f"def f(a, b): return {text}").__code__).identifies

    assert all(map(identifies, ["a is b", "a is not b", "[c is b for c in a]", "id(a)", "copy.deepcopy(a)"]))
    assert not any(map(identifies, ["a is None", "a is not None", "1 if a is None else 2", "a == b", "a in b"]))
    assert not any(map(identifies, ["type(a) is type(b)", "a.__class__ is b.__class__", "type(a) is not type(b.c)"]))
    assert identifies("f(a) is b")
