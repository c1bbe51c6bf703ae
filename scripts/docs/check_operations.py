#!/usr/bin/env python3
"""Checks that operations are wholly tested: each has an example, each rule a refused module, each row of testdata/ops_rows.tsv
and docs/coverage.md names tests that exist.

With --rows FILE (../shared/ops.tsv) also that testdata/ops_rows.tsv accounts for every clause of every row of that table; exit
status 77 where the file is missing. A line of ops_rows.tsv is: row, part (rules or errors), clauses (a number or a range), how
many the part has, tests. A test is ops/OP/FILE, verifier/FILE, tools/FILE, a label, SUITE.CASE of a unit test, or in parentheses
the reason why there is none: history (what older versions said), builder (no text shows it), freedom (nothing is promised),
run-time (tested with the interpreter), reference (a pointer to another subject), reading (our reader takes one form as another).
"""
import argparse
import pathlib
import re
import sys

from operations_table import ROOT, labels, ops, read

NUMBERED = {"S": 87, "C": 30}  # subjects and contradictions of the catalogue that docs/coverage.md goes through
# Edits keep both sides of use lists, so that only a fault of ours breaks this one.
UNREACHABLE = {"computation-c3"}
REASONS = {"(history)", "(builder)", "(freedom)", "(run-time)", "(reference)", "(reading)"}


def refused_labels():
    """Labels that modules below testdata/verifier (or the verifier's unit tests, for what text cannot spell) are refused with."""
    found = set()
    for path in sorted((ROOT / "testdata/verifier").rglob("*.hlo")):
        found.update(re.findall(r"^// CHECK.*\[([a-z0-9-]+-c\d+)\]$", path.read_text(encoding="utf-8"), re.M))
    for test in ("verifier/structure_test.cc", "verifier/channel_order_test.cc"):
        found.update(re.findall(r'"([a-z0-9-]+-c\d+)"', read(test)))
    return found


def check_labels():
    stated, shown = labels(), refused_labels()
    for label in sorted(set(stated) - shown - UNREACHABLE):
        yield f"{label}: no module of testdata/verifier is refused with it"
    for label in sorted(shown - set(stated)):
        yield f"{label}: not in ops/rules.def"


def check_examples():
    for name in ops():
        path = ROOT / "testdata/ops" / name / "example.hlo"
        if not path.exists() or "// RUN" not in path.read_text(encoding="utf-8"):
            yield f"{name}: no testdata/ops/{name}/example.hlo that runs"


def unit_tests():
    pattern = re.compile(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", re.M)
    return {f"{suite}.{case}" for folder in ("*", "*/*") for path in ROOT.glob(f"{folder}/*_test.cc")
            for suite, case in pattern.findall(path.read_text(encoding="utf-8"))}


class Tests:
    def __init__(self):
        self.labels, self.units = refused_labels(), unit_tests()

    def problem(self, test):
        if test in self.labels or test in self.units or test in REASONS:
            return None
        exists = "/" in test and any((ROOT / "testdata" / f"{test}{end}").exists() for end in (".hlo", ".test"))
        return None if exists else f"no test {test}"


def rows():
    for line in read("testdata/ops_rows.tsv").rstrip("\n").split("\n")[1:]:
        row, part, clauses, count, tests = line.split("\t")
        first, _, last = clauses.partition("-")
        yield row, part, range(int(first), int(last or first) + 1), int(count), tests.split()


def check_rows(tests):
    shown = set()
    for row, part, clauses, _, named in rows():
        for problem in filter(None, map(tests.problem, named)):
            yield f"ops_rows.tsv, {row}, {part} {clauses[0]}: {problem}"
        shown.update((row, part) for test in named if test not in REASONS)
    # What only builders have needs no module of its own.
    for row in {row for row, *_ in rows()}:
        if not any((row, part) in shown for part in ("rules", "errors")) and "Trace" not in row:
            yield f"ops_rows.tsv, {row}: no test at all"


def elsewhere(page, letter):
    """The numbers of lines that begin with `Not here:`, single ones and `S1 to S7`."""
    text = " ".join(re.findall(r"^Not here:.*", page, re.M))
    for first, last in re.findall(rf"{letter}(\d+)(?: to {letter}(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def check_coverage(tests):
    page = read("docs/coverage.md")
    for letter, count in NUMBERED.items():
        here = {int(number) for number in re.findall(rf"^\| {letter}(\d+) \|", page, re.M)}
        for number in range(1, count + 1):
            if (number in here) == (number in set(elsewhere(page, letter))):
                yield f"docs/coverage.md: {letter}{number} is " + ("in both lists" if number in here else "missing")
    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and re.fullmatch(r"[SC]\d+", cells[1]):
            if not re.search(r"`[^`]+`", cells[3]):
                yield f"docs/coverage.md, {cells[1]}: names no test"
            for problem in filter(None, map(tests.problem, re.findall(r"`([^`]+)`", cells[3]))):
                yield f"docs/coverage.md, {cells[1]}: {problem}"


def split_clauses(text):
    """Sentences and parts between semicolons, outside of parentheses."""
    clauses, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth = max(0, depth + (c in "([{") - (c in ")]}"))
        ends = depth == 0 and c in ".;" and text[i + 1:i + 2] in ("", " ")
        if ends and not re.search(r"(?:e\.g|i\.e|\bvs)\.$", text[start:i + 1]):
            clauses.append(text[start:i + 1].strip())
            start = i + 1
    clauses.append(text[start:].strip())
    return [clause for clause in clauses if clause not in ("", ".", ";")]


def check_against(path):
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    columns = lines[0].split("\t")
    expected = {}
    for line in lines[1:]:
        cells = dict(zip(columns, line.split("\t")))
        for part in ("rules", "errors"):
            expected[cells["op"], part] = len(split_clauses(cells[part]))
    found = {}
    for row, part, clauses, count, _ in rows():
        if count != expected.get((row, part)):
            yield f"{row}, {part}: {expected.get((row, part), 'no')} clauses in the table, not {count}"
        found.setdefault((row, part), set()).update(clauses)
    for (row, part), count in expected.items():
        missing = set(range(1, count + 1)) - found.get((row, part), set())
        if missing:
            yield f"{row}, {part}: nothing said of clauses {sorted(missing)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=pathlib.Path)
    args = parser.parse_args()
    if args.rows and not args.rows.exists():
        print(f"no {args.rows} here: skipped")
        return 77
    tests = Tests()
    problems = [*check_labels(), *check_examples(), *check_rows(tests), *check_coverage(tests)]
    if args.rows:
        problems = list(check_against(args.rows))
    for problem in problems:
        print(problem)
    print(f"{len(labels())} labels, {len(ops())} operations, {sum(len(r[2]) for r in rows())} clauses, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
