"""StableHLO programs as text, one an operation in a type or a form, for stablehlo_reference_peer.py."""
import dataclasses
import random
import struct


@dataclasses.dataclass
class Program:
    name: str
    text: str
    ulps: int | None  # what its floats may differ by; None: 1e-4


PROGRAMS = []
SIGNED = ["i2", "i4", "i8", "i16", "i32", "i64"]
UNSIGNED = ["ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
SMALL = ["f4E2M1FN", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ"]
FLOATS = SMALL + ["bf16", "f16", "f32", "f64"]
COMPLEX = ["complex<f32>", "complex<f64>"]


def add(name, body, results, ulps=0, functions=""):
    """A function main of that body; `results` are `%name : type` pairs. Complex ones give their parts: the interpreter hands out no others."""
    parts = []
    for k, (value, kind) in enumerate(results):
        if "complex" not in kind:
            parts.append((value, kind))
            continue
        part = kind.replace("complex<", "").replace(">>", ">")
        body += f"\n%re{k} = stablehlo.real {value} : ({kind}) -> {part}\n%im{k} = stablehlo.imag {value} : ({kind}) -> {part}"
        parts += [(f"%re{k}", part), (f"%im{k}", part)]
    results = parts
    values = ", ".join(v for v, _ in results)
    types = ", ".join(t for _, t in results)
    text = f"{functions}\nfunc.func @main() -> ({types}) {{\n{body}\nreturn {values} : {types}\n}}\n"
    PROGRAMS.append(Program(name, text, ulps))


def bits(element):
    return int("".join(c for c in element.lstrip("ui") if c.isdigit()))


def numbers(element, seed, count, low=None, high=None):
    """The text of that many values of a type."""
    rng = random.Random(f"{element} {seed}")
    if element == "i1":
        return [rng.choice(["true", "false"]) for _ in range(count)]
    if element.startswith("complex"):
        return [f"({rng.uniform(-3, 3):.6e}, {rng.uniform(-3, 3):.6e})" for _ in range(count)]
    if element[0] in "iu" and element != "index":
        width = bits(element)
        least, most = (0, 2**width - 1) if element[0] == "u" else (-2**(width - 1), 2**(width - 1) - 1)
        least, most = max(least, low if low is not None else -100), min(most, high if high is not None else 100)
        return [str(rng.randint(least, most)) for _ in range(count)]
    low, high = low if low is not None else -3, high if high is not None else 3
    return [f"{rng.uniform(low, high):.6e}" for _ in range(count)]


def nested(values, dims):
    if not dims:
        return values[0]
    size = len(values) // dims[0] if dims[0] else 0
    return "[" + ", ".join(nested(values[i * size:(i + 1) * size], dims[1:]) for i in range(dims[0])) + "]"


def tensor(dims, element):
    return "tensor<" + "".join(f"{d}x" for d in dims) + element + ">"


def const(name, dims, element, seed=0, low=None, high=None):
    count = 1
    for d in dims:
        count *= d
    value = nested(numbers(element, seed, count, low, high), dims)
    return f"%{name} = stablehlo.constant dense<{value}> : {tensor(dims, element)}\n"


def fixed(name, value, type_):
    return f"%{name} = stablehlo.constant dense<{value}> : {type_}\n"


def word(element):
    return element.replace("<", "_").replace(">", "").lower()


EXACT = 0
# name: types, ulps, bounds
UNARY = {
    "abs": (SIGNED + FLOATS, 1), "negate": (SIGNED + UNSIGNED + FLOATS + COMPLEX, 0), "sign": (SIGNED + FLOATS + COMPLEX, 1),
    "ceil": (FLOATS, 0), "floor": (FLOATS, 0), "round_nearest_afz": (FLOATS, 0), "round_nearest_even": (FLOATS, 0),
    "not": (["i1"] + SIGNED + UNSIGNED, 0), "popcnt": (SIGNED + UNSIGNED, 0), "count_leading_zeros": (SIGNED + UNSIGNED, 0),
    "exponential": (FLOATS + COMPLEX, 3), "exponential_minus_one": (FLOATS + COMPLEX, 3), "log": (FLOATS + COMPLEX, 3),
    "log_plus_one": (FLOATS + COMPLEX, 3), "logistic": (FLOATS + COMPLEX, 3), "sqrt": (FLOATS + COMPLEX, 3), "rsqrt": (FLOATS + COMPLEX, 3),
    "cbrt": (FLOATS, 3), "sine": (FLOATS + COMPLEX, 3), "cosine": (FLOATS + COMPLEX, 3), "tan": (FLOATS + COMPLEX, 3), "tanh": (FLOATS + COMPLEX, 3),
    "optimization_barrier": (["i1"] + SIGNED + FLOATS, 0),
}
POSITIVE = {"log", "log_plus_one", "sqrt", "rsqrt", "cbrt"}
for op, (types, ulps) in UNARY.items():
    for element in types:
        low = 0.1 if op in POSITIVE else None
        t = tensor([2, 3], element)
        close = None if element in COMPLEX and ulps else min(ulps, 1) if element in SMALL else ulps
        add(f"{op}_{word(element)}", const("x", [2, 3], element, op, low) + f"%y = stablehlo.{op} %x : {t}", [("%y", t)], close)
BINARY = {
    "add": ["i1"] + SIGNED + UNSIGNED + FLOATS + COMPLEX, "subtract": SIGNED + UNSIGNED + FLOATS + COMPLEX, "multiply": ["i1"] + SIGNED + UNSIGNED + FLOATS + COMPLEX,
    "divide": SIGNED + UNSIGNED + FLOATS + COMPLEX, "remainder": SIGNED + UNSIGNED + FLOATS, "maximum": ["i1"] + SIGNED + UNSIGNED + FLOATS + COMPLEX,
    "minimum": ["i1"] + SIGNED + UNSIGNED + FLOATS + COMPLEX, "and": ["i1"] + SIGNED + UNSIGNED, "or": ["i1"] + SIGNED + UNSIGNED, "xor": ["i1"] + SIGNED + UNSIGNED,
    "shift_left": SIGNED + UNSIGNED, "shift_right_logical": SIGNED + UNSIGNED, "shift_right_arithmetic": SIGNED + UNSIGNED,
    "atan2": FLOATS + COMPLEX, "power": SIGNED + UNSIGNED + FLOATS + COMPLEX,
}
for op, types in BINARY.items():
    for element in types:
        integer = element[0] in "iu"
        t = tensor([2, 3], element)
        low, high = {"divide": (1, None), "remainder": (1, None), "power": (0, 3), "shift_left": (0, 9), "shift_right_logical": (0, 9), "shift_right_arithmetic": (0, 9)}.get(op, (None, None)) \
            if integer or op in ("remainder", "divide") else (None, None)
        first = (0.5, 3) if op == "power" and not integer else (None, None)
        inexact = op in ("divide", "atan2", "power", "multiply") and not integer
        close = None if inexact else 0
        add(f"{op}_{word(element)}", const("x", [2, 3], element, 1, *first) + const("y", [2, 3], element, 2, low, high) + f"%z = stablehlo.{op} %x, %y : {t}", [("%z", t)], close)
for element in ["i1"] + SIGNED + UNSIGNED + FLOATS + COMPLEX:
    t, p = tensor([6], element), tensor([6], "i1")
    body = const("x", [6], element, 1) + const("y", [6], element, 2)
    directions = ["EQ", "NE"] if element.startswith("complex") else ["EQ", "NE", "LT", "LE", "GT", "GE"]
    kind = "FLOAT" if element[0] in "fbc" else "UNSIGNED" if element[0] == "u" or element == "i1" else "SIGNED"
    for d in directions:
        body += f"%r{d} = stablehlo.compare {d}, %x, %y, {kind} : ({t}, {t}) -> {p}\n"
    if element in ("f32", "f64", "f16", "bf16"):
        body += f"%rT = stablehlo.compare LT, %x, %y, TOTALORDER : ({t}, {t}) -> {p}\n"
        directions = directions + ["T"]
    body += f"%rN = stablehlo.compare EQ, %x, %x : ({t}, {t}) -> {p}\n"
    add(f"compare_{word(element)}", body, [(f"%r{d}", p) for d in directions + ["N"]])
    s = tensor([], element)
    add(f"select_{word(element)}", body + f"%a = stablehlo.select %rEQ, %x, %y : {p}, {t}\n" + const("p", [], "i1") + f"%b = stablehlo.select %p, %x, %y : {tensor([], 'i1')}, {t}", [("%a", t), ("%b", t)])
    if element != "i1" and not element.startswith("complex"):
        body = const("x", [6], element, 1) + const("l", [], element, 3, -1, 0) + const("h", [], element, 4, 1, 1)
        add(f"clamp_{word(element)}", body + f"%a = stablehlo.clamp %l, %x, %h : ({s}, {t}, {s}) -> {t}\n%b = stablehlo.clamp %x, %x, %x : {t}", [("%a", t), ("%b", t)])
    for target in ["i1", "i2", "i8", "i32", "ui2", "ui8", "ui64", "f8E4M3FN", "f8E5M2", "bf16", "f16", "f32", "f64", "complex<f32>", "complex<f64>"]:
        if element.startswith("complex") and not target.startswith("complex"):
            continue
        if target.startswith("ui") and element[0] in "if" and element != "i1":
            x = const("x", [6], element, 1, 0, 3)
        else:
            x = const("x", [6], element, 1, -1 if target == "i2" else None, 1 if target == "i2" else None)
        to = tensor([6], target)
        add(f"convert_{word(element)}_{word(target)}", x + f"%y = stablehlo.convert %x : ({t}) -> {to}", [("%y", to)])
    shape_ops = const("x", [2, 3], element)
    t23, t32, t3, t6 = tensor([2, 3], element), tensor([3, 2], element), tensor([3], element), tensor([6], element)
    shape_ops += const("z", [], element, 5)
    shape_ops += f"""%a = stablehlo.transpose %x, dims = [1, 0] : ({t23}) -> {t32}
%b = stablehlo.reshape %x : ({t23}) -> {t6}
%c = stablehlo.broadcast_in_dim %x, dims = [0, 2] : ({t23}) -> {tensor([2, 2, 3], element)}
%d = stablehlo.slice %x [0:2, 0:3:2] : ({t23}) -> {tensor([2, 2], element)}
%e = stablehlo.pad %x, %z, low = [0, -1], high = [1, 2], interior = [0, 1] : ({t23}, {s}) -> {tensor([3, 6], element)}
%f = stablehlo.concatenate %x, %x, dim = 1 : ({t23}, {t23}) -> {tensor([2, 6], element)}
%g = stablehlo.reverse %x, dims = [0, 1] : {t23}
%i = stablehlo.constant dense<1> : tensor<i64>
%h = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 2] : ({t23}, tensor<i64>, tensor<i64>) -> {tensor([1, 2], element)}
%j = stablehlo.dynamic_update_slice %x, %h, %i, %i : ({t23}, {tensor([1, 2], element)}, tensor<i64>, tensor<i64>) -> {t23}
"""
    results = [("%a", t32), ("%b", t6), ("%c", tensor([2, 2, 3], element)), ("%d", tensor([2, 2], element)), ("%e", tensor([3, 6], element)), ("%f", tensor([2, 6], element)),
               ("%g", t23), ("%h", tensor([1, 2], element)), ("%j", t23)]
    if element != "i1":
        shape_ops += f"%k = stablehlo.iota dim = 1 : {t23}\n"
        results.append(("%k", t23))
    add(f"shape_{word(element)}", shape_ops, results)
    gather = const("x", [3, 4], element) + const("u", [2, 4], element, 7) + fixed("i", "[[0], [2]]", "tensor<2x1xi64>")
    gather += f"""%g = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}} : ({tensor([3, 4], element)}, tensor<2x1xi64>) -> {tensor([2, 4], element)}
%s = "stablehlo.scatter"(%x, %i, %u) ({{
  ^bb0(%p: {s}, %q: {s}):
    stablehlo.return %q : {s}
}}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}} : ({tensor([3, 4], element)}, tensor<2x1xi64>, {tensor([2, 4], element)}) -> {tensor([3, 4], element)}
"""
    add(f"gather_{word(element)}", gather, [("%g", tensor([2, 4], element)), ("%s", tensor([3, 4], element))])
    reducers = ["maximum", "minimum", "add"] if not element.startswith("complex") else ["add"]
    reduced = const("x", [2, 4], element, 1, -1, 1) + const("z", [], element, 2, 0, 0)
    results = []
    for k, reducer in enumerate(reducers):
        reduced += f"%r{k} = stablehlo.reduce(%x init: %z) applies stablehlo.{reducer} across dimensions = [1] : ({tensor([2, 4], element)}, {s}) -> {tensor([2], element)}\n"
        reduced += f"""%w{k} = "stablehlo.reduce_window"(%x, %z) ({{
  ^bb0(%p: {s}, %q: {s}):
    %v = stablehlo.{reducer} %p, %q : {s}
    stablehlo.return %v : {s}
}}) {{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}} : ({tensor([2, 4], element)}, {s}) -> {tensor([2, 4], element)}
"""
        results += [(f"%r{k}", tensor([2], element)), (f"%w{k}", tensor([2, 4], element))]
    add(f"reduce_{word(element)}", reduced, results, None if element[0] in "bfc" else 0)
    if not element.startswith("complex"):
        add(f"sort_{word(element)}", const("x", [5], element) + fixed("k", "[5, 4, 3, 2, 1]", "tensor<5xi32>") + f"""%s:2 = "stablehlo.sort"(%x, %k) ({{
  ^bb0(%a: {s}, %b: {s}, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : ({s}, {s}) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
}}) {{dimension = 0 : i64, is_stable = true}} : ({tensor([5], element)}, tensor<5xi32>) -> ({tensor([5], element)}, tensor<5xi32>)""", [("%s#0", tensor([5], element)), ("%s#1", "tensor<5xi32>")])
    dot = const("x", [2, 3], element, 1, -1, 1) + const("y", [3, 2], element, 2, -1, 1)
    dot += f"""%d = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : ({t23}, {t32}) -> {tensor([2, 2], element)}
%f = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [1] x [0] : ({t23}, {t32}) -> {tensor([2], element)}
"""
    add(f"dot_{word(element)}", dot, [("%d", tensor([2, 2], element)), ("%f", tensor([2], element))], None if element[0] in "bfc" else 0)
for element in ["f32", "f64", "f16", "bf16", "i32", "complex<f32>"]:
    image, kernel, out = tensor([1, 4, 4, 2], element), tensor([3, 3, 2, 2], element), tensor([1, 2, 2, 2], element)
    add(f"convolution_{word(element)}", const("x", [1, 4, 4, 2], element, 1, -1, 1) + const("k", [3, 3, 2, 2], element, 2, -1, 1) + f"""%a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [2, 2], pad = [[1, 0], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}} : ({image}, {kernel}) -> {out}
%p = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>
%b = "stablehlo.dynamic_conv"(%x, %k, %p) {{window_strides = array<i64: 2, 2>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({image}, {kernel}, tensor<2x2xi64>) -> {out}""",
        [("%a", out), ("%b", out)], None if element[0] in "bfc" else 0)
for element in ["f32", "f64"]:
    t = tensor([2, 2], element)
    add(f"linalg_{element}", fixed("a", "[[4.0, 2.0], [2.0, 5.0]]", t) + const("b", [2, 2], element, 2) + f"""%c = stablehlo.cholesky %a, lower = true : {t}
%u = "stablehlo.cholesky"(%a) : ({t}) -> {t}
%t = "stablehlo.triangular_solve"(%c, %b) {{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}} : ({t}, {t}) -> {t}
%v = "stablehlo.triangular_solve"(%c, %b) {{left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}} : ({t}, {t}) -> {t}""", [("%c", t), ("%u", t), ("%t", t), ("%v", t)], None)
    c, n = tensor([2, 3], f"complex<{element}>"), tensor([2, 4], element)
    add(f"fft_{element}", const("x", [2, 4], element, 1) + const("y", [2, 4], f"complex<{element}>", 1) + f"""%a = stablehlo.fft %x, type = RFFT, length = [4] : ({n}) -> {c}
%b = stablehlo.fft %a, type = IRFFT, length = [4] : ({c}) -> {n}
%c = stablehlo.fft %y, type = FFT, length = [2, 4] : ({tensor([2, 4], f'complex<{element}>')}) -> {tensor([2, 4], f'complex<{element}>')}
%d = stablehlo.fft %y, type = IFFT, length = [4] : ({tensor([2, 4], f'complex<{element}>')}) -> {tensor([2, 4], f'complex<{element}>')}""",
        [("%a", c), ("%b", n), ("%c", tensor([2, 4], f"complex<{element}>")), ("%d", tensor([2, 4], f"complex<{element}>"))], None)
    s = tensor([2], element)
    add(f"batch_norm_{element}", const("x", [2, 3, 2], element, 1) + const("s", [2], element, 2) + const("o", [2], element, 3) + const("m", [2], element, 4) + const("v", [2], element, 5, 0.5, 2) + const("g", [2, 3, 2], element, 6) + f"""
%a = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}} : ({tensor([2, 3, 2], element)}, {s}, {s}, {s}, {s}) -> {tensor([2, 3, 2], element)}
%b:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}} : ({tensor([2, 3, 2], element)}, {s}, {s}) -> ({tensor([2, 3, 2], element)}, {s}, {s})
%c:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}} : ({tensor([2, 3, 2], element)}, {s}, {s}, {s}, {tensor([2, 3, 2], element)}) -> ({tensor([2, 3, 2], element)}, {s}, {s})""",
        [("%a", tensor([2, 3, 2], element)), ("%b#0", tensor([2, 3, 2], element)), ("%b#1", s), ("%b#2", s), ("%c#0", tensor([2, 3, 2], element)), ("%c#1", s), ("%c#2", s)], None)
    for chlo in ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan", "erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i1e", "square", "is_inf", "is_pos_inf", "is_neg_inf"]:
        low, high = (1.1, 4) if chlo == "acosh" else (0.1, 6) if chlo in ("lgamma", "digamma") else (-0.95, 0.95)
        out = tensor([7], "i1" if chlo.startswith("is_") else element)
        add(f"chlo_{chlo}_{element}", const("x", [7], element, chlo, low, high) + f"%y = chlo.{chlo} %x : {tensor([7], element)} -> {out}", [("%y", out)], 4 if chlo not in ("digamma", "lgamma") else None)
    for chlo in ["next_after", "polygamma", "zeta"]:
        t = tensor([5], element)
        x = fixed("x", "[1.0, 2.0, 3.0, 4.0, 5.0]", t) if chlo != "zeta" else const("x", [5], element, 1, 1.5, 4)
        add(f"chlo_{chlo}_{element}", x + const("y", [5], element, 2, 0.5, 4) + f"%z = chlo.{chlo} %x, %y : {t}, {t} -> {t}", [("%z", t)], None)
    t = tensor([2, 5], element)
    add(f"chlo_top_k_{element}", const("x", [2, 5], element) + f"%v, %i = chlo.top_k(%x, k = 2) : {t} -> ({tensor([2, 2], element)}, tensor<2x2xi32>)", [("%v", tensor([2, 2], element)), ("%i", "tensor<2x2xi32>")])
    for op in ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "atan2", "remainder"]:
        add(f"chlo_broadcast_{op}_{element}", const("x", [2, 1], element, 1, 0.5, 3) + const("y", [3], element, 2, 0.5, 3) + f"%z = chlo.broadcast_{op} %x, %y : ({tensor([2, 1], element)}, {tensor([3], element)}) -> {tensor([2, 3], element)}", [("%z", tensor([2, 3], element))], None)
add("chlo_broadcast_compare", const("x", [2, 1], "i32") + const("y", [3], "i32", 2) + "%z = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction GE>} : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi1>", [("%z", "tensor<2x3xi1>")])
add("chlo_broadcast_select", const("p", [2, 1], "i1") + const("x", [3], "i32") + const("y", [], "i32", 2) + "%z = chlo.broadcast_select %p, %x, %y : (tensor<2x1xi1>, tensor<3xi32>, tensor<i32>) -> tensor<2x3xi32>", [("%z", "tensor<2x3xi32>")])
add("chlo_conj", const("x", [3], "complex<f32>") + "%z = chlo.conj %x : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>", [("%z", "tensor<3xcomplex<f32>>")])
for op in ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "square", "tan"]:
    for element in COMPLEX:
        t = tensor([4], element)
        add(f"chlo_{op}_{word(element)}", const("x", [4], element, op) + f"%z = chlo.{op} %x : {t} -> {t}", [("%z", t)], None)
