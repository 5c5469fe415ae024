"""What the standard lets programs ask of the namespace."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.errors import NxValueError

INFO = nnp.__array_namespace_info__()


def test_arrays_lead_to_the_namespace():
    assert nnp.asarray(1).__array_namespace__() is nnp
    assert nnp.asarray(1).__array_namespace__(api_version="2024.12") is nnp
    assert nx.tensor([1]).__array_namespace__() is nnp
    assert nnp.__array_api_version__ == "2024.12"


def test_capabilities():
    assert INFO.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}


def test_default_types_are_those_of_numbers():
    found = INFO.default_dtypes(device=INFO.default_device())
    assert found == {
        "real floating": np.float64, "complex floating": np.complex128, "integral": np.int64, "indexing": np.int64,
    }  # fmt: skip
    assert nnp.asarray(1).dtype == found["integral"]
    assert nnp.asarray(1.0).dtype == nnp.zeros(1).dtype == found["real floating"]
    assert nnp.asarray(1j).dtype == found["complex floating"]
    assert nnp.argmax(nnp.zeros(2)).dtype == found["indexing"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bool", "bool"),
        ("signed integer", "int8 int16 int32 int64"),
        ("unsigned integer", "uint8 uint16 uint32 uint64"),
        ("real floating", "float32 float64"),
        ("complex floating", "complex64 complex128"),
        (("bool", "real floating"), "bool float32 float64"),
    ],
)
def test_kinds(kind, names):
    found = INFO.dtypes(kind=kind)
    assert list(found) == names.split()
    assert all(nnp.isdtype(dtype, kind) for dtype in found.values())


def test_all_types_are_numpys():
    found = INFO.dtypes()
    assert len(found) == 13
    assert all(dtype == getattr(nnp, name) == getattr(np, name) for name, dtype in found.items())


def test_errors():
    with pytest.raises(NxValueError, match=r"there is no kind 'real'\.\s+Kinds are \"bool\", \"signed integer\""):
        INFO.dtypes(kind="real")
    with pytest.raises(NxValueError, match=r"there is no device 'tpu'\.\s+Here are \"cpu\""):
        INFO.dtypes(device="tpu")
