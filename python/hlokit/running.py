"""What hlokit's tools tell of a module: each is run on the module's text, in a folder of its own.

The tools are those of the wheel, else those beside the library's build, else those on PATH.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

from . import _native
from ._native import Error
from .tools import PROGRAM


def _tool(name):
    """The command of a tool, and the program where that has another name."""
    if PROGRAM.exists():  # the wheel's one program goes by the name that it is called by
        return name, str(PROGRAM)
    built = _native.library_path().resolve().parent.parent / "bin" / name
    path = str(built) if built.exists() else shutil.which(name)
    if path is None:
        raise Error(f"{name} is neither in hlokit's package nor beside its library nor on PATH")
    return path, None


def run(name, *arguments, statuses=(0,)):
    """What a tool prints. Raises Error with its messages where it ends with another status."""
    command, program = _tool(name)
    done = subprocess.run([command, *map(str, arguments)], executable=program, capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        raise Error(done.stderr.strip() or f"{name} ended with {done.returncode}")
    return done.stdout


class Folder(tempfile.TemporaryDirectory):
    """A folder, removed at the end of its `with`, with the module's text and, as .npy files, arrays."""

    def __init__(self, module, arrays=()):
        super().__init__(prefix="hlokit-")
        self.module = self.path("module.hlo")
        self.module.write_text(str(module), encoding="utf-8")
        self.inputs = []
        for number, array in enumerate(arrays):
            np.save(self.path(f"{number}.npy"), np.asarray(array))
            self.inputs += ["--input", self.path(f"{number}.npy")]

    def path(self, name):
        return pathlib.Path(self.name) / name


def cost(module, by):
    folder = Folder(module)
    with folder:
        return json.loads(run("hlo-cost", folder.module, f"--by={by}", "--all", "--format=json"))


def profile(module, arrays, run_passes):
    folder = Folder(module, arrays)
    with folder:
        trace = folder.path("profile.json")
        run("hlo-run", folder.module, *folder.inputs, f"--profile={trace}", *([] if run_passes else ["--no-passes"]))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    rows = [{"instruction": e["name"], "opcode": e["cat"], "microseconds": e["dur"], "calls": e["args"]["calls"]} for e in events if e["ph"] == "X"]
    return sorted(rows, key=lambda row: -row["microseconds"])


def reduce(module, test, time_limit):
    folder = Folder(module)
    with folder:
        small = folder.path("small.hlo")
        run("hlo-reduce", folder.module, "--test", test, "-o", small, "-q", *([f"--time-limit={time_limit}"] if time_limit else []))
        return small.read_bytes()


def bisect(module, arrays, platform, reference):
    folder = Folder(module, arrays)
    with folder:
        return run("hlo-run", folder.module, *folder.inputs, "--bisect", f"--platform={platform}", f"--reference-platform={reference}",
                   "--isolate-to", os.fspath(folder.path("isolated")), statuses=(0, 1)).strip()


def to_html(module, path):
    folder = Folder(module)
    with folder:
        page = folder.path("page.html")
        run("hlo-viz", folder.module, "-o", page)
        text = page.read_text(encoding="utf-8")
    if path is not None:
        pathlib.Path(path).write_text(text, encoding="utf-8")
    return text
# SPDX-License-Identifier: Apache-2.0
