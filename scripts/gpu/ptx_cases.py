"""Kernels for ptx_hardware.py: each form of testdata/ptxsim/forms.txt that sm_90a has, between loads of its operands and stores of its results.

A case is one entry. Its parameters are the buffer of operand pools and the output buffer; each block writes `words` 32-bit words. Pools are
arrays of operands by kind (floats with many special values, integers, fragments of products), 16 slots of 64 rounds of 32 lanes of 64 bits;
a block is a round. Registers of a form are renamed, one a place, so that operands that share a name in forms.txt are independent.
"""
import dataclasses, re
from ptx_pools import *

KIND = {"h": "b16", "w": "b32", "q": "b64", "x": "b128", "c": "b8", "p": "pred"}


@dataclasses.dataclass
class Case:
    name: str
    text: str  # of the entry
    grid: int
    block: int
    words: int  # of output, a block
    shared: int = 0
    tensor: dict | None = None  # of a tensor map, the third parameter
    operands: list = dataclasses.field(default_factory=list)  # places in the pools, bytes
    sweep: dict | None = None  # of a function over consecutive operands
    texture: dict | None = None  # whose handle is the third parameter


# Kernels.

REGISTER = re.compile(r"(?<![A-Za-z0-9_.%])([hwqxcp])(\d)\b")
START = """.visible .entry {name}(.param .u64 pi, .param .u64 po{more}) {{
.reg .b16 h<80>; .reg .b32 w<80>; .reg .b64 q<80>; .reg .b128 x<20>; .reg .b8 c<20>; .reg .pred p<20>;
.reg .b32 tid, cta, t0, t1, t2; .reg .b64 in, out, u0, u1, u2; .reg .pred g0, g1; .reg .b16 s0; .reg .b8 e0;
ld.param.u64 in, [pi]; ld.param.u64 out, [po]; mov.u32 tid, %tid.x; mov.u32 cta, %ctaid.x;
mul.lo.u32 t0, cta, {block_bytes}; cvt.u64.u32 u0, t0; add.u64 out, out, u0;
mad.lo.u32 t0, tid, {thread_bytes}, 0; cvt.u64.u32 u0, t0; add.u64 out, out, u0;
mad.lo.u32 t0, cta, 32, tid; shl.b32 t0, t0, 3; cvt.u64.u32 u0, t0; add.u64 in, in, u0;
"""


def start(name, threads, words_a_thread, more="", block_words=None):
    total = threads * words_a_thread if block_words is None else block_words
    return START.format(name=name, more=more, block_bytes=4 * total, thread_bytes=4 * words_a_thread)


def load(reg, offset):
    """Text that loads a register from the operand at a byte offset of the pools; of this lane and round."""
    kind, at = reg[0], f"[in+{offset}]"
    return {"h": f"ld.global.b16 {reg}, {at};", "w": f"ld.global.b32 {reg}, {at};", "q": f"ld.global.b64 {reg}, {at};",
            "x": f"ld.global.b64 u1, {at}; ld.global.b64 u2, [in+{offset + ROUNDS * LANES * 8}]; mov.b128 {reg}, {{u1, u2}};",
            "c": f"ld.global.b16 s0, {at}; mov.b16 {{{reg}, e0}}, s0;",
            "p": f"ld.global.b32 t1, {at}; and.b32 t1, t1, 1; setp.ne.u32 {reg}, t1, 0;"}[kind]


def store(reg, word):
    """Text that stores a register, and the number of words."""
    at = f"[out+{4 * word}]"
    return {"h": (f"cvt.u32.u16 t1, {reg}; st.global.b32 {at}, t1;", 1), "w": (f"st.global.b32 {at}, {reg};", 1),
            "q": (f"mov.b64 {{t1, t2}}, {reg}; st.global.b32 {at}, t1; st.global.b32 [out+{4 * word + 4}], t2;", 2),
            "x": (f"mov.b128 {{u1, u2}}, {reg}; mov.b64 {{t1, t2}}, u1; st.global.b32 {at}, t1; st.global.b32 [out+{4 * word + 4}], t2; "
                  f"mov.b64 {{t1, t2}}, u2; st.global.b32 [out+{4 * word + 8}], t1; st.global.b32 [out+{4 * word + 12}], t2;", 4),
            "c": (f"mov.b16 s0, {{{reg}, 0}}; cvt.u32.u16 t1, s0; and.b32 t1, t1, 255; st.global.b32 {at}, t1;", 1),
            "p": (f"selp.u32 t1, 1, 0, {reg}; st.global.b32 {at}, t1;", 1)}[reg[0]]


