// Modules, computations and instructions as HLO text, byte for byte as XLA's ToString() writes
// them.
#pragma once

#include <string>

#include "ir/module.h"

namespace hlokit {

// What the text holds. The defaults are those of XLA's HloPrintOptions::Default().
struct PrintOptions {
  bool percent = true;           // `%` before names
  bool names = true;             // false: neither module nor computations are named
  bool program_shape = true;     // `(p: f32[2]) -> f32[2]` after a computation's name
  bool operand_shapes = false;   // `add(f32[2]{0} %a, f32[2]{0} %b)`
  bool layouts = true;           // in every shape but those of program_shape
  bool large_constants = false;  // false: more than ten elements print as {...}
  bool metadata = true;          // metadata={..} and the stack-frame tables
  bool backend_config = true;
  bool control_predecessors = true;
  bool sugar_async = true;       // `all-reduce-start(..)` for an async-start of one all-reduce
  bool canonical_names = false;  // instructions are tmp_0, tmp_1, ... in each computation
  bool full_bodies = false;      // called computations stand in place rather than by name

  // --format=short, canonical and fingerprint: what XLA calls ShortParsable, Canonical and
  // Fingerprint.
  static PrintOptions Short();
  static PrintOptions Canonical();
  static PrintOptions Fingerprint();
};

// The whole module, ending in an empty line. Works on modules that do not verify.
std::string Print(const Module& module, const PrintOptions& options = {});
// One computation, from its name to its closing brace.
std::string Print(const Computation& computation, const PrintOptions& options = {});
// `%add = f32[2]{0} add(%a, %b), metadata={..}`: no indentation, no ROOT.
std::string Print(const Instruction& instruction, const PrintOptions& options = {});

// The order of computations in text: callees first, as XLA's MakeComputationPostOrder gives it.
std::vector<Computation*> PrintingOrder(const Module& module);

// `{devices=[2,1]<=[2]}`, braces included.
std::string Text(const Sharding& sharding);

// True if XLA writes `text` without quotes as an attribute's value: one balanced {..} with nothing
// after it.
bool IsDictionary(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
