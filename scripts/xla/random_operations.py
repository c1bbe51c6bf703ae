"""Random single operations, with few mistakes among them: what scripts/xla/operations_peer.py asks hlokit and the real XLA about.

`operation(seed, static)` gives one as text whose result's shape is left out; the same seed, the same text."""
import dataclasses
import random

FLOATS = "f32 f64 f16 bf16 f8e5m2 f8e4m3fn f4e2m1fn f8e8m0fnu f8e3m4".split()
INTEGERS = "s32 u8 s64 u32 s4 u2 s8 u16 s1 u1".split()
COMPLEX = "c64 c128".split()
TYPES = FLOATS + INTEGERS + COMPLEX + ["pred"]
UNARY = ("abs negate sign cosine sine tan tanh exponential log log-plus-one exponential-minus-one sqrt rsqrt cbrt logistic floor "
         "ceil round-nearest-afz round-nearest-even not popcnt count-leading-zeros real imag is-finite copy erf acos asin atanh "
         "cosh sinh acosh asinh optimization-barrier").split()
BINARY = ("add subtract multiply divide remainder maximum minimum power and or xor shift-left shift-right-logical "
          "shift-right-arithmetic atan2 complex compare add-dependency").split()
COLLECTIVES = ("all-gather all-reduce reduce-scatter all-to-all collective-permute collective-broadcast all-reduce-start "
               "all-gather-start collective-permute-start").split()


@dataclasses.dataclass
class Operation:
    """One instruction: `operands` are the parameters' shapes, `called` the text of the computation f (and g)."""
    opcode: str
    operands: list
    attributes: str = ""
    called: str = ""

    def text(self):
        parameters = "".join(f"  p{i} = {shape} parameter({i})\n" for i, shape in enumerate(self.operands))
        names = ", ".join(f"p{i}" for i in range(len(self.operands)))
        return (f"HloModule m\n\n{self.called}\nENTRY e {{\n{parameters}"
                f"  ROOT result = {self.opcode}({names}){self.attributes}\n}}\n")


def operation(seed, static=False):
    """Without dynamic dimensions where `static`."""
    return Maker(seed, static).make()


def braces(items):
    return "{" + ",".join(map(str, items)) + "}"


def combiner(element_type, name="f"):
    """A computation of two scalars for reductions."""
    opcode = "or" if element_type == "pred" else "add"
    return (f"{name} {{\n  a0 = {element_type}[] parameter(0)\n  a1 = {element_type}[] parameter(1)\n"
            f"  ROOT r = {element_type}[] {opcode}(a0, a1)\n}}\n")


def comparison(element_type, direction, pairs=1, name="f"):
    """A computation that compares the first pair of its scalars."""
    parameters = "".join(f"  b{i} = {element_type}[] parameter({i})\n" for i in range(2 * pairs))
    return f"{name} {{\n{parameters}  ROOT r = pred[] compare(b0, b1), direction={direction}\n}}\n"


