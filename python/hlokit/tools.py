"""The command-line tools of the wheel: `hlo-run` and its like run hlokit/bin/hlokit under their names; nothing of Python stays."""
import functools
import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent / "bin" / "hlokit"


def _run(tool):
    try:
        os.execv(PROGRAM, [tool, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{tool}: {PROGRAM}: {error.strerror}")


def __getattr__(name):
    """hlo_run, hlo_opt, ...: what the wheel's entry points name."""
    if name.startswith("_"):
        raise AttributeError(name)
    return functools.partial(_run, name.replace("_", "-"))
# SPDX-License-Identifier: Apache-2.0
