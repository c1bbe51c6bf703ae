# SPDX-License-Identifier: Apache-2.0
"""Random single operations with all of their attributes, and inputs for them: what `operations_peer.py rare` compares.

`rare(seed)` gives a valid operation whose attributes take all values that they may (negative padding, base dilation, batching
dimensions, comparators over several keys, ...). `hints` say of each operand what its values must be:

  bits    any bit pattern: NaN, infinities, subnormals, signs of zeros
  special zeros, ones, infinities, NaN, huge and tiny numbers, in all pairs that fit
  small   numbers between -4 and 4, so that sums and products stay smooth
  distinct  whole numbers, each another as far as the type has as many
  least, greatest  the type's least or greatest number, infinities included
  LOW:HIGH integers of that range, within the type's
  definite, triangle  matrices that can be factored or solved with
"""
import dataclasses
import re

import ml_dtypes
import numpy

import random_operations
from random_operations import braces

REAL = "f32 f64 f16 bf16".split()
EIGHTS = "f8e5m2 f8e4m3fn f8e4m3 f8e3m4 f8e4m3b11fnuz f8e4m3fnuz f8e5m2fnuz".split()
INTEGERS = "s8 s16 s32 s64 u8 u16 u32 u64 s4 u4".split()
WIDTHS = {"u8": 8, "s8": 8, "u16": 16, "f16": 16, "bf16": 16, "u32": 32, "s32": 32, "f32": 32, "f64": 64, "u64": 64, "s4": 4, "u4": 4,
          "f8e5m2": 8, "f8e4m3fn": 8, "s64": 64, "s16": 16}
UNARY = ("cosine sine tan tanh exponential log log-plus-one exponential-minus-one sqrt rsqrt cbrt logistic erf acos asin atanh "
         "cosh sinh acosh asinh sign abs negate floor ceil round-nearest-afz round-nearest-even real imag is-finite").split()
COMPLEX_UNARY = ("cosine sine tan tanh exponential log log-plus-one exponential-minus-one sqrt rsqrt logistic acos asin atanh "
                 "cosh sinh acosh asinh sign abs negate real imag").split()


@dataclasses.dataclass
class Rare(random_operations.Operation):
    """`result` where it cannot be inferred; `exact` where no rounding is free; how many arrays `outputs` it gives as a tuple."""
    hints: list = dataclasses.field(default_factory=list)
    exact: bool = True
    result: str = ""
    outputs: int = 1


def module(operations):
    """One module of all of them: its text; their results, one after the other, are the module's."""
    called, parameters, body, results = [], [], [], []
    for k, made in enumerate(operations):
        called.append(re.sub(r"^([fg]) \{", rf"\g<1>{k} {{", made.called, flags=re.M))
        names = [f"p{len(parameters) + i}" for i in range(len(made.operands))]
        parameters += [f"  {name} = {shape} parameter({len(parameters) + i})\n" for i, (name, shape) in enumerate(zip(names, made.operands))]
        attributes = re.sub(r"(to_apply|select|scatter)=([fg])", rf"\1=\g<2>{k}", made.attributes)
        body.append(f"  r{k} = {made.result} {made.opcode}({', '.join(names)}){attributes}\n")
        own = [f"r{k}_{i}" for i in range(made.outputs)] if made.outputs > 1 else [f"r{k}"]
        body += [f"  {name} = get-tuple-element(r{k}), index={i}\n" for i, name in enumerate(own) if made.outputs > 1]
        results += own
    return f"HloModule m\n\n{''.join(called)}\nENTRY e {{\n{''.join(parameters + body)}  ROOT result = tuple({', '.join(results)})\n}}\n"


def rare(seed):
    maker = Maker(seed, True)
    return getattr(maker, "rare_" + maker.random.choice(KINDS))()


def folding(element_type, opcode, name="f"):
    return random_operations.combiner(element_type).replace(" add(", f" {opcode}(").replace(" or(", f" {opcode}(").replace("f {", name + " {")


