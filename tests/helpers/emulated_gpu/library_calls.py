"""cuBLAS, cuSOLVER and CuPy without a GPU: LAPACK does to the host's memory what theirs do to a device's.

The functions have the arguments of CuPy's, by name; matrices are in columns, pivots count from 1, and what a library
need not write it does not write.
"""

import sys
import types

import numpy as np
import scipy.linalg.blas
import scipy.linalg.lapack

from nxkernel.compilers.numba_cuda.routines.device_arrays import at_address

CHARS = {"s": "f", "d": "d", "c": "F", "z": "D"}


class OutOfMemoryError(MemoryError):
    """CuPy's error for a pool without memory."""

    def __init__(self, size, total, limit=0):
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes).")
        self._size = size


class Array(np.ndarray):
    """An array whose memory is asked for as CuPy's is."""

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)


def _ours(value):
    if isinstance(value, tuple | list):
        return type(value)(map(_ours, value)) if type(value) in (tuple, list) else tuple(map(_ours, value))
    return value.view(Array) if isinstance(value, np.ndarray) else value


class _Wrapped:
    """A module of NumPy whose functions give arrays of ours."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        return (lambda *args, **kwargs: _ours(found(*args, **kwargs))) if callable(found) else found


def _array(shape, dtype, memory):
    return at_address(memory.pointer, shape, dtype).view(Array)


def _module(name, **contents):
    module = types.ModuleType(name)
    vars(module).update(contents)
    return module


class _Cupy(types.ModuleType):
    """CuPy: what is not its own is NumPy's."""

    def __getattr__(self, name):
        return getattr(_Wrapped(np), name)


def _cupy():
    found = _Cupy("cupy")
    device = _module("cupy.cuda.device", get_cublas_handle=lambda: 11, get_cusolver_handle=lambda: 12)
    memory = _module("cupy.cuda.memory", OutOfMemoryError=OutOfMemoryError)
    found.cuda = _module(
        "cupy.cuda",
        device=device,
        memory=memory,
        UnownedMemory=lambda ptr, size, owner, device_id: types.SimpleNamespace(pointer=ptr, size=size),
        MemoryPointer=lambda memory, offset: types.SimpleNamespace(pointer=memory.pointer + offset),
    )
    found.ndarray, found.asnumpy = _array, lambda x: np.array(x)
    found.linalg, found.fft = _Wrapped(np.linalg), _Wrapped(_scipy_fft())
    return found


def _scipy_fft():
    import scipy.fft

    return scipy.fft


def _matrix(pointer, rows, columns, step, char):
    assert step >= rows
    return at_address(pointer, (rows, columns), np.dtype(char), (1, step))


def _numbers(pointer, count, dtype=np.int32):
    return at_address(pointer, (count,), np.dtype(dtype))


class Blas(types.ModuleType):
    """cuBLAS, as ``cupy_backends.cuda.libs.cublas``."""

    CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C = 0, 1, 2
    CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER = 0, 1
    CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT = 0, 1
    CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT = 0, 1

    def __init__(self):
        super().__init__("cublas")
        #: The mathematical mode of the handle, and with which products were computed in which type.
        self.mode, self.products = 0, []
        for letter, char in CHARS.items():
            for name, make in (("trsm", _trsm), ("trsmBatched", _trsms), ("getrfBatched", _getrfs)):
                setattr(self, letter + name, make(char))
            setattr(self, f"{letter}getrsBatched", _getrss(char))

    def getMathMode(self, handle):
        return self.mode

    def setMathMode(self, handle, mode):
        self.mode = mode

    def gemmStridedBatchedEx(
        self, handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA, B, Btype, ldb, strideB, beta,
        C, Ctype, ldc, strideC, batchCount, computeType, algo,
    ):  # fmt: skip
        assert Atype == Btype == Ctype
        import ml_dtypes

        kinds = {0: "f", 1: "d", 2: "e", 4: "F", 5: "D", 14: ml_dtypes.bfloat16}
        dtype = np.dtype(kinds[Atype])
        wide = np.dtype("f") if dtype.itemsize == 2 else dtype
        assert list(_numbers(alpha, 1, wide)) == [1]
        assert list(_numbers(beta, 1, wide)) == [0]
        self.products.append((computeType, self.mode))
        for number in range(batchCount):
            left, right, made = (
                p + number * step * dtype.itemsize for p, step in ((A, strideA), (B, strideB), (C, strideC))
            )
            a = _matrix(left, *((k, m) if transa else (m, k)), lda, dtype).astype(wide)
            b = _matrix(right, *((n, k) if transb else (k, n)), ldb, dtype).astype(wide)
            _matrix(made, m, n, ldc, dtype)[...] = (a.T if transa else a) @ (b.T if transb else b)


