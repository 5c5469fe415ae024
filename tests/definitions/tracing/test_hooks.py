"""Values that a compiled program hands to functions each time that it has run."""

import gc
from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

pytestmark = pytest.mark.usefixtures("little_garbage")


def text(function, *arguments):
    with pytest.raises(NxTypeError) as caught:
        function(*arguments)
    return str(caught.value).split("\n")


@nx.defn
def twice(t):
    return nx.hook(t * 2, "twice") + 1


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_a_function_gets_the_value_of_each_run(compiler):
    seen = []
    f = nx.jit(twice, hooks={"twice": seen.append}, compiler=compiler)
    assert [float(f(value)) for value in (1.0, 2.0, 3.0)] == [3.0, 5.0, 7.0]
    assert [float(value) for value in seen] == [2.0, 4.0, 6.0]
    assert all(type(value) is nx.Tensor for value in seen)


def test_without_a_function_the_program_has_no_hook():
    f = nx.jit(twice)
    assert float(f(1.0)) == 3.0
    assert repr(nx.debug_expr(f)(1.0)) == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n"
        "  parameter a:0         f32\n  b = multiply a, 2.0   f32\n  c = add b, 1.0        f32\n>"
    )
    program = nx.compile(twice, [1.0]).program
    assert program.convention.hooks == ()
    assert len(program.executable.graph.outputs) == 1
    assert len(nx.compile(twice, [1.0], hooks={"twice": print}).program.executable.graph.outputs) == 2


def test_programs_go_by_names_and_not_by_functions():
    f = nx.jit(lambda t: nx.hook(t * 3, "a") + nx.hook(t * 5, "b"))
    first, second = [], []
    one = nx.jit(f, hooks={"a": first.append})
    assert float(one(1.0)) == 8.0
    with nx.no_compile():
        other = nx.jit(f, hooks={"a": second.append})
        assert float(other(2.0)) == 16.0
    assert ([float(v) for v in first], [float(v) for v in second]) == ([3.0], [6.0])
    assert one.why(1.0).hit
    both = nx.jit(f, hooks={"a": first.append, "b": second.append})
    assert both.why(1.0).difference == ("hooks: a → a, b",)
    both(10.0)
    assert ([float(v) for v in first], [float(v) for v in second]) == ([3.0, 30.0], [6.0, 50.0])


def test_several_hooks_are_called_in_their_order():
    calls = []

    def f(t):
        nx.hook(t, "b")
        nx.hook(t + 1, "a")
        nx.hook(t + 2, "own", lambda value: calls.append(("own", float(value))))
        nx.hook(t + 3, "b")
        return t

    hooks = {name: lambda value, name=name: calls.append((name, float(value))) for name in "ab"}
    nx.jit(f, hooks=hooks)(1.0)
    assert calls == [("b", 1.0), ("a", 2.0), ("own", 3.0), ("b", 4.0)]


def test_a_function_that_is_given_goes_before_the_hooks_own():
    own, given = [], []
    f = nx.jit(lambda t: nx.hook(t, "x", own.append))
    f(1.0)
    f(2.0)
    nx.jit(f, hooks={"x": given.append})(3.0)
    assert ([float(v) for v in own], [float(v) for v in given]) == ([1.0, 2.0], [3.0])


def test_equal_definitions_call_their_own_functions():
    def make():
        seen = []

        def f(t):
            nx.hook(t + 1, "x", lambda value: seen.append(float(value)))
            return t

        return nx.jit(f), seen

    (f, first), (g, second) = make(), make()
    for value in (1.0, 2.0):
        f(value)
    g(3.0)
    f(4.0)
    g(5.0)
    assert (first, second) == ([2.0, 3.0, 5.0], [4.0, 6.0])
    assert f.cache_info().misses == 2
    assert g.why(3.0).hit


def test_hooks_of_a_method_belong_to_its_object():
    class Counter:
        def __init__(self):
            self.total = 0.0

        @nx.defn
        def step(self, t):
            nx.hook(t, "step", self.add)
            return t + 1

        def add(self, value):
            type(self).sums[id(self)] = type(self).sums.get(id(self), 0.0) + float(value)

        sums = {}

    one, other = Counter(), Counter()
    one.step(1.0)
    other.step(10.0)
    one.step(2.0)
    assert (Counter.sums[id(one)], Counter.sums[id(other)]) == (3.0, 10.0)
    gc.collect()


class Pair(NamedTuple):
    left: object
    right: object