for element in COMPLEX:
    part = tensor([3], element[8:-1])
    add(f"abs_{word(element)}", const("x", [3], element) + f"%y = stablehlo.abs %x : ({tensor([3], element)}) -> {part}", [("%y", part)], None)
add("complex_parts", const("x", [3], "f32", 1) + const("y", [3], "f32", 2) + """%z = stablehlo.complex %x, %y : tensor<3xcomplex<f32>>
%r = stablehlo.real %z : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
%i = stablehlo.imag %z : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
%f = stablehlo.real %x : tensor<3xf32>
%g = stablehlo.imag %x : tensor<3xf32>""", [("%z", "tensor<3xcomplex<f32>>"), ("%r", "tensor<3xf32>"), ("%i", "tensor<3xf32>"), ("%f", "tensor<3xf32>"), ("%g", "tensor<3xf32>")])
for element in FLOATS:
    add(f"finite_{word(element)}", const("x", [3], element) + f"%y = stablehlo.is_finite %x : ({tensor([3], element)}) -> tensor<3xi1>\n%z = stablehlo.reduce_precision %x, format = e5m2 : {tensor([3], element)}", [("%y", "tensor<3xi1>"), ("%z", tensor([3], element))])
for element, other, dims in [("f32", "i32", []), ("f32", "ui8", [4]), ("i64", "f64", []), ("i16", "bf16", []), ("i4", "ui4", [])]:
    add(f"bitcast_{word(element)}_{other}", const("x", [2], element) + f"%y = stablehlo.bitcast_convert %x : ({tensor([2], element)}) -> {tensor([2] + dims, other)}\n%z = stablehlo.bitcast_convert %y : ({tensor([2] + dims, other)}) -> {tensor([2], element)}", [("%y", tensor([2] + dims, other)), ("%z", tensor([2], element))])
