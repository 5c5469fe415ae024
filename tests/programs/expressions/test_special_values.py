"""What NumPy's functions and operators give of both zeros, infinities, NaN, and the least and greatest floats."""

import numpy as np
import pytest

import nxkernel as nx

VALUES = np.array([0, 4, 8, 1.5, np.inf, 3, 1e-40, 1e30, 0.3, 7])
VALUES = np.concatenate([VALUES, -VALUES, [np.nan]])
A, B = (values.ravel() for values in np.meshgrid(VALUES, VALUES))
FORMULAS = [
    "a%b",
    "a//b",
    "np.mod(a,b)",
    "np.remainder(a,b)",
    "np.fmod(a,b)",
    "np.floor_divide(a,b)",
    "np.divmod(a,b)[0]",
    "np.divmod(a,b)[1]",
    "np.floor(a)",
    "np.ceil(a)",
    "np.trunc(a)",
    "np.rint(a)",
    "np.round(a)",
    "np.around(a,1)",
    "a+b",
    "a-b",
    "a*b",
    "a/b",
    "np.maximum(a,b)",
    "np.minimum(a,b)",
    "np.fmax(a,b)",
    "np.fmin(a,b)",
    "np.copysign(a,b)",
    "np.abs(a)",
    "-a",
    "np.sign(a)",
    "np.sqrt(a)",
    "np.cbrt(a)",
    "np.hypot(a,b)",
    "np.arctan2(a,b)",
    "np.modf(a)[0]",
    "np.modf(a)[1]",
    "np.sin(a)",
    "np.tan(a)",
    "np.arcsin(a)",
    "np.arctan(a)",
    "np.sinh(a)",
    "np.tanh(a)",
    "np.arcsinh(a)",
    "np.arctanh(a)",
    "np.expm1(a)",
    "np.log1p(a)",
    "np.power(a,b)",
    "a**2",
    "a**3",
    "a**0.5",
    "np.square(a)",
    "np.reciprocal(a)",
    "np.heaviside(a,b)",
    "np.float_power(a,b)",
    "np.logaddexp(a,b)",
    "np.deg2rad(a)",
    "np.clip(a,-1,1)",
    "np.clip(a,b,1)",
    "np.where(a>b,a,b)",
    "np.nan_to_num(a)",
    "np.real(a)",
    "np.conj(a)",
    "np.positive(a)",
    "np.sum(a.reshape(-1,3),axis=1)",
    "np.prod(a.reshape(-1,3),axis=1)",
    "np.cumsum(a*0)",
    "np.max(a.reshape(-1,3),axis=1)",
    "np.min(a.reshape(-1,3),axis=1)",
    "np.signbit(a)",
    "np.fix(a)",
    "np.sinc(a)",
    "a.astype(np.float32)",
    "np.exp(a)",
    "np.log(a)",
    "np.cos(a)",
    "np.diff(a)",
    "np.dot(a[:2],b[:2])",
    "np.mean(a[:2])",
    "np.interp(a,[0.,1.],[0.,1.])",
    "-(a-a)",
    "0-a",
    "a*-1",
    "0*a",
    "a-0",
    "a+0",
    "a*1",
    "a/1",
    "a/-1",
    "np.subtract(0,a)",
    "abs(-a)",
    "a+0.0",
    "a-0.0",
    "0.0-a",
    "-0.0+a",
    "np.zeros_like(a)-a",
    "a.sum()*0",
    "np.negative(np.zeros_like(a))",
    "(a*0)%b",
    "a%4",
    "a%-4",
    "a//4",
    "(-a)%4",
    "np.fmod(a,4)",
    "divmod(a,4)[1]",
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_values_and_signs(kind):
    with np.errstate(all="ignore"):
        a, b = A.astype(kind), B.astype(kind)
        for formula in FORMULAS:
            function = eval(f"lambda a, b: {formula}", {"np": np})
            wanted, found = np.asarray(function(a, b)), np.asarray(nx.defn(function, promotion="numpy")(a, b))
            assert found.dtype == wanted.dtype, formula
            np.testing.assert_allclose(found, wanted, rtol=1e-12 if kind == "f8" else 1e-5, err_msg=formula)
            if wanted.dtype.kind == "f":
                numbers = ~np.isnan(wanted)
                wrong = (np.signbit(found) != np.signbit(wanted)) & numbers
                assert not wrong.any(), f"{formula}: {found[wrong][:3]}, NumPy {wanted[wrong][:3]}"
