#!/usr/bin/env python3
"""Damages modules and compares what hlokit and the real XLA make of the texts.

  mutation_test.py --bin build/release/bin [--count 100000] [--seed 1] [--log OUT.jsonl] [PATH...]

Needs jaxlib (`pip install jax`); without it, hlokit_mutation's own short run in ctest is the test.
PATHs are HLO files or folders of them; by default ../shared/corpus where it exists, else testdata.
hlokit_mutation makes the texts and judges them; XLA judges each in a worker process, since it
aborts on some. XLA reads without verifying, so the judgements are compared so:
  both refuse, both accept    agreement
  refused by XLA alone        a fault, unless a rule of ALLOWED names it
  refused by our reader alone a fault, unless a rule of ALLOWED names it
  refused by our verifier     counted: XLA verifies later
Exit status: 0 no faults, 1 faults, 77 skipped.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

import xla_peer

HANG_SECONDS = 30  # of the real XLA, under load
WORKERS = 2

# Differences that docs/differences.md lists: (who alone refuses, pattern of the refusal).
ALLOWED = [
    ("us", r"the layout must name each|the layout orders"),
    ("us", r"expected an operand, found '[,)]'|expected an element type or a tuple shape, found '[,)]'"),
    ("us", r"tiles, but \d+ devices|the groups hold \d+ devices|no (tiles|devices), or too many"),
    ("us", r"the mesh has no positions|a sharding is of one kind only|is of no other kind"),
    ("us", r"a dimension cannot be negative|at most 64 dimensions|more bytes than 64 bits"),
    ("XLA", r'unexpected attribute "(is_stable|has_dynamic_root|debug_attributes)"'),
    ("XLA", r'unexpected attribute "(all_reduce_id|opaque|barrier|async_group_id|preserve_layout'
            r'|is_cross_program_prefetch|size_of_\w+|algorithm)"'),
    ("us", r"in the layout, found|T\(\.\.\) must order"),
    ("us", r"takes at least 1 operand, found 0|(dot|ragged-all-to-all) takes \d operands"),
    ("us", r"expected (a number|an integer), found ','"),
    ("us", r"a size in a layout cannot be negative"),
    ("us", r"expected a string, found"),
    ("us", r"expected '\[' before the dimensions|'[a-z0-9-]+' is not defined"),
    ("XLA", r"expects '\(' in front of tuple elements"),
    ("XLA", r"opcode but sees: (cross-replica-sum|generate-token)"),
]


def is_lenient(text, theirs):
    """Text in front of the HloModule line, or `%name (..) -> .. {` without one: XLA refuses both."""
    if not re.search(rb"^HloModule", text, re.M):
        return "expects '=' in instruction" in theirs
    start = re.match(rb"(?:\s+|//[^\n]*\n|/\*.*?\*/)*", text, re.S).end()
    return not text.startswith(b"HloModule", start)


def judge(hlo, text):
    """(accepted, message) of XLA's."""
    try:
        hlo.hlo_module_from_text(text.decode("utf-8", "surrogateescape"))
        return True, ""
    except UnicodeError:
        return None, "not UTF-8"
    except Exception as error:
        return False, str(error)


def frames(process):
    """(source, seed, what, text, verdict, micros, fixed, message) for each mutant."""
    out = process.stdout
    while True:
        head = out.readline()
        if not head:
            return
        source, seed, what, length = head.decode().rstrip("\n").split("\t")
        text = out.read(int(length))
        answer = out.readline()
        if not answer:
            yield source, seed, what, text, "crash", 0, True, ""
            return
        verdict, micros, fixed, message, printed = answer.decode().split()
        message = out.read(int(message)).decode("utf-8", "replace")
        out.read(int(printed))
        yield source, seed, what, text, verdict, int(micros), fixed == "1", message


def xla_error(message):
    """The first complaint of XLA's, without its place."""
    match = re.search(r"error: (.*)", message)
    return match.group(1) if match else message.strip().split("\n")[0]


def generic(message):
    """A message without what differs from text to text."""
    message = re.sub(r"^\d+:\d+: ", "", message)
    message = re.sub(r"'[^']*'|\"[^\"]*\"", "'_'", message)
    message = re.sub(r"-?\d+", "N", message)
    return message[:160]


def fault_of(verdict, ours, accepted, theirs, text):
    if verdict == "crash":
        return "crash"
    if accepted is None:
        return None
    if accepted and verdict == "parser":
        kind, message = "refused by us alone", ours
    elif not accepted and verdict == "accepted":
        kind, message = "refused by XLA alone", theirs
        if is_lenient(text, theirs):
            return None
    else:
        return None
    for who, pattern in ALLOWED:
        if who in kind and re.search(pattern, message):
            return None
    return kind


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--log", help="faults, a JSON object a line")
    options = xla_peer.arguments(parser, largest=20000)
    return compare(options, xla_peer.files_below(options.paths, options.largest))


def compare(options, files):
    command = [os.path.join(options.bin, "hlokit_mutation"), "emit", str(options.count),
               str(options.seed)] + files
    process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=1 << 20)
    peers = [xla_peer.Peer(judge) for _ in range(WORKERS)]
    counts, classes, examples = collections.Counter(), collections.Counter(), {}
    log = open(options.log, "w") if options.log else None
    slowest = 0
    waiting = collections.deque()

    def settle():
        nonlocal slowest
        peer, (source, seed, what, text, verdict, micros, fixed, ours) = waiting.popleft()
        answer = peer.answer(HANG_SECONDS)
        accepted, message = (False, answer) if isinstance(answer, str) else answer
        theirs = xla_error(message)
        slowest = max(slowest, micros)
        counts["texts"] += 1
        counts[f"{verdict}, XLA {'accepts' if accepted else 'refuses'}"] += 1
        counts["XLA aborts"] += message == "aborts"
        counts["over a second"] += micros > 1000000
        counts["not a fixed point"] += not fixed
        fault = "not a fixed point" if not fixed else fault_of(verdict, ours, accepted, theirs, text)
        if fault is None:
            return
        counts["faults"] += 1
        key = (fault, generic(theirs), generic(ours))
        classes[key] += 1
        examples.setdefault(key, (source, seed, what, ours, theirs))
        if log:
            log.write(json.dumps({"fault": fault, "source": source, "seed": seed, "what": what,
                                  "xla": theirs, "ours": ours,
                                  "text": text.decode("utf-8", "replace")}) + "\n")

    for n, frame in enumerate(frames(process)):
        peer = peers[n % WORKERS]
        if len(waiting) >= WORKERS:
            settle()
        peer.ask(frame[3])
        waiting.append((peer, frame))
    while waiting:
        settle()
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    print(f"{slowest / 1e6:8.3f} s: the slowest")
    for key, count in classes.most_common(60):
        source, seed, what, ours, theirs = examples[key]
        print(f"{count:6} {key[0]}\n       XLA:  {theirs[:150]}\n       ours: {ours[:150]}")
        print(f"       {os.path.relpath(source)} {seed} {what}")
    return 1 if counts["faults"] or counts["over a second"] else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
