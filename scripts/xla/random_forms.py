"""Random modules of several instructions and computations: what one instruction alone (random_texts.py) cannot show.
Wrapped asynchronous operations, threads, names that collide, transfers and feeds with and without shapes, inferred shapes
over rare layouts, origins of tuples' elements, stack frames, custom calls, literals. What scripts/xla/text_peer.py asks about.

`module(seed)` gives one as text; the same seed, the same text."""
import re

import random_texts

UNWRAPPED = {"parameter", "constant"}  # opcodes that no asynchronous start wraps
NAMES = ["a", "a.1", "a.0", "a.5", "a.05", "Arg_0.5", "Arg_0", "x", "x.2", "a.", "a..3", "b.7", "f", "f.1", "g", "negate", "n.00"]
SHAPES = ["f32[4]", "f32[4]{0:T(128)}", "f32[4,2]{0,1}", "s4[4]{0:E(4)}", "s4[4,2]{0,1:E(4)}", "u2[8]{0:E(2)S(1)}", "f32[]", "pred[4]{0:E(1)}",
          "(f32[4], s32[])", "bf16[2,4]{1,0:T(2,128)(2,1)}", "f32[<=4]", "f32[4]{0:S(5)}", "token[]", "(f32[2]{0:S(1)}, (f32[], u32[]))"]
ARRAYS = [s for s in SHAPES if s[0] not in "(t"]


def module(seed):
    maker = Maker(seed)
    form = maker.random.choice(FORMS)
    return form(maker) if form else random_texts.module(seed)


