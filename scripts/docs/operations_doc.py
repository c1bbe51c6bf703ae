#!/usr/bin/env python3
"""Writes docs/operations.md from the tables of opcodes and rules and the examples in testdata/ops; with --check only says
whether it is current and complete."""
import sys

import made_page
from operations_table import CALLS, ROOT, attributes, labels, ops, read

PAGE = ROOT / "docs" / "operations.md"
HEAD = """# Operations

Made by `scripts/docs/operations_doc.py` from `ir/ops.def`, `ir/attributes.h`, `ops/rules.def` and the examples that the tests run,
`testdata/ops/OP/example.hlo`; a test keeps it current.

A module that breaks a rule is refused with the rule's label, `[add-c4]`; each label has a module of `testdata/verifier` that
shows the message. Sources: S and a number are subjects of the semantics pages' catalogue and C of its contradictions, as
[coverage.md](coverage.md) lists them with their tests; XLA: measured with XLA or read off its dumps; HLO: what text can say.

Rules of every operation:

| label | what must hold | source |
|---|---|---|
"""
MODULE_HEAD = """
## Rules about modules

| label | what must hold | source |
|---|---|---|
"""


def rule_rows(table, prefix):
    mine = [label for label in table if label.rsplit("-c", 1)[0] == prefix and not label.endswith(("-c0", "-c99"))]
    mine.sort(key=lambda label: int(label.rsplit("-c", 1)[1]))
    return "".join(f"| `{label}` | {table[label][1]} | {table[label][0]} |\n" for label in mine)


def signature(op):
    count = op["operands"]
    text = f"{count} operand{'' if count == 1 else 's'}" if op["exact"] else f"{count} or more operands"
    text += f" ({op['names']})" if op["names"] else ""
    named = [(name, True) for name in CALLS.get(op["calls"], [])] + attributes(op["attributes"])
    required = [f"`{name}`" for name, must in named if must]
    optional = [f"`{name}`" for name, must in named if not must]
    return text + "".join(f"; {what} {', '.join(names)}" for what, names in (("with", required), ("optionally", optional)) if names)


def example(name):
    """The summary (first line) and the rest of an op's example."""
    lines = read(f"testdata/ops/{name}/example.hlo").rstrip("\n").split("\n")
    return lines[0].removeprefix("//").strip(), "\n".join(lines[1:])


def page():
    table, text = labels(), HEAD
    for number in (0, 99):
        source, what = table[f"add-c{number}"]
        text += f"| `OP-c{number}` | {what} | {source} |\n"
    for name, op in ops().items():
        summary, module = example(name)
        text += f"\n## {name}\n\n{summary}\n\n{signature(op)}.\n"
        rows = rule_rows(table, name)
        if rows:
            text += "\n| label | what must hold | source |\n|---|---|---|\n" + rows
        text += f"\n```\n{module}\n```\n"
    text += MODULE_HEAD
    families = dict.fromkeys(label.rsplit("-c", 1)[0] for label in table)
    return text + "".join(rule_rows(table, family) for family in families if family not in ops())


if __name__ == "__main__":
    sys.exit(made_page.write_or_check(PAGE, page(), "scripts/docs/operations_doc.py"))
# SPDX-License-Identifier: Apache-2.0
