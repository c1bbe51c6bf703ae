#!/usr/bin/env python3
"""hlo-opt --pipeline=xla-cpu beside XLA's CPU compiler: the fusions, copies and loops of whole modules.

  scripts/xla/xla_cpu_pipeline.py --bin build/release/bin --shared ../shared [--filter REGEX] [--stages FOLDER] [--keep FOLDER]

Counts `fusion`, `copy` and `while` in all computations of our result and of XLA's, for each module of SHARED/corpus/jax/models.
XLA's is what the corpus recorded: NAME.noynn.opt.hlo (without fusions for YNNPACK, which only XLA's CPU runs) where it exists, else
NAME.opt.hlo. Prints the modules that differ, and last the share that agrees. --dumps compiles the modules with jaxlib instead, with
this script's Python, and keeps XLA's text after each pass below FOLDER/NAME; --stages FOLDER reads such dumps as XLA's results.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

OPCODES = ("fusion", "copy", "while")
COUNTED = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = .*? (" + "|".join(OPCODES) + r")\(", re.M)


def counts(text):
    found = COUNTED.findall(text)
    return tuple(found.count(opcode) for opcode in OPCODES)


def recorded(models, name):
    kept = models / f"{name}.noynn.opt.hlo"
    return (kept if kept.exists() else models / f"{name}.opt.hlo").read_text()


def dumped(folder, name):
    return next((folder / name).glob("*.cpu_after_optimizations.txt")).read_text()


def optimize(a, module):
    out = subprocess.run([a.bin / "hlo-opt", "--pipeline=xla-cpu", module], capture_output=True, text=True, timeout=a.timeout)
    if out.returncode:
        return f"refused: {out.stderr.strip().splitlines()[0][:200]}"
    if a.keep:
        (a.keep / module.name).write_text(out.stdout)
    return counts(out.stdout)


def compile_with_dumps(folder, modules, shared):
    """XLA's text after each pass in folder/NAME/, from one Python process: XLA reads its flags once."""
    dump = folder / "_dump"
    os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + f" --xla_dump_to={dump} --xla_dump_hlo_pass_re=.* "
                               "--xla_dump_large_constants=true --xla_cpu_experimental_ynn_fusion_type=")
    sys.path.insert(0, str(shared / "tools"))
    import jax
    import xla_oracle
    jax.config.update("jax_enable_x64", True)
    for module in modules:
        shutil.rmtree(dump, ignore_errors=True)
        xla_oracle.compile_module(xla_oracle.parse(module)[0])
        kept = folder / module.stem
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for text in dump.glob("*.txt"):
            if text.name.endswith("cpu_after_optimizations.txt") or re.search(r"\.\d{4}\.", text.name):
                shutil.move(text, kept)
    shutil.rmtree(dump, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    parser.add_argument("--filter", default="", help="a regular expression of the modules' names")
    parser.add_argument("--stages", type=pathlib.Path, help="XLA's dumps, made by --dumps, instead of what the corpus recorded")
    parser.add_argument("--dumps", type=pathlib.Path, help="make XLA's dumps there and stop; needs jaxlib")
    parser.add_argument("--keep", type=pathlib.Path, help="our results go there")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120)
    a = parser.parse_args()
    models = a.shared / "corpus/jax/models"
    modules = [m for m in sorted(models.glob("*.hlo")) if not m.stem.endswith(".opt") and re.search(a.filter, m.stem)]
    if a.dumps:
        return compile_with_dumps(a.dumps, modules, a.shared)
    if a.keep:
        a.keep.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        ours = list(pool.map(lambda m: optimize(a, m), modules))
    alike = 0
    for module, mine in zip(modules, ours):
        theirs = counts(dumped(a.stages, module.stem) if a.stages else recorded(models, module.stem))
        alike += mine == theirs
        if mine != theirs:
            print(f"{module.stem:36} ours {mine}, XLA's {theirs}")
    print(f"{', '.join(OPCODES)}: {alike} of {len(modules)} modules agree ({100 * alike / max(1, len(modules)):.1f} %)")


if __name__ == "__main__":
    sys.exit(main())
