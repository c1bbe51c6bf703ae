"""The modules that gpu_check.py times on a GPU, with what they move and compute, and the same work by PyTorch."""

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\nmax { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }\n"


def module(body):
    return f"HloModule m\n{ADD}ENTRY e {{\n{body}\n}}\n"


def reduce_of(shape, result, dims):
    return module(f" x = {shape} parameter(0)\n z = f32[] constant(0)\n ROOT r = {result} reduce(x, z), dimensions={{{dims}}}, to_apply=add")


def dot_of(t, m, n, k, out=None, flags=""):
    return module(f" x = {t}[{m},{k}] parameter(0)\n y = {t}[{k},{n}] parameter(1)\n ROOT r = {out or t}[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{flags}")


def softmax_of(rows, columns):
    f = f"f32[{rows},{columns}]"
    return module(f""" x = {f} parameter(0)
 l = f32[] constant(-inf)
 m = f32[{rows}] reduce(x, l), dimensions={{1}}, to_apply=max
 mb = {f} broadcast(m), dimensions={{0}}
 d = {f} subtract(x, mb)
 p = {f} exponential(d)
 z = f32[] constant(0)
 s = f32[{rows}] reduce(p, z), dimensions={{1}}, to_apply=add
 sb = {f} broadcast(s), dimensions={{0}}
 ROOT r = {f} divide(p, sb)""")


def big_dot(t, m, n, k, result, lhs_k, rhs_k, batch=0):
    b = f"{batch}," if batch else ""
    d = 1 if batch else 0
    lhs = f"{t}[{b}{m},{k}]" if lhs_k else f"{t}[{b}{k},{m}]"
    rhs = f"{t}[{b}{n},{k}]" if rhs_k else f"{t}[{b}{k},{n}]"
    batches = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if batch else ""
    return module(f" x = {lhs} parameter(0)\n y = {rhs} parameter(1)\n ROOT r = {result}[{b}{m},{n}] dot(x, y), {batches}"
                  f"lhs_contracting_dims={{{d + (1 if lhs_k else 0)}}}, rhs_contracting_dims={{{d + (1 if rhs_k else 0)}}}")


