"""Random values of attributes, shapes and literals as text: valid forms, old and rare ones, few wrong ones."""
import random

TYPES = ("pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz "
         "f8e3m4 f8e5m2fnuz f8e4m3fnuz f4e2m1fn f8e8m0fnu").split()
FLOATS = "0 1 -1 0.5 1e-3 1E+5 -0 -0.0 inf -inf nan -nan 3.40282347e+38 1e-45 2 .5 1. +1 0x1p3 nan(0x1) -nan(0x3) 1e400 007 infinity".split()
INTEGERS = "0 1 -1 2 3 7 -8 15 127 -128 255 32767 65535 2147483647 -2147483648 4294967295 9223372036854775807 18446744073709551615 1.0 1e3 true".split()
WORDS = {
    "direction": "EQ NE GE GT LE LT eq X".split(),
    "type": "FLOAT TOTALORDER SIGNED UNSIGNED DEFAULT float".split(),
    "kind": "kLoop kInput kOutput kCustom kloop kFoo".split(),
    "fft_type": "FFT IFFT RFFT IRFFT fft".split(),
    "distribution": "rng_uniform rng_normal RNG_UNIFORM rng_exponential".split(),
    "rng_algorithm": "rng_default rng_three_fry rng_philox three_fry".split(),
    "transpose_a": "NO_TRANSPOSE TRANSPOSE ADJOINT TRANSPOSE_INVALID".split(),
    "padding_type": "PADDING_INVALID PADDING_VALID PADDING_SAME padding_same".split(),
    "schedule": "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST NONE".split(),
    "api_version": ("API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING API_VERSION_STATUS_RETURNING_UNIFIED "
                    "API_VERSION_TYPED_FFI API_VERSION_UNSPECIFIED").split(),
    "convolution_kind": "fprop dgrad wgrad unset igrad".split(),
    "mode": "cross_replica cross_replica_and_partition flattened_id".split(),
    "algorithm": ("unset dot_any_f8_any_f8_f32 dot_any_f8_any_f8_f32_fast_accum dot_f16_f16_f16 dot_f16_f16_f32 dot_bf16_bf16_bf16 "
                  "dot_bf16_bf16_f32 dot_bf16_bf16_f32_x3 dot_bf16_bf16_f32_x6 dot_bf16_bf16_f32_x9 dot_tf32_tf32_f32 "
                  "dot_tf32_tf32_f32_x3 dot_f32_f32_f32 dot_f64_f64_f64 dot_f32").split(),
    "to_apply": ["f"] * 6 + ["%f", "h", "g", "missing", "{\n    a = f32[] parameter(0)\n    ROOT r = f32[] negate(a)\n  }"],
    "condition": ["g"], "body": ["g"], "calls": ["g", "g", "%g"], "select": ["h"], "scatter": ["f"],
    "true_computation": ["g"], "false_computation": ["g"],
    "called_computations": ["{}", "{f}", "{f, g}", "{%f,%h}", "f"],
}
BOOLEANS = ("constrain_layout use_global_device_ids is_composite lower custom_call_has_side_effect indices_are_sorted unique_indices "
            "is_host_transfer is_stable largest left_side unit_diagonal is_reverse is_associative is_scheduled "
            "alias_passthrough_params").split()
NUMBERS = ("channel_id feature_group_count batch_group_count cross_program_prefetch_index feature_index index_vector_dim index "
           "iota_dimension exponent_bits mantissa_bits inferred_dimension delta k num_carries replica_count num_partitions").split()
LISTS = ("dimensions lhs_contracting_dims rhs_contracting_dims lhs_batch_dims rhs_batch_dims lhs_ragged_dims rhs_group_dims "
         "dynamic_slice_sizes fft_length offset_dims collapsed_slice_dims start_index_map gather_sizes operand_batching_dims "
         "start_indices_batching_dims update_window_dims inserted_window_dims scatter_dims_to_operand_dims input_batching_dims "
         "scatter_indices_batching_dims").split()
