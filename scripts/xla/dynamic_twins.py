"""Operations on x, an array of which one size is known at run time only, beside the same on an array of just that size.

compare() wants the same values of the interpreter for both; and of the CPU, where it has code for the dynamic module."""

BOUNDS = [6, 5]
SIZES = [(0, 4), (1, 3), (0, 0), (1, 1), (0, 6)]  # (dimension of x, its size at run time)

COMPUTATIONS = """
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
most { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
least { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
negated { a = f32[] parameter(0)
  ROOT r = f32[] negate(a) }
less_pair { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT }
most_at { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE
  m = f32[] select(g, a, b)
  k = s32[] select(g, i, j)
  ROOT t = (f32[], s32[]) tuple(m, k) }
whole { a = f32[<DIMS>] parameter(0)
  ROOT r = f32[<DIMS>] negate(a) }
"""

# <D>: the dynamic dimension; <DIMS>, <DIM0>, <DIM1>: sizes of x, as in a shape; <N0>, <N1>: the same, bounds where they are dynamic.
OPERATIONS = {
    "negate": "ROOT r = negate(x)",
    "add": "y = negate(x)\n ROOT r = add(x, y)",
    "convert": "ROOT r = s32[<DIMS>] convert(x)",
    "bitcast_convert": "ROOT r = s32[<DIMS>] bitcast-convert(x)",
    "is_finite": "ROOT r = is-finite(x)",
    "clamp": "y = negate(x)\n ROOT r = clamp(y, x, y)",
    "select": "y = negate(x)\n c = compare(x, y), direction=LT\n ROOT r = select(c, x, y)",
    "complex": "ROOT r = complex(x, x)",
    "reduce_precision": "ROOT r = reduce-precision(x), exponent_bits=5, mantissa_bits=4",
    "map": "ROOT r = map(x), dimensions={0,1}, to_apply=negated",
    "iota": "i = f32[<DIMS>] iota(), iota_dimension=<D>\n ROOT r = add(x, i)",
    "copy": "ROOT r = copy(x)",
    "barrier": "ROOT r = optimization-barrier(x)",
    "tuple": "t = tuple(x, x)\n ROOT r = get-tuple-element(t), index=1",
    "call": "ROOT r = f32[<DIMS>] call(x), to_apply=whole",
    "size": "ROOT r = get-dimension-size(x), dimensions={<D>}",
    "size_again": "ROOT r = set-dimension-size(x, one), dimensions={<D>}",
    "reduce_rows": "ROOT r = reduce(x, zero), dimensions={0}, to_apply=add",
    "reduce_columns": "ROOT r = reduce(x, zero), dimensions={1}, to_apply=add",
    "reduce_all": "ROOT r = reduce(x, zero), dimensions={0,1}, to_apply=add",
    "reduce_most": "ROOT r = reduce(x, zero), dimensions={0,1}, to_apply=most",
    "argmax": "i = s32[<DIMS>] iota(), iota_dimension=<D>\n ROOT r = reduce(x, i, zero, none), dimensions={<D>}, to_apply=most_at",
    "window": "ROOT r = reduce-window(x, zero), window={size=3x1 pad=1_1x0_0}, to_apply=add",
    "window_strides": "ROOT r = reduce-window(x, zero), window={size=2x2 stride=2x2}, to_apply=add",
    "window_base": "ROOT r = reduce-window(x, zero), window={size=2x2 pad=1_0x0_1 lhs_dilate=2x2}, to_apply=add",
    "window_holes": "ROOT r = reduce-window(x, zero), window={size=2x2 pad=1_1x1_1 rhs_dilate=2x2}, to_apply=add",
    "running_sum": "ROOT r = reduce-window(x, zero), window={size=6x1 pad=5_0x0_0}, to_apply=add",
    "sort_rows": "ROOT r = sort(x), dimensions={0}, to_apply=less",
    "sort_columns": "ROOT r = sort(x), dimensions={1}, to_apply=less",
    "sort_pairs": "y = negate(x)\n ROOT r = sort(x, y), dimensions={0}, is_stable=true, to_apply=less_pair",
    "reverse": "ROOT r = reverse(x), dimensions={0}",
    "reverse_all": "ROOT r = reverse(x), dimensions={0,1}",
    "transpose": "ROOT r = transpose(x), dimensions={1,0}",
    "reshape": "ROOT r = f32[<DIMS>,1] reshape(x)",
    "broadcast": "ROOT r = f32[3,<DIMS>] broadcast(x), dimensions={1,2}",
    "concatenate_rows": "ROOT r = concatenate(x, x), dimensions={0}",
    "concatenate_columns": "ROOT r = concatenate(x, x), dimensions={1}",
    "pad": "ROOT r = pad(x, zero), padding=1_2x0_1",
    "pad_inside": "ROOT r = pad(x, zero), padding=1_2_1x0_1_2",
    "pad_less": "ROOT r = pad(x, zero), padding=-1_1x0_0",
    "slice": "ROOT r = slice(x), slice={[0:1], [0:1]}",
    "slice_whole": "ROOT r = slice(x), slice={[0:<N0>], [0:<N1>]}",
    "dynamic_slice": "ROOT r = dynamic-slice(x, none, none), dynamic_slice_sizes={1,1}",
    "dynamic_slice_whole": "ROOT r = dynamic-slice(x, one, one), dynamic_slice_sizes={<N0>,<N1>}",
    "update": "u = f32[1,1] constant({{9}})\n ROOT r = dynamic-update-slice(x, u, none, none)",
    "update_whole": "y = negate(x)\n ROOT r = dynamic-update-slice(x, y, one, one)",
    "update_part": "b = f32[8,8] broadcast(zero), dimensions={}\n ROOT r = dynamic-update-slice(b, x, one, one)",
    "update_static": "b = f32[6,5] broadcast(zero), dimensions={}\n ROOT r = f32[6,5] dynamic-update-slice(b, x, none, none)",
    "gather_rows": "i = s32[3] constant({0,2,1})\n ROOT r = gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
                   "start_index_map={0}, index_vector_dim=1, slice_sizes={1,<N1>}",
    "gather_columns": "i = s32[3] constant({0,2,1})\n ROOT r = gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, "
                      "start_index_map={1}, index_vector_dim=1, slice_sizes={<N0>,1}",
    "scatter": "i = s32[2] constant({0,2})\n u = f32[2,<DIM1>] iota(), iota_dimension=0\n ROOT r = scatter(x, i, u), "
               "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "select_and_scatter": "s = reduce-window(x, zero), window={size=2x1 stride=2x1}, to_apply=most\n ROOT r = "
                          "select-and-scatter(x, s, zero), window={size=2x1 stride=2x1}, select=least, scatter=add",
    "dot_rows": "ROOT r = dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "dot_columns": "ROOT r = dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "dot_batch": "ROOT r = dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "dot_outer": "ROOT r = dot(x, x), lhs_contracting_dims={}, rhs_contracting_dims={}",
    "convolution": "y = f32[<DIMS>,1] reshape(x)\n k = f32[2,1,1] constant({{{1}},{{2}}})\n ROOT r = convolution(y, k), "
                   "window={size=2 pad=1_0}, dim_labels=b0f_0io->b0f",
    "convolution_strides": "y = f32[<DIMS>,1] reshape(x)\n k = f32[3,1,1] constant({{{1}},{{2}},{{3}}})\n ROOT r = convolution(y, k), "
                           "window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f",
    "convolution_base": "y = f32[<DIMS>,1] reshape(x)\n k = f32[2,1,1] constant({{{1}},{{2}}})\n ROOT r = convolution(y, k), "
                        "window={size=2 pad=1_1 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
    "batch_norm": "g = f32[<DIM1>] iota(), iota_dimension=0\n ROOT r = batch-norm-training(x, g, g), epsilon=0.1, feature_index=1",
    "topk": "ROOT r = topk(x), k=1, largest=true",
    "cholesky": "y = dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n i = s32[<DIM0>,<DIM0>] iota(), iota_dimension=0\n "
                "j = s32[<DIM0>,<DIM0>] iota(), iota_dimension=1\n e = compare(i, j), direction=EQ\n c = f32[<DIM0>,<DIM0>] convert(e)\n "
                "t = f32[] constant(300)\n d = f32[<DIM0>,<DIM0>] broadcast(t), dimensions={}\n m = multiply(c, d)\n z = add(y, m)\n "
                "ROOT r = cholesky(z), lower=true",
    "rfft": "ROOT r = fft(x), fft_type=RFFT, fft_length={<N1>}",
    "rfft_both": "ROOT r = fft(x), fft_type=RFFT, fft_length={<N0>,<N1>}",
    "fft": "y = complex(x, x)\n ROOT r = fft(y), fft_type=IFFT, fft_length={<N1>}",
    "irfft": "y = complex(x, x)\n ROOT r = fft(y), fft_type=IRFFT, fft_length={<EVEN>}",
}


