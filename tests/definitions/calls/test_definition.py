"""What a definition is: its identity, its arguments, its methods, its errors, and its calls from several threads."""

import functools
import inspect
import threading

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.public_functions import OF_TENSORS, arguments, is_dynamic
from nxkernel import passes
from nxkernel.definitions.calls.graph_cache import CacheInfo
from nxkernel.errors import CompilationError, ManyArgumentsWarning, NxTypeError, NxValueError, TracedValueError
from nxkernel.transforms.simplify import simplify

ONE = np.ones(3, np.float32)


def value(tensor):
    """A result as Python numbers."""
    return tensor.tolist()


SOURCE = """
@nx.defn
def double(t, *, by=2.0):
    return t * by
"""


def test_a_cell_that_is_run_again_unchanged_is_a_hit(run, misses):
    first = run(SOURCE, file="one.py")["double"]
    assert value(first(ONE)) == [2.0, 2.0, 2.0]
    again = run("\n\n# a comment\n" + SOURCE, file="two.py")["double"]
    with nx.no_compile():
        assert value(again(ONE)) == [2.0, 2.0, 2.0]
    assert again.cache_info().hits == 1
    assert misses() == [("first call",)]


def test_a_changed_body_is_new(run, misses):
    run(SOURCE)["double"](ONE)
    changed = run(SOURCE.replace("t * by", "t * by + 1"))["double"]
    assert value(changed(ONE)) == [3.0, 3.0, 3.0]
    assert misses() == [("first call",), ("first call since its code changed",)]
    back = run(SOURCE)["double"]
    with nx.no_compile():
        assert value(back(ONE)) == [2.0, 2.0, 2.0]


def test_a_changed_default_of_an_option_is_a_difference_of_the_option(run, misses):
    run(SOURCE)["double"](ONE)
    changed = run(SOURCE.replace("2.0", "3.0"))["double"]
    assert value(changed(ONE)) == [3.0, 3.0, 3.0]
    assert misses()[-1] == ("option by: 2.0 → 3.0",)


def test_equal_code_of_other_wrappers_is_told_apart():
    def scaled(factor):
        def wrap(function):
            @functools.wraps(function)
            def wrapper(t):
                return function(t) * factor

            return wrapper

        return wrap

    def identity(t):
        return t

    assert value(nx.jit(scaled(2.0)(identity))(ONE)) == [2.0] * 3
    assert value(nx.jit(scaled(3.0)(identity))(ONE)) == [3.0] * 3


def test_lambdas_of_a_factory_have_their_own_variables():
    def times(factor):
        return nx.jit(lambda t: t * factor)

    two, three = times(2.0), times(3.0)
    assert [value(two(1.0)), value(three(1.0)), value(two(1.0))] == [2.0, 3.0, 2.0]
    with nx.no_compile():
        assert value(times(3.0)(1.0)) == 3.0


def test_recursion_over_an_option(run):
    f = run("@nx.defn\ndef power(t, *, n):\n    return t if n == 1 else t * power(t, n=n - 1)")["power"]
    assert value(f(2.0, n=5)) == 32.0


def test_recursion_without_end(run):
    f = run("@nx.defn\ndef f(t):\n    return g(t) + 1\n\ndef g(t):\n    return f(t)")["f"]
    with pytest.raises(CompilationError) as raised:
        f(1.0)
    assert str(raised.value) == (
        "f calls itself without end while it is traced, or deeper than Python's limit of 1000 calls.\n"
        "  cell.py, line 3:  return g(t) + 1\n"
        "  What ends a recursion must be known then: an option that counts down, not a tensor.\n"
        "  Else write a loop: `while` or `for`, with what changes from call to call as variables.\n"
        "  If it ends as it is, sys.setrecursionlimit(4000) before the call makes room."
    )
    assert value(nx.jit(lambda t: t + 1)(1.0)) == 2.0


