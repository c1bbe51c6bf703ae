"""DLPack of arrays on hlokit: their memory is the host's, so that they are arrays of a CPU for others, without a copy."""
import ctypes

import numpy as np

_CPU = 1
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_NARROW = {"bfloat16": (4, 16), "float8_e3m4": (7, 8), "float8_e4m3": (8, 8), "float8_e4m3b11fnuz": (9, 8), "float8_e4m3fn": (10, 8),
           "float8_e4m3fnuz": (11, 8), "float8_e5m2": (12, 8), "float8_e5m2fnuz": (13, 8), "float8_e8m0fnu": (14, 8)}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_held = {}  # address of a tensor -> it, its dimensions and its array
_NAME = b"dltensor"
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address):
    _held.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule):
    if _is_valid(capsule, _NAME):  # nobody took it: a consumer renames it
        _held.pop(_pointer(capsule, _NAME), None)


def capsule_of(array):
    """A capsule of an array on one device of hlokit. Raises JaxRuntimeError, as JAX's CPU, for types that DLPack lacks."""
    import jax  # pylint: disable=import-outside-toplevel

    dtype = np.dtype(array.dtype)
    code, bits = _NARROW.get(dtype.name, (_CODES.get(dtype.kind), 8 * dtype.itemsize))
    if code is None or dtype.name in ("int2", "int4", "uint2", "uint4"):
        raise jax.errors.JaxRuntimeError(f"UNIMPLEMENTED: DLPack has no type for {dtype.name}")
    array._check_if_deleted()  # pylint: disable=protected-access
    array.block_until_ready()
    dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    tensor = _Tensor(array.unsafe_buffer_pointer(), _CPU, 0, array.ndim, code, bits, 1, dims, None, 0)
    managed = _Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    _held[ctypes.addressof(managed)] = (managed, dims, array)
    return _api.PyCapsule_New(ctypes.addressof(managed), _NAME, ctypes.cast(_drop, ctypes.c_void_p))


def install():
    """Lets arrays of hlokit give themselves away."""
    from jax._src import array as jax_array  # pylint: disable=import-outside-toplevel
    from jax._src import dlpack as jax_dlpack  # pylint: disable=import-outside-toplevel

    device_of, give = jax_array.ArrayImpl.__dlpack_device__, jax_dlpack._to_dlpack  # pylint: disable=protected-access

    def dlpack_device(self):
        if len(self._arrays) == 1 and self.platform() == "hlokit":  # pylint: disable=protected-access
            return jax_dlpack.DLDeviceType.kDLCPU, 0
        return device_of(self)

    def to_dlpack(x, stream, src_device=None, device=None, copy=None):
        if src_device is None:
            src_device, = x.devices()
        if src_device.platform != "hlokit" or (device is not None and device.platform not in ("cpu", "hlokit")):
            return give(x, stream=stream, src_device=src_device, device=device, copy=copy)
        return capsule_of(x.copy() if copy else x)

    jax_array.ArrayImpl.__dlpack_device__ = dlpack_device
    jax_dlpack._to_dlpack = to_dlpack  # pylint: disable=protected-access
# SPDX-License-Identifier: Apache-2.0
