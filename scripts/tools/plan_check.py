#!/usr/bin/env python3
"""Predicted and measured times of modules on this machine: do they have one order?

  plan_check.py --bin build/release/bin --measure host.json         measures this machine, writes a topology of it
  plan_check.py --bin build/release/bin --topology host.json FILE... [--least 0.9] [--ranks N]

The first form runs small modules that show one figure each: products by type, arithmetic, functions, memory, the start of a
kernel, all-reduces of threads. With --ranks N it measures the all-reduces of N processes under mpirun instead of threads'.
The second predicts each module after the pipeline cpu by `hlo-opt --simulate`, runs it by hlo-run (the least of many runs;
with --ranks N under mpirun, as far as its devices divide), and prints both and Spearman's rank correlation; exit status 1
where that is below --least. Modules with loops of unknown length are left out: their predictions are guesses.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import mpi_test

SUM = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"


def hlo_run(options, module, work, ranks=1, seconds=0.3):
    """Least seconds of a run; None where it does not run."""
    times = pathlib.Path(work) / "times.json"
    times.unlink(missing_ok=True)
    flags = [f"--min-seconds={seconds}", "--warmup=2", "--seed=1", f"--json={times}"]
    command = [options.bin / "hlo-run", module, *flags]
    if ranks > 1:
        command = mpi_test.mpirun(ranks, *command)
    command = [*options.prefix.split(), *command]
    rc, _, err, _ = mpi_test.run(command)
    if rc != 0:
        print(f"not run: {module}: {err.strip()[-200:]}", file=sys.stderr)
        return None
    return json.loads(times.read_text())["run_min_s"]


def timed(options, work, name, text, ranks=1):
    path = pathlib.Path(work) / f"{name}.hlo"
    path.write_text(f"HloModule {name}" + text)
    seconds = hlo_run(options, path, work, ranks)
    if seconds is None:
        sys.exit(2)
    return seconds


def product(n, kind):
    return (f"\nENTRY e {{ a = {kind}[{n},{n}] parameter(0)\n b = {kind}[{n},{n}] parameter(1)\n ROOT d = {kind}[{n},{n}] dot(a, b), "
            "lhs_contracting_dims={1}, rhs_contracting_dims={0} }")


def chain(n, operation, count):
    lines = [f"x0 = f32[{n}] parameter(0)"]
    for k in range(count):
        operands = f"x{k}, x0" if operation in ("add", "multiply") else f"x{k}"
        lines.append(f"{'ROOT ' if k == count - 1 else ''}x{k + 1} = f32[{n}] {operation}({operands})")
    return "\nENTRY e { " + "\n ".join(lines) + " }"


def reductions(devices, n, count, size=0):
    """`count` all-reduces of n numbers, one after the other, of all devices or in groups of `size` neighbours; 0: none."""
    size = size or devices
    groups = ",".join("{" + ",".join(str(d) for d in range(first, first + size)) + "}" for first in range(0, devices, size))
    lines = [f"x{k + 1} = f32[{n}] all-reduce(x{k}), channel_id={k + 1}, replica_groups={{{groups}}}, use_global_device_ids=true, to_apply=add"
             for k in range(count)]
    return (f", num_partitions={devices}\n{SUM}ENTRY e {{ x0 = f32[{n}] parameter(0)\n " + "\n ".join(lines) +
            f"\n ROOT n = f32[{n}] negate(x{count}) }}")


def meetings(options, work):
    """Seconds of waking a thread, of reaching another process, of starting a step on a device; groups that meet at once."""
    ranks, many, count = options.ranks, 8, 9  # as many devices as modules of the corpus have
    local = many // ranks

    def run(name, *form):
        return timed(options, work, name, reductions(*form), ranks)
    none = run("none", many, 64, 0)
    whole = (run("whole", many, 64, count) - none) / count
    pairs = (run("pairs", many, 64, count, 2) - none) / count
    reach = 0.0
    if ranks > 1:  # one device each: nobody is woken
        reach = (run("reach", ranks, 64, count) - run("alone", ranks, 64, 0)) / count / (ranks - 1)
    wake = max(1e-9, (whole - reach * (ranks - 1)) / max(1, local - 1))
    return wake, max(reach, 0.0), none / many, max(1.0, many / 2 * wake / max(pairs, 1e-9))


def measure(options, work):
    cores = len(os.sched_getaffinity(0))
    small = timed(options, work, "small", chain(64, "add", 1))
    # Sizes as the modules of the corpus have them: small products, arrays that stay in a cache.
    flops = {kind: 2 * 16**3 / timed(options, work, f"dot_{kind}", product(16, kind)) for kind in ("f32", "bf16", "f64")}
    n = 1 << 16
    arithmetic = timed(options, work, "arithmetic", chain(n, "multiply", 64))
    functions = timed(options, work, "functions", chain(n, "exponential", 8))
    memory = timed(options, work, "memory", chain(n, "negate", 1))
    wake, reach, start, at_once = meetings(options, work)
    devices = 2 * options.ranks
    large = timed(options, work, "large", reductions(devices, 1 << 22, 1), options.ranks)
    plain = timed(options, work, "plain", reductions(devices, 1 << 22, 0), options.ranks)
    # A bus carries what all send: twice the operand's bytes each.
    bandwidth = 2 * (devices - 1) * 4 * (1 << 22) / max(large - plain, 1e-9)
    links = [{"name": "threads", "kind": "bus", "size": 64, "bandwidth": bandwidth, "collective": wake}]
    if options.ranks > 1:  # compare() sets how many threads a process has
        links.append({"name": "processes", "kind": "bus", "size": options.ranks, "bandwidth": bandwidth, "collective": reach})
    return {
        "name": "this-host",
        "source": f"measured by plan_check.py, {cores} cores, {options.ranks} processes",
        "device": {
            "name": "one of the host's devices", "flops": flops,
            "vector_flops": 64 * n / max(arithmetic - small, 1e-9), "functions": 8 * n / max(functions - small, 1e-9),
            "memory_bandwidth": 8 * n / memory, "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "launch": small / 8, "start": start, "at_full_speed": 1, "groups_at_once": at_once},
        "links": links,
    }


def ranks_of(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for k in range(at, end + 1):
            ranks[order[k]] = (at + end) / 2
        at = end + 1
    return ranks


def spearman(a, b):
    a, b = ranks_of(a), ranks_of(b)
    mean = (len(a) - 1) / 2
    above = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    below = (sum((x - mean)**2 for x in a) * sum((y - mean)**2 for y in b))**0.5
    return above / below if below else 0.0


def predict(options, module):
    command = [options.bin / "hlo-opt", module, "--pipeline=cpu", f"--simulate={options.topology}", "--simulate-format=json"]
    if options.ranks > 1:
        command.append(f"--what-if=links.threads.size={max(1, mpi_test.devices_of(pathlib.Path(module)) // options.ranks)}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"not predicted: {module}: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return None
    told = json.loads(done.stdout)
    return None if told["guessed_trips"] else told


def compare(options, work):
    rows = []
    for module in options.modules:
        told = predict(options, module)
        if told is None or told["devices"] % options.ranks:
            continue
        seconds = hlo_run(options, module, work, options.ranks, seconds=0.2)
        if seconds is not None:
            rows.append((told["step_s"], seconds, pathlib.Path(module).stem, told["devices"]))
    for predicted, measured, name, devices in sorted(rows, key=lambda r: r[1]):
        print(f"{1e6 * measured:12.1f} us measured {1e6 * predicted:12.1f} predicted {predicted / measured:8.2f} {devices:4} devices  {name}")
    found = spearman([r[0] for r in rows], [r[1] for r in rows]) if len(rows) > 2 else 0.0
    print(f"{len(rows)} modules, rank correlation {found:.3f}")
    return 0 if found >= options.least else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--measure", type=pathlib.Path)
    parser.add_argument("--topology", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.9)
    parser.add_argument("--prefix", default="", help="what runs the measured programs: 'chrt -f 50' on a busy machine")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    with tempfile.TemporaryDirectory() as work:
        if options.measure:
            options.measure.write_text(json.dumps(measure(options, work), indent=2) + "\n")
            return 0
        if not options.topology:
            parser.error("--measure or --topology")
        return compare(options, work)


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
