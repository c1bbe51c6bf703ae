"""Random modules of one instruction that say much in their text: every attribute on every opcode, in the forms that some XLA
reads or prints, with few mistakes among them. What scripts/xla/text_peer.py asks hlokit and the real XLA about.

`module(seed)` gives one as text; the same seed, the same text."""
import random

import random_values

PRESENT, FOREIGN = .35, .03  # how often an optional attribute is there; how often one of other opcodes

# opcode: operands' shapes, the result's, required attributes, optional ones; `a|b`: one of the two.
# A name stands for the value's kind too, unless NAMES says which; f, g, h are computations.
OPCODES = {
    "add": ("f32[4,8] f32[4,8]", "f32[4,8]", "", ""),
    "exponential|tanh|sqrt|log|erf|cbrt|acos": ("f32[4,8]", "f32[4,8]", "", "result_accuracy"),
    "all-gather|all-gather-start": ("f32[4,8]", "f32[8,8]", "dimensions",
                                    "channel_id replica_groups constrain_layout use_global_device_ids"),
    "all-reduce|all-reduce-start": ("f32[4,8]", "f32[4,8]", "to_apply",
                                    "channel_id replica_groups constrain_layout use_global_device_ids mode"),
    "reduce-scatter": ("f32[4,8]", "f32[2,8]", "to_apply dimensions",
                       "channel_id replica_groups constrain_layout use_global_device_ids"),
    "all-to-all": ("f32[4,8]", "f32[4,8]", "", "dimensions channel_id replica_groups constrain_layout"),
    "ragged-all-to-all": ("f32[4] f32[4] s32[2] s32[2] s32[2] s32[2]", "f32[4]", "replica_groups", "channel_id"),
    "collective-broadcast": ("f32[4,8]", "f32[4,8]", "", "channel_id replica_groups"),
    "collective-permute|collective-permute-start": ("f32[4,8]", "f32[4,8]", "source_target_pairs", "channel_id slice_sizes"),
    "batch-norm-training": ("f32[4,8] f32[8] f32[8]", "(f32[4,8], f32[8], f32[8])", "epsilon feature_index", ""),
    "broadcast": ("f32[4,8]", "f32[4,8]", "dimensions", ""),
    "call": ("f32[4,8]", "f32[4,8]", "to_apply", "is_composite"),
    "cholesky": ("f32[4,4]", "f32[4,4]", "", "lower"),
    "compare": ("f32[4] f32[4]", "pred[4]", "direction", "type"),
    "concatenate": ("f32[4,8] f32[4,8]", "f32[8,8]", "dimensions", ""),
    "conditional": ("pred[] f32[2] f32[2]", "f32[2]", "true_computation false_computation", ""),
    "convolution": ("f32[1,16,16,8] f32[3,3,8,4]", "f32[1,14,14,4]", "dim_labels",
                    "window feature_group_count batch_group_count operand_precision convolution_kind sparsity_config"),
    "copy-start": ("f32[4]", "(f32[4], f32[4], u32[])", "", "cross_program_prefetch_index"),
    "custom-call": ("f32[4] f32[2,2]", "f32[4]", "custom_call_target",
                    "window dim_labels feature_group_count batch_group_count operand_precision padding_type "
                    "operand_layout_constraints custom_call_has_side_effect output_to_operand_aliasing literal schedule "
                    "api_version called_computations"),
    "domain": ("f32[4]", "f32[4]", "domain", ""),
    "dot": ("f32[4,8] f32[8,4]", "f32[4,4]", "lhs_contracting_dims rhs_contracting_dims",
            "lhs_batch_dims rhs_batch_dims operand_precision algorithm"),
    "ragged-dot": ("f32[4,8] f32[2,8,4] s32[2]", "f32[4,4]",
                   "lhs_contracting_dims rhs_contracting_dims lhs_ragged_dims rhs_group_dims",
                   "lhs_batch_dims rhs_batch_dims operand_precision"),
    "dynamic-slice": ("f32[4,8] s32[] s32[]", "f32[2,2]", "dynamic_slice_sizes", ""),
    "fft": ("c64[4,8]", "c64[4,8]", "fft_type fft_length", ""),
    "fusion": ("f32[4,8]", "f32[4,8]", "kind calls", "output_to_operand_aliasing"),
    "gather": ("f32[4,8] s32[2]", "f32[1,8]",
               "offset_dims collapsed_slice_dims start_index_map index_vector_dim gather_sizes",
               "operand_batching_dims start_indices_batching_dims indices_are_sorted"),
    "scatter": ("f32[4,8] s32[2] f32[1,8]", "f32[4,8]",
                "update_window_dims inserted_window_dims scatter_dims_to_operand_dims index_vector_dim to_apply",
                "input_batching_dims scatter_indices_batching_dims indices_are_sorted unique_indices"),
    "get-dimension-size": ("f32[4,8]", "s32[]", "dimensions", ""),
    "get-tuple-element": ("(f32[4],f32[4])", "f32[4]", "index", ""),
    "infeed": ("token[]", "(f32[4], token[])", "", "infeed_config"),
    "outfeed": ("f32[4] token[]", "token[]", "", "outfeed_config outfeed_shape"),
    "iota": ("", "s32[4,8]", "iota_dimension", ""),
    "map": ("f32[4] f32[4]", "f32[4]", "to_apply", "dimensions"),
    "pad": ("f32[4,8] f32[]", "f32[4,8]", "padding", ""),
    "reduce": ("f32[4,8] f32[]", "f32[4]", "dimensions to_apply", ""),
    "reduce-precision": ("f32[4]", "f32[4]", "exponent_bits mantissa_bits", ""),
    "reduce-window": ("f32[4,8] f32[]", "f32[4,8]", "to_apply", "window"),
    "select-and-scatter": ("f32[4,8] f32[2,4] f32[]", "f32[4,8]", "select scatter", "window"),
    "reshape": ("f32[4,8]", "f32[32]", "", "inferred_dimension"),
    "rng": ("f32[] f32[]", "f32[4]", "distribution", ""),
    "rng-bit-generator": ("u64[2]", "(u64[2], u32[4])", "rng_algorithm", ""),
    "rng-get-and-update-state": ("", "u64[2]", "delta", ""),
    "send": ("f32[4] token[]", "(f32[4], u32[], token[])", "", "channel_id is_host_transfer"),
    "recv": ("token[]", "(f32[4], u32[], token[])", "", "channel_id is_host_transfer"),
    "set-dimension-size": ("f32[4,8] s32[]", "f32[4,<=8]", "dimensions", ""),
    "slice": ("f32[4,8]", "f32[2,4]", "slice", ""),
    "sort": ("f32[4,8]", "f32[4,8]", "dimensions to_apply", "is_stable"),
    "topk": ("f32[4,8]", "(f32[4,2], s32[4,2])", "k", "largest"),
    "transpose|reverse": ("f32[4,4]", "f32[4,4]", "dimensions", ""),
    "triangular-solve": ("f32[4,4] f32[4,4]", "f32[4,4]", "", "left_side lower unit_diagonal transpose_a"),
    "while": ("f32[4]", "f32[4]", "condition body", ""),
    "async-start": ("f32[4]", "((f32[4]), f32[4])", "calls", "async_execution_thread output_to_operand_aliasing"),
    "custom-call-start": ("f32[4]", "((f32[4]), f32[4], u32[])", "custom_call_target",
                          "async_execution_thread output_to_operand_aliasing custom_call_has_side_effect api_version"),
    "scan": ("f32[4,5] f32[4]", "(f32[4,5], f32[4])", "dimensions num_carries to_apply", "is_reverse is_associative"),
    "copy|negate|bitcast|opt-barrier|get-dimension-size": ("ANY", "SAME", "", ""),
    "tuple": ("ANY ANY", "PAIR", "", ""),
    "parameter": ("", "ANY", "", "parameter_replication"),
    "constant": ("", "LITERAL", "", ""),
}
COMMON = "metadata sharding backend_config frontend_attributes control-predecessors statistics origin".split()
NAMES = {"gather_sizes": "slice_sizes", "rng_algorithm": "algorithm"}  # kinds that go by another name
ATTRIBUTES = sorted({a for row in OPCODES.values() for part in row[2:] for a in part.split()} | set(COMMON))
COMPUTATIONS = """f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

g {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}

h {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

"""
HEADER = ("is_scheduled replica_count num_partitions input_output_alias buffer_donor alias_passthrough_params "
          "allow_spmd_sharding_propagation_to_parameters allow_spmd_sharding_propagation_to_output "
          "frontend_attributes").split()


