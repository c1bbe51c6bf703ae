#!/usr/bin/env python3
"""Partitions random small modules over 2 to 8 devices and compares values: partition_random.py --bin build/release/bin --count 600

Each seed gives one module: an array that goes from one random sharding to others, a broadcast that is reshaped in between, a dot whose three arrays
have random shardings, a TopK call, or a select-and-scatter. `hlo-opt --passes=spmd-partitioning --verify-each=interp` holds every device's part to
the whole. Some 40 modules a second of one core.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

COMPUTATIONS = """cmp {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT g = pred[] compare(a, b), direction=GT, type=TOTALORDER
}

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
"""


def array(dims):
    return f"f32[{','.join(map(str, dims))}]"


def sharding(rank, r, axes=3):
    """Each axis of a mesh of 2 x 2 x 2 cuts one dimension or copies."""
    places = [[] for _ in range(rank + 1)]
    for axis in r.sample(range(axes), axes):
        r.choice(places).append(axis)
    tiles = [2 ** len(place) for place in places]
    if max(tiles[:rank]) == 1:
        return "{replicated}"
    order = ",".join(str(axis) for place in places for axis in place)
    copies = tiles[rank] > 1
    shown = ",".join(map(str, tiles if copies else tiles[:rank]))
    return f"{{devices=[{shown}]<=[{','.join(['2'] * axes)}]T({order}){' last_tile_dim_replicate' if copies else ''}}}"


def moved(r):
    dims = [r.choice([4, 8, 6, 5, 16, 3]) for _ in range(r.choice([2, 3, 4]))]
    lines = [f"p = {array(dims)} parameter(0), sharding={sharding(len(dims), r)}"]
    for k in range(r.randint(1, 3)):
        lines.append(f"c{k} = {array(dims)} copy({'p' if k == 0 else f'c{k - 1}'}), sharding={sharding(len(dims), r)}")
    return lines


def broadcast(r):
    first = sharding(4, r)
    made = r.choice(["add(b, c)", "negate(b)", "negate(c)"])
    to = r.choice([[4, 8, 8, 3], [16, 2, 8, 3], [32, 4, 6], [8, 4, 4, 6], [2, 16, 8, 3], [8, 4, 24], [4, 2, 4, 2, 4, 3]])
    return ["x = f32[4,3] parameter(0), sharding={replicated}", "y = f32[8,4] parameter(1), sharding={replicated}",
            f"b = f32[8,4,8,3] broadcast(x), dimensions={{1,3}}, sharding={first}",
            f"c = f32[8,4,8,3] broadcast(y), dimensions={{0,1}}, sharding={first}", f"a = f32[8,4,8,3] {made}, sharding={first}",
            f"d = {array(to)} reshape(a), sharding={sharding(len(to), r)}", f"e = {array(to)} copy(d), sharding={sharding(len(to), r)}"]


def dot(r):
    batch = [r.choice([8, 4, 6])] if r.random() < 0.5 else []
    m, k, n = r.choice([8, 16, 6]), r.choice([8, 5, 16]), r.choice([8, 12, 7])
    lhs, rhs, out = batch + [m, k], batch + [k, n], batch + [m, n]
    batches = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if batch else ""
    return [f"p = {array(lhs)} parameter(0), sharding={sharding(len(lhs), r)}", f"q = {array(rhs)} parameter(1), sharding={sharding(len(rhs), r)}",
            f"d = {array(out)} dot(p, q), {batches}lhs_contracting_dims={{{len(lhs) - 1}}}, rhs_contracting_dims={{{len(batch)}}}, "
            f"sharding={sharding(len(out), r)}"]


def top_k(r):
    rows, k = r.choice([4, 8]), r.choice([2, 3, 4])
    values, indices = f"f32[{rows},{k}]", f"s32[{rows},{k}]"
    lines = [f"p = f32[{rows},32] parameter(0), sharding={sharding(2, r)}",
             f'c = ({values}, {indices}) custom-call(p), custom_call_target="TopK", called_computations={{cmp}}, sharding={{{{replicated}}, {{replicated}}}}']
    return lines + [f"v = {values} get-tuple-element(c), index=0, sharding={{replicated}}"] * (r.random() < 0.5)


def select_and_scatter(r):
    size, window, stride = r.randint(8, 40), r.randint(1, 5), r.randint(1, 4)
    low, high = (r.randint(0, min(2, window - 1)) for _ in range(2))
    count = (size + low + high - window) // stride + 1
    cut = "{devices=[8,1]<=[8]}"
    return [f"p = f32[{size},4] parameter(0), sharding={cut}", f"q = f32[{count},4] parameter(1), sharding={cut}",
            "z = f32[] constant(0), sharding={replicated}",
            f"s = f32[{size},4] select-and-scatter(p, q, z), window={{size={window}x1 stride={stride}x1 pad={low}_{high}x0_0}}, "
            f"select=ge, scatter=sum, sharding={cut}"]


def text_of(seed):
    r = random.Random(seed)
    lines = r.choice([moved, moved, broadcast, dot, dot, top_k, select_and_scatter])(r)
    lines[-1] = "ROOT " + lines[-1]
    return "HloModule m, num_partitions=8\n\n" + COMPUTATIONS + "\nENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--print", action="store_true", help="print the modules only")
    a = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for seed in range(a.first, a.first + a.count):
            text = text_of(seed)
            if a.print:
                print(text)
                continue
            path = pathlib.Path(work, "m.hlo")
            path.write_text(text)
            command = [a.bin / "hlo-opt", "--passes=spmd-partitioning", "--verify-each=interp", path]
            try:
                run = subprocess.run(command, capture_output=True, text=True, timeout=60)
                error = run.stderr if run.returncode else ""
            except subprocess.TimeoutExpired:
                error = "no end after 60 s"
            if error:
                failed += 1
                print(f"seed {seed}: {error[:400]}\n{text}")
    print(f"{a.count} modules, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