# Arguments ---------------------------------------------------------------------------------------------------------


@nx.defn
def add(a, b=2.0, *, scale=1.0):
    """Add and scale."""
    return (a + b) * scale


def error(kind, function, *args, **opts):
    with pytest.raises(kind) as raised:
        function(*args, **opts)
    return str(raised.value)


def test_positional_arguments_by_name_and_by_default():
    assert value(add(1.0)) == 3.0
    assert value(add(1.0, b=3.0)) == 4.0
    assert value(add(b=3.0, a=2.0, scale=2.0)) == 10.0
    assert add.cache_info().misses == 2


def test_none_as_a_default_is_left_to_the_function():
    @nx.defn
    def scaled(t, by=None, more=1.0):
        return t * 2 + more if by is None else t * by + more

    assert [value(scaled(2.0)), value(scaled(2.0, 3.0)), value(scaled(2.0, by=3.0))] == [5.0, 7.0, 7.0]
    assert [value(scaled(2.0, more=2.0)), value(scaled(2.0))] == [6.0, 5.0]
    assert value(nx.jit(lambda t: scaled(t, more=2.0) + scaled(t))(2.0)) == 11.0
    assert scaled.why(1.0, more=nx.template((2,), "f32")).difference[0].startswith("argument more: f32")
    with nx.no_compile():
        assert [value(scaled(2.0, None)), value(scaled(2.0, by=None, more=2.0))] == [5.0, 6.0]
    assert scaled.cache_info().misses == 2


def test_text_as_a_default_is_left_to_the_function():
    line = np.arange(4.0)
    assert nx.jit(nx.searchsorted)(line, np.array([0.5, 2.0])).to_list() == [1, 2]

    @nx.defn(promotion="nx")
    def scaled(t, by="twice", more=1.0):
        return t * {"twice": 2, "thrice": 3}[by] + more

    assert [value(scaled(2.0)), value(scaled(2.0, more=0.0)), value(scaled(2.0, "thrice"))] == [5.0, 4.0, 7.0]

    @nx.defn(promotion="nx")
    def ended(t, more=1.0, by="twice"):
        return t * {"twice": 2, "thrice": 3}[by] + more

    assert [value(ended(2.0)), value(ended(2.0, 3.0)), value(ended(2.0, more=0.0))] == [5.0, 7.0, 4.0]
    assert value(nx.jit(lambda t: ended(t) + ended(t, 2.0))(2.0)) == 11.0
    assert value(ended(2.0, 1.0, "thrice")) == 7.0


#: What needs the data of an array itself.
OF_DATA = {"from_dlpack"}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", sorted(filter(is_dynamic, OF_TENSORS.keys() - OF_DATA)))
def test_a_public_function_is_compiled_as_it_is(name):
    given, options = arguments(name)
    found = nx.jit(OF_TENSORS[name], compiler="evaluator")(*given, **options)
    expected = OF_TENSORS[name](*given, **options)
    together = [found, expected] if isinstance(expected, tuple | list) else [[found], [expected]]
    for one, other in zip(*together, strict=True):
        assert (one.type, one.shape, one.names) == (other.type, other.shape, other.names)
        np.testing.assert_array_equal(nx.devectorize(one), nx.devectorize(other))


@pytest.mark.parametrize(
    ("number", "type_", "shown"),
    [(1, "s64", 1), (1.5, "f32", 1.5), (True, "bool", True), (1j, "c64", 1j)],
)
def test_numbers_become_tensors_at_the_call(number, type_, shown):
    f = nx.jit(lambda t: t)
    for _ in range(2):
        assert (f(number).type, value(f(number))) == (type_, shown)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e300, -0.0])