def test_containers_and_constants():
    seen = []

    def f(t):
        nx.hook({"pair": Pair(t, 2), "list": [t * 2, (1.5,)]}, "all")
        return t

    nx.jit(f, hooks={"all": seen.append})(nx.tensor([1, 2]))
    [value] = seen
    assert list(value) == ["pair", "list"]
    assert type(value["pair"]) is Pair
    assert value["pair"].left.to_list() == [1, 2]
    assert (value["pair"].right.type, value["pair"].right.to_number()) == ("s64", 2)
    assert value["list"][0].to_list() == [2, 4]
    assert value["list"][1][0].to_number() == 1.5


def test_a_container_without_tensors_is_handed_over_too():
    seen = []
    f = nx.jit(lambda t: (nx.hook((), "nothing"), t + 1)[1], hooks={"nothing": seen.append})
    assert [float(f(1.0)) for _ in range(3)] == [2.0, 2.0, 2.0]
    assert seen == [(), (), ()]


def test_vectorized_values_keep_their_axes():
    seen = []
    f = nx.jit(lambda t: nx.hook(t + 1, "x"), hooks={"x": seen.append})
    f(nx.vectorize(nx.tensor([[1, 2], [3, 4]]), "rows"))
    assert str(seen[0].spec) == "vectorized[rows: 2] s64[2]"


def test_numpy_programs():
    seen = []

    @nx.defn(promotion="numpy", hooks={"x": seen.append})
    def f(x):
        x[0] = 5
        nx.hook(x, "x")
        x[1] = 6
        return x.sum()

    x = np.array([1.0, 2.0])
    assert float(f(x)) == 11.0
    assert seen[0].tolist() == [5.0, 2.0]
    assert x.tolist() == [5.0, 6.0]


def test_in_gradients_it_is_the_value():
    seen = []
    slope = nx.jit(nx.grad(lambda t: nx.hook(t**2, "square") * 3), hooks={"square": seen.append})
    assert float(slope(2.0)) == 12.0
    assert [float(value) for value in seen] == [4.0]


def test_definitions_inside_of_others():
    inner, outer = [], []
    part = nx.jit(twice, hooks={"twice": inner.append}, on_conflict="reuse")
    whole = nx.jit(lambda t: part(t) + part(t + 1))
    assert float(whole(1.0)) == 8.0
    assert [float(value) for value in inner] == [2.0, 4.0]
    nx.jit(whole, hooks={"twice": outer.append})(2.0)
    assert (len(inner), [float(value) for value in outer]) == (2, [4.0, 6.0])


def test_a_part_with_another_function_is_another_program():
    first, second = [], []
    space = {"nx": nx, "part": nx.jit(twice, hooks={"twice": first.append}, on_conflict="reuse")}
    exec("def f(t):\n    return part(t)", space)
    whole = nx.jit(space["f"])
    whole(1.0)
    space["part"] = nx.jit(twice, hooks={"twice": second.append}, on_conflict="reuse")
    whole(2.0)
    assert ([float(v) for v in first], [float(v) for v in second]) == ([2.0], [4.0])


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_a_loop_of_unknown_length_calls_it_in_each_turn(compiler):
    seen = []

    @nx.defn
    def f(x):
        while x > 1:
            x = nx.hook(x / 2, "each")
        return x

    assert float(f(8.0)) == 1.0
    heard = nx.jit(f, hooks={"each": seen.append}, compiler=compiler)
    for _ in range(2):
        seen.clear()
        assert float(heard(8.0)) == 1.0
        assert [(type(value), float(value)) for value in seen] == [(nx.Tensor, 4.0), (nx.Tensor, 2.0), (nx.Tensor, 1.0)]


def test_a_loop_of_known_length_stays_one():
    seen = []

    @nx.defn
    def f(x):
        total = 0.0
        for i in range(3):
            if x[i] > 0:
                total = total + nx.hook(x[i], "each")
        return total

    x = nx.tensor([1.0, -2.0, 3.0])
    assert float(f(x)) == 4.0
    silent = nx.debug_expr(f)(x)
    heard = nx.jit(f, hooks={"each": seen.append})
    assert float(heard(x)) == 4.0
    assert [float(value) for value in seen] == [1.0, 3.0]
    assert nx.events(f, "miss")[-1].notes == ()
    assert repr(nx.debug_expr(heard)(x)).count(" while ") == repr(silent).count(" while ") == 1


def test_where_nobody_listens_loops_and_entries_have_the_same_program():
    @nx.defn
    def f(x):
        for i in range(1000):
            x = nx.hook(x * 0.5 + i, "x")
        return x

    @nx.defn
    def g(x):
        for i in range(1000):
            x = x * 0.5 + i
        return x

    assert repr(nx.debug_expr(f)(1.0)) == repr(nx.debug_expr(g)(1.0))
    rows = nx.tensor([1.0, 2.0])
    assert repr(nx.debug_expr(nx.vmap(f))(rows)) == repr(nx.debug_expr(nx.vmap(g))(rows))