def split_operands(text):
    """Operands at the top level."""
    parts, depth, last = [], 0, 0
    for i, ch in enumerate(text):
        depth += (ch in "{[") - (ch in "}]")
        if ch == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return [*parts, text[last:]] if text else []


class Renamer:
    """Fresh registers of each kind."""

    def __init__(self):
        self.used = dict.fromkeys(KIND, 0)

    def __call__(self, text, found):
        def fresh(m):
            reg = f"{m[1]}{self.used[m[1]]}"
            self.used[m[1]] += 1
            found.append(reg)
            return reg

        return REGISTER.sub(fresh, text)


FULL_MASK = {"shfl": -1, "vote": -1, "match": -1, "redux": -1, "elect": -1}


def scalar_kind(op):
    types = [t for t in op.split(".")[1:] if re.fullmatch(r"(f16|bf16|f32|f64|[usb]\d+)(x\d)?", t)]
    kinds = []
    for t in reversed(types):  # the last type is the operands'
        base = re.sub(r"x\d$", "", t)
        kinds.append(base if base in SCALAR else "int")
    return kinds[0] if kinds else "int"


def operand_pools(op, groups):
    """Pool and first slot of each source operand."""
    parts = op.split(".")
    if parts[0] == "mma" or op.startswith("wmma.mma"):
        types = [t for t in parts if re.fullmatch(r"f16|bf16|f32|tf32|f64|[su]\d+|b1|e4m3|e5m2", t)]
        if parts[0] == "wmma" and len(types) == 2:
            types = [types[0], "f16", "f16", types[1]]
        to = lambda t: {"s32": "s32"}.get(t, t if t in PRODUCT else "s8")
        names = [f"mma_{to(t)}" for t in types[1:4]]
        places = [(names[0], 0), (names[1], 8), (names[2], 0 if names[2] not in names[:2] else 4)]
        return places + [("meta1" if types[1] == "tf32" else "meta2", 0)] * (len(groups) - 3)
    kind = scalar_kind(op)
    places = [(kind, 2 * i) for i in range(len(groups))]
    if parts[0] == "fma" and op.endswith(("f16", "bf16")) and ".f32." in op:
        places[2] = ("f32", 2)
    if parts[0] in ("add", "sub") and op.endswith(("f32.f16", "f32.bf16")):
        places[1] = ("f32", 2)
    if parts[0] == "slct":
        places[2] = ("f32" if op.endswith("f32") else "int", 5)
        data = scalar_kind(op.rpartition(".")[0])
        places[0], places[1] = (data, 0), (data, 1)
    if parts[0] == "cvt" and ".rs" in op:
        places[-1] = ("int", 3)
    return places


