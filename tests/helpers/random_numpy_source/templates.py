"""What expressions are made of: templates with a place ``{}`` for each array."""

from __future__ import annotations

#: Functions of one array whose results are rounded.
ROUGH = [
    "np.sin({})", "np.cos({})", "np.tanh({})", "np.exp(-np.abs({}))", "np.sqrt(np.abs({}) + 1)", "np.arctan({})",
    "np.log1p(np.abs({}))", "np.cbrt({})", "1 / (np.abs({}) + 1)", "np.hypot({}, 2)", "np.exp2(-abs({}))",
    "np.reciprocal({} * 1.0 + 100)",
]  # fmt: skip

#: Those with derivatives.
SMOOTH = [
    "np.sin({})", "np.cos({})", "np.tanh({})", "np.exp(-0.1 * {} ** 2)", "np.sqrt({} ** 2 + 1)", "np.arctan({})",
    "np.log1p({} ** 2)", "({}) ** 3 * 0.1", "1 / (({}) ** 2 + 1)", "np.square({})", "-({})", "({}) * 0.5",
    "np.exp({} * 0.1)",
]  # fmt: skip

#: Those that are exact.
EXACT = [
    "-{}", "np.abs({})", "np.square({})", "np.floor({})", "np.ceil({})", "np.sign({})", "np.maximum({}, 2)", "{} + 0",
    "np.minimum({}, 1)", "np.clip({}, -1, 2)", "np.rint({})", "np.where({} > 1, {}, 0)", "np.negative({})", "+{}",
    "np.trunc({})", "np.isfinite({})", "np.logical_not({})", "{} * 2", "{} - 1", "{} // 2", "{} % 3", "{} > 1",
    "{} == 0", "~({} > 0)", "np.nan_to_num({})", "np.round({})", "np.conj({})", "np.real({})", "np.imag({})",
    "np.copy({})", "np.positive({})", "np.fix({})", "np.heaviside({}, 1)", "abs({})", "np.fmin({}, 2)",
    "({}).astype(np.float64)", "({}).astype(np.int64)", "({}).astype(bool)", "({}).astype('f4')",
    "({}).astype(np.int16)", "np.signbit(np.nan_to_num({}))", "({} != 0) & ({} < 3)",
]  # fmt: skip

#: Functions of two arrays that are exact.
BINARY = [
    "{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.minimum({}, {})", "{} > {}", "{} <= {}", "{} == {}",
    "np.where({} > {}, 1, 2)", "np.add({}, {})", "np.logical_or({}, {})", "np.fmax({}, {})", "{} // {}", "{} % {}",
    "np.logical_and({}, {})", "np.multiply({}, {})", "np.copysign({}, np.nan_to_num({}))", "np.subtract({}, {})",
    "{} != {}",
]  # fmt: skip

#: Those that are rounded.
ROUGH_BINARY = [
    "{} / (np.abs({}) + 1)", "np.arctan2({}, {})", "np.hypot({}, {})", "np.logaddexp({}, {})", "{} / ({} * {} + 1)",
]  # fmt: skip

#: Those with derivatives.
SMOOTH_BINARY = [
    "{} + {}", "{} - {}", "{} * {}", "{} / ({} ** 2 + 1)", "np.hypot({} + 10, {})", "np.logaddexp({}, {})",
]  # fmt: skip

#: Reductions that are exact: of an array, and options.
REDUCTIONS = [
    "np.sum({}{})", "np.max({}{})", "np.min({}{})", "({}).sum({})", "np.any({} > 1{})", "np.all({} < 3{})",
    "np.prod({}{})", "({}).max({})", "np.count_nonzero({}{})", "np.ptp({}{})", "np.add.reduce({}{})",
    "np.nansum({}{})",
]  # fmt: skip

#: Those that are rounded.
ROUGH_REDUCTIONS = [
    "np.mean({}{})", "np.std({}{})", "np.var({}{})", "({}).mean({})", "np.linalg.norm({}{})",
]  # fmt: skip

#: Those with derivatives.
SMOOTH_REDUCTIONS = [
    "np.sum({}{})", "({}).sum({})", "np.mean({}{})", "np.var({}{})",
]  # fmt: skip