def module(seed):
    return Maker(seed).module()


class Maker(random_values.Maker):
    """Modules around the values that random_values.Maker makes."""

    def module(self):
        header = f"HloModule {self.name()}" if self.chance(.95) else ""
        if header and self.chance(.15):
            names = self.random.sample(HEADER, self.number(1, 3))
            header += "".join(f", {name}={self.value(name)}" for name in names)
        opcodes = self.random.choice(list(OPCODES))
        self.row = OPCODES[opcodes]
        self.opcode = self.random.choice(opcodes.split("|"))
        return f"{header}\n\n{COMPUTATIONS}{self.computation()}"

    def computation(self):
        shapes = [self.shape() if s == "ANY" else s.replace(",f", ", f") for s in self.row[0].split()]
        if any("(" in s for s in self.row[0].split()):
            shapes = ["(f32[4], f32[4])"]
        result, arguments = self.result(shapes), None
        if self.opcode == "parameter":
            arguments = self.pick("0", "0", "0", "1", "-1" if self.chance(.05) else "0")
        elif self.opcode == "constant":
            arguments = self.literal
        parameters = "".join(f"  p{i} = {shape} parameter({i}){self.parameter_extras()}\n" for i, shape in enumerate(shapes))
        operands = arguments if arguments is not None else ", ".join(self.operand(i, s) for i, s in enumerate(shapes))
        head = "ENTRY " if self.chance(.95) else ""
        tail = f', execution_thread="{self.word()}"' if self.chance(.03) else ""
        return (f"{head}{self.percent()}e {{\n{parameters}  ROOT {self.percent()}{self.name()} = {result} {self.opcode}({operands})"
                f"{self.attributes()}\n}}{tail}\n")

    def result(self, shapes):
        result = self.row[1]
        if result == "ANY":
            return self.shape()
        if result == "SAME":
            return shapes[0]
        if result == "PAIR":
            return f"({shapes[0]}, {shapes[1]})"
        if result == "LITERAL":
            result, self.literal = self.typed_literal()
        elif self.chance(.2) and "(" not in result and "[]" not in result:
            result += self.layout(result.count(",") + 1)
        return result

    def parameter_extras(self):
        if self.chance(.9):
            return ""
        name = self.random.choice(["sharding", "metadata", "frontend_attributes", "origin", "parameter_replication"])
        return f", {name}={self.value(name)}"

    def operand(self, i, shape):
        text = f"{self.percent()}p{i}"
        if self.chance(.1):
            text = f"{shape} {text}"
        if self.chance(.05):
            text = f"/*index={i}*/{text}"
        return text

    def attributes(self):
        return "".join(self.attribute_list())

    def attribute_list(self):
        names = self.row[2].split() if self.chance(.97) else []
        names += [name for name in self.row[3].split() if self.chance(PRESENT)]
        names += [name for name in COMMON if self.chance(.1)]
        if self.chance(FOREIGN):
            names.append(self.random.choice(ATTRIBUTES))
        if self.chance(.02) and names:
            names.append(names[0])
        if self.chance(.4):
            self.random.shuffle(names)
        return [f", {NAMES.get(name, name)}={self.value(name)}" for name in names]