class Maker(random_operations.Maker):
    def positive(self, low=1, high=3):
        return [self.random.choice([1, 2, 3, 4, 5, 7, 9]) for _ in range(self.number(low, high))]

    def any_type(self):
        return self.random.choice(REAL * 2 + EIGHTS + INTEGERS + ["c64", "c128", "pred"])

    def moved_type(self):
        """Of what is moved alone: those too that hardly any arithmetic takes."""
        return self.random.choice(REAL + EIGHTS + INTEGERS + ["c64", "c128", "pred", "s2", "u2", "f4e2m1fn", "f8e8m0fnu"])

    def fold(self, element_type):
        """An opcode that reduces elements of a type, and whether it rounds."""
        if element_type == "pred":
            return self.random.choice(["and", "or", "xor"]), False
        if element_type[0] in "su":
            return self.random.choice(["add", "multiply", "minimum", "maximum", "and", "or", "xor"]), False
        opcode = self.random.choice(["add", "multiply"] + ([] if element_type[0] == "c" else ["minimum", "maximum"]))
        return opcode, opcode in ("add", "multiply")

    def rare_pad(self):
        dims, element_type = self.positive(), self.moved_type()
        parts = []
        for d in dims:
            interior = self.random.choice([0, 0, 1, 2])
            whole = d + (d - 1) * interior
            low = self.number(-min(2, whole), 3)
            parts.append(f"{low}_{self.number(-min(3, max(0, whole + low)), 3)}_{interior}")
        return Rare("pad", [self.shape(element_type, dims), f"{element_type}[]"], ", padding=" + "x".join(parts), hints=["bits", "bits"])

    def index_type(self):
        return self.random.choice("s32 s32 s64 u32 u8 s8 u64 s16".split())

    def rare_dynamic_slice(self):
        dims, index = self.positive(), self.index_type()
        sizes = [self.number(1, d) for d in dims]
        return Rare("dynamic-slice", [self.shape(self.moved_type(), dims)] + [f"{index}[]"] * len(dims),
                    f", dynamic_slice_sizes={braces(sizes)}", hints=["bits"] + [self.reach()] * len(dims))

    def reach(self):
        return self.random.choice(["-3:9", "-3:9", f"{-2**31}:{2**31}", f"{-2**62}:{2**62}", "bits"])

    def rare_dynamic_update_slice(self):
        dims, index, element_type = self.positive(), self.index_type(), self.moved_type()
        update = [self.number(1, d) for d in dims]
        return Rare("dynamic-update-slice", [self.shape(element_type, dims), self.shape(element_type, update)] + [f"{index}[]"] * len(dims),
                    hints=["bits", "bits"] + [self.reach()] * len(dims))

    def indexing(self, dims):
        """Of a gather or scatter on `dims`: (batching, collapsed, indexed dimensions, index array's sizes, its vector dimension,
        its batching dimensions)."""
        order = list(range(len(dims)))
        self.random.shuffle(order)
        batching = sorted(order[:self.random.choice([0, 0, 1, 1, 2])][:len(dims) - 1])
        free = [d for d in range(len(dims)) if d not in batching]
        collapsed = [d for d in free if self.chance(.4)]
        indexed = self.random.sample(free, self.number(0, len(free)))
        others = self.positive(0, 2)
        batch = [dims[d] for d in batching] + others
        places = list(range(len(batch)))
        self.random.shuffle(places)
        index_dims = [batch[p] for p in places]
        index_batching = [places.index(i) for i in range(len(batching))]
        vector = self.number(0, len(index_dims))
        if len(indexed) == 1 and self.chance(.3):
            vector = len(index_dims)
            return batching, collapsed, indexed, index_dims, vector, index_batching
        index_dims.insert(vector, len(indexed))
        return batching, collapsed, indexed, index_dims, vector, [d + (d >= vector) for d in index_batching]

    def rare_gather(self):
        dims = self.positive()
        batching, collapsed, indexed, index_dims, vector, index_batching = self.indexing(dims)
        sizes = [1 if d in batching or d in collapsed else self.number(1, size) for d, size in enumerate(dims)]
        offsets = len(dims) - len(batching) - len(collapsed)
        rank = len(index_dims) - (vector < len(index_dims)) + offsets
        attributes = (f", offset_dims={braces(sorted(self.random.sample(range(rank), offsets)))}, collapsed_slice_dims={braces(collapsed)}, "
                      f"start_index_map={braces(indexed)}")
        if batching:
            attributes += f", operand_batching_dims={braces(batching)}, start_indices_batching_dims={braces(index_batching)}"
        return Rare("gather", [self.shape(self.moved_type(), dims), self.shape(self.index_type(), index_dims)],
                    attributes + f", index_vector_dim={vector}, slice_sizes={braces(sizes)}", hints=["bits", self.reach()])

    def rare_scatter(self):
        dims, count = self.positive(), self.random.choice([1, 1, 1, 2])
        types = [self.any_type() for _ in range(count)]
        batching, inserted, indexed, index_dims, vector, index_batching = self.indexing(dims)
        while not indexed:  # XLA then does one of the updates alone
            batching, inserted, indexed, index_dims, vector, index_batching = self.indexing(dims)
        window = [self.number(1, size) for d, size in enumerate(dims) if d not in batching and d not in inserted]
        batch = [size for d, size in enumerate(index_dims) if d != vector]
        rank = len(window) + len(batch)
        window_dims = sorted(self.random.sample(range(rank), len(window)))
        sizes, left, right = [], iter(window), iter(batch)
        for d in range(rank):
            sizes.append(next(left) if d in window_dims else next(right))
        attributes = (f", update_window_dims={braces(window_dims)}, inserted_window_dims={braces(inserted)}, "
                      f"scatter_dims_to_operand_dims={braces(indexed)}")
        if batching:
            attributes += f", input_batching_dims={braces(batching)}, scatter_indices_batching_dims={braces(index_batching)}"
        folds = [self.random.choice([("copy", False), self.fold(t)]) for t in types]
        called, rounds = self.several(types, [f[0] for f in folds], True), any(f[1] for f in folds)
        operands = [self.shape(t, dims) for t in types] + [self.shape(self.index_type(), index_dims)]
        return Rare("scatter", operands + [self.shape(t, sizes) for t in types],
                    attributes + f", index_vector_dim={vector}, to_apply=f", called,
                    ["small" if rounds else "bits"] * count + [self.reach()] + ["small" if rounds else "bits"] * count, not rounds, outputs=count)

    def several(self, types, opcodes, ordered=False):
        """A computation f that folds each pair of its scalars by an opcode of its own; `copy` takes the second."""
        count = len(types)
        lines = [f"  a{i} = {types[i % count]}[] parameter({i})" for i in range(2 * count)]
        results = []
        for i, opcode in enumerate(opcodes):
            given = f"a{i + count}" if opcode == "copy" else f"a{i}, a{i + count}"
            results.append(f"r{i} = {types[i]}[] {opcode}({given})")
        if count == 1:
            return "f {\n" + "\n".join(lines) + f"\n  ROOT {results[0]}\n}}\n"
        shape = "(" + ", ".join(f"{t}[]" for t in types) + ")"
        names = ", ".join(f"r{i}" for i in range(count))
        return "f {\n" + "\n".join(lines + ["  " + r for r in results]) + f"\n  ROOT r = {shape} tuple({names})\n}}\n"

    def folded(self, folds):
        """Hints of arrays and initial values; XLA may count a value that changes something once a block of what it sums."""
        neutral = {"add": "0:1", "xor": "0:1", "multiply": "1:2"}
        return ["small" if rounds else "bits" for _, rounds in folds] + [neutral.get(opcode, "bits") for opcode, _ in folds]

    def rare_reduce(self):
        """Of two elements a dimension at least: XLA drops initial values where there is but one."""
        dims = self.random.choice([[d + 1 for d in self.positive()], [self.number(30, 70), self.number(2, 9)], [self.number(2, 5), 65]])
        count = self.number(1, 3)
        types = [self.any_type() for _ in range(count)]
        folds = [self.fold(t) for t in types]
        which = sorted(self.random.sample(range(len(dims)), self.number(1, len(dims))))
        return Rare("reduce", [self.shape(t, dims) for t in types] + [f"{t}[]" for t in types],
                    f", dimensions={braces(which)}, to_apply=f", self.several(types, [f[0] for f in folds]), self.folded(folds),
                    not any(f[1] for f in folds), outputs=count)

    def rare_argument(self):
        """The place of the greatest or least element, as JAX writes it."""
        dims, t, index = self.positive(), self.random.choice(REAL + INTEGERS), self.random.choice(["s32", "s64", "u8"])
        direction = self.random.choice(["GT", "LT"])
        which = sorted(self.random.sample(range(len(dims)), self.number(1, len(dims))))
        called = (f"f {{\n  a0 = {t}[] parameter(0)\n  a1 = {index}[] parameter(1)\n  a2 = {t}[] parameter(2)\n  a3 = {index}[] parameter(3)\n"
                  f"  b = pred[] compare(a0, a2), direction={direction}\n  n = pred[] compare(a0, a0), direction=NE\n  o = pred[] or(b, n)\n"
                  f"  v = {t}[] select(o, a0, a2)\n  q = pred[] compare(a0, a2), direction=EQ\n  l = pred[] compare(a1, a3), direction=LT\n"
                  f"  x = pred[] and(q, l)\n  y = pred[] or(o, x)\n  i = {index}[] select(y, a1, a3)\n"
                  f"  ROOT r = ({t}[], {index}[]) tuple(v, i)\n}}\n")
        return Rare("reduce", [self.shape(t, dims), self.shape(index, dims), f"{t}[]", f"{index}[]"],
                    f", dimensions={braces(which)}, to_apply=f", called, ["small", "0:9", "least" if direction == "GT" else "greatest", "0:1"], outputs=2)

    def rare_window(self, rank, sizes=None, dilate=True, reversal=False):
        sizes = sizes or [self.number(1, 3) for _ in range(rank)]
        text = "size=" + "x".join(map(str, sizes)) + " stride=" + self.by_dimension(rank, lambda: self.number(1, 3))
        text += " pad=" + self.by_dimension(rank, lambda: f"{self.number(-1, 3)}_{self.number(-1, 3)}")
        if dilate and self.chance(.5):
            text += " lhs_dilate=" + self.by_dimension(rank, lambda: self.number(1, 3))
        if self.chance(.5):
            text += " rhs_dilate=" + self.by_dimension(rank, lambda: self.number(1, 3))
        if reversal and self.chance(.4):
            text += " rhs_reversal=" + self.by_dimension(rank, lambda: self.number(0, 1))
        return f", window={{{text}}}"

    def rare_reduce_window(self):
        dims, count = [d + 3 for d in self.positive()], self.random.choice([1, 1, 2])
        types = [self.any_type() for _ in range(count)]
        folds = [self.fold(t) for t in types]
        return Rare("reduce-window", [self.shape(t, dims) for t in types] + [f"{t}[]" for t in types],
                    self.rare_window(len(dims)) + ", to_apply=f", self.several(types, [f[0] for f in folds]), self.folded(folds),
                    not any(f[1] for f in folds), outputs=count)

    def rare_select_and_scatter(self):
        dims, t = [d + 2 for d in self.positive()], self.random.choice(REAL + ["s32", "u64"])
        sizes, strides = [self.number(1, 3) for _ in dims], [self.number(1, 3) for _ in dims]
        pads = [(self.number(0, k - 1), self.number(0, k - 1)) for k in sizes]
        counts = [(d + low + high - k) // s + 1 for d, k, s, (low, high) in zip(dims, sizes, strides, pads)]
        window = (f"{{size={'x'.join(map(str, sizes))} stride={'x'.join(map(str, strides))} "
                  f"pad={'x'.join(f'{low}_{high}' for low, high in pads)}}}")
        opcode, rounds = self.fold(t)
        select = random_operations.comparison(t, self.random.choice(["GE", "LE", "GT", "LT"]), name="g")
        return Rare("select-and-scatter", [self.shape(t, dims), self.shape(t, counts), f"{t}[]"],
                    f", window={window}, select=g, scatter=f", select + folding(t, opcode), ["distinct", "small", "small"], not rounds)

    def rare_convolution(self):
        n, t = self.number(1, 2), self.random.choice(REAL * 2 + ["s32", "s8", "c64", "f8e4m3fn", "f8e5m2", "u8"])
        groups = self.random.choice([1, 1, 2, 3])
        batch_groups = self.random.choice([1, 2, 3]) if groups == 1 else 1
        inputs, outputs = self.number(1, 3) * groups, self.number(1, 3) * groups * batch_groups
        batch, sizes = self.number(1, 3) * batch_groups, [self.number(1, 4) for _ in range(n)]
        orders = [self.random.sample(range(n + 2), n + 2) for _ in range(3)]
        spatial = [str(i) for i in range(n)]

        def placed(order, values):
            result = [None] * (n + 2)
            for value, position in zip(values, order):
                result[position] = value
            return result

        labels = ["".join(placed(order, names + spatial)) for order, names in zip(orders, (["b", "f"], ["i", "o"], ["b", "f"]))]
        operand = placed(orders[0], [batch, inputs] + [self.number(4, 9) for _ in range(n)])
        kernel = placed(orders[1], [inputs // groups, outputs] + sizes)
        attributes = self.rare_window(n, sizes, reversal=True) + f", dim_labels={labels[0]}_{labels[1]}->{labels[2]}"
        attributes += f", feature_group_count={groups}" if groups > 1 else f", batch_group_count={batch_groups}" if batch_groups > 1 else ""
        return Rare("convolution", [self.shape(t, operand), self.shape(t, kernel)], attributes, hints=["small", "small"], exact=t[0] in "su")

    def rare_dot(self):
        batch, contracted, left, right = [self.positive(0, k) for k in (2, 2, 2, 2)]
        t = self.random.choice(REAL * 2 + INTEGERS + EIGHTS + ["c64", "c128", "pred"])
        other = self.random.choice(INTEGERS) if t in INTEGERS and self.chance(.3) else t

        def operand(own):
            parts = [("b", i, d) for i, d in enumerate(batch)] + [("c", i, d) for i, d in enumerate(contracted)] + [("o", i, d) for i, d in enumerate(own)]
            self.random.shuffle(parts)
            where = {(kind, i): place for place, (kind, i, _) in enumerate(parts)}
            return ([d for _, _, d in parts], [where["b", i] for i in range(len(batch))], [where["c", i] for i in range(len(contracted))])

        a, b = operand(left), operand(right)
        attributes = f", lhs_contracting_dims={braces(a[2])}, rhs_contracting_dims={braces(b[2])}"
        if batch:
            attributes += f", lhs_batch_dims={braces(a[1])}, rhs_batch_dims={braces(b[1])}"
        result = t if other == t else ""
        wider = {"s8": "s32", "u8": "u32", "bf16": "f32", "f16": "f32", "f8e4m3fn": "f32", "s4": "s8", "s16": "s32"}
        if result and t in wider and self.chance(.4):
            result = wider[t]
        dims = batch + [d for d in left] + [d for d in right]
        free = lambda x, own: [x[0][i] for i in range(len(x[0])) if i not in x[1] + x[2]]
        dims = batch + free(a, left) + free(b, right)
        return Rare("dot", [self.shape(t, a[0]), self.shape(other, b[0])], attributes, hints=["small", "small"], exact=t[0] in "sup",
                    result=f"{result}[{','.join(map(str, dims))}]" if result else "")

    def rare_sort(self):
        dims, count = self.random.choice([self.positive(), [self.number(2, 6), self.number(10, 70)]]), self.number(1, 3)
        types = [self.random.choice(REAL + INTEGERS + ["f8e4m3fn", "pred"]) for _ in range(count)]
        keys = self.number(1, count)
        lines = [f"  b{i} = {types[i // 2]}[] parameter({i})" for i in range(2 * count)]
        before, last = None, None
        for k in range(keys):
            kind = ", type=TOTALORDER" if types[k][0] in "fb" else ""
            lines.append(f"  o{k} = pred[] compare(b{2 * k}, b{2 * k + 1}), direction={self.random.choice(['LT', 'GT'])}{kind}")
            if last is None:
                last, before = f"o{k}", f"e{k}"
            else:
                lines += [f"  n{k} = pred[] and({before}, o{k})", f"  l{k} = pred[] or({last}, n{k})"]
                last = f"l{k}"
            lines.append(f"  e{k}{'x' if k else ''} = pred[] compare(b{2 * k}, b{2 * k + 1}), direction=EQ{kind}")
            if k:
                lines.append(f"  e{k} = pred[] and({before}, e{k}x)")
                before = f"e{k}"
        lines.append(f"  ROOT r = pred[] copy({last})")
        stable = ", is_stable=true" if keys < count or self.chance(.5) else ""
        return Rare("sort", [self.shape(t, dims) for t in types], f", dimensions={{{self.random.randrange(len(dims))}}}{stable}, to_apply=f",
                    "f {\n" + "\n".join(lines) + "\n}\n", [self.random.choice(["bits", "small"]) for _ in types], outputs=count)

    def rare_cholesky(self):
        n, t = self.number(1, 9), self.random.choice(["f32", "f64", "c64", "c128"])
        return Rare("cholesky", [self.shape(t, self.positive(0, 1) + [n, n])], f", lower={self.random.choice(['true', 'false'])}",
                    hints=["definite"], exact=False)

    def rare_triangular_solve(self):
        n, m, t, left = self.number(1, 9), self.number(1, 5), self.random.choice(["f32", "f64", "c64", "c128"]), self.chance(.5)
        batch = self.positive(0, 1)
        flag = lambda: self.random.choice(["true", "false"])
        return Rare("triangular-solve", [self.shape(t, batch + [n, n]), self.shape(t, batch + ([n, m] if left else [m, n]))],
                    f", left_side={str(left).lower()}, lower={flag()}, unit_diagonal={flag()}, "
                    f"transpose_a={self.random.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}", hints=["triangle", "small"], exact=False)

    def rare_fft(self):
        kind, rank = self.random.choice(["FFT", "IFFT", "RFFT", "IRFFT"]), self.number(1, 3)
        lengths = [self.random.choice([1, 2, 3, 4, 5, 7, 8, 11, 13, 15, 16, 17]) for _ in range(rank)]
        wide = self.chance(.4)
        real, whole = ("f64", "c128") if wide else ("f32", "c64")
        given = list(lengths)
        if kind == "IRFFT":
            given[-1] = lengths[-1] // 2 + 1
        return Rare("fft", [self.shape(real if kind == "RFFT" else whole, self.positive(0, 1) + given)],
                    f", fft_type={kind}, fft_length={braces(lengths)}", hints=["small"], exact=False)

    def rare_rng_bit_generator(self):
        algorithm = self.random.choice(["rng_default", "rng_philox", "rng_three_fry"])
        state = {"rng_default": self.random.choice([2, 3]), "rng_philox": self.random.choice([2, 3]), "rng_three_fry": 2}[algorithm]
        t, dims = self.random.choice("u32 u64 s32 s64 u16 u8 s8".split()), self.positive(0, 3)
        return Rare("rng-bit-generator", [f"u64[{state}]"], f", algorithm={algorithm}", hints=["bits"],
                    result=f"(u64[{state}], {self.shape(t, dims)})", outputs=2)

    def rare_reduce_precision(self):
        t = self.random.choice(REAL + EIGHTS[:2])
        return Rare("reduce-precision", [self.shape(t, [300])], f", exponent_bits={self.number(1, 12)}, mantissa_bits={self.number(0, 53)}",
                    hints=[self.random.choice(["bits", "special", "small"])])

    def rare_bitcast_convert(self):
        source, target = self.random.choice(list(WIDTHS)), self.random.choice(list(WIDTHS))
        dims, ratio = self.positive(0, 2), WIDTHS[source] / WIDTHS[target]
        given, result = list(dims), list(dims)
        if ratio > 1:
            result.append(int(ratio))
        elif ratio < 1:
            given.append(int(1 / ratio))
        return Rare("bitcast-convert", [self.shape(source, given)], hints=["bits"], result=self.shape(target, result))

    def rare_special_unary(self):
        t = self.random.choice(REAL + ["c64", "c128"] * 2)
        opcode = self.random.choice(COMPLEX_UNARY if t[0] == "c" else UNARY)
        return Rare(opcode, [f"{t}[400]"], hints=["special"], exact=opcode in UNARY[-10:] and t[0] != "c")

    def rare_special_binary(self):
        t = self.random.choice(REAL + ["c64", "c128"])
        opcode = self.random.choice("power power atan2 atan2 remainder divide multiply maximum minimum".split())
        if t[0] == "c" and opcode in ("remainder", "maximum", "minimum"):
            opcode = "power"
        return Rare(opcode, [f"{t}[400]"] * 2, hints=["special", "special pairs"],
                    exact=t[0] != "c" and opcode not in ("power", "atan2", "divide", "multiply"))

    def rare_compare(self):
        t = self.random.choice(REAL + EIGHTS + INTEGERS)
        order = self.random.choice(["", ", type=TOTALORDER"]) if t[0] in "fb" else ""
        return Rare("compare", [f"{t}[400]"] * 2, f", direction={self.random.choice('EQ NE LT LE GT GE'.split())}{order}",
                    hints=["special", "special pairs"] if t in REAL else ["bits", "bits"])

    def rare_clamp(self):
        t = self.random.choice(REAL + INTEGERS + EIGHTS)
        return Rare("clamp", [f"{t}[]", f"{t}[400]", f"{t}[]"], hints=["bits" if t not in REAL else "special"] * 3)

    def rare_topk(self):
        dims, t = self.positive(0, 2) + [self.number(3, 70)], self.random.choice(["f32", "bf16", "f16", "f64", "s32", "u32", "s8"])
        return Rare("topk", [self.shape(t, dims)], f", k={self.number(1, dims[-1])}, largest={self.random.choice(['true', 'false'])}",
                    hints=["small"], outputs=2)

    def rare_concatenate(self):
        dims, t = self.positive(), self.moved_type()
        along = self.random.randrange(len(dims))
        operands = [self.shape(t, dims[:along] + [self.number(0, 5)] + dims[along + 1:]) for _ in range(self.number(1, 5))]
        return Rare("concatenate", operands, f", dimensions={{{along}}}", hints=["bits"] * len(operands))

    def rare_moved(self):
        dims, t = self.positive(2, 4), self.moved_type()
        order = self.random.sample(range(len(dims)), len(dims))
        opcode, attributes = self.random.choice([("transpose", f", dimensions={braces(order)}"), ("reverse", f", dimensions={braces(sorted(order[:2]))}")])
        return Rare(opcode, [self.shape(t, dims)], attributes, hints=["bits"])

    def rare_batch_norm(self):
        kind, dims, t = self.random.choice(["training", "inference", "grad"]), self.positive(1, 4), self.random.choice(REAL)
        feature, whole = self.random.randrange(len(dims)), self.shape(t, dims)
        operands = {"training": [whole] + [f"{t}[{dims[feature]}]"] * 2, "inference": [whole] + [f"{t}[{dims[feature]}]"] * 4,
                    "grad": [whole] + [f"{t}[{dims[feature]}]"] * 3 + [whole]}[kind]
        return Rare("batch-norm-" + kind, operands, f", epsilon=0.001, feature_index={feature}", hints=(["small"] * 3 + ["1:5", "small"])[:len(operands)],
                    exact=False, outputs=1 if kind == "inference" else 3)

    def rare_ragged_dot(self):
        rows, inner, columns, groups = self.number(1, 9), self.number(1, 9), self.number(1, 9), self.number(1, 4)
        t = self.random.choice(["f32", "bf16", "f16", "f64", "s32"])
        return Rare("ragged-dot", [f"{t}[{rows},{inner}]", f"{t}[{groups},{inner},{columns}]", f"s32[{groups}]"],
                    ", lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
                    hints=["small", "small", f"0:{max(2, rows // groups + 1)}"], exact=False)


KINDS = [name[5:] for name in vars(Maker) if name.startswith("rare_") and name != "rare_window"]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e-30, -1e-30, 3e38, -3e38, numpy.inf, -numpy.inf, numpy.nan, 1e10, 0.3, -7.7]


def inputs(generator, made, types):
    """Arrays for the operands of `made`."""
    result = []
    for shape, hint in zip(made.operands, made.hints, strict=True):
        element_type, sizes = shape.rstrip("]").split("[")
        result.append(values(generator, element_type, [int(d) for d in sizes.split(",") if d], hint, numpy.dtype(types[element_type])))
    return result


def values(generator, element_type, dims, hint, dtype):
    count = int(numpy.prod(dims))
    whole = dtype.kind in "iu" or dtype.name.startswith(("int", "uint"))
    if hint in ("definite", "triangle"):
        return matrix(generator, dims, dtype, hint == "definite")
    if hint == "distinct":
        return generator.permutation(count).reshape(dims).astype(dtype)
    if hint in ("least", "greatest"):
        limits = ml_dtypes.iinfo(dtype) if whole else None
        edge = (limits.min if whole else -numpy.inf) if hint == "least" else (limits.max if whole else numpy.inf)
        return numpy.full(dims, edge).astype(dtype)
    if ":" in hint and element_type == "pred":
        return numpy.full(dims, hint == "1:2")
    if ":" in hint:
        low, high = map(int, hint.split(":"))
        if whole:
            width = int(element_type[1:])
            low = max(low, -(1 << (width - 1)) if element_type[0] == "s" else 0)
            high = min(high, 1 << (width - (element_type[0] == "s")))
        return numpy.asarray(generator.randint(low, min(high, 2**63 - 1), dims, dtype=numpy.int64)).astype(dtype)
    if hint == "bits" or whole and hint.startswith("special"):
        if element_type == "pred":
            return generator.randint(0, 2, dims).astype(bool)
        width = int(element_type[1:]) if whole else 4 if element_type.startswith("f4") else 8
        raw = generator.randint(0, 256 if width >= 8 else 1 << width, count * dtype.itemsize).astype(numpy.uint8)
        if whole and width < 8:
            return generator.randint(-(1 << (width - 1)) if element_type[0] == "s" else 0,
                                     1 << (width - (element_type[0] == "s")), dims).astype(dtype)
        return raw.view(dtype).reshape(dims)
    if hint.startswith("special"):
        return special(hint, dtype, count).reshape(dims)
    if whole:
        return values(generator, element_type, dims, "-5:6", dtype)
    if element_type == "pred":
        return generator.randint(0, 2, dims).astype(bool)
    made = generator.uniform(-4, 4, dims) + (1j * generator.uniform(-4, 4, dims) if dtype.kind == "c" else 0)
    return numpy.asarray(made).astype(dtype)


def special(hint, dtype, count):
    """All pairs of NUMBERS, the first or the second of each; complex numbers of all pairs, but none huge or tiny."""
    with numpy.errstate(all="ignore"):
        real = numpy.array(NUMBERS * (count // len(NUMBERS) + 1))[:count]
        other = numpy.repeat(NUMBERS, count // len(NUMBERS) + 1)[:count] if count < 400 else numpy.repeat(NUMBERS, len(NUMBERS))[:count]
        if dtype.kind != "c":
            return (other if "pairs" in hint else real).astype(dtype)
        real, other = ([0.7 if 0 < abs(x) < 1e-9 or 1e9 < abs(x) < numpy.inf else x for x in part] for part in (real, other))
        result = numpy.empty(count, dtype)
        result.real, result.imag = (numpy.roll(other, 7), numpy.roll(real, 3)) if "pairs" in hint else (real, other)
        return result


def matrix(generator, dims, dtype, definite):
    made = generator.uniform(-1, 1, dims) + (1j * generator.uniform(-1, 1, dims) if dtype.kind == "c" else 0)
    if definite:
        made = made @ numpy.conj(numpy.swapaxes(made, -1, -2))
    return (made + numpy.eye(dims[-1]) * (1 if definite else 3)).astype(dtype)