N = 128 << 20  # elements: 512 MiB of f32
MB = 1 << 20
# name: (module, bytes that must move, floating-point operations)
TIMES = {
    "x*x+x f32[128Mi]": (module(f" x = f32[{N}] parameter(0)\n y = f32[{N}] multiply(x, x)\n ROOT r = f32[{N}] add(y, x)"), 8 * N, 0),
    "x+y bf16[128Mi]": (module(f" x = bf16[{N}] parameter(0)\n y = bf16[{N}] parameter(1)\n ROOT r = bf16[{N}] add(y, x)"), 6 * N, 0),
    "convert f32->bf16[128Mi]": (module(f" x = f32[{N}] parameter(0)\n ROOT r = bf16[{N}] convert(x)"), 6 * N, 0),
    "tanh f32[128Mi]": (module(f" x = f32[{N}] parameter(0)\n ROOT r = f32[{N}] tanh(x)"), 8 * N, 0),
    "row sum f32[32768,4096]": (reduce_of("f32[32768,4096]", "f32[32768]", 1), 4 * N, 0),
    "column sum f32[32768,4096]": (reduce_of("f32[32768,4096]", "f32[4096]", 0), 4 * N, 0),
    "full sum f32[128Mi]": (reduce_of(f"f32[{N}]", "f32[]", 0), 4 * N, 0),
    "transpose f32[8192,16384]": (module(" x = f32[8192,16384] parameter(0)\n ROOT r = f32[16384,8192] transpose(x), dimensions={1,0}"), 8 * N, 0),
    "transpose bf16[8192,16384]": (module(" x = bf16[8192,16384] parameter(0)\n ROOT r = bf16[16384,8192] transpose(x), dimensions={1,0}"), 4 * N, 0),
    "softmax f32[32768,1024]": (softmax_of(32768, 1024), 8 * 32 * MB, 0),
    "softmax f32[8192,16384]": (softmax_of(8192, 16384), 8 * N, 0),
    "slice f32[32768,4096]": (module(" x = f32[32768,4096] parameter(0)\n ROOT r = f32[32768,2048] slice(x), slice={[0:32768],[1024:3072]}"), 4 * N, 0),
    "concatenate f32 2x[16384,4096]": (module(" x = f32[16384,4096] parameter(0)\n y = f32[16384,4096] parameter(1)\n ROOT r = f32[32768,4096] concatenate(x, y), dimensions={0}"), 8 * N, 0),
    "dot f32 4096^3": (dot_of("f32", 4096, 4096, 4096), 0, 2 * 4096**3),
    "dot bf16 4096^3": (dot_of("bf16", 4096, 4096, 4096), 0, 2 * 4096**3),
    "dot bf16->f32 4096^3": (dot_of("bf16", 4096, 4096, 4096, "f32"), 0, 2 * 4096**3),
    "dot f16 4096^3": (dot_of("f16", 4096, 4096, 4096), 0, 2 * 4096**3),
    "dot s8->s32 4096^3": (dot_of("s8", 4096, 4096, 4096, "s32"), 0, 2 * 4096**3),
    "dot bf16 8192^3": (dot_of("bf16", 8192, 8192, 8192), 0, 2 * 8192**3),
    "dot bf16 4096^3, k last in both": (big_dot("bf16", 4096, 4096, 4096, "bf16", 1, 1), 0, 2 * 4096**3),
    "dot bf16 4096^3, k first in both": (big_dot("bf16", 4096, 4096, 4096, "bf16", 0, 0), 0, 2 * 4096**3),
    "dot s8->s32 4096^3, k last in both": (big_dot("s8", 4096, 4096, 4096, "s32", 1, 1), 0, 2 * 4096**3),
    "dot bf16 512x512x8192": (dot_of("bf16", 512, 512, 8192), 0, 2 * 512 * 512 * 8192),
    "batched dot bf16 64x[1024,128]x[128,1024]": (module(" x = bf16[64,1024,128] parameter(0)\n y = bf16[64,128,1024] parameter(1)\n ROOT r = bf16[64,1024,1024] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"), 0, 2 * 64 * 1024 * 1024 * 128),
    "sort f32[4Mi]": (module(" x = f32[4194304] parameter(0)\n ROOT r = f32[4194304] sort(x), dimensions={0}, to_apply=lt").replace("ENTRY", "lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }\nENTRY"), 8 * 4 * MB, 0),
    "convolution f32 NHWC 32x56x56x64 3x3x64": (module(" x = f32[32,56,56,64] parameter(0)\n w = f32[3,3,64,64] parameter(1)\n ROOT r = f32[32,56,56,64] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"), 0, 2 * 32 * 56 * 56 * 64 * 64 * 9),
}


def layer_norm_of(t, rows, columns):
    x, row = f"{t}[{rows},{columns}]", f"f32[{rows}]"
    f = f"f32[{rows},{columns}]"
    wide = "x" if t == "f32" else "w"
    return module(f""" x = {x} parameter(0)
 g = f32[{columns}] parameter(1)
 b = f32[{columns}] parameter(2)
{'' if t == 'f32' else f' w = {f} convert(x)'}
 z = f32[] constant(0)
 n = f32[] constant({columns})
 nb = {row} broadcast(n), dimensions={{}}
 s = {row} reduce({wide}, z), dimensions={{1}}, to_apply=add
 m = {row} divide(s, nb)
 mb = {f} broadcast(m), dimensions={{0}}
 d = {f} subtract({wide}, mb)
 q = {f} multiply(d, d)
 v = {row} reduce(q, z), dimensions={{1}}, to_apply=add
 va = {row} divide(v, nb)
 e = f32[] constant(1e-5)
 eb = {row} broadcast(e), dimensions={{}}
 ve = {row} add(va, eb)
 i = {row} rsqrt(ve)
 ib = {f} broadcast(i), dimensions={{0}}
 u = {f} multiply(d, ib)
 gb = {f} broadcast(g), dimensions={{1}}
 bb = {f} broadcast(b), dimensions={{1}}
 ug = {f} multiply(u, gb)
 {'ROOT r' if t == 'f32' else 'o'} = {f} add(ug, bb)
{'' if t == 'f32' else f' ROOT r = {x} convert(o)'}""")


