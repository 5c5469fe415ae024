"""The table from functions of SciPy's to those of this package, made of what is imported of SciPy."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.library_functions import LIBRARIES
from nxkernel.numpy.scipy import (
    called_algebra,
    called_objects,
    fourier,
    integrals,
    linear_algebra,
    root_finding,
    signals,
    special,
    special_matrices,
    special_ufuncs,
)
from nxkernel.numpy.scipy.hosted import Example, hosted, is_traced

#: By module of SciPy's, the modules that have functions of the same names.
_MODULES = {
    "scipy.integrate": [integrals],
    "scipy.special": [special], "scipy.fft": [fourier], "scipy.signal": [signals],
    "scipy.linalg": [linear_algebra, special_matrices, called_algebra],
}  # fmt: skip
#: Functions of the older module that take what those of ``scipy.fft`` take.
_FFTPACK = ("dct", "dst", "fft", "fft2", "fftn", "idct", "idst", "ifft", "ifft2", "ifftn")
#: LAPACK's routines of tridiagonal equations, and the type of each.
_TRIDIAGONAL = {"sgtsv": types.f32, "dgtsv": types.f64, "cgtsv": types.c64, "zgtsv": types.c128}


def _tree(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A tree of clusters in which each takes in the next point."""
    steps = np.arange(shape[0])
    tree = np.stack([np.where(steps, shape[0] + steps, 0), steps + 1.0, steps + 1.0, steps + 2.0], axis=1)
    return tree[:, : shape[1]].astype(dtype)


