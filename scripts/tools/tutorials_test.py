#!/usr/bin/env python3
"""Runs the tutorials of docs/tutorials as a reader would: tutorials_test.py [--bin FOLDER] [--write] [NAME...].

A tutorial is Markdown. Blocks of three kinds are taken out of it, in order, in a folder of its own:

    ```hlo nan.hlo            a block whose first line names a file is written to it
    ```console                `$ ` begins a command for bash; what follows must be its output
    $ hlo-run nan.hlo
    <!-- run: COMMAND -->     a command that readers do not see: files that they would have
    <!-- needs: mpirun -->    a program that may be missing; jax, numpy: a Python with it

In outputs `...` stands for any text within a line, a line of `...` for any lines. A command must end with 0, or with what a
comment after it says: `$ hlo-run bad.hlo   # exit status 1`. --write puts the output of this run into blocks that have none.
Exit status 77 where something that a tutorial needs is missing."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$|^<!-- (run|needs): (.*?) -->$", re.MULTILINE | re.DOTALL)
TIME_LIMIT = 300  # seconds, of one command


def steps_of(text):
    """(kind, argument, body, place) of each block in order."""
    for found in BLOCK.finditer(text):
        language, name, body, kind, argument = found.groups()
        if kind:
            yield kind, argument, "", found.span()
        elif language == "console":
            yield "console", "", body, found.span(3)
        elif name.strip():
            yield "file", name.strip(), body, found.span()


def commands_of(body):
    """[command, exit status, expected lines] of a console block. A line that ends with a backslash goes on."""
    commands = []
    for line in body.splitlines():
        if line.startswith("$ "):
            said = re.search(r"\s+# exit status (\d+)$", line)
            commands.append([line[2:said.start()] if said else line[2:], int(said[1]) if said else 0, []])
        elif commands and commands[-1][0].endswith("\\") and not commands[-1][2]:
            commands[-1][0] += "\n" + line
        else:
            commands[-1][2].append(line)
    return commands


def agrees(expected, output):
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, output if output.endswith("\n") or not output else output + "\n") is not None


class Runner:
    def __init__(self, tools, python, folder):
        self.folder, self.python = folder, python
        build = tools.parent
        programs, packages = folder.parent / "programs", folder.parent / "packages"
        programs.mkdir()
        packages.mkdir()
        for name in ("python", "python3"):
            # A link would hide the packages of a virtual environment.
            (programs / name).write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
            (programs / name).chmod(0o755)
        # The pkg-config files of an installation, for the tree as it was built.
        for name, library in (("hlokit", "pjrt_hlokit"), ("hlokit-runtime", "hlokit_runtime")):
            text = (build / f"{name}.pc").read_text()
            text = re.sub(r"^libdir=.*$", f"libdir={build / 'lib'}", text, flags=re.MULTILINE)
            text = re.sub(r"^Cflags:.*$", f"Cflags: -I{ROOT} -I{build / 'generated'}", text, flags=re.MULTILINE)
            (packages / f"{name}.pc").write_text(text.replace("${libdir}/hlokit", "${libdir}"))
            assert library in text
        self.environment = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
        self.environment |= {"PATH": f"{programs}:{tools}:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(packages), "HLOKIT_SOURCE": str(ROOT),
                             "PYTHONPATH": str(ROOT / "python"), "HLOKIT_PJRT_LIBRARY": str(build / "lib" / "libpjrt_hlokit.so"),
                             "LD_LIBRARY_PATH": str(build / "lib"), "COLUMNS": "120", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "NO_COLOR": "1"}

    def missing(self, needs):
        if needs in ("jax", "numpy"):
            return subprocess.run([self.python, "-c", f"import {needs}"], capture_output=True, check=False).returncode != 0
        return shutil.which(needs) is None

    def command(self, text):
        done = subprocess.run(["bash", "-c", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")


def run(path, runner, write):
    """What is wrong, as a text; "skipped: ..." where something is missing; None."""
    text, written = path.read_text(encoding="utf-8"), []
    for kind, argument, body, place in steps_of(text):
        if kind == "needs" and runner.missing(argument):
            return f"skipped: there is no {argument}"
        if kind == "file":
            (runner.folder / argument).write_text(body, encoding="utf-8")
        if kind == "run":
            status, output = runner.command(argument)
            if status != 0:
                return f"{argument}\n{output}"
        if kind != "console":
            continue
        shown = ""
        for command, wanted, expected in commands_of(body):
            status, output = runner.command(command)
            fill = write and not expected
            if status != wanted or not (fill or agrees(expected, output)):
                return f"$ {command}\nended with {status}, expected {wanted}; it printed\n{output}\nexpected was\n" + "\n".join(expected)
            comment = f"   # exit status {wanted}" if wanted else ""
            shown += f"$ {command}{comment}\n" + (output if fill else "".join(line + "\n" for line in expected))
        written.append((place, shown))
    if write:
        for (begin, end), shown in reversed(written):
            text = text[:begin] + shown + text[end:]
        path.write_text(text, encoding="utf-8")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="where the tools are")
    parser.add_argument("--python", default=sys.executable, help="a Python, with jax for the tutorials that need it")
    parser.add_argument("--write", action="store_true", help="put outputs where there are none")
    parser.add_argument("names", nargs="*", help="files of docs/tutorials without .md; all")
    options = parser.parse_args()
    paths = [TUTORIALS / f"{name}.md" for name in options.names] or sorted(path for path in TUTORIALS.glob("*.md") if path.stem != "README")
    faults = skipped = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder) / "work"
            work.mkdir()
            fault = run(path, Runner(options.bin.resolve(), shutil.which(options.python), work), options.write)
        print(f"{path.stem}: {fault or 'ok'}", flush=True)
        if fault and fault.startswith("skipped"):
            skipped += 1
        elif fault:
            faults += 1
    return 1 if faults else 77 if skipped == len(paths) else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