def softmax_in(f, rows, x, name):
    """Lines that compute the softmax of f32 array `x` of shape f[rows...], as NAME."""
    kept = ",".join(map(str, range(f.count(","))))
    row = f"f32[{rows}]"
    return f""" {name}l = f32[] constant(-inf)
 {name}m = {row} reduce({x}, {name}l), dimensions={{{f.count(",")}}}, to_apply=max
 {name}mb = {f} broadcast({name}m), dimensions={{{kept}}}
 {name}d = {f} subtract({x}, {name}mb)
 {name}p = {f} exponential({name}d)
 {name}z = f32[] constant(0)
 {name}s = {row} reduce({name}p, {name}z), dimensions={{{f.count(",")}}}, to_apply=add
 {name}sb = {f} broadcast({name}s), dimensions={{{kept}}}
 {name} = {f} divide({name}p, {name}sb)
"""


def attention_of(batch, length, depth):
    x, s = f"bf16[{batch},{length},{depth}]", f"[{batch},{length},{length}]"
    return module(f""" q = {x} parameter(0)
 k = {x} parameter(1)
 v = {x} parameter(2)
 s = f32{s} dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}
 c = f32[] constant({depth ** -0.5})
 cb = f32{s} broadcast(c), dimensions={{}}
 t = f32{s} multiply(s, cb)
{softmax_in("f32" + s, f"{batch},{length}", "t", "a")} h = bf16{s} convert(a)
 ROOT r = {x} dot(h, v), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}""")


def convolution_of(t, labels, batch, size, features, out):
    shape = {"b01f": f"[{batch},{size},{size},{{}}]", "bf01": f"[{batch},{{}},{size},{size}]"}[labels[:4]]
    kernel = f"[3,3,{features},{out}]" if "01io" in labels else f"[{out},{features},3,3]"
    return module(f" x = {t}{shape.format(features)} parameter(0)\n w = {t}{kernel} parameter(1)\n"
                  f" ROOT r = {t}{shape.format(out)} convolution(x, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels={labels}")


def scatter_of(rows, columns, updates):
    f, u = f"f32[{rows},{columns}]", f"f32[{updates},{columns}]"
    return module(f" x = {f} parameter(0)\n i = s32[{updates},1] parameter(1)\n u = {u} parameter(2)\n"
                  f" ROOT r = {f} scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add")


def gather_of(rows, columns, count):
    return module(f" x = f32[{rows},{columns}] parameter(0)\n i = s32[{count},1] parameter(1)\n"
                  f" ROOT r = f32[{count},{columns}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{columns}}}")


def conv_flops(batch, size, features, out):
    return 2 * batch * size * size * features * out * 9


