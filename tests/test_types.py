"""Types: names, merging, weak numbers."""

import copy
import inspect
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel import element_types, types
from nxkernel.errors import NxTypeError

any_type = st.sampled_from(list(types.TYPES.values()))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("f32", "f32"),
        (("s", 8), "s8"),
        (("bf", 16), "bf16"),
        (np.float64, "f64"),
        (np.dtype("uint16"), "u16"),
        (np.dtype(">i4"), "s32"),
        (ml_dtypes.bfloat16, "bf16"),
        ("float64", "f64"),
        ("bfloat16", "bf16"),
        (float, "f32"),
        (int, "s64"),
        (bool, "bool"),
        (complex, "c64"),
        (types.u8, "u8"),
    ],
)
def test_normalize(given, name):
    assert types.normalize(given) is types.TYPES[name]


@pytest.mark.parametrize("given", ["f33", ("u", 0), np.dtype("U3"), None, 32, "float33"])
def test_normalize_refuses(given):
    with pytest.raises(NxTypeError) as error:
        types.normalize(given)
    assert str(error.value) == (
        f"there is no type {given!r}.\n"
        "  The types are u8 u16 u32 u64 s8 s16 s32 s64 bf16 f16 f32 f64 c64 c128 bool.\n"
        '  Write one as "f32".'
    )


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("f8", "Write \"f64\", which is what NumPy calls 'f8'."),
        ("i4", "Write \"s32\", which is what NumPy calls 'i4'."),
        ("int", "Write \"s64\", which is what NumPy calls 'int'."),
        ("double", "Write \"f64\", which is what NumPy calls 'double'."),
        ("float", 'Write "f64", which is what NumPy calls \'float\'; the default is "f32".'),
        ("i32", 'Write "s32": s is for signed.'),
    ],
)
def test_names_of_other_libraries_are_told_what_they_mean(given, hint):
    with pytest.raises(NxTypeError) as error:
        types.normalize(given)
    assert str(error.value).splitlines()[2] == f"  {hint}"


def test_attributes():
    assert (types.bf16.kind, types.bf16.bits, types.bf16.size) == ("bf", 16, 2)
    assert types.c128.size == 16
    assert [t for t in types.TYPES if types.TYPES[t].is_integer] == [
        "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "bool",
    ]  # fmt: skip
    assert [t for t in types.TYPES if types.TYPES[t].is_float] == ["bf16", "f16", "f32", "f64"]
    assert [t for t in types.TYPES if types.TYPES[t].is_complex] == ["c64", "c128"]


def test_a_type_is_its_name_and_survives_copies():
    assert types.f32 == "f32"
    assert pickle.loads(pickle.dumps(types.f32)) is types.f32
    assert copy.deepcopy(types.s8) is types.s8


def test_a_type_makes_tensors():
    tensor = types.f16([1, 2], names=["x"])
    assert (tensor.type, tensor.names, tensor.to_list()) == ("f16", ("x",), [1.0, 2.0])


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        ("s64", "f32", "f32"),
        ("s64", "f16", "f16"),
        ("s64", "bf16", "bf16"),
        ("bf16", "f16", "f16"),
        ("bf16", "f32", "f32"),
        ("u8", "s8", "s16"),
        ("u16", "s8", "s32"),
        ("u32", "s8", "s64"),
        ("u64", "s8", "s64"),
        ("u8", "u32", "u32"),
        ("f64", "c64", "c128"),
        ("f32", "c64", "c64"),
        ("s64", "c64", "c64"),
        ("bf16", "c64", "c64"),
        ("bool", "bool", "bool"),
        ("bool", "s8", "s8"),
        ("bool", "f16", "f16"),
    ],
)
def test_merge(left, right, merged):
    assert types.merge(left, right) is types.TYPES[merged]
    assert types.merge(right, left) is types.TYPES[merged]


@given(any_type, any_type)
def test_merge_takes_two_types_in_any_order_and_is_settled(left, right):
    merged = types.merge(left, right)
    assert types.merge(right, left) is merged
    assert types.merge(merged, left) is merged
    assert types.merge(left, left) is left


@pytest.mark.parametrize(
    ("type_", "number", "merged"),
    [
        ("u8", 255, "u8"),
        ("u8", 256, "u16"),
        ("u8", -1, "s16"),
        ("u8", -32768, "s16"),
        ("s8", 127, "s8"),
        ("s8", 128, "s16"),
        ("u64", -1337, "s64"),
        ("s8", 1.0, "f32"),
        ("f16", 1e300, "f16"),
        ("bf16", 1, "bf16"),
        ("f64", 1.5, "f64"),
        ("c64", 1, "c64"),
        ("f64", 1j, "c128"),
        ("u8", True, "u8"),
        ("bool", 2, "s64"),
        ("bool", True, "bool"),
    ],
)
def test_merge_number(type_, number, merged):
    assert types.merge_number(type_, number) is types.TYPES[merged]


def test_merge_number_refuses_what_fits_nowhere():
    with pytest.raises(NxTypeError, match=r"the integer 18446744073709551616 fits no type\."):
        types.merge_number("u8", 2**64)


@pytest.mark.parametrize(
    ("number", "name"), [(1, "s64"), (1.0, "f32"), (1j, "c64"), (True, "bool"), (np.bool_(1), "bool")]
)
def test_infer(number, name):
    assert types.infer(number) == name


