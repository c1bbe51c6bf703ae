"""Callbacks into Python: pure_callback, io_callback, debug.print and debug.callback on hlokit.

Each call site gets a number; its program calls the custom call `hlokit_python_callback` with it, whose one function (below, by
ctypes) looks the number up and hands the arguments over as numpy arrays. An exception of the callback is the error of the run.
Ordered callbacks take JAX's token through an optimization barrier, so that one starts when the one before has its results.
"""
import ctypes
import inspect
import itertools
import threading
import traceback
import types
import weakref

import numpy as np

TARGET = "hlokit_python_callback"


class _Buffer(ctypes.Structure):  # hlokit_ffi_buffer
    _fields_ = [("type", ctypes.c_char_p), ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("minor_to_major", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_int64)]


class _Attribute(ctypes.Structure):  # hlokit_ffi_attribute
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("integer", ctypes.c_int64), ("number", ctypes.c_double),
                ("string", ctypes.c_char_p), ("count", ctypes.c_int64), ("integers", ctypes.POINTER(ctypes.c_int64)),
                ("numbers", ctypes.POINTER(ctypes.c_double))]


class _Call(ctypes.Structure):  # hlokit_ffi_call
    pass


_SetError = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Call), ctypes.c_char_p)
_Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call))
_Call._fields_ = [("version", ctypes.c_int32), ("target", ctypes.c_char_p), ("backend_config", ctypes.c_char_p),
                  ("backend_config_size", ctypes.c_int64), ("argument_count", ctypes.c_int32), ("result_count", ctypes.c_int32),
                  ("attribute_count", ctypes.c_int32), ("arguments", ctypes.POINTER(_Buffer)), ("results", ctypes.POINTER(_Buffer)),
                  ("attributes", ctypes.POINTER(_Attribute)), ("replica", ctypes.c_int64), ("partition", ctypes.c_int64),
                  ("set_error", _SetError), ("caller", ctypes.c_void_p)]


class _Site:
    """A callback with the types of its arguments and results; lives as long as the executable that calls it."""

    numbers = itertools.count()
    lock = threading.Lock()
    all = {}  # number -> site, held weakly by what JAX keeps alive

    def __init__(self, callback, operand_avals, result_avals):
        from jax._src import core  # pylint: disable=import-outside-toplevel

        self.callback, self.result_avals = callback, result_avals
        # Keys of random numbers lie as arrays of integers.
        self.operands = [core.physical_aval(aval) for aval in operand_avals]
        self.results = [core.physical_aval(aval) for aval in result_avals]
        with _Site.lock:
            self.number = next(_Site.numbers)
            _Site.all[self.number] = self

    def run(self, call):
        arguments = [_array(call.arguments[i], aval).copy() for i, aval in enumerate(self.operands)]
        for i, value in enumerate(_checked(self.callback(*arguments), self.result_avals)):
            _array(call.results[i], self.results[i])[...] = value


class _BufferSite(_Site):
    """Of jax.experimental.buffer_callback: the callback works on the buffers themselves and returns nothing."""

    def run(self, call):
        buffers = [_array(call.arguments[i], aval).view(_CallBuffer) for i, aval in enumerate(self.operands)]
        for buffer in buffers:
            buffer.flags.writeable = False
        buffers += [_array(call.results[i], aval).view(_CallBuffer) for i, aval in enumerate(self.results)]
        self.callback(types.SimpleNamespace(stage=3, stream=None), *buffers)


class _CallBuffer(np.ndarray):
    """Memory of a running program."""

    @property
    def writeable(self):
        return self.flags.writeable

    def unsafe_raw_buffer_pointer(self):
        return self.ctypes.data


def _array(buffer, aval):
    """The buffer's memory as a numpy array; row-major, as the custom call asks for no other layout."""
    dtype = np.dtype(aval.dtype)
    if buffer.bytes == 0:
        return np.empty(aval.shape, dtype)
    memory = (ctypes.c_char * buffer.bytes).from_address(buffer.data)
    return np.frombuffer(memory, dtype=dtype).reshape(aval.shape)


def _checked(values, avals):
    values = tuple(np.asarray(value) for value in values)
    if len(values) != len(avals):
        raise RuntimeError(f"Mismatched number of outputs from callback. Expected: {len(avals)}, Actual: {len(values)}")
    for i, (value, aval) in enumerate(zip(values, avals)):
        if value.shape != aval.shape:
            raise RuntimeError(f"Incorrect output shape for return value #{i}: Expected: {aval.shape}, Actual: {value.shape}")
    return [_converted(value, aval, i) for i, (value, aval) in enumerate(zip(values, avals))]


def _converted(value, aval, i):
    from jax._src import dtypes  # pylint: disable=import-outside-toplevel

    value = np.asarray(dtypes.canonicalize_value(value))
    if value.dtype != aval.dtype:
        raise RuntimeError(f"Incorrect output dtype for return value #{i}: Expected: {aval.dtype}, Actual: {value.dtype}")
    return value