add("while", fixed("i", 0, "tensor<i64>") + fixed("one", 1, "tensor<i64>") + fixed("n", 5, "tensor<i64>") + """%r:2 = stablehlo.while(%a = %i, %b = %one) : tensor<i64>, tensor<i64>
cond {
  %c = stablehlo.compare LT, %a, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
} do {
  %d = stablehlo.add %a, %one : tensor<i64>
  %e = stablehlo.multiply %b, %d : tensor<i64>
  stablehlo.return %d, %e : tensor<i64>, tensor<i64>
}""", [("%r#0", "tensor<i64>"), ("%r#1", "tensor<i64>")])
add("branches", fixed("p", "true", "tensor<i1>") + fixed("k", 7, "tensor<i32>") + const("x", [2], "f32") + """%a = "stablehlo.if"(%p) ({
  %y = stablehlo.add %x, %x : tensor<2xf32>
  stablehlo.return %y : tensor<2xf32>
}, {
  stablehlo.return %x : tensor<2xf32>
}) : (tensor<i1>) -> tensor<2xf32>
%b:2 = "stablehlo.case"(%k) ({
  stablehlo.return %x, %k : tensor<2xf32>, tensor<i32>
}, {
  %y = stablehlo.negate %x : tensor<2xf32>
  stablehlo.return %y, %k : tensor<2xf32>, tensor<i32>
}) : (tensor<i32>) -> (tensor<2xf32>, tensor<i32>)""", [("%a", "tensor<2xf32>"), ("%b#0", "tensor<2xf32>"), ("%b#1", "tensor<i32>")])
add("map", const("x", [2, 2], "i64", 1) + const("y", [2, 2], "i64", 2) + """%r = "stablehlo.map"(%x, %y) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.multiply %a, %b : tensor<i64>
    stablehlo.return %c : tensor<i64>
}) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>""", [("%r", "tensor<2x2xi64>")])
add("select_and_scatter", const("x", [4, 2], "i64") + const("s", [2, 2], "i64", 2) + fixed("z", 0, "tensor<i64>") + """%r = "stablehlo.select_and_scatter"(%x, %s, %z) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.compare GE, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
}, {
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %c : tensor<i64>
}) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>} : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x2xi64>""", [("%r", "tensor<4x2xi64>")])
add("tuple", const("x", [2], "f32") + const("y", [], "i1") + """%t = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<i1>>
%a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<i1>>) -> tensor<2xf32>
%b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<i1>>) -> tensor<i1>""", [("%a", "tensor<2xf32>"), ("%b", "tensor<i1>")])
add("composite", const("x", [2], "f32") + """%a = stablehlo.composite "my.op" %x {composite_attributes = {k = 1 : i64}, decomposition = @twice, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>""", [("%a", "tensor<2xf32>")],
    functions="func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {\n%0 = stablehlo.add %x, %x : tensor<2xf32>\nreturn %0 : tensor<2xf32>\n}")
