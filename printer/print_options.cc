// The named sets of options, and the table of switches.
#include "printer/print_options.h"

namespace hlokit {

PrintOptions PrintOptions::Short() {
  PrintOptions options;
  options.percent = options.program_shape = options.metadata = false;
  options.control_dependencies = false;
  options.large_constants = true;
  options.operand_index_every = 0;
  return options;
}

PrintOptions PrintOptions::Canonical() {
  PrintOptions options;
  options.percent = options.program_shape = options.metadata = options.backend_config = false;
  options.operand_names = options.control_dependencies = false;
  options.operand_shapes = options.canonical_names = options.full_bodies = true;
  options.operand_index_every = 0;
  return options;
}

PrintOptions PrintOptions::Fingerprint() {
  PrintOptions options = Canonical();
  options.ids = options.infeed_outfeed_config = false;
  options.essential_constants = options.canonical_order = options.full_groups = true;
  return options;
}

absl::Span<const PrintSwitch> PrintSwitches() {
  using O = PrintOptions;
  static constexpr PrintSwitch kSwitches[] = {
      {"print_percent", &O::percent, "% before names"},
      {"print_ids", &O::ids,
       "names whole: without it modules and computations have none and those of instructions end "
       "at their first dot"},
      {"print_program_shape", &O::program_shape, "(p: f32[2]) -> f32[2] after computations' names"},
      {"print_result_shape", &O::result_shape, "the shape before each opcode"},
      {"print_operand_names", &O::operand_names, "operands by name"},
      {"print_operand_shape", &O::operand_shapes, "a shape before each operand"},
      {"include_layout_in_shapes", &O::layouts, "layouts in shapes", "print_layouts"},
      {"compact_operands", &O::compact_operands, "four operands at most, then ...(+3)"},
      {"print_large_constants", &O::large_constants, "constants of more than ten elements"},
      {"print_only_essential_constants", &O::essential_constants,
       "constants only where they are whole numbers, or zeros or ones alone"},
      {"print_extra_attributes", &O::extra_attributes,
       "the attributes that only some opcodes have"},
      {"print_control_dependencies", &O::control_dependencies, "control-predecessors={..}"},
      {"print_metadata", &O::metadata, "metadata={..} and the tables of stack frames"},
      {"print_backend_config", &O::backend_config, "backend_config="},
      {"print_original_value", &O::original_values, "origin={..}"},
      {"print_infeed_outfeed_config", &O::infeed_outfeed_config,
       "infeed_config and outfeed_config"},
      {"print_full_replica_group_list", &O::full_groups, "device groups as lists of devices"},
      {"print_sugar", &O::sugar_async,
       "all-reduce-start(..) rather than an async-start that calls a computation"},
      {"canonicalize_instruction_names", &O::canonical_names,
       "instructions are tmp_0, tmp_1, ... in each computation"},
      {"canonicalize_computations", &O::canonical_order,
       "computations in the order in which they were defined"},
      {"print_full_bodies", &O::full_bodies, "called computations in place rather than by name"},
  };
  return kSwitches;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