class Maker(random_texts.Maker):
    """Modules around what random_texts.Maker makes."""

    def header(self):
        text = f"HloModule {self.pick('m', 'm', 'm', 'm:', 'f32:', '%m', 'a.b-c')}"
        return text + (f", {self.pick('is_scheduled')}=true" if self.chance(.1) else "")

    def extras(self, chance=.15):
        """Attributes that every instruction may have."""
        names = [n for n in random_texts.COMMON if n != "control-predecessors" and self.chance(chance)]
        return "".join(f", {name}={self.value(name)}" for name in names)

    def shaped(self, shape):
        """A shape in front of an opcode: as it should be, another one, rarely none."""
        if self.chance(.03):
            return ""
        return f"{shape} " if self.chance(.7) else f"{self.pick(*SHAPES, f'({self.random.choice(SHAPES)}, s32[])')} "

    def thread(self):
        return f', async_execution_thread="{self.pick("main", "one", "two")}"' if self.chance(.4) else ""

    def aliasing(self):
        return f", output_to_operand_aliasing={self.output_to_operand_aliasing()}" if self.chance(.3) else ""

    # Forms.

    def wrapped(self):
        """X-start, perhaps X-update, X-done."""
        opcodes = self.random.choice([o for o in random_texts.OPCODES if not UNWRAPPED & set(o.split("|"))])
        self.row, self.opcode = random_texts.OPCODES[opcodes], self.random.choice(opcodes.split("|"))
        shapes = [self.shape() if s == "ANY" else s.replace(",f", ", f") for s in self.row[0].split()]
        if any("(" in s for s in self.row[0].split()):
            shapes = ["(f32[4], f32[4])"]
        result = self.result(shapes)
        name = re.sub("-start$", "", self.opcode)
        attributes = [*self.attribute_list(), self.thread(), self.aliasing()]
        self.random.shuffle(attributes)
        full = f"(({', '.join(shapes)}), {result}, {self.pick('u32[]', 'u32[]', 's32[2]')})"
        operands = ", ".join(f"p{i}" for i in range(len(shapes)))
        lines = [f"p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes)]
        lines.append(f"st = {full} {name}-start({operands}){''.join(attributes)}")
        if self.chance(.3):
            lines.append(f"up = {full} {name}-update(st){self.extras(.05)}")
        done = self.pick(name, name, "async")
        lines.append(f"ROOT d = {result} {done}-done({'up' if lines[-1].startswith('up') else 'st'}){self.extras(.05)}")
        return self.wrap(lines)

    def wrap(self, lines, computations=random_texts.COMPUTATIONS):
        return f"{self.header()}\n\n{computations}ENTRY e {{\n  " + "\n  ".join(lines) + "\n}\n"

    def threads(self):
        """Starts of computations: by name and in place, one in the other."""
        body = self.pick("ROOT n = f32[4] negate(q)", "m = f32[4] negate(q)\n    ROOT n = f32[4] tanh(m)",
                         "m = f32[4] fusion(q), kind=kLoop, calls={\n      w = f32[4] parameter(0)\n      ROOT v = f32[4] negate(w)\n    }\n"
                         "    ROOT n = f32[4] negate(m)", "m = f32[4] call(q), to_apply=g\n    ROOT n = f32[4] negate(m)",
                         "s = ((f32[4]), f32[4], u32[]) async-start(q), calls=i" + self.thread() + "\n    ROOT n = f32[4] async-done(s)")
        inner = "i {\n  x = f32[4] parameter(0)\n  y = f32[4] negate(x)\n  ROOT z = f32[4] negate(y)\n}\n\n"
        text = f"{{\n    q = f32[4] parameter(0)\n    {body}\n  }}"
        named = f"c {text}" + (f', execution_thread="{self.pick("main", "one")}"' if self.chance(.3) else "") + "\n\n"
        attributes = [f", calls={self.pick('c', text)}", self.thread(), self.aliasing(), self.extras(.05)]
        self.random.shuffle(attributes)
        lines = ["p = f32[4] parameter(0)", f"st = ((f32[4]), f32[4], u32[]) async-start(p){''.join(attributes)}"]
        if self.chance(.2):
            lines.append("up = ((f32[4]), f32[4], u32[]) async-update(st)")
        lines.append(f"ROOT d = f32[4] async-done({'up' if len(lines) == 3 else 'st'})")
        return self.wrap(lines, random_texts.COMPUTATIONS + inner + named)

    def names(self):
        """Computations and instructions whose names collide across computations."""
        name = lambda: self.random.choice(NAMES)
        computations, text = [], f"{self.header()}\n\n"
        for number in range(self.number(1, 4)):
            x, y, z = self.random.sample(NAMES, 3)
            own = self.random.choice([n for n in NAMES if n not in computations])
            middle = f"call({x}), to_apply={self.random.choice(computations)}" if computations and self.chance(.6) else f"negate({x})"
            lines = [f"{x} = f32[4] parameter(0)", f"{y} = f32[4] {middle}"]
            if self.chance(.3):
                lines.append(f"{z} = f32[4] add(negate({y}), {self.pick(f'tanh(negate({x}))', x)})")
            mark = self.pick("", "", "%")
            colon = ":" if not mark and self.chance(.05) else ""
            text += f"{mark}{own}{colon} {{\n  " + "\n  ".join(lines) + "\n}\n\n"
            computations.append(own)
        last = text.rstrip().rfind("\n\n")
        entry = self.chance(.7)
        return text[:last + 2] + ("ENTRY " if entry else "") + text[last + 2:]

    def transfers(self):
        """send, recv, infeed, outfeed and what goes with them."""
        data = self.random.choice(SHAPES)
        channel = self.pick("", ", channel_id=1", ", channel_id=1", ", channel_id=0")
        host = self.pick("", "", ", is_host_transfer=true", ", is_host_transfer=false")
        inflight, recv = f"({data}, u32[], token[])", f"({data}, token[])"
        lines = [f"p = {data} parameter(0)", f"tok = {self.shaped('token[]')}after-all()",
                 f"snd = {self.shaped(inflight)}send(p, tok){channel}{host}{self.extras(.05)}",
                 f"rcv = {self.shaped(inflight)}recv(tok){channel}{host}{self.extras(.05)}",
                 f"sd = {self.shaped('token[]')}send-done(snd){channel}{host}",
                 f"rd = {self.shaped(recv)}recv-done(rcv){channel}{host}{self.extras(.05)}",
                 f"fed = {self.shaped(recv)}infeed(tok){self.pick('', self.config('infeed'))}",
                 f"out = {self.shaped('token[]')}outfeed(p, tok){self.pick('', f', outfeed_shape={data}')}{self.pick('', self.config('outfeed'))}",
                 f"all = {self.shaped('token[]')}after-all(tok, {self.pick('sd', 'out', 'tok')})",
                 f"dep = {self.shaped(data)}add-dependency(p, all){self.extras(.05)}"]
        needs = {"sd": "snd", "rd": "rcv", "dep": "all", "all": re.search(r"(\w+)\)$", lines[8])[1]}
        kept = set()
        for name, line in [(line.split(" ")[0], line) for line in lines]:
            if name in ("p", "tok") or self.chance(.6) and needs.get(name, "p") in kept:
                kept.add(name)
        return self.wrap([line for line in lines if line.split(" ")[0] in kept])

    def config(self, feed):
        return f", {feed}_config={self.string()}"

    def inferred(self):
        """Results without shapes, of operands with rare layouts; literals among them."""
        shape = self.random.choice(ARRAYS)
        kind, dims = re.match(r"(\w+)\[([^\]]*)\]", shape).groups()
        sizes = [int(d.strip("<=")) for d in dims.split(",") if d]
        lines = [f"p = {shape} parameter(0)", f"c = {shape} constant({self.array(kind, sizes)})", f"s = {kind}[] constant({self.element(kind)})",
                 "i = s32[] constant(0)", "b = pred[] constant(true)"]
        every, values = ",".join(map(str, range(len(sizes)))), ["p", "c"]
        for n in range(self.number(1, 5)):
            x, y = self.random.choice(values), self.random.choice(values)
            op = self.pick(f"negate({x})", f"add({x}, {y})", f"copy({x})", f"select(b, {x}, {y})", f"clamp(s, {x}, s)", f"tuple({x}, {y})",
                           f"transpose({x}), dimensions={{{','.join(map(str, reversed(range(len(sizes)))))}}}", f"reverse({x}), dimensions={{{every}}}",
                           f"pad({x}, s), padding={'x'.join(['0_0'] * len(sizes))}", f"compare({x}, {y}), direction=LT", f"broadcast(s), dimensions={{}}",
                           f"opt-barrier({x})", f"domain({x}), domain={{kind=\"sharding\", entry={{replicated}}, exit={{replicated}}}}",
                           f"{kind}[{dims}] negate({x})", f"get-tuple-element(({shape}, {kind}[]) tuple({x}, s)), index={self.pick(0, 1)}",
                           f"concatenate({x}, {y}), dimensions={{0}}", f"dynamic-update-slice({x}, {y}, i)", f"map({x}), dimensions={{{every}}}, to_apply=neg")
            lines.append(f"v{n} = {op}{self.extras(.03)}")
            if not op.startswith(("tuple", "pad", "compare", "transpose", "concatenate", "broadcast", "get-tuple", "map")):
                values.append(f"v{n}")
        neg = f"neg {{\n  q = {kind}[] parameter(0)\n  ROOT r = {kind}[] negate(q)\n}}\n\n"
        return self.wrap(lines, neg)

    def origins(self):
        """Tuples, their elements, origins on both."""
        origin = lambda: f", origin={self.origin()}" if self.chance(.5) else ""
        lines = [f"x = f32[4] parameter(0){origin()}", f"y = f32[4] parameter(1){origin()}", f"pt = (f32[4], f32[4]) parameter(2){origin()}",
                 f"t = (f32[4], f32[4]) tuple(x, y){origin()}", f"u = ((f32[4], f32[4]), f32[4]) tuple(t, x){origin()}",
                 f"v = ((f32[4], f32[4]), f32[4]) tuple(pt, y){origin()}"]
        for n in range(self.number(1, 5)):
            which, index = self.pick("t", "u", "v", "pt"), self.pick(0, 1)
            shape = "(f32[4], f32[4])" if which in "uv" and index == 0 else "f32[4]"
            lines.append(f"e{n} = {self.pick(shape + ' ', shape + ' ', '')}get-tuple-element({which}), index={index}{origin()}{self.extras(.03)}")
            if shape[0] == "(":
                lines.append(f"g{n} = f32[4] get-tuple-element(e{n}), index=0{origin()}")
        return self.wrap(lines)

    def frames(self):
        """Stack frames: chains, rows that nothing uses, rows that are broken."""
        files, functions, locations, frames = (self.number(1, 3) for _ in range(4))
        lines = ["FileNames", *(f'{i + 1} "{self.pick("a.py", "b.py", "c d.py")}"' for i in range(files)), "", "FunctionNames",
                 *(f'{i + 1} "{self.pick("f", "g", "<module>", "f.<locals>.h")}"' for i in range(functions)), "", "FileLocations"]
        row = lambda most: self.number(1, most) if self.chance(.95) else self.number(-1, most + 1)
        for i in range(locations + 1):
            lines.append(f"{i + 1} {{file_name_id={row(files)} function_name_id={row(functions)} line={self.number(1, 9)} "
                         f"end_line={self.number(1, 9)} column={self.number(0, 9)} end_column={self.number(0, 9)}}}")
        lines += ["", "StackFrames"]
        for i in range(frames + 1):
            lines.append(f"{i + 1} {{file_location_id={row(locations + 1)} parent_frame_id={self.number(1, i + 1) if self.chance(.9) else self.number(1, frames + 3)}}}")
        body = ["p = f32[4] parameter(0)"] + [f'n{k} = f32[4] negate(p), metadata={{op_name="o{k}" stack_frame_id={self.number(0, frames + 2)}}}'
                                             for k in range(self.number(1, 4))]
        return f"{self.header()}\n\n" + "\n".join(lines) + "\n\nENTRY e {\n  " + "\n  ".join(body) + "\n}\n"

    def element(self, element_type):
        """A number that the type has, by its ends."""
        bits = int(re.sub(r"\D.*", "", element_type[1:]) or 0)
        if element_type == "pred":
            return self.pick("true", "false", "0", "1")
        if element_type[0] in "su":
            low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if element_type[0] == "s" else (0, 2**bits - 1)
            return str(self.pick(low, high, 0, 1 if high else 0, self.number(low, high)))
        if element_type[0] == "c":
            part = {"c64": "f32", "c128": "f64"}[element_type]
            return f"({self.element(part)}, {self.element(part)})"
        largest = {"f32": "3.4028234e+38", "f64": "1.7976931348623157e+308", "f16": "65504", "bf16": "3.39e+38"}.get(element_type, "6")
        return self.pick("0", "0.0", "1", "-1", "0.5", "2", "3", "1.5", largest, "-" + largest, f"{self.random.uniform(-4, 4):.{self.number(1, 17)}g}",
                         f"{self.random.uniform(-1, 1) * 2.0**-self.number(0, 40)!r}", "0.1", "1e-45", "5e-324",
                         "3e-8", "1e-40", *(["inf", "-inf", "nan", "-nan", "nan(0x1)", "-nan(0x3)"] if element_type[0] == "f" and bits >= 16 or
                                            element_type in ("bf16", "f8e5m2", "f8e4m3", "f8e3m4") else ["nan", "-nan"] if element_type[:2] == "f8" else []))

    def literals(self):
        """Constants of every type, with the numbers at the ends of their ranges."""
        lines = []
        for n in range(self.number(1, 4)):
            shape, text = self.typed_literal()
            lines.append(f"c{n} = {shape} constant({text})")
        return self.wrap(lines, "")


FORMS = [None, None, Maker.wrapped, Maker.wrapped, Maker.wrapped, Maker.threads, Maker.names, Maker.names, Maker.transfers, Maker.transfers,
         Maker.inferred, Maker.inferred, Maker.origins, Maker.frames, Maker.literals]
# SPDX-License-Identifier: Apache-2.0
