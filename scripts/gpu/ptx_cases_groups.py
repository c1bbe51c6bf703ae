"""Kernels for ptx_hardware.py of more than a warp: wgmma, clusters, tensor maps, special registers."""
import dataclasses, pathlib, re
from ptx_cases import *
from ptx_cases_textures import texture_cases

# wgmma.


def wgmma_kernel(index, name, instruction, kinds, n, a_desc, b_desc, registers_a, sparse, d_bits, expect_zero):
    """A descriptor is (offset, LBO, SBO, swizzle), bytes; A at the start of shared memory, B from 16384 on. 8 blocks, each with its part of the tiles."""
    d_kind, a_kind, b_kind = kinds
    words = n // 2 if d_bits == 32 else n // 4
    text = [f".shared .align 1024 .b8 wsm[32768];\nld.param.u64 q70, [pi]; mul.wide.u32 u2, cta, 32768; add.u64 q70, q70, u2; mul.wide.u32 u2, tid, 256; add.u64 q70, q70, u2; mov.u64 q71, wsm; add.u64 q71, q71, u2;"]
    for half, kind in ((0, a_kind), (1, b_kind)):  # the first half of shared memory has a's type, the second b's
        text.append(f"setp.{'lt' if half == 0 else 'ge'}.u32 g0, tid, 64; @!g0 bra skip{half};")
        text += [f"ld.global.b64 u1, [q70+{pool_at('tile_' + kind) + 8 * i}]; st.shared.b64 [q71+{8 * i}], u1;" for i in range(32)]
        text.append(f"skip{half}:")
    descriptor = lambda base, d: ((base + d[0]) >> 4 & 0x3FFF) | (d[1] >> 4 & 0x3FFF) << 16 | (d[2] >> 4 & 0x3FFF) << 32 | d[3] << 62
    text.append(f"mov.u64 q72, wsm; shr.u64 q72, q72, 4; and.b64 q72, q72, 0x3fff; add.u64 q0, q72, {descriptor(0, a_desc)}; add.u64 q1, q72, {descriptor(16384, b_desc)};")
    d = [f"d{i}" for i in range(words)]
    text.append(f".reg .b32 d<{max(words, 1)}>;")
    for i, reg in enumerate(d):
        text.append(f"ld.global.b32 {reg}, [in+{pool_at(d_kind) + i % SLOTS * ROUNDS * LANES * 8}];" if i < 16 else f"mov.b32 {reg}, d{i % 16};")
    a_text = "q0"
    if registers_a:
        for i in range(4):
            text.append(f"ld.global.b32 w{i}, [in+{pool_at('mma_' + a_kind) + i * ROUNDS * LANES * 8}];")
        a_text = "{w0,w1,w2,w3}"
    if sparse:
        text.append(f"ld.global.b32 w5, [in+{pool_at('meta1' if a_kind == 'tf32' else 'meta2')}];")
    text.append(f"mov.b32 w6, {0 if expect_zero else 1}; setp.ne.u32 p0, w6, 0; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;")
    text.append(instruction.replace("DLIST", "{" + ",".join(d) + "}").replace("ADESC", a_text).replace("BDESC", "q1") + ";")
    text.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
    tail = [f"st.global.b32 [out+{4 * i}], {reg};" for i, reg in enumerate(d)]
    body = "\n".join([start(f"k{index}", 128, words), *text, *tail, "ret;\n}\n"])
    return Case(name, body, 8, 128, 128 * words)