def test_loops_as_functions():
    def all_of_them(x):
        x = nx.fori(0, 2, lambda i, s: nx.hook(s + i, "fori"), x)
        x = nx.while_(lambda s: s < 10, lambda s: nx.hook(s * 2, "while"), x)
        return nx.scan(lambda c, row: (nx.hook(c + row, "scan"), row), x, nx.tensor([1.0, 2.0]))[0]

    calls = []
    hooks = {name: lambda v, name=name: calls.append((name, float(v))) for name in ("fori", "while", "scan")}
    assert float(nx.jit(all_of_them, hooks=hooks)(2.0)) == 15.0
    assert calls == [("fori", 2.0), ("fori", 3.0), ("while", 6.0), ("while", 12.0), ("scan", 13.0), ("scan", 15.0)]


def test_each_entry_of_a_mapped_function_has_its_value():
    seen = []
    mapped = nx.vmap(lambda t: nx.hook({"t": t + 1}, "each")["t"])
    heard = nx.jit(mapped, hooks={"each": seen.append})
    assert heard(nx.tensor([1, 2])).to_list() == [2, 3]
    assert [(value["t"].spec, int(value["t"])) for value in seen] == [(nx.tensor(2).spec, 2), (nx.tensor(3).spec, 3)]
    seen.clear()
    square = nx.vmap(nx.vmap(lambda t: nx.hook({"t": t * t}, "each")["t"], in_axes=1), in_axes=None)
    with pytest.raises(nx.errors.NxValueError, match="no argument has an axis of entries"):
        square(nx.tensor([[1, 2], [3, 4]]))
    nx.jit(nx.vmap(nx.vmap(lambda t: nx.hook({"t": t * t}, "each"))), hooks={"each": seen.append})(nx.iota((2, 2)))
    assert [int(value["t"]) for value in seen] == [0, 1, 4, 9]


def test_entries_that_leave_a_loop_or_branch_are_silent():
    @nx.defn
    def f(x):
        while x < 4:
            if x > 1:
                nx.hook(x, "between")
            x = nx.hook(x + 1, "next")
        nx.hook(x, "last")
        return x

    starts, calls, alone = [0.5, 3.0, 9.0, 2.5], [], []
    hooks = {name: lambda v, name=name: calls.append((name, float(v))) for name in ("between", "next", "last")}
    nx.jit(nx.vmap(f), hooks=hooks)(nx.tensor(starts))
    for turn in range(4):
        # Turn by turn, and in each of them place by place, the entries that are there.
        now = [start + turn for start in starts if start + turn < 4]
        alone += [("between", x) for x in now if x > 1] + [("next", x + 1) for x in now]
    assert calls == [*alone, *[("last", x) for x in (4.5, 4.0, 9.0, 4.5)]]


def test_what_is_the_same_for_all_entries_is_called_once():
    calls = []

    @nx.defn
    def f(x):
        for i in range(2):
            nx.hook(i, "turn")
            if x > 1:
                nx.hook(i, "large")
        return x

    hooks = {name: lambda v, name=name: calls.append((name, int(v))) for name in ("turn", "large")}
    nx.jit(nx.vmap(f), hooks=hooks)(nx.tensor([0.0, 2.0, 3.0]))
    assert calls == [("turn", 0), ("large", 0), ("large", 0), ("turn", 1), ("large", 1), ("large", 1)]


def test_without_entries_there_is_nothing_to_call():
    seen = []

    @nx.defn(hooks={"x": seen.append})
    def f(x):
        while x < 3:
            x = nx.hook(x + 1, "x")
            nx.check(x < 9, "never")
        return x

    assert nx.vmap(f)(nx.tensor(np.zeros(0, "f4"))).shape == (0,)
    assert nx.vmap(nx.vmap(f))(nx.tensor(np.zeros((2, 0), "f4"))).shape == (2, 0)
    assert seen == []


def test_gradients_of_loops_call_it_once_for_each_turn():
    @nx.defn
    def f(x):
        nx.hook(x, "first")
        for i in range(3):
            x = x * nx.hook(x + i, "in")
        return nx.hook(x, "last")

    calls, without = [], []
    hooks = {name: lambda v, name=name: calls.append((name, float(v))) for name in ("first", "in", "last")}
    nx.jit(f, hooks=hooks)(1.5)
    calls, without = without, calls
    for made in (nx.grad(f), nx.grad(nx.checkpoint(f)), nx.hessian(f), nx.jacobian(f)):
        without.clear()
        calls = without
        assert float(nx.jit(made, hooks=hooks)(1.5)) == pytest.approx(float(made(1.5)))
        assert [name for name, _ in without] == ["first", "in", "in", "in", "last"]
    assert [value for name, value in without if name == "in"] == [1.5, 3.25, 9.3125]