def _tree_from_one(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The same as MATLAB counts points."""
    tree = _tree(shape, np.dtype(float))
    tree[:, :2] += 1
    return tree.astype(dtype)


_OF_TREES = (
    "cophenet correspond inconsistent is_monotonic is_valid_linkage leaves_list maxRstat maxdists maxinconsts "
    "num_obs_linkage optimal_leaf_ordering to_mlab_linkage"
)
#: By module of SciPy's, functions that are called, and examples of what they take besides arrays of any values.
_HOSTED = {
    "scipy.cluster.hierarchy": "average centroid complete from_mlab_linkage linkage median single ward weighted "
    + _OF_TREES,
    "scipy.ndimage": "affine_transform convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d "
    "gaussian_gradient_magnitude gaussian_laplace laplace map_coordinates maximum_filter maximum_filter1d "
    "median_filter minimum_filter minimum_filter1d percentile_filter prewitt rank_filter rotate shift sobel "
    "spline_filter spline_filter1d uniform_filter uniform_filter1d zoom",
    "scipy.signal": "filtfilt lfilter_zi lfiltic medfilt medfilt2d savgol_filter sosfilt_zi sosfiltfilt wiener",
    "scipy.spatial.distance": "cdist pdist squareform",
    "scipy.stats": "chatterjeexi kendalltau levene mood rankdata spearmanr spearmanrho",
}
_EXAMPLES: dict[str, dict[str, Example]] = {
    **{name: {"Z": _tree} for name in _OF_TREES.split()}, "from_mlab_linkage": {"Z": _tree_from_one},
}  # fmt: skip
#: By module of SciPy's that is imported, the table of its functions.
_tables: dict[str, dict[Any, Any]] = {}


def counterpart(function: Any) -> Any:
    """What replaces a function of SciPy's for traced values; None where nothing does.

    Parameters
    ----------
    function : callable
        Of any library; one that has a hash. Those of libraries upon SciPy are called in the running program.
    """
    if special_ufuncs.is_special(function):
        return special_ufuncs.of(function)
    if "scipy" not in sys.modules:
        return None
    for name in _NAMES:
        if name in sys.modules:
            found = _table(name).get(function)
            if found is not None:
                return found
    is_called = callable(function) and _module(function).partition(".")[0] in LIBRARIES
    return _naming(function) if is_called else None


def _where_traced(theirs: Any, ours: Callable[..., Any]) -> Callable[..., Any]:
    """A counterpart that leaves what is known while a program is made to SciPy."""

    @functools.wraps(ours)
    def called(*args: Any, **options: Any) -> Any:
        return (ours if is_traced(args, options) else theirs)(*args, **options)

    return called


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", "") or "")


def _naming(function: Any) -> Callable[..., Any]:
    """A function of SciPy's without a counterpart: an error for what it asks of traced values names it."""

    def called(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except (TypeError, ValueError, AttributeError) as error:
            if getattr(error, "of_scipy", False) or not _is_raised_below(error):
                raise
            if is_traced(args, options) or any(isinstance(one, called_objects.MadeObject) for one in args):
                try:
                    return called_objects.called(function, _name(function), args, options)
                except called_objects.NoExampleError:
                    pass
            if isinstance(error, NxTypeError):
                raise _named(function, error) from error
            raise

    return called


def _named(function: Any, error: NxTypeError) -> NxTypeError:
    kind, asked = type(error), getattr(error, "value", None)
    if isinstance(error, TracedValueError):
        of = "" if asked is None else f" of type {asked.spec}"
        reason = f"asks for the data of a traced value{of}."
    else:
        reason = f"does not take traced values: {str(error).splitlines()[0]}"
    name = getattr(function, "__name__", type(function).__name__)
    named = kind(
        message(
            f"{_name(function)}() {reason}",
            "Its code reads numbers, and a program has none before it runs.",
            "Call it before the definition and pass what it gives, or have the running program call it: "
            f"nx.host_call({name}, like, x), where `like` has the shape and type of its result.",
            *_about_the_standard(function),
        )
    )
    named.value, named.of_scipy = asked, True
    return named


def _name(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return ".".join([*[part for part in _module(function).split(".") if not part.startswith("_")], name])


def _is_raised_below(error: BaseException) -> bool:
    """Whether the value was asked for by code of a library, and not by a function that was passed to it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    outside = [frame for frame in frames if not frame.f_globals.get("__name__", "").startswith("nxkernel.")]
    last = (outside or frames)[-1].f_globals.get("__name__", "").partition(".")[0]
    return last in LIBRARIES or last in ("numpy", "joblib") or not outside


def _about_the_standard(function: Any) -> list[str]:
    on = getattr(sys.modules.get("scipy._lib._array_api"), "SCIPY_ARRAY_API", True)
    return [] if on or not _module(function).startswith("scipy") else [
        "With SCIPY_ARRAY_API=1 in the environment when SciPy is imported, many of its functions take traced values."
    ]  # fmt: skip


def _table(name: str) -> dict[Any, Any]:
    if name not in _tables:
        theirs = sys.modules[name]
        ours: dict[str, Callable[..., Any]] = {
            one: getattr(module, one) for module in _MODULES.get(name, ()) for one in module.__all__
        }
        if name == "scipy.fftpack":
            ours |= {one: getattr(fourier, one) for one in _FFTPACK}
        if name == "scipy.linalg.lapack":
            ours |= {one: called_algebra.gtsv(one, type_) for one, type_ in _TRIDIAGONAL.items()}
        table = {
            getattr(theirs, one): _where_traced(getattr(theirs, one), function)
            for one, function in ours.items()
            if hasattr(theirs, one)
        }
        for one in _HOSTED.get(name, "").split():
            if hasattr(theirs, one):
                table[getattr(theirs, one)] = hosted(getattr(theirs, one), _EXAMPLES.get(one, {}))
        if name == "scipy.optimize":
            table |= {getattr(theirs, one): getattr(root_finding, one) for one in root_finding.__all__}
        _tables[name] = table
    return _tables[name]


_NAMES = (
    *_MODULES, *(name for name in _HOSTED if name not in _MODULES), "scipy.fftpack", "scipy.linalg.lapack",
    "scipy.optimize",
)  # fmt: skip
