"""The C functions of libpjrt_hlokit.so, by ctypes: declarations, errors, memory."""
import ctypes
import os
import pathlib

LIBRARY = "libpjrt_hlokit.so"
_POINTER = ctypes.c_void_p


class Error(Exception):
    """What hlokit says of a module or a run: the message with its place and the line it stands in.

    `file`, `line` and `column` (from 1; None where there is no place) are those of the first message, `text` all of them.
    """

    def __init__(self, text):
        super().__init__(text)
        self.text = text
        self.file = self.line = self.column = None
        parts = text.split("\n", 1)[0].split(":", 3)
        if len(parts) == 4 and parts[1].isdigit() and parts[2].isdigit():
            self.file, self.line, self.column = parts[0], int(parts[1]), int(parts[2])


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("opt_level", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("run_passes", ctypes.c_int32), ("donate", ctypes.c_int64), ("argument_layouts", _POINTER),
                ("argument_layout_count", ctypes.c_size_t), ("result_layout", ctypes.c_char_p)]


def _find():
    chosen = os.environ.get("HLOKIT_PJRT_LIBRARY")
    if chosen:
        return pathlib.Path(chosen)
    here = pathlib.Path(__file__).resolve().parent
    # In a wheel's package; where Debian's package installs it, seen from /usr/lib/python3/dist-packages/hlokit.
    for place in (here / "lib", here.parents[2], *sorted(here.parents[2].glob("*-linux-gnu"))):
        if (place / LIBRARY).exists():
            return place / LIBRARY
    built = sorted(here.parents[1].glob(f"build/*/lib/{LIBRARY}"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise ImportError(f"{LIBRARY} is neither in hlokit's package nor below {here.parents[1] / 'build'}; set HLOKIT_PJRT_LIBRARY")
    return built[-1]


_library = ctypes.CDLL(str(_find()))
_library.hlokit_error_message.restype = ctypes.c_char_p
_library.hlokit_error_message.argtypes = [_POINTER]
_library.hlokit_error_free.argtypes = [_POINTER]


def _declare(name, *argtypes, restype=None):
    function = getattr(_library, name)
    function.argtypes, function.restype = argtypes, restype
    return function


def _checked(name, *argtypes):
    """A function that gives an error or null, as one that raises Error."""
    function = _declare(name, *argtypes, restype=_POINTER)

    def call(*arguments):
        error = function(*arguments)
        if error:
            text = _library.hlokit_error_message(error).decode(errors="replace")
            _library.hlokit_error_free(error)
            raise Error(text)

    return call


class Operation(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("opcode", ctypes.c_char_p), ("operands", ctypes.POINTER(ctypes.c_int64)),
                ("operand_count", ctypes.c_size_t), ("attributes", ctypes.c_char_p), ("computations", ctypes.POINTER(_POINTER)),
                ("computation_count", ctypes.c_size_t), ("shape", ctypes.c_char_p)]


_OUT = ctypes.POINTER(_POINTER)
module_read = _checked("hlokit_module_read", ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, _OUT)
module_clone = _checked("hlokit_module_clone", _POINTER, _OUT)
module_text = _checked("hlokit_module_text", _POINTER, _OUT)
module_verify = _checked("hlokit_module_verify", _POINTER)
module_run_passes = _checked("hlokit_module_run_passes", _POINTER, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int32))
module_free = _declare("hlokit_module_free", _POINTER)
client_create = _checked("hlokit_client_create", ctypes.c_char_p, _OUT)
compile_text = _checked("hlokit_compile_text", _POINTER, ctypes.c_char_p, ctypes.POINTER(CompileOptions), _OUT)
program_free = _declare("hlokit_program_free", _POINTER)
program_parameter_count = _declare("hlokit_program_parameter_count", _POINTER, restype=ctypes.c_int64)
program_parameter_shape = _declare("hlokit_program_parameter_shape", _POINTER, ctypes.c_int64, restype=ctypes.c_char_p)
program_result_shape = _declare("hlokit_program_result_shape", _POINTER, restype=ctypes.c_char_p)
program_device_count = _declare("hlokit_program_device_count", _POINTER, restype=ctypes.c_int64)
program_serialize = _checked("hlokit_program_serialize", _POINTER, _OUT, ctypes.POINTER(ctypes.c_size_t))
program_load = _checked("hlokit_program_load", _POINTER, ctypes.c_char_p, ctypes.c_size_t, _OUT)
program_text = _checked("hlokit_program_text", _POINTER, _OUT)
buffer_from_host = _checked("hlokit_buffer_from_host", _POINTER, ctypes.c_char_p, _POINTER, ctypes.c_size_t, _OUT)
buffer_borrow_host = _checked("hlokit_buffer_borrow_host", _POINTER, ctypes.c_char_p, _POINTER, ctypes.c_size_t, _POINTER, _POINTER, _OUT)
buffer_data = _declare("hlokit_buffer_data", _POINTER, restype=_POINTER)
buffer_size = _declare("hlokit_buffer_size", _POINTER, restype=ctypes.c_size_t)
buffer_to_host = _checked("hlokit_buffer_to_host", _POINTER, _POINTER, ctypes.c_char_p, _POINTER, ctypes.c_size_t)
buffer_free = _declare("hlokit_buffer_free", _POINTER)
buffer_shape = _declare("hlokit_buffer_shape", _POINTER, restype=ctypes.c_char_p)
buffer_tuple_size = _declare("hlokit_buffer_tuple_size", _POINTER, restype=ctypes.c_int64)
buffer_tuple_element = _checked("hlokit_buffer_tuple_element", _POINTER, ctypes.c_int64, _OUT)
execute = _checked("hlokit_execute", _POINTER, _OUT, ctypes.c_size_t, _OUT)
execute_replicated = _checked("hlokit_execute_replicated", _POINTER, _OUT, ctypes.c_size_t, _OUT)
builder_create = _declare("hlokit_builder_create", ctypes.c_char_p, restype=_POINTER)
builder_free = _declare("hlokit_builder_free", _POINTER)
builder_parameter = _declare("hlokit_builder_parameter", _POINTER, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, restype=ctypes.c_int64)
builder_constant = _declare("hlokit_builder_constant", _POINTER, ctypes.c_char_p, _POINTER, ctypes.c_size_t, restype=ctypes.c_int64)
builder_binary = _declare("hlokit_builder_binary", _POINTER, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64,
                          ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t, ctypes.c_char_p, restype=ctypes.c_int64)
builder_operation = _declare("hlokit_builder_operation", _POINTER, ctypes.POINTER(Operation), restype=ctypes.c_int64)
builder_shape = _declare("hlokit_builder_shape", _POINTER, ctypes.c_int64, restype=ctypes.c_char_p)
builder_error = _checked("hlokit_builder_error", _POINTER)
builder_build = _checked("hlokit_builder_build", _POINTER, ctypes.c_int64, _OUT)
computation_from_text = _checked("hlokit_computation_from_text", ctypes.c_char_p, _OUT)
computation_text = _checked("hlokit_computation_text", _POINTER, _OUT)
computation_free = _declare("hlokit_computation_free", _POINTER)
library_path = _find
_bytes_free = _declare("hlokit_bytes_free", _POINTER)


def made(function, *arguments):
    """What a function that has its result as last argument gives."""
    out = _POINTER()
    function(*arguments, ctypes.byref(out))
    return out


def taken_text(function, *arguments):
    """The same of text, which is freed here."""
    out = made(function, *arguments)
    text = ctypes.string_at(out).decode()
    _bytes_free(out)
    return text
# SPDX-License-Identifier: Apache-2.0


def taken_bytes(function, *arguments):
    """The same of bytes, whose number the function gives after them."""
    out, size = _POINTER(), ctypes.c_size_t()
    function(*arguments, ctypes.byref(out), ctypes.byref(size))
    data = ctypes.string_at(out, size.value)
    _bytes_free(out)
    return data
