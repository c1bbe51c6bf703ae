#!/usr/bin/env python3
"""Collectives of 2 processes with 2 devices each on one machine: hlo-run under mpirun beside JAX's own processes (jax.distributed, Gloo).

  mpi_collectives.py --bin build/release/bin --jax PYTHON [--sizes 4096,4194304,67108864] [--repeats 5]

Bytes are those that each device gives. Both are started alternately; the table has the least median of the repeats, in
microseconds a call, and Gloo's time over ours.
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


def ours(binary, op, n, calls, work):
    shape, text = OPS[op]
    module = work / "m.hlo"
    sizes = {"n": n, "n4": n * DEVICES, "nq": n // DEVICES}
    module.write_text(f"HloModule m, num_partitions={DEVICES}\n{SUM}\nENTRY e {{\n  x = f32[{n}] parameter(0)\n"
                      f"  ROOT r = {shape.format(**sizes)} {text.format(**sizes)}\n}}\n")
    out = work / "t.json"
    command = ["mpirun", "--oversubscribe", "-np", str(RANKS)] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    subprocess.run(command + [binary / "hlo-run", module, f"--iterations={calls}", "--warmup=1", f"--json={out}"],
                   check=True, capture_output=True, timeout=300)
    return json.loads(out.read_text())["run_med_s"]


def gloo(python, op, n, calls, work):
    script = work / "peer.py"
    script.write_text(PEER)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    ranks = [subprocess.Popen([python, script, str(r), port, op, str(n), str(calls)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) for r in range(RANKS)]
    done = [rank.communicate(timeout=300) for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit(done[0][1][-2000:])
    return json.loads(done[0][0].splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--jax", required=True, help="a Python with jax 0.10")
    parser.add_argument("--sizes", default="4096,4194304,67108864")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ops", default=",".join(OPS))
    options = parser.parse_args()
    print(f"{'collective':20} {'bytes':>10} {'hlokit us':>10} {'Gloo us':>10} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for op in options.ops.split(","):
            for size in map(int, options.sizes.split(",")):
                calls = 200 if size < 1 << 20 else 10
                pairs = [(ours(options.bin.resolve(), op, size // 4, calls, work), gloo(options.jax, op, size // 4, calls, work))
                         for _ in range(options.repeats)]
                own, peer = min(p[0] for p in pairs), min(p[1] for p in pairs)
                print(f"{op:20} {size:10} {1e6 * own:10.1f} {1e6 * peer:10.1f} {peer / own:6.2f}", flush=True)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
