#!/usr/bin/env python3
"""Times what an edit costs: for three sources of each folder, the rebuild of the folder's test program and its unit tests.

  edit_times.py [--build build/release] [--limit 15] [FOLDER...]

Of a folder's sources the largest, the one in the middle and the smallest get a statement at the start of their first function,
one at a time; each is put back as it was. The test program is built without ccache, then ctest runs the folder's tests with the
label quick, two at a time. Another load on the machine lengthens these seconds, so the last column has what two cores need that
do nothing else: the processor seconds of the build, of which one step follows the other, and half of those of the tests. Ends
with 1 where one of these is above --limit.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

FOLDERS = ("codegen", "backends/cpu", "passes", "parser", "ops", "ptxsim", "backends/cuda", "stablehlo", "client", "tools/common")

ELSEWHERE = (("ptxsim", "driver"),)  # a shared object, opened by the tests of backends/cuda


def three_sources(folder):
    """The largest source below `folder`, the median and the smallest, by lines."""
    sources = [path for path in folder.rglob("*.cc")
               if not path.name.endswith("_test.cc") and path.parts[:2] not in ELSEWHERE]
    sources.sort(key=lambda path: (-len(path.read_bytes().splitlines()), str(path)))
    return [sources[0], sources[len(sources) // 2], sources[-1]] if len(sources) > 2 else sources


def edited(text):
    """The text with a statement more in its first function."""
    start = re.search(r"^[A-Za-z][^\n;{}=]*\([^;{}=]*\)(?: const)? \{\n", text, re.MULTILINE)
    if start is None:
        return text + "int EditTimesFunction() { return 1; }\n"
    return text[:start.end()] + "  static volatile int edit_times = 0;\n  edit_times = edit_times + 1;\n" + text[start.end():]


def timed(command, environment):
    """(seconds, processor seconds) of a command that must succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-3000:]}")
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--limit", type=float, default=15)
    options = parser.parse_args()
    environment = dict(os.environ, CCACHE_DISABLE="1")
    late = 0
    print(f"{'source':48} build s  tests s  (processor s: build, tests)  alone s")
    for folder in options.folders:
        name = folder.replace("/", "_")
        build = ["cmake", "--build", options.build, "-j", "2", "--target", f"hlokit_{name}_test"]
        tests = ["ctest", "--test-dir", options.build, "-L", "quick", "-R", f"^{name}\\.", "-j", "2", "--no-tests=error"]
        timed(build, os.environ)
        for source in three_sources(pathlib.Path(folder)):
            text = source.read_text()
            try:
                source.write_text(edited(text))
                built, built_cpu = timed(build, environment)
                tested, tested_cpu = timed(tests, environment)
            finally:
                source.write_text(text)
            timed(build, os.environ)
            alone = built_cpu + tested_cpu / 2
            late += alone > options.limit
            print(f"{str(source):48} {built:7.1f} {tested:8.1f} {built_cpu:8.1f} {tested_cpu:9.1f} {alone:6.1f}", flush=True)
    return late > 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