def _trsm(char):
    (solve,) = scipy.linalg.blas.get_blas_funcs(("trsm",), dtype=np.dtype(char))

    def trsm(handle, side, uplo, trans, diag, m, n, alpha, Aarray, lda, Barray, ldb):
        assert list(_numbers(alpha, 1, char)) == [1]
        a = _matrix(Aarray, *[n if side else m] * 2, lda, char)
        b = _matrix(Barray, m, n, ldb, char)
        b[...] = solve(1, a, b, side=side, lower=not uplo, trans_a=trans, diag=diag)

    return trsm


def _trsms(char):
    one = _trsm(char)

    def trsm(handle, side, uplo, trans, diag, m, n, alpha, Aarray, lda, Barray, ldb, batchCount):
        for a, b in zip(*(_numbers(p, batchCount, np.uintp) for p in (Aarray, Barray)), strict=True):
            one(handle, side, uplo, trans, diag, m, n, alpha, int(a), lda, int(b), ldb)

    return trsm


def _lapack(name, char):
    (found,) = scipy.linalg.lapack.get_lapack_funcs((name,), dtype=np.dtype(char))
    return found


def _getrf(char):
    factor = _lapack("getrf", char)

    def getrf(handle, m, n, A, lda, work, devIpiv, devInfo):
        a = _matrix(A, m, n, lda, char)
        a[...], pivots, _numbers(devInfo, 1)[0] = factor(a)
        _numbers(devIpiv, min(m, n))[...] = pivots + 1

    return getrf


def _getrfs(char):
    one = _getrf(char)

    def getrf(handle, n, Aarray, lda, PivotArray, infoArray, batchSize):
        for number, a in enumerate(_numbers(Aarray, batchSize, np.uintp)):
            one(handle, n, n, int(a), lda, 0, PivotArray + 4 * n * number, infoArray + 4 * number)

    return getrf


def _getrs(char):
    solve = _lapack("getrs", char)

    def getrs(handle, trans, n, nrhs, A, lda, devIpiv, B, ldb, devInfo):
        b = _matrix(B, n, nrhs, ldb, char)
        b[...] = solve(_matrix(A, n, n, lda, char), _numbers(devIpiv, n) - 1, b, trans=trans)[0]
        _numbers(devInfo, 1)[0] = 0

    return getrs


def _getrss(char):
    one = _getrs(char)

    def getrs(handle, trans, n, nrhs, Aarray, lda, devIpiv, Barray, ldb, info, batchSize):
        each = zip(*(_numbers(p, batchSize, np.uintp) for p in (Aarray, Barray)), strict=True)
        for number, (a, b) in enumerate(each):
            one(handle, trans, n, nrhs, int(a), lda, devIpiv + 4 * n * number, int(b), ldb, info)

    return getrs


class Solver(types.ModuleType):
    """cuSOLVER, as ``cupy_backends.cuda.libs.cusolver``."""

    def __init__(self):
        super().__init__("cusolver")
        for letter, char in CHARS.items():
            setattr(self, f"{letter}potrf_bufferSize", lambda handle, uplo, n, A, lda: 7)
            setattr(self, f"{letter}getrf_bufferSize", lambda handle, m, n, A, lda: 7)
            for name, make in (("potrf", _potrf), ("potrfBatched", _potrfs), ("getrf", _getrf), ("getrs", _getrs)):
                setattr(self, letter + name, make(char))


def _potrf(char):
    factor = _lapack("potrf", char)

    def potrf(handle, uplo, n, A, lda, work, lwork, devInfo):
        a = _matrix(A, n, n, lda, char)
        a[...], _numbers(devInfo, 1)[0] = factor(a, lower=not uplo, clean=0)

    return potrf


def _potrfs(char):
    one = _potrf(char)

    def potrf(handle, uplo, n, Aarray, lda, infoArray, batchSize):
        for number, a in enumerate(_numbers(Aarray, batchSize, np.uintp)):
            one(handle, uplo, n, int(a), lda, 0, 0, infoArray + 4 * number)

    return potrf


class Gpu:
    """What routines ask of a GPU, around a simulated device that has the memory.

    Parameters
    ----------
    device : Device
    """

    simulated = False

    def __init__(self, device):
        self._device = device

    def __getattr__(self, name):
        return getattr(self._device, name)

    def here(self):
        # CuPy knows no warnings.
        return np.errstate(all="ignore")


def install(patch):
    """Have these libraries instead of NVIDIA's, until the patch is undone; gives cuBLAS.

    Parameters
    ----------
    patch : pytest.MonkeyPatch
    """
    cupy, blas = _cupy(), Blas()
    libs = _module("cupy_backends.cuda.libs", cublas=blas, cusolver=Solver())
    modules = {
        "cupy": cupy,
        "cupy.cuda": cupy.cuda,
        "cupy.cuda.device": cupy.cuda.device,
        "cupy.cuda.memory": cupy.cuda.memory,
        "cupy_backends": _module("cupy_backends"),
        "cupy_backends.cuda": _module("cupy_backends.cuda"),
        "cupy_backends.cuda.libs": libs,
    }
    for name, module in modules.items():
        patch.setitem(sys.modules, name, module)
    return blas