#: Functions of whole arrays.
WHOLE = [
    "np.sort({})", "np.cumsum({})", "np.cumsum({}, axis=0)", "np.diff({})", "np.roll({}, 2)", "np.roll({}, 1, axis=0)",
    "np.concatenate([{}, {}])", "np.stack([{}, {}])", "np.tile({}, 2)", "np.repeat({}, 2)", "np.outer({}, {})",
    "np.triu({})", "np.tril({})", "np.flip({})", "np.rot90({})", "np.diag({})", "np.trace({})", "np.pad({}, 1)",
    "np.append({}, {})", "np.argsort({}, kind='stable')", "np.argmax({})", "np.argmin({})", "np.cumprod({})",
    "np.vstack([{}, {}])", "np.hstack([{}, {}])", "np.delete({}, 0, axis=0)", "np.insert({}, 1, 7, axis=0)",
    "np.take({}, [0, -1])", "np.ravel({})", "np.dot({}, {})", "{} @ {}", "np.inner({}, {})",
    "np.einsum('i,i->', {}, {})", "np.einsum('ij->ji', {})", "np.kron({}, {})",
    "np.searchsorted(np.sort(({}).ravel()), 1)", "np.unwrap({})", "np.isin({}, [0, 1])", "np.zeros_like({})",
    "np.ones_like({})", "np.full_like({}, 3)", "np.meshgrid({}, {})[0]", "np.broadcast_to({}, (2,) + ({}).shape)",
    "np.atleast_2d({})", "np.expand_dims({}, 0)", "np.asarray({})", "np.array({})", "np.ascontiguousarray({})",
    "np.moveaxis({}, 0, -1)", "np.split({}, 1)[0]", "np.array_split({}, 2)[1]", "np.median({})",
    "np.maximum.accumulate({})", "np.add.outer({}, {})", "np.select([{} > 1], [{}], 0)", "np.bincount(np.abs({}))",
    "np.interp({}, [0, 1, 2], [1, 5, 2])", "np.convolve({}, [1, 2])", "np.gradient({})", "np.trapezoid({})",
    "np.cross({}[:3], {}[:3])", "np.swapaxes({}, 0, -1)", "np.squeeze({})", "np.resize({}, (3,))",
    "np.nonzero({})[0].sum()", "np.flatnonzero({}).sum()",
]  # fmt: skip

#: Those with derivatives.
SMOOTH_WHOLE = [
    "np.cumsum({})", "np.diff({})", "np.roll({}, 2)", "np.concatenate([{}, {}])", "np.stack([{}, {}])",
    "np.outer({}, {})", "np.tile({}, 2)", "np.triu({})", "np.flip({})", "np.pad({}, 1)", "np.dot({}, {})", "{} @ {}",
    "np.kron({}, {})", "np.einsum('ij->ji', {})", "np.einsum('i,i->', {}, {})", "np.convolve({}, [1, 2])",
    "np.cumsum({}, axis=0)", "np.repeat({}, 2)", "np.take({}, [0, -1])", "np.moveaxis({}, 0, -1)",
    "np.delete({}, 0, axis=0)", "np.append({}, {})", "np.gradient({})", "np.trapezoid({})",
]  # fmt: skip

#: Views of an array, and a few copies that look like some.
VIEWS = [
    "{}.T", "{}[::-1]", "{}[None]", "{}[..., None]", "{}.reshape(-1)", "{}.ravel()", "{}[1:]", "{}[:-1]", "{}[::2]",
    "{}[...]", "np.swapaxes({}, 0, -1)", "{}[:, 1]", "{}[..., 0]", "{}[0]", "{}[-1]", "np.flip({})", "{}.real",
    "np.atleast_1d({})", "{}[:]", "{}[:, ::-1]", "{}[1:, :-1]", "{}.reshape(2, -1)", "np.diagonal({})",
    "np.broadcast_to({}, (2,) + {}.shape)", "{}.swapaxes(0, 1)", "np.expand_dims({}, -1)", "{}[-2:]", "{}[:2]",
    "{}[1:1]", "np.lib.stride_tricks.sliding_window_view({}, 2, axis=0)", "{}.squeeze()", "np.transpose({})",
    "{}.conj()", "np.ascontiguousarray({})", "np.asfortranarray({})", "np.asarray({})", "{}.view()", "{}.flat[1:3]",
]  # fmt: skip
