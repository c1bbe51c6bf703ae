"""StableHLO programs of values at the edges of their types, for stablehlo_reference_peer.py --edges: every elementwise operation on zeros,
infinities, NaN, subnormal and largest numbers, halves, and on the least and greatest integers, in pairs where it takes two."""
import itertools

from stablehlo_reference_programs import COMPLEX, FLOATS, SIGNED, SMALL, UNSIGNED, Program, bits, word

PROGRAMS = []
# What the reference interpreter computes by arithmetic of the narrow type itself, which XLA and hlokit do not: roundings of f8E3M4 (whose
# largest exponent is below its precision, so that it gives NaN), logistic as 1 / (1 + exp(-x)), where exp overflows to NaN, and infinities
# and NaN as f4E2M1FN, which has neither.
NARROW = {("f8E3M4", op) for op in ("ceil", "floor", "round_nearest_afz", "round_nearest_even")} | {(t, "logistic") for t in SMALL} | \
    {("f4E2M1FN", op) for op in ("log", "log_plus_one", "rsqrt", "divide", "power")}
# Exponent and mantissa bits of floats that are laid out as IEEE's.
LAYOUTS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def float_patterns(element):
    """Bit patterns of a float type; all of the small types."""
    if element in SMALL:
        return list(range(16 if element.startswith("f4") else 256))
    exponent, mantissa = LAYOUTS[element]
    bias, one = (1 << (exponent - 1)) - 1, 1 << mantissa
    positive = [0, 1, one - 1, one, bias * one, (bias - 1) * one, (bias - 1) * one - 1, bias * one + one // 2, bias * one + 1, (bias + 1) * one + one // 4,
                (bias + 2) * one, (bias + 5) * one + 3, (bias + mantissa) * one + 1, ((1 << exponent) - 1) * one - 1, ((1 << exponent) - 1) * one]
    sign = 1 << (exponent + mantissa)
    return positive + [sign | p for p in positive] + [((1 << exponent) - 1) * one + one // 2]


def integer_patterns(element):
    width = bits(element)
    top = 1 << (width - 1)
    return sorted({v % (1 << width) for v in (0, 1, 2, 3, 5, 7, width - 1, width, width + 1, top - 1, top, top + 1, -1, -2, -3, 100)})


def size_of(element):
    return {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}.get(element, 1 if element in SMALL or element[0] == "f" else max(bits(element) // 8, 1))


def patterns(element):
    return float_patterns(element) if element in FLOATS else integer_patterns(element)


def constant(name, values, element):
    size = size_of(element)
    data = "".join(v.to_bytes(size, "little").hex().upper() for v in values)
    return f'%{name} = stablehlo.constant dense<"0x{data}"> : tensor<{len(values)}x{element}>\n'


def add(name, body, results, ulps=0):
    values = ", ".join(v for v, _ in results)
    types = ", ".join(t for _, t in results)
    PROGRAMS.append(Program(name, f"func.func @main() -> ({types}) {{\n{body}\nreturn {values} : {types}\n}}\n", ulps))


EXACT_UNARY = {"abs": SIGNED + FLOATS, "negate": SIGNED + UNSIGNED + FLOATS, "sign": SIGNED + FLOATS, "ceil": FLOATS, "floor": FLOATS, "round_nearest_afz": FLOATS,
               "round_nearest_even": FLOATS, "not": SIGNED + UNSIGNED, "popcnt": SIGNED + UNSIGNED, "count_leading_zeros": SIGNED + UNSIGNED}
CLOSE_UNARY = ["exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "sqrt", "rsqrt", "cbrt", "sine", "cosine", "tan", "tanh"]
for op, types in list(EXACT_UNARY.items()) + [(op, FLOATS) for op in CLOSE_UNARY]:
    for kind in types:
        if (kind, op) in NARROW:
            continue
        inputs = patterns(kind)
        t = f"tensor<{len(inputs)}x{kind}>"
        add(f"edge_{op}_{word(kind)}", constant("x", inputs, kind) + f"%y = stablehlo.{op} %x : {t}", [("%y", t)], 0 if op in EXACT_UNARY else 1 if kind in SMALL else 3)

EXACT_BINARY = {"add": SIGNED + UNSIGNED + FLOATS, "subtract": SIGNED + UNSIGNED + FLOATS, "multiply": SIGNED + UNSIGNED + FLOATS, "divide": SIGNED + UNSIGNED + FLOATS,
                "remainder": SIGNED + UNSIGNED + FLOATS, "maximum": SIGNED + UNSIGNED + FLOATS, "minimum": SIGNED + UNSIGNED + FLOATS, "and": SIGNED + UNSIGNED,
                "or": SIGNED + UNSIGNED, "xor": SIGNED + UNSIGNED, "shift_left": SIGNED + UNSIGNED, "shift_right_logical": SIGNED + UNSIGNED,
                "shift_right_arithmetic": SIGNED + UNSIGNED, "power": SIGNED + UNSIGNED + FLOATS, "atan2": FLOATS}
for op, types in EXACT_BINARY.items():
    for kind in types:
        if (kind, op) in NARROW:
            continue
        some = patterns(kind)
        if kind in SMALL and len(some) > 16:
            some = some[::17] + [1, 2, 127, 128, 129, 255]
        left, right = zip(*itertools.product(some, some))
        if op in ("divide", "remainder") and kind not in FLOATS:  # by zero, and the least by -1, is the implementation's own
            top = 1 << (bits(kind) - 1)
            kept = [(a, b) for a, b in zip(left, right) if b and not (kind in SIGNED and a == top and b == 2 * top - 1)]
            left, right = zip(*kept)
        t = f"tensor<{len(left)}x{kind}>"
        ulps = 0 if op not in ("power", "atan2") or kind not in FLOATS else 1 if kind in SMALL else 3
        add(f"edge_{op}_{word(kind)}", constant("x", left, kind) + constant("y", right, kind) + f"%z = stablehlo.{op} %x, %y : {t}", [("%z", t)], ulps)
for kind in SIGNED + UNSIGNED + FLOATS:
    some = patterns(kind)
    some = some[::17] + [1, 2, 127, 128, 129, 255] if kind in SMALL and len(some) > 16 else some
    left, right = zip(*itertools.product(some, some))
    t, p = f"tensor<{len(left)}x{kind}>", f"tensor<{len(left)}xi1>"
    body = constant("x", left, kind) + constant("y", right, kind)
    for d in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        body += f"%{d} = stablehlo.compare {d}, %x, %y : ({t}, {t}) -> {p}\n"
    add(f"edge_compare_{word(kind)}", body, [(f"%{d}", p) for d in ("EQ", "NE", "LT", "LE", "GT", "GE")])
    if kind in FLOATS:
        body = constant("x", left, kind)
        add(f"edge_is_finite_{word(kind)}", body + f"%y = stablehlo.is_finite %x : ({t}) -> {p}", [("%y", p)])
        for form in () if kind in SMALL else ("e5m2", "e8m7", "e4m3", "e2m1", "e5m10"):
            add(f"edge_reduce_precision_{form}_{word(kind)}", body + f"%y = stablehlo.reduce_precision %x, format = {form} : {t}", [("%y", t)])
    for target in ["i1"] + SIGNED + UNSIGNED + FLOATS + COMPLEX:
        inputs = patterns(kind)
        if target == "f4E2M1FN" and kind in FLOATS and kind != target:
            continue
        t, to = f"tensor<{len(inputs)}x{kind}>", f"tensor<{len(inputs)}x{target}>"
        body = constant("x", inputs, kind) + f"%y = stablehlo.convert %x : ({t}) -> {to}\n"
        if target in COMPLEX:
            part = f"tensor<{len(inputs)}x{target[8:-1]}>"
            add(f"edge_convert_{word(kind)}_{word(target)}", body + f"%r = stablehlo.real %y : ({to}) -> {part}\n%i = stablehlo.imag %y : ({to}) -> {part}", [("%r", part), ("%i", part)])
        else:
            add(f"edge_convert_{word(kind)}_{target.lower()}", body, [("%y", to)])