add("reduce_pair", const("x", [2, 3], "f32") + const("i", [2, 3], "i32") + fixed("z", 0.0, "tensor<f32>") + fixed("j", 0, "tensor<i32>") + """%r:2 = stablehlo.reduce(%x init: %z), (%i init: %j) across dimensions = [0] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  {
  %m = stablehlo.maximum %a, %b : tensor<f32>
  %s = stablehlo.add %c, %d : tensor<i32>
  stablehlo.return %m, %s : tensor<f32>, tensor<i32>
}""", [("%r#0", "tensor<3xf32>"), ("%r#1", "tensor<3xi32>")])
for suffix, t in [("static", "tensor<2x3xi64>"), ("open", "tensor<?x3xi64>"), ("all_open", "tensor<?x?xi64>")]:
    s = "%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n"
    end = f"%z = stablehlo.add %y, %y : {t}\n%o = stablehlo.reshape %z : ({t}) -> tensor<2x3xi64>" if suffix != "static" else "%o = stablehlo.add %y, %y : tensor<2x3xi64>"
    for op, line in [("reshape", f"%y = stablehlo.dynamic_reshape %x, %s : (tensor<6xi64>, tensor<2xi64>) -> {t}"), ("iota", f"%y = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> {t}"),
                     ("broadcast", f"%y = stablehlo.dynamic_broadcast_in_dim %v, %s, dims = [1] : (tensor<3xi64>, tensor<2xi64>) -> {t}"),
                     ("pad", f"%l = stablehlo.constant dense<[0, 1]> : tensor<2xi64>\n%h = stablehlo.constant dense<[1, 0]> : tensor<2xi64>\n%n = stablehlo.constant dense<0> : tensor<2xi64>\n%p = stablehlo.constant dense<9> : tensor<i64>\n%w = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>\n%y = stablehlo.dynamic_pad %w, %p, %l, %h, %n : (tensor<1x2xi64>, tensor<i64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> {t}"),
                     ("slice", f"%l = stablehlo.constant dense<[0, 1]> : tensor<2xi64>\n%h = stablehlo.constant dense<[4, 4]> : tensor<2xi64>\n%n = stablehlo.constant dense<[2, 1]> : tensor<2xi64>\n%w = stablehlo.iota dim = 0 : tensor<4x5xi64>\n%y = stablehlo.real_dynamic_slice %w, %l, %h, %n : (tensor<4x5xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> {t}"),
                     ("gather", f"%w = stablehlo.iota dim = 1 : tensor<4x5xi64>\n%k = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi64>\n%n = stablehlo.constant dense<[1, 3]> : tensor<2xi64>\n%y = \"stablehlo.dynamic_gather\"(%w, %k, %n) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}} : (tensor<4x5xi64>, tensor<2x1xi64>, tensor<2xi64>) -> {t}")]:
        add(f"dynamic_{op}_{suffix}", const("x", [6], "i64") + const("v", [3], "i64") + s + line + "\n" + end, [("%o", "tensor<2x3xi64>")])