def test_nan_and_infinities_pass_through(compiler, number):
    f = nx.jit(lambda t: t * 2.0 - t, compiler=compiler)
    with np.errstate(all="ignore"):
        rounded = np.float32(number)
        expected = rounded * 2 - rounded
    for argument in (number, rounded):
        for _ in range(2):
            np.testing.assert_array_equal(np.asarray(f(argument)), expected)
    array = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    made = nx.jit(lambda t: -t, compiler=compiler)(array)
    np.testing.assert_array_equal(made, -array)
    assert not np.signbit(made[3])


def test_objects_are_no_arguments():
    assert error(NxTypeError, add, object()) == (
        "add() takes tensors or numbers as positional arguments, got an object for 'a'.\n"
        "  Python values go in as options: declare them after `*`, as in `def add(*, a)`, and call add(a=…)."
    )


def test_a_lambda_is_told_how_it_declares_an_option():
    assert error(NxTypeError, nx.jit(lambda x, kind: x), 1.0, object()) == (
        "<lambda>() takes tensors or numbers as positional arguments, got an object for 'kind'.\n"
        "  Python values go in as options: declare them after `*`, as in `lambda *, kind: …`, and call it with kind=…."
    )


def test_static_values_are_not_computed_with():
    for given in ("relu", None):
        assert error(NxTypeError, add, given).startswith(
            f"expected a tensor, an array or a number for 'left', got {given!r}"
        )
    twice = nx.defn(lambda t: t * 2)
    with pytest.raises(TypeError, match="'NoneType' and 'int'") as raised:
        twice(None)
    assert raised.value.__notes__ == ["  t is None, a static argument: to compute with it, pass an array or a number."]


def test_python_values_in_containers_are_no_arguments():
    assert error(NxTypeError, add, {"w": [1.0, {2}]}) == (
        "add() takes tensors or numbers as positional arguments, got a set for \"a['w'][1]\".\n"
        "  A container holds tensors and numbers; Python values are arguments of their own, or options, after `*`."
    )


def test_the_number_of_arguments():
    call = "add(a, b=2.0, *, scale=1.0)"
    assert error(NxTypeError, add, 1, 2, 3) == (
        f"{call} takes 2 positional arguments, got 3.\n  Options go by keyword."
    )
    assert error(NxTypeError, add, b=2.0) == (f"{call} needs the argument 'a'.\n  It was given 0 positional arguments.")
    assert error(NxTypeError, nx.jit(lambda t: t), 1, 2) == ("<lambda>(t) takes 1 positional argument, got 2.")


def test_arrays_that_hold_no_numbers():
    assert error(NxTypeError, add, np.array(["a"])) == (
        'an array of dtype <U1 is no tensor (argument a).\n  x.astype("float64") reads numbers out of text.'
    )
    assert error(NxValueError, add, (1, 2**63)) == (
        "the integer 9223372036854775808 does not fit into 64 bits (argument a[1]).\n  Write it as a float."
    )


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.arange(12, dtype=np.float32)[::2],
        np.arange(6, dtype=">f4"),
        np.arange(6, dtype=np.float32)[::-1],
        np.frombuffer(b"\0" + np.arange(6, dtype=np.float32).tobytes(), np.float32, offset=1),
        np.zeros((0, 3), np.float32),
        np.float32(3),
    ],
)
def test_arrays_of_any_layout(compiler, array):
    f = nx.jit(lambda t: t * 2, compiler=compiler)
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(f(array)), np.asarray(array) * 2)
        assert f(array).dtype == np.float32


def test_names_of_axes_are_part_of_the_key(misses):
    f = nx.jit(lambda t: t + 1)
    assert f(nx.tensor([1.0], names=["x"])).names == ("x",)
    assert f(nx.tensor([1.0], names=["y"])).names == ("y",)
    assert f(nx.tensor([1.0])).names == (None,)
    assert misses()[1] == ("argument t: f32[x: 1] → f32[y: 1]",)


STATIC = """
A static whole number (a shape, an axis, range()) asks for the data of a traced value of type s64.
  cell.py, line 3:  return {code}
  While a definition is traced its tensors have a type and a shape but no data yet.
  Make it an option: declare it after `*`, as in def f(x, *, n), and call f(x, n=3).
"""


