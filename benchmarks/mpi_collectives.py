#!/usr/bin/env python3
"""Collectives of 2 processes with 2 devices each on one machine: hlo-run under mpirun beside JAX's own processes (jax.distributed, Gloo).

  mpi_collectives.py --bin build/release/bin --jax PYTHON [--sizes 4096,4194304,67108864] [--repeats 5] [--prefix 'chrt -f 50']
  mpi_collectives.py --bin build/release/bin --mpi [--sizes ...] [--repeats 5] [--prefix 'chrt -f 50']

Bytes are those that each device gives. Both are started alternately; the table has the least median of the repeats, in
microseconds a call, and Gloo's time over ours.

--mpi: all-reduces of 2 processes with one device each beside MPI_Allreduce alone (mpi_allreduce.c, a loop as OSU's). Ours is the
time that further all-reduces of one module take, without the start of a run.
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

RANKS, LOCAL = 2, 2
DEVICES = RANKS * LOCAL
SUM = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }"
GROUP = "replica_groups={{{{0,1,2,3}}}}, channel_id=1"
OPS = {
    "all-reduce": ("f32[{n}]", "all-reduce(x), " + GROUP + ", use_global_device_ids=true, to_apply=sum"),
    "all-gather": ("f32[{n4}]", "all-gather(x), " + GROUP + ", dimensions={{0}}, use_global_device_ids=true"),
    "reduce-scatter": ("f32[{nq}]", "reduce-scatter(x), " + GROUP + ", dimensions={{0}}, use_global_device_ids=true, to_apply=sum"),
    "all-to-all": ("f32[{n}]", "all-to-all(x), " + GROUP + ", dimensions={{0}}"),
    "collective-permute": ("f32[{n}]", "collective-permute(x), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}, channel_id=1"),
}
PEER = r"""
import sys, time, json, os
rank, port, op, n, calls = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("127.0.0.1:" + port, 2, rank)
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P, NamedSharding
mesh = Mesh(np.array(jax.devices()), ("d",))
f = {"all-reduce": lambda x: jax.lax.psum(x, "d"),
     "all-gather": lambda x: jax.lax.all_gather(x, "d", tiled=True),
     "reduce-scatter": lambda x: jax.lax.psum_scatter(x, "d", tiled=True),
     "all-to-all": lambda x: jax.lax.all_to_all(x, "d", 0, 0, tiled=True),
     "collective-permute": lambda x: jax.lax.ppermute(x, "d", [(i, (i + 1) % 4) for i in range(4)])}[op]
g = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False))
local = [jax.device_put(np.ones(n, np.float32), d) for d in jax.local_devices()]
x = jax.make_array_from_single_device_arrays((4 * n,), NamedSharding(mesh, P("d")), local)
g(x).block_until_ready()
times = []
for _ in range(calls):
    start = time.perf_counter(); g(x).block_until_ready(); times.append(time.perf_counter() - start)
if rank == 0: print(json.dumps(sorted(times)[len(times) // 2]))
"""


def limited(options):
    """A peer that polls for one who will never come ends all the same: under a real-time scheduler it would hold a core for ever."""
    return ["timeout", "-k", "1", "60", *options.prefix.split()]


def launcher():
    return ["mpirun", "--oversubscribe", "-np", str(RANKS)] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def chained(options, n, calls, work):
    """Seconds of one all-reduce among several of one module."""
    def run(count):
        lines = [f"x{k + 1} = f32[{n}] all-reduce(x{k}), replica_groups={{{{0,1}}}}, channel_id={k + 1}, use_global_device_ids=true, to_apply=sum"
                 for k in range(count)]
        module, out = work / "chain.hlo", work / "t.json"
        module.write_text(f"HloModule m, num_partitions={RANKS}\n{SUM}\nENTRY e {{\n  x0 = f32[{n}] parameter(0)\n  " + "\n  ".join(lines) +
                          f"\n  ROOT r = f32[{n}] negate(x{count})\n}}\n")
        subprocess.run([*limited(options), *launcher(), options.bin / "hlo-run", module, "--passes=dce", f"--iterations={calls}",
                        "--warmup=1", f"--json={out}"], check=True, capture_output=True, timeout=300)
        return json.loads(out.read_text())["run_med_s"]
    few, many = (1, 5) if n > 1 << 18 else (1, 41)
    return (run(many) - run(few)) / (many - few)


def beside_mpi(options, work):
    program = work / "mpi_allreduce"
    subprocess.run(["mpicc", "-O2", pathlib.Path(__file__).with_name("mpi_allreduce.c"), "-o", program], check=True)
    print(f"{'bytes':>10} {'hlokit us':>10} {'MPI us':>10} {'share':>6}")
    for size in map(int, options.sizes.split(",")):
        calls = 500 if size < 1 << 20 else 20
        own, peer = [], []
        for _ in range(options.repeats):
            own.append(1e6 * chained(options, size // 4, calls, work))
            done = subprocess.run([*limited(options), *launcher(), program, str(size), str(calls)], check=True, capture_output=True, text=True)
            peer.append(float(done.stdout.split()[0]))
        print(f"{size:10} {min(own):10.1f} {min(peer):10.1f} {min(peer) / min(own):6.2f}", flush=True)


def ours(options, op, n, calls, work):
    shape, text = OPS[op]
    module = work / "m.hlo"
    sizes = {"n": n, "n4": n * DEVICES, "nq": n // DEVICES}
    module.write_text(f"HloModule m, num_partitions={DEVICES}\n{SUM}\nENTRY e {{\n  x = f32[{n}] parameter(0)\n"
                      f"  ROOT r = {shape.format(**sizes)} {text.format(**sizes)}\n}}\n")
    out = work / "t.json"
    subprocess.run([*limited(options), *launcher(), options.bin / "hlo-run", module, f"--iterations={calls}", "--warmup=1", f"--json={out}"],
                   check=True, capture_output=True, timeout=300)
    return json.loads(out.read_text())["run_med_s"]


def gloo(options, op, n, calls, work):
    script = work / "peer.py"
    script.write_text(PEER)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    ranks = [subprocess.Popen([*limited(options), options.jax, script, str(r), port, op, str(n), str(calls)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) for r in range(RANKS)]
    done = [rank.communicate(timeout=300) for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit(done[0][1][-2000:])
    return json.loads(done[0][0].splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--jax", help="a Python with jax 0.10")
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("--prefix", default="", help="what runs both, such as 'chrt -f 50' on a busy machine")
    parser.add_argument("--sizes", default="4096,4194304,67108864")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ops", default=",".join(OPS))
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    if options.mpi:
        with tempfile.TemporaryDirectory() as folder:
            return beside_mpi(options, pathlib.Path(folder))
    if not options.jax:
        parser.error("--jax or --mpi")
    print(f"{'collective':20} {'bytes':>10} {'hlokit us':>10} {'Gloo us':>10} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for op in options.ops.split(","):
            for size in map(int, options.sizes.split(",")):
                calls = 200 if size < 1 << 20 else 10
                pairs = [(ours(options, op, size // 4, calls, work), gloo(options, op, size // 4, calls, work))
                         for _ in range(options.repeats)]
                own, peer = min(p[0] for p in pairs), min(p[1] for p in pairs)
                print(f"{op:20} {size:10} {1e6 * own:10.1f} {1e6 * peer:10.1f} {peer / own:6.2f}", flush=True)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
