"""File formats: tensors and containers of them, strictly validated, written atomically, without executing code.

``.npy`` and ``.npz`` are NumPy's (:mod:`~nxkernel.formats.npy`, :mod:`~nxkernel.formats.npz`), and models come as
safetensors (:mod:`~nxkernel.formats.safetensors`). nxkernel's own format, :mod:`~nxkernel.formats.serialization`, keeps
containers, names of axes and every type. Whatever is wrong with a file is an
:class:`~nxkernel.errors.NxValueError` that names the file, what was found and what was expected.
"""

from nxkernel.formats.npy import load_numpy, save_numpy
from nxkernel.formats.npz import load_numpy_archive, save_numpy_archive
from nxkernel.formats.safetensors import load_safetensors, load_safetensors_metadata, save_safetensors
from nxkernel.formats.serialization import deserialize, load, save, serialize
from nxkernel.messages.call_errors import explain

__all__ = [
    "deserialize", "load", "load_numpy", "load_numpy_archive", "load_safetensors", "load_safetensors_metadata", "save",
    "save_numpy", "save_numpy_archive", "save_safetensors", "serialize",
]  # fmt: skip

explain(globals(), __all__, "nx")
