"""Exchanges protobuf modules with the real XLA (jaxlib), both ways, over the corpus.

proto_interop.py --bin BIN [--corpus DIR] [--every N] [--verbose] [FILE...]
Each module's text goes through hlo-opt to protobuf and into XLA, and through XLA to protobuf and into hlo-opt; both must
print what XLA prints after its own way through protobuf. What the passes of the CPU make of it XLA must read too, and print
the same of it from text. Through pb and pbtxt of hlo-opt alone a module must come back
as it was. Exit status 1 where any differs, 77 where jaxlib or the corpus is missing (tests count that as skipped).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT.parent / "venv" / "jax" / "bin" / "python"
SKIPPED = 77
# What a module's message may differ in: its number in the process, and what only hlokit writes.
OWN_FIELDS = {5, 536870000}


def find_xla():
    """jaxlib's HLO bindings; starts this script over in a Python that has them."""
    try:
        from jaxlib import _hlo
        return _hlo
    except ImportError:
        for python in (VENV, pathlib.Path("/work/venv/jax/bin/python")):
            if python.exists() and pathlib.Path(sys.prefix) != python.parent.parent:
                os.execv(python, [str(python), *sys.argv])
        print("no jaxlib: skipped")
        sys.exit(SKIPPED)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def without_own_fields(data):
    """A message's top-level fields, those of OWN_FIELDS left out."""
    kept, at = [], 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            at += size
        else:
            _, at = varint(data, at)
        if tag >> 3 not in OWN_FIELDS:
            kept.append(data[start:at])
    return kept


def without_frames(text):
    """The text without call stacks, whose numbers depend on the order in which they were met."""
    text = re.sub(r"(?ms)^FileNames$.*?^StackFrames$.*?(?=^$)", "", text)
    return re.sub(r" ?stack_frame_id=\d+", "", text)


class Exchange:
    def __init__(self, xla, bin_dir):
        self.xla = xla
        self.tool = str(pathlib.Path(bin_dir) / "hlo-opt")

    def opt(self, data, *flags):
        made = subprocess.run([self.tool, "-", "--no-verify", *flags], input=data, capture_output=True, check=False)
        if made.returncode != 0:
            raise RuntimeError(made.stderr.decode(errors="replace").strip()[:600])
        return made.stdout

    def check(self, text):
        """What differs, as (step, expected, got); and whether the bytes are XLA's own."""
        parsed = self.xla.hlo_module_from_text(text)
        printed = parsed.to_string()
        theirs = parsed.as_serialized_hlo_module_proto()
        expected = self.xla.HloModule.from_serialized_hlo_module_proto(theirs).to_string()
        wrong = []

        def hold(step, want, got):
            if want != got:
                wrong.append((step, want, got))

        source = text.encode()
        ours = self.opt(source, "--format=pb")
        hold("hlokit's pb in XLA", expected,
             self.xla.HloModule.from_serialized_hlo_module_proto(ours).to_string())
        hold("XLA's pb in hlokit", expected, self.opt(theirs).decode())
        hold("pb and back", printed, self.opt(ours).decode())
        hold("pbtxt and back", printed, self.opt(self.opt(source, "--format=pbtxt")).decode())
        hold("XLA's pb, hlokit's pb, XLA", expected,
             self.xla.HloModule.from_serialized_hlo_module_proto(self.opt(theirs, "--format=pb")).to_string())
        compiled = self.opt(source, "--platform=cpu", "--format=pb")
        as_text = self.xla.hlo_module_from_text(self.opt(compiled).decode()).as_serialized_hlo_module_proto()
        hold("what hlokit compiled, in XLA", *(without_frames(self.xla.HloModule.from_serialized_hlo_module_proto(made).to_string())
                                               for made in (as_text, compiled)))
        return wrong, without_own_fields(ours) == without_own_fields(theirs)


def show(step, want, got):
    print(f"    {step}:")
    for a, b in zip(want.splitlines() + [""], got.splitlines() + [""]):
        if a != b:
            print(f"      expected {a[:300]}\n      got      {b[:300]}")
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--corpus", default=str(ROOT.parent / "shared" / "corpus"))
    parser.add_argument("--every", type=int, default=1, help="take every N-th file")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    files = [pathlib.Path(f) for f in args.files]
    if not files:
        corpus = pathlib.Path(args.corpus)
        if not corpus.exists():
            corpus = pathlib.Path("/work/shared/corpus")
        files = sorted(f for folder in ("ops", "models", "spmd") for f in (corpus / "jax" / folder).glob("*.hlo"))
        if not files:
            print("no corpus: skipped")
            return SKIPPED
    exchange = Exchange(find_xla(), args.bin)
    failed = same_bytes = count = 0
    for path in files[::args.every]:
        text = path.read_text()
        count += 1
        try:
            wrong, same = exchange.check(text)
        except Exception as error:  # pylint: disable=broad-except
            wrong, same = [(f"stopped: {error}", "", "")], False
        same_bytes += same
        failed += bool(wrong)
        if args.verbose and not same and not wrong:
            print(f"{path}: other bytes")
        if wrong:
            print(path)
            for difference in wrong:
                show(*difference)
    print(f"{count} modules: {count - failed} exchanged, {failed} differ; {same_bytes} with XLA's own bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