@pytest.mark.parametrize(
    "code",
    ["nx.reshape(nx.iota((3,)), (n,))", "nx.sum(nx.iota((3,)), axes=[n])", "nx.add(*range(n))", "nx.iota((n, 2))"],
)
def test_a_tensor_where_a_static_number_is_needed(run, code):
    f = run(f"@nx.defn\ndef f(n):\n    return {code}")["f"]
    assert error(TracedValueError, f, np.int64(3)) == STATIC.strip().format(code=code)


@pytest.mark.parametrize(
    ("code", "asked", "instead"),
    [
        ("float(t)", "float()", 'Keep it a tensor: nx.as_type(t, "f64") converts its type.'),
        ("int(t)", "int()", 'Keep it a tensor: nx.as_type(t, "s64") converts its type.'),
        (
            "1.0 if t else 2.0",
            "A condition (`if`, `while`, `and`, `or`, `not`, bool())",
            "Write nx.select(condition, a, b), or make the condition an option: def f(x, *, flag=True).\n"
            "  `if` and `while` of traced values are part of the program in a function with @nx.defn.",
        ),
        ("t.to_numpy()", ".to_numpy()", "Return the tensor from the definition and read its data there."),
        ("t.tobytes()", ".tobytes()", "Return the tensor from the definition and read its data there."),
    ],
)
def test_a_traced_value_has_no_data(run, code, asked, instead):
    f = run(f"@nx.jit\ndef f(t):\n    return {code}")["f"]
    assert error(TracedValueError, f, 1.0) == (
        f"{asked} asks for the data of a traced value of type f32.\n"
        f"  cell.py, line 3:  return {code}\n"
        "  While a definition is traced its tensors have a type and a shape but no data yet.\n"
        f"  {instead}"
    )


def test_a_traced_value_that_got_away():
    box = []
    nx.jit(lambda t: box.append(t) or t + 1)(1.0)
    assert error(NxTypeError, add, box[0]) == (
        "add got a traced value for 'a' outside of any trace.\n"
        "  A traced value lives only while its definition is traced; return it from there."
    )


# What a definition tells -------------------------------------------------------------------------------------------


def test_a_definition_looks_like_its_function():
    assert (add.__name__, add.__doc__, add.__module__) == ("add", "Add and scale.", __name__)
    assert repr(add) == "<definition add(a, b=2.0, *, scale=1.0), the rules of what it is called with>"
    assert inspect.signature(add) == inspect.signature(add.__nx_function__)
    assert repr(nx.jit(functools.partial(add.__nx_function__, 1.0))) == (
        "<definition add(b=2.0, *, scale=1.0), the rules of what it is called with>"
    )


def test_cache_info_counts_every_call():
    f = nx.jit(lambda t, *, n=1: t * n)
    for _ in range(3):
        f(1.0)
        f(np.ones(2))
        f(1.0, n=2)
    assert f.cache_info() == CacheInfo(hits=6, misses=3, compiled=0, memory=0, disk=0, entries=3)


# Threads -----------------------------------------------------------------------------------------------------------


