"""Kernels for ptx_hardware.py on textures and surfaces. A case's `texture` says what the third parameter is a handle of: an array, filled from an operand
pool, or device memory, with its sampler; after a surface's kernel the array's bytes are the result."""
from ptx_cases import *

FORMATS = {"u8": (1, 1), "u16": (2, 2), "u32": (3, 4), "s8": (8, 1), "s16": (9, 2), "s32": (10, 4), "half": (16, 2), "float": (32, 4)}
INTEGER, NORMALIZED, SRGB = 1, 2, 16
WRAP, CLAMP, MIRROR, BORDER = range(4)


def texture(form, channels=4, size=(13, 9, 0), flags=0, read=0, address=CLAMP, filter=0, mip_filter=0, levels=1, border=(0.5, -1.5, 2.5, 3.0), kind="array", bias=0.0, clamp=(0.0, 16.0)):
    code, width = FORMATS[form]
    return {"format": code, "bytes": width, "channels": channels, "size": list(size), "flags": flags, "read": read, "address": [address] * 3, "filter": filter, "mip_filter": mip_filter,
            "levels": levels, "border": list(border), "kind": kind, "pool": {"half": "mma_f16", "float": "mma_f32"}.get(form, "int"), "bias": bias, "clamp": list(clamp)}


# Coordinates by lane and round: (a random word as a fraction of `span`) - `before`; texels exactly, halves, and anything.
def coordinates(count, spans, integer):
    text, regs = [], []
    for d in range(count):
        text.append(load(f"w{20 + d}", pool_at("coords") + d * ROUNDS * LANES * 8))
        if integer:
            text.append(f"cvt.rn.f32.u32 w{30 + d}, w{20 + d}; mul.rn.f32 w{30 + d}, w{30 + d}, {single(spans[d] * 2 / 2**32)}; cvt.rmi.s32.f32 w{30 + d}, w{30 + d}; sub.s32 w{30 + d}, w{30 + d}, {max(1, int(spans[d] // 2))};")
        else:
            text.append(f"cvt.rn.f32.u32 w{30 + d}, w{20 + d}; mul.rn.f32 w{30 + d}, w{30 + d}, {single(spans[d] * 2 / 2**32)}; sub.rn.f32 w{30 + d}, w{30 + d}, {single(spans[d] / 2)};"
                        f" setp.lt.u32 g0, cta, 4; mul.rn.f32 w29, w{30 + d}, {single(2.0 * QUANTUM)}; cvt.rni.f32.f32 w29, w29; mul.rn.f32 w29, w29, {single(0.5 / QUANTUM)}; @g0 mov.b32 w{30 + d}, w29;")
        regs.append(f"w{30 + d}")
    return text, regs


QUANTUM = 8


def single(value):
    return f"0f{np.float32(value).view(np.uint32):08X}"


def tex_case(index, title, op, spec, spans, integer=False, layer=0, extra="", before="", results=4, sampler=None, rounds=16):
    """`layer`: 1 where an integer layer comes first."""
    text, regs = coordinates(len(spans), spans, integer)
    if layer:
        text.append(load("w40", pool_at("coords") + 7 * ROUNDS * LANES * 8) + " shr.u32 w40, w40, 29; sub.s32 w40, w40, 2;")
        regs = ["w40", *regs]
    while len(regs) == 3:  # four words, the last is not looked at
        regs.append(regs[-1])
    text.append("ld.param.u64 q60, [handle];" + before)
    dest = "{" + ",".join(f"w{i}" for i in range(results)) + "}" if results > 1 else "w0"
    text.append(f"{op} {dest}, [q60, {{{','.join(regs)}}}]{extra};")
    tail = [store(f"w{i}", i)[0] for i in range(results)]
    body = "\n".join([start(f"k{index}", LANES, results, more=", .param .u64 handle"), *text, *tail, "ret;\n}\n"])
    return Case(title, body, rounds, LANES, LANES * results, texture=spec, operands=[pool_at("coords") + d * ROUNDS * LANES * 8 for d in range(len(spans))])


def query_case(index, op, spec):
    body = "\n".join([start(f"k{index}", LANES, 1, more=", .param .u64 handle"), f"ld.param.u64 q60, [handle]; {op} w0, [q60]; st.global.b32 [out], w0;", "ret;\n}\n"])
    return Case(f"{op} {spec['format']} {spec['size']}", body, 1, LANES, LANES, texture=spec)


