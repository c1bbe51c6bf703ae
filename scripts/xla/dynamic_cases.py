"""Operations over arrays of which some dimensions have sizes that only the run knows, for peer_dynamic.py.

A case is (operands, body): operands such as "s32[4,3]", the body with x0, x1, ... for them and <k.d> for dimension d of operand k as
a shape writes it (4, or <=4 where it is dynamic); its result is %r. Shapes are left out where they can be inferred."""

COMPUTATIONS = """
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
most { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] maximum(a, b) }
least { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] minimum(a, b) }
product { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] multiply(a, b) }
second { a = s32[] parameter(0)
  ROOT b = s32[] parameter(1) }
less { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
at_least { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
add_f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
at_least_f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
less_pair { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT }
most_at { a = s32[] parameter(0)
  i = s32[] parameter(1)
  b = s32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT
  m = s32[] select(g, a, b)
  k = s32[] select(g, i, j)
  ROOT t = (s32[], s32[]) tuple(m, k) }
negated { a = s32[] parameter(0)
  ROOT r = s32[] negate(a) }
difference { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] subtract(a, b) }
"""

UNARY = {"negate": "s32", "abs": "s32", "not": "s32", "sign": "s32", "popcnt": "s32", "count-leading-zeros": "s32", "floor": "f32",
         "ceil": "f32", "round-nearest-even": "f32", "round-nearest-afz": "f32", "is-finite": "f32", "real": "c64", "imag": "c64",
         "copy": "s32", "opt-barrier": "s32", "exponential": "f32", "tanh": "f32", "sqrt": "f32", "cosine": "f32", "logistic": "f32",
         "cbrt": "f32", "exponential-minus-one": "f32"}
BINARY = {"add": "s32", "subtract": "s32", "multiply": "s32", "divide": "f32", "remainder": "s32", "maximum": "s32", "minimum": "s32", "and": "s32",
          "or": "s32", "xor": "s32", "shift-left": "s32", "shift-right-logical": "s32", "shift-right-arithmetic": "s32", "power": "f32",
          "atan2": "f32", "complex": "f32"}
REDUCERS = {"add": 0, "most": -99, "product": 1}  # and what changes nothing: XLA starts from it more than once


def elementwise():
    cases = {}
    for opcode, kind in UNARY.items():
        cases[opcode] = ([f"{kind}[4,3]"], f"r = {opcode}(x0)")
    for opcode, kind in BINARY.items():
        cases[opcode] = ([f"{kind}[4,3]"] * 2, f"r = {opcode}(x0, x1)")
    for opcode in ("add", "subtract"):
        cases[f"{opcode}_vector"] = (["s32[5]"] * 2, f"r = {opcode}(x0, x1)")
    cases["compare"] = (["s32[4,3]"] * 2, "r = compare(x0, x1), direction=LT")
    cases["add_same"] = (["s32[4,3]"], "r = add(x0, x0)")
    cases["select"] = (["pred[4,3]", "s32[4,3]", "s32[4,3]"], "r = select(x0, x1, x2)")
    cases["select_scalar"] = (["pred[]", "s32[4,3]", "s32[4,3]"], "r = select(x0, x1, x2)")
    cases["clamp"] = (["s32[4,3]"] * 3, "r = clamp(x0, x1, x2)")
    cases["clamp_scalars"] = (["s32[]", "s32[4,3]", "s32[]"], "r = clamp(x0, x1, x2)")
    cases["convert"] = (["s32[4,3]"], "r = s64[<0.0>,<0.1>] convert(x0)")
    cases["bitcast_convert"] = (["s32[4,3]"], "r = f32[<0.0>,<0.1>] bitcast-convert(x0)")
    cases["reduce_precision"] = (["f32[4,3]"], "r = reduce-precision(x0), exponent_bits=5, mantissa_bits=4")
    cases["map"] = (["s32[4,3]"], "r = map(x0), dimensions={0,1}, to_apply=negated")
    cases["map_pair"] = (["s32[4,3]"] * 2, "r = map(x0, x1), dimensions={0,1}, to_apply=difference")
    cases["add_chain"] = (["s32[4,3]"] * 3, "y = add(x0, x1)\n r = multiply(y, x2)")
    cases["add_static_behind"] = (["s32[4,3]"], "s = s32[4,3] iota(), iota_dimension=0\n r = s32[<0.0>,<0.1>] add(x0, s)")
    cases["static_before_add"] = (["s32[4,3]"], "s = s32[4,3] iota(), iota_dimension=0\n r = s32[<0.0>,<0.1>] add(s, x0)")
    return cases


