// Flags of hlo-opt.
#include "tools/hlo-opt/options.h"

#include "CLI/CLI.hpp"
#include "tools/common/flags.h"

namespace hlokit {
namespace {

constexpr char kExamples[] = R"(Examples:
  hlo-opt module.hlo                          verify, print as XLA prints
  hlo-opt module.hlo --passes=algsimp,dce     transform
  hlo-opt module.hlo --extract=add.5 --height=2  an instruction and what feeds it
  hlo-opt dump.txt --pipeline=cpu --print-changed -o out.hlo
  some-dump | hlo-opt - --no-verify --format=short

Exit status: 0 done; 1 a check failed; 2 bad flags, text or module; 3 a fault of hlo-opt.)";

}  // namespace

bool ParseOptOptions(int argc, const char* const* argv, OptOptions& o, int& exit_status) {
  CLI::App app("Reads an HLO module, verifies it, runs passes over it, and prints the result.",
               "hlo-opt");
  app.add_option("input", o.input, "HLO file, or - for standard input")->type_name("FILE");
  app.add_option("-o,--output", o.output, "where the result goes; appears whole or not at all")
      ->type_name("FILE");
  app.add_option("--extract,--instruction", o.extract,
                 "cut these instructions out first; their operands become parameters")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--height", o.extract_height,
                 "how many operands deep --extract reaches; -1: up to the parameters")
      ->check(CLI::Range(-1, 1000000));
  app.add_option("--passes", o.passes, "passes to run, comma-separated; --list-passes names them")
      ->type_name("A,B");
  app.add_option("--pipeline", o.pipeline, "a named list of passes, run before --passes")
      ->type_name("NAME");
  app.add_option("--platform", o.platform, "what --stage compiles for")
      ->check(CLI::IsMember({"cpu", "gpu", "interpreter", "transforms"}));
  app.add_option("--stage", o.stage, "how far to go; --list-stages names the stages")
      ->type_name("NAME");
  app.add_option("--opt-level", o.opt_level, "0 to 3, of code generation")->check(CLI::Range(0, 3));
  app.add_option("--format", o.format, "text, short, canonical or fingerprint")
      ->check(CLI::IsMember(
          {"text", "short", "canonical", "fingerprint", "hlo", "pb", "pbtxt", "json"}));
  app.add_flag("--list-passes", o.list_passes, "print the passes, a line each");
  app.add_flag("--print-pipeline", o.print_pipeline,
               "print the passes that would run, a line each, and end");
  app.add_flag("--list-stages", o.list_stages, "print the stages, a line each");
  app.add_flag("!--no-verify", o.verify, "take the module as it is");
  app.add_flag("--verify-each", o.verify_each, "verify after each pass");
  app.add_option("--print-before", o.print_before, "print the module before these passes")
      ->delimiter(',')
      ->type_name("P");
  app.add_option("--print-after", o.print_after, "print the module after these passes")
      ->delimiter(',')
      ->type_name("P");
  app.add_flag("--print-after-all", o.print_after_all, "print the module after each pass");
  app.add_flag("--print-changed", o.print_changed, "print what each pass changed, as a diff");
  app.add_option("--disable-passes,--xla-disable-hlo-passes", o.disable_passes,
                 "leave these passes out")
      ->delimiter(',')
      ->type_name("P");
  app.add_option("--xla-enable-hlo-passes-only", o.enable_passes_only, "leave all other passes out")
      ->delimiter(',')
      ->type_name("P");
  app.add_option("--bisect-limit", o.bisect_limit,
                 "stop after so many steps: passes run and rewrites made; --stats counts them")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--xla-fuel", o.fuel, "let a pass make at most N rewrites")
      ->delimiter(',')
      ->type_name("PASS=N");
  app.add_option("--explain", o.explain,
                 "print which passes and rules made, changed or removed this instruction")
      ->type_name("NAME");
  app.add_flag("--allow-unknown-attributes", o.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  app.add_flag("--time-passes", o.time_passes, "print how long each pass took");
  app.add_flag("--stats", o.stats, "print what each pass did");
  app.add_flag("--split-input-file", o.split_input_file,
               "the file holds several modules between `// -----` lines");
  app.add_option("--json", o.json, "write parse_s, verify_s, passes_s, print_s, peak_rss_mib")
      ->type_name("FILE");
  return ParseFlags(app, NormalizeArguments(argc, argv), kExamples, exit_status);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
