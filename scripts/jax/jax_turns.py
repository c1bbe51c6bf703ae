"""Two Python processes, one on hlokit and one on JAX's CPU, that take turns, so that whatever else the machine does slows both.

  own, other = Side("hlokit", options, script), Side("cpu", options, script)    # script --serve answers requests, one a line of JSON
  own.ask("begin", name="mlp_sgd", steps=10)                                      # its answer, a dictionary
  in_turns([own, other], blocks=15, seconds=0.2)                                  # by side: the answers to "block", one after the other

In the script: serve({"begin": function, "block": function}), whose results are dictionaries.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Side:
    """A process on a platform. Asked one thing at a time; it sleeps between."""

    def __init__(self, platform, options, script, more=()):
        path = [str(ROOT / "python")] * (platform == "hlokit") + [options.packages] * bool(options.packages)
        environment = {**os.environ, "JAX_PLATFORMS": platform, "PYTHONPATH": ":".join(path), "HLOKIT_PJRT_LIBRARY": options.lib}
        cpus = ["taskset", "-c", options.cpus] if options.cpus else []
        self.process = subprocess.Popen([*cpus, options.python, script, "--serve", "--lib", options.lib, *more], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, what, **values):
        """None where the process has ended."""
        try:
            self.process.stdin.write(json.dumps({"do": what, **values}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve(functions):
    """Answers requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = functions[request.pop("do")](**request)
        except ImportError as missing:
            answer = {"skipped": str(missing)}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), flush=True)


def timed(action, seconds):
    """The middle wall time of a call, and processor time of all threads a call, over calls for so many seconds."""
    times, begin, used = [], time.perf_counter(), time.process_time()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return {"wall": statistics.median(times), "least": min(times), "used": (time.process_time() - used) / len(times)}


def in_turns(sides, blocks, **values):
    """`blocks` answers of each side to "block"; the side that begins changes from turn to turn."""
    answers = [[] for _ in sides]
    for turn in range(blocks):
        for k in range(len(sides)):
            at = (k + turn) % len(sides)
            answers[at].append(sides[at].ask("block", **values))
    return answers


def ratio(own, other, key):
    """How many times as fast the first is: the middle of the turns' ratios."""
    return statistics.median(b[key] / a[key] for a, b in zip(own, other))
# SPDX-License-Identifier: Apache-2.0