def generic(form, index, rounds=ROUNDS, variant=""):
    """The kernel of a form on registers. Variants: "masked", by some lanes of the warp; "all", of all 65,536 values of the
    16-bit operand, "first", of the first one."""
    op, _, rest = form.partition(" ")
    operands = split_operands(rest)
    rename, results, at = Renamer(), [], []
    dest = rename(operands[0], results) if operands else ""
    sources, text = [], []
    name = f"k{index}"
    places = operand_pools(op, operands[1:])
    carry = ".cc" in op or op.startswith(("addc", "subc", "madc"))
    for i, operand in enumerate(operands[1:]):
        found = []
        new = rename(operand, found)
        pool, slot = places[i]
        mask = op.split(".")[0] in FULL_MASK and i == len(operands) - 2
        for j, reg in enumerate(found):
            if mask:
                text.append(f"mov.b32 {reg}, {'w74' if variant == 'masked' else -1};")
                continue
            if variant == "first" and i > 0:
                text.append(load(reg, pool_at(pool) + (slot + j) % SLOTS * ROUNDS * LANES * 8).replace("[in+", "[in0+"))
                continue
            if variant in ("all", "first"):
                text.append(f"mad.lo.u32 t0, cta, 32, tid; cvt.u16.u32 {reg}, t0;")
                continue
            at.append(pool_at(pool) + ((slot + j) % SLOTS) * ROUNDS * LANES * 8)
            text.append(load(reg, at[-1]))
            if op.startswith("match"):  # few values
                bits = 64 if reg[0] == "q" else 32
                text.append(f"and.b{bits} {reg}, {reg}, 3; setp.lt.u32 g0, cta, 8; @g0 mov.b{bits} {reg}, 5;")
        sources.append(new)
    if carry:
        sub = op.startswith("sub")
        text += [load("w70", pool_at("int") + 9 * ROUNDS * LANES * 8), load("w71", pool_at("int") + 11 * ROUNDS * LANES * 8),
                 f"{'sub' if sub else 'add'}.cc.u32 w72, w70, w71;"]
    if variant == "masked":
        text.insert(0, load("p19", pool_at("int") + 7 * ROUNDS * LANES * 8) + " setp.eq.u32 g0, tid, 3; or.pred p19, p19, g0; vote.sync.ballot.b32 w74, p19, -1;")
        text += [{"w": f"mov.b32 {r}, 0;", "p": f"setp.ne.u32 {r}, tid, tid;"}[r[0]] for r in results] + ["@!p19 bra skip;"]
    text.append(f"{op} {', '.join([dest, *sources])};" if operands else f"{op};")
    if variant == "masked":
        text.append("skip:")
    if ".cc" in op:
        text.append(f"{'subc' if op.startswith('sub') else 'addc'}.u32 w73, 0, 0;")
        results.append("w73")
    words, tail = 0, []
    for reg in dict.fromkeys(results):
        line, n = store(reg, words)
        tail.append(line)
        words += n
    if words == 0:
        return None
    if variant in ("all", "first"):
        rounds = 2048
        text.insert(0, ".reg .b64 in0; ld.param.u64 in0, [pi]; mul.wide.u32 u0, tid, 8; add.u64 in0, in0, u0;")
    body = "\n".join([start(name, LANES, words), *text, *tail, "ret;\n}\n"])
    return Case(form + (f" ({variant})" if variant else ""), body, rounds, LANES, LANES * words, operands=[] if variant in ("all", "first") else at)


def sweep(index, op, function, base, log_count, step=1):
    """A function of one f32 (or the upper words of f64s) on 2^log_count operands from the bits `base` on."""
    wide = op.endswith("f64")
    body = f""".visible .entry k{index}(.param .u64 pi, .param .u64 po) {{
.reg .b32 w<9>; .reg .b64 q<9>;
ld.param.u64 q0, [po]; mov.u32 w0, %ctaid.x; mov.u32 w1, %tid.x; mad.lo.u32 w0, w0, 256, w1; mul.wide.u32 q1, w0, 4; add.u64 q0, q0, q1;
mad.lo.u32 w2, w0, {step}, {base};
""" + (f"mov.b64 q2, {{0, w2}}; {op} q3, q2; mov.b64 {{w4, w3}}, q3;" if wide else f"{op} w3, w2;") + "\nst.global.b32 [q0], w3;\nret;\n}\n"
    return Case(f"{op} from {base:x}, 2^{log_count} by {step}", body, 1 << log_count - 8, 256, 256, sweep={"function": function, "base": base, "step": step, "wide": wide})


# Memory: each thread has 64 bytes.

def space_of(op, extra=""):
    for space in ("shared::cluster", "shared::cta", "shared", "global", "local", "const"):
        if f".{space}" in op:
            return space.split("::")[0]
    return "generic"


def value_pool(op):
    m = re.search(r"\.(f16|bf16|f32|f64)(x2)?(\b|\.)", op)
    return m[1] if m else "int"


