#!/usr/bin/env python3
"""Times a call of a small jitted function on hlokit beside JAX's own CPU, in processes that take turns.

  scripts/jax/jax_dispatch.py --lib build/release/lib/libpjrt_hlokit.so --python VENV/bin/python

Prints microseconds a call and, for each function, the middle of the turns' ratios (hlokit over JAX's CPU: less is better).
"""
import argparse
import statistics
import sys
import time

import jax_turns

CALLS = 500  # a turn's block is several such runs of calls


def programs():
    import jax
    import jax.numpy as jnp

    eight, many = jnp.arange(8.0), jnp.ones((64, 64))
    tree = {str(k): eight + k for k in range(10)}
    return {
        "add": (jax.jit(lambda x, y: x + y), (eight, eight + 1)),
        "scalar": (jax.jit(lambda x: x * 2), (jnp.float32(1),)),
        "matmul": (jax.jit(lambda x, y: x @ y), (many, many)),
        "tree": (jax.jit(lambda t: {name: value + 1 for name, value in t.items()}), (tree,)),
    }


def server():
    made = programs()

    def block(name, seconds):
        function, arguments = made[name]
        function(*arguments)
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < 3:
            begin = time.perf_counter()
            for _ in range(CALLS):
                function(*arguments)
            times.append((time.perf_counter() - begin) / CALLS)
        return {"wall": statistics.median(times), "least": min(times)}

    return {"block": block, "names": lambda: {"names": list(made)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default="build/release/lib/libpjrt_hlokit.so")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has jax")
    parser.add_argument("--packages", default="", help="a folder of packages put on PYTHONPATH")
    parser.add_argument("--cpus", default="", help="as taskset takes them")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        jax_turns.serve(server())
        return
    sides = [jax_turns.Side(platform, options, __file__) for platform in ("hlokit", "cpu")]
    for name in sides[0].ask("names")["names"]:
        own, other = jax_turns.in_turns(sides, options.turns, name=name, seconds=0.06)
        least = [min(block["least"] for block in side) * 1e6 for side in (own, other)]
        print(f"{name:8} hlokit {least[0]:6.2f} us, cpu {least[1]:6.2f} us at best; "
              f"ratio {1 / jax_turns.ratio(own, other, 'wall'):.3f}, of the best {least[0] / least[1]:.3f}")
    for side in sides:
        side.close()


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
