#!/usr/bin/env python3
"""hlo-opt's passes beside XLA's, pass by pass, as a table for docs/passes.md's reader.

  scripts/xla/pass_pairs.py --bin build/release/bin --shared ../shared [--filter REGEX] [--keep FOLDER]

Judges each pair of SHARED/corpus/jax/passes by SHARED/tools/pass_pairs.py (valid, of equal value, no more instructions than XLA's),
and asks hlo-diff whether our result is XLA's but for names, and whether it is once dead code, repetitions and tuples that are only taken
apart are gone from both. Prints: pass | pairs | ok | identical | tidied. --keep leaves our results there.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile


TIDY = "--passes=fix<tuple-simplifier,cse,dce>"


def same(a, mine, theirs):
    return subprocess.run([a.bin / "hlo-diff", mine, theirs], capture_output=True, timeout=a.timeout).returncode == 0


def identical(a, before, kept):
    """Whether hlo-opt's text for `before` equals XLA's up to names, as it is and tidied."""
    with tempfile.TemporaryDirectory() as tmp:
        mine = (kept or pathlib.Path(tmp)) / f"{before.parent.name}.{before.name}"
        opt = [a.bin / "hlo-opt", f"--passes={before.parent.name}", before, "-o", mine]
        if subprocess.run(opt, capture_output=True, timeout=a.timeout).returncode:
            return False, False
        after = before.with_name(before.name.replace(".before.", ".after."))
        if same(a, mine, after):
            return True, True
        tidied = []
        for k, text in enumerate((mine, after)):
            tidied.append(pathlib.Path(tmp) / f"{k}.hlo")
            if subprocess.run([a.bin / "hlo-opt", TIDY, text, "-o", tidied[-1]], capture_output=True,
                              timeout=a.timeout).returncode:
                return False, False
        return False, same(a, *tidied)


def judge(a, pass_pairs, before):
    verdict, detail = pass_pairs.check(a, before)
    try:
        return verdict, detail, *identical(a, before, a.keep)
    except subprocess.TimeoutExpired:
        return verdict, detail, False, False


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    a = parser.parse_args()
    if not (a.shared / "tools").is_dir():
        print(f"skipped: no {a.shared}/tools")
        return 0
    sys.path.insert(0, str(a.shared / "tools"))
    import pass_pairs  # pylint: disable=import-outside-toplevel,import-error

    folder = a.shared / "corpus/jax/passes"
    pairs = [f for f in sorted(folder.rglob("*.before.hlo")) if re.search(a.filter, str(f))]
    if a.keep:
        a.keep.mkdir(parents=True, exist_ok=True)
    table = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = pool.map(lambda f: judge(a, pass_pairs, f), pairs)
        for f, (verdict, detail, exact, tidied) in zip(pairs, results):
            row = table[f.parent.name]
            row["pairs"] += 1
            row["ok"] += verdict.startswith("ok")
            row["identical"] += exact
            row["tidied"] += tidied
            if not verdict.startswith("ok"):
                print(f"{f}: {verdict}: {detail}")
            elif not exact:
                print(f"{f}: differs" + (", not tidied" if tidied else ""))
    print("| pass | pairs | ok | identical | tidied |\n|---|---|---|---|---|")
    for name, row in sorted(table.items()):
        print(f"| {name} | {row['pairs']} | {row['ok']} | {row['identical']} | {row['tidied']} |")
    total = sum(table.values(), collections.Counter())
    print(f"| all | {total['pairs']} | {total['ok']} | {total['identical']} | {total['tidied']} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