def address_text(space, reg, to_out):
    """Text that puts the address of the thread's 64 bytes in `reg`, after filling them from the operands; and text that copies them to `out` again."""
    fill = lambda base, kind: " ".join(f"ld.global.b64 u1, [in+{{p}}+{i * ROUNDS * LANES * 8}]; st{kind}.b64 [{base}+{8 * i}], u1;" for i in range(8))
    back = lambda base, kind: " ".join(f"ld{kind}.b64 u1, [{base}+{8 * i}]; st.global.b64 [out+{8 * i}], u1;" for i in range(8))
    if space == "global":
        return fill("out", ".global") + f" mov.u64 {reg}, out; bar.sync 0;", "bar.sync 0;"
    if space == "shared":
        lines = f"mov.u64 u0, sm; mul.wide.u32 u2, tid, 64; add.u64 {reg}, u0, u2; "
        return lines + fill(reg, ".shared") + " bar.sync 0;", "bar.sync 0; " + back(reg, ".shared")
    if space == "local":
        return f"mov.u64 {reg}, loc; " + fill(reg, ".local"), back(reg, ".local")
    if space == "const":
        return f"mov.u64 u0, cst; add.u32 t0, tid, cta; and.b32 t0, t0, 31; mul.wide.u32 u2, t0, 64; add.u64 {reg}, u0, u2;", ""
    raise ValueError(space)


DECLARE = ".shared .align 128 .b8 sm[8192]; .local .align 64 .b8 loc[64];\n"


def memory(form, index, variant="", rounds=16):
    """ld, ldu, st, atom, red: variant is the space behind a generic address, or "same": all lanes on one address."""
    op, _, rest = form.partition(" ")
    space = space_of(op)
    if space == "generic":
        space = variant if variant in ("global", "shared", "local") else "global"
    kind, name = op.split(".")[0], f"k{index}"
    pool = value_pool(op)
    before, after = address_text(space, "q70", True)
    if variant and space_of(op) == "generic" and space != "global":
        before = before.replace("{p}", "{p}") + f" cvta.{space}.u64 q71, q70;"
        address = "q71"
    else:
        address = "q70"
    before = before.replace("{p}", str(pool_at(pool)))
    text = [before]
    if variant == "constant":
        text.append(f"mul.wide.u32 u2, tid, 56; add.u64 q70, in, u2; add.u64 q70, q70, {pool_at(pool)};")
        after = ""
    if variant == "same":
        text.append({"global": "mov.u64 q72, q70; cvt.u64.u32 u1, tid; mad.lo.u64 q70, u1, -128, q72;", "shared": "mov.u64 q72, q70; mov.u64 q70, sm;"}[space])
    operands, rename, results, sources = split_operands(rest), Renamer(), [], []
    loads = kind in ("ld", "ldu", "atom")
    if op.startswith("ld.param"):
        return None
    slot = 8
    for i, operand in enumerate(operands):
        if operand.startswith("["):
            sources.append(f"[{address}]")
            continue
        found = []
        new = rename(operand, found)
        sources.append(new)
        if i == 0 and loads:
            results += found
            continue
        if "L2::cache_hint" in op and i == len(operands) - 1:
            text.append(f"createpolicy.fractional.L2::evict_last.b64 {found[0]}, 1.0;")
            continue
        for reg in found:
            text.append(load(reg, pool_at(pool) + slot % SLOTS * ROUNDS * LANES * 8))
            slot += 2 if reg[0] == "x" else 1
    if ".cas" in op:  # every other lane compares with what is there
        reg = re.search(r"[hwqx]\d+", sources[2])[0]
        bits = KIND[reg[0]]
        prefix = {"global": ".global", "shared": ".shared"}[space]
        text.append(f"and.b32 t0, tid, 1; setp.ne.u32 g0, t0, 0; @g0 ld{prefix}.{bits} {reg}, [q70];")
    if variant == "same":
        text.append("bar.sync 0;")
    text.append(f"{op} {', '.join(sources)};")
    if variant == "same":
        text.append("bar.sync 0; mov.u64 q70, q72;")
    text.append(after)
    words, tail = 16, []
    for reg in results if variant != "same" else []:
        line, n = store(reg, words)
        tail.append(line)
        words += n
    if words > 32:
        return None
    body = "\n".join([start(name, LANES, 32) + DECLARE, *text, *tail, "ret;\n}\n"])
    return Case(form + (f" ({variant})" if variant else ""), body, rounds, LANES, LANES * 32)


