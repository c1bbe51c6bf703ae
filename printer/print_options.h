// What HLO text holds: the switches of XLA's HloPrintOptions, and the sets of them that have names.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// The defaults are those of XLA's HloPrintOptions::Default(). PrintSwitches() tells what each one
// does and under which name XLA has it.
struct PrintOptions {
  bool percent = true;
  bool ids = true;
  bool program_shape = true;
  bool result_shape = true;
  bool operand_names = true;
  bool operand_shapes = false;
  bool layouts = true;  // in every shape but those of program_shape
  bool compact_operands = false;
  bool large_constants = false;
  bool essential_constants = false;
  bool extra_attributes = true;
  bool control_dependencies = true;
  bool metadata = true;
  bool backend_config = true;
  bool original_values = true;
  bool infeed_outfeed_config = true;
  bool full_groups = false;
  bool sugar_async = true;
  bool canonical_names = false;
  bool canonical_order = false;
  bool full_bodies = false;
  int64_t indent_amount = 0;        // levels of two blanks before every line
  int64_t operand_index_every = 5;  // `/*index=5*/` before each such operand; 0: none

  // --format=short, canonical and fingerprint: what XLA calls ShortParsable, Canonical and
  // Fingerprint.
  static PrintOptions Short();
  static PrintOptions Canonical();
  static PrintOptions Fingerprint();

  bool operator==(const PrintOptions&) const = default;
};

// A switch by the name that XLA's HloPrintOptions gives it.
struct PrintSwitch {
  absl::string_view name;  // "print_percent"
  bool PrintOptions::*member;
  absl::string_view help;
  absl::string_view alias = "";  // another name of XLA's tools for it
};
absl::Span<const PrintSwitch> PrintSwitches();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
