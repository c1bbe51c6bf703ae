"""What the tables of the sources say of each opcode: operands, attributes, rules. For scripts that document and check."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLS = {"ToApply": ["to_apply"], "CondBody": ["condition", "body"], "Branches": ["branch_computations"],
         "SelectScatter": ["select", "scatter"], "FusionCalls": ["calls"], "AsyncCalls": ["calls"]}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def ops():
    """Rows of ir/ops.def by text name: operands and what they are, attribute struct, called computations, inference function."""
    rows = re.findall(r'^HLO_OP\(\w+, "([^"]+)", (\w+)\((\d+)\), (\w+), (\w+), [^,]+, (\w+), \w+, \w+, \w+, \w+, "([^"]*)"\)$',
                      read("ir/ops.def"), re.M)
    return {text: {"exact": arity == "Exactly", "operands": int(count), "attributes": attrs, "calls": calls, "infer": infer,
                   "names": names} for text, arity, count, attrs, calls, infer, names in rows}


def attributes(struct):
    """(name, required) of each attribute that an attribute struct reads and prints."""
    body = re.search(rf"struct {struct} {{(.*?)\n}};", read("ir/attributes.h"), re.S)
    found = re.findall(r'\b(Required|Optional|Printed)\(\s*"([^"]+)"', body.group(1)) if body else []
    return [(name, use == "Required") for use, name in found]


def rules():
    """Rows of ops/rules.def: (owner, number, source, text)."""
    rows = re.findall(r'^HLO_RULE\(([\w-]+), (\d+), "([^"]+)", "([^"]+)"\)$', read("ops/rules.def"), re.M)
    return [(owner, int(number), source, text) for owner, number, source, text in rows]


def labels():
    """Every label that an error may carry, with the rule's source and text; those of Each are left out where they do not
    apply."""
    table, all_ops = {}, ops()
    for owner, number, source, text in rules():
        names = [name for name, op in all_ops.items() if owner in (op["infer"], name)]
        if owner == "Each":
            names = list(all_ops)
        for name in names or [owner]:
            op = all_ops.get(name)
            if owner == "Each" and number == 0 and takes_any_number(op):
                continue
            if owner == "Each" and number == 99 and states_its_shape(op["infer"]):
                continue
            table[f"{name}-c{number}"] = (source, text)
    return table


def takes_any_number(op):
    """True of ops without a wrong number of operands; the parentheses of parameter and constant hold none at all."""
    return not op["exact"] and op["operands"] == 0 or op["attributes"] in ("ParameterAttrs", "ConstantAttrs")


def states_its_shape(infer):
    """True where the stated shape is the inferred one, so that it cannot differ."""
    return infer in ("Declared", "Broadcast", "Reshape", "DynamicReshape", "Bitcast", "Iota", "Rng")
# SPDX-License-Identifier: Apache-2.0