def matrix_memory(form, index, rounds=16):
    """ldmatrix, stmatrix, wmma.load and wmma.store on a block's 8192 bytes."""
    op, _, rest = form.partition(" ")
    name, operands, rename, results = f"k{index}", split_operands(rest), Renamer(), []
    stores = op.startswith(("stmatrix", "wmma.store"))
    is_shared = ".shared" in op or op.startswith(("ldmatrix", "stmatrix"))
    copy = "mul.wide.u32 u2, tid, 256; mov.u64 q70, sm; add.u64 u2, q70, u2; "
    copy += " ".join(f"ld.global.b64 u1, [in+{pool_at('int') + i * 1024}]; st.shared.b64 [u2+{8 * i}], u1;" for i in range(32)) + " bar.sync 0;"
    text = [copy]
    if op.startswith(("ldmatrix", "stmatrix")):
        text.append("mul.lo.u32 t0, tid, 5; add.u32 t0, t0, cta; and.b32 t0, t0, 31; mul.wide.u32 u2, t0, 16; mov.u64 u0, sm; add.u64 q71, u0, u2;" + (" cvta.shared.u64 q71, q71;" if ".shared" not in op else ""))
    elif is_shared:
        text.append("mov.u64 q71, sm;")
    elif stores:
        text.append("mov.u64 q71, outb;")
    else:
        text.append(f"ld.param.u64 q71, [pi]; mul.wide.u32 u2, cta, 4096; add.u64 q71, q71, u2; add.u64 q71, q71, {pool_at('int')};")
    if not is_shared and stores:
        text.insert(0, "shl.b32 t0, tid, 8; cvt.u64.u32 u2, t0; " + " ".join(f"mov.u64 q72, 0; add.u64 q73, outb, u2; st.global.b64 [q73+{8 * i}], q72;" for i in range(32)) + " bar.sync 0;")
    sources, slot = [], 0
    for i, operand in enumerate(operands):
        if operand.startswith("["):
            sources.append("[q71]")
            continue
        found = []
        new = rename(operand, found)
        if i == 0 and not stores:
            results += found
        elif operand == "w0" and op.startswith("wmma"):
            new = "128" if "m8n8k128" in op else "32"
        else:
            for reg in found:
                text.append(load(reg, pool_at("int") + slot % SLOTS * ROUNDS * LANES * 8))
                slot += 1
        sources.append(new)
    text.append(f"{op} {', '.join(sources)};")
    words, tail = 0, []
    for reg in results:
        line, n = store(reg, words)
        tail.append(line)
        words += n
    a_thread = 64 if stores else words
    if stores and is_shared:
        tail.append("bar.sync 0; mul.wide.u32 u2, tid, 256; mov.u64 u0, sm; add.u64 u2, u0, u2; " +
                    " ".join(f"ld.shared.b64 u1, [u2+{8 * i}]; st.global.b64 [out+{8 * i}], u1;" for i in range(32)))
    head = start(name, LANES, a_thread) + DECLARE + f".reg .b64 outb; ld.param.u64 outb, [po]; mul.wide.u32 u2, cta, {4 * a_thread * LANES}; add.u64 outb, outb, u2;\n"
    return Case(form, "\n".join([head, *text, *tail, "ret;\n}\n"]), rounds, LANES, LANES * a_thread)


# Barriers, asynchronous copies, clusters.

def barrier(form, index):
    """Four warps: a value is stored before and read after; of arrive, by the two warps that do not wait."""
    op, _, rest = form.partition(" ")
    name, arrive = f"k{index}", ".arrive" in op
    rest = rest.replace("w2", "w9").replace("p1", "p9")
    text = ["mov.b32 w0, 1; mov.b32 w1, 128; " + load("p0", pool_at("int")) + " mov.u64 u0, sm; mul.wide.u32 u2, tid, 4; add.u64 q70, u0, u2; "
            "mov.b32 w9, 0; setp.ne.u32 p9, w9, 0;", load("w5", pool_at("int") + ROUNDS * LANES * 8), "st.shared.b32 [q70], w5;"]
    if ".red" in op:
        text.append("setp.lt.u32 g0, cta, 4; @g0 setp.ne.u32 p0, w0, 1; setp.gt.u32 g1, cta, 11; @g1 setp.eq.u32 p0, w0, 1;")
    if arrive:
        text.append(f"setp.lt.u32 g0, tid, 64; @!g0 bra wait; {op} {rest}; bra done; wait: barrier.sync w0, w1; done:")
        text.append("@g0 mov.b32 w6, 0; xor.b32 t0, tid, 64; mul.wide.u32 u2, t0, 4; add.u64 q71, u0, u2; @!g0 ld.shared.b32 w6, [q71];")
    else:
        text.append(f"{op} {rest};")
        text.append("xor.b32 t0, tid, 96; mul.wide.u32 u2, t0, 4; add.u64 q71, u0, u2; ld.shared.b32 w6, [q71];")
    tail = [store("w6", 0)[0], store("w9", 1)[0], store("p9", 2)[0]]
    body = "\n".join([start(name, 128, 3) + DECLARE, *text, *tail, "ret;\n}\n"])
    return Case(form, body, 16, 128, 128 * 3)