def wgmma_cases(add):
    kinds = []
    for t in ("f16", "bf16"):
        kinds.append((f"f32.{t}.{t}", 16, ("mma_f32", t, t), 32))
    kinds += [("f16.f16.f16", 16, ("mma_f16", "f16", "f16"), 16), ("f32.tf32.tf32", 8, ("mma_f32", "tf32", "tf32"), 32)]
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            kinds += [(f"f32.{a}.{b}", 32, ("mma_f32", a, b), 32), (f"f16.{a}.{b}", 32, ("mma_f16", a, b), 16)]
    for a in ("u8", "s8"):
        for b in ("u8", "s8"):
            kinds += [(f"s32.{a}.{b}", 32, ("mma_s32", "s8", "s8"), 32), (f"satfinite.s32.{a}.{b}", 32, ("mma_s32", "s8", "s8"), 32)]
    kinds.append(("s32.b1.b1.and.popc", 256, ("mma_s32", "s8", "s8"), 32))
    plain = [((0, 128, 256, 0), (0, 128, 256, 0)), ((0, 1024, 128, 0), (0, 4096, 128, 0))]
    swizzled = [((0, 16, 1024, 1), (0, 16, 1024, 1)), ((32, 16, 512, 2), (32, 16, 512, 2)), ((0, 16, 256, 3), (0, 16, 256, 3)), ((96, 16, 1024, 1), (64, 16, 512, 2))]
    for suffix, k, kind, d_bits in kinds:
        integer, half = "s32" in suffix, kind[1] in ("f16", "bf16")
        for sparse in (False, True):
            if sparse and ("b1" in suffix):
                continue
            shape_k = 2 * k if sparse else k
            for n, layouts in ((8, plain), (24, plain[:1]), (64, swizzled), (128, swizzled[:2] + plain[1:]), (256, plain)):
                if n == 24 and integer:
                    n = 32
                if n in (128, 256) and suffix not in ("f32.f16.f16", "f32.e4m3.e4m3", "s32.s8.s8"):
                    continue
                for li, (ad, bd) in enumerate(layouts):
                    tail = "" if integer else ",1,1"
                    turn = ",0,0" if half else ""
                    meta = ",w5,0" if sparse else ""
                    op = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{shape_k}.{suffix}"
                    if "satfinite" in suffix:
                        op = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{shape_k}.satfinite.{suffix[10:]}"
                    add(lambda i: wgmma_kernel(i, f"{op} layout {li} of {n}", f"{op} DLIST,ADESC,BDESC{meta},p0{tail}{turn}", kind, n, ad, bd, False, sparse, d_bits, False))
                    if li == 0 and "b1" not in suffix:
                        one = ",0" if half else ""
                        add(lambda i: wgmma_kernel(i, f"{op} registers of {n}", f"{op} DLIST,ADESC,BDESC{meta},p0{tail}{one}", kind, n, ad, bd, True, sparse, d_bits, n == 8))
                    if li == 0 and not integer and n == 8:
                        add(lambda i: wgmma_kernel(i, f"{op} scales -1", f"{op} DLIST,ADESC,BDESC{meta},p0,-1,1{turn}", kind, n, ad, bd, False, sparse, d_bits, False))
                        add(lambda i: wgmma_kernel(i, f"{op} scales -1,-1 no d", f"{op} DLIST,ADESC,BDESC{meta},p0,-1,-1{turn}", kind, n, ad, bd, False, sparse, d_bits, True))
            if half:  # transposed: neighbours in memory go along m or n
                for ta, tb in ((1, 0), (0, 1), (1, 1)):
                    for li, (ad, bd) in enumerate([((0, 512, 128, 0), (0, 512, 128, 0)), ((0, 2048, 1024, 1), (0, 2048, 1024, 1)), ((0, 1024, 512, 2), (0, 1024, 512, 2)), ((0, 512, 256, 3), (0, 512, 256, 3)),
                                                   ((0, 256, 1024, 0), (0, 256, 1024, 0))]):
                        for n in (8, 64, 128):
                            if n == 8 and li in (1, 2, 3) and tb:
                                continue
                            op = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{shape_k}.{suffix}"
                            meta = ",w5,0" if sparse else ""
                            add(lambda i: wgmma_kernel(i, f"{op} turned {ta}{tb} layout {li}", f"{op} DLIST,ADESC,BDESC{meta},p0,1,1,{ta},{tb}", kind, n, ad if ta else (0, 128, 256, 0) if li in (0, 4) else (0, 16, 1024, 1),
                                                           bd if tb else (0, 128, 256, 0) if li in (0, 4) else (0, 16, 1024, 1), False, sparse, d_bits, False))