TIMES.update({
    "layer norm f32[32768,1024]": (layer_norm_of("f32", 32768, 1024), 8 * 32 * MB, 0),
    "layer norm bf16[32768,1024]": (layer_norm_of("bf16", 32768, 1024), 4 * 32 * MB, 0),
    "layer norm f32[8192,8192]": (layer_norm_of("f32", 8192, 8192), 8 * 64 * MB, 0),
    "column sum bf16[32768,4096]": (module(" x = bf16[32768,4096] parameter(0)\n w = f32[32768,4096] convert(x)\n z = f32[] constant(0)\n s = f32[4096] reduce(w, z), dimensions={0}, to_apply=add\n ROOT r = bf16[4096] convert(s)"), 2 * N, 0),
    "gather of rows f32[131072,256]": (gather_of(100000, 256, 131072), 8 * 131072 * 256, 0),
    "scatter-add of rows f32[131072,256]": (scatter_of(100000, 256, 131072), 4 * 256 * (131072 + 200000), 0),
    "pad f32[16384,4096]": (module(" x = f32[16384,4096] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[16640,4224] pad(x, z), padding=128_128x64_64"), 4 * (64 * MB + 16640 * 4224), 0),
    "reverse f32[16384,4096]": (module(" x = f32[16384,4096] parameter(0)\n ROOT r = f32[16384,4096] reverse(x), dimensions={1}"), 8 * 64 * MB, 0),
    "broadcast f32[16384,4096]": (module(" x = f32[4096] parameter(0)\n ROOT r = f32[16384,4096] broadcast(x), dimensions={1}"), 4 * 64 * MB, 0),
    "bias and gelu bf16[16384,4096]": (module(" x = bf16[16384,4096] parameter(0)\n b = bf16[4096] parameter(1)\n bb = bf16[16384,4096] broadcast(b), dimensions={1}\n s = bf16[16384,4096] add(x, bb)\n w = f32[16384,4096] convert(s)\n l = f32[16384,4096] logistic(w)\n m = f32[16384,4096] multiply(w, l)\n ROOT r = bf16[16384,4096] convert(m)"), 4 * 64 * MB, 0),
    "cumsum f32[8192,4096]": (module(" x = f32[8192,4096] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[8192,4096] reduce-window(x, z), window={size=1x4096 pad=0_0x4095_0}, to_apply=add"), 8 * 32 * MB, 0),
    "top-k sort f32[4096,4096] k=8": (module(" x = f32[4096,4096] parameter(0)\n ROOT r = (f32[4096,8], s32[4096,8]) topk(x), k=8, largest=true"), 4 * 16 * MB, 0),
    "attention bf16 64x[1024,128]": (attention_of(64, 1024, 128), 0, 4 * 64 * 1024 * 1024 * 128),
    "small dots f32 10000x[16,16]x[16,16]": (big_dot("f32", 16, 16, 16, "f32", 1, 0, 10000), 12 * 10000 * 256, 0),
    "matrix-vector bf16 [1,4096]x[4096,16384]": (dot_of("bf16", 1, 16384, 4096), 2 * 64 * MB, 0),
    "matrix-vector bf16 [1,4096]x[16384,4096]": (big_dot("bf16", 1, 16384, 4096, "bf16", 1, 1), 2 * 64 * MB, 0),
    "dot bf16 8 rows [8,4096]x[4096,16384]": (dot_of("bf16", 8, 16384, 4096), 2 * 64 * MB, 0),
    "dot bf16 1024x1024x4096": (dot_of("bf16", 1024, 1024, 4096), 0, 2 * 1024 * 1024 * 4096),
    "convolution bf16 NHWC 32x56x56x64 3x3x64": (convolution_of("bf16", "b01f_01io->b01f", 32, 56, 64, 64), 0, conv_flops(32, 56, 64, 64)),
    "convolution bf16 NHWC 32x28x28x256 3x3x256": (convolution_of("bf16", "b01f_01io->b01f", 32, 28, 256, 256), 0, conv_flops(32, 28, 256, 256)),
    "convolution bf16 NCHW 32x64x56x56 3x3x64": (convolution_of("bf16", "bf01_oi01->bf01", 32, 56, 64, 64), 0, conv_flops(32, 56, 64, 64)),
    "convolution f32 NCHW 32x64x56x56 3x3x64": (convolution_of("f32", "bf01_oi01->bf01", 32, 56, 64, 64), 0, conv_flops(32, 56, 64, 64)),
})

# The same by PyTorch: what is made before, and what is timed.
DOTS = {f"dot {t} {n}^3": (f"a = r({n}, {n}, t={k}); b = r({n}, {n}, t={k})", "a @ b") for t, n, k in
        (("f32", 4096, "torch.float32"), ("bf16", 4096, "bf"), ("f16", 4096, "torch.float16"), ("bf16", 8192, "bf"))}