def mbarrier(form, index, count):
    """One thread: five arrivals expected, two made; the form; then phases are tested while the rest arrives."""
    op, _, rest = form.partition(" ")
    name = f"k{index}"
    text = ["mov.u64 q0, sm; mov.b32 w1, 5; mov.b32 w2, 100; mbarrier.init.shared.b64 [q0], w1; mov.b32 w1, 2; mov.b32 w0, 0; mov.b32 w20, 0; mov.b32 w21, 0;",
            "mbarrier.arrive.shared.b64 q5, [q0]; mbarrier.arrive.noComplete.shared.b64 q6, [q0], 1; mbarrier.pending_count.b64 w10, q5; mbarrier.pending_count.b64 w11, q6;",
            f"mov.u64 q1, q5; mov.b32 w1, {count}; setp.ne.u32 p0, w1, w1;"]
    if op.startswith("mbarrier.init"):
        text.append("mbarrier.inval.shared.b64 [q0];")
    generic_address = ".shared" not in op and "pending_count" not in op
    if generic_address:
        text.append("cvta.shared.u64 q0, q0;")
    text.append(f"{op} {rest};")
    if generic_address:
        text.append("cvta.to.shared.u64 q0, q0;")
    tail = [store("w10", 0)[0], store("w11", 1)[0], store("w0", 2)[0], store("p0", 3)[0]]
    words = 4
    if re.match(r"mbarrier\.arrive", op) and "q1," in rest:
        tail.append("mbarrier.pending_count.b64 w12, q1;" + store("w12", words)[0])
        words += 1
    if not op.startswith(("mbarrier.inval", "mbarrier.init")):
        drop = "expect_tx" in op or "complete_tx" in op
        for step in range(5):
            tail.append(f"mbarrier.test_wait.parity.shared.b64 p10, [q0], 0; mbarrier.test_wait.parity.shared.b64 p11, [q0], 1; {store('p10', words)[0]} {store('p11', words + 1)[0]}"
                        f" mbarrier.test_wait.shared.b64 p12, [q0], q5; {store('p12', words + 2)[0]}")
            words += 3
            if step < 4:
                tail.append(f"mbarrier.arrive.shared.b64 q7, [q0]; mbarrier.pending_count.b64 w13, q7; {store('w13', words)[0]}")
                words += 1
            if step == 1 and drop:
                tail.append(f"mbarrier.{'complete_tx.relaxed.cta' if 'expect_tx' in op else 'expect_tx.relaxed.cta'}.shared::cta.b64 [q0], {count};")
    body = "\n".join([start(name, 1, words) + DECLARE, *text, *tail, "ret;\n}\n"])
    return Case(f"{form} (of {count})", body, 1, 1, words)


WAIT = "wait: mbarrier.try_wait.parity.shared.b64 g1, [q60], 0; @g1 bra done; add.u32 t2, t2, 1; setp.lt.u32 g0, t2, 100000; @g0 bra wait; done:\n"


def copy_async(form, index):
    """cp.async of 4, 8 or 16 bytes a thread."""
    op, _, rest = form.partition(" ")
    name = f"k{index}"
    text = ["mov.u64 u0, sm; mul.wide.u32 u2, tid, 16; add.u64 q70, u0, u2; cvt.u32.u64 w0, q70; mov.u64 u1, -1; st.shared.b64 [q70], u1; st.shared.b64 [q70+8], u1;",
            f"ld.param.u64 q71, [pi]; mul.wide.u32 u2, cta, 512; add.u64 q71, q71, u2; mul.wide.u32 u2, tid, 16; add.u64 q71, q71, u2; add.u64 q1, q71, {pool_at('int')};",
            "and.b32 w2, tid, 7; and.b32 t0, tid, 1; setp.ne.u32 p0, t0, 0; createpolicy.fractional.L2::evict_last.b64 q2, 1.0;"]
    if "16,w2" in rest:
        text.append("and.b32 w2, tid, 15; setp.gt.u32 g0, tid, 15; @g0 mov.b32 w2, 16;")
    text.append(f"{op} {rest}; cp.async.wait_all; bar.sync 0; xor.b32 t0, tid, 1; mul.wide.u32 u2, t0, 16; add.u64 q70, u0, u2; ld.shared.b64 q72, [q70]; ld.shared.b64 q73, [q70+8];")
    tail = [store("q72", 0)[0], store("q73", 2)[0]]
    return Case(form, "\n".join([start(name, LANES, 4) + DECLARE, *text, *tail, "ret;\n}\n"]), 16, LANES, LANES * 4)


