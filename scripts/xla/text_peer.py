#!/usr/bin/env python3
"""Asks hlokit and the real XLA what they make of random texts (random_texts.py): who refuses which, who prints what.

  text_peer.py --bin build/release/bin [--seed 1] [--count 20000] [--shown 2]

Needs jaxlib; exits 77 without it. Texts that both read are printed with the defaults and two random ways more. The
differences on purpose (docs/differences.md) are those of mutation_test.py and ALLOWED. Exit status: 0 no others, 1 others.
"""
import argparse
import collections
import difflib
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import mutation_test
import print_options_test
import random_forms
import random_texts
import xla_peer

# Beyond those of mutation_test.py: (who alone refuses, pattern of the refusal).
ALLOWED = [
    ("XLA", r"Layout has physical shape"),  # of older text
    ("us", r"expected an integer type, found"),  # which XLA prints as `invalid`
    ("us", r"does not fit in 64 bits"),
    ("us", r"a window needs size=|rhs_reversal has \d+ dimensions"),  # XLA does not look at that part
    ("XLA", r"precision but sees: packed_nibble"),
    ("XLA", r"minor to major size is"),  # of a literal with a blank before its brace
    ("us", r"has no such NaN"),
    ("us", r"expected an integer, found '}'"),  # after a comma
    ("us", r"broadcast: its shape does not follow"),
    ("XLA", r"^cannot infer shape for opcode|^failed to infer shape for opcode: opt-barrier"),
    ("XLA", r"opcode but sees: (send|recv)-start"),
    ("XLA", r"is called by more than one async op"),
]


def judge(hlo, question):
    """(text by text of the ways to print, "") or (None, the refusal)."""
    text, ways = question
    try:
        module = hlo.hlo_module_from_text(text)
    except Exception as error:  # of several types
        return None, refusal_in(str(error))
    texts = []
    for base, flipped in ways:
        options, named = print_options_test.options_of(hlo, base, flipped)
        texts.append((named, module.to_string(options)))
    return texts, ""


def refusal_in(message):
    """XLA's first complaint; empty where it gives none."""
    complaint = mutation_test.xla_error(message)
    return "" if complaint.startswith("INVALID_ARGUMENT: Syntax error") else complaint


def our_texts(server, text, named):
    """(verdict, printed, message)"""
    data = text.encode("utf-8", "surrogateescape")
    server.stdin.write(f"{len(data)} {named}\n".encode() + data)
    server.stdin.flush()
    line = server.stdout.readline().decode().split()
    if not line:
        raise RuntimeError(f"hlokit died of\n{text}")
    message = server.stdout.read(int(line[3])).decode("utf-8", "replace")
    printed = server.stdout.read(int(line[4])).decode("utf-8", "surrogateescape")
    return line[0], printed, message


def allowed(who, message, text):
    if who == "XLA" and message in ("", "expecting an unsigned integer type") and re.search(r"[#*]\(|SC\(", text):
        return True  # it reads such layouts, but not in tuples
    if who == "XLA" and message == "expects integer" and re.search(r"T\([^)]*\*", text):
        return True  # which it prints
    return any(alone in who and re.search(pattern, message) for alone, pattern in mutation_test.ALLOWED + ALLOWED)


class Findings:
    def __init__(self, shown):
        self.shown, self.counts, self.kinds, self.refusals = shown, *(collections.Counter() for _ in range(3))

    def note(self, kind, seed, told, text):
        self.kinds[kind] += 1
        if self.kinds[kind] <= self.shown:
            print(f"--- {kind}\nseed {seed}: {told}\n{shortened(text)}\n", flush=True)


def shortened(text):
    return text.replace(random_texts.COMPUTATIONS, "").strip()


def difference(theirs, ours):
    lines = list(difflib.unified_diff(theirs.splitlines(), ours.splitlines(), lineterm="", n=0))
    return "\n".join(line[:300] for line in lines[3:9])


def without_intended(text):
    """The text without what differs on purpose (docs/differences.md): names with characters that XLA does not escape, NaN
    parts of complex numbers, the statistics that XLA prints a second time."""
    lines = []
    for line in text.split("\n"):
        line = re.sub(r'(scheduling_name|execution_thread)=".*?"(?=[ ,}]|$)', r"\1=", line)
        while line.count(", statistics={") > 1:
            line = re.sub(r", statistics=\{[^}]*\}", "", line, count=1)
        if re.search(r"\bc(64|128)\[|^  ROOT \S+ = constant|^  \S+ = constant", line):
            line = re.sub(r"-?nan(\(0x[0-9a-f]+\))?", "nan", line)
            line = re.sub(r"\(nan, [^()]*\)", "(nan)", line)
        lines.append(line)
    return "\n".join(lines)


def compare(findings, seed, text, answer, server):
    if isinstance(answer, str):
        findings.counts[f"XLA {answer}, hlokit: {our_texts(server, text, 'base=')[0]}"] += 1
        return
    theirs, refusal = answer
    if theirs is None:
        verdict, _, message = our_texts(server, text, "base=")
        if verdict != "accepted":
            findings.counts["refused by both"] += 1
            findings.refusals[f"{mutation_test.generic(message)}  <>  {mutation_test.generic(refusal)}"] += 1
        elif allowed("XLA", refusal, text):
            findings.counts["refused by XLA alone, allowed"] += 1
        else:
            findings.note("refused by XLA alone: " + mutation_test.generic(refusal), seed, refusal, text)
        return
    for named, expected in theirs:
        verdict, printed, message = our_texts(server, text, named or "base=")
        if verdict == "parser":
            if allowed("us", message, text):
                findings.counts["refused by us alone, allowed"] += 1
            else:
                findings.note("refused by us alone: " + mutation_test.generic(message), seed, message, text)
            return
        if verdict == "verifier" and "expects one dimension" in message:
            findings.counts["XLA takes the first of several dimensions"] += 1
            return
        if printed != expected and without_intended(printed) == without_intended(expected):
            findings.counts["printed differently, intended"] += 1
            return
        if printed != expected:
            told = difference(expected, printed)
            findings.note(f"printed differently ({'defaults' if not named else 'options'})", seed, f"[{named}]\n{told}", text)
            return
    findings.counts["alike"] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--shown", type=int, default=2, help="examples of each kind of difference")
    parser.add_argument("--refusals", type=int, default=0, help="the most frequent pairs of messages where both refuse")
    options = xla_peer.arguments(parser, largest=0)
    server = subprocess.Popen([os.path.join(options.bin, "hlokit_mutation"), "serve"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    peer, findings = xla_peer.Peer(judge), Findings(options.shown)
    for seed in range(options.seed, options.seed + options.count):
        text = random_forms.module(seed)
        rng = random.Random(seed)
        ways = list(print_options_test.settings(rng, 2))
        peer.ask((text, [ways[0], rng.choice(ways[1:-2])] + ways[-2:]))
        compare(findings, seed, text, peer.answer(30), server)
    for kind, count in findings.kinds.most_common():
        print(f"{count:6} {kind}")
    for pair, count in findings.refusals.most_common(options.refusals):
        print(f"{count:6} both: {pair}")
    print(", ".join(f"{count} {what}" for what, count in sorted(findings.counts.items())))
    return 1 if findings.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
