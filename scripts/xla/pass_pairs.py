#!/usr/bin/env python3
"""hlo-opt's passes beside XLA's, pass by pass, as a table for docs/passes.md's reader.

  scripts/xla/pass_pairs.py --bin build/release/bin --shared ../shared [--filter REGEX] [--keep FOLDER]

Judges each pair of SHARED/corpus/jax/passes by SHARED/tools/pass_pairs.py (valid, of equal value, no more instructions than XLA's),
and asks hlo-diff whether our result is XLA's but for names, and whether it is once dead code, repetitions and tuples that are only taken
apart are gone from both. Prints: pass | pairs | ok | identical | tidied. --keep leaves our results there; --page writes docs/pass_pairs.md
from a run over all pairs.
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

PAGE = """# Passes compared with XLA's

Made by `scripts/xla/pass_pairs.py --page` from the {pairs:,} pairs of `../shared/corpus/jax/passes`, each a module before and after one of
XLA's passes. {ok:,} of our results are *ok* ({ok_share:.1f} %), {identical:,} *identical* ({identical_share:.1f} %), {tidied:,} *tidied*
({tidied_share:.1f} %). The columns:

- *ok*: the result is valid, has equal values on the interpreter, and no more instructions than XLA's result.
- *identical*: the result is XLA's except for names, by hlo-diff.
- *tidied*: the results are identical after `fix<tuple-simplifier,cse,dce>` has run on both. XLA's passes leave dead code, repeated
  instructions and tuples that are only decomposed (reads of loop state, uncalled computations, one conversion for each reader).

{table}
"""
NOT_OK = """
## Not ok

{rows}
"""
DIFFERS = """
## Differences that tidying leaves

By pass, the opcodes that hlo-diff names most often:

{rows}
"""


def opcodes_of_difference(a, mine, theirs):
    """The opcodes in hlo-diff's summary: `by opcode: 2 copy, 1 add, 3 more`"""
    out = subprocess.run([a.bin / "hlo-diff", mine, theirs], capture_output=True, text=True, timeout=a.timeout).stdout
    found = re.search(r"^  by opcode: (.*)$", out, re.M)
    return re.findall(r"\d+ (?!more\b)([a-z][a-z0-9-]*)", found[1]) if found else []


def write_page(path, table, not_ok, opcodes):
    total = sum(table.values(), collections.Counter())
    rows = ["| pass | pairs | ok | identical | tidied |", "|---|---|---|---|---|"]
    rows += [f"| {name} | {r['pairs']} | {r['ok']} | {r['identical']} | {r['tidied']} |" for name, r in sorted(table.items())]
    shares = {f"{k}_share": 100 * total[k] / total["pairs"] for k in ("ok", "identical", "tidied")}
    text = PAGE.format(table="\n".join(rows), **{k: total[k] for k in ("pairs", "ok", "identical", "tidied")}, **shares)
    if not_ok:
        text += NOT_OK.format(rows="\n".join(f"- `{name}`: {why}" for name, why in not_ok))
    if opcodes:
        text += DIFFERS.format(rows="\n".join(
            f"- `{name}`: " + ", ".join(f"`{op}`" for op, _ in counts.most_common(4)) for name, counts in sorted(opcodes.items())))
    path.write_text(text)


def same(a, mine, theirs):
    return subprocess.run([a.bin / "hlo-diff", mine, theirs], capture_output=True, timeout=a.timeout).returncode == 0


def identical(a, before, kept):
    """Whether hlo-opt's text for `before` equals XLA's up to names, as it is and tidied; the opcodes of what differs then."""
    with tempfile.TemporaryDirectory() as tmp:
        mine = (kept or pathlib.Path(tmp)) / f"{before.parent.name}.{before.name}"
        opt = [a.bin / "hlo-opt", f"--passes={before.parent.name}", before, "-o", mine]
        if subprocess.run(opt, capture_output=True, timeout=a.timeout).returncode:
            return False, False, []
        after = before.with_name(before.name.replace(".before.", ".after."))
        if same(a, mine, after):
            return True, True, []
        tidied = []
        for k, text in enumerate((mine, after)):
            tidied.append(pathlib.Path(tmp) / f"{k}.hlo")
            if subprocess.run([a.bin / "hlo-opt", TIDY, text, "-o", tidied[-1]], capture_output=True,
                              timeout=a.timeout).returncode:
                return False, False, []
        if same(a, *tidied):
            return False, True, []
        return False, False, opcodes_of_difference(a, *tidied)


def judge(a, pass_pairs, before):
    verdict, detail = pass_pairs.check(a, before)
    try:
        return verdict, detail, *identical(a, before, a.keep)
    except subprocess.TimeoutExpired:
        return verdict, detail, False, False, []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
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
    table, opcodes, not_ok = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter), []
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = pool.map(lambda f: judge(a, pass_pairs, f), pairs)
        for f, (verdict, detail, exact, tidied, differ) in zip(pairs, results):
            row = table[f.parent.name]
            if differ:
                opcodes[f.parent.name].update(differ)
            row["pairs"] += 1
            row["ok"] += verdict.startswith("ok")
            row["identical"] += exact
            row["tidied"] += tidied
            if not verdict.startswith("ok"):
                print(f"{f}: {verdict}: {detail}")
                not_ok.append((f"{f.parent.name}/{f.name.split('.')[0]}", f"{verdict}: {detail}"[:160]))
            elif not exact:
                print(f"{f}: differs" + (", not tidied" if tidied else ""))
    print("| pass | pairs | ok | identical | tidied |\n|---|---|---|---|---|")
    for name, row in sorted(table.items()):
        print(f"| {name} | {row['pairs']} | {row['ok']} | {row['identical']} | {row['tidied']} |")
    if a.page:
        write_page(a.page, table, not_ok, opcodes)
    total = sum(table.values(), collections.Counter())
    print(f"| all | {total['pairs']} | {total['ok']} | {total['identical']} | {total['tidied']} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
