// The command line of hlo-opt.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "printer/print_options.h"
#include "stablehlo/write/writer.h"
#include "tools/common/inputs.h"
#include "tools/hlo-opt/simulate.h"
#include "types/compare.h"

namespace hlokit {

// Before its messages. Not inline: one program may hold several tools, each with its own.
constexpr absl::string_view kTool = "hlo-opt";

struct OptOptions {
  std::string input = "-";
  std::string output = "-";
  std::string json;  // file for times, or empty

  // Instructions to cut out before anything else, and how many operands deep; empty: the whole.
  std::vector<std::string> extract;
  int extract_height = 0;

  std::vector<std::string> plugins;  // shared objects with passes, loaded before anything else
  // What to run, in the order pipeline, passes.
  std::string pipeline, passes;
  std::string platform = "cpu";
  std::string stage = "hlo";
  // --platform=P --stage=hlo, both given: the module after P's pipeline, as in XLA's hlo-opt, where
  // there are no passes.
  bool names_hlo_stage = false;
  std::string gpu_arch = "sm_90";  // of --stage=ptx
  int opt_level = 2;               // of code generation, in stages past hlo
  std::string format = "text";
  // What flags say of the text, on top of the format's own choice; the numbers where not negative.
  std::vector<std::pair<const PrintSwitch*, bool>> print_switches;
  int64_t indent_amount = -1, operand_index_every = -1;
  std::string input_format;  // as LoadOptions has it

  bool verify = true;
  std::string verify_each;       // empty, structure or interp
  bool for_passes_only = false;  // the module's, LoadedModule::for_passes_only; no flag
  // Of the evaluations of --verify-each=interp and --bisect.
  InputOptions inputs;
  CompareOptions bounds = {.abs_error = 1e-5, .rel_error = 1e-4, .ulps = 2};
  std::string reproducer;  // file; empty: one in the folder for temporary files
  std::string command;     // the whole command line, for reproducers to name
  // Not for users: PASS@STEPS, to write a reproducer of that moment and end; its note.
  std::string reproduce, reproduce_note;
  std::string split_to;  // folder for the parts that hlo-module-splitter marked
  std::string bisect;    // empty, interp, or a command that fails on bad modules
  bool allow_unknown_attributes = false;
  bool split_input_file = false;
  StablehloOptions stablehlo;       // of --format=stablehlo
  bool verify_diagnostics = false;  // hold messages to those that the file announces
  bool hash = false;
  // Empty, or what is printed of the passes: names, help, or auto: help on a terminal.
  std::string list_passes;
  bool list_stages = false, print_pipeline = false;
  bool time_passes = false, stats = false;
  bool disable_all_passes = false;
  std::string dump_to;  // folder for the module after each pass; empty: none
  // What XLA's hlo-opt writes to its folder (xla_dump.h); lines of its .debug_options file.
  std::string xla_dump_to, xla_dump_pass_re, xla_debug_options;
  bool xla_dump_large_constants = false;
  int64_t module_number = 0;  // of the run, from 0; no flag
  bool print_after_all = false, print_changed = false;
  std::vector<std::string> print_before, print_after;
  std::vector<std::string> disable_passes, enable_passes_only;
  std::vector<std::string> xla_disable_passes;  // those that exist are disabled too
  std::vector<std::string> fuel;                // PASS=N
  int64_t bisect_limit = -1;
  std::string explain;  // name of an instruction
  SimulateFlags simulate;
  // Whether anything is evaluated.
  // --explain alone is what is asked for: the module goes nowhere but into a file of -o.
  bool explains_alone() const { return !explain.empty() && output == "-" && stage == "hlo"; }
  bool evaluates() const { return verify_each == "interp" || bisect == "interp"; }
  // Where the input is a folder of dumps.
  std::vector<std::string> between;  // two stages
  bool replay = false;
};

// Fills `options`. False where the tool should end with `exit_status` (--help, a bad flag).
bool ParseOptOptions(int argc, const char* const* argv, OptOptions& options, int& exit_status);

// Does the work of one call of hlo-opt and returns its exit status.
int RunHloOpt(const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