# Clusters.


def cluster_form(form, index, size=2):
    """st.async, red.async and bulk copies to the next block of the cluster, whose mbarrier counts their bytes."""
    op, _, rest = form.partition(" ")
    name = f"k{index}"
    multicast = "multicast" in op
    bulk = op.startswith("cp")
    widths = {"b32": 4, "u32": 4, "s32": 4, "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8}
    last = [w for w in op.split(".") if w in widths]
    count = 1 if ".v" not in op else int(re.search(r"\.v(\d)", op)[1])
    unit = widths[last[-1]] * count if last else 4
    total = 512 if bulk else 32 * unit
    text = ["mul.wide.u32 u2, tid, 16; mov.u64 u0, sm; add.u64 q70, u0, u2; "]
    for i in range(2):
        for part, base in ((0, 0), (4, 1024)):
            text.append(f"ld.global.b64 u1, [in+{pool_at('int') + (i + part) * ROUNDS * LANES * 8}]; st.shared.b64 [q70+{base + 8 * i}], u1;")
    expected = total * (size if multicast else 1)
    text.append(f"mov.u64 q60, sm; add.u64 q60, q60, 4096; mov.b32 w60, 1; setp.eq.u32 p10, tid, 0; @p10 mbarrier.init.shared.b64 [q60], w60; mov.b32 t2, 0; fence.mbarrier_init.release.cluster; fence.proxy.async;"
                f" @p10 mbarrier.arrive.expect_tx.shared.b64 q63, [q60], {total}; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
    text.append(f"mov.u32 w61, %cluster_ctarank; add.u32 w62, w61, 1; rem.u32 w62, w62, {size}; cvt.u32.u64 w63, q60; mov.u64 q61, sm; cvt.u32.u64 w64, q61;")
    text.append("mapa.shared::cluster.u32 w65, w63, w62; add.u32 w66, w64, 1024; mapa.shared::cluster.u32 w66, w66, w62;")
    if bulk:
        if multicast:
            # Rank 0 sends to all.
            text.append(f"add.u32 w0, w64, 1024; mov.b32 w3, w63; mov.b16 h0, {(1 << size) - 1}; setp.ne.u32 g0, w61, 0; @g0 bra wait; @!p10 bra wait;")
        else:
            text.append("mov.b32 w0, w66; mov.b32 w3, w65; @!p10 bra wait;")
        text.append(f"ld.param.u64 q1, [pi]; mul.wide.u32 u2, cta, 512; add.u64 q1, q1, u2; add.u64 q1, q1, {pool_at('int')}; createpolicy.fractional.L2::evict_last.b64 q2, 1.0;")
        text.append(f"mov.b32 w1, w64; mov.b32 w2, 512; {op} {rest};\n" + WAIT)
    else:
        places = rest.replace("[w1]", "[w67]").replace("[w2]", "[w65]")
        found = list(dict.fromkeys(r for r in re.findall(r"\b([wq]\d)\b", places)))
        text.append(f"mad.lo.u32 w67, tid, {unit}, w66;")
        for i, reg in enumerate(found):
            text.append(load(reg, pool_at("int") + (8 + i) * ROUNDS * LANES * 8))
        text.append(f"{op} {places};\n" + WAIT)
    text.append("ld.shared.b64 q72, [q70+1024]; ld.shared.b64 q73, [q70+1032]; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
    tail = [store("q72", 0)[0], store("q73", 2)[0]]
    body = "\n".join([start(name, LANES, 4) + DECLARE, *text, *tail, "ret;\n}\n"]).replace(") {\n", f")\n.reqnctapercluster {size}, 1, 1\n{{\n", 1)
    return Case(f"{form} (cluster of {size})", body, 8, LANES, LANES * 4)


def cluster_registers(index, shape):
    """Special registers, mapa and getctarank, shared memory of every block of the cluster."""
    names = [f"%{r}.{d}" for r in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid", "ctaid", "nctaid") for d in "xyz"] + ["%cluster_ctarank", "%cluster_nctarank"]
    total = shape[0] * shape[1] * shape[2]
    text = ["mov.u32 w50, %ctaid.x; mul.wide.u32 u2, tid, 4; mov.u64 q70, sm; add.u64 q70, q70, u2; mad.lo.u32 w51, w50, 1000, tid; st.shared.b32 [q70], w51; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"]
    tail = []
    for i, special in enumerate(names):
        text.append(f"mov.u32 w0, {special}; st.global.b32 [out+{4 * i}], w0;")
    n = len(names)
    for r in range(total):
        text.append(f"mov.b32 w1, {r}; mapa.shared::cluster.u64 q1, q70, w1; getctarank.shared::cluster.u64 w2, q1; ld.shared::cluster.b32 w3, [q1]; st.global.b32 [out+{4 * (n + 3 * r)}], w2; st.global.b32 [out+{4 * (n + 3 * r + 1)}], w3;"
                    f" cvta.shared.u64 q2, q70; mapa.u64 q3, q2, w1; ld.b32 w4, [q3]; st.global.b32 [out+{4 * (n + 3 * r + 2)}], w4;")
    text.append("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
    words = n + 3 * total
    body = "\n".join([start(f"k{index}", LANES, words) + DECLARE, *text, *tail, "ret;\n}\n"]).replace(") {\n", f")\n.reqnctapercluster {shape[0]}, {shape[1]}, {shape[2]}\n{{\n", 1)
    return Case(f"cluster {shape}", body, 8 * shape[0], LANES, LANES * words)


def special_registers(index):
    names = ["%tid.x", "%tid.y", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%warpid", "%nwarpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%dynamic_smem_size", "%total_smem_size",
             "%aggr_smem_size", "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "%nsmid", "%cluster_ctarank", "%cluster_nctarank", "%clusterid.x"]
    text = [f"mov.u32 w0, {special}; st.global.b32 [out+{4 * i}], w0;" for i, special in enumerate(names)]
    text.append(f"mov.pred p0, %is_explicit_cluster; {store('p0', len(names))[0]}")
    body = "\n".join([start(f"k{index}", 64, len(names) + 1) + DECLARE, *text, "ret;\n}\n"])
    return [Case(f"special registers {names}", body, 4, 64, 64 * (len(names) + 1))]


# Tensor maps.


def tensor_case(index, title, op, rank, spec, coordinates, offsets="", store_op=False, bytes_box=None, by_value=False):
    """A copy of a box; coordinates by block from a list. The tensor map lies in global memory, `by_value` in the parameters."""
    spec = {**spec, "by_value": by_value}
    more = ", .param .align 64 .b8 tm[128]" if by_value else ", .param .u64 tm"
    n = len(coordinates)
    text = [".shared .align 1024 .b8 tsm[16384];\nmul.wide.u32 u2, tid, 128; mov.u64 u0, tsm; add.u64 q70, u0, u2; ld.param.u64 q69, [pi]; add.u64 q69, q69, u2;"]
    text += [f"ld.global.b64 u1, [q69+{pool_at(spec['pool']) + 65536 + 8 * i}]; st.shared.b64 [q70+{8 * i}], u1; st.shared.b64 [q70+{4096 + 8 * i}], u1;" for i in range(16)]
    text.append("mov.u64 q60, tsm; add.u64 q60, q60, 8192; mov.b32 w60, 1; setp.eq.u32 p10, tid, 0; @p10 mbarrier.init.shared.b64 [q60], w60; mov.b32 t2, 0; " + ("mov.u64 q68, tm; cvta.param.u64 q68, q68;" if by_value else "ld.param.u64 q68, [tm];") + " mov.u64 q67, tsm; cvt.u32.u64 w67, q67; cvt.u32.u64 w68, q60;")
    for d in range(len(coordinates[0])):
        text.append(f"mov.b32 w{50 + d}, {coordinates[0][d]};" + "".join(f" setp.eq.u32 g0, cta, {b}; @g0 mov.b32 w{50 + d}, {c[d]};" for b, c in enumerate(coordinates) if b))
    where = "[q68,{" + ",".join(f"w{50 + d}" for d in range(len(coordinates[0]))) + "}]"
    text.append("fence.proxy.async; bar.sync 0;")
    if not store_op:
        text.append(f"@!p10 bra wait; mbarrier.arrive.expect_tx.shared.b64 q63, [q60], {bytes_box}; {op} [w67],{where},[w68]{offsets};\n" + WAIT)
        text.append("bar.sync 0;" + " ".join(f"ld.shared.b64 u1, [q70+{8 * i}]; st.global.b64 [out+{8 * i}], u1;" for i in range(16)))
        body = "\n".join([start(f"k{index}", LANES, 32, more=more), *text, "ret;\n}\n"])
        return Case(title, body, n, LANES, 32 * LANES, tensor=spec)
    text.append(f"@!p10 bra after; {op} {where},[w67]{offsets}; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; after:")
    body = "\n".join([start(f"k{index}", LANES, 32, more=more), *text, "ret;\n}\n"])
    return Case(title, body, n, LANES, 32 * LANES, tensor={**spec, "store": True})


TYPES = {"u8": (0, 1), "u16": (1, 2), "u32": (2, 4), "s32": (3, 4), "u64": (4, 8), "s64": (5, 8), "f16": (6, 2), "f32": (7, 4), "f64": (8, 8), "bf16": (9, 2), "f32ftz": (10, 4), "tf32": (11, 4), "tf32ftz": (12, 4)}


def tiled(kind, dims, box, steps=None, swizzle=0, interleave=0, fill=0, pool="int"):
    """A spec of cuTensorMapEncodeTiled: packed strides, rounded up to 16 bytes."""
    code, size = TYPES[kind]
    strides, total = [], dims[0] * size
    for d in dims[1:]:
        total = (total + 15) // 16 * 16
        strides.append(total)
        total *= d
    return {"type": code, "dims": dims, "strides": strides, "box": box, "steps": steps or [1] * len(dims), "swizzle": swizzle, "interleave": interleave, "fill": fill, "pool": pool, "size": size}


def box_bytes(spec):
    total = spec["size"]
    for extent, step in zip(spec["box"], spec["steps"]):
        total *= -(-extent // step)
    return total


def aligned(coordinates, kind):
    """The first coordinate in 16 bytes: a GPU takes no other (illegal instruction)."""
    quantum = 16 // TYPES[kind][1]
    first = coordinates[0] * quantum if abs(coordinates[0]) < 5 else coordinates[0] // quantum * quantum
    return [first, *coordinates[1:]]


def tensor_cases(add):
    shapes = [("f32", [40, 12], [8, 4]), ("u8", [64, 20], [32, 8]), ("f16", [64, 16], [16, 8]), ("bf16", [24, 10, 6], [8, 3, 2]), ("f64", [10, 6, 4], [4, 2, 2]), ("u32", [16, 6, 4, 3], [4, 3, 2, 2]),
              ("s64", [8, 5, 4, 3, 2], [4, 2, 2, 2, 2]), ("u16", [100], [64]), ("f32ftz", [40, 12], [8, 4]), ("tf32", [40, 12], [8, 4]), ("tf32ftz", [40, 12], [8, 4]), ("s32", [20, 12], [4, 4])]
    for kind, dims, box in shapes:
        rank = len(dims)
        pool = {"f16": "f16", "bf16": "bf16", "f64": "f64"}.get(kind, "f32" if kind.startswith(("f32", "tf32")) else "int")
        corners = [[0] * rank, [3] * rank, [-2] * rank, [d - 1 for d in dims], [d + 5 for d in dims], [-100] * rank, [d - b for d, b in zip(dims, box)], [-1, *[1] * (rank - 1)]]
        odd, corners = corners, [aligned(c, kind) for c in corners]
        for fill in (0, 1):
            if fill and not pool.startswith(("f", "bf")):
                continue
            spec = tiled(kind, dims, box, fill=fill, pool=pool)
            op = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            add(lambda i: tensor_case(i, f"{op} {kind} {dims} {box} fill {fill}", op, rank, spec, corners, bytes_box=box_bytes(spec)))
            if kind == "f32" or kind == "u16":
                add(lambda i: tensor_case(i, f"{op} {kind} {dims} {box} fill {fill} by value", op, rank, spec, [[0] * rank], bytes_box=box_bytes(spec), by_value=True))
        spec = tiled(kind, dims, box, pool=pool)
        if len(set(odd[1]) | {16}) == 2 and TYPES[kind][1] < 16:  # the first coordinate not a multiple of 16 bytes
            for k in (1, 2, 7):
                add(lambda i: tensor_case(i, f"{op} {kind} {dims} {box} odd {odd[k]}", op, rank, spec, [odd[k]], bytes_box=box_bytes(spec)))
        op = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group"
        for k, word in ((1, ""), (3, " outside"), (2, " before")):
            add(lambda i: tensor_case(i, f"{op} {kind} {dims} {box}{word}", op, rank, spec, [corners[k]], store_op=True))
        for reduction in ("add", "min", "max", "inc", "dec", "and", "or", "xor"):
            op = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{reduction}.tile.bulk_group"
            if kind in ("u32", "s32", "s64", "f32", "f16", "bf16", "f64", "f32ftz") and (reduction == "add" or kind in ("u32", "s32", "s64", "f16", "bf16") and reduction in ("min", "max") or kind[0] in "us" and reduction not in ("inc", "dec") or kind == "u32"):
                add(lambda i: tensor_case(i, f"{op} {kind}", op, rank, spec, [aligned([1] * rank, kind)], store_op=True))
    for swizzle, width in ((1, 32), (2, 64), (3, 128)):
        for kind in ("f16", "f32", "u8"):
            size = TYPES[kind][1]
            spec = tiled(kind, [256 // size, 40], [width // size, 16], swizzle=swizzle)
            op = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            add(lambda i: tensor_case(i, f"{op} {kind} swizzle {width}", op, 2, spec, [[0, 0], [16 // size, 3], aligned([-1, -3], kind), [256 // size - 16 // size, 30]], bytes_box=box_bytes(spec)))
            spec = tiled(kind, [256 // size, 40], [16 // size, 16], swizzle=swizzle)
            add(lambda i: tensor_case(i, f"{op} {kind} swizzle {width} narrow", op, 2, spec, [[0, 0], [16 // size, 3]], bytes_box=box_bytes(spec)))
            store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
            spec = tiled(kind, [256 // size, 40], [width // size, 16], swizzle=swizzle)
            add(lambda i: tensor_case(i, f"{store} {kind} swizzle {width}", store, 2, spec, [aligned([1, 5], kind)], store_op=True))
    for steps in ([1, 2], [2, 1], [2, 3], [1, 8]):
        spec = tiled("f32", [40, 30], [16, 8], steps=steps)
        op = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        add(lambda i: tensor_case(i, f"{op} steps {steps}", op, 2, spec, [[0, 0], [4, 1], [-4, -1], [32, 25]], bytes_box=box_bytes(spec)))
    # Pixels of images: N, H, W, C with a filter of 3 x 3.
    for rank, dims, lower, upper, kind in ((3, [16, 12, 3], [-1], [-1], "f16"), (4, [16, 10, 8, 3], [-1, -1], [-1, -1], "f16"), (4, [8, 10, 8, 3], [0, -2], [-2, 0], "f32"), (5, [8, 6, 5, 4, 2], [-1, -1, 0], [-1, 0, -1], "f32")):
        for steps in ([1] * rank, [1] + [2] * (rank - 2) + [1]):
            spec = tiled(kind, dims, [8], steps=steps, pool="int")
            spec |= {"im2col": True, "lower": lower, "upper": upper, "channels": 8, "pixels": 16}
            op = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
            starts = [[0, *[l for l in lower], 0], [0, *[l + 2 for l in lower], 1], [8 if dims[0] > 8 else 0, *[l + 1 for l in lower], dims[-1] - 1]]
            for shift in ([0] * (rank - 2), [1] * (rank - 2), [2, 1, 0][:rank - 2]):
                add(lambda i: tensor_case(i, f"{op} {kind} {dims} {lower} {upper} steps {steps} offsets {shift}", op, rank, spec, starts,
                                          offsets=",{" + ",".join(str(s) for s in shift) + "}", bytes_box=8 * spec["size"] * 16))


# All cases.

SKIPPED = {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep", "multimem", "discard", "applypriority", "trap", "brkpt", "pmevent", "setmaxnreg", "griddepcontrol", "tensormap",
           "stackrestore", "stacksave", "alloca", "nanosleep", "exit", "prefetch", "prefetchu", "fence", "membar", "clusterlaunchcontrol", "tcgen05", "cvta", "mapa", "getctarank", "isspacep"}
COMMUTES = re.compile(r"\.(add|min|max|and|or|xor)\b.*\.([usb]\d+)$|\.(min|max)\b.*\.b?f16(x2)?$")


def forms():
    root = pathlib.Path(__file__).parents[2]
    for line in (root / "testdata/ptxsim/forms.txt").read_text().splitlines():
        target, _, form = line.partition(" ")
        if target == "sm_90a":
            yield form


def form_cases(add):
    for form in forms():
        op = form.partition(" ")[0]
        kind = op.split(".")[0]
        if kind in SKIPPED or kind == "wgmma" or op == "bar.warp.sync" or "L2::64B" in op and kind == "x":
            continue
        if kind in ("bar", "barrier"):
            if ".cluster" not in op:
                add(lambda i: barrier(form, i))
        elif kind == "mbarrier":
            for count in (1, 2, 3):
                if count == 1 or "w1" in form:
                    add(lambda i: mbarrier(form, i, count))
        elif kind == "cp":
            if op.startswith("cp.async.c") and "mbarrier" not in op and "commit" not in op:
                add(lambda i: copy_async(form, i))
            elif "multicast" in op and "tensor" not in op or ".shared::cluster.shared::cta" in op:
                add(lambda i: cluster_form(form, i))
            elif re.match(r"cp(\.reduce)?\.async\.bulk\.(shared|global)", op) and "cp_mask" not in op or "cp_mask" in op:
                pool = next((t for t in ("bf16", "f16", "f32", "f64") if op.endswith(t)), "int")
                add(lambda i: copy_bulk(form, i, pool))
        elif op.startswith(("st.async", "red.async")):
            if ".shared::cluster" in op:
                add(lambda i: cluster_form(form, i))
        elif op.startswith("st.bulk"):
            continue
        elif ".nc." in op or kind == "ldu":
            add(lambda i: memory(form, i, "constant"))
        elif kind in ("ld", "ldu", "st", "atom", "red"):
            add(lambda i: memory(form, i))
            if space_of(op) == "generic":
                add(lambda i: memory(form, i, "shared"))
                if kind in ("ld", "st"):
                    add(lambda i: memory(form, i, "local"))
            if kind in ("atom", "red") and COMMUTES.search(op) and space_of(op) in ("global", "shared"):
                add(lambda i: memory(form, i, "same"))
        elif kind in ("ldmatrix", "stmatrix") or op.startswith(("wmma.load", "wmma.store")):
            add(lambda i: matrix_memory(form, i))
        else:
            add(lambda i: generic(form, i))
            sources = [r for o in split_operands(form.partition(" ")[2])[1:] for r in REGISTER.findall(o)]
            if [r[0] for r in sources] == ["h"]:
                add(lambda i: generic(form, i, variant="all"))
            if ".oob" in op and sources[0][0] == "h":
                add(lambda i: generic(form, i, variant="first"))
            if kind in ("vote", "match", "redux", "elect", "activemask"):
                add(lambda i: generic(form, i, variant="masked"))


def sweeps(add):
    one, two, four, half = 0x3F800000, 0x40000000, 0x40800000, 0x3F000000
    for op, function, runs in (("rcp.approx.ftz.f32", "rcp", [(one, 23, 1), (0x80000000, 20, 4095)]), ("rsqrt.approx.ftz.f32", "rsqrt", [(one, 24, 1), (0, 20, 2039)]),
                               ("sqrt.approx.ftz.f32", "sqrt", [(one, 24, 1), (0, 20, 2039)]), ("sqrt.approx.f32", "sqrt", [(0, 20, 2039)]), ("rsqrt.approx.f32", "rsqrt", [(0, 20, 2039)]),
                               ("rcp.approx.f32", "rcp", [(0, 20, 4095)]),
                               ("ex2.approx.ftz.f32", "ex2", [(one, 23, 1), (0x30000000, 21, 139), (0xB0000000, 21, 139)]), ("ex2.approx.f32", "ex2", [(0xC2C00000, 20, 7)]),
                               ("lg2.approx.ftz.f32", "lg2", [(half, 24, 1), (0, 20, 2039)]), ("lg2.approx.f32", "lg2", [(0, 20, 2039)]),
                               ("sin.approx.ftz.f32", "sin", [(0x38000000, 22, 33), (0xB8000000, 20, 131), (0x41000000, 20, 63)]), ("cos.approx.ftz.f32", "cos", [(0x38000000, 22, 33), (0xB8000000, 20, 131), (0x41000000, 20, 63)]),
                               ("sin.approx.f32", "sin", [(0, 20, 1019)]), ("cos.approx.f32", "cos", [(0, 20, 1019)]),
                               ("tanh.approx.f32", "tanh", [(0x38000000, 23, 17), (0xB8000000, 20, 137)]), ("rcp.approx.ftz.f64", "rcp", [(0x3FF00000, 20, 1), (0, 20, 2039)]),
                               ("rsqrt.approx.ftz.f64", "rsqrt", [(0x3FF00000, 21, 1), (0, 20, 2039)]), ("rsqrt.approx.f64", "rsqrt", [(0x3FF00000, 20, 2), (0, 20, 2039)])):
        for base, log_count, step in runs:
            add(lambda i: sweep(i, op, function, base, log_count, step))


def everything(pattern, seed=1, with_sweeps=True):
    """(data, cases): data has the pools, their places and the text of module constants."""
    cases = []

    def add(make):
        case = make(len(cases))
        if case is not None:
            cases.append({"index": len(cases), **dataclasses.asdict(case)})

    if with_sweeps:
        sweeps(add)
    form_cases(add)
    wgmma_cases(add)
    for shape in ((2, 1, 1), (4, 1, 1), (1, 1, 1), (8, 1, 1)):
        add(lambda i: cluster_registers(i, shape))
    add(lambda i: special_registers(i)[0])
    tensor_cases(add)
    texture_cases(add)
    constants = np.random.default_rng(7).integers(0, 256, 2048)
    data = {"pools": pools(seed), "places": {name: pool_at(name) for name in pool_names()}, "const": f".const .align 64 .b8 cst[2048] = {{{','.join(map(str, constants))}}};\n"}
    return data, [c for c in cases if re.search(pattern, c["name"])]
# SPDX-License-Identifier: Apache-2.0
