"""operations_peer.py sizes: operations over dynamic dimensions (dynamic_cases.py) beside the real XLA.

Each case is asked with one, two and all dimensions dynamic, at several sizes in one module. What is compared of a result: its sizes, its
elements with zeros behind those sizes, and their sum. XLA runs twice, with other elements behind the sizes of the operands: results that
change then are no standard, and only counted; so are those whose sizes XLA gets wrong for arrays that fill their bounds (reduce-window
with padding), or leaves outside the bounds."""
import itertools
import re

import numpy

import dynamic_cases
import peer_values
import xla_peer

SECONDS = 120  # of the real XLA for one module, under load
VECTORS = 14  # sizes tried in one module
PLATFORMS = {"cpu": [], "cpu without passes": ["--no-passes"], "interpreter": ["--platform=interpreter"],
             "cpu after dynamic_padder": ["--passes=dynamic_padder"]}
REDUCERS = {"s32": "add", "f32": "add_f"}
NO_INFERENCE = "infer shape for opcode"
LEAF = r"\w+\[[\d,<=]*\]"


def on_xla(hlo, question):
    """(text, None) -> (whether it was read, the shape of the root or the refusal); (text, inputs of each run) -> results of each."""
    text, runs = question
    if runs is None:
        try:
            lines = hlo.hlo_module_from_text(text).to_string().splitlines()
            return True, shape_of_result(lines)
        except Exception as error:  # of several types
            return False, str(error)[:300]
    results = []
    for inputs in runs:
        results.append(peer_values.run_on_xla(hlo, (text, inputs)))
        if isinstance(results[-1], str):
            return results[-1]
    return results


def shape_of_result(lines):
    """Of the entry's root, without layouts."""
    entry = next(i for i, line in enumerate(lines) if line.startswith("ENTRY"))
    line = next(line for line in lines[entry:] if "ROOT " in line)
    shape = re.search(r" = (\(.*?\)(?= [a-z])|\S+) ", line).group(1)
    return re.sub(r"\{[^}]*\}|/\*.*?\*/", "", shape)


def parse(shape):
    element_type, dims = re.match(r"(\w+)\[([\d,<=]*)\]", shape).groups()
    dims = [d for d in dims.split(",") if d]
    return element_type, [int(d.lstrip("<=")) for d in dims], [d.startswith("<=") for d in dims]


def dynamic_sets(operands):
    """Sets of (operand, dimension) to make dynamic: each alone, each pair, all of an operand, all."""
    every = [(k, d) for k, shape in enumerate(operands) for d in range(len(parse(shape)[1]))]
    sets = [[place] for place in every] + [list(pair) for pair in itertools.combinations(every, 2)]
    sets += [[place for place in every if place[0] == k] for k in range(len(operands))] + [every]
    return [s for i, s in enumerate(sets) if s and s not in sets[:i]]


def size_vectors(bounds, generator):
    vectors = [list(bounds), [0] * len(bounds), [1] * len(bounds), [max(b - 1, 0) for b in bounds]]
    vectors += [[size if k == place else b for k, b in enumerate(bounds)] for place in range(len(bounds)) for size in (0, 1)]
    vectors += [[int(generator.randint(0, b + 1)) for b in bounds] for _ in range(VECTORS)]
    return [v for i, v in enumerate(vectors) if v not in vectors[:i]][:VECTORS]