def copy_bulk(form, index, pool):
    """cp.async.bulk and cp.reduce.async.bulk of 512 bytes, between the block's shared memory (own or by the cluster's address) and global memory."""
    op, _, rest = form.partition(" ")
    name = f"k{index}"
    to_shared = "mbarrier::complete_tx" in op
    fill = "mul.wide.u32 u2, tid, 16; mov.u64 u0, sm; add.u64 q70, u0, u2; "
    for i in range(2):  # the first 512 bytes, and another 512
        fill += f"ld.global.b64 u1, [in+{pool_at(pool) + i * ROUNDS * LANES * 8}]; st.shared.b64 [q70+{8 * i}], u1; "
        fill += f"ld.global.b64 u1, [in+{pool_at(pool) + (i + 4) * ROUNDS * LANES * 8}]; st.shared.b64 [q70+{1024 + 8 * i}], u1; "
    text = [fill]
    target = "mul.wide.u32 u2, tid, 16; add.u64 q71, q61, u2; " + " ".join(
        f"ld.global.b64 u1, [in+{pool_at(pool) + (i + 6) * ROUNDS * LANES * 8}]; st.global.b64 [q71+{8 * i}], u1;" for i in range(2))
    text.append("ld.param.u64 q61, [po]; mul.wide.u32 u2, cta, 1024; add.u64 q61, q61, u2;")
    setup = "mov.u64 q60, sm; add.u64 q60, q60, 4096; mov.b32 w60, 1; setp.eq.u32 p10, tid, 0; @p10 mbarrier.init.shared.b64 [q60], w60; mov.b32 t2, 0;"
    text += [setup, "createpolicy.fractional.L2::evict_last.b64 q2, 1.0; mov.b32 w2, 512; mov.b16 h0, 1; mov.b16 h1, 0x5a5a;"]
    if to_shared:
        source = "mov.u64 q1, sm; cvt.u32.u64 w1, q1;" if ".shared::cta.mbarrier" in op else f"ld.param.u64 q1, [pi]; mul.wide.u32 u2, cta, 512; add.u64 q1, q1, u2; add.u64 q1, q1, {pool_at(pool)};"
        text.append(source + " mov.u64 q62, sm; cvt.u32.u64 w0, q62; add.u32 w0, w0, 1024; cvt.u32.u64 w3, q60; fence.proxy.async; bar.sync 0;")
        text.append(f"@!p10 bra wait; mbarrier.arrive.expect_tx.shared.b64 q63, [q60], 512; {op} {rest};\n" + WAIT)
        text.append("bar.sync 0; ld.shared.b64 q72, [q70+1024]; ld.shared.b64 q73, [q70+1032];")
        tail = [store("q72", 0)[0], store("q73", 2)[0]]
        a_thread, block_words = 4, None
    else:
        rest = rest.replace("q1", "q2")
        text.append(target + " mov.u64 q0, q61; mov.u64 q62, sm; cvt.u32.u64 w1, q62; fence.proxy.async; bar.sync 0;")
        text.append(f"@!p10 bra after; {op} {rest}; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; after: bar.sync 0;")
        tail, a_thread, block_words = [], 8, 256
    head = start(name, LANES, a_thread, block_words=block_words) + DECLARE
    reqn = ".reqnctapercluster 1, 1, 1\n" if "cluster" in op else ""
    body = "\n".join([head, *text, *tail, "ret;\n}\n"])
    if reqn:
        body = body.replace(") {\n", ")\n" + reqn + "{\n", 1)
    return Case(form, body, 16, LANES, LANES * 4 if block_words is None else block_words)
