// The command line of hlo-viz.
#pragma once

#include <string>
#include <vector>

#include "tools/hlo-viz/graph/drawing.h"

namespace hlokit {

struct VizOptions {
  std::string input = "-";
  std::string output = "-";
  std::string format;  // dot, svg, png, pdf, html; empty: by the output's name, else dot

  // What to draw; empty: the whole module.
  std::string computation, instruction, from, to, operands_of, users_of;
  int radius = 2;
  std::vector<std::string> boundary;

  DrawOptions draw;
  std::string color_by = "opcode";
  std::string profile, diff_with;
  bool force = false;     // draw and lay out whatever the size
  bool overview = false;  // scopes instead of instructions
  int nodes = 60;         // about how many an overview shows

  bool serve = false, repl = false;
  int port = 0;         // of --serve; 0: any that is free
  std::string browser;  // shows pages and pictures of --serve and --repl; empty: none

  std::string input_format;  // as LoadOptions has it
  bool verify = true, allow_unknown_attributes = false, split_input_file = false;
};

// Fills `options`. False where the tool should end with `exit_status` (--help, a bad flag).
bool ParseVizOptions(int argc, const char* const* argv, VizOptions& options, int& exit_status);

// Does the work of one call of hlo-viz and returns its exit status.
int RunHloViz(const VizOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
