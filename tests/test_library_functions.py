"""Functions of libraries in graphs: symbols that mean the same in every process, and functions of whole arrays."""

import numpy as np
import pytest
from scipy import special

from nxkernel import library_functions, types
from nxkernel.errors import NxValueError
from nxkernel.library_functions import HostFunction, element_function
from nxkernel.primitives import Spec


def test_symbols_tell_names_and_types():
    gammaln = element_function(special.gammaln, [types.f64])
    assert gammaln.symbol == "nxk_special_d_d_gammaln"
    assert element_function(special.eval_legendre, [types.s64, types.f64]).symbol.startswith(
        "nxk_special_d_ld___pyx_fuse"
    )
    sine, cosine = (element_function(special.sici, [types.f64], place) for place in (0, 1))
    assert sine.symbol == cosine.symbol == "nxk_special_vdd_d___pyx_fuse_1sici"
    assert (sine == cosine, sine == element_function(special.sici, [types.f64])) == (False, True)
    assert (str(gammaln), repr(gammaln)) == ("gammaln", "special(gammaln, nxk_special_d_d_gammaln_0)")


def test_what_is_not_published_has_none():
    assert element_function(special.gammaln, [types.c128]) is None
    assert element_function(special.expn, [types.f64, types.f64]) is None
    assert element_function(special._ufuncs._zeta, [types.f64, types.f64]) is None


def test_a_symbol_of_another_signature_has_no_address():
    known = library_functions.address("nxk_special_d_d_gammaln")
    assert known > 0
    assert library_functions.address("nxk_special_d_dd_gammaln") is None
    assert library_functions.address("nxk_special_d_d_nothing") is None
    assert library_functions.address("nxk_special_d_d___pyx_fuse_0erf") is None


def test_arrays_are_given_to_the_ufunc():
    (x,) = [np.array([[0.5, -1.0]])]
    np.testing.assert_array_equal(element_function(special.gammaln, [types.f64]).over([x]), special.gammaln(x))
    np.testing.assert_array_equal(element_function(special.sici, [types.f64], 1).over([x]), special.sici(x)[1])


def _function(call, *outputs, **options):
    return HostFunction("sums", ("sums",), call, outputs, len(outputs) == 1, **options)


VECTOR, NUMBER = Spec(types.f64, (2,), (None,)), Spec(types.f64, (), ())


def test_functions_of_arrays_are_called_for_each_entry():
    each = _function(lambda x: [x * 2, x.sum()], VECTOR, NUMBER).over_entries(3)
    doubled, sums = each([np.arange(6.0).reshape(3, 2)])
    assert (doubled.tolist(), sums.tolist()) == ([[0, 2], [4, 6], [8, 10]], [1, 5, 9])
    assert [spec.shape for spec in each.results] == [(3, 2), (3,)]
    whole = _function(lambda x: [x + 1], VECTOR, elementwise=True).over_entries(3)
    assert (whole.batch, whole.results[0].shape) == ((), (3, 2))


def test_functions_of_arrays_are_told_apart():
    first, again = _function(len, VECTOR), _function(sum, VECTOR)
    assert first == again
    assert hash(first) == hash(again)
    assert first != _function(len, NUMBER)
    assert first != first.over_entries(2)
    assert repr(first) == "sums"


def test_other_results_than_expected_are_refused():
    with pytest.raises(NxValueError, match=r"sums gave float64 of the shape \(3,\), expected was f64\[2\]"):
        _function(lambda x: [x], VECTOR)([np.ones(3)])
    with pytest.raises(NxValueError, match=r"sums gave complex128 of the shape \(2,\), expected was f64\[2\]"):
        _function(lambda x: [x * 1j], VECTOR)([np.ones(2)])
    with pytest.raises(ValueError, match="read-only"):
        _function(lambda x: [x.__iadd__(1)], VECTOR)([np.ones(2)])