def test_values_keep_names_and_memory_of_their_own():
    seen = []

    @nx.defn(hooks={"row": seen.append})
    def f(x):
        for _ in range(3):
            x = nx.hook(x * 2, "row")
        return x

    f(nx.tensor([1, 2], names=["n"]))
    assert [value.to_list() for value in seen] == [[2, 4], [4, 8], [8, 16]]
    assert {value.names for value in seen} == {("n",)}
    seen.clear()
    nx.jit(f, hooks={"row": seen.append}, promotion="numpy")(np.array([1.0, 2.0]))
    assert (type(seen[0]), seen[0].tolist()) == (np.ndarray, [2.0, 4.0])


def test_a_loop_of_known_length_with_a_hook_of_its_own_belongs_to_its_function():
    def make():
        seen = []

        def f(t):
            return nx.fori(0, 2, lambda i, s: nx.hook(s + 1, "x", lambda value: seen.append(float(value))), t)

        return nx.jit(f), seen

    (f, first), (g, second) = make(), make()
    f(1.0)
    g(5.0)
    f(2.0)
    assert (first, second) == ([2.0, 3.0, 3.0, 4.0], [6.0, 7.0])


def test_an_error_in_a_loop_names_its_hook_and_ends_the_program():
    seen = []

    def some(value):
        seen.append(float(value))
        if value > 3:
            raise ValueError("enough")

    @nx.defn
    def f(x):
        while x < 1000:
            x = nx.hook(x + 1, "x")
        return x

    heard = nx.jit(f, hooks={"x": some})
    for _ in range(2):
        with pytest.raises(ValueError, match="enough") as caught:
            heard(1.0)
        assert caught.value.__notes__ == ["Raised by the hook 'x' of f(x: f32)."]
    assert seen == [2.0, 3.0, 4.0] * 2


def test_a_hook_may_call_definitions_with_hooks_in_loops():
    inner, outer = [], []

    @nx.defn(hooks={"in": lambda v: inner.append(float(v))})
    def part(x):
        for _ in range(2):
            x = nx.hook(x * 10, "in")
        return x

    @nx.defn(hooks={"out": lambda v: outer.append(float(part(v)))})
    def whole(x):
        for _ in range(2):
            x = nx.hook(x + 1, "out")
        return x

    whole(0.0)
    assert (inner, outer) == ([10.0, 100.0, 20.0, 200.0], [100.0, 200.0])


def test_what_is_run_to_be_measured_calls_no_hook():
    seen = []

    @nx.defn(hooks={"x": seen.append}, compiler="numba_cpu")
    def f(x):
        for _ in range(3):
            x = nx.hook(x * 2, "x")
        return x

    f.measure(1.0)
    assert seen == []


def test_where_no_program_runs_it():
    told = text(nx.jit(lambda x: nx.reduce(x, 0.0, lambda a, b: nx.hook(a + b, "x", print))), nx.tensor([1.0, 2.0]))
    assert told[0] == (
        "the hook 'x' cannot be called in what is traced on its own, such as the function of nx.reduce or the gradient "
        "of nx.custom_grad."
    )
    assert told[-1] == "  Return the values from the definition, and call the hook there."
    assert text(nx.fori, 0, 3, lambda i, x: nx.print_value(x), 1.0) == [
        "values cannot be printed in a loop or branch of nx that runs outside of a definition.",
        "  Call it in a function with @nx.jit.",
    ]


@nx.defn
def branching(x):
    nx.hook(x, "before")
    if x > 0:
        x = nx.hook(x * 2, "positive")
        if x > 10:
            nx.hook({"x": x, "pair": (nx.stack([x, 1]), 2)}, "large")
    else:
        x = nx.hook(x - 1, "negative")
    nx.hook(x, "after")
    return x


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_in_a_branch_it_is_called_where_that_is_taken(compiler):
    calls = []
    names = ("before", "positive", "large", "negative", "after")
    hooks = {name: lambda value, name=name: calls.append((name, value)) for name in names}
    f = nx.jit(branching, hooks=hooks, compiler=compiler)
    told = []
    for x in (2.0, -1.0, 7.0):
        calls.clear()
        f(x)
        told.append([(name, float(value)) for name, value in calls if name != "large"])
    assert told == [
        [("before", 2.0), ("positive", 4.0), ("after", 4.0)],
        [("before", -1.0), ("negative", -2.0), ("after", -2.0)],
        [("before", 7.0), ("positive", 14.0), ("after", 14.0)],
    ]
    [large] = [value for name, value in calls if name == "large"]
    assert [name for name, _ in calls] == ["before", "positive", "large", "after"]
    assert (float(large["x"]), large["pair"][0].to_list(), int(large["pair"][1])) == (14.0, [14.0, 1.0], 2)


