// What kind of random module is wanted.
#pragma once

#include <cstdint>
#include <string>

namespace hlokit {

struct GeneratorOptions {
  uint64_t seed = 0;
  int instructions = 20;        // steps of the entry computation; each adds about two instructions
  int max_elements = 600;       // of one array
  double odd_layouts = 0.03;    // how many arrays lie in memory in another order than row-major
  double empty_dims = 0.02;     // how many dimensions have size 0
  bool control_flow = true;     // while, conditional, call, fusion
  bool dynamic_shapes = false;  // set-dimension-size, and operations over what it gives
  bool manual_regions = false;  // Shardy's, on a mesh of one device: for passes and the interpreter
  // Only this recipe (recipes.def), besides what its operands need; empty: all.
  std::string recipe;
  // The form of a stage of a compiler (StageNames) that the finished module is given.
  std::string stage = "raw";
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
