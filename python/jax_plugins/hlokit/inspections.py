"""jax.debug.inspect_array_sharding on hlokit: the compiler tells how a value inside of a program over several devices is cut.

JAX's rule puts a pointer into the program, for XLA's partitioner to call. Here a number stands for it, so that nothing that a program
says is ever called as code; the library hands the number back with the sharding's text.
"""
import ctypes
import itertools
import threading
import traceback
import weakref

_Inspector = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_char_p)
_numbers = itertools.count()
_waiting = weakref.WeakValueDictionary()  # number -> JAX's function of an HloSharding, which the executable keeps alive
_here = threading.local()


@_Inspector
def _tell(number, sharding):
    from jaxlib import xla_client  # pylint: disable=import-outside-toplevel

    try:
        function = _waiting.get(number)
        if function is not None:
            function(xla_client.HloSharding.from_string(sharding.decode()))
        return 0
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        return 1


def install(library):
    """Registers the inspector with the library, and the lowering with JAX."""
    from jax._src import debugging  # pylint: disable=import-outside-toplevel
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel
    from jaxlib import xla_client  # pylint: disable=import-outside-toplevel

    from . import callbacks  # pylint: disable=import-outside-toplevel

    ctypes.CDLL(str(library)).hlokit_pjrt_set_inspector(_tell)
    theirs, rule = xla_client.encode_inspect_sharding_callback, debugging._inspect_sharding_lowering_rule  # pylint: disable=protected-access

    def encode(function):
        if not getattr(_here, "lowering", False):
            return theirs(function)
        number = next(_numbers)
        _waiting[number] = function
        return str(number).encode()

    def lower(ctx, value, *, callback):
        _here.lowering = True
        try:
            callbacks._calling.add(ctx.module_context.module)  # pylint: disable=protected-access
            return rule(ctx, value, callback=callback)
        finally:
            _here.lowering = False

    xla_client.encode_inspect_sharding_callback = encode
    mlir.register_lowering(debugging.inspect_sharding_p, lower, platform="hlokit")
# SPDX-License-Identifier: Apache-2.0