def test_what_is_printed_in_a_branch_is_printed_where_that_is_taken(capsys):
    @nx.defn
    def f(x):
        if x > 0:
            nx.print_value(x, "x")
        else:
            print("negative", x)
        return x

    @nx.defn(promotion="numpy")
    def g(x):
        if x[0] > 0:
            x[1] = 7
            print("first", x[0], "all", x)
        return x.sum()

    f(1.0)
    f(-2.0)
    assert capsys.readouterr().out == "x: Tensor(1.0, f32)\nnegative -2.0\n"
    for first in (1.0, -1.0):
        g(np.array([first, 2.0]))
    assert capsys.readouterr().out == "first 1.0 all [1. 7.]\n"


def test_branches_with_hooks_have_gradients_and_cond_has_them_too():
    seen = []

    def f(x):
        return nx.cond(x > 0, lambda: nx.hook(x**3, "cube"), lambda: x)

    slope = nx.jit(nx.grad(f), hooks={"cube": seen.append})
    assert (float(slope(2.0)), float(slope(-2.0))) == (12.0, 1.0)
    assert [float(value) for value in seen] == [8.0]


def test_in_a_loop_that_is_written_out():
    seen = []

    @nx.defn(hooks={"each": seen.append})
    def f(x):
        for i in nx.unroll(range(3)):
            nx.hook(x[i], "each")
        return x

    f(nx.tensor([1, 2, 3]))
    assert [int(value) for value in seen] == [1, 2, 3]


def test_an_error_names_its_hook():
    def fail(value):
        raise ValueError(f"no {float(value)}")

    after = []
    f = nx.jit(lambda t: (nx.hook(t, "bad"), nx.hook(t, "good")), hooks={"bad": fail, "good": after.append})
    for _ in range(2):
        with pytest.raises(ValueError, match=r"no 2\.0") as caught:
            f(2.0)
        assert caught.value.__notes__ == ["Raised by the hook 'bad' of <lambda>(t: f32)."]
    assert after == []
    assert nx.events(f, "error")[-1].reason == ("ValueError: no 2.0",)


def test_hooks_of_compiled_functions():
    seen = []
    f = nx.compile(twice, [nx.template((2,), "f32")], hooks={"twice": seen.append})
    f(nx.tensor([1.0, 2.0]))
    assert seen[0].to_list() == [2.0, 4.0]


def test_outside_of_definitions_it_is_called_at_once():
    seen = []
    tensor = nx.tensor([1, 2])
    assert nx.hook(tensor, "x") is tensor
    assert nx.hook(tensor, "x", seen.append) is tensor
    assert nx.hook((1.5, tensor), "x", seen.append) == (1.5, tensor)
    assert seen[0] is tensor
    assert float(seen[1][0]) == 1.5


def test_a_name_that_no_hook_has_is_told():
    f = nx.jit(twice, hooks={"twcie": print})
    f(nx.tensor([[1.0]]))
    assert nx.events(f, "miss")[-1].notes == ("no hook is named 'twcie'; there is 'twice'",)
    g = nx.jit(lambda t: t + 77, hooks={"x": print})
    g(1.0)
    assert nx.events(g, "miss")[-1].notes == ("no hook is named 'x'; there is none",)


def test_what_is_no_hook():
    assert text(lambda: nx.jit(twice, hooks=print)) == [
        "hooks are functions in a dict, by their names, got a builtin_function_or_method.",
        '  Write {"name": fun}.',
    ]
    assert text(lambda: nx.jit(twice, hooks={1: print})) == [
        "the name of a hook is a str, got 1.",
        '  Write {"name": fun}.',
    ]
    assert text(lambda: nx.jit(twice, hooks={"twice": 3})) == [
        "the hook 'twice' is no function: 3.",
        "  Leave it out to switch it off.",
    ]
    assert text(nx.hook, 1.0, print)[1] == '  Write nx.hook(tensor, "name", fun).'
    assert text(nx.hook, 1.0, "x", 3)[0] == "the hook 'x' takes a function, got 3."
    assert text(nx.jit(lambda t: nx.hook(None, "x", print)), 1.0)[0] == ("hook returns no tensor: the value is None.")
