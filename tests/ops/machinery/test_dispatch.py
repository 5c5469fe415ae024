"""Where primitives meet operands: run now, or recorded."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.public_functions import OF_TENSORS, arguments
from nxkernel import primitives, types
from nxkernel.errors import NxError, NxTypeError, NxValueError, TracedValueError
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery import dispatch


def test_tensors_run_now_and_results_are_read_only():
    found = dispatch.apply(primitives.add, nx.tensor([1]), nx.tensor([2]))
    assert type(found) is nx.Tensor
    assert not found.data.flags.writeable


def test_traced_values_are_recorded_with_the_line_that_made_them(record):
    found = record(lambda x: x + 1, nx.template((2,), "f32"))
    assert type(found) is Expr
    assert found.source.file == __file__
    assert found.source.function == "<lambda>"


def test_tensors_in_a_trace_are_captured(record):
    weights = nx.f32([1, 2])
    found = record(lambda x: x * weights, nx.template((2,), "f32"))
    assert [operand.params["captured"] for operand in found.operands] == [False, True]


def test_traced_values_are_not_used_afterwards(record):
    leaked = record(lambda x: x, nx.template((2,), "f32"))
    with pytest.raises(TracedValueError) as error:
        nx.exp(leaked)
    assert str(error.value) == (
        "a traced value of type f32[2] is used after its definition was traced.\n"
        "  It was probably stored in a global, a list or an attribute: return it from the definition instead."
    )


def test_numbers():
    assert [dispatch.is_number(v) for v in (1, 1.0, 1j, True, np.float64(1), np.int8(1), "1", None)] == [
        True, True, True, True, False, False, False, False,
    ]  # fmt: skip


def test_operands():
    class Offers:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.5])

    for value, type_ in [(1, "s64"), ([1.5], "f32"), (np.int8(1), "s8"), (np.zeros(2), "f64"), (Offers(), "f64")]:
        assert dispatch.is_operand(value)
        assert dispatch.operand(value).type == type_
    assert not dispatch.is_operand("text")
    with pytest.raises(NxTypeError, match="expected a tensor, an array or a number, got 'text'"):
        dispatch.operand("text")


def test_lasting_copies_what_others_write_to():
    array = np.arange(4)
    assert not np.shares_memory(dispatch.lasting(array).data, array)
    assert not np.shares_memory(dispatch.lasting(array[::2][:1]).data, array)
    view = array.view()
    view.flags.writeable = False
    assert not np.shares_memory(dispatch.lasting(view).data, array)
    array.flags.writeable = False
    assert np.shares_memory(dispatch.lasting(array).data, array)


@pytest.mark.sampled(every=20)
@pytest.mark.parametrize("name", sorted(OF_TENSORS.keys() - {"from_dlpack"}))
@pytest.mark.parametrize("kind", [np.float64, np.int64, np.complex128])
def test_results_keep_no_memory_that_others_write_to(name, kind):
    given, options = arguments(name)
    given = [value.astype(kind) if getattr(value, "ndim", 0) > 1 else value for value in given]
    arrays = [array for value in given for array in (value if isinstance(value, list) else [value])]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    try:
        found = OF_TENSORS[name](*given, **options)
    except NxError:
        return  # The function is for other types.
    for tensor in found if isinstance(found, tuple | list) else [found]:
        assert not any(np.shares_memory(tensor.data, array) for array in arrays)


def test_constants_have_the_value_of_their_type(record):
    found = record(lambda x: nx.tensor(0.1) + nx.tensor(300, type="u8") + x, nx.template((), "f32"))
    left = found.operands[0]
    assert left.operands[0].params["value"] == float(np.float32(0.1))
    assert left.operands[1].params["value"] == 44.0


def test_numbers_beside_tensors_keep_their_precision(record):
    found = record(lambda x: x * 0.1, nx.template((2,), "f64"))
    assert found.operands[1].params["value"] == 0.1
    assert found.operands[1].spec == nx.template((2,), "f64").spec


def test_constants_are_converted_and_spread_without_nodes(record):
    def function(x):
        two = nx.tensor(2)
        return dispatch.spread(dispatch.convert(two, types.bf16), (3,)), dispatch.convert(x, types.f32)

    constant, x = record(function, nx.template((3,), "f32"))
    assert (constant.primitive, str(constant.spec)) == (primitives.constant, "bf16[3]")
    assert constant.params["value"] == 2.0
    assert x.primitive is primitives.parameter


def test_a_number_takes_no_memory_beside_a_tensor():
    _, number, _ = dispatch.together(nx.iota((1000,)), 1)
    assert number.data.strides == (0,)


def test_no_warning_escapes():
    with np.errstate(all="raise"):
        assert nx.divide(1.0, 0).to_list() == np.inf
        assert np.isnan(nx.log(-1.0).to_list())
        assert nx.as_type(1e300, "f16").to_list() == np.inf
        assert nx.exp(nx.f32([1000])).to_list() == [np.inf]
        assert nx.sum(nx.f16([60000, 60000])).to_list() == np.inf
        assert nx.quotient(1, 0).to_list() == 0
        assert nx.dot(nx.f32([3e38, 3e38]), nx.f32([10, 10])).to_list() == np.inf


def test_what_a_sampler_returns_is_two_things():
    for size in (2, 3):
        drawn = nx.random.normal(nx.random.key(1), shape=(size,))
        with pytest.raises(TypeError) as error:
            nx.iota((size,)) * drawn
        assert str(error.value) == (
            f"expected a tensor, got a tuple of one (f32[{size}]) and a key of nx.random.\n"
            "  Samplers return both: write samples, key = nx.random.normal(key, shape=…)."
        )


def test_operands_that_do_not_broadcast_are_told_with_their_names():
    t = nx.iota((2, 3), names=["rows", None])
    with pytest.raises(ValueError, match=r"^cannot broadcast \[rows: 2\]\[3\] with \[rows: 2\]: axis -1"):
        t - nx.sum(t, axes=[1])
    assert (t - nx.sum(t, axes=[1], keep_axes=True)).shape == (2, 3)


def test_what_no_memory_can_hold():
    with pytest.raises(NxValueError, match=r"^iota would give s64\[4611686018427387904\], which no memory can hold$"):
        nx.iota(2**62)


def assigned(x, n):
    x[0] = n
    return x


#: By NumPy's rules, functions in which a whole number of Python's takes the type of an array.
TAKE_TYPE = [
    np.add, np.multiply, np.maximum, np.bitwise_and, np.left_shift, np.power, np.full_like, assigned,
    lambda x, n: np.floor_divide(n, x), lambda x, n: np.where(np.sum(x) > 0, x + n, x),
]  # fmt: skip


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("function", TAKE_TYPE)
@pytest.mark.parametrize("type_", [np.uint8, np.int16, np.uint64])
def test_whole_numbers_by_position_are_refused_outside_of_the_type_that_they_take(function, type_):
    compiled = nx.jit(function, promotion="numpy")
    values = np.array([1, 120, 255], type_)
    limits = np.iinfo(type_)
    for number in (3, 0, int(limits.max), limits.max + 1, int(limits.min), limits.min - 1):
        if not -(2**63) <= number < 2**63:
            continue
        try:
            expected = function(values.copy(), number)
        except (OverflowError, ValueError) as error:
            # NumPy refuses negative powers of whole numbers, too.
            if isinstance(error, OverflowError):
                with pytest.raises(NxTypeError, match=f"the Python integer {number} is outside of "):
                    compiled(values.copy(), number)
            continue
        found = compiled(values.copy(), number)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: np.multiply(x, n, dtype=np.int64),
        lambda x, n: np.less(x, n),
        lambda x, n: np.asarray(n).astype(np.uint8) + x,
        lambda x, n: x.astype(int) * n,
        lambda x, n: x + n % 256,
    ],
)
def test_whole_numbers_that_take_no_narrow_type_are_not_refused(function):
    values = np.array([1, 120, 255], np.uint8)
    compiled = nx.jit(function, promotion="numpy")
    for number in (3, 300, -1):
        expected = function(values, number)
        found = compiled(values, number)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_a_number_outside_is_no_fault_in_a_branch_that_is_not_taken():
    @nx.defn(promotion="numpy")
    def f(x, n):
        if n < 256:
            x = x * n
        return np.add(x, 1)

    x = np.array([1, 2], np.uint8)
    assert f(x, 300).tolist() == [2, 3]
    assert f(x, 100).tolist() == [101, 201]


def test_made_arrays_refuse_numbers_outside_of_their_type():
    with pytest.raises(NxTypeError, match="the Python integer 300 is outside of u8"):
        nx.jit(lambda x: np.full_like(x, 300), promotion="numpy")(np.zeros(2, np.uint8))