def test_infer_refuses():
    with pytest.raises(NxTypeError, match=r"'one' is no number"):
        types.infer("one")


@pytest.mark.parametrize(
    ("type_", "number", "cast"),
    [
        ("u8", 10, 10),
        ("s8", -10, -10),
        ("bf16", -10, -10.0),
        ("f32", 10.5, 10.5),
        ("c64", 10, 10 + 0j),
        ("c64", 1.5, 1.5 + 0j),
        ("c128", 2j, 2j),
        ("s64", True, 1),
    ],
)
def test_cast_number(type_, number, cast):
    found = types.cast_number(type_, number)
    assert (found, type(found)) == (cast, type(cast))


@pytest.mark.parametrize(("type_", "number"), [("s8", 10.0), ("u8", -1), ("f32", 1j), ("u16", 1j)])
def test_cast_number_loses_nothing(type_, number):
    with pytest.raises(NxTypeError) as raised:
        types.cast_number(type_, number)
    assert str(raised.value) == (
        f"{type_} does not hold numbers such as {number!r}.\n  nx.as_type(number, type) cuts to what fits."
    )


@pytest.mark.parametrize("name", element_types.FORMATS)
def test_formats_are_those_of_the_types(name):
    form, dtype = element_types.FORMATS[name], types.normalize(name).dtype
    known, bits = ml_dtypes.finfo(dtype), f"u{dtype.itemsize}"
    assert (form.width, form.digits, form.bias) == (8 * dtype.itemsize, known.nmant, 1 - known.minexp)
    assert form.smallest_normal == float(known.smallest_normal)
    found = [int(np.array(value, dtype).view(bits)) for value in (-0.0, np.inf, np.nan)]
    assert [form.sign, form.infinity, form.nan] == found
    assert float(np.array(form.shifter + 1.5, dtype)) == form.shifter + 2


def test_limits_and_identities():
    assert types.limits(types.s8) == (-128, 127)
    assert types.limits(types.bool_) == (0, 1)
    assert (types.least(types.u16), types.greatest(types.u16)) == (0, 65535)
    assert (types.least(types.f16), types.greatest(types.f16)) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (types.to_floating, {"s8": "f32", "bool": "f32", "bf16": "bf16", "f64": "f64", "c64": "c64"}),
        (types.to_aggregate, {"u8": "u64", "s8": "s64", "bool": "s64", "f16": "f16"}),
        (types.to_complex, {"s64": "c64", "f64": "c128", "f16": "c64", "c128": "c128"}),
        (types.to_real, {"s8": "f32", "bf16": "bf16", "c64": "f32", "c128": "f64"}),
    ],
)
def test_families(rule, expected):
    assert {name: rule(name) for name in expected} == expected


def test_narrow_floats_compute_in_f32():
    assert [types.compute_type(types.TYPES[n]) for n in ("f16", "bf16", "f32", "s8")] == ["f32", "f32", "f32", "s8"]


def test_questions_of_nx():
    assert types.integer("u64")
    assert types.float("bf16")
    assert types.complex("c64")
    assert types.to_string(("bf", 16)) == "bf16"


NUMPY_TYPES = [types.TYPES[name] for name in types.TYPES if name != "bf16"]


@pytest.mark.parametrize("left", NUMPY_TYPES)
def test_numpys_rules(left):
    with types.promotion("numpy"):
        for right in NUMPY_TYPES:
            assert types.merge(left, right).dtype == np.promote_types(left.dtype, right.dtype)
        for number in (True, 1, 1.5, 1j):
            wanted = np.result_type(left.dtype, number)
            assert types.merge_number(left, number).dtype == wanted
            assert types.merge_weak(left, types.infer(number)).dtype == wanted
        ones = np.ones(2, left.dtype)
        assert types.to_floating(left).dtype == np.divide(ones, ones).dtype or left == "f16"
        assert types.to_aggregate(left).dtype == np.sum(ones).dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda x: len(x) + 2**64 + x.max().astype(int),
        lambda x: np.full(3, -(2**63) - 1),
        lambda x: np.where(x > 0, -(2**63) - 1, 1),
        lambda x: (x.size if x[0] > 0 else 0) < 2**63,
    ],
)
def test_python_integers_of_more_than_64_bits_are_refused(function):
    """They would wrap around, which Python's integers never do."""
    with pytest.raises(
        NxTypeError, match=r"the Python integer -?\d+ is outside of s64, which goes from -92\d+ to 92\d+"
    ):
        nx.defn(function, promotion="numpy")(np.ones(3))


def test_numpys_rules_end_with_the_block():
    with types.promotion("numpy"):
        assert types.infer(1.5) == "f64"
        assert types.infer(True) == "bool"
        with types.promotion("nx"):
            assert types.infer(1.5) == "f32"
        with pytest.raises(NxTypeError, match="the Python integer 256 is outside of u8, which goes from 0 to 255"):
            types.merge_number(types.u8, 256)
    assert types.infer(1.5) == "f32"
    with pytest.raises(NxTypeError, match='promotion is "nx" or "numpy", got \'jax\''), types.promotion("jax"):
        pass


@pytest.mark.parametrize("module", [types, nx.constants])
def test_modules_show_what_is_theirs(module):
    assert sorted(dir(module)) == sorted(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        assert not inspect.isfunction(value) or value.__module__ in (module.__name__, "nxkernel.element_types")