class Module:
    """A case over one set of dynamic dimensions, once for each vector of their sizes."""

    def __init__(self, case, places, generator):
        (self.operands, self.body), self.places = case, places
        self.vectors = size_vectors([parse(self.operands[k])[1][d] for k, d in places], generator)

    def parameters(self, copies):
        shapes = []
        for c in range(copies):
            shapes += [(f"p{k}.{c}", shape) for k, shape in enumerate(self.operands)]
            shapes += [(f"n{j}.{c}", "s32[]") for j in range(len(self.places))]
        return [f"{name} = {shape} parameter({i})" for i, (name, shape) in enumerate(shapes)]

    def copy(self, c, declared=""):
        """Instructions that make r.c, of the shape `declared` where the body leaves it out."""
        lines = []
        for k, shape in enumerate(self.operands):
            element_type, bounds, _ = parse(shape)
            dims, name = [str(b) for b in bounds], f"p{k}.{c}"
            for d, bound in enumerate(bounds):
                if (k, d) not in self.places:
                    continue
                dims[d] = f"<={bound}"
                lines.append(f"x{k}_{d}.{c} = {element_type}[{','.join(dims)}] set-dimension-size({name}, "
                             f"n{self.places.index((k, d))}.{c}), dimensions={{{d}}}")
                name = f"x{k}_{d}.{c}"
            lines.append(f"x{k}.{c} = {element_type}[{','.join(dims)}] copy({name})")
        body = re.sub(r"<(\d)\.(\d)>", lambda m: ("<=" if (int(m[1]), int(m[2])) in self.places else "")
                      + str(parse(self.operands[int(m[1])])[1][int(m[2])]), self.body)
        names = set(re.findall(r"(?m)^\s*(\w+) = ", body)) | {f"x{k}" for k in range(len(self.operands))}
        body = re.sub(r"\b(" + "|".join(sorted(names)) + r")\b(?=[,) ])", rf"\1.{c}", body)
        lines += [line.strip() for line in body.split("\n")]
        if declared and not re.search(r" = (\(|\w+\[)", lines[-1]):
            lines[-1] = lines[-1].replace(" = ", f" = {declared} ", 1)
        return lines

    def text(self, copies, lines):
        return (f"HloModule m\n{dynamic_cases.COMPUTATIONS}\nENTRY e {{\n  " + "\n  ".join(self.parameters(copies) + lines) + "\n}\n")

    def bare(self, declared=""):
        *lines, last = self.copy(0, declared)
        return self.text(1, lines + ["ROOT " + last])

    def whole(self, result):
        """The text, and the names of its results; `result` is the shape of r.0."""
        lines, outputs = [], []
        for c in range(len(self.vectors)):
            lines += self.copy(c, result)
            leaves = re.findall(LEAF, result)
            for leaf, shape in enumerate(leaves):
                value = f"r.{c}"
                if result.startswith("("):
                    value = f"leaf{leaf}.{c}"
                    lines.append(f"{value} = {shape} get-tuple-element(r.{c}), index={leaf}")
                read(lines, outputs, value, shape)
        lines.append(f"ROOT all = ({', '.join(t for t, _ in outputs)}) tuple({', '.join(name for _, name in outputs)})")
        return self.text(len(self.vectors), lines), [name for _, name in outputs]

    def inputs(self, seed, behind):
        """Arguments; `behind` seeds the elements behind the sizes alone."""
        generator, other = numpy.random.RandomState(seed), numpy.random.RandomState(behind)
        arguments = []
        for vector in self.vectors:
            for k, shape in enumerate(self.operands):
                array, hidden = (peer_values.random_input(g, shape) for g in (generator, other))
                inside = numpy.ones(array.shape, bool)
                for (operand, d), size in zip(self.places, vector):
                    if operand == k:
                        inside &= numpy.arange(array.shape[d]).reshape([-1 if e == d else 1 for e in range(array.ndim)]) < size
                arguments.append(numpy.where(inside, array, hidden).astype(array.dtype))
            arguments += [numpy.int32(size) for size in vector]
        return arguments


def read(lines, outputs, value, shape):
    """Adds to lines and outputs what is compared of the instruction `value`."""
    element_type, bounds, dynamic = parse(shape)
    dims, tag = ",".join(map(str, bounds)), value
    zero = "(0, 0)" if element_type[0] == "c" else "false" if element_type == "pred" else "0"
    lines.append(f"zero_{tag} = {element_type}[] constant({zero})")
    static, held, mask = value, list(dynamic), None
    for d, bound in enumerate(bounds):
        lines.append(f"size{d}_{tag} = s32[] get-dimension-size({value}), dimensions={{{d}}}")
        outputs.append(("s32[]", f"size{d}_{tag}"))
        held[d] = False
        own = ",".join(f"<={b}" if h else str(b) for b, h in zip(bounds, held))
        lines += [f"bound{d}_{tag} = s32[] constant({bound})",  # XLA may have a size where the shape declares none
                  f"static{d}_{tag} = {element_type}[{own}] set-dimension-size({static}, bound{d}_{tag}), dimensions={{{d}}}"]
        static = f"static{d}_{tag}"
        if not dynamic[d]:
            continue
        lines += [f"index{d}_{tag} = s32[{dims}] iota(), iota_dimension={d}",
                  f"limit{d}_{tag} = s32[{dims}] broadcast(size{d}_{tag}), dimensions={{}}",
                  f"below{d}_{tag} = pred[{dims}] compare(index{d}_{tag}, limit{d}_{tag}), direction=LT"]
        if mask is not None:
            lines.append(f"mask{d}_{tag} = pred[{dims}] and({mask}, below{d}_{tag})")
        mask = f"below{d}_{tag}" if mask is None else f"mask{d}_{tag}"
    if mask is not None:
        lines += [f"zeros_{tag} = {element_type}[{dims}] broadcast(zero_{tag}), dimensions={{}}",
                  f"value_{tag} = {element_type}[{dims}] select({mask}, {static}, zeros_{tag})"]
        static = f"value_{tag}"
    lines.append(f"held_{tag} = {element_type}[{dims}] copy({static})")
    outputs.append((f"{element_type}[{dims}]", f"held_{tag}"))
    if element_type in REDUCERS and bounds:
        every = ",".join(map(str, range(len(bounds))))
        lines.append(f"sum_{tag} = {element_type}[] reduce({value}, zero_{tag}), dimensions={{{every}}}, to_apply={REDUCERS[element_type]}")
        outputs.append((f"{element_type}[]", f"sum_{tag}"))


