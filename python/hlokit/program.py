# SPDX-License-Identifier: Apache-2.0
"""Compiled modules: arrays in, arrays out, neither copied where that can be helped."""
import ctypes
import math
import weakref

import numpy as np

from . import _native
from ._native import Error
from .dtypes import ARRAY, array_shape

_SMALL = 1 << 16  # bytes of an array that is sooner copied than shared
_clients: dict = {}


def _client(platform):
    if platform not in _clients:
        _clients[platform] = _native.made(_native.client_create, platform.encode())
    return _clients[platform]


def _as_numpy(value, dtype):
    """Arrays of any package, through DLPack where they are no numpy arrays and do not become such; numbers and lists of the dtype."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return np.asarray(value) if hasattr(value, "dtype") else np.asarray(value, dtype)
    return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)


class _Memory:
    """A result's buffer as numpy sees it: the array made of it keeps it alive."""

    def __init__(self, buffer, address, size):
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": (address, False)}
        weakref.finalize(self, _native.buffer_free, buffer)


class _Call:
    """The buffers of one run. Arguments are read where they lie, which holds as long as the arrays do: until the run has ended."""

    def __init__(self, client):
        self.client = client
        self.arrays, self.buffers = [], []
        self.given = []  # where memory begins and ends that a result must not share: arguments, and results given before

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for buffer in self.buffers:
            _native.buffer_free(buffer)

    def lend(self, value, parameter, number):
        """An argument becomes a buffer."""
        dtype, dims, plain = parameter
        array = _as_numpy(value, dtype)
        if array.dtype != dtype or array.shape != dims:
            raise Error(f"argument {number} is {array.dtype}{list(array.shape)}, the parameter {dtype}{list(dims)}")
        array = np.ascontiguousarray(array)
        address, size = array.ctypes.data, array.nbytes
        if size < _SMALL:
            buffer = _native.made(_native.buffer_from_host, self.client, plain, address, size)
        else:
            buffer = _native.made(_native.buffer_borrow_host, self.client, plain, address, size, None, None)
            self.arrays.append(array)
            self.given.append((address, address + size))
        self.buffers.append(buffer)
        return buffer

    def value(self, buffer):
        """The arrays of a result, which is this call's from now on."""
        size = _native.buffer_tuple_size(buffer)
        if size < 0:
            return self._array(buffer)
        self.buffers.append(buffer)
        return tuple([self.value(_native.made(_native.buffer_tuple_element, buffer, i)) for i in range(size)])

    def _array(self, buffer):
        dtype, dims = array_shape(_native.buffer_shape(buffer).decode())
        size = _native.buffer_size(buffer)
        if size >= _SMALL and size == dtype.itemsize * math.prod(dims):
            address = _native.buffer_data(buffer)
            if all(address >= end or address + size <= begin for begin, end in self.given):
                self.given.append((address, address + size))
                return np.asarray(_Memory(buffer, address, size)).view(dtype).reshape(dims)
        self.buffers.append(buffer)
        array = np.empty(dims, dtype)
        _native.buffer_to_host(self.client, buffer, None, array.ctypes.data, array.nbytes)
        return array


def _parameter(shape):
    """The dtype, the dimensions and the text without layout of a parameter; raises Error where it is no array."""
    dtype, dims = array_shape(shape)
    return dtype, dims, f"{ARRAY.match(shape)[1]}[{','.join(map(str, dims))}]".encode()


class Program:
    """A compiled module; calling it runs it on one device, `on_devices` on all of the module's. Several threads may call it at once."""

    def __init__(self, platform, handle):
        """Of the package's own; use Module.compile or Program.deserialize."""
        self.platform, self._client, self._handle = platform, _client(platform), handle
        weakref.finalize(self, _native.program_free, self._handle)
        count = _native.program_parameter_count(self._handle)
        self.parameter_shapes = [_native.program_parameter_shape(self._handle, i).decode() for i in range(count)]
        self.result_shape = _native.program_result_shape(self._handle).decode()
        self._parameters = None
        self.device_count = _native.program_device_count(self._handle)

    @classmethod
    def compile(cls, text, platform, opt_level, threads, run_passes):
        """Of HLO text; Module.compile says what the options mean."""
        options = _native.CompileOptions(ctypes.sizeof(_native.CompileOptions), opt_level, threads, int(run_passes), 0, None, 0, None)
        return cls(platform, _native.made(_native.compile_text, _client(platform), text.encode(), ctypes.byref(options)))

    @classmethod
    def deserialize(cls, data, platform="cpu"):
        """Of the bytes of `serialize`, for a machine of the same kind and the same hlokit; raises Error for others."""
        data = bytes(data)
        return cls(platform, _native.made(_native.program_load, _client(platform), data, len(data)))

    def serialize(self):
        """The compiled program as bytes, which load without being compiled anew."""
        return _native.taken_bytes(_native.program_serialize, self._handle)

    def __str__(self):
        """The module as it runs, after passes."""
        return _native.taken_text(_native.program_text, self._handle)

    def __call__(self, *arrays):
        """The result for these arguments, one a parameter, as numpy would take them: an array, or a tuple of results.

        Raises Error where number, type or size of an argument is not the parameter's; nothing is converted but Python's numbers and
        lists. Contiguous arrays are read in place where they begin at a multiple of 64 bytes, and must not change until the call returns.
        """
        if self.device_count != 1:
            raise Error(f"the module runs on {self.device_count} devices: on_devices takes the arguments of each")
        with _Call(self._client) as call:
            return call.value(_native.made(_native.execute, self._handle, self._arguments(call, [arrays]), len(arrays)))

    def on_devices(self, arguments):
        """The results of all devices, for a list of the arguments of each: all partitions of the first replica, then of the second."""
        arguments = [tuple(arrays) for arrays in arguments]
        if len(arguments) != self.device_count:
            raise Error(f"arguments of {len(arguments)} devices for a module of {self.device_count}")
        results = (ctypes.c_void_p * self.device_count)()
        with _Call(self._client) as call:
            _native.execute_replicated(self._handle, self._arguments(call, arguments), len(self.parameter_shapes), results)
            return [call.value(ctypes.c_void_p(result)) for result in results]

    def _arguments(self, call, of_devices):
        for arrays in of_devices:
            if len(arrays) != len(self.parameter_shapes):
                raise Error(f"{len(arrays)} arguments for {len(self.parameter_shapes)} parameters")
        if self._parameters is None:
            self._parameters = [_parameter(shape) for shape in self.parameter_shapes]
        buffers = [call.lend(value, parameter, number) for arrays in of_devices
                   for number, (value, parameter) in enumerate(zip(arrays, self._parameters))]
        return (ctypes.c_void_p * len(buffers))(*buffers)