STRINGS = "custom_call_target infeed_config outfeed_config async_execution_thread".split()
OTHER_NAMES = {
    "control-predecessors": "predecessors", "allow_spmd_sharding_propagation_to_parameters": "booleans",
    "allow_spmd_sharding_propagation_to_output": "booleans", "parameter_replication": "booleans", "outfeed_shape": "shape",
    "slice_sizes": "lists", "literal": "shaped_literal",
}


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, probability):
        return self.random.random() < probability

    def number(self, low, high):
        return self.random.randint(low, high)

    def pick(self, *choices):
        return self.random.choice(choices)

    def several(self, low, high, make, separator=","):
        """low to high texts of make(), joined as a printer or as a person would."""
        separator = separator if self.chance(.9) else self.pick(separator + " ", " " + separator, separator + "\n    ")
        return separator.join(make() for _ in range(self.number(low, high)))

    def value(self, name):
        if name in WORDS:
            return self.random.choice(WORDS[name][:-1] if self.chance(.9) and len(WORDS[name]) > 1 else WORDS[name])
        for names, make in ((BOOLEANS, self.boolean), (NUMBERS, self.integer), (LISTS, self.list), (STRINGS, self.string)):
            if name in names:
                return make()
        return getattr(self, OTHER_NAMES.get(name, name))()

    def percent(self):
        return self.pick("", "", "%")

    def word(self):
        return self.pick("a", "b2", "x_y", "main", "parallel", "foo.bar")

    def name(self):
        if not self.chance(.1):
            return "result"
        return self.pick("m", "result", "add.1", "a-b", "x_1.2.3", "f32", "inf", "constant", "_a", "__a", "__xla_a", "a.0", "A", "m", "m", "ENTRY",
                         "nan", "all-reduce.7", "x0", "tuple", "to_apply", "__xla_a", "f32.2")

    def boolean(self):
        return self.pick("true", "false", "true", "false") if self.chance(.95) else self.pick("1", "0", "True", "{true}")

    def integer(self):
        return str(self.pick(0, 1, 1, 2, 3, 5, 10)) if self.chance(.97) else self.pick(
            "-1", "2147483648", "9223372036854775807", "9223372036854775808", "1.0", "x", "+1", "01", "-0")

    def list(self):
        return "{" + self.several(0, 3, self.small) + "}" if self.chance(.99) else self.pick("0", "{-1}", "{0,}", "{,}", "{0 1}", "[0]")

    def small(self):
        return str(self.pick(0, 0, 1, 1, 2, 3)) if self.chance(.995) else self.integer()

    def lists(self):
        return "{" + self.several(0, 2, self.list) + "}"

    def string(self):
        text = self.pick("foo", "", "a b", r"q\"uote", r"back\\slash", r"new\nline", r"\303\244", "ä", r"tab\t", r"\x41", "{a}", "'", r"\'",
                         r"\0", r"\a", "foo", "foo", "$x", "a,b", "//c", "/*d*/")
        return f'"{text}"' if self.chance(.985) else self.pick("'single'", "bare", '"open', "'it\"s'")

    # Shapes.

    def dims(self, low=0, high=4):
        return [self.pick(1, 2, 2, 3, 4, 8, 0 if self.chance(.1) else 5) for _ in range(self.number(low, high))]

    def shape(self, depth=0):
        if depth < 3 and self.chance(.1):
            return self.pick("token[]", "opaque[]", "()", "b(f32[2])", "b(f32[2,2]{1,0})") if self.chance(.95) else self.pick(
                "token[]{}", "opaque[2]", "token")
        if depth < 3 and self.chance(.15):
            return "(" + self.several(0, 3, lambda: self.shape(depth + 1), ", ") + ")"
        dims = self.dims()
        texts = [str(d) if self.chance(.92) else self.pick(f"<={d}", "?", f"<= {d}", f" {d}", "-1", "?") for d in dims]
        text = f"{self.random.choice(TYPES) if self.chance(.7) else 'f32'}[{','.join(texts)}]"
        return text + self.layout(len(dims)) if self.chance(.5) else text

    def layout(self, rank):
        order = list(range(rank))
        if self.chance(.5):
            order = order[::-1]
        elif self.chance(.5):
            self.random.shuffle(order)
        if self.chance(.02):
            order = order[1:] or [0]
        parts = "".join(self.layout_part(part, rank) for part in "DTL#*ESCPM" if self.chance(.12))
        return "{" + ",".join(map(str, order)) + (":" + parts if parts or self.chance(.02) else "") + "}"

    def layout_part(self, part, rank):
        number = self.pick(0, 1, 1, 2, 4, 5, 8, 32, 16)
        if part == "T":
            return "T" + "".join("(" + self.several(1, 2, lambda: str(self.pick(1, 2, 4, 8, 128, "*"))) + ")" for _ in range(self.number(1, 2)))
        if part == "D":
            return "D(" + self.several(rank, rank, lambda: self.pick("D", "C", "S", "H", "D+", "C~", "C+~")) + ")"
        if part in "#*":
            return f"{part}({self.pick('u8', 'u32', 'u64', 's32')})"
        if part == "C":
            return f"SC({self.number(0, max(rank - 1, 0))}:{self.several(1, 2, self.small)})"
        if part == "P":
            return f"P({self.pick('u32[32]', 'f32[2,2]{0,1:T(2)}', '(u32[2], u32[3])')})" if self.chance(.02) else ""
        return f"{part}({number if self.chance(.95) else self.pick(-1, '', '1,2')})"

    # Literals.

    def element(self, element_type):
        if element_type == "pred":
            return self.pick("true", "false", "0", "1", "2", "-1", "1.5", "nan") if self.chance(.2) else self.pick("true", "false", "0", "1")
        if element_type[0] == "c":
            part = "f32"
            return f"({self.element(part)}, {self.element(part)})" if self.chance(.95) else self.pick("1", "(1)", "(1,2,3)", "1+2i")
        if element_type[0] in "su":
            return self.random.choice(INTEGERS) if self.chance(.15) else self.pick("0", "1", "0", "1")
        return self.random.choice(FLOATS) if self.chance(.5) else self.pick("0", "1", "2", "0.5")

    def typed_literal(self, depth=0):
        """(shape, value)"""
        if depth < 2 and self.chance(.1):
            parts = [self.typed_literal(depth + 1) for _ in range(self.number(0, 3))]
            return "(" + ", ".join(p[0] for p in parts) + ")", "(" + ", ".join(p[1] for p in parts) + ")"
        element_type, dims = self.random.choice(TYPES), self.dims(0, 3)
        shape = f"{element_type}[{','.join(map(str, dims))}]"
        if self.chance(.3):
            shape += self.layout(len(dims)) if self.chance(.5) else "{" + ",".join(map(str, range(len(dims)))) + "}"
        text = self.array(element_type, dims)
        if self.chance(.05):
            text = self.pick("{...}", "0", f"{shape} {text}", text.replace(",", " "), text.replace(", ", ","), "{" + text + "}", text[1:])
        return shape, text

    def array(self, element_type, dims):
        if not dims:
            return self.element(element_type)
        blank = self.pick(" ", " ", "", "\n")
        return "{" + blank + f",{blank}".join(self.array(element_type, dims[1:]) for _ in range(dims[0])) + blank + "}"

    def shaped_literal(self):
        shape, value = self.typed_literal()
        return f"{shape} {value}"

    # Devices.

    def axes(self, axes):
        return "{" + self.several(0, 2, lambda: self.axis(axes)) + "}"

    def axis(self, axes):
        name, size = self.random.choice(axes)
        return f"'{name}'" if self.chance(.8) else f"'{name}':({self.pick(1, 1, 2)}){self.pick(2, 2, size)}"

    def mesh(self):
        axes = [("xyzw"[i], self.pick(1, 2, 2, 4)) for i in range(self.number(1, 3))]
        text = "mesh[" + ",".join(f"'{name}'={size}" for name, size in axes) + "]"
        if self.chance(.25):
            count = 1
            for _, size in axes:
                count *= size
            ids = list(range(count))
            self.random.shuffle(ids)
            sizes = ",".join(str(size) for _, size in axes)
            order = ",".join(map(str, reversed(range(len(axes)))))
            text += f", device_ids=({self.pick(','.join(map(str, ids)), f'[{count}]', f'[{sizes}]T({order})')})"
        return text, axes

    def iota(self, count):
        """An order of `count` devices after `<=`."""
        sizes = [count]
        while self.chance(.6):
            i = self.number(0, len(sizes) - 1)
            if sizes[i] % 2 == 0:
                sizes[i:i + 1] = [2, sizes[i] // 2]
        order = list(range(len(sizes)))
        self.random.shuffle(order)
        text = f"[{','.join(map(str, sizes))}]"
        return text + f"T({','.join(map(str, order))})" if len(sizes) > 1 or self.chance(.1) else text

    def replica_groups(self):
        form = self.random.random()
        if form < .5:
            return self.lists() if self.chance(.5) else "{{0,1},{2,3}}"
        if form < .8:
            groups, size = self.pick(1, 2, 4), self.pick(1, 2, 4, 8)
            return f"[{groups},{size}]<={self.iota(groups * size)}"
        mesh, axes = self.mesh()
        return mesh + self.pick(" ", ", ", ",") + self.axes(axes)

    def source_target_pairs(self):
        return "{" + self.several(0, 3, lambda: f"{{{self.small()},{self.small()}}}") + "}"

    def sharding(self, depth=0):
        if depth == 0 and self.chance(.15):
            return "{" + self.several(0, 3, lambda: self.sharding(1), ", ") + "}"
        kind = self.random.random()
        if kind < .2:
            mesh, axes = self.mesh()
            dims = lambda: self.axes(axes) if self.chance(.7) else self.pick("{?}", f"{{'{axes[0][0]}', ?}}")
            text = mesh + ", " + (f"[{self.several(0, 3, dims, ', ')}]" if self.chance(.9) else self.pick("replicated", "manual", "unreduced"))
            text += "".join(f", {name}={self.axes(axes)}" for name in ("replicated", "unreduced", "manual") if self.chance(.15))
        elif kind < .25:
            text = f"maximal_mesh[device_id={self.number(0, 3)}]"
        elif kind < .5:
            text = self.pick("replicated", "manual", "unknown", "unreduced", "maximal device=0") if self.chance(.95) else self.pick(
                "maximal", "replicated device=1", "Replicated")
        else:
            text = self.tiles()
        comma = "," if kind < .25 else ""
        if self.chance(.05):
            text += f"{comma} metadata=" + self.pick(self.metadata(), "{" + self.metadata() + ", " + self.metadata() + "}")
        if self.chance(.05):
            text += f" {self.pick('shard_as', 'shard_like')} {self.small()}"
        return "{" + text + "}"

    def tiles(self):
        dims = [self.pick(1, 1, 2, 2, 4) for _ in range(self.number(1, 4))]
        count = 1
        for d in dims:
            count *= d
        devices = list(range(count))
        self.random.shuffle(devices)
        text = f"devices=[{','.join(map(str, dims))}]" + (",".join(map(str, devices)) if self.chance(.4) else f"<={self.iota(count)}")
        if self.chance(.2):
            text += " last_tile_dim_replicate"
        elif self.chance(.3):
            text += " last_tile_dims={" + self.several(1, 3, lambda: self.pick("manual", "replicated", "unreduced", "manual", "maximal"), ", ") + "}"
        return text

    # Texts and tables.

    def metadata(self):
        parts = []
        for name in ("op_type", "op_name", "source_file", "deduplicated_name", "scheduling_name"):
            if self.chance(.3):
                parts.append(f"{name}={self.string()}")
        for name in ("source_line", "source_end_line", "source_column", "source_end_column", "stack_frame_id",
                     "size_of_generated_code_in_bytes", "size_of_memory_working_set_in_bytes"):
            if self.chance(.15):
                parts.append(f"{name}={self.integer()}")
        if self.chance(.05):
            parts.append(self.pick("profile_type={1}", "profile_type={1,2}", "preserve_layout=true", "profile_type={0}", "logical_creation_pass_id=3",
                                   'creation_pass_id=1', 'payload="x"'))
        if self.chance(.3):
            self.random.shuffle(parts)
        return "{" + self.pick(" ", " ", " ", ", ").join(parts) + "}"

    def backend_config(self):
        return self.string() if self.chance(.4) else self.pick(
            "{}", '{"a":1}', '{"a":[1,{"b":"c}"}]}', "{ }", "{a = 1 : i32}", '{"a":"\\""}', '{"a": 1.5e3, "b": null}', "{\n}", "{a}b",
            '{"fusion_config":{"kind":"x"},"wait_on_operation_queues":[]}', '{"force_earliest_schedule":false}', "{'}'}", '{"}"}')

    def frontend_attributes(self):
        key = lambda: self.pick("a", "b", "a.b", "a-b", "_x", "xla.sdy.sharding") if self.chance(.97) else self.pick('"quoted"', "1")
        value = lambda: self.string() if self.chance(.6) else self.pick("{}", "{x=1}", "{a={b}}", '{"}"}') if self.chance(.97) else self.pick("1", "word")
        return "{" + self.several(0, 3, lambda: f"{key()}={value()}") + "}"

    def predecessors(self):
        return self.pick("{p0}", "{%p0}", "{p0, p0}") if self.chance(.95) else self.pick("{}", "{missing}", "p0")

    def statistics(self):
        pairs = self.several(0, 2, lambda: f"{self.pick('a', 'stat-1', 'b.c')}={self.pick('1', '33.5', '-2', '1e9', '0.1', 'nan', '0.333333333', '123456789012')}")
        return "{" + self.pick("visualizing_index=0,", "visualizing_index=1,", "", "index=0,") + pairs + "}"

    def origin(self, depth=0):
        leaf = lambda: "{" + self.pick('"v"', '"v" {1}', '"v" {1,2}', '"v" {}', "", "'v'", '"a b"', r'"q\"u"', '"ä"') + "}"
        tree = lambda d: leaf() if d > 1 or self.chance(.6) else "(" + self.several(0, 3, lambda: tree(d + 1), ", ") + ")"
        return "{" + self.pick(tree(0), tree(0), tree(0), "[synthetic_call]", "") + "}"

    def booleans(self):
        return "{" + self.several(0, 2, self.boolean) + "}" if self.chance(.9) else self.boolean()

    # Windows and the like.

    def window(self):
        n = self.number(1, 3)
        by_x = lambda make: "x".join(str(make()) for _ in range(n))
        part = lambda: self.pick(1, 1, 2, 3, 0 if self.chance(.1) else 1)
        parts = [f"size={by_x(part)}"] if self.chance(.95) else []
        for name in ("stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"):
            if self.chance(.25):
                make = {"pad": lambda: f"{self.pick(0, 1, -1)}_{self.pick(0, 1, 2)}", "rhs_reversal": lambda: self.pick(0, 1)}.get(name, part)
                parts.append(f"{name}={by_x(make)}")
        if self.chance(.1):
            self.random.shuffle(parts)
        return "{" + " ".join(parts) + "}"

    def dim_labels(self):
        n = 2 if self.chance(.8) else self.number(0, 3)
        digits = "".join(map(str, range(n)))
        groups = [list(letters + digits) for letters in ("bf", "io", "bf")]
        for group in groups:
            self.random.shuffle(group)
        text = "{}_{}->{}".format(*map("".join, groups))
        return text if self.chance(.95) else self.pick(text.replace("->", " -> "), text.upper(), text[1:], text + "0", text.replace("_", "__"),
                                                       text.replace("b", "?", 1), text + "?")

    def operand_precision(self):
        return "{" + self.several(0, 3, lambda: self.pick("default", "high", "highest", "default", "HIGH", "packed_nibble", "x")) + "}"

    def padding(self):
        number = lambda: str(self.pick(0, 0, 1, 2, -1, 3))
        dim = lambda: "_".join(number() for _ in range(self.pick(2, 2, 3, 3, 1 if self.chance(.1) else 2)))
        return "x".join(dim() for _ in range(self.number(1, 3)))

    def slice(self):
        part = lambda: "[" + ":".join(self.small() for _ in range(self.pick(2, 2, 3))) + "]"
        return "{" + self.several(0, 3, part, ", ") + "}"

    def epsilon(self):
        return self.pick("0.001", "1e-5", "1", "0.1", "-1e3", "inf", "nan", "1e-50", ".5", "3.14159274")

    def result_accuracy(self):
        part = lambda: f"{self.pick('atol', 'rtol', 'ulps')}={self.pick('0', '1', '2', '0.5', '1e-3', '-1', 'inf')}"
        return "{" + self.pick("mode=default", "mode=highest", "mode=HIGHEST", "tolerance={" + self.several(1, 3, part) + "}", "mode=x", "") + "}"

    def sparsity_config(self):
        part = lambda: self.pick("sparsity=2x4", "dimension=1", "stride=2", "dimension=-1", "sparsity=1x2", "block=1")
        operand = lambda: f"{self.pick('lhs', 'rhs')}={{{self.several(0, 3, part, ' ')}}}"
        return "{" + self.several(0, 2, operand, " ") + "}"

    def operand_layout_constraints(self):
        return "{" + self.pick("f32[4]{0}, f32[2,2]{0,1}", "f32[4]{0}, f32[2,2]{1,0}", "", "f32[4]{0}", "f32[4], f32[2,2]", "s32[4]{0}, f32[2,2]{1,0}") + "}"

    def output_to_operand_aliasing(self):
        pair = lambda: f"{self.list()}: ({self.small()}, {self.list()}{self.pick('', '', ', may-alias') if self.chance(.1) else ''})"
        return "{" + self.several(0, 2, pair, ", ") + "}"

    def input_output_alias(self):
        pair = lambda: f"{self.list()}: ({self.small()}, {self.list()}{self.pick('', '', ', may-alias', ', must-alias') if self.chance(.98) else ', x-alias'})"
        return "{ " + self.several(0, 2, pair, ", ") + " }"

    def buffer_donor(self):
        return "{ " + self.several(0, 2, lambda: f"({self.small()}, {self.list()})", ", ") + " }"

    def domain(self):
        parts = ['kind="sharding"' if self.chance(.95) else 'kind="other"', f"entry={self.sharding()}", f"exit={self.sharding()}"]
        if self.chance(.1):
            self.random.shuffle(parts)
        return "{" + ", ".join(parts[:3 if self.chance(.95) else 2]) + "}"