add("dimension_size", const("x", [2, 3], "f32") + """%n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
%m = stablehlo.constant dense<2> : tensor<i32>
%q = stablehlo.multiply %n, %m : tensor<i32>
%r = stablehlo.reshape %q : (tensor<i32>) -> tensor<1xi32>
%d = stablehlo.dynamic_reshape %x, %r : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<?xf32>
%e = stablehlo.exponential %d : tensor<?xf32>
%f = stablehlo.constant dense<0.0> : tensor<f32>
%g = stablehlo.reduce(%e init: %f) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>""", [("%n", "tensor<i32>"), ("%g", "tensor<f32>")], None)
add("variadic_reduce_window", const("x", [2, 4], "i64") + const("y", [2, 4], "i64", 2) + fixed("z", 0, "tensor<i64>") + """%r:2 = "stablehlo.reduce_window"(%x, %y, %z, %z) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>, %d: tensor<i64>):
    %m = stablehlo.add %a, %c : tensor<i64>
    %n = stablehlo.maximum %b, %d : tensor<i64>
    stablehlo.return %m, %n : tensor<i64>, tensor<i64>
}) {window_dimensions = array<i64: 2, 2>} : (tensor<2x4xi64>, tensor<2x4xi64>, tensor<i64>, tensor<i64>) -> (tensor<1x3xi64>, tensor<1x3xi64>)""", [("%r#0", "tensor<1x3xi64>"), ("%r#1", "tensor<1x3xi64>")])
add("batched_gather", const("x", [2, 3, 4], "i32") + fixed("i", "[[[0], [3]], [[1], [2]]]", "tensor<2x2x1xi64>") + """%g = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 3, 1>} : (tensor<2x3x4xi32>, tensor<2x2x1xi64>) -> tensor<2x2x3xi32>""", [("%g", "tensor<2x2x3xi32>")])
for name, op, args, types in [("all_reduce", '"stablehlo.all_reduce"(%x) ({\n^bb0(%a: tensor<i64>, %b: tensor<i64>):\n%c = stablehlo.add %a, %b : tensor<i64>\nstablehlo.return %c : tensor<i64>\n}) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>}', "tensor<4xi64>", "tensor<4xi64>"),
                              ("all_gather", '"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>}', "tensor<4xi64>", "tensor<8xi64>"),
                              ("reduce_scatter", '"stablehlo.reduce_scatter"(%x) ({\n^bb0(%a: tensor<i64>, %b: tensor<i64>):\n%c = stablehlo.add %a, %b : tensor<i64>\nstablehlo.return %c : tensor<i64>\n}) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}', "tensor<4xi64>", "tensor<2xi64>"),
                              ("all_to_all", '"stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}', "tensor<4xi64>", "tensor<4xi64>"),
                              ("collective_permute", '"stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}', "tensor<4xi64>", "tensor<4xi64>"),
                              ("collective_broadcast", '"stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}', "tensor<4xi64>", "tensor<4xi64>")]:
    for grid, programs in [("replicas", "[[@side], [@side]]"), ("partitions", "[[@side, @side]]")]:
        own = op if grid == "replicas" else op.replace("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", 'replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>') if "channel_handle" not in op else op.replace("handle = 0, type = 0", "handle = 1, type = 1") + ""
        if grid == "partitions" and name in ("all_reduce", "all_gather", "reduce_scatter"):
            own = own[:-1] + ", use_global_device_ids}"
        if grid == "partitions" and name.startswith("collective_"):
            own = own[:-1] + ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}" if "channel_handle" not in own else own
        side = f"func.func @side(%x: {args}) -> {types} {{\n%r = {own} : ({args}) -> {types}\nreturn %r : {types}\n}}"
        add(f"{name}_{grid}", const("x", [4], "i64") + const("y", [4], "i64", 2) + f'%r:2 = "interpreter.run_parallel"(%x, %y) {{programs = {programs}}} : ({args}, {args}) -> ({types}, {types})', [("%r#0", types), ("%r#1", types)], functions=side)
