#!/usr/bin/env python3
"""Adds what a GPU gave to testdata/ptxsim/hardware.txt: lanes on which an older simulator gave other bits, of forms on which today's agrees.

    ptx_hardware_lines.py FOLDER DIR --old OLD.so --sim NEW.so [--filter RE] [--products 12]

FOLDER and DIR are those of ptx_hardware.py run. A line is `form | operands | results`, in hexadecimal, registers in the form's order: two lanes a form, of a
matrix product all 32 (ptxsim/values_test.cc runs them).
"""
import argparse, os, pathlib, re, tempfile
import numpy as np
import ptx_hardware
from ptx_cases import REGISTER, split_operands

MASK = {"h": 0xFFFF, "w": 0xFFFFFFFF, "q": (1 << 64) - 1, "c": 0xFF, "p": 1}


def simulate(a, library, indices):
    """{index: words} of the cases."""
    a.everything, a.jobs, a.patience, a.deadline = True, 2, 60, float("inf")
    with tempfile.TemporaryDirectory() as folder:
        a.save = pathlib.Path(folder)
        ptx_hardware.Pool(a, ptx_hardware.simulated(library, tempfile.mkdtemp(dir=folder))).run(indices)
        return {int(f.stem): np.load(f)["out"].view(np.uint32) for f in a.save.glob("*.npz")}


def registers(form):
    """Kinds of the results' and the operands' registers."""
    operands = split_operands(form.partition(" ")[2])
    return REGISTER.findall(operands[0]), [r for operand in operands[1:] for r in REGISTER.findall(operand)]


def result_words(kinds, words):
    """The values of a lane's results; a register that is named twice is stored once."""
    values, seen, at = [], {}, 0
    for register in kinds:
        if register not in seen:
            width = 2 if register[0] == "q" else 1
            seen[register] = sum(int(words[at + i]) << 32 * i for i in range(width)) & MASK[register[0]]
            at += width
        values.append(seen[register])
    return values


def lines_of(case, gpu, old, pools):
    results, sources = registers(case["name"])
    per = case["words"] // 32
    gpu, old = gpu.reshape(-1, per), old.reshape(-1, per)
    lanes = np.nonzero((gpu != old).any(1))[0].tolist()
    if case["name"].startswith("mma"):
        lanes = range(lanes[0] // 32 * 32, lanes[0] // 32 * 32 + 32)
    for lane in lanes if case["name"].startswith("mma") else lanes[:2]:
        operands = [int(pools[(place + lane * 8) // 8]) & MASK[register[0]] for place, register in zip(case["operands"], sources)]
        yield f"{case['name']} | {' '.join(f'{o:x}' for o in operands)} | {' '.join(f'{r:x}' for r in result_words(results, gpu[lane]))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--old", required=True)
    parser.add_argument("--sim", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--products", type=int, default=12, help="forms of mma at most")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parents[2] / "testdata/ptxsim/hardware.txt")
    a = parser.parse_args()
    data = ptx_hardware.read_folder(a.folder, a.filter)
    plain = [c for c in data["cases"] if c["operands"] and " (" not in c["name"] and len(registers(c["name"])[1]) == len(c["operands"]) and c["block"] == 32]
    gpu = ptx_hardware.load_results(a.results, {c["index"] for c in plain})
    indices = [c["index"] for c in plain if c["index"] in gpu]
    old, new = simulate(a, a.old, indices), simulate(a, a.sim, indices)
    known = a.output.read_text().splitlines() if a.output.exists() else ["# Made by scripts/gpu/ptx_hardware_lines.py from runs on GPUs: form | operands | results."]
    forms, added = {line.partition(" | ")[0] for line in known}, 0
    products = sum(form.startswith("mma") for form in forms)
    for case in plain:
        i = case["index"]
        if i not in gpu or i not in old or i not in new or case["name"] in forms:
            continue
        words = gpu[i].view(np.uint32)
        if (new[i] != words).any() or (old[i] == words).all() or (case["name"].startswith("mma") and products >= a.products):
            continue
        products += case["name"].startswith("mma")
        forms.add(case["name"])
        known += lines_of(case, words, old[i], data["pools"])
        added += 1
    a.output.write_text("\n".join(known) + "\n")
    print(f"{added} forms added, {len(known) - 1} lines")


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