def sums():
    cases = {}
    for reducer, start in REDUCERS.items():
        for dims in ("0", "1", "0,1"):
            cases[f"reduce_{reducer}_{dims}"] = (["s32[4,3]"], f"z = s32[] constant({start})\n r = reduce(x0, z), dimensions={{{dims}}}, to_apply={reducer}")
    for dims in ("0,2", "1,2", "0,1,2", "1"):
        cases[f"reduce_cube_{dims}"] = (["s32[3,4,2]"], f"z = s32[] constant(0)\n r = reduce(x0, z), dimensions={{{dims}}}, to_apply=add")
    cases["reduce_pair"] = (["s32[4,3]"], "z = s32[] constant(-99)\n o = s32[] constant(0)\n i = s32[<0.0>,<0.1>] negate(x0)\n "
                            "r = reduce(x0, i, z, o), dimensions={0}, to_apply=most_at")
    cases["reduce_pair_all"] = (["s32[4,3]"] * 2, "z = s32[] constant(-99)\n o = s32[] constant(0)\n "
                                "r = reduce(x0, x1, z, o), dimensions={0,1}, to_apply=most_at")
    cases["dot"] = (["s32[4,3]", "s32[3,5]"], "r = dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
    cases["dot_f32"] = (["f32[4,3]", "f32[3,5]"], "r = dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
    cases["dot_batch"] = (["s32[2,4,3]", "s32[2,3,5]"], "r = dot(x0, x1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                          "lhs_contracting_dims={2}, rhs_contracting_dims={1}")
    cases["dot_two"] = (["s32[4,3,2]", "s32[3,4,2]"], "r = dot(x0, x1), lhs_contracting_dims={0,1}, rhs_contracting_dims={1,0}")
    cases["dot_outer"] = (["s32[4]", "s32[3]"], "r = dot(x0, x1), lhs_contracting_dims={}, rhs_contracting_dims={}")
    cases["dot_vectors"] = (["s32[5]", "s32[5]"], "r = dot(x0, x1), lhs_contracting_dims={0}, rhs_contracting_dims={0}")
    for name, window in {"plain": "size=2x2", "stride": "size=2x2 stride=2x2", "pad": "size=3x1 pad=1_1x0_0", "same": "size=2x2 pad=0_1x1_0",
                         "dilate": "size=2x2 rhs_dilate=2x1", "base": "size=2x2 lhs_dilate=2x2 pad=1_0x0_1", "running": "size=4x1 pad=3_0x0_0",
                         "wide": "size=1x3 stride=1x2"}.items():
        for reducer in ("add", "most"):
            cases[f"reduce_window_{name}_{reducer}"] = (
                ["s32[4,3]"], f"z = s32[] constant({REDUCERS[reducer]})\n r = reduce-window(x0, z), window={{{window}}}, to_apply={reducer}")
    cases["reduce_window_pair"] = (["s32[4,3]"], "z = s32[] constant(-99)\n o = s32[] constant(0)\n i = negate(x0)\n "
                                   "r = reduce-window(x0, i, z, o), window={size=2x1}, to_apply=most_at")
    for name, window in {"plain": "size=2", "one": "size=1", "pad": "size=2 pad=1_0", "stride": "size=2 stride=2", "dilate": "size=2 rhs_dilate=2",
                         "base": "size=2 lhs_dilate=2 pad=1_1"}.items():
        size = 1 if name == "one" else 2
        cases[f"convolution_{name}"] = (["f32[2,4,3]", f"f32[{size},3,2]"], f"r = convolution(x0, x1), window={{{window}}}, dim_labels=b0f_0io->b0f")
    cases["convolution_grouped"] = (["f32[2,4,4]", "f32[2,2,2]"], "r = convolution(x0, x1), window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=2")
    cases["batch_norm_training"] = (["f32[4,3]", "f32[3]", "f32[3]"], "r = batch-norm-training(x0, x1, x2), epsilon=0.5, feature_index=1")
    cases["batch_norm_inference"] = (["f32[4,3]", "f32[3]", "f32[3]"], "v = f32[<1.0>] multiply(x1, x1)\n "
                                     "r = batch-norm-inference(x0, x1, x2, x1, v), epsilon=0.5, feature_index=1")
    return cases


def movement():
    cases = {"transpose": (["s32[4,3]"], "r = transpose(x0), dimensions={1,0}"),
             "transpose_cube": (["s32[4,3,2]"], "r = transpose(x0), dimensions={2,0,1}"),
             "broadcast": (["s32[4,3]"], "r = s32[2,<0.0>,<0.1>] broadcast(x0), dimensions={1,2}"),
             "broadcast_minor": (["s32[4,3]"], "r = s32[<0.0>,2,<0.1>] broadcast(x0), dimensions={0,2}"),
             "broadcast_scalar": (["s32[4]"], "z = s32[] constant(0)\n s = s32[] reduce(x0, z), dimensions={0}, to_apply=add\n "
                                  "r = s32[4,2] broadcast(s), dimensions={}"),
             "concatenate": (["s32[4,3]", "s32[2,3]"], "r = concatenate(x0, x1), dimensions={0}"),
             "concatenate_three": (["s32[3]", "s32[2]", "s32[4]"], "r = concatenate(x0, x1, x2), dimensions={0}"),
             "concatenate_minor": (["s32[4,3]", "s32[4,2]"], "r = concatenate(x0, x1), dimensions={1}"),
             "pad": (["s32[4,3]"], "z = s32[] constant(7)\n r = pad(x0, z), padding=1_2x0_1"),
             "pad_inside": (["s32[4,3]"], "z = s32[] constant(7)\n r = pad(x0, z), padding=1_2_1x0_1_2"),
             "pad_less": (["s32[4,3]"], "z = s32[] constant(7)\n r = pad(x0, z), padding=-1_1x0_0"),
             "pad_low": (["s32[4,3]"], "z = s32[] constant(7)\n r = pad(x0, z), padding=2_0x1_0"),
             "slice_part": (["s32[4,3]"], "r = slice(x0), slice={[1:3], [0:2]}"),
             "slice_whole": (["s32[4,3]"], "r = slice(x0), slice={[0:4], [0:3]}"),
             "slice_rows": (["s32[4,3]"], "r = slice(x0), slice={[0:4], [1:2]}"),
             "slice_stride": (["s32[4,3]"], "r = slice(x0), slice={[0:4:2], [0:3]}"),
             "slice_one": (["s32[4,3]"], "r = slice(x0), slice={[0:1], [0:3]}"),
             "dynamic_slice_one": (["s32[4,3]"], "o = s32[] constant(1)\n n = s32[] constant(0)\n r = dynamic-slice(x0, o, n), dynamic_slice_sizes={1,3}"),
             "dynamic_slice_whole": (["s32[4,3]"], "o = s32[] constant(1)\n r = dynamic-slice(x0, o, o), dynamic_slice_sizes={4,3}"),
             "dynamic_slice_part": (["s32[4,3]"], "o = s32[] constant(1)\n n = s32[] constant(0)\n r = dynamic-slice(x0, o, n), dynamic_slice_sizes={2,3}"),
             "update_whole": (["s32[4,3]", "s32[4,3]"], "n = s32[] constant(0)\n r = dynamic-update-slice(x0, x1, n, n)"),
             "update_rows": (["s32[4,3]", "s32[2,3]"], "n = s32[] constant(0)\n o = s32[] constant(1)\n r = dynamic-update-slice(x0, x1, o, n)"),
             "update_part": (["s32[5,4]", "s32[2,3]"], "o = s32[] constant(1)\n r = dynamic-update-slice(x0, x1, o, o)"),
             "update_one": (["s32[4,3]", "s32[1,1]"], "n = s32[] constant(0)\n r = dynamic-update-slice(x0, x1, n, n)"),
             "reverse": (["s32[4,3]"], "r = reverse(x0), dimensions={0}"),
             "reverse_all": (["s32[4,3]"], "r = reverse(x0), dimensions={0,1}"),
             "reshape_one": (["s32[4,3]"], "r = s32[<0.0>,1,<0.1>] reshape(x0)"),
             "reshape_front": (["s32[4,3]"], "r = s32[1,<0.0>,<0.1>] reshape(x0)"),
             "reshape_flat": (["s32[4,3]"], "r = s32[<=12] reshape(x0)"),
             "reshape_flat_cube": (["s32[2,3,2]"], "r = s32[<=6,<0.2>] reshape(x0)"),
             "reshape_behind": (["s32[2,3,2]"], "r = s32[<0.0>,<=6] reshape(x0)"),
             "reshape_split": (["s32[6]"], "r = s32[2,<=3] reshape(x0)"),
             "reshape_split_major": (["s32[6]"], "r = s32[<=2,3] reshape(x0)"),
             "reshape_drop": (["s32[4,1,3]"], "r = s32[<0.0>,<0.2>] reshape(x0)"),
             "reshape_again": (["s32[4,3]"], "f = s32[<=12] reshape(x0)\n r = s32[<=4,3] reshape(f)"),
             "get_size": (["s32[4,3]"], "r = get-dimension-size(x0), dimensions={0}"),
             "set_again": (["s32[4,3]"], "o = s32[] constant(1)\n r = s32[<=4,<0.1>] set-dimension-size(x0, o), dimensions={0}"),
             "set_static": (["s32[4,3]"], "o = s32[] constant(4)\n r = s32[4,<0.1>] set-dimension-size(x0, o), dimensions={0}"),
             "tuple": (["s32[4,3]", "s32[2]"], "r = tuple(x0, x1, x0)"),
             "iota_size": (["s32[4,3]"], "i = s32[<0.0>,<0.1>] iota(), iota_dimension=1\n r = s32[<0.0>,<0.1>] add(i, x0)")}
    return cases


def orders():
    cases = {"sort": (["s32[5]"], "r = sort(x0), dimensions={0}, to_apply=less"),
             "sort_rows": (["s32[4,3]"], "r = sort(x0), dimensions={0}, to_apply=less"),
             "sort_columns": (["s32[4,3]"], "r = sort(x0), dimensions={1}, to_apply=less"),
             "sort_pairs": (["s32[5,2]", "s32[5,2]"], "r = sort(x0, x1), dimensions={0}, is_stable=true, to_apply=less_pair"),
             "topk": (["f32[2,5]"], "r = topk(x0), k=2, largest=true"),
             "select_and_scatter": (["f32[4,3]", "f32[2,3]"], "z = f32[] constant(0)\n r = select-and-scatter(x0, x1, z), window={size=2x1 stride=2x1}, "
                                    "select=at_least_f, scatter=add_f"),
             "cholesky": (["f32[3,3]"], "i = s32[3,3] iota(), iota_dimension=0\n j = s32[3,3] iota(), iota_dimension=1\n e = compare(i, j), direction=EQ\n "
                          "t = f32[] constant(90)\n d = f32[3,3] broadcast(t), dimensions={}\n c = f32[3,3] convert(e)\n m = f32[3,3] multiply(c, d)\n "
                          "a = f32[<0.0>,<0.1>] add(x0, m)\n r = cholesky(a), lower=true"),
             "fft": (["f32[2,4]"], "y = complex(x0, x0)\n r = fft(y), fft_type=FFT, fft_length={4}"),
             "rfft": (["f32[2,4]"], "r = fft(x0), fft_type=RFFT, fft_length={4}")}
    gather = "start_index_map={0}, index_vector_dim=1"
    cases["gather_rows"] = (["s32[4,3]", "s32[5]"], f"r = gather(x0, x1), offset_dims={{1}}, collapsed_slice_dims={{0}}, {gather}, slice_sizes={{1,3}}")
    cases["gather_columns"] = (["s32[4,3]", "s32[5]"], "r = gather(x0, x1), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, "
                               "index_vector_dim=1, slice_sizes={4,1}")
    cases["gather_points"] = (["s32[4,3]", "s32[5,2]"], "r = gather(x0, x1), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, "
                              "index_vector_dim=1, slice_sizes={1,1}")
    cases["gather_windows"] = (["s32[4,3]", "s32[5]"], f"r = gather(x0, x1), offset_dims={{1,2}}, collapsed_slice_dims={{}}, {gather}, slice_sizes={{2,3}}")
    scatter = "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"
    cases["scatter_rows"] = (["s32[4,3]", "s32[5]", "s32[5,3]"], f"r = scatter(x0, x1, x2), update_window_dims={{1}}, inserted_window_dims={{0}}, {scatter}")
    cases["scatter_points"] = (["s32[4]", "s32[5]", "s32[5]"], f"r = scatter(x0, x1, x2), update_window_dims={{}}, inserted_window_dims={{0}}, {scatter}")
    cases["scatter_replace"] = (["s32[4,3]", "s32[2]", "s32[2,3]"], "r = scatter(x0, x1, x2), update_window_dims={1}, inserted_window_dims={0}, "
                                "scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=second")
    return cases


def all_cases():
    return {**elementwise(), **sums(), **movement(), **orders()}
# SPDX-License-Identifier: Apache-2.0
