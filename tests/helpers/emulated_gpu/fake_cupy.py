"""CuPy without a GPU: memory on the host, and calls that must have the number of arguments that CuPy's own take."""

import contextlib
import ctypes
import re
import types

import numpy as np
from cupy.cuda import driver, runtime
from cupy.cuda.memory import OutOfMemoryError

NAME = b"NVIDIA Imaginary"


class Checked:
    """A module of CuPy with some functions replaced, and none of the others to be called.

    Attributes
    ----------
    calls : list of (str, tuple)
        What was called.
    """

    def __init__(self, real, functions, calls):
        self._real, self._functions, self.calls = real, functions, calls

    def __getattr__(self, name):
        real = getattr(self._real, name)
        if name not in self._functions:
            assert not callable(real) or isinstance(real, type), f"{name} is not replaced"
            return real
        parameters = re.search(r"\((.*?)\)", real.__doc__.splitlines()[0])[1].split(",")
        most = len(parameters) if parameters != [""] else 0
        least = most - sum("=" in each for each in parameters)

        def call(*arguments):
            assert least <= len(arguments) <= most, f"{real.__doc__.splitlines()[0]} is called with {arguments}"
            self.calls.append((name, arguments))
            return self._functions[name](*arguments)

        return call


class Stream:
    """A stream, or another library's by its number."""

    made = 0

    def __init__(self, ptr=None, device_id=-1, non_blocking=False):
        Stream.made += 1
        self.ptr = 1000 + Stream.made if ptr is None else ptr
        self.capturing, self.waited = None, []

    def __enter__(self):
        Machine.current.streams.append(self)
        return self

    def __exit__(self, *_):
        Machine.current.streams.pop()

    def begin_capture(self, mode=None):
        assert self.ptr > 1
        self.capturing = Machine.current.captured = []

    def end_capture(self):
        work, Machine.current.captured = self.capturing, None
        return types.SimpleNamespace(launch=lambda stream=None: [each() for each in work])

    def record(self, event=None):
        return event or Event()

    def wait_event(self, event):
        self.waited.append(event)

    def synchronize(self):
        Machine.current.wait(self.ptr)


class Event:
    """A point in a stream."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.times = 0

    def record(self, stream=None):
        self.times += 1

    def synchronize(self):
        assert self.times


class Pool:
    """A memory pool with a limit, that keeps nothing."""

    def __init__(self, total):
        self.total, self.used, self.limit, self.freed = total, 0, 0, 0
        self.kept = 0

    def malloc(self, size):
        assert size > 0
        if self.used + self.kept + size > (self.limit or self.total):
            raise OutOfMemoryError(size, self.used, self.limit)
        self.used += size
        memory = np.full(size, 0xFB, np.uint8)
        return types.SimpleNamespace(ptr=memory.ctypes.data, memory=memory)

    def free_all_blocks(self, stream=None):
        self.freed, self.kept = self.freed + 1, 0

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return self.used + self.kept

    def get_limit(self):
        return self.limit

    def set_limit(self, size=None, fraction=None):
        self.limit = size


#: What a kernel with static arrays may have of dynamic shared memory until it asks for more.
PLAIN = {driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: (48 << 10) - 512}


class Machine:
    """The fake, with what tests look at.

    Attributes
    ----------
    calls : list of (str, tuple)
        Calls of the runtime and the driver.
    status : int
        What the device fails with at the next chance; 0 when all is well.
    kernels : dict of int to callable
        What kernels do, by handle, with the addresses of their arguments.
    properties : dict of int to int
        What the device says of itself.
    """

    current = None

    def __init__(self, total=1 << 20, devices=1):
        Machine.current = self
        self.calls, self.status, self.kernels, self.attributes = [], 0, {}, {}
        self.captured, self.device, self.total = None, 0, total
        self.streams = [Stream(0)]
        self.pool = Pool(total)
        self.properties = {
            runtime.cudaDevAttrMultiProcessorCount: 132,
            runtime.cudaDevAttrMaxThreadsPerBlock: 1024,
            runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin: 227 << 10,
            runtime.cudaDevAttrL2CacheSize: 50 << 20,
            runtime.cudaDevAttrMaxThreadsPerMultiProcessor: 2048,
            runtime.cudaDevAttrPageableMemoryAccessUsesHostPageTables: 0,
            runtime.cudaDevAttrMemoryClockRate: 2_619_000,
            runtime.cudaDevAttrGlobalMemoryBusWidth: 5120,
        }
        self.runtime = Checked(
            runtime,
            {
                "getDeviceCount": lambda: devices,
                "getDevice": lambda: self.device,
                "setDevice": lambda index: setattr(self, "device", index),
                "free": lambda pointer: None,
                "getDeviceProperties": lambda index: {"name": NAME},
                "deviceGetAttribute": lambda which, index: self.properties[which],
                "memcpyAsync": lambda to, of, n, kind, stream: self.do(lambda: ctypes.memmove(to, of, n)),
                "memcpyPeerAsync": lambda to, _, of, __, n, stream: self.do(lambda: ctypes.memmove(to, of, n)),
                "memsetAsync": lambda to, value, n, stream: self.do(lambda: ctypes.memset(to, value, n)),
                "streamSynchronize": self.wait,
                "memGetInfo": lambda: (self.total - self.pool.total_bytes(), self.total),
                "pointerGetAttributes": lambda pointer: types.SimpleNamespace(type=runtime.memoryTypeUnregistered),
            },
            self.calls,
        )
        self.driver = Checked(
            driver,
            {
                "launchKernel": self.launch,
                "funcSetAttribute": lambda function, which, value: self.attributes.update({(function, which): value}),
                "funcGetAttribute": lambda which, function: self.attributes.get(
                    (function, which), PLAIN.get(which, 40 + which)
                ),
                "occupancyMaxActiveBlocksPerMultiprocessor": lambda function, size, shared: 4,
            },
            self.calls,
        )
        module = self.module = types.SimpleNamespace(load=lambda code: None, get_function=self.function)
        self.cupy = types.SimpleNamespace(
            get_default_memory_pool=lambda: self.pool,
            cuda=types.SimpleNamespace(
                Device=self.device_of,
                Stream=Stream,
                Event=Event,
                function=types.SimpleNamespace(Module=lambda: module),
                get_current_stream=lambda device_id=-1: self.streams[-1],
                get_elapsed_time=lambda start, end: 1.5,
                alloc_pinned_memory=Pinned,
            ),
        )

    def device_of(self, index):
        @contextlib.contextmanager
        def current():
            before, self.device = self.device, index
            yield
            self.device = before

        class Device:
            compute_capability = "90"

            def __enter__(this):
                this.stack = current()
                this.stack.__enter__()

            def __exit__(this, *_):
                this.stack.__exit__(None, None, None)

        return Device()

    def function(self, name):
        return types.SimpleNamespace(ptr=len(name))

    def do(self, work):
        if self.captured is None:
            work()
        else:
            self.captured.append(work)

    def fail(self):
        if self.status:
            raise runtime.CUDARuntimeError(self.status)

    def wait(self, stream):
        assert self.captured is None
        self.fail()

    def launch(self, handle, *rest):
        self.fail()
        count = len(rest)
        assert count == 10
        assert all(isinstance(each, int) for each in rest)
        words = (ctypes.c_void_p * 64).from_address(rest[8])
        self.do(lambda: self.kernels[handle](rest[:7], words))


class Pinned(bytearray):
    """Memory that stays where it is."""

    @property
    def ptr(self):
        return np.frombuffer(self, np.uint8).ctypes.data
