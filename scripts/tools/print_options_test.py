#!/usr/bin/env python3
"""Compares hlokit's text with the real XLA's, byte for byte, under every option of the printer.

  print_options_test.py --bin build/release/bin [--combinations 3] [--seed 1] [PATH...]

Needs jaxlib; exits 77 without it. PATHs are HLO files or folders of them (by default
../shared/corpus, else testdata); a file may hold several modules between `// -----` lines. Each
module is printed with the defaults, the three named sets, each option of HloPrintOptions turned
over, and random combinations of them. Modules that XLA does not read, and
those whose constants were left out, are not compared, and counted.
"""
import argparse
import collections
import difflib
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "xla"))
import xla_peer

BASES = ["", "short", "canonical", "fingerprint"]
SWITCHES = ["print_percent", "print_ids", "print_program_shape", "print_result_shape",
            "print_operand_names", "print_operand_shape", "include_layout_in_shapes",
            "compact_operands", "print_large_constants", "print_extra_attributes",
            "print_control_dependencies", "print_metadata", "print_backend_config",
            "canonicalize_instruction_names", "canonicalize_computations"]


def modules_in(paths, largest):
    for file in xla_peer.files_below(paths, largest):
        with open(file, encoding="utf-8", errors="surrogateescape") as f:
            for n, part in enumerate(f.read().split("\n// -----\n")):
                yield f"{file}#{n}", part


def settings(rng, combinations):
    """(base, {switch: value}) for each way to print; the values are filled in by XLA's own base."""
    yield from ((base, ()) for base in BASES)
    yield from (("", (switch,)) for switch in SWITCHES)
    yield ("", ("indent_amount",))
    for _ in range(combinations):
        chosen = [s for s in SWITCHES if rng.random() < 0.3]
        yield rng.choice(BASES), tuple(chosen)


def options_of(hlo, base, flipped):
    """The options, and how hlokit_mutation spells them."""
    options = {"": hlo.HloPrintOptions, "short": hlo.HloPrintOptions.short_parsable,
               "canonical": hlo.HloPrintOptions.canonical,
               "fingerprint": hlo.HloPrintOptions.fingerprint}[base]()
    named = [f"base={base}"] if base else []
    for switch in flipped:
        value = 3 if switch == "indent_amount" else not getattr(options, switch)
        setattr(options, switch, value)
        named.append(f"{switch}={int(value)}")
    return options, ",".join(named)


def xla_texts(hlo, question):
    text, wanted = question
    try:
        module = hlo.hlo_module_from_text(text)
    except Exception:
        return None
    return [(named, module.to_string(options))
            for options, named in (options_of(hlo, *w) for w in wanted)]


def our_text(server, text, named):
    data = text.encode("utf-8", "surrogateescape")
    server.stdin.write(f"{len(data)} {named}\n".encode() + data)
    server.stdin.flush()
    verdict, _, _, message, printed = server.stdout.readline().decode().split()
    message = server.stdout.read(int(message)).decode("utf-8", "replace")
    printed = server.stdout.read(int(printed)).decode("utf-8", "surrogateescape")
    return printed if verdict != "parser" else f"refused: {message}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--combinations", type=int, default=3)
    options = xla_peer.arguments(parser, largest=100000)
    return compare(options, options.paths)


def compare(options, paths):
    rng = random.Random(options.seed)
    server = subprocess.Popen([os.path.join(options.bin, "hlokit_mutation"), "serve"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    peer = xla_peer.Peer(xla_texts)
    counts, faults = collections.Counter(), collections.Counter()
    for name, text in modules_in(paths, options.largest):
        peer.ask((text, list(settings(rng, options.combinations))))
        answers = peer.answer()
        if not isinstance(answers, list):
            counts["modules that XLA refuses"] += 1
            continue
        if "constant({...})" in text:  # XLA prints the values that its reader made up
            counts["modules with constants left out"] += 1
            continue
        counts["modules"] += 1
        for named, theirs in answers:
            ours = our_text(server, text, named)
            counts["texts"] += 1
            if ours == theirs:
                continue
            counts["faults"] += 1
            faults[named if named.count(",") == 0 else "combination"] += 1
            if faults[named] <= 3 and counts["shown"] < 40:
                counts["shown"] += 1
                print(f"{name} [{named}]")
                lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "XLA",
                                             "hlokit", lineterm="", n=0)
                print("\n".join(line[:200] for line in list(lines)[2:10]), flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:8} {what}")
    for named, count in faults.most_common():
        print(f"{count:8} faults with {named or 'the defaults'}")
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
