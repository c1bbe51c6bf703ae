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

from . import _native, running
from ._native import Error
from .builder import Builder, Value, reducer
from .dumps import Dump, DumpPass, unified
from .program import Program

__all__ = ["Builder", "Dump", "DumpPass", "Error", "Module", "Program", "Value", "from_jax", "reducer"]


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
        """In notebooks: the explorer in a frame; the text, names and opcodes in colour, where hlo-viz is not at hand."""
        try:
            page = html.escape(self.to_html(), quote=True)
            return f'<iframe srcdoc="{page}" style="width:100%;height:600px;border:1px solid #ccc"></iframe>'
        except Error:
            return self._colored_text()

    def _colored_text(self):
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
        return Program.compile(str(self), platform, opt_level, threads, run_passes)

    def __call__(self, *arrays, platform="cpu"):
        """Compiles and runs."""
        return self.compile(platform)(*arrays)


def from_jax(function, *arguments):
    """The module of jax.jit(function) for these arguments, arrays or jax.ShapeDtypeStruct."""
    import jax  # pylint: disable=import-outside-toplevel

    lowered = jax.jit(function).lower(*arguments)
    return Module.parse(lowered.as_text(), name=getattr(function, "__name__", "jax"))
# SPDX-License-Identifier: Apache-2.0