class Sweep:
    def __init__(self, tool, findings):
        self.tool, self.findings = tool, findings
        self.peer = xla_peer.Peer(on_xla)

    def ask(self, question):
        self.peer.ask(question)
        return self.peer.answer(SECONDS)

    def shape(self, name, module):
        """The shape of the result as XLA infers it (as hlokit does, where XLA's reader infers none), or None."""
        ended = self.tool.call("hlo-opt", self.tool.write("bare.hlo", module.bare()))
        refused = ended.stderr.split("\n")[0].split("error: ")[-1]
        ours = "" if ended.returncode else shape_of_result(ended.stdout.splitlines())
        theirs = self.ask((module.bare(), None))
        if NO_INFERENCE in theirs[1] and ours:
            theirs = self.ask((module.bare(ours), None))
        if isinstance(theirs, str) or not theirs[0]:
            return self.findings.note("refused by XLA's reader")
        if ours != theirs[1]:
            self.findings.note("inferred differently", f"{name}: XLA infers {theirs[1]}, hlokit {ours or refused}",
                               f"{module.places} {module.operands} {module.body}")
        return theirs[1]

    def try_module(self, name, module):
        result = self.shape(name, module)
        if result is None:
            return
        text, names = module.whole(result)
        inputs = module.inputs(1, 2)
        theirs = self.ask((text, [inputs, module.inputs(1, 3)]))
        if isinstance(theirs, str):
            kind = re.sub(r"[%\w.]*\d[\w.<=]*|\{.*|\(.*", "#", theirs.split("\n")[0])[:120]
            self.findings.note("not run by XLA: " + kind)
            theirs = None
        for platform, flags in PLATFORMS.items():
            ours = self.tool.run(text, inputs, *flags)
            if isinstance(ours, str):
                self.findings.note("refused", f"{name} on {platform}: {re.sub('[0-9]+', '#', ours)}", text.split("ENTRY")[1][-3000:])
            elif theirs is not None:
                self.compare(name, platform, module, names, ours, theirs)

    def compare(self, name, platform, module, names, ours, theirs):
        unusable = without_standard(names, *theirs)
        for result, x, y in zip(names, ours, theirs[0]):
            tag = result.split("_", 1)[-1]
            vector = module.vectors[int(tag.split(".")[1])]
            if tag in unusable:
                self.findings.note("without a standard")
                continue
            if agree(x, y):
                self.findings.note("agree")
                continue
            sizes = ", ".join(f"x{k} {d}: {size}" for (k, d), size in zip(module.places, vector))
            self.findings.note("differ", f"{name} {module.places} on {platform}",
                               f"{module.operands} {module.body}\nsizes {sizes}; {result.split('_')[0]}\nXLA\n{y}\nours\n{x}")


def agree(ours, theirs):
    if numpy.size(ours) != numpy.size(theirs):
        return False
    ours = peer_values.as_type(ours, theirs)
    return not peer_values.nearly_wrong(ours, theirs).any() or theirs.dtype.kind == "f" and numpy.allclose(ours, theirs, 1e-4, 1e-5)


def without_standard(names, theirs, again):
    """Tags of the results that change with elements behind sizes, or of which XLA's sizes are out of bounds, or not the bounds where no
    operand is smaller."""
    bounds = {name.split("_", 1)[-1]: numpy.shape(y) for name, y in zip(names, theirs) if not name.startswith(("size", "sum"))}
    wrong = {name.split("_", 1)[-1] for name, y, z in zip(names, theirs, again) if numpy.asarray(y).tobytes() != numpy.asarray(z).tobytes()}
    for name, y in zip(names, theirs):
        found = re.match(r"size(\d+)_(.*)", name)
        if not found:
            continue
        bound = bounds[found[2]][int(found[1])]
        if not 0 <= int(y) <= bound:
            wrong.add(found[2])
        leaf, copy = found[2].split(".")
        if copy == "0" and int(y) != bound:  # the first vector is that of the bounds
            wrong |= {tag for tag in bounds if tag.split(".")[0] == leaf}
    return wrong


def sizes(options, tool, findings):
    sweep = Sweep(tool, findings)
    cases = dynamic_cases.all_cases()
    for name in options.names or cases:
        for places in dynamic_sets(cases[name][0]):
            sweep.try_module(name, Module(cases[name], places, numpy.random.RandomState(len(places))))
    return findings.finish()
# SPDX-License-Identifier: Apache-2.0