@_Function
def _dispatch(call):
    try:
        _Site.all[call.contents.attributes[0].integer].run(call.contents)
        return 0
    except BaseException:  # pylint: disable=broad-except
        call.contents.set_error(call, traceback.format_exc().encode())
        return 1


_calling = weakref.WeakSet()  # MLIR modules with callbacks, whose programs mean something in this process alone


def _keep(ctx, site):
    ctx.module_context.add_keepalive(site)
    _calling.add(ctx.module_context.module)


def _with_context(function, ctx, *arguments):
    """Calls a function of JAX's mlir that takes the module's context first, but in JAX 0.10.0."""
    takes_context = "ctx" in inspect.signature(function).parameters
    return function(*[ctx.module_context] * takes_context, *arguments)


def _ir_type(ctx, aval):
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    return _with_context(mlir.aval_to_ir_type, ctx, aval)


def _emit(ctx, callback, token, operands, operand_avals, result_avals, has_side_effect, sharding):
    """What emit_python_callback gives: results, the next token, what to keep alive."""
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel
    from jax._src.lib.mlir import ir  # pylint: disable=import-outside-toplevel
    from jax._src.lib.mlir.dialects import hlo  # pylint: disable=import-outside-toplevel

    site = _Site(callback, list(operand_avals), list(result_avals))
    _keep(ctx, site)
    operands = list(operands)
    if token:
        token, *operands = hlo.optimization_barrier([token, *operands]) if operands else [token]
    types = [_ir_type(ctx, aval) for aval in result_avals]
    call = mlir.custom_call(TARGET, result_types=types, operands=operands, has_side_effect=has_side_effect or bool(token), api_version=4,
                            backend_config={"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), site.number)})
    if sharding is not None:
        _with_context(mlir.set_sharding, ctx, call, sharding)
    results = list(call.results)
    if token and results:
        token, *results = hlo.optimization_barrier([token, *results])
    return results, token, site


def _lower_buffer_callback(ctx, *operands, callback, in_tree, out_tree, has_side_effect, input_output_aliases, **_):
    from jax import tree  # pylint: disable=import-outside-toplevel
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel
    from jax._src.lib.mlir import ir  # pylint: disable=import-outside-toplevel

    def on_buffers(context, *buffers):
        arguments, keywords = tree.unflatten(in_tree, buffers[:in_tree.num_leaves])
        results = tree.unflatten(out_tree, buffers[in_tree.num_leaves:])
        if callback(context, results, *arguments, **keywords) is not None:
            raise ValueError("buffer_callback callback must not return any values.")

    site = _BufferSite(on_buffers, list(ctx.avals_in), list(ctx.avals_out))
    _keep(ctx, site)
    call = mlir.custom_call(TARGET, result_types=[_ir_type(ctx, aval) for aval in ctx.avals_out],
                            operands=list(operands), has_side_effect=has_side_effect, api_version=4,
                            operand_output_aliases=dict(input_output_aliases),
                            backend_config={"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), site.number)})
    return call.results


def _keep_from_cache():
    """Programs that call Python are not written to JAX's compilation cache."""
    from jax._src import compiler  # pylint: disable=import-outside-toplevel

    theirs = compiler._compile_and_write_cache  # pylint: disable=protected-access

    def compile_and_write_cache(backend, computation, executable_devices, compile_options, host_callbacks, *rest):
        if computation in _calling:
            return compiler.backend_compile_and_load(backend, computation, executable_devices, compile_options, host_callbacks)
        return theirs(backend, computation, executable_devices, compile_options, host_callbacks, *rest)

    compiler._compile_and_write_cache = compile_and_write_cache  # pylint: disable=protected-access


def install(library):
    """Registers the custom call with the plugin, and the lowerings with JAX."""
    from jax._src import buffer_callback  # pylint: disable=import-outside-toplevel
    from jax._src import callback as jax_callback  # pylint: disable=import-outside-toplevel
    from jax.interpreters import mlir  # pylint: disable=import-outside-toplevel

    register = ctypes.CDLL(str(library)).hlokit_pjrt_register_custom_call
    register.argtypes, register.restype = [ctypes.c_char_p, _Function], ctypes.c_int
    if register(TARGET.encode(), _dispatch) != 0:
        raise RuntimeError(f"the custom call {TARGET} is taken by another function")
    theirs = jax_callback.emit_python_callback

    def emit_python_callback(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, returns_token=True,
                             partitioned=False, sharding=None):
        if tuple(ctx.module_context.platforms) != ("hlokit",):
            return theirs(ctx, callback, token, operands, operand_avals, result_avals, has_side_effect=has_side_effect,
                          returns_token=returns_token, partitioned=partitioned, sharding=sharding)
        if partitioned and result_avals:
            raise ValueError("Partitioned callback not supported with return values.")
        return _emit(ctx, callback, token, operands, operand_avals, result_avals, has_side_effect, sharding)

    jax_callback.emit_python_callback = mlir.emit_python_callback = emit_python_callback
    mlir.register_lowering(buffer_callback.buffer_callback_p, _lower_buffer_callback, platform="hlokit")
    _keep_from_cache()
# SPDX-License-Identifier: Apache-2.0