class Maker:
    def __init__(self, seed, static):
        self.random, self.static = random.Random(seed), static

    def make(self):
        return getattr(self, self.random.choice(KINDS))()

    def chance(self, probability):
        return self.random.random() < probability

    def number(self, low, high):
        return self.random.randint(low, high)

    def type(self, likely=None):
        if likely and self.chance(.9):
            return self.random.choice(likely)
        return self.random.choice(["f32"] * 6 + TYPES)

    def type_like(self, element_type, probability=.95):
        return element_type if self.chance(probability) else self.type()

    def dims(self, low=0, high=3):
        return [self.random.choice([1, 2, 2, 3, 3, 4, 6, 8, 0 if self.chance(.1) else 5]) for _ in range(self.number(low, high))]

    def varied(self, dims):
        """The same sizes, seldom others."""
        dims = list(dims)
        if self.chance(.1) and dims:
            dims[self.random.randrange(len(dims))] += self.random.choice([-1, 1])
        if self.chance(.03):
            dims.append(2)
        return [max(0, d) for d in dims]

    def shape(self, element_type, dims, dynamic=.25):
        def size(d):
            if self.static:
                return str(d)
            return f"<={d}" if self.chance(dynamic) else "?" if self.chance(.03) else str(d)
        return f"{element_type}[{','.join(map(size, dims))}]"

    def scalar(self, element_type, probability=.95):
        return f"{self.type_like(element_type, probability)}[]"

    def permutation(self, n):
        order = list(range(n))
        self.random.shuffle(order)
        if self.chance(.07) and n:
            order[self.random.randrange(n)] = self.number(0, n)
        return order

    def some(self, n, probability):
        return [i for i in range(n) if self.chance(probability)]

    def by_dimension(self, rank, make):
        return "x".join(str(make()) for _ in range(rank))

    def unary(self):
        return Operation(self.random.choice(UNARY), [self.shape(self.type(), self.dims())])

    def binary(self):
        opcode, dims, element_type = self.random.choice(BINARY), self.dims(), self.type()
        second = self.shape(self.type_like(element_type), self.varied(dims))
        return Operation(opcode, [self.shape(element_type, dims), second], ", direction=LT" if opcode == "compare" else "")

    def select(self):
        dims, element_type = self.dims(), self.type()
        chooser = self.shape(self.type_like("pred"), [] if self.chance(.3) else self.varied(dims))
        return Operation("select", [chooser, self.shape(element_type, dims), self.shape(element_type, self.varied(dims))])

    def clamp(self):
        dims, element_type = self.dims(), self.type()
        bound = [] if self.chance(.5) else dims
        return Operation("clamp", [self.shape(element_type, d) for d in (bound, dims, bound)])

    def transpose(self):
        dims = self.dims()
        return Operation("transpose", [self.shape(self.type(), dims)], f", dimensions={braces(self.permutation(len(dims)))}")

    def reverse(self):
        dims = self.dims()
        which = self.some(len(dims), .5) + ([len(dims)] if self.chance(.1) else [])
        return Operation("reverse", [self.shape(self.type(), dims)], f", dimensions={braces(which)}")

    def concatenate(self):
        dims, element_type = self.dims(1), self.type()
        along, operands = self.random.randrange(len(dims)), []
        for _ in range(self.number(1, 3)):
            own = self.varied(dims)
            if along < len(own):
                own[along] = self.number(0, 4)
            operands.append(self.shape(self.type_like(element_type), own))
        return Operation("concatenate", operands, f", dimensions={{{along if self.chance(.95) else len(dims)}}}")

    def slice(self):
        dims, parts = self.dims(), []
        for size in dims:
            start = self.number(0, size)
            limit = self.number(start, size + self.chance(.1))
            stride = self.random.choice([1, 1, 1, 2, 3, 0 if self.chance(.2) else 1])
            parts.append(f"[{start}:{limit}:{stride}]" if stride != 1 or self.chance(.5) else f"[{start}:{limit}]")
        return Operation("slice", [self.shape(self.type(), dims)], f", slice={braces(parts)}")

    def dynamic_slice(self):
        dims = self.dims()
        sizes = [self.number(0, d + self.chance(.1)) for d in dims]
        index = self.random.choice(["s32", "s64", "u32", "u8", "f32" if self.chance(.1) else "s32"])
        starts = [f"{index}[]"] * len(dims) if self.static or self.chance(.9) else [f"{index}[{len(dims)}]"]
        return Operation("dynamic-slice", [self.shape(self.type(), dims)] + starts, f", dynamic_slice_sizes={braces(sizes)}")

    def dynamic_update_slice(self):
        dims, element_type = self.dims(), self.type()
        update = [self.number(0, d + self.chance(.1)) for d in dims]
        return Operation("dynamic-update-slice", [self.shape(element_type, dims),
                                                  self.shape(self.type_like(element_type), update)] + ["s32[]"] * len(dims))

    def pad(self):
        dims, element_type = self.dims(), self.type()
        parts = [f"{self.number(-2, 3)}_{self.number(-2, 3)}" + (f"_{self.number(0, 2)}" if self.chance(.6) else "") for _ in dims]
        padding = "1_1_-1" if self.chance(.05) else "x".join(parts)
        return Operation("pad", [self.shape(element_type, dims), self.scalar(element_type)], f", padding={padding}")

    def reduce(self):
        dims, element_type = self.dims(), self.type()
        which = sorted(self.random.sample(range(len(dims)), self.number(0, len(dims))))
        if self.chance(.05):
            which.append(len(dims))
        if self.chance(.05):
            self.random.shuffle(which)
        if self.chance(.05) and which:
            which.append(which[0])
        return Operation("reduce", [self.shape(element_type, dims), self.scalar(element_type)],
                         f", dimensions={braces(which)}, to_apply=f", combiner(self.type_like(element_type, .93)))

    def window(self, rank, sizes=None):
        sizes = sizes or [0 if i == 0 and self.chance(.05) else self.number(1, 3) for i in range(rank)]
        text = "size=" + "x".join(map(str, sizes))
        if self.chance(.6):
            text += " stride=" + self.by_dimension(rank, lambda: self.number(1, 3))
        if self.chance(.6):
            text += " pad=" + self.by_dimension(rank, lambda: f"{self.number(-1, 2)}_{self.number(-1, 2)}")
        if self.chance(.3):
            text += " lhs_dilate=" + self.by_dimension(rank, lambda: self.number(1, 3))
        if self.chance(.3):
            text += " rhs_dilate=" + self.by_dimension(rank, lambda: self.number(1, 3))
        return f", window={{{text}}}" if rank else ""

    def reduce_window(self):
        dims, element_type = self.dims(), self.type()
        return Operation("reduce-window", [self.shape(element_type, dims), self.scalar(element_type)],
                         self.window(len(dims)) + ", to_apply=f", combiner(element_type))

    def select_and_scatter(self):
        dims, element_type = self.dims(1), self.type(FLOATS + INTEGERS)
        sizes, strides = [[self.number(1, 3) for _ in dims] for _ in range(2)]
        counts = [max(0, (d - k) // s + 1) if d >= k else 0 for d, k, s in zip(dims, sizes, strides)]
        window = f"{{size={'x'.join(map(str, sizes))} stride={'x'.join(map(str, strides))}}}"
        operands = [self.shape(element_type, dims, .15), self.shape(element_type, self.varied(counts), .15), f"{element_type}[]"]
        return Operation("select-and-scatter", operands, f", window={window}, select=g, scatter=f",
                         comparison(element_type, "GE", name="g") + combiner(element_type))

    def dot(self):
        left, right, element_type = self.dims(0, 4), self.dims(0, 4), self.type()
        most = min(len(left), len(right))
        batch = self.number(0, min(2, most))
        contracted = self.number(0, min(2, most - batch))
        of_left, of_right = [self.random.sample(range(len(dims)), batch + contracted) for dims in (left, right)]
        for i, j in zip(of_left, of_right):
            if self.chance(.96):
                right[j] = left[i]
        attributes = f", lhs_contracting_dims={braces(of_left[batch:])}, rhs_contracting_dims={braces(of_right[batch:])}"
        if batch:
            attributes += f", lhs_batch_dims={braces(of_left[:batch])}, rhs_batch_dims={braces(of_right[:batch])}"
        return Operation("dot", [self.shape(element_type, left), self.shape(self.type_like(element_type, .8), right)], attributes)

    def convolution(self):
        n, element_type = self.number(0, 2), self.type()
        groups = self.random.choice([1, 1, 1, 2])
        batch_groups = self.random.choice([1, 1, 1, 2]) if groups == 1 else 1
        inputs, outputs = self.random.choice([1, 2, 3]) * groups, self.random.choice([1, 2, 3]) * groups * batch_groups
        batch, sizes = self.random.choice([1, 2, 4]) * batch_groups, [self.number(1, 3) for _ in range(n)]
        orders = [self.permutation(n + 2) for _ in range(3)]

        def placed(order, values, missing):
            result = [missing] * (n + 2)
            for value, position in zip(values, order):
                if position < n + 2:
                    result[position] = value
            return result

        spatial = [str(i) for i in range(n)]
        labels = ["".join(placed(order, names + spatial, "")) for order, names in zip(orders, (["b", "f"], ["i", "o"], ["b", "f"]))]
        operand = placed(orders[0], [batch, inputs] + [self.number(1, 6) for _ in range(n)], 1)
        kernel = placed(orders[1], [inputs // groups, outputs] + sizes, 1)
        attributes = self.window(n, sizes) + f", dim_labels={labels[0]}_{labels[1]}->{labels[2]}"
        if groups > 1 or self.chance(.1):
            attributes += f", feature_group_count={groups}"
        if batch_groups > 1:
            attributes += f", batch_group_count={batch_groups}"
        return Operation("convolution", [self.shape(element_type, self.varied(operand)),
                                         self.shape(self.type_like(element_type, .8), self.varied(kernel))], attributes)

    def indices(self, rank):
        """(sizes of an array of index vectors, which dimension holds them, the dimensions that they index)."""
        dims = self.dims()
        vector = self.number(0, len(dims))
        count = min(dims[vector] if vector < len(dims) else 1, rank)
        if vector < len(dims):
            dims[vector] = count
        return dims, vector, self.random.sample(range(rank), count)

    def gather(self):
        dims = self.dims(1)
        index_dims, vector, indexed = self.indices(len(dims))
        sizes = [self.number(0, d) for d in dims]
        collapsed = self.some(len(dims), .3)
        for d in collapsed:
            sizes[d] = min(1, dims[d]) if self.chance(.95) else 2
        offsets = len(dims) - len(collapsed)
        rank = len(index_dims) - (vector < len(index_dims)) + offsets
        offset_dims = sorted(self.random.sample(range(rank), offsets))
        if self.chance(.05):
            offset_dims.reverse()
        return Operation("gather", [self.shape(self.type(), dims), self.shape(self.type(["s32", "u32", "s64", "u8"]), index_dims)],
                         f", offset_dims={braces(offset_dims)}, collapsed_slice_dims={braces(collapsed)}, "
                         f"start_index_map={braces(indexed)}, index_vector_dim={vector}, slice_sizes={braces(sizes)}")

    def scatter(self):
        dims, element_type = self.dims(1), self.type()
        index_dims, vector, indexed = self.indices(len(dims))
        inserted = self.some(len(dims), .3)
        batch = [d for i, d in enumerate(index_dims) if i != vector]
        window = [self.number(0, d + self.chance(.05)) for i, d in enumerate(dims) if i not in inserted]
        window_dims = sorted(self.random.sample(range(len(batch) + len(window)), len(window)))
        batch, window = iter(batch), iter(window)
        updates = [next(window) if i in window_dims else next(batch) for i in range(len(window_dims) + len(index_dims)
                                                                                   - (vector < len(index_dims)))]
        operands = [self.shape(element_type, dims), self.shape(self.type(["s32", "u32", "s64"]), index_dims),
                    self.shape(self.type_like(element_type), self.varied(updates))]
        return Operation("scatter", operands,
                         f", update_window_dims={braces(window_dims)}, inserted_window_dims={braces(inserted)}, "
                         f"scatter_dims_to_operand_dims={braces(indexed)}, index_vector_dim={vector}, to_apply=f",
                         combiner(element_type))

    def dimension(self, rank):
        return self.number(0, max(0, rank - self.chance(.9)))

    def get_dimension_size(self):
        dims = self.dims()
        return Operation("get-dimension-size", [self.shape(self.type(), dims)], f", dimensions={{{self.dimension(len(dims))}}}")

    def set_dimension_size(self):
        dims = self.dims()
        return Operation("set-dimension-size", [self.shape(self.type(), dims), self.type(["s32"]) + "[]"],
                         f", dimensions={{{self.dimension(len(dims))}}}")

    def matrices(self):
        dims = self.dims(1)
        if len(dims) > 1 and self.chance(.9):
            dims[-1] = dims[-2]
        return dims

    def cholesky(self):
        return Operation("cholesky", [self.shape(self.type(FLOATS[:2] + COMPLEX), self.matrices())], ", lower=true")

    def triangular_solve(self):
        dims, element_type = self.matrices(), self.type(FLOATS[:2] + COMPLEX)
        right, left_side = list(dims), self.chance(.5)
        if len(right) > 1:
            right[-1 if left_side else -2] = self.number(1, 4)
        return Operation("triangular-solve", [self.shape(element_type, dims), self.shape(element_type, self.varied(right))],
                         f", left_side={str(left_side).lower()}, lower=true, transpose_a=NO_TRANSPOSE")

    def fft(self):
        kind, dims = self.random.choice(["FFT", "IFFT", "RFFT", "IRFFT"]), self.dims(1, 4)
        lengths = dims[-self.number(1, min(3, len(dims))):]
        if kind == "IRFFT":
            lengths[-1] = 2 * (dims[-1] - 1) + self.number(0, 1)
        element_type = self.type(FLOATS[:2] if kind == "RFFT" else COMPLEX)
        return Operation("fft", [self.shape(element_type, dims)], f", fft_type={kind}, fft_length={braces(self.varied(lengths))}")

    def batch_norm(self):
        kind, dims = self.random.choice(["training", "inference", "grad"]), self.dims(1, 4)
        feature, element_type = self.random.randrange(len(dims)), self.type(FLOATS)
        whole = self.shape(element_type, dims)
        vectors = [self.shape(self.type_like(element_type, .97), self.varied([dims[feature]]), .15) for _ in range(4)]
        operands = {"training": [whole] + vectors[:2], "inference": [whole] + vectors, "grad": [whole] + vectors[:3] + [whole]}[kind]
        return Operation("batch-norm-" + kind, operands, f", epsilon=0.001, feature_index={feature}")

    def collective(self):
        opcode, dims, element_type = self.random.choice(COLLECTIVES), self.dims(), self.type()
        along, size = self.number(0, max(0, len(dims) - 1)), self.random.choice([1, 2, 2, 4])
        groups = ", replica_groups=" + braces(braces(range(i * size, i * size + size)) for i in range(2))
        operands, attributes, called = [self.shape(element_type, dims)], groups, ""
        if "permute" in opcode:
            attributes = ", source_target_pairs={{0,1},{1,0}}"
        elif "gather" in opcode or opcode == "reduce-scatter":
            attributes += f", dimensions={{{along}}}"
        elif opcode == "all-to-all":
            if self.chance(.3):
                operands *= size
            else:
                attributes += f", dimensions={{{along}}}"
        if "reduce" in opcode:
            attributes, called = attributes + ", to_apply=f", combiner(element_type)
        if self.chance(.15):
            operands.append(self.shape(element_type, self.dims()))
        return Operation(opcode, operands, attributes, called)

    def sort(self):
        dims, element_type, count = self.dims(), self.type(), self.number(1, 2)
        operands = [self.shape(element_type, dims)] + [self.shape(element_type, self.varied(dims))] * (count - 1)
        return Operation("sort", operands, f", dimensions={{{self.number(0, max(0, len(dims) - 1))}}}, to_apply=f",
                         comparison(element_type, "LT", count))

    def topk(self):
        return Operation("topk", [self.shape(self.type(), self.dims())], f", k={self.number(0, 6)}, largest=true")

    def reduce_precision(self):
        return Operation("reduce-precision", [self.shape(self.type(), self.dims())],
                         f", exponent_bits={self.number(0, 8)}, mantissa_bits={self.number(0, 23)}")

    def tuple(self):
        return Operation("tuple", [self.shape(self.type(), self.dims()) for _ in range(self.number(0, 3))])

    def get_tuple_element(self):
        parts = [self.shape(self.type(), self.dims()) for _ in range(2)]
        return Operation("get-tuple-element", [f"({', '.join(parts)})"], f", index={self.number(0, 2)}")

    def after_all(self):
        return Operation("after-all", self.random.choice([[], ["token[]"], ["token[]", "token[]"], ["f32[]"]]))

    def map(self):
        dims, element_type, count = self.dims(), self.type(), self.number(1, 2)
        order = list(range(len(dims)))
        if self.chance(.1):
            order.reverse()
        parameters = "".join(f"  b{i} = {element_type}[] parameter({i})\n" for i in range(count))
        operands = [self.shape(element_type, dims)] + [self.shape(element_type, self.varied(dims))] * (count - 1)
        return Operation("map", operands, f", dimensions={braces(order)}, to_apply=f",
                         f"f {{\n{parameters}  ROOT r = {element_type}[] copy(b0)\n}}\n")

    def ragged_dot(self):
        rows, inner, columns, groups, element_type = self.number(1, 6), self.number(1, 4), self.number(1, 4), self.number(1, 3), self.type()
        operands = [self.shape(element_type, self.varied([rows, inner])), self.shape(element_type, self.varied([groups, inner, columns])),
                    self.shape("s32", self.varied([groups]))]
        return Operation("ragged-dot", operands,
                         ", lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}")

    def device_id(self):
        return Operation(self.random.choice(["replica-id", "partition-id"]), [])


# A kind that stands twice is made twice as often.
KINDS = ("unary unary binary binary select clamp transpose reverse concatenate slice dynamic_slice dynamic_update_slice pad reduce "
         "reduce_window reduce_window select_and_scatter dot dot convolution convolution gather gather scatter scatter "
         "get_dimension_size set_dimension_size cholesky triangular_solve fft batch_norm collective collective sort topk "
         "reduce_precision tuple get_tuple_element after_all map ragged_dot device_id").split()
# SPDX-License-Identifier: Apache-2.0