def surface_case(index, title, op, spec, regs_text, rest, stores, results=0, rounds=4):
    """One warp a round; surfaces are written by one round alone."""
    text = ["ld.param.u64 q60, [handle];", regs_text]
    text.append(f"{op} {rest};")
    tail = [store(f"w{i}", i)[0] for i in range(results)]
    words = max(1, results)
    body = "\n".join([start(f"k{index}", LANES, words, more=", .param .u64 handle"), *text, *tail, "ret;\n}\n"])
    return Case(title, body, 1 if stores else rounds, LANES, LANES * words, texture={**spec, "surface": True, "read_back": stores})


def texture_cases(add):
    shapes = {"1d": ((40, 0, 0), 0), "2d": ((13, 9, 0), 0), "3d": ((7, 5, 6), 0), "a1d": ((40, 0, 4), 1), "a2d": ((13, 9, 4), 1), "cube": ((8, 8, 6), 4)}
    kinds = [("float", 0, "f32"), ("half", 0, "f32"), ("u8", 0, "f32"), ("s16", 0, "f32"), ("u32", INTEGER, "u32"), ("s8", INTEGER, "s32"), ("u16", INTEGER, "u32"), ("s32", INTEGER, "s32"), ("u16", 0, "f32"), ("s8", 0, "f32")]
    for geometry, (size, flags) in shapes.items():
        dims = [s for s in size if s][:2 if geometry in ("a2d", "cube") else 1 if geometry == "a1d" else 3]
        layer = 1 if geometry.startswith("a") else 0
        for form, read, dtype in kinds:
            for channels in (1, 2, 4):
                if channels == 2 and form not in ("float", "u8"):
                    continue
                if geometry not in ("1d", "2d") and (channels != 4 or form not in ("float", "u8", "u32")):
                    continue
                for filter in (0, 1):
                    if filter and read:
                        continue
                    for normalized in (0, NORMALIZED):
                        for address in (WRAP, CLAMP, MIRROR, BORDER) if normalized else (CLAMP, BORDER):
                            if (address in (MIRROR, BORDER) and channels == 1 and form != "float") or geometry == "cube" and (address != CLAMP or not normalized):
                                continue
                            spec = texture(form, channels, size, flags, read | normalized, address, filter)
                            spans = [2.0] * 3 if geometry == "cube" else [1.0 if normalized else float(d) for d in dims]
                            op = f"tex.{geometry}.v4.{dtype}.f32"
                            add(lambda i: tex_case(i, f"{op} {form} x{channels} {['nearest', 'linear'][filter]} {['texels', 'normalized'][normalized > 0]} {['wrap', 'clamp', 'mirror', 'border'][address]}", op, spec, spans, layer=layer))
            if geometry != "cube" and form in ("float", "u32", "s8"):
                for address in (CLAMP, BORDER):
                    spec = texture(form, 4, size, flags, read, address)
                    op = f"tex.{geometry}.v4.{dtype}.s32"
                    add(lambda i: tex_case(i, f"{op} {form} {['wrap', 'clamp', 'mirror', 'border'][address]}", op, spec, [float(d) for d in dims], integer=True, layer=layer))
    for form, dtype in (("float", "f32"), ("u8", "f32"), ("u32", "u32")):
        for address in (WRAP, CLAMP, MIRROR, BORDER):
            for c in "rgba":
                spec = texture(form, 4, (13, 9, 0), 0, NORMALIZED | (INTEGER if form == "u32" else 0), address, 0)
                op = f"tld4.{c}.2d.v4.{dtype}.f32"
                add(lambda i: tex_case(i, f"{op} {form} {address}", op, spec, [1.0, 1.0]))
    for mip in (0, 1):
        for filter in (0, 1):
            for level in (0.0, 0.25, 0.5, 0.75, 1.0, 1.4, 1.5, 2.6, 3.0, 7.0, -1.0):
                spec = texture("float", 4, (16, 16, 0), 0, NORMALIZED, CLAMP, filter, mip, levels=5)
                add(lambda i: tex_case(i, f"tex.level.2d.v4.f32.f32 at {level} filters {filter} {mip}", "tex.level.2d.v4.f32.f32", spec, [1.0, 1.0], extra=f", {single(level)}"))
            for bias, clamp in ((0.5, (0.0, 16.0)), (-0.75, (0.0, 16.0)), (0.0, (1.0, 2.5)), (0.0, (0.5, 0.5))):
                spec = texture("float", 4, (16, 16, 0), 0, NORMALIZED, CLAMP, filter, mip, levels=5, bias=bias, clamp=clamp)
                add(lambda i: tex_case(i, f"tex.level.2d.v4.f32.f32 at 1.25 bias {bias} clamp {clamp} filters {filter} {mip}", "tex.level.2d.v4.f32.f32", spec, [1.0, 1.0], extra=f", {single(1.25)}"))
            for dx, dy in (((0.0625, 0), (0, 0.0625)), ((0.125, 0), (0, 0.0625)), ((0.3, 0.1), (0.05, 0.2)), ((0, 0), (0, 0)), ((1, 1), (1, 1))):
                spec = texture("float", 4, (16, 16, 0), 0, NORMALIZED, CLAMP, filter, mip, levels=5)
                before = " ".join(f"mov.b32 w{50 + k}, {single(v)};" for k, v in enumerate((*dx, *dy)))
                add(lambda i: tex_case(i, f"tex.grad.2d.v4.f32.f32 {dx} {dy} filters {filter} {mip}", "tex.grad.2d.v4.f32.f32", spec, [1.0, 1.0], extra=",{w50,w51},{w52,w53}", before=before))
    # Texels by whole coordinates, inside and out, under each flag.
    for geometry in ("1d", "2d"):
        size = shapes[geometry][0]
        for form, read, dtype in (("float", 0, "f32"), ("u32", INTEGER, "u32"), ("u8", 0, "f32")):
            for flags in (0, NORMALIZED):
                for address, filter in ((WRAP, 0), (CLAMP, 0), (BORDER, 0), (CLAMP, 1)):
                    if filter and read:
                        continue
                    for op in (f"tex.{geometry}.v4.{dtype}.s32", f"tex.level.{geometry}.v4.{dtype}.s32"):
                        spec = texture(form, 4, size, 0, read | flags, address, filter)
                        add(lambda i: tex_case(i, f"{op} {form} whole {address} {filter} {flags}", op, spec, [float(s) for s in size if s], integer=True, extra=", 0" if "level" in op else ""))
    for form in ("float", "u8"):
        spec = texture(form, 4, (13, 9, 0), 0, NORMALIZED | (SRGB if form == "u8" else 0), CLAMP, 0)
        add(lambda i: tex_case(i, f"tex.2d.v4.f32.f32 {form} srgb", "tex.2d.v4.f32.f32", spec, [1.0, 1.0]))
        for offset in ((1, 0), (-3, 2), (7, -8)):
            spec = texture(form, 4, (13, 9, 0), 0, 0, CLAMP, 1)
            add(lambda i: tex_case(i, f"tex.2d.v4.f32.f32 {form} offset {offset}", "tex.2d.v4.f32.f32", spec, [13.0, 9.0], extra=f",{{{offset[0]},{offset[1]}}}"))
    for kind, size in (("linear", (100, 0, 0)), ("pitched", (24, 9, 0))):
        for form, read, dtype in (("float", 0, "f32"), ("u32", INTEGER, "u32"), ("u8", 0, "f32"), ("s16", INTEGER, "s32")):
            spec = texture(form, 4, size, 0, read, CLAMP, 0, kind=kind)
            geometry = "1d" if kind == "linear" else "2d"
            spans = [float(s) for s in size if s]
            if kind == "linear":
                add(lambda i: tex_case(i, f"tex.1d.v4.{dtype}.s32 of memory {form}", f"tex.1d.v4.{dtype}.s32", spec, spans, integer=True))
            else:
                add(lambda i: tex_case(i, f"tex.2d.v4.{dtype}.f32 of memory {form}", f"tex.2d.v4.{dtype}.f32", spec, spans))
                if form in ("float", "u8"):
                    spec = texture(form, 4, size, 0, NORMALIZED, WRAP, 1, kind=kind)
                    add(lambda i: tex_case(i, f"tex.2d.v4.{dtype}.f32 of memory {form} linear wrap", f"tex.2d.v4.{dtype}.f32", spec, [1.0, 1.0]))
    for spec in (texture("float", 4, (13, 9, 0)), texture("u8", 1, (13, 9, 5), 0), texture("s16", 2, (40, 0, 0), read=INTEGER | NORMALIZED, filter=0)):
        for q in ("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "filter_mode", "addr_mode_0"):
            add(lambda i: query_case(i, f"txq.{q}.b32", spec))
        for q in ("width", "height", "depth", "channel_data_type", "channel_order"):
            add(lambda i: query_case(i, f"suq.{q}.b32", {**spec, "surface": True}))
    for form in ("float", "half", "u8", "s8", "u16", "s16"):  # the arithmetic of filters: many samples of one pair of texels
        for size, geometry in (((2, 0, 0), "1d"), ((2, 2, 0), "2d"), ((2, 2, 2), "3d")):
            spec = texture(form, 4, size, 0, 0, CLAMP, 1)
            op = f"tex.{geometry}.v4.f32.f32"
            add(lambda i: tex_case(i, f"{op} {form} filtered of {size}", op, spec, [2.0] * len(geometry[:1] * int(geometry[0])), rounds=64))
    surface_cases(add)


def surface_cases(add):
    lanes = "cvt.s32.s32 w50, tid; sub.s32 w50, w50, 4; mul.lo.s32 w51, w50, {step}; sub.s32 w52, cta, 1; and.b32 w53, tid, 7; sub.s32 w53, w53, 1;"
    for mode in ("clamp", "zero"):
        for op, rest, n, form, step in (("b32", "w0", 1, "u32", 4), ("v2.b32", "{w0,w1}", 2, "u32", 8), ("v4.b32", "{w0,w1,w2,w3}", 4, "u32", 16)):
            channels = {1: 1, 2: 2, 4: 4}[n]
            for geometry, size, at, flags in (("1d", (24, 0, 0), "w51", 0), ("2d", (24, 9, 0), "w51,w53", 0), ("3d", (12, 5, 4), "w51,w53,w52,w52", 0), ("a1d", (24, 0, 4), "w52,w51", 1), ("a2d", (24, 9, 4), "w52,w51,w53,w53", 1)):
                spec = texture(form, channels, size, flags | 2)
                add(lambda i: surface_case(i, f"suld.b.{geometry}.{op}.{mode}", f"suld.b.{geometry}.{op}.{mode}", spec, lanes.format(step=step), f"{rest}, [q60,{{{at}}}]", False, n))
                values = " ".join(load(f"w{k}", pool_at("int") + (k + 3) * ROUNDS * LANES * 8) for k in range(n))
                inside = lanes.format(step=step)
                if mode == "zero":  # clamped stores of many lanes meet
                    add(lambda i: surface_case(i, f"sust.b.{geometry}.{op}.{mode}", f"sust.b.{geometry}.{op}.{mode}", spec, inside + values, f"[q60,{{{at}}}], {rest}", True))
    for form, channels, rest in (("u8", 4, "{w0,w1,w2,w3}"), ("half", 4, "{w0,w1,w2,w3}"), ("float", 4, "{w0,w1,w2,w3}"), ("s16", 2, "{w0,w1}"), ("u32", 1, "w0")):
        n = rest.count("w")
        spec = texture(form, channels, (24, 9, 0), 2)
        values = " ".join(load(f"w{k}", pool_at("f32" if form in ("half", "float") else "int") + (k + 3) * ROUNDS * LANES * 8) for k in range(n))
        vector = {1: "", 2: ".v2", 4: ".v4"}[n]
        add(lambda i: surface_case(i, f"sust.p.2d{vector}.b32.zero {form}", f"sust.p.2d{vector}.b32.zero", spec, lanes.format(step=1) + values, f"[q60,{{w50,w53}}], {rest}", True))
    for action, type in (("add", "u32"), ("min", "u32"), ("max", "s32"), ("min", "s32"), ("and", "b32"), ("or", "b32")):
        spec = texture("u32", 1, (24, 9, 0), 2)
        values = load("w0", pool_at("int") + 3 * ROUNDS * LANES * 8)
        for mode in ("clamp", "zero"):
            add(lambda i: surface_case(i, f"sured.b.{action}.2d.{type}.{mode}", f"sured.b.{action}.2d.{type}.{mode}", spec, lanes.format(step=4) + values, "[q60,{w51,w53}], w0", True))
# SPDX-License-Identifier: Apache-2.0
