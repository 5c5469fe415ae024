"""Each element-wise primitive with each type as a kernel's text: what it gives is what it means, and it is PTX."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

from elementary_references import BY_PRIMITIVE
from emulated_gpu.kernels_on_host import HostKernel
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import numpy_primitives, threefry
from nxkernel.compilers.numba_cuda.language import element_types, intrinsics
from nxkernel.compilers.numba_cuda.language.elementwise import SourceWriter, converted, emit, lowered
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel.compilers.schedule.loop_nest import Op
from nxkernel.errors import CompilationError
from nxkernel.primitives import Spec

MEANING = numpy_primitives.MEANING | threefry.MEANING
FLOATS = [types.bf16, types.f16, types.f32, types.f64]
WHOLE = [type_ for type_ in types.TYPES.values() if type_.kind in ("u", "s")]
COMPLEX = [types.c64, types.c128]
REAL = [*WHOLE, types.bool_, *FLOATS]

OF_WHOLE = (
    p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.bitwise_not, p.left_shift, p.right_shift, p.quotient,
    p.population_count, p.count_leading_zeros,
)  # fmt: skip
OF_BOOL = (
    p.logical_and, p.logical_or, p.logical_xor, p.logical_not, p.equal, p.not_equal, p.greater, p.less,
    p.greater_equal, p.less_equal, p.is_nan, p.is_infinity, p.maximum, p.minimum, p.stop_grad,
)  # fmt: skip
OF_REAL = (
    *OF_BOOL, p.add, p.subtract, p.multiply, p.power, p.remainder, p.negate, p.sign, p.floor, p.ceil,
    p.round_half_away, p.round_half_even, p.truncate, p.absolute, p.conjugate, p.real, p.imag,
)  # fmt: skip
OF_FLOATS = (p.divide, p.atan2, p.phase, *BY_PRIMITIVE)
OF_COMPLEX = (
    p.add, p.subtract, p.multiply, p.negate, p.conjugate, p.real, p.imag, p.equal, p.not_equal, p.is_nan, p.is_infinity,
    p.logical_and, p.logical_or, p.logical_xor, p.logical_not, p.stop_grad,
)  # fmt: skip
BINARY = (
    p.add, p.subtract, p.multiply, p.divide, p.power, p.remainder, p.quotient, p.atan2, p.maximum, p.minimum,
    p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.left_shift, p.right_shift, p.equal, p.not_equal, p.greater, p.less,
    p.greater_equal, p.less_equal, p.logical_and, p.logical_or, p.logical_xor,
)  # fmt: skip
PREDICATES = (*OF_BOOL[:12],)
#: What a type has beside its rows above: choices, conversions to every type, bits as another type, and random ones.
OTHERS = {"select", "as_type", "bitcast", "complex", "threefry2x32", "after"}


def primitives_of(type_):
    if type_.is_complex:
        return OF_COMPLEX
    if type_ is types.bool_:
        return (*OF_BOOL, p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.bitwise_not)
    return (*OF_REAL, *(OF_FLOATS if type_.is_float else OF_WHOLE))


def result_of(primitive, type_):
    if primitive in PREDICATES:
        return types.u8
    return types.to_real(type_) if type_.is_complex and primitive in (p.real, p.imag) else type_


def samples(type_):
    """Numbers of a type: special ones, the ends of its range, and what lies between."""
    if type_ is types.bool_:
        return np.array([False, True])
    if type_.is_complex:
        parts = [0.0, -0.0, 1.5, -2, 1e3, math.inf, -math.inf, math.nan]
        return np.array([complex(re, im) for re in parts for im in parts], type_.dtype)
    if type_.is_integer:
        low, high = types.limits(type_)
        numbers = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 31, 64, 100} | ({-1, -2, -5, -33} if low < 0 else set())
        return np.array(sorted(numbers), dtype=type_.dtype)
    info = ml_dtypes.finfo(type_.dtype)
    edges = [info.max, info.smallest_normal, info.smallest_subnormal, 1 + float(info.eps)]
    numbers = [0, 0.5, 1, 1.5, 2.5, 0.3, 1e-3, 10.75, 200.5, math.inf, *map(float, edges)]
    return np.array([*numbers, *[-n for n in numbers], math.nan]).astype(type_.dtype)


class Kernel:
    """A kernel whose one thread goes through all elements; each argument is memory with elements of a type."""

    def __init__(self):
        self.w, self.types = SourceWriter(2), []

    def argument(self, type_):
        self.types.append(type_)
        return f"p{len(self.types) - 1}"

    def load(self, type_):
        return self.w.load(self.argument(type_), "i", type_)

    def give(self, name, result, values, kinds, attribute=None):
        made = emit(self.w, Op(name, result, attribute=attribute), values, [Op("", kind) for kind in kinds])
        self.w.store(self.argument(result), "i", made, result)

    @property
    def text(self):
        names = ", ".join(f"p{number}" for number in range(len(self.types)))
        return f"def kernel({names}, n):\n    for i in range(n):\n{self.w.text}\n"

    @property
    def parameters(self):
        return [*[element_types.memory_type(type_) for type_ in self.types], "s64"]

    def run(self, *arrays, here=False):
        """The results, for the arrays of the arguments that are loaded: as Python, or the machine code of `here`."""
        size = arrays[0].size
        memory = [np.ascontiguousarray(array) for array in arrays]
        memory += [np.zeros(size, type_.dtype) for type_ in self.types[len(arrays) :]]
        views = [
            array.view(element_types.numpy_type(element_types.memory_type(type_)))
            for array, type_ in zip(memory, self.types, strict=True)
        ]
        if here:
            HostKernel(self.source).run((1,), (1,), 0, [*views, size])
            return memory[len(arrays) :]
        scope = dict(intrinsics.simulated())
        exec(self.text, scope)
        with np.errstate(all="ignore"):
            scope["kernel"](*views, size)
        return memory[len(arrays) :]

    @property
    def source(self):
        return KernelSource("kernel", self.text, tuple(self.parameters))

    def ptx(self, architecture):
        return object_code.ptx(self.source, architecture)


def same(found, expected):
    """Equal in every bit, but for which NaN it is."""
    assert found.dtype == expected.dtype
    if found.dtype.kind == "c":
        for part in ("real", "imag"):
            same(getattr(found, part), getattr(expected, part))
        return
    wide = [array.astype(np.float64) if array.dtype.itemsize == 2 else array for array in (found, expected)]
    np.testing.assert_array_equal(*wide)
    if wide[0].dtype.kind == "f":
        signs = [np.signbit(array)[~np.isnan(array)] for array in wide]
        np.testing.assert_array_equal(*signs)


def meaning(primitive, result, *arrays, **params):
    return MEANING[primitive](Spec(result, arrays[0].shape, (None,)), *arrays, **params)


def operands(type_, count):
    numbers = samples(type_)
    return [np.array(column, type_.dtype) for column in zip(*itertools.product(numbers, repeat=count), strict=True)]


def kernel_of(type_, names, count):
    kernel = Kernel()
    values = [kernel.load(type_) for _ in range(count)]
    for primitive in names:
        kernel.give(primitive.name, result_of(primitive, type_), values, [type_] * count)
    return kernel


def split_by_operands(type_):
    binary = [primitive for primitive in primitives_of(type_) if primitive in BINARY]
    return {1: [primitive for primitive in primitives_of(type_) if primitive not in BINARY], 2: binary}


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("type_", [*REAL, *COMPLEX], ids=str)
@pytest.mark.parametrize("count", [1, 2])
def test_primitives_give_what_they_mean(type_, count):
    names = split_by_operands(type_)[count]
    arrays = operands(type_, count)
    found = kernel_of(type_, names, count).run(*arrays)
    for primitive, array in zip(names, found, strict=True):
        with np.errstate(all="ignore"):
            expected = meaning(primitive, result_of(primitive, type_), *arrays)
        try:
            same(array, expected)
        except AssertionError as error:
            raise AssertionError(f"{primitive.name} of {type_}: {error}") from None


#: Functions that are not rounded correctly: within so many units in the last place of the type.
ULPS = {primitive: row.ulps[1] for primitive, row in BY_PRIMITIVE.items()}
ULPS |= {p.atan2: 4, p.phase: 4, p.power: 3, p.divide: 0}


def near(found, expected, ulps):
    """Within some units in the last place of the type; which NaN it is does not matter."""
    wide = [array.astype(np.float64) for array in (found, expected)]
    np.testing.assert_array_equal(*map(np.isnan, wide))
    bits = f"i{found.dtype.itemsize}"
    steps = []
    for array in (found, expected):
        number = np.where(np.isnan(array.astype(np.float64)), 0, array).astype(array.dtype).view(bits).astype(object)
        steps.append(np.where(number < 0, -(number & (1 << 8 * found.dtype.itemsize - 1) - 1), number))
    assert np.abs(steps[0] - steps[1]).max() <= ulps


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("type_", [*REAL, *COMPLEX], ids=str)
@pytest.mark.parametrize("count", [1, 2])
def test_machine_code_gives_what_primitives_mean(type_, count):
    names = split_by_operands(type_)[count]
    arrays = operands(type_, count)
    found = kernel_of(type_, names, count).run(*arrays, here=True)
    for primitive, array in zip(names, found, strict=True):
        with np.errstate(all="ignore"):
            expected = meaning(primitive, result_of(primitive, type_), *arrays)
        try:
            if type_.is_float and primitive in ULPS:
                near(array, expected, ULPS[primitive])
            else:
                same(array, expected)
        except AssertionError as error:
            raise AssertionError(f"{primitive.name} of {type_}: {error}") from None


def conversions(type_):
    """A kernel that converts to every type, and chooses by what is not zero."""
    kernel, targets = Kernel(), [*REAL, *COMPLEX]
    value = kernel.load(type_)
    for target in targets:
        kernel.give("as_type", target, [value], [type_], type_)
    kernel.give("select", type_, [value, value, element_types.literal(1, type_)], [type_, type_, type_], type_)
    return kernel, targets


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("type_", [*REAL, *COMPLEX], ids=str)
def test_conversions_to_every_type(type_, here):
    kernel, targets = conversions(type_)
    numbers = samples(type_)
    *found, chosen = kernel.run(numbers, here=here)
    for target, array in zip(targets, found, strict=True):
        if type_.is_integer and target in (types.f16, types.bf16):
            # Both roundings of large integers are to be had; the evaluator takes one, and so does the processor.
            numbers_kept = np.abs(numbers.astype(np.float64)) < 2**24
        else:
            numbers_kept = np.ones(numbers.shape, bool)
        expected = meaning(p.as_type, target, numbers, type=target)
        same(array[numbers_kept], expected[numbers_kept])
    same(chosen, np.where(numbers != 0, numbers, 1).astype(type_.dtype))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("target", REAL, ids=str)
def test_bits_as_another_type(target, here):
    for source in REAL:
        if source.bits != target.bits or types.bool_ in (source, target):
            continue
        kernel = Kernel()
        kernel.give("bitcast", target, [kernel.load(source)], [source], source)
        numbers = samples(source)
        (found,) = kernel.run(numbers, here=here)
        same(found, meaning(p.bitcast, target, numbers, type=target))


def threefry_kernel():
    kernel = Kernel()
    values = [kernel.load(types.u32) for _ in range(4)]
    for word in (0, 1):
        kernel.give("threefry2x32", types.u32, values, [types.u32] * 4, word)
    return kernel


@pytest.mark.parametrize("here", [False, True])
def test_random_bits(here):
    words = [np.array([0, 1, 2**32 - 1, 77], np.uint32) + np.uint32(n) for n in range(4)]
    kernel = threefry_kernel()
    found = kernel.run(*words, here=here)
    assert kernel.text.count("threefry(") == 1
    for word, array in enumerate(found):
        same(array, meaning(p.threefry2x32, types.u32, *words, word=word))


def test_parts_make_a_complex_number():
    kernel = Kernel()
    kernel.give("complex", types.c64, [kernel.load(types.f32), kernel.load(types.f32)], [types.f32] * 2)
    (found,) = kernel.run(np.array([1, -0.0], np.float32), np.array([2, math.inf], np.float32))
    same(found, np.array([1 + 2j, complex(-0.0, math.inf)], np.complex64))


def test_a_number_times_its_conjugate_is_real():
    kernel = Kernel()
    value = kernel.load(types.c64)
    turned = emit(kernel.w, Op("conjugate", types.c64), [value], [Op("", types.c64)])
    kernel.give("multiply", types.c64, [value, turned], [types.c64] * 2)
    assert "fma" not in kernel.ptx("sm_80")
    assert "mul.rn.f32" in kernel.ptx("sm_80")


@pytest.mark.parametrize("type_", FLOATS[2:], ids=str)
def test_a_rounded_product_is_no_part_of_a_multiply_add(type_):
    texts = []
    for rounded in (True, None):
        kernel = Kernel()
        values = [kernel.load(type_) for _ in range(3)]
        product = emit(kernel.w, Op("multiply", type_, attribute=rounded), values[:2], [Op("", type_)] * 2)
        kernel.give("add", type_, [product, values[2]], [type_] * 2)
        texts.append(kernel.ptx("sm_80"))
    assert ["fma" in text for text in texts] == [False, True]
    assert f"mul.rn.{'f32' if type_ is types.f32 else 'f64'}" in texts[0]


def test_a_choice_takes_the_truth_that_a_comparison_has_just_found():
    kernel = Kernel()
    left, right = kernel.load(types.f32), kernel.load(types.f32)
    mask = emit(kernel.w, Op("less", types.bool_), [left, right], [Op("", types.f32)] * 2)
    kernel.give("select", types.f32, [mask, left, right], [types.bool_, types.f32, types.f32])
    assert "v0 < v1\n        v3 = select(v2, v0, v1)" in kernel.text


def test_what_has_been_rounded_is_stored_as_it_is():
    kernel = Kernel()
    value = kernel.load(types.bf16)
    kernel.give("multiply", types.bf16, [value, value], [types.bf16] * 2)
    assert kernel.w.text.split("\n") == [
        "        v0 = p0[i]",
        "        v1 = bf16_value(v0)",
        "        v2 = bf16_bits(v1 * v1)",
        "        v3 = bf16_value(v2)",
        "        p1[i] = v2",
    ]


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_bits_of_what_was_read_stay_as_they_are(name):
    kernel, type_ = Kernel(), types.normalize(name)
    value = kernel.load(type_)
    kernel.give("bitcast", types.u16, [value], [type_], type_)
    kernel.give("stop_grad", type_, [value], [type_])
    # These are no numbers, and processors have another one for them.
    numbers = np.array([0x7F81, 0xFF81, 0x7C01, 0xFC01], np.uint16)
    bits, copied = kernel.run(numbers.view(type_.dtype))
    assert bits.tolist() == copied.view(np.uint16).tolist() == numbers.tolist()


def test_converted_values_of_the_same_type_stay_as_they_are():
    w = SourceWriter()
    assert converted(w, "x", types.f32, types.f32) == "x"
    assert converted(w, "x", types.bf16, types.f32) == "x"
    assert w.lines == []


def test_every_element_wise_primitive_is_known_but_functions_of_numba():
    family = {primitive.name for primitive in p.TABLE.values() if primitive.family == "elementwise"}
    assert lowered() == family - {"njit", "complex"}
    tested = {primitive.name for type_ in REAL for primitive in primitives_of(type_)}
    assert lowered() == tested | OTHERS - {"complex"}
    known = {primitive.name for primitive in OF_COMPLEX} | {"select", "as_type", "complex", "after"}
    assert lowered(complex=True) == known


@pytest.mark.parametrize("type_", [types.f32, types.c64])
def test_what_has_no_code_is_refused(type_):
    message = f"dot of {'complex' if type_.is_complex else 'real'} numbers has no code on a GPU"
    with pytest.raises(CompilationError, match=message):
        emit(SourceWriter(), Op("dot", type_), ["x", "y"], [Op("", type_)] * 2)


def test_functions_that_numba_compiled_are_refused():
    import numba

    from nxkernel import numba_functions

    function = numba_functions.scalar_function(numba.njit(lambda x: x + 1), [types.f32])
    with pytest.raises(CompilationError, match=r"<lambda>, which Numba compiled for the processor, has no code on"):
        emit(SourceWriter(), Op("njit", types.f32, (0,), attribute=function), ["x"], [Op("", types.f32)])


def test_functions_of_scipy_are_refused():
    from scipy import special

    from nxkernel.library_functions import element_function

    function = element_function(special.gammaln, [types.f64])
    with pytest.raises(CompilationError, match="gammaln, which SciPy has for the processor, has no code on a GPU"):
        emit(SourceWriter(), Op("njit", types.f64, (0,), attribute=function), ["x"], [Op("", types.f64)])


@pytest.mark.sampled(every=12, lane="simulator")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("type_", [*REAL, *COMPLEX], ids=str)
def test_ptx(type_, architecture):
    for count, names in split_by_operands(type_).items():
        text = kernel_of(type_, names, count).ptx(architecture)
        assert f".target {architecture}" in text
        assert ".extern .func" not in text
    assert "call" not in conversions(type_)[0].ptx(architecture)


def test_ptx_of_random_bits():
    assert threefry_kernel().ptx("sm_80").count("xor.b32") >= 20
