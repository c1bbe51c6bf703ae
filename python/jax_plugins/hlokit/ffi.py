"""jax.ffi on hlokit: custom calls that programs register, for platform "hlokit" or "cpu", run on hlokit.

jax.ffi.register_ffi_target gives capsules of C functions, one, or one a stage. What hlokit has itself (LAPACK and the like) stays its own.
"""
import ctypes
import functools

CPU = "Host"  # jaxlib's name of the platform
STAGES = ("instantiate", "prepare", "initialize", "execute")


def _pointer(capsule):
    """The pointer in a PyCapsule, whatever its name."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name(capsule))


def register(library, name, functions, platform, api_version, traits=0):
    """A handler of jax's register_custom_call_target. Raises RuntimeError with hlokit's reason."""
    del platform, traits
    if not isinstance(functions, dict):
        functions = {"execute": functions}
    unknown = set(functions) - set(STAGES)
    if unknown:
        raise ValueError(f"custom call {name}: unknown stages {sorted(unknown)}")
    pointers = (ctypes.c_void_p * len(STAGES))(*(_pointer(functions[stage]) if stage in functions else None for stage in STAGES))
    message = ctypes.create_string_buffer(1000)
    target = name if isinstance(name, bytes) else name.encode()
    if library.hlokit_pjrt_register_handlers(target, int(api_version), pointers, message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))


def register_type(library, name, type_id, *_):
    """A handler of jax's register_custom_type: a capsule of the type's number, or a dictionary with one of its deleter beside it."""
    if not isinstance(type_id, dict):
        type_id = {"type_id": type_id}
    number = ctypes.cast(_pointer(type_id["type_id"]), ctypes.POINTER(ctypes.c_int64))
    info = _pointer(type_id["type_info"]) if type_id.get("type_info") is not None else None
    message = ctypes.create_string_buffer(1000)
    if library.hlokit_pjrt_register_type(name.encode(), number, info, message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))


def install(path):
    """Takes part in jax.ffi.register_ffi_target."""
    from jaxlib import xla_client  # pylint: disable=import-outside-toplevel

    library = ctypes.CDLL(str(path))
    library.hlokit_pjrt_register_handlers.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p,
                                                      ctypes.c_size_t]
    library.hlokit_pjrt_register_type.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.c_char_p,
                                                  ctypes.c_size_t]
    calls, types = functools.partial(register, library), functools.partial(register_type, library)
    xla_client.register_custom_type_handler("hlokit", types)  # before the calls that use them
    xla_client.register_custom_call_handler("hlokit", calls)
    # What a program registers for the CPU is code of the host, where hlokit runs.
    for handlers, waiting, ours in (("_custom_type_id_handler", "_custom_type_id", types), ("_custom_callback_handler", "_custom_callback", calls)):
        joined = _Joined(ours, getattr(xla_client, handlers))
        setattr(xla_client, handlers, joined)
        if CPU not in joined:  # JAX's CPU takes these when it starts, and with that we do
            for name, *rest in getattr(xla_client, waiting).get(CPU, ()):
                joined.see(name, *_as_handler_gets(rest))


def _as_handler_gets(rest):
    """What waits is (function, version, traits) of a call, without the platform, or (type,) of a type."""
    return [rest[0], CPU, *rest[1:]] if len(rest) > 1 else rest


class _Joined(dict):
    """Handlers by platform, where ours sees what the CPU's gets from now on, behind it."""

    def __init__(self, ours, others):
        super().__init__()
        self._ours, self._seen = ours, set()
        for platform, handler in others.items():
            self[platform] = handler

    def see(self, name, *rest):
        if not _is_jaxlibs(name) and name not in self._seen:
            self._seen.add(name)
            self._ours(name, *rest)

    def __setitem__(self, platform, handler):
        def both(name, *rest):
            handler(name, *rest)
            self.see(name, *rest)

        super().__setitem__(platform, both if platform == CPU else handler)


def _is_jaxlibs(name):
    """Whether jaxlib's own modules register the target: their handlers lean on XLA's runtime, and hlokit has its own."""
    name = name.decode() if isinstance(name, bytes) else name
    return name.startswith(("lapack_", "blas_", "cpu_csr_", "xla_", "cu", "hip", "tridiagonal_solve", "dce_sink"))
# SPDX-License-Identifier: Apache-2.0
