"""hlokit: read, check, transform, compile and run HLO modules on numpy arrays.

    import hlokit
    module = hlokit.Module.load("module_0001.jit_f.before_optimizations.txt")
    print(module.passes("algsimp,dce"))
    program = module.compile()           # platform="cpu"; "interpreter", "ptx-sim", "cuda"
    result = program(x, y)               # numpy arrays in, numpy arrays out

Modules are HLO text, protobufs or StableHLO (text, bytecode, portable artifacts); hlokit.from_jax lowers a function of JAX.
Whatever is wrong raises hlokit.Error with the file, line and column.
"""
import ctypes
import html
import pathlib
import re
import weakref

import numpy as np

from . import _native, running
from ._native import Error
from .builder import Builder, Value, reducer
from .dumps import Dump, DumpPass, unified

__all__ = ["Builder", "Dump", "DumpPass", "Error", "Module", "Program", "Value", "from_jax", "reducer"]

# HLO's element types and numpy's; those of ml_dtypes where it is installed.
_TYPES = {"pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
          "c128": "complex128"}
_ML_TYPES = {"bf16": "bfloat16", "s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "f8e4m3fn": "float8_e4m3fn",
             "f8e5m2": "float8_e5m2", "f8e4m3": "float8_e4m3", "f8e3m4": "float8_e3m4", "f8e4m3fnuz": "float8_e4m3fnuz",
             "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e8m0fnu": "float8_e8m0fnu",
             "f4e2m1fn": "float4_e2m1fn"}
_ARRAY = re.compile(r"(\w+)\[([\d,<=]*)\]")


def _dtype(element_type):
    if element_type in _TYPES:
        return np.dtype(_TYPES[element_type])
    if element_type in _ML_TYPES:
        import ml_dtypes  # pylint: disable=import-outside-toplevel

        return np.dtype(getattr(ml_dtypes, _ML_TYPES[element_type]))
    raise Error(f"arrays of {element_type} have no equal in numpy")


def _element_type(dtype):
    """HLO's name of a dtype of numpy or ml_dtypes."""
    for element, name in (_TYPES | _ML_TYPES).items():
        if np.dtype(dtype).name == name:
            return element
    raise Error(f"HLO has no arrays of {dtype}")


def _array_shape(text):
    """The dtype and the dimensions of `f32[2,3]{1,0}`; raises Error where the text says something else."""
    found = _ARRAY.match(text)
    if not found:
        raise Error(f"{text} is no array")
    return _dtype(found[1]), tuple(int(size.lstrip("<=")) for size in found[2].split(",") if size)


class Module:
    """An HLO module. Immutable: what changes one gives another."""

    def __init__(self, handle):
        """Of the package's own; use parse, load or from_jax."""
        self._handle = handle
        weakref.finalize(self, _native.module_free, handle)

    @classmethod
    def parse(cls, source, name="module"):
        """Of HLO text, or of the bytes of a protobuf or of StableHLO. `name` stands before places in errors."""
        data = source.encode() if isinstance(source, str) else bytes(source)
        return cls(_native.made(_native.module_read, data, len(data), str(name).encode()))

    @classmethod
    def load(cls, path):
        """Of a file of any of these forms."""
        return cls.parse(pathlib.Path(path).read_bytes(), name=path)

    def __str__(self):
        return _native.taken_text(_native.module_text, self._handle)

    def __repr__(self):
        return f"<hlokit.Module {str(self).split(',', 1)[0].removeprefix('HloModule ').split()[0]}>"

    def __eq__(self, other):
        return isinstance(other, Module) and str(self) == str(other)

    __hash__ = object.__hash__

    def _repr_html_(self):
        """In notebooks: the text, names and opcodes in colour."""
        text = re.sub(r"(%[\w.-]+)", r'<span style="color:#05a">\1</span>', html.escape(str(self)))
        text = re.sub(r"([\w-]+)(?=\()", r"<b>\1</b>", text)
        return f'<pre style="line-height:1.3">{text}</pre>'

    def diff(self, other, context=3):
        """The difference between the texts, as unified lines; empty where they are the same."""
        return unified(str(self), str(other), context=context)

    def verify(self):
        """Raises Error with all that is wrong."""
        _native.module_verify(self._handle)

    def passes(self, *names):
        """The module after these passes, `hlo-opt --list-passes` lists them: passes("algsimp", "dce") or passes("algsimp,dce").

        Raises Error for an unknown name, for a pass that fails and for a module that does not verify after one.
        """
        copy = Module(_native.made(_native.module_clone, self._handle))
        changed = ctypes.c_int32()
        _native.module_run_passes(copy._handle, ",".join(names).encode(), ctypes.byref(changed))
        return copy

    def cost(self, by="instruction"):
        """What a run computes and moves, as `hlo-cost --format=json` counts it: a dictionary of `rows` (flops, bytes, transcendentals, share),
        `total`, `peak_memory` and `loops`. `by`: what a row is: instruction, opcode, computation, op_name, source, loop."""
        return running.cost(self, by)

    def profile(self, *arrays, run_passes=True):
        """Instructions of the compiled module by the time that they take on the CPU, longest first: dictionaries with `instruction`, `opcode`,
        `microseconds`, `calls`. Without arrays the arguments are random."""
        return running.profile(self, arrays, run_passes)

    def reduce(self, test, time_limit=None):
        """A smaller module for which the shell command `test`, {} in it is the module's file, still exits with 0, as hlo-reduce finds it;
        `time_limit` in seconds."""
        return Module.parse(running.reduce(self, test, time_limit), name="reduced")

    def bisect(self, *arrays, platform="cpu", reference="interpreter"):
        """What `hlo-run --bisect` says: the first instruction whose value differs between two platforms, or that they agree."""
        return running.bisect(self, arrays, platform, reference)

    def to_html(self, path=None):
        """The explorer of `hlo-viz` for the module, one page that needs nothing else; also written to `path`."""
        return running.to_html(self, path)

    def compile(self, platform="cpu", opt_level=2, threads=0, run_passes=True):
        """A Program. `opt_level` is that of code generation, 0 to 3; `threads` 0 is one a core; without `run_passes` the module is
        compiled as it stands, such as a dump after optimizations."""
        return Program(str(self), platform, opt_level, threads, run_passes)

    def __call__(self, *arrays, platform="cpu"):
        """Compiles and runs."""
        return self.compile(platform)(*arrays)


