"""Random functions for NumPy, as text: nested choices, loops and jumps, and arrays that are assigned into.

Their numbers are exact: floats stay multiples of a quarter no larger than eight, whole numbers below 17. So what NumPy
gives for them is what every compiler has to give, bit by bit.
"""

import contextlib
import hashlib
import linecache

import numpy as np

import nxkernel as nx

TYPES = ("f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
SHAPES = ((3,), (5,), (), (1,), (0,), (17,), (70,), (2, 3), (3, 1), (0, 4), (4, 4), (2, 3, 4), (6, 20))

HEAD = '''\
import numpy as np


def part(v):
    return np.minimum(np.maximum(np.floor(v * 4) / 4, -8), 8)


def kept(v, like):
    """A value as an array of the type and shape of another one, with small numbers."""
    kind = like.dtype.kind
    if kind == "c":
        v = part(np.real(v)) + 1j * part(np.imag(v))
    elif kind == "f":
        v = part(np.real(v))
    else:
        v = np.real(v) % 17
    return np.array(np.broadcast_to(v, like.shape)).astype(like.dtype)


'''
RETURN = "return x, y, t, u, a, b"


class Writer:
    """Writes a function of an array `x`, one `y` of another type and shape, and two whole numbers.

    Parameters
    ----------
    choose : Choices
    x, y : ndarray
    """

    def __init__(self, choose, x, y):
        self.choose, self.x, self.y = choose, x, y
        self.lines = ["def f(x, y, a, b):", "    t = x.copy()", "    u = y.copy()"]
        self.loops = 0
        self.block(1, False)
        self.add(1, RETURN)
        self.text = HEAD + "\n".join(self.lines) + "\n"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def block(self, depth, inside):
        for _ in range(self.choose.integer(1, 3 if depth == 1 else 2)):
            self.statement(depth, inside)
        if depth > 1 and self.choose.chance(30):
            jump = self.choose.pick(["break", "continue", "return"]) if inside else "return"
            self.add(depth, RETURN if jump == "return" else jump)

    def statement(self, depth, inside):
        kinds = [self.assign, self.assign, self.place, self.place, self.number]
        if depth < 4 and len(self.lines) < 12:
            kinds += [self.choice, self.choice, self.turns, self.while_]
        self.choose.pick(kinds)(depth, inside)

    # Statements --------------------------------------------------------------------------------------------------

    def assign(self, depth, inside):
        name = self.choose.pick("ttxyu")
        place = "" if name == "t" else "[...]"
        self.add(depth, f"{name}{place} = kept({self.value(name)}, {name})")

    def number(self, depth, inside):
        name = self.choose.pick("ab")
        value = self.choose.pick(["a + 1", "b - a", "a * 2 % 7", "b + 2", "3", "a if a > b else b"])
        self.add(depth, f"{name} = {value}")

    def place(self, depth, inside):
        name = self.choose.pick("xyu")
        array = self.array(name)
        parts = ["...", f"{name} > 1" if array.dtype.kind != "c" else f"np.real({name}) > 1"]
        if array.ndim:
            parts += ["1:", "::2", "::-1", "..., -1:"]
        if array.ndim and array.shape[0]:
            n = array.shape[0]
            parts += ["0", f"a % {n}", f"np.array([0, {n // 2}])", f"[b % {n}, 0]"]
        key = self.choose.pick(parts)
        how = self.choose.pick(["number", "element", "itself", "twice"])
        if how == "twice":
            self.add(depth, f"{name}[{key}] += {name}[{key}]")
        elif how == "element":
            self.add(depth, f"{name}[{key}] = {self.element(name)}")
        elif how == "itself":
            self.add(depth, f"{name}[{key}] = kept({name} * 2 + 1, {name})[{key}]")
        else:
            self.add(depth, f"{name}[{key}] = {self.choose.pick([0, 1, 3])}")

    def choice(self, depth, inside):
        self.add(depth, f"if {self.condition()}:")
        self.block(depth + 1, inside)
        if self.choose.chance(30):
            self.add(depth, f"elif {self.condition()}:")
            self.block(depth + 1, inside)
        if self.choose.chance(50):
            self.add(depth, "else:")
            self.block(depth + 1, inside)

    def turns(self, depth, inside):
        self.loops += 1
        end = self.choose.pick(["0", "1", "3", "a % 4", "2"])
        self.add(depth, f"for i{self.loops} in range({end}):")
        self.body(depth)

    def while_(self, depth, inside):
        self.loops += 1
        counter = f"k{self.loops}"
        self.add(depth, f"{counter} = {self.choose.integer(0, 3)}")
        more = self.choose.pick(["", f" and ({self.condition()})"])
        self.add(depth, f"while {counter} > 0{more}:")
        self.add(depth + 1, f"{counter} -= 1")
        self.body(depth)

    def body(self, depth):
        self.block(depth + 1, True)
        if self.choose.chance(20):
            self.add(depth, "else:")
            self.block(depth + 1, False)

    # Expressions -------------------------------------------------------------------------------------------------

    def array(self, name):
        return self.y if name in "yu" else self.x

    def value(self, name):
        """Something that can be broadcast to the shape of a variable."""
        other = self.choose.pick([n for n in "txyu" if _fits(self.array(n).shape, self.array(name).shape)])
        array = self.array(other)
        simple = [f"{other} + {name}", f"{name} - {other}", f"{name} * {other}", f"-{other}", f"{other} + a", other,
                  f"np.where({name} == {other}, {name}, {other} * 2)", f"np.sum({other})", f"{other}.T + 1",
                  f"{name} * 0.5"]  # fmt: skip
        if array.ndim:
            simple += [f"np.flip({other})", f"np.sum({other}, axis=-1, keepdims=True)", f"np.roll({other}, 1)"]
        if array.ndim and array.size:
            simple += [f"{other}[..., :1]", f"np.repeat({other}[:1], {array.shape[0]}, axis=0)"]
        if array.ndim and array.dtype.kind != "c":
            simple += [f"np.sort({other})", f"np.cumsum({other} % 2, axis=0)"]
        if array.dtype.kind != "c" and self.array(name).dtype.kind != "c":
            simple += [f"np.maximum({name}, {other})", f"np.abs({other}) - 1", f"({other} > {name})"]
        choice = self.choose.pick(simple)
        if ".T" in choice and array.T.shape != array.shape:
            return f"{other} + 1"
        return choice

    def element(self, name):
        same = [n for n in "txyu" if self.array(n).dtype == self.array(name).dtype and self.array(n).size]
        if not same:
            return "2"
        other = self.choose.pick(same)
        return f"{other}[{', '.join(['0'] * self.array(other).ndim)}]" if self.array(other).ndim else f"{other}[()]"

    def condition(self):
        options = ["a > b", "b < 4", "a % 3 == 0", "0 < a < b", "a > 2 or b > 5", "not a % 2"]
        for name in "xytu":
            options.append(f"np.sum(np.real({name})) > 3")
            if self.array(name).ndim == 1 and self.array(name).size:
                options.append(f"np.real({name}[0]) > a")
        return self.choose.pick(options)


def _fits(shape, target):
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape[::-1], target[::-1], strict=False))