def together(work, count=10):
    """Run `work(place)` in threads that begin at once; what they gave, or raised."""
    barrier, results = threading.Barrier(count), [None] * count

    def body(place):
        barrier.wait()
        try:
            results[place] = work(place)
        except Exception as raised:
            results[place] = raised

    threads = [threading.Thread(target=body, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_ten_threads_call_a_new_function(compiler):
    traces = []

    def f(t):
        traces.append(1)
        return nx.sum(nx.exp(t)) * 2

    f = nx.jit(f, compiler=compiler)
    results = together(lambda place: value(f(np.full(3, place, np.float32))))
    assert results == pytest.approx([6 * np.exp(place) for place in range(10)], rel=1e-5)
    assert traces == [1]
    assert (f.cache_info().misses, f.cache_info().hits) == (1, 9)


def test_ten_threads_call_with_shapes_of_their_own():
    f = nx.jit(lambda t: nx.sum(t))
    assert together(lambda place: [value(f(np.ones(place % 3 + 1))) for _ in range(5)]) == [
        [float(place % 3 + 1)] * 5 for place in range(10)
    ]
    assert f.cache_info().misses == 3


def test_threads_call_while_another_redefines(run):
    space = run("def helper(t):\n    return t * rate\nrate = 1.0\nf = nx.jit(lambda t: helper(t) + helper(t))")
    f, done = space["f"], threading.Event()

    def work(place):
        if place == 0:
            for rate in range(2, 30):
                run(f"rate = {float(rate)}\ndef helper(t):\n    return t * rate", space)
                f(1.0)
            done.set()
            return []
        found = []
        while not done.is_set():
            found.append(value(f(1.0)))
        return found

    for found in together(work)[1:]:
        # Names are read one after the other: a call may meet a change between two, but never a value that never was.
        assert all(2.0 <= result <= 58.0 and result == int(result) for result in found)
    assert value(f(1.0)) == 58.0


def test_a_hit_does_not_wait_for_a_compilation(monkeypatch):
    started, go_on = threading.Event(), threading.Event()

    def slowly(graph):
        if graph.outputs[0].shape == (2,):
            started.set()
            assert go_on.wait(10)
        return simplify(graph)

    monkeypatch.setitem(vars(passes.SIMPLIFY), "function", slowly)
    f = nx.jit(lambda t: t + 1)
    f(nx.tensor([1.0], type="f64"))
    slow = threading.Thread(target=f, args=(nx.tensor([1.0, 1.0], type="f64"),))
    slow.start()
    assert started.wait(10)
    assert f.cache_info().misses == 1
    assert value(f(nx.tensor([1.0], type="f64"))) == [2.0]
    go_on.set()
    slow.join()
    assert f.cache_info().misses == 2


def test_a_python_number_that_is_a_size_becomes_static_by_itself():
    @nx.defn
    def draw(key, n):
        return nx.random.uniform(key, shape=(n, 2))[0]

    @nx.defn
    def turns(x, n):
        for _ in range(n):
            x = x + nx.sum(nx.iota((n,)))
        return x

    assert [draw(nx.random.key(1), n).shape for n in (3, 4, 3)] == [(3, 2), (4, 2), (3, 2)]
    assert draw.cache_info().misses == 2
    assert float(turns(1.0, 3)) == 10.0
    assert nx.events("draw", "miss")[0].notes == (
        "argument n: its value is needed while tracing, so each new one is traced",
    )


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (range(3), "np.array(list(t))"), ({1, 2}, "np.array(list(t))"), (memoryview(b"ab"), "np.asarray(t)"),
        (b"ab", 'np.frombuffer(t, "uint8")'),
    ],
)  # fmt: skip
def test_what_becomes_an_array_in_one_step(value, form):
    with pytest.raises(NxTypeError) as caught:
        nx.jit(lambda t: t)(value)
    assert str(caught.value).endswith(f" for 't'.\n  Pass an array: {form}.")


def test_a_list_of_many_numbers_is_told_to_be_an_array():
    total = nx.jit(lambda t, u: nx.sum(nx.stack(t)) + nx.sum(u))
    with pytest.warns(ManyArgumentsWarning) as caught:
        assert float(total([1] * 300, np.ones(300))) == 600.0
    assert [str(each.message) for each in caught] == [
        "t of <lambda> holds 300 Python numbers, and each is an argument of its own: that takes long to trace and to "
        "compile.\n  Pass an array: np.array(t)."
    ]
    assert caught[0].filename == __file__
    assert float(total([2] * 300, np.ones(300))) == 900.0