def _as_numpy(value, dtype):
    """Arrays of any package, through DLPack where they are no numpy arrays and do not become such; numbers and lists of the dtype."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return np.asarray(value) if hasattr(value, "dtype") else np.asarray(value, dtype)
    return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)


_clients = {}


def _client(platform):
    if platform not in _clients:
        _clients[platform] = _native.made(_native.client_create, platform.encode())
    return _clients[platform]


class Program:
    """A compiled module; calling it runs it on one device. Several threads may call it at once."""

    def __init__(self, text, platform, opt_level, threads, run_passes):
        """Of the package's own; use Module.compile."""
        options = _native.CompileOptions(ctypes.sizeof(_native.CompileOptions), opt_level, threads, int(run_passes), 0, None, 0, None)
        self._client = _client(platform)
        self._handle = _native.made(_native.compile_text, self._client, text.encode(), ctypes.byref(options))
        weakref.finalize(self, _native.program_free, self._handle)
        count = _native.program_parameter_count(self._handle)
        self.parameter_shapes = [_native.program_parameter_shape(self._handle, i).decode() for i in range(count)]
        self.result_shape = _native.program_result_shape(self._handle).decode()

    def __str__(self):
        """The module as it runs, after passes."""
        return _native.taken_text(_native.program_text, self._handle)

    def __call__(self, *arrays):
        """The result for these arguments, one a parameter, as numpy would take them: an array, or a tuple of results.

        Raises Error where number, type or size of an argument is not the parameter's; nothing is converted but Python's numbers and
        lists.
        """
        if len(arrays) != len(self.parameter_shapes):
            raise Error(f"{len(arrays)} arguments for {len(self.parameter_shapes)} parameters")
        buffers = []
        result = None
        try:
            for number, (value, shape) in enumerate(zip(arrays, self.parameter_shapes)):
                buffers.append(self._buffer(value, shape, number))
            result = _native.made(_native.execute, self._handle, (ctypes.c_void_p * len(buffers))(*buffers), len(buffers))
            return self._value(result)
        finally:
            for buffer in [*buffers, result]:
                if buffer is not None:
                    _native.buffer_free(buffer)

    def _buffer(self, value, shape, number):
        dtype, dims = _array_shape(shape)
        array = _as_numpy(value, dtype)
        if array.dtype != dtype or array.shape != dims:
            raise Error(f"argument {number} is {array.dtype}{list(array.shape)}, the parameter {dtype}{list(dims)}")
        array = np.ascontiguousarray(array)
        plain = f"{_ARRAY.match(shape)[1]}[{','.join(map(str, dims))}]"
        return _native.made(_native.buffer_from_host, self._client, plain.encode(), array.ctypes.data, array.nbytes)

    def _value(self, buffer):
        size = _native.buffer_tuple_size(buffer)
        if size < 0:
            dtype, dims = _array_shape(_native.buffer_shape(buffer).decode())
            array = np.empty(dims, dtype)
            _native.buffer_to_host(self._client, buffer, None, array.ctypes.data, array.nbytes)
            return array
        values = []
        for i in range(size):
            element = _native.made(_native.buffer_tuple_element, buffer, i)
            try:
                values.append(self._value(element))
            finally:
                _native.buffer_free(element)
        return tuple(values)


def from_jax(function, *arguments):
    """The module of jax.jit(function) for these arguments, arrays or jax.ShapeDtypeStruct."""
    import jax  # pylint: disable=import-outside-toplevel

    lowered = jax.jit(function).lower(*arguments)
    return Module.parse(lowered.as_text(), name=getattr(function, "__name__", "jax"))
# SPDX-License-Identifier: Apache-2.0
