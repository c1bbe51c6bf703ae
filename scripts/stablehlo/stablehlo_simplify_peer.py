#!/usr/bin/env python3
"""Holds what the conversion from StableHLO simplifies to XLA's own conversion. Skipped (77) where jax is missing.

  stablehlo_simplify_peer.py --bin DIR [--show] [NAME...]

Some 600 small programs, each a form that XLA folds or leaves alone: every operation on constants of each type, operations with 0, 1,
all bits and equal operands, chains of movements. hlo-diff, blind to names, says whether both conversions make the same of it. Prints
the forms that differ (--show: both results) and their number; those that docs/differences.md names are expected. Exit status 1 where
others differ.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# An i1 sum is computed in one bit by MLIR's folder, and 1 / (1 + exp(-x)) in steps that round; it keeps a conversion of the real part to
# its own type; gathers at constants and sorts of which a result is unused are left as they are here.
EXPECTED = {"fold add i1", "fold logistic f64", "fold convert complex<f32> f32", "gather at constants", "sort with an unused result"}
FLOATS = {"f32": "[0.5, 2.0, -3.0]", "f64": "[0.5, 2.0, -3.0]", "bf16": "[0.5, 2.0, -3.0]", "f16": "[0.5, 2.0, -3.0]"}
INTEGERS = {"i32": "[5, -2, 3]", "i8": "[5, -2, 3]", "i64": "[5, -2, 3]", "ui32": "[5, 2, 3]", "ui8": "[5, 2, 3]"}
OTHERS = {"i1": "[true, false, true]", "complex<f32>": "[(1., 2.), (3., 4.), (0., -1.)]"}
SECOND = {"f": "[1.5, -2.0, 4.0]", "i": "[2, 3, -1]", "u": "[2, 3, 1]", "1": "[true, true, false]", "c": "[(2., 0.), (1., 1.), (0., 3.)]"}
NUMBERS = {"f": ("0.0", "1.0"), "i": ("0", "1", "-1"), "u": ("0", "1", "0xFF"), "1": ("false", "true"), "c": ("(0., 0.)", "(1., 0.)")}
UNARY = {
    "f": "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate round_nearest_afz "
         "round_nearest_even rsqrt sign sine sqrt tan tanh",
    "i": "abs negate sign not popcnt count_leading_zeros", "u": "not popcnt count_leading_zeros", "1": "not", "c": "abs negate exponential"}
BINARY = {
    "f": "add subtract multiply divide maximum minimum power remainder atan2",
    "i": "add subtract multiply divide maximum minimum power remainder and or xor shift_left shift_right_arithmetic shift_right_logical",
    "1": "add multiply maximum minimum and or xor", "c": "add subtract multiply divide"}
BINARY["u"] = BINARY["i"]


def kind(element):
    return "1" if element == "i1" else element[0] if element[0] != "b" else "f"


def const(name, value, of):
    return f"%{name} = stablehlo.constant dense<{value}> : {of}"


def elementwise():
    """Name, lines that make %r of %b : tensor<3xi32> and %f : tensor<3xf32>, type of %r."""
    for element, value in {**FLOATS, **INTEGERS, **OTHERS}.items():
        of, k = f"tensor<3x{element}>", kind(element)
        bare = f"tensor<3x{element[8:-1]}>" if k == "c" else of
        given = {"c": f"%a = stablehlo.complex %f, %f : {of}"}.get(k, f"%a = stablehlo.convert %b : (tensor<3xi32>) -> {of}")
        for op in UNARY[k].split():
            result = bare if op == "abs" else of
            form = of if result == of else f"({of}) -> {result}"
            yield f"fold {op} {element}", [const("x", value, of), f"%r = stablehlo.{op} %x : {form}"], result
            yield f"{op} twice {element}", [given, f"%n = stablehlo.{op} %a : {form}",
                                            f"%r = stablehlo.{op} %n : {result}"], result
        for op in BINARY[k].split():
            yield f"fold {op} {element}", [const("x", value, of), const("y", SECOND[k], of), f"%r = stablehlo.{op} %x, %y : {of}"], of
            yield f"{op} of equal operands {element}", [given, f"%r = stablehlo.{op} %a, %a : {of}"], of
            for number in NUMBERS[k]:
                for operands in ("%a, %z", "%z, %a"):
                    yield f"{op} {operands} {number} {element}", [given, const("z", number, of), f"%r = stablehlo.{op} {operands} : {of}"], of
        for direction in "EQ NE GE GT LE LT".split() if k != "c" else ["EQ", "NE"]:
            yield f"fold compare {direction} {element}", [const("x", value, of), const("y", SECOND[k], of),
                                                          f"%r = stablehlo.compare {direction}, %x, %y : ({of}, {of}) -> tensor<3xi1>"], "tensor<3xi1>"
        yield f"fold select {element}", [const("p", OTHERS["i1"], "tensor<3xi1>"), const("x", value, of), const("y", SECOND[k], of),
                                         f"%r = stablehlo.select %p, %x, %y : tensor<3xi1>, {of}"], of
        for other in {**FLOATS, **INTEGERS, **OTHERS}:
            to = f"tensor<3x{other}>"
            yield f"fold convert {element} {other}", [const("x", value, of), f"%r = stablehlo.convert %x : ({of}) -> {to}"], to


F, I, P, M = "tensor<3xf32>", "tensor<3xi32>", "tensor<3xi1>", "tensor<2x3xi32>"
DATA = [const("x", "[[1, 2, 3], [4, 5, 6]]", M)]
JOIN = f"%j = stablehlo.concatenate %b, %b, dim = 0 : ({I}, {I}) -> tensor<6xi32>"
WIDE = f"%m = stablehlo.broadcast_in_dim %b, dims = [1] : ({I}) -> {M}"
ONE, TWO = "tensor<1xi32>", "tensor<2xi32>"


def movements():
    yield "fold reshape", DATA + [f"%r = stablehlo.reshape %x : ({M}) -> tensor<6xi32>"], "tensor<6xi32>"
    yield "fold transpose", DATA + [f"%r = stablehlo.transpose %x, dims = [1, 0] : ({M}) -> tensor<3x2xi32>"], "tensor<3x2xi32>"
    yield "fold slice", DATA + [f"%r = stablehlo.slice %x [0:1, 0:3:2] : ({M}) -> tensor<1x2xi32>"], "tensor<1x2xi32>"
    yield "fold concatenate", DATA + [f"%r = stablehlo.concatenate %x, %x, dim = 0 : ({M}, {M}) -> tensor<4x3xi32>"], "tensor<4x3xi32>"
    yield "fold reverse", DATA + [f"%r = stablehlo.reverse %x, dims = [1] : {M}"], M
    yield "fold pad", DATA + [const("z", "7", "tensor<i32>"), f"%r = stablehlo.pad %x, %z, low = [1, 0], high = [0, 2], interior = [0, 1] : ({M}, tensor<i32>) -> tensor<3x7xi32>"], "tensor<3x7xi32>"
    yield "fold dynamic_slice", DATA + [const("s", "1", "tensor<i32>"), f"%r = stablehlo.dynamic_slice %x, %s, %s, sizes = [1, 2] : ({M}, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>"], "tensor<1x2xi32>"
    yield "fold broadcast in another order", DATA + [f"%r = stablehlo.broadcast_in_dim %x, dims = [1, 0] : ({M}) -> tensor<3x2xi32>"], "tensor<3x2xi32>"
    for element, value in OTHERS.items():
        of = f"tensor<3x{element}>"
        yield f"fold reverse {element}", [const("x", value, of), f"%r = stablehlo.reverse %x, dims = [0] : {of}"], of
        yield f"fold reshape {element}", [const("x", value, of), f"%r = stablehlo.reshape %x : ({of}) -> tensor<1x3x{element}>"], f"tensor<1x3x{element}>"
        yield f"fold slice {element}", [const("x", value, of), f"%r = stablehlo.slice %x [1:3] : ({of}) -> tensor<2x{element}>"], f"tensor<2x{element}>"
        yield f"fold concatenate {element}", [const("x", value, of), f"%r = stablehlo.concatenate %x, %x, dim = 0 : ({of}, {of}) -> tensor<6x{element}>"], f"tensor<6x{element}>"
        yield f"fold transpose {element}", [const("x", value, of), f"%y = stablehlo.concatenate %x, %x, dim = 0 : ({of}, {of}) -> tensor<6x{element}>", f"%z = stablehlo.reshape %y : (tensor<6x{element}>) -> tensor<2x3x{element}>", f"%r = stablehlo.transpose %z, dims = [1, 0] : (tensor<2x3x{element}>) -> tensor<3x2x{element}>"], f"tensor<3x2x{element}>"
    yield "broadcast in another order", [WIDE, f"%r = stablehlo.broadcast_in_dim %m, dims = [1, 0] : ({M}) -> tensor<3x2xi32>"], "tensor<3x2xi32>"
    yield "broadcast in another order and wider", [WIDE, f"%r = stablehlo.broadcast_in_dim %m, dims = [1, 0] : ({M}) -> tensor<3x2x4xi32>"], "tensor<3x2x4xi32>"
    yield "broadcast of a broadcast", [WIDE, f"%r = stablehlo.broadcast_in_dim %m, dims = [1, 2] : ({M}) -> tensor<4x2x3xi32>"], "tensor<4x2x3xi32>"
    yield "size of a dimension", [f"%r = stablehlo.get_dimension_size %b, dim = 0 : ({I}) -> tensor<i32>"], "tensor<i32>"
    yield "element of a tuple", [f"%t = stablehlo.tuple %b, %f : tuple<{I}, {F}>", f"%r = stablehlo.get_tuple_element %t[1] : (tuple<{I}, {F}>) -> {F}"], F
    yield "real of complex", [f"%n = stablehlo.complex %f, %f : tensor<3xcomplex<f32>>", f"%r = stablehlo.real %n : (tensor<3xcomplex<f32>>) -> {F}"], F
    yield "slice of concatenate", [JOIN, f"%r = stablehlo.slice %j [3:6] : (tensor<6xi32>) -> {I}"], I
    yield "slice across concatenate", [JOIN, f"%r = stablehlo.slice %j [2:5] : (tensor<6xi32>) -> {I}"], I
    yield "concatenate of one twice", [JOIN, "%r = stablehlo.concatenate %j, %j, dim = 0 : (tensor<6xi32>, tensor<6xi32>) -> tensor<12xi32>"], "tensor<12xi32>"
    yield "concatenate of concatenates", [JOIN, f"%r = stablehlo.concatenate %j, %b, dim = 0 : (tensor<6xi32>, {I}) -> tensor<9xi32>"], "tensor<9xi32>"
    yield "update of all", [const("s", "0", "tensor<i32>"), f"%r = stablehlo.dynamic_update_slice %b, %b, %s : ({I}, {I}, tensor<i32>) -> {I}"], I
    yield "update of a part", [const("s", "1", "tensor<i32>"), const("u", "[7, 8]", TWO), f"%r = stablehlo.dynamic_update_slice %b, %u, %s : ({I}, {TWO}, tensor<i32>) -> {I}"], I
    yield "reshapes and transposes of ones", [f"%m = stablehlo.reshape %b : ({I}) -> tensor<3x1xi32>", "%n = stablehlo.transpose %m, dims = [1, 0] : (tensor<3x1xi32>) -> tensor<1x3xi32>", f"%r = stablehlo.reshape %n : (tensor<1x3xi32>) -> {I}"], I
    yield "reverse of ones", [f"%n = stablehlo.reshape %b : ({I}) -> tensor<1x3xi32>", "%r = stablehlo.reverse %n, dims = [0] : tensor<1x3xi32>"], "tensor<1x3xi32>"
    yield "select of equal operands", [f"%p = stablehlo.compare LT, %b, %b : ({I}, {I}) -> {P}", f"%r = stablehlo.select %p, %b, %b : {P}, {I}"], I
    yield "select by a negation", [f"%p = stablehlo.compare LT, %b, %b : ({I}, {I}) -> {P}", f"%q = stablehlo.not %p : {P}", const("x", "5", I), f"%r = stablehlo.select %q, %b, %x : {P}, {I}"], I
    yield "reduce of no dimensions", [const("z", "0", "tensor<i32>"), f"%r = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [] : ({I}, tensor<i32>) -> {I}"], I
    yield "case of a constant", [const("i", "1", "tensor<i32>"), f'%r = "stablehlo.case"(%i) ({{ stablehlo.return %b : {I} }}, {{ %d = stablehlo.add %b, %b : {I}  stablehlo.return %d : {I} }}) : (tensor<i32>) -> {I}'], I
    yield "if of a constant", [const("i", "true", "tensor<i1>"), f'%r = "stablehlo.if"(%i) ({{ stablehlo.return %b : {I} }}, {{ %d = stablehlo.add %b, %b : {I}  stablehlo.return %d : {I} }}) : (tensor<i1>) -> {I}'], I
    yield "iota of one", [f"%r = stablehlo.iota dim = 0 : {ONE}"], ONE
    yield "equal arrays", [const("x", "[1, 2, 3]", I), const("y", "[1, 2, 3]", I), f"%s = stablehlo.add %b, %x : {I}", f"%r = stablehlo.multiply %s, %y : {I}"], I
    yield "array of equal elements", [const("x", "[4, 4, 4]", I), f"%r = stablehlo.add %b, %x : {I}"], I
    yield "gather at constants", [const("s", "1", ONE), f'%r = "stablehlo.gather"(%b, %s) <{{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 2>, indices_are_sorted = true}}> : ({I}, {ONE}) -> {TWO}'], TWO
    yield "sort with an unused result", [f'%q:2 = "stablehlo.sort"(%b, %f) <{{dimension = 0 : i64, is_stable = true}}> ({{ ^bb0(%p: tensor<i32>, %s: tensor<i32>, %t: tensor<f32>, %u: tensor<f32>): %c = stablehlo.compare LT, %p, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>  stablehlo.return %c : tensor<i1> }}) : ({I}, {F}) -> ({I}, {F})', f"%r = stablehlo.add %q#0, %q#0 : {I}"], I


def converted(text):
    with mlir.make_ir_context():
        code = mlir.module_to_bytecode(ir.Module.parse(text))
        return _jax.mlir.mlir_module_to_xla_computation(code).as_hlo_text(print_large_constants=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("names", nargs="*", help="parts of names of forms")
    args = parser.parse_args()
    compared, refused, differ = 0, 0, []
    with tempfile.TemporaryDirectory() as scratch:
        ours, theirs = pathlib.Path(scratch) / "ours.mlir", pathlib.Path(scratch) / "xla.hlo"
        for name, lines, result in [*elementwise(), *movements()]:
            if args.names and not any(part in name for part in args.names):
                continue
            text = f"func.func @main(%b: {I}, %f: {F}) -> {result} {{\n  " + "\n  ".join(lines) + f"\n  return %r : {result}\n}}\n"
            try:
                theirs.write_text(converted(text))
            except Exception:  # jaxlib refuses operations on some types
                refused += 1
                continue
            ours.write_text(text)
            compared += 1
            if subprocess.run([args.bin / "hlo-diff", ours, theirs], capture_output=True, check=False).returncode == 0:
                continue
            differ.append(name)
            print(f"{name}{' (expected)' if name in EXPECTED else ''}", flush=True)
            if args.show:
                print(theirs.read_text(), subprocess.run([args.bin / "hlo-opt", ours], capture_output=True, text=True, check=False).stdout)
    print(f"{compared} forms, {len(differ)} differ; {refused} that jaxlib refuses")
    return 1 if set(differ) - EXPECTED else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