@contextlib.contextmanager
def written(text):
    """The function `f` of a text, while its lines can be found."""
    file = f"random-{hashlib.sha256(text.encode()).hexdigest()[:16]}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        space = {}
        exec(compile(text, file, "exec"), space)
        yield space["f"]
    finally:
        del linecache.cache[file]


class Definition:
    """A random function, run by NumPy, by the evaluator and by numba_cpu.

    Parameters
    ----------
    choose : Choices
    """

    def __init__(self, choose):
        shape = choose.pick(SHAPES)
        other = choose.pick([shape, *(s for s in SHAPES if _fits(s, shape))])
        self.arrays = [self._array(choose, shape), self._array(choose, other)]
        self.numbers = [(np.int64(choose.integer(0, 4)), np.int64(choose.integer(-1, 6))) for _ in range(2)]
        self.text = Writer(choose, *self.arrays).text

    def _array(self, choose, shape):
        type_ = np.dtype(choose.pick(TYPES))
        rng = choose.rng()
        if type_.kind in "iu":
            return np.asarray(rng.integers(0, 17, shape)).astype(type_)
        made = rng.integers(-32, 33, shape) / 4
        return np.asarray(made + 1j * rng.integers(-32, 33, shape) / 4 if type_.kind == "c" else made).astype(type_)

    def __str__(self):
        return f"{self.text}\nx = {self.arrays[0]!r}\ny = {self.arrays[1]!r}\na, b = {self.numbers}"

    def check(self):
        with written(self.text) as function:
            definitions = [nx.defn(function, compiler=name) for name in ("evaluator", "numba_cpu")]
            for numbers in self.numbers:
                wanted = self.run(function, numbers)
                for definition in definitions:
                    _same(self.run(definition, numbers), wanted)

    def run(self, function, numbers):
        """The results, and what is in the arguments then."""
        given = [array.copy() for array in self.arrays]
        with np.errstate(all="ignore"):
            results = function(*given, *numbers)
        return [*map(np.asarray, results), *given]


def _same(found, wanted):
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got, want)