def module(operation, dimension, size, dynamic):
    sizes = [size if d == dimension and not dynamic else bound for d, bound in enumerate(BOUNDS)]
    dims = [f"<={n}" if d == dimension and dynamic else str(n) for d, n in enumerate(sizes)]
    head = f"x = f32[{','.join(dims)}] parameter(0)"
    if dynamic:
        head = f"p = f32[6,5] parameter(0)\n n = s32[] parameter(1)\n x = set-dimension-size(p, n), dimensions={{{dimension}}}"
    text = (f"HloModule m\n{COMPUTATIONS}\nENTRY e {{\n {head}\n zero = f32[] constant(0)\n one = s32[] constant(1)\n "
            f"none = s32[] constant(0)\n {OPERATIONS[operation]}\n}}\n")
    values = {"D": dimension, "DIMS": ",".join(dims), "DIM0": dims[0], "DIM1": dims[1], "N0": sizes[0], "N1": sizes[1],
              "EVEN": max(0, 2 * (sizes[1] - 1))}
    for name, value in values.items():
        text = text.replace(f"<{name}>", str(value))
    return text


def differences(ours, wanted):
    import numpy
    if isinstance(ours, str):
        return f"refused: {ours}"
    for i, (x, y) in enumerate(zip(ours, wanted)):
        if x.shape != y.shape:
            return f"result {i} is of {x.shape}, not {y.shape}"
        if not numpy.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"result {i} is\n{x}\nnot\n{y}"
    return ""


def compare(tool, findings, names):
    import numpy
    generator = numpy.random.RandomState(0)
    for name in names or OPERATIONS:
        for dimension, size in SIZES:
            x = generator.randint(-9, 10, BOUNDS).astype(numpy.float32)
            cut = numpy.ascontiguousarray(x[:size] if dimension == 0 else x[:, :size])
            wanted = tool.run(module(name, dimension, size, dynamic=False), [cut], "--platform=interpreter")
            if isinstance(wanted, str):
                findings.note("have no static twin")
                continue
            text = module(name, dimension, size, dynamic=True)
            for platform in ("interpreter", "cpu"):
                given = tool.run(text, [x, numpy.int32(size)], f"--platform={platform}")
                if platform == "cpu" and isinstance(given, str) and "--platform=interpreter" in given:
                    findings.note("have no code on the CPU")
                    continue
                wrong = differences(given, wanted)
                kind = f"{name} of size {size} in dimension {dimension} on {platform}"
                findings.note("differ" if wrong else "agree", kind if wrong else None, f"{wrong}\n{text.split('ENTRY')[1]}")
    return findings.finish()
# SPDX-License-Identifier: Apache-2.0