CONVOLUTION = "F.conv2d(x, w, padding=1)"
LAST = ".to(memory_format=torch.channels_last)"
TORCH = {
    "column sum f32[32768,4096]": ("x = r(32768, 4096)", "x.sum(0)"),
    "column sum bf16[32768,4096]": ("x = r(32768, 4096, t=bf)", "x.sum(0)"),
    "transpose bf16[8192,16384]": ("x = r(8192, 16384, t=bf)", "x.t().contiguous()"),
    "softmax f32[32768,1024]": ("x = r(32768, 1024)", "torch.softmax(x, 1)"),
    "softmax f32[8192,16384]": ("x = r(8192, 16384)", "torch.softmax(x, 1)"),
    "layer norm f32[32768,1024]": ("x = r(32768, 1024); g = r(1024); b = r(1024)", "F.layer_norm(x, (1024,), g, b)"),
    "layer norm bf16[32768,1024]": ("x = r(32768, 1024, t=bf); g = r(1024, t=bf); b = r(1024, t=bf)", "F.layer_norm(x, (1024,), g, b)"),
    "layer norm f32[8192,8192]": ("x = r(8192, 8192); g = r(8192); b = r(8192)", "F.layer_norm(x, (8192,), g, b)"),
    **DOTS,
    "dot bf16 4096^3, k last in both": ("a = r(4096, 4096, t=bf); b = r(4096, 4096, t=bf)", "a @ b.t()"),
    "dot bf16 4096^3, k first in both": ("a = r(4096, 4096, t=bf); b = r(4096, 4096, t=bf)", "a.t() @ b"),
    "dot bf16 512x512x8192": ("a = r(512, 8192, t=bf); b = r(8192, 512, t=bf)", "a @ b"),
    "dot bf16 1024x1024x4096": ("a = r(1024, 4096, t=bf); b = r(4096, 1024, t=bf)", "a @ b"),
    "batched dot bf16 64x[1024,128]x[128,1024]": ("a = r(64, 1024, 128, t=bf); b = r(64, 128, 1024, t=bf)", "a @ b"),
    "small dots f32 10000x[16,16]x[16,16]": ("a = r(10000, 16, 16); b = r(10000, 16, 16)", "a @ b"),
    "matrix-vector bf16 [1,4096]x[4096,16384]": ("a = r(1, 4096, t=bf); b = r(4096, 16384, t=bf)", "a @ b"),
    "matrix-vector bf16 [1,4096]x[16384,4096]": ("a = r(1, 4096, t=bf); b = r(16384, 4096, t=bf)", "a @ b.t()"),
    "dot bf16 8 rows [8,4096]x[4096,16384]": ("a = r(8, 4096, t=bf); b = r(4096, 16384, t=bf)", "a @ b"),
    "sort f32[4Mi]": ("x = r(4 << 20)", "torch.sort(x)"),
    "top-k sort f32[4096,4096] k=8": ("x = r(4096, 4096)", "torch.topk(x, 8)"),
    "cumsum f32[8192,4096]": ("x = r(8192, 4096)", "torch.cumsum(x, 1)"),
    "gather of rows f32[131072,256]": ("x = r(100000, 256); i = torch.randint(100000, (131072,), device='cuda')", "x[i]"),
    "scatter-add of rows f32[131072,256]": ("x = r(100000, 256); i = torch.randint(100000, (131072,), device='cuda'); u = r(131072, 256)", "torch.index_add(x, 0, i, u)"),
    "attention bf16 64x[1024,128]": ("q, k, v = (r(1, 64, 1024, 128, t=bf) for _ in range(3))", "F.scaled_dot_product_attention(q, k, v)"),
    "convolution f32 NHWC 32x56x56x64 3x3x64": (f"x = r(32, 64, 56, 56){LAST}; w = r(64, 64, 3, 3){LAST}", CONVOLUTION),
    "convolution bf16 NHWC 32x56x56x64 3x3x64": (f"x = r(32, 64, 56, 56, t=bf){LAST}; w = r(64, 64, 3, 3, t=bf){LAST}", CONVOLUTION),
    "convolution bf16 NHWC 32x28x28x256 3x3x256": (f"x = r(32, 256, 28, 28, t=bf){LAST}; w = r(256, 256, 3, 3, t=bf){LAST}", CONVOLUTION),
    "convolution bf16 NCHW 32x64x56x56 3x3x64": ("x = r(32, 64, 56, 56, t=bf); w = r(64, 64, 3, 3, t=bf)", CONVOLUTION),
    "convolution f32 NCHW 32x64x56x56 3x3x64": ("x = r(32, 64, 56, 56); w = r(64, 64, 3, 3)", CONVOLUTION),
}
# SPDX-License-Identifier: Apache-2.0
